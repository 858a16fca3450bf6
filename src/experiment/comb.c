// The combing of a wisp (S0 section 6): its presets, the scene that stands for it, and what is
// measured.
//
// The scene does the work: `repeat` makes the grid with its random offsets, keyframes the comb's
// way. Hair starts straight, so that nothing overlaps, bent together by a hair's breadth out of the
// plane in which its natural curvature acts: without that a single hair would stay in that plane.
// Or it starts as it hangs with a weight at its tip: as long as it runs downwards everywhere,
// copies of it side by side do not meet, and it has a short way to its rest.
//
// S0 says of the comb: teeth of 1.1 mm diameter, spaced by 1.2 mm. We take the 1.2 mm as the gap
// between teeth, so that they are 2.3 mm apart from axis to axis; otherwise a single hair of 0.1 mm
// would just fit between two.
#include "experiment/comb.h"
#include "base/log.h"
#include "base/memory.h"
#include "math/rotation.h"

#include <string.h>

static const double TOOTH_RADIUS = 0.55e-3; // m
static const double TOOTH_GAP = 1.2e-3;     // m
static const double PITCH = 2.3e-3;         // m, of the teeth
static const double START_BEND = 1.0;       // 1/m, of all hairs, out of the plane
static const double WEIGHT = 0.6;       // N over EI kappa0^2: hair runs down at 20 degrees or more
static const double APPROACH = 0.02;    // m between wisp and teeth at first, unless told
static const double SETTLE_SHARE = 0.8; // of the relaxation with more damping
static const double REST_TOLERANCE = 1.0e-3; // of the solver, while hair comes to rest by itself
static const double REST_OVERLAP = 0.3;      // radii, likewise
static const double REST_AGAIN = 0.01;       // s, before the comb starts after that
static const double SLOPE = 0.5;             // sine of the pull's angle to the vertical: 30 degrees
static const double FLAT = 0.05; // torsion over curvature below which a turn has no hand

typedef struct Preset {
    const char* name;
    int fibres, elements;
    double kappa0, mu, spacing;
    double relaxation, rest_step, step, speed;
} Preset;

// S0 Table 3, whose roots are where we put them. Where hair is curled and there is much of it, the
// comb moves by a radius in a step: farther, and hair that slides round a tooth sinks in anew
// (docs/results.md).
static const Preset PRESETS[] = {
    {"comb-1-wavy", 1, 12, 60.0, 0.1, 0.5e-3, 6.0, 0.0, 1.0e-3, 0.05},
    {"comb-25-wavy", 25, 12, 60.0, 0.1, 0.5e-3, 2.0, 0.0, 1.0e-3, 0.1},
    {"comb-2025-straight", 2025, 12, 10.0, 0.1, 0.5e-3, 4.0, 0.0, 1.0e-3, 0.05},
    {"comb-2025-wavy", 2025, 12, 60.0, 0.1, 1.5e-3, 1.2, 4.0e-3, 0.5e-3, 0.1},
    {"comb-2025-curly", 2025, 12, 100.0, 0.1, 1.5e-3, 1.2, 4.0e-3, 0.5e-3, 0.1},
    {"comb-2025-wavy-dirty", 2025, 12, 60.0, 0.3, 1.5e-3, 1.2, 4.0e-3, 0.5e-3, 0.1},
    {"comb-100-coiled", 100, 32, 200.0, 0.1, 2.3e-3, 1.0, 2.0e-3, 0.25e-3, 0.2},
};

TdlCombDef tdl_comb_def_default(void) {
    return (TdlCombDef){
        .fibre_count = 25,
        .natural_curvature = 60.0,
        .mu = 0.1,
        .segments = 8,
        .element_count = 12,
        .length = 0.305,
        .radius = 50.0e-6,
        .young = 1.0e9,
        .poisson = 0.48,
        .density = 1000.0,
        .damping = 0.01,
        .mass_damping = 4.0,
        .settle_damping = 2000.0,
        .spacing = 5.0e-4,
        .jitter = 1.0e-4,
        .seed = 1,
        .step = 1.0e-3,
        .relaxation = 4.0,
        .speed = 0.05,
        .depth = 0.03,
        .travel = 0.3,
        .tooth_length = 0.04,
        .frame_period = 0.02,
        .tolerance = 1.0e-8,
        .max_iterations = 1000,
        .overlap = 0.05,
    };
}

