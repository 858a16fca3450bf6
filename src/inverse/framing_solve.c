// The material frame of a rod whose centreline is known: where the sections are in balance about
// it.
//
// The angle of the frame obeys a two-point boundary value problem (V.83). What the twist wants by
// itself is integrated first, so that neither twist is ever differentiated. The energy of quadratic
// elements with Simpson's rule makes the problem discrete: fourth order at all places, a Hessian
// of two bands, whose pivots tell whether it is a minimum. Solutions are found by their angle at
// the tip: from there the equation is run to the start, and the tips that arrive at the given angle
// are all solutions there are. A bound on the torque bounds the tips. Time: linear in the places
// for each of some hundred runs; one Newton iteration where the energy is convex.
#include "base/memory.h"
#include "tendril/inverse.h"

#include <string.h>

enum {
    SOLUTIONS_MAX = 256, // that are told apart
    CELLS_MIN = 16,      // of tip angles, at first
    DEPTH_MAX = 40,      // halvings of a cell
    RUNS_MAX = 20000,    // from the tip, before the search gives up
    STEPS_MAX = 60       // of Newton's method
};

// Angle, rad, of a cell at first; and how far the arrival may be from a cubic through the cell's
// ends until the cell is halved.
static const double CELL = 0.2;
static const double BENT = 0.02;

// A step of Newton's method, rad, that is rounding.
static const double STEP_TOL = 1.0e-12;

// Two solutions nearer than this, rad, at all places are one.
static const double SAME = 1.0e-6;

static const double PI = 3.14159265358979323846;

typedef struct Search {
    int count;              // places
    double h, K0, start;    // m, between places; twist stiffness; angle at the start
    double K1, K2;          // bending stiffnesses
    double *r1, *r2;        // curvature of the centreline in the frame that twists as it likes
    double *n1, *n2;        // natural curvature
    double* ahead;          // rad, angle of that frame
    double *phi, *gradient; // unknowns, and the derivative of the energy
    double *d, *l1, *l2;    // factors of the Hessian
    double* trial;          // [count]
    double torque, lowest;  // bounds: of |W'|, and from below of W''
    double reach;           // rad, how far the tip's angle may be from the start's
    int found, runs;
    bool gave_up;
    double tip[SOLUTIONS_MAX], energy[SOLUTIONS_MAX];
    int saddles[SOLUTIONS_MAX];
    double far[SOLUTIONS_MAX]; // angle in the middle, to tell solutions apart
} Search;

// --- energy ---------------------------------------------------------------------------------

// Energy a length of bending at place i for an angle, and its first two derivatives. (V.84)
static double bending(const Search* p, int i, double phi, double* first, double* second) {
    double c = cos(phi), s = sin(phi);
    double k1 = c * p->r1[i] + s * p->r2[i], k2 = c * p->r2[i] - s * p->r1[i];
    double e1 = k1 - p->n1[i], e2 = k2 - p->n2[i];
    *first = p->K1 * e1 * k2 - p->K2 * e2 * k1;
    *second = p->K1 * (k2 * k2 - e1 * k1) + p->K2 * (k1 * k1 - e2 * k2);
    return 0.5 * (p->K1 * e1 * e1 + p->K2 * e2 * e2);
}

// Share of a place in Simpson's rule, m.
static double share(const Search* p, int i) {
    bool end = i == 0 || i == p->count - 1;
    return p->h * (i % 2 == 1 ? 4.0 : end ? 1.0 : 2.0) / 3.0;
}

// The discrete energy, its gradient, and the bands of its Hessian: d, and l1, l2 to the places one
// and two before. The start does not move. (V.85)
static double evaluate(Search* p, const double* phi) {
    double sum = 0.0, k = p->K0 / (6.0 * p->h);
    for (int i = 0; i < p->count; ++i) {
        double first, second, w = share(p, i);
        sum += w * bending(p, i, phi[i], &first, &second);
        p->gradient[i] = w * first;
        p->d[i] = w * second;
        p->l1[i] = p->l2[i] = 0.0;
    }
    for (int i = 0; i + 2 < p->count; i += 2) {
        double first = phi[i + 1] - phi[i], last = phi[i + 2] - phi[i + 1];
        // half of 7 a^2 + 16 m^2 + 7 b^2 - 16 a m - 16 m b + 2 a b, in differences
        sum += 0.5 * k * (7.0 * first * first - 2.0 * first * last + 7.0 * last * last);
        double ga = k * (7.0 * first - last), gb = k * (7.0 * last - first);
        p->gradient[i] -= ga;
        p->gradient[i + 1] += ga - gb;
        p->gradient[i + 2] += gb;
        p->d[i] += 7.0 * k;
        p->d[i + 1] += 16.0 * k;
        p->d[i + 2] += 7.0 * k;
        p->l1[i + 1] -= 8.0 * k;
        p->l1[i + 2] -= 8.0 * k;
        p->l2[i + 2] += k;
    }
    p->gradient[0] = 0.0;
    p->d[0] = 1.0;
    p->l1[1] = p->l2[2] = 0.0;
    return sum;
}

