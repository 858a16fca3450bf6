// Interior points: Mehrotra's predictor and corrector in Nesterov-Todd scaling, on the second-order
// cone problem of Cadoux with its shift renewed in every iteration.
//
// In x = (mu r_N, r_T) and y = (u_N / mu + |u_T|, u_T) both lie in the Lorentz cone, x'y = r'u~,
// and a solution is x o y = 0 with y = P^-1 (W r + b) + |y_T| e. Each iteration factors C W + P V^2
// P, V the scaling and C the derivative of the shift, over contacts or over coordinates: 20 to 60
// factorisations bring most problems near a solution, singular W included, from where the proximal
// method gives the last digits. friction.md section 4.6
#include "friction/space.h"

#include <limits.h>
#include <string.h>

// Steps from a start, where 20 to 60 do mostly, and where all else got stuck: then up to 300 do.
// How many must fit into the budget for the first to be worth it.
enum { MAX_STEPS = 120, INSISTENT_STEPS = 300, WORTH_STEPS = 40 };
// Steps that it mostly takes where it does at all, and that it has before other methods.
enum { MOSTLY_STEPS = 20, FEW_STEPS = 60 };
// A step shorter than this part of the way is none, and after so many in a row nothing is to come.
static const double SHORT_STEP = 1.0e-3;
enum { MAX_SHORT = 8 };
// Where a step is cut below this part the contacts that cut it to less than so many times what is
// left of it go on without the derivative of their shift; it comes back from this part on, twice as
// much with every step that is not.
static const double CUT_STEP = 0.1, CUTTING = 3.0, LEAST_COUPLING = 0.01;
// Without shift the problem is convex: steps in all, and the part of the first gap and residual at
// which it is solved.
enum { PRESS_STEPS = 60 };
static const double PRESSED = 1.0e-11;
// Sizes of the first x and y in units of their own. Whether steps get stuck is a matter of chance,
// so that more than one is tried, and more where all else got stuck.
typedef struct Start {
    double x, y;
} Start;
static const Start STARTS[] = {{1.0, 1.0}, {10.0, 1.0}, {1.0, 10.0}, {100.0, 1.0}, {0.1, 0.1}};
enum { START_COUNT = 3, INSISTENT_COUNT = sizeof STARTS / sizeof *STARTS };
// The complementarity of a start near an iterate, as a part of what b asks for, squared: of 13
// problems 11 take at most 21 steps, with 0.3 and 0.03 nine and eight. So many cut steps tell that
// it gets stuck.
static const double NEAR_ROOT = 0.1;
enum { MOST_CUTS = 6 };
// A contact's own stiffness is at least this part of the mean.
static const double LEAST_OWN = 1.0e-12;
// Part of the way to the boundary a step may go.
static const double TO_BOUNDARY = 0.98;
// Added to the diagonal of a matrix of unit size: sticking contacts of a singular W have no other.
static const double DIAGONAL = 1.0e-13;

typedef struct Interior {
    Run* run;
    Space space;
    double *x, *y;      // [n d] scaled impulses and shifted velocities
    double *dx, *dy;    // [n d] the step
    double *ax, *ay;    // [n d] predictor in the scaled space
    double* lambda;     // [n d] scaled point
    double *wbar, *eta; // [n d], [n] Nesterov-Todd scaling
    double* rho;        // [n d] residual of y = ...
    double *r, *u;      // [n d]
    double* coupling;   // [n] the part of the shift's derivative that is in the matrix
    int cuts;           // steps that were cut
    bool convex;        // without shift
    double eps;         // added to W, in units of the contacts' own stiffness
    const bool* out;    // [n] contacts without impulse; null: none
} Interior;

static bool is_out(const Interior* in, int i) {
    return in->out != NULL && in->out[i];
}

static bool has_shift(const Interior* in, int i) {
    return in->run->sys->law[i] == LAW_CONE && !in->convex && !is_out(in, i);
}

static bool has_cone(const Interior* in, int i) {
    return law_has_cone(in->run->sys->law[i]) && !is_out(in, i);
}

