// What detection sees of a rod: its elements as curves, cut where they may wind about others or run
// side by side.
#include "curve/curve.h"
#include "rod/rod_body.h"

// Elements of a thick rod, which may wind about each other, are cut into pieces of so many radii: a
// pair has one contact, its deepest. Long thin ones, which may run side by side, are cut in two,
// and a pair has a contact at each minimum of its gap.
static const double WINDING_RADII = 3.0;
static const double PIECE_RADII = 60.0;
enum { MAX_WINDING = 5, MAX_PIECES = 2 };

static double rod_radius(const Rod* rod) {
    return fmax(rod->radius[0], rod->radius[1]);
}

// Pieces of an element short enough to wind about others; 1 of a long thin one.
static int winding_pieces(const Rod* rod) {
    double pieces = ceil(rod->at_rest.element_length / (WINDING_RADII * rod_radius(rod)));
    return pieces <= MAX_WINDING ? (int)pieces : 1;
}

// However short they are: short ones have the places that the pieces of longer ones would have.
static bool winds(const Rod* rod) {
    return rod->at_rest.element_length <= MAX_WINDING * WINDING_RADII * rod_radius(rod);
}

// Curves that stand for an element.
static int curves_each(const Rod* rod, int segments) {
    if (!rod->model->reduced) {
        return 1;
    }
    if (segments > 0) {
        return segments;
    }
    double radii = rod->at_rest.element_length / rod_radius(rod);
    int winding = winding_pieces(rod), side_by_side = (int)fmin(radii / PIECE_RADII, MAX_PIECES);
    int pieces = winding > 1 ? winding : side_by_side;
    return rod->model == &SUPER_CLOTHOID || pieces < 1 ? 1 : pieces;
}

BodyShape rod_shape(const Body* body, int segments) {
    const Rod* rod = rod_of(body);
    int each = curves_each(rod, segments);
    return (BodyShape){.curve_count = rod->element_count * each,
                       .pieces = each,
                       .hollow = rod->hollow,
                       .winds = winds(rod),
                       .slender = rod->at_rest.element_length > PIECE_RADII * rod_radius(rod),
                       .frameless = rod->model->frameless,
                       .seats = segments == 0 ? rod->model->seats : TDL_SEATS_NONE,
                       .size = rod_radius(rod)};
}

// Chords of an element's curve.
static void make_proxies(const TdlCurve* smooth, int count, TdlCurve* out) {
    TdlVec3 from = tdl_curve_point(smooth, 0.0);
    for (int k = 0; k < count; ++k) {
        TdlVec3 to = tdl_curve_point(smooth, smooth->end * (k + 1) / count);
        tdl_curve_segment(&(TdlHost){0}, from, to, &out[k]);
        from = to;
    }
}

// Cuts the helix in curve[0] into equal ones.
static void cut_helix(TdlCurve* curve, int count) {
    TdlCurve whole = *curve;
    double length = whole.end / count;
    for (int k = 0; k < count; ++k) {
        curve[k] = whole;
        curve[k].end = length;
        if (k > 0) {
            TdlVec3 w = whole.helix.w, t = tdl_unit3(tdl_curve_derivative(&whole, k * length));
            curve[k].origin = tdl_curve_point(&whole, k * length);
            curve[k].helix.t = t;
            curve[k].helix.e1 = tdl_cross3(w, t);
            curve[k].helix.e2 = tdl_cross3(w, curve[k].helix.e1);
        }
    }
}

static bool same(TdlVec3 a, TdlVec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// The curve of an element, as its model has it.
static void make_smooth(const RodCurve* shape, TdlCurve* out) {
    TdlHost silent = {.log_level = TDL_LOG_ERROR};
    if (same(shape->kappa, shape->kappa_end)) {
        tdl_curve_helix(&silent, shape->start, shape->kappa, shape->length, out);
    } else {
        tdl_curve_clothoid(&silent, shape->start, shape->kappa, shape->kappa_end, shape->length,
                           out);
    }
}

// What is known at the joints, at a share of an element. It goes linearly along a curve.
static double between_joints(const double* joint, int element, double s) {
    double a = joint[element], b = joint[element + 1];
    return a == b ? a : a + s * (b - a);
}

void rod_curves(Body* body, int segments, TdlCurve* out) {
    const Rod* rod = rod_of(body);
    RodCurve* shape = ((RodBody*)body)->scratch;
    int each = curves_each(rod, segments);
    rod->model->curves(rod, shape);
    for (int e = 0; e < rod->element_count; ++e) {
        TdlCurve* own = &out[e * each];
        make_smooth(&shape[e], own);
        if (segments > 0) {
            TdlCurve smooth = *own;
            make_proxies(&smooth, each, own);
        } else if (each > 1) {
            cut_helix(own, each);
        }
        for (int k = 0; k < each; ++k) {
            own[k].radius[0] = between_joints(rod->thick, e, (double)k / each);
            own[k].radius[1] = between_joints(rod->thick, e, (k + 1.0) / each);
        }
    }
}

void rod_bores(const Body* body, int segments, double* out) {
    const Rod* rod = rod_of(body);
    int each = curves_each(rod, segments);
    for (int i = 0; i < rod->element_count * each; ++i) {
        for (int k = 0; k < 2; ++k) {
            out[2 * i + k] = between_joints(rod->bore, i / each, (i % each + k) / (double)each);
        }
    }
}
