// Stiffness from centrelines alone: of fibres that rest as they do, seen by noisy points.
#include "counting_allocator.h"
#include "strands.h"

enum { FINE = 80, POINTS = 60, POSES = 2 };

typedef struct Seen {
    TdlVec3 points[POSES][POINTS];
    TdlCurvePose pose[POSES];
    double L, EI, GJ, line_density;
} Seen;

typedef enum Look { CURLY, PLANAR, STRAIGHT } Look;

// A fibre of 80 elements, natural twist and all, whose clamp may turn between its poses. `weight`
// is w L^3 / EI.
static bool see(Rng* rng, Look look, double weight, double noise, bool turned, Seen* out) {
    TdlHost host = tdl_host_default();
    double L = out->L = rng_range(rng, 0.1, 0.5);
    out->line_density = 1.0e-5;
    out->EI = 9.81e-5 * pow(L, 3.0) / weight;
    out->GJ = out->EI * rng_range(rng, 0.67, 1.0);
    TdlVec3 natural[FINE + 1], kappa[FINE + 1];
    double phase[3] = {rng_range(rng, 0.0, 6.3), rng_range(rng, 0.0, 6.3),
                       rng_range(rng, 0.0, 6.3)};
    double size = look == STRAIGHT ? 0.0 : 1.0 / L;
    for (int i = 0; i <= FINE; ++i) {
        double s = (double)i / FINE;
        natural[i] = (TdlVec3){look == CURLY ? 2.0 * cos(3.0 * s + phase[0]) : 0.0,
                               2.5 + 1.5 * sin(4.0 * s + phase[1]),
                               look == CURLY ? 2.0 * cos(5.0 * s + phase[2]) : 0.0};
        natural[i] = tdl_scale3(size, natural[i]);
        kappa[i] = natural[i];
    }
    TdlMat3 start = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int a = 0; a < POSES; ++a) {
        TdlVec3 g = look == CURLY ? strand_random_vector(rng, 9.81)
                    : a == 0      ? (TdlVec3){9.81, 0.0, 0.0}
                                  : (TdlVec3){0.0, 0.0, -9.81};
        if (turned && a > 0) {
            start = tdl_rotation_exp(strand_random_vector(rng, 1.0));
        }
        TdlStrand strand = {.model = "super-clothoid",
                            .start = {strand_random_vector(rng, 1.0), start},
                            .length = L,
                            .element_count = FINE,
                            .curvature = kappa,
                            .stiffness = {out->GJ, out->EI, out->EI},
                            .line_density = out->line_density};
        if (tdl_strand_settle(&host, &strand, g, natural, kappa) != TDL_STATUS_OK) {
            return false;
        }
        double at[POINTS];
        for (int k = 0; k < POINTS; ++k) { // here and there, but for the ends
            bool end = k == 0 || k == POINTS - 1;
            at[k] = L * fmin(1.0, (k + (end ? 0.0 : rng_range(rng, -0.3, 0.3))) / (POINTS - 1));
        }
        CHECK_INT(tdl_strand_places(&host, &strand, POINTS, at, out->points[a]), TDL_STATUS_OK);
        for (int k = 0; k < POINTS; ++k) {
            TdlVec3 n = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
            out->points[a][k] = tdl_axpy3(out->points[a][k], noise * L, n);
        }
        out->pose[a] = (TdlCurvePose){.points = out->points[a], .count = POINTS, .gravity = g};
    }
    return true;
}

// A fibre whose poses are stable rests, however many it takes.
static void make_seen(Rng* rng, Look look, double weight, double noise, bool turned, Seen* out) {
    while (!see(rng, look, weight, noise, turned, out)) {
    }
}

static TdlCurvePoseOptions options_of(const Seen* seen, double noise) {
    TdlCurvePoseOptions options = tdl_curve_pose_options_default();
    options.line_density = seen->line_density;
    options.noise = noise * seen->L;
    return options;
}

typedef struct Score {
    int fibres, twists;
    double worst, square, bar, twist_bar; // of EI: relative; over its bar; of GJ
} Score;

static void add_score(const Seen* seen, const TdlPoseStiffness* out, Score* score) {
    double off = out->stiffness.y / seen->EI - 1.0, over = off * seen->EI / out->error.y;
    score->worst = fmax(score->worst, fabs(off));
    score->square += off * off;
    score->bar += over * over;
    ++score->fibres;
    if (out->known[0]) {
        over = (out->stiffness.x - seen->GJ) / out->error.x;
        score->twist_bar += over * over;
        ++score->twists;
    }
}

