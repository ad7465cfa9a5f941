/* SPDX-License-Identifier: Apache-2.0
 *
 * What one instruction set offers to run.c and hub.c.
 */
#include "multiply/loops.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

const mul_kernels LACIS_ISA(lacis_mul_kernels) = {
    .name = TEXT(LACIS_ISA_NAME),
    .row = {[LACIS_MUL_COPY] = LACIS_ISA(lacis_mul_row_copy),
            [LACIS_MUL_SORT] = LACIS_ISA(lacis_mul_row_sort),
            [LACIS_MUL_HASH] = LACIS_ISA(lacis_mul_row_hash),
            [LACIS_MUL_DENSE] = LACIS_ISA(lacis_mul_row_dense)},
    .dense = LACIS_ISA(lacis_mul_dense),
#if defined(__AVX512BW__)
    .has_bits = true,
#endif
};
