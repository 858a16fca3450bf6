#include "math/rotation.h"

#include "base/rng.h"
#include "test.h"

// Quad precision for oracles: 33 digits.
__extension__ typedef __float128 Quad;

static const double EPS = 0x1p-52;
static const double PI = 3.14159265358979323846;

// --- oracles, by other formulas than the code under test ------------------------------------

// c_0..c_7 by Taylor sums at y/4^m < 1, then doubling of the angle for c0, c1, c2 and the upward
// recurrence for the others.
static void c_oracle(double y_in, Quad c[8]) {
    Quad y = y_in, z = y;
    int halvings = 0;
    while (z > 1) {
        z /= 4;
        ++halvings;
    }
    Quad factorial = 1;
    for (int k = 0; k < 8; ++k) {
        factorial *= k > 0 ? k : 1;
        Quad term = 1 / factorial;
        c[k] = 0;
        for (int n = 1; n < 25; ++n) {
            c[k] += term;
            term *= -z / ((k + 2 * n - 1) * (k + 2 * n));
        }
    }
    if (halvings == 0) {
        return;
    }
    for (int m = 0; m < halvings; ++m) {
        c[2] = c[1] * c[1] / 2;
        c[1] = c[0] * c[1];
        c[0] = 2 * c[0] * c[0] - 1;
    }
    factorial = 1;
    for (int k = 3; k < 8; ++k) {
        c[k] = (1 / factorial - c[k - 2]) / y;
        factorial *= k - 1;
    }
}

typedef struct Quad33 {
    Quad m[3][3];
} Quad33;

static Quad33 quad_mul(const Quad33* a, const Quad33* b) {
    Quad33 r;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            r.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
        }
    }
    return r;
}

// exp and J by the matrix series at q/2^m, then E <- E E and J <- J (I + E)/2.
static void exp_oracle(const Quad q[3], Quad33* e, Quad33* j) {
    Quad x = q[0], y = q[1], z = q[2], size = x * x + y * y + z * z;
    int halvings = 0;
    for (; size > 1; size /= 4, ++halvings) {
        x /= 2, y /= 2, z /= 2;
    }
    Quad33 k = {{{0, -z, y}, {z, 0, -x}, {-y, x, 0}}};
    Quad33 power = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    *e = *j = power;
    for (int n = 1; n < 35; ++n) {
        power = quad_mul(&power, &k);
        for (int i = 0; i < 9; ++i) {
            (&power.m[0][0])[i] /= n; // K^n / n!
            (&e->m[0][0])[i] += (&power.m[0][0])[i];
            (&j->m[0][0])[i] += (&power.m[0][0])[i] / (n + 1);
        }
    }
    for (int m = 0; m < halvings; ++m) {
        Quad33 half = *e;
        for (int i = 0; i < 3; ++i) {
            half.m[i][i] += 1;
        }
        for (int i = 0; i < 9; ++i) {
            (&half.m[0][0])[i] /= 2;
        }
        *j = quad_mul(j, &half);
        *e = quad_mul(e, e);
    }
}

static double entry(TdlMat3 a, int row, int column) {
    const double* m = &a.cx.x;
    return m[3 * column + row];
}

static double distance(TdlMat3 a, const Quad33* b) {
    double worst = 0.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            worst = fmax(worst, fabs((double)(entry(a, i, j) - b->m[i][j])));
        }
    }
    return worst;
}

static double distance33(TdlMat3 a, TdlMat3 b) {
    TdlMat3 d = tdl_sub33(a, b);
    return sqrt(tdl_dot3(d.cx, d.cx) + tdl_dot3(d.cy, d.cy) + tdl_dot3(d.cz, d.cz));
}

static double defect(TdlMat3 r) {
    return distance33(tdl_tmul33(r, r), tdl_identity33());
}

static TdlVec3 random_unit(Rng* rng) {
    return tdl_unit3((TdlVec3){rng_normal(rng), rng_normal(rng), rng_normal(rng)});
}

// Angles from 1e-300 to 100 rad, denser around 0..8, and near multiples of pi.
static double random_angle(Rng* rng) {
    switch (rng_below(rng, 4)) {
    case 0:
        return pow(10.0, rng_range(rng, -300.0, 0.0));
    case 1:
        return pow(10.0, rng_range(rng, -12.0, 0.0));
    case 2:
        return rng_range(rng, 0.0, 8.0);
    default:
        return rng_range(rng, 0.0, 100.0);
    }
}

