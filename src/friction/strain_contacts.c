// Contacts beside rows of strain: a node, another body or an obstacle on either side.
//
// They are few beside the rows, a surface beside a volume, and are visited in order by one thread.
#include "friction/local.h"
#include "friction/problem.h"
#include "friction/strain_system.h"

#include <string.h>

// --- what moves ----------------------------------------------------------------------------------

static int node_of(const StrainSystem* s, int c) {
    return s->problem->node == NULL ? -1 : s->problem->node[c];
}

static double* place_of(const StrainSide* x, int j) {
    return x->z + (x->list == NULL ? x->first + j : x->list[j]);
}

static void side_add(const StrainSide* x, double scale, double* u) {
    for (int j = 0; j < x->count; ++j) {
        double z = scale * *place_of(x, j);
        u[0] += x->h[j] * z;
        u[1] += x->h[x->count + j] * z;
        u[2] += x->h[2 * x->count + j] * z;
    }
}

static void side_push(const StrainSide* x, const double* p) {
    if (x->y == NULL) {
        return;
    }
    bool all = x->y_count > 0;
    int count = all ? x->y_count : x->count;
    const double *y0 = x->y, *y1 = y0 + count, *y2 = y1 + count;
    for (int j = 0; j < count; ++j) {
        *(all ? x->z + j : place_of(x, j)) += y0[j] * p[0] + y1[j] * p[1] + y2[j] * p[2];
    }
}

void strain_contact_velocity(const StrainSystem* s, int c, double* u) {
    int node = node_of(s, c);
    double unit = s->contact_unit;
    for (int k = 0; k < 3; ++k) {
        u[k] = s->q[3 * c + k];
    }
    if (node >= 0) {
        const TdlMat3* basis = &s->problem->basis[c];
        const double* v = s->node + (ptrdiff_t)4 * node;
        TdlVec3 at = {v[0], v[1], v[2]};
        u[0] -= unit * tdl_dot3(basis->cx, at);
        u[1] -= unit * tdl_dot3(basis->cy, at);
        u[2] -= unit * tdl_dot3(basis->cz, at);
    }
    side_add(&s->side[2 * c], unit, u);
    side_add(&s->side[2 * c + 1], unit, u);
}

void strain_contact_push(StrainSystem* s, int c, const double* dr) {
    int node = node_of(s, c);
    double unit = s->contact_unit, other = unit * s->problem->unit;
    if (node >= 0) {
        const TdlMat3* basis = &s->problem->basis[c];
        double* v = s->node + (ptrdiff_t)4 * node;
        TdlVec3 sum = tdl_scale3(dr[0], basis->cx);
        sum = tdl_axpy3(tdl_axpy3(sum, dr[1], basis->cy), dr[2], basis->cz);
        v[0] -= unit * v[3] * sum.x;
        v[1] -= unit * v[3] * sum.y;
        v[2] -= unit * v[3] * sum.z;
    }
    double p[3] = {other * dr[0], other * dr[1], other * dr[2]};
    side_push(&s->side[2 * c], p);
    side_push(&s->side[2 * c + 1], p);
}

// --- sweeps --------------------------------------------------------------------------------------

static double visit(StrainSystem* s, int c, double* r) {
    const double* w = s->block + (ptrdiff_t)9 * c;
    double rest[3], next[3], dr[3], square = 0.0;
    strain_contact_velocity(s, c, rest);
    for (int k = 0; k < 3; ++k) {
        rest[k] -= w[k] * r[0] + w[3 + k] * r[1] + w[6 + k] * r[2];
        next[k] = r[k];
    }
    local_secular3(s->contact_prep + (ptrdiff_t)prep_size(3) * c, (ContactLaw)s->law[c],
                   s->problem->contacts.laws.mu[c], rest, next);
    for (int k = 0; k < 3; ++k) {
        dr[k] = next[k] - r[k];
        r[k] = next[k];
        square += dr[k] * dr[k];
    }
    if (square > 0.0) {
        strain_contact_push(s, c, dr);
    }
    return square;
}

double strain_contacts_sweep(StrainSystem* s, double* r) {
    double sum = 0.0;
    for (int c = 0; c < s->contacts; ++c) {
        sum += visit(s, c, r + (ptrdiff_t)3 * c);
    }
    return sum;
}

double strain_contacts_error(const StrainSystem* s, const double* r) {
    double sum = 0.0, u[3], x[3], p[3];
    for (int c = 0; c < s->contacts; ++c) {
        const double* own = r + (ptrdiff_t)3 * c;
        double mu = s->problem->contacts.laws.mu[c];
        ContactLaw law = (ContactLaw)s->law[c];
        strain_contact_velocity(s, c, u);
        for (int k = 0; k < 3; ++k) {
            x[k] = own[k] - u[k];
        }
        x[0] -= shift_of(3, law, mu, u);
        law_project(3, law, mu, x, p);
        for (int k = 0; k < 3; ++k) {
            sum += (own[k] - p[k]) * (own[k] - p[k]);
        }
    }
    return sum;
}

// --- preparing -----------------------------------------------------------------------------------

