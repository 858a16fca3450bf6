// Reading the words of a page. They come from outside: each number has a range, in which a run goes
// on, and a line says nothing more than its verb asks for.
#include "app/wishes.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Those of `run --speed` and, about, of what `check` doubts in a scene.
static const double SPEED_LEAST = 1.0e-6, SPEED_MOST = 1.0e6;
static const double FRICTION_MOST = 10.0;
static const double GRAVITY_MOST = 300.0; // m/s^2, each axis
static const double PLACE_MOST = 1.0e3;   // m, each axis

// Presses of a key that are kept while a step takes long.
enum { STEPS_MOST = 1000 };

// Exactly so many numbers, each between the two.
static bool read_numbers(const char* text, int count, double least, double most, double* out) {
    for (int i = 0; i < count; ++i) {
        char* end;
        out[i] = strtod(text, &end);
        if (end == text || !(out[i] >= least && out[i] <= most)) {
            return false;
        }
        text = end;
    }
    return text[strspn(text, " ")] == '\0';
}

static bool read_place(const char* text, double most, TdlVec3* out) {
    double x[3];
    if (!read_numbers(text, 3, -most, most, x)) {
        return false;
    }
    *out = (TdlVec3){x[0], x[1], x[2]};
    return true;
}

static void hear_pause(Wishes* wishes, const char* rest) {
    (void)rest;
    wishes->paused = true;
}

static void hear_play(Wishes* wishes, const char* rest) {
    (void)rest;
    wishes->paused = false;
}

static void hear_step(Wishes* wishes, const char* rest) {
    (void)rest;
    wishes->paused = true;
    wishes->single_steps += wishes->single_steps < STEPS_MOST;
}

static void hear_speed(Wishes* wishes, const char* rest) {
    double speed;
    if (read_numbers(rest, 1, SPEED_LEAST, SPEED_MOST, &speed)) {
        wishes->speed = speed;
    }
}

static void hear_friction(Wishes* wishes, const char* rest) {
    double mu;
    if (read_numbers(rest, 1, 0.0, FRICTION_MOST, &mu)) {
        wishes->mu = mu;
        wishes->new_mu = true;
    }
}

static void hear_gravity(Wishes* wishes, const char* rest) {
    if (read_place(rest, GRAVITY_MOST, &wishes->gravity)) {
        wishes->new_gravity = true;
    }
}

static void hear_grab(Wishes* wishes, const char* rest) {
    char* end;
    long point = strtol(rest, &end, 10);
    if (end != rest && point >= 0 && point <= INT_MAX &&
        read_place(end, PLACE_MOST, &wishes->target)) {
        wishes->grabbed = wishes->new_grab = true;
        wishes->point = (int)point;
    }
}

static void hear_move(Wishes* wishes, const char* rest) {
    read_place(rest, PLACE_MOST, &wishes->target);
}

static void hear_drop(Wishes* wishes, const char* rest) {
    (void)rest;
    wishes->grabbed = false;
}

static const struct {
    const char* verb;
    void (*hear)(Wishes* wishes, const char* rest);
} VERBS[] = {
    {"pause", hear_pause}, {"play", hear_play},         {"step", hear_step},
    {"speed", hear_speed}, {"friction", hear_friction}, {"gravity", hear_gravity},
    {"grab", hear_grab},   {"move", hear_move},         {"drop", hear_drop},
};

void wishes_hear(Wishes* wishes, const char* words) {
    wishes->changed = true; // "hello", too
    size_t size = strcspn(words, " ");
    for (size_t i = 0; i < sizeof VERBS / sizeof *VERBS; ++i) {
        if (strlen(VERBS[i].verb) == size && strncmp(words, VERBS[i].verb, size) == 0) {
            VERBS[i].hear(wishes, words + size);
            return;
        }
    }
}
