/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains on chip: kernels for one type. Called from gpu_chip.cu.
 */
#include "solve/gpu_chip_launch.cuh"

uint64_t solve_gpu_chip_bytes_f32(solve_gpu_lie lie, const solve_gpu_cut *cut)
{
    return chip_bytes_of_cut<LACIS_SOLVE_F32>(lie, cut);
}

cudaError_t solve_gpu_chip_f32(const solve_gpu_launch *launch, const solve_gpu_cut *cut)
{
    return chip_launch_of_cut<LACIS_SOLVE_F32>(launch, cut);
}

uint64_t solve_gpu_factors_bytes_f32(void)
{
    return sizeof(factors_of<LACIS_SOLVE_F32 + SOLVE_LONG>);
}

cudaError_t solve_gpu_factored_f32(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors)
{
    return factored_launch_of_cut<LACIS_SOLVE_F32>(launch, cut, factors);
}
