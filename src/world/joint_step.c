// What an attempt at a step does with joints: rows and their matrix after bodies were predicted,
// velocities with joints before contacts are answered, and after contacts their impulses and how
// far they are from closed where the step ends. What is off is asked for in the next round.
// docs/theory/joints.md
#include "world/world.h"

#include <string.h>

// Relative offset at which a joint is closed, and rounds without contacts until it is.
static const double CLOSED = 1.0e-13;
enum { CLOSINGS_MOST = 20 };

void joints_expect(TdlWorld* world) {
    for (int i = 0; i < world->joints.count; ++i) {
        const Joint* joint = world->joints.at[i];
        if (!joint_holds(joint)) {
            continue;
        }
        double part[3] = {0.0};
        for (int r = 0; r < joint->row_count; ++r) {
            part[joint->row[r].axis] += joint->row[r].turning ? 0.0 : joint->force[r];
        }
        TdlVec3 force = tdl_mul33_3(joint->basis, tdl_load3(part, 0));
        for (int k = 0; k < 2; ++k) {
            Body* body = joint->side[k].body;
            if (body == NULL) {
                continue;
            }
            body->near = body->system->near = true;
            if (body->kind->expect != NULL && tdl_dot3(force, force) > 0.0) {
                body->expects = true;
                body->kind->expect(body, &joint->side[k].place,
                                   tdl_scale3(k == 0 ? -1.0 : 1.0, force));
            }
        }
    }
}

static bool reserve_linkage(TdlWorld* world, Linkage* l) {
    Arena* arena = &world->joints.arena;
    int n = l->row_count, threads = pool_thread_count(world->pool);
    size_t band = (size_t)n * (size_t)(l->width + 1);
    l->matrix = ARENA_NEW(arena, double, band);
    l->factor = ARENA_NEW(arena, double, band);
    l->free = ARENA_NEW(arena, double, l->dof_count);
    l->rows = ARENA_NEW(arena, double, n);
    l->scratch = ARENA_NEW(arena, double, (size_t)(3 * n) * (size_t)threads);
    return l->matrix && l->factor && l->free && l->rows && l->scratch;
}

// How long the impulses of a joint act: as those of contacts between its sides, and where neither
// has such a time but hands on what those do that have, for as long as these. (J.13)
static double find_lasts(const Linkage* l, const Joint* joint, double dt) {
    double most = 0.0;
    for (int m = 0; m < l->member_count; ++m) {
        most = fmax(most, l->member[m]->lasts);
    }
    return body_lasts(joint->side[0].body, joint->side[1].body, most > 0.0 ? most : dt);
}

TdlStatus joints_build(TdlWorld* world, const BodyStep* step, bool anew) {
    Joints* all = &world->joints;
    arena_release(&all->arena, (ArenaMark){0});
    for (int i = 0; i < all->linkage_count; ++i) {
        Linkage* l = &all->linkage[i];
        bool got = reserve_linkage(world, l);
        for (int k = 0; k < l->joint_count && got; ++k) {
            TdlStatus status = anew ? joint_take_target(world, l->joint[k], step) : TDL_STATUS_OK;
            if (status != TDL_STATUS_OK) {
                return status;
            }
            l->joint[k]->lasts = find_lasts(l, l->joint[k], step->dt);
            got = joint_fill(l->joint[k], step, anew, &all->arena);
        }
        if (!got) {
            return TDL_STATUS_NO_MEMORY;
        }
        if (!linkage_factor(l)) {
            return TDL_STATUS_DIVERGED;
        }
    }
    return TDL_STATUS_OK;
}

// What is off is asked for: the method of chords. How far that was, relative. (J.6)
static double ask_again(Joint* joint, const BodyStep* step) {
    double worst = 0.0, scale = joint_scale(joint);
    joint_look(joint, step);
    for (int r = 0; r < joint->row_count; ++r) {
        if (joint->mode[r] == ROW_SOLVED) {
            double unit = joint->row[r].turning ? 1.0 : scale;
            joint->ask[r] -= joint->off[r];
            worst = fmax(worst, fabs(step->dt * joint->off[r]) / unit);
        }
    }
    return isnan(worst) ? INFINITY : worst;
}

