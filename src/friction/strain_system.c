// Making the system of rows of strain and contacts, and what is about both.
#include "friction/strain_system.h"

#include <string.h>

// Rows that a thread takes at once: some ten microseconds.
enum { TASK_ROWS = 64 };

// Nodes as four doubles; false: a mass or a velocity is not fit.
static bool load_nodes(StrainSystem* s) {
    const StrainProblem* p = s->problem;
    for (int i = 0; i < s->nodes; ++i) {
        double *to = s->node + (ptrdiff_t)4 * i, mass = p->bed->mass[i];
        const double* v = p->v + (ptrdiff_t)3 * i;
        if (!(mass > 0.0 && isfinite(mass) && isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]))) {
            return false;
        }
        memcpy(to, v, 3 * sizeof *v);
        to[3] = 1.0 / mass;
    }
    return true;
}

static void rest_nodes(StrainSystem* s) {
    for (int i = 0; i < s->nodes; ++i) {
        memcpy(s->node + (ptrdiff_t)4 * i, s->problem->v + (ptrdiff_t)3 * i, 3 * sizeof(double));
    }
}

static void rest_others(StrainSystem* s) {
    if (s->dofs > 0) {
        memset(s->z, 0, (size_t)s->dofs * sizeof *s->z);
    }
}

static TdlStatus make_tasks(StrainSystem* s, Arena* arena) {
    const StrainRows* rows = &s->rows;
    int count = 0;
    for (int c = 0; c < rows->colour_count; ++c) {
        count += (rows->start[c + 1] - rows->start[c] + TASK_ROWS - 1) / TASK_ROWS;
    }
    s->task = ARENA_NEW(arena, int, count + 1);
    s->colour_task = ARENA_NEW(arena, int, rows->colour_count + 1);
    s->sums = ARENA_NEW(arena, double, count + 1);
    if (!s->task || !s->colour_task || !s->sums) {
        return TDL_STATUS_NO_MEMORY;
    }
    s->task_count = count;
    count = 0;
    for (int c = 0; c < rows->colour_count; ++c) {
        s->colour_task[c] = count;
        for (int j = rows->start[c]; j < rows->start[c + 1]; j += TASK_ROWS) {
            s->task[count++] = j;
        }
    }
    s->colour_task[rows->colour_count] = count;
    s->task[count] = s->n;
    return TDL_STATUS_OK;
}

static bool rows_are_good(const StrainSystem* s) {
    const StrainRows* rows = &s->rows;
    if (rows->count == 0) {
        return true;
    }
    if ((rows->dimension != 2 && rows->dimension != 3) || rows->near < 1 || rows->count < 0 ||
        rows->colour_count < 1 || rows->start[0] != 0) {
        return false;
    }
    for (int c = 0; c < rows->colour_count; ++c) {
        if (rows->start[c + 1] < rows->start[c]) {
            return false;
        }
    }
    return rows->start[rows->colour_count] == rows->count;
}

static int coordinates_of(const TdlFrictionBodiesDef* def) {
    return def->dof_start == NULL || def->body_count == 0 ? 0 : def->dof_start[def->body_count];
}

TdlStatus strain_system_init(StrainSystem* s, Arena* arena, Pool* pool,
                             const StrainProblem* problem, double* z) {
    const BodyStrain* bed = problem->bed;
    *s = (StrainSystem){.problem = problem, .rows = bed->rows, .pool = pool, .z = z};
    s->n = bed->rows.count;
    s->rows.colour_count = s->n > 0 ? s->rows.colour_count : 0;
    s->d = bed->rows.dimension == 2 ? 3 : 6;
    s->contacts = problem->contacts.laws.contact_count;
    s->nodes = bed->node_count;
    s->dofs = coordinates_of(&problem->contacts);
    s->size = (size_t)s->d * (size_t)s->n + 3 * (size_t)s->contacts;
    s->visit_work = 4.0 * s->rows.near * s->rows.dimension;
    s->node = ARENA_NEW(arena, double, 4 * (size_t)s->nodes);
    if (s->node == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    rest_others(s);
    if (!rows_are_good(s) || !load_nodes(s)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    TdlStatus status = make_tasks(s, arena);
    status = status == TDL_STATUS_OK ? strain_rows_prepare(s, arena) : status;
    return status == TDL_STATUS_OK ? strain_contacts_prepare(s, arena) : status;
}

double* strain_contact_part(const StrainSystem* s, double* r) {
    return r + (size_t)s->d * (size_t)s->n;
}

void strain_refresh(StrainSystem* s, double* r) {
    const double* own = strain_contact_part(s, r);
    rest_nodes(s);
    rest_others(s);
    strain_rows_push(s, r);
    for (int c = 0; c < s->contacts; ++c) {
        strain_contact_push(s, c, own + (ptrdiff_t)3 * c);
    }
}

void strain_project(StrainSystem* s, double* r) {
    double* own = strain_contact_part(s, r);
    for (int j = 0; j < s->n; ++j) {
        double *at = r + (ptrdiff_t)s->d * j, mu = s->rows.mu[j];
        law_project(s->d, row_law(mu), mu, at, at);
    }
    for (int c = 0; c < s->contacts; ++c) {
        double* at = own + (ptrdiff_t)3 * c;
        law_project(3, (ContactLaw)s->law[c], s->problem->contacts.laws.mu[c], at, at);
    }
}

double strain_sweep(StrainSystem* s, double* r) {
    return sqrt(strain_rows_sweep(s, r) + strain_contacts_sweep(s, strain_contact_part(s, r)));
}

double strain_error(StrainSystem* s, double* r) {
    return sqrt(strain_rows_error(s, r) + strain_contacts_error(s, strain_contact_part(s, r)));
}

double strain_speed(StrainSystem* s) {
    double sum = 0.0, u[6];
    for (int j = 0; j < s->n; ++j) {
        strain_row_velocity(s, j, u);
        for (int k = 0; k < s->d; ++k) {
            sum += u[k] * u[k];
        }
    }
    for (int c = 0; c < s->contacts; ++c) {
        strain_contact_velocity(s, c, u);
        sum += u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    }
    return sqrt(sum);
}
