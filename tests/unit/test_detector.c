// Detection among many fibres: contacts against all pairs tested one by one, the same bits for any
// number of threads and either broad phase, colliders, bases, merging and matching.
#include "base/hash.h"
#include "base/memory.h"
#include "detect/contact.h"
#include "detect/detector.h"
#include "detect/tree.h"
#include "ref/curve_pairs.h"

#include "test.h"

enum { ELEMENTS = 6 };

// Wavy fibres with roots on a grid; `disorder` bends each its own way.
static TdlCurve* make_wisp(int fibres, double radius, double disorder, uint64_t seed) {
    TdlHost host = tdl_host_default();
    TdlCurve* curve = malloc((size_t)(fibres * ELEMENTS) * sizeof *curve);
    Rng rng = rng_seed(seed);
    int side = (int)ceil(sqrt(fibres));
    for (int f = 0; f < fibres; ++f) {
        TdlPose start = {.rotation = {{0, 0, -1}, {1, 0, 0}, {0, -1, 0}}};
        start.position.x = 3.0 * radius * (f % side + 0.2 * rng_normal(&rng));
        start.position.y = 3.0 * radius * (f / side + 0.2 * rng_normal(&rng));
        for (int e = 0; e < ELEMENTS; ++e) {
            TdlVec3 kappa = tdl_scale3(disorder, random_vector(&rng, 1.0));
            kappa.z += e % 2 == 0 ? 60.0 : -60.0;
            TdlCurve* c = &curve[f * ELEMENTS + e];
            tdl_curve_helix(&host, start, kappa, 0.025, c);
            tdl_curve_set_radius(&host, radius, radius, c);
            start.rotation = tdl_mul33(start.rotation, tdl_rotation_exp(tdl_scale3(0.025, kappa)));
            start.position = tdl_curve_point(c, c->end);
        }
    }
    return curve;
}

static TdlFibre* make_fibres(const TdlCurve* curve, int fibres) {
    TdlFibre* fibre = malloc((size_t)fibres * sizeof *fibre);
    for (int f = 0; f < fibres; ++f) {
        fibre[f] = (TdlFibre){.curves = &curve[f * ELEMENTS], .count = ELEMENTS};
    }
    return fibre;
}

static TdlDetector* make_detector(int threads, TdlBroadPhase broad, bool all_minima) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.thread_count = threads;
    def.broad = broad;
    def.all_minima = all_minima;
    def.margin = 1.0e-5;
    TdlDetector* d = NULL;
    if (tdl_detector_create(&host, &def, &d) != TDL_STATUS_OK) {
        FAIL("detector refused");
    }
    return d;
}

static uint64_t hash_contacts(const TdlDetector* d) {
    int count;
    const TdlContact* c = tdl_detector_contacts(d, &count);
    uint64_t h = HASH_START;
    for (int i = 0; i < count; ++i) {
        h = hash_bytes(h, c[i].body, sizeof c[i].body);
        h = hash_bytes(h, c[i].element, sizeof c[i].element);
        h = hash_bytes(h, c[i].u, sizeof c[i].u);
        h = hash_bytes(h, c[i].v, sizeof c[i].v);
        h = hash_bytes(h, &c[i].gap, sizeof c[i].gap);
        h = hash_bytes(h, &c[i].basis, sizeof c[i].basis);
        h = hash_bytes(h, &c[i].previous, sizeof c[i].previous);
    }
    return h;
}

