// A super-clothoid of given shape: gradient of its weight and loads, and its natural curvature, for
// which K is tridiagonal.
#include "inverse/strand.h"
#include "rod/clothoid_element.h"

#include <string.h>

static Clothoid shape_of(const Strand* strand, int i) {
    const TdlVec3* kappa = strand->def->curvature + i;
    return clothoid_make(tdl_scale3(strand->l, kappa[0]), tdl_scale3(strand->l, kappa[1]));
}

// Where an element goes, and how its end moves; the rest of it stays zero. `state` is its end.
static ClothoidElement make_shape(const Strand* strand, int i, TdlPose start,
                                  const ClothoidState* state, TdlPose* end) {
    double l = strand->l;
    TdlMat3 R = start.rotation;
    ClothoidElement e = {.start = start, .shape = shape_of(strand, i)};
    e.span = tdl_scale3(l, tdl_mul33_3(R, clothoid_position(state)));
    for (int a = 0; a < 2; ++a) {
        e.shift[a] = tdl_scale33(l, tdl_mul33(R, clothoid_displacement(state, a)));
        e.turn[a] = tdl_mul33(R, clothoid_turn(state, a));
    }
    *end = (TdlPose){tdl_add3(start.position, e.span), tdl_mul33(R, clothoid_rotation(state))};
    return e;
}

// The same with what the forces ask of it.
static ClothoidElement make_element(const Strand* strand, int i, TdlPose start, TdlPose* end) {
    ClothoidInertia inertia;
    ClothoidState state;
    Clothoid shape = shape_of(strand, i);
    clothoid_inertia(&shape, &inertia, &state);
    ClothoidElement e = make_shape(strand, i, start, &state, end);
    e.h = tdl_scale3(strand->l, tdl_mul33_3(start.rotation, inertia.h));
    for (int a = 0; a < 2; ++a) {
        e.Bm[a] = tdl_scale33(strand->l, tdl_mul33(start.rotation, inertia.Bm[a]));
    }
    return e;
}

static ClothoidElement* walk(const Strand* strand) {
    ClothoidElement* el = ARENA_NEW(strand->arena, ClothoidElement, strand->element_count);
    TdlPose at = strand->def->start;
    for (int i = 0; el != NULL && i < strand->element_count; ++i) {
        el[i] = make_element(strand, i, at, &at);
    }
    return el;
}

// Forces on an element and beyond: their sum, and their moment about its start.
typedef struct Sum {
    TdlVec3 force, moment;
} Sum;

// The generalised forces of the loads on element i; adds them to those beyond its start. (C.15)
static void add_loads(const Strand* strand, const ClothoidElement* e, int i, Sum* sum,
                      TdlVec3 own[2]) {
    TdlMat3 R = e->start.rotation;
    for (int k = strand_first_load(strand, i); k >= 0; k = strand->loads[k].next) {
        const RodLoad* load = &strand->loads[k].at;
        ClothoidState at;
        clothoid_at(&e->shape, load->s, &at);
        TdlVec3 F = tdl_tmul33_3(R, load->force);
        for (int a = 0; a < 2; ++a) {
            TdlMat3 B = clothoid_displacement(&at, a);
            own[a] = tdl_axpy3(own[a], strand->l, tdl_tmul33_3(B, F));
        }
        TdlVec3 arm = tdl_scale3(strand->l, tdl_mul33_3(R, clothoid_position(&at)));
        sum->force = tdl_add3(sum->force, load->force);
        sum->moment = tdl_add3(sum->moment, tdl_cross3(arm, load->force));
    }
}

// Tip to root. (C.14)
static bool gradient(const Strand* strand, double* G) {
    ArenaMark mark = arena_mark(strand->arena);
    ClothoidElement* el = walk(strand);
    if (el == NULL) {
        return false;
    }
    TdlVec3 weight = tdl_scale3(strand->m, strand->gravity);
    Sum sum = {0};
    memset(G, 0, 3 * (size_t)strand->block_count * sizeof *G);
    for (int i = strand->element_count - 1; i >= 0; --i) {
        const ClothoidElement* e = &el[i];
        TdlVec3 own[2];
        for (int a = 0; a < 2; ++a) {
            own[a] = tdl_tmul33_3(e->Bm[a], weight);
            own[a] = tdl_add3(own[a], tdl_tmul33_3(e->shift[a], sum.force));
            own[a] = tdl_add3(own[a], tdl_tmul33_3(e->turn[a], sum.moment));
        }
        sum.moment = tdl_add3(sum.moment, tdl_cross3(e->span, sum.force));
        sum.moment = tdl_add3(sum.moment, tdl_cross3(e->h, weight));
        sum.force = tdl_add3(sum.force, weight);
        add_loads(strand, e, i, &sum, own);
        for (int a = 0; a < 2; ++a) {
            add3(G, i + a, tdl_scale3(-1.0, own[a]));
        }
    }
    arena_release(strand->arena, mark);
    return true;
}

