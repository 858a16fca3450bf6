// Datasets written with the HDF5 library.
#include "formats/hdf5_writer.h"

#include <sys/mman.h>

bool hdf5_put(hid_t group, const char* name, hid_t type, size_t count, const void* data) {
    hsize_t extent = count;
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    H5Sclose(space);
    if (set >= 0) {
        H5Dclose(set);
    }
    return good;
}

bool hdf5_put_rows(hid_t group, const char* name, hid_t type, size_t rows, size_t columns,
                   const void* data) {
    hsize_t extent[2] = {rows, columns};
    hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, extent, NULL);
    hid_t plain = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(plain, false);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, plain, H5P_DEFAULT);
    bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    H5Pclose(plain);
    H5Sclose(space);
    if (set >= 0) {
        H5Dclose(set);
    }
    return good;
}

hid_t hdf5_create(const char* path) {
    hdf5_enter();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = hdf5_has_room(HDF5_ROOM) ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                                          : H5I_INVALID_HID;
    if (file < 0) {
        hdf5_leave();
    }
    return file;
}

bool hdf5_close(hid_t file) {
    bool good = H5Fclose(file) >= 0;
    hdf5_leave();
    return good;
}

static _Thread_local int depth;

void hdf5_enter(void) {
    ++depth;
}

void hdf5_leave(void) {
    --depth;
}

bool hdf5_is_inside(void) {
    return depth > 0;
}

bool hdf5_has_room(size_t size) {
    // address space, without touching it
    void* room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, size) == 0;
}
