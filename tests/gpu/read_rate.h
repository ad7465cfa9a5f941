/* SPDX-License-Identifier: Apache-2.0
 *
 * read_rate.cu, for lacis-bench.
 */
#ifndef LACIS_TESTS_READ_RATE_H
#define LACIS_TESTS_READ_RATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the bytes once in one launch, 4 or 8 loads of 16 bytes a thread; none: an empty launch. `never`: four bytes
 * on the device. Answers a cudaError_t. */
int bench_gpu_read(const void *from, uint64_t bytes, int loads, void *never, void *stream);

#ifdef __cplusplus
}
#endif

#endif
