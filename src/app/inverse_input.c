// Curves become rods by fitting, and a scene with these by writing it; from there on a scene is all
// there is.
#include "app/inverse_input.h"

#include "app/terminal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_DEFAULT = 20, ELEMENTS_MOST = 1000 };

// --- files and options
// ----------------------------------------------------------------------------

static bool ends_in(const char* text, const char* ending) {
    size_t length = strlen(text), size = strlen(ending);
    return length > size && strcmp(text + length - size, ending) == 0;
}

static bool is_scene(const char* path) {
    return ends_in(path, ".yaml") || ends_in(path, ".yml");
}

static bool is_strands(const char* path) {
    return ends_in(path, ".h5") || ends_in(path, ".hdf5");
}

// Options that ask for what the input tells already; null ends the list.
static int refuse_options(const Args* args, const char* const* names, const char* told_by) {
    for (int i = 0; names[i] != NULL; ++i) {
        if (args_has(args, names[i])) {
            return usage_error(args, "--%s is told by the %s", names[i], told_by);
        }
    }
    return EXIT_DONE;
}

static bool read_gravity(const Args* args, TdlVec3* out) {
    const char* text = args_text(args, "gravity", "0,0,-9.81");
    char rest;
    return sscanf(text, "%lf,%lf,%lf%c", &out->x, &out->y, &out->z, &rest) == 3 &&
           isfinite(tdl_norm3(*out)) && tdl_norm3(*out) <= 1.0e9;
}

// --- curves to rods ---------------------------------------------------------------------------

// Chooses curves and brings them into the scene's units and axes, in place.
static void choose_curves(const Args* args, TdlCurves* curves) {
    double scale = args_real(args, "scale", 1.0);
    bool y_up = strcmp(args_text(args, "up", "z"), "y") == 0;
    int every = args_int(args, "every", 1), limit = args_int(args, "limit", curves->count);
    int count = 0, at = 0;
    for (int i = 0; i < curves->count && count < limit; ++i) {
        int from = curves->start[i], to = curves->start[i + 1];
        if (i % every != 0) {
            continue;
        }
        curves->start[count++] = at;
        for (int k = from; k < to; ++k) {
            TdlVec3 p = tdl_scale3(scale, curves->points[k]);
            curves->points[at++] = y_up ? (TdlVec3){p.x, -p.z, p.y} : p;
        }
    }
    curves->start[count] = at;
    curves->count = count;
}

static TdlFitOptions fit_options(const Args* args) {
    TdlFitOptions o = tdl_fit_options_default();
    bool tolerant = args_has(args, "tolerance");
    o.element_count = args_int(args, "elements", tolerant ? ELEMENTS_MOST : ELEMENTS_DEFAULT);
    o.tolerance = args_real(args, "tolerance", 0.0);
    o.closed = args_has(args, "closed");
    const char* method = args_text(args, "method", "least-squares");
    o.method = strcmp(method, "s4") == 0 ? TDL_FIT_S4 : TDL_FIT_FLOATING;
    o.least_squares = strcmp(method, "least-squares") == 0 && !o.closed;
    if (args_has(args, "smooth")) {
        o.noise = args_real(args, "smooth", 0.0);
        o.smoothing = o.noise > 0.0 ? TDL_SMOOTHING_NOISE : TDL_SMOOTHING_CROSS_VALIDATION;
    }
    return o;
}

// Super-clothoids know no tolerance: elements by a quarter more until they are near enough.
static TdlStatus fit_clothoid(const TdlHost* host, const TdlVec3* points, int count,
                              const TdlFitOptions* options, TdlVec3* curvature, TdlHelixFit* fit) {
    TdlFitOptions o = *options;
    int most = o.element_count;
    bool tolerant = o.tolerance > 0.0;
    o.element_count = tolerant ? 1 : most;
    o.tolerance = 0.0;
    TdlStatus status = tdl_clothoid_fit(host, points, count, &o, curvature, fit);
    while (status == TDL_STATUS_OK && tolerant && !(fit->error <= options->tolerance) &&
           o.element_count < most) {
        o.element_count += 1 + o.element_count / 4;
        o.element_count = o.element_count < most ? o.element_count : most;
        status = tdl_clothoid_fit(host, points, count, &o, curvature, fit);
    }
    return status;
}

// Strands as they are fitted, one after the other.
typedef struct Fitted {
    TdlStrands strands;
    size_t used, capacity; // curvatures
} Fitted;

static bool reserve(Fitted* f, int count) {
    TdlStrands* s = &f->strands;
    size_t n = (size_t)count;
    s->count = count;
    s->element_count = calloc(n, sizeof *s->element_count);
    s->length = calloc(n, sizeof *s->length);
    s->start = calloc(n, sizeof *s->start);
    s->stiffening = calloc(n, sizeof *s->stiffening);
    return s->element_count && s->length && s->start && s->stiffening;
}

