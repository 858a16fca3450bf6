// Strands in HDF5: a group of plain datasets, so that megabytes of curvatures need not be text. In
// by the reader of hostile files, out by the HDF5 library. docs/inverse.md
#include "formats/strands.h"

#include "base/log.h"
#include "base/memory.h"
#include "formats/file.h"
#include "formats/hdf5_reader.h"
#include "formats/hdf5_writer.h"
#include "formats/obj.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char GROUP[] = "tendril_strands";
enum { VERSION = 1, COUNT_MAX = 1000000, ELEMENTS_MAX = 100000, POSE_NUMBERS = 12 };
static const double LENGTH_MIN = 1.0e-9, LENGTH_MAX = 1.0e9; // m, as in scenes
static const size_t FILE_MAX = (size_t)1 << 31;              // bytes

_Static_assert(sizeof(TdlPose) == POSE_NUMBERS * sizeof(double) &&
                   sizeof(TdlVec3) == 3 * sizeof(double),
               "poses and vectors are written as they lie in memory");

bool strands_named(const char* path) {
    size_t length = strlen(path);
    return (length > 3 && strcmp(path + length - 3, ".h5") == 0) ||
           (length > 5 && strcmp(path + length - 5, ".hdf5") == 0);
}

int strands_shape(const TdlStrands* strands, int index, size_t first, TdlRodDef* def) {
    def->model = strands->model;
    def->element_count = strands->element_count[index];
    def->length = strands->length[index];
    def->clamp = strands->start[index];
    def->stiffening = strands->stiffening[index];
    int count = tdl_rod_def_curvature_count(def);
    bool at_joints = count > def->element_count;
    const TdlVec3 *shape = strands->curvature + first, *rest = strands->natural_curvature + first;
    def->curvature_at = at_joints ? shape : NULL;
    def->curvature_of = at_joints ? NULL : shape;
    def->natural_curvature_at = at_joints ? rest : NULL;
    def->natural_curvature_of = at_joints ? NULL : rest;
    return count;
}

// --- what is wrong with strands --------------------------------------------------------------

static bool model_known(const char* model) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    return tdl_rod_def_fault(&def) == NULL;
}

// Curvatures of all strands, whose element counts are sane.
static size_t count_curvatures(const TdlStrands* strands) {
    TdlRodDef def = tdl_rod_def_default();
    size_t sum = 0;
    def.model = strands->model;
    for (int i = 0; i < strands->count; ++i) {
        def.element_count = strands->element_count[i];
        sum += (size_t)tdl_rod_def_curvature_count(&def);
    }
    return sum;
}

// The first fault of a strand and its number; null: none. Model and counts are sane.
static const char* find_fault(const TdlStrands* strands, int* index) {
    size_t first = 0;
    for (*index = 0; *index < strands->count; ++*index) {
        TdlRodDef def = tdl_rod_def_default();
        first += (size_t)strands_shape(strands, *index, first, &def);
        TdlVec3 p = def.clamp.position;
        if (!(def.length >= LENGTH_MIN && def.length <= LENGTH_MAX)) {
            return "length must be from 1e-9 to 1e9 m";
        }
        if (!(fabs(p.x) <= PLACE_MAX && fabs(p.y) <= PLACE_MAX && fabs(p.z) <= PLACE_MAX)) {
            return "it starts beyond 1e9 m";
        }
        const char* fault = tdl_rod_def_fault(&def);
        if (fault != NULL) {
            return fault;
        }
    }
    return NULL;
}

// --- memory ----------------------------------------------------------------------------------

void tdl_strands_free(const TdlHost* host, TdlStrands* strands) {
    tdl_free(&host->mem, strands->element_count);
    tdl_free(&host->mem, strands->length);
    tdl_free(&host->mem, strands->start);
    tdl_free(&host->mem, strands->stiffening);
    tdl_free(&host->mem, strands->curvature);
    tdl_free(&host->mem, strands->natural_curvature);
    *strands = (TdlStrands){0};
}

