// Continuous collision detection: conservative on every family, exact contacts, limits, norms, bad
// input, and the same bits from both versions and any number of threads.
#include "base/memory.h"
#include "bench/ccd_generate.h"
#include "detect/ccd.h"
#include "ref/ccd_ref.h"
#include "test.h"

static TdlCcdResult ask(const TdlCcdQuery* q, const TdlCcdOptions* o) {
    TdlCcdResult result;
    TdlStatus status = tdl_ccd_query(q, o, &result);
    if (status != TDL_STATUS_OK) {
        FAIL("query failed: %s", tdl_status_string(status));
    }
    return result;
}

static bool collides(const TdlCcdQuery* q, TdlCcdMethod method) {
    TdlCcdOptions o = tdl_ccd_options_default();
    o.method = method;
    return ask(q, &o).collision;
}

static void print_query(const TdlCcdQuery* q) {
    for (int i = 0; i < 8; ++i) {
        TdlVec3 p = i < 4 ? q->start[i] : q->end[i - 4];
        printf("    {%a, %a, %a},\n", p.x, p.y, p.z);
    }
}

// --- known cases --------------------------------------------------------------------------------

// The hourglass of appendix B: the prism has a bilinear face that crosses itself.
static const TdlCcdQuery HOURGLASS = {TDL_CCD_VERTEX_FACE,
                                      {{0.1, 0.1, 0.1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}},
                                      {{0.1, 0.1, 0.1}, {0, 0, 0}, {0, 1, 0}, {1, 0, 0}}};
// Appendix C: a cubic with an inflection point inside the step.
static const TdlCcdQuery INFLECTION = {TDL_CCD_VERTEX_FACE,
                                       {{1, 1, 0}, {0, 0, 5}, {2, 0, 2}, {0, 1, 0}},
                                       {{1, 1, 0}, {0, 0, -1}, {0, 0, -2}, {0, 7, 0}}};
// Appendix C: everything in the plane z = 1.
static const TdlCcdQuery COPLANAR = {
    TDL_CCD_VERTEX_FACE,
    {{1, 0.5, 1}, {0, 0.57, 1}, {1, 0.57, 1}, {1, 1.57, 1}},
    {{1, 0.5, 1}, {0, 0.28, 1}, {1, 0.28, 1}, {1, 1.28, 1}},
};

TEST(published_examples) {
    static const TdlCcdMethod SAFE[] = {TDL_CCD_CONTRACT, TDL_CCD_BISECT, TDL_CCD_INTERVAL,
                                        TDL_CCD_UNIVARIATE, TDL_CCD_EXACT};
    for (int i = 0; i < 5; ++i) {
        CHECK(collides(&HOURGLASS, SAFE[i]));
        CHECK(collides(&COPLANAR, SAFE[i]));
    }
    // handled with all its seams, root parity finds the hourglass and the sliding contact too
    CHECK(collides(&HOURGLASS, TDL_CCD_PARITY));
    CHECK(collides(&COPLANAR, TDL_CCD_PARITY));

    // the cubic printed for the inflection example has its roots where f vanishes; at none of them
    // is the vertex inside the face, as the exact test knows and all conservative methods agree
    CHECK(!collides(&INFLECTION, TDL_CCD_EXACT));
    CHECK(!collides(&INFLECTION, TDL_CCD_CONTRACT));
    CHECK(!collides(&INFLECTION, TDL_CCD_BISECT));

    // times: the hourglass meets at z = 0.1, t = 0.9; the plane when 0.57 - 0.29 t = 0.5
    TdlCcdOptions o = tdl_ccd_options_default();
    TdlCcdResult r = ask(&HOURGLASS, &o);
    CHECK(r.time <= 0.9);
    CHECK_NEAR(r.time, 0.9, 1.0e-6); // the tolerance, at unit speed
    r = ask(&COPLANAR, &o);
    CHECK(r.time <= 0.07 / 0.29);
    CHECK_NEAR(r.time, 0.07 / 0.29, 1.0e-5); // the tolerance, at speed 0.29
}

