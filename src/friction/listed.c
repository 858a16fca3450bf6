// Rows about lists of coordinates. friction.md (F.67)
#include "friction/listed.h"

#include "base/memory.h"

#include <string.h>

enum { FOUR = 4 };
typedef double Four __attribute__((vector_size(8 * FOUR)));

// --- which lists -----------------------------------------------------------------------------

static bool list_has_fours(const int* list, int count) {
    bool good = count % FOUR == 0;
    for (int j = 0; j + FOUR <= count; j += FOUR) {
        good = good && list[j + 1] == list[j] + 1 && list[j + 2] == list[j] + 2 &&
               list[j + 3] == list[j] + 3;
    }
    return good;
}

// Whether every coordinate of a list comes after the same one as in the lists before.
static bool list_is_way(const int* list, int count, int* parent) {
    bool good = true;
    for (int j = 1; j < count; ++j) {
        good = good && (parent[list[j]] < 0 || parent[list[j]] == list[j - 1]);
        parent[list[j]] = list[j - 1];
    }
    return good;
}

// Lists that were looked at, by their last coordinate: many sides have the same.
typedef struct Looked {
    const int* list;
    int count;
} Looked;

bool listed_look(TdlFrictionProblem* p) {
    p->fours = p->ways = p->list != NULL && p->y_like_h;
    if (!p->fours) {
        return true;
    }
    int* parent = tdl_alloc_array(&p->mem, (size_t)p->dof_count, sizeof *parent);
    Looked* looked = tdl_alloc_array(&p->mem, (size_t)p->dof_count, sizeof *looked);
    bool good = parent != NULL && looked != NULL;
    for (int k = 0; k < p->dof_count && good; ++k) {
        parent[k] = -1;
        looked[k] = (Looked){0};
    }
    for (int s = 0; s < 2 * p->n && good; ++s) {
        const SideRows* x = &p->side[s];
        if (x->list == NULL || x->count == 0) {
            continue;
        }
        int first = p->dof_start[p->body[s]];
        Looked* at = &looked[first + x->list[x->count - 1]];
        if (at->list != x->list || at->count != x->count) {
            p->fours = p->fours && list_has_fours(x->list, x->count);
            p->ways = p->ways && list_is_way(x->list, x->count, parent + first);
            *at = (Looked){x->list, x->count};
        }
    }
    tdl_free(&p->mem, parent);
    tdl_free(&p->mem, looked);
    return good;
}

ListedRun listed_run(const int* a, int a_count, const int* b, int b_count, int step) {
    ListedRun run = {0};
    while (run.a < a_count && b_count > 0 && a[run.a] < b[0]) {
        run.a += step;
    }
    while (run.b < b_count && a_count > 0 && b[run.b] < a[0]) {
        run.b += step;
    }
    while (run.a + run.count < a_count && run.b + run.count < b_count &&
           a[run.a + run.count] == b[run.b + run.count]) {
        run.count += step;
    }
    return run;
}

// --- products --------------------------------------------------------------------------------

// By address: how vectors are handed over differs between processors.
static inline void load(const double* from, Four* x) {
    memcpy(x, from, sizeof *x);
}

static inline double sum_of(const Four* x) {
    return ((*x)[0] + (*x)[1]) + ((*x)[2] + (*x)[3]);
}

static void times_fours(Rows x, const double* v, double* out) {
    const double *r0 = x.row, *r1 = r0 + x.apart, *r2 = r1 + x.apart;
    Four s0 = {0}, s1 = {0}, s2 = {0};
    for (int j = 0; j < x.count; j += FOUR) {
        Four a, b, c, z;
        load(v + x.list[j], &z);
        load(r0 + j, &a);
        load(r1 + j, &b);
        load(r2 + j, &c);
        s0 += a * z;
        s1 += b * z;
        s2 += c * z;
    }
    out[0] += sum_of(&s0);
    out[1] += sum_of(&s1);
    out[2] += sum_of(&s2);
}

