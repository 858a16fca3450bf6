// Assertions for our own mistakes. TDL_ASSERT is cheap and stays in every build; TDL_VALIDATE
// guards costly invariants and is compiled only in the dev and sanitizer builds.
#ifndef TDL_BASE_CHECK_H
#define TDL_BASE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define TDL_ASSERT(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: tendril bug: %s\n", __FILE__, __LINE__, #condition);           \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#ifdef TENDRIL_VALIDATE
#define TDL_VALIDATE(condition) TDL_ASSERT(condition)
#else
#define TDL_VALIDATE(condition) ((void)sizeof(condition))
#endif

#endif