TEST(every_point_the_same) {
    TdlCcdQuery q = {.kind = TDL_CCD_EDGE_EDGE};
    for (int method = 0; method < TDL_CCD_METHOD_COUNT; ++method) {
        if (method != TDL_CCD_CUBIC) { // a cubic that is zero has no roots to offer
            CHECK(collides(&q, (TdlCcdMethod)method));
        }
    }
    TdlCcdOptions o = tdl_ccd_options_default();
    CHECK(ask(&q, &o).time == 0.0);
}

// --- never a false negative
// -----------------------------------------------------------------------

// Checks one query against the exact test; counts misses and false alarms.
static void judge(const TdlCcdQuery* q, const TdlCcdOptions* o, bool touches, int* missed,
                  int* false_alarms) {
    TdlCcdOptions exact = tdl_ccd_options_default();
    exact.method = TDL_CCD_EXACT;
    TdlCcdResult r = ask(q, o);
    if (r.collision && touches) {
        return;
    }
    TdlCcdResult truth = ask(q, &exact);
    if (touches && !truth.collision) {
        FAIL("the exact test misses a contact made by construction");
    }
    bool wrong = truth.collision && !(r.collision && r.time <= truth.time);
    if (wrong && ++*missed <= 3) {
        printf("  missed: contact at %.17g, answer %d at %.17g\n", truth.time, r.collision, r.time);
        print_query(q);
    }
    *false_alarms += r.collision && !truth.collision;
}

static int env_count(const char* name, int fallback) {
    const char* text = getenv(name);
    return text != NULL ? atoi(text) : fallback;
}

// TENDRIL_CCD_CAMPAIGN=10000000 runs the whole campaign.
TEST(no_family_is_missed) {
    int per_family = env_count("TENDRIL_CCD_CAMPAIGN", 11000) / CCD_FAMILY_COUNT;
    TdlCcdOptions o = tdl_ccd_options_default();
    for (int family = 0; family < CCD_FAMILY_COUNT; ++family) {
        CcdRandom random = {0x5eed0000u + (uint64_t)family};
        int missed = 0, false_alarms = 0;
        for (int i = 0; i < per_family; ++i) {
            bool touches;
            TdlCcdQuery q = ccd_generate(&random, (CcdFamily)family, &touches);
            judge(&q, &o, touches, &missed, &false_alarms);
        }
        printf("  %-10s %8d queries, %d missed, %d false positives\n", CCD_FAMILY_NAMES[family],
               per_family, missed, false_alarms);
        CHECK_INT(missed, 0);
    }
}

// Bitwise contacts at coordinate scales from 1e-6 to 1e6, shifted away from the origin as well.
// TENDRIL_CCD_CONTACTS=1000000 makes a million.
TEST(contacts_by_construction_are_found) {
    int count = env_count("TENDRIL_CCD_CONTACTS", 20000);
    TdlCcdOptions o = tdl_ccd_options_default();
    CcdRandom random = {42};
    int missed = 0, late = 0;
    for (int i = 0; i < count; ++i) {
        bool touches;
        double time = 0.0;
        CcdFamily family = i % 2 == 0 ? CCD_FAMILY_EXACT : CCD_FAMILY_CORNER;
        TdlCcdQuery q = {0};
        if (family == CCD_FAMILY_EXACT) {
            int k, m;
            q.kind = i % 4 == 0 ? TDL_CCD_VERTEX_FACE : TDL_CCD_EDGE_EDGE;
            ccd_generate_exact(&random, &q, &k, &m);
            time = ldexp((double)k, -m);
            // the grid reaches 2^21: scale to between 1e-6 and 1e6
            ccd_rescale(&q, -21 + ccd_random_below(&random, 41) - 20);
        } else {
            q = ccd_generate(&random, family, &touches);
            // any factor keeps equal coordinates equal
            double scale = pow(10.0, 6.0 * ccd_random_real(&random));
            for (int j = 0; j < 4; ++j) {
                q.start[j] = tdl_scale3(scale, q.start[j]);
                q.end[j] = tdl_scale3(scale, q.end[j]);
            }
            time = 1.0;
        }
        TdlCcdResult r = ask(&q, &o);
        missed += !r.collision;
        late += r.collision && r.time > time;
        o.min_separation = i % 3 == 0 ? 1.0e-8 : 0.0;
        o.norm = i % 5 == 0 ? TDL_CCD_NORM_EUCLID : TDL_CCD_NORM_MAX;
    }
    CHECK_INT(missed, 0);
    CHECK_INT(late, 0);
}

