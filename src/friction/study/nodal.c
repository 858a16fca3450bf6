// The nodal primal form (S4 eq. 3.14): unknowns are the nodes' velocities in the contact bases.
//
// r = W^ u - b^ with W^ = G A G' sparse and positive definite, r_i = 0 at free nodes and (u_i, r_i)
// in the law at nodes in contact. Gauss-Seidel over nodes: at a node the rest of the mesh gives
// r_i = W^_ii u_i + c_i, so that u_i = W^_ii^-1 r_i - W^_ii^-1 c_i is a one-contact problem in the
// usual form, solved exactly; S4's outer fixed point on the shift is not needed. Over-relaxed at
// free nodes, where the sweep is that of linear theory. Needs no inverse of A.
#include "friction/study/nodal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "friction/error.h"
#include "friction/local.h"

#include <string.h>

// Over-relaxation of free nodes; elastic meshes are Laplacian-like.
static const double OMEGA = 1.4;

typedef struct Nodal {
    const NodalFormDef* def;
    double* inverse; // [9 n] W^_ii^-1
    double* prep;    // [n] prepared for nodes in contact
    double* stiff;   // [n] trace(W^_ii) / 3, the step of the error map
} Nodal;

// inverse of a symmetric positive definite 3 x 3; false when it is not
static bool invert3(const double* a, double* inverse) {
    double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8];
    double c2 = a[3] * a[7] - a[4] * a[6], det = a[0] * c0 + a[1] * c1 + a[2] * c2;
    if (!(a[0] > 0.0 && a[0] * a[4] - a[1] * a[3] > 0.0 && det > 0.0)) {
        return false;
    }
    double m[9] = {c0, a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4],
                   c1, a[0] * a[8] - a[2] * a[6], a[2] * a[3] - a[0] * a[5],
                   c2, a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3]};
    for (int k = 0; k < 9; ++k) {
        inverse[k] = m[k] / det;
    }
    return true;
}

static TdlStatus prepare(const TdlHost* host, Nodal* s) {
    const NodalFormDef* def = s->def;
    for (int i = 0; i < def->node_count; ++i) {
        const double* diag = NULL;
        for (int e = def->row_start[i]; e < def->row_start[i + 1]; ++e) {
            if (def->column[e] < 0 || def->column[e] >= def->node_count) {
                return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "node %d: column %d is out of range",
                                i, def->column[e]);
            }
            diag = def->column[e] == i ? def->blocks + 9 * (size_t)e : diag;
        }
        if (diag == NULL || !invert3(diag, s->inverse + 9 * (size_t)i) || isnan(def->mu[i])) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "node %d: its block is not positive definite, or mu is not a number",
                            i);
        }
        s->stiff[i] = (diag[0] + diag[4] + diag[8]) / 3.0;
        local_prepare(3, s->inverse + 9 * (size_t)i, s->prep + (size_t)prep_size(3) * (size_t)i);
    }
    return TDL_STATUS_OK;
}

static ContactLaw law_of(double mu) {
    return mu == 0.0 ? LAW_SMOOTH : isinf(mu) ? LAW_ROUGH : LAW_CONE;
}

// out <- (W^ u)_i - b_i
static void node_impulse(const NodalFormDef* def, int i, const double* u, double* out) {
    for (int k = 0; k < 3; ++k) {
        out[k] = -def->b[3 * i + k];
    }
    for (int e = def->row_start[i]; e < def->row_start[i + 1]; ++e) {
        const double *w = def->blocks + 9 * (size_t)e, *x = u + 3 * (size_t)def->column[e];
        for (int k = 0; k < 3; ++k) {
            out[k] += w[k] * x[0] + w[3 + k] * x[1] + w[6 + k] * x[2];
        }
    }
}

// out <- m x
static void apply3(const double* m, const double* x, double* out) {
    for (int k = 0; k < 3; ++k) {
        out[k] = m[k] * x[0] + m[3 + k] * x[1] + m[6 + k] * x[2];
    }
}

static void sweep(Nodal* s, double* u, double* r) {
    const NodalFormDef* def = s->def;
    for (int i = 0; i < def->node_count; ++i) {
        double now[3], step[3], b[3];
        const double* inverse = s->inverse + 9 * (size_t)i;
        node_impulse(def, i, u, now);
        apply3(inverse, now, step);
        if (def->mu[i] < 0.0) {
            for (int k = 0; k < 3; ++k) {
                u[3 * i + k] -= OMEGA * step[k];
                r[3 * i + k] = 0.0;
            }
            continue;
        }
        // u without the node's own impulse, then the one-contact problem
        for (int k = 0; k < 3; ++k) {
            b[k] = u[3 * i + k] - step[k];
        }
        ContactLaw law = law_of(def->mu[i]);
        local_secular3(s->prep + (size_t)prep_size(3) * (size_t)i, law, def->mu[i], b, r + 3 * i);
        apply3(inverse, r + 3 * i, step);
        for (int k = 0; k < 3; ++k) {
            u[3 * i + k] = b[k] + step[k];
        }
    }
}

// The natural map at contacts with the impulse W^ u - b^, its residual at free nodes; relative.
static double measure(const Nodal* s, const double* u, double* r) {
    const NodalFormDef* def = s->def;
    double sum = 0.0, size = 0.0;
    for (int i = 0; i < def->node_count; ++i) {
        double now[3], f[3];
        node_impulse(def, i, u, now);
        memcpy(f, now, sizeof f);
        if (def->mu[i] >= 0.0) {
            memcpy(r + 3 * i, now, sizeof now);
            error_map(TDL_FRICTION_ERROR_NATURAL, 3, law_of(def->mu[i]), def->mu[i], s->stiff[i],
                      u + 3 * i, now, f);
        }
        for (int k = 0; k < 3; ++k) {
            sum += f[k] * f[k];
            size += def->b[3 * i + k] * def->b[3 * i + k];
        }
    }
    return size > 0.0 ? sqrt(sum / size) : sqrt(sum);
}

TdlStatus nodal_form_solve(const TdlHost* host, const NodalFormDef* def, double tolerance,
                           int max_iterations, double* u, double* r, TdlFrictionInfo* info) {
    double begin = clock_now();
    size_t n = (size_t)def->node_count;
    Nodal s = {.def = def};
    s.inverse = tdl_alloc_array(&host->mem, 9 * n, sizeof(double));
    s.prep = tdl_alloc_array(&host->mem, (size_t)prep_size(3) * n, sizeof(double));
    s.stiff = tdl_alloc_array(&host->mem, n, sizeof(double));
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    *info = (TdlFrictionInfo){.outcome = TDL_FRICTION_ITERATION_LIMIT,
                              .solver = TDL_FRICTION_GAUSS_SEIDEL};
    if (s.inverse != NULL && s.prep != NULL && s.stiff != NULL) {
        status = prepare(host, &s);
    }
    memset(r, 0, 3 * n * sizeof(double));
    for (int k = 0; status == TDL_STATUS_OK && k < max_iterations; ++k) {
        sweep(&s, u, r);
        info->iterations = k + 1;
        if (k % 5 == 4 || k + 1 == max_iterations) {
            info->error = info->errors[TDL_FRICTION_ERROR_NATURAL] = measure(&s, u, r);
            if (info->error <= tolerance) {
                info->outcome = TDL_FRICTION_CONVERGED;
                break;
            }
        }
    }
    tdl_free(&host->mem, s.inverse);
    tdl_free(&host->mem, s.prep);
    tdl_free(&host->mem, s.stiff);
    info->seconds = clock_now() - begin;
    return status;
}
