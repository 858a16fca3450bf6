// What the writer and the reader of result.h5 share: the table of sets, types, frames, messages.
#include "result/result.h"

#include "base/memory.h"
#include "formats/hdf5_writer.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "checksums are of frames as they lie in memory: little-endian"
#endif

const ResultSetSpec RESULT_SETS[RESULT_SET_COUNT] = {
    [RESULT_STEP] = {"step", "1", "time steps done since the start", TYPE_INT64, PER_FRAME, 1, 1},
    [RESULT_ENERGY] = {"energy", "J", "kinetic, elastic and gravitational energy", TYPE_FLOAT64,
                       PER_FRAME, 3, 1},
    [RESULT_POINTS] = {"points", "m",
                       "points of all centrelines, rod after rod as /rods/point_start tells",
                       TYPE_FLOAT32, PER_POINT, 3, 1},
    [RESULT_Q] = {"q", "rad", "generalised coordinates, rod after rod as /rods/dof_start tells",
                  TYPE_FLOAT64, PER_DOF, 1, 1},
    [RESULT_V] = {"v", "rad/s", "rates of the generalised coordinates", TYPE_FLOAT64, PER_DOF, 1,
                  1},
    [RESULT_STARTS] = {"rod_start", "m, 1",
                       "of the start of each rod: position (3 numbers), columns of its material "
                       "frame (9), tangent first",
                       TYPE_FLOAT64, PER_ROD, 12, 7},
    [RESULT_POSES] = {"collider_pose", "m, 1",
                      "position (3 numbers), then the columns of the rotation matrix (9)",
                      TYPE_FLOAT64, PER_COLLIDER, 12, 1},
    [RESULT_BODY_POSES] = {"body_pose", "m, 1",
                           "of rigid bodies: position (3 numbers), columns of the rotation (9)",
                           TYPE_FLOAT64, PER_BODY, 12, 2},
    [RESULT_OBSERVED] = {"observed", "as /observers/unit tells",
                         "what the observers of the scene saw in the step before: a vector each",
                         TYPE_FLOAT64, PER_OBSERVER, 3, 3},
    [RESULT_SURFACE_POINTS] = {"surface_points", "m",
                               "vertices of the surfaces, one after the other as "
                               "/surfaces/point_start tells",
                               TYPE_FLOAT32, PER_SURFACE_POINT, 3, 4},
    [RESULT_STRAINS] = {"cloth_strain", "1",
                        "of each vertex of the cloths, one after the other: the largest of its "
                        "edges, relative, and of the angles of its faces, rad",
                        TYPE_FLOAT32, PER_CLOTH_POINT, 1, 6},
    [RESULT_FORCES] = {"rod_force", "N",
                       "of each point of /frames/points: tension, and shear along the second and "
                       "third material axes",
                       TYPE_FLOAT32, PER_FORCE, 3, 7},
    [RESULT_MOMENTS] = {"rod_moment", "N m", "likewise: of twist, and of bending about these axes",
                        TYPE_FLOAT32, PER_FORCE, 3, 7},
    [RESULT_JOINT_POINTS] = {"joint_point", "m", "where each joint is", TYPE_FLOAT64, PER_JOINT, 3,
                             7},
    [RESULT_JOINT_FORCES] = {"joint_force", "N",
                             "of each joint on its second body, mean over the step before",
                             TYPE_FLOAT64, PER_JOINT, 3, 7},
    [RESULT_JOINT_TORQUES] = {"joint_torque", "N m", "likewise, about its point", TYPE_FLOAT64,
                              PER_JOINT, 3, 7},
    [RESULT_JOINT_COORDINATES] = {"joint_coordinate", "rad or m",
                                  "turn of a hinge, way of a slider, length of a distance",
                                  TYPE_FLOAT64, PER_JOINT, 1, 7},
    [RESULT_JOINT_BROKEN] = {"joint_broken", "1", "1 where it broke, 2 where its time is not now",
                             TYPE_INT32, PER_JOINT, 1, 7},
    [RESULT_CONTACT_END] = {"contact_end", "1",
                            "where the rows of /contacts of this frame end; they begin where "
                            "those of the frame before end",
                            TYPE_INT64, PER_FRAME, 1, 2},
    [RESULT_GRAINS_STATE] = {"grains_state", "kg, kg, 1, 1",
                             "mass of the grains, of those that left their grid, share of their "
                             "volume that is kept, particles that left",
                             TYPE_FLOAT64, PER_BED, RESULT_BED_NUMBERS, 8},
    [RESULT_GRAIN_END] = {"grain_end", "1",
                          "where the rows of /grains of this frame end; they begin where those of "
                          "the frame before end",
                          TYPE_INT64, PER_BED, 1, 8},
    [RESULT_TIME] = {"time", "s",
                     "simulated time; written last, so its length is the number of whole frames",
                     TYPE_FLOAT64, PER_FRAME, 1, 1},
};