// A vector with whole coordinates and a whole length, in any of its turns.
static TdlVec3 whole_vector(CcdRandom* r, double* length) {
    static const int QUADRUPLES[][4] = {
        {1, 2, 2, 3}, {2, 3, 6, 7}, {4, 4, 7, 9}, {0, 3, 4, 5}, {0, 0, 1, 1}};
    const int* x = QUADRUPLES[ccd_random_below(r, 5)];
    int turn = ccd_random_below(r, 3), signs = ccd_random_below(r, 8);
    double c[3];
    for (int i = 0; i < 3; ++i) {
        c[i] = (signs >> i & 1) != 0 ? -x[(turn + i) % 3] : x[(turn + i) % 3];
    }
    *length = x[3];
    return (TdlVec3){c[0], c[1], c[2]};
}

// A contact exact at t = k / 2^m, one part moved by a vector whose size in the norm is exactly the
// separation: 1e-12, 1e-6 or 1e-3 of the coordinates. Returns the time; *q may touch before.
static double plant(CcdRandom* r, TdlCcdQuery* q, TdlCcdOptions* o) {
    int k, m;
    double length;
    ccd_generate_exact(r, q, &k, &m);
    TdlVec3 w = whole_vector(r, &length);
    bool euclid = ccd_random_below(r, 2) == 0;
    double most = fmax(fabs(w.x), fmax(fabs(w.y), fabs(w.z)));
    static const int SIZES[] = {-21, 0, 10}; // the coordinates reach 2^21
    double unit = ldexp(1.0, SIZES[ccd_random_below(r, 3)]);
    int moved = q->kind == TDL_CCD_VERTEX_FACE ? 1 : 2;
    for (int i = 0; i < moved; ++i) {
        q->start[i] = tdl_axpy3(q->start[i], unit, w);
        q->end[i] = tdl_axpy3(q->end[i], unit, w);
    }
    int scale = -21 + ccd_random_below(r, 41) - 20;
    ccd_rescale(q, scale);
    o->norm = euclid ? TDL_CCD_NORM_EUCLID : TDL_CCD_NORM_MAX;
    o->min_separation = ldexp(unit * (euclid ? length : most), scale);
    return ldexp((double)k, -m);
}

// TENDRIL_CCD_PLANTED=10000000 plants ten million.
TEST(planted_contacts_with_separation_are_found) {
    int count = env_count("TENDRIL_CCD_PLANTED", 60000);
    CcdRandom random = {43};
    int missed = 0, late = 0, without = 0;
    for (int i = 0; i < count; ++i) {
        TdlCcdOptions o = tdl_ccd_options_default();
        TdlCcdQuery q = {.kind = i % 2 == 0 ? TDL_CCD_VERTEX_FACE : TDL_CCD_EDGE_EDGE};
        double time = plant(&random, &q, &o);
        o.tolerance = ldexp(o.tolerance, -20 * (i % 3)); // where the margins matter
        TdlCcdResult r = ask(&q, &o);
        missed += !r.collision;
        late += r.collision && r.time > time;
        if (i % 100 == 0) {
            o.min_separation *= 0.5;
            o.tolerance *= 0x1p-40;
            without += !ask(&q, &o).collision;
        }
    }
    CHECK_INT(missed, 0);
    CHECK_INT(late, 0);
    CHECK(without > count / 5000); // half the separation is often too little
}

TEST(bisection_misses_nothing_either) {
    TdlCcdOptions o = tdl_ccd_options_default();
    o.tolerance = 1.0e-3;
    o.max_checks = 3000;
    static const TdlCcdMethod METHODS[] = {TDL_CCD_BISECT, TDL_CCD_INTERVAL, TDL_CCD_UNIVARIATE};
    for (int m = 0; m < 3; ++m) {
        o.method = METHODS[m];
        int missed = 0, false_alarms = 0;
        CcdRandom random = {77};
        for (int i = 0; i < 1100; ++i) {
            bool touches;
            TdlCcdQuery q = ccd_generate(&random, (CcdFamily)(i % CCD_FAMILY_COUNT), &touches);
            judge(&q, &o, touches, &missed, &false_alarms);
        }
        CHECK_INT(missed, 0);
    }
}