// unilateral normal part without a true cone: one number instead of a cone
static bool has_ray(const Interior* in, int i) {
    ContactLaw law = in->run->sys->law[i];
    return (law == LAW_SMOOTH || law == LAW_ROUGH) && !is_out(in, i);
}

static double scale_of(const System* sys, int i, int k) {
    return k == 0 && law_has_cone(sys->law[i]) ? sys->mu[i] : 1.0;
}

// A contact's own stiffness.
static double own_of(const System* sys, int i) {
    double sum = 0.0;
    for (int k = 0; k < sys->d; ++k) {
        sum += sys->diag[(size_t)i * (size_t)(sys->d * sys->d) + (size_t)(k * sys->d + k)];
    }
    return fmax(sum / sys->d, LEAST_OWN);
}

// What b asks of x and y, each contact in units of the root of its own stiffness: light and heavy
// bodies are then alike.
static double size_asked(const Interior* in) {
    const System* sys = in->run->sys;
    int d = sys->d, count = 0;
    double sum = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        if (has_cone(in, i) || has_ray(in, i)) {
            sum += dot_product((size_t)d, sys->b + i * d, sys->b + i * d) / own_of(sys, i);
            ++count;
        }
    }
    return sum > 0.0 ? sqrt(sum / count) : 1.0;
}

// x and y along e, of that size. All else is zero.
static void begin(Interior* in, Start start) {
    const System* sys = in->run->sys;
    int d = sys->d;
    double unit = size_asked(in);
    memset(in->x, 0, run_size(in->run) * sizeof(double));
    memset(in->y, 0, run_size(in->run) * sizeof(double));
    for (int i = 0; i < sys->n; ++i) {
        if (has_cone(in, i) || has_ray(in, i)) {
            in->y[i * d] = start.y * unit * sqrt(own_of(sys, i));
            in->x[i * d] = start.x * unit / sqrt(own_of(sys, i));
        }
    }
}

// x and y near the impulses r, whose velocities are u: x - y is theirs, and x o y the same at all
// contacts, in units of the roots of their own stiffness. (F.68)
static void begin_near(Interior* in, const double* r, const double* u) {
    const System* sys = in->run->sys;
    int d = sys->d;
    double root = NEAR_ROOT * size_asked(in);
    for (int i = 0; i < sys->n; ++i) {
        double own = sqrt(own_of(sys, i)), z[CONE_MAX];
        double shift = has_shift(in, i) ? tangent_norm(d, u + i * d) : 0.0;
        for (int k = 0; k < d; ++k) {
            double scale = scale_of(sys, i, k);
            double seen = u[i * d + k] / scale + (k == 0 ? shift : 0.0);
            z[k] = r[i * d + k] * scale * own - seen / own;
        }
        double *x = in->x + i * d, *y = in->y + i * d;
        memcpy(x, r + i * d, (size_t)d * sizeof(double)); // stays where there is neither
        int size = has_cone(in, i) ? d : has_ray(in, i) ? 1 : 0;
        if (size > 0) {
            cone_centre(size, z, root, x, y);
        }
        for (int k = 0; k < size; ++k) {
            x[k] /= own;
            y[k] *= own;
        }
    }
}

