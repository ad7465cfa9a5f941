/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the three builds of the loops runs here. Asked once a system (system.c).
 */
#include "common/isa.h"
#include "nbody/inside.h"

const nbody_kernels *lacis_nbody_kernels(void)
{
    static const nbody_kernels *const kernels[] = {[LACIS_ISA_BASELINE] = &lacis_nbody_kernels_baseline,
                                                   [LACIS_ISA_AVX2] = &lacis_nbody_kernels_avx2,
                                                   [LACIS_ISA_AVX512] = &lacis_nbody_kernels_avx512};
    return kernels[lacis_isa_here()];
}

const char *lacis_nbody_isa(void)
{
    return lacis_nbody_kernels()->name;
}
