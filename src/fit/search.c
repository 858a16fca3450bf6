// The search, by NLopt, in z of each parameter; what its end tells of them: standard deviations
// from the curvature of the error, and the error with one of them changed.
#include "fit/fit.h"

#include "app/terminal.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

// Parameters are moved by this share for derivatives of trajectories: large against what contacts
// make uneven, small against their curvature.
static const double DIFFERENCE = 1.0e-2;

// Pivots of the scaled curvature below this: the recording does not tell parameters apart.
static const double PIVOT_TOL = 1.0e-10;

// Steps at the end: at most, and the fall of the error, relative, and the move of a parameter, as
// z, that ask for another.
enum { POLISH_MAX = 12 };
static const double POLISH_FALL = 1.0e-4, POLISH_MOVE = 1.0e-6;

static const struct Algorithm {
    const char* name;
    nlopt_algorithm id;
} ALGORITHMS[] = {
    {"bobyqa", NLOPT_LN_BOBYQA},          {"cobyla", NLOPT_LN_COBYLA},   {"sbplx", NLOPT_LN_SBPLX},
    {"nelder-mead", NLOPT_LN_NELDERMEAD}, {"direct", NLOPT_GN_DIRECT_L}, {"crs", NLOPT_GN_CRS2_LM},
};

static const struct End {
    nlopt_result result;
    bool converged;
    const char* words;
} ENDS[] = {
    {NLOPT_XTOL_REACHED, true, "parameters move less than the tolerance"},
    {NLOPT_FTOL_REACHED, true, "the error falls no more"},
    {NLOPT_SUCCESS, true, "the algorithm is satisfied"},
    // what polishes it, and a look at runs beside it, tell whether that was too early
    {NLOPT_ROUNDOFF_LIMITED, true, "the error is too uneven to be followed further"},
    {NLOPT_MAXEVAL_REACHED, false, "the allowed evaluations were made"},
    {NLOPT_FORCED_STOP, false, "it was stopped"},
    {NLOPT_FAILURE, false, "the algorithm failed"},
};

typedef struct Search {
    Fit* fit;
    Found* found;
    nlopt_opt opt;
    Trial now;
    int most; // evaluations
} Search;

static void trial_copy(const Fit* fit, const Trial* from, Trial* to) {
    Trial kept = *to;
    size_t moments = (size_t)fit->data.moment_count, markers = (size_t)fit->data.marker_count;
    *to = *from;
    to->places = kept.places;
    to->curve = kept.curve;
    memcpy(to->places, from->places, moments * markers * sizeof *to->places);
    memcpy(to->curve, from->curve, moments * sizeof *to->curve);
}

// The square of the error: least at the same place, and nearly quadratic about it. (G.5)
static double evaluate(unsigned count, const double* z, double* gradient, void* user) {
    Search* s = user;
    Found* found = s->found;
    double values[PARAMETERS_MAX];
    (void)gradient; // none of the algorithms asks for it
    for (unsigned i = 0; i < count; ++i) {
        values[i] = parameter_value(&s->fit->parameters[i], z[i]);
    }
    if (found->evaluations == s->most) {
        nlopt_force_stop(s->opt); // some algorithms look at the limit only now and then
        return found->any ? found->best.error * found->best.error : s->fit->reach;
    }
    trial_tell(s->fit, "search", values, &s->now);
    if (s->now.outcome == TRIAL_STOPPED) {
        found->stopped = true;
        nlopt_force_stop(s->opt);
        return found->any ? found->best.error * found->best.error : s->fit->reach;
    }
    if (found->evaluations == 0) {
        trial_copy(s->fit, &s->now, &found->first);
    }
    ++found->evaluations;
    found->history[found->history_count++] = s->now.error;
    if (s->now.outcome != TRIAL_FAILED && (!found->any || s->now.error < found->best.error)) {
        found->any = true;
        trial_copy(s->fit, &s->now, &found->best);
        memcpy(found->values, values, count * sizeof *values);
    }
    return s->now.error * s->now.error;
}