// L D L' in place; the number of pivots that are not positive, which is that of the directions in
// which the energy falls.
static int factor(Search* p) {
    int negative = 0;
    for (int i = 0; i < p->count; ++i) {
        double l2 = i >= 2 ? p->l2[i] / p->d[i - 2] : 0.0;
        double l1 = i >= 1 ? p->l1[i] : 0.0;
        l1 -= i >= 2 ? l2 * p->d[i - 2] * p->l1[i - 1] : 0.0;
        l1 /= i >= 1 ? p->d[i - 1] : 1.0;
        p->d[i] -= (i >= 2 ? l2 * l2 * p->d[i - 2] : 0.0) + (i >= 1 ? l1 * l1 * p->d[i - 1] : 0.0);
        p->l1[i] = l1;
        p->l2[i] = l2;
        negative += !(p->d[i] > 0.0);
    }
    return negative;
}

static void solve(const Search* p, double* b) {
    int n = p->count;
    for (int i = 1; i < n; ++i) {
        b[i] -= p->l1[i] * b[i - 1] + (i >= 2 ? p->l2[i] * b[i - 2] : 0.0);
    }
    for (int i = n - 1; i >= 0; --i) {
        b[i] /= p->d[i];
        b[i] -= i + 1 < n ? p->l1[i + 1] * b[i + 1] : 0.0;
        b[i] -= i + 2 < n ? p->l2[i + 2] * b[i + 2] : 0.0;
    }
}

