// What a contact that sticks adds to the second variation by rolling: as its sides turn, it moves
// on along them, and the place where it was lifts off by half of that times the turn. (V.70)
//
// So a plank stays on a round log that is thick enough. The term is never negative, and is left out
// where the shape of a side is not known: a positive answer stays a proof.
#include "inverse/world_inverse.h"

#include <string.h>

// Difference of parameters, over the curve's, from which its bend is taken: an error of 1e-6 of it.
static const double DIFFERENCE = 1.0e-3;
// Cosine between normal and tangent above which the contact is at an end of the curve, where it
// does not move on.
static const double AT_END = 1.0e-6;
// Least curvature between sides, times the rod's length: where they are flatter a turn of 0.1 rad
// would take the contact off the rod. They count as so much rounder, which asks for less.
static const double FLATTEST = 0.1;

// A side as the other sees it: how it goes on from the place where it is touched.
typedef struct RollSide {
    bool known, goes; // its shape is; the contact can move along it
    bool flat;        // a plane
    TdlVec3 tangent, bend;
} RollSide;

static RollSide look_along_curve(const TdlCurve* curve, double u) {
    bool by_length = curve->kind == TDL_CURVE_SEGMENT || curve->kind == TDL_CURVE_HELIX ||
                     curve->kind == TDL_CURVE_CLOTHOID;
    if (!by_length || !(curve->end > 0.0)) {
        return (RollSide){0};
    }
    double low = fmax(0.0, u - DIFFERENCE * curve->end);
    double high = fmin(curve->end, u + DIFFERENCE * curve->end);
    TdlVec3 change = tdl_sub3(tdl_curve_derivative(curve, high), tdl_curve_derivative(curve, low));
    return (RollSide){.known = true,
                      .goes = true,
                      .tangent = tdl_curve_derivative(curve, u),
                      .bend = tdl_scale3(1.0 / (high - low), change)};
}

static RollSide look_along_obstacle(const TdlColliderDef* shape, const TdlContact* x) {
    RollSide side = {.tangent = shape->pose.rotation.cx};
    switch (shape->shape) {
    case TDL_SHAPE_PLANE:
        side.known = side.flat = true;
        break;
    case TDL_SHAPE_SPHERE:
        side.known = true;
        break;
    case TDL_SHAPE_CYLINDER:
        side.known = side.goes = true;
        break;
    case TDL_SHAPE_CAPSULE:
        side.known = true;
        side.goes = x->u[1] > 0.0 && x->u[1] < shape->length;
        break;
    default:
        break;
    }
    return side;
}

static RollSide look_along(const Seen* seen, const TdlContact* x, int side) {
    const TdlCurve* curve = seen_curve(seen, x, side);
    int obstacle = -1 - x->body[side];
    if (curve != NULL) {
        return look_along_curve(curve, x->u[side]);
    }
    return obstacle >= 0 && obstacle < seen->obstacle_count
               ? look_along_obstacle(&seen->obstacle[obstacle], x)
               : (RollSide){0};
}

// How the tangent of a side turns towards the normal: n . d tangent / dq, over the side's span.
static void turn_row(const Inverse* v, int i, int side, TdlVec3 tangent, double* scratch,
                     double* row) {
    const InverseContacts* c = &v->contacts;
    const Seen* seen = &v->world->contacts->seen;
    const TdlContact* x = &v->world->contacts->found.at[c->of[i]].site.contact;
    const Body* body = seen_body(seen, x, side);
    int count = c->span[2 * i + side].count;
    BodyPlace place = seen_place(seen, x, side);
    place.touch = place.point;
    body->kind->rows(body, &place, x->basis, scratch);
    memcpy(row, scratch, (size_t)count * sizeof *row);
    // one more unit along the tangent: by what that moves further
    place.touch = tdl_add3(place.point, tangent);
    body->kind->rows(body, &place, x->basis, scratch);
    for (int j = 0; j < count; ++j) {
        row[j] = scratch[j] - row[j];
    }
}

// The lower factor of the second derivatives of the distance along both sides; false: it has no
// strict minimum there, or the shapes are not known.
static bool factor_distance(const Inverse* v, int i, RollSide side[2], double l[3]) {
    const InverseContacts* c = &v->contacts;
    const Seen* seen = &v->world->contacts->seen;
    const TdlContact* x = &v->world->contacts->found.at[c->of[i]].site.contact;
    TdlVec3 n = x->basis.cx;
    double apart = tdl_norm3(tdl_sub3(x->point[1], x->point[0])), length = INFINITY, own[2];
    for (int k = 0; k < 2; ++k) {
        side[k] = look_along(seen, x, k);
        side[k].goes = side[k].goes && fabs(tdl_dot3(n, side[k].tangent)) < AT_END;
        int rod = c->rod[2 * i + k];
        length = rod >= 0 ? fmin(length, v->rod[rod].strand.length) : length;
    }
    if (!side[0].known || !side[1].known || !(apart > 0.0)) {
        return false;
    }
    double round = side[0].flat || side[1].flat ? 0.0 : 1.0 / apart;
    bool both = side[0].goes && side[1].goes;
    double across = both ? -round * tdl_dot3(side[0].tangent, side[1].tangent) : 0.0;
    for (int k = 0; k < 2; ++k) {
        double bend = (k == 0 ? -1.0 : 1.0) * tdl_dot3(n, side[k].bend);
        own[k] = side[k].goes ? round + bend : INFINITY;
    }
    double least = both ? 0.5 * (own[0] + own[1]) - hypot(0.5 * (own[0] - own[1]), across)
                        : fmin(own[0], own[1]);
    double more = fmax(0.0, FLATTEST / length - least);
    l[0] = isfinite(own[0]) ? sqrt(own[0] + more) : 1.0;
    l[1] = across / l[0];
    l[2] = isfinite(own[1]) ? sqrt(fmax(own[1] + more - l[1] * l[1], 0.0)) : 1.0;
    return least > 0.0 && isfinite(least) && l[2] > 0.0;
}

// Both rows of both sides of a contact; zero where nothing is known.
static void fill_rolling(Inverse* v, int i, double* scratch) {
    InverseContacts* c = &v->contacts;
    RollSide side[2];
    double l[3];
    for (int k = 0; k < 2; ++k) {
        size_t n = (size_t)c->span[2 * i + k].count;
        memset(inverse_row(c, 2 * i + k, 3), 0, 2 * n * sizeof(double));
    }
    if (!factor_distance(v, i, side, l)) {
        return;
    }
    for (int k = 0; k < 2; ++k) {
        int count = c->span[2 * i + k].count;
        if (!side[k].goes || count == 0) {
            continue;
        }
        double *first = inverse_row(c, 2 * i + k, 3), *second = inverse_row(c, 2 * i + k, 4);
        turn_row(v, i, k, side[k].tangent, scratch, first);
        // l^-1 (-turn of the first, turn of the second)
        for (int j = 0; j < count; ++j) {
            double turn = first[j];
            first[j] = k == 0 ? -turn / l[0] : 0.0;
            second[j] = k == 0 ? turn * l[1] / (l[0] * l[2]) : turn / l[2];
        }
    }
}

TdlStatus inverse_find_rolling(Inverse* v, const int* contacts, int count) {
    int most = 0;
    for (int k = 0; k < v->rod_count; ++k) {
        most = v->rod[k].n > most ? v->rod[k].n : most;
    }
    double* scratch = ARENA_NEW(&v->arena, double, 3 * (size_t)most + 1);
    if (scratch == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int e = 0; e < count; ++e) {
        fill_rolling(v, contacts[e], scratch);
    }
    return TDL_STATUS_OK;
}