TEST(contacts_are_those_of_all_pairs) {
    TdlHost host = tdl_host_default();
    int fibres = 40;
    TdlCurve* curve = make_wisp(fibres, 1.0e-4, 3.0, 11);
    TdlFibre* fibre = make_fibres(curve, fibres);
    TdlDetector* d = make_detector(1, TDL_BROAD_TREE, false);
    TdlDetectInfo info;
    REQUIRE(tdl_detector_update(d, fibre, fibres, NULL, 0, &info) == TDL_STATUS_OK);
    CHECK(info.certified);
    int count;
    const TdlContact* contact = tdl_detector_contacts(d, &count);
    long accepted = 0;
    for (int i = 0; i < fibres * ELEMENTS; ++i) {
        for (int j = (i / ELEMENTS + 1) * ELEMENTS; j < fibres * ELEMENTS; ++j) {
            TdlDistanceDef def = tdl_distance_def_default();
            def.bound = 1.0e-5;
            TdlDistance r;
            REQUIRE(tdl_curve_distance(&host, &curve[i], NULL, &curve[j], NULL, &def, &r) ==
                    TDL_STATUS_OK);
            if (!r.below) {
                continue;
            }
            ++accepted;
            // listed, or a duplicate of a deeper one nearby: within a width or, along the
            // fibres, a fiftieth of an element
            double near = fmax(2.0e-4, 0.02 * curve[i].end);
            bool listed = false;
            for (int k = 0; k < count && !listed; ++k) {
                bool bodies =
                    contact[k].body[0] == i / ELEMENTS && contact[k].body[1] == j / ELEMENTS;
                TdlVec3 apart = tdl_sub3(contact[k].point[0], r.point[0]);
                listed = bodies && contact[k].gap <= r.gap + 1e-12 && tdl_norm3(apart) < near;
            }
            CHECK(listed);
        }
    }
    printf("  %ld pairs, %ld accepted, %d contacts\n", info.pair_count, accepted, count);
    CHECK_INT(info.accepted_count, accepted);
    CHECK(count > 50);
    tdl_detector_destroy(d);
    free(fibre);
    free(curve);
}

TEST(the_same_bits_for_any_threads_and_broad_phase) {
    int fibres = 100;
    TdlCurve* curve = make_wisp(fibres, 1.0e-4, 2.0, 12);
    TdlFibre* fibre = make_fibres(curve, fibres);
    uint64_t first = 0;
    for (int k = 0; k < 6; ++k) {
        TdlDetector* d =
            make_detector(1 + k / 2, k % 2 == 0 ? TDL_BROAD_TREE : TDL_BROAD_SWEEP, false);
        // twice: the second update starts from kept trees and orders, and matches the first
        for (int round = 0; round < 2; ++round) {
            REQUIRE(tdl_detector_update(d, fibre, fibres, NULL, 0, NULL) == TDL_STATUS_OK);
        }
        uint64_t h = hash_contacts(d);
        first = k == 0 ? h : first;
        CHECK(h == first);
        int count;
        const TdlContact* c = tdl_detector_contacts(d, &count);
        for (int i = 0; i < count; ++i) {
            CHECK_INT(c[i].previous, i);
        }
        tdl_detector_destroy(d);
    }
    free(fibre);
    free(curve);
}

// Straight, bent and coiled elements that fly apart: they are cut into one to eight
// pieces, and kept trees and orders grow stale. Every update must hand over every near pair.
static TdlCurve* make_mixed(int count, double time, double radius) {
    TdlHost host = tdl_host_default();
    TdlCurve* curve = malloc((size_t)count * sizeof *curve);
    Rng rng = rng_seed(31);
    for (int i = 0; i < count; ++i) {
        static const double bends[] = {0.0, 5.0, 60.0, 400.0};
        TdlVec3 at = random_vector(&rng, 0.01), speed = random_vector(&rng, 0.05);
        TdlPose start = {tdl_axpy3(at, time, speed), tdl_rotation_exp(random_vector(&rng, 0.7))};
        TdlVec3 kappa = random_vector(&rng, bends[i % 4]);
        tdl_curve_helix(&host, start, kappa, 0.02, &curve[i]);
        tdl_curve_set_radius(&host, radius, radius, &curve[i]);
    }
    return curve;
}

