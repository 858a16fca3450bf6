// S0 algorithm 1: branch and bound over pairs of intervals with Taylor's bound, the widest pair
// first. Two departures: a long interval is split on even when its partner is below the tolerance
// (as printed its sample may be far from the minimum), and a split near an end is put in the
// middle. It is the reference for the fast search, and shares with it only the curves and the
// distance between two axes. docs/theory/distance.md, section 2.
#include "base/memory.h"
#include "detect/search.h"

#include <string.h>

typedef struct Queue {
    SearchBox* box; // a heap: the widest on top
    int count, capacity;
} Queue;

static double width(const SearchBox* box) {
    return fmax(box->x, box->y);
}

static bool enqueue(const TdlHost* host, Queue* queue, SearchBox box) {
    if (queue->count == queue->capacity) {
        int capacity = 2 * queue->capacity + 64;
        void* grown = tdl_grow_array(&host->mem, queue->box, (size_t)capacity, sizeof *queue->box);
        if (grown == NULL) {
            return false;
        }
        queue->box = grown;
        queue->capacity = capacity;
    }
    int i = queue->count++;
    for (; i > 0 && width(&queue->box[(i - 1) / 2]) < width(&box); i = (i - 1) / 2) {
        queue->box[i] = queue->box[(i - 1) / 2];
    }
    queue->box[i] = box;
    return true;
}

static SearchBox dequeue(Queue* queue) {
    SearchBox top = queue->box[0], last = queue->box[--queue->count];
    int i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= queue->count) {
            break;
        }
        if (child + 1 < queue->count && width(&queue->box[child + 1]) > width(&queue->box[child])) {
            ++child;
        }
        if (width(&queue->box[child]) <= width(&last)) {
            break;
        }
        queue->box[i] = queue->box[child];
        i = child;
    }
    queue->box[i] = last;
    return top;
}

// Splits the wider interval of the pair at the sample.
static bool enqueue_halves(const TdlHost* host, Queue* queue, const SearchBox* box, double s,
                           double t) {
    SearchBox low = *box, high = *box;
    if (box->x > box->y) {
        double from = box->s - box->x, to = box->s + box->x;
        low.s = 0.5 * (from + s);
        low.x = 0.5 * (s - from);
        high.s = 0.5 * (s + to);
        high.x = 0.5 * (to - s);
    } else {
        double from = box->t - box->y, to = box->t + box->y;
        low.t = 0.5 * (from + t);
        low.y = 0.5 * (t - from);
        high.t = 0.5 * (t + to);
        high.y = 0.5 * (to - t);
    }
    return enqueue(host, queue, low) && enqueue(host, queue, high);
}

// Lines 8 to 25 of the algorithm for one pair; false when memory runs out.
static bool visit(const TdlHost* host, Search* search, Queue* queue, const SearchBox* box) {
    CurvePoint a = curve_eval(search->a, box->s), b = curve_eval(search->b, box->t);
    TdlVec3 r = search_difference(search, &a, &b);
    double x, y;
    double lower = search_axis_gap(r, tdl_scale3(box->x, a.d1), tdl_scale3(box->y, b.d1), &x, &y);
    double s = box->s + x * box->x, t = box->t + y * box->y;
    bool wide = 2.0 * box->x >= search->tolerance && 2.0 * box->y >= search->tolerance;
    wide = wide || 2.0 * fmax(box->x, box->y) >= 4.0 * search->tolerance;
    if (wide) {
        double ka = curve_bend(search->a, box->s - box->x, box->s + box->x);
        double kb = curve_bend(search->b, box->t - box->y, box->t + box->y);
        lower -= 0.5 * (ka * box->x * box->x + kb * box->y * box->y) + search->slack;
        lower -= search_taper(search, box->s, box->t) + fabs(search->taper_a) * box->x +
                 fabs(search->taper_b) * box->y;
        if (lower < search->best) {
            // a sample near an end would leave a sliver: halve instead
            double cut_s = fabs(x) < 0.8 ? s : box->s, cut_t = fabs(y) < 0.8 ? t : box->t;
            if (!enqueue_halves(host, queue, box, cut_s, cut_t)) {
                return false;
            }
        }
    }
    search_offer(search, s, t, search_value(search, s, t));
    return true;
}

TdlStatus distance_plain(const TdlHost* host, Search* search) {
    Queue queue = {0};
    bool stored = enqueue(host, &queue, search_domain(search));
    while (stored && queue.count > 0) {
        if (search->boxes++ >= search->limit) {
            search->complete = false;
            break;
        }
        SearchBox box = dequeue(&queue);
        stored = visit(host, search, &queue, &box);
    }
    tdl_free(&host->mem, queue.box);
    return stored ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
