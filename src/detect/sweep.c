// Sweep and prune over the boxes of elements: sorted along the axis of the widest spread, then each
// against those that begin before it ends. The order is kept from call to call, so that sorting a
// scene that moved little costs one pass of insertion.
#include "detect/broad.h"

#include <float.h>
#include <stdlib.h>

typedef struct ElementBox {
    float low[3], high[3];
} ElementBox;

struct Sweep {
    TdlAllocator mem;
    int count, axis;
    ElementBox* box; // by element
    int* order;      // elements sorted by box.low[axis]
    ElementBox* sorted;
    PairParts parts;
};

enum { SWEEP_BLOCK = 256 };

TdlStatus sweep_create(const TdlHost* host, Sweep** out) {
    Sweep* sweep = tdl_alloc_zero(&host->mem, sizeof *sweep);
    if (sweep == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    sweep->mem = host->mem;
    *out = sweep;
    return TDL_STATUS_OK;
}

static void clear(Sweep* sweep) {
    pair_parts_free(&sweep->mem, &sweep->parts);
    tdl_free(&sweep->mem, sweep->box);
    tdl_free(&sweep->mem, sweep->order);
    tdl_free(&sweep->mem, sweep->sorted);
    *sweep = (Sweep){.mem = sweep->mem};
}

void sweep_destroy(Sweep* sweep) {
    if (sweep != NULL) {
        clear(sweep);
        TdlAllocator mem = sweep->mem;
        tdl_free(&mem, sweep);
    }
}

// Half the margin belongs to each box; single precision is rounded outwards.
static ElementBox element_box(const TdlCurveCapsules* c, double margin) {
    ElementBox box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    const float* centre[3] = {c->cx, c->cy, c->cz};
    const float* half[3] = {c->ux, c->uy, c->uz};
    float grow = (float)(0.5 * margin * (1.0 + 4.0 * FLT_EPSILON)) + c->error;
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 8; ++i) {
            float reach = fabsf(half[k][i]) + c->radius[i] + grow;
            box.low[k] = fminf(box.low[k], centre[k][i] - reach);
            box.high[k] = fmaxf(box.high[k], centre[k][i] + reach);
        }
        if (!isfinite(c->reach)) {
            box.low[k] = -INFINITY;
            box.high[k] = INFINITY;
        }
    }
    return box;
}

// Makes the box hold the way too, seen from what moves by `frame`: curves that met in the step have
// boxes that meet. (X.26)
static void add_travel(ElementBox* box, const Travel* travel, const float frame[3]) {
    for (int k = 0; k < 3; ++k) {
        float lo = 0.0F, hi = 0.0F;
        for (int i = 0; i < 8; ++i) {
            lo = fminf(lo, travel->lo[k][i] - frame[k]);
            hi = fmaxf(hi, travel->hi[k][i] - frame[k]);
        }
        float error = 4.0F * FLT_EPSILON * (hi - lo + fabsf(frame[k]));
        box->low[k] -= hi + error;
        box->high[k] -= lo - error;
    }
}

static void mean_travel(const BroadInput* in, float frame[3]) {
    for (int k = 0; k < 3; ++k) {
        double sum = 0.0;
        for (int i = 0; i < in->count; ++i) {
            sum += (double)in->travel[i].lo[k][0] + (double)in->travel[i].hi[k][0];
        }
        frame[k] = (float)(0.5 * sum / in->count);
    }
}

static bool prepare(Sweep* sweep, int count) {
    if (sweep->count == count && sweep->box != NULL) {
        return true;
    }
    clear(sweep);
    size_t n = (size_t)count;
    sweep->box = tdl_alloc_array(&sweep->mem, n, sizeof *sweep->box);
    sweep->order = tdl_alloc_array(&sweep->mem, n, sizeof *sweep->order);
    sweep->sorted = tdl_alloc_array(&sweep->mem, n, sizeof *sweep->sorted);
    if (sweep->box == NULL || sweep->order == NULL || sweep->sorted == NULL) {
        clear(sweep);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        sweep->order[i] = i;
    }
    sweep->count = count;
    sweep->axis = -1;
    return true;
}