// A side's rows, from the first doubles of its blocks on, which are moved on behind them.
static bool place_side(const StrainSystem* s, int side, size_t* h, size_t* y) {
    const TdlFrictionBodiesDef* def = &s->problem->contacts;
    StrainSide* x = &s->side[side];
    int body = def->body == NULL ? -1 : def->body[side];
    *x = (StrainSide){0};
    if (body < 0) {
        return true;
    }
    if (body >= def->body_count || def->dof_start == NULL || def->h == NULL || def->y == NULL) {
        return false;
    }
    bool again = side % 2 == 1 && def->body[side - 1] == body;
    bool like = def->y_like_h || def->y == def->h;
    int m = def->dof_start[body + 1] - def->dof_start[body];
    TdlSpan span = def->span == NULL ? (TdlSpan){0, m} : def->span[side];
    x->h = def->h + *h;
    x->y = again && !like ? NULL : def->y + *y;
    x->z = s->z + def->dof_start[body];
    x->list = def->list == NULL ? NULL : def->list[side];
    x->first = span.first;
    x->count = span.count;
    x->y_count = like ? 0 : m;
    *h += 3 * (size_t)span.count;
    *y += x->y == NULL ? 0 : 3 * (size_t)(like ? span.count : m);
    bool inside = span.first >= 0 && span.count >= 0 && span.count <= m - span.first;
    for (int j = 0; inside && j < span.count && x->list != NULL; ++j) {
        inside = x->list[j] >= 0 && x->list[j] < m;
    }
    return inside && problem_all_finite(x->h, 3 * (size_t)span.count);
}

static ContactLaw law_of(const TdlFrictionLaws* laws, int c) {
    bool bilateral = laws->bilateral != NULL && laws->bilateral[c] != 0;
    return bilateral            ? LAW_BILATERAL
           : laws->mu[c] == 0.0 ? LAW_SMOOTH
           : isinf(laws->mu[c]) ? LAW_ROUGH
                                : LAW_CONE;
}

static void clear_side(const StrainSide* x) {
    int count = x->y == NULL ? 0 : x->y_count > 0 ? x->y_count : x->count;
    for (int j = 0; j < count; ++j) {
        *(x->y_count > 0 ? x->z + j : place_of(x, j)) = 0.0;
    }
}

// W's block in N s and m/s, seen from velocities at rest, which are left so.
static void make_block(StrainSystem* s, int c, double* w) {
    double still[4] = {0}, before[4] = {0}, u[3];
    int node = node_of(s, c);
    double* v = node < 0 ? still : s->node + (ptrdiff_t)4 * node;
    memcpy(before, v, sizeof before);
    for (int k = 0; k < 3; ++k) {
        double e[3] = {k == 0, k == 1, k == 2};
        v[0] = v[1] = v[2] = 0.0;
        strain_contact_push(s, c, e);
        strain_contact_velocity(s, c, u);
        memcpy(w + (ptrdiff_t)3 * k, u, sizeof u);
        clear_side(&s->side[2 * c]);
        clear_side(&s->side[2 * c + 1]);
    }
    memcpy(v, before, sizeof before);
}

// Symmetric, in the unit of all contacts.
static void finish_blocks(StrainSystem* s, double trace) {
    const TdlFrictionBodiesDef* def = &s->problem->contacts;
    s->contact_unit = trace > 0.0 ? sqrt(3.0 * s->contacts / trace) : 1.0;
    double square = s->contact_unit * s->contact_unit;
    for (int c = 0; c < s->contacts; ++c) {
        double* w = s->block + (ptrdiff_t)9 * c;
        for (int a = 0; a < 3; ++a) {
            for (int b = a; b < 3; ++b) {
                w[3 * a + b] = w[3 * b + a] = 0.5 * square * (w[3 * a + b] + w[3 * b + a]);
            }
        }
        local_prepare(3, w, s->contact_prep + (ptrdiff_t)prep_size(3) * c);
        for (int k = 0; k < 3; ++k) {
            double prescribed =
                k == 0 && def->laws.normal_velocity != NULL ? def->laws.normal_velocity[c] : 0.0;
            double free = def->u_free == NULL ? 0.0 : def->u_free[3 * c + k];
            s->q[3 * c + k] = s->contact_unit * (free - prescribed);
        }
    }
}

static bool contact_is_good(const StrainSystem* s, int c) {
    const TdlFrictionLaws* laws = &s->problem->contacts.laws;
    bool shift = laws->associated == NULL || laws->associated[c] == 0;
    bool plain = laws->gamma == NULL || laws->gamma[c] == 0.0;
    return laws->mu[c] >= 0.0 && shift && plain && node_of(s, c) < s->nodes;
}

TdlStatus strain_contacts_prepare(StrainSystem* s, Arena* arena) {
    size_t n = (size_t)s->contacts, h = 0, y = 0;
    const TdlFrictionBodiesDef* def = &s->problem->contacts;
    s->side = ARENA_NEW(arena, StrainSide, 2 * n);
    s->block = ARENA_NEW(arena, double, 9 * n);
    s->contact_prep = ARENA_NEW(arena, double, (size_t)prep_size(3) * n);
    s->q = ARENA_NEW(arena, double, 3 * n);
    s->law = ARENA_NEW(arena, unsigned char, n);
    if (!s->side || !s->block || !s->contact_prep || !s->q || !s->law) {
        return TDL_STATUS_NO_MEMORY;
    }
    double trace = 0.0;
    memset(s->q, 0, 3 * n * sizeof *s->q);
    s->contact_unit = 1.0;
    for (int c = 0; c < s->contacts; ++c) {
        if (!contact_is_good(s, c) || !place_side(s, 2 * c, &h, &y) ||
            !place_side(s, 2 * c + 1, &h, &y)) {
            return TDL_STATUS_BAD_ARGUMENT;
        }
        double* w = s->block + (ptrdiff_t)9 * c;
        make_block(s, c, w);
        trace += w[0] + w[4] + w[8];
        s->law[c] = (unsigned char)law_of(&def->laws, c);
    }
    finish_blocks(s, trace);
    return isfinite(trace) && problem_all_finite(s->q, 3 * n) ? TDL_STATUS_OK
                                                              : TDL_STATUS_BAD_ARGUMENT;
}
