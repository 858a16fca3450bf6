// The reference of held ropes against what is known in closed form.
#include "ref/rope_ref.h"
#include "test.h"

static const double L = 0.6, YOUNG = 1.0e5, DENSITY = 1100.0, GRAVITY = 9.81;

static double sag_of(const RopeProblem* problem, double* horizontal) {
    static RopeAnswer answer;
    CHECK(rope_solve(problem, 1.0e-9, &answer));
    *horizontal = answer.horizontal;
    // the holds carry the weight
    CHECK_NEAR(answer.force[0][1] + answer.force[1][1], problem->weight * problem->length,
               1.0e-9 * problem->weight * problem->length);
    return answer.sag;
}

// The elastic catenary between pins at one height, by its closed form: span = H L/EA + 2H/w
// asinh(wL/2H), sag = w L^2/8EA + (sqrt(H^2 + (wL/2)^2) - H)/w. taut-rods.md (E.3)
static void catenary(const RopeProblem* p, double* sag, double* horizontal) {
    double half = 0.5 * p->weight * p->length, low = 1.0e-9 * half, high = 1.0e9 * half;
    for (int k = 0; k < 400; ++k) {
        double H = sqrt(low * high);
        double span = H * p->length / p->stretch + 2.0 * H / p->weight * asinh(half / H);
        *(span < p->x ? &low : &high) = H;
    }
    *horizontal = low;
    *sag = 0.25 * half * p->length / p->stretch + (hypot(low, half) - low) / p->weight;
}

// Bending counts by EI/HL^2, so what is left without it follows from two small stiffnesses.
TEST(a_rope_without_stiffness_is_the_elastic_catenary) {
    const double slack[] = {0.0, 1.0e-6, 1.0e-3, 0.1, 0.5};
    for (int k = 0; k < 5; ++k) {
        RopeProblem p =
            rope_of_rod(L, 1.0e-4, YOUNG, DENSITY, GRAVITY, L * (1.0 - slack[k]), false);
        double H[3], sag[3];
        catenary(&p, &sag[2], &H[2]);
        sag[0] = sag_of(&p, &H[0]);
        p.bending *= 0.25;
        sag[1] = sag_of(&p, &H[1]);
        double limit = (4.0 * sag[1] - sag[0]) / 3.0, pull = (4.0 * H[1] - H[0]) / 3.0;
        printf("  slack %.0e: sag %.9f of %.9f m, tension %.7e of %.7e N\n", slack[k], limit,
               sag[2], pull, H[2]);
        CHECK_NEAR(limit, sag[2], 1.0e-7 * sag[2]);
        CHECK_NEAR(pull, H[2], 1.0e-6 * H[2]);
    }
}

// T/EA = 8 sag^2 / 3 L^2 of a flat parabola.
TEST(a_taut_string_sags_by_its_stretch) {
    RopeProblem p = rope_of_rod(L, 1.0e-4, 1.0e9, 1.0e-3 * DENSITY, GRAVITY, L, false);
    p.bending *= 1.0e-6;
    double H, sag = sag_of(&p, &H);
    CHECK_NEAR(H / p.stretch, 8.0 * sag * sag / (3.0 * L * L), 1.0e-4 * H / p.stretch);
    CHECK_NEAR(H * sag, p.weight * L * L / 8.0, 1.0e-4 * H * sag);
}

TEST(a_stiff_rod_sags_as_a_beam) {
    for (int clamped = 0; clamped < 2; ++clamped) {
        RopeProblem p = rope_of_rod(L, 3.0e-3, 1.0e13, DENSITY, GRAVITY, L, clamped == 1);
        double H, sag = sag_of(&p, &H);
        double beam = (clamped == 1 ? 1.0 : 5.0) * p.weight * pow(L, 4.0) / (384.0 * p.bending);
        CHECK_NEAR(sag, beam, 1.0e-6 * beam);
        // shear adds w L^2 / 8 GA, however the ends are held
        p.shear = 1.0e-3 * p.stretch;
        double sheared = sag_of(&p, &H) - sag, expected = p.weight * L * L / (8.0 * p.shear);
        CHECK_NEAR(sheared, expected, 1.0e-5 * expected);
    }
}

// Legendre's complete integrals K and E by arithmetic and geometric means.
static void elliptic(double k, double* K, double* E) {
    double a = 1.0, b = sqrt(1.0 - k * k), c = k, sum = 0.5 * c * c, power = 0.5;
    for (int i = 0; i < 40; ++i) {
        double next = 0.5 * (a + b);
        c = 0.5 * (a - b);
        b = sqrt(a * b);
        a = next;
        power *= 2.0;
        sum += power * c * c;
    }
    *K = 1.5707963267948966 / a;
    *E = *K * (1.0 - sum);
}

