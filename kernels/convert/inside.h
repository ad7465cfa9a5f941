/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of kernels/convert: transposition, compiled for each instruction set.
 */
#ifndef LACIS_KERNELS_CONVERT_INSIDE_H
#define LACIS_KERNELS_CONVERT_INSIDE_H

#include "convert/lanes.h"

#define LACIS_ISA_GLUE2(name, isa) name##_##isa
#define LACIS_ISA_GLUE(name, isa)  LACIS_ISA_GLUE2(name, isa)
#define LACIS_ISA(name)            LACIS_ISA_GLUE(name, LACIS_ISA_NAME)

/* to[j * to_stride + i] = from[i * from_stride + j] for i < m, j < n; strides in elements of `size` bytes. */
typedef void (*convert_transpose_fn)(const void *from, int64_t from_stride, void *to, int64_t to_stride, int64_t m,
                                     int64_t n, size_t size);
void lacis_convert_transpose_baseline(const void *from, int64_t from_stride, void *to, int64_t to_stride, int64_t m,
                                      int64_t n, size_t size);
void lacis_convert_transpose_avx2(const void *from, int64_t from_stride, void *to, int64_t to_stride, int64_t m,
                                  int64_t n, size_t size);
void lacis_convert_transpose_avx512(const void *from, int64_t from_stride, void *to, int64_t to_stride, int64_t m,
                                    int64_t n, size_t size);

#endif