TEST(the_tree_hands_over_what_the_sweep_does_while_fibres_fly_apart) {
    TdlHost host = tdl_host_default();
    static const int counts[] = {1, 2, 7, 9, 64, 65, 300};
    static const double margins[] = {0.0, 1.0e-4, 1.0e-2};
    long most = 0;
    for (int k = 0; k < 21; ++k) {
        int count = counts[k % 7];
        TdlDetector* d[2];
        for (int broad = 0; broad < 2; ++broad) {
            TdlDetectorDef def = tdl_detector_def_default();
            def.broad = broad == 0 ? TDL_BROAD_TREE : TDL_BROAD_SWEEP;
            def.thread_count = 1 + k % 2;
            def.margin = margins[k / 7];
            REQUIRE(tdl_detector_create(&host, &def, &d[broad]) == TDL_STATUS_OK);
        }
        for (int step = 0; step < 6; ++step) {
            TdlCurve* curve = make_mixed(count, 0.05 * step, 2.0e-4);
            TdlFibre* fibre = malloc((size_t)count * sizeof *fibre);
            for (int i = 0; i < count; ++i) {
                fibre[i] = (TdlFibre){.curves = &curve[i], .count = 1};
            }
            TdlDetectInfo info[2];
            for (int broad = 0; broad < 2; ++broad) {
                REQUIRE(tdl_detector_update(d[broad], fibre, count, NULL, 0, &info[broad]) ==
                        TDL_STATUS_OK);
            }
            CHECK_INT(info[0].accepted_count, info[1].accepted_count);
            CHECK(hash_contacts(d[0]) == hash_contacts(d[1]));
            most = info[0].accepted_count > most ? info[0].accepted_count : most;
            free(fibre);
            free(curve);
        }
        tdl_detector_destroy(d[0]);
        tdl_detector_destroy(d[1]);
    }
    printf("  up to %ld pairs accepted\n", most);
    CHECK(most > 1000);
}

TEST(a_block_of_capsules_is_safe_and_its_two_versions_agree) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(41);
    long rejected = 0, total = 0;
    for (int i = 0; i < 2000; ++i) {
        // far from the origin, where single precision is coarse; parallel, and of no length
        TdlVec3 away = random_vector(&rng, i % 2 == 0 ? 0.0 : 100.0), shared = {0};
        double thin = i % 3 == 0 ? 1.0e-3 : 1.0;
        Capsule capsule[BLOCK + 1];
        CapsuleBlock block;
        for (int k = 0; k <= BLOCK; ++k) {
            TdlVec3 at = tdl_add3(away, random_vector(&rng, 1.0));
            TdlVec3 axis = random_vector(&rng, k == 3 ? 0.0 : 0.3);
            shared = k == 0 ? axis : tdl_axpy3(shared, thin, axis);
            axis = i % 3 == 0 && k != 3 ? shared : axis;
            const float c[3] = {(float)at.x, (float)at.y, (float)at.z};
            const float u[3] = {(float)axis.x, (float)axis.y, (float)axis.z};
            capsule[k] = capsule_make(c, u, (float)(0.05 * rng_unit(&rng)));
            if (k < BLOCK) {
                block.cx[k] = c[0];
                block.cy[k] = c[1];
                block.cz[k] = c[2];
                block.ux[k] = u[0];
                block.uy[k] = u[1];
                block.uz[k] = u[2];
                block.radius[k] = capsule[k].radius;
                block.half[k] = capsule[k].half;
                block.slope[k] = capsule[k].slope;
            }
        }
        TdlCurve segment[BLOCK + 1];
        for (int k = 0; k <= BLOCK; ++k) {
            const Capsule* c = &capsule[k];
            TdlVec3 m = {(double)c->c[0], (double)c->c[1], (double)c->c[2]};
            TdlVec3 u = {(double)c->u[0], (double)c->u[1], (double)c->u[2]};
            tdl_curve_segment(&host, tdl_sub3(m, u), tdl_add3(m, u), &segment[k]);
            tdl_curve_set_radius(&host, (double)c->radius, (double)c->radius, &segment[k]);
        }
        for (int k = 0; k < BLOCK; ++k) {
            TdlDistanceDef def = tdl_distance_def_default();
            TdlDistance d;
            REQUIRE(tdl_curve_distance(&host, &segment[BLOCK], NULL, &segment[k], NULL, &def, &d) ==
                    TDL_STATUS_OK);
            // a margin just above the gap must not be rejected, one below it may be
            for (int m = 0; m < 3; ++m) {
                double margin = d.gap > 0.0 ? d.gap * (0.5 * m) * (1.0 + 1.0e-6) : 0.0;
                float margins[BLOCK];
                for (int j = 0; j < BLOCK; ++j) {
                    margins[j] = (float)margin;
                }
                unsigned bits = capsule_block_near(&block, &capsule[BLOCK], margins);
                CHECK_INT(bits, capsule_block_near_scalar(&block, &capsule[BLOCK], margins));
                CHECK(m < 2 || (bits >> k & 1U) != 0);
                rejected += (bits >> k & 1U) == 0;
                ++total;
            }
        }
    }
    printf("  %ld of %ld rejected\n", rejected, total);
    CHECK(rejected > total / 2); // two of three margins are below the gap
}

