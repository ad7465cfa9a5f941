/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the three builds of the loops runs here. Asked once a job (plan.c).
 */
#include "common/isa.h"
#include "multiply/inside.h"

bool lacis_mul_has_byte_compress(void)
{
    return __builtin_cpu_supports("avx512vbmi2");
}

const mul_kernels *lacis_mul_kernels(void)
{
    static const mul_kernels *const kernels[] = {[LACIS_ISA_BASELINE] = &lacis_mul_kernels_baseline,
                                                 [LACIS_ISA_AVX2] = &lacis_mul_kernels_avx2,
                                                 [LACIS_ISA_AVX512] = &lacis_mul_kernels_avx512};
    return kernels[lacis_isa_here()];
}

const char *lacis_mul_isa(void)
{
    return lacis_mul_kernels()->name;
}
