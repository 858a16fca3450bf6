// Files of other programs: frictional contact problems. Part of libtendril_io.
#ifndef TENDRIL_FORMATS_H
#define TENDRIL_FORMATS_H

#include "tendril/friction.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reads a problem from a file: Siconos' text (local or global), or FCLIB HDF5 (`fclib_local` or
/// `fclib_global`), told apart by content. A global problem (M v = f + H r, u = H' v + w) becomes
/// one in velocity space, or an explicit one where a contact moves more than two bodies. A file
/// that is wrong in any way gives TDL_STATUS_BAD_INPUT and one message with file and place.
TDL_API TdlStatus tdl_friction_problem_read(const TdlHost* host, const char* path,
                                            TdlFrictionProblem** out);

/// Writes the explicit form: HDF5 when the path ends in .hdf5 or .h5, else Siconos' text. Numbers
/// keep all digits. Bilateral contacts and infinite mu have no place in these formats and are
/// refused; a prescribed normal velocity is folded into b.
TDL_API TdlStatus tdl_friction_problem_write(const TdlHost* host, const char* path,
                                             const TdlFrictionProblem* problem);

#ifdef __cplusplus
}
#endif

#endif
