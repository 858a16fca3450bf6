// The three measures of how far (u, r) is from the Signorini-Coulomb law.
#include "friction/error.h"

#include "base/memory.h"
#include "friction/exact.h"

#include <string.h>

// The normal part projected on the half line, the tangential one on the disc of radius mu r_N.
// (F.10)
static void alart_curnier_map(int d, ContactLaw law, double mu, double rho, const double* u,
                              const double* r, double* f) {
    if (law != LAW_CONE) {
        natural_map(d, law, mu, rho, u, r, f);
        return;
    }
    double n = r[0] - rho * u[0];
    f[0] = r[0] - (n > 0.0 ? n : 0.0);
    double y[CONE_MAX] = {0};
    for (int k = 1; k < d; ++k) {
        y[k] = r[k] - rho * u[k];
    }
    double t = tangent_norm(d, y), radius = r[0] > 0.0 ? mu * r[0] : 0.0;
    double s = t <= radius ? 1.0 : radius / t;
    for (int k = 1; k < d; ++k) {
        f[k] = r[k] - s * y[k];
    }
}

void fischer_burmeister(int d, const double* x, const double* y, double* z) {
    // w = x^2 + y^2 = (|x|^2 + |y|^2, 2 x0 xT + 2 y0 yT), with spectral values l1 <= l2
    double w0 = 0.0, w[CONE_MAX] = {0};
    for (int k = 0; k < d; ++k) {
        w0 += x[k] * x[k] + y[k] * y[k];
    }
    for (int k = 1; k < d; ++k) {
        w[k] = 2.0 * (x[0] * x[k] + y[0] * y[k]);
    }
    double t = tangent_norm(d, w);
    double l1 = w0 - t > 0.0 ? sqrt(w0 - t) : 0.0, l2 = sqrt(w0 + t);
    z[0] = x[0] + y[0] - 0.5 * (l1 + l2);
    for (int k = 1; k < d; ++k) {
        z[k] = x[k] + y[k] - (t > 0.0 ? 0.5 * (l2 - l1) * w[k] / t : 0.0);
    }
}

// (F.11): x = (mu r_N, r_T), y = rho (u_N + mu |u_T|, mu u_T), both in the Lorentz cone; divided
// so that it tends to the natural map's scale.
static void fischer_map(int d, ContactLaw law, double mu, double rho, const double* u,
                        const double* r, double* f) {
    if (!law_has_cone(law)) {
        natural_map(d, law, mu, rho, u, r, f);
        if (law != LAW_BILATERAL) {
            f[0] = r[0] + rho * u[0] - hypot(r[0], rho * u[0]);
        }
        return;
    }
    double x[CONE_MAX], y[CONE_MAX];
    x[0] = mu * r[0];
    y[0] = rho * (u[0] + shift_of(d, law, mu, u));
    for (int k = 1; k < d && k < CONE_MAX; ++k) { // the bound is for the compiler
        x[k] = r[k];
        y[k] = rho * mu * u[k];
    }
    fischer_burmeister(d, x, y, f);
}

void other_map(TdlFrictionError kind, int d, ContactLaw law, double mu, double rho, const double* u,
               const double* r, double* f) {
    if (kind == TDL_FRICTION_ERROR_ALART_CURNIER) {
        alart_curnier_map(d, law, mu, rho, u, r, f);
    } else {
        fischer_map(d, law, mu, rho, u, r, f);
    }
}

double error_norm(const TdlFrictionProblem* p, TdlFrictionError kind, bool relative,
                  const double* r, const double* u) {
    int d = p->d;
    double sum = 0.0, f[CONE_MAX], here[CONE_MAX];
    for (int i = 0; i < p->n; ++i) {
        memcpy(here, u + i * d, (size_t)d * sizeof *here);
        here[0] -= p->c[i];
        error_map(kind, d, p->law[i], p->mu[i], 1.0, here, r + i * d, f);
        for (int k = 0; k < d; ++k) {
            sum += f[k] * f[k];
        }
    }
    double norm = sqrt(sum);
    return relative && p->q_norm > 0.0 ? norm / p->q_norm : norm;
}

double tdl_friction_error(const TdlFrictionProblem* p, TdlFrictionError kind, bool relative,
                          const double* r) {
    double* u = tdl_alloc_array(&p->mem, (size_t)p->n * (size_t)p->d, sizeof(double));
    bool known = u != NULL && tdl_friction_velocity(p, r, u) == TDL_STATUS_OK;
    double error = known ? error_norm(p, kind, false, r, u) : INFINITY;
    tdl_free(&p->mem, u);
    if (known && kind == TDL_FRICTION_ERROR_NATURAL && exact_matters_to(p, error, r)) {
        Arena arena;
        arena_init(&arena, &p->mem);
        error = exact_norm(p, &arena, r);
        arena_destroy(&arena);
    }
    return relative && p->q_norm > 0.0 ? error / p->q_norm : error;
}

const char* tdl_friction_error_name(TdlFrictionError kind) {
    switch (kind) {
    case TDL_FRICTION_ERROR_NATURAL:
        return "natural";
    case TDL_FRICTION_ERROR_ALART_CURNIER:
        return "alart-curnier";
    case TDL_FRICTION_ERROR_FISCHER_BURMEISTER:
        return "fischer-burmeister";
    case TDL_FRICTION_ERROR_COUNT:
        break;
    }
    return "unknown";
}
