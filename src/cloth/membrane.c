// Elastic faces. docs/theory/cloth.md, section 5
//
// F = (x_u, x_v) maps the threads of a face, U = (F' F)^(1/2) is how it is stretched, in closed
// form for 2 x 2. Strains are sums T : (U - 1), linear in what is stretched or pressed, however
// far, and blind to turns. First and second derivatives come from one equation, U Z + Z U = T. Near
// a face pressed to a line Z grows without bound.
#include "cloth/membrane.h"

#include "math/rotation.h"

// Threads nearer than this to the normal of a face, as a cosine of the angle to it, are across it.
static const double ACROSS = 1.0e-3;

// Symmetric: (first, second, off the diagonal).
typedef struct Sym2 {
    double xx, yy, xy;
} Sym2;

static TdlVec3 node_at(const ClothElement* el, const double* x, int k) {
    return tdl_load3(x, el->node[k]);
}

// --- a face at rest ------------------------------------------------------------------------------

static TdlVec3 normal_of(const TdlVec3* at, int corners) {
    return corners == 3 ? tdl_unit3(tdl_cross3(tdl_sub3(at[1], at[0]), tdl_sub3(at[2], at[0])))
                        : tdl_unit3(tdl_cross3(tdl_sub3(at[2], at[0]), tdl_sub3(at[3], at[1])));
}

bool cloth_panel_fits(const TdlVec3* at, int corners, TdlVec3 warp) {
    TdlVec3 n = normal_of(at, corners);
    return tdl_norm3(tdl_cross3(n, warp)) > ACROSS * tdl_norm3(warp);
}

// Mean gradients of a face with corners at X, Y. Of a quad those at its middle. (N.53)
static double find_gradients(int n, const double* X, const double* Y, ClothPanel* out) {
    double twice = n == 3 ? (X[1] - X[0]) * (Y[2] - Y[0]) - (X[2] - X[0]) * (Y[1] - Y[0])
                          : (X[2] - X[0]) * (Y[3] - Y[1]) - (X[3] - X[1]) * (Y[2] - Y[0]);
    for (int i = 0; i < n; ++i) {
        int next = (i + 1) % n, last = (i + n - 1) % n;
        out->a[i] = (Y[next] - Y[last]) / twice;
        out->b[i] = (X[last] - X[next]) / twice;
    }
    return 0.5 * twice;
}

// What is left of the alternating sum where a uniform map has no part, and the slopes of its
// product of local coordinates. (N.56)
static void find_twist(const double* X, const double* Y, ClothPanel* out) {
    const double sign[4] = {1.0, -1.0, 1.0, -1.0};
    const double xi[4] = {-1.0, 1.0, 1.0, -1.0}, eta[4] = {-1.0, -1.0, 1.0, 1.0};
    double hx = 0.0, hy = 0.0, xi_x = 0.0, xi_y = 0.0, eta_x = 0.0, eta_y = 0.0;
    for (int i = 0; i < 4; ++i) {
        hx += sign[i] * X[i];
        hy += sign[i] * Y[i];
        xi_x += out->a[i] * xi[i];
        xi_y += out->b[i] * xi[i];
        eta_x += out->a[i] * eta[i];
        eta_y += out->b[i] * eta[i];
    }
    for (int i = 0; i < 4; ++i) {
        out->twist[i] = 0.25 * (sign[i] - hx * out->a[i] - hy * out->b[i]);
    }
    out->slope[0] = hypot(xi_x, eta_x);
    out->slope[1] = hypot(xi_y, eta_y);
}

double cloth_panel_make(const TdlVec3* at, int corners, TdlVec3 warp, ClothPanel* out) {
    TdlVec3 n = normal_of(at, corners);
    TdlVec3 u = tdl_unit3(tdl_axpy3(warp, -tdl_dot3(warp, n), n)), v = tdl_cross3(n, u);
    double X[CLOTH_MOST], Y[CLOTH_MOST];
    for (int i = 0; i < corners; ++i) {
        X[i] = tdl_dot3(u, tdl_sub3(at[i], at[0]));
        Y[i] = tdl_dot3(v, tdl_sub3(at[i], at[0]));
    }
    *out = (ClothPanel){0};
    double area = find_gradients(corners, X, Y, out);
    if (corners == 4) {
        find_twist(X, Y, out);
    }
    return area;
}