static void gather(const Linkage* l, double* v) {
    for (int m = 0; m < l->member_count; ++m) {
        const Body* body = l->member[m];
        memcpy(v + body->linked_at, body->v_free, (size_t)body->dof_count * sizeof *v);
    }
}

static void hand(const Linkage* l, const double* v) {
    for (int m = 0; m < l->member_count; ++m) {
        const Body* body = l->member[m];
        memcpy(body->v_free, v + body->linked_at, (size_t)body->dof_count * sizeof *v);
    }
}

// The impulses of rows at their bounds stand in `rows`, the others are nothing.
static void take_bounded(const Linkage* l) {
    memset(l->rows, 0, (size_t)l->row_count * sizeof *l->rows);
    for (int i = 0; i < l->joint_count; ++i) {
        const Joint* joint = l->joint[i];
        for (int r = 0; r < joint->row_count; ++r) {
            if (joint->mode[r] != ROW_SOLVED) {
                l->rows[joint->first + r] =
                    joint->mode[r] == ROW_LOW ? joint->low[r] : joint->high[r];
            }
        }
    }
}

// lambda of all rows, from what the solved ones miss without it: rows hold J v of velocities that
// have the impulses of the bounded ones and not those of the others.
static void solve_rows(const Linkage* l) {
    for (int i = 0; i < l->joint_count; ++i) {
        const Joint* joint = l->joint[i];
        for (int r = 0; r < joint->row_count; ++r) {
            double* own = &l->rows[joint->first + r];
            *own = joint->mode[r] == ROW_SOLVED ? joint->asked[r] - *own : 0.0;
        }
    }
    linkage_find(l, l->rows, l->scratch);
    linkage_clear_bounded(l, l->rows);
}

static void keep_impulses(const Linkage* l) {
    for (int i = 0; i < l->joint_count; ++i) {
        Joint* joint = l->joint[i];
        for (int r = 0; r < joint->row_count; ++r) {
            double bounded = joint->mode[r] == ROW_LOW ? joint->low[r] : joint->high[r];
            joint->lambda[r] = joint->mode[r] == ROW_SOLVED ? l->rows[joint->first + r] : bounded;
        }
    }
}

// Velocities with joints from those in `free`, which have the impulses of bounded rows.
static void apply_to(Linkage* l, double* v) {
    for (int i = 0; i < l->joint_count; ++i) {
        memcpy(l->joint[i]->asked, l->joint[i]->ask, sizeof l->joint[i]->asked);
    }
    memcpy(v, l->free, (size_t)l->dof_count * sizeof *v);
    linkage_rows(l, v, l->rows);
    solve_rows(l);
    linkage_add(l, 1.0, l->rows, v);
    hand(l, v);
    keep_impulses(l);
}

static bool is_finite(int count, const double* v) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += v[i] - v[i];
    }
    return sum == 0.0;
}

// Of one linkage; false: its joints do not close, and nothing is finite any more.
static bool apply_linkage(Linkage* l, const BodyStep* step, bool first, double* v) {
    gather(l, l->free);
    take_bounded(l);
    linkage_add(l, 1.0, l->rows, l->free);
    double before = INFINITY;
    for (int k = 0; k < CLOSINGS_MOST; ++k) {
        apply_to(l, v);
        double off = 0.0;
        for (int j = 0; j < l->joint_count && first; ++j) {
            off = fmax(off, ask_again(l->joint[j], step));
        }
        if (!(off > CLOSED) || !(off < 0.5 * before)) {
            break;
        }
        before = off;
    }
    return is_finite(l->dof_count, v);
}

TdlStatus joints_apply(TdlWorld* world, const BodyStep* step, bool first) {
    Arena* arena = &world->joints.arena;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < world->joints.linkage_count && status == TDL_STATUS_OK; ++i) {
        Linkage* l = &world->joints.linkage[i];
        ArenaMark mark = arena_mark(arena);
        double* v = ARENA_NEW(arena, double, l->dof_count);
        if (v == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        status = apply_linkage(l, step, first, v) ? TDL_STATUS_OK : TDL_STATUS_DIVERGED;
        arena_release(arena, mark);
    }
    return status;
}

