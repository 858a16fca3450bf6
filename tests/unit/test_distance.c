// The distance between two curves against a dense grid and descent, against plain branch and
// bound, and against cases known on paper. TENDRIL_LONG=1 runs 20,000 pairs instead of 1500.
#include "ref/curve_pairs.h"

#include "base/clock.h"
#include "detect/search.h"
#include "test.h"

static TdlDistance distance(const TdlCurve* a, const TdlCurve* b, double bound,
                            TdlDistanceMethod method) {
    TdlHost host = tdl_host_default();
    TdlDistanceDef def = tdl_distance_def_default();
    def.bound = bound;
    def.method = method;
    if (method == TDL_DISTANCE_PLAIN) {
        def.tolerance = 1.0e-6;
    }
    TdlDistance out = {0};
    TdlStatus status = tdl_curve_distance(&host, a, NULL, b, NULL, &def, &out);
    if (status != TDL_STATUS_OK) {
        printf("status %d\n", (int)status);
    }
    return out;
}

TEST(random_pairs_are_never_above_the_grid) {
    int per_kind = getenv("TENDRIL_LONG") != NULL ? 2000 : 150;
    for (int kind = 0; kind < PAIR_KINDS; ++kind) {
        Rng rng = rng_seed(1000u + (unsigned)kind);
        double worst = 0.0, worst_parameter = 0.0, seconds = 0.0, slowest = 0.0;
        long boxes = 0, uncertified = 0;
        for (int i = 0; i < per_kind; ++i) {
            TdlCurve a, b;
            random_pair(&rng, kind, &a, &b);
            double start = clock_now();
            TdlDistance d = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST);
            double took = clock_now() - start;
            seconds += took;
            slowest = fmax(slowest, took);
            GridResult ref = grid_ref(&a, &b, 48);
            CHECK(d.below);
            double above = d.distance - ref.distance;
            worst = fmax(worst, above);
            if (above > 1.0e-12) {
                FAIL("%s %d: %.17g is above %.17g by %g (%ld boxes, certified %d)",
                     PAIR_NAMES[kind], i, d.distance, ref.distance, above, d.boxes, d.certified);
            }
            // isolated minima: the parameters too
            double off = newton_ref(&a, &b, d.s[0], d.s[1], 1.0e-4);
            if (off == off) {
                worst_parameter = fmax(worst_parameter, off);
                CHECK_BELOW(off, 1.0e-9);
            }
            boxes += d.boxes;
            uncertified += !d.certified;
        }
        printf("  %-10s above the grid by at most %.1e, parameters within %.1e, %.0f boxes, "
               "%.1f us (%.0f), %ld not certified\n",
               PAIR_NAMES[kind], worst, worst_parameter, (double)boxes / per_kind,
               1.0e6 * seconds / per_kind, 1.0e6 * slowest, uncertified);
    }
}

// Clothoids and Beziers side by side, at a small angle, with slightly other curvatures.
static void side_by_side_others(Rng* rng, int kind, double gap, double angle, TdlCurve* a,
                                TdlCurve* b) {
    TdlHost host = tdl_host_default();
    TdlPose start = {random_vector(rng, 0.1), random_frame(rng)};
    TdlVec3 side = tdl_mul33_3(start.rotation, (TdlVec3){0.0, gap, 0.0});
    TdlMat3 turn = tdl_rotation_exp(tdl_scale3(angle, tdl_unit3(random_vector(rng, 1.0))));
    if (kind == 0) {
        TdlVec3 k0 = axis_curvature(rng, 3.0), k1 = axis_curvature(rng, 3.0);
        TdlPose moved = {tdl_add3(start.position, side), tdl_mul33(turn, start.rotation)};
        tdl_curve_clothoid(&host, start, k0, k1, 1.0, a);
        k0 = tdl_axpy3(k0, angle, random_vector(rng, 1.0));
        tdl_curve_clothoid(&host, moved, k0, k1, 1.0, b);
    } else {
        // no cusps: control points that go on
        TdlVec3 control[4], other[4];
        for (int i = 0; i < 4; ++i) {
            TdlVec3 at = {0.33 * i, 0.1 * rng_normal(rng), 0.1 * rng_normal(rng)};
            control[i] = tdl_add3(start.position, tdl_mul33_3(start.rotation, at));
            other[i] = tdl_axpy3(tdl_add3(control[i], side), angle * gap, random_vector(rng, 1.0));
        }
        tdl_curve_cubic(&host, control, a);
        if (kind == 1) {
            tdl_curve_cubic(&host, other, b);
        } else {
            tdl_curve_clothoid(&host,
                               (TdlPose){tdl_add3(start.position, side),
                                         tdl_mul33(turn, tdl_frame_from_tangent(tdl_unit3(
                                                             tdl_curve_derivative(a, 0.0))))},
                               axis_curvature(rng, 0.3), axis_curvature(rng, 0.3), 1.0, b);
        }
    }
}

