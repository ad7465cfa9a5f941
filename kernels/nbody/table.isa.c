/* SPDX-License-Identifier: Apache-2.0
 *
 * What one instruction set offers to the system.
 */
#include "nbody/inside.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

extern const nbody_loops LACIS_ISA(lacis_nbody_f32), LACIS_ISA(lacis_nbody_f64), LACIS_ISA(lacis_nbody_mixed);
const nbody_kernels LACIS_ISA(lacis_nbody_kernels) = {.name = TEXT(LACIS_ISA_NAME),
                                                      .loops = {[LACIS_NBODY_F32] = &LACIS_ISA(lacis_nbody_f32),
                                                                [LACIS_NBODY_F64] = &LACIS_ISA(lacis_nbody_f64),
                                                                [LACIS_NBODY_MIXED] = &LACIS_ISA(lacis_nbody_mixed)}};
