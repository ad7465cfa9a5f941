/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the three builds of the loops runs here. Asked once a run (run.c).
 */
#include "common/isa.h"
#include "solve/inside.h"

const solve_kernels *lacis_solve_kernels(void)
{
    static const solve_kernels *const kernels[] = {[LACIS_ISA_BASELINE] = &lacis_solve_kernels_baseline,
                                                   [LACIS_ISA_AVX2] = &lacis_solve_kernels_avx2,
                                                   [LACIS_ISA_AVX512] = &lacis_solve_kernels_avx512};
    return kernels[lacis_isa_here()];
}

const char *lacis_solve_isa(void)
{
    return lacis_solve_kernels()->name;
}
