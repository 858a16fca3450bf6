// Momenta of free rods. super-helix.md (H.34)
//
// The step projects velocities from shape to shape: linear momentum comes through, angular momentum
// to the second order of the step. What it lost is given back as a rotation of the whole rod. O(N).
#include "rod/rod_momenta.h"

#include "math/eigen.h"
#include "math/gauss.h"
#include "math/rotation.h"
#include "math/turning.h"

// An axis about which the rod has less than this share of its largest moment of inertia is none.
static const double NO_AXIS = 1.0e-14;

// The most, relative to its kinetic energy, that a rod may get by keeping its angular momentum.
static const double GAIN_MOST = 0.01;

// What rounding makes of angular momentum, relative to all that it is the sum of.
static const double ROUNDING = 1.0e-14;

void rod_momenta_add(RodMomenta* sum, TdlVec3 arm, double m, TdlVec3 h, TdlMat3 J, Twist at,
                     TdlVec3 linear, TdlVec3 angular) {
    TdlVec3 p = tdl_add3(tdl_add3(at.linear, tdl_cross3(at.angular, h)), linear);
    TdlVec3 l = tdl_add3(tdl_cross3(h, at.linear), tdl_mul33_3(J, at.angular));
    l = tdl_add3(tdl_add3(l, angular), tdl_cross3(arm, p));
    sum->size += m * (tdl_norm3(h) * tdl_norm3(at.linear) + tdl_norm3(arm) * tdl_norm3(p));
    sum->linear = tdl_axpy3(sum->linear, m, p);
    sum->angular = tdl_axpy3(sum->angular, m, l);
    sum->mass += m;
    sum->first = tdl_axpy3(sum->first, m, tdl_add3(arm, h));
    TdlVec3 a = tdl_axpy3(h, 0.5, arm); // (H.15)
    TdlMat3 outer = tdl_add33(tdl_outer3(a, arm), tdl_outer3(arm, a));
    TdlMat3 second = tdl_axpy33(J, 2.0 * tdl_dot3(a, arm), tdl_identity33());
    sum->second = tdl_axpy33(sum->second, m, tdl_sub33(second, outer));
}

bool rod_keeps(const Rod* rod) {
    return rod->model->momenta != NULL && rod->root_dofs == 6 && rod->end_hold == TDL_HOLD_FREE &&
           rod->parent == NULL && rod->child == NULL;
}

static RodMomenta momenta_of(const Rod* rod, const double* v) {
    const double* root = v + rod->dof_count - 6;
    Twist at = {tdl_load3(root, 1), tdl_load3(root, 0)};
    return rod->model->momenta(rod, at, v);
}

// The motion of the root of a body with these moments that has the momenta (about the root). About
// an axis about which there is less angular momentum than `noise`, it does not turn: of a straight
// rod's own axis, about which it hardly has inertia, rounding would make much.
static Twist rigid_motion(const RodMomenta* body, TdlVec3 linear, TdlVec3 angular, double noise) {
    TdlVec3 c = tdl_scale3(1.0 / body->mass, body->first);
    TdlVec3 l = tdl_sub3(angular, tdl_cross3(c, linear)), w = {0};
    TdlMat3 J = tdl_axpy33(body->second, -body->mass * tdl_dot3(c, c), tdl_identity33()), axes;
    double values[3];
    tdl_eigen_3(tdl_axpy33(J, body->mass, tdl_outer3(c, c)), values, &axes);
    const TdlVec3 axis[3] = {axes.cx, axes.cy, axes.cz};
    for (int k = 0; k < 3; ++k) {
        double along = tdl_dot3(axis[k], l);
        if (values[k] > NO_AXIS * values[2] && fabs(along) > noise) {
            w = tdl_axpy3(w, along / values[k], axis[k]);
        }
    }
    TdlVec3 swing = tdl_cross3(w, c);
    return (Twist){tdl_sub3(tdl_scale3(1.0 / body->mass, linear), swing), w};
}

// Gives the velocities v the momenta (about the root) by a rigid motion of the rod; false: the
// linear one alone.
static bool give(const Rod* rod, const RodMomenta* body, TdlVec3 linear, TdlVec3 angular,
                 double* v) {
    double* root = v + rod->dof_count - 6;
    double noise =
        ROUNDING * (body->size + tdl_norm3(rod->base.now.position) * tdl_norm3(body->linear));
    linear = tdl_sub3(linear, body->linear);
    angular = tdl_sub3(angular, body->angular);
    Twist lack = rigid_motion(body, linear, angular, noise);
    double gain = tdl_dot3(lack.angular, tdl_axpy3(body->angular, 0.5, angular)) +
                  tdl_dot3(lack.linear, tdl_axpy3(body->linear, 0.5, linear));
    bool turns = !(gain > GAIN_MOST * rod->model->energy(rod, (TdlVec3){0}).kinetic);
    if (!turns) {
        // it has come to have hardly any inertia about an axis: to keep it turning would make
        // energy
        lack = (Twist){.linear = tdl_scale3(1.0 / body->mass, linear)};
    }
    tdl_store3(root, 0, tdl_add3(tdl_load3(root, 0), lack.angular));
    tdl_store3(root, 1, tdl_add3(tdl_load3(root, 1), lack.linear));
    return turns;
}

