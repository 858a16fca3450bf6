// Sections along a rod: from the tables of its definition to means over its elements. sections.md
//
// Between two rows all that is given, and the half-axes, go linearly; what is not given follows
// from the material and the half-axes there. An element has the exact mean of each over its length,
// by Gauss's rule on every part of it between two rows. Means of bending and twisting are what the
// energy of a curvature that is uniform on the element asks for; an element stretches and shears by
// the mean of what its parts give way, so these two are harmonic means. O(elements + rows).
#include "rod/section.h"

#include "math/gauss.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

// The section at one place, per length.
typedef struct Section {
    double radius[2];                             // m
    double mass, inertia;                         // kg/m; kg m, about the axis
    double twisting, bending[2];                  // N m^2
    double stretching, shearing;                  // N
    bool own_stretching, own_shearing, own_spins; // given, not found from the rest
} Section;

static double between(double a, double b, double u) {
    return a == b ? a : a + u * (b - a);
}

// A row of the table with the half-axes of the definition where it has none.
static TdlRodSection row_of(const TdlRodDef* def, int i) {
    TdlRodSection row = def->section_count > 0 ? def->sections[i] : (TdlRodSection){0};
    for (int k = 0; k < 2; ++k) {
        row.radius[k] = row.radius[k] > 0.0 ? row.radius[k] : def->radius[k];
    }
    return row;
}

// The row that lies at s, between the rows i and i + 1.
static TdlRodSection mix(TdlRodSection a, TdlRodSection b, double s) {
    double u = b.at > a.at ? fmin(fmax((s - a.at) / (b.at - a.at), 0.0), 1.0) : 0.0;
    TdlRodSection out = {.at = s,
                         .inner_radius = between(a.inner_radius, b.inner_radius, u),
                         .twisting = between(a.twisting, b.twisting, u),
                         .stretching = between(a.stretching, b.stretching, u),
                         .shearing = between(a.shearing, b.shearing, u),
                         .mass_per_length = between(a.mass_per_length, b.mass_per_length, u),
                         .rotary_inertia = between(a.rotary_inertia, b.rotary_inertia, u)};
    for (int k = 0; k < 2; ++k) {
        out.radius[k] = between(a.radius[k], b.radius[k], u);
        out.bending[k] = between(a.bending[k], b.bending[k], u);
    }
    return out;
}

// An ellipse of half-axes a (second axis) and b (third), with a hole of the same shape, of the
// material; then what is given in its place. (U.1), (U.2)
static Section section_of(const TdlRodDef* def, const TdlRodSection* row) {
    double a = row->radius[0], b = row->radius[1], hole = row->inner_radius / a;
    double shear = def->young / (2.0 * (1.0 + def->poisson));
    double two = 1.0 - hole * hole, four = 1.0 - hole * hole * hole * hole;
    Section out = {.radius = {a, b},
                   .mass = def->density * PI * a * b * two,
                   .twisting = shear * PI * (a * a * a) * (b * b * b) / (a * a + b * b) * four,
                   .bending = {def->young * PI / 4.0 * a * (b * b * b) * four,
                               def->young * PI / 4.0 * (a * a * a) * b * four}};
    out.stretching = 4.0 * out.bending[0] / (b * b) * two / four;
    out.shearing = out.twisting * (1.0 / (a * a) + 1.0 / (b * b)) * two / four;
    out.own_stretching = row->stretching > 0.0 || row->bending[0] > 0.0 || hole > 0.0;
    out.own_shearing = row->shearing > 0.0 || row->twisting > 0.0 || hole > 0.0;
    out.mass = row->mass_per_length > 0.0 ? row->mass_per_length : out.mass;
    out.inertia = out.mass * 0.25 * (a * a + b * b) * (1.0 + hole * hole);
    out.own_spins = row->rotary_inertia > 0.0;
    out.inertia = out.own_spins ? row->rotary_inertia : out.inertia;
    out.twisting = row->twisting > 0.0 ? row->twisting : out.twisting;
    out.stretching = row->stretching > 0.0 ? row->stretching : out.stretching;
    out.shearing = row->shearing > 0.0 ? row->shearing : out.shearing;
    for (int k = 0; k < 2; ++k) {
        out.bending[k] = row->bending[k] > 0.0 ? row->bending[k] : out.bending[k];
    }
    return out;
}

// --- faults ---------------------------------------------------------------------------------

