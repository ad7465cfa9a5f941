/* SPDX-License-Identifier: Apache-2.0
 *
 * What one instruction set offers to the system.
 */
#include "sweep/inside.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

extern const sweep_loops LACIS_ISA(lacis_sweep_f32), LACIS_ISA(lacis_sweep_f64);
const sweep_kernels LACIS_ISA(lacis_sweep_kernels) = {
    .name = TEXT(LACIS_ISA_NAME),
    .loops = {[LACIS_SWEEP_F32] = &LACIS_ISA(lacis_sweep_f32), [LACIS_SWEEP_F64] = &LACIS_ISA(lacis_sweep_f64)}};