// The same about its centre of mass.
static RodMomenta about_centre(const RodMomenta* body) {
    RodMomenta own = *body;
    TdlVec3 c = tdl_scale3(1.0 / body->mass, body->first);
    TdlMat3 J = tdl_axpy33(body->second, -body->mass * tdl_dot3(c, c), tdl_identity33());
    own.second = tdl_axpy33(J, body->mass, tdl_outer3(c, c));
    own.angular = tdl_sub3(body->angular, tdl_cross3(c, body->linear));
    own.first = (TdlVec3){0};
    return own;
}

static TdlVec3 whole_rate(const RodMomenta* own, TdlVec3 angular) {
    return rigid_motion(own, (TdlVec3){0}, angular, 0.0).angular;
}

// The angular momentum in the present shape that is `wanted` in the middle of the step. (H.36)
static TdlVec3 seen_now(const RodMomenta* own, TdlVec3 wanted, double dt) {
    TdlMat3 J = own->second;
    double trace = J.cx.x + J.cy.y + J.cz.z;
    J = tdl_axpy33(J, NO_AXIS * trace, tdl_identity33());
    TdlVec3 w = tdl_turning_rate(J, wanted, whole_rate(own, own->angular), 0.5 * dt);
    return tdl_tmul33_3(tdl_rotation_exp(tdl_scale3(0.5 * dt, w)), wanted);
}

void rod_kept_correct(RodKept* kept, Rod* rod, const RodStep* step) {
    kept->turned = (TdlVec3){0};
    if (!kept->known || rod->taut) { // what loads do to a taut rod's turning is implicit
        return;
    }
    RodMomenta body = momenta_of(rod, rod->v_free);
    TdlVec3 root = rod->base.now.position, pull = tdl_scale3(step->dt, rod_pull(rod, step));
    TdlVec3 centre = tdl_scale3(1.0 / body.mass, body.first), about = tdl_add3(root, centre);
    TdlVec3 linear = tdl_axpy3(kept->linear, body.mass, pull), angular = kept->angular;
    for (int i = 0; i < rod->load_count; ++i) {
        const RodLoad* load = &rod->loads[i];
        TdlVec3 arm = tdl_sub3(rod->model->point(rod, load->element, load->s), about);
        TdlVec3 moment = tdl_add3(load->torque, tdl_cross3(arm, load->force));
        linear = tdl_axpy3(linear, step->dt, load->force);
        angular = tdl_axpy3(angular, step->dt, moment);
    }
    double slowed = 1.0 / rod_mass_factor(rod, step->dt);
    linear = tdl_scale3(slowed, linear);
    RodMomenta own = about_centre(&body);
    TdlVec3 wanted = tdl_scale3(slowed, angular), now = seen_now(&own, wanted, step->dt);
    TdlVec3 about_root = tdl_add3(now, tdl_cross3(centre, linear));
    bool given = give(rod, &body, linear, about_root, rod->v_free);
    body = momenta_of(rod, rod->v_free);
    now = about_centre(&body).angular;
    if (!given) {
        TdlVec3 half = tdl_scale3(0.5 * step->dt, whole_rate(&own, now));
        wanted = tdl_mul33_3(tdl_rotation_exp(half), now);
    }
    kept->turned = tdl_sub3(wanted, now);
}

void rod_kept_correct_end(const RodKept* kept, Rod* rod, const RodStep* step) {
    bool slowed = rod_mass_factor(rod, step->dt) != 1.0;
    if (!kept->known || rod->load_count > 0 || slowed) {
        return;
    }
    RodMomenta body = momenta_of(rod, rod->v);
    TdlVec3 centre = tdl_scale3(1.0 / body.mass, body.first);
    TdlVec3 linear = tdl_axpy3(kept->linear, body.mass * step->dt, step->gravity);
    give(rod, &body, linear, tdl_add3(kept->angular, tdl_cross3(centre, linear)), rod->v);
}

void rod_kept_note(RodKept* kept, const Rod* rod, const double* v) {
    RodMomenta body = momenta_of(rod, v);
    kept->linear = body.linear;
    kept->angular = tdl_add3(about_centre(&body).angular, kept->turned);
    kept->known = true;
    kept->rigid = rigid_motion(&body, body.linear, body.angular, 0.0);
    kept->energy = 0.5 * (tdl_dot3(kept->rigid.linear, body.linear) +
                          tdl_dot3(kept->rigid.angular, body.angular));
}