// Euler's elastica between pins without weight or stretch: with k = sin(end angle / 2), load
// 4 K^2 EI/L^2, span (2E/K - 1) L, rise k L / K. Between clamps: four such quarters in the place
// of two.
TEST(a_buckled_rod_is_eulers_elastica) {
    for (int i = 1; i <= 8; ++i) {
        double k = 0.1 * i, K, E;
        elliptic(k, &K, &E);
        for (int clamped = 0; clamped < 2; ++clamped) {
            RopeProblem p =
                rope_of_rod(L, 3.0e-3, 1.0e9, 0.0, GRAVITY, L * (2.0 * E / K - 1.0), clamped == 1);
            p.stretch = INFINITY;
            double H, sag = sag_of(&p, &H);
            double load = (clamped == 1 ? 16.0 : 4.0) * K * K * p.bending / (L * L);
            CHECK_NEAR(sag, k * L / K, 1.0e-8 * L);
            CHECK_NEAR(H, -load, 1.0e-7 * load);
        }
    }
}

// The energy that stretch and bending hold falls by what the end does: dE = H dx - w dA, here
// checked as virtual work of the end's place without weight.
TEST(the_work_of_the_end_is_the_change_of_energy) {
    static RopeAnswer answer[3];
    double step = 1.0e-4 * L;
    for (int k = 0; k < 3; ++k) {
        RopeProblem p = rope_of_rod(L, 3.0e-3, 1.0e9, 0.0, GRAVITY, 0.8 * L + (k - 1) * step, true);
        CHECK(rope_solve(&p, 1.0e-9, &answer[k]));
    }
    double slope = (answer[2].elastic - answer[0].elastic) / (2.0 * step);
    CHECK_NEAR(slope, answer[1].horizontal, 1.0e-6 * fabs(slope));
}

TEST(meshes_converge_with_order_four) {
    RopeProblem p = rope_of_rod(L, 3.0e-3, YOUNG, DENSITY, GRAVITY, 0.9 * L, true);
    RopeNumbers numbers = rope_numbers(&p);
    RopeMesh mesh = rope_mesh(64);
    static RopeAnswer answer;
    double sag[4];
    CHECK(rope_reach(&numbers, &mesh));
    for (int k = 0; k < 4; ++k) {
        rope_tell(&p, &numbers, &mesh, &answer);
        sag[k] = answer.sag;
        CHECK(rope_refine(&numbers, &mesh));
    }
    rope_mesh_free(&mesh);
    for (int k = 0; k < 2; ++k) {
        double order = log2((sag[k] - sag[k + 1]) / (sag[k + 1] - sag[k + 2]));
        printf("  order %.3f\n", order);
        CHECK_NEAR(order, 4.0, 0.3);
    }
}

// Where the rod is longer than its span by no stretch at all, there is no shape.
TEST(a_rope_that_cannot_stretch_has_no_shape_at_its_full_length) {
    RopeProblem p = rope_of_rod(L, 3.0e-3, YOUNG, DENSITY, GRAVITY, L, true);
    static RopeAnswer answer;
    p.stretch = INFINITY;
    CHECK(!rope_solve(&p, 1.0e-9, &answer));
}

// What it costs to let a rod stretch alike along itself: the tension of a heavy rope is not.
TEST(a_rod_that_stretches_alike_hangs_nearly_as_one_that_does_not) {
    const double slack[] = {0.0, 1.0e-3, 0.1, 0.5};
    static RopeAnswer answer, alike;
    for (int k = 0; k < 32; ++k) {
        double young = pow(10.0, 5.0 + 2.0 * (k / 8));
        RopeProblem p = rope_of_rod(L, 3.0e-3, young, DENSITY, GRAVITY, L * (1.0 - slack[k % 4]),
                                    k / 4 % 2 == 0);
        if (young > 1.0e10 && slack[k % 4] == 0.0) {
            continue; // it stretches by 1e-9: the search ends in rounding
        }
        CHECK(rope_solve(&p, 1.0e-9, &answer));
        alike = answer;
        CHECK(rope_solve_alike(&p, 1.0e-7, &alike));
        double reaction = hypot(answer.force[1][0], answer.force[1][1]);
        double sag = alike.sag / answer.sag - 1.0;
        double pull = (alike.horizontal - answer.horizontal) / reaction;
        printf("  E %.0e, slack %.0e, %s: sag off by %.4f %%, tension by %.4f %%\n", young,
               slack[k % 4], p.clamped[0] ? "clamped" : "pinned", 100.0 * sag, 100.0 * pull);
        CHECK_BELOW(fabs(sag), 1.0e-3);
        CHECK_BELOW(fabs(pull), 2.0e-3);
    }
}
