// The space clothoid against an ODE solver in extended precision (ref/clothoid_ref.h), and the
// power series without subdivision, which fails.
#include "base/rng.h"
#include "ref/clothoid_ref.h"
#include "rod/clothoid.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static TdlVec3 random_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

typedef struct Ends {
    TdlVec3 q0, q1;
} Ends;

// An element whose larger end turns by `turning`; one in three through zero curvature, one in
// three with constant curvature.
static Ends random_ends(Rng* rng, double turning) {
    TdlVec3 q = random_vector(rng, turning);
    switch (rng_below(rng, 3)) {
    case 0:
        return (Ends){q, tdl_scale3(-rng_unit(rng), q)};
    case 1:
        return (Ends){q, q};
    default:
        return (Ends){random_vector(rng, turning * rng_unit(rng)), q};
    }
}

static void load_real(TdlVec3 a, Real out[3]) {
    out[0] = a.x, out[1] = a.y, out[2] = a.z;
}

// Largest difference of frame and position.
static double frame_error(const ClothoidState* at, const RefFrame* exact) {
    double y[12], worst = 0.0;
    for (int r = 0; r < 3; ++r) {
        tdl_store3(y, r, clothoid_lane(at, CLOTHOID_ROW + r));
    }
    tdl_store3(y, 3, clothoid_position(at));
    for (int i = 0; i < 12; ++i) {
        worst = fmax(worst, fabs((double)(y[i] - exact->y[i])));
    }
    return worst;
}

// Steps of the reference: half a radian or less, of order 14.
enum { STEPS = 400, STRIDE = 50, LEVELS = 7 };

static double kinematic_error(Ends e) {
    Real q0[3], q1[3];
    load_real(e.q0, q0);
    load_real(e.q1, q1);
    Clothoid c = clothoid_make(e.q0, e.q1);
    RefFrame exact = ref_frame_start();
    double worst = 0.0;
    for (int k = 0; k < STEPS; ++k) {
        ref_frame_step(LEVELS, q0, q1, (Real)k / STEPS, 1.0L / STEPS, &exact);
        if ((k + 1) % STRIDE == 0) {
            ClothoidState at;
            clothoid_at(&c, (k + 1.0) / STEPS, &at);
            worst = fmax(worst, frame_error(&at, &exact));
        }
    }
    return worst;
}

TEST(kinematics_match_an_ode_solver_up_to_fifteen_turns) {
    Rng rng = rng_seed(60);
    double worst = 0.0;
    for (int trial = 0; trial < 300; ++trial) {
        worst = fmax(worst, kinematic_error(random_ends(&rng, rng_range(&rng, 0.0, 30.0 * PI))));
    }
    for (int trial = 0; trial < 50; ++trial) { // fifteen turns in full, though one end is straight
        TdlVec3 q = random_vector(&rng, 60.0 * PI), straight = {0};
        worst = fmax(worst, kinematic_error((Ends){q, straight}));
        worst = fmax(worst, kinematic_error((Ends){straight, q}));
    }
    printf("  largest error of frame and position %.1e\n", worst);
    CHECK_BELOW(worst, 1.0e-12);
}

TEST(the_reference_agrees_with_the_closed_form_of_the_helix) {
    // judges the judge: constant curvature has Rodrigues' formula
    Rng rng = rng_seed(61);
    Real worst = 0;
    for (int trial = 0; trial < 20; ++trial) {
        Real q[3];
        load_real(random_vector(&rng, rng_range(&rng, 0.0, 30.0 * PI)), q);
        RefFrame y = ref_frame_start();
        for (int k = 0; k < STEPS; ++k) {
            ref_frame_step(LEVELS, q, q, (Real)k / STEPS, 1.0L / STEPS, &y);
        }
        RefMat R;
        RefVec p;
        ref_element(q, 1.0L, &R, &p);
        for (int i = 0; i < 3; ++i) {
            worst = fmaxl(worst, fabsl(y.y[9 + i] - p.v[i]));
            for (int j = 0; j < 3; ++j) {
                worst = fmaxl(worst, fabsl(y.y[3 * i + j] - R.m[i][j]));
            }
        }
    }
    CHECK_BELOW((double)worst, 1.0e-16);
}

TEST(kinematics_of_nearly_straight_elements) {
    Rng rng = rng_seed(62);
    double worst = 0.0;
    for (int trial = 0; trial < 50; ++trial) {
        double size = trial == 0 ? 0.0 : pow(10.0, rng_range(&rng, -300.0, -1.0));
        worst = fmax(worst, kinematic_error(random_ends(&rng, size)));
    }
    CHECK_BELOW(worst, 1.0e-15); // a few roundings of 1
}