static nlopt_opt make_algorithm(Search* s, const SearchDef* def) {
    const struct Algorithm* algorithm = ALGORITHMS;
    while (strcmp(algorithm->name, def->algorithm) != 0) {
        ++algorithm; // it is one of them: the option's table says so
    }
    nlopt_opt opt = nlopt_create(algorithm->id, (unsigned)s->fit->parameter_count);
    if (opt != NULL) {
        nlopt_set_min_objective(opt, evaluate, s);
        nlopt_set_lower_bounds1(opt, 0.0);
        nlopt_set_upper_bounds1(opt, 1.0);
        nlopt_set_initial_step1(opt, def->step);
        nlopt_set_xtol_abs1(opt, def->tolerance);
        nlopt_set_maxeval(opt, def->most);
    }
    return opt;
}

static void note_end(nlopt_result result, Found* found) {
    const struct End* end = ENDS;
    while (end->result != result && end->result != NLOPT_FAILURE) {
        ++end;
    }
    found->converged = end->converged && found->any;
    found->end = end->words;
}

bool fit_search(Fit* fit, const SearchDef* def, Found* found) {
    *found = (Found){.end = ""};
    Search s = {.fit = fit, .found = found, .most = def->most};
    double z[PARAMETERS_MAX], least;
    for (int i = 0; i < fit->parameter_count; ++i) {
        z[i] = parameter_place(&fit->parameters[i], fit->parameters[i].start);
        z[i] = fmin(fmax(z[i], 0.0), 1.0);
        found->deviations[i] = NAN;
    }
    nlopt_srand(1); // those that draw lots draw the same
    s.opt = make_algorithm(&s, def);
    found->history = calloc((size_t)def->most + POLISH_MAX, sizeof *found->history);
    bool good = s.opt != NULL && found->history != NULL && trial_create(fit, &s.now) &&
                trial_create(fit, &found->best) && trial_create(fit, &found->first);
    if (good) {
        note_end(nlopt_optimize(s.opt, z, &least), found);
    }
    nlopt_destroy(s.opt);
    trial_free(&s.now);
    return good;
}

// --- standard deviations -------------------------------------------------------------------------

