// A bed of grains between plane walls, stepped without a world: nodes at walls or behind them touch
// these, and the rows of strain are solved as they are in a world.
#ifndef TDL_TEST_BEDS_H
#define TDL_TEST_BEDS_H

#include "friction/strain.h"
#include "granular/bed.h"
#include "test.h"

typedef struct BedWall {
    TdlVec3 point, normal; // into the grains
    double mu;
    TdlVec3 force; // N, on it, in the last step
} BedWall;

enum { BED_WALLS = 6 };

typedef struct WalledBed {
    Bed* bed;
    StrainSolver* solver;
    BedWall wall[BED_WALLS];
    int wall_count;
    double tolerance;
    TdlEnergy energy, before; // after the last step, and before it
    double walls_took;        // J, in it
    StrainInfo info;

    int contact_count, capacity;
    int *node, *body, *of_wall;
    TdlSpan* span;
    TdlMat3* basis;
    double *mu, *r, *u, *v;
} WalledBed;

static inline bool walled_create(WalledBed* w, const TdlGrainsDef* def) {
    TdlHost host = tdl_host_default();
    *w = (WalledBed){.tolerance = 1.0e-10};
    const char* fault = tdl_grains_def_fault(def);
    if (fault != NULL) {
        FAIL("%s", fault);
        return false;
    }
    CHECK(bed_create(&host, def, &w->bed) == TDL_STATUS_OK);
    CHECK(strain_solver_create(&host, NULL, &w->solver) == TDL_STATUS_OK);
    w->capacity = BED_WALLS * w->bed->grid.node_count;
    size_t n = (size_t)w->capacity;
    w->node = calloc(n, sizeof *w->node);
    w->body = calloc(2 * n, sizeof *w->body);
    w->of_wall = calloc(n, sizeof *w->of_wall);
    w->span = calloc(2 * n, sizeof *w->span);
    w->basis = calloc(n, sizeof *w->basis);
    w->mu = calloc(n, sizeof *w->mu);
    w->r = calloc(3 * n, sizeof *w->r);
    w->u = calloc(3 * n, sizeof *w->u);
    w->v = calloc(3 * n, sizeof *w->v);
    for (size_t i = 0; i < 2 * n; ++i) {
        w->body[i] = -1;
    }
    return true;
}

static inline void walled_destroy(WalledBed* w) {
    bed_destroy(w->bed);
    strain_solver_destroy(w->solver);
    void* all[] = {w->node, w->body, w->of_wall, w->span, w->basis, w->mu, w->r, w->u, w->v};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        free(all[k]);
    }
}

static inline void walled_add(WalledBed* w, TdlVec3 point, TdlVec3 normal, double mu) {
    w->wall[w->wall_count++] = (BedWall){.point = point, .normal = normal, .mu = mu};
}

// From the node to the wall, and along it; in two dimensions the last is y.
static inline TdlMat3 wall_basis(TdlVec3 normal) {
    TdlVec3 n = tdl_scale3(-1.0, normal);
    TdlVec3 e = fabs(n.y) < 0.5 ? (TdlVec3){0.0, 1.0, 0.0} : (TdlVec3){1.0, 0.0, 0.0};
    TdlVec3 t = tdl_cross3(n, e);
    t = tdl_scale3(1.0 / tdl_norm3(t), t);
    return (TdlMat3){n, t, tdl_cross3(n, t)};
}

// What walls across the axes leave of the bed's places, before it is predicted.
static inline void walled_confine(WalledBed* w) {
    BodyLattice x = bed_lattice(w->bed);
    for (int p = 0; p < x.count[0] * x.count[1] * x.count[2]; ++p) {
        int at[3] = {p % x.count[0], p / x.count[0] % x.count[1], p / x.count[0] / x.count[1]};
        TdlVec3 place = tdl_axpy3(x.first, x.spacing, (TdlVec3){at[0], at[1], at[2]});
        double clear[LATTICE_SIDES];
        lattice_clear(&x, at, clear);
        for (int k = 0; k < w->wall_count; ++k) {
            const double* n = &w->wall[k].normal.x;
            double gap = tdl_dot3(tdl_sub3(place, w->wall[k].point), w->wall[k].normal);
            for (int a = 0; a < 3; ++a) {
                double* side = &clear[2 * a + (n[a] < 0.0)];
                *side = fabs(n[a]) > 0.9 ? fmin(*side, lattice_share(x.falling, gap / x.spacing))
                                         : *side;
            }
        }
        x.open[at[0] * x.step[0] + at[1] * x.step[1] + at[2] * x.step[2]] = lattice_open(clear);
    }
}

