// The three-point bending test solved exactly: a planar elastica between a clamp and a disc on
// which it slides. docs/theory/three-point.md.
//
// Lengths are in units of the span and curvatures in its inverse. The contact angle alpha is the
// parameter: the level distance (T.7) gives the load p for an angle, then the height (T.8) gives
// the indentation, and a search over alpha inverts that. The integrals run over the angle from the
// contact; near the contact, where a straight rod has no curvature and 1 / kappa no bound, the
// curvature itself is the variable (T.10). Nothing is then singular, for any natural curvature and
// any load down to none, and fixed Gauss panels integrate to rounding.
#include "experiment/three_point.h"

#include "base/log.h"
#include "math/gauss.h"

#include <math.h>

// Panels for each half of the integrals; with 12 points each, twice as many change nothing.
enum { PANELS = 2 };

// Both searches end at neighbouring doubles; this stops one that does not.
enum { MAX_ITERATIONS = 200 };

typedef struct Setup {
    double d;   // rod and disc radius over the span
    double k;   // natural curvature times the span
    double phi; // friction angle
    double arm; // rod radius over the span where friction acts on the surface, else 0
} Setup;

// Integrals along the rod from the clamp to the contact, and the curvature at the clamp.
typedef struct Shape {
    double x, y, s; // level, height, arc length
    double kappa;
} Shape;

// Adds the share of one point of the rod: the tangent's angle is alpha - psi, and ds its weight.
static void add_point(Shape* shape, double alpha_sin, double alpha_cos, double psi_sin,
                      double psi_cos, double ds) {
    shape->x += ds * (alpha_cos * psi_cos + alpha_sin * psi_sin);
    shape->y += ds * (alpha_sin * psi_cos - alpha_cos * psi_sin);
    shape->s += ds;
}

// The shape for a contact angle and a load p = 2 P span^2 / B, not both k and p zero.
// (T.5), (T.9), (T.10)
static Shape integrate(const Setup* setup, double alpha, double p) {
    // angles are counted from phi: sin(psi - phi) = g - sin(phi)
    double sin_phi = sin(setup->phi), beta = alpha - setup->phi;
    double sin_beta = sin(beta), cos_beta = cos(beta);
    double half = 0.5 * alpha;
    double contact = setup->k + 0.5 * setup->arm * p * sin_phi; // curvature at the contact
    double g_half = 2.0 * sin(0.5 * half) * cos(setup->phi - 0.5 * half);
    double rise = sqrt(contact * contact + p * g_half) + contact;
    Shape shape = {0};
    for (int i = 0; i < PANELS * GAUSS12_COUNT; ++i) {
        double at = ((double)(i / GAUSS12_COUNT) + GAUSS12_POINT[i % GAUSS12_COUNT]) / PANELS;
        double weight = GAUSS12_WEIGHT[i % GAUSS12_COUNT] / PANELS;

        // near the contact: kappa = contact + at (kappa_half - contact)
        double share = (2.0 * contact + at * (rise - 2.0 * contact)) / rise;
        double psi_sin = g_half * at * share - sin_phi;
        double psi_cos = sqrt((1.0 - psi_sin) * (1.0 + psi_sin));
        add_point(&shape, sin_beta, cos_beta, psi_sin, psi_cos,
                  weight * 2.0 * g_half / (rise * psi_cos));

        // near the clamp: the angle
        double psi = half + half * at;
        double g = 2.0 * sin(0.5 * psi) * cos(setup->phi - 0.5 * psi);
        add_point(&shape, sin_beta, cos_beta, sin(psi - setup->phi), cos(psi - setup->phi),
                  weight * half / sqrt(contact * contact + p * g));
    }
    double g = 2.0 * sin(half) * cos(setup->phi - half);
    shape.kappa = sqrt(contact * contact + p * g);
    return shape;
}

