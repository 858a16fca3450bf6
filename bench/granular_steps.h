// What whole steps of a world with grains cost, against their number.
#ifndef TDL_BENCH_GRANULAR_STEPS_H
#define TDL_BENCH_GRANULAR_STEPS_H

#include "app/command.h"

// Prints a table, or JSON, of beds of 1e4 particles and more, up to about so many; returns the exit
// code.
int granular_steps(const Args* args, int most, bool json);

#endif