static bool allocate_each(const TdlHost* host, TdlStrands* out) {
    size_t count = (size_t)out->count;
    out->element_count = tdl_alloc_array(&host->mem, count, sizeof *out->element_count);
    out->length = tdl_alloc_array(&host->mem, count, sizeof *out->length);
    out->start = tdl_alloc_array(&host->mem, count, sizeof *out->start);
    out->stiffening = tdl_alloc_array(&host->mem, count, sizeof *out->stiffening);
    return out->element_count != NULL && out->length != NULL && out->start != NULL &&
           out->stiffening != NULL;
}

static bool allocate_curvatures(const TdlHost* host, size_t count, TdlStrands* out) {
    out->curvature = tdl_alloc_array(&host->mem, count, sizeof *out->curvature);
    out->natural_curvature = tdl_alloc_array(&host->mem, count, sizeof *out->natural_curvature);
    return out->curvature != NULL && out->natural_curvature != NULL;
}

// --- reading ---------------------------------------------------------------------------------

// A dataset of the group with `count` numbers.
static bool find_numbers(Hdf5File* r, uint64_t group, const char* name, size_t count,
                         Hdf5Dataset* d) {
    return hdf5_dataset(r, group, name, d) &&
           (d->count == count || hdf5_fail(r, "%s has %llu numbers, not %zu", name,
                                           (unsigned long long)d->count, count));
}

static bool find_reals(Hdf5File* r, uint64_t group, const char* name, size_t count,
                       Hdf5Dataset* d) {
    return find_numbers(r, group, name, count, d) &&
           ((d->kind == 1 && d->item == sizeof(double)) ||
            hdf5_fail(r, "%s must be reals of eight bytes", name));
}

// NaN and infinity are found with the rest of what is wrong with a strand.
static bool read_reals(Hdf5File* r, uint64_t group, const char* name, size_t count, double* out) {
    Hdf5Dataset d;
    if (!find_reals(r, group, name, count, &d)) {
        return false;
    }
    for (size_t k = 0; k < count; ++k) {
        out[k] = hdf5_value(r, &d, k);
    }
    return true;
}

static bool read_counts(Hdf5File* r, uint64_t group, TdlStrands* out) {
    Hdf5Dataset d;
    if (!find_numbers(r, group, "element_count", (size_t)out->count, &d)) {
        return false;
    }
    for (int i = 0; i < out->count; ++i) {
        double n = hdf5_value(r, &d, (uint64_t)i);
        if (!(n >= 1.0 && n <= ELEMENTS_MAX) || n != floor(n)) {
            return hdf5_fail(r, "strand %d (from 0) has %g elements, not a count from 1 to %d", i,
                             n, ELEMENTS_MAX);
        }
        out->element_count[i] = (int)n;
    }
    return true;
}

// What tells how large the rest is.
static bool read_head(Hdf5File* r, uint64_t group, TdlStrands* out) {
    int version;
    Hdf5Dataset d;
    if (!hdf5_count(r, group, "", "version", 1, VERSION, &version) ||
        !hdf5_text(r, group, "model", sizeof out->model, out->model)) {
        return false;
    }
    if (!model_known(out->model)) {
        return hdf5_fail(r, "its model '%s' is not one of %s", out->model, tdl_rod_models());
    }
    if (!hdf5_dataset(r, group, "element_count", &d)) {
        return false;
    }
    if (d.count > COUNT_MAX) {
        return hdf5_fail(r, "it has more than %d strands", COUNT_MAX);
    }
    out->count = (int)d.count;
    // as large as the memory that is taken next
    return find_reals(r, group, "start", POSE_NUMBERS * (size_t)out->count, &d);
}

static bool read_each(Hdf5File* r, uint64_t group, TdlStrands* out) {
    size_t count = (size_t)out->count;
    return read_counts(r, group, out) && read_reals(r, group, "length", count, out->length) &&
           read_reals(r, group, "start", POSE_NUMBERS * count, (double*)out->start) &&
           read_reals(r, group, "stiffening", count, out->stiffening);
}

