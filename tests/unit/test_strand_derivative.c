// Derivatives of settled shapes against shapes that settle again.
#include "counting_allocator.h"
#include "strands.h"

enum { N = 12, PLACES = 7 };

typedef struct Case {
    TestStrand t;
    int count; // of curvatures
    double at[PLACES];
    TdlVec3 changed[STRAND_MAX + 1], moved[4]; // of natural curvature and loads
} Case;

// A strand at a stable rest that is not near giving way: the adjoint would be large there, and the
// differences would need smaller steps than those below. Fewer than half are passed over.
static void make_case(Rng* rng, int model, Case* c) {
    TdlHost host = tdl_host_default();
    TdlStability stability = {.least_factor = 1.0};
    while (!(stability.least_factor < 0.5)) {
        strand_random(rng, STRAND_MODELS[model], N, 10.0, &c->t);
        strand_add_loads(rng, 4, &c->t);
        rod_destroy(&host, strand_make(&c->t));
        CHECK_INT(tdl_strand_stability(&host, &c->t.strand, c->t.gravity, &stability), 0);
    }
    c->count = N + model;
    for (int k = 0; k < PLACES; ++k) {
        c->at[k] = c->t.strand.length * k / (PLACES - 1);
    }
    c->at[3] = c->at[2]; // twice
    c->at[PLACES - 1] = c->t.strand.length;
    for (int i = 0; i < c->count; ++i) {
        c->changed[i] = strand_random_vector(rng, 1.0 / c->t.strand.length);
    }
    for (int k = 0; k < 4; ++k) {
        c->moved[k] = strand_random_vector(rng, tdl_norm3(c->t.loads[k].force));
    }
}

enum { STIFFNESS = 0, DENSITY = 3, GRAVITY = 4, PLACE = 7, TURN = 8, NATURAL = 11, LOADS, KINDS };

// Direction `kind`, of the size of what it changes.
static TdlStrandChange make_change(const Case* c, int kind) {
    TdlStrandChange change = {0};
    double* stiffness[3] = {&change.stiffness.x, &change.stiffness.y, &change.stiffness.z};
    double* gravity[3] = {&change.gravity.x, &change.gravity.y, &change.gravity.z};
    double* turn[3] = {&change.turn.x, &change.turn.y, &change.turn.z};
    if (kind < DENSITY) {
        TdlVec3 K = c->t.strand.stiffness;
        *stiffness[kind] = kind == 0 ? K.x : kind == 1 ? K.y : K.z;
    } else if (kind < GRAVITY) {
        change.line_density = c->t.strand.line_density;
    } else if (kind < PLACE) {
        *gravity[kind - GRAVITY] = 9.81;
    } else if (kind < TURN) {
        change.place = (TdlVec3){0.3, -0.2, 0.1};
    } else if (kind < NATURAL) {
        *turn[kind - TURN] = 1.0;
    }
    change.natural = kind == NATURAL ? c->changed : NULL;
    change.loads = kind == LOADS ? c->moved : NULL;
    return change;
}

// Where places are once the strand has settled with `h` times the change.
static void settle_again(const Case* c, const TdlStrandChange* change, double h, TdlVec3* kappa,
                         TdlVec3* place) {
    TdlHost host = tdl_host_default();
    TdlStrand strand = c->t.strand;
    TdlVec3 natural[N + 1], gravity = tdl_axpy3(c->t.gravity, h, change->gravity);
    TdlRodLoad loads[4];
    for (int k = 0; k < 4; ++k) {
        loads[k] = c->t.loads[k];
        TdlVec3 d = change->loads == NULL ? (TdlVec3){0} : change->loads[k];
        loads[k].force = tdl_axpy3(loads[k].force, h, d);
    }
    for (int i = 0; i < c->count; ++i) {
        TdlVec3 d = change->natural == NULL ? (TdlVec3){0} : change->natural[i];
        natural[i] = tdl_axpy3(c->t.natural[i], h, d);
    }
    strand.loads = loads;
    strand.stiffness = tdl_axpy3(strand.stiffness, h, change->stiffness);
    strand.line_density += h * change->line_density;
    strand.start.position = tdl_axpy3(strand.start.position, h, change->place);
    TdlMat3 turn = tdl_rotation_exp(tdl_scale3(h, change->turn));
    strand.start.rotation = tdl_mul33(turn, strand.start.rotation);
    CHECK_INT(tdl_strand_settle(&host, &strand, gravity, natural, kappa), TDL_STATUS_OK);
    strand.curvature = kappa;
    CHECK_INT(tdl_strand_places(&host, &strand, PLACES, c->at, place), TDL_STATUS_OK);
}

