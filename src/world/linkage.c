// Linkages: bodies that joints hold together, solved as one. docs/theory/joints.md
//
// S = J A^-1 J' + C over the rows of all joints of a linkage, banded in an order that walks from
// joint to joint. Loops that hold one thing twice make S singular: it is factored with a little
// more on its diagonal, and what that changes is taken back by repeated correction. (J.4)
#include "linalg/banded.h"
#include "math/dense.h"
#include "world/joint.h"

#include <string.h>

// Share of the diagonal that is added. A correction leaves SHIFT / (s + SHIFT) of an error where
// S has the relative eigenvalue s.
static const double SHIFT = 1.0e-9;
enum { CORRECTIONS = 3 };

static double* entry(const Linkage* l, double* band, int i, int j) {
    return i >= j ? &band[(i - j) + (ptrdiff_t)j * (l->width + 1)]
                  : &band[(j - i) + (ptrdiff_t)i * (l->width + 1)];
}

// --- the matrix -------------------------------------------------------------------------------

// What impulses of joint b do to the rows of joint a, by the systems that both hold.
static void couple(Linkage* l, const Joint* a, const Joint* b) {
    for (int s = 0; s < 4; ++s) {
        int i = s / 2, j = s % 2;
        if (a->h[i] == NULL || b->h[j] == NULL ||
            a->side[i].body->system != b->side[j].body->system) {
            continue;
        }
        int n = a->side[i].body->system->dof_count;
        for (int r = 0; r < a->row_count; ++r) {
            for (int c = 0; c < b->row_count; ++c) {
                if (a == b && c > r) {
                    continue;
                }
                *entry(l, l->matrix, a->first + r, b->first + c) +=
                    tdl_dot(n, a->h[i] + (ptrdiff_t)r * n, b->y[j] + (ptrdiff_t)c * n);
            }
        }
    }
}

// A row at its bound has no equation: its impulse is known.
static void take_out(Linkage* l, int row) {
    for (int k = row - l->width; k <= row + l->width; ++k) {
        if (k >= 0 && k < l->row_count && k != row) {
            *entry(l, l->matrix, row, k) = 0.0;
        }
    }
    *entry(l, l->matrix, row, row) = 1.0;
}

static bool is_solved(const Joint* joint, int r) {
    return joint->mode[r] == ROW_SOLVED;
}

bool linkage_factor(Linkage* l) {
    size_t size = (size_t)l->row_count * (size_t)(l->width + 1);
    memset(l->matrix, 0, size * sizeof *l->matrix);
    for (int i = 0; i < l->joint_count; ++i) {
        const Joint* a = l->joint[i];
        for (int k = i; k >= 0 && a->first - l->joint[k]->first <= l->width; --k) {
            couple(l, a, l->joint[k]);
        }
        for (int r = 0; r < a->row_count; ++r) {
            *entry(l, l->matrix, a->first + r, a->first + r) += a->soft[r];
        }
    }
    for (int i = 0; i < l->joint_count; ++i) {
        for (int r = 0; r < l->joint[i]->row_count; ++r) {
            if (!is_solved(l->joint[i], r)) {
                take_out(l, l->joint[i]->first + r);
            }
        }
    }
    memcpy(l->factor, l->matrix, size * sizeof *l->factor);
    double most = 0.0;
    for (int i = 0; i < l->row_count; ++i) {
        most = fmax(most, l->matrix[(ptrdiff_t)i * (l->width + 1)]);
    }
    for (int i = 0; i < l->row_count; ++i) {
        double* own = &l->factor[(ptrdiff_t)i * (l->width + 1)];
        *own = *own > 0.0 ? *own * (1.0 + SHIFT) : most * SHIFT;
    }
    return banded_cholesky(l->row_count, l->width, l->factor) == l->row_count;
}

// out = b - S x
static void remainder_of(const Linkage* l, const double* b, const double* x, double* out) {
    memcpy(out, b, (size_t)l->row_count * sizeof *out);
    for (int j = 0; j < l->row_count; ++j) {
        const double* column = l->matrix + (ptrdiff_t)j * (l->width + 1);
        out[j] -= column[0] * x[j];
        for (int i = j + 1; i < l->row_count && i - j <= l->width; ++i) {
            out[i] -= column[i - j] * x[j];
            out[j] -= column[i - j] * x[i];
        }
    }
}

void linkage_find(const Linkage* l, double* b, double* scratch) {
    double *rhs = scratch, *rest = scratch + l->row_count;
    size_t size = (size_t)l->row_count * sizeof *b;
    memcpy(rhs, b, size);
    banded_solve(l->row_count, l->width, l->factor, 1, b, l->row_count);
    for (int k = 0; k < CORRECTIONS; ++k) {
        remainder_of(l, rhs, b, rest);
        banded_solve(l->row_count, l->width, l->factor, 1, rest, l->row_count);
        for (int i = 0; i < l->row_count; ++i) {
            b[i] += rest[i];
        }
    }
}

// --- over the coordinates ---------------------------------------------------------------------

void linkage_rows(const Linkage* l, const double* v, double* out) {
    for (int i = 0; i < l->joint_count; ++i) {
        const Joint* joint = l->joint[i];
        for (int r = 0; r < joint->row_count; ++r) {
            double sum = 0.0;
            for (int k = 0; k < 2; ++k) {
                if (joint->h[k] != NULL) {
                    sum += joint_product(joint, k, r, v + joint->side[k].body->system->linked_at);
                }
            }
            out[joint->first + r] = sum;
        }
    }
}

void linkage_add(const Linkage* l, double factor, const double* lambda, double* v) {
    for (int i = 0; i < l->joint_count; ++i) {
        const Joint* joint = l->joint[i];
        for (int k = 0; k < 2; ++k) {
            if (joint->h[k] == NULL) {
                continue;
            }
            const Body* system = joint->side[k].body->system;
            double* own = v + system->linked_at;
            for (int r = 0; r < joint->row_count; ++r) {
                double amount = factor * lambda[joint->first + r];
                const double* y = joint->y[k] + (ptrdiff_t)r * system->dof_count;
                for (int c = 0; c < system->dof_count && amount != 0.0; ++c) {
                    own[c] += amount * y[c];
                }
            }
        }
    }
}

void linkage_clear_bounded(const Linkage* l, double* rows) {
    for (int i = 0; i < l->joint_count; ++i) {
        for (int r = 0; r < l->joint[i]->row_count; ++r) {
            if (!is_solved(l->joint[i], r)) {
                rows[l->joint[i]->first + r] = 0.0;
            }
        }
    }
}

static bool is_zero(int n, const double* x) {
    for (int i = 0; i < n; ++i) {
        if (x[i] != 0.0) {
            return false;
        }
    }
    return true;
}

void linkage_solve(const Linkage* l, int worker, int count, double* X) {
    double* rows = l->scratch + (ptrdiff_t)worker * 3 * l->row_count;
    for (int k = 0; k < count; ++k) {
        double* x = X + (ptrdiff_t)k * l->dof_count;
        for (int m = 0; m < l->member_count; ++m) {
            const Body* body = l->member[m];
            if (!is_zero(body->dof_count, x + body->linked_at)) {
                body->kind->solve(body, 1, x + body->linked_at);
            }
        }
        linkage_rows(l, x, rows);
        linkage_clear_bounded(l, rows);
        linkage_find(l, rows, rows + l->row_count);
        linkage_add(l, -1.0, rows, x);
    }
}
