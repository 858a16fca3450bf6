// The direction of a Newton step, sought over the contacts that answer or over the coordinates of
// the bodies they touch.
//
// With -dr/du = T A^-1 S' at each contact (F.34) the direction is -d + T x,
//     over contacts      (S' W T + A) x = S' W d
//     over coordinates   (1 + Y' T A^-1 S' H) w = -Y' d,  x = -A^-1 S' H w
// which are the same step; the smaller of the two matrices is factored. (F.35) Where bodies have
// their A as a sparse matrix it is sought over their nodes.
#include "friction/newton.h"
#include "friction/space.h"

#include <string.h>

// Multiplications that ordering takes the time of, for each number of the rows of bodies, or block
// of W.
static const double PLAN_EACH = 30.0;
// The same of all else in a step, for each contact.
static const double EACH = 1000.0;

// Up to this part of contacts of six that do not answer are taken along: a new order for each step
// costs more.
static const double FEW_IDLE = 0.1;

// Few steps are worth nothing: so many must fit into the budget before the first.
enum { WORTH_STEPS = 10 };

static bool too_dear(const Newton* nw, double flops) {
    double left = nw->made < WORTH_STEPS ? WORTH_STEPS - nw->made : 1.0;
    if (nw->made == 0 && flops > nw->run->worth) {
        nw->run->refused = flops;
        return true;
    }
    return run_spent(nw->run, left * flops);
}

// --- over contacts -------------------------------------------------------------------------------

static TdlStatus over_contacts(Newton* nw) {
    Run* run = nw->run;
    System* sys = run->sys;
    FrontLu lu;
    BlockPattern pattern = system_pattern(sys);
    double* x = ARENA_NEW(run->arena, double, 3 * sys->n);
    TdlStatus status = front_lu_analyse(&lu, run->arena, &pattern, nw->part);
    if (status != TDL_STATUS_OK || x == NULL) {
        return x == NULL ? TDL_STATUS_NO_MEMORY : status;
    }
    if (too_dear(nw, lu.flops)) {
        return TDL_STATUS_STOPPED;
    }
    lu.stop = run_stop(run);
    run_spend(run, lu.flops);
    if (!front_lu_factor(&lu, sys->blocks, sys->pool)) {
        return TDL_STATUS_STOPPED;
    }
    for (int i = 0; i < sys->n; ++i) {
        for (int k = 0; k < nw->part[i].size; ++k) {
            x[3 * i + k] = dot_product(3, nw->part[i].test + 3 * k, nw->g + 3 * i);
        }
    }
    front_lu_solve(&lu, x);
    for (int i = 0; i < sys->n; ++i) {
        for (int c = 0; c < 3; ++c) {
            double sum = -nw->d[3 * i + c];
            for (int k = 0; k < nw->part[i].size; ++k) {
                sum += nw->part[i].trial[3 * k + c] * x[3 * i + k];
            }
            nw->step[3 * i + c] = sum;
        }
    }
    return TDL_STATUS_OK;
}

// Contacts of six by blocks: (1 + D W) y = D W d over those that answer, step = -d + y. With few
// idle ones the pattern is that of all and stays for the steps that follow.
static TdlStatus plan_blocks(Newton* nw) {
    Run* run = nw->run;
    TdlStatus status = system_form_rows(run->sys, run->arena);
    int idle = 0;
    for (int i = 0; i < run->sys->n; ++i) {
        idle += nw->idle[i];
    }
    nw->few_idle = idle <= FEW_IDLE * run->sys->n;
    if (status != TDL_STATUS_OK || nw->blocks != NULL || !nw->few_idle) {
        return status;
    }
    BlockPattern pattern = system_pattern(run->sys);
    SixLu* blocks = ARENA_NEW(run->arena, SixLu, 1);
    status =
        blocks == NULL ? TDL_STATUS_NO_MEMORY : six_lu_analyse(blocks, run->arena, &pattern, NULL);
    nw->blocks = status == TDL_STATUS_OK ? blocks : NULL;
    return status;
}

// a <- D W, and one on the diagonal where it is the contact's own block
static void multiply_slope(const double* slope, const double* w, bool own, double* a) {
    for (int c = 0; c < 6; ++c) {
        double column[6] = {0};
        for (int m = 0; m < 6; ++m) {
            for (int k = 0; k < 6; ++k) {
                column[k] += slope[6 * m + k] * w[6 * c + m];
            }
        }
        column[c] += own ? 1.0 : 0.0;
        memcpy(a + (ptrdiff_t)6 * c, column, sizeof column);
    }
}

// y <- D g
static void answer_to(const Newton* nw, const double* g, double* y) {
    for (int i = 0; i < nw->run->sys->n; ++i) {
        const double *slope = nw->slope + 36 * (size_t)i, *from = g + (ptrdiff_t)6 * i;
        double sum[6] = {0};
        for (int k = 0; k < 36; ++k) {
            sum[k % 6] += slope[k] * from[k / 6];
        }
        memcpy(y + (ptrdiff_t)6 * i, sum, sizeof sum);
    }
}