// Scaling by a power of two keeps the truth, to the ends of the range of doubles.
TEST(huge_and_tiny_coordinates) {
    static const int EXPONENTS[] = {-1070, -1040, -700, -160, 160, 700, 990};
    CcdRandom random = {9};
    int missed = 0;
    for (int i = 0; i < 7000; ++i) {
        int k, m;
        TdlCcdQuery q = {.kind = i % 2 == 0 ? TDL_CCD_VERTEX_FACE : TDL_CCD_EDGE_EDGE};
        ccd_generate_exact(&random, &q, &k, &m);
        ccd_rescale(&q, EXPONENTS[i % 7]); // the grid is one of integers: exact at every exponent
        TdlCcdOptions o = tdl_ccd_options_default();
        o.tolerance = i % 3 == 0 ? 0.0 : 1.0e-6;
        TdlCcdResult r = ask(&q, &o);
        missed += !r.collision || r.time > ldexp((double)k, -m) || !isfinite(r.tolerance);
    }
    CHECK_INT(missed, 0);
}

TEST(largest_numbers) {
    double big = 1.7e308;
    TdlCcdQuery q = {TDL_CCD_VERTEX_FACE,
                     {{0, 0, big}, {-big, -big, 0}, {big, -big, 0}, {0, big, 0}},
                     {{0, 0, -big}, {-big, -big, 0}, {big, -big, 0}, {0, big, 0}}};
    for (int method = 0; method < TDL_CCD_METHOD_COUNT; ++method) {
        bool floating = method == TDL_CCD_CUBIC || method == TDL_CCD_SEXTIC; // these overflow
        CHECK(floating || collides(&q, (TdlCcdMethod)method));
    }
    TdlCcdOptions o = tdl_ccd_options_default();
    TdlCcdResult r = ask(&q, &o);
    CHECK(r.time <= 0.5);
    CHECK_NEAR(r.time, 0.5, 1.0e-12); // rounding of the margins
    // a vertex that stays above
    q.end[0] = (TdlVec3){0, 0, 1.0e300};
    CHECK(!collides(&q, TDL_CCD_CONTRACT));
    // mixed scales: subnormal offsets on one axis, huge ones on another
    TdlCcdQuery mixed = {TDL_CCD_VERTEX_FACE,
                         {{0, 0, 5.0e-324}, {-big, -1, 0}, {big, -1, 0}, {0, 1, 0}},
                         {{0, 0, -5.0e-324}, {-big, -1, 0}, {big, -1, 0}, {0, 1, 0}}};
    CHECK(collides(&mixed, TDL_CCD_EXACT));
    CHECK(collides(&mixed, TDL_CCD_CONTRACT));
    CHECK(collides(&mixed, TDL_CCD_BISECT));
}

// --- limits
// -----------------------------------------------------------------------------------------

TEST(a_limit_of_checks_stays_conservative) {
    CcdRandom random = {3};
    int missed = 0, limited = 0;
    for (int i = 0; i < 4000; ++i) {
        bool touches;
        TdlCcdQuery q = ccd_generate(&random, (CcdFamily)(i % CCD_FAMILY_COUNT), &touches);
        TdlCcdOptions o = tdl_ccd_options_default();
        TdlCcdResult full = ask(&q, &o);
        o.max_checks = 1 + i % 7;
        TdlCcdResult r = ask(&q, &o);
        missed += full.collision && !(r.collision && r.time <= full.time);
        limited += r.limited;
        CHECK(r.boxes <= o.max_checks);
    }
    CHECK_INT(missed, 0);
    CHECK(limited > 100); // the limit was really met
}