// Largest error of central differences, relative to the largest rate, of curvatures and places.
static double difference_error(const Case* c, const TdlStrandChange* change, double h,
                               const TdlVec3* kappa_rate, const TdlVec3* place_rate) {
    TdlVec3 kappa[2][N + 1], place[2][PLACES];
    double L = c->t.strand.length, error = 0.0, size = 0.0;
    settle_again(c, change, h, kappa[0], place[0]);
    settle_again(c, change, -h, kappa[1], place[1]);
    for (int i = 0; i < c->count + PLACES; ++i) {
        bool bent = i < c->count;
        int k = bent ? i : i - c->count;
        TdlVec3 d = bent ? tdl_sub3(kappa[0][k], kappa[1][k]) : tdl_sub3(place[0][k], place[1][k]);
        TdlVec3 rate = bent ? kappa_rate[k] : place_rate[k];
        double unit = bent ? L / N : 1.0 / L;
        error = fmax(error, unit * tdl_norm3(tdl_axpy3(rate, -0.5 / h, d)));
        size = fmax(size, unit * tdl_norm3(rate));
    }
    return error / size;
}

TEST(rates_are_those_of_shapes_that_settle_again) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2341);
    int rounds = getenv("TENDRIL_LONG") != NULL ? 40 : 5;
    for (int model = 0; model < 2; ++model) {
        double worst = 0.0, low = 9.0, high = 0.0;
        for (int round = 0; round < rounds; ++round) {
            Case c;
            make_case(&rng, model, &c);
            for (int kind = 0; kind < KINDS; ++kind) {
                TdlStrandChange change = make_change(&c, kind);
                TdlVec3 kappa_rate[N + 1], place_rate[PLACES];
                CHECK_INT(tdl_strand_rates(&host, &c.t.strand, c.t.gravity, &change, kappa_rate,
                                           PLACES, c.at, place_rate),
                          TDL_STATUS_OK);
                double error[3];
                for (int k = 0; k < 3; ++k) {
                    double h = 4.0e-3 / (1 << k);
                    error[k] = difference_error(&c, &change, h, kappa_rate, place_rate);
                }
                worst = fmax(worst, error[2]);
                // h^2/6 times the third derivative, which is below 1000 where nothing gives way
                CHECK_BELOW(error[2], 1.7e-4);
                if (error[2] > 1.0e-8) {
                    double order = log2(error[1] / error[2]);
                    low = fmin(low, order);
                    high = fmax(high, order);
                    CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.3);
                    CHECK_NEAR(order, 2.0, 0.1);
                }
            }
        }
        printf("  %s: error %.1e at the smallest step, order %.3f to %.3f\n", STRAND_MODELS[model],
               worst, low, high);
    }
}

// The adjoint's derivative along a change.
static double along(const Case* c, const TdlStrandGradient* g, const TdlStrandChange* change) {
    double sum = tdl_dot3(g->stiffness, change->stiffness) +
                 g->line_density * change->line_density + tdl_dot3(g->gravity, change->gravity) +
                 tdl_dot3(g->place, change->place) + tdl_dot3(g->turn, change->turn);
    for (int i = 0; change->natural != NULL && i < c->count; ++i) {
        sum += tdl_dot3(g->natural[i], change->natural[i]);
    }
    for (int k = 0; change->loads != NULL && k < 4; ++k) {
        sum += tdl_dot3(g->loads[k], change->loads[k]);
    }
    return sum;
}

