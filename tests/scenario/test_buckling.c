// A naturally curved rod, clamped level and curling upwards in a vertical plane, falls sideways
// when it gets too heavy. The load is known from the exact planar solution: its equation and the
// linear one of a small motion out of the plane, both integrated here.
//
// Forces are dead, n(s) = w (L - s) downwards whatever the shape, so moments obey m' + t x n = 0.
// With psi the small rotation of the frame: mu' = -(psi x t) x n and
// mu = psi x m + R K R' psi', psi(0) = 0, mu(L) = 0. Out of the plane both lie in the plane.
#include "math/dense.h"
#include "math/eigen.h"
#include "rod/rod.h"
#include "test.h"

enum { ODE_STEPS = 400, ELEMENTS = 24, DOFS = 3 * ELEMENTS };

typedef struct Problem {
    double length, bending, twisting, natural; // m, N m^2, N m^2, 1/m about the second axis
    double weight;                             // N/m
} Problem;

// y: angle, moment; then psi_x, psi_z, mu_x, mu_z of two solutions
enum { STATE = 10 };

static void slope(const Problem* p, double s, const double y[STATE], double out[STATE]) {
    double c = cos(y[0]), n = -p->weight * (p->length - s), sn = sin(y[0]), m = y[1];
    double tx = c, tz = -sn, bx = sn, bz = c; // tangent, and the third axis of the frame
    out[0] = p->natural + m / p->bending;
    out[1] = n * c;
    for (int k = 2; k < STATE; k += 4) {
        // psi' = R K^-1 R' (mu - psi x m), with psi x m = (-psi_z m, 0, psi_x m)
        double rx = y[k + 2] + y[k + 1] * m, rz = y[k + 3] - y[k] * m;
        double twist = (rx * tx + rz * tz) / p->twisting, bend = (rx * bx + rz * bz) / p->bending;
        out[k] = twist * tx + bend * bx;
        out[k + 1] = twist * tz + bend * bz;
        // (psi x t) = (0, e, 0), crossed with (0, 0, n): (e n, 0, 0)
        double e = y[k + 1] * tx - y[k] * tz;
        out[k + 2] = -e * n;
        out[k + 3] = 0.0;
    }
}

static void integrate(const Problem* p, double moment, double y[STATE]) {
    double h = p->length / ODE_STEPS, k[4][STATE], at[STATE];
    memset(y, 0, STATE * sizeof *y);
    y[1] = moment;
    y[4] = p->bending; // mu_x of the first solution, mu_z of the second
    y[9] = p->bending;
    for (int i = 0; i < ODE_STEPS; ++i) {
        static const double fraction[4] = {0.0, 0.5, 0.5, 1.0};
        for (int stage = 0; stage < 4; ++stage) {
            for (int j = 0; j < STATE; ++j) {
                at[j] = y[j] + (stage > 0 ? fraction[stage] * h * k[stage - 1][j] : 0.0);
            }
            slope(p, (i + fraction[stage]) * h, at, k[stage]);
        }
        for (int j = 0; j < STATE; ++j) {
            y[j] += h / 6.0 * (k[0][j] + 2.0 * k[1][j] + 2.0 * k[2][j] + k[3][j]);
        }
    }
}

// The clamp's moment of the planar shape, from a guess; and the determinant whose first zero is
// the critical load.
static double stability(const Problem* p, double* moment) {
    double y[STATE];
    for (int i = 0; i < 50; ++i) {
        double h = 1.0e-6 * p->bending / p->length, up[STATE], down[STATE];
        integrate(p, *moment, y);
        integrate(p, *moment + h, up);
        integrate(p, *moment - h, down);
        double change = y[1] * 2.0 * h / (up[1] - down[1]);
        *moment -= change;
        if (fabs(change) < 1.0e-13 * p->bending / p->length) {
            break;
        }
    }
    integrate(p, *moment, y);
    return (y[4] * y[9] - y[5] * y[8]) / (p->bending * p->bending);
}

