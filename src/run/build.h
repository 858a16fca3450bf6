// What this library was built of, as far as it decides about the last bits of a run.
#ifndef TDL_RUN_BUILD_H
#define TDL_RUN_BUILD_H

// Version, compiler and its flags, C library and the widest kernels that this processor has; the
// same text: the same bits. Shorter than CHECKPOINT_BUILD.
const char* build_name(void);

#endif
