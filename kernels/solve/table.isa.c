/* SPDX-License-Identifier: Apache-2.0
 *
 * What one instruction set offers to run.c.
 */
#include "solve/types.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

const solve_kernels LACIS_ISA(lacis_solve_kernels) = {.name = TEXT(LACIS_ISA_NAME),
                                                      .loops = {[LACIS_SOLVE_F64] = &LACIS_ISA(lacis_solve_f64),
                                                                [LACIS_SOLVE_F32] = &LACIS_ISA(lacis_solve_f32),
                                                                [LACIS_SOLVE_MIXED] = &LACIS_ISA(lacis_solve_mixed),
                                                                [LACIS_SOLVE_C128] = &LACIS_ISA(lacis_solve_c128)}};
