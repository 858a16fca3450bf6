// Matrices S' W T + A, factored over contacts or over coordinates, and solved. friction.md 4.4
//
// Over coordinates x = A^-1 (s - S' H w) loses the digits in which s and S' H w agree, the more the
// smaller A is; what is left over is computed through W and solved for again.
#include "friction/space.h"

#include <string.h>

// Passes over what is left, as long as each leaves less than this part of the one before.
enum { REFINEMENTS = 3 };
static const double REFINED = 0.1;
// Over nodes what is left may be this part of the right-hand side: a solve takes as long as the
// rest of a small step.
static const double LEFT_PART = 1.0e-9;

// An unknown is weak where A is so many times its own part of S' W T: the others hardly feel it,
// and it follows them in passes over what is left, each of which leaves about a fifth. (F.66) Where
// a factorisation takes less than so many multiplications all are in it.
static const double WEAK = 100.0, THIN_FLOPS = 1.0e7;
enum { THIN_PASSES = 8 };
static const double THIN_FALLS = 0.7, THIN_LEFT = 1.0e-3;

// Multiplications that filling, solving and measuring take the time of, for each contact.
static const double STEP_EACH = 6000.0;

bool space_coordinates_pay(const Run* run, int unknowns) {
    int coordinates = run->sys->d == 3 ? system_coordinates(run->sys) : 0;
    return coordinates > 0 && unknowns >= coordinates;
}

TdlStatus space_init(Space* s, Run* run) {
    size_t n = (size_t)run->sys->n, size = run_size(run);
    bool three = run->sys->d == 3;
    *s = (Space){.run = run};
    s->reduced = ARENA_NEW(run->arena, Reduced, three ? n : 0);
    s->whole = ARENA_NEW(run->arena, WholePart, three ? 0 : n);
    s->z = ARENA_NEW(run->arena, double, size);
    s->u = ARENA_NEW(run->arena, double, size);
    s->rest = ARENA_NEW(run->arena, double, size);
    if (!s->reduced || !s->whole || !s->z || !s->u || !s->rest) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(s->reduced, 0, (three ? n : 0) * sizeof *s->reduced);
    memset(s->whole, 0, (three ? 0 : n) * sizeof *s->whole);
    return TDL_STATUS_OK;
}

Part space_part(const Space* s, int i) {
    if (s->run->sys->d == 3) {
        Reduced* a = &s->reduced[i];
        return (Part){&a->size, a->test, a->trial, a->add};
    }
    WholePart* a = &s->whole[i];
    return (Part){&a->size, a->test, a->trial, a->add};
}

// --- order ---------------------------------------------------------------------------------------

