// Stiffness from shapes in which one fibre rests: exact, noisy, and what they do not tell.
#include "counting_allocator.h"
#include "math/dense.h"
#include "strands.h"

enum { N = 14, POSES = 3, PLANAR = 1, STRAIGHT = 2 };

// One fibre settled in several directions of gravity, with a force on it.
typedef struct Fibre {
    TdlStrand pose[POSES];
    TdlVec3 gravity[POSES], curvature[POSES][N + 1], natural[N + 1];
    TdlRodLoad load[POSES];
    TdlVec3 stiffness;
    int count; // of curvatures
} Fibre;

// `weight` is w L^3 / EI1. Planar: nothing twists.
static void make_fibre(Rng* rng, int model, double weight, int look, Fibre* f) {
    TdlHost host = tdl_host_default();
    double L = rng_range(rng, 0.1, 0.5), EI = 9.81e-5 * pow(L, 3.0) / weight;
    f->stiffness = (TdlVec3){EI * rng_range(rng, 0.6, 1.0), EI, EI * rng_range(rng, 1.0, 2.0)};
    f->count = N + model;
    for (int i = 0; i < f->count; ++i) {
        double s = (double)i / N;
        f->natural[i] = (TdlVec3){0.5 * cos(3.0 * s), 2.0 + sin(5.0 * s), cos(4.0 * s)};
        f->natural[i] = tdl_scale3(1.0 / L, f->natural[i]);
        if (look == PLANAR) {
            f->natural[i] = (TdlVec3){0.0, f->natural[i].y, 0.0};
        } else if (look == STRAIGHT) {
            f->natural[i] = (TdlVec3){0};
        }
    }
    TdlMat3 start = look == 0 ? tdl_rotation_exp(strand_random_vector(rng, 2.0))
                              : (TdlMat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int a = 0; a < POSES; ++a) {
        f->gravity[a] = look == 0 ? strand_random_vector(rng, 9.81)
                                  : (TdlVec3){9.81 * cos(a), 0.0, 9.81 * sin(a)};
        f->load[a] = (TdlRodLoad){.at = 0.6 * L, .force = tdl_scale3(2.0e-6 * L, f->gravity[a])};
        f->pose[a] = (TdlStrand){.model = STRAND_MODELS[model],
                                 .start = {{0.1, 0.2, 0.3}, start},
                                 .length = L,
                                 .element_count = N,
                                 .curvature = f->natural,
                                 .stiffness = f->stiffness,
                                 .line_density = 1.0e-5,
                                 .loads = &f->load[a],
                                 .load_count = 1};
        CHECK_INT(tdl_strand_settle(&host, &f->pose[a], f->gravity[a], f->natural, f->curvature[a]),
                  TDL_STATUS_OK);
        f->pose[a].curvature = f->curvature[a];
        f->pose[a].stiffness = (TdlVec3){7.0, 7.0, 7.0}; // does not count
    }
}

static double relative_error(TdlVec3 found, TdlVec3 known) {
    double worst = fabs(found.x / known.x - 1.0);
    worst = fmax(worst, fabs(found.y / known.y - 1.0));
    return fmax(worst, fabs(found.z / known.z - 1.0));
}

TEST(exact_poses_tell_all_three) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2351);
    double worst = 0.0, bar = 0.0;
    for (int round = 0; round < 60; ++round) {
        Fibre f;
        make_fibre(&rng, round % 2, round % 3 == 0 ? 1.0 : 30.0, 0, &f);
        TdlPoseStiffness out;
        int count = round % 5 == 0 ? POSES : 2;
        CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, count, false, 0.0, &out),
                  TDL_STATUS_OK);
        CHECK(out.known[0] && out.known[1] && out.known[2]);
        worst = fmax(worst, relative_error(out.stiffness, f.stiffness));
        bar = fmax(bar, out.error.y / f.stiffness.y);
        CHECK_BELOW(out.residual, 1.0e-12 * f.pose[0].length);
    }
    printf("  off by %.1e, error bar of EI1 %.1e\n", worst, bar);
    CHECK_BELOW(worst, 1.0e-9);
}

