// Recorded motions from .csv: what is right is read, gaps are left out and counted, and whatever is
// wrong gets one message with its line.
#include "formats/recording.h"

#include "capture.h"
#include "test.h"

static TdlStatus parse(Capture* heard, const char* text, Recording* out) {
    TdlHost host = capture_host(heard);
    return recording_parse(&host, "file", &RECORDING_MOTION, NULL, text, strlen(text), out);
}

TEST(columns_are_found_by_name) {
    Capture heard;
    Recording r;
    TdlHost host = tdl_host_default();
    REQUIRE(parse(&heard, "marker, z ,time,x,y\nhand,3,0,1,2\r\n\n hand , 6 , .5 , 4 , 5\n", &r) ==
            TDL_STATUS_OK);
    REQUIRE(r.count == 2);
    CHECK_INT(r.gap_count, 0);
    CHECK(r.keys[0].time == 0.0 && r.keys[1].time == 0.5);
    CHECK_NEAR3(r.keys[0].position, ((TdlVec3){1, 2, 3}), 0.0);
    CHECK_NEAR3(r.keys[1].position, ((TdlVec3){4, 5, 6}), 0.0);
    CHECK_NEAR3(r.keys[1].rotation, (TdlVec3){0}, 0.0);
    recording_free(&host, &r);
    REQUIRE(parse(&heard, "time,x,y,z,rx,ry,rz\n-1,1e-999,2,3,4,5,6", &r) == TDL_STATUS_OK);
    REQUIRE(r.count == 1);
    CHECK(r.keys[0].time == -1.0 && r.keys[0].position.x == 0.0 && r.keys[0].rotation.z == 6.0);
    recording_free(&host, &r);
    CHECK(r.keys == NULL && r.count == 0);
}

TEST(gaps_are_left_out_and_counted) {
    Capture heard;
    Recording r;
    TdlHost host = tdl_host_default();
    REQUIRE(parse(&heard, "time,x,y,z\n0,1,2,3\n1,,,\n2,NaN,2,3\n3,4\n,4,4,4\n5,6,7,8\n", &r) ==
            TDL_STATUS_OK);
    REQUIRE(r.count == 2);
    CHECK_INT(r.gap_count, 4);
    CHECK(r.keys[1].time == 5.0 && r.keys[1].position.z == 8.0);
    recording_free(&host, &r);
}