TEST(other_kinds_side_by_side_are_certified) {
    static const char* const names[] = {"clothoids", "Beziers", "both"};
    int count = getenv("TENDRIL_LONG") != NULL ? 400 : 60;
    for (int kind = 0; kind < 3; ++kind) {
        Rng rng = rng_seed(900u + (unsigned)kind);
        long boxes = 0, most = 0, uncertified = 0;
        double start = clock_now();
        for (int i = 0; i < count; ++i) {
            TdlCurve a, b;
            double gap = pow(10.0, rng_range(&rng, -8.0, -1.5));
            double angle = i % 4 == 0 ? 0.0 : pow(10.0, rng_range(&rng, -5.0, -1.0));
            side_by_side_others(&rng, kind, gap, angle, &a, &b);
            TdlDistance d = distance(&a, &b, 2.0 * gap, TDL_DISTANCE_FAST);
            GridResult ref = grid_ref(&a, &b, 48);
            CHECK(d.below == (ref.distance < 2.0 * gap));
            CHECK(!d.below || d.distance <= ref.distance + 1.0e-12);
            boxes += d.boxes;
            most = d.boxes > most ? d.boxes : most;
            uncertified += !d.certified;
        }
        printf("  %-10s %.0f boxes, at most %ld, %.0f us with the grid, %ld not certified\n",
               names[kind], (double)boxes / count, most, 1.0e6 * (clock_now() - start) / count,
               uncertified);
        CHECK_INT(uncertified, 0);
    }
}

// --- known on paper
// -------------------------------------------------------------------------------

static TdlCurve segment(TdlVec3 from, TdlVec3 to) {
    TdlHost host = tdl_host_default();
    TdlCurve c;
    if (tdl_curve_segment(&host, from, to, &c) != TDL_STATUS_OK) {
        FAIL("segment refused");
    }
    return c;
}

TEST(segments_interior_edge_and_corner) {
    TdlCurve a = segment((TdlVec3){-1, 0, 0}, (TdlVec3){1, 0, 0});
    TdlCurve b = segment((TdlVec3){0.25, -1, 0.5}, (TdlVec3){0.25, 1, 0.5});
    TdlDistance d = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST);
    CHECK_NEAR(d.distance, 0.5, 1e-15);
    CHECK_NEAR(d.s[0], 1.25, 1e-15);
    CHECK_NEAR(d.s[1], 1.0, 1e-15);
    b = segment((TdlVec3){2, -1, 0}, (TdlVec3){2, 1, 0}); // edge: the end of a, inside b
    d = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST);
    CHECK_NEAR(d.distance, 1.0, 1e-15);
    CHECK_NEAR(d.s[0], 2.0, 0.0);
    b = segment((TdlVec3){2, 1, 0}, (TdlVec3){3, 4, 0}); // corner
    d = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST);
    CHECK_NEAR(d.distance, sqrt(2.0), 1e-15);
    CHECK_NEAR(d.s[0], 2.0, 0.0);
    CHECK_NEAR(d.s[1], 0.0, 0.0);
    CHECK(d.certified);
    // beyond the bound: proved, nothing returned
    d = distance(&a, &b, 1.4, TDL_DISTANCE_FAST);
    CHECK(!d.below && d.certified);
    d = distance(&a, &b, 1.4, TDL_DISTANCE_PLAIN);
    CHECK(!d.below && d.certified);
}