TEST(a_maximum_time_cuts_the_search) {
    CcdRandom random = {4};
    int wrong = 0;
    for (int i = 0; i < 4000; ++i) {
        bool touches;
        TdlCcdQuery q = ccd_generate(&random, (CcdFamily)(i % CCD_FAMILY_COUNT), &touches);
        TdlCcdOptions o = tdl_ccd_options_default();
        o.method = TDL_CCD_EXACT;
        TdlCcdResult truth = ask(&q, &o);
        o.method = i % 4 == 0 ? TDL_CCD_BISECT : TDL_CCD_CONTRACT;
        o.max_checks = 5000;
        o.max_time = 0.5 * (ccd_random_real(&random) + 1.0);
        TdlCcdResult r = ask(&q, &o);
        // found when early enough, never later than asked
        wrong +=
            truth.collision && truth.time <= o.max_time && !(r.collision && r.time <= truth.time);
        wrong += r.collision && r.time > o.max_time;
    }
    CHECK_INT(wrong, 0);
}

TEST(times_are_tight) {
    CcdRandom random = {5};
    double worst = 0.0;
    for (int i = 0; i < 3000; ++i) {
        bool touches;
        TdlCcdQuery q =
            ccd_generate(&random, i % 2 == 0 ? CCD_FAMILY_RANDOM : CCD_FAMILY_SHEET, &touches);
        TdlCcdOptions o = tdl_ccd_options_default();
        TdlCcdResult r = ask(&q, &o);
        if (r.collision) {
            double u, v;
            double distance = ccd_distance(&q, r.time, &u, &v);
            worst = fmax(worst, distance);
            CHECK(distance <= sqrt(3.0) * r.tolerance); // the tolerance is one of coordinates
            CHECK(r.u >= 0.0 && r.v >= 0.0 && r.u <= 1.0 && r.v <= 1.0);
        }
    }
    CHECK_BELOW(worst, 1.0e-6);
}

// --- separation
// -------------------------------------------------------------------------------------

// Distance at time t in the norm asked for.
static double distance_in(const TdlCcdQuery* q, TdlCcdNorm norm, double t) {
    double u, v;
    return norm == TDL_CCD_NORM_EUCLID ? ccd_distance(q, t, &u, &v) : ref_max_distance(q, t);
}

// Before the time reported no sampled moment is nearer than d; at it, none is farther than d and
// the tolerance reached.
static void check_separation(TdlCcdNorm norm, TdlCcdMethod method, double d, int count) {
    CcdRandom random = {11};
    int early = 0, far = 0, hits = 0;
    for (int i = 0; i < count; ++i) {
        bool touches;
        CcdFamily family = (CcdFamily)(i % 4 == 3 ? CCD_FAMILY_PLANE : i % 4);
        TdlCcdQuery q = ccd_generate(&random, family, &touches);
        if (family == CCD_FAMILY_PLANE || family == CCD_FAMILY_EXACT) {
            ccd_rescale(&q, -12);
        }
        TdlCcdOptions o = tdl_ccd_options_default();
        o.norm = norm;
        o.method = method;
        o.min_separation = d;
        o.tolerance = method == TDL_CCD_CONTRACT ? 1.0e-6 : 1.0e-3;
        o.max_checks = 20000;
        TdlCcdResult r = ask(&q, &o);
        double end = r.collision ? r.time : 1.0;
        for (int k = 0; k < 20; ++k) {
            // the sampled distance of a convex problem is an upper bound of the true one
            double t = end * k / 20.0;
            early += distance_in(&q, norm, t) < d * (1.0 - 1.0e-9) - 1.0e-14 && t < end;
        }
        if (r.collision) {
            ++hits;
            far += distance_in(&q, norm, r.time) > d + r.tolerance + 1.0e-9;
        }
    }
    CHECK_INT(early, 0);
    CHECK_INT(far, 0);
    CHECK(hits > count / 20);
}