// --- c_k ------------------------------------------------------------------------------------

static void check_c(double y, double worst[8]) {
    double c[8];
    Quad exact[8];
    tdl_c_series(y, c);
    c_oracle(y, exact);
    for (int k = 0; k < 8; ++k) {
        // c0 and c1 change sign: relative to their envelopes
        double scale = fabs((double)exact[k]);
        scale = k == 0 ? 1.0 : k == 1 ? fmin(1.0, 1.0 / sqrt(y)) : scale;
        double error = fabs((double)(c[k] - exact[k])) / scale;
        worst[k] = fmax(worst[k], error);
    }
}

TEST(c_series_has_full_relative_accuracy) {
    Rng rng = rng_seed(1);
    double worst[8] = {0};
    for (int i = 0; i < 30000; ++i) {
        double t = random_angle(&rng);
        check_c(t * t, worst);
        check_c(rng_range(&rng, 0.0, 2.0 * TDL_C_SERIES_LIMIT), worst);
    }
    // around the borders of the branches
    double borders[] = {1.0, TDL_C_SERIES_LIMIT};
    for (int i = 0; i < 2; ++i) {
        for (int ulp = -20; ulp <= 20; ++ulp) {
            check_c(borders[i] * (1.0 + ulp * EPS), worst);
        }
    }
    printf("  worst relative errors in ulp:");
    for (int k = 0; k < 8; ++k) {
        printf(" %.2f", worst[k] / EPS);
        CHECK_BELOW(worst[k], 6.0 * EPS); // at most six roundings meet, none of them magnified
    }
    printf("\n");
}

TEST(c_series_keeps_its_digits_where_c1_and_c2_vanish) {
    for (int n = 1; n < 16; ++n) {
        for (int ulp = -3; ulp <= 3; ++ulp) {
            double t = 2.0 * PI * n * (1.0 + ulp * EPS), c[8];
            Quad exact[8];
            tdl_c_series(t * t, c);
            c_oracle(t * t, exact);
            CHECK_NEAR(c[1], (double)exact[1], 4.0 * EPS * fabs((double)exact[1]));
            CHECK_NEAR(c[2], (double)exact[2], 8.0 * EPS * fabs((double)exact[2]));
        }
    }
}

TEST(c_series_at_the_ends_of_the_range) {
    double c[8], factorial = 1.0;
    tdl_c_series(0.0, c);
    for (int k = 0; k < 8; ++k) {
        factorial *= k > 0 ? k : 1;
        CHECK_NEAR(c[k], 1.0 / factorial, EPS / factorial);
    }
    tdl_c_series(1.0e300, c);
    CHECK(fabs(c[0]) <= 1.0 && fabs(c[1]) <= 1.0e-150 && c[2] >= 0.0);
    CHECK_NEAR(c[3] * 1.0e300, 1.0, 4.0 * EPS);
    CHECK_NEAR(c[5] * 6.0e300, 1.0, 4.0 * EPS);
    CHECK_NEAR(c[7] * 1.2e302, 1.0, 4.0 * EPS);
}

// --- exp, J, J^-1, dJ -----------------------------------------------------------------------

TEST(exp_and_jacobian_agree_with_the_matrix_series) {
    Rng rng = rng_seed(2);
    double worst_exp = 0.0, worst_jacobian = 0.0, worst_defect = 0.0;
    for (int i = 0; i < 4000; ++i) {
        double t = random_angle(&rng);
        TdlVec3 q = tdl_scale3(t, random_unit(&rng));
        Quad33 e, j;
        exp_oracle((Quad[3]){q.x, q.y, q.z}, &e, &j);
        // one rounding of q.q turns the angle by t eps
        double unit = EPS * (1.0 + t);
        worst_exp = fmax(worst_exp, distance(tdl_rotation_exp(q), &e) / unit);
        worst_jacobian = fmax(worst_jacobian, distance(tdl_left_jacobian(q), &j) / unit);
        worst_defect = fmax(worst_defect, defect(tdl_rotation_exp(q)) / unit);
    }
    printf("  worst, in eps (1 + |q|): exp %.2f, J %.2f, R'R - I %.2f\n", worst_exp, worst_jacobian,
           worst_defect);
    CHECK_BELOW(worst_exp, 4.0);
    CHECK_BELOW(worst_jacobian, 4.0);
    CHECK_BELOW(worst_defect, 8.0);
}

