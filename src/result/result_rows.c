// Columns of rows in result.h5. HDF5 converts doubles from and to the narrower types of the file,
// which hold the numbers that are written exactly or as near as their type has it.
#include "result/result_rows.h"

#include "base/hash.h"
#include "result/result_object.h"

#include <stdio.h>

// --- life ----------------------------------------------------------------------------------------

RowSets row_sets_none(const TdlHost* host, const RowTable* table) {
    RowSets sets = {.host = *host, .table = table};
    for (int i = 0; i < ROW_COLUMNS_MAX; ++i) {
        sets.sets[i] = H5I_INVALID_HID;
    }
    return sets;
}

void row_sets_close(RowSets* sets) {
    for (int i = 0; i < ROW_COLUMNS_MAX; ++i) {
        if (sets->sets[i] >= 0) {
            H5Dclose(sets->sets[i]);
        }
        sets->sets[i] = H5I_INVALID_HID;
    }
    tdl_free(&sets->host.mem, sets->scratch);
    sets->scratch = NULL;
    sets->scratch_size = 0;
}

TdlStatus row_sets_reserve(RowSets* sets, int count) {
    size_t size = ROW_WIDTH_MAX * (size_t)count;
    if (size <= sets->scratch_size) {
        return TDL_STATUS_OK;
    }
    double* grown = tdl_grow_array(&sets->host.mem, sets->scratch, 2 * size, sizeof *grown);
    if (grown != NULL) {
        sets->scratch = grown;
        sets->scratch_size = 2 * size;
    }
    return grown == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// --- writing -------------------------------------------------------------------------------------

static int rank_of(const RowColumn* column) {
    return column->width == 1 ? 1 : 2;
}

static hid_t create_column(const RowTable* table, hid_t group, const RowColumn* column) {
    hsize_t dims[2] = {0, column->width}, most[2] = {H5S_UNLIMITED, column->width};
    hsize_t chunk[2] = {table->chunk_rows, column->width};
    hid_t space = H5Screate_simple(rank_of(column), dims, most);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plan, rank_of(column), chunk);
    hid_t set = H5Dcreate2(group, column->name, result_file_type(column->type), space, H5P_DEFAULT,
                           plan, H5P_DEFAULT);
    H5Pclose(plan);
    H5Sclose(space);
    if (set >= 0 && !(result_write_text(set, "unit", column->unit) &&
                      result_write_text(set, "meaning", column->meaning))) {
        H5Dclose(set);
        return H5I_INVALID_HID;
    }
    return set;
}

bool row_sets_create(RowSets* sets, hid_t file, hid_t* out) {
    const RowTable* table = sets->table;
    hid_t group = H5Gcreate2(file, table->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int i = 0; good && i < table->column_count; ++i) {
        sets->sets[i] = create_column(table, group, &table->columns[i]);
        good = sets->sets[i] >= 0;
    }
    if (out != NULL && good) {
        *out = group;
        return true;
    }
    return (group < 0 || H5Gclose(group) >= 0) && good;
}

// The rows [first, first + count) of a column as a space of the file; H5I_INVALID_HID on failure.
static hid_t select_rows(hid_t set, hsize_t width, hsize_t first, hsize_t count) {
    hsize_t start[2] = {first, 0}, dims[2] = {count, width};
    hid_t space = H5Dget_space(set);
    if (space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) < 0) {
        H5Sclose(space);
        return H5I_INVALID_HID;
    }
    return space;
}

static bool append_column(RowSets* sets, int column, const void* rows, int count) {
    const RowColumn* spec = &sets->table->columns[column];
    hsize_t width = spec->width;
    double* at = sets->scratch;
    for (int i = 0; i < count; ++i) {
        double x[ROW_WIDTH_MAX];
        sets->table->get(rows, i, column, x);
        for (hsize_t c = 0; c < width; ++c) {
            *at++ = x[c];
        }
    }
    hsize_t grown[2] = {sets->row_count + (hsize_t)count, width};
    hsize_t dims[2] = {(hsize_t)count, width};
    if (H5Dset_extent(sets->sets[column], grown) < 0) {
        return false;
    }
    hid_t memory = H5Screate_simple(rank_of(spec), dims, NULL);
    hid_t space = select_rows(sets->sets[column], width, sets->row_count, (hsize_t)count);
    hid_t type = result_file_type(spec->type);
    size_t numbers = (size_t)count * (size_t)width;
    bool good = space >= 0 &&
                H5Tconvert(H5T_NATIVE_DOUBLE, type, numbers, sets->scratch, NULL, H5P_DEFAULT) >= 0;
    sets->sum = hash_words(sets->sum, sets->scratch, numbers * H5Tget_size(type));
    good =
        good && H5Dwrite(sets->sets[column], type, memory, space, H5P_DEFAULT, sets->scratch) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    return good;
}

