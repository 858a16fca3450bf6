// What the two files of the reader of result.h5 share: tables and frames.
#ifndef TDL_RESULT_RESULT_READER_H
#define TDL_RESULT_RESULT_READER_H

#include "result/result.h"

// A limit no sane file reaches; it stops absurd extents before memory is asked for.
enum { RESULT_MAX_ROWS = 1 << 24 };

struct TdlResult {
    TdlHost host;
    char path[PATH_SIZE]; // of the HDF5 file
    hid_t file;
    hid_t sets[RESULT_SET_COUNT];
    RowSets contact_sets, particle_sets;
    FrameSums sums;
    int version; // of the format
    hsize_t chunk[RESULT_SET_COUNT][3];
    hsize_t proved[RESULT_SET_COUNT]; // 1 + the row of chunks last found whole
    ResultCounts counts;
    TdlResultInfo info;
    int* point_start;       // [rods + 1]
    int* dof_start;         // [rods + 1]
    TdlResultRod* rods;     // [rods]
    TdlResultShape* shapes; // [info.shape_count]
    TdlResultObserver* observers;
    TdlResultJoint* joints;
    TdlVec3* vertices; // of all meshes
    int* corners;
    TdlResultSurface* surfaces; // [info.surface_count]
    int* surface_corners;
    TdlResultCloth* cloths; // [info.cloth_count]
    int *cloth_faces, *cloth_holds;
    TdlResultGrains grains;
    ResultFrame kept; // its contacts and its particles are those last read
};

// Messages about the file as a whole, and about one of its sets.
TdlStatus result_bad(const TdlResult* result, const char* what);
TdlStatus result_bad_set(const TdlResult* result, const char* group, const char* name,
                         const char* what);

// Reads what does not change from frame to frame; the file is open and its version known.
TdlStatus result_read_tables(TdlResult* result);

#endif