// A root of f between a and b, where it has the values fa and fb of opposite sign: regula falsi
// with the weight of Anderson and Bjorck, and bisection whenever three steps did not halve.
typedef double (*Function)(void* context, double x);
static double find_root(Function f, void* context, double a, double fa, double b, double fb) {
    double width = fabs(b - a);
    for (int i = 0; i < MAX_ITERATIONS && fa != 0.0 && fb != 0.0; ++i) {
        double x = (a * fb - b * fa) / (fb - fa);
        if (i % 3 == 2) {
            if (fabs(b - a) > 0.5 * width) {
                x = 0.5 * (a + b);
            }
            width = fabs(b - a);
        }
        if (!(x > fmin(a, b) && x < fmax(a, b))) {
            x = 0.5 * (a + b);
        }
        if (x == a || x == b) {
            break;
        }
        // b is always the newest point
        double fx = f(context, x);
        if ((fx > 0.0) != (fb > 0.0)) {
            a = b;
            fa = fb;
        } else {
            double m = 1.0 - fx / fb;
            fa *= m > 0.0 ? m : 0.5;
        }
        b = x;
        fb = fx;
    }
    return fa == 0.0 ? a : b;
}

typedef struct Search {
    const Setup* setup;
    double alpha;
    double height; // of the contact on the disc, wanted
    double p;
    Shape shape;
} Search;

// The level distance from clamp to contact that the disc asks for. (T.6)
static double level(const Setup* setup, double alpha) {
    return 0.5 - setup->d * sin(alpha);
}

// Grows with p, like its root when p is large, so that the secant does well.
static double level_excess(void* context, double p) {
    const Search* search = context;
    double x = integrate(search->setup, search->alpha, p).x;
    return 1.0 / x - 1.0 / level(search->setup, search->alpha);
}

// The load for a contact angle: between none and that of a straight rod. (T.7), (T.11)
static double find_load(Search* search) {
    const Setup* setup = search->setup;
    double alpha = search->alpha;
    Setup straight = {.d = setup->d, .phi = setup->phi};
    double most = integrate(&straight, alpha, 1.0).x / level(setup, alpha);
    most *= most;
    double at_none = setup->k / sin(alpha) - 1.0 / level(setup, alpha);
    if (at_none >= 0.0) {
        return 0.0; // first contact
    }
    if (setup->k == 0.0 && setup->arm == 0.0) {
        return most;
    }
    double at_most = level_excess(search, most);
    return at_most <= 0.0 ? most : find_root(level_excess, search, 0.0, at_none, most, at_most);
}

// How much higher the rod is at the angle alpha than the disc. (T.8)
static double height_excess(void* context, double alpha) {
    Search* search = context;
    search->alpha = alpha;
    search->p = find_load(search);
    search->shape = integrate(search->setup, alpha, search->p);
    return search->shape.y - search->setup->d * cos(alpha) - search->height;
}

// Height of the disc's centre at first contact, over the span. (T.12)
static double first_height(double d, double k) {
    return (k * (0.25 - d * d) - 2.0 * d) /
           (1.0 + sqrt((1.0 + k * d) * (1.0 + k * d) - 0.25 * k * k));
}

double tdl_three_point_first_height(const TdlThreePointDef* def) {
    double d = (def->rod_radius + def->support_radius) / def->span;
    return def->span * first_height(d, def->natural_curvature * def->span);
}

TdlThreePointDef tdl_three_point_def_default(void) {
    double radius = 1.85e-4, young = 83.0e9;
    return (TdlThreePointDef){
        .span = 0.05,
        .rod_radius = radius,
        .support_radius = radius,
        .bending = young * 0.25 * M_PI * radius * radius * radius * radius,
    };
}