TEST(tiny_rotations_keep_relative_accuracy_off_the_diagonal) {
    for (double t = 1.0; t > 1.0e-300; t *= 1.0e-5) {
        TdlVec3 q = {0.36 * t, -0.48 * t, 0.8 * t};
        TdlMat3 r = tdl_rotation_exp(q), j = tdl_left_jacobian(q);
        Quad33 e, exact;
        exp_oracle((Quad[3]){q.x, q.y, q.z}, &e, &exact);
        CHECK_NEAR(r.cx.y / t, (double)(e.m[1][0] / t), 4.0 * EPS);
        CHECK_NEAR(j.cx.y / t, (double)(exact.m[1][0] / t), 4.0 * EPS);
        CHECK_NEAR3(tdl_scale3(1.0 / t, tdl_rotation_log(r)), tdl_scale3(1.0 / t, q), 1.0e-15);
    }
    CHECK(distance33(tdl_rotation_exp((TdlVec3){0}), tdl_identity33()) == 0.0);
    CHECK(distance33(tdl_left_jacobian((TdlVec3){0}), tdl_identity33()) == 0.0);
    CHECK(distance33(tdl_left_jacobian_inverse((TdlVec3){0}), tdl_identity33()) == 0.0);
}

TEST(inverse_jacobian_inverts) {
    Rng rng = rng_seed(3);
    double worst = 0.0;
    for (int i = 0; i < 4000; ++i) {
        double t = random_angle(&rng);
        TdlVec3 q = tdl_scale3(t, random_unit(&rng));
        TdlMat3 j = tdl_left_jacobian(q), inverse = tdl_left_jacobian_inverse(q);
        double size = distance33(inverse, tdl_scale33(0.0, inverse));
        double error = distance33(tdl_mul33(j, inverse), tdl_identity33());
        worst = fmax(worst, error / (size * (1.0 + t)));
    }
    printf("  worst |J J^-1 - I| / (|J^-1| (1 + |q|)): %.2f eps\n", worst / EPS);
    CHECK_BELOW(worst, 8.0 * EPS);
}

TEST(inverse_jacobian_has_1e14_through_small_angles_and_pi) {
    Rng rng = rng_seed(4);
    double worst = 0.0;
    for (int i = 0; i < 4000; ++i) {
        double t = i % 2 == 0 ? rng_range(&rng, 0.0, 4.0) : pow(10.0, rng_range(&rng, -20.0, 0.0));
        TdlVec3 q = tdl_scale3(t, random_unit(&rng));
        // t/2 cot(t/2) from the quad c0, c1 at half the angle
        Quad y = (Quad)q.x * q.x + (Quad)q.y * q.y + (Quad)q.z * q.z, c[8];
        c_oracle((double)y / 4.0, c);
        double ratio = (double)(c[0] / c[1]);
        TdlMat3 inverse = tdl_left_jacobian_inverse(q);
        // its trace is 1 + 2 (t/2) cot(t/2)
        double trace = inverse.cx.x + inverse.cy.y + inverse.cz.z;
        worst = fmax(worst, fabs(trace - 1.0 - 2.0 * ratio));
    }
    CHECK_BELOW(worst, 1.0e-14);
}

// dJ in quad: the central difference with h = 1e-9 |q| has an error of 1e-18 and 1e-25/1e-9.
static void derivative_oracle(TdlVec3 q, TdlVec3 d, double h, Quad33* jd) {
    Quad33 e, low, high;
    Quad step = h;
    exp_oracle((Quad[3]){q.x - step * d.x, q.y - step * d.y, q.z - step * d.z}, &e, &low);
    exp_oracle((Quad[3]){q.x + step * d.x, q.y + step * d.y, q.z + step * d.z}, &e, &high);
    for (int i = 0; i < 9; ++i) {
        (&jd->m[0][0])[i] = ((&high.m[0][0])[i] - (&low.m[0][0])[i]) / (2 * step);
    }
}

TEST(jacobian_derivative_agrees_with_quad_differences) {
    Rng rng = rng_seed(5);
    double worst = 0.0;
    for (int i = 0; i < 4000; ++i) {
        double t = random_angle(&rng);
        TdlVec3 q = tdl_scale3(t, random_unit(&rng)), d = random_unit(&rng);
        Quad33 jd;
        derivative_oracle(q, d, 1.0e-9, &jd);
        worst = fmax(worst, distance(tdl_left_jacobian_derivative(q, d), &jd) / (1.0 + t));
    }
    printf("  worst dJ error / (1 + |q|): %.2f eps\n", worst / EPS);
    CHECK_BELOW(worst, 1.0e-15);
}