// Inverts a symmetric positive definite matrix in place, by elimination with its diagonal scaled
// to one; false where that has a pivot that is nearly zero.
static bool invert(int n, double* a) {
    double scale[PARAMETERS_MAX];
    for (int i = 0; i < n; ++i) {
        if (!(a[i * n + i] > 0.0)) {
            return false;
        }
        scale[i] = 1.0 / sqrt(a[i * n + i]);
    }
    for (int k = 0; k < n * n; ++k) {
        a[k] *= scale[k / n] * scale[k % n];
    }
    for (int k = 0; k < n; ++k) {
        double pivot = a[k * n + k];
        if (!(pivot > PIVOT_TOL)) {
            return false;
        }
        a[k * n + k] = 1.0;
        for (int j = 0; j < n; ++j) {
            a[k * n + j] /= pivot;
        }
        for (int i = 0; i < n; ++i) {
            double factor = i == k ? 0.0 : a[i * n + k];
            a[i * n + k] = i == k ? a[i * n + k] : 0.0;
            for (int j = 0; j < n && i != k; ++j) {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    for (int k = 0; k < n * n; ++k) {
        a[k] *= scale[k / n] * scale[k % n];
    }
    return true;
}

// Adds what one moment tells: curvature of its error, and square of its slope. (G.6)
static void add_moment(const Fit* fit, const Trial* best, int moment, const Slopes* s,
                       Curvature* out) {
    int markers = fit->data.marker_count, count = s->count;
    double e = best->curve[moment], mass = 0.0, g[PARAMETERS_MAX] = {0};
    double b[PARAMETERS_MAX * PARAMETERS_MAX] = {0};
    int seen = 0;
    for (int i = 0; i < markers; ++i) {
        size_t k = (size_t)moment * (size_t)markers + (size_t)i;
        TdlVec3 r = tdl_sub3(best->places[k], fit->data.places[k]), slope[PARAMETERS_MAX];
        if (isnan(r.x)) {
            continue;
        }
        double m = fit->markers.items[i].mass;
        mass += m;
        ++seen;
        for (int p = 0; p < count; ++p) {
            slope[p] = tdl_scale3(1.0 / s->width[p], tdl_sub3(s->upper[p][k], s->lower[p][k]));
            g[p] += m * tdl_dot3(r, slope[p]) / e;
            for (int q = 0; q <= p; ++q) {
                b[p * count + q] += m * tdl_dot3(slope[p], slope[q]);
            }
        }
    }
    out->across += 1.0 - 1.0 / (3.0 * seen);
    for (int p = 0; p < count; ++p) {
        for (int q = 0; q <= p; ++q) {
            double gg = g[p] * g[q] / (mass * mass), h = b[p * count + q] / (mass * e);
            out->inverse[p * count + q] += h;
            out->squares[p * count + q] += gg;
            out->inverse[q * count + p] += p == q ? 0.0 : h;
            out->squares[q * count + p] += p == q ? 0.0 : gg;
        }
        out->slope[p] += g[p] / mass;
    }
}

bool fit_curvature(const Fit* fit, const Trial* best, const Slopes* slopes, Curvature* out) {
    *out = (Curvature){.count = slopes->count};
    for (int n = 0; n < fit->data.moment_count; ++n) {
        if (best->curve[n] > 0.0) {
            add_moment(fit, best, n, slopes, out);
            ++out->moments;
        }
    }
    return out->moments > out->count && invert(out->count, out->inverse);
}

double curvature_covariance(const Curvature* c, int p, int q) {
    double sum = 0.0;
    for (int k = 0; k < c->count * c->count; ++k) {
        int i = k / c->count, j = k % c->count;
        sum += c->inverse[p * c->count + i] * c->squares[k] * c->inverse[j * c->count + q];
    }
    // of the noise 1/d lies along the error and has no curvature; parameters spend moments
    double across = c->across / c->moments;
    return sum / (across * across) * c->moments / (c->moments - c->count);
}

double curvature_step(const Curvature* c, int p) {
    double sum = 0.0;
    for (int k = 0; k < c->count; ++k) {
        sum -= c->inverse[p * c->count + k] * c->slope[k];
    }
    return sum;
}

// The two values of a parameter for its derivatives, within its bounds; returns their distance in
// q, which is the value or its logarithm.
static double difference_values(const Parameter* p, double value, double* low, double* high) {
    double h = DIFFERENCE * (fabs(value) + (p->log ? 0.0 : DIFFERENCE * (p->high - p->low)));
    *low = fmax(value - h, p->low);
    *high = fmin(value + h, p->high);
    return p->log ? log(*high / *low) : *high - *low;
}

static void note_deviations(const Fit* fit, const Curvature* c, Found* found) {
    for (int p = 0; p < c->count; ++p) {
        double q = sqrt(curvature_covariance(c, p, p));
        found->deviations[p] = q * (fit->parameters[p].log ? found->values[p] : 1.0);
        for (int k = 0; k < c->count; ++k) {
            found->correlations[p][k] =
                curvature_covariance(c, p, k) / (q * sqrt(curvature_covariance(c, k, k)));
        }
    }
}

// The trajectories on both sides of one parameter; false when one could not be had.
static bool run_sides(Fit* fit, Found* found, int p, Trial sides[2], Slopes* slopes) {
    double ends[2], values[PARAMETERS_MAX];
    memcpy(values, found->values, sizeof values);
    slopes->width[p] = difference_values(&fit->parameters[p], values[p], &ends[0], &ends[1]);
    for (int side = 0; side < 2; ++side) {
        values[p] = ends[side];
        if (!trial_create(fit, &sides[side])) {
            return false;
        }
        trial_tell(fit, "slope", values, &sides[side]);
        found->stopped = found->stopped || sides[side].outcome == TRIAL_STOPPED;
        if (sides[side].outcome >= TRIAL_FAILED) {
            return false;
        }
    }
    slopes->lower[p] = sides[0].places;
    slopes->upper[p] = sides[1].places;
    return true;
}

// The curvature at what was found, and the deviations from it; false when it is not known.
static bool look_around(Fit* fit, Found* found, Curvature* out) {
    Trial sides[2 * PARAMETERS_MAX] = {0};
    Slopes slopes = {.count = fit->parameter_count};
    bool good = true;
    for (int p = 0; p < slopes.count && good; ++p) {
        good = run_sides(fit, found, p, &sides[2 * p], &slopes);
    }
    good = good && fit_curvature(fit, &found->best, &slopes, out);
    if (good) {
        note_deviations(fit, out, found);
    }
    for (int k = 0; k < 2 * slopes.count; ++k) {
        trial_free(&sides[k]);
    }
    return good;
}

// The step (G.8) within the bounds; true where it was so much better that another is worth it.
static bool step_on(Fit* fit, const Curvature* c, Trial* trial, Found* found) {
    double values[PARAMETERS_MAX], move = 0.0;
    for (int p = 0; p < c->count; ++p) {
        const Parameter* parameter = &fit->parameters[p];
        double step = curvature_step(c, p), value = found->values[p];
        value = parameter->log ? value * exp(step) : value + step;
        values[p] = fmin(fmax(value, parameter->low), parameter->high);
        move = fmax(move, fabs(parameter_place(parameter, values[p]) -
                               parameter_place(parameter, found->values[p])));
    }
    trial_tell(fit, "polish", values, trial);
    found->stopped = trial->outcome == TRIAL_STOPPED;
    found->history[found->history_count++] = trial->error;
    bool better = trial->outcome < TRIAL_FAILED && trial->error < found->best.error;
    bool go_on =
        better && move > POLISH_MOVE && trial->error < (1.0 - POLISH_FALL) * found->best.error;
    if (better) {
        trial_copy(fit, trial, &found->best);
        memcpy(found->values, values, sizeof values);
    }
    return go_on;
}

void fit_polish(Fit* fit, Found* found) {
    Trial trial = {0};
    bool good = trial_create(fit, &trial);
    for (int k = 0; k < POLISH_MAX && good; ++k) {
        Curvature c;
        good = look_around(fit, found, &c) && step_on(fit, &c, &trial, found);
    }
    if (good) {
        found->converged = false;
        found->end = "the error still fell in the last of the steps that polish it";
    }
    trial_free(&trial);
}

// --- sweeps --------------------------------------------------------------------------------------

static void sweep_one(Fit* fit, int p, Trial* trial, Found* found) {
    const Parameter* parameter = &fit->parameters[p];
    double value = found->values[p], half = value == 0.0 ? INFINITY : 0.5 * fabs(value);
    double low = fmax(value - half, parameter->low), high = fmin(value + half, parameter->high);
    int count = found->sweep_count;
    for (int k = 0; k < count && !found->stopped; ++k) {
        double values[PARAMETERS_MAX];
        memcpy(values, found->values, sizeof values);
        values[p] = low + (high - low) * k / (count - 1);
        trial_tell(fit, "sweep", values, trial);
        found->stopped = trial->outcome == TRIAL_STOPPED;
        found->sweep_values[p * count + k] = values[p];
        found->sweep_errors[p * count + k] = trial->outcome < TRIAL_FAILED ? trial->error : NAN;
    }
}

void fit_sweep(Fit* fit, int count, Found* found) {
    size_t room = (size_t)(fit->parameter_count * count) + 1;
    Trial trial = {0};
    found->sweep_values = calloc(room, sizeof(double));
    found->sweep_errors = calloc(room, sizeof(double));
    if (found->sweep_values != NULL && found->sweep_errors != NULL && trial_create(fit, &trial)) {
        found->sweep_count = count;
        for (int k = 0; k < fit->parameter_count * count; ++k) {
            found->sweep_values[k] = found->sweep_errors[k] = NAN; // until it was run
        }
        for (int p = 0; p < fit->parameter_count && !found->stopped; ++p) {
            sweep_one(fit, p, &trial, found);
        }
    }
    trial_free(&trial);
}

void found_free(Found* found) {
    trial_free(&found->best);
    trial_free(&found->first);
    free(found->history);
    free(found->sweep_values);
    free(found->sweep_errors);
    *found = (Found){0};
}