// Pairs of arcs that go through each other somewhere on their way, among others, all carried along.
TEST(pairs_that_met_on_the_way_are_handed_over) {
    TdlHost host = tdl_host_default();
    enum { COUNT = 200 };
    Rng rng = rng_seed(51);
    TdlCurve curve[COUNT];
    TdlFibre fibre[COUNT];
    Travel travel[COUNT];
    TdlVec3 carried = {0.0, 0.3, -0.2}, met = {0};
    double when = 0.0;
    for (int i = 0; i < COUNT; ++i) {
        TdlPose start = {.rotation = tdl_rotation_exp(random_vector(&rng, 2.0))};
        tdl_curve_helix(&host, start, random_vector(&rng, 20.0), 0.02, &curve[i]);
        tdl_curve_set_radius(&host, 1.0e-4, 1.0e-4, &curve[i]);
        fibre[i] = (TdlFibre){.curves = &curve[i], .count = 1};
        TdlVec3 way = tdl_add3(carried, random_vector(&rng, 0.005));
        const double w[3] = {way.x, way.y, way.z};
        for (int axis = 0; axis < 3; ++axis) {
            for (int k = 0; k < 8; ++k) {
                travel[i].lo[axis][k] = (float)w[axis] - 1.0e-7F;
                travel[i].hi[axis][k] = (float)w[axis] + 1.0e-7F;
            }
        }
        // at some time the odd one's point is the even one's
        TdlVec3 point = tdl_curve_point(&curve[i], 0.02 * rng_unit(&rng));
        if (i % 2 == 0) {
            met = random_vector(&rng, 0.1);
            when = rng_unit(&rng);
        }
        TdlVec3 last = tdl_axpy3(met, 1.0 - when, way);
        curve[i].origin = tdl_add3(curve[i].origin, tdl_sub3(last, point));
    }
    for (int broad = 0; broad < 2; ++broad) {
        TdlDetector* d = make_detector(1, broad == 0 ? TDL_BROAD_TREE : TDL_BROAD_SWEEP, false);
        detector_set_margin(d, 1.0e-5, travel);
        REQUIRE(tdl_detector_update(d, fibre, COUNT, NULL, 0, NULL) == TDL_STATUS_OK);
        long pairs = detector_pair_count(d), found = 0, possible = 0;
        for (long k = 0; k < pairs; ++k) {
            int f[2], e[2];
            REQUIRE(tdl_detector_pair(d, k, f, e) == 1);
            bool may = detector_pair_may_have_met(d, k);
            found += f[0] % 2 == 0 && f[1] == f[0] + 1 && may;
            possible += may;
        }
        printf("  %ld pairs handed over, %ld may have met, %ld did\n", pairs, possible, found);
        CHECK_INT(found, COUNT / 2);
        CHECK(possible < COUNT); // of 19900
        tdl_detector_destroy(d);
    }
}

TEST(bases_are_orthonormal_and_point_from_first_to_second) {
    int fibres = 60;
    TdlCurve* curve = make_wisp(fibres, 1.0e-4, 4.0, 13);
    TdlFibre* fibre = make_fibres(curve, fibres);
    TdlDetector* d = make_detector(1, TDL_BROAD_TREE, true);
    REQUIRE(tdl_detector_update(d, fibre, fibres, NULL, 0, NULL) == TDL_STATUS_OK);
    int count;
    const TdlContact* c = tdl_detector_contacts(d, &count);
    CHECK(count > 50);
    for (int i = 0; i < count; ++i) {
        TdlMat3 off = tdl_sub33(tdl_tmul33(c[i].basis, c[i].basis), tdl_identity33());
        CHECK_BELOW(tdl_norm3(off.cx) + tdl_norm3(off.cy) + tdl_norm3(off.cz), 1e-14);
        CHECK_NEAR(tdl_det33(c[i].basis), 1.0, 1e-14);
        CHECK(tdl_dot3(c[i].basis.cx, tdl_sub3(c[i].point[1], c[i].point[0])) >= 0.0);
    }
    tdl_detector_destroy(d);
    free(fibre);
    free(curve);
}

