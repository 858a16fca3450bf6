// The matrix of steps over the coordinates of the bodies that contacts touch.
//
// With T A^-1 S' at each contact the matrix is 1 + Y' T A^-1 S' H. (F.35) It has a dense block for
// every two bodies with a contact between them, filled by products of panels; W is never formed.
#include "friction/space.h"
#include "math/panel.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int compare_touch(const void* a, const void* b) {
    const Touch *x = a, *y = b;
    if (x->body != y->body) {
        return x->body < y->body ? -1 : 1;
    }
    if (x->other != y->other) {
        return x->other < y->other ? -1 : 1;
    }
    if (x->high + x->low != y->high + y->low) {
        return x->high + x->low < y->high + y->low ? -1 : 1;
    }
    return (x->contact > y->contact) - (x->contact < y->contact);
}

static int compare_int(const void* a, const void* b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The place of a body in the system's list, -1: it does not move.
static int body_index(const System* sys, int body) {
    if (body < 0) {
        return -1;
    }
    const int* at =
        bsearch(&body, sys->bodies, (size_t)sys->bodies_count, sizeof body, compare_int);
    return at == NULL ? -1 : (int)(at - sys->bodies);
}

// A contact's place on a body, with the coordinates it is about there.
static Touch make_touch(const System* sys, int contact, int body, int other) {
    const TdlFrictionProblem* p = sys->problem;
    Touch touch = {body, other, contact, INT_MAX, 0, 0};
    for (int s = 2 * sys->contact[contact]; s < 2 * sys->contact[contact] + 2; ++s) {
        if (p->body[s] != sys->bodies[body]) {
            continue;
        }
        Rows x = rows_of_h(p, s);
        int low = x.list == NULL || x.count == 0 ? x.first : x.list[0];
        int high = x.list == NULL || x.count == 0 ? x.first + x.count : x.list[x.count - 1] + 1;
        touch.low = low < touch.low ? low : touch.low;
        touch.high = high > touch.high ? high : touch.high;
    }
    return touch;
}

static bool list_touches(Coordinates* c) {
    const System* sys = c->run->sys;
    Arena* arena = c->run->arena;
    c->touch = ARENA_NEW(arena, Touch, 2 * (size_t)sys->n);
    c->first = ARENA_NEW(arena, int, (size_t)sys->bodies_count + 1);
    if (c->touch == NULL || c->first == NULL) {
        return false;
    }
    for (int i = 0; i < sys->n; ++i) {
        if (c->part[i].size == 0) {
            continue;
        }
        const int* body = sys->problem->body + (ptrdiff_t)2 * sys->contact[i];
        int a = body_index(sys, body[0]), b = body_index(sys, body[1]);
        int one = a < 0 ? b : a, two = b < 0 ? a : b;
        if (one >= 0) {
            c->touch[c->count++] = make_touch(sys, i, one, two);
        }
        if (one != two) {
            c->touch[c->count++] = make_touch(sys, i, two, one);
        }
    }
    qsort(c->touch, (size_t)c->count, sizeof *c->touch, compare_touch);
    for (int k = 0, e = 0; k <= sys->bodies_count; ++k) {
        c->first[k] = e;
        while (e < c->count && c->touch[e].body == k) {
            ++e;
        }
    }
    return true;
}

// whole += factor times row k, over the coordinates of its body
static void spread(Rows x, int k, double factor, double* whole) {
    const double* row = x.row + (ptrdiff_t)k * x.apart;
    if (factor == 0.0) {
        return;
    }
    for (int j = 0; j < x.count && x.list == NULL; ++j) {
        whole[x.first + j] += factor * row[j];
    }
    for (int j = 0; j < x.count && x.list != NULL; ++j) {
        whole[x.list[j]] += factor * row[j];
    }
}

// The columns of one contact on a body.
static void fill_columns(const Coordinates* c, const Touch* touch, int m) {
    const System* sys = c->run->sys;
    const TdlFrictionProblem* p = sys->problem;
    const Reduced* part = &c->part[touch->contact];
    int body = sys->bodies[touch->body], g = sys->contact[touch->contact];
    for (int k = 0; k < part->size; ++k) {
        size_t at = (size_t)(touch->column + k) * (size_t)m;
        double* left = c->left[touch->body] + at;
        double* right = c->right[touch->body] + at;
        double scale = -1.0 / (part->add[4 * k] * sys->sigma);
        memset(left, 0, (size_t)m * sizeof *left);
        memset(right, 0, (size_t)m * sizeof *right);
        for (int s = 2 * g; s < 2 * g + 2; ++s) {
            if (p->body[s] != body) {
                continue;
            }
            for (int j = 0; j < 3; ++j) {
                spread(rows_of_h(p, s), j, scale * part->test[3 * k + j], right);
                if (side_moves(p, s)) {
                    spread(rows_of_y(p, s), j, part->trial[3 * k + j], left);
                }
            }
        }
    }
}

// Room for the factors of each body, and where the columns of its contacts are.
static TdlStatus place_columns(Coordinates* c) {
    const System* sys = c->run->sys;
    Arena* arena = c->run->arena;
    c->left = ARENA_NEW(arena, double*, sys->bodies_count);
    c->right = ARENA_NEW(arena, double*, sys->bodies_count);
    c->triple = ARENA_NEW(arena, int, (size_t)sys->bodies_count + 1);
    if (c->left == NULL || c->right == NULL || c->triple == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    int triples = 0;
    for (int k = 0; k < sys->bodies_count; ++k) {
        int m = body_dofs(sys->problem, sys->bodies[k]), columns = 0;
        for (int e = c->first[k]; e < c->first[k + 1]; ++e) {
            c->touch[e].column = columns;
            columns += c->part[c->touch[e].contact].size;
        }
        c->triple[k] = triples;
        triples += columns > 0 ? (m + 2) / 3 : 0;
        c->left[k] = ARENA_NEW(arena, double, (size_t)m*(size_t)columns);
        c->right[k] = ARENA_NEW(arena, double, (size_t)m*(size_t)columns);
        if (c->left[k] == NULL || c->right[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    c->triple[sys->bodies_count] = triples;
    return TDL_STATUS_OK;
}

static void fill_factors(const Coordinates* c) {
    const System* sys = c->run->sys;
    for (int e = 0; e < c->count; ++e) {
        fill_columns(c, &c->touch[e], body_dofs(sys->problem, sys->bodies[c->touch[e].body]));
    }
}

static bool list_pairs(Coordinates* c) {
    Pairs* pairs = &c->pairs;
    const System* sys = c->run->sys;
    Arena* arena = c->run->arena;
    pairs->at = ARENA_NEW(arena, Pair, (size_t)c->count + (size_t)sys->bodies_count);
    pairs->first = ARENA_NEW(arena, int, (size_t)sys->bodies_count + 1);
    if (pairs->at == NULL || pairs->first == NULL) {
        return false;
    }
    for (int k = 0; k < sys->bodies_count; ++k) {
        pairs->first[k] = pairs->count;
        if (c->first[k] == c->first[k + 1]) {
            continue;
        }
        bool self = false;
        for (int e = c->first[k]; e < c->first[k + 1];) {
            int other = c->touch[e].other, from = e;
            while (e < c->first[k + 1] && c->touch[e].other == other) {
                ++e;
            }
            if (other >= k && !self) {
                pairs->at[pairs->count++] = (Pair){.a = k, .b = k};
                self = true;
            }
            if (other != k) {
                pairs->at[pairs->count++] =
                    (Pair){.a = k, .b = other, .touch = from, .count = e - from};
            }
        }
        if (!self) {
            pairs->at[pairs->count++] = (Pair){.a = k, .b = k};
        }
    }
    pairs->first[sys->bodies_count] = pairs->count;
    for (int k = 0; k < sys->bodies_count; ++k) {
        int offset = 0;
        for (int e = pairs->first[k]; e < pairs->first[k + 1]; ++e) {
            Pair* pair = &pairs->at[e];
            pair->offset = offset;
            offset += c->triple[pair->b + 1] - c->triple[pair->b];
            for (int f = pairs->first[pair->b]; f < pairs->first[pair->b + 1]; ++f) {
                pair->back = pairs->at[f].b == k ? f : pair->back;
            }
        }
    }
    return true;
}

static int row_length(const Coordinates* c, int body) {
    const Pair* last = &c->pairs.at[c->pairs.first[body + 1] - 1];
    return last->offset + c->triple[last->b + 1] - c->triple[last->b];
}

// Rows, columns, and where each block is across the diagonal.
static TdlStatus lay_out(Coordinates* c) {
    const Pairs* pairs = &c->pairs;
    const System* sys = c->run->sys;
    Arena* arena = c->run->arena;
    int triples = c->triple[sys->bodies_count];
    int* start = ARENA_NEW(arena, int, (size_t)triples + 1);
    c->whole = ARENA_NEW(arena, Reduced, triples);
    if (start == NULL || c->whole == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    size_t count = 0;
    for (int k = 0; k < sys->bodies_count; ++k) {
        int m = body_dofs(sys->problem, sys->bodies[k]);
        for (int i = c->triple[k]; i < c->triple[k + 1]; ++i) {
            int left = m - 3 * (i - c->triple[k]);
            c->whole[i] = (Reduced){left < 3 ? left : 3,
                                    {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                                    {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                                    {0}};
            start[i] = (int)count;
            count += (size_t)row_length(c, k);
            if (count > MAX_FORMED) {
                return TDL_STATUS_STOPPED;
            }
        }
    }
    start[triples] = (int)count;
    int *column = ARENA_NEW(arena, int, count), *across = ARENA_NEW(arena, int, count);
    c->blocks = ARENA_NEW(arena, double, 9 * count);
    if (column == NULL || across == NULL || c->blocks == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int e = 0; e < pairs->count; ++e) {
        const Pair* pair = &pairs->at[e];
        int back = pairs->at[pair->back].offset;
        int ra = c->triple[pair->a], rb = c->triple[pair->b];
        for (int i = ra; i < c->triple[pair->a + 1]; ++i) {
            for (int j = rb; j < c->triple[pair->b + 1]; ++j) {
                int at = start[i] + pair->offset + j - rb;
                column[at] = j;
                across[at] = start[j] + back + i - ra;
            }
        }
    }
    c->pattern = (BlockPattern){triples, 3, start, column, across};
    return TDL_STATUS_OK;
}

static void scatter(const Coordinates* c, const Pair* pair, int ma, int mb, const double* dense) {
    int ra = c->triple[pair->a], rb = c->triple[pair->b];
    for (int i = ra; i < c->triple[pair->a + 1]; ++i) {
        double* to = c->blocks + 9 * (size_t)(c->pattern.start[i] + pair->offset);
        int row = 3 * (i - ra), tall = ma - row < 3 ? ma - row : 3;
        for (int j = 0; j < c->triple[pair->b + 1] - rb; ++j, to += 9) {
            for (int k = 0; k < 3; ++k) {
                const double* from = dense + (size_t)(3 * j + k) * (size_t)ma + (size_t)row;
                for (int l = 0; l < 3; ++l) {
                    to[3 * k + l] = 3 * j + k < mb && l < tall ? from[l] : 0.0;
                }
            }
        }
    }
}

// Columns of the contacts of `pair`, taken together.
static void take_columns(const Coordinates* c, const Touch* touch, int count, int m,
                         const double* from, double* to) {
    for (int e = 0; e < count; ++e) {
        size_t size = (size_t)c->part[touch[e].contact].size * (size_t)m;
        memcpy(to, from + (size_t)touch[e].column * (size_t)m, size * sizeof *to);
        to += size;
    }
}

static int by_contact(const void* a, const void* b) {
    const Touch *x = a, *y = b;
    return (x->contact > y->contact) - (x->contact < y->contact);
}

// The touches of the second body of a pair in the order of those of the first.
static const Touch* match_touches(const Coordinates* c, const Pair* pair) {
    Arena* arena = c->run->arena;
    size_t count = (size_t)pair->count;
    Touch* sorted = ARENA_NEW(arena, Touch, count);
    Touch* out = ARENA_NEW(arena, Touch, count);
    if (sorted == NULL || out == NULL) {
        return NULL;
    }
    memcpy(sorted, &c->touch[c->pairs.at[pair->back].touch], count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_contact);
    for (size_t k = 0; k < count; ++k) {
        out[k] = *(const Touch*)bsearch(&c->touch[pair->touch + (int)k], sorted, count,
                                        sizeof *sorted, by_contact);
    }
    return out;
}

// Columns of factors with the coordinates of their panels: those of the touches from `at` on, as
// many as fit. Returns how many these are.
typedef struct Panel {
    int rank, low, high;
} Panel;

static int next_panel(const Coordinates* c, const Touch* at, int count, Panel* out) {
    int k = 0;
    *out = (Panel){0, INT_MAX, 0};
    for (; k < count && out->rank + 3 <= PANEL_RANK; ++k) {
        out->rank += c->part[at[k].contact].size;
        out->low = at[k].low < out->low ? at[k].low : out->low;
        out->high = at[k].high > out->high ? at[k].high : out->high;
    }
    return k;
}

// Of a pair of bodies: the touches, coordinates and factors of both.
typedef struct Product {
    const Touch *a, *b;
    int count, ma, mb;
    const double *left, *right;
} Product;

// out (ma x mb) -= left right', over the coordinates that each panel is about.
static void multiply(const Coordinates* c, const Product* x, double* packed, double* out) {
    bool all = !c->run->sys->problem->y_like_h; // of Y
    const double *left = x->left, *right = x->right;
    Panel a, b;
    for (int k = 0, taken; k < x->count; k += taken) {
        taken = next_panel(c, x->a + k, x->count - k, &a);
        next_panel(c, x->b + k, x->count - k, &b);
        int low = all ? 0 : a.low, rows = (all ? x->ma : a.high) - low;
        panel_pack(rows, a.rank, left + low, (size_t)x->ma, packed);
        for (int j = b.low; j < b.high; j += PANEL_COLUMNS) {
            panel_product(a.rank, rows, packed, right + j, (size_t)x->mb,
                          b.high - j < PANEL_COLUMNS ? b.high - j : PANEL_COLUMNS, (size_t)x->ma,
                          out + (size_t)j * (size_t)x->ma + low);
        }
        run_spend(c->run, (double)rows * (b.high - b.low) * a.rank);
        left += (size_t)a.rank * (size_t)x->ma;
        right += (size_t)a.rank * (size_t)x->mb;
    }
}

// The block of a pair, in scratch memory.
static TdlStatus fill_pair(Coordinates* c, const Pair* pair) {
    const System* sys = c->run->sys;
    Arena* arena = c->run->arena;
    bool same = pair->a == pair->b;
    int ma = body_dofs(sys->problem, sys->bodies[pair->a]);
    int mb = body_dofs(sys->problem, sys->bodies[pair->b]);
    int from = same ? c->first[pair->a] : pair->touch;
    int count = same ? c->first[pair->a + 1] - from : pair->count;
    size_t columns = same ? 0 : 3 * (size_t)count;
    double* dense = ARENA_NEW(arena, double, (size_t)ma*(size_t)mb);
    double* packed = ARENA_NEW(arena, double, panel_size(ma, PANEL_RANK));
    double* left = ARENA_NEW(arena, double, columns*(size_t)ma);
    double* right = ARENA_NEW(arena, double, columns*(size_t)mb);
    if (!dense || !packed || !left || !right) {
        return TDL_STATUS_NO_MEMORY;
    }
    Product x = {&c->touch[from],  &c->touch[from],  count, ma, mb,
                 c->left[pair->a], c->right[pair->a]};
    if (!same) {
        // in the order of the first body on both sides
        take_columns(c, x.a, count, ma, c->left[pair->a], left);
        x.b = match_touches(c, pair);
        if (x.b == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        take_columns(c, x.b, count, mb, c->right[pair->b], right);
        x.left = left;
        x.right = right;
    }
    memset(dense, 0, (size_t)ma * (size_t)mb * sizeof *dense);
    for (int k = 0; k < ma && same; ++k) {
        dense[(size_t)k * (size_t)(ma + 1)] = 1.0;
    }
    multiply(c, &x, packed, dense);
    scatter(c, pair, ma, mb, dense);
    return TDL_STATUS_OK;
}

static TdlStatus fill_blocks(Coordinates* c) {
    Arena* arena = c->run->arena;
    for (int e = 0; e < c->pairs.count; ++e) {
        ArenaMark mark = arena_mark(arena);
        TdlStatus status = fill_pair(c, &c->pairs.at[e]);
        arena_release(arena, mark);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// The system's velocities to and from the right-hand side of the matrix.
static void exchange(const Coordinates* c, bool back, double* x) {
    const System* sys = c->run->sys;
    for (int k = 0; k < sys->bodies_count; ++k) {
        if (c->triple[k] == c->triple[k + 1]) {
            continue;
        }
        int body = sys->bodies[k], m = body_dofs(sys->problem, body);
        double *v = sys->v + sys->problem->dof_start[body], *own = x + (ptrdiff_t)3 * c->triple[k];
        for (int j = 0; j < m; ++j) {
            if (back) {
                v[j] = own[j];
            } else {
                own[j] = v[j];
            }
        }
    }
}

// --- what others call ----------------------------------------------------------------------------

TdlStatus coordinates_plan(Coordinates* c, Run* run, const Reduced* part) {
    *c = (Coordinates){.run = run, .part = part};
    if (!list_touches(c)) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = place_columns(c);
    if (status != TDL_STATUS_OK || !list_pairs(c)) {
        return status != TDL_STATUS_OK ? status : TDL_STATUS_NO_MEMORY;
    }
    status = lay_out(c);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    c->x = ARENA_NEW(run->arena, double, (size_t)3 * (size_t)c->pattern.n);
    return c->x == NULL ? TDL_STATUS_NO_MEMORY
                        : front_lu_analyse(&c->lu, run->arena, &c->pattern, c->whole);
}

TdlStatus coordinates_factor(Coordinates* c) {
    fill_factors(c);
    TdlStatus status = fill_blocks(c);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return front_lu_factor(&c->lu, c->blocks, c->run->sys->pool) ? TDL_STATUS_OK
                                                                 : TDL_STATUS_STOPPED;
}

void coordinates_solve(Coordinates* c) {
    exchange(c, false, c->x);
    front_lu_solve(&c->lu, c->x);
    exchange(c, true, c->x);
}