static TdlStatus interior_init(Interior* in, Run* run, const bool* out) {
    System* sys = run->sys;
    size_t size = run_size(run);
    memset(in, 0, sizeof *in);
    in->run = run;
    in->out = out;
    in->eta = ARENA_NEW(run->arena, double, sys->n);
    in->coupling = ARENA_NEW(run->arena, double, sys->n);
    double** vectors[] = {&in->x,      &in->y,    &in->dx,  &in->dy, &in->ax, &in->ay,
                          &in->lambda, &in->wbar, &in->rho, &in->r,  &in->u};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        *vectors[k] = ARENA_NEW(run->arena, double, size);
        if (*vectors[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memset(*vectors[k], 0, size * sizeof(double));
    }
    if (in->eta == NULL || in->coupling == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    begin(in, STARTS[0]);
    memset(in->coupling, 0, (size_t)sys->n * sizeof(double));
    TdlStatus status = space_init(&in->space, run);
    in->space.may_thin = out == NULL; // where they are out the last digits count
    for (int i = 0; i < sys->n && status == TDL_STATUS_OK; ++i) {
        *space_part(&in->space, i).size = is_out(in, i)               ? 0
                                          : sys->law[i] == LAW_SMOOTH ? 1
                                                                      : sys->d;
    }
    return status == TDL_STATUS_OK ? space_plan(&in->space) : status;
}

static double det_of(int d, const double* a) {
    double t = tangent_norm(d, a);
    return (a[0] - t) * (a[0] + t);
}

// o <- V a, or V^-1 a, with V = eta [w0 w1'; w1 I + w1 w1'/(1 + w0)]
static void apply_scaling(const Interior* in, int i, bool inverse, const double* a, double* o) {
    int d = in->run->sys->d;
    const double* w = in->wbar + i * d;
    double sign = inverse ? -1.0 : 1.0, dot = 0.0;
    double eta = inverse ? 1.0 / in->eta[i] : in->eta[i];
    for (int k = 1; k < d; ++k) {
        dot += w[k] * a[k];
    }
    double first = a[0];
    o[0] = eta * (w[0] * first + sign * dot);
    for (int k = 1; k < d; ++k) {
        o[k] = eta * (a[k] + w[k] * (sign * first + dot / (1.0 + w[0])));
    }
}

// scaling and scaled point of every contact; returns the mean complementarity
static double scale_all(Interior* in) {
    const System* sys = in->run->sys;
    int d = sys->d, count = 0;
    double gap = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        const double *x = in->x + i * d, *y = in->y + i * d;
        double* w = in->wbar + i * d;
        if (has_ray(in, i)) {
            in->lambda[i * d] = sqrt(x[0] * y[0]);
            gap += x[0] * y[0];
            ++count;
            continue;
        }
        if (!has_cone(in, i)) {
            continue;
        }
        double dx = sqrt(det_of(d, x)), dy = sqrt(det_of(d, y)), dot = 0.0;
        for (int k = 0; k < d; ++k) {
            dot += x[k] * y[k];
        }
        double gamma = sqrt(0.5 * (1.0 + dot / (dx * dy)));
        for (int k = 0; k < d; ++k) {
            w[k] = (y[k] / dy + (k == 0 ? 1.0 : -1.0) * x[k] / dx) / (2.0 * gamma);
        }
        in->eta[i] = sqrt(dy / dx);
        apply_scaling(in, i, false, x, in->lambda + i * d);
        gap += dot;
        ++count;
    }
    return count > 0 ? gap / count : 0.0;
}

// rho = P^-1 (W r + b) + |y_T| e - y; plain velocities where there is no cone
static double residual(Interior* in) {
    System* sys = in->run->sys;
    int d = sys->d;
    double sum = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        for (int k = 0; k < d; ++k) {
            in->r[i * d + k] = in->x[i * d + k] / scale_of(sys, i, k);
        }
    }
    system_velocity(sys, in->r, in->u);
    for (int i = 0; i < sys->n; ++i) {
        bool cone = has_cone(in, i);
        for (int k = 0; k < d; ++k) {
            int at = i * d + k;
            // r_T = 0, u_T as it comes
            bool held = is_out(in, i) || (sys->law[i] == LAW_SMOOTH && k > 0);
            in->rho[at] = held ? 0.0 : in->u[at] / scale_of(sys, i, k);
            in->rho[at] -= cone || (has_ray(in, i) && k == 0) ? in->y[at] : 0.0;
        }
        for (int k = 0; k < d && in->eps > 0.0 && !is_out(in, i); ++k) {
            in->rho[i * d + k] += in->eps * own_of(sys, i) * in->x[i * d + k];
        }
        in->rho[i * d] += has_shift(in, i) ? tangent_norm(d, in->y + i * d) : 0.0;
        for (int k = 0; k < d; ++k) {
            sum += in->rho[i * d + k] * in->rho[i * d + k];
        }
    }
    return sqrt(sum);
}