// Room for the strong unknowns, in place of the order of all, which told what they cost at most.
static TdlStatus prepare_thinning(Space* s) {
    Run* run = s->run;
    arena_release(run->arena, s->planned);
    s->strong = ARENA_NEW(run->arena, Reduced, run->sys->n);
    s->which = ARENA_NEW(run->arena, unsigned char, run->sys->n);
    s->planned = arena_mark(run->arena);
    s->thins = true;
    return s->strong == NULL || s->which == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

static TdlStatus plan_contacts(Space* s) {
    Run* run = s->run;
    System* sys = run->sys;
    if (sys->start == NULL && sys->block_count > MAX_FORMED) {
        return TDL_STATUS_STOPPED;
    }
    TdlStatus status = system_form_rows(sys, run->arena);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    BlockPattern pattern = system_pattern(sys);
    if (sys->d == 3) {
        s->planned = arena_mark(run->arena);
        status = front_lu_analyse(&s->lu, run->arena, &pattern, s->reduced);
        s->flops = s->lu.flops;
        bool thin = s->may_thin && s->flops > THIN_FLOPS && status == TDL_STATUS_OK;
        return thin ? prepare_thinning(s) : status;
    }
    size_t d2 = (size_t)(sys->d * sys->d);
    s->value = ARENA_NEW(run->arena, double, (size_t)sys->block_count* d2);
    status = six_lu_analyse(&s->six_lu, run->arena, &pattern, NULL);
    s->flops = s->six_lu.lu.flops;
    return s->value == NULL ? TDL_STATUS_NO_MEMORY : status;
}

static TdlStatus plan_nodes(Space* s) {
    Run* run = s->run;
    s->slope = ARENA_NEW(run->arena, double, run_size(run) * (size_t)run->sys->d);
    s->idle = ARENA_NEW(run->arena, bool, run->sys->n);
    if (s->slope == NULL || s->idle == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = nodal_matrix_plan(&s->nodes, run);
    s->flops = s->nodes.lu.flops;
    return status;
}

TdlStatus space_plan(Space* s) {
    Run* run = s->run;
    int unknowns = 0;
    for (int i = 0; i < run->sys->n; ++i) {
        unknowns += *space_part(s, i).size;
    }
    s->over_nodes = nodal_matrix_fits(run);
    s->over_coordinates = s->over_nodes || space_coordinates_pay(run, unknowns);
    TdlStatus status;
    if (s->over_nodes) {
        status = plan_nodes(s);
    } else if (s->over_coordinates) {
        status = coordinates_plan(&s->coordinates, run, s->reduced);
        s->flops = s->coordinates.lu.flops;
    } else {
        status = plan_contacts(s);
    }
    s->flops += STEP_EACH * run->sys->n;
    s->coordinates.lu.stop = s->lu.stop = s->six_lu.lu.stop = run_stop(run);
    return status;
}

// --- factors -------------------------------------------------------------------------------------

// to <- S' W T of contacts of six; unknowns that are not there are one.
static void fill_block(const WholePart* a, const WholePart* b, const double* w, bool own,
                       double* to) {
    for (int c = 0; c < 6; ++c) {
        double y[6] = {0};
        for (int m = 0; m < 6 && c < b->size; ++m) {
            for (int k = 0; k < 6; ++k) {
                y[k] += w[6 * m + k] * b->trial[6 * c + m];
            }
        }
        for (int k = 0; k < 6; ++k) {
            to[6 * c + k] = k < a->size ? dot_product(6, a->test + 6 * k, y) : 0.0;
        }
        if (own) {
            to[7 * c] += c < a->size ? a->add[7 * c] : 1.0;
        }
    }
}

static bool factor_blocks(Space* s) {
    const System* sys = s->run->sys;
    for (int i = 0; i < sys->n; ++i) {
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            fill_block(&s->whole[i], &s->whole[sys->column[e]], sys->blocks + 36 * (size_t)e,
                       sys->column[e] == i, s->value + 36 * (size_t)e);
        }
    }
    return six_lu_factor(&s->six_lu, s->value, sys->pool);
}

// slope <- T A^-1 S'
static TdlStatus factor_nodes(Space* s) {
    int d = s->run->sys->d;
    memset(s->slope, 0, run_size(s->run) * (size_t)d * sizeof *s->slope);
    for (int i = 0; i < s->run->sys->n; ++i) {
        Part a = space_part(s, i);
        double* to = s->slope + (size_t)i * (size_t)(d * d);
        s->idle[i] = *a.size == 0;
        for (int k = 0; k < *a.size; ++k) {
            double scale = 1.0 / a.add[k * (d + 1)];
            for (int e = 0; e < d * d; ++e) {
                to[e] += scale * a.trial[k * d + e % d] * a.test[k * d + e / d];
            }
        }
    }
    return nodal_matrix_factor(&s->nodes, s->slope, s->idle);
}

// S' W T of column k with itself
static double own_part(const System* sys, int i, const Reduced* a, int k) {
    const double *w = sys->diag + 9 * (size_t)i, *t = a->trial + 3 * k;
    double sum = 0.0;
    for (int c = 0; c < 3; ++c) {
        sum += a->test[3 * k + c] * (w[c] * t[0] + w[3 + c] * t[1] + w[6 + c] * t[2]);
    }
    return sum;
}

// The columns of a contact that W matters to, one after the other.
static void take_strong(const System* sys, int i, const Reduced* a, Reduced* to,
                        unsigned char* which) {
    to->size = 0;
    *which = 0;
    for (int k = 0; k < a->size; ++k) {
        if (a->add[4 * k] > WEAK * fabs(own_part(sys, i, a, k))) {
            continue;
        }
        int at = to->size++;
        memcpy(to->test + 3 * at, a->test + 3 * k, 3 * sizeof(double));
        memcpy(to->trial + 3 * at, a->trial + 3 * k, 3 * sizeof(double));
        memset(to->add + 3 * at, 0, 3 * sizeof(double));
        to->add[4 * at] = a->add[4 * k];
        *which = (unsigned char)(*which | 1 << k);
    }
}

// Factors over strong unknowns alone, in an order of their own.
static TdlStatus factor_strong(Space* s) {
    Run* run = s->run;
    System* sys = run->sys;
    BlockPattern pattern = system_pattern(sys);
    for (int i = 0; i < sys->n; ++i) {
        take_strong(sys, i, &s->reduced[i], &s->strong[i], &s->which[i]);
    }
    arena_release(run->arena, s->planned);
    TdlStatus status = front_lu_analyse(&s->lu, run->arena, &pattern, s->strong);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    s->lu.stop = run_stop(run);
    run_spend(run, s->lu.flops);
    return front_lu_factor(&s->lu, sys->blocks, sys->pool) ? TDL_STATUS_OK : TDL_STATUS_STOPPED;
}

TdlStatus space_factor(Space* s) {
    System* sys = s->run->sys;
    if (s->thins) {
        return factor_strong(s);
    }
    run_spend(s->run, s->flops);
    if (s->over_nodes) {
        TdlStatus status = factor_nodes(s);
        s->sign = s->nodes.lu.sign;
        return status;
    }
    if (s->over_coordinates) {
        TdlStatus status = coordinates_factor(&s->coordinates);
        s->sign = s->coordinates.lu.sign;
        return status;
    }
    bool good = sys->d == 3 ? front_lu_factor(&s->lu, sys->blocks, sys->pool) : factor_blocks(s);
    s->sign = sys->d == 3 ? s->lu.sign : s->six_lu.lu.sign;
    return good ? TDL_STATUS_OK : TDL_STATUS_STOPPED;
}

// --- solving -------------------------------------------------------------------------------------

// z <- T x, or T A^-1 x
static void spread_unknowns(const Space* s, const double* x, bool divided, double* z) {
    int d = s->run->sys->d;
    for (int i = 0; i < s->run->sys->n; ++i) {
        Part a = space_part(s, i);
        double* to = z + i * d;
        memset(to, 0, (size_t)d * sizeof *to);
        for (int k = 0; k < *a.size; ++k) {
            double value = x[i * d + k] / (divided ? a.add[k * (d + 1)] : 1.0);
            for (int c = 0; c < d; ++c) {
                to[c] += a.trial[k * d + c] * value;
            }
        }
    }
}

// out <- s - S' W T x - A x; returns its norm
static double what_is_left(Space* s, const double* right, const double* x, double* out) {
    int d = s->run->sys->d;
    double sum = 0.0;
    spread_unknowns(s, x, false, s->z);
    system_product(s->run->sys, s->z, s->u);
    for (int i = 0; i < s->run->sys->n; ++i) {
        Part a = space_part(s, i);
        for (int k = 0; k < *a.size; ++k) {
            int at = i * d + k;
            out[at] = right[at] - a.add[k * (d + 1)] * x[at] -
                      dot_product((size_t)d, a.test + k * d, s->u + i * d);
            sum += out[at] * out[at];
        }
    }
    return sqrt(sum);
}

// x <- x or 0, plus the solution for `right`
static void solve_over_coordinates(Space* s, const double* right, bool add, double* x) {
    System* sys = s->run->sys;
    spread_unknowns(s, right, true, s->z);
    system_refresh_bodies(sys, s->z);
    coordinates_solve(&s->coordinates);
    for (int i = 0; i < sys->n; ++i) {
        const Reduced* a = &s->reduced[i];
        double u[3] = {0};
        if (a->size > 0) {
            body_row_add(sys, i, u);
        }
        for (int k = 0; k < a->size; ++k) {
            double value = (right[3 * i + k] - dot_product(3, a->test + 3 * k, u)) / a->add[4 * k];
            x[3 * i + k] = value + (add ? x[3 * i + k] : 0.0);
        }
    }
}

// The same over nodes, of contacts of three and of six.
static void solve_over_nodes(Space* s, const double* right, bool add, double* x) {
    System* sys = s->run->sys;
    int d = sys->d;
    spread_unknowns(s, right, true, s->z);
    system_drive_nodes(sys, s->z);
    nodal_matrix_solve(&s->nodes);
    for (int i = 0; i < sys->n; ++i) {
        Part a = space_part(s, i);
        double u[CONE_MAX] = {0};
        if (*a.size > 0) {
            node_row_add(sys, i, u);
        }
        for (int k = 0; k < *a.size; ++k) {
            double left = right[i * d + k] - dot_product((size_t)d, a.test + k * d, u);
            x[i * d + k] = left / a.add[k * (d + 1)] + (add ? x[i * d + k] : 0.0);
        }
    }
}

// The same by the factors of strong unknowns; weak ones are alone.
static void solve_strong(Space* s, const double* right, bool add, double* x) {
    const System* sys = s->run->sys;
    double* z = s->z;
    for (int i = 0; i < sys->n; ++i) {
        for (int k = 0, at = 0; k < 3; ++k) {
            if (s->which[i] >> k & 1) {
                z[3 * i + at++] = right[3 * i + k];
            }
        }
    }
    front_lu_solve(&s->lu, z);
    for (int i = 0; i < sys->n; ++i) {
        const Reduced* a = &s->reduced[i];
        for (int k = 0, at = 0; k < a->size; ++k) {
            bool strong = s->which[i] >> k & 1;
            double value = strong ? z[3 * i + at++]
                                  : right[3 * i + k] / (a->add[4 * k] + own_part(sys, i, a, k));
            x[3 * i + k] = value + (add ? x[3 * i + k] : 0.0);
        }
    }
}

static void solve_once(Space* s, const double* right, bool add, double* x) {
    if (s->thins) {
        solve_strong(s, right, add, x);
    } else if (s->over_nodes) {
        solve_over_nodes(s, right, add, x);
    } else {
        solve_over_coordinates(s, right, add, x);
    }
}

void space_solve(Space* s, double* x) {
    size_t size = run_size(s->run);
    if (!s->over_coordinates && !s->thins) {
        if (s->run->sys->d == 3) {
            front_lu_solve(&s->lu, x);
        } else {
            six_lu_solve(&s->six_lu, x);
        }
        return;
    }
    ArenaMark mark = arena_mark(s->run->arena);
    double* right = ARENA_NEW(s->run->arena, double, size);
    if (right == NULL) {
        return; // the step is none, and shows
    }
    memcpy(right, x, size * sizeof *x);
    solve_once(s, right, false, x);
    double before = INFINITY, now = what_is_left(s, right, x, s->rest);
    double part = s->thins ? THIN_LEFT : s->over_nodes ? LEFT_PART : 0.0;
    double enough = part * sqrt(dot_product(size, right, right));
    double falls = s->thins ? THIN_FALLS : REFINED;
    int passes = s->thins ? THIN_PASSES : REFINEMENTS;
    for (int k = 0; k < passes && now < falls * before && now > enough; ++k) {
        solve_once(s, s->rest, true, x);
        before = now;
        now = what_is_left(s, right, x, s->rest);
    }
    arena_release(s->run->arena, mark);
}