bool tdl_comb_preset(const char* name, TdlCombDef* out) {
    for (size_t i = 0; i < sizeof PRESETS / sizeof *PRESETS; ++i) {
        const Preset* preset = &PRESETS[i];
        if (strcmp(preset->name, name) != 0) {
            continue;
        }
        *out = tdl_comb_def_default();
        out->fibre_count = preset->fibres;
        out->element_count = preset->elements;
        out->natural_curvature = preset->kappa0;
        out->mu = preset->mu;
        out->spacing = preset->spacing;
        out->relaxation = preset->relaxation;
        out->rest_step = preset->rest_step;
        out->step = preset->step;
        out->speed = preset->speed;
        if (preset->rest_step > 0.0) {
            out->hung = true;
            out->tolerance = 1.0e-4;
        }
        if (preset->fibres == 25) { // the small one
            out->length = 0.15;
            out->depth = 0.05;
            out->travel = 0.1;
            out->tooth_length = 0.02;
        }
        if (preset->fibres == 2025 && preset->kappa0 == 60.0) {
            out->clearance = 3.0e-3;
        }
        if (preset->elements == 32) {
            // a comb that comes from the side goes into the loops of coils, and hair of 32 elements
            // hardly gets round three teeth in a row
            out->inside = true;
            out->depth = 2.0e-3;
            out->overlap = 0.2;
            out->tooth_length = 0.06;
            out->travel = 0.29;
        }
        return true;
    }
    return false;
}

TdlCombDef tdl_comb_rest(const TdlCombDef* def) {
    TdlCombDef rest = *def;
    rest.step = def->rest_step;
    rest.rest_step = 0.0;
    rest.tolerance = fmax(def->tolerance, REST_TOLERANCE);
    rest.overlap = fmax(def->overlap, REST_OVERLAP);
    return rest;
}

static double time_at_rest(const TdlCombDef* def) {
    return def->rest_step > 0.0 ? fmin(def->relaxation, REST_AGAIN) : def->relaxation;
}

static const char* find_fault(const TdlCombDef* def) {
    const double positive[] = {def->length, def->radius,       def->young,        def->density,
                               def->step,   def->relaxation,   def->speed,        def->depth,
                               def->travel, def->tooth_length, def->frame_period, def->tolerance};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; ++i) {
        if (!(isfinite(positive[i]) && positive[i] > 0.0)) {
            return "lengths, times, speeds, stiffness, density and tolerance must be positive";
        }
    }
    if (def->fibre_count < 1 || def->element_count < 1 || def->segments < 1 ||
        def->max_iterations < 1 || def->seed < 0) {
        return "counts must be positive";
    }
    if (!(isfinite(def->natural_curvature) && def->natural_curvature >= 0.0 && isfinite(def->mu) &&
          def->mu >= 0.0 && isfinite(def->damping) && def->damping >= 0.0 &&
          isfinite(def->mass_damping) && def->mass_damping >= 0.0 &&
          isfinite(def->settle_damping) && def->settle_damping >= 0.0 && isfinite(def->clearance) &&
          def->clearance >= 0.0 && isfinite(def->rest_step) && def->rest_step >= 0.0)) {
        return "curvature, friction, damping, clearance and rest_step must not be negative";
    }
    if (!(def->jitter >= 0.0 && def->spacing > 2.0 * (def->radius + def->jitter))) {
        return "roots must stay apart: spacing > 2 (radius + jitter), jitter >= 0";
    }
    if (!(def->overlap > 0.0 && def->overlap <= 1.0)) {
        return "overlap must be above 0 and at most 1";
    }
    double gaps = def->spacing / PITCH, beside = 0.5 * TOOTH_GAP - def->radius - def->jitter;
    if (def->inside && !(fabs(gaps - round(gaps)) < 1.0e-6 && beside > 0.0)) {
        return "roots inside a comb must be a multiple of 2.3 mm apart, with jitter < 0.5 mm";
    }
    if (!(def->depth < def->length)) {
        return "the comb must start above the tips: depth < length";
    }
    return NULL;
}

