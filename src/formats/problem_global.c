// Global problems M v = f + H r, u = H' v + q, turned into velocity space.
//
// The connected parts of M are the bodies; parts that one contact joins beyond two are merged, so
// that every contact touches at most two. Each body's M is factored by a dense Cholesky, M = L L',
// and its coordinates are whitened: rows L^-1 H' serve as both H and Y', which halves the memory.
// Cost sum of k^3 over bodies of k unknowns: meant for rigid bodies and rods. A part too large for
// the file it comes from is refused before anything is allocated.
#include "formats/problem_global.h"

#include "base/log.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

// Doubles that may be held for each entry of the file, and for any file.
enum { DOUBLES_AN_ENTRY = 64, DOUBLES_ALWAYS = 1 << 22 };

typedef struct Parts {
    int dofs, count;
    int* parent;    // [dofs] union-find
    int* body_of;   // [dofs]
    int* place_of;  // [dofs] number within the body
    int* dof_start; // [count + 1]
    int* body;      // [2 n]
    size_t* offset; // [2 n] rows of each side
    size_t* factor; // [count] where each body's L begins
    double *l, *h, *velocity, *u_free;
} Parts;

static int root_of(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(int* parent, int i, int j) {
    int a = root_of(parent, i), b = root_of(parent, j);
    parent[a < b ? b : a] = a < b ? a : b;
}

static void parts_free(const TdlAllocator* mem, Parts* p) {
    tdl_free(mem, p->parent);
    tdl_free(mem, p->body_of);
    tdl_free(mem, p->place_of);
    tdl_free(mem, p->offset);
    tdl_free(mem, p->factor);
    tdl_free(mem, p->l);
    tdl_free(mem, p->dof_start);
    tdl_free(mem, p->body);
    tdl_free(mem, p->h);
    tdl_free(mem, p->velocity);
    tdl_free(mem, p->u_free);
}

// joins what M couples, then the parts that a contact touches beyond its first two
static void find_parts(Parts* p, const RawProblem* raw, int* first, int* second) {
    for (int k = 0; k < p->dofs; ++k) {
        p->parent[k] = k;
    }
    for (int e = 0; e < raw->w.count; ++e) {
        join(p->parent, raw->w.row[e], raw->w.col[e]);
    }
    for (int pass = 0; pass < 2; ++pass) {
        memset(first, 0xff, (size_t)raw->n * sizeof(int));
        memset(second, 0xff, (size_t)raw->n * sizeof(int));
        for (int e = 0; e < raw->h.count; ++e) {
            int c = raw->h.col[e] / raw->d, root = root_of(p->parent, raw->h.row[e]);
            if (first[c] < 0) {
                first[c] = raw->h.row[e];
            } else if (root_of(p->parent, first[c]) == root) {
                continue;
            } else if (second[c] < 0) {
                second[c] = raw->h.row[e];
            } else if (root_of(p->parent, second[c]) != root) {
                join(p->parent, second[c], raw->h.row[e]);
            }
        }
    }
}

static void number_parts(Parts* p, const RawProblem* raw, const int* first, const int* second) {
    p->count = 0;
    for (int k = 0; k < p->dofs; ++k) {
        int root = root_of(p->parent, k);
        p->body_of[k] = root == k ? p->count++ : p->body_of[root];
        ++p->dof_start[p->body_of[k] + 1];
        p->place_of[k] = p->dof_start[p->body_of[k] + 1] - 1;
    }
    for (int k = 0; k < p->count; ++k) {
        p->dof_start[k + 1] += p->dof_start[k];
    }
    for (int c = 0; c < raw->n; ++c) {
        p->body[2 * c] = first[c] < 0 ? -1 : p->body_of[first[c]];
        p->body[2 * c + 1] = second[c] < 0 ? -1 : p->body_of[second[c]];
        if (p->body[2 * c] == p->body[2 * c + 1]) {
            p->body[2 * c + 1] = -1; // joined by a later contact
        }
    }
}

static int part_dofs(const Parts* p, int body) {
    return p->dof_start[body + 1] - p->dof_start[body];
}

// the places of factors and rows; false when they exceed what the file can justify
static bool place_all(Parts* p, const RawProblem* raw, size_t* factors, size_t* rows) {
    double all = 0.0;
    *factors = *rows = 0;
    for (int k = 0; k < p->count; ++k) {
        all += (double)part_dofs(p, k) * part_dofs(p, k);
    }
    for (int s = 0; s < 2 * raw->n; ++s) {
        all += p->body[s] < 0 ? 0.0 : (double)raw->d * part_dofs(p, p->body[s]);
    }
    double entries = (double)raw->w.count + raw->h.count + p->dofs + 4.0 * raw->n;
    if (all > DOUBLES_AN_ENTRY * entries + DOUBLES_ALWAYS) {
        return false;
    }
    for (int k = 0; k < p->count; ++k) {
        p->factor[k] = *factors;
        *factors += (size_t)part_dofs(p, k) * (size_t)part_dofs(p, k);
    }
    for (int s = 0; s < 2 * raw->n; ++s) {
        p->offset[s] = *rows;
        *rows += p->body[s] < 0 ? 0 : (size_t)raw->d * (size_t)part_dofs(p, p->body[s]);
    }
    return true;
}

static bool allocate(const TdlAllocator* mem, Parts* p, const RawProblem* raw) {
    size_t dofs = (size_t)p->dofs, n = (size_t)raw->n;
    p->parent = tdl_alloc_array(mem, dofs, sizeof(int));
    p->body_of = tdl_alloc_array(mem, dofs, sizeof(int));
    p->place_of = tdl_alloc_array(mem, dofs, sizeof(int));
    p->dof_start = tdl_alloc_array(mem, dofs + 1, sizeof(int));
    p->factor = tdl_alloc_array(mem, dofs, sizeof(size_t));
    p->body = tdl_alloc_array(mem, 2 * n, sizeof(int));
    p->offset = tdl_alloc_array(mem, 2 * n, sizeof(size_t));
    p->velocity = tdl_alloc_array(mem, dofs, sizeof(double));
    p->u_free = tdl_alloc_array(mem, n * (size_t)raw->d, sizeof(double));
    return p->parent && p->body_of && p->place_of && p->dof_start && p->factor && p->body &&
           p->offset && p->velocity && p->u_free;
}

// Lower Cholesky of a dense symmetric matrix by rows, in place; false when not positive definite.
static bool cholesky(double* a, int k) {
    for (int i = 0; i < k; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = a[(size_t)i * (size_t)k + (size_t)j];
            const double *x = a + (size_t)i * (size_t)k, *y = a + (size_t)j * (size_t)k;
            for (int m = 0; m < j; ++m) {
                sum -= x[m] * y[m];
            }
            if (i == j) {
                if (!(sum > 0.0) || !isfinite(sum)) {
                    return false;
                }
                a[(size_t)i * (size_t)k + (size_t)i] = sqrt(sum);
            } else {
                a[(size_t)i * (size_t)k + (size_t)j] = sum / y[j];
            }
        }
    }
    return true;
}

