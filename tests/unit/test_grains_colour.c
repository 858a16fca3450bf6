// Colours of grains: the ends of their scale, the colours between, and which of many are shown.
#include "app/frame_grains.h"
#include "test.h"

#include <math.h>

enum { MANY = 50000 };
static TdlResultParticle particles[MANY];

// Speeds and pressures that grow evenly, fractions that fall, and one that is off by far.
static void fill(void) {
    for (int i = 0; i < MANY; ++i) {
        double share = (i + 0.5) / MANY;
        particles[i] = (TdlResultParticle){.number = i,
                                           .velocity = {0.0, 0.6 * share, 0.8 * share},
                                           .pressure = 100.0 * share,
                                           .fraction = 0.6 - 0.2 * share};
    }
    particles[MANY / 2].pressure = 1.0e9;
}

TEST(a_scale_ends_where_all_but_a_hundredth_do) {
    fill();
    const double least[GRAINS_COLOURS] = {0.0, 0.0, 0.402},
                 most[GRAINS_COLOURS] = {0.99, 99, 0.598};
    for (int i = 0; i < GRAINS_COLOURS; ++i) {
        GrainsScale scale = grains_scale((GrainsColour)i);
        CHECK(scale.most < scale.least);
        grains_scale_grow(&scale, particles, 0);
        CHECK(scale.most < scale.least);
        grains_scale_grow(&scale, particles, MANY);
        CHECK_NEAR(scale.least, least[i], 2.0e-3 * most[i]); // one in three is asked
        CHECK_NEAR(scale.most, most[i], 2.0e-3 * most[i]);
        GrainsScale once = scale;
        grains_scale_grow(&scale, particles + MANY / 3, MANY / 10); // nothing farther out
        CHECK(scale.most == once.most && scale.least == once.least);
    }
}

TEST(colours_go_from_dark_to_light) {
    GrainsScale scale = {GRAINS_SPEED, 1.0, 3.0};
    double before = -1.0;
    for (int i = 0; i <= 20; ++i) {
        Color c = grains_color(&scale, 1.0 + 0.1 * i);
        double light = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
        CHECK(light > before);
        before = light;
    }
    Color low = grains_color(&scale, -5.0), high = grains_color(&scale, 50.0);
    Color first = grains_color(&scale, 1.0), last = grains_color(&scale, 3.0);
    CHECK(low.r == first.r && low.b == first.b && high.r == last.r && high.g == last.g);
    GrainsScale point = {GRAINS_SPEED, 2.0, 2.0}; // all are the same
    CHECK(isfinite(grains_color(&point, 2.0).r));
}

TEST(one_in_many_is_a_choice_without_a_pattern) {
    static const int every[] = {1, 2, 3, 14, 100};
    for (int e = 0; e < 5; ++e) {
        int kept = 0, in_row[10] = {0};
        for (int i = 0; i < MANY; ++i) {
            bool shown = grains_one_in(every[e], i);
            kept += shown;
            in_row[i % 10] += shown;
        }
        double expected = (double)MANY / every[e];
        CHECK_NEAR(kept, expected, 5.0 * sqrt(expected)); // five standard deviations
        for (int r = 0; r < 10 && every[e] > 1; ++r) {
            CHECK_NEAR(in_row[r], 0.1 * expected, 5.0 * sqrt(0.1 * expected));
        }
    }
    fill();
    int every_one = frame_grains_every(MANY);
    CHECK_INT(every_one, 2);
    CHECK_INT(frame_grains_every(FRAME_GRAINS_MOST), 1);
    CHECK_INT(frame_grains_every(0), 1);
    // picked by number, in any order they come in
    for (int i = 0; i < MANY; ++i) {
        particles[i].number = (int)((7919LL * i) % MANY);
    }
    int kept = frame_grains_pick(particles, MANY, every_one);
    for (int i = 0; i < kept; ++i) {
        CHECK(grains_one_in(every_one, particles[i].number));
        CHECK(i == 0 || particles[i].number > particles[i - 1].number);
    }
    CHECK_NEAR(kept, MANY / 2, 5.0 * sqrt(MANY / 2));
}

TEST(each_has_a_name_of_its_own) {
    for (int i = 0; i < GRAINS_COLOURS; ++i) {
        GrainsColour found;
        CHECK(grains_colour_named(grains_colour_name((GrainsColour)i), &found) && (int)found == i);
    }
    GrainsColour found;
    CHECK(!grains_colour_named("shear", &found)); // of rods
}
