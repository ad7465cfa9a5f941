/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the processor for what cmake/LacisTargets.cmake compiles *.isa.c with.
 */
#include "common/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}

lacis_isa lacis_isa_here(void)
{
    const char *wanted = getenv("LACIS_ISA");
    const bool baseline = wanted && strcmp(wanted, "baseline") == 0, avx2 = wanted && strcmp(wanted, "avx2") == 0;
    if (!baseline && !avx2 && has_avx512()) return LACIS_ISA_AVX512;
    return !baseline && has_avx2() ? LACIS_ISA_AVX2 : LACIS_ISA_BASELINE;
}
