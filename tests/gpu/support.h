/* SPDX-License-Identifier: Apache-2.0
 *
 * What all programs of this folder share: calls of CUDA that must not fail, the stream, the count of failures, random
 * numbers.
 */
#ifndef LACIS_TESTS_GPU_SUPPORT_H
#define LACIS_TESTS_GPU_SUPPORT_H

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Says what failed, and ends the program. */
#define CUDA(call)                                                                                                   \
    do {                                                                                                             \
        cudaError_t e_ = (call);                                                                                     \
        if (e_ != cudaSuccess) {                                                                                     \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));                            \
            exit(2);                                                                                                 \
        }                                                                                                            \
    } while (0)

typedef uint64_t u64;

/* Each program has its own. */
extern cudaStream_t stream;
extern int failures;

static inline u64 next_random(u64 *state)
{
    *state += 0x9e3779b97f4a7c15u;
    u64 z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
