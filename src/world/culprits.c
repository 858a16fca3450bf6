// Whose fault it is, from the accounts of bodies and the forces of contacts.
#include "world/culprits.h"

#include "base/log.h"

double fault_failed(const BodyAccount* account) {
    return account->failed;
}

double fault_missed(const BodyAccount* account) {
    return account->missed;
}

double fault_energy(const BodyAccount* account) {
    return account->energy_rise;
}

Body* culprit_find(const TdlWorld* world, FaultFn fault) {
    Body* worst = NULL;
    double most = 0.0;
    for (int i = 0; i < world->body_count; ++i) {
        double own = fault(&world->body[i]->account);
        worst = own > most ? world->body[i] : worst;
        most = fmax(own, most);
    }
    return worst;
}

static Body* find_body(const TdlWorld* world, TdlBodyId id) {
    for (int i = 0; i < world->body_count; ++i) {
        if (tdl_body_id_equal(world->body[i]->id, id)) {
            return world->body[i];
        }
    }
    return NULL;
}

void culprits_find_pressed(const TdlWorld* world, Body* out[2]) {
    int count;
    const TdlContactForce* force = tdl_world_contact_forces(world, &count);
    double most = 0.0;
    const TdlContactForce* hardest = NULL;
    for (int i = 0; i < count; ++i) {
        double own = tdl_norm3(force[i].force);
        if (own > most) {
            most = own;
            hardest = &force[i];
        }
    }
    for (int side = 0; side < 2; ++side) {
        out[side] = hardest == NULL ? NULL : find_body(world, hardest->body[side]);
    }
}

void culprits_tell_giving(const TdlWorld* world, double start) {
    const Body* giving = NULL;
    for (int i = 0; i < world->body_count && giving == NULL; ++i) {
        giving = world->body[i]->account.gave > 0.0 ? world->body[i] : NULL;
    }
    if (giving != NULL) {
        char name[TDL_BODY_NAME_SIZE];
        world_name_body(giving, name);
        tdl_log(&world->host, TDL_LOG_WARNING,
                "step %ld at %.6g s: the hold of %s gives way: it pulls with %.3g N and no more, "
                "and its end is not where it has to be",
                world->step_count + 1, start, name, giving->account.gave);
    }
}

void culprits_tell_rise(const TdlWorld* world, double start, double rise, const Body* riser) {
    char name[TDL_BODY_NAME_SIZE] = "";
    if (riser != NULL) {
        world_name_body(riser, name);
    }
    tdl_log(&world->host, TDL_LOG_WARNING, "step %ld at %.6g s: energy rose by %.3g J%s%s%s",
            world->step_count + 1, start, rise, riser == NULL ? "" : ", of ", name,
            riser == NULL ? "" : " the most");
}
