// `tendril inverse stiffness`: bending and twisting stiffness of a fibre from centrelines of poses
// in which it rests.
#include "app/command.h"
#include "app/json.h"

#include <math.h>
#include <stdlib.h>

enum { POSES_MAX = 16 };

typedef struct Call {
    TdlCurves curves[POSES_MAX];
    TdlCurvePose pose[POSES_MAX];
    TdlCurvePoseOptions options;
    int count;
    double radius; // m, 0: not told
} Call;

// "x,y,z", and nothing behind it.
static bool parse_vector(const char* text, TdlVec3* out) {
    double x[3];
    for (int i = 0; i < 3; ++i) {
        char* end;
        x[i] = strtod(text, &end);
        if (end == text || *end != (i < 2 ? ',' : '\0') || !isfinite(x[i])) {
            return false;
        }
        text = end + 1;
    }
    *out = (TdlVec3){x[0], x[1], x[2]};
    return true;
}

// One vector for all poses, or one for each; `fallback` where none is given.
static int read_vectors(const Args* args, const char* name, int count, TdlVec3 fallback,
                        TdlVec3 out[POSES_MAX]) {
    int given = args_count(args, name);
    if (given > 1 && given != count) {
        return usage_error(args, "--%s is given once, or once for each of the %d poses", name,
                           count);
    }
    for (int a = 0; a < count; ++a) {
        out[a] = fallback;
        const char* text = given == 0 ? NULL : args_text_at(args, name, given == 1 ? 0 : a);
        if (text != NULL && !parse_vector(text, &out[a])) {
            return usage_error(args, "--%s takes three numbers x,y,z, not %s", name, text);
        }
    }
    return EXIT_DONE;
}

static int read_density(const Args* args, Call* call) {
    bool line = args_has(args, "line-density"), section = args_has(args, "density");
    call->radius = args_real(args, "radius", 0.0);
    if (line == section) {
        return usage_error(args, "give either --line-density, or --density and --radius");
    }
    if (section && call->radius == 0.0) {
        return usage_error(args, "--density needs --radius");
    }
    double area = acos(-1.0) * call->radius * call->radius;
    call->options.line_density =
        line ? args_real(args, "line-density", 0.0) : area * args_real(args, "density", 0.0);
    return EXIT_DONE;
}

static int read_options(const Args* args, Call* call) {
    TdlVec3 gravity[POSES_MAX], force[POSES_MAX];
    call->count = args_operand_count(args);
    if (call->count < 2 || call->count > POSES_MAX) {
        return usage_error(args, "takes 2 to %d poses", POSES_MAX);
    }
    call->options = tdl_curve_pose_options_default();
    call->options.model = args_text(args, "model", call->options.model);
    call->options.element_count = args_int(args, "elements", call->options.element_count);
    call->options.noise = args_real(args, "noise", 0.0);
    call->options.own_clamps = args_has(args, "own-clamps");
    TdlVec3 down = {0.0, 0.0, -9.81};
    int code = read_density(args, call);
    if (code == EXIT_DONE) {
        code = read_vectors(args, "gravity", call->count, down, gravity);
    }
    if (code == EXIT_DONE) {
        code = read_vectors(args, "end-force", call->count, (TdlVec3){0}, force);
    }
    for (int a = 0; code == EXIT_DONE && a < call->count; ++a) {
        call->pose[a].gravity = gravity[a];
        call->pose[a].end_force = force[a];
    }
    return code;
}

static TdlStatus read_poses(const Args* args, Call* call) {
    TdlStatus status = TDL_STATUS_OK;
    for (int a = 0; a < call->count && status == TDL_STATUS_OK; ++a) {
        status = tdl_curves_read(args_host(args), args_operand(args, a), &call->curves[a]);
        if (status == TDL_STATUS_OK) {
            call->pose[a].points = call->curves[a].points;
            call->pose[a].count = call->curves[a].start[1];
        }
    }
    return status;
}

// A round section's: E = 4 EI / (pi r^4).
static double young_of(const Call* call, double EI) {
    return call->radius > 0.0 ? 4.0 * EI / (acos(-1.0) * pow(call->radius, 4.0)) : NAN;
}

static void print_json(const Call* call, const TdlPoseStiffness* found) {
    const struct {
        const char* name;
        double value;
    } REALS[] = {{"EI", found->stiffness.y},
                 {"EI_error", found->error.y},
                 {"GJ", found->stiffness.x},
                 {"GJ_error", found->error.x},
                 {"young", young_of(call, found->stiffness.y)},
                 {"young_error", young_of(call, found->error.y)},
                 {"line_density", call->options.line_density},
                 {"length", found->length},
                 {"noise", found->noise},
                 {"residual", found->residual}};
    printf("{\"poses\": %d, \"elements\": %d, ", call->count, call->options.element_count);
    for (size_t i = 0; i < sizeof REALS / sizeof *REALS; ++i) {
        printf("%s\"%s\": ", i > 0 ? ", " : "", REALS[i].name);
        json_real(REALS[i].value);
    }
    printf("}\n");
}