TEST(the_basis_has_its_special_cases) {
    TdlVec3 x = {1, 0, 0}, y = {0, 1, 0}, g = {0, 0, -2};
    TdlMat3 b = contact_basis(x, y, g, 0); // crossing
    CHECK_NEAR3(b.cx, ((TdlVec3){0, 0, -1}), 1e-15);
    CHECK_NEAR3(b.cy, ((TdlVec3){sqrt(0.5), sqrt(0.5), 0}), 1e-15);
    b = contact_basis(x, x, ((TdlVec3){0.5, 0, 2}), 0); // parallel: across the tangent
    CHECK_NEAR3(b.cx, ((TdlVec3){0, 0, 1}), 1e-15);
    CHECK_NEAR3(b.cy, x, 1e-15);
    b = contact_basis(x, ((TdlVec3){-1, 0, 0}), g, 0); // opposite
    CHECK_NEAR3(b.cx, ((TdlVec3){0, 0, -1}), 1e-15);
    b = contact_basis(x, y, ((TdlVec3){0, 3, 4}), 2); // two ends: the gap itself
    CHECK_NEAR3(b.cx, ((TdlVec3){0, 0.6, 0.8}), 1e-15);
    b = contact_basis(y, x, g, 1); // an end beside a crossing fibre
    CHECK_NEAR3(b.cx, ((TdlVec3){0, 0, -1}), 1e-15);
    b = contact_basis(((TdlVec3){0, 0, 1}), x, g, 1); // a fibre that stands on another
    CHECK_NEAR3(b.cx, ((TdlVec3){0, 0, -1}), 1e-15);
    b = contact_basis(x, x, ((TdlVec3){2, 0, 0}), 1); // end on
    CHECK_NEAR3(b.cx, x, 1e-15);
    b = contact_basis(x, x, ((TdlVec3){0}), 0); // on top of each other
    CHECK_NEAR(tdl_norm3(b.cx), 1.0, 1e-15);
    CHECK_NEAR(tdl_dot3(b.cx, x), 0.0, 1e-15);
}

TEST(duplicates_at_a_joint_become_one_and_are_followed) {
    // a bar of two elements with its joint just above another bar
    TdlHost host = tdl_host_default();
    TdlCurve bars[3];
    double r = 0.1;
    TdlDetector* d = make_detector(1, TDL_BROAD_TREE, false);
    for (int step = 0; step < 3; ++step) {
        double shift = 0.01 * step;
        TdlVec3 joint = {shift, 0, 0.19};
        tdl_curve_segment(&host, (TdlVec3){-1, 0, 0.19}, joint, &bars[0]);
        tdl_curve_segment(&host, joint, (TdlVec3){1, 0, 0.19}, &bars[1]);
        tdl_curve_segment(&host, (TdlVec3){0, -1, 0}, (TdlVec3){0, 1, 0}, &bars[2]);
        for (int i = 0; i < 3; ++i) {
            tdl_curve_set_radius(&host, r, r, &bars[i]);
        }
        TdlFibre fibre[2] = {{.curves = bars, .count = 2}, {.curves = bars + 2, .count = 1}};
        TdlDetectInfo info;
        REQUIRE(tdl_detector_update(d, fibre, 2, NULL, 0, &info) == TDL_STATUS_OK);
        CHECK_INT(info.accepted_count, 2);
        int count;
        const TdlContact* c = tdl_detector_contacts(d, &count);
        REQUIRE(count == 1);
        CHECK_NEAR(c[0].gap, -0.01, 1e-15);
        CHECK_INT(c[0].previous, step == 0 ? -1 : 0);
    }
    tdl_detector_destroy(d);
}