static void add_fours(Rows y, const double* x, double* v) {
    const double *r0 = y.row, *r1 = r0 + y.apart, *r2 = r1 + y.apart;
    for (int j = 0; j < y.count; j += FOUR) {
        Four a, b, c, z;
        load(v + y.list[j], &z);
        load(r0 + j, &a);
        load(r1 + j, &b);
        load(r2 + j, &c);
        z += a * x[0] + b * x[1] + c * x[2];
        memcpy(v + y.list[j], &z, sizeof z);
    }
}

void listed_times(const TdlFrictionProblem* p, Rows x, const double* v, double* out) {
    if (p->fours && p->d == 3) {
        times_fours(x, v, out);
        return;
    }
    for (int k = 0; k < p->d; ++k) {
        out[k] += gather_product(x.count, x.row + (ptrdiff_t)k * x.apart, x.list, v);
    }
}

void listed_add(const TdlFrictionProblem* p, Rows y, const double* x, double* v) {
    if (p->fours && p->d == 3) {
        add_fours(y, x, v);
        return;
    }
    for (int j = 0; j < y.count; ++j) {
        double sum = 0.0;
        for (int k = 0; k < p->d; ++k) {
            sum += y.row[(ptrdiff_t)k * y.apart + j] * x[k];
        }
        v[y.list[j]] += sum;
    }
}

// w += three rows by three
static void couple_three(int count, const double* h, int h_apart, const double* y, int y_apart,
                         double* w) {
    Four s[9] = {{0}};
    int j = 0;
    for (; j + FOUR <= count; j += FOUR) {
        Four a[3], b[3];
        for (int k = 0; k < 3; ++k) {
            load(h + (ptrdiff_t)k * h_apart + j, &a[k]);
            load(y + (ptrdiff_t)k * y_apart + j, &b[k]);
        }
        for (int k = 0; k < 9; ++k) {
            s[k] += a[k % 3] * b[k / 3];
        }
    }
    for (int k = 0; k < 9; ++k) {
        w[k] += sum_of(&s[k]);
    }
    for (; j < count; ++j) {
        for (int k = 0; k < 9; ++k) {
            w[k] += h[(ptrdiff_t)(k % 3) * h_apart + j] * y[(ptrdiff_t)(k / 3) * y_apart + j];
        }
    }
}

static void couple_run(int d, int count, const double* h, int h_apart, const double* y, int y_apart,
                       double* w) {
    if (d == 3) {
        couple_three(count, h, h_apart, y, y_apart, w);
        return;
    }
    for (int k = 0; k < d * d; ++k) {
        w[k] += dot_product((size_t)count, h + (ptrdiff_t)(k % d) * h_apart,
                            y + (ptrdiff_t)(k / d) * y_apart);
    }
}

static int coordinate_of(const Rows* x, int i) {
    return x->list == NULL ? x->first + i : x->list[i];
}

// Lists of any kind: by runs that they have in common. Those of a sheet have long ones, the fronts
// of its factor.
static void couple_runs(int d, Rows h, Rows y, double* w) {
    for (int i = 0, j = 0; i < h.count && j < y.count;) {
        int a = coordinate_of(&h, i), b = coordinate_of(&y, j), run = 0;
        if (a < b) {
            ++i;
        } else if (a > b) {
            ++j;
        } else {
            while (i + run < h.count && j + run < y.count &&
                   coordinate_of(&h, i + run) == coordinate_of(&y, j + run)) {
                ++run;
            }
            couple_run(d, run, h.row + i, h.apart, y.row + j, y.apart, w);
            i += run;
            j += run;
        }
    }
}

void listed_couple(const TdlFrictionProblem* p, Rows h, Rows y, double* w) {
    // whether two sides have one list in memory is no matter of the problem, a side's own is
    bool same = h.list == y.list && h.count == y.count && (p->ways || p->nodal != NULL);
    if (!same && (!p->ways || h.list == NULL || y.list == NULL)) {
        couple_runs(p->d, h, y, w);
        return;
    }
    ListedRun run = {0, 0, h.count};
    if (!same) {
        run = listed_run(h.list, h.count, y.list, y.count, p->fours ? FOUR : 1);
    }
    couple_run(p->d, run.count, h.row + run.a, h.apart, y.row + run.b, y.apart, w);
}