TEST(jacobian_derivative_converges_with_order_two) {
    Rng rng = rng_seed(6);
    for (int i = 0; i < 50; ++i) {
        TdlVec3 q = tdl_scale3(rng_range(&rng, 0.5, 7.0), random_unit(&rng)), d = random_unit(&rng);
        TdlMat3 jd = tdl_left_jacobian_derivative(q, d);
        double error[3], h = 4.0e-3;
        for (int k = 0; k < 3; ++k, h *= 0.5) {
            TdlMat3 high = tdl_left_jacobian(tdl_axpy3(q, h, d));
            TdlMat3 low = tdl_left_jacobian(tdl_axpy3(q, -h, d));
            error[k] = distance33(tdl_scale33(0.5 / h, tdl_sub33(high, low)), jd);
        }
        CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.01);
        CHECK_NEAR(log2(error[1] / error[2]), 2.0, 0.01);
    }
}

TEST(left_jacobian_is_the_derivative_of_exp) {
    Rng rng = rng_seed(7);
    for (int i = 0; i < 50; ++i) {
        TdlVec3 q = tdl_scale3(rng_range(&rng, 0.0, 7.0), random_unit(&rng)), d = random_unit(&rng);
        TdlMat3 spin = tdl_skew3(tdl_mul33_3(tdl_left_jacobian(q), d));
        TdlMat3 slope = tdl_mul33(spin, tdl_rotation_exp(q));
        double error[3], h = 1.0e-2;
        for (int k = 0; k < 3; ++k, h *= 0.5) {
            TdlMat3 high = tdl_rotation_exp(tdl_axpy3(q, h, d));
            TdlMat3 low = tdl_rotation_exp(tdl_axpy3(q, -h, d));
            error[k] = distance33(tdl_scale33(0.5 / h, tdl_sub33(high, low)), slope);
        }
        CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.01);
        CHECK_NEAR(log2(error[1] / error[2]), 2.0, 0.01);
    }
}

// --- log ------------------------------------------------------------------------------------

TEST(log_undoes_exp_up_to_pi) {
    Rng rng = rng_seed(8);
    double worst = 0.0;
    for (int i = 0; i < 20000; ++i) {
        double t = rng_range(&rng, 0.0, PI);
        if (i % 2 == 0) {
            t = PI - pow(10.0, rng_range(&rng, -15.0, 0.0)); // near pi
        }
        TdlVec3 axis = random_unit(&rng);
        if (i % 3 == 0) { // along the axes and in their planes, all quadrants
            double* a = &axis.x;
            a[i % 9 / 3] = 0.0;
            a[(i % 9 / 3 + rng_below(&rng, 2)) % 3] *= 1.0e-9;
            axis = tdl_unit3(axis);
        }
        TdlVec3 q = tdl_scale3(t, axis), p = tdl_rotation_log(tdl_rotation_exp(q));
        double error = tdl_norm3(tdl_sub3(p, q));
        // the last few ulp before pi may turn to the other side
        if (t > PI - 8.0 * EPS * PI) {
            error = fmin(error, tdl_norm3(tdl_add3(p, q)));
        }
        worst = fmax(worst, error);
        CHECK(tdl_norm3(p) <= PI * (1.0 + 2.0 * EPS));
    }
    printf("  worst |log exp q - q|: %.3g\n", worst);
    CHECK_BELOW(worst, 1.0e-14);
}

TEST(log_of_half_turns) {
    for (int i = 1; i < 8; ++i) {
        TdlVec3 axis = tdl_unit3((TdlVec3){i & 1, (i >> 1) & 1, -((i >> 2) & 1)});
        TdlMat3 r = tdl_sub33(tdl_scale33(2.0, tdl_outer3(axis, axis)), tdl_identity33());
        TdlVec3 q = tdl_rotation_log(r);
        CHECK_NEAR(tdl_norm3(q), PI, 4.0 * EPS);
        CHECK_NEAR(fabs(tdl_dot3(q, axis)), PI, 4.0 * EPS);
        CHECK_BELOW(distance33(tdl_rotation_exp(q), r), 1.0e-14);
    }
}