int result_set_dims(ResultSet set, ResultCounts counts, hsize_t dims[3]) {
    const ResultSetSpec* spec = &RESULT_SETS[set];
    const int items[] = {[PER_FRAME] = 1,
                         [PER_POINT] = counts.points,
                         [PER_DOF] = counts.dofs,
                         [PER_ROD] = counts.rods,
                         [PER_COLLIDER] = counts.colliders,
                         [PER_BODY] = counts.bodies,
                         [PER_OBSERVER] = counts.observers,
                         [PER_SURFACE_POINT] = counts.surface_points,
                         [PER_CLOTH_POINT] = counts.cloth_points,
                         [PER_FORCE] = counts.forces,
                         [PER_JOINT] = counts.joints,
                         [PER_BED] = counts.beds};
    int rank = 0;
    dims[rank++] = 1;
    if (spec->per != PER_FRAME) {
        if (items[spec->per] == 0) {
            return 0;
        }
        dims[rank++] = (hsize_t)items[spec->per];
    }
    if (spec->columns > 1) {
        dims[rank++] = (hsize_t)spec->columns;
    }
    return rank;
}

size_t result_set_bytes(ResultSet set, ResultCounts counts) {
    hsize_t dims[3];
    int rank = result_set_dims(set, counts, dims);
    size_t bytes = rank > 0 ? H5Tget_size(result_file_type(RESULT_SETS[set].type)) : 0;
    for (int i = 0; i < rank; ++i) {
        bytes *= (size_t)dims[i];
    }
    return bytes;
}

hid_t result_file_type(ResultType type) {
    switch (type) {
    case TYPE_INT32:
        return H5T_STD_I32LE;
    case TYPE_INT64:
        return H5T_STD_I64LE;
    case TYPE_FLOAT32:
        return H5T_IEEE_F32LE;
    case TYPE_FLOAT64:
        break;
    }
    return H5T_IEEE_F64LE;
}

hid_t result_memory_type(ResultType type) {
    switch (type) {
    case TYPE_INT32:
        return H5T_NATIVE_INT32;
    case TYPE_INT64:
        return H5T_NATIVE_INT64;
    case TYPE_FLOAT32:
        return H5T_NATIVE_FLOAT;
    case TYPE_FLOAT64:
        break;
    }
    return H5T_NATIVE_DOUBLE;
}

void result_pack_pose(TdlPose pose, double out[12]) {
    tdl_store3(out, 0, pose.position);
    tdl_store3(out, 1, pose.rotation.cx);
    tdl_store3(out, 2, pose.rotation.cy);
    tdl_store3(out, 3, pose.rotation.cz);
}

TdlPose result_unpack_pose(const double numbers[12]) {
    return (TdlPose){tdl_load3(numbers, 0),
                     {tdl_load3(numbers, 1), tdl_load3(numbers, 2), tdl_load3(numbers, 3)}};
}