// l K3^-1 K d = tridiag(1/6, 2/3, 1/6) d, 1/3 at both ends, is G l / K3: elimination from the
// start. The matrix is dominated by its diagonal, twice. (V.35)
static TdlStatus rest(const TdlHost* host, const Strand* strand, const double* G,
                      TdlVec3* natural) {
    (void)host;
    int n = strand->element_count;
    const double K3[3] = {strand->def->stiffness.x, strand->def->stiffness.y,
                          strand->def->stiffness.z};
    ArenaMark mark = arena_mark(strand->arena);
    double* pivot = ARENA_NEW(strand->arena, double, n + 1);
    double* d = ARENA_NEW(strand->arena, double, 3 * (n + 1));
    if (pivot == NULL || d == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i <= n; ++i) {
        double before = i > 0 ? (1.0 / 6.0) / pivot[i - 1] : 0.0;
        pivot[i] = (i == 0 || i == n ? 1.0 / 3.0 : 2.0 / 3.0) - before / 6.0;
        for (int c = 0; c < 3; ++c) {
            d[3 * i + c] = G[3 * i + c] / K3[c] - (i > 0 ? before * d[3 * i - 3 + c] : 0.0);
        }
    }
    for (int i = n; i >= 0; --i) {
        for (int c = 0; c < 3; ++c) {
            double next = i < n ? d[3 * i + 3 + c] / 6.0 : 0.0;
            d[3 * i + c] = (d[3 * i + c] - next) / pivot[i];
        }
        natural[i] = tdl_add3(strand->def->curvature[i], tdl_load3(d, i));
    }
    arena_release(strand->arena, mark);
    return TDL_STATUS_OK;
}

// What is behind an element has moved its start and turned it.
typedef struct StartRate {
    TdlVec3 moved, turned;
} StartRate;

// The rate of place s of an element for changes of its two joints. (V.91)
static TdlVec3 place_rate(const Strand* strand, const ClothoidElement* e, const ClothoidState* at,
                          StartRate start, const TdlVec3 own[2]) {
    TdlVec3 bent = tdl_mul33_3(clothoid_displacement(at, 0), own[0]);
    bent = tdl_add3(bent, tdl_mul33_3(clothoid_displacement(at, 1), own[1]));
    TdlVec3 arm = tdl_mul33_3(e->start.rotation, clothoid_position(at));
    bent = tdl_add3(tdl_mul33_3(e->start.rotation, bent), tdl_cross3(start.turned, arm));
    return tdl_axpy3(start.moved, strand->l, bent);
}

static StartRate end_motion(const ClothoidElement* e, StartRate start, const TdlVec3 own[2]) {
    StartRate end = {tdl_add3(start.moved, tdl_cross3(start.turned, e->span)), start.turned};
    for (int a = 0; a < 2; ++a) {
        end.moved = tdl_add3(end.moved, tdl_mul33_3(e->shift[a], own[a]));
        end.turned = tdl_add3(end.turned, tdl_mul33_3(e->turn[a], own[a]));
    }
    return end;
}

static bool places(const Strand* strand, const double* change, int count, const double* at,
                   TdlVec3* out) {
    TdlPose end = strand->def->start;
    StartRate start = {0};
    for (int i = 0, k = 0; i < strand->element_count; ++i) {
        Clothoid shape = shape_of(strand, i);
        ClothoidState state;
        clothoid_at(&shape, 1.0, &state);
        ClothoidElement element = make_shape(strand, i, end, &state, &end);
        const ClothoidElement* e = &element;
        TdlVec3 own[2] = {0};
        for (int a = 0; change != NULL && a < 2; ++a) {
            own[a] = tdl_load3(change, i + a);
        }
        double s;
        for (; k < count && strand_element(strand, at[k] / strand->l, &s) == i; ++k) {
            clothoid_at(&e->shape, s, &state);
            TdlVec3 p = tdl_mul33_3(e->start.rotation, clothoid_position(&state));
            out[k] = change == NULL ? tdl_axpy3(e->start.position, strand->l, p)
                                    : place_rate(strand, e, &state, start, own);
        }
        start = end_motion(e, start, own);
    }
    return true;
}