// Lines whose crossing is many decades nearer than their middles: with half their distance for a
// bound nothing is found, with a little more that distance is.
TEST(crossings_far_nearer_than_the_middles_are_not_called_meetings) {
    Rng rng = rng_seed(441u);
    for (int i = 0; i < 3000; ++i) {
        TdlVec3 u = tdl_unit3(random_vector(&rng, 1.0)), v = tdl_unit3(random_vector(&rng, 1.0));
        TdlVec3 n = tdl_cross3(u, v), at = random_vector(&rng, 1.0);
        double across = tdl_norm3(n), gap = pow(10.0, -7.0 * rng_unit(&rng));
        if (across < 0.01) {
            continue;
        }
        TdlVec3 other = tdl_axpy3(at, gap / across, n);
        double cut = rng_unit(&rng), size = 500.0 * rng_unit(&rng) + 1.0;
        TdlCurve a = segment(tdl_axpy3(at, -cut * size, u), tdl_axpy3(at, (1.0 - cut) * size, u));
        TdlCurve b = segment(tdl_axpy3(other, -size, v), tdl_axpy3(other, 0.1 * size, v));
        CHECK(!distance(&a, &b, 0.5 * gap, TDL_DISTANCE_FAST).below);
        // places of 500 m have the rounding 1e-13
        TdlDistance d = distance(&a, &b, 1.01 * gap, TDL_DISTANCE_FAST);
        CHECK(d.below && d.certified);
        CHECK_NEAR(d.distance, gap, 1.0e-12);
    }
}

// Where the nearest point is an end, it is that end to the last bit: what stands before the tip of
// a bar is pushed along the gap, and what lies across it is not.
TEST(ends_are_met_exactly_whatever_the_length) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(4711u);
    long ends = 0;
    for (int i = 0; i < 6000; ++i) {
        TdlVec3 tip = random_vector(&rng, 0.1), along = tdl_unit3(random_vector(&rng, 1.0));
        TdlCurve bar = segment(tdl_axpy3(tip, -0.01 - 0.1 * rng_unit(&rng), along), tip), hair;
        REQUIRE(tdl_curve_helix(&host, (TdlPose){tip, random_frame(&rng)},
                                random_vector(&rng, 300.0), 0.002 + 0.02 * rng_unit(&rng),
                                &hair) == TDL_STATUS_OK);
        TdlVec3 ahead = tdl_axpy3(random_vector(&rng, 5.0e-4), 5.0e-4, along);
        place_at(&hair, hair.end * rng_unit(&rng), tdl_add3(tip, ahead));
        GridResult ref = grid_ref(&hair, &bar, 48);
        TdlCurveCapsules near[2];
        tdl_curve_capsules(&hair, &near[0]);
        tdl_curve_capsules(&bar, &near[1]);
        TdlDistanceDef def = tdl_distance_def_default();
        def.bound = ref.distance + 1.0e-6;
        TdlDistance found[16];
        int count;
        bool certified;
        REQUIRE(tdl_curve_minima(&host, &hair, &bar, &def, 0.0, 0.0, 15, found, &count,
                                 &certified) == TDL_STATUS_OK);
        CHECK(count > 0);
        count = count < 15 ? count : 15;
        REQUIRE(tdl_curve_distance(&host, &hair, &near[0], &bar, &near[1], &def, &found[count]) ==
                TDL_STATUS_OK);
        CHECK(found[count].below);
        CHECK_BELOW(found[count].distance, ref.distance + 1.0e-12);
        for (int k = 0; k <= count && found[count].below; ++k) {
            const double length[2] = {hair.end, bar.end};
            for (int side_of = 0; side_of < 2; ++side_of) {
                double at = found[k].s[side_of], end = length[side_of];
                bool near_end = fmin(at, end - at) <= 1.0e-13 * end;
                ends += near_end;
                CHECK(!near_end || at == 0.0 || at == end);
            }
        }
    }
    printf("  %ld ends\n", ends);
    CHECK(ends > 1000);
}

