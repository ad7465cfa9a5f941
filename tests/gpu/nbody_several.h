/* SPDX-License-Identifier: Apache-2.0
 *
 * Several devices for a test: two where there are two, else one that comes twice.
 */
#ifndef LACIS_TESTS_GPU_NBODY_SEVERAL_H
#define LACIS_TESTS_GPU_NBODY_SEVERAL_H

#include "nbody_support.h"

enum { SEVERAL_MOST = 4 };

struct Devices {
    int many, device[SEVERAL_MOST];
    cudaStream_t streams[SEVERAL_MOST];
    lacis_nbody_gpu_start starts[SEVERAL_MOST];
    nbody_columns columns; /* on device 0 */
    /* A system of `many` devices over the set. */
    Devices(int many, const nbody_set &set, lacis_nbody_type type, const lacis_nbody_rule &rule);
    ~Devices();
};
extern int64_t several_live, several_allocs, several_fail_at; /* blocks of memory; the nth fails, from 1 */

#endif