static TdlVec3 centre_of(const Rod* rod, const RodMomenta* body) {
    return tdl_axpy3(rod->base.now.position, 1.0 / body->mass, body->first);
}

TdlVec3 rod_kept_centre(const Rod* rod) {
    RodMomenta body = momenta_of(rod, rod->v);
    return centre_of(rod, &body);
}

void rod_kept_start(RodKept* kept, const Rod* rod) {
    kept->centre = rod_kept_centre(rod);
    kept->turned = (TdlVec3){0};
}

void rod_kept_foresee(RodKept* kept, const Rod* rod, const double* push) {
    RodMomenta body = momenta_of(rod, push);
    kept->pushed = tdl_scale3(1.0 / body.mass, body.linear);
}

void rod_kept_push(RodKept* kept, Rod* rod, TdlVec3 centre, TdlVec3 frame) {
    TdlVec3 missing = tdl_sub3(tdl_add3(centre, kept->pushed), rod_kept_centre(rod));
    TdlVec3 momentum = tdl_axpy3(kept->linear, -rod_mass(rod), frame);
    rod->base.now.position = tdl_add3(rod->base.now.position, missing);
    kept->angular = tdl_sub3(kept->angular, tdl_cross3(kept->pushed, momentum));
}

void rod_kept_shift(const RodKept* kept, Rod* rod, const RodStep* step, bool middle) {
    RodMomenta body = momenta_of(rod, rod->v);
    TdlVec3 momentum = kept->linear;
    if (middle) { // the mean of that before the step and after it
        momentum = tdl_scale3(0.5, tdl_add3(momentum, body.linear));
    }
    TdlVec3 wanted = tdl_axpy3(kept->centre, step->dt / body.mass, momentum);
    TdlVec3 missing = tdl_sub3(wanted, centre_of(rod, &body));
    rod->base.now.position = tdl_add3(rod->base.now.position, missing);
}

// The centre of mass of other coordinates than the rod's, by twelve points an element.
static TdlVec3 centre_with(const Rod* rod, const double* q, TdlPose start) {
    static const double STILL[6];
    double l = rod->element_length, mass = 0.0;
    TdlVec3 sum = {0};
    for (int e = 0; e < rod->element_count; ++e) {
        RodLocal p;
        TdlVec3 mean = {0};
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            rod->model->local(q + 3 * (ptrdiff_t)e, STILL, GAUSS12_POINT[k], &p);
            mean = tdl_axpy3(mean, GAUSS12_WEIGHT[k], p.position);
        }
        double m = rod->share[e].mass;
        TdlVec3 place = tdl_axpy3(start.position, l, tdl_mul33_3(start.rotation, mean));
        sum = tdl_axpy3(sum, m, place);
        mass += m;
        rod->model->local(q + 3 * (ptrdiff_t)e, STILL, 1.0, &p);
        start.position = tdl_axpy3(start.position, l, tdl_mul33_3(start.rotation, p.position));
        start.rotation = tdl_mul33(start.rotation, p.rotation);
    }
    return tdl_scale3(1.0 / mass, sum);
}

TdlVec3 rod_kept_ahead(const RodKept* kept, const Rod* rod, const double* v, const double* q,
                       TdlPose start, double dt) {
    RodMomenta body = momenta_of(rod, v);
    TdlVec3 wanted = tdl_axpy3(kept->centre, dt / body.mass, body.linear);
    return tdl_sub3(wanted, centre_with(rod, q, start));
}

double rod_kept_slow(const RodKept* kept, Rod* rod, double kinetic, double surplus) {
    double beside = fmax(0.0, kinetic - kept->energy), taken = fmin(surplus, beside);
    double factor = taken > 0.0 ? sqrt(1.0 - taken / beside) : 1.0;
    int n = rod->dof_count - 6;
    for (int i = 0; i < n; ++i) {
        rod->v[i] *= factor;
    }
    TdlVec3 w = kept->rigid.angular, u = kept->rigid.linear;
    tdl_store3(rod->v + n, 0, tdl_axpy3(w, factor, tdl_sub3(tdl_load3(rod->v + n, 0), w)));
    tdl_store3(rod->v + n, 1, tdl_axpy3(u, factor, tdl_sub3(tdl_load3(rod->v + n, 1), u)));
    return taken;
}

void rod_kept_save(const RodKept* kept, double state[ROD_KEPT_DOUBLES]) {
    tdl_store3(state, 0, kept->linear);
    tdl_store3(state, 1, kept->angular);
    state[6] = kept->known ? 1.0 : 0.0;
}

void rod_kept_load(RodKept* kept, const double state[ROD_KEPT_DOUBLES]) {
    kept->linear = tdl_load3(state, 0);
    kept->angular = tdl_load3(state, 1);
    kept->known = state[6] != 0.0;
}