TEST(points_and_parallel_segments) {
    TdlCurve point = segment((TdlVec3){0.3, 2, 0}, (TdlVec3){0.3, 2, 0});
    TdlCurve a = segment((TdlVec3){-1, 0, 0}, (TdlVec3){1, 0, 0});
    TdlDistance d = distance(&a, &point, INFINITY, TDL_DISTANCE_FAST);
    CHECK_NEAR(d.distance, 2.0, 1e-15);
    CHECK_NEAR(d.s[0], 1.3, 1e-15);
    d = distance(&point, &point, INFINITY, TDL_DISTANCE_FAST);
    CHECK_NEAR(d.distance, 0.0, 0.0);
    TdlCurve b = segment((TdlVec3){-2, 0.5, 0}, (TdlVec3){3, 0.5, 0});
    d = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST);
    CHECK_NEAR(d.distance, 0.5, 1e-15);
    CHECK(d.certified);
    CHECK_BELOW((double)d.boxes, 10.0);
}

TEST(the_fast_search_agrees_with_plain_branch_and_bound) {
    for (int kind = 0; kind < PAIR_KINDS; ++kind) {
        Rng rng = rng_seed(77u + (unsigned)kind);
        for (int i = 0; i < 12; ++i) {
            TdlCurve a, b;
            random_pair(&rng, kind, &a, &b);
            TdlDistance fast = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST);
            // bounds just above and just below the minimum
            TdlDistance above = distance(&a, &b, fast.distance + 1e-9, TDL_DISTANCE_FAST);
            TdlDistance under = distance(&a, &b, fast.distance - 1e-9, TDL_DISTANCE_FAST);
            CHECK(above.below);
            CHECK_NEAR(above.distance, fast.distance, 1e-12);
            CHECK(!under.below);
            if (kind < 4) {
                TdlDistance plain = distance(&a, &b, INFINITY, TDL_DISTANCE_PLAIN);
                CHECK(!plain.certified || fast.distance <= plain.distance + 1e-13);
                CHECK(!plain.certified || plain.distance <= fast.distance + 2e-6);
            }
        }
    }
}

TEST(tapered_curves_minimise_the_gap) {
    // two crossing bars, thicker towards one end: the least gap is not at the least distance
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(3);
    for (int i = 0; i < 60; ++i) {
        TdlCurve a, b;
        random_pair(&rng, i % 2 == 0 ? 1 : 9, &a, &b);
        REQUIRE(tdl_curve_set_radius(&host, 0.001, 0.05 * rng_unit(&rng), &a) == TDL_STATUS_OK);
        REQUIRE(tdl_curve_set_radius(&host, 0.03 * rng_unit(&rng), 0.001, &b) == TDL_STATUS_OK);
        TdlDistanceDef def = tdl_distance_def_default();
        def.tolerance = 1.0e-9;
        TdlDistance d;
        REQUIRE(tdl_curve_distance(&host, &a, NULL, &b, NULL, &def, &d) == TDL_STATUS_OK);
        double least = INFINITY;
        for (int x = 0; x <= 200; ++x) {
            for (int y = 0; y <= 200; ++y) {
                double s = a.end * x / 200.0, t = b.end * y / 200.0;
                TdlVec3 r = tdl_sub3(tdl_curve_point(&a, s), tdl_curve_point(&b, t));
                least =
                    fmin(least, tdl_norm3(r) - tdl_curve_radius(&a, s) - tdl_curve_radius(&b, t));
            }
        }
        CHECK(d.certified);
        CHECK(d.gap <= least + 1e-12);
        CHECK(d.gap >= least - 0.02); // the grid's step
    }
}