// J A^-1 f of the impulses that contacts had on the members.
static void add_contacts(const Linkage* l) {
    for (int i = 0; i < l->joint_count; ++i) {
        const Joint* joint = l->joint[i];
        for (int k = 0; k < 2; ++k) {
            const Body* body = joint_moves(&joint->side[k]) ? joint->side[k].body->system : NULL;
            if (body == NULL || body->impulse == NULL) {
                continue;
            }
            for (int r = 0; r < joint->row_count; ++r) {
                const double* y = joint->y[k] + (ptrdiff_t)r * body->dof_count;
                double sum = 0.0;
                for (int c = 0; c < body->dof_count; ++c) {
                    sum += y[c] * body->impulse[c];
                }
                l->rows[joint->first + r] += sum;
            }
        }
    }
}

static bool wants_impulse(const Body* body) {
    return body_has_rounds(body) || body->hears;
}

// Tells bodies that want to know the forces inside them what a joint does at its place.
static TdlStatus tell_felt(TdlWorld* world, const Joint* joint) {
    double part[6] = {0.0};
    for (int r = 0; r < joint->row_count; ++r) {
        part[3 * joint->row[r].turning + joint->row[r].axis] += joint->lambda[r];
    }
    TdlVec3 impulse = tdl_mul33_3(joint->basis, tdl_load3(part, 0));
    TdlVec3 torque = tdl_mul33_3(joint->basis, tdl_load3(part, 1));
    TdlStatus status = TDL_STATUS_OK;
    for (int k = 0; k < 2 && status == TDL_STATUS_OK; ++k) {
        Body* body = joint->side[k].body;
        if (body != NULL && body->kind->feel != NULL && world->def.forces) {
            BodyPlace place = joint->side[k].place;
            double sign = k == 0 ? -1.0 : 1.0;
            TdlPose now;
            body->kind->frame(body, &place, &now);
            place.point = now.position;
            place.touch = joint_moves(&joint->side[k]) ? joint->touch[k] : joint->start[k].position;
            status = body->kind->feel(&world->host, body, &place, tdl_scale3(sign, impulse),
                                      tdl_scale3(sign, torque));
        }
    }
    return status;
}

// Tells the members what their joints do to them.
static TdlStatus tell_members(TdlWorld* world, const Linkage* l) {
    for (int m = 0; m < l->member_count; ++m) {
        Body* body = l->member[m];
        body->touched = true;
        if (!wants_impulse(body)) {
            body->impulse = NULL;
        } else if (body->impulse == NULL) {
            body->impulse = ARENA_NEW(&world->joints.arena, double, body->dof_count);
            if (body->impulse == NULL) {
                return TDL_STATUS_NO_MEMORY;
            }
            memset(body->impulse, 0, (size_t)body->dof_count * sizeof *body->impulse);
        }
    }
    for (int i = 0; i < l->joint_count; ++i) {
        const Joint* joint = l->joint[i];
        TdlStatus status = tell_felt(world, joint);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        for (int k = 0; k < 2; ++k) {
            Body* body = joint_moves(&joint->side[k]) ? joint->side[k].body->system : NULL;
            for (int r = 0; r < joint->row_count && body != NULL; ++r) {
                const double* h = joint->h[k] + (ptrdiff_t)r * body->dof_count;
                double arm = joint->row[r].turning && body->size > 0.0 ? body->size : 1.0;
                body->touch += joint->lambda[r] * joint_product(joint, k, r, body->v_free);
                body->pressed += fabs(joint->lambda[r]) / arm;
                for (int c = 0; c < body->dof_count && body->impulse != NULL; ++c) {
                    body->impulse[c] += joint->lambda[r] * h[c];
                }
            }
        }
    }
    return TDL_STATUS_OK;
}

