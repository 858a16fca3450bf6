// The second library, libtendril_io: scene files, runs, results, files of other programs. It needs
// YAML and HDF5, which libtendril does not.
#ifndef TENDRIL_IO_H
#define TENDRIL_IO_H

#include "tendril/formats.h"
#include "tendril/result.h"
#include "tendril/run.h"
#include "tendril/scene.h"

#endif
