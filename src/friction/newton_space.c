// The direction of a Newton step, sought over the contacts that answer or over the coordinates of
// the bodies they touch.
//
// With -dr/du = T A^-1 S' at each contact (F.34) the direction is -d + T x,
//     over contacts      (S' W T + A) x = S' W d
//     over coordinates   (1 + Y' T A^-1 S' H) w = -Y' d,  x = -A^-1 S' H w
// which are the same step; the smaller of the two matrices is factored. (F.35)
#include "friction/newton.h"
#include "friction/space.h"

// Multiplications that ordering takes the time of, for each number of the rows of bodies, or block
// of W.
static const double PLAN_EACH = 30.0;
// The same of all else in a step, for each contact.
static const double EACH = 1000.0;

// Few steps are worth nothing: so many must fit into the budget before the first.
enum { WORTH_STEPS = 10 };

static bool too_dear(const Newton* nw, double flops) {
    double left = nw->made < WORTH_STEPS ? WORTH_STEPS - nw->made : 1.0;
    return flops > nw->run->worth || run_spent(nw->run, left * flops);
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

// Contacts of six: (1 + D W) step = -d by blocks.
static TdlStatus over_blocks(Newton* nw) {
    Run* run = nw->run;
    System* sys = run->sys;
    int d = sys->d, d2 = d * d;
    BlockLu lu;
    BlockPattern pattern = system_pattern(sys);
    double* value = ARENA_NEW(run->arena, double, (size_t)sys->block_count*(size_t)d2);
    TdlStatus status = block_lu_analyse(&lu, run->arena, &pattern);
    if (status != TDL_STATUS_OK || value == NULL) {
        return value == NULL ? TDL_STATUS_NO_MEMORY : status;
    }
    if (too_dear(nw, lu.flops)) {
        return TDL_STATUS_STOPPED;
    }
    for (int i = 0; i < sys->n; ++i) {
        const double* s = nw->slope + (size_t)i * (size_t)d2;
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            const double* w = sys->blocks + (size_t)e * (size_t)d2;
            double* a = value + (size_t)e * (size_t)d2;
            for (int k = 0; k < d2; ++k) {
                double sum = sys->column[e] == i && k % (d + 1) == 0 ? 1.0 : 0.0;
                for (int m = 0; m < d && !nw->idle[i]; ++m) {
                    sum += s[m * d + k % d] * w[k / d * d + m];
                }
                a[k] = sum;
            }
        }
    }
    lu.stop = run_stop(run);
    run_spend(run, lu.flops);
    if (!block_lu_factor(&lu, value, nw->idle, false)) {
        return TDL_STATUS_STOPPED;
    }
    for (size_t k = 0; k < run_size(run); ++k) {
        nw->step[k] = -nw->d[k];
    }
    block_lu_solve(&lu, nw->step);
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

// --- which ---------------------------------------------------------------------------------------

// Whether fewer unknowns are in the coordinates than at the contacts.
static bool coordinates_pay(const Newton* nw) {
    return nw->run->sys->d == 3 && nw->coordinates > 0 && nw->unknowns >= nw->coordinates;
}

TdlStatus newton_direction(Newton* nw) {
    Run* run = nw->run;
    System* sys = run->sys;
    bool coordinates = coordinates_pay(nw);
    double ready = PLAN_EACH * (coordinates ? sys->row_size : sys->block_count) + EACH * sys->n;
    if (run_spent(run, ready)) {
        return TDL_STATUS_STOPPED;
    }
    run_spend(run, ready);
    if (!coordinates && sys->start == NULL && sys->block_count > MAX_FORMED) {
        return TDL_STATUS_STOPPED;
    }
    // W stays for the steps that follow
    TdlStatus status = coordinates ? TDL_STATUS_OK : system_form_rows(sys, run->arena);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    ArenaMark mark = arena_mark(run->arena);
    status = coordinates ? over_coordinates(nw) : sys->d == 3 ? over_contacts(nw) : over_blocks(nw);
    arena_release(run->arena, mark);
    return status;
}
