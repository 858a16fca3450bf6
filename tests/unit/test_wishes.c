// Words of a page: what they change, and what is passed over.
#include "app/wishes.h"
#include "test.h"

static const Wishes START = {.speed = 1.0, .gravity = {0.0, 0.0, -9.81}, .mu = 0.3};

static Wishes after(const char* words) {
    Wishes wishes = START;
    wishes_hear(&wishes, words);
    return wishes;
}

TEST(words_are_understood) {
    CHECK(after("pause").paused);
    CHECK(after("step").paused && after("step").single_steps == 1);
    CHECK(after("hello").changed);
    CHECK(after("speed 0.25").speed == 0.25);
    Wishes wishes = after("friction 0.5");
    CHECK(wishes.new_mu && wishes.mu == 0.5);
    wishes = after("gravity 1 -2 3e0 ");
    CHECK(wishes.new_gravity);
    CHECK_NEAR3(wishes.gravity, ((TdlVec3){1.0, -2.0, 3.0}), 0.0);
    wishes = after("grab 7 0.1 0.2 0.3");
    CHECK(wishes.grabbed && wishes.new_grab && wishes.point == 7);
    wishes_hear(&wishes, "move 1 2 3");
    CHECK_NEAR3(wishes.target, ((TdlVec3){1.0, 2.0, 3.0}), 0.0);
    wishes_hear(&wishes, "drop");
    CHECK(!wishes.grabbed);
    wishes = after("pause");
    wishes_hear(&wishes, "play");
    CHECK(!wishes.paused);
}

TEST(what_is_out_of_range_or_malformed_changes_nothing) {
    static const char* const WORDS[] = {
        "speed 1e308",
        "speed 0",
        "speed -1",
        "speed nan",
        "speed inf",
        "speed",
        "speed 1 2",
        "speed 1x",
        "friction -0.1",
        "friction 1e308",
        "friction nan",
        "gravity 0 0 1e308",
        "gravity 0 0 -1e308",
        "gravity 0 0",
        "gravity 0 0 nan",
        "gravity 0 0 1 2",
        "grab 1 1e308 0 0",
        "grab -1 0 0 0",
        "grab 1.5 0 0 0",
        "grab 99999999999 0 0 0",
        "grab x 0 0 0",
        "move 1e308 0 0",
        "move inf 0 0",
        "move",
        "gravityy 0 0 1",
        "",
        " ",
        "speed1",
        "PAUSE",
        "speed 0x",
        "pausee",
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; ++i) {
        Wishes wishes = after(WORDS[i]), start = START;
        start.changed = true; // it is shown again, no more
        bool same = wishes.paused == start.paused && wishes.speed == start.speed &&
                    wishes.mu == start.mu && !wishes.new_mu && !wishes.new_gravity &&
                    wishes.gravity.z == start.gravity.z && !wishes.grabbed && !wishes.new_grab &&
                    wishes.target.x == 0.0 && wishes.single_steps == 0;
        if (!same) {
            FAIL("\"%s\" changed something", WORDS[i]);
        }
    }
}

// A key that is held down while a step takes long.
TEST(steps_do_not_overflow) {
    Wishes wishes = START;
    wishes.single_steps = 999;
    wishes_hear(&wishes, "step");
    wishes_hear(&wishes, "step");
    CHECK_INT(wishes.single_steps, 1000);
}
