// Markers: places on things of a scene, where they are and what they weigh; recordings as .csv.
#include "fit/markers.h"

#include "app/command.h"
#include "base/rng.h"
#include "scene/scene.h"
#include "test.h"

// --- places --------------------------------------------------------------------------------------

static const char SCENE[] =
    "time: {end: 1}\n"
    "materials: [{name: m, young: 1e6, density: 1000}]\n"
    "rods:\n"
    "  - {name: a, material: m, length: 2, radius: 0.01, elements: 4,\n"
    "     clamp: {position: [0, 5, 0], direction: [1, 0, 0]}}\n"
    "  - {name: pair, material: m, length: 1, radius: 0.01, elements: 2,\n"
    "     clamp: {position: [0, 10, 0], direction: [0, 0, 1]},\n"
    "     repeat: {count: [2, 1, 1], spacing: [3, 0, 0]}}\n"
    "bodies:\n"
    "  - {name: die, shape: box, half: [0.1, 0.1, 0.1], density: 1000, position: [0, -5, 1],\n"
    "     direction: [0, 1, 0]}\n"
    "cloths:\n"
    "  - {name: towel, rectangle: {size: [0.4, 0.3], nodes: [3, 2]}, position: [0, 0, 1],\n"
    "     density: 0.5, holds: [{corners: [top-left]}]}\n"
    "colliders: [{name: floor, shape: plane, position: [0, 0, -9]}]\n";

typedef struct Stand {
    TdlScene* scene;
    TdlWorld* world;
    MarkerSet set;
} Stand;

static Stand stand_open(void) {
    Stand s = {0};
    TdlHost host = tdl_host_default();
    if (scene_load_text(&host, "s", SCENE, strlen(SCENE), NULL, 0, &s.scene) != TDL_STATUS_OK ||
        tdl_scene_build(s.scene, 1, &s.world) != TDL_STATUS_OK) {
        FAIL("no scene");
    }
    return s;
}

static void stand_close(Stand* s) {
    markers_free(&s->set);
    tdl_world_destroy(s->world);
    tdl_scene_destroy(s->scene);
}

TEST(places_are_found) {
    static const struct {
        const char* place;
        TdlVec3 where;
    } GOOD[] = {
        {"towel:0", {-0.2, -0.15, 1}},
        {"towel:4", {0, 0.15, 1}},
        {"towel@0.05 0.02 1.3", {0.05, 0.02, 1}}, // straight below
        {"towel@-0.15 -0.09 1", {-0.15, -0.09, 1}},
        {"towel@0.3 0 1", {0.2, 0, 1}},  // beyond an edge
        {"towel@9 9 1", {0.2, 0.15, 1}}, // beyond a corner
        {"a@0.7", {0.7, 5, 0}},
        {"a@2", {2, 5, 0}},
        {"a:3.5", {1.75, 5, 0}},
        {"a:0", {0, 5, 0}},
        {"pair[1]@0.25", {1.5, 10, 0.25}},
        {"die", {0, -5, 1}},
        {"die@0.1 0 0.02", {0, -4.9, 1.02}},
    };
    enum { COUNT = sizeof GOOD / sizeof *GOOD };
    Stand s = stand_open();
    char fault[MARKER_FAULT_SIZE];
    for (int i = 0; i < COUNT; ++i) {
        CHECK_INT(markers_add(&s.set, s.scene, s.world, "M", GOOD[i].place, fault), MARKER_FOUND);
    }
    REQUIRE(s.set.count == COUNT);
    TdlVec3 where[COUNT];
    markers_locate(&s.set, s.world, where);
    for (int i = 0; i < COUNT; ++i) {
        CHECK_NEAR3(where[i], GOOD[i].where, 1e-12); // sums of weights
    }
    stand_close(&s);
}

