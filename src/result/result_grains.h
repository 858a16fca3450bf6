// The particles of all frames in /grains, one row a TdlResultParticle, and what the bed is like as
// attributes of it. /frames/grain_end tells where the rows of a frame end.
#ifndef TDL_RESULT_RESULT_GRAINS_H
#define TDL_RESULT_RESULT_GRAINS_H

#include "result/result_rows.h"
#include "tendril/result.h"

extern const RowTable RESULT_PARTICLES;

// The attributes of the group; false: HDF5 failed, or they are missing or cannot be.
bool result_write_bed(hid_t group, const TdlResultGrains* grains);
bool result_read_bed(hid_t file, TdlResultGrains* out);

// What a bed is like now; zero of a world without one. result_bed.c
TdlResultGrainsState result_bed_state(const TdlWorld* world);

// The numbers of a state in a row of /frames/grains_state.
enum { RESULT_BED_NUMBERS = 4 };
void result_pack_bed(TdlResultGrainsState state, double out[RESULT_BED_NUMBERS]);
TdlResultGrainsState result_unpack_bed(const double numbers[RESULT_BED_NUMBERS]);

#endif