static bool row_sane(const TdlRodSection* row) {
    const double all[] = {row->radius[0],     row->radius[1],  row->inner_radius,
                          row->bending[0],    row->bending[1], row->twisting,
                          row->stretching,    row->shearing,   row->mass_per_length,
                          row->rotary_inertia};
    bool sane = isfinite(row->at);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        sane = sane && isfinite(all[i]) && all[i] >= 0.0;
    }
    return sane;
}

// A quantity is given in all rows or in none.
static bool same_kinds(const TdlRodSection* a, const TdlRodSection* b) {
    return (a->bending[0] > 0.0) == (b->bending[0] > 0.0) &&
           (a->bending[1] > 0.0) == (b->bending[1] > 0.0) &&
           (a->twisting > 0.0) == (b->twisting > 0.0) &&
           (a->stretching > 0.0) == (b->stretching > 0.0) &&
           (a->shearing > 0.0) == (b->shearing > 0.0) &&
           (a->mass_per_length > 0.0) == (b->mass_per_length > 0.0) &&
           (a->rotary_inertia > 0.0) == (b->rotary_inertia > 0.0) &&
           (a->radius[0] > 0.0) == (b->radius[0] > 0.0);
}

static const char* row_fault(const TdlRodDef* def, int i) {
    const TdlRodSection* row = &def->sections[i];
    TdlRodSection whole = row_of(def, i);
    if (!row_sane(row)) {
        return "a section's numbers must be finite and not negative";
    }
    if (!(row->at >= 0.0 && row->at <= def->length) || (i == 0 && row->at != 0.0) ||
        (i > 0 && !(row->at >= def->sections[i - 1].at))) {
        return "sections begin at 0 and go on in order, at most to the rod's length";
    }
    if (!same_kinds(row, &def->sections[0])) {
        return "a quantity is given in all sections of a rod or in none";
    }
    if ((row->bending[0] > 0.0) != (row->bending[1] > 0.0) ||
        (row->radius[0] > 0.0) != (row->radius[1] > 0.0)) {
        return "a section has its bending and its radius in both directions";
    }
    return row->inner_radius < whole.radius[0] ? NULL : "inner_radius must be less than the radius";
}

const char* tdl_rod_sections_fault(const TdlRodDef* def) {
    if (def->section_count < 0 || (def->section_count > 0 && def->sections == NULL)) {
        return "section_count must count sections";
    }
    bool heavier = false;
    for (int i = 0; i < def->section_count; ++i) {
        const char* fault = row_fault(def, i);
        if (fault != NULL) {
            return fault;
        }
        TdlRodSection first = row_of(def, 0), row = row_of(def, i);
        heavier = heavier || section_of(def, &row).mass != section_of(def, &first).mass;
    }
    const TdlRodSection* row = def->sections;
    bool some = def->section_count > 0, corde = strcmp(def->model, "corde") == 0;
    if (some && row->shearing > 0.0 && !corde) {
        return "only corde shears: no other model has `shearing` in its sections";
    }
    if (some && strcmp(def->model, "mass-spring") == 0 &&
        (row->twisting > 0.0 || row->rotary_inertia > 0.0)) {
        return "mass-spring has no twist: no `twisting` and no `rotary_inertia` in its sections";
    }
    return heavier && def->drag > 0.0
               ? "drag is for a rod whose mass per length is the same all along"
               : NULL;
}

// --- means ----------------------------------------------------------------------------------

static void add(Section* sum, double weight, const Section* x) {
    sum->mass += weight * x->mass;
    sum->inertia += weight * x->inertia;
    sum->twisting += weight * x->twisting;
    sum->stretching += weight / x->stretching; // as springs in a row give way
    sum->shearing += weight / x->shearing;
    for (int k = 0; k < 2; ++k) {
        sum->radius[k] += weight * x->radius[k];
        sum->bending[k] += weight * x->bending[k];
    }
}

// The last row that does not lie after s, from row i on.
static int row_before(const TdlRodDef* def, int i, double s) {
    while (i + 1 < def->section_count && def->sections[i + 1].at <= s) {
        ++i;
    }
    return i;
}

static TdlRodSection row_at(const TdlRodDef* def, int i, double s) {
    TdlRodSection a = row_of(def, i);
    return i + 1 < def->section_count ? mix(a, row_of(def, i + 1), s) : a;
}