// The squarest grid.
static int rows_of(int fibres) {
    int rows = (int)sqrt((double)fibres);
    while (fibres % rows != 0) {
        --rows;
    }
    return rows;
}

// How far hair may curl to the side of its root, m.
static double curl_reach(const TdlCombDef* def) {
    double coil = def->natural_curvature > 0.0 ? 2.0 / def->natural_curvature : 0.0;
    return fmin(fmax(coil, 5.0e-3), 0.03);
}

// The comb's handle before it moves, and its way in.
typedef struct Layout {
    int rows, columns, teeth; // rows along x
    double start, way;        // m along x
} Layout;

static Layout lay_out(const TdlCombDef* def) {
    Layout l = {.rows = rows_of(def->fibre_count)};
    l.columns = def->fibre_count / l.rows;
    double half[2] = {0.5 * (l.rows - 1) * def->spacing + def->jitter,
                      0.5 * (l.columns - 1) * def->spacing + def->jitter};
    double reach = curl_reach(def);
    double clearance = def->clearance > 0.0 ? def->clearance : reach + APPROACH;
    l.teeth = 2 * (int)ceil((half[1] + reach) / PITCH) + 2; // even: a gap in the middle
    l.start = -(half[0] + clearance + def->tooth_length);
    l.way = -half[0] - 0.5 * def->tooth_length - l.start;
    if (def->inside) {
        l.start += l.way;
        l.way = 0.0;
        l.teeth += l.columns % 2 == 0 && (int)round(def->spacing / PITCH) % 2 == 1;
    }
    return l;
}

TdlCombTimes tdl_comb_times(const TdlCombDef* def) {
    TdlCombTimes t = {.start = time_at_rest(def)};
    t.pull = t.start + lay_out(def).way / def->speed;
    t.end = t.pull + def->travel / def->speed;
    return t;
}

