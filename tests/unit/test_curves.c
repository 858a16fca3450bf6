// Readers of curves: what is right is read, whatever is wrong gets one message.
#include "capture.h"
#include "formats/curves.h"
#include "test.h"

#include "base/rng.h"

// A .hair file put together byte by byte.
typedef struct Bytes {
    char data[4096];
    size_t size;
} Bytes;

static void put_u32(Bytes* b, uint32_t value) {
    for (int i = 0; i < 4; ++i) {
        b->data[b->size++] = (char)(value >> 8 * i);
    }
}

static void put_f32(Bytes* b, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u32(b, bits);
}

static void put_head(Bytes* b, uint32_t hairs, uint32_t points, uint32_t arrays,
                     uint32_t segments) {
    *b = (Bytes){.data = "HAIR", .size = 4};
    put_u32(b, hairs);
    put_u32(b, points);
    put_u32(b, arrays);
    put_u32(b, segments);
    b->size = 128;
}

// Two hairs of 2 and 1 segments, with thickness.
static Bytes two_hairs(void) {
    Bytes b;
    put_head(&b, 2, 5, 1 + 2 + 4, 0);
    memcpy(b.data + b.size, "\2\0\1\0", 4);
    b.size += 4;
    for (int i = 0; i < 15; ++i) {
        put_f32(&b, 0.25f * (float)i);
    }
    for (int i = 0; i < 5; ++i) {
        put_f32(&b, 1.0f);
    }
    return b;
}

// Parses exactly these bytes, in a block of their own so that the address sanitizer sees more.
static TdlStatus parse(Capture* heard, CurveFormat format, const char* data, size_t size,
                       TdlCurves* set) {
    TdlHost host = capture_host(heard);
    char* copy = malloc(size + 1);
    memcpy(copy, data, size);
    copy[size] = '\0';
    TdlStatus status = curves_parse(&host, "file", format, copy, size, set);
    free(copy);
    return status;
}

static void release(TdlCurves* set) {
    TdlHost host = tdl_host_default();
    tdl_curves_free(&host, set);
}

static void check_refused(CurveFormat format, const char* data, size_t size, const char* part) {
    Capture heard;
    TdlCurves set;
    TdlStatus status = parse(&heard, format, data, size, &set);
    if (status != TDL_STATUS_BAD_INPUT || heard.errors != 1 || set.points != NULL ||
        strncmp(heard.text, "file:", 5) != 0 || strstr(heard.text, part) == NULL) {
        FAIL("status %d, %d messages, \"%s\" instead of \"%s\"", (int)status, heard.errors,
             heard.text, part);
        release(&set);
    }
}

static void refuse_text(CurveFormat format, const char* text, const char* part) {
    check_refused(format, text, strlen(text), part);
}

TEST(hair_files_are_read) {
    Bytes b = two_hairs();
    Capture heard;
    TdlCurves set;
    REQUIRE(parse(&heard, CURVES_HAIR, b.data, b.size, &set) == TDL_STATUS_OK);
    CHECK_INT(set.count, 2);
    CHECK(set.start[0] == 0 && set.start[1] == 3 && set.start[2] == 5);
    CHECK_NEAR3(set.points[4], ((TdlVec3){3.0, 3.25, 3.5}), 0.0);
    release(&set);
    // hairs that do not tell their segments; bytes behind the end do not matter
    put_head(&b, 3, 6, 2, 1);
    for (int i = 0; i < 20; ++i) {
        put_f32(&b, (float)i);
    }
    REQUIRE(parse(&heard, CURVES_HAIR, b.data, b.size, &set) == TDL_STATUS_OK);
    CHECK(set.count == 3 && set.start[3] == 6);
    release(&set);
}

TEST(broken_hair_files_are_refused) {
    Bytes whole = two_hairs(), b;
    for (size_t size = 0; size < whole.size; ++size) {
        check_refused(CURVES_HAIR, whole.data, size, size < 4 ? "HAIR" : "cut off");
    }
    put_head(&b, 0xffffffffu, 0xffffffffu, 0x1f, 0);
    check_refused(CURVES_HAIR, b.data, b.size, "cut off");
    put_head(&b, 0xffffffffu, 1, 2, 0xffffffffu);
    put_f32(&b, 0.0f);
    put_f32(&b, 0.0f);
    put_f32(&b, 0.0f);
    check_refused(CURVES_HAIR, b.data, b.size, "more points");
    put_head(&b, 0, 0, 2, 5);
    check_refused(CURVES_HAIR, b.data, b.size, "no curve");
    put_head(&b, 2, 5, 1, 0);
    check_refused(CURVES_HAIR, b.data, b.size, "no points");
    static const float bad[] = {NAN, INFINITY, -INFINITY, 2.0e9f};
    for (int i = 0; i < 4; ++i) {
        b = two_hairs();
        b.size = 132 + 12 * 3 + 4;
        put_f32(&b, bad[i]);
        check_refused(CURVES_HAIR, b.data, whole.size, "point 0 of hair 1");
    }
    b = two_hairs();
    b.data[128] = 4; // one hair takes all points, the other none
    check_refused(CURVES_HAIR, b.data, b.size, "more points");
    b = two_hairs();
    b.data[128] = 0;
    check_refused(CURVES_HAIR, b.data, b.size, "curve 0 (from 0) has fewer than two points");
}