TEST(the_adjoint_is_the_transpose) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2342);
    double worst = 0.0;
    for (int round = 0; round < 40; ++round) {
        Case c;
        make_case(&rng, round % 2, &c);
        TdlVec3 by[N + 1], natural[N + 1], loads[4];
        TdlRodLoad by_place[PLACES];
        for (int i = 0; i < c.count; ++i) {
            by[i] = strand_random_vector(&rng, c.t.strand.length);
        }
        for (int k = 0; k < PLACES; ++k) {
            by_place[k] = (TdlRodLoad){
                .at = c.at[k], .force = strand_random_vector(&rng, 1.0 / c.t.strand.length)};
        }
        TdlStrandGradient g = {.natural = natural, .loads = loads};
        CHECK_INT(tdl_strand_adjoint(&host, &c.t.strand, c.t.gravity, by, by_place, PLACES, &g),
                  TDL_STATUS_OK);
        for (int kind = 0; kind < KINDS; ++kind) {
            TdlStrandChange change = make_change(&c, kind);
            TdlVec3 kappa_rate[N + 1], place_rate[PLACES];
            CHECK_INT(tdl_strand_rates(&host, &c.t.strand, c.t.gravity, &change, kappa_rate, PLACES,
                                       c.at, place_rate),
                      TDL_STATUS_OK);
            double forward = 0.0, size = 0.0;
            for (int i = 0; i < c.count; ++i) {
                forward += tdl_dot3(by[i], kappa_rate[i]);
                size += tdl_norm3(by[i]) * tdl_norm3(kappa_rate[i]);
            }
            for (int k = 0; k < PLACES; ++k) {
                forward += tdl_dot3(by_place[k].force, place_rate[k]);
                size += tdl_norm3(by_place[k].force) * tdl_norm3(place_rate[k]);
            }
            worst = fmax(worst, fabs(forward - along(&c, &g, &change)) / size);
        }
    }
    printf("  off by %.1e\n", worst);
    CHECK_BELOW(worst, 1.0e-12); // two solves with conditions of some hundred
}

TEST(a_shape_that_settles_is_the_one_it_was_given) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2343);
    double worst = 0.0;
    for (int round = 0; round < 40; ++round) {
        Case c;
        make_case(&rng, round % 2, &c);
        TdlVec3 kappa[N + 1];
        TdlStrand kicked = c.t.strand;
        kicked.curvature = kappa;
        for (int i = 0; i < c.count; ++i) {
            kappa[i] = tdl_axpy3(c.t.curvature[i], 0.3, c.changed[i]);
        }
        CHECK_INT(tdl_strand_settle(&host, &kicked, c.t.gravity, c.t.natural, kappa), 0);
        for (int i = 0; i < c.count; ++i) {
            TdlVec3 off = tdl_sub3(kappa[i], c.t.curvature[i]);
            worst = fmax(worst, tdl_norm3(off) * c.t.strand.length);
        }
    }
    printf("  off by %.1e\n", worst);
    CHECK_BELOW(worst, 1.0e-10); // 30 roundings of the balance, times a condition of some thousand
}

// A straight column: upright it is stable below w L^3 / EI = 7.837 and no rest is beyond.
static TdlStatus column_rate(double load, const char* model) {
    TdlHost host = tdl_host_default();
    TdlVec3 curvature[N + 1] = {0}, rate[N + 1];
    TdlStrand column = {.model = model,
                        .start = {{0}, tdl_frame_from_tangent((TdlVec3){0.0, 0.0, 1.0})},
                        .length = 1.0,
                        .element_count = N,
                        .curvature = curvature,
                        .stiffness = {1.0, 1.0, 1.0},
                        .line_density = load / 9.81};
    TdlStrandChange change = {.gravity = {1.0, 0.0, 0.0}};
    TdlVec3 down = {0.0, 0.0, -9.81};
    return tdl_strand_rates(&host, &column, down, &change, rate, 0, NULL, NULL);
}

