// The balance of energy, body by body. Contacts, pushes, moved ends, wind and torques tell what
// they did; what a body has beyond that came from nowhere. A step may gain a little and lose it
// again, so what counts is the gain since it was last lost: a slow leak gathers, a swing does not.
#include "world/balance.h"

#include "base/log.h"
#include "curve/curve.h"

#include <float.h>
#include <string.h>

// Share of the potential energy that its rounding may make, with room.
static const double ROUNDED = 1.0e-9;

// A body that goes by this share of its radius in a step does not move to speak of.
static const double CREEP = 1.0e-6;

// A push out of an overlap may put in so many times what is at play: a stiff wire that was placed
// in another takes much more than its weight, and it is told as `push`. What is beyond is nonsense.
static const double PUSH_LIMIT = 1.0e6;

// Share of what is at play that a rule which keeps energy may have lost for a while: large swings
// of a super-model go down by 0.25 and come back. (I.6)
static const double SWING = 0.3;

// And share that it may have too much, by its own account of it.
static const double SWING_UP = 0.1;

// Of numbers: a call of fmax for each of thousands of bodies is felt.
static double larger(double a, double b) {
    return a > b ? a : b;
}

static double moving(TdlEnergy e) {
    return e.kinetic + e.elastic;
}

void balance_begin(Body* body) {
    body->before = body->energy;
    body->balance = (BodyBalance){0};
}

// Joints pass energy on: what they hold together is judged as one, at its first body.
static Body* head_of(const Body* body) {
    const Linkage* l = body->system->linkage;
    return l == NULL ? body->system : l->member[0];
}

// (W.20)
static void count_body(const Body* body, double weight, double step) {
    if (body->kind->energy == NULL) {
        return; // nothing is known of it
    }
    BodyBalance* sum = &head_of(body)->balance;
    TdlEnergy e = body->energy, e0 = body->before;
    double fall = weight * step;
    double change = moving(e) - moving(e0) + (e.gravity - e0.gravity);
    sum->gained += change - body->touch - body->account.supplied;
    sum->push += body->account.push;
    sum->before += moving(e0);
    sum->after += moving(e);
    sum->supplied += body->account.supplied;
    double creep = CREEP * body->size / step;
    sum->least += body->mass * (fall * fall + weight * body->size + creep * creep) +
                  ROUNDED * fabs(e0.gravity);
}

double balance_at_play(const Body* head) {
    return larger(head->ledger.peak, head->balance.before) + head->ledger.supplied +
           larger(head->balance.supplied, 0.0) + head->balance.least;
}

// The head that has gained most above what it may, relative.
typedef struct Worst {
    Body* body; // null: none has
    double most;
} Worst;

static void compare(Worst* worst, Body* body, double gained, double at_play) {
    double own = gained - (body->account.swings ? SWING_UP * at_play : 0.0);
    if (own > worst->most * at_play) {
        worst->most = own / larger(at_play, DBL_MIN);
        worst->body = body;
    }
}

Body* balance_judge(TdlWorld* world, const BodyStep* step) {
    double weight = tdl_norm3(world->def.gravity);
    for (int i = 0; i < world->body_count; ++i) {
        count_body(world->body[i], weight, world->def.step);
    }
    joints_count_feigned(world, step);
    Worst worst = {NULL, world->def.energy_limit};
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        if (head_of(body) == body) {
            BodyBalance* sum = &body->balance;
            double at_play = balance_at_play(body), most = PUSH_LIMIT * at_play;
            sum->gained -= sum->push < most ? sum->push : most;
            compare(&worst, body, sum->gained, at_play);
        }
    }
    return worst.body;
}

double balance_feigned(const TdlWorld* world, Body** whose) {
    double most = 0.0;
    *whose = NULL;
    for (int i = 0; i < world->joints.linkage_count; ++i) {
        Body* head = world->joints.linkage[i].member[0];
        double own = head->balance.feigned / larger(balance_at_play(head), DBL_MIN);
        *whose = own > most ? head : *whose;
        most = larger(own, most);
    }
    return most;
}

// (W.21)
double balance_keep(TdlWorld* world) {
    double sum = 0.0;
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        const BodyBalance* now = &body->balance;
        BodyLedger* ledger = &body->ledger;
        if (head_of(body) == body) {
            double least = body->account.swings ? -SWING * balance_at_play(body) : 0.0;
            ledger->gained = larger(ledger->gained + now->gained, least);
            ledger->peak = larger(ledger->peak, now->after);
            ledger->supplied += larger(now->supplied, 0.0);
            sum += larger(now->gained, 0.0);
        }
    }
    return sum;
}