TEST(what_is_no_place_is_told) {
    static const struct {
        const char* place;
        MarkerAnswer answer;
        const char* fault;
    } BAD[] = {
        {"M1", MARKER_UNKNOWN, "nothing to mark is named 'M1'"},
        {"", MARKER_UNKNOWN, "nothing to mark is named ''"},
        {"floor", MARKER_WRONG, "'floor' goes where the scene says"},
        {"towel", MARKER_WRONG, "a point of a cloth is written NAME:VERTEX or NAME@X Y Z"},
        {"towel:1.5", MARKER_WRONG, "a point of a cloth is written NAME:VERTEX or NAME@X Y Z"},
        {"towel:1 2", MARKER_WRONG, "a point of a cloth is written NAME:VERTEX or NAME@X Y Z"},
        {"towel:6", MARKER_WRONG, "there is no vertex 6: it has 6, counted from 0"},
        {"towel:-1", MARKER_WRONG, "there is no vertex -1: it has 6, counted from 0"},
        {"towel@1 2 nan", MARKER_WRONG, "a point of a cloth is written NAME:VERTEX or NAME@X Y Z"},
        {"a", MARKER_WRONG, "a point of a rod is written NAME@METRES or NAME:ELEMENT"},
        {"a@2.1", MARKER_WRONG, "2.1 lies beyond the rod, which has 2 m"},
        {"a:5", MARKER_WRONG, "5 lies beyond the rod, which has 4 elements"},
        {"a[1]@1", MARKER_WRONG, "'a' has 1 copies: a[0] is the first"},
        {"pair@1", MARKER_WRONG, "'pair' has 2 copies: pair[0] is the first"},
        {"die@1", MARKER_WRONG, "a point of a rigid is written NAME or NAME@X Y Z"},
        {"die@1 2 3 4", MARKER_WRONG, "a point of a rigid is written NAME or NAME@X Y Z"},
        {"die@0 0 0x", MARKER_WRONG, "a point of a rigid is written NAME or NAME@X Y Z"},
    };
    Stand s = stand_open();
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        char fault[MARKER_FAULT_SIZE] = "";
        CHECK_INT(markers_add(&s.set, s.scene, s.world, "M", BAD[i].place, fault), BAD[i].answer);
        CHECK_TEXT(fault, BAD[i].fault);
    }
    CHECK_INT(s.set.count, 0);
    stand_close(&s);
}

// All that may be marked: 5 of 6 vertices, the ends of 4 + 2 * 2 elements, one body.
TEST(masses_of_all_markers_are_those_of_the_things) {
    Stand s = stand_open();
    REQUIRE(markers_add_all(&s.set, s.scene, s.world));
    REQUIRE(s.set.count == 5 + 5 + 2 * 3 + 1);
    markers_weigh(&s.set, s.world);
    double cloth = 0.0, rods = 0.0, body = 0.0;
    for (int i = 0; i < s.set.count; ++i) {
        const Marker* m = &s.set.items[i];
        CHECK(m->mass > 0.0);
        *(m->name[0] == 't' ? &cloth : m->name[0] == 'd' ? &body : &rods) += m->mass;
    }
    const double section = 1000.0 * 3.141592653589793 * 1e-4;
    CHECK_NEAR(cloth, 0.5 * 0.4 * 0.3, 1e-14); // sums
    CHECK_NEAR(rods, section * (2.0 + 1.0 + 1.0), 1e-10);
    CHECK_NEAR(body, 1000.0 * 0.008, 1e-11);
    stand_close(&s);
}

