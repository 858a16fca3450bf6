// Recordings of the narrow phase: every kind of curve comes back bit for bit, and what is not a
// trace is refused with one message that names a byte.
#include "detect/trace.h"

#include "ref/curve_pairs.h"
#include "scratch.h"
#include "test.h"

enum { FIBRES = 32 };

static void make_fibres(TdlCurve* curve, TdlFibre* fibre) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(61);
    for (int i = 0; i < FIBRES; ++i) {
        TdlCurve* c = &curve[i];
        TdlPose start = {random_vector(&rng, 0.3), tdl_rotation_exp(random_vector(&rng, 1.0))};
        TdlVec3 control[4];
        for (int k = 0; k < 4; ++k) {
            control[k] = random_vector(&rng, 0.4);
        }
        TdlVec3 k0 = random_vector(&rng, 3.0), k1 = random_vector(&rng, 3.0);
        TdlStatus status = i % 4 == 0   ? tdl_curve_segment(&host, control[0], control[1], c)
                           : i % 4 == 1 ? tdl_curve_helix(&host, start, k0, 0.5, c)
                           : i % 4 == 2 ? tdl_curve_clothoid(&host, start, k0, k1, 0.5, c)
                                        : tdl_curve_cubic(&host, control, c);
        REQUIRE(status == TDL_STATUS_OK);
        tdl_curve_set_radius(&host, 0.02, i % 3 == 0 ? 0.01 : 0.02, c);
        fibre[i] = (TdlFibre){.curves = c, .count = 1};
    }
}

// A detector after an update, and its trace in a file, twice. `plane` may be null.
static TdlDetector* record(const TdlFibre* fibre, const TdlColliderDef* plane, const char* path,
                           long* calls) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = 0.01;
    TdlDetector* d = NULL;
    TdlTraceWriter* writer;
    if (tdl_detector_create(&host, &def, &d) != TDL_STATUS_OK ||
        tdl_detector_update(d, fibre, FIBRES, plane, plane != NULL, NULL) != TDL_STATUS_OK ||
        tdl_trace_writer_create(&host, path, &writer) != TDL_STATUS_OK) {
        FAIL("no trace");
        return d;
    }
    CHECK(tdl_trace_writer_add(writer, d, 7) == TDL_STATUS_OK);
    CHECK(tdl_trace_writer_add(writer, d, 8) == TDL_STATUS_OK);
    CHECK(tdl_trace_writer_close(writer, calls) == TDL_STATUS_OK);
    return d;
}

TEST(a_trace_comes_back_bit_for_bit) {
    TdlHost host = tdl_host_default();
    TdlCurve curve[FIBRES];
    TdlFibre fibre[FIBRES];
    make_fibres(curve, fibre);
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "a.trace");
    long calls = 0;
    TdlDetector* d = record(fibre, NULL, path, &calls);
    TdlTrace trace;
    REQUIRE(tdl_trace_load(&host, path, &trace) == TDL_STATUS_OK);
    CHECK_INT(trace.call_count, calls);
    printf("  %d calls, %d curves\n", trace.call_count, trace.curve_count);
    CHECK(trace.call_count > 40);
    bool kinds[4] = {false};
    for (int i = 0; i < trace.call_count; ++i) {
        const TdlTraceCall* c = &trace.calls[i];
        int f[2], e[2], half = trace.call_count / 2;
        REQUIRE(tdl_detector_pair(d, i % half, f, e) == 1);
        CHECK_INT(c->step, i < half ? 7 : 8);
        CHECK(c->bound == 0.01);
        for (int side = 0; side < 2; ++side) {
            // the padding of a union is not looked at: what both curves compute is
            const TdlCurve *is = &trace.curves[side == 0 ? c->a : c->b], *was = &curve[f[side]];
            kinds[is->kind] = true;
            CHECK(is->kind == was->kind && is->end == was->end);
            CHECK(is->radius[0] == was->radius[0] && is->radius[1] == was->radius[1]);
            for (int k = 0; k <= 16; ++k) {
                double s = is->end * k / 16.0;
                TdlVec3 p = tdl_curve_point(is, s), q = tdl_curve_point(was, s);
                CHECK(p.x == q.x && p.y == q.y && p.z == q.z);
                CHECK(tdl_curve_second_bound(is, 0.0, s) == tdl_curve_second_bound(was, 0.0, s));
            }
        }
    }
    CHECK(kinds[0] && kinds[1] && kinds[2] && kinds[3]);
    tdl_trace_free(&trace);
    tdl_detector_destroy(d);
    scratch_remove(&scratch);
}