// the tangential direction of y as far as the shift is coupled, zero when there is none
static void shift_direction(const Interior* in, int i, double* t) {
    int d = in->run->sys->d;
    const double* y = in->y + i * d;
    double norm = tangent_norm(d, y);
    bool coupled = in->run->sys->law[i] == LAW_CONE;
    for (int k = 1; k < d; ++k) {
        t[k] = norm > 0.0 && coupled ? in->coupling[i] * y[k] / norm : 0.0;
    }
}

// Eigenvectors of V^2 at contact i by columns, and its eigenvalues. Without a cone what there is of
// V is on the diagonal.
static void spectrum(const Interior* in, int i, double* frame, double* value) {
    const System* sys = in->run->sys;
    int d = sys->d;
    if (has_cone(in, i)) {
        const double* w = in->wbar + i * d;
        double norm = tangent_norm(d, w), eta2 = in->eta[i] * in->eta[i], e[CONE_MAX] = {0};
        for (int k = 1; k < d; ++k) {
            e[k] = norm > 0.0 ? w[k] / norm : k == 1 ? 1.0 : 0.0;
            value[k] = eta2;
        }
        value[0] = eta2 * (w[0] + norm) * (w[0] + norm);
        value[1] = eta2 / ((w[0] + norm) * (w[0] + norm)); // w0^2 - |w_T|^2 = 1
        cone_frame(d, e, frame);
        return;
    }
    for (int k = 0; k < d * d; ++k) {
        frame[k] = k % (d + 1) == 0 ? 1.0 : 0.0;
        value[k / d] = k < d && has_ray(in, i) ? in->y[i * d] / in->x[i * d] : 0.0;
    }
}

// C W + P V^2 P in the frames F of V^2, with a factor that makes its diagonal about one: the test
// vectors are C' P^-1 F, the trial vectors P^-1 F.
static void fill_part(Interior* in, int i) {
    const System* sys = in->run->sys;
    int d = sys->d;
    double frame[CONE_MAX * CONE_MAX], value[CONE_MAX], t[CONE_MAX] = {0}, own = own_of(sys, i);
    Part a = space_part(&in->space, i);
    if (has_cone(in, i)) {
        shift_direction(in, i, t);
    }
    spectrum(in, i, frame, value);
    for (int k = 0; k < *a.size; ++k) {
        double part = 1.0 / sqrt(value[k] + own);
        for (int c = 0; c < d; ++c) {
            double f = part * frame[k * d + c];
            a.trial[k * d + c] = f / scale_of(sys, i, c);
            a.test[k * d + c] = c > 0 ? f + t[c] * part * frame[k * d] : a.trial[k * d];
        }
        a.add[k * (d + 1)] = (value[k] + in->eps * own) * part * part + DIAGONAL;
    }
}

static TdlStatus factor_all(Interior* in) {
    for (int i = 0; i < in->run->sys->n; ++i) {
        fill_part(in, i);
    }
    return space_factor(&in->space);
}

// the right-hand side's complementarity part V (lambda \ target) of a cone
static void target_part(const Interior* in, int i, double sigma_gap, bool correct, double* o) {
    int d = in->run->sys->d;
    const double* l = in->lambda + i * d;
    double v[CONE_MAX];
    // target = sigma gap e - lambda o lambda - ax o ay
    v[0] = sigma_gap;
    for (int k = 0; k < d; ++k) {
        v[0] -= l[k] * l[k];
    }
    for (int k = 1; k < d; ++k) {
        v[k] = -2.0 * l[0] * l[k];
    }
    if (correct) {
        const double *a = in->ax + i * d, *b = in->ay + i * d;
        for (int k = 0; k < d; ++k) {
            v[0] -= a[k] * b[k];
        }
        for (int k = 1; k < d; ++k) {
            v[k] -= a[0] * b[k] + b[0] * a[k];
        }
    }
    double dot = 0.0, z[CONE_MAX];
    for (int k = 1; k < d; ++k) {
        dot += l[k] * v[k];
    }
    z[0] = (l[0] * v[0] - dot) / det_of(d, l);
    for (int k = 1; k < d; ++k) {
        z[k] = (v[k] - l[k] * z[0]) / l[0];
    }
    apply_scaling(in, i, false, z, o);
}