static void print_one(const char* name, double value, double error, const char* unit) {
    if (isnan(value)) {
        printf("%-16s the poses do not tell\n", name);
    } else {
        printf("%-16s %.6g +- %.2g %s\n", name, value, error, unit);
    }
}

static void print_text(const Call* call, const TdlPoseStiffness* found) {
    print_one("EI", found->stiffness.y, found->error.y, "N m^2");
    print_one("GJ", found->stiffness.x, found->error.x, "N m^2");
    if (call->radius > 0.0) {
        print_one("Young's modulus", young_of(call, found->stiffness.y),
                  young_of(call, found->error.y), "Pa");
    }
    printf("length           %.6g m\n", found->length);
    printf("what is left     %.2g m, noise %.2g m\n", found->residual, found->noise);
}

static int tell(const Args* args, const Call* call, const TdlPoseStiffness* found) {
    if (args_has(args, "json")) {
        print_json(call, found);
    } else {
        print_text(call, found);
    }
    if (call->options.noise > 0.0 && found->noise > 2.0 * call->options.noise) {
        fprintf(stderr,
                "tendril: the nearest rests miss the points by %.1f times the noise given\n",
                found->noise / call->options.noise);
    }
    if (!found->known[1]) {
        fprintf(stderr, "tendril: these poses do not tell EI\n");
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static int run_inverse_stiffness(const Args* args) {
    Call call = {0};
    TdlPoseStiffness found;
    int code = read_options(args, &call);
    if (code != EXIT_DONE) {
        return code;
    }
    TdlStatus status = read_poses(args, &call);
    if (status == TDL_STATUS_OK) {
        status =
            tdl_curves_stiffness(args_host(args), call.pose, call.count, &call.options, &found);
        // what the options allow is sound: points that are none come from a file
        code = status == TDL_STATUS_BAD_ARGUMENT ? EXIT_INPUT : exit_code(status);
    } else {
        code = exit_code(status);
    }
    if (code == EXIT_DONE) {
        code = tell(args, &call, &found);
    }
    for (int a = 0; a < call.count; ++a) {
        tdl_curves_free(args_host(args), &call.curves[a]);
    }
    return code;
}

static const Option INVERSE_STIFFNESS_OPTIONS[] = {
    {"gravity", 'g', OPTION_TEXT, "X,Y,Z", 0, 0,
     "m/s^2, once for all poses or once for each; default 0,0,-9.81", true},
    {"end-force", 0, OPTION_TEXT, "X,Y,Z", 0, 0,
     "N on the free end, once or once for each pose; default 0,0,0", true},
    {"line-density", 0, OPTION_REAL, "KG/M", 1e-12, 1e6, "mass a length of the fibre", false},
    {"density", 0, OPTION_REAL, "KG/M3", 1e-6, 1e6, "of the material, with --radius", false},
    {"radius", 0, OPTION_REAL, "M", 1e-9, 1e3, "of a round section: Young's modulus is told too",
     false},
    {"noise", 0, OPTION_REAL, "M", 1e-15, 1e3,
     "of each coordinate of the points; default: as they themselves say", false},
    {"elements", 'n', OPTION_INT, "N", 2, 200, "of the fibre; default 20", false},
    {"model", 0, OPTION_CHOICE, "super-clothoid|super-helix", 0, 0, "default super-clothoid",
     false},
    {"own-clamps", 0, OPTION_SWITCH, NULL, 0, 0,
     "the clamp looks elsewhere from pose to pose; default: in one direction in all", false},
    {0},
};

const Command INVERSE_STIFFNESS_COMMAND = {
    .name = "inverse stiffness",
    .operands = "POSE...",
    .summary = "Stiffness of a fibre from two or more shapes in which it rests",
    .text =
        "Each file (.csv with columns x, y and z, .obj, .hair) is the centreline of the same fibre "
        "at rest, in m, from its clamp to its free end: the first curve of the file counts. The "
        "poses differ in the direction of gravity, seen from the clamp, or in a force on the end. "
        "Sought are the stiffnesses EI and GJ with which some natural shape, which need not be "
        "known, rests nearest to all points; each with its standard deviation. Only stiffness over "
        "weight can be seen, so the weight must be told. The fibre is isotropic, such as a round "
        "one: then its material frame need not be seen, and a natural twist does nothing. GJ is "
        "told where the poses twist a bent fibre differently, and not where all lies in a plane or "
        "the fibre is straight by nature. What the poses do not tell is said. Without --own-clamps "
        "the clamp has the same direction and the same side up in all poses; its place may differ. "
        "Exit status 1: EI is not told.",
    .example = "tendril inverse stiffness hanging.csv sideways.csv --gravity 0,0,-9.81 "
               "--gravity 0,-9.81,0 --line-density 1e-5",
    .options = INVERSE_STIFFNESS_OPTIONS,
    .run = run_inverse_stiffness,
};