static TdlStatus check(const TdlHost* host, const TdlThreePointDef* def) {
    const char* fault = NULL;
    double d = (def->rod_radius + def->support_radius) / def->span;
    double k = def->natural_curvature * def->span;
    if (!(isfinite(def->span) && def->span > 0.0)) {
        fault = "span must be positive";
    } else if (!(def->rod_radius >= 0.0 && def->support_radius >= 0.0 && d < 0.5)) {
        fault = "rod and disc must be thinner than the span";
    } else if (!(isfinite(def->bending) && def->bending > 0.0)) {
        fault = "bending stiffness must be positive";
    } else if (!(k >= 0.0 && k * (1.0 - 2.0 * d) < 2.0)) {
        fault = "natural curvature must lie between 0 and 2 / (span - 2 (rod radius + disc "
                "radius)), where the rod stands upright on the disc";
    } else if (!(isfinite(def->mu) && def->mu >= 0.0)) {
        fault = "friction must not be negative";
    }
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "three-point: %s", fault);
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_three_point_solve(const TdlHost* host, const TdlThreePointDef* def,
                                double indentation, TdlThreePoint* out) {
    TdlStatus status = check(host, def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Setup setup = {
        .d = (def->rod_radius + def->support_radius) / def->span,
        .k = def->natural_curvature * def->span,
        .phi = atan(def->mu),
        .arm = def->surface_friction ? def->rod_radius / def->span : 0.0,
    };
    Search search = {.setup = &setup,
                     .height = first_height(setup.d, setup.k) + indentation / def->span};

    // between first contact and an upright tangent
    double first = asin(setup.k / (2.0 * (1.0 + setup.k * setup.d))), upright = 0.5 * M_PI;
    double most = height_excess(&search, upright);
    if (!(indentation >= 0.0 && most >= 0.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "three-point: indentation %g m must lie between 0 and %g m, where the rod "
                        "is upright at the contact",
                        indentation, indentation + most * def->span);
    }
    double alpha =
        find_root(height_excess, &search, first, -indentation / def->span, upright, most);
    *out = (TdlThreePoint){.indentation = indentation, .angle = alpha};
    if (alpha == first) {
        out->arc_length = first > 0.0 ? first / def->natural_curvature : 0.5 * def->span;
        out->middle_curve = def->natural_curvature;
        return TDL_STATUS_OK;
    }
    height_excess(&search, alpha);
    out->force = search.p * cos(alpha - setup.phi) * def->bending / (def->span * def->span);
    out->arc_length = search.shape.s * def->span;
    out->middle_curve = search.shape.kappa / def->span;
    return TDL_STATUS_OK;
}

// --- with a barrier
// -------------------------------------------------------------------------------

typedef struct BarrierSearch {
    const TdlHost* host;
    const TdlThreePointDef* def;
    const TdlBarrierDef* barrier;
    double indentation;
    TdlThreePoint found;
    TdlStatus status;
} BarrierSearch;

// -k b'(g): what a gap carries. (P.2)
static double carried(const TdlBarrierDef* barrier, double gap) {
    double away = gap - barrier->distance;
    double first = -2.0 * away * log(gap / barrier->distance) - away * away / gap;
    return -barrier->stiffness * first;
}

// What is missing of the force along the normal of a disc that is wider by the gap, N. It grows
// with the gap. (P.14)
static double missing_force(void* context, double gap) {
    BarrierSearch* search = context;
    TdlThreePointDef wide = *search->def;
    wide.support_radius += gap;
    double lifted = tdl_three_point_first_height(search->def) - tdl_three_point_first_height(&wide);
    TdlThreePoint* found = &search->found;
    double depth = search->indentation + lifted;
    *found = (TdlThreePoint){0};
    if (depth > 0.0) {
        TdlStatus status = tdl_three_point_solve(search->host, &wide, depth, found);
        search->status = status == TDL_STATUS_OK ? search->status : status;
    }
    found->indentation = search->indentation;
    return 0.5 * found->force / cos(found->angle) - carried(search->barrier, gap);
}

TdlStatus tdl_three_point_solve_barrier(const TdlHost* host, const TdlThreePointDef* def,
                                        const TdlBarrierDef* barrier, double indentation,
                                        TdlThreePoint* out, double* gap) {
    BarrierSearch search = {
        .host = host, .def = def, .barrier = barrier, .indentation = indentation};
    double low = 1.0e-9 * barrier->distance, high = barrier->distance;
    double at_low = missing_force(&search, low), at_high = missing_force(&search, high);
    if (search.status != TDL_STATUS_OK) {
        return search.status;
    }
    // nothing is missing beyond the distance where the disc is too far away to touch
    *gap = at_high <= 0.0 ? high : find_root(missing_force, &search, low, at_low, high, at_high);
    missing_force(&search, *gap);
    *out = search.found;
    return search.status;
}