// C rho: the residual seen through the coupled shift
static void coupled_residual(const Interior* in, int i, const double* rho, double* o) {
    int d = in->run->sys->d;
    double t[CONE_MAX] = {0};
    shift_direction(in, i, t);
    o[0] = rho[0];
    for (int k = 1; k < d; ++k) {
        o[0] += t[k] * rho[k];
        o[k] = rho[k];
    }
}

// dx <- P T x of a contact, in place of x
static void gather_step(const Interior* in, int i, double* dx) {
    const System* sys = in->run->sys;
    int d = sys->d;
    double x[CONE_MAX];
    Part a = space_part(&in->space, i);
    memcpy(x, dx, (size_t)d * sizeof *x);
    for (int c = 0; c < d; ++c) {
        dx[c] = 0.0;
        for (int k = 0; k < *a.size; ++k) {
            dx[c] += a.trial[k * d + c] * x[k];
        }
        dx[c] *= scale_of(sys, i, c);
    }
}

// Solves for dx (into in->dx) and dy with the given target.
static void solve_step(Interior* in, double sigma_gap, bool correct) {
    System* sys = in->run->sys;
    int d = sys->d;
    for (int i = 0; i < sys->n; ++i) {
        double part[CONE_MAX] = {0}, seen[CONE_MAX];
        memcpy(seen, in->rho + i * d, (size_t)d * sizeof(double));
        if (has_cone(in, i)) {
            target_part(in, i, sigma_gap, correct, part);
            coupled_residual(in, i, in->rho + i * d, seen);
        } else if (has_ray(in, i)) {
            double second = correct ? in->ax[i * d] * in->ay[i * d] : 0.0;
            part[0] = (sigma_gap - in->x[i * d] * in->y[i * d] - second) / in->x[i * d];
        }
        Part a = space_part(&in->space, i);
        for (int k = 0; k < *a.size; ++k) {
            double sum = 0.0;
            for (int c = 0; c < d; ++c) {
                sum += a.trial[k * d + c] * scale_of(sys, i, c) * (part[c] - seen[c]);
            }
            in->dx[i * d + k] = sum;
        }
        memcpy(in->dy + i * d, part, (size_t)d * sizeof(double));
    }
    space_solve(&in->space, in->dx);
    // unknowns to dx, and dy = part - V^2 dx
    for (int i = 0; i < sys->n; ++i) {
        double *dx = in->dx + i * d, *dy = in->dy + i * d, a[CONE_MAX], b[CONE_MAX];
        gather_step(in, i, dx);
        if (has_cone(in, i)) {
            apply_scaling(in, i, false, dx, a);
            apply_scaling(in, i, false, a, b);
            for (int k = 0; k < d; ++k) {
                dy[k] -= b[k];
            }
        } else if (has_ray(in, i)) {
            dy[0] -= in->y[i * d] / in->x[i * d] * dx[0];
        }
    }
}

// the largest step in [0, most] that keeps a + s da in the cone
static double cone_step(int d, const double* a, const double* da, double most) {
    double det = det_of(d, a), mixed = a[0] * da[0], second = det_of(d, da);
    for (int k = 1; k < d; ++k) {
        mixed -= a[k] * da[k];
    }
    // the first positive root of second s^2 + 2 mixed s + det
    double disc = mixed * mixed - second * det, root = INFINITY;
    if (mixed < 0.0 || second < 0.0) {
        if (disc >= 0.0) {
            root = det / (-mixed + sqrt(disc));
            root = root > 0.0 ? root : INFINITY;
        }
    }
    if (da[0] < 0.0) {
        root = fmin(root, -a[0] / da[0]);
    }
    return fmin(most, root);
}

// The same of contact i, x and y.
static double contact_step(const Interior* in, int i, double most) {
    int d = in->run->sys->d;
    const double *x = in->x + i * d, *y = in->y + i * d;
    const double *dx = in->dx + i * d, *dy = in->dy + i * d;
    if (has_cone(in, i)) {
        return cone_step(d, y, dy, cone_step(d, x, dx, most));
    }
    if (has_ray(in, i)) {
        most = dx[0] < 0.0 ? fmin(most, -x[0] / dx[0]) : most;
        most = dy[0] < 0.0 ? fmin(most, -y[0] / dy[0]) : most;
    }
    return most;
}