ElasticLaw elastic_law(const TdlClothDef* def) {
    double warp = def->stretch, weft = def->weft < 0.0 ? warp : def->weft, nu = def->poisson;
    double coupled = nu * weft / warp;
    double plain = sqrt(warp * weft) / (2.0 * (1.0 + nu));
    return (ElasticLaw){warp / (1.0 - nu * coupled), coupled, warp, weft,
                        def->shear < 0.0 ? plain : def->shear};
}

// --- stretched -----------------------------------------------------------------------------------

typedef struct Stretched {
    TdlVec3 u, v; // the columns of F
    Sym2 U;
    double det, trace; // of U
} Stretched;

// U = (C + J) / (tr C + 2 J)^(1/2), C = F' F and J = |x_u x x_v|. (N.53)
static Stretched stretch_of(const ClothElement* el, const double* x) {
    Stretched s = {0};
    for (int i = 0; i < el->count; ++i) {
        s.u = tdl_axpy3(s.u, el->panel->a[i], node_at(el, x, i));
        s.v = tdl_axpy3(s.v, el->panel->b[i], node_at(el, x, i));
    }
    Sym2 C = {tdl_dot3(s.u, s.u), tdl_dot3(s.v, s.v), tdl_dot3(s.u, s.v)};
    s.det = tdl_norm3(tdl_cross3(s.u, s.v));
    s.trace = sqrt(C.xx + C.yy + 2.0 * s.det);
    s.U = (Sym2){(C.xx + s.det) / s.trace, (C.yy + s.det) / s.trace, C.xy / s.trace};
    return s;
}

// Z with U Z + Z U = T: (det U T + adj U T adj U) / (2 tr U det U). (N.55)
static Sym2 solve_symmetric(const Stretched* s, Sym2 T) {
    double a = s->U.yy, b = s->U.xx, c = -s->U.xy; // adj U = (a, b, c)
    double f = 1.0 / (2.0 * s->trace * s->det), d = s->det;
    double p = a * T.xx + c * T.xy, q = a * T.xy + c * T.yy; // first row of adj U T
    double r = c * T.xx + b * T.xy, t = c * T.xy + b * T.yy;
    return (Sym2){f * (d * T.xx + p * a + q * c), f * (d * T.yy + r * c + t * b),
                  f * (d * T.xy + p * c + q * b)};
}

// The gradient of T : U is 2 F Z. (N.55)
static void slopes_of(const ClothElement* el, const Stretched* s, Sym2 T, TdlVec3* slope) {
    Sym2 Z = solve_symmetric(s, T);
    TdlVec3 du = tdl_axpy3(tdl_scale3(2.0 * Z.xx, s->u), 2.0 * Z.xy, s->v);
    TdlVec3 dv = tdl_axpy3(tdl_scale3(2.0 * Z.xy, s->u), 2.0 * Z.yy, s->v);
    for (int i = 0; i < el->count; ++i) {
        slope[i] = tdl_axpy3(tdl_scale3(el->panel->a[i], du), el->panel->b[i], dv);
    }
}

static Sym2 weight_of(const ClothElement* el) {
    return (Sym2){el->weight[0], el->weight[1], el->weight[2]};
}

double panel_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]) {
    Stretched s = stretch_of(el, x);
    Sym2 T = weight_of(el);
    slopes_of(el, &s, T, slope);
    return T.xx * s.U.xx + T.yy * s.U.yy + 2.0 * T.xy * s.U.xy - el->rest;
}

// The larger of its two principal strains, in size.
double panel_stretched(const ClothElement* el, const double* x) {
    Stretched s = stretch_of(el, x);
    double mean = 0.5 * s.trace, off = hypot(0.5 * (s.U.xx - s.U.yy), s.U.xy);
    return fmax(fabs(mean + off - 1.0), fabs(mean - off - 1.0));
}

// --- second derivatives --------------------------------------------------------------------------

// blocks += size m m' of vectors m by node.
static void add_outer(const ClothElement* el, const TdlVec3* m, double size, double* blocks) {
    for (int i = 0; i < el->count; ++i) {
        for (int j = 0; j < el->count; ++j) {
            double* to = blocks + (ptrdiff_t)9 * el->place[el->count * i + j];
            const double b[3] = {size * m[j].x, size * m[j].y, size * m[j].z};
            for (int k = 0; k < 3; ++k) {
                to[3 * k] += m[i].x * b[k];
                to[3 * k + 1] += m[i].y * b[k];
                to[3 * k + 2] += m[i].z * b[k];
            }
        }
    }
}

