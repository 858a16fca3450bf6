// The margins of the contracting search against exact rational arithmetic, box by box.
#include "detect/ccd_contract.h"

#include "bench/ccd_generate.h"
#include "test.h"

#include <gmp.h>

static double clampd(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

static int env_count(const char* name, int fallback) {
    const char* text = getenv(name);
    return text != NULL ? atoi(text) : fallback;
}

static double coordinate(TdlVec3 p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

// F along an axis at (t, u, v), exactly, minus `value`, over `unit`; as a double.
static double exact_error(const TdlCcdQuery* q, int axis, const double* at, int exponent,
                          double value, double unit) {
    mpq_t p[4], t, u, v, a, b, sum;
    mpq_inits(p[0], p[1], p[2], p[3], t, u, v, a, b, sum, NULL);
    mpq_set_d(t, at[0]);
    mpq_set_d(u, at[1]);
    mpq_set_d(v, at[2]);
    for (int i = 0; i < 4; ++i) {
        // p = start + t (end - start)
        mpq_set_d(a, coordinate(q->start[i], axis));
        mpq_set_d(b, coordinate(q->end[i], axis));
        mpq_sub(b, b, a);
        mpq_mul(b, b, t);
        mpq_add(p[i], a, b);
    }
    int base = q->kind == TDL_CCD_VERTEX_FACE ? 1 : 0;
    if (base == 1) {
        mpq_sub(sum, p[0], p[1]);
        mpq_sub(a, p[1], p[2]);
        mpq_sub(b, p[1], p[3]);
    } else {
        mpq_sub(sum, p[0], p[2]);
        mpq_sub(a, p[1], p[0]);
        mpq_sub(b, p[2], p[3]);
    }
    mpq_mul(a, a, u);
    mpq_mul(b, b, v);
    mpq_add(sum, sum, a);
    mpq_add(sum, sum, b);
    if (exponent >= 0) {
        mpq_mul_2exp(sum, sum, (mp_bitcnt_t)exponent);
    } else {
        mpq_div_2exp(sum, sum, (mp_bitcnt_t)-exponent);
    }
    mpq_set_d(a, value);
    mpq_sub(sum, sum, a);
    mpq_set_d(a, unit);
    mpq_div(sum, sum, a);
    double out = mpq_get_d(sum);
    mpq_clears(p[0], p[1], p[2], p[3], t, u, v, a, b, sum, NULL);
    return out;
}

static bool prepare(const TdlCcdQuery* q, const TdlCcdOptions* o, CcdForm* form, Search* s) {
    CcdLimits limits;
    if (!ccd_form_scaled(q, o, form, &limits)) {
        return false;
    }
    load_form(form, &limits, s);
    s->best = (TdlCcdResult){.time = INFINITY};
    return true;
}

static Search search_state; // large

// A random box around a point, of a random size, within the domain.
static Box box_around(CcdRandom* r, const double* at) {
    Box box = {{0}, {0}};
    for (int i = 0; i < 3; ++i) {
        double size = pow(2.0, -50.0 * fabs(ccd_random_real(r)));
        double before = ccd_random_below(r, 4) == 0 ? 0.0 : fabs(ccd_random_real(r));
        double after = ccd_random_below(r, 4) == 0 ? 0.0 : fabs(ccd_random_real(r));
        box.lo[i] = clampd(at[i] - size * before, 0.0, at[i]);
        box.hi[i] = clampd(at[i] + size * after, at[i], 1.0);
    }
    return box;
}

// (K.7): the error of F at the centre, and of its range over the box, in roundings of S.
TEST(axis_margins_hold_against_rationals) {
    CcdRandom r = {101};
    TdlCcdOptions o = tdl_ccd_options_default();
    Search* s = &search_state;
    double centre = 0.0, range = 0.0;
    int count = env_count("TENDRIL_CCD_MARGINS", 4000);
    for (int i = 0; i < count; ++i) {
        bool touches;
        TdlCcdQuery q = ccd_generate(&r, (CcdFamily)(i % CCD_FAMILY_COUNT), &touches);
        CcdForm form;
        if (!prepare(&q, &o, &form, s)) {
            continue;
        }
        double at[3];
        for (int k = 0; k < 3; ++k) {
            at[k] = 0.5 * (ccd_random_real(&r) + 1.0);
        }
        if (form.triangle && at[1] + at[2] > 1.0) {
            at[1] = 1.0 - at[1];
            at[2] = 1.0 - at[2];
        }
        Box box = box_around(&r, at);
        if (form.triangle && !clip_triangle(&box)) {
            continue;
        }
        Centre c;
        evaluate(s, &box, &c);
        double mid[4], f[4], shift[4], extent[4];
        v4_store(mid, c.mid);
        v4_store(f, c.f);
        v4_store(shift, c.shift);
        v4_store(extent, c.extent);
        for (int axis = 0; axis < 3; ++axis) {
            double unit = CCD_U * form.size[axis];
            if (unit == 0.0) {
                continue;
            }
            double error = exact_error(&q, axis, mid, form.exponent, f[axis], unit);
            centre = fmax(centre, fabs(error));
            // corners, where the range ends, and the point itself
            for (int corner = 0; corner <= 8; ++corner) {
                double x[3];
                for (int k = 0; k < 3; ++k) {
                    x[k] = (corner >> k & 1) != 0 ? box.hi[k] : box.lo[k];
                    x[k] = corner == 8 ? at[k] : x[k];
                }
                if (form.triangle && x[1] + x[2] > 1.0) {
                    continue;
                }
                // beyond the radius, computed exactly enough: one rounding of each
                double off = exact_error(&q, axis, x, form.exponent, f[axis] + shift[axis], unit);
                range = fmax(range, fabs(off) - extent[axis] / unit);
            }
        }
    }
    printf("  largest error at the centre %.2f, of the range %.2f roundings\n", centre, range);
    CHECK(centre > 0.5); // the measure sees roundings at all
    CHECK_BELOW(centre, 9.0);
    CHECK_BELOW(range, CCD_K_AXIS - 4.0); // what K.7 leaves for the comparison
}

// Runs one contraction on a box that holds an exact root; true when the root is lost.
static bool loses(Search* s, int which, Box box, const double* at) {
    Centre c;
    Adjugate adjugate;
    evaluate(s, &box, &c);
    if (which == 0) {
        if (apart_by_axes(s, &c)) {
            return true;
        }
    } else {
        Box copy = box;
        bool left = contract(s, &c, &adjugate, which == 1 ? &box : &copy);
        if (which == 2) {
            left = contract_flat(s, &c, &adjugate, &box);
        } else if (which == 3) {
            left = contract_axes(s, &c, &box);
        } else if (which == 4) {
            left = contract_cube(s, &c, c.fu, s->gu, &box);
        } else if (which == 5) {
            left = contract_cube(s, &c, c.fv, s->gv, &box);
        } else if (which == 6) {
            double u, v;
            nearest_place(s, &box, &u, &v);
            left = advance(s, &box, u, v);
        }
        if (!left) {
            return true;
        }
    }
    for (int k = 0; k < 3; ++k) {
        if (at[k] < box.lo[k] || at[k] > box.hi[k]) {
            return true;
        }
    }
    return false;
}

// An exact contact and where it is.
static TdlCcdQuery contact(CcdRandom* r, double* at) {
    for (;;) {
        TdlCcdQuery q = {.kind =
                             ccd_random_below(r, 2) == 0 ? TDL_CCD_VERTEX_FACE : TDL_CCD_EDGE_EDGE};
        int k, m;
        ccd_generate_exact(r, &q, &k, &m);
        at[0] = ldexp((double)k, -m);
        // the place is a multiple of 1/16: look for it
        for (int i = 0; i <= 16 * 16 + 32; ++i) {
            at[1] = (i % 17) / 16.0;
            at[2] = (i / 17) / 16.0;
            bool inside = q.kind == TDL_CCD_EDGE_EDGE || at[1] + at[2] <= 1.0;
            if (at[2] <= 1.0 && inside && exact_error(&q, 0, at, 0, 0.0, 1.0) == 0.0 &&
                exact_error(&q, 1, at, 0, 0.0, 1.0) == 0.0 &&
                exact_error(&q, 2, at, 0, 0.0, 1.0) == 0.0) {
                return q;
            }
        }
    }
}

// Moves an exact contact off the grid: every vertex by the same vector with many digits would
// round; instead the coordinates are mixed by powers of two per axis, which stays exact.
static void stretch(CcdRandom* r, TdlCcdQuery* q) {
    int e[3];
    for (int k = 0; k < 3; ++k) {
        e[k] = ccd_random_below(r, 40) - 20;
    }
    for (int i = 0; i < 8; ++i) {
        TdlVec3* p = i < 4 ? &q->start[i] : &q->end[i - 4];
        *p = (TdlVec3){ldexp(p->x, e[0]), ldexp(p->y, e[1]), ldexp(p->z, e[2])};
    }
}

// (K.10)-(K.19), (K.22): no contraction loses a root; without margins they do, so the test sees it.
TEST(contractions_keep_exact_roots) {
    enum { COUNT = 7 };
    static const char* const NAMES[COUNT] = {"axes",      "adjugate",  "flat",   "rows",
                                             "cube of u", "cube of v", "advance"};
    int count = env_count("TENDRIL_CCD_MARGINS", 4000);
    CcdRandom r = {202};
    int lost[COUNT] = {0}, lost_bare[COUNT] = {0};
    Search* s = &search_state;
    for (int i = 0; i < count; ++i) {
        double at[3];
        TdlCcdQuery q = contact(&r, at);
        stretch(&r, &q);
        TdlCcdOptions o = tdl_ccd_options_default();
        o.min_separation = i % 3 == 0 ? 1.0e-20 : 0.0;
        o.norm = i % 2 == 0 ? TDL_CCD_NORM_EUCLID : TDL_CCD_NORM_MAX;
        CcdForm form;
        if (!prepare(&q, &o, &form, s)) {
            continue;
        }
        for (int boxes = 0; boxes < 8; ++boxes) {
            Box box = box_around(&r, at);
            V4 margin = s->margin, row_margin = s->row_margin;
            set_flat_margins(s);
            for (int which = 0; which < COUNT; ++which) {
                lost[which] += loses(s, which, box, at);
            }
            s->margin = s->row_margin = v4_all(0.0);
            s->flat_margin[0] = s->flat_margin[1] = s->flat_margin[2] = v4_all(0.0);
            for (int which = 0; which < COUNT; ++which) {
                lost_bare[which] += loses(s, which, box, at);
            }
            s->margin = margin;
            s->row_margin = row_margin;
        }
    }
    int bare = 0;
    for (int which = 0; which < COUNT; ++which) {
        printf("  %-9s lost %d; without margins %d of %d\n", NAMES[which], lost[which],
               lost_bare[which], 8 * count);
        CHECK_INT(lost[which], 0);
        bare += lost_bare[which];
    }
    CHECK(bare > 100);
}

// The whole search, in this file's build: keeps the static functions in use and the contacts found.
TEST(the_search_finds_them) {
    CcdRandom r = {303};
    TdlCcdOptions o = tdl_ccd_options_default();
    for (int i = 0; i < 300; ++i) {
        double at[3];
        TdlCcdQuery q = contact(&r, at);
        TdlCcdResult result;
        CHECK(contract_query(&q, &o, &result));
        CHECK(result.collision && result.time <= at[0]);
    }
}