// The least height of a curve above a plane, or its disc, on a fine grid.
static double height(const TdlTracePlane* plane, const TdlCurve* c) {
    double least = INFINITY;
    for (int k = 0; k <= 20000; ++k) {
        double s = c->end * k / 20000.0;
        TdlVec3 p = tdl_sub3(tdl_curve_point(c, s), plane->point);
        double z = tdl_dot3(p, plane->normal), out = tdl_norm3(tdl_axpy3(p, -z, plane->normal));
        if (plane->disc == 0.0 || (out <= plane->disc && z >= -plane->rim)) {
            least = fmin(least, z - tdl_curve_radius(c, s));
        }
    }
    return least;
}

TEST(calls_with_colliders_are_recorded) {
    TdlHost host = tdl_host_default();
    TdlCurve curve[FIBRES];
    TdlFibre fibre[FIBRES];
    make_fibres(curve, fibre);
    static const TdlShape shapes[] = {TDL_SHAPE_SPHERE, TDL_SHAPE_PLANE, TDL_SHAPE_CAPSULE,
                                      TDL_SHAPE_PLATE, TDL_SHAPE_CYLINDER};
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    TdlColliderDef collider[SHAPES];
    Rng rng = rng_seed(62);
    for (int i = 0; i < SHAPES; ++i) {
        collider[i] = tdl_collider_def_default();
        collider[i].shape = shapes[i];
        collider[i].radius = 0.05;
        collider[i].length = 0.4;
        collider[i].pose = (TdlPose){random_vector(&rng, 0.1), random_frame(&rng)};
    }
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = 0.01;
    TdlDetector* d = NULL;
    TdlDetectInfo info;
    REQUIRE(tdl_detector_create(&host, &def, &d) == TDL_STATUS_OK);
    REQUIRE(tdl_detector_update(d, fibre, FIBRES, collider, SHAPES, &info) == TDL_STATUS_OK);
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "c.trace");
    TdlTraceWriter* writer;
    TdlTrace trace;
    long calls;
    REQUIRE(tdl_trace_writer_create(&host, path, &writer) == TDL_STATUS_OK);
    CHECK(tdl_trace_writer_add(writer, d, 1) == TDL_STATUS_OK);
    CHECK(tdl_trace_writer_add(writer, d, 2) == TDL_STATUS_OK);
    CHECK(tdl_trace_writer_close(writer, &calls) == TDL_STATUS_OK);
    REQUIRE(tdl_trace_load(&host, path, &trace) == TDL_STATUS_OK);
    CHECK_INT(calls, 2 * info.pair_count); // every call of the narrow phase
    CHECK_INT(trace.call_count, calls);
    CHECK_INT(trace.plane_count, 4);

    // the calls of the second block give the gaps that the detector found
    int count, met[SHAPES] = {0};
    const TdlContact* contact = tdl_detector_contacts(d, &count);
    for (int i = 0; i < count; ++i) {
        int index = -1 - contact[i].body[1];
        if (index < 0) {
            continue;
        }
        bool plane = shapes[index] == TDL_SHAPE_PLANE || shapes[index] == TDL_SHAPE_PLATE;
        const TdlCurve* mine = &curve[contact[i].body[0]];
        double nearest = INFINITY;
        for (int k = trace.call_count / 2; k < trace.call_count; ++k) {
            const TdlTraceCall* c = &trace.calls[k];
            const TdlCurve* a = &trace.curves[c->a];
            if (tdl_norm3(tdl_sub3(a->origin, mine->origin)) > 0.0 || plane != (c->b < 0)) {
                continue;
            }
            TdlDistance found = {.gap = INFINITY};
            if (plane) {
                found.gap = height(&trace.planes[-1 - c->b], a);
            } else {
                TdlDistanceDef query = tdl_distance_def_default();
                query.bound = c->bound;
                CHECK_INT(
                    tdl_curve_distance(&host, a, NULL, &trace.curves[c->b], NULL, &query, &found),
                    TDL_STATUS_OK);
                found.gap = found.below ? found.gap : INFINITY;
            }
            nearest = fmin(nearest, fabs(found.gap - contact[i].gap));
        }
        CHECK_BELOW(nearest, plane ? 1.0e-7 : 1.0e-9); // the grid's steps, squared
        ++met[index];
    }
    printf("  %ld calls, contacts with sphere %d, plane %d, capsule %d, plate %d, cylinder %d\n",
           calls, met[0], met[1], met[2], met[3], met[4]);
    for (int i = 0; i < SHAPES; ++i) {
        CHECK(met[i] > 0);
    }
    tdl_trace_free(&trace);
    tdl_detector_destroy(d);
    scratch_remove(&scratch);
}

