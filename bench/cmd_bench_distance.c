// `tendril bench distance`: what detection costs, on a wisp packed as in S0 and on pairs at chosen
// angles. Every method is timed in the same run on the same pairs.
#include "app/command.h"
#include "bench/wisp.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_PAIRS = 400000, REPEATS = 3 };

// Processor time of all threads.
static double now_all(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

// --- lists of pairs
// -------------------------------------------------------------------------------

typedef struct PairSet {
    int count;
    TdlCurve *a, *b;
    TdlCurveCapsules *ca, *cb;
} PairSet;

static bool pairs_create(int capacity, PairSet* set) {
    size_t n = (size_t)capacity;
    *set = (PairSet){.a = malloc(n * sizeof(TdlCurve)),
                     .b = malloc(n * sizeof(TdlCurve)),
                     .ca = malloc(n * sizeof(TdlCurveCapsules)),
                     .cb = malloc(n * sizeof(TdlCurveCapsules))};
    return set->a != NULL && set->b != NULL && set->ca != NULL && set->cb != NULL;
}

static void pairs_destroy(PairSet* set) {
    free(set->a);
    free(set->b);
    free(set->ca);
    free(set->cb);
}

static void pairs_add(PairSet* set, const TdlCurve* a, const TdlCurve* b) {
    int i = set->count++;
    set->a[i] = *a;
    set->b[i] = *b;
    tdl_curve_capsules(a, &set->ca[i]);
    tdl_curve_capsules(b, &set->cb[i]);
}

typedef struct Timing {
    double mean, worst; // us
    double boxes;       // mean
    long uncertified;
} Timing;

static Timing time_one_by_one(const TdlHost* host, const PairSet* set, const TdlDistanceDef* def) {
    Timing t = {0};
    if (set->count == 0) {
        return t;
    }
    bool filter = def->method == TDL_DISTANCE_FAST;
    double best = INFINITY;
    for (int round = 0; round < REPEATS; ++round) {
        double start = wisp_clock();
        long boxes = 0, uncertified = 0;
        for (int i = 0; i < set->count; ++i) {
            TdlDistance d;
            tdl_curve_distance(host, &set->a[i], filter ? &set->ca[i] : NULL, &set->b[i],
                               filter ? &set->cb[i] : NULL, def, &d);
            boxes += d.boxes;
            uncertified += !d.certified;
        }
        best = fmin(best, wisp_clock() - start);
        t.boxes = (double)boxes / set->count;
        t.uncertified = uncertified;
    }
    t.mean = 1.0e6 * best / set->count;
    // the slowest pair: the best of five runs of each, so that interruptions do not count
    int step = set->count > 20000 ? set->count / 20000 : 1;
    for (int i = 0; i < set->count; i += step) {
        double least = INFINITY;
        for (int round = 0; round < 5; ++round) {
            TdlDistance d;
            double start = wisp_clock();
            tdl_curve_distance(host, &set->a[i], filter ? &set->ca[i] : NULL, &set->b[i],
                               filter ? &set->cb[i] : NULL, def, &d);
            least = fmin(least, wisp_clock() - start);
        }
        t.worst = fmax(t.worst, 1.0e6 * least);
    }
    return t;
}

// Pairs of the wisp whose boxes overlap, as a sweep would hand them over, split by their outcome.
// Elements of every `step`-th fibre against all; in the order of the first element.
typedef struct WispPairs {
    int count[2];      // rejected, accepted
    int (*pair[2])[2]; // element indices
} WispPairs;

static void wisp_query(const TdlHost* host, const Wisp* w, const int pair[2],
                       const TdlDistanceDef* def, bool filter, TdlDistance* d) {
    int i = pair[0], j = pair[1];
    tdl_curve_distance(host, &w->curve[i], filter ? &w->capsules[i] : NULL, &w->curve[j],
                       filter ? &w->capsules[j] : NULL, def, d);
}

static bool wisp_pairs(const TdlHost* host, const Wisp* w, WispPairs* out) {
    int count;
    WispPair* all = wisp_box_pairs(w, &count);
    for (int k = 0; k < 2; ++k) {
        out->count[k] = 0;
        out->pair[k] = malloc(MAX_PAIRS * sizeof *out->pair[k]);
    }
    if (all == NULL || out->pair[0] == NULL || out->pair[1] == NULL) {
        free(all);
        return false;
    }
    TdlDistanceDef def = tdl_distance_def_default();
    def.bound = 0.0;
    for (int i = 0; i < count; ++i) {
        int pair[2] = {all[i].a, all[i].b};
        TdlDistance d;
        wisp_query(host, w, pair, &def, true, &d);
        int k = d.below;
        if (out->count[k] < MAX_PAIRS) {
            memcpy(out->pair[k][out->count[k]++], pair, sizeof pair);
        }
    }
    free(all);
    return true;
}

static void wisp_pairs_destroy(WispPairs* pairs) {
    free(pairs->pair[0]);
    free(pairs->pair[1]);
}

static Timing wisp_time(const TdlHost* host, const Wisp* w, const WispPairs* pairs, int kind,
                        const TdlDistanceDef* def, int limit) {
    Timing t = {0};
    int count = pairs->count[kind] < limit ? pairs->count[kind] : limit;
    if (count == 0) {
        return t;
    }
    bool filter = def->method == TDL_DISTANCE_FAST;
    double best = INFINITY;
    for (int round = 0; round < REPEATS; ++round) {
        long boxes = 0;
        t.uncertified = 0;
        double start = wisp_clock();
        for (int k = 0; k < count; ++k) {
            // as the narrow phase of the detector does
            const TdlCurveCapsules* soon =
                &w->capsules[pairs->pair[kind][k + 4 < count ? k + 4 : k][1]];
            for (int line = 0; line < (int)sizeof *soon; line += 64) {
                __builtin_prefetch((const char*)soon + line);
            }
            TdlDistance d;
            wisp_query(host, w, pairs->pair[kind][k], def, filter, &d);
            boxes += d.boxes;
            t.uncertified += !d.certified;
        }
        best = fmin(best, wisp_clock() - start);
        t.boxes = (double)boxes / count;
    }
    t.mean = 1.0e6 * best / count;
    int every = count > 20000 ? count / 20000 : 1;
    for (int k = 0; k < count && filter; k += every) {
        double least = INFINITY;
        for (int round = 0; round < 5; ++round) {
            TdlDistance d;
            double start = wisp_clock();
            wisp_query(host, w, pairs->pair[kind][k], def, filter, &d);
            least = fmin(least, wisp_clock() - start);
        }
        t.worst = fmax(t.worst, 1.0e6 * least);
    }
    return t;
}

// --- the parts of the report
// ----------------------------------------------------------------------

static const double TOLERANCES[] = {1.0e-4, 1.0e-6, 1.0e-8, 1.0e-12};

typedef struct Report {
    bool json, first;
} Report;

static void put(Report* r, const char* part, const char* what, double x, const char* key,
                double value) {
    if (r->json) {
        printf("%s\n  {\"part\": \"%s\", \"case\": \"%s\", \"at\": %g, \"%s\": %.6g}",
               r->first ? "" : ",", part, what, x, key, value);
    } else {
        printf("%-9s %-14s %-10g %-22s %.4g\n", part, what, x, key, value);
    }
    r->first = false;
}

static void bench_pairs(const TdlHost* host, Report* r, const Wisp* w) {
    WispPairs pairs;
    if (!wisp_pairs(host, w, &pairs)) {
        return;
    }
    put(r, "wisp", "accepted", 0, "pairs", pairs.count[1]);
    put(r, "wisp", "rejected", 0, "pairs", pairs.count[0]);
    for (int method = 0; method < 2; ++method) {
        for (int k = 0; k < 4; ++k) {
            TdlDistanceDef def = tdl_distance_def_default();
            def.method = method == 0 ? TDL_DISTANCE_FAST : TDL_DISTANCE_PLAIN;
            def.tolerance = TOLERANCES[k];
            def.bound = 0.0;
            def.box_limit = method == 0 ? def.box_limit : 20000;
            int limit = method == 0 ? MAX_PAIRS : 2000;
            Timing in = wisp_time(host, w, &pairs, 1, &def, limit);
            Timing out = wisp_time(host, w, &pairs, 0, &def, method == 0 ? limit : 20000);
            const char* name = method == 0 ? "fast" : "plain";
            put(r, "wisp", name, def.tolerance, "accepted us", in.mean);
            put(r, "wisp", name, def.tolerance, "accepted boxes", in.boxes);
            put(r, "wisp", name, def.tolerance, "rejected us", out.mean);
            put(r, "wisp", name, def.tolerance, "rejected boxes", out.boxes);
            if (method == 0) {
                put(r, "wisp", name, def.tolerance, "slowest accepted us", in.worst);
                put(r, "wisp", name, def.tolerance, "slowest rejected us", out.worst);
            }
            put(r, "wisp", name, def.tolerance, "not certified",
                (double)(in.uncertified + out.uncertified));
        }
    }
    wisp_pairs_destroy(&pairs);
}

// A pair of elements at an angle: b through a point beside the middle of a.
static void angled_pair(const TdlHost* host, uint64_t* seed, double angle, TdlCurve* a,
                        TdlCurve* b) {
    TdlPose start = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    TdlVec3 kappa = {WISP_DISORDER * wisp_normal(seed), WISP_DISORDER * wisp_normal(seed),
                     WISP_CURVATURE};
    double length = WISP_LENGTH / WISP_ELEMENTS, side = 6.283185307179586 * wisp_uniform(seed);
    tdl_curve_helix(host, start, kappa, length, a);
    double c = cos(angle), s = sin(angle);
    start.rotation = (TdlMat3){{c, 0, s}, {0, 1, 0}, {-s, 0, c}};
    double dk = angle > 0.0 ? WISP_DISORDER : 0.0;
    kappa.x += dk * wisp_normal(seed);
    kappa.y += dk * wisp_normal(seed);
    kappa.z += dk * wisp_normal(seed);
    tdl_curve_helix(host, start, kappa, length, b);
    double at = length * wisp_uniform(seed), gap = 90.0e-6 * wisp_uniform(seed);
    TdlVec3 beside = {0.0, gap * cos(side), gap * sin(side)};
    TdlVec3 to = tdl_add3(tdl_curve_point(a, 0.5 * length), beside);
    b->origin = tdl_add3(b->origin, tdl_sub3(to, tdl_curve_point(b, at)));
}

// Two elements about one axis with one pitch.
static void coaxial_pair(const TdlHost* host, uint64_t* seed, TdlCurve* a, TdlCurve* b) {
    double length = WISP_LENGTH / WISP_ELEMENTS, pitch = 2.0e-3 * wisp_uniform(seed);
    double radius = 1.0 / WISP_CURVATURE, gap = 20.0e-6 + 70.0e-6 * wisp_uniform(seed);
    double phase[2] = {0.0, 0.4 * wisp_uniform(seed)}, size[2] = {radius, radius + gap};
    TdlCurve* out[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        double speed = hypot(size[i], pitch), c = cos(phase[i]), s = sin(phase[i]);
        TdlVec3 t = {-size[i] / speed * s, size[i] / speed * c, pitch / speed};
        TdlVec3 n = {-c, -s, 0.0};
        TdlPose start = {{size[i] * c, size[i] * s, pitch * phase[i]}, {t, n, tdl_cross3(t, n)}};
        TdlVec3 w = {0.0, 0.0, 1.0 / speed};
        tdl_curve_helix(host, start, tdl_tmul33_3(start.rotation, w), length, out[i]);
    }
}

static void bench_angles(const TdlHost* host, Report* r) {
    static const double angles[] = {1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0, -1.0};
    enum { COUNT = 4000 };
    PairSet set;
    if (!pairs_create(COUNT, &set)) {
        return;
    }
    for (size_t k = 0; k < sizeof angles / sizeof *angles; ++k) {
        uint64_t seed = 77 + k;
        set.count = 0;
        for (int i = 0; i < COUNT; ++i) {
            TdlCurve a, b;
            if (angles[k] < 0.0) {
                coaxial_pair(host, &seed, &a, &b);
            } else {
                angled_pair(host, &seed, angles[k], &a, &b);
            }
            tdl_curve_set_radius(host, WISP_RADIUS, WISP_RADIUS, &a);
            tdl_curve_set_radius(host, WISP_RADIUS, WISP_RADIUS, &b);
            pairs_add(&set, &a, &b);
        }
        const char* name = angles[k] < 0.0 ? "concentric" : angles[k] > 0.0 ? "angle" : "parallel";
        for (int t = 0; t < 4; t += 3) {
            TdlDistanceDef def = tdl_distance_def_default();
            def.bound = 0.0;
            def.tolerance = TOLERANCES[t];
            Timing timing = time_one_by_one(host, &set, &def);
            double at = angles[k] > 0.0 ? angles[k] : 0.0;
            put(r, t == 0 ? "1e-4" : "1e-12", name, at, "us", timing.mean);
            put(r, t == 0 ? "1e-4" : "1e-12", name, at, "boxes", timing.boxes);
            put(r, t == 0 ? "1e-4" : "1e-12", name, at, "slowest us", timing.worst);
            put(r, t == 0 ? "1e-4" : "1e-12", name, at, "not certified",
                (double)timing.uncertified);
        }
    }
    pairs_destroy(&set);
}

// Time of the baseline against its reached error in the parameters, and of the fast method.
static void bench_segments(const TdlHost* host, Report* r, const Wisp* w) {
    WispPairs pairs;
    if (!wisp_pairs(host, w, &pairs)) {
        return;
    }
    int count = pairs.count[1] < 200 ? pairs.count[1] : 200;
    TdlDistanceDef exact = tdl_distance_def_default();
    exact.bound = 0.0;
    Timing fast = wisp_time(host, w, &pairs, 1, &exact, count);
    put(r, "segments", "fast", 1.0e-12, "accepted us", fast.mean);
    for (double delta = 1.0e-2; delta > 5.0e-8; delta *= 0.1) {
        TdlDistanceDef def = exact;
        def.method = TDL_DISTANCE_SEGMENTS;
        def.tolerance = delta;
        int used = delta < 2.0e-6 ? 10 : delta < 2.0e-5 ? 40 : count;
        double error = 0.0, start = wisp_clock();
        int both = 0;
        for (int k = 0; k < used; ++k) {
            TdlDistance d, best;
            wisp_query(host, w, pairs.pair[1][k], &def, false, &d);
            wisp_query(host, w, pairs.pair[1][k], &exact, true, &best);
            if (d.below) {
                error += fmax(fabs(d.s[0] - best.s[0]), fabs(d.s[1] - best.s[1]));
                ++both;
            }
        }
        double us = 1.0e6 * (wisp_clock() - start) / used - fast.mean;
        put(r, "segments", "baseline", delta, "reached error m", both > 0 ? error / both : NAN);
        put(r, "segments", "baseline", delta, "accepted us", us);
        put(r, "segments", "baseline", delta, "times the fast method", us / fast.mean);
    }
    wisp_pairs_destroy(&pairs);
}

// A straight wisp has hair that is nearly parallel and as far apart as roots are, for a margin of
// three radii: the start of combing.
static void bench_steps(const TdlHost* host, Report* r, int fibres, int threads,
                        TdlBroadPhase broad, bool straight) {
    Wisp w;
    if (!wisp_create(host, fibres, straight ? 0.0 : WISP_CURVATURE, straight ? 0.05 : WISP_DISORDER,
                     &w)) {
        return;
    }
    TdlDetectorDef def = tdl_detector_def_default();
    def.thread_count = threads;
    def.broad = broad;
    def.margin = straight ? 3.0 * WISP_RADIUS : 0.0;
    TdlDetector* detector;
    if (tdl_detector_create(host, &def, &detector) == TDL_STATUS_OK) {
        TdlDetectInfo best = {.broad_seconds = INFINITY, .narrow_seconds = INFINITY};
        double cpu = INFINITY;
        for (int round = 0; round < REPEATS; ++round) {
            TdlDetectInfo info;
            double start = now_all();
            if (tdl_detector_update(detector, w.fibre, fibres, NULL, 0, &info) != TDL_STATUS_OK) {
                break;
            }
            cpu = fmin(cpu, now_all() - start);
            info.broad_seconds = fmin(info.broad_seconds, best.broad_seconds);
            info.narrow_seconds = fmin(info.narrow_seconds, best.narrow_seconds);
            best = info;
        }
        char name[32];
        snprintf(name, sizeof name, "%s%s %d", straight ? "straight " : "",
                 broad == TDL_BROAD_TREE ? "tree" : "sweep", threads);
        put(r, "step", name, fibres, "broad ms", 1.0e3 * best.broad_seconds);
        put(r, "step", name, fibres, "narrow ms", 1.0e3 * best.narrow_seconds);
        put(r, "step", name, fibres, "finish ms", 1.0e3 * best.finish_seconds);
        put(r, "step", name, fibres, "processor ms", 1.0e3 * cpu);
        put(r, "step", name, fibres, "pairs", (double)best.pair_count);
        put(r, "step", name, fibres, "contacts", best.contact_count);
        put(r, "step", name, fibres, "ms per 1000 contacts",
            1.0e6 * (best.broad_seconds + best.narrow_seconds + best.finish_seconds) /
                (best.contact_count + DBL_MIN));
        tdl_detector_destroy(detector);
    }
    wisp_destroy(&w);
}

static int run_bench_distance(const Args* args) {
    const TdlHost* host = args_host(args);
    const char* part = args_text(args, "part", "all");
    bool all = strcmp(part, "all") == 0;
    int fibres = args_int(args, "fibres", 2025);
    Report r = {args_has(args, "json"), true};
    if (r.json) {
        printf("{\"bench\": \"distance\", \"fibres\": %d, \"figures\": [", fibres);
    }
    Wisp w;
    if (!wisp_create(host, fibres, WISP_CURVATURE, WISP_DISORDER, &w)) {
        fprintf(stderr, "tendril: not enough memory\n");
        return EXIT_FAILED;
    }
    if (all || strcmp(part, "pairs") == 0) {
        bench_pairs(host, &r, &w);
    }
    if (all || strcmp(part, "angles") == 0) {
        bench_angles(host, &r);
    }
    if (all || strcmp(part, "segments") == 0) {
        bench_segments(host, &r, &w);
    }
    wisp_destroy(&w);
    if (all || strcmp(part, "steps") == 0) {
        static const int counts[] = {250, 500, 1000, 2025, 4000, 8000};
        setvbuf(stdout, NULL, _IOLBF, 0);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k) {
            bench_steps(host, &r, counts[k], 1, TDL_BROAD_TREE, false);
        }
        bench_steps(host, &r, fibres, 2, TDL_BROAD_TREE, false);
        for (int k = 0; k < 4; ++k) {
            bench_steps(host, &r, fibres, 1 + k % 2, k < 2 ? TDL_BROAD_TREE : TDL_BROAD_SWEEP,
                        true);
        }
        bench_steps(host, &r, 250, 1, TDL_BROAD_SWEEP, false);
        bench_steps(host, &r, 1000, 1, TDL_BROAD_SWEEP, false);
        bench_steps(host, &r, fibres, 1, TDL_BROAD_SWEEP, false);
    }
    if (r.json) {
        printf("\n]}\n");
    }
    return EXIT_DONE;
}

static const Option BENCH_DISTANCE_OPTIONS[] = {
    {"part", 0, OPTION_CHOICE, "all|pairs|angles|segments|steps", 0, 0,
     "which part to run; default all", false},
    {"fibres", 0, OPTION_INT, "N", 2, 20000, "fibres of the wisp; default 2025", false},
    {0},
};

const Command BENCH_DISTANCE_COMMAND = {
    .name = "bench distance",
    .operands = "",
    .summary = "Time the distance between curves and the detection of contacts",
    .text =
        "Builds a wisp of wavy fibres of 12 elements (60 1/m, perturbed by 1.5 1/m) and times "
        "the narrow phase on pairs whose boxes overlap, accepted and rejected apart, for the "
        "fast method and for plain branch and bound; pairs at chosen angles; the segment "
        "baseline at its reached error; and whole steps for growing wisps, for straight ones and "
        "for both broad phases. Times are the best of three rounds.",
    .example = "tendril bench distance --part pairs\ntendril bench distance --json > distance.json",
    .options = BENCH_DISTANCE_OPTIONS,
    .run = run_bench_distance,
};
