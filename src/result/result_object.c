// Checked access to the objects of an HDF5 file that may come from anybody.
#include "result/result_object.h"

#include <stdio.h>
#include <sys/stat.h>

// A limit no sane file reaches.
enum { MAX_PARTS = 1 << 16 };

// --- attributes ----------------------------------------------------------------------------------

static hid_t open_scalar(hid_t object, const char* name, H5T_class_t kind) {
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) {
        return H5I_INVALID_HID;
    }
    hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    bool good = space >= 0 && type >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Tget_class(type) == kind;
    H5Sclose(space);
    H5Tclose(type);
    if (!good) {
        H5Aclose(attribute);
        return H5I_INVALID_HID;
    }
    return attribute;
}

bool object_read_number(hid_t object, const char* name, H5T_class_t kind, hid_t type, void* out) {
    hid_t attribute = open_scalar(object, name, kind);
    if (attribute < 0) {
        return false;
    }
    bool good = H5Aread(attribute, type, out) >= 0;
    H5Aclose(attribute);
    return good;
}

bool object_read_text(hid_t object, const char* name, char* out, size_t size) {
    hid_t attribute = open_scalar(object, name, H5T_STRING);
    if (attribute < 0) {
        return false;
    }
    hid_t type = H5Aget_type(attribute);
    char buffer[1024] = {0};
    bool good = type >= 0 && H5Tis_variable_str(type) == 0 && H5Tget_size(type) <= size &&
                H5Tget_size(type) < sizeof buffer && H5Aread(attribute, type, buffer) >= 0;
    H5Tclose(type);
    H5Aclose(attribute);
    if (good) {
        snprintf(out, size, "%s", buffer);
    }
    return good;
}

// --- objects -------------------------------------------------------------------------------------

static bool is_plain_link(hid_t place, const char* name) {
    H5L_info_t link;
    return H5Lexists(place, name, H5P_DEFAULT) > 0 &&
           H5Lget_info(place, name, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
}

hid_t object_open(hid_t place, const char* name, H5I_type_t kind) {
    hid_t object = is_plain_link(place, name) ? H5Oopen(place, name, H5P_DEFAULT) : -1;
    if (object >= 0 && H5Iget_type(object) != kind) {
        H5Oclose(object);
        return H5I_INVALID_HID;
    }
    return object < 0 ? H5I_INVALID_HID : object;
}

bool set_has_type(hid_t set, hid_t expected) {
    hid_t type = H5Dget_type(set);
    bool same = type >= 0 && H5Tequal(type, expected) > 0;
    H5Tclose(type);
    return same;
}

bool set_get_dims(hid_t set, int rank, hsize_t dims[3]) {
    hid_t space = H5Dget_space(set);
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, dims, NULL) == rank;
    H5Sclose(space);
    return good;
}

bool set_has_layout(hid_t set, H5D_layout_t layout, int rank, const hsize_t dims[3],
                    hsize_t chunk[3]) {
    hid_t plan = H5Dget_create_plist(set);
    bool good = plan >= 0 && H5Pget_layout(plan) == layout && H5Pget_nfilters(plan) == 0 &&
                H5Pget_external_count(plan) == 0;
    if (good && layout == H5D_CHUNKED) {
        good = H5Pget_chunk(plan, rank, chunk) == rank;
        good = good && (rank < 2 || dims[1] / chunk[1] <= MAX_PARTS);
        good = good && (rank < 3 || chunk[2] == dims[2]);
    }
    H5Pclose(plan);
    return good;
}

bool file_holds(const char* path, uint64_t address, uint64_t size) {
    struct stat info;
    uint64_t end = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
    return address != HADDR_UNDEF && size <= end && address <= end - size;
}