TEST(separation_is_kept_in_both_norms) {
    static const double DISTANCES[] = {1.0e-2, 1.0e-8, 1.0e-16, 1.0e-30, 1.0e-100, 0.3};
    for (int i = 0; i < 6; ++i) {
        check_separation(TDL_CCD_NORM_EUCLID, TDL_CCD_CONTRACT, DISTANCES[i], 1200);
        check_separation(TDL_CCD_NORM_MAX, TDL_CCD_CONTRACT, DISTANCES[i], 1200);
    }
    check_separation(TDL_CCD_NORM_EUCLID, TDL_CCD_BISECT, 1.0e-2, 100);
    check_separation(TDL_CCD_NORM_MAX, TDL_CCD_BISECT, 1.0e-2, 50);
}

// More separation, earlier contact; the Euclidean ball lies in the cube.
TEST(separation_is_monotone) {
    CcdRandom random = {12};
    int wrong = 0;
    for (int i = 0; i < 3000; ++i) {
        bool touches;
        TdlCcdQuery q = ccd_generate(&random, (CcdFamily)(i % CCD_FAMILY_COUNT), &touches);
        TdlCcdOptions o = tdl_ccd_options_default();
        TdlCcdResult none = ask(&q, &o);
        o.min_separation = 1.0e-3;
        TdlCcdResult cube = ask(&q, &o);
        o.norm = TDL_CCD_NORM_EUCLID;
        TdlCcdResult ball = ask(&q, &o);
        wrong += none.collision && !none.limited && none.tolerance < 1.0e-4 && !ball.collision;
        wrong += ball.collision && ball.tolerance < 1.0e-5 && !cube.collision &&
                 ref_max_distance(&q, ball.time) < 0.9e-3;
    }
    CHECK_INT(wrong, 0);
    // a separation beyond everything: at once
    TdlCcdOptions o = tdl_ccd_options_default();
    o.min_separation = 1.7e308;
    TdlCcdResult r = ask(&HOURGLASS, &o);
    CHECK(r.collision && r.time == 0.0);
}

// --- versions, threads, borders
// ---------------------------------------------------------------------

static bool same_result(const TdlCcdResult* a, const TdlCcdResult* b) {
    return a->collision == b->collision && a->limited == b->limited && a->boxes == b->boxes &&
           memcmp(&a->time, &b->time, sizeof a->time) == 0 &&
           memcmp(&a->tolerance, &b->tolerance, sizeof a->tolerance) == 0 &&
           memcmp(&a->u, &b->u, sizeof a->u) == 0 && memcmp(&a->v, &b->v, sizeof a->v) == 0;
}

TEST(simd_has_the_bits_of_the_definition) {
    static const TdlCcdMethod METHODS[] = {TDL_CCD_CONTRACT, TDL_CCD_BISECT};
    CcdRandom random = {21};
    int different = 0;
    for (int i = 0; i < 20000; ++i) {
        bool touches;
        TdlCcdQuery q = ccd_generate(&random, (CcdFamily)(i % CCD_FAMILY_COUNT), &touches);
        ccd_rescale(&q, i % 50 == 0 ? 900 : i % 50 == 1 ? -1000 : 0);
        TdlCcdOptions o = tdl_ccd_options_default();
        o.method = METHODS[i % 16 == 0];
        o.max_checks = o.method == TDL_CCD_BISECT ? 300 : 10000;
        o.min_separation = i % 3 == 0 ? 1.0e-2 : 0.0;
        o.norm = i % 2 == 0 ? TDL_CCD_NORM_EUCLID : TDL_CCD_NORM_MAX;
        TdlCcdResult wide = ask(&q, &o);
        o.scalar = true;
        TdlCcdResult plain = ask(&q, &o);
        different += !same_result(&wide, &plain);
    }
    CHECK_INT(different, 0);
}

