/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the three builds of the loops runs here. Asked once a run (run.c).
 */
#include "common/isa.h"
#include "symv/inside.h"

const symv_kernels *lacis_symv_kernels(void)
{
    static const symv_kernels *const kernels[] = {[LACIS_ISA_BASELINE] = &lacis_symv_kernels_baseline,
                                                  [LACIS_ISA_AVX2] = &lacis_symv_kernels_avx2,
                                                  [LACIS_ISA_AVX512] = &lacis_symv_kernels_avx512};
    return kernels[lacis_isa_here()];
}

const char *lacis_symv_isa(void)
{
    return lacis_symv_kernels()->name;
}
