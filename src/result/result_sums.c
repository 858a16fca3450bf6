// The set /frames/checksum: a row a frame, a column for each of the names in its attribute "of".
#include "result/result_sums.h"

#include "result/result_object.h"

#include <stdio.h>
#include <string.h>

static const char NAME[] = "checksum";
enum { ROWS_A_CHUNK = 64, TEXT_SIZE = 1000 };

FrameSums frame_sums_none(void) {
    return (FrameSums){.set = H5I_INVALID_HID, .frame = -1};
}

void frame_sums_close(FrameSums* sums) {
    if (sums->set >= 0) {
        H5Dclose(sums->set);
    }
    sums->set = H5I_INVALID_HID;
}

void frame_sums_name(FrameSums* sums, const char* name) {
    if (sums->count < SUMS_MOST) {
        sums->names[sums->count++] = name;
    }
}

int frame_sums_column(const FrameSums* sums, const char* name) {
    for (int i = 0; i < sums->count; ++i) {
        if (strcmp(sums->names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

bool frame_sums_create(FrameSums* sums, hid_t frames) {
    hsize_t width = (hsize_t)sums->count;
    hsize_t dims[2] = {0, width}, most[2] = {H5S_UNLIMITED, width},
            chunk[2] = {ROWS_A_CHUNK, width};
    char of[TEXT_SIZE] = "";
    for (int i = 0; i < sums->count; ++i) {
        size_t used = strlen(of);
        snprintf(of + used, sizeof of - used, "%s%s", i == 0 ? "" : " ", sums->names[i]);
    }
    hid_t space = H5Screate_simple(2, dims, most);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plan, 2, chunk);
    sums->set = H5Dcreate2(frames, NAME, H5T_STD_I64LE, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    H5Pclose(plan);
    H5Sclose(space);
    return sums->set >= 0 && result_write_text(sums->set, "of", of) &&
           result_write_text(sums->set, "unit", "1") &&
           result_write_text(sums->set, "meaning",
                             "hash of the bytes of each set of /frames, and of the rows of the "
                             "frame in each group of rows, as stored");
}

// Row `frame` as a space of the file.
static hid_t select_row(const FrameSums* sums, long frame) {
    hsize_t start[2] = {(hsize_t)frame, 0}, dims[2] = {1, (hsize_t)sums->count};
    hid_t space = H5Dget_space(sums->set);
    if (space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) < 0) {
        H5Sclose(space);
        return H5I_INVALID_HID;
    }
    return space;
}

bool frame_sums_append(FrameSums* sums, long frame) {
    hsize_t width = (hsize_t)sums->count, dims[2] = {1, width};
    hsize_t grown[2] = {(hsize_t)frame + 1, width};
    if (H5Dset_extent(sums->set, grown) < 0) {
        return false;
    }
    hid_t memory = H5Screate_simple(2, dims, NULL), space = select_row(sums, frame);
    bool good = space >= 0 &&
                H5Dwrite(sums->set, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, sums->sums) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    return good;
}

// Puts the names in the order of the file's.
static bool order_names(FrameSums* sums, char* of) {
    const char* ordered[SUMS_MOST];
    int count = 0;
    char* rest = NULL;
    for (char* name = strtok_r(of, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        int column = frame_sums_column(sums, name);
        if (column < 0 || count == sums->count) {
            return false;
        }
        for (int i = 0; i < count; ++i) {
            if (ordered[i] == sums->names[column]) {
                return false;
            }
        }
        ordered[count++] = sums->names[column];
    }
    bool all = count == sums->count;
    memcpy(sums->names, ordered, (size_t)count * sizeof *ordered);
    return all;
}

bool frame_sums_open(FrameSums* sums, hid_t frames, long count) {
    char of[TEXT_SIZE];
    hsize_t dims[3] = {0};
    sums->set = object_open(frames, NAME, H5I_DATASET);
    return sums->set >= 0 && object_read_text(sums->set, "of", of, sizeof of) &&
           order_names(sums, of) && set_has_type(sums->set, H5T_STD_I64LE) &&
           set_get_dims(sums->set, 2, dims) && dims[0] >= (hsize_t)count &&
           dims[1] == (hsize_t)sums->count &&
           set_has_layout(sums->set, H5D_CHUNKED, 2, dims, sums->chunk) && sums->chunk[0] > 0 &&
           sums->chunk[1] == dims[1];
}

bool frame_sums_read(FrameSums* sums, const char* path, long frame) {
    if (sums->frame == frame) {
        return true;
    }
    hsize_t chunk = sums->chunk[0] * sums->chunk[1] * sizeof(int64_t), size = 0;
    hsize_t offset[2] = {(hsize_t)frame / sums->chunk[0] * sums->chunk[0], 0};
    hsize_t dims[2] = {1, (hsize_t)sums->count};
    haddr_t address = HADDR_UNDEF;
    if (H5Dget_chunk_info_by_coord(sums->set, offset, NULL, &address, &size) < 0 || size != chunk ||
        !file_holds(path, address, size)) {
        return false;
    }
    hid_t memory = H5Screate_simple(2, dims, NULL), space = select_row(sums, frame);
    bool good = space >= 0 &&
                H5Dread(sums->set, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, sums->sums) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    sums->frame = good ? frame : -1;
    return good;
}