TEST(batches_do_not_depend_on_threads) {
    enum { COUNT = 3000 };
    static TdlCcdQuery queries[COUNT];
    static TdlCcdResult one[COUNT], three[COUNT];
    static double seconds[COUNT];
    CcdRandom random = {31};
    for (int i = 0; i < COUNT; ++i) {
        bool touches;
        queries[i] = ccd_generate(&random, (CcdFamily)(i % CCD_FAMILY_COUNT), &touches);
    }
    TdlHost host = tdl_host_default();
    TdlCcdOptions o = tdl_ccd_options_default();
    CHECK_INT(tdl_ccd_batch(&host, queries, COUNT, &o, 1, one, NULL), TDL_STATUS_OK);
    CHECK_INT(tdl_ccd_batch(&host, queries, COUNT, &o, 3, three, seconds), TDL_STATUS_OK);
    int different = 0;
    for (int i = 0; i < COUNT; ++i) {
        different += !same_result(&one[i], &three[i]);
        CHECK(seconds[i] >= 0.0);
    }
    CHECK_INT(different, 0);
    CHECK_INT(tdl_ccd_batch(&host, queries, 0, &o, 2, one, NULL), TDL_STATUS_OK);
    queries[COUNT - 1].end[2].y = NAN;
    CHECK_INT(tdl_ccd_batch(&host, queries, COUNT, &o, 2, three, NULL), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_ccd_batch(&host, queries, -1, &o, 2, three, NULL), TDL_STATUS_BAD_ARGUMENT);
}

TEST(what_is_not_a_number_is_refused) {
    static const double BAD[] = {NAN, INFINITY, -INFINITY};
    TdlCcdOptions o = tdl_ccd_options_default();
    TdlCcdResult r;
    for (int method = 0; method < TDL_CCD_METHOD_COUNT; ++method) {
        o.method = (TdlCcdMethod)method;
        for (int i = 0; i < 24 * 3; ++i) {
            TdlCcdQuery q = HOURGLASS;
            double* x = (i / 3 < 12 ? &q.start[0].x : &q.end[0].x) + i / 3 % 12;
            *x = BAD[i % 3];
            CHECK_INT(tdl_ccd_query(&q, &o, &r), TDL_STATUS_BAD_ARGUMENT);
        }
    }
}

TEST(options_out_of_range_are_refused) {
    TdlCcdOptions good = tdl_ccd_options_default(), o;
    TdlCcdResult r;
#define REFUSED(assignment)                                                                        \
    o = good;                                                                                      \
    o.assignment;                                                                                  \
    CHECK_INT(tdl_ccd_query(&HOURGLASS, &o, &r), TDL_STATUS_BAD_ARGUMENT)
    REFUSED(tolerance = -1.0);
    REFUSED(tolerance = NAN);
    REFUSED(min_separation = -1.0e-9);
    REFUSED(min_separation = NAN);
    REFUSED(min_separation = INFINITY);
    REFUSED(max_time = 1.5);
    REFUSED(max_time = -0.1);
    REFUSED(max_time = NAN);
    REFUSED(max_checks = -1);
    REFUSED(refine_checks = -1);
    REFUSED(method = TDL_CCD_METHOD_COUNT);
    REFUSED(norm = (TdlCcdNorm)7);
    TdlCcdQuery q = HOURGLASS;
    q.kind = (TdlCcdKind)5;
    CHECK_INT(tdl_ccd_query(&q, &good, &r), TDL_STATUS_BAD_ARGUMENT);
    TdlCcdMethod method;
    for (int i = 0; i < TDL_CCD_METHOD_COUNT; ++i) {
        CHECK(tdl_ccd_method_from_name(tdl_ccd_method_name((TdlCcdMethod)i), &method));
        CHECK_INT(method, i);
    }
    CHECK(!tdl_ccd_method_from_name("guess", &method));
    CHECK(tdl_ccd_method_name(TDL_CCD_METHOD_COUNT) == NULL);
}

static int resize_calls;

static void* counting_resize(void* user, void* block, size_t old_size, size_t new_size) {
    TdlHost host = tdl_host_default();
    (void)user;
    ++resize_calls;
    return host.mem.resize(host.mem.user, block, old_size, new_size);
}

TEST(a_batch_on_one_thread_allocates_nothing) {
    TdlHost host = tdl_host_default();
    host.mem.resize = counting_resize;
    TdlCcdQuery queries[2] = {HOURGLASS, COPLANAR};
    TdlCcdResult results[2];
    TdlCcdOptions o = tdl_ccd_options_default();
    CHECK_INT(tdl_ccd_batch(&host, queries, 2, &o, 1, results, NULL), TDL_STATUS_OK);
    CHECK_INT(resize_calls, 0);
}