// The same of numbers m by node, times 1.
static void add_plain(const ClothElement* el, const double* m, double size, double* blocks) {
    for (int i = 0; i < el->count; ++i) {
        for (int j = 0; j < el->count; ++j) {
            double* to = blocks + (ptrdiff_t)9 * el->place[el->count * i + j];
            double entry = size * m[i] * m[j];
            to[0] += entry;
            to[4] += entry;
            to[8] += entry;
        }
    }
}

// One eigenvector z of Z with 2 mu: 2 mu (|dF z|^2 - |dU z|^2). (N.57)
static void add_eigen(const ClothElement* el, TdlVec3 slope[3][CLOTH_MOST], const double z[2],
                      double size, double share, double* blocks) {
    TdlVec3 one[CLOTH_MOST], other[CLOTH_MOST];
    double m[CLOTH_MOST];
    for (int i = 0; i < el->count; ++i) {
        m[i] = z[0] * el->panel->a[i] + z[1] * el->panel->b[i];
        one[i] = tdl_axpy3(tdl_scale3(z[0], slope[0][i]), z[1], slope[2][i]);
        other[i] = tdl_axpy3(tdl_scale3(z[0], slope[2][i]), z[1], slope[1][i]);
    }
    add_plain(el, m, size < 0.0 ? share * size : size, blocks);
    add_outer(el, one, size > 0.0 ? -share * size : -size, blocks);
    add_outer(el, other, size > 0.0 ? -share * size : -size, blocks);
}

void panel_add_second(const ClothElement* el, const double* x, double size, double share,
                      double* blocks) {
    Stretched s = stretch_of(el, x);
    Sym2 Z = solve_symmetric(&s, weight_of(el));
    TdlVec3 slope[3][CLOTH_MOST];
    slopes_of(el, &s, (Sym2){1.0, 0.0, 0.0}, slope[0]);
    slopes_of(el, &s, (Sym2){0.0, 1.0, 0.0}, slope[1]);
    slopes_of(el, &s, (Sym2){0.0, 0.0, 0.5}, slope[2]);
    // its eigenvectors
    double half = 0.5 * atan2(2.0 * Z.xy, Z.xx - Z.yy);
    double mean = 0.5 * (Z.xx + Z.yy), off = hypot(0.5 * (Z.xx - Z.yy), Z.xy);
    const double first[2] = {cos(half), sin(half)}, second[2] = {-first[1], first[0]};
    add_eigen(el, slope, first, 2.0 * size * (mean + off), share, blocks);
    add_eigen(el, slope, second, 2.0 * size * (mean - off), share, blocks);
}

// --- what is not uniform in a quad ---------------------------------------------------------------

// c = (w_1 x_u + w_2 x_v) . g, whose first factor is that of numbers p by node. (N.56)
static void find_factor(const ClothElement* el, double* p) {
    for (int i = 0; i < el->count; ++i) {
        p[i] = el->weight[0] * el->panel->a[i] + el->weight[1] * el->panel->b[i];
    }
}

double twist_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]) {
    double p[CLOTH_MOST];
    TdlVec3 along = {0}, g = {0};
    find_factor(el, p);
    for (int i = 0; i < el->count; ++i) {
        along = tdl_axpy3(along, p[i], node_at(el, x, i));
        g = tdl_axpy3(g, el->panel->twist[i], node_at(el, x, i));
    }
    for (int i = 0; i < el->count; ++i) {
        slope[i] = tdl_axpy3(tdl_scale3(p[i], g), el->panel->twist[i], along);
    }
    return tdl_dot3(along, g) - el->rest;
}

// p g' + g p' = ((f p + g/f)^2 - (f p - g/f)^2) / 2, with f such that both are as large. (N.57)
void twist_add_second(const ClothElement* el, const double* x, double size, double share,
                      double* blocks) {
    (void)x; // it is quadratic
    double p[CLOTH_MOST], sum[CLOTH_MOST], difference[CLOTH_MOST], pp = 0.0, gg = 0.0;
    find_factor(el, p);
    for (int i = 0; i < el->count; ++i) {
        pp += p[i] * p[i];
        gg += el->panel->twist[i] * el->panel->twist[i];
    }
    double f = sqrt(sqrt(gg / pp));
    for (int i = 0; i < el->count; ++i) {
        sum[i] = f * p[i] + el->panel->twist[i] / f;
        difference[i] = f * p[i] - el->panel->twist[i] / f;
    }
    double half = 0.5 * size;
    add_plain(el, sum, half < 0.0 ? share * half : half, blocks);
    add_plain(el, difference, half > 0.0 ? -share * half : -half, blocks);
}
