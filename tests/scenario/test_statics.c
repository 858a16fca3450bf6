// Heavy clamped rods at rest: how the error of each model falls as elements are added.
#include "rod/rod.h"
#include "test.h"

static const double PI = 3.14159265358979323846;
static const TdlVec3 GRAVITY = {0.0, 0.0, -9.81};

enum { SAMPLES = 64 };

typedef struct Line {
    TdlVec3 x[SAMPLES + 1]; // points of the centreline at equal arc lengths
} Line;

static Line settle(TdlRodDef def, const char* model, int element_count) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    Line line = {0};
    def.model = model;
    def.element_count = element_count;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        FAIL("%s: no rod", model);
        return line;
    }
    double residual = 0.0, stability;
    CHECK_INT(rod_settle(&host, rod, GRAVITY, &residual, &stability), TDL_STATUS_OK);
    CHECK_BELOW(residual, 1.0e-12);
    for (int i = 0; i <= SAMPLES; ++i) {
        double u = (double)i * element_count / SAMPLES;
        int element = u < element_count ? (int)u : element_count - 1;
        line.x[i] = rod->model->point(rod, element, u - element);
    }
    rod_destroy(&host, rod);
    return line;
}

// Largest distance between two centrelines, relative to the length.
static double line_error(const Line* a, const Line* b, double length) {
    double worst = 0.0;
    for (int i = 0; i <= SAMPLES; ++i) {
        worst = fmax(worst, tdl_norm3(tdl_sub3(a->x[i], b->x[i])));
    }
    return worst / length;
}

typedef struct Convergence {
    double error[4]; // with 8, 16, 32, 64 elements
    double order;    // over the last three
    int enough;      // fewest elements, of those tried, with an error below 1e-4
} Convergence;

static Convergence converge(TdlRodDef def, const char* model, const Line* exact) {
    static const int tried[] = {4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64, 80, 96, 112, 128};
    Convergence c = {.enough = 1000};
    for (int i = 0; i < 17; ++i) {
        int n = tried[i];
        Line line = settle(def, model, n);
        double error = line_error(&line, exact, def.length);
        if (n == 8 || n == 16 || n == 32 || n == 64) {
            c.error[n == 8 ? 0 : n == 16 ? 1 : n == 32 ? 2 : 3] = error;
        }
        if (error < 1.0e-4 && n < c.enough) {
            c.enough = n;
        }
        if (c.enough < 1000 && n >= 64) {
            break;
        }
    }
    c.order = 0.5 * log2(c.error[1] / c.error[3]);
    printf("  %-14s errors %.2e %.2e %.2e %.2e L with 8, 16, 32, 64 elements; order %.2f; "
           "%d elements for 1e-4\n",
           model, c.error[0], c.error[1], c.error[2], c.error[3], c.order, c.enough);
    return c;
}

TEST(naturally_curved_rods_converge_in_space) {
    // twisted and curved about both axes; settles far out of every plane
    TdlRodDef def = tdl_rod_def_default();
    def.length = 0.15;
    def.natural_curvature = def.curvature = (TdlVec3){5.0, 40.0, 10.0};
    Line exact = settle(def, "super-clothoid", 160);
    CHECK(fabs(exact.x[SAMPLES].y) > 0.1 * def.length);
    Convergence helix = converge(def, "super-helix", &exact);
    Convergence clothoid = converge(def, "super-clothoid", &exact);
    CHECK(helix.order >= 1.95); // 2, as measured over two doublings
    CHECK(clothoid.order >= 3.0);
    CHECK(clothoid.enough < helix.enough);
    CHECK_BELOW(helix.error[3], 1.0e-3); // both go to one limit, which the clothoid computed
}

// Planar rod clamped along x with the natural curvature kappa towards -z: the exact elastica
// EI theta'' = w (L - s) cos theta, theta(0) = 0, theta'(L) = -kappa. From the slope at the start,
// by RK4; returns the slope at the end.
typedef struct Elastica {
    double w, EI, L, kappa;
} Elastica;

static double shoot(const Elastica* e, double start_slope, Line* out) {
    enum { STEPS = 64 * SAMPLES };
    double h = e->L / STEPS, y[4] = {0.0, start_slope, 0.0, 0.0};
    for (int i = 0; i < STEPS; ++i) {
        double k[4][4];
        for (int j = 0; j < 4; ++j) {
            double c = j == 0 ? 0.0 : j == 3 ? h : 0.5 * h, t[4];
            for (int m = 0; m < 4; ++m) {
                t[m] = y[m] + (j == 0 ? 0.0 : c * k[j - 1][m]);
            }
            k[j][0] = t[1];
            k[j][1] = e->w / e->EI * (e->L - i * h - c) * cos(t[0]);
            k[j][2] = cos(t[0]);
            k[j][3] = sin(t[0]);
        }
        for (int m = 0; m < 4; ++m) {
            y[m] += h / 6.0 * (k[0][m] + 2.0 * k[1][m] + 2.0 * k[2][m] + k[3][m]);
        }
        if ((i + 1) % (STEPS / SAMPLES) == 0) {
            out->x[(i + 1) * SAMPLES / STEPS] = (TdlVec3){y[2], 0.0, y[3]};
        }
    }
    return y[1];
}

static Line solve_elastica(const Elastica* e) {
    Line line = {0};
    // the end's slope grows with the start's
    double low = -e->kappa - e->w * e->L * e->L / e->EI, high = -e->kappa;
    for (int k = 0; k < 100; ++k) {
        double middle = 0.5 * (low + high);
        *(shoot(e, middle, &line) > -e->kappa ? &high : &low) = middle;
    }
    CHECK_NEAR(shoot(e, low, &line), -e->kappa, 1.0e-6 / e->L);
    return line;
}

static Elastica elastica_of(const TdlRodDef* def) {
    double r = def->radius[0];
    return (Elastica){9.81 * def->density * PI * r * r, def->young * PI / 4.0 * pow(r, 4),
                      def->length, def->natural_curvature.y};
}

TEST(a_naturally_curved_rod_converges_to_the_exact_elastica) {
    TdlRodDef def = tdl_rod_def_default();
    def.natural_curvature = def.curvature = (TdlVec3){0.0, 20.0, 0.0};
    Elastica e = elastica_of(&def);
    Line exact = solve_elastica(&e);
    Convergence helix = converge(def, "super-helix", &exact);
    Convergence clothoid = converge(def, "super-clothoid", &exact);
    CHECK(helix.order >= 1.95);
    CHECK(clothoid.order >= 3.0);
    CHECK(clothoid.enough < helix.enough);
}

TEST(heavy_cantilevers_of_clothoids_settle_on_the_elastica) {
    TdlRodDef def = tdl_rod_def_default();
    Elastica e = elastica_of(&def);
    for (double weight = 1.0e-2; weight < 1.0e3; weight *= 10.0) {
        // weight-to-stiffness ratio w L^3 / EI, set through Young's modulus
        double ratio = e.w * pow(e.L, 3) / (weight * e.EI);
        TdlRodDef bent = def;
        bent.young *= ratio;
        Elastica soft = e;
        soft.EI *= ratio;
        Line exact = solve_elastica(&soft), found = settle(bent, "super-clothoid", 30);
        double tip = tdl_norm3(tdl_sub3(found.x[SAMPLES], exact.x[SAMPLES])) / e.L;
        printf("  wL^3/EI %g: tip off by %.1e L, line by %.1e L\n", weight, tip,
               line_error(&found, &exact, e.L));
        CHECK_BELOW(tip, 1.0e-4);
    }
}
