/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the three builds of the loops runs here. Asked once a run (run.c).
 */
#include "solve/inside.h"

#include <stdlib.h>
#include <string.h>

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}

const solve_kernels *lacis_solve_kernels(void)
{
    const char *wanted = getenv("LACIS_ISA");
    const bool baseline = wanted && strcmp(wanted, "baseline") == 0, avx2 = wanted && strcmp(wanted, "avx2") == 0;
    if (!baseline && !avx2 && has_avx512()) return &lacis_solve_kernels_avx512;
    return !baseline && has_avx2() ? &lacis_solve_kernels_avx2 : &lacis_solve_kernels_baseline;
}

const char *lacis_solve_isa(void)
{
    return lacis_solve_kernels()->name;
}