// --- a kind of one's own
// --------------------------------------------------------------------------

static TdlVec3 parabola(const void* user, double s) {
    (void)user;
    return (TdlVec3){s - 1.0, (s - 1.0) * (s - 1.0), 0.0};
}
static TdlVec3 parabola_derivative(const void* user, double s) {
    (void)user;
    return (TdlVec3){1.0, 2.0 * (s - 1.0), 0.0};
}
static double parabola_bound(const void* user, double s0, double s1) {
    (void)user, (void)s0, (void)s1;
    return 2.0;
}

TEST(a_kind_of_ones_own_is_found_like_the_bezier_it_is) {
    TdlHost host = tdl_host_default();
    const TdlCurveFunctions functions = {parabola, parabola_derivative, parabola_bound};
    TdlCurve own, bezier;
    REQUIRE(tdl_curve_user(&host, &functions, NULL, 2.0, &own) == TDL_STATUS_OK);
    TdlVec3 control[3] = {{-1, 1, 0}, {0, -1, 0}, {1, 1, 0}};
    REQUIRE(tdl_curve_quadratic(&host, control, &bezier) == TDL_STATUS_OK);
    Rng rng = rng_seed(12);
    for (int i = 0; i < 40; ++i) {
        TdlCurve other = random_curve(&rng, i % 5, random_vector(&rng, 1.0), 6.0);
        TdlDistance d = distance(&own, &other, INFINITY, TDL_DISTANCE_FAST);
        TdlDistance e = distance(&bezier, &other, INFINITY, TDL_DISTANCE_FAST);
        CHECK(d.certified);
        CHECK_NEAR(d.distance, e.distance, 1e-13);
        CHECK_NEAR(d.s[0], 2.0 * e.s[0], 1e-7);
    }
}

// --- prefilter, polylines, minima, borders
// --------------------------------------------------------

TEST(the_prefilter_is_safe_and_its_two_versions_agree) {
    long rejected = 0, total = 0;
    for (int kind = 0; kind < PAIR_KINDS; ++kind) {
        Rng rng = rng_seed(500u + (unsigned)kind);
        for (int i = 0; i < 200; ++i) {
            TdlCurve a, b;
            random_pair(&rng, kind, &a, &b);
            // far from the origin, where single precision is coarse
            TdlVec3 away = random_vector(&rng, i % 2 == 0 ? 0.0 : 1000.0);
            a.origin = tdl_add3(a.origin, away);
            b.origin = tdl_add3(b.origin, away);
            TdlCurveCapsules ca, cb;
            tdl_curve_capsules(&a, &ca);
            tdl_curve_capsules(&b, &cb);
            TdlDistance d = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST);
            for (int k = 0; k < 4; ++k) {
                double margin = d.distance * (0.25 + 0.25 * k) * (1.0 + 1e-12);
                uint64_t bits = capsules_near(&ca, &cb, margin, &b);
                CHECK(bits == capsules_near_scalar(&ca, &cb, margin));
                CHECK(k < 3 || bits != 0);
                rejected += bits == 0;
                ++total;
                if (k == 3) {
                    // the pair of sub-capsules that holds the nearest points is among them
                    int m = (int)fmin(7.0, 8.0 * d.s[0] / a.end);
                    int n = (int)fmin(7.0, 8.0 * d.s[1] / b.end);
                    CHECK((bits >> (8 * m + n) & 1) != 0);
                }
            }
        }
    }
    printf("  %ld of %ld rejected\n", rejected, total);
    CHECK(rejected > total / 5);
}

