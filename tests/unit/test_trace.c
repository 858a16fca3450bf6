// Recordings of the narrow phase: every kind of curve comes back bit for bit, and what is not a
// trace is refused with one message that names a byte.
#include "tendril/trace.h"

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

// A detector after an update, and its trace in a file, twice.
static TdlDetector* record(const TdlFibre* fibre, const char* path, long* calls) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = 0.01;
    TdlDetector* d = NULL;
    TdlTraceWriter* writer;
    if (tdl_detector_create(&host, &def, &d) != TDL_STATUS_OK ||
        tdl_detector_update(d, fibre, FIBRES, NULL, 0, NULL) != TDL_STATUS_OK ||
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
    TdlDetector* d = record(fibre, path, &calls);
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

typedef struct Messages {
    int count;
    char last[200];
} Messages;

static void listen(void* user, TdlLogLevel level, const char* message) {
    Messages* m = user;
    m->count += level == TDL_LOG_ERROR;
    snprintf(m->last, sizeof m->last, "%s", message);
}

TEST(what_is_not_a_trace_is_refused) {
    TdlCurve curve[FIBRES];
    TdlFibre fibre[FIBRES];
    make_fibres(curve, fibre);
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "b.trace");
    long calls = 0;
    tdl_detector_destroy(record(fibre, path, &calls));
    FILE* file = fopen(path, "rb");
    REQUIRE(file != NULL);
    static unsigned char data[1 << 16];
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    REQUIRE(size > 1000 && size < sizeof data);
    Messages messages = {0};
    TdlHost host = tdl_host_default();
    host.log = listen;
    host.log_user = &messages;
    TdlTrace trace;

    // cut anywhere but between the blocks
    int whole = 0;
    for (size_t cut = 0; cut <= size; ++cut) {
        messages.count = 0;
        TdlStatus status = tdl_trace_parse(&host, "t", data, cut, &trace);
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
        TdlStatus status = tdl_trace_parse(&host, "t", data, size, &trace);
        CHECK_INT(messages.count, status != TDL_STATUS_OK);
        for (int i = 0; i < trace.curve_count; ++i) {
            CHECK(isfinite(tdl_norm3(tdl_curve_point(&trace.curves[i], trace.curves[i].end))));
        }
        tdl_trace_free(&trace);
        memcpy(data + at, kept, 8);
    }
    CHECK(tdl_trace_load(&host, "/nonexistent/trace", &trace) == TDL_STATUS_BAD_INPUT);
    TdlTraceWriter* writer;
    CHECK(tdl_trace_writer_create(&host, "/nonexistent/trace", &writer) == TDL_STATUS_IO);
    scratch_remove(&scratch);
}