TEST(damaged_hair_files_do_no_harm) {
    Rng rng = rng_seed(11);
    for (int trial = 0; trial < 20000; ++trial) {
        Bytes b = two_hairs();
        for (int k = 0; k < 1 + trial % 4; ++k) {
            b.data[rng_below(&rng, trial % 2 ? 20 : (int)b.size)] = (char)rng_next(&rng);
        }
        Capture heard;
        TdlCurves set;
        TdlStatus status = parse(&heard, CURVES_HAIR, b.data, b.size, &set);
        CHECK((status == TDL_STATUS_OK) == (heard.errors == 0));
        release(&set);
    }
}

TEST(polylines_are_read) {
    static const char text[] = "# a comment\no rods\nv 0 0 0\nv 1 0 0.5\r\nv 2 0 1 1.0\n\n"
                               "vn 0 0 1\nl 1 2\nl 2 3/1\nv 5 5 5\nv 6 6 6e0\nl -2 -1\nl 1 3 1\n"
                               "f 1 2 3\nl 1 2";
    Capture heard;
    TdlCurves set;
    REQUIRE(parse(&heard, CURVES_OBJ, text, strlen(text), &set) == TDL_STATUS_OK);
    CHECK_INT(set.count, 3); // the last two go on from 1 to 3, to 1, to 2
    CHECK(set.start[1] == 3 && set.start[2] == 5 && set.start[3] == 9);
    CHECK_NEAR3(set.points[1], ((TdlVec3){1.0, 0.0, 0.5}), 0.0);
    CHECK_NEAR3(set.points[4], ((TdlVec3){6.0, 6.0, 6.0}), 0.0);
    release(&set);
    refuse_text(CURVES_OBJ, "", "no curve");
    refuse_text(CURVES_OBJ, "v 0 0 0\nv 1 1 1\nf 1 2 1\n", "no curve");
    refuse_text(CURVES_OBJ, "v 0 0\n", "file:1: a vertex has three numbers");
    refuse_text(CURVES_OBJ, "\nv 0 nan 0\n", "file:2: 'nan' is not a number");
    refuse_text(CURVES_OBJ, "v 0 1e400 0\n", "is not a number");
    refuse_text(CURVES_OBJ, "v 0 1e10 0\n", "too far");
    refuse_text(CURVES_OBJ, "v 0 0 0\nl 1 2\n",
                "file:2: a polyline names vertex 2, which is not there");
    refuse_text(CURVES_OBJ, "v 0 0 0\nl 1 0\n", "which is not there");
    refuse_text(CURVES_OBJ, "v 0 0 0\nl 1 -2\n", "which is not there");
    refuse_text(CURVES_OBJ, "v 0 0 0\nl 1 x\n", "'x' is not a number");
    refuse_text(CURVES_OBJ, "v 0 0 0\nl 1\n", "fewer than two");
    refuse_text(CURVES_OBJ, "v 0 0 0\nl 99999999999\n", "is not a number");
}

TEST(tables_are_read) {
    static const char text[] = "\xef\xbb\xbf"
                               "frame, rod,point,z,y,x\n"
                               "0,0,0,1,2,3\n0,0,1,1,2,4\n\n1,0,0,1,2,3\n1,0,1,1,2,5\r\n"
                               "1,7,0,1e0,0,0\n1,7,1,-1,0,0\n";
    Capture heard;
    TdlCurves set;
    REQUIRE(parse(&heard, CURVES_CSV, text, strlen(text), &set) == TDL_STATUS_OK);
    CHECK_INT(set.count, 2); // of the last frame
    CHECK(set.start[1] == 2 && set.start[2] == 4);
    CHECK_NEAR3(set.points[1], ((TdlVec3){5.0, 2.0, 1.0}), 0.0);
    release(&set);
    REQUIRE(parse(&heard, CURVES_CSV, "x,y,z\n0,0,0\n1,1,1", 17, &set) == TDL_STATUS_OK);
    CHECK_INT(set.count, 1);
    release(&set);
    refuse_text(CURVES_CSV, "", "must name columns");
    refuse_text(CURVES_CSV, "x,y\n1,2\n", "file:1: the first row must name");
    refuse_text(CURVES_CSV, "x,y,z\n", "no curve");
    refuse_text(CURVES_CSV, "x,y,z\n1,2\n", "file:2: the row is shorter");
    refuse_text(CURVES_CSV, "x,y,z\n1,2,inf\n", "'inf' is not a number");
    refuse_text(CURVES_CSV, "x,y,z\n1,2,\n", "is not a number");
    refuse_text(CURVES_CSV, "x,y,z\n1,2,1e30\n", "too far");
    refuse_text(CURVES_CSV, "x,y,z\n1,2,3\n", "fewer than two");
}

TEST(memory_that_runs_out_is_told) {
    Bytes b = two_hairs();
    for (long at = 1; at <= 3; ++at) {
        FailingMemory memory = {.fail_at = at};
        TdlHost host = tdl_host_default();
        host.mem = (TdlAllocator){failing_resize, &memory};
        TdlCurves set;
        TdlStatus status = curves_parse(&host, "file", CURVES_HAIR, b.data, b.size, &set);
        CHECK_INT(status, at <= 2 ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK);
        tdl_curves_free(&host, &set);
        CHECK_INT(memory.live, 0);
    }
}
