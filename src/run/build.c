// The name of a build. Kernels of our own that are chosen at run time give the same bits
// (tests/unit/test_ccd_contract.c and others compare them), those of the C library need not: its
// sine is another with fused multiply-adds than without.
#include "run/build.h"

#include "result/checkpoint.h"

#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdio.h>

static char name[CHECKPOINT_BUILD];

static const char* kernels(void) {
#if defined(__x86_64__)
    bool fma = __builtin_cpu_supports("fma"), avx2 = __builtin_cpu_supports("avx2");
    return __builtin_cpu_supports("avx512f") ? "avx512f"
           : avx2 && fma                     ? "avx2+fma"
           : avx2                            ? "avx2"
                                             : "sse2";
#else
    return "plain";
#endif
}

static void make_name(void) {
#if defined(__clang__)
    const char* compiler = "clang " __clang_version__;
#else
    const char* compiler = "gcc " __VERSION__;
#endif
#if defined(__AVX512F__)
    const char* compiled = "avx512f";
#elif defined(__FMA__)
    const char* compiled = "fma";
#else
    const char* compiled = "base";
#endif
    snprintf(name, sizeof name, "%s, %.60s, %s for %s, libc %s, %s", tdl_version(), compiler,
             TENDRIL_FLAGS, compiled, gnu_get_libc_version(), kernels());
}

const char* build_name(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_name);
    return name;
}