static double exact_load(Problem p) {
    double moment = 0.0, step = 0.5 * p.bending / pow(p.length, 3.0), low = 0.0, high;
    double sign = 1.0;
    p.weight = 0.0;
    for (int i = 0; sign > 0.0 && i < 80; ++i) { // follow the planar shape
        low = p.weight;
        p.weight += step;
        sign = stability(&p, &moment);
    }
    high = p.weight;
    for (int i = 0; i < 40; ++i) {
        p.weight = 0.5 * (low + high);
        *(stability(&p, &moment) > 0.0 ? &low : &high) = p.weight;
    }
    return low;
}

// --- the rod --------------------------------------------------------------------------------

// The planar equilibrium, by Newton's method on the in-plane curvatures alone.
static void settle_in_plane(Rod* rod, TdlVec3 g) {
    static double gradient[DOFS], hessian[DOFS * DOFS], H[ELEMENTS * ELEMENTS];
    for (int iter = 0; iter < 30; ++iter) {
        rod->model->potential(rod, g, gradient, hessian);
        double step[ELEMENTS], size = 0.0;
        for (int i = 0; i < ELEMENTS; ++i) {
            step[i] = -gradient[3 * i + 1];
            for (int j = 0; j < ELEMENTS; ++j) {
                H[j + i * ELEMENTS] = hessian[3 * j + 1 + (3 * i + 1) * DOFS];
            }
        }
        REQUIRE(tdl_cholesky(ELEMENTS, H, ELEMENTS) == ELEMENTS);
        tdl_cholesky_solve(ELEMENTS, H, ELEMENTS, 1, step, ELEMENTS);
        for (int i = 0; i < ELEMENTS; ++i) {
            rod->q[3 * i + 1] += step[i];
            size = fmax(size, fabs(step[i]));
        }
        rod->model->refresh(rod);
        if (size < 1.0e-13) {
            break;
        }
    }
}

static double lowest_eigenvalue(Rod* rod, double gravity) {
    static double hessian[DOFS * DOFS], scratch[3 * DOFS];
    TdlVec3 g = {0.0, 0.0, -gravity};
    settle_in_plane(rod, g);
    rod->model->potential(rod, g, NULL, hessian);
    return tdl_smallest_eigenvalue(DOFS, hessian, DOFS, scratch);
}

static double rod_load(const Problem* p, const TdlRodDef* def) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    if (rod_create(&host, def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    double step = 0.5 * p->bending / pow(p->length, 3.0) / rod->line_density;
    double low = 0.0, high = 0.0;
    for (int i = 0; i < 80; ++i) {
        high = low + step;
        if (lowest_eigenvalue(rod, high) < 0.0) {
            break;
        }
        low = high;
    }
    for (int i = 0; i < 30; ++i) {
        double middle = 0.5 * (low + high);
        *(lowest_eigenvalue(rod, middle) > 0.0 ? &low : &high) = middle;
    }
    double load = low * rod->line_density;
    rod_destroy(&host, rod);
    return load;
}

TEST(a_heavy_curved_rod_falls_sideways_at_the_load_of_the_exact_solution) {
    static const double turning[] = {4.0, 5.0, 6.0}; // natural curvature times length
    for (int k = 0; k < 3; ++k) {
        TdlRodDef def = tdl_rod_def_default();
        def.model = "super-helix-dense";
        def.length = 0.3;
        def.radius[0] = def.radius[1] = 1.0e-3;
        def.young = 1.0e8;
        def.element_count = ELEMENTS;
        def.natural_curvature = def.curvature = (TdlVec3){0.0, -turning[k] / def.length, 0.0};
        TdlHost host = tdl_host_default();
        Rod* rod;
        REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
        Problem p = {def.length, rod->stiffness.y, rod->stiffness.x, def.natural_curvature.y, 0.0};
        rod_destroy(&host, rod);
        double unit = p.bending / pow(p.length, 3.0);
        double exact = exact_load(p), found = rod_load(&p, &def);
        printf("  turning %g: load %.5f, exact %.5f EI/L^3\n", turning[k], found / unit,
               exact / unit);
        CHECK(exact / unit > 1.0 && exact / unit < 39.0); // found, not given up
        CHECK_NEAR(found, exact, 0.02 * exact);
    }
}