TEST(an_isotropic_fibre_has_one_bending) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2352);
    Fibre f;
    make_fibre(&rng, 1, 30.0, 0, &f);
    TdlPoseStiffness out;
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, true, 0.0, &out), TDL_STATUS_OK);
    CHECK(out.stiffness.y == out.stiffness.z);
    // it is not isotropic, and that is seen in what is left
    CHECK(out.residual > 1.0e-4 * f.pose[0].length);
    CHECK(out.error.y > 1.0e-3 * out.stiffness.y);
}

TEST(what_poses_do_not_tell_is_not_told) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2353);
    for (int round = 0; round < 12; ++round) {
        Fibre f;
        TdlPoseStiffness out;
        make_fibre(&rng, round % 2, 4.0, round % 4 < 2 ? PLANAR : STRAIGHT, &f);
        CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, POSES, false, 0.0, &out),
                  TDL_STATUS_OK);
        CHECK(!out.known[0] && isnan(out.stiffness.x) && isnan(out.error.x));
        CHECK(!out.known[2] && isnan(out.stiffness.z)); // all bend about the second axis
        CHECK(out.known[1]);
        CHECK_NEAR(out.stiffness.y / f.stiffness.y, 1.0, 1.0e-9);

        // the same pose twice tells nothing, nor do two of which one is as noisy as they differ
        f.pose[1] = f.pose[0];
        f.gravity[1] = f.gravity[0];
        CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, true, 0.0, &out), TDL_STATUS_OK);
        CHECK(!out.known[0] && !out.known[1] && !out.known[2]);
    }
    Fibre f;
    TdlPoseStiffness out;
    make_fibre(&rng, 0, 1.0e-3, 0, &f);
    double L = f.pose[0].length;
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, true, 1.0e-2 * L, &out), 0);
    CHECK(!out.known[0] && !out.known[1]);
    // but exact shapes do
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, false, 0.0, &out), 0);
    CHECK_NEAR(out.stiffness.y / f.stiffness.y, 1.0, 1.0e-9);
}

// --- noise ----------------------------------------------------------------------------------

// Places of joints, and their frames times an element's length, of a super-helix walked by itself.
static void walk(const TdlStrand* s, const TdlVec3* kappa, double* rows) {
    TdlMat3 R = s->start.rotation;
    TdlVec3 x = {0};
    double l = s->length / N;
    for (int i = 0; i < N; ++i) {
        TdlVec3 sum = {0};
        for (int k = 0; k < 8; ++k) { // the midpoint rule will do for rows that are weights
            TdlVec3 part = tdl_scale3((k + 0.5) / 8.0 * l, kappa[i]);
            sum = tdl_add3(sum, tdl_mul33(R, tdl_rotation_exp(part)).cx);
        }
        x = tdl_axpy3(x, l / 8.0, sum);
        R = tdl_mul33(R, tdl_rotation_exp(tdl_scale3(l, kappa[i])));
        const TdlVec3 all[4] = {x, R.cx, R.cy, R.cz};
        for (int k = 0; k < 4; ++k) {
            tdl_store3(rows, 4 * i + k, all[k]);
        }
    }
}

// Shapes as they would be found from joints whose places have the noise, and frames the noise over
// l: the least squares of random errors, by differences of the walk.
static void add_noise(Rng* rng, const TdlStrand* s, double noise, TdlVec3* kappa) {
    static double J[12 * N][3 * N], A[9 * N * N], b[3 * N], there[12 * N], here[12 * N];
    double l = s->length / N, h = 1.0e-6 / l;
    walk(s, kappa, here);
    for (int c = 0; c < 3 * N; ++c) {
        TdlVec3 moved[N];
        memcpy(moved, kappa, sizeof moved);
        *((c % 3 == 0) ? &moved[c / 3].x : c % 3 == 1 ? &moved[c / 3].y : &moved[c / 3].z) += h;
        walk(s, moved, there);
        for (int r = 0; r < 12 * N; ++r) {
            // a turn w moves the three axes by w x axis: 2 |w|^2 in squares
            double unit = r % 12 < 3 ? 1.0 : l / sqrt(2.0);
            J[r][c] = unit * (there[r] - here[r]) / h;
        }
    }
    double error[12 * N];
    for (int r = 0; r < 12 * N; ++r) {
        error[r] = noise * rng_normal(rng);
    }
    for (int c = 0; c < 3 * N; ++c) {
        b[c] = 0.0;
        for (int r = 0; r < 12 * N; ++r) {
            b[c] += J[r][c] * error[r];
        }
        for (int d = 0; d <= c; ++d) {
            A[c + 3 * N * d] = 0.0;
            for (int r = 0; r < 12 * N; ++r) {
                A[c + 3 * N * d] += J[r][c] * J[r][d];
            }
        }
    }
    CHECK_INT(tdl_cholesky(3 * N, A, 3 * N), 3 * N);
    tdl_cholesky_solve(3 * N, A, 3 * N, 1, b, 3 * N);
    for (int i = 0; i < N; ++i) {
        kappa[i] = tdl_add3(kappa[i], tdl_load3(b, i));
    }
}