// Before memory is taken for them: both are there.
static bool find_curvatures(Hdf5File* r, uint64_t group, size_t count) {
    Hdf5Dataset d;
    return find_reals(r, group, "curvature", 3 * count, &d) &&
           find_reals(r, group, "natural_curvature", 3 * count, &d);
}

static bool read_curvatures(Hdf5File* r, uint64_t group, size_t count, TdlStrands* out) {
    int index;
    if (!read_reals(r, group, "curvature", 3 * count, (double*)out->curvature) ||
        !read_reals(r, group, "natural_curvature", 3 * count, (double*)out->natural_curvature)) {
        return false;
    }
    const char* fault = find_fault(out, &index);
    return fault == NULL || hdf5_fail(r, "strand %d (from 0): %s", index, fault);
}

static TdlStatus parse(Hdf5File* r, TdlStrands* out) {
    uint64_t root = 0, group = 0;
    if (!hdf5_looks_like(r->data, r->size)) {
        hdf5_fail(r, "this is not HDF5");
        return TDL_STATUS_BAD_INPUT;
    }
    if (hdf5_root(r, &root)) {
        group = hdf5_find(r, root, GROUP);
    }
    if (group == 0) {
        hdf5_fail(r, "has no group %s", GROUP);
        return TDL_STATUS_BAD_INPUT;
    }
    if (!read_head(r, group, out)) {
        return TDL_STATUS_BAD_INPUT;
    }
    if (!allocate_each(r->host, out)) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (!read_each(r, group, out)) {
        return TDL_STATUS_BAD_INPUT;
    }
    size_t count = count_curvatures(out);
    if (!find_curvatures(r, group, count)) {
        return TDL_STATUS_BAD_INPUT;
    }
    if (!allocate_curvatures(r->host, count, out)) {
        return TDL_STATUS_NO_MEMORY;
    }
    return read_curvatures(r, group, count, out) ? TDL_STATUS_OK : TDL_STATUS_BAD_INPUT;
}

TdlStatus strands_parse(const TdlHost* host, const char* name, const void* data, size_t size,
                        TdlStrands* out) {
    Hdf5File file = {.host = host, .name = name, .data = data, .size = size};
    *out = (TdlStrands){0};
    TdlStatus status = parse(&file, out);
    if (status != TDL_STATUS_OK) {
        tdl_strands_free(host, out);
    }
    return status;
}

TdlStatus tdl_strands_read(const TdlHost* host, const char* path, TdlStrands* out) {
    char* data = NULL;
    size_t size = 0;
    *out = (TdlStrands){0};
    TdlStatus status = file_read(host, path, FILE_MAX, hdf5_judge, &data, &size);
    if (status == TDL_STATUS_OK) {
        status = strands_parse(host, path, data, size, out);
        tdl_free(&host->mem, data);
    }
    return status;
}

// --- writing ---------------------------------------------------------------------------------

static const char* find_head_fault(const TdlStrands* strands) {
    if (memchr(strands->model, '\0', sizeof strands->model) == NULL ||
        !model_known(strands->model)) {
        return "model is not one of those tdl_rod_models() lists";
    }
    if (strands->count < 0 || strands->count > COUNT_MAX) {
        return "there are 0 to 1000000 of them";
    }
    for (int i = 0; i < strands->count; ++i) {
        if (strands->element_count[i] < 1 || strands->element_count[i] > ELEMENTS_MAX) {
            return "element_count must be from 1 to 100000";
        }
    }
    return NULL;
}

static bool put_text(hid_t group, const char* name, const char* text) {
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good =
        H5Tset_size(type, strlen(text) + 1) >= 0 && hdf5_put_rows(group, name, type, 1, 1, text);
    H5Tclose(type);
    return good;
}