// A bent fibre crosses another on both sides of its joint: two contacts, unless the fibres could
// not tell them apart. (X.22)
TEST(contacts_on_both_sides_of_a_joint_are_one_when_near) {
    TdlHost host = tdl_host_default();
    static const double past[] = {0.002, 0.02}; // m, of the joint beyond the other fibre
    for (int kind = 0; kind < 2; ++kind) {
        TdlCurve bars[3];
        TdlVec3 joint = {0, past[kind], 0.0019};
        tdl_curve_segment(&host, (TdlVec3){-1, -0.5, 0.0019}, joint, &bars[0]);
        tdl_curve_segment(&host, joint, (TdlVec3){1, -0.5, 0.0019}, &bars[1]);
        tdl_curve_segment(&host, (TdlVec3){-1, 0, 0}, (TdlVec3){1, 0, 0}, &bars[2]);
        for (int i = 0; i < 3; ++i) {
            tdl_curve_set_radius(&host, 0.001, 0.001, &bars[i]);
        }
        TdlFibre fibre[2] = {{.curves = bars, .count = 2}, {.curves = bars + 2, .count = 1}};
        TdlDetector* d = make_detector(1, TDL_BROAD_TREE, false);
        TdlDetectInfo info;
        REQUIRE(tdl_detector_update(d, fibre, 2, NULL, 0, &info) == TDL_STATUS_OK);
        int count;
        const TdlContact* c = tdl_detector_contacts(d, &count);
        REQUIRE(count == kind + 1); // 4 radii from the joint, and 40
        CHECK_NEAR(c[0].gap, -0.0001, 1e-15);
        CHECK_NEAR(fabs(c[0].point[0].x), past[kind] / (0.5 + past[kind]), 1e-12);
        tdl_detector_destroy(d);
    }
}

// Two rods of straight elements, one on the other and on a plane: whichever way rounding tilts
// them, the places on which they lie are the same. (X.23)
TEST(flat_rods_lie_on_the_same_places_however_they_are_tilted) {
    enum { BARS = 4 };
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = 1.0e-5;
    def.obstacle_ends = true;
    TdlDetector* d = NULL;
    REQUIRE(tdl_detector_create(&host, &def, &d) == TDL_STATUS_OK);
    TdlColliderDef plane = {.shape = TDL_SHAPE_PLANE, .pose = {{0}, tdl_identity33()}};
    for (int tilt = 0; tilt < 1 << BARS; ++tilt) {
        TdlCurve c[2 * BARS];
        for (int i = 0; i < 2 * BARS; ++i) {
            // the upper rod is shifted by half an element; bits raise or lower its joints
            int k = i % BARS, upper = i / BARS;
            double up[2] = {(tilt >> k & 1) * 1e-13, (tilt >> (k + 1) & 1) * 1e-13};
            TdlVec3 from = {k + 0.5 * upper, 0, 0.01 + 0.02 * upper + up[0]};
            TdlVec3 to = {k + 1 + 0.5 * upper, 0, 0.01 + 0.02 * upper + up[1]};
            REQUIRE(tdl_curve_segment(&host, from, to, &c[i]) == TDL_STATUS_OK);
            tdl_curve_set_radius(&host, 0.01, 0.01, &c[i]);
        }
        TdlFibre fibre[2] = {{.curves = c, .count = BARS}, {.curves = c + BARS, .count = BARS}};
        REQUIRE(tdl_detector_update(d, fibre, 2, &plane, 1, NULL) == TDL_STATUS_OK);
        int count;
        const TdlContact* contact = tdl_detector_contacts(d, &count);
        int joints = 0, halves = 0;
        for (int i = 0; i < count; ++i) {
            double x = contact[i].point[0].x;
            CHECK_NEAR(contact[i].gap, 0.0, 1e-12);
            joints += contact[i].body[1] < 0 && fabs(x - round(x)) < 1e-9;
            halves += contact[i].body[1] >= 0 && fabs(2.0 * x - round(2.0 * x)) < 1e-9;
        }
        CHECK_INT(joints, BARS + 1); // of the lower one
        CHECK_INT(halves, 2 * BARS); // joints of either abreast of the other
        CHECK_INT(count, joints + halves);
    }
    tdl_detector_destroy(d);
}

