/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the three builds of the loops runs here. Asked once a system (system.c).
 */
#include "common/isa.h"
#include "sweep/inside.h"

const sweep_kernels *lacis_sweep_kernels(void)
{
    static const sweep_kernels *const kernels[] = {[LACIS_ISA_BASELINE] = &lacis_sweep_kernels_baseline,
                                                   [LACIS_ISA_AVX2] = &lacis_sweep_kernels_avx2,
                                                   [LACIS_ISA_AVX512] = &lacis_sweep_kernels_avx512};
    return kernels[lacis_isa_here()];
}

const char *lacis_sweep_isa(void)
{
    return lacis_sweep_kernels()->name;
}