TEST(polylines_converge_to_the_curve) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(31);
    for (int i = 0; i < 20; ++i) {
        TdlCurve a, b;
        random_pair(&rng, 2, &a, &b);
        TdlDistance exact = distance(&a, &b, INFINITY, TDL_DISTANCE_FAST), d;
        double last = INFINITY;
        for (double delta = 1.0e-2; delta > 1.0e-4; delta *= 0.1) {
            TdlDistanceDef def = tdl_distance_def_default();
            def.method = TDL_DISTANCE_SEGMENTS;
            def.tolerance = delta;
            REQUIRE(tdl_curve_distance(&host, &a, NULL, &b, NULL, &def, &d) == TDL_STATUS_OK);
            last = fabs(d.distance - exact.distance);
        }
        CHECK_BELOW(last, 1.0e-4);
        CHECK(!d.certified);
        TdlDistanceDef def = tdl_distance_def_default();
        def.method = TDL_DISTANCE_PROXY;
        def.proxy_segments = 400;
        REQUIRE(tdl_curve_distance(&host, &a, NULL, &b, NULL, &def, &d) == TDL_STATUS_OK);
        CHECK_NEAR(d.distance, exact.distance, 1.0e-2);
    }
}

TEST(a_coil_touches_a_bar_once_a_turn) {
    // a helix of three turns about x beside a bar: three minima, one a turn
    TdlHost host = tdl_host_default();
    double r = 0.1, p = 0.03, speed = hypot(r, p);
    TdlVec3 t = {p / speed, r / speed, 0.0}, n = {0, 0, -1};
    TdlPose start = {{0, 0, r}, {t, n, tdl_cross3(t, n)}};
    TdlVec3 kappa = tdl_tmul33_3(start.rotation, (TdlVec3){-1.0 / speed, 0, 0});
    TdlCurve coil, bar = segment((TdlVec3){-1, 0.15, 0}, (TdlVec3){1, 0.15, 0});
    REQUIRE(tdl_curve_helix(&host, start, kappa, 6.0 * 3.141592653589793 * speed, &coil) ==
            TDL_STATUS_OK);
    TdlDistanceDef def = tdl_distance_def_default();
    def.bound = 0.06;
    TdlDistance out[16];
    int count;
    bool certified;
    REQUIRE(tdl_curve_minima(&host, &coil, &bar, &def, 0.0, 0.0, 16, out, &count, &certified) ==
            TDL_STATUS_OK);
    CHECK_INT(count, 3);
    CHECK(certified);
    for (int i = 0; i < count && i < 16; ++i) {
        CHECK_NEAR(out[i].distance, 0.05, 1e-12);
        CHECK_BELOW(newton_ref(&coil, &bar, out[i].s[0], out[i].s[1], 0.0), 1e-9);
    }
    def.bound = 0.04;
    REQUIRE(tdl_curve_minima(&host, &coil, &bar, &def, 0.0, 0.0, 16, out, &count, &certified) ==
            TDL_STATUS_OK);
    CHECK_INT(count, 0);
}