static double largest(const double* x, int n) {
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// Newton's method from phi. `downhill`: the energy is convex and has to fall, else the force.
// Returns whether it arrived; the energy and the number of falling directions there.
static bool polish(Search* p, bool downhill, double* energy, int* saddles) {
    double now = evaluate(p, p->phi), force = largest(p->gradient, p->count), step = INFINITY;
    size_t size = (size_t)p->count * sizeof(double);
    for (int k = 0; k < STEPS_MAX && step > STEP_TOL; ++k) {
        factor(p);
        double* change = p->trial;
        memcpy(change, p->gradient, size);
        solve(p, change);
        step = largest(change, p->count);
        if (!isfinite(step)) {
            return false;
        }
        double t = step > 1.0 ? 1.0 / step : 1.0, taken = 0.0;
        for (int halvings = 0; halvings < 30; ++halvings, t *= 0.5) {
            for (int i = 0; i < p->count; ++i) {
                p->phi[i] -= (t - taken) * change[i];
            }
            taken = t;
            double next = evaluate(p, p->phi), left = largest(p->gradient, p->count);
            if (step < 1.0e-6 || (downhill ? next < now : left < force)) {
                now = next;
                force = left;
                break;
            }
        }
    }
    *energy = evaluate(p, p->phi);
    *saddles = factor(p);
    return step <= 1.0e3 * STEP_TOL;
}

// --- from the tip to the start --------------------------------------------------------------

typedef struct Run {
    double phi, rate, by_tip, rate_by_tip; // at the start: and how they move with the tip's angle
} Run;

static Run run_slope(const Search* p, int i, Run at) {
    double first, second;
    bending(p, i, at.phi, &first, &second);
    return (Run){at.rate, first / p->K0, at.rate_by_tip, second * at.by_tip / p->K0};
}

static Run run_add(Run a, double s, Run b) {
    return (Run){a.phi + s * b.phi, a.rate + s * b.rate, a.by_tip + s * b.by_tip,
                 a.rate_by_tip + s * b.rate_by_tip};
}

// Runs the equation from a tip to the start, by Runge and Kutta over two intervals at a time, and
// fills `path` unless null. (V.86)
static Run run_from(Search* p, double tip, double* path) {
    Run at = {tip, 0.0, 1.0, 0.0};
    double step = -2.0 * p->h;
    ++p->runs;
    for (int i = p->count - 1; i >= 2; i -= 2) {
        Run a = run_slope(p, i, at), b = run_slope(p, i - 1, run_add(at, 0.5 * step, a));
        Run c = run_slope(p, i - 1, run_add(at, 0.5 * step, b));
        Run d = run_slope(p, i - 2, run_add(at, step, c));
        Run next = run_add(run_add(at, step / 6.0, a), step / 3.0, b);
        next = run_add(run_add(next, step / 3.0, c), step / 6.0, d);
        if (path != NULL) { // in between by the cubic of both ends
            path[i] = at.phi;
            path[i - 1] = 0.5 * (at.phi + next.phi) + step * (at.rate - next.rate) / 8.0;
            path[i - 2] = next.phi;
        }
        at = next;
    }
    at.phi -= p->start;
    return at;
}

// --- the search -----------------------------------------------------------------------------

// A solution near a tip: kept unless known.
static void keep(Search* p, double tip) {
    run_from(p, tip, p->phi);
    double energy, middle;
    int saddles;
    p->phi[0] = p->start;
    if (!polish(p, false, &energy, &saddles)) {
        p->gave_up = true;
        return;
    }
    middle = p->phi[p->count / 2];
    for (int i = 0; i < p->found; ++i) {
        if (fabs(p->tip[i] - p->phi[p->count - 1]) < SAME && fabs(p->far[i] - middle) < SAME) {
            return;
        }
    }
    if (p->found == SOLUTIONS_MAX) {
        p->gave_up = true;
        return;
    }
    // in the order of energies
    int at = p->found++;
    for (; at > 0 && p->energy[at - 1] > energy; --at) {
        p->energy[at] = p->energy[at - 1];
        p->tip[at] = p->tip[at - 1];
        p->far[at] = p->far[at - 1];
        p->saddles[at] = p->saddles[at - 1];
    }
    p->energy[at] = energy;
    p->tip[at] = p->phi[p->count - 1];
    p->far[at] = middle;
    p->saddles[at] = saddles;
}

// The root between two tips on either side.
static void find_root(Search* p, double low, double high, bool rises) {
    for (int k = 0; k < 200 && p->runs < RUNS_MAX; ++k) {
        double mid = 0.5 * (low + high);
        if (high - low < 1.0e-11 || mid == low || mid == high) {
            break;
        }
        bool above = run_from(p, mid, NULL).phi > 0.0;
        *(above == rises ? &high : &low) = mid;
    }
    keep(p, 0.5 * (low + high));
}

// The arrival turns back between two tips, on one side of the start: where it is nearest.
static void find_turn(Search* p, double low, Run at_low, double high) {
    double from = low, to = high, side = at_low.phi > 0.0 ? 1.0 : -1.0;
    for (int k = 0; k < 60 && p->runs < RUNS_MAX; ++k) {
        double mid = 0.5 * (low + high);
        Run at = run_from(p, mid, NULL);
        if (side * at.phi <= 0.0) {
            find_root(p, from, mid, side < 0.0);
            find_root(p, mid, to, side > 0.0);
            return;
        }
        *(side * at.by_tip < 0.0 ? &low : &high) = mid;
    }
}

// One cell of tips: halved until a cubic tells how the arrival goes through it.
static void search_cell(Search* p, double low, Run a, double high, Run b, int depth) {
    double width = high - low, mid = 0.5 * (low + high);
    Run m = run_from(p, mid, NULL);
    double cubic = 0.5 * (a.phi + b.phi) + width * (a.by_tip - b.by_tip) / 8.0;
    if (fabs(cubic - m.phi) > BENT && depth < DEPTH_MAX) {
        if (p->runs >= RUNS_MAX) {
            p->gave_up = true;
            return;
        }
        search_cell(p, low, a, mid, m, depth + 1);
        search_cell(p, mid, m, high, b, depth + 1);
        return;
    }
    double tips[3] = {low, mid, high};
    Run at[3] = {a, m, b};
    for (int k = 0; k < 2; ++k) {
        if ((at[k].phi > 0.0) != (at[k + 1].phi > 0.0)) {
            find_root(p, tips[k], tips[k + 1], at[k + 1].phi > 0.0);
        } else if (at[k].phi * at[k].by_tip < 0.0 && at[k + 1].phi * at[k + 1].by_tip > 0.0) {
            find_turn(p, tips[k], at[k], tips[k + 1]);
        }
    }
}

static void search(Search* p) {
    int cells = CELLS_MIN + (int)fmin(2.0 * p->reach / CELL, RUNS_MAX);
    double low = p->start - p->reach, width = 2.0 * p->reach / cells;
    Run a = run_from(p, low, NULL);
    for (int k = 0; k < cells && !p->gave_up; ++k) {
        Run b = run_from(p, low + (k + 1) * width, NULL);
        search_cell(p, low + k * width, a, low + (k + 1) * width, b, 0);
        p->gave_up = p->gave_up || p->runs >= RUNS_MAX;
        a = b;
    }
}

// --- setting up -----------------------------------------------------------------------------

static bool is_good(const TdlFramingDef* def) {
    TdlVec3 K = def->stiffness;
    bool good = def->count >= 3 && def->count % 2 == 1 && def->length > 0.0 &&
                isfinite(def->length) && tdl_finite3(K) && K.x > 0.0 && K.y > 0.0 && K.z > 0.0 &&
                isfinite(def->start);
    for (int i = 0; good && i < def->count; ++i) {
        good = tdl_finite3(def->reference[i]) && tdl_finite3(def->natural[i]);
    }
    return good;
}

// The angle of the frame that twists as it likes, fourth order: Simpson's parabola, whole and half.
static void integrate_twist(const TdlFramingDef* def, Search* p) {
    p->ahead[0] = 0.0;
    for (int i = 0; i + 2 < p->count; i += 2) {
        double f[3];
        for (int k = 0; k < 3; ++k) {
            f[k] = def->natural[i + k].x - def->reference[i + k].x;
        }
        p->ahead[i + 1] = p->ahead[i] + p->h * (5.0 * f[0] + 8.0 * f[1] - f[2]) / 12.0;
        p->ahead[i + 2] = p->ahead[i] + p->h * (f[0] + 4.0 * f[1] + f[2]) / 3.0;
    }
}

static bool set_up(Arena* arena, const TdlFramingDef* def, Search* p) {
    int n = def->count;
    double* memory = ARENA_NEW(arena, double, 11 * (size_t)n);
    if (memory == NULL) {
        return false;
    }
    double** arrays[] = {&p->r1,       &p->r2, &p->n1, &p->n2, &p->ahead, &p->phi,
                         &p->gradient, &p->d,  &p->l1, &p->l2, &p->trial};
    for (int k = 0; k < 11; ++k) {
        *arrays[k] = memory + (size_t)k * (size_t)n;
    }
    p->count = n;
    p->h = def->length / (n - 1);
    p->start = def->start;
    p->K0 = def->stiffness.x;
    p->K1 = def->stiffness.y;
    p->K2 = def->stiffness.z;
    integrate_twist(def, p);
    for (int i = 0; i < n; ++i) {
        TdlVec3 r = def->reference[i], natural = def->natural[i];
        double c = cos(p->ahead[i]), s = sin(p->ahead[i]);
        p->r1[i] = c * r.y + s * r.z;
        p->r2[i] = c * r.z - s * r.y;
        p->n1[i] = natural.y;
        p->n2[i] = natural.z;
        // bounds at any angle (V.87)
        double bend = hypot(r.y, r.z), pull = bend * hypot(p->K1 * natural.y, p->K2 * natural.z);
        double uneven = fabs(p->K2 - p->K1) * bend * bend;
        p->torque = fmax(p->torque, 0.5 * uneven + pull);
        p->lowest = fmin(p->lowest, -uneven - pull);
        p->reach += 1.01 * share(p, i) * (i * p->h) * (0.5 * uneven + pull) / p->K0;
    }
    return true;
}

static TdlStatus solve_rank(Search* p, double length, int rank, TdlFraming* out) {
    bool convex = p->lowest >= -p->K0 * PI * PI / (4.0 * length * length);
    for (int i = 0; i < p->count; ++i) {
        p->phi[i] = p->start;
    }
    if (convex) {
        out->complete = polish(p, true, &out->energy, &out->saddle_count);
        out->solution_count = 1;
    } else {
        search(p);
        out->complete = !p->gave_up;
        out->solution_count = p->found;
    }
    if (rank >= out->solution_count) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (!convex) {
        // its tip is known, and Newton's method finds it again
        run_from(p, p->tip[rank], p->phi);
        p->phi[0] = p->start;
        polish(p, false, &out->energy, &out->saddle_count);
    }
    evaluate(p, p->phi);
    for (int i = 1; i < p->count; ++i) {
        double size = fmax(p->torque, p->K0 / (length * length));
        out->residual = fmax(out->residual, fabs(p->gradient[i]) / (share(p, i) * size));
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_framing_solve(const TdlHost* host, const TdlFramingDef* def, int rank, double* theta,
                            TdlFraming* out) {
    *out = (TdlFraming){0};
    if (!is_good(def) || rank < 0) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    Arena arena;
    arena_init(&arena, &host->mem);
    Search* p = ARENA_NEW(&arena, Search, 1);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (p != NULL) {
        *p = (Search){0};
        status = set_up(&arena, def, p) ? solve_rank(p, def->length, rank, out) : status;
    }
    for (int i = 0; status == TDL_STATUS_OK && i < def->count; ++i) {
        theta[i] = p->phi[i] + p->ahead[i];
    }
    arena_destroy(&arena);
    return status;
}
