/* SPDX-License-Identifier: Apache-2.0
 *
 * What one instruction set offers to run.c.
 */
#include "symv/inside.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

#define TYPES(X)                                                                                                     \
    X(LACIS_SYMV_F32, lacis_symv_f32)                                                                                \
    X(LACIS_SYMV_F64, lacis_symv_f64)                                                                                \
    X(LACIS_SYMV_C64, lacis_symv_c64)                                                                                \
    X(LACIS_SYMV_C128, lacis_symv_c128)                                                                              \
    X(LACIS_SYMV_DD, lacis_symv_dd)                                                                                  \
    X(LACIS_SYMV_CDD, lacis_symv_cdd)                                                                                \
    X(LACIS_SYMV_F32_F64, lacis_symv_f32_f64)                                                                        \
    X(LACIS_SYMV_F32_DD, lacis_symv_f32_dd)                                                                          \
    X(LACIS_SYMV_F64_DD, lacis_symv_f64_dd)
#define DECLARE(type, name) extern const symv_loops LACIS_ISA(name);
#define ENTRY(type, name)   [type] = &LACIS_ISA(name),

TYPES(DECLARE)
const symv_kernels LACIS_ISA(lacis_symv_kernels) = {.name = TEXT(LACIS_ISA_NAME), .loops = {TYPES(ENTRY)}};