// Room for the next strand.
static bool grow(Fitted* f, size_t most) {
    if (f->used + most > f->capacity) {
        size_t capacity = 2 * f->capacity + most;
        TdlVec3* grown = realloc(f->strands.curvature, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        f->strands.curvature = f->strands.natural_curvature =
            grown; // of which nothing is known yet
        f->capacity = capacity;
    }
    return true;
}

static void release(Fitted* f) {
    free(f->strands.element_count);
    free(f->strands.length);
    free(f->strands.start);
    free(f->strands.stiffening);
    free(f->strands.curvature);
}

static TdlStatus fit_one(const Args* args, const TdlFitOptions* options, int index,
                         InverseInput* in, Fitted* f) {
    TdlStrands* s = &f->strands;
    bool at_joints = strcmp(s->model, "super-clothoid") == 0;
    const TdlVec3* points = in->curves.points + in->curves.start[index];
    int count = in->curves.start[index + 1] - in->curves.start[index];
    TdlHelixFit fit = {0};
    if (!grow(f, (size_t)options->element_count + 1)) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = (at_joints ? fit_clothoid : tdl_helix_fit)(
        args_host(args), points, count, options, s->curvature + f->used, &fit);
    if (status != TDL_STATUS_OK) {
        bool bad =
            status == TDL_STATUS_BAD_ARGUMENT; // coordinates are finite: the reader saw to it
        fprintf(stderr, "tendril: curve %d (from 0) cannot be fitted%s\n", index,
                bad && options->closed ? ": it needs three points or more that differ"
                : bad                  ? ": it needs two points or more that differ"
                                       : "");
        return bad ? TDL_STATUS_BAD_INPUT : status;
    }
    s->element_count[index] = fit.element_count;
    s->length[index] = fit.length;
    s->start[index] = fit.start;
    s->stiffening[index] = 1.0;
    in->fit_error[index] = fit.error;
    in->missed_count += options->tolerance > 0.0 && !(fit.error <= options->tolerance);
    f->used += (size_t)fit.element_count + at_joints;
    return TDL_STATUS_OK;
}

static int fit_all(const Args* args, InverseInput* in, Fitted* f) {
    TdlFitOptions options = fit_options(args);
    bool quiet = args_has(args, "quiet");
    snprintf(f->strands.model, sizeof f->strands.model, "%s",
             args_text(args, "model", "super-helix"));
    in->fit_error = calloc((size_t)in->curves.count, sizeof *in->fit_error);
    if (in->fit_error == NULL || !reserve(f, in->curves.count)) {
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < in->curves.count && status == TDL_STATUS_OK; ++i) {
        status = terminal_stop_asked() ? TDL_STATUS_STOPPED : fit_one(args, &options, i, in, f);
        if (!quiet && in->curves.count >= 1000) {
            terminal_progress(i + 1.0, in->curves.count, "curves", NULL);
        }
    }
    terminal_end_progress();
    return exit_code(status);
}

// --- the scene of its own ---------------------------------------------------------------------

// As few digits as tell the number.
static void put_real(FILE* out, double value) {
    char text[40];
    int digits = 1;
    do {
        snprintf(text, sizeof text, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && digits++ < 17);
    fputs(text, out);
}

static void put_option(FILE* out, const Args* args, const char* name, double fallback) {
    fprintf(out, ", %s: ", name);
    put_real(out, args_real(args, name, fallback));
}

// The name of the file, without folder and ending, where it can be that of rods.
static void put_name(FILE* out, const char* path) {
    const char* slash = strrchr(path, '/');
    const char* name = slash == NULL ? path : slash + 1;
    size_t length = strcspn(name, ".");
    bool good = length > 0 && length < 64 && isalpha((unsigned char)name[0]);
    for (size_t i = 0; i < length && good; ++i) {
        good = isalnum((unsigned char)name[i]) || name[i] == '_' || name[i] == '-';
    }
    fprintf(out, "%.*s", good ? (int)length : 7, good ? name : "strands");
}

// A path in double quotes, as YAML has it.
static void put_path(FILE* out, const char* path) {
    fputc('"', out);
    for (const char* c = path; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            fputc('\\', out);
        }
        fputc(*c, out);
    }
    fputc('"', out);
}

static void put_scene(FILE* out, const Args* args, TdlVec3 gravity, const char* strands) {
    fprintf(out, "title: Rods that rest in the shapes they were given\ngravity: [");
    put_real(out, gravity.x);
    fprintf(out, ", ");
    put_real(out, gravity.y);
    fprintf(out, ", ");
    put_real(out, gravity.z);
    fprintf(out, "]\ntime: {step: 1e-3, end: 2}\nmaterials:\n  - {name: fibre");
    put_option(out, args, "young", 1.0e9);
    put_option(out, args, "poisson", 0.48);
    put_option(out, args, "density", 1000.0);
    put_option(out, args, "damping", 0.01);
    fprintf(out, "}\n");
    if (args_has(args, "contacts")) {
        fprintf(out, "contacts: {friction: ");
        put_real(out, args_real(args, "mu", 0.3));
        fprintf(out, "}\n");
    } else {
        fprintf(out, "contacts: {detection: off}\n");
    }
    fprintf(out, "rods:\n  - name: ");
    put_name(out, args_operand(args, 0));
    fprintf(out, "\n    material: fibre\n    radius: ");
    put_real(out, args_real(args, "radius", 50.0e-6));
    fprintf(out, "\n    curves: {file: ");
    put_path(out, strands);
    if (is_strands(args_operand(args, 0))) {
        fprintf(out, ", every: %d", args_int(args, "every", 1));
        if (args_has(args, "limit")) {
            fprintf(out, ", limit: %d", args_int(args, "limit", 1));
        }
    }
    fprintf(out, "}\n");
}

static int write_scene(const Args* args, const char* strands, const InverseInput* in) {
    TdlVec3 gravity = {0};
    read_gravity(args, &gravity); // looked at before
    FILE* out = output_open(in->scene);
    if (out == NULL) {
        return output_failure();
    }
    put_scene(out, args, gravity, strands);
    return output_close(out, true) ? EXIT_DONE : output_failure();
}

// --- all ----------------------------------------------------------------------------------------

static int open_curves(const Args* args, InverseInput* in) {
    TdlStatus status = tdl_curves_read(args_host(args), args_operand(args, 0), &in->curves);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    if (in->curves.count == 0) {
        fprintf(stderr, "tendril: %s has no curves\n", args_operand(args, 0));
        return EXIT_INPUT;
    }
    choose_curves(args, &in->curves);
    Fitted fitted = {0};
    int code = fit_all(args, in, &fitted);
    if (code == EXIT_DONE) {
        TdlStatus written = tdl_strands_write(args_host(args), in->strands, &fitted.strands);
        // what it refuses is of the curves
        code = written == TDL_STATUS_BAD_ARGUMENT ? EXIT_INPUT : output_code(written);
    }
    release(&fitted);
    if (code != EXIT_DONE) {
        in->strands[0] = '\0'; // not ours
    }
    return code;
}

// A file of strands from its own place: the scene lies somewhere else.
static int open_strands(const Args* args, InverseInput* in) {
    static const char* const TOLD[] = {"elements", "tolerance", "model", "method", "smooth",
                                       "closed",   "scale",     "up",    NULL};
    int code = refuse_options(args, TOLD, "file of strands");
    char* path = code == EXIT_DONE ? realpath(args_operand(args, 0), NULL) : NULL;
    if (code == EXIT_DONE && path == NULL) {
        fprintf(stderr, "tendril: %s: there is no such file\n", args_operand(args, 0));
        code = EXIT_INPUT;
    }
    code = code == EXIT_DONE ? write_scene(args, path, in) : code;
    in->made = code == EXIT_DONE;
    free(path);
    return code;
}

int inverse_input_open(const Args* args, const char* output, InverseInput* in) {
    static const char* const TOLD[] = {
        "elements", "tolerance", "model", "method",  "smooth",  "closed",  "scale",   "up", "every",
        "limit",    "radius",    "young", "poisson", "density", "damping", "gravity", "mu", NULL};
    const char* path = args_operand(args, 0);
    *in = (InverseInput){0};
    if (is_scene(path)) {
        snprintf(in->scene, sizeof in->scene, "%s", path);
        return refuse_options(args, TOLD, "scene; --set changes it");
    }
    if (args_has(args, "mu") && !args_has(args, "contacts")) {
        return usage_error(args, "--mu belongs to --contacts");
    }
    TdlVec3 gravity;
    if (!read_gravity(args, &gravity)) {
        return usage_error(args, "--gravity takes three numbers, such as 0,0,-9.81");
    }
    if (args_has(args, "closed") && strcmp(args_text(args, "model", ""), "super-clothoid") == 0) {
        return usage_error(args, "--closed: a super-clothoid is fitted to open curves only");
    }
    output_path(in->scene, output, ".yaml", ".fitted.yaml");
    if (is_strands(path)) {
        return open_strands(args, in);
    }
    char strands[OUTPUT_PATH_SIZE];
    output_path(strands, output, ".yaml", ".fitted.h5");
    snprintf(in->strands, sizeof in->strands, "%s", strands);
    const char* slash = strrchr(strands, '/');
    int code = open_curves(args, in);
    code = code == EXIT_DONE ? write_scene(args, slash == NULL ? strands : slash + 1, in) : code;
    in->made = code == EXIT_DONE;
    return code;
}

void inverse_input_close(const Args* args, InverseInput* in) {
    if (in->made) {
        remove(in->scene);
    }
    if (in->strands[0] != '\0') {
        remove(in->strands);
    }
    tdl_curves_free(args_host(args), &in->curves);
    free(in->fit_error);
    *in = (InverseInput){0};
}
