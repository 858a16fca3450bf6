// Contacts in result.h5. In memory every number passes through a double, which holds all of them
// exactly; HDF5 converts from and to the narrower types of the file.
#include "result/result_contacts.h"

#include "base/memory.h"
#include "result/result_format.h"
#include "result/result_object.h"

#include <math.h>
#include <string.h>

// Rows a chunk: few, for a scene with few contacts; many frames share one.
enum { CHUNK_ROWS = 512 };

typedef enum ContactColumn {
    CONTACT_KIND = 0,
    CONTACT_INDEX,
    CONTACT_ELEMENT,
    CONTACT_U,
    CONTACT_POINT,
    CONTACT_NORMAL,
    CONTACT_FORCE,
    CONTACT_GAP,
    CONTACT_MU,
    CONTACT_SLIDING,
    CONTACT_V,
} ContactColumn;

typedef struct ColumnSpec {
    const char *name, *unit, *meaning;
    ResultType type;
    hsize_t width; // numbers per contact
    int since;     // version of the format
} ColumnSpec;

static const ColumnSpec COLUMNS[CONTACT_COLUMNS] = {
    [CONTACT_KIND] = {"kind", "1", "what touches: 0 a rod, 1 a rigid body, 2 a collider, 3 a cloth",
                      TYPE_INT32, 2, 2},
    [CONTACT_INDEX] = {"index", "1", "which of its kind, from 0", TYPE_INT32, 2, 2},
    [CONTACT_ELEMENT] = {"element", "1",
                         "element of a rod; triangle of a surface whose vertices move", TYPE_INT32,
                         2, 2},
    [CONTACT_U] = {"s", "1", "u of the place: along a curve, or share of a triangle's 2nd corner",
                   TYPE_FLOAT32, 2, 2},
    [CONTACT_POINT] = {"point", "m", "where the first body's surface was touched", TYPE_FLOAT32, 3,
                       2},
    [CONTACT_NORMAL] = {"normal", "1", "from the first body to the second", TYPE_FLOAT32, 3, 2},
    [CONTACT_FORCE] = {"force", "N", "on the second body, mean over the step before the frame",
                       TYPE_FLOAT64, 3, 2},
    [CONTACT_GAP] = {"gap", "m", "between the surfaces at the start of that step", TYPE_FLOAT64, 1,
                     2},
    [CONTACT_MU] = {"mu", "1", "friction coefficient", TYPE_FLOAT32, 1, 2},
    [CONTACT_SLIDING] = {"sliding", "1", "1 where it slides, 0 where it sticks", TYPE_INT32, 1, 2},
    [CONTACT_V] = {"v", "1", "v of the place: share of a triangle's 3rd corner; else 0",
                   TYPE_FLOAT32, 2, 5},
};

// --- numbers of a contact ------------------------------------------------------------------------

static double component(TdlVec3 v, int c) {
    return c == 0 ? v.x : c == 1 ? v.y : v.z;
}

static double get_number(const TdlResultContact* contact, ContactColumn column, int c) {
    switch (column) {
    case CONTACT_KIND:
        return contact->kind[c];
    case CONTACT_INDEX:
        return contact->index[c];
    case CONTACT_ELEMENT:
        return contact->element[c];
    case CONTACT_U:
        return contact->u[c];
    case CONTACT_V:
        return contact->v[c];
    case CONTACT_POINT:
        return component(contact->point, c);
    case CONTACT_NORMAL:
        return component(contact->normal, c);
    case CONTACT_FORCE:
        return component(contact->force, c);
    case CONTACT_GAP:
        return contact->gap;
    case CONTACT_MU:
        return contact->mu;
    case CONTACT_SLIDING:
        break;
    }
    return contact->sliding;
}