typedef struct Messages {
    int count;
    char last[200];
} Messages;

static void listen(void* user, TdlLogLevel level, const char* message) {
    Messages* m = user;
    m->count += level == TDL_LOG_ERROR;
    snprintf(m->last, sizeof m->last, "%s", message);
}

static size_t read_bytes(const char* path, unsigned char* data, size_t size) {
    FILE* file = fopen(path, "rb");
    size_t count = file != NULL ? fread(data, 1, size, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

TEST(what_is_not_a_trace_is_refused) {
    TdlCurve curve[FIBRES];
    TdlFibre fibre[FIBRES];
    make_fibres(curve, fibre);
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "b.trace");
    long calls = 0;
    static unsigned char data[1 << 16];
    tdl_detector_destroy(record(fibre, NULL, path, &calls));
    size_t size = read_bytes(path, data, sizeof data);
    REQUIRE(size > 1000 && size < sizeof data);
    Messages messages = {0};
    TdlHost host = tdl_host_default();
    host.log = listen;
    host.log_user = &messages;
    TdlTrace trace;

    // version 1 had no planes, and nothing in the place of their number; there is no version 3
    for (unsigned char version = 0; version < 4; ++version) {
        data[8] = version;
        TdlStatus status = trace_parse(&host, "t", data, size, &trace);
        CHECK_INT(status == TDL_STATUS_OK, version == 1 || version == 2);
        CHECK(status != TDL_STATUS_OK || trace.call_count == calls);
        tdl_trace_free(&trace);
    }
    TdlColliderDef plane = tdl_collider_def_default();
    plane.shape = TDL_SHAPE_PLANE;
    tdl_detector_destroy(record(fibre, &plane, path, &calls));
    size = read_bytes(path, data, sizeof data);
    REQUIRE(size > 1000 && size < sizeof data);

    // cut anywhere but between the blocks
    int whole = 0;
    for (size_t cut = 0; cut <= size; ++cut) {
        messages.count = 0;
        TdlStatus status = trace_parse(&host, "t", data, cut, &trace);
        whole += status == TDL_STATUS_OK;
        CHECK_INT(messages.count, status != TDL_STATUS_OK);
        CHECK(status == TDL_STATUS_OK || strncmp(messages.last, "t: byte ", 8) == 0);
        tdl_trace_free(&trace);
    }
    CHECK_INT(whole, 3); // without blocks, with one, with both

    // numbers that are none, and pairs of curves that are not there
    for (size_t at = 0; at + 8 <= size; at += 5) {
        unsigned char kept[8];
        memcpy(kept, data + at, 8);
        memset(data + at, 0xff, 8);
        messages.count = 0;
        TdlStatus status = trace_parse(&host, "t", data, size, &trace);
        CHECK_INT(messages.count, status != TDL_STATUS_OK);
        for (int i = 0; i < trace.curve_count; ++i) {
            CHECK(isfinite(tdl_norm3(tdl_curve_point(&trace.curves[i], trace.curves[i].end))));
        }
        tdl_trace_free(&trace);
        memcpy(data + at, kept, 8);
    }
    CHECK(tdl_trace_load(&host, "/nonexistent/trace", &trace) == TDL_STATUS_IO);
    TdlTraceWriter* writer;
    CHECK(tdl_trace_writer_create(&host, "/nonexistent/trace", &writer) == TDL_STATUS_IO);
    scratch_remove(&scratch);
}
