// Contact problems of a run, saved as they are solved: a file each, and in a folder an index that
// tells where each came from and what the run's solver made of it.
#include "run/problem_save.h"

#include "base/log.h"
#include "tendril/ccd.h"
#include "tendril/formats.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static bool ends_with(const char* text, const char* end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static bool is_file(const char* path) {
    return ends_with(path, ".dat") || ends_with(path, ".hdf5") || ends_with(path, ".h5");
}

static TdlStatus open_output(const TdlHost* host, const char* path, TdlOutput* out, FILE** file) {
    TdlStatus status = tdl_output_begin(host, path, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    *file = fopen(out->beside, "wb");
    if (*file == NULL) {
        tdl_output_end(host, out, false);
        return tdl_fail(host, TDL_STATUS_IO, "%s: could not be opened for writing", path);
    }
    return TDL_STATUS_OK;
}

// What was written until then stands, also where the run failed.
static TdlStatus close_output(const TdlHost* host, const TdlOutput* out, FILE** file, bool good) {
    if (*file == NULL) {
        return TDL_STATUS_OK;
    }
    bool written = ferror(*file) == 0;
    written = fclose(*file) == 0 && written && good;
    *file = NULL;
    TdlStatus status = tdl_output_end(host, out, written);
    return written ? status : tdl_fail(host, TDL_STATUS_IO, "%s: could not be written", out->path);
}

static void note_row(const ProblemSaver* s, const TdlContactProblem* p, const char* name, int n) {
    fprintf(s->index, "%s,%ld,%d,%.17g,%.17g,%d,%.17g,%s,%d,%.3e,%d,%.6g\n", name, p->step, s->part,
            p->time, p->dt, n, p->unit, tdl_friction_solver_name(p->info.solver),
            p->info.iterations, p->info.errors[TDL_FRICTION_ERROR_NATURAL],
            p->info.outcome == TDL_FRICTION_CONVERGED, 1.0e3 * p->info.seconds);
    fflush(s->index);
}

static void save(void* user, const TdlContactProblem* p) {
    ProblemSaver* s = user;
    s->part = p->step == s->step ? s->part + 1 : 1;
    s->step = p->step;
    const TdlSaveProblems* def = &s->def;
    if (s->status != TDL_STATUS_OK || p->step < def->first || p->step > def->last ||
        (p->step - def->first) % def->every != 0) {
        return;
    }
    if (s->index == NULL) {
        s->status = tdl_friction_problem_write(&s->host, def->path, p->problem, p->guess);
        s->count += s->status == TDL_STATUS_OK;
        return;
    }
    int n = tdl_friction_problem_size(p->problem).contact_count;
    char name[64], path[PATH_BYTES];
    snprintf(name, sizeof name, "step-%06ld-%d.hdf5", p->step, s->part);
    snprintf(path, sizeof path, "%s/%s", def->path, name);
    s->status = tdl_friction_problem_write(&s->host, path, p->problem, p->guess);
    if (s->status == TDL_STATUS_OK) {
        note_row(s, p, name, n);
        ++s->count;
    }
}

TdlStatus problem_saver_start(ProblemSaver* s, const TdlHost* host, const TdlSaveProblems* def,
                              TdlWorld* world) {
    *s = (ProblemSaver){.host = *host, .def = *def, .world = world};
    if (def->path == NULL) {
        return TDL_STATUS_OK;
    }
    if (def->every < 1 || strlen(def->path) > PATH_BYTES - 64) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "problems: every must be at least 1");
    }
    if (!is_file(def->path)) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/problems.csv", def->path);
        if (mkdir(def->path, 0777) != 0 && access(def->path, W_OK) != 0) {
            return tdl_fail(host, TDL_STATUS_IO, "%s: could not be created", def->path);
        }
        TdlStatus status = open_output(host, path, &s->out, &s->index);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        fprintf(s->index, "file,step,part,time,dt,contacts,unit,solver,iterations,error,converged,"
                          "ms\n");
    }
    tdl_world_watch_problems(world, save, s);
    return TDL_STATUS_OK;
}

TdlStatus problem_saver_end(ProblemSaver* s) {
    TdlStatus status = s->status;
    if (s->def.path == NULL) {
        return status;
    }
    tdl_world_watch_problems(s->world, NULL, NULL);
    TdlStatus closed = close_output(&s->host, &s->out, &s->index, true);
    return status == TDL_STATUS_OK ? closed : status;
}

// --- collision queries ---------------------------------------------------------------------------

static void save_query(void* user, long step, const TdlCcdQuery* query, bool collision) {
    (void)collision;
    QuerySaver* s = user;
    if (s->failed || step < s->def.first || step > s->def.last ||
        (step - s->def.first) % s->def.every != 0) {
        return;
    }
    TdlCcdOptions exact = tdl_ccd_options_default();
    TdlCcdResult truth;
    exact.method = TDL_CCD_EXACT;
    s->failed = tdl_ccd_query(query, &exact, &truth) != TDL_STATUS_OK ||
                !tdl_ccd_query_write(s->file, query, truth.collision);
    s->count += !s->failed;
}

TdlStatus query_saver_start(QuerySaver* s, const TdlHost* host, const TdlSaveProblems* def,
                            TdlWorld* world) {
    *s = (QuerySaver){.host = *host, .def = *def, .world = world};
    if (def->path == NULL) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = open_output(host, def->path, &s->out, &s->file);
    if (status == TDL_STATUS_OK) {
        tdl_world_watch_crossings(world, save_query, s);
    }
    return status;
}

TdlStatus query_saver_end(QuerySaver* s) {
    if (s->file == NULL) {
        return TDL_STATUS_OK;
    }
    tdl_world_watch_crossings(s->world, NULL, NULL);
    return close_output(&s->host, &s->out, &s->file, !s->failed);
}
