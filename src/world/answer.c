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
    const Candidate* x = problem_candidate(p, i);
    TdlMat3 basis = problem_basis(p, i);
    BodyPlace a = problem_place(p, i, 0), b = problem_place(p, i, 1);
    return (TdlContactForce){
        .body = {problem_body(p, i, 0)->id, problem_body(p, i, 1)->id},
        .element = {a.element, b.element},
        .u = {a.u, b.u},
        .v = {a.v, b.v},
        .point = x == NULL ? a.point : seen_touch(&p->contacts->seen, &x->site.contact),
        .normal = basis.cx,
        .force = tdl_scale3(1.0 / p->world->def.step, tdl_mul33_3(basis, r)),
        .lasts = p->world->def.step, // until all of its parts are made
        .gap = problem_gap(p, i),
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

// Room for the impulse on a body that wants to know, or on all that are joined to it: joints do.
static bool reserve_impulse(const Problem* p, int head) {
    Body* body = p->world->body[head];
    const Linkage* l = body->linkage;
    if (l == NULL && !body_has_rounds(body) && !body->hears) {
        return true;
    }
    size_t dofs = (size_t)problem_dofs(p, head);
    double* impulse = ARENA_NEW(&p->contacts->arena, double, dofs);
    if (impulse == NULL) {
        return false;
    }
    memset(impulse, 0, dofs * sizeof *impulse);
    for (int i = 0; i < (l == NULL ? 1 : l->member_count); ++i) {
        Body* own = l == NULL ? body : l->member[i];
        own->impulse = impulse + own->linked_at;
    }
    return true;
}

// Its velocities, or of all that are joined to it.
static void hand_velocities(const Problem* p, int head) {
    Body* body = p->world->body[head];
    const Linkage* l = body->linkage;
    for (int i = 0; i < (l == NULL ? 1 : l->member_count); ++i) {
        Body* own = l == NULL ? body : l->member[i];
        memcpy(own->v_free, p->velocity + own->dof_at, (size_t)own->dof_count * sizeof(double));
    }
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

// Tells one side of contact i what it feels: bodies that want to know the forces inside them.
static TdlStatus tell_side(const Problem* p, int i, int side) {
    Body* body = problem_body(p, i, side);
    if (body->kind->feel == NULL) {
        return TDL_STATUS_OK;
    }
    BodyPlace place = problem_place(p, i, side);
    double scale = (side == 0 ? -1.0 : 1.0) / p->unit;
    TdlVec3 impulse = tdl_scale3(scale, tdl_mul33_3(problem_basis(p, i), tdl_load3(p->r, i)));
    return body->kind->feel(&p->contacts->host, body, &place, impulse, (TdlVec3){0});
}

void answer_forget_felt(TdlWorld* world) {
    for (int i = 0; i < world->body_count && world->def.forces; ++i) {
        Body* body = world->body[i];
        if (body->kind->feel != NULL) {
            body->kind->feel(&world->host, body, NULL, (TdlVec3){0}, (TdlVec3){0});
        }
    }
}

static TdlStatus tell_sides(const Problem* p) {
    answer_forget_felt(p->world);
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < 2 * p->count && status == TDL_STATUS_OK; ++i) {
        status = tell_side(p, i / 2, i % 2);
    }
    return status;
}

TdlStatus answer_hand_out(const Problem* p) {
    for (int i = 0; i < 2 * p->count; ++i) {
        if (p->body[i] >= 0) {
            Body* body = problem_body(p, i / 2, i % 2)->system;
            body->touched = p->world->body[p->body[i]]->touched = true;
            body->touch += side_work(p, i);
            body->pressed += tdl_norm3(tdl_load3(p->r, i / 2)) / p->unit;
        }
    }
    for (int i = 0; i < p->body_count; ++i) {
        if (p->world->body[i]->touched && problem_dofs(p, i) > 0) {
            hand_velocities(p, i);
            if (!reserve_impulse(p, i)) {
                return TDL_STATUS_NO_MEMORY;
            }
        }
    }
    for (int i = 0; i < 2 * p->count; ++i) {
        const Body* body = p->body[i] < 0 ? NULL : p->world->body[p->body[i]];
        if (body != NULL && body->impulse != NULL) {
            answer_add_impulse(p, i, body->impulse);
        }
    }
    return p->world->def.forces ? tell_sides(p) : TDL_STATUS_OK;
}