static double step_length(const Interior* in) {
    double most = 1.0 / TO_BOUNDARY;
    for (int i = 0; i < in->run->sys->n; ++i) {
        most = contact_step(in, i, most);
    }
    return TO_BOUNDARY * most;
}

// The derivative of the shift makes steps quadratic; at a few contacts it makes them very short.
static void adapt_coupling(Interior* in, double alpha) {
    bool cut = alpha < CUT_STEP;
    in->cuts += cut;
    for (int i = 0; i < in->run->sys->n; ++i) {
        if (!cut) {
            in->coupling[i] = fmin(1.0, 2.0 * fmax(in->coupling[i], LEAST_COUPLING));
        } else if (contact_step(in, i, 1.0) < CUTTING * alpha) {
            in->coupling[i] = 0.0;
        }
    }
}

// the predictor in the scaled space, for the corrector
static void keep_predictor(Interior* in) {
    const System* sys = in->run->sys;
    int d = sys->d;
    for (int i = 0; i < sys->n; ++i) {
        if (has_cone(in, i)) {
            apply_scaling(in, i, false, in->dx + i * d, in->ax + i * d);
            apply_scaling(in, i, true, in->dy + i * d, in->ay + i * d);
        } else {
            in->ax[i * d] = in->dx[i * d];
            in->ay[i * d] = in->dy[i * d];
        }
    }
}

// r of the present point, exactly admissible, offered as an iterate
static void offer(Interior* in) {
    System* sys = in->run->sys;
    int d = sys->d;
    for (int i = 0; i < sys->n; ++i) {
        double r[CONE_MAX] = {0};
        for (int k = 0; k < d; ++k) {
            r[k] = in->x[i * d + k] / scale_of(sys, i, k);
        }
        law_project(d, sys->law[i], sys->mu[i], r, in->r + i * d);
    }
    system_velocity(sys, in->r, in->u);
    run_offer(in->run, in->u, in->r);
}

static bool advance(Interior* in, double alpha) {
    size_t size = run_size(in->run);
    bool finite = true;
    for (size_t k = 0; k < size; ++k) {
        in->x[k] += alpha * in->dx[k];
        in->y[k] += alpha * in->dy[k];
        finite = finite && isfinite(in->x[k]) && isfinite(in->y[k]);
    }
    return finite;
}

// One predictor and corrector. The complementarity is not driven below what the residual has
// reached, or the iterates hug the boundary. Returns the step length, negative: stopped.
static double interior_step(Interior* in, double gap, double ratio) {
    if (factor_all(in) != TDL_STATUS_OK) {
        return -1.0;
    }
    solve_step(in, 0.0, false);
    double predicted = fmin(step_length(in), 1.0), left = 1.0 - predicted;
    keep_predictor(in);
    double sigma = fmax(left * left * left, fmin(1.0, ratio));
    solve_step(in, sigma * gap, true);
    return fmin(step_length(in), 1.0);
}

// Steps from the point at hand until a solution, the limit, so many cut steps, or nothing more is
// to come.
static void walk(Interior* in, int limit, int most_cuts) {
    Run* run = in->run;
    int shorts = 0;
    in->cuts = 0;
    for (int i = 0; i < run->sys->n; ++i) {
        in->coupling[i] = 1.0;
    }
    double gap_first = 0.0, residual_first = 0.0;
    for (int k = 0; k < limit && !run_done(run) && shorts < MAX_SHORT && in->cuts < most_cuts;
         ++k) {
        // few steps are worth nothing: all that it mostly takes, or none
        if (run_spent(run, in->space.flops * (k < WORTH_STEPS ? WORTH_STEPS - k : 1))) {
            break;
        }
        double gap = scale_all(in), rest = residual(in);
        gap_first = k == 0 ? gap : gap_first;
        residual_first = k == 0 ? rest + 1.0e-300 : residual_first;
        if (!(gap > 0.0)) {
            break;
        }
        double alpha = interior_step(in, gap, rest / residual_first / (gap / gap_first));
        if (alpha < 0.0) {
            break;
        }
        shorts = alpha < SHORT_STEP ? shorts + 1 : 0;
        adapt_coupling(in, alpha);
        if (!advance(in, alpha)) {
            run_count(run, TDL_FRICTION_INTERIOR, NULL);
            break;
        }
        offer(in);
        run_count(run, TDL_FRICTION_INTERIOR, in->r);
    }
}