// x <- L^-1 x
static void forward(const double* l, int k, double* x) {
    for (int i = 0; i < k; ++i) {
        const double* row = l + (size_t)i * (size_t)k;
        for (int m = 0; m < i; ++m) {
            x[i] -= row[m] * x[m];
        }
        x[i] /= row[i];
    }
}

static bool factor_parts(Parts* p, const RawProblem* raw) {
    for (int e = 0; e < raw->w.count; ++e) {
        int i = raw->w.row[e], j = raw->w.col[e], k = part_dofs(p, p->body_of[i]);
        double* l = p->l + p->factor[p->body_of[i]];
        l[(size_t)p->place_of[i] * (size_t)k + (size_t)p->place_of[j]] += 0.5 * raw->w.value[e];
        l[(size_t)p->place_of[j] * (size_t)k + (size_t)p->place_of[i]] += 0.5 * raw->w.value[e];
    }
    for (int b = 0; b < p->count; ++b) {
        if (!cholesky(p->l + p->factor[b], part_dofs(p, b))) {
            return false;
        }
    }
    return true;
}

// rows of H by side, then everything whitened
static void whiten(Parts* p, const RawProblem* raw) {
    for (int e = 0; e < raw->h.count; ++e) {
        int dof = raw->h.row[e], c = raw->h.col[e] / raw->d, k = raw->h.col[e] % raw->d;
        int side = p->body[2 * c] == p->body_of[dof] ? 2 * c : 2 * c + 1;
        size_t m = (size_t)part_dofs(p, p->body_of[dof]);
        p->h[p->offset[side] + (size_t)k * m + (size_t)p->place_of[dof]] += raw->h.value[e];
    }
    for (int s = 0; s < 2 * raw->n; ++s) {
        for (int k = 0; k < raw->d && p->body[s] >= 0; ++k) {
            int m = part_dofs(p, p->body[s]);
            forward(p->l + p->factor[p->body[s]], m, p->h + p->offset[s] + (size_t)(k * m));
        }
    }
    for (int k = 0; k < p->dofs; ++k) {
        p->velocity[p->dof_start[p->body_of[k]] + p->place_of[k]] = raw->f[k];
    }
    for (int b = 0; b < p->count; ++b) {
        forward(p->l + p->factor[b], part_dofs(p, b), p->velocity + p->dof_start[b]);
    }
    memcpy(p->u_free, raw->q, (size_t)raw->n * (size_t)raw->d * sizeof(double));
}