Body* balance_find_leak(TdlWorld* world) {
    Worst worst = {NULL, world->def.energy_limit};
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        if (head_of(body) == body && body->ledger.gained > 0.0) {
            compare(&worst, body, body->ledger.gained, balance_at_play(body));
        }
    }
    return worst.body;
}

// --- in saved states ------------------------------------------------------------------------

size_t balance_size(const TdlWorld* world) {
    return (size_t)world->body_count * sizeof(BodyLedger);
}

char* balance_save(const TdlWorld* world, char* bytes) {
    for (int i = 0; i < world->body_count; ++i, bytes += sizeof(BodyLedger)) {
        memcpy(bytes, &world->body[i]->ledger, sizeof(BodyLedger));
    }
    return bytes;
}

const char* balance_load(TdlWorld* world, const char* bytes) {
    for (int i = 0; i < world->body_count; ++i, bytes += sizeof(BodyLedger)) {
        memcpy(&world->body[i]->ledger, bytes, sizeof(BodyLedger));
    }
    return bytes;
}

// --- where ----------------------------------------------------------------------------------

// Curves of a body of the system, and the first of its curves among those of all.
static int curves_of(const Body* body) {
    return body->kind->shape == NULL ? 0 : body->kind->shape(body, 0).curve_count;
}

static int count_points(const TdlWorld* world, const Body* head) {
    int count = 0;
    for (int i = 0; i < world->body_count; ++i) {
        count += world->body[i]->system == head ? curves_of(world->body[i]) : 0;
    }
    return count;
}

// The middles of all curves of a system; false when there is no memory.
static bool find_points(const TdlWorld* world, const Body* head, TdlVec3* out) {
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        int count = body->system == head ? curves_of(body) : 0;
        if (count == 0) {
            continue;
        }
        TdlCurve* curves = tdl_alloc_array(&world->host.mem, (size_t)count, sizeof *curves);
        if (curves == NULL) {
            return false;
        }
        body->kind->curves(body, 0, curves);
        for (int k = 0; k < count; ++k) {
            *out++ = tdl_curve_point(&curves[k], 0.5 * curves[k].end);
        }
        tdl_free(&world->host.mem, curves);
    }
    return true;
}

FaultPlace balance_note_failed(TdlWorld* world, Body* head) {
    FaultPlace failed = {.head = head};
    failed.count = head == NULL ? 0 : count_points(world, head);
    if (failed.count == 0) {
        return failed;
    }
    failed.points = tdl_alloc_array(&world->host.mem, (size_t)failed.count, sizeof(TdlVec3));
    if (failed.points == NULL || !find_points(world, head, failed.points)) {
        failed.count = 0;
    }
    return failed;
}

// Which of the points moved furthest; one that is nowhere moved further than any. -1: none moved.
static int furthest(const FaultPlace* failed, const TdlVec3* before) {
    int worst = -1;
    double most = 0.0;
    for (int k = 0; k < failed->count; ++k) {
        double way = tdl_norm3(tdl_sub3(failed->points[k], before[k]));
        way = isnan(way) ? INFINITY : way;
        worst = way > most ? k : worst;
        most = fmax(way, most);
    }
    return worst;
}

// The body and the element of the curve `k` of a system.
static void find_element(const TdlWorld* world, const Body* head, int k, TdlStepFault* out) {
    for (int i = 0; i < world->body_count; ++i) {
        const Body* body = world->body[i];
        int count = body->system == head ? curves_of(body) : 0;
        if (k >= 0 && k < count) {
            out->body = body->id;
            out->element = k / body->kind->shape(body, 0).pieces;
        }
        k -= count;
    }
}

void balance_locate(TdlWorld* world, FaultPlace* failed, TdlStepFault* out) {
    Body* head = failed->head;
    TdlVec3* before = NULL;
    out->element = -1;
    if (head != NULL) {
        out->body = head->id;
        out->place = body_pose(head).position;
    }
    if (failed->count > 0) {
        before = tdl_alloc_array(&world->host.mem, (size_t)failed->count, sizeof *before);
    }
    if (before != NULL && find_points(world, head, before)) {
        int k = furthest(failed, before);
        out->place = k < 0 ? out->place : before[k];
        find_element(world, head, k, out);
    }
    tdl_free(&world->host.mem, before);
    tdl_free(&world->host.mem, failed->points);
    *failed = (FaultPlace){0};
}