static Score score_fibres(int seeds, double noise, bool given, bool turned) {
    TdlHost host = tdl_host_default();
    Score score = {0};
    for (int seed = 0; seed < seeds; ++seed) {
        Rng rng = rng_seed(2360 + (unsigned)seed);
        Seen seen;
        make_seen(&rng, CURLY, 30.0, noise, turned, &seen);
        TdlCurvePoseOptions options = options_of(&seen, given ? noise : 0.0);
        options.own_clamps = turned;
        TdlPoseStiffness out;
        CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &options, &out), TDL_STATUS_OK);
        CHECK(out.known[1] && out.stiffness.y == out.stiffness.z);
        CHECK(out.residual < 2.0 * noise * seen.L);
        add_score(&seen, &out, &score);
    }
    printf("  EI off by %.1e, at most %.1e, over its bar %.2f; GJ of %d over its bar %.2f\n",
           sqrt(score.square / seeds), score.worst, sqrt(score.bar / seeds), score.twists,
           sqrt(score.twist_bar / score.twists));
    return score;
}

static int seeds_of(int few, int many) {
    return getenv("TENDRIL_LONG") != NULL ? many : few;
}

TEST(noisy_points_tell_the_bending) {
    int seeds = seeds_of(3, 50);
    Score score = score_fibres(seeds, 1.0e-4, true, false);
    CHECK_BELOW(score.worst, 0.02);
    // bars are first order in the noise and know nothing of 20 elements for 80: within 40 %, and
    // four standard deviations of that root of mean square
    double allowed = 0.4 + 4.0 * 0.71 / sqrt(seeds);
    CHECK_NEAR(sqrt(score.bar / seeds), 1.0, allowed);
    CHECK_NEAR(sqrt(score.twist_bar / score.twists), 1.0, allowed);
    CHECK(score.twists > seeds / 2);
}

TEST(noise_need_not_be_told) {
    Score score = score_fibres(seeds_of(1, 20), 1.0e-4, false, false);
    CHECK_BELOW(score.worst, 0.02);
}

TEST(clamps_may_turn_in_a_way_that_is_not_known) {
    Score score = score_fibres(seeds_of(1, 10), 1.0e-4, true, true);
    CHECK_BELOW(score.worst, 0.03); // three unknowns more, which take some of what tells EI
}

// Exact points, as far as 40 helices follow the 80 clothoids; and in a plane no GJ.
TEST(planar_and_straight_fibres_tell_no_twist) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2371);
    for (int look = PLANAR; look <= STRAIGHT; ++look) {
        Seen seen;
        make_seen(&rng, (Look)look, 5.0, 0.0, false, &seen);
        TdlCurvePoseOptions options = options_of(&seen, 0.0);
        options.model = "super-helix";
        options.element_count = 40;
        TdlPoseStiffness out;
        CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &options, &out), TDL_STATUS_OK);
        CHECK(!out.known[0] && isnan(out.stiffness.x) && isnan(out.error.x));
        CHECK(out.known[1]);
        printf("  EI off by %.1e, residual %.1e L\n", out.stiffness.y / seen.EI - 1.0,
               out.residual / seen.L);
        CHECK_NEAR(out.stiffness.y / seen.EI, 1.0, 1.0e-3); // 40 arcs: second order, 1/40^2
    }
}

TEST(bad_poses_are_refused) {
    AllocCounter counter = {0};
    TdlHost host = {.mem = counting_allocator(&counter)};
    Rng rng = rng_seed(2372);
    Seen seen;
    make_seen(&rng, PLANAR, 5.0, 0.0, false, &seen);
    TdlPoseStiffness out;
    TdlStatus bad = TDL_STATUS_BAD_ARGUMENT;
    const TdlCurvePoseOptions good = options_of(&seen, 0.0);
    TdlCurvePoseOptions o = good;
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, 1, &o, &out), bad);
    o.model = "der";
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &o, &out), bad);
    o = good;
    o.element_count = 201;
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &o, &out), bad);
    o = good;
    o.noise = NAN;
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &o, &out), bad);
    o = good;
    o.line_density = 0.0; // and no force
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &o, &out), bad);
    o = good;
    o.element_count = 150; // 120 points
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &o, &out), bad);
    seen.pose[1].count = 7;
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &good, &out), bad);
    seen.pose[1].count = POINTS;
    TdlVec3 keep = seen.points[1][4];
    seen.points[1][4].y = INFINITY;
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &good, &out), bad);
    seen.points[1][4] = keep;
    CHECK_INT(counter.live, 0);
}

TEST(want_of_memory_is_told) {
    AllocCounter counter = {0};
    TdlHost host = {.mem = counting_allocator(&counter)};
    Rng rng = rng_seed(2373);
    Seen seen;
    make_seen(&rng, PLANAR, 5.0, 0.0, false, &seen);
    TdlPoseStiffness out;
    TdlCurvePoseOptions options = options_of(&seen, 1.0e-4);
    options.model = "super-helix";
    options.element_count = 4;
    CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &options, &out), TDL_STATUS_OK);
    long calls = counter.calls;
    for (long k = 1; k <= calls; k += 1 + calls / 60) {
        counter.calls = 0;
        counter.fail_at = k;
        CHECK_INT(tdl_curves_stiffness(&host, seen.pose, POSES, &options, &out),
                  TDL_STATUS_NO_MEMORY);
        CHECK_INT(counter.live, 0);
    }
}