static void put_numbers(TdlResultContact* contact, ContactColumn column, const double* x) {
    switch (column) {
    case CONTACT_KIND:
        contact->kind[0] = (TdlResultKind)x[0];
        contact->kind[1] = (TdlResultKind)x[1];
        break;
    case CONTACT_INDEX:
        contact->index[0] = (int)x[0];
        contact->index[1] = (int)x[1];
        break;
    case CONTACT_ELEMENT:
        contact->element[0] = (int)x[0];
        contact->element[1] = (int)x[1];
        break;
    case CONTACT_U:
        contact->u[0] = x[0];
        contact->u[1] = x[1];
        break;
    case CONTACT_V:
        contact->v[0] = x[0];
        contact->v[1] = x[1];
        break;
    case CONTACT_POINT:
        contact->point = tdl_load3(x, 0);
        break;
    case CONTACT_NORMAL:
        contact->normal = tdl_load3(x, 0);
        break;
    case CONTACT_FORCE:
        contact->force = tdl_load3(x, 0);
        break;
    case CONTACT_GAP:
        contact->gap = x[0];
        break;
    case CONTACT_MU:
        contact->mu = x[0];
        break;
    case CONTACT_SLIDING:
        contact->sliding = x[0] != 0.0;
        break;
    }
}

// --- life ----------------------------------------------------------------------------------------

ContactSets contact_sets_none(const TdlHost* host) {
    ContactSets sets = {.host = *host};
    for (int i = 0; i < CONTACT_COLUMNS; ++i) {
        sets.sets[i] = H5I_INVALID_HID;
    }
    return sets;
}

void contact_sets_close(ContactSets* sets) {
    for (int i = 0; i < CONTACT_COLUMNS; ++i) {
        if (sets->sets[i] >= 0) {
            H5Dclose(sets->sets[i]);
        }
        sets->sets[i] = H5I_INVALID_HID;
    }
    tdl_free(&sets->host.mem, sets->scratch);
    sets->scratch = NULL;
    sets->scratch_size = 0;
}

TdlStatus contact_sets_reserve(ContactSets* sets, int count) {
    size_t size = 3 * (size_t)count;
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

static int rank_of(int column) {
    return COLUMNS[column].width == 1 ? 1 : 2;
}

static hid_t create_column(hid_t group, int column) {
    const ColumnSpec* spec = &COLUMNS[column];
    hsize_t dims[2] = {0, spec->width}, most[2] = {H5S_UNLIMITED, spec->width};
    hsize_t chunk[2] = {CHUNK_ROWS, spec->width};
    hid_t space = H5Screate_simple(rank_of(column), dims, most);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plan, rank_of(column), chunk);
    hid_t set = H5Dcreate2(group, spec->name, result_file_type(spec->type), space, H5P_DEFAULT,
                           plan, H5P_DEFAULT);
    H5Pclose(plan);
    H5Sclose(space);
    if (set >= 0 && !(result_write_text(set, "unit", spec->unit) &&
                      result_write_text(set, "meaning", spec->meaning))) {
        H5Dclose(set);
        return H5I_INVALID_HID;
    }
    return set;
}

