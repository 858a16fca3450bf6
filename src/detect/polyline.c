// Distance between polylines in place of the curves: the segment baseline and the segment proxy.
//
// Baseline (S0 section 6.5): segments no longer than the tolerance, one tree of boxes per curve,
// both trees walked together. The proxy is the same with a given number of segments. The
// parameters returned are those of the nearest points of the polylines.
#include "base/log.h"
#include "base/memory.h"
#include "detect/search.h"

// More segments than this per curve do not fit into memory in any useful way.
enum { MAX_SEGMENTS = 1 << 22, LEAF = 4 };

typedef struct BoxNode {
    float low[3], high[3];
} BoxNode;

typedef struct Polyline {
    const TdlCurve* curve;
    int count;      // segments
    int levels;     // of the tree: level l has 2^l nodes, the leaves are the last level
    TdlVec3* point; // [count + 1], relative to the origin of the first curve
    BoxNode* node;  // heap order
} Polyline;

static int first_segment(const Polyline* p, int leaf) {
    return (int)((long)leaf * p->count >> p->levels);
}

static BoxNode box_of(const Polyline* p, int first, int last) {
    BoxNode box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = first; i <= last; ++i) {
        const double v[3] = {p->point[i].x, p->point[i].y, p->point[i].z};
        for (int k = 0; k < 3; ++k) {
            box.low[k] = fminf(box.low[k], nextafterf((float)v[k], -INFINITY));
            box.high[k] = fmaxf(box.high[k], nextafterf((float)v[k], INFINITY));
        }
    }
    return box;
}

static bool polyline_create(const TdlHost* host, const TdlCurve* curve, TdlVec3 offset, int count,
                            Polyline* p) {
    p->curve = curve;
    p->count = count;
    p->levels = 0;
    while ((count >> p->levels) > LEAF) {
        ++p->levels;
    }
    p->point = tdl_alloc_array(&host->mem, (size_t)count + 1, sizeof *p->point);
    p->node = tdl_alloc_array(&host->mem, (size_t)2 << p->levels, sizeof *p->node);
    if (p->point == NULL || p->node == NULL) {
        return false;
    }
    for (int i = 0; i <= count; ++i) {
        p->point[i] = tdl_add3(curve_eval(curve, curve->end * i / count).p, offset);
    }
    int leaves = 1 << p->levels;
    for (int leaf = 0; leaf < leaves; ++leaf) {
        p->node[leaves + leaf] = box_of(p, first_segment(p, leaf), first_segment(p, leaf + 1));
    }
    for (int n = leaves - 1; n > 0; --n) {
        const BoxNode *l = &p->node[2 * n], *r = &p->node[2 * n + 1];
        for (int k = 0; k < 3; ++k) {
            p->node[n].low[k] = fminf(l->low[k], r->low[k]);
            p->node[n].high[k] = fmaxf(l->high[k], r->high[k]);
        }
    }
    return true;
}

static void polyline_destroy(const TdlHost* host, Polyline* p) {
    tdl_free(&host->mem, p->point);
    tdl_free(&host->mem, p->node);
}

static double box_gap(const BoxNode* a, const BoxNode* b) {
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
        double gap =
            fmax(0.0, fmax((double)a->low[k] - b->high[k], (double)b->low[k] - a->high[k]));
        square += gap * gap;
    }
    return sqrt(square);
}

static void try_segments(Search* search, const Polyline* a, int i, const Polyline* b, int j) {
    TdlVec3 u = tdl_scale3(0.5, tdl_sub3(a->point[i + 1], a->point[i]));
    TdlVec3 v = tdl_scale3(0.5, tdl_sub3(b->point[j + 1], b->point[j]));
    TdlVec3 r = tdl_sub3(tdl_add3(a->point[i], u), tdl_add3(b->point[j], v));
    double x, y;
    search_axis_gap(r, u, v, &x, &y);
    double s = a->curve->end * (i + 0.5 + 0.5 * x) / a->count;
    double t = b->curve->end * (j + 0.5 + 0.5 * y) / b->count;
    double d = tdl_norm3(tdl_axpy3(tdl_axpy3(r, x, u), -y, v));
    search_offer(search, s, t, d - search_taper(search, s, t));
}

static void walk(Search* search, const Polyline* a, int na, const Polyline* b, int nb,
                 double thickest) {
    ++search->boxes;
    if (box_gap(&a->node[na], &b->node[nb]) - thickest >= search->best) {
        return;
    }
    int leaves_a = 1 << a->levels, leaves_b = 1 << b->levels;
    if (na >= leaves_a && nb >= leaves_b) {
        int i1 = first_segment(a, na - leaves_a + 1), j1 = first_segment(b, nb - leaves_b + 1);
        for (int i = first_segment(a, na - leaves_a); i < i1; ++i) {
            for (int j = first_segment(b, nb - leaves_b); j < j1; ++j) {
                try_segments(search, a, i, b, j);
            }
        }
        return;
    }
    // the higher node of the two is opened, its nearer child first
    bool open_a = nb >= leaves_b || (na < leaves_a && na <= nb);
    int child[2] = {open_a ? 2 * na : 2 * nb, open_a ? 2 * na + 1 : 2 * nb + 1};
    double gap[2];
    for (int k = 0; k < 2; ++k) {
        gap[k] = open_a ? box_gap(&a->node[child[k]], &b->node[nb])
                        : box_gap(&a->node[na], &b->node[child[k]]);
    }
    int first = gap[1] < gap[0];
    for (int k = 0; k < 2; ++k) {
        int c = child[k == 0 ? first : 1 - first];
        walk(search, a, open_a ? c : na, b, open_a ? nb : c, thickest);
    }
}

static int segment_count(const TdlCurve* curve, const TdlDistanceDef* def) {
    if (def->method == TDL_DISTANCE_PROXY) {
        return def->proxy_segments;
    }
    double count = ceil(curve->end / def->tolerance);
    return count < 1.0 ? 1 : count <= MAX_SEGMENTS ? (int)count : -1;
}

TdlStatus distance_polyline(const TdlHost* host, Search* search, const TdlDistanceDef* def) {
    int count_a = segment_count(search->a, def), count_b = segment_count(search->b, def);
    if (count_a < 0 || count_b < 0) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "distance: a tolerance of %g needs more than %d segments", def->tolerance,
                        MAX_SEGMENTS);
    }
    Polyline a = {0}, b = {0};
    bool stored = polyline_create(host, search->a, (TdlVec3){0}, count_a, &a) &&
                  polyline_create(host, search->b, search->offset, count_b, &b);
    if (stored) {
        double thickest =
            fmax(search_taper(search, 0.0, 0.0), fmax(search->taper_a, 0.0) * search->a->end +
                                                     fmax(search->taper_b, 0.0) * search->b->end);
        walk(search, &a, 1, &b, 1, thickest);
    }
    polyline_destroy(host, &a);
    polyline_destroy(host, &b);
    return stored ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