// Rows that ask for more than they may go to their bound; and those at one whose offset wants to go
// back from there are solved again. (J.7)
static bool change_modes(Joint* joint, const BodyStep* step) {
    bool changed = false;
    double scale = joint_scale(joint);
    for (int r = 0; r < joint->row_count; ++r) {
        double slack = CLOSED * (joint->row[r].turning ? 1.0 : scale) / step->dt;
        int before = joint->mode[r];
        if (before == ROW_SOLVED) {
            joint->mode[r] = joint->lambda[r] < joint->low[r]    ? ROW_LOW
                             : joint->lambda[r] > joint->high[r] ? ROW_HIGH
                                                                 : ROW_SOLVED;
        } else if (joint->low[r] < joint->high[r]) {
            bool back = before == ROW_LOW ? joint->off[r] < -slack : joint->off[r] > slack;
            joint->mode[r] = back ? ROW_SOLVED : before;
        }
        if (joint->mode[r] != before) {
            changed = true;
            if (joint->mode[r] == ROW_SOLVED) { // what it asks for begins where it is
                joint->ask[r] = 0.0;
                for (int k = 0; k < 2; ++k) {
                    joint->ask[r] +=
                        joint_moves(&joint->side[k])
                            ? joint_product(joint, k, r, joint->side[k].body->system->v_free)
                            : 0.0;
                }
                joint->ask[r] += joint->soft[r] * joint->lambda[r] - joint->off[r];
            }
        }
    }
    return changed;
}

TdlStatus joints_answer(TdlWorld* world, const BodyStep* step, JointsOff* out) {
    *out = (JointsOff){0};
    for (int i = 0; i < world->joints.linkage_count; ++i) {
        Linkage* l = &world->joints.linkage[i];
        linkage_rows(l, l->free, l->rows);
        add_contacts(l);
        solve_rows(l);
        keep_impulses(l);
        TdlStatus status = tell_members(world, l);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        for (int j = 0; j < l->joint_count; ++j) {
            double off = ask_again(l->joint[j], step);
            if (off > out->off) {
                out->off = off;
                out->worst = l->joint[j];
            }
            out->changed = change_modes(l->joint[j], step) || out->changed;
        }
    }
    return TDL_STATUS_OK;
}

// Displacements that close what is open in a linkage; null: nothing is.
static double* find_closing(const Linkage* l, Arena* arena, bool* failed) {
    bool open = false;
    memset(l->rows, 0, (size_t)l->row_count * sizeof *l->rows);
    for (int i = 0; i < l->joint_count; ++i) {
        const Joint* joint = l->joint[i];
        for (int r = 0; r < joint->row_count && joint->open; ++r) {
            l->rows[joint->first + r] = joint->mode[r] == ROW_SOLVED ? -joint->rest[r] : 0.0;
            open = open || l->rows[joint->first + r] != 0.0;
        }
    }
    double* move = open ? ARENA_NEW(arena, double, l->dof_count) : NULL;
    *failed = open && move == NULL;
    if (move != NULL) {
        memset(move, 0, (size_t)l->dof_count * sizeof *move);
        linkage_find(l, l->rows, l->scratch);
        linkage_clear_bounded(l, l->rows);
        linkage_add(l, 1.0, l->rows, move);
    }
    return move;
}

TdlStatus joints_push(TdlWorld* world) {
    for (int i = 0; i < world->joints.linkage_count; ++i) {
        const Linkage* l = &world->joints.linkage[i];
        bool failed;
        double* move = find_closing(l, &world->joints.arena, &failed);
        if (failed) {
            return TDL_STATUS_NO_MEMORY;
        }
        for (int m = 0; m < l->member_count && move != NULL; ++m) {
            Body* body = l->member[m];
            for (int k = 0; k < body->dof_count && body->push != NULL; ++k) {
                move[body->linked_at + k] += body->push[k];
            }
            body->push = move + body->linked_at;
        }
    }
    return TDL_STATUS_OK;
}

double joints_miss(const TdlWorld* world, const Joint** worst) {
    double most = 0.0;
    *worst = NULL;
    for (int i = 0; i < world->joints.count; ++i) {
        const Joint* joint = world->joints.at[i];
        TdlPose pose[2];
        double way, turn;
        if (!joint_holds(joint)) {
            continue;
        }
        joint_pose_now(joint, pose);
        joint_error(joint, pose, &way, &turn);
        double off = fmax(way / joint_scale(joint), turn);
        if (!(off <= most)) {
            most = off;
            *worst = joint;
        }
    }
    return most;
}