// A flat coil of 1.2 turns whose ends overlap, at a small pitch, of arcs or of straight elements.
static void check_ring(bool arcs) {
    TdlHost host = tdl_host_default();
    TdlCurve c[12];
    double radius = 0.05, pitch = 1.5e-4 / 6.283185307179586;
    double speed = hypot(radius, pitch);
    TdlVec3 t = {0, radius / speed, pitch / speed}, n = {-1, 0, 0};
    TdlPose start = {{radius, 0, 0}, {t, n, tdl_cross3(t, n)}};
    TdlVec3 kappa = tdl_tmul33_3(start.rotation, (TdlVec3){0, 0, 1.0 / speed});
    double length = 1.2 * 6.283185307179586 * speed / 12.0;
    for (int e = 0; e < 12; ++e) {
        TdlVec3 from = start.position;
        REQUIRE(tdl_curve_helix(&host, start, kappa, length, &c[e]) == TDL_STATUS_OK);
        start.rotation = tdl_mul33(start.rotation, tdl_rotation_exp(tdl_scale3(length, kappa)));
        start.position = tdl_curve_point(&c[e], length);
        if (!arcs) {
            REQUIRE(tdl_curve_segment(&host, from, start.position, &c[e]) == TDL_STATUS_OK);
        }
        tdl_curve_set_radius(&host, 1.0e-4, 1.0e-4, &c[e]);
    }
    TdlFibre fibre = {.curves = c, .count = 12};
    TdlDetector* d = make_detector(1, TDL_BROAD_TREE, false);
    REQUIRE(tdl_detector_update(d, &fibre, 1, NULL, 0, NULL) == TDL_STATUS_OK);
    int count;
    const TdlContact* contact = tdl_detector_contacts(d, &count);
    CHECK(count >= 2);
    for (int i = 0; i < count; ++i) {
        CHECK(contact[i].element[1] - contact[i].element[0] >= 9); // a turn apart: ten elements
        CHECK_NEAR(contact[i].gap, 1.5e-4 - 2.0e-4, 1.0e-7);
    }
    tdl_detector_destroy(d);
}

TEST(a_ring_touches_itself_but_not_its_neighbours) {
    check_ring(true);
    check_ring(false);
}

// A bow of three rad, bent to twice its radius, in pieces of a width: seen with a margin of three
// radii, in which opposite places are. Places that are neighbours along it are no contacts, though
// they are nearer to each other than a width.
TEST(a_tight_bow_does_not_touch_its_neighbours) {
    TdlHost host = tdl_host_default();
    TdlCurve c[3];
    double r = 1.0e-3;
    TdlPose start = {{0}, tdl_identity33()};
    TdlVec3 kappa = {0.0, 0.0, 0.5 / r};
    for (int e = 0; e < 3; ++e) {
        REQUIRE(tdl_curve_helix(&host, start, kappa, 2.0 * r, &c[e]) == TDL_STATUS_OK);
        start.rotation = tdl_mul33(start.rotation, tdl_rotation_exp(tdl_scale3(2.0 * r, kappa)));
        start.position = tdl_curve_point(&c[e], 2.0 * r);
        tdl_curve_set_radius(&host, r, r, &c[e]);
    }
    TdlFibre fibre = {.curves = c, .count = 3};
    TdlDetectorDef def = tdl_detector_def_default();
    def.thread_count = 1;
    def.margin = 3.0 * r;
    TdlDetector* d;
    REQUIRE(tdl_detector_create(&host, &def, &d) == TDL_STATUS_OK);
    REQUIRE(tdl_detector_update(d, &fibre, 1, NULL, 0, NULL) == TDL_STATUS_OK);
    int count;
    const TdlContact* contact = tdl_detector_contacts(d, &count);
    for (int i = 0; i < count; ++i) {
        CHECK(contact[i].gap > 0.0);
    }
    tdl_detector_destroy(d);
}