TEST(mass_goes_to_the_nearest_marker) {
    Stand s = stand_open();
    char fault[MARKER_FAULT_SIZE];
    static const char* const PLACES[] = {"a@0.5", "a@2", "towel:0", "towel:4", "die", "die@1 0 0"};
    for (int i = 0; i < 6; ++i) {
        REQUIRE(markers_add(&s.set, s.scene, s.world, PLACES[i], PLACES[i], fault) == MARKER_FOUND);
    }
    markers_weigh(&s.set, s.world);
    const Marker* m = s.set.items;
    double rod = 1000.0 * 3.141592653589793 * 1e-4 * 2.0;
    // the border is at 1.25 m of 2 m, to within a thousandth part
    CHECK_NEAR(m[0].mass / rod, 0.625, 1e-3);
    CHECK_NEAR(m[1].mass / rod, 0.375, 1e-3);
    // vertices 0 and 1 are nearer to 0 than to 4: a corner and the middle of an edge
    CHECK_NEAR(m[2].mass, 0.06 * 3.0 / 8.0, 1e-15);
    CHECK_NEAR(m[3].mass, 0.06 * 5.0 / 8.0, 1e-15);
    CHECK_NEAR(m[4].mass, 4.0, 1e-12);
    CHECK_NEAR(m[5].mass, 4.0, 1e-12);
    // two at one place: all on the rod share alike
    REQUIRE(markers_add(&s.set, s.scene, s.world, "twin", "a@2", fault) == MARKER_FOUND);
    markers_weigh(&s.set, s.world);
    CHECK_NEAR(s.set.items[6].mass, rod / 3.0, 1e-12);
    CHECK_NEAR(s.set.items[0].mass, rod / 3.0, 1e-12);
    stand_close(&s);
}

// --- recordings ----------------------------------------------------------------------------------

static int read_text(const char* text, char message[512], Tracks* out) {
    FILE* in = fmemopen((void*)(uintptr_t)text, strlen(text), "rb");
    memset(message, 0, 512);
    FILE* messages = fmemopen(message, 511, "wb");
    int code = text[0] == '\0' ? EXIT_INPUT : tracks_read(in, "f.csv", messages, out);
    fclose(messages);
    if (in != NULL) {
        fclose(in);
    }
    return code;
}

TEST(recordings_are_read_with_their_gaps) {
    char message[512];
    Tracks t;
    REQUIRE(read_text("frame,time, b.z ,a:1.x,\"a:1.y\",a:1.z,b.x,b.y\r\n"
                      "0,0,6,1,2,3,4,5\n\n1,0.5,,1,NaN,3,7,8\n2,1,9,1\n",
                      message, &t) == EXIT_DONE);
    REQUIRE(t.marker_count == 2 && t.moment_count == 3);
    CHECK_TEXT(t.names[0], "b");
    CHECK_TEXT(t.names[1], "a:1");
    CHECK(t.times[0] == 0.0 && t.times[1] == 0.5 && t.times[2] == 1.0);
    CHECK_NEAR3(t.places[0], ((TdlVec3){4, 5, 6}), 0.0);
    CHECK_NEAR3(t.places[1], ((TdlVec3){1, 2, 3}), 0.0);
    // a marker of which one coordinate is missing is lost
    for (int k = 2; k < 6; ++k) {
        CHECK(isnan(t.places[k].x) && isnan(t.places[k].y) && isnan(t.places[k].z));
    }
    CHECK_INT((int)tracks_lost(&t), 4);
    tracks_free(&t);
}