// The frame and position at s = 1 by summing one power series from s = 0 in double precision.
// Returns the largest term.
static double naive_sum(Ends e, double y[12]) {
    double term[3][12] = {{0}, {0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, top = 1.0;
    TdlVec3 slope = tdl_sub3(e.q1, e.q0);
    memcpy(y, term[2], sizeof term[2]);
    for (int n = 0; n < 4000; ++n) {
        memmove(term[0], term[1], 2 * sizeof term[0]);
        for (int r = 0; r < 3; ++r) {
            TdlVec3 next = tdl_add3(tdl_cross3(tdl_load3(term[1], r), e.q0),
                                    tdl_cross3(tdl_load3(term[0], r), slope));
            tdl_store3(term[2], r, tdl_scale3(1.0 / (n + 1), next));
            term[2][9 + r] = term[1][3 * r] / (n + 1);
        }
        for (int i = 0; i < 12; ++i) {
            y[i] += term[2][i];
            top = fmax(top, fabs(term[2][i]));
        }
    }
    return top;
}

TEST(the_naive_series_fails_where_the_pieces_do_not) {
    Rng rng = rng_seed(63);
    const int turns[] = {1, 5, 10, 15};
    for (int t = 0; t < 4; ++t) {
        double naive = 0.0, pieces = 0.0, top = 0.0;
        for (int trial = 0; trial < 10; ++trial) {
            TdlVec3 q = random_vector(&rng, 2.0 * PI * turns[t]);
            Ends e = {q, tdl_add3(q, random_vector(&rng, 3.0))};
            Real q0[3], q1[3];
            load_real(e.q0, q0);
            load_real(e.q1, q1);
            RefFrame exact = ref_frame_start();
            for (int k = 0; k < STEPS; ++k) {
                ref_frame_step(LEVELS, q0, q1, (Real)k / STEPS, 1.0L / STEPS, &exact);
            }
            double y[12];
            top = fmax(top, naive_sum(e, y));
            for (int i = 0; i < 12; ++i) {
                naive = fmax(naive, fabs(y[i] - (double)exact.y[i]));
            }
            ClothoidState at;
            Clothoid c = clothoid_make(e.q0, e.q1);
            clothoid_at(&c, 1.0, &at);
            pieces = fmax(pieces, frame_error(&at, &exact));
        }
        printf("  %2d turns: largest term %.0e, error of one series %.0e, of pieces %.0e\n",
               turns[t], top, naive, pieces);
        CHECK_BELOW(pieces, 1.0e-12);
        if (turns[t] >= 10) {
            CHECK(naive > 1.0); // no digit is right, in a rotation
        }
    }
}

// Moves one component of one end.
static Clothoid nudged(Ends e, int end, int i, double h) {
    double q[6];
    tdl_store3(q, 0, e.q0);
    tdl_store3(q, 1, e.q1);
    q[3 * end + i] += h;
    return clothoid_make(tdl_load3(q, 0), tdl_load3(q, 1));
}

static TdlVec3 column(TdlMat3 m, int i) {
    return i == 0 ? m.cx : i == 1 ? m.cy : m.cz;
}

// Largest errors of B and T by central differences of step h.
static double derivative_error(Ends e, double s, double h) {
    double worst = 0.0;
    ClothoidState at, plus, minus;
    Clothoid c = clothoid_make(e.q0, e.q1);
    clothoid_at(&c, s, &at);
    for (int j = 0; j < 6; ++j) {
        Clothoid up = nudged(e, j / 3, j % 3, h), down = nudged(e, j / 3, j % 3, -h);
        clothoid_at(&up, s, &plus);
        clothoid_at(&down, s, &minus);
        TdlVec3 dp = tdl_sub3(clothoid_position(&plus), clothoid_position(&minus));
        TdlVec3 B = column(clothoid_displacement(&at, j / 3), j % 3);
        worst = fmax(worst, tdl_norm3(tdl_sub3(tdl_scale3(0.5 / h, dp), B)));
        // dR R' = [T d]x
        TdlMat3 dR = tdl_sub33(clothoid_rotation(&plus), clothoid_rotation(&minus));
        TdlMat3 spin = tdl_scale33(0.5 / h, tdl_mul33(dR, tdl_transpose33(clothoid_rotation(&at))));
        TdlMat3 T = tdl_skew3(column(clothoid_turn(&at, j / 3), j % 3));
        TdlMat3 off = tdl_sub33(spin, T);
        worst = fmax(worst, tdl_norm3(off.cx) + tdl_norm3(off.cy) + tdl_norm3(off.cz));
    }
    return worst;
}

TEST(displacements_and_turns_are_the_derivatives_of_position_and_frame) {
    Rng rng = rng_seed(64);
    double worst[3] = {0};
    for (int trial = 0; trial < 200; ++trial) {
        Ends e = random_ends(&rng, rng_range(&rng, 0.0, 60.0));
        double s = rng_unit(&rng);
        for (int k = 0; k < 3; ++k) {
            worst[k] = fmax(worst[k], derivative_error(e, s, 4.0e-3 / (1 << k)));
        }
    }
    printf("  errors %.1e %.1e %.1e, order %.3f\n", worst[0], worst[1], worst[2],
           0.5 * log2(worst[0] / worst[2]));
    CHECK_NEAR(0.5 * log2(worst[0] / worst[2]), 2.0, 0.01);
    CHECK_BELOW(worst[2], 1.0e-6);
}

TEST(an_absurd_curvature_gives_nan_and_no_endless_walk) {
    const double bad[] = {3001.0, 1.0e300, INFINITY, NAN};
    for (int i = 0; i < 4; ++i) {
        Clothoid c = clothoid_make((TdlVec3){0.0, 1.0, 0.0}, (TdlVec3){0.0, bad[i], 0.0});
        ClothoidInertia inertia;
        ClothoidState end;
        clothoid_inertia(&c, &inertia, &end);
        CHECK(isnan(end.y[CLOTHOID_P]));
        CHECK(isnan(inertia.h.x) && isnan(inertia.Mqq[0].cx.x));
    }
    Clothoid c = clothoid_make((TdlVec3){2999.0, 0.0, 0.0}, (TdlVec3){-2999.0, 0.0, 0.0});
    ClothoidState end;
    clothoid_at(&c, 1.0, &end); // twisted there and back, and straight
    CHECK_NEAR3(clothoid_position(&end), ((TdlVec3){1.0, 0.0, 0.0}), 1.0e-12);
    CHECK_NEAR3(clothoid_lane(&end, 1), ((TdlVec3){0.0, 1.0, 0.0}), 1.0e-11);
}