// So many steps from each of so many starts.
static TdlStatus walk_from(Run* run, int starts, int steps) {
    ArenaMark mark = arena_mark(run->arena);
    System before = *run->sys; // without the rows of W that are formed on the way
    Interior in;
    TdlStatus status = interior_init(&in, run, NULL);
    int end = run->iterations + run->limit;
    bool dear = status == TDL_STATUS_OK && in.space.flops > run->worth;
    for (int k = 0; status == TDL_STATUS_OK && !dear && k < starts && !run_done(run); ++k) {
        int left = end - run->iterations;
        begin(&in, STARTS[k]);
        walk(&in, left < steps ? left : steps, INT_MAX);
    }
    *run->sys = before;
    arena_release(run->arena, mark);
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
}

TdlStatus run_interior(Run* run) {
    return walk_from(run, START_COUNT, MAX_STEPS);
}

TdlStatus run_near(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    System before = *run->sys;
    double* u = ARENA_NEW(run->arena, double, run_size(run));
    Interior in;
    TdlStatus status = u == NULL ? TDL_STATUS_NO_MEMORY : interior_init(&in, run, NULL);
    if (status == TDL_STATUS_OK && in.space.flops > run->worth) {
        run->refused = in.space.flops;
    } else if (status == TDL_STATUS_OK) {
        system_velocity(run->sys, run->best, u);
        begin_near(&in, run->best, u);
        walk(&in, run->limit < FEW_STEPS ? run->limit : FEW_STEPS, MOST_CUTS);
    }
    *run->sys = before;
    arena_release(run->arena, mark);
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
}

TdlStatus run_insist(Run* run) {
    return walk_from(run, INSISTENT_COUNT, INSISTENT_STEPS);
}

TdlStatus run_inside(Run* run, double sweeps) {
    double worth = run->worth;
    int limit = run->limit;
    run->worth = sweeps * run_sweep_work(run) / MOSTLY_STEPS;
    run->limit = limit < FEW_STEPS ? limit : FEW_STEPS;
    TdlStatus status = run_interior(run);
    run->limit = limit;
    run->worth = worth;
    return status;
}

TdlStatus interior_press(Run* run, const bool* out, double eps, double* r) {
    ArenaMark mark = arena_mark(run->arena);
    Interior in;
    TdlStatus status = interior_init(&in, run, out);
    in.convex = true;
    in.eps = eps;
    double gap_first = 0.0, residual_first = 0.0;
    for (int k = 0; k < PRESS_STEPS && status == TDL_STATUS_OK; ++k) {
        double gap = scale_all(&in), rest = residual(&in);
        gap_first = k == 0 ? gap : gap_first;
        residual_first = k == 0 ? rest + 1.0e-300 : residual_first;
        bool near = gap < PRESSED * gap_first && rest < PRESSED * residual_first;
        if (near || !(gap > 0.0) || run_spent(run, in.space.flops)) {
            break;
        }
        double alpha = interior_step(&in, gap, rest / residual_first / (gap / gap_first));
        run_count(run, TDL_FRICTION_INTERIOR, NULL);
        if (alpha < SHORT_STEP || !advance(&in, alpha)) {
            break;
        }
    }
    for (int k = 0; k < run->sys->n * run->sys->d && status == TDL_STATUS_OK; ++k) {
        r[k] = in.x[k] / scale_of(run->sys, k / run->sys->d, k % run->sys->d);
    }
    arena_release(run->arena, mark);
    return status;
}