// --- second derivatives ---------------------------------------------------------------------

// Whether tridiag(1/6, 2/3, 1/6), 1/3 at both ends, has no eigenvalue below x.
static bool is_below(int n, double x) {
    double pivot = 1.0;
    for (int i = 0; i <= n && pivot > 0.0; ++i) {
        double own = (i == 0 || i == n ? 1.0 / 3.0 : 2.0 / 3.0) - x;
        pivot = own - (i > 0 ? 1.0 / (36.0 * pivot) : 0.0);
    }
    return pivot > 0.0;
}

// Its smallest eigenvalue, which lies between 1/6 (Gershgorin's circles) and 1/3 (its first entry).
static double smallest_share(int n) {
    double low = 1.0 / 6.0, high = 1.0 / 3.0;
    for (int k = 0; k < 52; ++k) { // one bit each
        double middle = 0.5 * (low + high);
        *(is_below(n, middle) ? &low : &high) = middle;
    }
    return low;
}

// What element i, between the joints i and i + 1, gives the blocks of S. `before` is the turning
// of its start joint by the element before, null for the first. (V.40)
static void add_share(const ClothoidElement* e, const ClothoidElement* before, int i,
                      const ClothoidShare* share, StrandHessian* out) {
    out->turn[i] = tdl_add33(out->turn[i], e->turn[0]);
    out->turn[i + 1] = tdl_add33(out->turn[i + 1], e->turn[1]);
    out->W[i] = tdl_add33(out->W[i], share->W[0]);
    out->W[i + 1] = tdl_add33(out->W[i + 1], share->W[1]);
    out->S[i] = tdl_add33(out->S[i], share->own[0]);
    out->S[i + 1] = tdl_add33(out->S[i + 1], share->own[2]);
    out->S_next[i] = tdl_add33(out->S_next[i], tdl_transpose33(share->own[1]));
    if (before != NULL) {
        // both joints of the element before meet those of this one
        TdlMat3 meets = tdl_tmul33(before->turn[1], share->W[0]);
        out->S[i] = tdl_add33(out->S[i], tdl_add33(meets, tdl_transpose33(meets)));
        out->S_next[i] = tdl_add33(out->S_next[i], tdl_tmul33(before->turn[1], share->W[1]));
        out->S_next[i - 1] =
            tdl_add33(out->S_next[i - 1], tdl_tmul33(before->turn[0], share->W[0]));
    }
    if (i > 1) { // and the joint i - 1 turns by the element before that, too
        const ClothoidElement* first = before - 1;
        out->S_next[i - 1] = tdl_add33(out->S_next[i - 1], tdl_tmul33(first->turn[1], share->W[0]));
    }
}

static bool hessian(const Strand* strand, StrandHessian* out) {
    ArenaMark mark = arena_mark(strand->arena);
    ClothoidElement* el = walk(strand);
    if (el == NULL) {
        return false;
    }
    int n = strand->element_count;
    TdlMat3 third = tdl_scale33(1.0 / (3.0 * strand->l), tdl_diag33(strand->def->stiffness));
    for (int i = 0; i <= n; ++i) {
        out->turn[i] = out->W[i] = out->S[i] = out->S_next[i] = (TdlMat3){0};
        out->K[i] = i == 0 || i == n ? third : tdl_scale33(2.0, third);
        out->K_next[i] = tdl_scale33(0.5, third);
    }
    ClothoidBeyond beyond = {0};
    for (int i = n - 1; i >= 0; --i) {
        ClothoidShare share = {0};
        beyond =
            clothoid_share_gravity(&el[i], strand->l, strand->m, strand->gravity, beyond, &share);
        for (int k = strand_first_load(strand, i); k >= 0; k = strand->loads[k].next) {
            beyond = clothoid_share_load(&el[i], strand->l, &strand->loads[k].at, beyond, &share);
        }
        add_share(&el[i], i > 0 ? &el[i - 1] : NULL, i, &share, out);
    }
    out->stiffness_floor = out->softest * smallest_share(n);
    arena_release(strand->arena, mark);
    return true;
}

const StrandKind STRAND_CLOTHOID = {.name = "super-clothoid",
                                    .extra_blocks = 1,
                                    .max_turn = CLOTHOID_MAX_TURNING,
                                    .gradient = gradient,
                                    .rest = rest,
                                    .places = places,
                                    .neighbours = true,
                                    .hessian = hessian};
