/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains on chip: kernels for one type. Called from gpu_chip.cu.
 */
#include "solve/gpu_chip_launch.cuh"

uint64_t solve_gpu_chip_bytes_f64(solve_gpu_lie lie, const solve_gpu_cut *cut)
{
    return chip_bytes_of_cut<LACIS_SOLVE_F64>(lie, cut);
}

cudaError_t solve_gpu_chip_f64(const solve_gpu_launch *launch, const solve_gpu_cut *cut)
{
    return chip_launch_of_cut<LACIS_SOLVE_F64>(launch, cut);
}

uint64_t solve_gpu_factors_bytes_f64(void)
{
    return sizeof(factors_of<LACIS_SOLVE_F64 + SOLVE_LONG>);
}

cudaError_t solve_gpu_factored_f64(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors)
{
    return factored_launch_of_cut<LACIS_SOLVE_F64>(launch, cut, factors);
}