// The mean from s0 to s1; *row goes along.
static Section mean_of(const TdlRodDef* def, double s0, double s1, int* row) {
    Section sum = {0};
    double from = s0;
    while (from < s1) {
        *row = row_before(def, *row, from);
        double next = *row + 1 < def->section_count ? def->sections[*row + 1].at : s1;
        double to = fmin(next, s1);
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            TdlRodSection at = row_at(def, *row, from + GAUSS12_POINT[k] * (to - from));
            Section x = section_of(def, &at);
            add(&sum, GAUSS12_WEIGHT[k] * (to - from) / (s1 - s0), &x);
        }
        from = to;
    }
    sum.stretching = 1.0 / sum.stretching;
    sum.shearing = 1.0 / sum.shearing;
    return sum;
}

static void set_means(Rod* rod, const Section* x) {
    rod->radius[0] = x->radius[0];
    rod->radius[1] = x->radius[1];
    rod->line_density = x->mass;
    rod->section_stiffness = (TdlVec3){x->twisting, x->bending[0], x->bending[1]};
    rod->section_stretching = x->stretching;
    rod->section_shearing = x->shearing;
}

// How thick it is to the touch at a joint, and how wide inside.
static void set_joint(Rod* rod, int joint, const TdlRodSection* row) {
    double a = row->radius[0], b = row->radius[1];
    rod->thick[joint] = fmax(a, b);
    rod->bore[joint] = row->inner_radius * fmin(1.0, b / a);
    rod->hollow = (joint == 0 || rod->hollow) && row->inner_radius > 0.0;
}

static void set_uniform(Rod* rod, const TdlRodDef* def) {
    TdlRodSection row = row_of(def, 0);
    Section x = section_of(def, &row);
    double a = row.radius[0], b = row.radius[1], hole = row.inner_radius / a;
    set_means(rod, &x);
    rod->gyration = x.own_spins ? x.inertia / x.mass : 0.25 * (a * a + b * b) * (1.0 + hole * hole);
    rod->section_stretching = x.own_stretching ? x.stretching : 0.0;
    rod->section_shearing = x.own_shearing ? x.shearing : 0.0;
    for (int i = 0; i < rod->element_count; ++i) {
        rod->share[i] = (RodShare){1.0, 1.0, 1.0, 1.0, {1.0, 1.0, 1.0}};
    }
    for (int i = 0; i <= rod->element_count; ++i) {
        set_joint(rod, i, &row);
    }
}

// The means over the elements first, then what each has of the mean of all.
static void set_varying(Rod* rod, const TdlRodDef* def) {
    int n = rod->element_count, row = 0;
    Section all = {0};
    for (int i = 0; i < n; ++i) {
        Section x = mean_of(def, def->length * i / n, def->length * (i + 1) / n, &row);
        rod->share[i] = (RodShare){x.mass,
                                   x.inertia / x.mass,
                                   x.stretching,
                                   x.shearing,
                                   {x.twisting, x.bending[0], x.bending[1]}};
        add(&all, 1.0 / n, &x);
    }
    all.stretching = 1.0 / all.stretching;
    all.shearing = 1.0 / all.shearing;
    set_means(rod, &all);
    rod->gyration = all.inertia / all.mass;
    for (int i = 0; i < n; ++i) {
        RodShare* own = &rod->share[i];
        *own = (RodShare){own->mass / all.mass,
                          own->gyration / rod->gyration,
                          own->stretching / all.stretching,
                          own->shearing / all.shearing,
                          {own->stiffness.x / all.twisting, own->stiffness.y / all.bending[0],
                           own->stiffness.z / all.bending[1]}};
    }
    row = 0;
    for (int i = 0; i <= n; ++i) {
        double s = def->length * i / n;
        row = row_before(def, row, s);
        TdlRodSection at = row_at(def, row, s);
        set_joint(rod, i, &at);
    }
}

void section_stiffen(Rod* rod, double factor) {
    double a = rod->radius[0], b = rod->radius[1];
    TdlVec3 K = tdl_scale3(factor, rod->section_stiffness);
    rod->stiffening = factor;
    rod->at_rest.stiffness = K;
    rod->at_rest.stretching =
        rod->section_stretching > 0.0 ? factor * rod->section_stretching : 4.0 * K.y / (b * b);
    rod->at_rest.shearing = rod->section_shearing > 0.0 ? factor * rod->section_shearing
                                                        : K.x * (1.0 / (a * a) + 1.0 / (b * b));
}

void section_set(Rod* rod, const TdlRodDef* def) {
    rod->varies = def->section_count > 1;
    if (rod->varies) {
        set_varying(rod, def);
    } else {
        set_uniform(rod, def);
    }
    section_stiffen(rod, def->stiffening);
    rod->stiffness = rod->at_rest.stiffness;
}