void* result_frame_data(const ResultFrame* frame, ResultSet set) {
    const void* const data[RESULT_SET_COUNT] = {
        [RESULT_STEP] = &frame->step,
        [RESULT_ENERGY] = frame->energy,
        [RESULT_POINTS] = frame->points,
        [RESULT_Q] = frame->q,
        [RESULT_V] = frame->v,
        [RESULT_STARTS] = frame->starts,
        [RESULT_POSES] = frame->poses,
        [RESULT_BODY_POSES] = frame->body_poses,
        [RESULT_OBSERVED] = frame->observed,
        [RESULT_SURFACE_POINTS] = frame->surface_points,
        [RESULT_STRAINS] = frame->strains,
        [RESULT_FORCES] = frame->forces,
        [RESULT_MOMENTS] = frame->moments,
        [RESULT_JOINT_POINTS] = frame->joint_points,
        [RESULT_JOINT_FORCES] = frame->joint_forces,
        [RESULT_JOINT_TORQUES] = frame->joint_torques,
        [RESULT_JOINT_COORDINATES] = frame->joint_coordinates,
        [RESULT_JOINT_BROKEN] = frame->joint_broken,
        [RESULT_CONTACT_END] = &frame->contact_end,
        [RESULT_GRAINS_STATE] = frame->bed,
        [RESULT_GRAIN_END] = &frame->grain_end,
        [RESULT_TIME] = &frame->time,
    };
    return (void*)(uintptr_t)data[set]; // the reader fills what the writer only looks at
}

TdlStatus result_frame_create(const TdlHost* host, ResultCounts counts, ResultFrame* out) {
    *out = (ResultFrame){
        .points = tdl_alloc_array(&host->mem, 3 * (size_t)counts.points, sizeof(float)),
        .q = tdl_alloc_array(&host->mem, (size_t)counts.dofs, sizeof(double)),
        .v = tdl_alloc_array(&host->mem, (size_t)counts.dofs, sizeof(double)),
        .starts = tdl_alloc_array(&host->mem, 12 * (size_t)counts.rods, sizeof(double)),
        .poses = tdl_alloc_array(&host->mem, 12 * (size_t)counts.colliders, sizeof(double)),
        .body_poses = tdl_alloc_array(&host->mem, 12 * (size_t)counts.bodies, sizeof(double)),
        .observed = tdl_alloc_array(&host->mem, 3 * (size_t)counts.observers, sizeof(double)),
        .surface_points =
            tdl_alloc_array(&host->mem, 3 * (size_t)counts.surface_points, sizeof(float)),
        .strains = tdl_alloc_array(&host->mem, (size_t)counts.cloth_points, sizeof(float)),
        .forces = tdl_alloc_array(&host->mem, 3 * (size_t)counts.forces, sizeof(float)),
        .moments = tdl_alloc_array(&host->mem, 3 * (size_t)counts.forces, sizeof(float)),
        .joint_points = tdl_alloc_array(&host->mem, 3 * (size_t)counts.joints, sizeof(double)),
        .joint_forces = tdl_alloc_array(&host->mem, 3 * (size_t)counts.joints, sizeof(double)),
        .joint_torques = tdl_alloc_array(&host->mem, 3 * (size_t)counts.joints, sizeof(double)),
        .joint_coordinates = tdl_alloc_array(&host->mem, (size_t)counts.joints, sizeof(double)),
        .joint_broken = tdl_alloc_array(&host->mem, (size_t)counts.joints, sizeof(int32_t)),
    };
    if (out->points == NULL || out->q == NULL || out->v == NULL || out->starts == NULL ||
        out->poses == NULL || out->body_poses == NULL || out->observed == NULL ||
        out->surface_points == NULL || out->strains == NULL || out->forces == NULL ||
        out->moments == NULL || out->joint_points == NULL || out->joint_forces == NULL ||
        out->joint_torques == NULL || out->joint_coordinates == NULL || out->joint_broken == NULL) {
        result_frame_destroy(host, out);
        return TDL_STATUS_NO_MEMORY;
    }
    return TDL_STATUS_OK;
}

// An array of at least `count` items; null: no memory, and it stays as it is.
static void* make_room(const TdlHost* host, void* items, int count, size_t size, int* capacity) {
    if (count <= *capacity) {
        return items;
    }
    size_t room = (size_t)count + (size_t)count / 2;
    room = room > INT_MAX ? INT_MAX : room;
    void* grown = tdl_grow_array(&host->mem, items, room, size);
    *capacity = grown == NULL ? *capacity : (int)room;
    return grown;
}