bool row_sets_append(RowSets* sets, const void* rows, int count) {
    sets->sum = HASH_START;
    if (count == 0) {
        return true;
    }
    for (int i = 0; i < sets->table->column_count; ++i) {
        if (!append_column(sets, i, rows, count)) {
            return false;
        }
    }
    sets->row_count += (hsize_t)count;
    return true;
}

bool row_sets_flush(const RowSets* sets) {
    for (int i = 0; i < sets->table->column_count; ++i) {
        if (H5Dflush(sets->sets[i]) < 0) {
            return false;
        }
    }
    return true;
}

// --- reading -------------------------------------------------------------------------------------

static bool say(RowSets* sets, const char* before, const char* after) {
    snprintf(sets->said, sizeof sets->said, "%s/%s%s", before, sets->table->group, after);
    return false;
}

static bool open_column(RowSets* sets, hid_t group, int column) {
    const RowColumn* spec = &sets->table->columns[column];
    hid_t set = object_open(group, spec->name, H5I_DATASET);
    hsize_t dims[3] = {0}, chunk[3] = {0};
    sets->sets[column] = set;
    int rank = rank_of(spec);
    if (set < 0 || !set_has_type(set, result_file_type(spec->type)) ||
        !set_get_dims(set, rank, dims) || !set_has_layout(set, H5D_CHUNKED, rank, dims, chunk) ||
        chunk[0] == 0 || (rank == 2 && (dims[1] != spec->width || chunk[1] != spec->width))) {
        return false;
    }
    sets->chunk_rows[column] = chunk[0];
    // the shortest column tells how many rows are whole; a run may be adding one
    sets->row_count = column == 0 || dims[0] < sets->row_count ? dims[0] : sets->row_count;
    return true;
}

bool row_sets_open(RowSets* sets, hid_t file, int version) {
    const RowTable* table = sets->table;
    hid_t group = object_open(file, table->group, H5I_GROUP);
    if (group < 0) {
        return say(sets, "the group ", " is missing");
    }
    bool good = true;
    for (int i = 0; good && i < table->column_count; ++i) {
        good = table->columns[i].since > version || open_column(sets, group, i);
    }
    H5Gclose(group);
    return good ||
           say(sets, "a set of ", " is missing or has another type, rank or layout than expected");
}

// Whether the chunks of some rows lie inside the file.
static bool rows_are_there(const RowSets* sets, int column, const char* path, hsize_t first,
                           hsize_t count) {
    const RowColumn* spec = &sets->table->columns[column];
    hsize_t rows = sets->chunk_rows[column];
    hsize_t bytes = rows * spec->width * H5Tget_size(result_file_type(spec->type));
    for (hsize_t chunk = first / rows; chunk * rows < first + count; ++chunk) {
        hsize_t offset[2] = {chunk * rows, 0}, size = 0;
        haddr_t address = HADDR_UNDEF;
        if (H5Dget_chunk_info_by_coord(sets->sets[column], offset, NULL, &address, &size) < 0 ||
            size != bytes || !file_holds(path, address, size)) {
            return false;
        }
    }
    return true;
}

static bool read_column(RowSets* sets, int column, hsize_t first, int count) {
    const RowColumn* spec = &sets->table->columns[column];
    hsize_t dims[2] = {(hsize_t)count, spec->width};
    hid_t memory = H5Screate_simple(rank_of(spec), dims, NULL);
    hid_t space = select_rows(sets->sets[column], spec->width, first, (hsize_t)count);
    hid_t type = result_file_type(spec->type);
    size_t numbers = (size_t)count * (size_t)spec->width;
    bool good = space >= 0 &&
                H5Dread(sets->sets[column], type, memory, space, H5P_DEFAULT, sets->scratch) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    sets->sum = good ? hash_words(sets->sum, sets->scratch, numbers * H5Tget_size(type)) : 0;
    return good &&
           H5Tconvert(type, H5T_NATIVE_DOUBLE, numbers, sets->scratch, NULL, H5P_DEFAULT) >= 0;
}

bool row_sets_read(RowSets* sets, const char* path, hsize_t first, int count, void* rows) {
    const RowTable* table = sets->table;
    sets->sum = HASH_START;
    for (int column = 0; count > 0 && column < table->column_count; ++column) {
        hsize_t width = table->columns[column].width;
        if (sets->sets[column] < 0) {
            continue; // the file is older
        }
        if (!rows_are_there(sets, column, path, first, (hsize_t)count)) {
            return say(sets, "", " has no data for this frame; the file was cut");
        }
        if (!read_column(sets, column, first, count)) {
            return say(sets, "", " could not be read");
        }
        for (int i = 0; i < count; ++i) {
            table->put(rows, i, column, sets->scratch + (hsize_t)i * width);
        }
    }
    return true;
}

bool row_sets_sound(RowSets* sets, const void* rows, int count) {
    for (int i = 0; i < count; ++i) {
        if (!sets->table->is_sound(rows, i)) {
            return say(sets, "", sets->table->unsound);
        }
    }
    return true;
}