bool contact_sets_create(ContactSets* sets, hid_t file) {
    hid_t group = H5Gcreate2(file, "contacts", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int i = 0; good && i < CONTACT_COLUMNS; ++i) {
        sets->sets[i] = create_column(group, i);
        good = sets->sets[i] >= 0;
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

static bool append_column(ContactSets* sets, int column, const TdlResultContact* contacts,
                          int count) {
    hsize_t width = COLUMNS[column].width;
    double* x = sets->scratch;
    for (int i = 0; i < count; ++i) {
        for (int c = 0; c < (int)width; ++c) {
            *x++ = get_number(&contacts[i], (ContactColumn)column, c);
        }
    }
    hsize_t grown[2] = {sets->row_count + (hsize_t)count, width};
    hsize_t dims[2] = {(hsize_t)count, width};
    if (H5Dset_extent(sets->sets[column], grown) < 0) {
        return false;
    }
    hid_t memory = H5Screate_simple(rank_of(column), dims, NULL);
    hid_t space = select_rows(sets->sets[column], width, sets->row_count, (hsize_t)count);
    bool good = space >= 0 && H5Dwrite(sets->sets[column], H5T_NATIVE_DOUBLE, memory, space,
                                       H5P_DEFAULT, sets->scratch) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    return good;
}

bool contact_sets_append(ContactSets* sets, const TdlResultContact* contacts, int count) {
    if (count == 0) {
        return true;
    }
    for (int i = 0; i < CONTACT_COLUMNS; ++i) {
        if (!append_column(sets, i, contacts, count)) {
            return false;
        }
    }
    sets->row_count += (hsize_t)count;
    return true;
}

bool contact_sets_flush(const ContactSets* sets) {
    for (int i = 0; i < CONTACT_COLUMNS; ++i) {
        if (H5Dflush(sets->sets[i]) < 0) {
            return false;
        }
    }
    return true;
}

// --- reading -------------------------------------------------------------------------------------

static bool open_column(ContactSets* sets, hid_t group, int column) {
    const ColumnSpec* spec = &COLUMNS[column];
    hid_t set = object_open(group, spec->name, H5I_DATASET);
    hsize_t dims[3] = {0}, chunk[3] = {0};
    sets->sets[column] = set;
    int rank = rank_of(column);
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

bool contact_sets_open(ContactSets* sets, hid_t file, int version, const char** what) {
    hid_t group = object_open(file, "contacts", H5I_GROUP);
    *what = "the group /contacts is missing";
    bool good = group >= 0;
    for (int i = 0; good && i < CONTACT_COLUMNS; ++i) {
        *what = "a set of /contacts is missing or has another type, rank or layout than expected";
        good = COLUMNS[i].since > version || open_column(sets, group, i);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
    return good;
}

// Whether the chunks of some rows lie inside the file.
static bool rows_are_there(const ContactSets* sets, int column, const char* path, hsize_t first,
                           hsize_t count) {
    hsize_t rows = sets->chunk_rows[column];
    hsize_t bytes =
        rows * COLUMNS[column].width * H5Tget_size(result_file_type(COLUMNS[column].type));
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

static bool read_column(ContactSets* sets, int column, hsize_t first, int count) {
    hsize_t width = COLUMNS[column].width, dims[2] = {(hsize_t)count, width};
    hid_t memory = H5Screate_simple(rank_of(column), dims, NULL);
    hid_t space = select_rows(sets->sets[column], width, first, (hsize_t)count);
    bool good = space >= 0 && H5Dread(sets->sets[column], H5T_NATIVE_DOUBLE, memory, space,
                                      H5P_DEFAULT, sets->scratch) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    return good;
}

static bool is_sound(const TdlResultContact* contact) {
    for (int i = 0; i < 2; ++i) {
        if (contact->kind[i] < TDL_RESULT_ROD || contact->kind[i] > TDL_RESULT_CLOTH ||
            contact->index[i] < 0) {
            return false;
        }
    }
    return true;
}

bool contact_sets_read(ContactSets* sets, const char* path, hsize_t first, int count,
                       TdlResultContact* out, const char** what) {
    for (int i = 0; i < count; ++i) {
        out[i] = (TdlResultContact){0};
    }
    for (int column = 0; count > 0 && column < CONTACT_COLUMNS; ++column) {
        if (sets->sets[column] < 0) {
            continue; // the file is older
        }
        *what = "/contacts has no data for this frame; the file was cut";
        if (!rows_are_there(sets, column, path, first, (hsize_t)count)) {
            return false;
        }
        *what = "/contacts could not be read";
        if (!read_column(sets, column, first, count)) {
            return false;
        }
        for (int i = 0; i < count; ++i) {
            put_numbers(&out[i], (ContactColumn)column,
                        sets->scratch + (hsize_t)i * COLUMNS[column].width);
        }
    }
    *what = "/contacts names bodies that cannot be";
    for (int i = 0; i < count; ++i) {
        if (!is_sound(&out[i])) {
            return false;
        }
    }
    return true;
}