TdlStatus result_frame_reserve(const TdlHost* host, ResultFrame* frame, int count) {
    frame->contact_count = 0;
    if (count == 0) {
        return TDL_STATUS_OK;
    }
    TdlResultContact* room =
        make_room(host, frame->contacts, count, sizeof *frame->contacts, &frame->contact_capacity);
    frame->contacts = room == NULL ? frame->contacts : room;
    return room == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

TdlStatus result_frame_reserve_particles(const TdlHost* host, ResultFrame* frame, int count) {
    frame->particle_count = 0;
    if (count == 0) {
        return TDL_STATUS_OK;
    }
    TdlResultParticle* room = make_room(host, frame->particles, count, sizeof *frame->particles,
                                        &frame->particle_capacity);
    frame->particles = room == NULL ? frame->particles : room;
    return room == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

void result_frame_destroy(const TdlHost* host, ResultFrame* frame) {
    tdl_free(&host->mem, frame->body_poses);
    tdl_free(&host->mem, frame->observed);
    tdl_free(&host->mem, frame->surface_points);
    tdl_free(&host->mem, frame->strains);
    tdl_free(&host->mem, frame->forces);
    tdl_free(&host->mem, frame->moments);
    tdl_free(&host->mem, frame->joint_points);
    tdl_free(&host->mem, frame->joint_forces);
    tdl_free(&host->mem, frame->joint_torques);
    tdl_free(&host->mem, frame->joint_coordinates);
    tdl_free(&host->mem, frame->joint_broken);
    tdl_free(&host->mem, frame->contacts);
    tdl_free(&host->mem, frame->particles);
    tdl_free(&host->mem, frame->points);
    tdl_free(&host->mem, frame->q);
    tdl_free(&host->mem, frame->v);
    tdl_free(&host->mem, frame->starts);
    tdl_free(&host->mem, frame->poses);
    *frame = (ResultFrame){0};
}

// --- attributes ----------------------------------------------------------------------------------

bool result_write_attribute(hid_t object, const char* name, hid_t type, const void* value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    good = (attribute < 0 || H5Aclose(attribute) >= 0) && good;
    H5Sclose(space);
    return good;
}

hid_t result_text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

bool result_write_text(hid_t object, const char* name, const char* text) {
    hid_t type = result_text_type(strlen(text) + 1);
    bool good = result_write_attribute(object, name, type, text);
    H5Tclose(type);
    return good;
}

// --- messages ------------------------------------------------------------------------------------

// The reason of the first failed call since hdf5_quiet_begin. The stack itself is cleared by the
// next call, even one that only closes things.
static _Thread_local char first_reason[256];

// Takes the innermost entry of the error stack; of a failed system call only the system's words.
static herr_t take_innermost(unsigned n, const H5E_error2_t* entry, void* user) {
    (void)user;
    if (n != 0 || entry->desc == NULL) {
        return 0;
    }
    const char* said = strstr(entry->desc, "error message = '");
    if (said != NULL) {
        said += strlen("error message = '");
        snprintf(first_reason, sizeof first_reason, "%.*s", (int)strcspn(said, "'"), said);
    } else {
        snprintf(first_reason, sizeof first_reason, "%.200s", entry->desc);
    }
    return 0;
}

// Called by HDF5 where it would print its stack.
static herr_t keep_reason(hid_t stack, void* user) {
    (void)user;
    if (first_reason[0] == '\0') {
        H5Ewalk2(stack, H5E_WALK_UPWARD, take_innermost, NULL);
    }
    return 0;
}

// Opening a damaged file makes HDF5 lose some of its own memory, about which it then complains on
// stderr when the process ends. We close what we open, so its work at exit is not needed. The call
// has an effect only where nobody used HDF5 before us.
static void skip_work_at_exit(void) {
    H5dont_atexit();
}

Hdf5Quiet hdf5_quiet_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, skip_work_at_exit);
    Hdf5Quiet quiet = {0};
    hdf5_enter();
    first_reason[0] = '\0';
    H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.user);
    H5Eset_auto2(H5E_DEFAULT, keep_reason, NULL);
    return quiet;
}

bool tdl_result_inside_hdf5(void) {
    return hdf5_is_inside();
}

void hdf5_quiet_end(Hdf5Quiet quiet) {
    H5Eset_auto2(H5E_DEFAULT, quiet.print, quiet.user);
    hdf5_leave();
}

const char* hdf5_reason(void) {
    return first_reason[0] == '\0' ? "unknown cause" : first_reason;
}
