/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains on chip: kernels for one type. Called from gpu_chip.cu.
 */
#include "solve/gpu_chip_launch.cuh"

uint64_t solve_gpu_chip_bytes_c128(solve_gpu_lie lie, const solve_gpu_cut *cut)
{
    return chip_bytes<LACIS_SOLVE_C128>(lie, cut);
}

cudaError_t solve_gpu_chip_c128(const solve_gpu_launch *launch, const solve_gpu_cut *cut)
{
    return chip_launch<LACIS_SOLVE_C128>(launch, cut);
}

uint64_t solve_gpu_factors_bytes_c128(void)
{
    return sizeof(factors_of<LACIS_SOLVE_C128>);
}

cudaError_t solve_gpu_factored_c128(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors)
{
    return factored_launch<LACIS_SOLVE_C128>(launch, cut, factors);
}
