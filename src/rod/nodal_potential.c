// The potential energy of the nodal rods and its derivatives, in their band or dense.
#include "rod/nodal.h"

#include <string.h>

static void add_gradient(const NodalElement* el, double* gradient) {
    for (int k = 0; k < el->count; ++k) {
        double force = el->stiffness[k] * (el->value[k] - el->rest[k]);
        for (int i = 0; i < el->dof_count; ++i) {
            gradient[el->first + i] += force * el->slope[k][i];
        }
    }
}

void nodal_add_band(const NodalElement* el, NodalBlock second, double scale, double* band) {
    for (int j = 0; j < el->dof_count; ++j) {
        double* column = band + (ptrdiff_t)(el->first + j) * NODAL_STRIDE - j;
        double sum[NODAL_MAX_DOFS] = {0}; // all of them, so that it is vectors
        for (int k = 0; k < el->count; ++k) {
            double weight = el->stiffness[k] * el->slope[k][j];
            for (int i = 0; i < NODAL_MAX_DOFS; ++i) {
                sum[i] += weight * el->slope[k][i];
            }
        }
        for (int i = j; i < el->dof_count; ++i) {
            column[i] += scale * (second != NULL ? second[i][j] + sum[i] : sum[i]);
        }
    }
}

void nodal_hold_band(const Rod* rod, double* band) {
    int n = rod->dof_count;
    for (int i = 0; i < n; ++i) {
        if (!nodal_is_held(rod, i)) {
            continue;
        }
        memset(band + (ptrdiff_t)i * NODAL_STRIDE, 0, NODAL_STRIDE * sizeof(double));
        band[(ptrdiff_t)i * NODAL_STRIDE] = 1.0;
        for (int j = i - NODAL_WIDTH < 0 ? 0 : i - NODAL_WIDTH; j < i; ++j) {
            band[(ptrdiff_t)j * NODAL_STRIDE + i - j] = 0.0;
        }
    }
}

void nodal_hold_vector(const Rod* rod, double* x) {
    for (int i = 0; i < rod->dof_count; ++i) {
        x[i] = nodal_is_held(rod, i) ? 0.0 : x[i];
    }
}

void nodal_derive(const Rod* rod, TdlVec3 gravity, const double* force, double* gradient,
                  double* band) {
    NodalShape shape = nodal_shape(rod);
    NodalElement el;
    NodalBlock second;
    nodal_dead_load(&shape, gravity, false, gradient);
    for (int i = 0; i < rod->dof_count; ++i) {
        gradient[i] = -gradient[i];
    }
    if (band != NULL) {
        memset(band, 0, (size_t)rod->dof_count * NODAL_STRIDE * sizeof *band);
    }
    for (int e = 0; e < nodal_element_count(rod); ++e) {
        nodal_element(&shape, e, force != NULL ? force + 3 * e : NULL, &el,
                      band != NULL ? second : NULL);
        add_gradient(&el, gradient);
        if (band != NULL) {
            nodal_add_band(&el, second, 1.0, band);
        }
    }
    nodal_hold_vector(rod, gradient);
    if (band != NULL) {
        nodal_hold_band(rod, band);
    }
}

static void add_dense(const NodalElement* el, NodalBlock second, int n, double* hessian) {
    for (int j = 0; j < el->dof_count; ++j) {
        double* column = hessian + (ptrdiff_t)(el->first + j) * n + el->first;
        for (int i = 0; i < el->dof_count; ++i) {
            double sum = second[i][j];
            for (int k = 0; k < el->count; ++k) {
                sum += el->stiffness[k] * el->slope[k][i] * el->slope[k][j];
            }
            column[i] += sum;
        }
    }
}

// Held ends in a dense Hessian have a stiffness that is never the smallest.
static void hold_dense(const Rod* rod, double* hessian) {
    int n = rod->dof_count;
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(hessian[(ptrdiff_t)i * n + i]));
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n && nodal_is_held(rod, i); ++j) {
            hessian[(ptrdiff_t)i * n + j] = hessian[(ptrdiff_t)j * n + i] = i == j ? largest : 0.0;
        }
    }
}

double nodal_potential(const Rod* rod, TdlVec3 gravity, double* gradient, double* hessian) {
    TdlEnergy energy = nodal_energy(rod, gravity);
    if (gradient != NULL) {
        nodal_derive(rod, gravity, NULL, gradient, NULL);
    }
    if (hessian != NULL) {
        int n = rod->dof_count;
        NodalShape shape = nodal_shape(rod);
        NodalElement el;
        NodalBlock second;
        memset(hessian, 0, (size_t)n * (size_t)n * sizeof *hessian);
        for (int e = 0; e < nodal_element_count(rod); ++e) {
            nodal_element(&shape, e, NULL, &el, second);
            add_dense(&el, second, n, hessian);
        }
        hold_dense(rod, hessian);
    }
    return energy.elastic + energy.gravity;
}