TEST(exp_undoes_log_beyond_pi) {
    Rng rng = rng_seed(9);
    for (int i = 0; i < 2000; ++i) {
        TdlMat3 r = tdl_rotation_exp(tdl_scale3(rng_range(&rng, 0.0, 100.0), random_unit(&rng)));
        CHECK_BELOW(distance33(tdl_rotation_exp(tdl_rotation_log(r)), r), 1.0e-13); // 100 eps
    }
}

// --- frames ---------------------------------------------------------------------------------

TEST(frames_are_right_handed_and_orthonormal) {
    Rng rng = rng_seed(10);
    for (int i = 0; i < 2000; ++i) {
        double scale = pow(10.0, rng_range(&rng, -300.0, 300.0));
        TdlVec3 t = random_unit(&rng), hint = random_unit(&rng);
        if (i % 4 == 0) {
            hint = tdl_axpy3(t, pow(10.0, rng_range(&rng, -18.0, 0.0)), hint); // nearly parallel
        } else if (i % 4 == 1) {
            t = (TdlVec3){i % 3 == 0, i % 3 == 1, -(i % 3 == 2)};
        }
        TdlMat3 one = tdl_frame_from_tangent(tdl_scale3(scale, t));
        TdlMat3 two = tdl_frame_from_tangent_hint(tdl_scale3(scale, t), tdl_scale3(scale, hint));
        CHECK_BELOW(defect(one), 8.0 * EPS);
        CHECK_BELOW(defect(two), 8.0 * EPS);
        CHECK_NEAR(tdl_det33(one), 1.0, 8.0 * EPS);
        CHECK_NEAR(tdl_det33(two), 1.0, 8.0 * EPS);
        CHECK_NEAR3(one.cx, t, 4.0 * EPS);
        CHECK_NEAR3(two.cx, t, 4.0 * EPS);
        if (i % 4 > 1) { // the hint lies in the plane of the first two columns, on their side
            CHECK_NEAR(tdl_dot3(two.cz, hint), 0.0, 8.0 * EPS);
            CHECK(tdl_dot3(two.cy, hint) > 0.0);
        }
    }
}

TEST(degenerate_vectors_still_give_frames) {
    TdlVec3 zero = {0}, huge = {INFINITY, 1.0, 0.0}, y = {0.0, 2.0, 0.0};
    CHECK_BELOW(defect(tdl_frame_from_tangent(zero)), EPS);
    CHECK_BELOW(defect(tdl_frame_from_tangent(huge)), EPS);
    CHECK_BELOW(defect(tdl_frame_from_tangent_hint(y, y)), EPS);
    CHECK_BELOW(defect(tdl_frame_from_tangent_hint(y, zero)), EPS);
    CHECK(tdl_finite3(tdl_frame_from_tangent(huge).cy));
    CHECK_NEAR3(tdl_frame_from_tangent_hint(y, zero).cx, ((TdlVec3){0.0, 1.0, 0.0}), 0.0);
}

TEST(nearest_rotation_removes_drift) {
    Rng rng = rng_seed(11);
    for (int i = 0; i < 2000; ++i) {
        // r = rotation times symmetric: the rotation is the polar factor
        TdlMat3 exact = tdl_rotation_exp(tdl_scale3(rng_range(&rng, 0.0, 3.0), random_unit(&rng)));
        TdlMat3 frame = tdl_rotation_exp(random_unit(&rng));
        double drift = pow(10.0, rng_range(&rng, -16.0, -0.1));
        TdlVec3 stretch = {1.0 + drift * rng_unit(&rng), 1.0 - drift * rng_unit(&rng), 1.0 + drift};
        TdlMat3 symmetric =
            tdl_mul33(tdl_mul33(frame, tdl_diag33(stretch)), tdl_transpose33(frame));
        TdlMat3 r = tdl_rotation_nearest(tdl_mul33(exact, symmetric));
        CHECK_BELOW(defect(r), 8.0 * EPS);
        CHECK_BELOW(distance33(r, exact), 4.0e-14 / fmin(1.0, 2.0 * stretch.y));
    }
    // a reflection and a singular matrix give a frame all the same
    CHECK_BELOW(defect(tdl_rotation_nearest(tdl_scale33(-1.0, tdl_identity33()))), EPS);
    CHECK_BELOW(defect(tdl_rotation_nearest(tdl_scale33(0.0, tdl_identity33()))), EPS);
}
