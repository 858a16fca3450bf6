// What went through the wall of a tube in a step: places of the inner curve, before and after, each
// as the tube has it then. A bore is convex across, so what is in it at both ends of its way was so
// all along; what is outside of it at both is followed as any two curves are. Cost: some tens of
// places a pair.
#include "detect/bore_sweep.h"

#include "curve/curve.h"
#include "detect/bore.h"

// Places of a curve, and pieces along which one that slid on is looked for.
enum { PLACES = 12, WALK = 16 };

typedef enum BoreSide { IN_FRONT, INSIDE, OUTSIDE } BoreSide;

static BoreSide side_of(const TdlFibre* tube, const TdlCurve* curves, int place, TdlVec3 point) {
    for (int i = 0; i < WALK && place >= 0 && place < tube->count; ++i) {
        TubePiece piece =
            tube_piece(&curves[place], tube->bore + 2 * (ptrdiff_t)place, place, tube->count);
        BorePlace at = bore_place(&piece, point);
        if (at.beyond == 0) {
            return at.inside ? INSIDE : OUTSIDE;
        }
        place += at.beyond;
    }
    return IN_FRONT;
}

static bool is_clear(const ClearBall* balls, int count, TdlVec3 point) {
    bool clear = false;
    for (int k = 0; k < count; ++k) {
        clear = clear || tdl_norm3(tdl_sub3(point, balls[k].centre)) <= balls[k].radius;
    }
    return clear;
}

// The side of the pair that is the tube; -1: none.
static int find_tube(const Moved* m, const int fibre[2], const int element[2]) {
    for (int k = 0; k < 2; ++k) {
        const TdlFibre* tube = &m->fibre[fibre[k]];
        const TdlCurve* other = &m->curve[m->first[fibre[1 - k]] + element[1 - k]];
        if (tube->bore != NULL && bore_takes(tube->bore + 2 * (ptrdiff_t)element[k], other)) {
            return k;
        }
    }
    return -1;
}

BoreWay bore_way(const Moved* m, const int fibre[2], const int element[2]) {
    int k = fibre[0] == fibre[1] ? -1 : find_tube(m, fibre, element);
    if (k < 0) {
        return BORE_NONE;
    }
    const TdlFibre* tube = &m->fibre[fibre[k]];
    int inner = m->first[fibre[1 - k]] + element[1 - k];
    ClearBall balls[CLEAR_BALLS];
    int count = m->clear == NULL ? 0 : m->clear(m->clear_user, fibre[0], fibre[1], balls);
    bool outside = true;
    for (int i = 0; i <= PLACES; ++i) {
        const TdlCurve *before = &m->before[inner], *after = &m->curve[inner];
        TdlVec3 from = tdl_curve_point(before, before->end * i / PLACES),
                to = tdl_curve_point(after, after->end * i / PLACES);
        BoreSide was = side_of(tube, m->before + m->first[fibre[k]], element[k], from),
                 is = side_of(tube, m->curve + m->first[fibre[k]], element[k], to);
        bool through = (was == INSIDE && is == OUTSIDE) || (was == OUTSIDE && is == INSIDE);
        if (through && !is_clear(balls, count, to)) {
            return BORE_THROUGH;
        }
        outside = outside && was == OUTSIDE && is == OUTSIDE;
    }
    return outside ? BORE_OUTSIDE : BORE_CLEAR;
}
