// Contact problems of a step: rows in the coordinates that bodies choose against those in their
// own.
#include "world/problem.h"

#include "friction/problem.h"
#include "tendril/scene.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Compared {
    TdlWorld* world;
    long step;           // the one that is looked at
    int whitened, selfs; // problems, and contacts of bodies with themselves in them
    double worst;
} Compared;

// Row k of contact i by column l of contact j, N s to m/s, from rows of H and of A^-1 H'.
static double plain_entry(const Problem* p, int i, int k, int j, int l) {
    double sum = 0.0;
    for (int a = 2 * i; a < 2 * i + 2; ++a) {
        for (int b = 2 * j; b < 2 * j + 2 && p->body[a] >= 0; ++b) {
            bool again = b % 2 == 1 && problem_touches_itself(p, j); // both are in the first
            if (p->body[b] == p->body[a] && !again) {
                const double* y = p->y + p->y_at[b] + (ptrdiff_t)l * problem_dofs(p, p->body[b]);
                sum += problem_own_product(p, a, k, y);
            }
        }
    }
    return sum * p->unit;
}

static void compare(void* user, const TdlContactProblem* solved) {
    Compared* c = user;
    if (solved->step != c->step) {
        return;
    }
    Problem p = {
        .world = c->world, .contacts = c->world->contacts, .dt = solved->dt, .plain = true};
    REQUIRE(problem_build(&p) == TDL_STATUS_OK);
    CHECK(!p.whitened);
    REQUIRE(p.law_count == solved->problem->n);
    c->whitened += solved->problem->y_like_h;
    for (int i = 0; i < p.law_count; ++i) {
        c->selfs += problem_touches_itself(&p, i);
        for (int j = 0; j < p.law_count; ++j) {
            double w[9] = {0};
            problem_add_coupling(solved->problem, i, j, w);
            for (int k = 0; k < 9; ++k) {
                double own = plain_entry(&p, i, k % 3, i, k % 3);
                double other = plain_entry(&p, j, k / 3, j, k / 3);
                double off = w[k] / solved->unit - plain_entry(&p, i, k % 3, j, k / 3);
                c->worst = fmax(c->worst, fabs(off) / sqrt(own * other));
            }
        }
    }
}

static Compared compare_scene(const char* name, long step) {
    TdlHost host = tdl_host_default();
    Compared c = {.step = step};
    TdlScene* scene;
    char path[1024];
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", getenv("TENDRIL_SOURCE"), name);
    CHECK_INT(tdl_scene_load(&host, path, NULL, 0, &scene), TDL_STATUS_OK);
    CHECK_INT(tdl_scene_build(scene, 1, &c.world), TDL_STATUS_OK);
    tdl_world_watch_problems(c.world, compare, &c);
    for (long i = 0; i < step; ++i) {
        CHECK_INT(tdl_world_step(c.world, NULL), TDL_STATUS_OK);
    }
    printf("  %s: %d problems, %d contacts of bodies with themselves, off by %.1e\n", name,
           c.whitened, c.selfs, c.worst);
    tdl_world_destroy(c.world);
    tdl_scene_destroy(scene);
    return c;
}

// A CoRdE rod that touches itself, several that touch each other, super-helices over a ball.
TEST(entries_of_w_are_the_same_in_either_form) {
    static const struct {
        const char* name;
        long step;
        bool selfs;
    } scenes[] = {{"self-stacking", 362, true},
                  {"corde-spaghetti", 700, false},
                  {"ropes-over-ball", 60, false}};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
        Compared c = compare_scene(scenes[k].name, scenes[k].step);
        CHECK(c.whitened > 0);
        CHECK((c.selfs > 20) == scenes[k].selfs);
        // rounding of A^-1; 1.5e-14 was found
        CHECK_BELOW(c.worst, 1.0e-12);
    }
}