static inline void walled_find(WalledBed* w) {
    Bed* bed = w->bed;
    w->contact_count = 0;
    for (int i = 0; i < bed->node_count; ++i) {
        for (int k = 0; k < w->wall_count; ++k) {
            const BedWall* wall = &w->wall[k];
            double gap = tdl_dot3(tdl_sub3(bed->place[i], wall->point), wall->normal);
            if (gap > 1.0e-9 * bed->grid.spacing) {
                continue;
            }
            int c = w->contact_count++;
            w->node[c] = i;
            bed->met[i] = true;
            w->of_wall[c] = k;
            w->mu[c] = wall->mu;
            w->basis[c] = wall_basis(wall->normal);
        }
    }
    memset(w->r, 0, 3 * (size_t)w->contact_count * sizeof *w->r);
}

static inline void walled_solve(WalledBed* w, double dt) {
    Bed* bed = w->bed;
    int start = 0;
    double z = 0.0, none = 0.0;
    for (int i = 0; i < bed->node_count; ++i) {
        tdl_store3(w->v, i, tdl_load3(bed->v_free + bed->coordinate[i], 0));
    }
    bed->answered = true;
    StrainProblem problem = {
        .bed = &bed->strain,
        .v = w->v,
        .contacts = {.laws = {.block_size = 3, .contact_count = w->contact_count, .mu = w->mu},
                     .dof_start = &start,
                     .body = w->body,
                     .span = w->span,
                     .h = &none,
                     .y = &none},
        .unit = 1.0,
        .node = w->node,
        .basis = w->basis};
    StrainAim aim = {.tolerance = w->tolerance, .max_iterations = 100000, .allowed = 1.0e15};
    TdlStatus status = strain_solve(w->solver, &problem, &aim, w->r, w->u, w->v, &z, &w->info);
    CHECK(status == TDL_STATUS_OK);
    w->walls_took = 0.0;
    for (int k = 0; k < w->wall_count; ++k) {
        w->wall[k].force = (TdlVec3){0};
    }
    for (int c = 0; c < w->contact_count; ++c) {
        TdlVec3 r = tdl_mul33_3(w->basis[c], tdl_load3(w->r, c));
        BedWall* wall = &w->wall[w->of_wall[c]];
        wall->force = tdl_axpy3(wall->force, 1.0 / dt, r);
        w->walls_took += tdl_dot3(r, tdl_load3(w->v, w->node[c])); // (W.20)
    }
    for (int i = 0; i < bed->node_count; ++i) {
        tdl_store3(bed->v_free + bed->coordinate[i], 0, tdl_load3(w->v, i));
    }
}

static inline bool walled_step(WalledBed* w, double dt, TdlVec3 gravity) {
    BedSums sums = bed_sum(w->bed);
    w->before = bed_energy(w->bed, &sums, gravity);
    walled_confine(w);
    if (!bed_predict(w->bed, dt, gravity)) {
        return false;
    }
    w->bed->step.particles = w->before.kinetic;
    walled_find(w);
    walled_solve(w, dt);
    w->energy = bed_advance(w->bed, dt, gravity);
    return true;
}

static inline double walled_speed(const WalledBed* w) {
    double most = 0.0;
    for (int i = 0; i < w->bed->node_count; ++i) {
        TdlVec3 v = tdl_load3(w->bed->v_free + w->bed->coordinate[i], 0);
        most = fmax(most, tdl_norm3(v));
    }
    return most;
}

#endif
