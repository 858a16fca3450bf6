// Grains in result.h5: the columns of their particles, and what their bed is like.
#include "result/result_grains.h"

#include "result/result_object.h"

#include <math.h>

// 16 KB of a column of floats: a small bed has a few frames in one, a large one many of them.
enum { CHUNK_ROWS = 4096 };

typedef enum ParticleColumn {
    PARTICLE_NUMBER = 0,
    PARTICLE_POSITION,
    PARTICLE_VELOCITY,
    PARTICLE_FRACTION,
    PARTICLE_PRESSURE,
    PARTICLE_SHEAR,
    PARTICLE_COLUMNS,
} ParticleColumn;

static const RowColumn COLUMNS[PARTICLE_COLUMNS] = {
    [PARTICLE_NUMBER] = {"number", "1", "which particle it is, from 0; their order changes",
                         TYPE_INT32, 1, 8},
    [PARTICLE_POSITION] = {"position", "m", "where it is", TYPE_FLOAT32, 3, 8},
    [PARTICLE_VELOCITY] = {"velocity", "m/s", "how it moves", TYPE_FLOAT32, 3, 8},
    [PARTICLE_FRACTION] = {"fraction", "1", "volume fraction of grains there", TYPE_FLOAT32, 1, 8},
    [PARTICLE_PRESSURE] = {"pressure", "Pa", "in the step before the frame", TYPE_FLOAT32, 1, 8},
    [PARTICLE_SHEAR] = {"shear", "Pa", "shear stress, the size of the deviator, likewise",
                        TYPE_FLOAT32, 1, 8},
};

static void get(const void* rows, int row, int column, double x[ROW_WIDTH_MAX]) {
    const TdlResultParticle* p = (const TdlResultParticle*)rows + row;
    switch ((ParticleColumn)column) {
    case PARTICLE_NUMBER:
        x[0] = p->number;
        break;
    case PARTICLE_POSITION:
        tdl_store3(x, 0, p->position);
        break;
    case PARTICLE_VELOCITY:
        tdl_store3(x, 0, p->velocity);
        break;
    case PARTICLE_FRACTION:
        x[0] = p->fraction;
        break;
    case PARTICLE_PRESSURE:
        x[0] = p->pressure;
        break;
    case PARTICLE_SHEAR:
        x[0] = p->shear;
        break;
    case PARTICLE_COLUMNS:
        break;
    }
}

static void put(void* rows, int row, int column, const double x[ROW_WIDTH_MAX]) {
    TdlResultParticle* p = (TdlResultParticle*)rows + row;
    switch ((ParticleColumn)column) {
    case PARTICLE_NUMBER:
        p->number = (int)x[0];
        break;
    case PARTICLE_POSITION:
        p->position = tdl_load3(x, 0);
        break;
    case PARTICLE_VELOCITY:
        p->velocity = tdl_load3(x, 0);
        break;
    case PARTICLE_FRACTION:
        p->fraction = x[0];
        break;
    case PARTICLE_PRESSURE:
        p->pressure = x[0];
        break;
    case PARTICLE_SHEAR:
        p->shear = x[0];
        break;
    case PARTICLE_COLUMNS:
        break;
    }
}

static bool is_sound(const void* rows, int row) {
    return ((const TdlResultParticle*)rows)[row].number >= 0;
}

const RowTable RESULT_PARTICLES = {
    .group = "grains",
    .columns = COLUMNS,
    .column_count = PARTICLE_COLUMNS,
    .chunk_rows = CHUNK_ROWS,
    .get = get,
    .put = put,
    .is_sound = is_sound,
    .unsound = " has particles whose number cannot be",
};

// --- the bed -------------------------------------------------------------------------------------

bool result_write_bed(hid_t group, const TdlResultGrains* grains) {
    return result_write_text(group, "name", grains->name) &&
           result_write_attribute(group, "dimension", H5T_NATIVE_INT, &grains->dimension) &&
           result_write_attribute(group, "spacing", H5T_NATIVE_DOUBLE, &grains->spacing) &&
           result_write_attribute(group, "size", H5T_NATIVE_DOUBLE, &grains->size) &&
           result_write_attribute(group, "depth", H5T_NATIVE_DOUBLE, &grains->depth) &&
           result_write_attribute(group, "packing", H5T_NATIVE_DOUBLE, &grains->packing);
}

static bool is_length(double x) {
    return isfinite(x) && x > 0.0;
}

bool result_read_bed(hid_t file, TdlResultGrains* out) {
    *out = (TdlResultGrains){0};
    hid_t group = object_open(file, RESULT_PARTICLES.group, H5I_GROUP);
    if (group < 0) {
        return false;
    }
    bool good =
        object_read_text(group, "name", out->name, sizeof out->name) &&
        object_read_number(group, "dimension", H5T_INTEGER, H5T_NATIVE_INT, &out->dimension) &&
        object_read_number(group, "spacing", H5T_FLOAT, H5T_NATIVE_DOUBLE, &out->spacing) &&
        object_read_number(group, "size", H5T_FLOAT, H5T_NATIVE_DOUBLE, &out->size) &&
        object_read_number(group, "depth", H5T_FLOAT, H5T_NATIVE_DOUBLE, &out->depth) &&
        object_read_number(group, "packing", H5T_FLOAT, H5T_NATIVE_DOUBLE, &out->packing);
    H5Gclose(group);
    return good && (out->dimension == 2 || out->dimension == 3) && is_length(out->spacing) &&
           is_length(out->size) && is_length(out->depth) && is_length(out->packing);
}

void result_pack_bed(TdlResultGrainsState state, double out[RESULT_BED_NUMBERS]) {
    out[0] = state.mass;
    out[1] = state.lost_mass;
    out[2] = state.volume_kept;
    out[3] = (double)state.lost;
}

TdlResultGrainsState result_unpack_bed(const double numbers[RESULT_BED_NUMBERS]) {
    // a file may tell any number; a count that is none is 0
    double lost = numbers[3] >= 0.0 && numbers[3] < 9.0e15 ? numbers[3] : 0.0;
    return (TdlResultGrainsState){
        .mass = numbers[0],
        .lost_mass = numbers[1],
        .volume_kept = numbers[2],
        .lost = (long long)lost,
    };
}
