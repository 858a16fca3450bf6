// The scene language: chains of pieces of one curvature each. Colliders and rigid bodies are made
// of them, and rods have their first shape from them.
#include "scene/scene.h"

#include "base/log.h"

#include <math.h>

#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }
#define AT(type, member) .offset = offsetof(type, member)

// A piece must not turn by more, rad; as an element.
static const double TURN_MAX = 1000.0;

static const Field PIECE_FIELDS[] = {
    {.key = "length",
     .kind = FIELD_REAL,
     AT(PieceSpec, length),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "Of its centreline."},
    {.key = "curvature",
     .kind = FIELD_VEC3,
     AT(PieceSpec, curvature),
     .unit = "1/m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "(twist, k1, k2) about the axes of its frame, which starts as that of the body, "
             "collider or rod. A piece may turn by at most 1000 rad."},
    {0},
};

const Group PIECE_GROUP = {
    .name = "piece",
    .help = "A piece of a chain of curves, which are tubes joined end to end, or of a rod's first "
            "shape.",
    .size = sizeof(PieceSpec),
    .fields = PIECE_FIELDS,
};

TdlCurvePiece* scene_make_pieces(Arena* arena, const GroupList* list) {
    const PieceSpec* from = list->items;
    TdlCurvePiece* pieces = ARENA_NEW(arena, TdlCurvePiece, list->count);
    for (int i = 0; pieces != NULL && i < list->count; ++i) {
        pieces[i] = (TdlCurvePiece){from[i].length, from[i].curvature};
    }
    return pieces;
}

TdlStatus scene_check_pieces(const TdlScene* scene, const GroupList* list) {
    const PieceSpec* pieces = list->items;
    for (int i = 0; i < list->count; ++i) {
        double turn = tdl_norm3(pieces[i].curvature) * pieces[i].length;
        if (!(turn <= TURN_MAX)) {
            return fail_at(&scene->host, scene_mark_of(pieces[i].node, "curvature"),
                           "a piece of %g m would turn by %.3g rad, at most %g", pieces[i].length,
                           turn, TURN_MAX);
        }
    }
    return TDL_STATUS_OK;
}

// A bore has a wall about it, and its bends are wider than the tube.
TdlStatus scene_check_tube(const TdlScene* scene, const ColliderSpec* tube) {
    const PieceSpec* pieces = tube->pieces.items;
    if (tube->inner_radius == 0.0) {
        return TDL_STATUS_OK;
    }
    if (!(tube->inner_radius < tube->radius)) {
        return fail_at(&scene->host, scene_mark_of(tube->node, "inner_radius"),
                       "inner_radius must be less than the radius, %g m", tube->radius);
    }
    for (int i = 0; i < tube->pieces.count; ++i) {
        double bend = hypot(pieces[i].curvature.y, pieces[i].curvature.z);
        if (!(bend * tube->radius < 1.0)) {
            return fail_at(&scene->host, scene_mark_of(pieces[i].node, "curvature"),
                           "the tube would bend with a radius of %g m, not above its own, %g m",
                           1.0 / bend, tube->radius);
        }
    }
    return TDL_STATUS_OK;
}

// --- the first shape of a rod -------------------------------------------------------------------

// Keys that say what the pieces say already.
static TdlStatus check_rod_keys(const TdlScene* scene, const RodSpec* rod) {
    static const char* const KEYS[] = {"curvature", "curves", "rope"};
    for (int i = 0; i < 3; ++i) {
        const Node* found = node_find(rod->node, KEYS[i]);
        if (found != NULL) {
            return fail_at(&scene->host, found->key_mark, "a rod of pieces has no %s: they tell",
                           found->key);
        }
    }
    return TDL_STATUS_OK;
}

// Every element has the mean of its pieces; beyond them it is straight.
TdlStatus scene_lay_pieces(TdlScene* scene, RodSpec* rod) {
    const PieceSpec* pieces = rod->pieces.items;
    TdlStatus status = check_rod_keys(scene, rod);
    if (status == TDL_STATUS_OK) {
        status = scene_check_pieces(scene, &rod->pieces);
    }
    TdlVec3* mean = ARENA_NEW(&scene->arena, TdlVec3, rod->elements);
    if (status != TDL_STATUS_OK || mean == NULL) {
        return status == TDL_STATUS_OK ? TDL_STATUS_NO_MEMORY : status;
    }
    double length = rod->length / rod->elements, from = 0.0;
    for (int i = 0; i < rod->elements; ++i) {
        mean[i] = (TdlVec3){0};
    }
    for (int k = 0; k < rod->pieces.count; ++k) {
        double to = from + pieces[k].length;
        if (to > rod->length * (1.0 + 1.0e-9)) { // sums of decimals
            return fail_at(&scene->host, scene_mark_of(pieces[k].node, "length"),
                           "the pieces are longer than the rod, %g m", rod->length);
        }
        int last = (int)fmin(ceil(to / length), rod->elements);
        for (int i = (int)(from / length); i < last; ++i) {
            double own = fmin(to, (i + 1) * length) - fmax(from, i * length);
            mean[i] = tdl_axpy3(mean[i], fmax(own, 0.0) / length, pieces[k].curvature);
        }
        from = to;
    }
    rod->curvature = (VecList){mean, rod->elements, true};
    return TDL_STATUS_OK;
}