TEST(error_bars_are_as_long_as_errors) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2354);
    int draws = getenv("TENDRIL_LONG") != NULL ? 1000 : 100;
    double square[2][3] = {{0}}, bias[3] = {0};
    for (int k = 0; k < draws; ++k) {
        Fibre f;
        make_fibre(&rng, 0, 30.0, 0, &f);
        double noise = 1.0e-5 * f.pose[0].length;
        for (int a = 0; a < 2; ++a) {
            add_noise(&rng, &f.pose[a], noise, f.curvature[a]);
        }
        for (int given = 0; given < 2; ++given) {
            TdlPoseStiffness out;
            CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, false,
                                          given == 1 ? noise : 0.0, &out),
                      TDL_STATUS_OK);
            REQUIRE(out.known[0] && out.known[1] && out.known[2]);
            CHECK_NEAR(out.noise / noise, 1.0, 0.6); // of 39 freedoms: 11 % standard deviation
            double off[3] = {(out.stiffness.x - f.stiffness.x) / out.error.x,
                             (out.stiffness.y - f.stiffness.y) / out.error.y,
                             (out.stiffness.z - f.stiffness.z) / out.error.z};
            for (int c = 0; c < 3; ++c) {
                square[given][c] += off[c] * off[c] / draws;
                bias[c] += given * off[c] / draws;
            }
        }
    }
    for (int c = 0; c < 3; ++c) {
        printf("  error over bar: %.2f, %.2f with the noise given; mean %.2f\n", sqrt(square[0][c]),
               sqrt(square[1][c]), bias[c]);
        // four standard deviations of a root of mean square of `draws`, 0.71 / sqrt(draws) each,
        // and a tenth for weights that two poses share and the mean of draws of different fibres
        double allowed = 0.1 + 4.0 * 0.71 / sqrt(draws);
        CHECK_NEAR(sqrt(square[0][c]), 1.0, allowed);
        CHECK_NEAR(sqrt(square[1][c]), 1.0, allowed);
        CHECK_NEAR(bias[c], 0.0, 0.1 + 4.0 / sqrt(draws));
    }
}

TEST(bad_poses_and_want_of_memory) {
    AllocCounter counter = {0};
    TdlHost host = {.mem = counting_allocator(&counter)};
    Rng rng = rng_seed(2355);
    Fibre f;
    make_fibre(&rng, 1, 30.0, 0, &f);
    TdlPoseStiffness out;
    TdlStatus bad = TDL_STATUS_BAD_ARGUMENT;
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 1, false, 0.0, &out), bad);
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, false, -1.0, &out), bad);
    TdlStrand keep = f.pose[1];
    f.pose[1].length *= 1.1;
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, false, 0.0, &out), bad);
    f.pose[1] = keep;
    f.pose[1].model = "super-helix";
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, false, 0.0, &out), bad);
    f.pose[0].model = f.pose[1].model = "der";
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, false, 0.0, &out), bad);
    f.pose[0].model = f.pose[1].model = keep.model;
    f.curvature[1][3].x = NAN;
    CHECK_INT(tdl_poses_stiffness(&host, f.pose, f.gravity, 2, false, 0.0, &out), bad);
    f.curvature[1][3].x = 0.0;
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    for (int k = 1; k < 40 && status == TDL_STATUS_NO_MEMORY; ++k) {
        counter.calls = 0;
        counter.fail_at = k;
        status = tdl_poses_stiffness(&host, f.pose, f.gravity, 2, false, 0.0, &out);
        CHECK_INT(counter.live, 0);
    }
    CHECK_INT(status, TDL_STATUS_OK);
}
