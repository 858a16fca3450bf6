// Strands, rods as shapes, from files in HDF5.
#ifndef TDL_FORMATS_STRANDS_H
#define TDL_FORMATS_STRANDS_H

#include "tendril/formats.h"

// Whether a path is called like a file of strands.
bool strands_named(const char* path);

// Reads strands from the bytes of a file, which messages call `name`. Nothing is left to free
// unless it is TDL_STATUS_OK; on TDL_STATUS_BAD_INPUT one message was logged.
TdlStatus strands_parse(const TdlHost* host, const char* name, const void* data, size_t size,
                        TdlStrands* out);

// The shape of strand `index`, whose curvatures begin at `first` of all. The arrays stay theirs.
// Returns how many curvatures it has.
int strands_shape(const TdlStrands* strands, int index, size_t first, TdlRodDef* def);

#endif
