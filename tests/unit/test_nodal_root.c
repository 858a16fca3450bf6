// A^-1 of nodal rods in halves against the whole one: products of rows, and velocities.
#include "rod/nodal_work.h"

#include "base/rng.h"
#include "math/dense.h"
#include "ref/nodal_checks.h"

static const char* const MODELS[] = {"der", "mass-spring", "corde"};
enum { DOFS = 40 * 7 + 3, PLACES = 9, Z = 16 * 41 };

typedef struct Place {
    int element;
    double h[3 * DOFS];      // rows, over all coordinates
    double g[3 * Z];         // over all of z
    double answer[3 * DOFS]; // S h
} Place;

static Rod* moving_rod(const char* model, int elements, int holds, double young) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = elements;
    def.young = young;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.start = (TdlHold)(holds / 3);
    def.end = (TdlHold)(holds % 3);
    def.natural_curvature = (TdlVec3){0.0, 3.0, 1.0};
    def.curvature = (TdlVec3){1.0, 12.0, 5.0};
    Rod* rod = check_create(&def);
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->v[i] = nodal_is_held(rod, i) ? 0.0 : 0.2 * sin(3.0 * i);
    }
    RodStep step = {
        .dt = 1.0e-3, .gravity = CHECK_GRAVITY, .base_end = rod->base.now, .end_end = rod->end.now};
    CHECK(rod->model->predict(rod, &step));
    CHECK_INT(rod->model->root->root(rod).count, 0); // not before it was asked for
    rod->model->root->find(rod);
    return rod;
}

static void make_place(const Rod* rod, Rng* rng, int element, Place* x) {
    const RodRoot* root = rod->model->root;
    TdlSpan span = nodal_movers(rod, element);
    BodySupport support = root->support(rod, element);
    double h[3 * NODAL_MAX_DOFS], g[3 * Z];
    memset(x, 0, sizeof *x);
    x->element = element;
    for (int k = 0; k < 3 * span.count; ++k) {
        h[k] = rng_range(rng, -1.0, 1.0) * rod->element_length;
        int i = span.first + k % span.count;
        x->h[k / span.count * rod->dof_count + i] = nodal_is_held(rod, i) ? 0.0 : h[k];
    }
    root->whiten(rod, element, h, g);
    for (int k = 0; k < 3 * support.count; ++k) {
        int j = k % support.count;
        CHECK(j == 0 || support.list[j] > support.list[j - 1]);
        x->g[k / support.count * Z + support.list[j]] = g[k];
    }
    memcpy(x->answer, x->h, sizeof x->h);
    rod->model->solve_columns(rod, 3, x->answer);
}

// h S h' against g K g', and S h against what z tells.
static double deviation(const Rod* rod, const Place* place) {
    const RodRoot* root = rod->model->root;
    int n = rod->dof_count;
    BodyRoot about = root->root(rod);
    CHECK(about.count > 0 && about.count <= Z);
    double worst = 0.0;
    for (int a = 0; a < 3 * PLACES; ++a) {
        const double *ga = place[a / 3].g + a % 3 * Z, *ha = place[a / 3].h + a % 3 * n;
        const double* own = place[a / 3].answer + a % 3 * n;
        double z[Z], v[DOFS], size = sqrt(tdl_dot(n, ha, own)), off = 0.0, length = 0.0;
        for (int j = 0; j < Z; ++j) {
            bool minus = j >= about.minus.first && j < about.minus.first + about.minus.count;
            z[j] = minus ? -ga[j] : ga[j];
        }
        root->unwhiten(rod, z, v);
        for (int i = 0; i < n; ++i) {
            off = fmax(off, fabs(v[i] - own[i]));
            length = fmax(length, fabs(own[i]));
        }
        worst = fmax(worst, off / length);
        for (int b = 0; b < 3 * PLACES; ++b) {
            const double *other = place[b / 3].answer + b % 3 * n, *hb = place[b / 3].h + b % 3 * n;
            double w = tdl_dot(n, ha, other), most = size * sqrt(tdl_dot(n, hb, other));
            worst = fmax(worst, fabs(tdl_dot(Z, place[b / 3].g + b % 3 * Z, z) - w) / most);
        }
    }
    return worst;
}