// The axis along which boxes overlap least: the widest spread for the boxes' mean width.
static int sweep_axis(const Sweep* sweep) {
    double most = -1.0;
    int axis = 0;
    for (int k = 0; k < 3; ++k) {
        double sum = 0.0, square = 0.0, width = 0.0;
        int count = 0;
        for (int i = 0; i < sweep->count; ++i) {
            double low = (double)sweep->box[i].low[k], high = (double)sweep->box[i].high[k];
            if (isfinite(low) && isfinite(high)) {
                sum += low;
                square += low * low;
                width += high - low;
                ++count;
            }
        }
        double spread = sqrt(fmax(0.0, square * count - sum * sum)),
               ratio = spread / (width + DBL_MIN);
        if (ratio > most) {
            most = ratio;
            axis = k;
        }
    }
    return axis;
}

typedef struct SortKey {
    float low;
    int element;
} SortKey;

static int by_low(const void* a, const void* b) {
    const SortKey *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    return x->element - y->element;
}

static bool sort_fresh(Sweep* sweep) {
    SortKey* key = tdl_alloc_array(&sweep->mem, (size_t)sweep->count, sizeof *key);
    if (key == NULL) {
        return false;
    }
    for (int i = 0; i < sweep->count; ++i) {
        key[i] = (SortKey){sweep->box[i].low[sweep->axis], i};
    }
    qsort(key, (size_t)sweep->count, sizeof *key, by_low);
    for (int i = 0; i < sweep->count; ++i) {
        sweep->order[i] = key[i].element;
    }
    tdl_free(&sweep->mem, key);
    return true;
}

// Insertion sort from the last order; false when so much has moved that sorting afresh is cheaper.
static bool sort_again(Sweep* sweep) {
    long moves = 0, limit = 16L * sweep->count;
    for (int i = 1; i < sweep->count && moves < limit; ++i) {
        int element = sweep->order[i], k = i;
        float low = sweep->box[element].low[sweep->axis];
        for (; k > 0 && sweep->box[sweep->order[k - 1]].low[sweep->axis] > low; --k) {
            sweep->order[k] = sweep->order[k - 1];
        }
        sweep->order[k] = element;
        moves += i - k;
    }
    return moves < limit;
}

typedef struct SweepTask {
    Sweep* sweep;
    const BroadInput* in;
} SweepTask;

static void sweep_block(void* user, int block, int worker) {
    const SweepTask* task = user;
    Sweep* sweep = task->sweep;
    PairList* out = &sweep->parts.part[worker];
    int k = sweep->axis, y = (k + 1) % 3, z = (k + 2) % 3;
    int end = (block + 1) * SWEEP_BLOCK < sweep->count ? (block + 1) * SWEEP_BLOCK : sweep->count;
    for (int i = block * SWEEP_BLOCK; i < end; ++i) {
        const ElementBox* a = &sweep->sorted[i];
        for (int j = i + 1; j < sweep->count && sweep->sorted[j].low[k] <= a->high[k]; ++j) {
            const ElementBox* b = &sweep->sorted[j];
            if (a->low[y] <= b->high[y] && b->low[y] <= a->high[y] && a->low[z] <= b->high[z] &&
                b->low[z] <= a->high[z] &&
                broad_wants(task->in, sweep->order[i], sweep->order[j])) {
                pair_list_add(&sweep->mem, out, pair_of(sweep->order[i], sweep->order[j]));
            }
        }
    }
}

TdlStatus sweep_pairs(Sweep* sweep, Pool* pool, const BroadInput* in, PairList* out) {
    out->count = 0;
    if (in->count == 0) {
        return TDL_STATUS_OK;
    }
    if (!prepare(sweep, in->count)) {
        return TDL_STATUS_NO_MEMORY;
    }
    float frame[3] = {0.0F, 0.0F, 0.0F};
    if (in->travel != NULL) {
        mean_travel(in, frame);
    }
    for (int i = 0; i < in->count; ++i) {
        sweep->box[i] = element_box(&in->capsules[i], in->margin);
        if (in->travel != NULL) {
            add_travel(&sweep->box[i], &in->travel[i], frame);
        }
    }
    int axis = sweep_axis(sweep);
    bool fresh = axis != sweep->axis;
    sweep->axis = axis;
    if ((fresh || !sort_again(sweep)) && !sort_fresh(sweep)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < in->count; ++i) {
        sweep->sorted[i] = sweep->box[sweep->order[i]];
    }
    if (!pair_parts_start(&sweep->mem, &sweep->parts, pool_thread_count(pool))) {
        return TDL_STATUS_NO_MEMORY;
    }
    SweepTask task = {sweep, in};
    pool_run(pool, (in->count + SWEEP_BLOCK - 1) / SWEEP_BLOCK, 1, sweep_block, &task);
    return pair_parts_join(&sweep->mem, &sweep->parts, out) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
