// Sheets dropped at random on a floor, a ball or a stick, folded and in heaps: no two of their
// triangles go through each other in any step, told by exact arithmetic; nothing stretches.
#include "base/rng.h"
#include "math/rotation.h"
#include "tendril/tendril.h"
#include "test.h"

#include <gmp.h>
#include <string.h>

enum { MOST = 41 * 41 };

static TdlVec3 vertices[MOST], at[MOST], flat[MOST];
static int faces[4 * MOST];

// --- exact: does an edge go through a triangle? -------------------------------------------------

typedef struct Exact {
    mpq_t d[9], a, b; // scratch
} Exact;

static void exact_begin(Exact* e) {
    for (int k = 0; k < 9; ++k) {
        mpq_init(e->d[k]);
    }
    mpq_init(e->a);
    mpq_init(e->b);
}

static void exact_end(Exact* e) {
    for (int k = 0; k < 9; ++k) {
        mpq_clear(e->d[k]);
    }
    mpq_clear(e->a);
    mpq_clear(e->b);
}

static void subtract(Exact* e, mpq_t out, double x, double y) {
    mpq_set_d(e->a, x);
    mpq_set_d(e->b, y);
    mpq_sub(out, e->a, e->b);
}

// The sign of (b - a) x (c - a) . (d - a).
static int side_of(Exact* e, TdlVec3 a, TdlVec3 b, TdlVec3 c, TdlVec3 d) {
    static const int EVEN[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    const TdlVec3 to[3] = {b, c, d};
    mpq_t sum;
    for (int k = 0; k < 3; ++k) {
        subtract(e, e->d[3 * k], to[k].x, a.x);
        subtract(e, e->d[3 * k + 1], to[k].y, a.y);
        subtract(e, e->d[3 * k + 2], to[k].z, a.z);
    }
    mpq_init(sum);
    for (int k = 0; k < 3; ++k) {
        const int* p = EVEN[k];
        mpq_mul(e->a, e->d[p[0]], e->d[3 + p[1]]);
        mpq_mul(e->b, e->d[p[1]], e->d[3 + p[0]]);
        mpq_sub(e->a, e->a, e->b);
        mpq_mul(e->a, e->a, e->d[6 + p[2]]);
        mpq_add(sum, sum, e->a);
    }
    int sign = mpq_sgn(sum);
    mpq_clear(sum);
    return sign;
}

static bool apart(double p, double q, double a, double b, double c) {
    return fmax(p, q) < fmin(a, fmin(b, c)) || fmin(p, q) > fmax(a, fmax(b, c));
}

static bool goes_through(Exact* e, TdlVec3 p, TdlVec3 q, TdlVec3 a, TdlVec3 b, TdlVec3 c) {
    if (apart(p.x, q.x, a.x, b.x, c.x) || apart(p.y, q.y, a.y, b.y, c.y) ||
        apart(p.z, q.z, a.z, b.z, c.z) || side_of(e, a, b, c, p) * side_of(e, a, b, c, q) > 0) {
        return false;
    }
    int u = side_of(e, p, q, a, b), v = side_of(e, p, q, b, c), w = side_of(e, p, q, c, a);
    return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

TEST(exact_arithmetic_tells_what_goes_through) {
    Exact e;
    TdlVec3 a = {0.0, 0.0, 0.0}, b = {1.0, 0.0, 0.0}, c = {0.0, 1.0, 0.0};
    exact_begin(&e);
    CHECK(goes_through(&e, (TdlVec3){0.2, 0.2, -1.0}, (TdlVec3){0.2, 0.2, 1.0}, a, b, c));
    CHECK(!goes_through(&e, (TdlVec3){0.8, 0.8, -1.0}, (TdlVec3){0.8, 0.8, 1.0}, a, b, c));
    CHECK(!goes_through(&e, (TdlVec3){0.2, 0.2, 1.0e-300}, (TdlVec3){0.2, 0.2, 1.0}, a, b, c));
    exact_end(&e);
}

static bool share_corner(const int* a, const int* b) {
    bool found = false;
    for (int k = 0; k < 9; ++k) {
        found = found || a[k / 3] == b[k % 3];
    }
    return found;
}

static int count_crossings(Exact* e, const int* triangle, int count) {
    int found = 0;
    for (int i = 0; i < count * count; ++i) {
        const int *a = triangle + 3 * (i / count), *b = triangle + 3 * (i % count);
        for (int k = 0; k < 3 && !share_corner(a, b); ++k) {
            found += goes_through(e, at[a[k]], at[a[(k + 1) % 3]], at[b[0]], at[b[1]], at[b[2]]);
        }
    }
    return found;
}

// --- drops ---------------------------------------------------------------------------------------

typedef struct Drop {
    int nodes; // a side
    double size, thickness, shear, bending, mu, step;
    int steps, kind; // floor; with a ball; with a stick
    TdlVec3 along, across;
} Drop;

typedef struct Figures {
    int crossings, bad_steps;
    double strain, far; // far: the most that two nodes are farther apart than flat, a part
} Figures;

static void add_obstacles(TdlWorld* world, const Drop* drop) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_PLANE;
    CHECK(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    def.shape = drop->kind == 1 ? TDL_SHAPE_SPHERE : TDL_SHAPE_CYLINDER;
    def.radius = drop->kind == 1 ? 0.06 : 0.03;
    def.pose.position.z = drop->kind == 1 ? 0.06 : 0.1;
    if (drop->kind > 0) {
        CHECK(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    }
}

static double farthest(int count) {
    double far = 0.0;
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < i; ++j) {
            double now = tdl_norm3(tdl_sub3(at[i], at[j]));
            far = fmax(far, now / tdl_norm3(tdl_sub3(flat[i], flat[j])) - 1.0);
        }
    }
    return far;
}

static Figures let_fall(const Drop* drop) {
    TdlHost host = tdl_host_default();
    TdlWorldDef world_def = tdl_world_def_default();
    TdlClothDef def = tdl_cloth_def_default();
    TdlWorld* world = NULL;
    TdlBodyId id;
    Figures out = {0};
    int count = drop->nodes * drop->nodes, triangles = 0;
    const int* triangle = NULL;
    world_def.step = drop->step;
    world_def.contacts.law.mu = drop->mu;
    CHECK(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    add_obstacles(world, drop);
    def.mesh =
        tdl_cloth_rectangle(drop->size, drop->size, drop->nodes, drop->nodes, vertices, faces);
    def.thickness = drop->thickness;
    def.shear = drop->shear;
    def.bending = drop->bending;
    memcpy(flat, vertices, (size_t)count * sizeof *flat);
    for (int i = 0; i < count; ++i) {
        TdlVec3 x = {0.0, 0.0, 0.06 + drop->size};
        x = tdl_axpy3(x, flat[i].x, drop->along);
        vertices[i] = tdl_axpy3(x, flat[i].y, drop->across);
    }
    CHECK(tdl_world_add_cloth(world, &def, &id) == TDL_STATUS_OK);
    CHECK(tdl_cloth_triangles(world, id, &triangle, &triangles) == TDL_STATUS_OK);
    Exact e;
    exact_begin(&e);
    for (int i = 0; i < drop->steps; ++i) {
        TdlStepInfo info;
        TdlClothStrain strain = {0};
        TdlStatus status = tdl_world_step(world, &info);
        if (status != TDL_STATUS_OK) {
            ++out.bad_steps;
            printf("  step %d: %s\n", i + 1, info.reason);
            break;
        }
        out.bad_steps += info.unsolved + info.forced;
        tdl_cloth_strain(world, id, &strain);
        out.strain = fmax(out.strain, strain.largest);
        tdl_cloth_state(world, id, at, NULL);
        out.crossings += count_crossings(&e, triangle, triangles);
        for (int k = 0; k < count; ++k) {
            out.crossings += at[k].z < 0.0;
        }
    }
    exact_end(&e);
    out.far = farthest(count);
    tdl_world_destroy(world);
    return out;
}

static Drop random_drop(uint64_t seed) {
    Rng random = rng_seed(seed);
    Drop drop = {.nodes = 10, .size = 0.3, .thickness = 2.0e-3, .step = 0.005, .steps = 120};
    drop.kind = (int)(seed % 3);
    drop.mu = rng_range(&random, 0.1, 0.6);
    drop.shear =
        rng_range(&random, 0.0, 1.0) < 0.3 ? -1.0 : pow(10.0, rng_range(&random, 1.0, 3.0));
    drop.bending = pow(10.0, rng_range(&random, -6.0, -4.0));
    TdlVec3 v[2];
    for (int k = 0; k < 6; ++k) {
        (&v[k / 3].x)[k % 3] = rng_range(&random, -1.0, 1.0);
    }
    drop.along = tdl_unit3(v[0]);
    drop.across = tdl_unit3(tdl_axpy3(v[1], -tdl_dot3(v[1], drop.along), drop.along));
    return drop;
}

static void check_drop(const Drop* drop, const char* name, long seed, double* worst) {
    Figures f = let_fall(drop);
    *worst = fmax(*worst, f.strain);
    bool angles = drop->shear < 0.0; // else angles give way, and what is across with them
    if (f.crossings > 0 || f.bad_steps > 0 || f.strain > 1.0e-3 || (angles && f.far > 1.0e-3)) {
        FAIL("%s %ld: %d crossings, %d bad steps, strain %.2g, farther apart by %.2g", name, seed,
             f.crossings, f.bad_steps, f.strain, f.far);
    }
}

TEST(sheets_dropped_at_random_do_not_go_through_themselves) {
    long count = getenv("TENDRIL_LONG") != NULL ? 1000 : 2;
    double worst = 0.0;
    for (long seed = 1; seed <= count; ++seed) {
        Drop drop = random_drop((uint64_t)seed);
        check_drop(&drop, "seed", seed, &worst);
    }
    printf("  %ld drops, strain %.2g at most\n", count, worst);
}

// Let fall on its edge: it crumples into a heap.
TEST(a_sheet_falls_into_a_heap) {
    int nodes = getenv("TENDRIL_LONG") != NULL ? 40 : 10;
    Drop drop = {.nodes = nodes,
                 .size = 0.4,
                 .thickness = 2.0e-3,
                 .shear = 30.0,
                 .bending = 1.0e-6,
                 .mu = 0.3,
                 .step = 0.005,
                 .steps = 100,
                 .along = {1.0, 0.0, 0.0},
                 .across = {0.0, 0.05, 0.99875}};
    double worst = 0.0;
    check_drop(&drop, "nodes", nodes, &worst);
    printf("  %d nodes a side, strain %.2g\n", nodes, worst);
}
