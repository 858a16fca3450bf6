// What the impulses of a step's contacts do: to velocities, to bodies, and what is told of them.
#include "world/answer.h"

#include <string.h>

TdlStatus answer_change_velocities(Problem* p) {
    int most = 0;
    for (int i = 0; i < p->body_count; ++i) {
        most = problem_dofs(p, i) > most ? problem_dofs(p, i) : most;
    }
    bool* touched = ARENA_NEW(&p->contacts->arena, bool, (size_t)p->body_count + 1);
    double* change = ARENA_NEW(&p->contacts->arena, double, most);
    if (touched == NULL || change == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(touched, 0, (size_t)p->body_count + 1);
    for (int side = 0; side < 2 * p->count; ++side) {
        int body = p->body[side];
        if (body < 0 || touched[body]) {
            continue;
        }
        touched[body] = true;
        double* v = p->velocity + p->dof_start[body];
        problem_unwhiten(p, body, p->change + p->z_start[body], change);
        for (int j = 0; j < problem_dofs(p, body); ++j) {
            v[j] += change[j];
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus answer_clear_forces(Contacts* c) {
    Retry* retry = &c->retry;
    if (!tdl_reserve(&c->host.mem, &retry->asked, &retry->asked_capacity, c->found.count,
                     sizeof *retry->asked)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < c->found.count; ++i) {
        c->found.at[i].force = (TdlVec3){0};
        c->found.at[i].sticks = false;
        retry->asked[i] = 0.0;
    }
    return TDL_STATUS_OK;
}

TdlContactForce answer_force(const Problem* p, int i, TdlVec3 r) {
    const Seen* seen = &p->contacts->seen;
    const TdlContact* contact = &p->contacts->found.at[p->of[i]].site.contact;
    BodyPlace a = seen_place(seen, contact, 0), b = seen_place(seen, contact, 1);
    return (TdlContactForce){
        .body = {seen_body(seen, contact, 0)->id, seen_body(seen, contact, 1)->id},
        .element = {a.element, b.element},
        .u = {a.u, b.u},
        .v = {a.v, b.v},
        .point = seen_touch(seen, contact),
        .normal = contact->basis.cx,
        .force = tdl_scale3(1.0 / p->world->def.step, tdl_mul33_3(contact->basis, r)),
        .gap = contact->gap,
        .mu = p->mu[i],
        .sliding = r.x > 0.0 && hypot(r.y, r.z) >= (1.0 - 1.0e-6) * p->mu[i] * r.x,
    };
}

// What the impulse of a contact does on one of its sides, J.
static double side_work(const Problem* p, int side) {
    double work = 0.0;
    for (int k = 0; k < 3; ++k) {
        work += p->r[3 * (side / 2) + k] * problem_side_product(p, side, k, p->velocity);
    }
    return work / p->unit;
}

// Room for the impulse on a body that wants to know.
static bool reserve_impulse(const Problem* p, Body* body) {
    if (!body_has_rounds(body) && !body->hears) {
        return true;
    }
    body->impulse = ARENA_NEW(&p->contacts->arena, double, body->dof_count);
    if (body->impulse != NULL) {
        memset(body->impulse, 0, (size_t)body->dof_count * sizeof *body->impulse);
    }
    return body->impulse != NULL;
}

void answer_add_impulse(const Problem* p, int side, double* impulse) {
    TdlSpan span = p->span[side];
    const int* list = p->list == NULL ? NULL : p->list[side];
    for (int k = 0; k < 3 * span.count; ++k) {
        int j = k % span.count, at = list == NULL ? span.first + j : list[j];
        impulse[at] +=
            p->h[p->h_at[side] + (size_t)k] * p->r[3 * (side / 2) + k / span.count] / p->unit;
    }
}

TdlStatus answer_hand_out(const Problem* p) {
    for (int i = 0; i < 2 * p->count; ++i) {
        if (p->body[i] >= 0) {
            Body* body = p->world->body[p->body[i]];
            body->touched = true;
            body->touch += side_work(p, i);
        }
    }
    for (int i = 0; i < p->body_count; ++i) {
        Body* body = p->world->body[i];
        if (!body->touched) {
            continue;
        }
        memcpy(body->v_free, p->velocity + p->dof_start[i],
               (size_t)body->dof_count * sizeof *body->v_free);
        if (!reserve_impulse(p, body)) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    for (int i = 0; i < 2 * p->count; ++i) {
        const Body* body = p->body[i] < 0 ? NULL : p->world->body[p->body[i]];
        if (body != NULL && body->impulse != NULL) {
            answer_add_impulse(p, i, body->impulse);
        }
    }
    return TDL_STATUS_OK;
}