TEST(minima_are_those_of_a_fine_grid) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(99);
    int compared = 0;
    for (int i = 0; i < 60; ++i) {
        TdlCurve a = random_curve(&rng, 1, (TdlVec3){0}, 19.0);
        TdlCurve b = random_curve(&rng, 1, random_vector(&rng, 0.1), 19.0);
        TdlDistanceDef def = tdl_distance_def_default();
        def.bound = 0.12;
        TdlDistance out[64];
        int count;
        bool certified;
        REQUIRE(tdl_curve_minima(&host, &a, &b, &def, 0.0, 0.0, 64, out, &count, &certified) ==
                TDL_STATUS_OK);
        // each grid minimum leads down to one of those listed
        enum { N = 120 };
        static double f[N + 1][N + 1];
        for (int x = 0; x <= N; ++x) {
            for (int y = 0; y <= N; ++y) {
                f[x][y] = tdl_norm3(tdl_sub3(tdl_curve_point(&a, (double)x / N),
                                             tdl_curve_point(&b, (double)y / N)));
            }
        }
        for (int x = 0; x <= N; ++x) {
            for (int y = 0; y <= N; ++y) {
                bool low = true;
                for (int k = 0; k < 9 && low; ++k) {
                    int u = x + k / 3 - 1, v = y + k % 3 - 1;
                    low = u < 0 || v < 0 || u > N || v > N || f[u][v] >= f[x][y];
                }
                if (!low) {
                    continue;
                }
                GridResult g = descend_ref(&a, &b, (double)x / N, (double)y / N);
                if (g.distance > def.bound - 1e-6) {
                    continue;
                }
                double near = INFINITY;
                for (int k = 0; k < count && k < 64; ++k) {
                    near = fmin(near, fmax(fabs(out[k].s[0] - g.s[0]), fabs(out[k].s[1] - g.s[1])));
                }
                CHECK_BELOW(near, 8.0e-3); // two minima nearer than the grain are one
                ++compared;
            }
        }
    }
    printf("  %d minima\n", compared);
    CHECK(compared > 60);
}

TEST(spread_points_are_even_across_elements) {
    // one long parallel stretch, the second fibre cut into elements: points every 0.1 all along
    TdlHost host = tdl_host_default();
    TdlCurve a = segment((TdlVec3){-1, 0, 0}, (TdlVec3){4, 0, 0});
    double cuts[4] = {0.0, 0.73, 1.59, 2.5};
    int total = 0;
    double last = -1.0;
    for (int e = 0; e < 3; ++e) {
        TdlCurve b = segment((TdlVec3){cuts[e], 0.05, 0}, (TdlVec3){cuts[e + 1], 0.05, 0});
        TdlDistanceDef def = tdl_distance_def_default();
        def.bound = 0.1;
        TdlDistance out[64];
        int count;
        REQUIRE(tdl_curve_minima(&host, &a, &b, &def, 0.1, -fmod(cuts[e], 0.1), 64, out, &count,
                                 NULL) == TDL_STATUS_OK);
        for (int k = 0; k < count; ++k) {
            double arc = cuts[e] + out[k].s[1], node = round(arc / 0.1) * 0.1;
            CHECK_NEAR(arc, node, 1e-12);
            CHECK_NEAR(out[k].distance, 0.05, 1e-14);
            last = fmax(last, arc);
        }
        total += count;
    }
    CHECK_INT(total, 25); // 0, 0.1, ..., 2.4
    CHECK_NEAR(last, 2.4, 1e-12);
}

TEST(chains_find_the_nearest_pieces) {
    TdlHost host = tdl_host_default();
    TdlCurve a[3], b[2];
    for (int i = 0; i < 3; ++i) {
        a[i] = segment((TdlVec3){i, 0, 0}, (TdlVec3){i + 1, 0, 0});
    }
    b[0] = segment((TdlVec3){2.5, 3, 0}, (TdlVec3){2.5, 1, 0});
    b[1] = segment((TdlVec3){2.5, 1, 0}, (TdlVec3){2.5, 0.25, 0});
    TdlDistanceDef def = tdl_distance_def_default();
    TdlDistance d;
    int piece[2];
    REQUIRE(tdl_chain_distance(&host, a, 3, b, 2, &def, &d, piece) == TDL_STATUS_OK);
    CHECK_NEAR(d.distance, 0.25, 1e-15);
    CHECK_INT(piece[0], 2);
    CHECK_INT(piece[1], 1);
    CHECK_INT(tdl_chain_distance(&host, a, 0, b, 2, &def, &d, piece), TDL_STATUS_BAD_ARGUMENT);
}