TEST(one_of_many_markers_is_chosen) {
    static const char TEXT[] = "time,x,a:1.x,a:1.y,a:1.z,a.x,a.y,a.z,a.rx,a.ry,a.rz\n"
                               "0,9,1,2,3,4,5,6,7,8,9\n1,9,1,2,3,,,,,,\n";
    Capture heard;
    Recording r;
    TdlHost host = capture_host(&heard);
    REQUIRE(recording_parse(&host, "file", &RECORDING_MOTION, "a:1", TEXT, sizeof TEXT - 1, &r) ==
            TDL_STATUS_OK);
    REQUIRE(r.count == 2);
    CHECK_NEAR3(r.keys[1].position, ((TdlVec3){1, 2, 3}), 0.0);
    CHECK_NEAR3(r.keys[1].rotation, (TdlVec3){0}, 0.0);
    recording_free(&host, &r);
    REQUIRE(recording_parse(&host, "file", &RECORDING_MOTION, "a", TEXT, sizeof TEXT - 1, &r) ==
            TDL_STATUS_OK);
    REQUIRE(r.count == 1 && r.gap_count == 1);
    CHECK_NEAR3(r.keys[0].position, ((TdlVec3){4, 5, 6}), 0.0);
    CHECK_NEAR3(r.keys[0].rotation, ((TdlVec3){7, 8, 9}), 0.0);
    recording_free(&host, &r);
    CHECK_INT(recording_parse(&host, "file", &RECORDING_MOTION, "b", TEXT, sizeof TEXT - 1, &r),
              TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(heard.text, "file:1: has no columns time and .x, .y, .z of the marker 'b'");
}

TEST(what_is_wrong_is_told_with_its_line) {
    static const struct {
        const char *text, *message;
    } BAD[] = {
        {"", "file: has no row without gaps"},
        {"time,x,y,z\n", "file: has no row without gaps"},
        {"time,x,y,z\n1,,2,3\n", "file: has no row without gaps"},
        {"time,x,y\n1,2,3\n", "file:1: a recording has the columns time, x, y and z"},
        {"time,x,y,z,x\n", "file:1: a column is there twice"},
        {"time,x,y,z,rx\n", "file:1: of rx, ry and rz all are there or none"},
        {"time,x,y,z\n1,2,3,4\n1,2,3,4\n", "file:3: the times of a recording must grow"},
        {"time,x,y,z\n1,2,3,4 m\n", "file:2: '4 m' is not a number"},
        {"time,x,y,z\n1,2,3,inf\n", "file:2: 'inf' is not a number"},
        {"time,x,y,z\n1,2,3,1e10\n", "file:2: a number is too large"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        Capture heard;
        Recording r;
        CHECK_INT(parse(&heard, BAD[i].text, &r), TDL_STATUS_BAD_INPUT);
        CHECK_INT(heard.errors, 1);
        CHECK_TEXT(heard.text, BAD[i].message);
        CHECK(r.keys == NULL);
    }
    static const char ZERO[] = "time,x,y,z\n1,2,3,4\0005\n"; // read as 4 it would be
    Capture heard;
    Recording r;
    TdlHost host = capture_host(&heard);
    CHECK_INT(recording_parse(&host, "file", &RECORDING_MOTION, NULL, ZERO, sizeof ZERO - 1, &r),
              TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(heard.text, "file:2: has a zero byte");
}

// Loads and motors have columns of their own.
TEST(each_kind_has_its_columns) {
    Capture heard;
    Recording r;
    TdlHost host = capture_host(&heard);
    static const char LOAD[] = "fz,fy,fx,time,note\n3,2,1e11,0,a\n0,0,0,1,b\n";
    REQUIRE(recording_parse(&host, "f", &RECORDING_LOAD, NULL, LOAD, sizeof LOAD - 1, &r) ==
            TDL_STATUS_OK);
    CHECK_INT(r.count, 2);
    CHECK_NEAR3(r.keys[0].position, ((TdlVec3){1.0e11, 2.0, 3.0}), 0.0);
    CHECK_NEAR3(r.keys[0].rotation, (TdlVec3){0}, 0.0);
    recording_free(&host, &r);
    static const char MOTOR[] = "time,place\n0,1\n2,5\n";
    REQUIRE(recording_parse(&host, "f", &RECORDING_MOTOR, NULL, MOTOR, sizeof MOTOR - 1, &r) ==
            TDL_STATUS_OK);
    CHECK(r.count == 2 && r.has[2] && !r.has[1]);
    CHECK_NEAR(r.keys[1].position.y, 5.0, 0.0);
    recording_free(&host, &r);
    static const struct {
        const RecordingKind* kind;
        const char *text, *message;
    } BAD[] = {
        {&RECORDING_LOAD, "time,fx,fy\n0,1,2\n", "f:1: a load has the columns time, fx, fy and fz"},
        {&RECORDING_LOAD, "time,x,y,z\n", "f:1: a load has the columns time, fx, fy and fz"},
        {&RECORDING_LOAD, "time,fx,fy,fz,tx\n", "f:1: of tx, ty and tz all are there or none"},
        {&RECORDING_MOTOR, "time\n", "f:1: a motor has the columns time, and speed or place"},
        {&RECORDING_MOTOR, "speed\n", "f:1: a motor has the columns time, and speed or place"},
        {&RECORDING_MOTOR, "time,place,speed\n",
         "f:1: a motor has one of the columns speed and place"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        CHECK_INT(
            recording_parse(&host, "f", BAD[i].kind, NULL, BAD[i].text, strlen(BAD[i].text), &r),
            TDL_STATUS_BAD_INPUT);
        CHECK_TEXT(heard.text, BAD[i].message);
    }
}

TEST(long_tables_grow_and_memory_may_end) {
    enum { ROWS = 3000 };
    static char text[64 * ROWS];
    size_t size = (size_t)snprintf(text, sizeof text, "time,x,y,z\n");
    for (int i = 0; i < ROWS; ++i) {
        size += (size_t)snprintf(text + size, sizeof text - size, "%d,%d,0,0\n", i, 2 * i);
    }
    for (long fail_at = 1;; ++fail_at) {
        Capture heard;
        FailingMemory memory = {.fail_at = fail_at};
        TdlHost host = capture_host(&heard);
        host.mem = (TdlAllocator){failing_resize, &memory};
        Recording r;
        TdlStatus status = recording_parse(&host, "file", &RECORDING_MOTION, NULL, text, size, &r);
        bool failed = memory.calls >= fail_at;
        CHECK_INT(status, failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK);
        if (!failed) {
            REQUIRE(r.count == ROWS);
            CHECK(r.keys[ROWS - 1].position.x == 2.0 * (ROWS - 1));
        }
        recording_free(&host, &r);
        CHECK_INT(memory.live, 0);
        if (!failed) {
            break;
        }
    }
}
