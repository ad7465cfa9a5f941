/* SPDX-License-Identifier: Apache-2.0
 *
 * NVRTC, CUDA's run-time compiler, found when it is first wanted. Neither its headers nor its library are needed to
 * build lacis or to run it.
 */
#ifndef LACIS_JIT_NVRTC_H
#define LACIS_JIT_NVRTC_H

#include "core/run.h"

/* Loads the library on the first call of the process. False: there is none; why. */
bool lacis_nvrtc_there(char *reason, size_t size);
/* 13000: CUDA 13.0; 0: there is none. */
int lacis_nvrtc_version(void);

/* A program of a source: it differs from others by an option. */
typedef struct lacis_nvrtc_program {
    const char *option;
    bool quick;  /* compiling it soon counts for more than its last percents of speed */
    void *image; /* out: a block that lacis_run_free frees, NULL unless all went well */
    uint64_t bytes;
    void *program; /* nvrtc.c's own, as is code */
    int code;
} lacis_nvrtc_program;
/* Compiles the programs at the same time, for compute capability `arch` (90). LACIS_UNSUPPORTED with what the
 * compiler said where it refuses one: then no image is left. */
lacis_status lacis_nvrtc_compile(lacis_run *run, const char *source, const char *const *option, int options, int arch,
                                 lacis_nvrtc_program *program, int programs);

#endif
