// Parameters: which value of a scene is sought, and between which bounds.
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Bounds that differ by this factor or more make a scale of ratios.
static const double LOG_SPAN = 10.0;

// Without bounds: from the value over this to the value times this.
static const double DEFAULT_SPAN = 10.0;

// Short names: of a key of the only cloth, or of a path that every scene has.
static const struct Alias {
    const char *name, *list, *key;
} ALIASES[] = {
    {"alpha", "cloths", "damping"}, {"delta", "cloths", "weight"},     {"rho", "cloths", "density"},
    {"kappa", "cloths", "bending"}, {"mu", NULL, "contacts.friction"},
};

double parameter_value(const Parameter* p, double z) {
    // the bounds themselves are met exactly
    return z <= 0.0   ? p->low
           : z >= 1.0 ? p->high
           : p->log   ? p->low * pow(p->high / p->low, z)
                      : p->low + z * (p->high - p->low);
}

double parameter_place(const Parameter* p, double value) {
    return p->log ? log(value / p->low) / log(p->high / p->low)
                  : (value - p->low) / (p->high - p->low);
}

static int resolve_alias(const Args* args, const TdlScene* scene, Parameter* out) {
    for (size_t i = 0; i < sizeof ALIASES / sizeof *ALIASES; ++i) {
        const struct Alias* alias = &ALIASES[i];
        if (strcmp(alias->name, out->path) != 0) {
            continue;
        }
        if (alias->list == NULL) {
            snprintf(out->path, sizeof out->path, "%s", alias->key);
            return EXIT_DONE;
        }
        if (tdl_scene_info(scene).cloth_count != 1) {
            return usage_error(args,
                               "%s is of a scene's only cloth: name the key, such as "
                               "cloths.towel.%s",
                               alias->name, alias->key);
        }
        snprintf(out->path, sizeof out->path, "%s.%.200s.%s", alias->list,
                 tdl_scene_cloth(scene, 0).name, alias->key);
    }
    return EXIT_DONE;
}

// Reads LOW:HIGH[:START][:log|:linear]; what is not there stays NaN.
static bool read_bounds(const char* at, Parameter* out, bool* scale_given) {
    double* const numbers[] = {&out->low, &out->high, &out->start};
    int count = 0;
    *scale_given = false;
    while (at != NULL) {
        const char* next = strchr(at, ':');
        size_t length = next == NULL ? strlen(at) : (size_t)(next - at);
        bool log_word = length == 3 && strncmp(at, "log", 3) == 0;
        bool linear_word = length == 6 && strncmp(at, "linear", 6) == 0;
        char* end;
        if (log_word || linear_word) {
            out->log = log_word;
            *scale_given = true;
            return next == NULL && count >= 2;
        }
        double x = strtod(at, &end);
        if (count == 3 || length == 0 || end != at + length || !isfinite(x)) {
            return false;
        }
        *numbers[count++] = x;
        at = next == NULL ? NULL : next + 1;
    }
    return count >= 2;
}

static int check_bounds(const Args* args, const Parameter* p) {
    if (!(p->low < p->high)) {
        return usage_error(args, "%s: the lower bound %g is not below %g", p->path, p->low,
                           p->high);
    }
    if (p->log && !(p->low > 0.0)) {
        return usage_error(args, "%s: on a log scale the lower bound must be above 0", p->path);
    }
    if (!(p->start >= p->low && p->start <= p->high)) {
        return usage_error(args, "%s: the start %g is not between %g and %g", p->path, p->start,
                           p->low, p->high);
    }
    return EXIT_DONE;
}

int parameter_read(const Args* args, const TdlScene* scene, const char* text, Parameter* out) {
    *out = (Parameter){.low = NAN, .high = NAN, .start = NAN};
    size_t length = strcspn(text, "=");
    if (length == 0 || length >= sizeof out->path) {
        return usage_error(args, "a parameter is written PATH=LOW:HIGH, not '%.100s'", text);
    }
    snprintf(out->path, sizeof out->path, "%.*s", (int)length, text);
    bool bounded = text[length] == '=', scale_given = false;
    if (bounded && !read_bounds(text + length + 1, out, &scale_given)) {
        return usage_error(args, "bounds are written LOW:HIGH[:START][:log|:linear], not '%.100s'",
                           text + length + 1);
    }
    int code = resolve_alias(args, scene, out);
    double value = NAN;
    if (code == EXIT_DONE) {
        code = exit_code(tdl_scene_number(scene, out->path, &value));
    }
    if (code != EXIT_DONE) {
        return code;
    }
    out->start = isnan(out->start) ? value : out->start;
    if (isnan(out->start) || (!bounded && out->start == 0.0)) {
        return usage_error(args,
                           "the scene gives no value to start %s from: write "
                           "%s=LOW:HIGH:START",
                           out->path, out->path);
    }
    if (!bounded) {
        double a = out->start / DEFAULT_SPAN, b = out->start * DEFAULT_SPAN;
        out->low = fmin(a, b);
        out->high = fmax(a, b);
    }
    out->log = scale_given ? out->log : out->low > 0.0 && out->high >= LOG_SPAN * out->low;
    return check_bounds(args, out);
}