TEST(shapes_that_give_way_have_no_derivative) {
    TdlHost host = tdl_host_default();
    for (int model = 0; model < 2; ++model) {
        CHECK_INT(column_rate(7.0, STRAND_MODELS[model]), TDL_STATUS_OK);
        CHECK_INT(column_rate(8.0, STRAND_MODELS[model]), TDL_STATUS_DIVERGED);
        // where it gives way exactly: its least factor is linear in the load
        TdlVec3 curvature[N + 1] = {0}, down = {0.0, 0.0, -9.81};
        TdlStrand column = {.model = STRAND_MODELS[model],
                            .start = {{0}, tdl_frame_from_tangent((TdlVec3){0.0, 0.0, 1.0})},
                            .length = 1.0,
                            .element_count = N,
                            .curvature = curvature,
                            .stiffness = {1.0, 1.0, 1.0},
                            .line_density = 1.0};
        TdlStability at = {0};
        CHECK_INT(tdl_strand_stability(&host, &column, down, &at), TDL_STATUS_OK);
        double critical = 9.81 / at.least_factor;
        CHECK_INT(column_rate(critical * (1.0 - 1.0e-8), STRAND_MODELS[model]), TDL_STATUS_OK);
        CHECK_INT(column_rate(critical * (1.0 - 1.0e-10), STRAND_MODELS[model]),
                  TDL_STATUS_DIVERGED);
    }
}

TEST(bad_changes_and_want_of_memory) {
    Rng rng = rng_seed(2344);
    Case c;
    make_case(&rng, 1, &c);
    AllocCounter counter = {0};
    TdlHost host = {.mem = counting_allocator(&counter)};
    TdlVec3 rate[N + 1], place[PLACES];
    const TdlStrand* s = &c.t.strand;
    TdlStrandChange change = {.line_density = NAN};
    TdlStrandGradient g = {0};
    CHECK_INT(tdl_strand_rates(&host, s, c.t.gravity, &change, rate, 0, NULL, NULL),
              TDL_STATUS_BAD_ARGUMENT);
    change.line_density = 0.0;
    change.natural = c.changed;
    double back[2] = {0.1 * s->length, 0.05 * s->length};
    CHECK_INT(tdl_strand_rates(&host, s, c.t.gravity, &change, rate, 2, back, place),
              TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_strand_places(&host, s, 2, back, place), TDL_STATUS_BAD_ARGUMENT);
    TdlRodLoad by = {.at = 2.0 * s->length};
    CHECK_INT(tdl_strand_adjoint(&host, s, c.t.gravity, NULL, &by, 1, &g), TDL_STATUS_BAD_ARGUMENT);
    c.changed[2].y = INFINITY;
    CHECK_INT(tdl_strand_settle(&host, s, c.t.gravity, c.changed, rate), TDL_STATUS_BAD_ARGUMENT);
    c.changed[2].y = 0.0;
    TdlStrand der = *s;
    der.model = "der";
    CHECK_INT(tdl_strand_adjoint(&host, &der, c.t.gravity, NULL, NULL, 0, &g),
              TDL_STATUS_BAD_ARGUMENT);
    // every allocation fails in turn
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    by.at = 0.0;
    for (int k = 1; k < 60 && status == TDL_STATUS_NO_MEMORY; ++k) {
        counter.calls = 0;
        counter.fail_at = k;
        status = tdl_strand_rates(&host, s, c.t.gravity, &change, rate, PLACES, c.at, place);
        if (status == TDL_STATUS_OK) {
            status = tdl_strand_adjoint(&host, s, c.t.gravity, NULL, &by, 1, &g);
        }
        if (status == TDL_STATUS_OK) {
            status = tdl_strand_settle(&host, s, c.t.gravity, c.t.natural, rate);
        }
        CHECK(status == TDL_STATUS_OK || status == TDL_STATUS_NO_MEMORY);
        CHECK_INT(counter.live, 0);
    }
    CHECK_INT(status, TDL_STATUS_OK);
}