// The material curvatures, 1/m, of a hair that hangs with a weight at its tip.
static TdlStatus hang(const TdlHost* host, const TdlCombDef* def, TdlVec3* curvature) {
    double inertia = 0.25 * M_PI * pow(def->radius, 4.0);
    double weight = WEIGHT * def->young * inertia * pow(def->natural_curvature, 2.0);
    TdlRodLoad load = {.at = def->length, .force = {0.0, 0.0, -weight}};
    TdlRodDef rod = tdl_rod_def_default();
    rod.length = def->length;
    rod.radius[0] = rod.radius[1] = def->radius;
    rod.element_count = def->element_count;
    rod.young = def->young;
    rod.poisson = def->poisson;
    rod.density = def->density;
    rod.natural_curvature = (TdlVec3){0.0, def->natural_curvature, 0.0};
    rod.curvature = (TdlVec3){0.0, 0.0, START_BEND};
    rod.clamp.rotation =
        tdl_frame_from_tangent_hint((TdlVec3){0.0, 0.0, -1.0}, (TdlVec3){0.0, 1.0, 0.0});
    rod.loads = &load;
    rod.load_count = 1;
    TdlWorldDef world_def = tdl_world_def_default();
    TdlWorld* world;
    TdlBodyId id;
    TdlStatus status = tdl_world_create(host, &world_def, &world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_world_add_rod(world, &rod, &id);
    if (status == TDL_STATUS_OK) {
        status = tdl_world_settle(world, NULL);
    }
    double each = def->length / def->element_count;
    const double* q = NULL;
    if (status == TDL_STATUS_OK) {
        status = tdl_rod_coordinates(world, id, &q);
    }
    for (int i = 0; i < def->element_count && status == TDL_STATUS_OK; ++i) {
        curvature[i] = tdl_scale3(1.0 / each, tdl_load3(q, i));
    }
    tdl_world_destroy(world);
    return status;
}

static TdlStatus write_curvature(const TdlHost* host, const TdlCombDef* def, FILE* out) {
    if (!def->hung) {
        fprintf(out, "    curvature: [0, 0, %.17g]\n", START_BEND);
        return TDL_STATUS_OK;
    }
    TdlVec3* curvature = tdl_alloc_array(&host->mem, (size_t)def->element_count, sizeof *curvature);
    if (curvature == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = hang(host, def, curvature);
    fprintf(out, "    curvature:\n");
    for (int i = 0; i < def->element_count && status == TDL_STATUS_OK; ++i) {
        fprintf(out, "      - [%.17g, %.17g, %.17g]\n", curvature[i].x, curvature[i].y,
                curvature[i].z);
    }
    tdl_free(&host->mem, curvature);
    return status;
}

static TdlStatus write_rods(const TdlHost* host, const TdlCombDef* def, const Layout* l,
                            FILE* out) {
    fprintf(out,
            "materials:\n"
            "  - {name: hair, young: %.17g, poisson: %.17g, density: %.17g, damping: %.17g, "
            "mass_damping: %.17g}\n",
            def->young, def->poisson, def->density, def->damping, def->mass_damping);
    fprintf(out,
            "rods:\n"
            "  - name: wisp\n"
            "    material: hair\n"
            "    length: %.17g\n"
            "    radius: %.17g\n"
            "    elements: %d\n"
            "    natural_curvature: [0, %.17g, 0]\n"
            "    clamp: {direction: [0, 0, -1], normal: [0, 1, 0]}\n",
            def->length, def->radius, def->element_count, def->natural_curvature);
    TdlStatus status = write_curvature(host, def, out);
    fprintf(out,
            "    repeat:\n"
            "      count: [%d, %d, 1]\n"
            "      spacing: [%.17g, %.17g, 0]\n"
            "      jitter: [%.17g, %.17g, 0]\n"
            "      seed: %d\n",
            l->rows, l->columns, def->spacing, def->spacing, def->jitter, def->jitter, def->seed);
    return status;
}

static void write_comb(const TdlCombDef* def, const Layout* l, FILE* out) {
    TdlCombTimes t = tdl_comb_times(def);
    fprintf(out,
            "colliders:\n"
            "  - name: comb\n"
            "    shape: comb\n"
            "    radius: %.17g\n"
            "    length: %.17g\n"
            "    teeth: %d\n"
            "    pitch: %.17g\n"
            "    position: [%.17g, 0, %.17g]\n"
            "    direction: [0, 1, 0]\n"
            "    normal: [-1, 0, 0]\n",
            TOOTH_RADIUS, def->tooth_length, l->teeth, PITCH, l->start, -def->depth);
    fprintf(out,
            "    motion:\n"
            "      interpolation: linear\n"
            "      keyframes:\n"
            "        - {time: %.17g}\n",
            t.start);
    if (l->way > 0.0) {
        fprintf(out, "        - {time: %.17g, position: [%.17g, 0, 0]}\n", t.pull, l->way);
    }
    fprintf(out, "        - {time: %.17g, position: [%.17g, 0, %.17g]}\n", t.end,
            l->way + SLOPE * def->travel, -sqrt(1.0 - SLOPE * SLOPE) * def->travel);
}

TdlStatus tdl_comb_write_scene(const TdlHost* host, const TdlCombDef* def, const char* title,
                               FILE* out) {
    const char* fault = find_fault(def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "comb: %s", fault);
    }
    Layout l = lay_out(def);
    bool curves = def->geometry == TDL_CONTACT_CURVES;
    // whole steps, so that the last is not cut off
    double end = def->step * ceil(tdl_comb_times(def).end / def->step - 1.0e-9);
    fprintf(out,
            "# Made by `tendril experiment comb`.\n"
            "title: %s\n"
            "time: {step: %.17g, end: %.17g, settle: %.17g, settle_damping: %.17g, "
            "settle_loosely: %s}\n"
            "output: {frame: %.17g}\n",
            title, def->step, end, SETTLE_SHARE * time_at_rest(def), def->settle_damping,
            def->settle_loosely ? "true" : "false", fmax(def->frame_period, def->step));
    TdlStatus status = write_rods(host, def, &l, out);
    if (status != TDL_STATUS_OK) {
        return tdl_fail(host, status,
                        "comb: a hair with a weight at its tip does not come to rest");
    }
    write_comb(def, &l, out);
    fprintf(out,
            "contacts: {detection: %s, segments: %d, friction: %.17g, tolerance: %.17g, "
            "max_iterations: %d, overlap: %.17g}\n",
            curves ? "curves" : "segments", def->segments, def->mu, def->tolerance,
            def->max_iterations, def->overlap);
    return ferror(out) ? tdl_fail(host, TDL_STATUS_IO, "comb: the scene could not be written")
                       : TDL_STATUS_OK;
}

// Of the material curvature vector of an element, 1/m.
static double element_curvature(const TdlWorld* world, const TdlContactForce* c) {
    TdlRodInfo info = {0};
    const double* q;
    tdl_rod_info(world, c->body[0], &info);
    tdl_rod_coordinates(world, c->body[0], &q);
    double turn = tdl_norm3(
        (TdlVec3){q[3 * c->element[0]], q[3 * c->element[0] + 1], q[3 * c->element[0] + 2]});
    return turn * info.element_count / info.length;
}

static bool is_kind(const TdlWorld* world, TdlBodyId body, const char* kind) {
    return strcmp(tdl_body_kind(world, body), kind) == 0;
}

TdlCombSample tdl_comb_measure(const TdlWorld* world, const TdlCombDef* def) {
    TdlCombSample sample = {
        .step = tdl_world_step_count(world),
        .time = tdl_world_time(world),
    };
    TdlWrench wrench = {0};
    tdl_body_contact_wrench(world, tdl_world_body(world, "collider", 0), &wrench);
    sample.force = wrench.force;
    sample.indentation = def->speed * (sample.time - tdl_comb_times(def).pull);
    double weight = 0.0, sum = 0.0;
    int count;
    const TdlContactForce* contacts = tdl_world_contact_forces(world, &count);
    for (int i = 0; i < count; ++i) {
        const TdlContactForce* c = &contacts[i];
        double push = tdl_dot3(c->force, c->normal);
        if (is_kind(world, c->body[1], "collider") && is_kind(world, c->body[0], "rod") &&
            push > 0.0) {
            ++sample.touches;
            weight += push;
            sum += push * element_curvature(world, c);
        }
    }
    sample.curvature = sum / weight; // NaN without a contact
    return sample;
}

double tdl_comb_roughness(const TdlCombSample* samples, int count) {
    double bends = 0.0, sizes = 0.0;
    for (int i = 1; i + 1 < count; ++i) {
        double before = tdl_norm3(samples[i - 1].force), now = tdl_norm3(samples[i].force);
        bends += fabs(before - 2.0 * now + tdl_norm3(samples[i + 1].force));
        sizes += now;
    }
    return bends / sizes; // NaN without a force
}

// What three edges of a polyline in a row add: the angle of the first two, and the product of all
// three, which is the torsion times the square of the curvature, times the cube of their length.
typedef struct Bend {
    double turn, volume;
} Bend;

static Bend bend_at(const double* points, int i) {
    TdlVec3 edge[3];
    for (int k = 0; k < 3; ++k) {
        edge[k] = tdl_unit3(tdl_sub3(tdl_load3(points, i + k + 1), tdl_load3(points, i + k)));
    }
    TdlVec3 across = tdl_cross3(edge[0], edge[1]);
    return (Bend){atan2(tdl_norm3(across), tdl_dot3(edge[0], edge[1])), tdl_dot3(across, edge[2])};
}

int tdl_comb_hands(const double* points, int count, int* hands) {
    double turn = 0.0, volume = 0.0, cubes = 0.0;
    int from = 0, last = 0, changes = 0;
    memset(hands, 0, (size_t)(count > 0 ? count : 0) * sizeof *hands);
    for (int i = 0; i + 3 < count; ++i) {
        Bend bend = bend_at(points, i);
        turn += bend.turn;
        volume += bend.volume;
        cubes += pow(bend.turn, 3.0);
        if (turn < 2.0 * M_PI) {
            continue;
        }
        // a whole turn: its mean torsion over curvature tells its hand
        int hand = fabs(volume) < FLAT * cubes ? 0 : volume > 0.0 ? 1 : -1;
        for (; from <= i + 1; ++from) {
            hands[from] = hand;
        }
        changes += hand * last < 0;
        last = hand == 0 ? last : hand;
        turn = volume = cubes = 0.0;
    }
    return changes;
}