static TdlStatus over_blocks(Newton* nw) {
    Run* run = nw->run;
    System* sys = run->sys;
    SixLu own, *lu = nw->few_idle ? nw->blocks : &own;
    BlockPattern pattern = system_pattern(sys);
    double* value = ARENA_NEW(run->arena, double, 36 * (size_t)sys->block_count);
    TdlStatus status =
        nw->few_idle ? TDL_STATUS_OK : six_lu_analyse(&own, run->arena, &pattern, nw->idle);
    if (status != TDL_STATUS_OK || value == NULL) {
        return value == NULL ? TDL_STATUS_NO_MEMORY : status;
    }
    if (too_dear(nw, lu->lu.flops)) {
        return TDL_STATUS_STOPPED;
    }
    for (int i = 0; i < sys->n; ++i) {
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            multiply_slope(nw->slope + 36 * (size_t)i, sys->blocks + 36 * (size_t)e,
                           sys->column[e] == i, value + 36 * (size_t)e);
        }
    }
    lu->lu.stop = run_stop(run);
    run_spend(run, lu->lu.flops);
    if (!six_lu_factor(lu, value, sys->pool)) {
        return TDL_STATUS_STOPPED;
    }
    answer_to(nw, nw->g, nw->step);
    six_lu_solve(lu, nw->step);
    for (size_t k = 0; k < run_size(run); ++k) {
        nw->step[k] -= nw->d[k];
    }
    return TDL_STATUS_OK;
}

// --- over coordinates ----------------------------------------------------------------------------

static TdlStatus over_coordinates(Newton* nw) {
    Run* run = nw->run;
    System* sys = run->sys;
    Coordinates c;
    TdlStatus status = coordinates_plan(&c, run, nw->part);
    if (status != TDL_STATUS_OK || too_dear(nw, c.lu.flops)) {
        return status == TDL_STATUS_OK ? TDL_STATUS_STOPPED : status;
    }
    c.lu.stop = run_stop(run);
    status = coordinates_factor(&c);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    run_spend(run, c.lu.flops);
    for (size_t k = 0; k < run_size(run); ++k) {
        nw->step[k] = -nw->d[k];
    }
    system_refresh_bodies(sys, nw->step);
    coordinates_solve(&c);
    for (int i = 0; i < sys->n; ++i) {
        const Reduced* part = &nw->part[i];
        double u[3] = {0}, *step = nw->step + 3 * i;
        if (part->size > 0) {
            body_row_add(sys, i, u);
        }
        for (int k = 0; k < part->size; ++k) {
            double y = -dot_product(3, part->test + 3 * k, u) / part->add[4 * k];
            for (int l = 0; l < 3; ++l) {
                step[l] += part->trial[3 * k + l] * y;
            }
        }
    }
    return TDL_STATUS_OK;
}

// --- over nodes ----------------------------------------------------------------------------------

// The pattern is that of all contacts and stays for the steps that follow.
static TdlStatus plan_nodes(Newton* nw) {
    if (nw->nodes != NULL) {
        return TDL_STATUS_OK;
    }
    NodalMatrix* nodes = ARENA_NEW(nw->run->arena, NodalMatrix, 1);
    TdlStatus status = nodes == NULL ? TDL_STATUS_NO_MEMORY : nodal_matrix_plan(nodes, nw->run);
    nw->nodes = status == TDL_STATUS_OK ? nodes : NULL;
    return status;
}

static TdlStatus over_nodes(Newton* nw) {
    Run* run = nw->run;
    System* sys = run->sys;
    int d = sys->d;
    if (too_dear(nw, nw->nodes->lu.flops)) {
        return TDL_STATUS_STOPPED;
    }
    TdlStatus status = nodal_matrix_factor(nw->nodes, nw->slope, nw->idle);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    run_spend(run, nw->nodes->lu.flops);
    for (size_t k = 0; k < run_size(run); ++k) {
        nw->step[k] = -nw->d[k];
    }
    system_drive_nodes(sys, nw->step);
    nodal_matrix_solve(nw->nodes);
    for (int i = 0; i < sys->n; ++i) {
        const double* slope = nw->slope + (size_t)i * (size_t)(d * d);
        double u[CONE_MAX] = {0}, *step = nw->step + (ptrdiff_t)i * d;
        if (nw->idle[i]) {
            continue;
        }
        node_row_add(sys, i, u);
        for (int k = 0; k < d * d; ++k) {
            step[k % d] -= slope[k] * u[k / d];
        }
    }
    return TDL_STATUS_OK;
}

// --- which ---------------------------------------------------------------------------------------

// Whether fewer unknowns are in the coordinates than at the contacts.
static bool coordinates_pay(const Newton* nw) {
    return nw->run->sys->d == 3 && nw->coordinates > 0 && nw->unknowns >= nw->coordinates;
}

TdlStatus newton_direction(Newton* nw) {
    Run* run = nw->run;
    System* sys = run->sys;
    bool nodes = nodal_matrix_fits(run), coordinates = nodes || coordinates_pay(nw);
    double ready = PLAN_EACH * (coordinates ? sys->row_size : sys->block_count) + EACH * sys->n;
    if (run_spent(run, ready)) {
        return TDL_STATUS_STOPPED;
    }
    run_spend(run, ready);
    if (!coordinates && sys->start == NULL && sys->block_count > MAX_FORMED) {
        return TDL_STATUS_STOPPED;
    }
    // W stays for the steps that follow
    TdlStatus status = nodes         ? plan_nodes(nw)
                       : coordinates ? TDL_STATUS_OK
                       : sys->d == 3 ? system_form_rows(sys, run->arena)
                                     : plan_blocks(nw);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    ArenaMark mark = arena_mark(run->arena);
    status = nodes         ? over_nodes(nw)
             : coordinates ? over_coordinates(nw)
             : sys->d == 3 ? over_contacts(nw)
                           : over_blocks(nw);
    arena_release(run->arena, mark);
    return status;
}