TEST(halves_make_the_whole_for_every_model_and_hold) {
    static Place place[PLACES];
    for (int m = 0; m < 3; ++m) {
        double worst = 0.0;
        for (int holds = 0; holds < 9; ++holds) {
            for (int size = 0; size < 4; ++size) {
                int elements = size == 0 ? 1 : size == 1 ? 2 : size == 2 ? 17 : 40;
                Rng rng = rng_seed((uint64_t)(100 * m + 10 * holds + size));
                Rod* rod = moving_rod(MODELS[m], elements, holds, 1.0e7);
                bool moves = elements > 2; // else a clamped rod may have nothing that does
                for (int k = 0; k < PLACES && moves; ++k) {
                    int inside = rng_below(&rng, elements - 4) + 2;
                    make_place(rod, &rng, k == 0 ? 2 : k == 1 ? elements - 3 : inside, &place[k]);
                }
                worst = fmax(worst, moves ? deviation(rod, place) : 0.0);
                CHECK(rod->model->root->root(rod).count > 0);
                check_destroy(rod);
            }
        }
        printf("  %s: off by %.1e\n", MODELS[m], worst);
        CHECK_BELOW(worst, 1.0e-11); // eps times the stiffness of edges over that of bending
    }
}

// Rows are as long as a way in the tree: 8 more coordinates for twice as many nodes.
TEST(rows_grow_with_the_logarithm) {
    for (int m = 0; m < 3; ++m) {
        int longest[3] = {0};
        for (int k = 0; k < 3; ++k) {
            int elements = (32 << (2 * k)) - 1;
            Rod* rod = moving_rod(MODELS[m], elements, 2, 1.0e6);
            for (int e = 0; e < elements; ++e) {
                int count = rod->model->root->support(rod, e).count;
                longest[k] = count > longest[k] ? count : longest[k];
            }
            check_destroy(rod);
        }
        printf("  %s: %d, %d, %d coordinates of 31, 127, 511 edges\n", MODELS[m], longest[0],
               longest[1], longest[2]);
        CHECK_INT(longest[1] - longest[0], 16);
        CHECK_INT(longest[2] - longest[1], 16);
    }
}

// What impulses do to a free rod has the angular momentum that they have.
TEST(a_free_rod_is_turned_by_what_torque_there_is) {
    for (int m = 0; m < 3; ++m) {
        static Place x;
        Rng rng = rng_seed(5);
        Rod* rod = moving_rod(MODELS[m], 40, 3 * TDL_HOLD_FREE + TDL_HOLD_FREE, 1.0e7);
        NodalWork w = nodal_work(rod);
        double worst = 0.0;
        for (int k = 0; k < 20; ++k) {
            make_place(rod, &rng, rng_below(&rng, 40), &x);
            double v[DOFS], z[Z];
            for (int j = 0; j < Z; ++j) {
                z[j] = j < 3 ? -x.g[j] : x.g[j];
            }
            rod->model->root->unwhiten(rod, z, v);
            TdlVec3 made = nodal_dots(w.turn, w.n, w.n, v);
            TdlVec3 given = nodal_dots(w.rotation, w.n, w.n, x.h);
            given = tdl_scale3(1.0 / w.kept->mass_factor, given);
            worst = fmax(worst, tdl_norm3(tdl_sub3(made, given)) / tdl_norm3(given));
        }
        printf("  %s: off by %.1e\n", MODELS[m], worst);
        CHECK_BELOW(worst, 1.0e-12); // rounding of sums over all coordinates
        check_destroy(rod);
    }
}