TEST(colliders_in_closed_form) {
    TdlHost host = tdl_host_default();
    TdlCurve c;
    // an arch: a circle of radius 1 about the origin in the x-z plane, from -60 to 60 degrees
    double from = -1.0471975511965976;
    TdlVec3 t = {cos(from), 0, -sin(from)}, n = {-sin(from), 0, -cos(from)};
    TdlPose start = {{sin(from), 0, cos(from)}, {t, n, tdl_cross3(t, n)}};
    TdlVec3 w = {0, 1, 0};
    REQUIRE(tdl_curve_helix(&host, start, tdl_tmul33_3(start.rotation, w), -2.0 * from, &c) ==
            TDL_STATUS_OK);
    tdl_curve_set_radius(&host, 0.01, 0.01, &c);
    TdlFibre fibre = {.curves = &c, .count = 1};
    TdlColliderDef o[4];
    for (int i = 0; i < 4; ++i) {
        o[i] = (TdlColliderDef){.pose = {{0}, tdl_identity33()}};
    }
    // a ceiling whose normal points down, 5 mm into the arch's top
    o[0].shape = TDL_SHAPE_PLANE;
    o[0].pose = (TdlPose){{0, 0, 1.005}, {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}};
    o[1].shape = TDL_SHAPE_SPHERE;
    o[1].pose.position = (TdlVec3){0, 0, 1.3};
    o[1].radius = 0.295;
    o[2].shape = TDL_SHAPE_CYLINDER; // along x, above
    o[2].pose.position = (TdlVec3){77, 0, 1.2};
    o[2].radius = 0.2;
    o[3].shape = TDL_SHAPE_CAPSULE; // along x, its start cap's centre above the arch
    o[3].pose.position = (TdlVec3){0, 0, 1.1};
    o[3].radius = 0.1;
    o[3].length = 1.0;
    TdlDetector* d = make_detector(1, TDL_BROAD_TREE, false);
    REQUIRE(tdl_detector_update(d, &fibre, 1, o, 4, NULL) == TDL_STATUS_OK);
    int count;
    const TdlContact* k = tdl_detector_contacts(d, &count);
    double gaps[4] = {-0.005, -0.005, -0.01, -0.01};
    REQUIRE(count == 4);
    for (int i = 0; i < 4; ++i) {
        int which = -1 - k[i].body[1];
        CHECK_NEAR(k[i].gap, gaps[which], 1e-14);
        CHECK_NEAR3(k[i].point[0], ((TdlVec3){0, 0, 1}), 1e-7);
        CHECK_NEAR3(k[i].basis.cx, ((TdlVec3){0, 0, 1}), 1e-7);
    }
    CHECK_NEAR(k[1].u[1], -77.0, 1e-7); // counted from the place given
    tdl_detector_destroy(d);
}

TEST(planes_under_other_kinds_match_a_fine_sampling) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(21);
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = 10.0;
    def.tolerance = 1.0e-9;
    TdlDetector* d;
    REQUIRE(tdl_detector_create(&host, &def, &d) == TDL_STATUS_OK);
    for (int i = 0; i < 100; ++i) {
        TdlCurve c = random_curve(&rng, i % 5, random_vector(&rng, 0.5), 19.0);
        TdlColliderDef plane = {.shape = TDL_SHAPE_PLANE, .pose = {{0}, random_frame(&rng)}};
        TdlFibre fibre = {.curves = &c, .count = 1};
        REQUIRE(tdl_detector_update(d, &fibre, 1, &plane, 1, NULL) == TDL_STATUS_OK);
        int count;
        const TdlContact* k = tdl_detector_contacts(d, &count);
        REQUIRE(count == 1);
        double least = INFINITY;
        for (int s = 0; s <= 2000; ++s) {
            TdlVec3 p = tdl_curve_point(&c, c.end * s / 2000.0);
            least = fmin(least, tdl_dot3(plane.pose.rotation.cz, p));
        }
        CHECK(k[0].gap <= least + 1e-13);
        CHECK(k[0].gap >= least - 1e-4);
    }
    tdl_detector_destroy(d);
}

TEST(bad_scenes_are_refused) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    TdlDetector* d = NULL;
    def.margin = NAN;
    CHECK_INT(tdl_detector_create(&host, &def, &d), TDL_STATUS_BAD_ARGUMENT);
    def = tdl_detector_def_default();
    def.tolerance = -1.0;
    CHECK_INT(tdl_detector_create(&host, &def, &d), TDL_STATUS_BAD_ARGUMENT);
    d = make_detector(1, TDL_BROAD_TREE, false);
    TdlCurve c;
    REQUIRE(tdl_curve_segment(&host, (TdlVec3){0}, (TdlVec3){1, 0, 0}, &c) == TDL_STATUS_OK);
    c.origin.x = INFINITY;
    TdlFibre fibre = {.curves = &c, .count = 1};
    CHECK_INT(tdl_detector_update(d, &fibre, 1, NULL, 0, NULL), TDL_STATUS_BAD_ARGUMENT);
    c.origin.x = 0.0;
    TdlColliderDef ball = {
        .shape = TDL_SHAPE_SPHERE, .radius = NAN, .pose = {{0}, tdl_identity33()}};
    CHECK_INT(tdl_detector_update(d, &fibre, 1, &ball, 1, NULL), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_detector_update(d, &fibre, 1, NULL, 0, NULL), TDL_STATUS_OK);
    CHECK_INT(tdl_detector_update(d, NULL, 0, NULL, 0, NULL), TDL_STATUS_OK);
    tdl_detector_destroy(d);
}