TEST(wrong_recordings_are_told_with_line_and_column) {
    static const struct {
        const char *text, *message;
    } BAD[] = {
        {"\n", "f.csv:1:1: a recording has a column called time\n"},
        {"time,x,y,z\n", "f.csv:1:1: no marker is there: its columns are called NAME.x, NAME.y, "
                         "NAME.z\n"},
        {"time,a.x,a.y\n0,1,2\n", "f.csv:1:1: of .x, .y and .z all are there, but not of 'a'\n"},
        {"time,a.x,a.y,a.z,a.x\n", "f.csv:1:5: a column is there twice\n"},
        {"time,time,a.x,a.y,a.z\n", "f.csv:1:2: a column is there twice\n"},
        {"time,a.x,a.y,a.z\n", "f.csv:1:1: no moment was recorded\n"},
        {"time,a.x,a.y,a.z\n0,1,2,3\n0,1,2,3\n", "f.csv:3:1: the times of a recording must grow\n"},
        {"time,a.x,a.y,a.z\n,1,2,3\n", "f.csv:2:1: a moment without time\n"},
        {"time,a.x,a.y,a.z\n0,1,2 m,3\n", "f.csv:2:3: this is not a number: '2 m'\n"},
        {"time,a.x,a.y,a.z\n0,1,2,inf\n", "f.csv:2:4: too large: 'inf'\n"},
        {"time,a.x,a.y,a.z\n0,1,2e10,3\n", "f.csv:2:3: too large: '2e10'\n"},
        {"time,a.x,a.y,a.z\n0,1,2,3,4\n", "f.csv:2:5: more fields than names\n"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        char message[512];
        Tracks t;
        CHECK_INT(read_text(BAD[i].text, message, &t), EXIT_INPUT);
        CHECK_TEXT(message, BAD[i].message);
        CHECK(t.places == NULL && t.times == NULL && t.names == NULL);
    }
}

// What is written is read again; lost places stay lost.
TEST(recordings_go_out_and_in) {
    enum { MARKERS = 7, MOMENTS = 50 };
    Tracks out, in;
    Rng rng = rng_seed(3);
    REQUIRE(tracks_create(MARKERS, MOMENTS, &out));
    for (int i = 0; i < MARKERS; ++i) {
        snprintf(out.names[i], MARKER_NAME_SIZE, "die@%d 0 0.5", i);
    }
    for (int n = 0; n < MOMENTS; ++n) {
        out.times[n] = 0.01 * n;
        for (int i = 0; i < MARKERS; ++i) {
            out.places[n * MARKERS + i] = (TdlVec3){rng_normal(&rng), rng_normal(&rng), 1.0};
        }
    }
    tracks_spoil(&out, 0.0, 0.2, 5);
    static char text[200000];
    FILE* file = fmemopen(text, sizeof text, "wb");
    REQUIRE(tracks_write(&out, file));
    fclose(file);
    char message[512];
    REQUIRE(read_text(text, message, &in) == EXIT_DONE);
    REQUIRE(in.marker_count == MARKERS && in.moment_count == MOMENTS);
    CHECK_INT((int)tracks_lost(&in), (int)tracks_lost(&out));
    CHECK_TEXT(in.names[6], "die@6 0 0.5");
    for (int k = 0; k < MARKERS * MOMENTS; ++k) {
        CHECK(isnan(in.places[k].x) == isnan(out.places[k].x));
        if (!isnan(in.places[k].x)) {
            CHECK_NEAR3(in.places[k], out.places[k], 1e-6); // seven digits
        }
    }
    tracks_free(&out);
    tracks_free(&in);
}

TEST(noise_and_gaps_are_as_asked_for) {
    enum { MARKERS = 40, MOMENTS = 2000, ALL = MARKERS * MOMENTS };
    Tracks t, again;
    REQUIRE(tracks_create(MARKERS, MOMENTS, &t) && tracks_create(MARKERS, MOMENTS, &again));
    memset(t.places, 0, ALL * sizeof *t.places);
    memset(again.places, 0, ALL * sizeof *t.places);
    tracks_spoil(&t, 2e-3, 0.15, 7);
    tracks_spoil(&again, 2e-3, 0.15, 7);
    CHECK(memcmp(t.places, again.places, ALL * sizeof *t.places) == 0);
    double squares = 0.0;
    long seen = 0, gaps = 0;
    for (int k = 0; k < ALL; ++k) {
        bool lost = isnan(t.places[k].x);
        seen += !lost;
        squares += lost ? 0.0 : tdl_dot3(t.places[k], t.places[k]);
        gaps += lost && k >= MARKERS && !isnan(t.places[k - MARKERS].x);
    }
    double share = 1.0 - (double)seen / ALL, length = share * ALL / (double)gaps;
    printf("  lost %.4f, gaps of %.2f moments, noise %.3e\n", share, length,
           sqrt(squares / (3.0 * (double)seen)));
    CHECK_NEAR(share, 0.15, 0.02);                                       // some 2400 gaps
    CHECK_NEAR(length, 5.0, 0.5);                                        //
    CHECK_NEAR(sqrt(squares / (3.0 * (double)seen)), 2e-3, 2e-3 * 0.01); // 2e5 numbers
    tracks_free(&t);
    tracks_free(&again);
}