TEST(a_search_that_gives_up_still_has_a_pair_of_points) {
    // found by fuzzing: sizes so far apart that the ridge spends every box
    TdlHost host = tdl_host_default();
    TdlCurve a = segment((TdlVec3){5, 0, 0}, (TdlVec3){1e52, 0, 0}), b;
    TdlVec3 p[4] = {{0}, {11e-3, 0, 0}, {4, 0, 0}, {3, 0, 2}};
    CHECK_INT(tdl_curve_cubic(&host, p, &b), TDL_STATUS_OK);
    TdlDistanceDef def = tdl_distance_def_default();
    def.box_limit = 2000;
    TdlDistance d;
    CHECK_INT(tdl_curve_distance(&host, &a, NULL, &b, NULL, &def, &d), TDL_STATUS_OK);
    CHECK(d.below);
    CHECK(!d.certified || d.distance <= sqrt(8.0));
    CHECK_NEAR(tdl_norm3(tdl_sub3(d.point[0], d.point[1])), d.distance, 1e-9 * d.distance);
}

TEST(bad_queries_are_refused) {
    // a change of curvature over next to no length
    TdlHost quiet = tdl_host_default();
    quiet.log = NULL;
    TdlPose pose = {.rotation = tdl_identity33()};
    TdlCurve short_one;
    CHECK(tdl_curve_clothoid(&quiet, pose, (TdlVec3){0}, (TdlVec3){0, 0, 2}, 1e-323, &short_one) ==
          TDL_STATUS_BAD_ARGUMENT);
    CHECK(tdl_curve_clothoid(&quiet, pose, (TdlVec3){0, 0, 2}, (TdlVec3){0, 0, 2}, 1e-323,
                             &short_one) == TDL_STATUS_OK);
    TdlHost host = tdl_host_default();
    TdlCurve a = segment((TdlVec3){0}, (TdlVec3){1, 0, 0}), bad = a;
    TdlDistance d;
    TdlDistanceDef def = tdl_distance_def_default();
    // found by fuzzing: and a change of radius
    CHECK_INT(tdl_curve_set_radius(&quiet, 1.0, 1.0, &short_one), TDL_STATUS_OK);
    CHECK_INT(tdl_curve_distance(&host, &a, NULL, &short_one, NULL, &def, &d), TDL_STATUS_OK);
    CHECK_INT(tdl_curve_set_radius(&quiet, 0.0, 1.0, &short_one), TDL_STATUS_BAD_ARGUMENT);
    short_one.radius[0] = 0.0;
    CHECK_INT(tdl_curve_distance(&host, &a, NULL, &short_one, NULL, &def, &d),
              TDL_STATUS_BAD_ARGUMENT);
    def.bound = NAN;
    CHECK_INT(tdl_curve_distance(&host, &a, NULL, &a, NULL, &def, &d), TDL_STATUS_BAD_ARGUMENT);
    def = tdl_distance_def_default();
    def.tolerance = 0.0;
    CHECK_INT(tdl_curve_distance(&host, &a, NULL, &a, NULL, &def, &d), TDL_STATUS_BAD_ARGUMENT);
    def = tdl_distance_def_default();
    bad.origin.y = NAN;
    CHECK_INT(tdl_curve_distance(&host, &a, NULL, &bad, NULL, &def, &d), TDL_STATUS_BAD_ARGUMENT);
    // the prefilter never rejects what is not a number
    TdlCurveCapsules ca, cb;
    tdl_curve_capsules(&a, &ca);
    tdl_curve_capsules(&bad, &cb);
    def.bound = 1e-3;
    CHECK_INT(tdl_curve_distance(&host, &a, &ca, &bad, &cb, &def, &d), TDL_STATUS_BAD_ARGUMENT);
    def.method = TDL_DISTANCE_SEGMENTS;
    def.tolerance = 1.0e-12;
    CHECK_INT(tdl_curve_distance(&host, &a, NULL, &a, NULL, &def, &d), TDL_STATUS_BAD_ARGUMENT);
    int count;
    def = tdl_distance_def_default();
    CHECK_INT(tdl_curve_minima(&host, &a, &a, &def, 0.0, 0.0, 1, &d, &count, NULL),
              TDL_STATUS_BAD_ARGUMENT);
}