static TdlStatus make_problem(const TdlHost* host, const RawProblem* raw, Parts* p,
                              TdlFrictionProblem** out) {
    BodyArrays arrays = {.mem = host->mem,
                         .dof_start = p->dof_start,
                         .body = p->body,
                         .velocity = p->velocity,
                         .u_free = p->u_free,
                         .h = p->h};
    TdlFrictionBodiesDef def = {
        .laws = {.block_size = raw->d, .contact_count = raw->n, .mu = raw->mu},
        .body_count = p->count,
        .dof_start = p->dof_start,
        .velocity = p->velocity,
        .u_free = p->u_free,
        .body = p->body,
        .h = p->h,
        .y = p->h};
    p->dof_start = p->body = NULL;
    p->velocity = p->u_free = p->h = NULL;
    return problem_hand_over(host, &def, &arrays, out);
}

static TdlStatus build(const TdlHost* host, const char* name, const RawProblem* raw, Parts* p,
                       int* first, int* second, TdlFrictionProblem** out) {
    size_t factors, rows;
    find_parts(p, raw, first, second);
    number_parts(p, raw, first, second);
    if (!place_all(p, raw, &factors, &rows)) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT,
                        "%s: a connected part of M is too large to be solved densely", name);
    }
    p->l = tdl_alloc_array(&host->mem, factors, sizeof(double));
    p->h = tdl_alloc_array(&host->mem, rows, sizeof(double));
    if (p->l == NULL || p->h == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (!factor_parts(p, raw)) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: M is not positive definite", name);
    }
    whiten(p, raw);
    NamedHost named;
    return make_problem(named_host(&named, host, name), raw, p, out);
}

TdlStatus global_problem(const TdlHost* host, const char* name, const RawProblem* raw,
                         TdlFrictionProblem** out) {
    Parts parts = {.dofs = raw->w.rows};
    int* first = tdl_alloc_array(&host->mem, (size_t)raw->n, sizeof(int));
    int* second = tdl_alloc_array(&host->mem, (size_t)raw->n, sizeof(int));
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (first != NULL && second != NULL && allocate(&host->mem, &parts, raw)) {
        status = build(host, name, raw, &parts, first, second, out);
    }
    parts_free(&host->mem, &parts);
    tdl_free(&host->mem, first);
    tdl_free(&host->mem, second);
    return status;
}