static bool put_strands(hid_t group, const TdlStrands* s) {
    const int version = VERSION;
    size_t count = (size_t)s->count, curvatures = count_curvatures(s);
    return hdf5_put_rows(group, "version", H5T_NATIVE_INT, 1, 1, &version) &&
           put_text(group, "model", s->model) &&
           hdf5_put_rows(group, "element_count", H5T_NATIVE_INT, count, 1, s->element_count) &&
           hdf5_put_rows(group, "length", H5T_NATIVE_DOUBLE, count, 1, s->length) &&
           hdf5_put_rows(group, "start", H5T_NATIVE_DOUBLE, count, POSE_NUMBERS, s->start) &&
           hdf5_put_rows(group, "stiffening", H5T_NATIVE_DOUBLE, count, 1, s->stiffening) &&
           hdf5_put_rows(group, "curvature", H5T_NATIVE_DOUBLE, curvatures, 3, s->curvature) &&
           hdf5_put_rows(group, "natural_curvature", H5T_NATIVE_DOUBLE, curvatures, 3,
                         s->natural_curvature);
}

TdlStatus tdl_strands_write(const TdlHost* host, const char* path, const TdlStrands* strands) {
    int index;
    const char* fault = find_head_fault(strands);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "strands: %s", fault);
    }
    fault = find_fault(strands, &index);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "strand %d (from 0): %s", index, fault);
    }
    TdlOutput out;
    TdlStatus status = tdl_output_begin(host, path, &out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    hid_t file = hdf5_create(out.beside);
    hid_t group = file < 0 ? -1 : H5Gcreate2(file, GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0 && put_strands(group, strands);
    good = (group < 0 || H5Gclose(group) >= 0) && good;
    good = (file < 0 || hdf5_close(file)) && good;
    status = tdl_output_end(host, &out, good);
    return good ? status : tdl_fail(host, TDL_STATUS_IO, "%s: could not be written", path);
}

// --- out of a world --------------------------------------------------------------------------

static TdlStatus take_each(const TdlHost* host, const TdlWorld* world, const TdlBodyId* rods,
                           TdlStrands* out) {
    for (int i = 0; i < out->count; ++i) {
        TdlRodInfo info;
        if (tdl_rod_info(world, rods[i], &info) != TDL_STATUS_OK ||
            tdl_rod_start(world, rods[i], &out->start[i]) != TDL_STATUS_OK) {
            return TDL_STATUS_BAD_ARGUMENT;
        }
        if (i == 0) {
            snprintf(out->model, sizeof out->model, "%s", info.model);
        }
        if (strcmp(out->model, info.model) != 0) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "strands are of one model: %s and %s",
                            out->model, info.model);
        }
        out->element_count[i] = info.element_count;
        out->length[i] = info.length;
        out->stiffening[i] = info.stiffening;
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_strands_from_world(const TdlHost* host, const TdlWorld* world, const TdlBodyId* rods,
                                 int count, TdlStrands* out) {
    *out = (TdlStrands){.model = "super-helix", .count = count};
    if (count < 0 || count > COUNT_MAX) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "there are 0 to %d strands", COUNT_MAX);
    }
    TdlStatus status =
        allocate_each(host, out) ? take_each(host, world, rods, out) : TDL_STATUS_NO_MEMORY;
    if (status == TDL_STATUS_OK && !allocate_curvatures(host, count_curvatures(out), out)) {
        status = TDL_STATUS_NO_MEMORY;
    }
    size_t first = 0;
    for (int i = 0; status == TDL_STATUS_OK && i < count; ++i) {
        TdlRodDef def = tdl_rod_def_default();
        status = tdl_rod_curvature(world, rods[i], out->curvature + first);
        if (status == TDL_STATUS_OK) {
            status = tdl_rod_natural_curvature(world, rods[i], out->natural_curvature + first);
        }
        first += (size_t)strands_shape(out, i, first, &def);
    }
    if (status != TDL_STATUS_OK) {
        tdl_strands_free(host, out);
    }
    return status;
}
