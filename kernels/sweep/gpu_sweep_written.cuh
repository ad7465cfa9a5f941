/* SPDX-License-Identifier: Apache-2.0
 *
 * What NVRTC compiles behind the prefix of gpu_program.cu and the rules' functions (see gpu.h): the marching kernels
 * over these rules. LACIS_KERNEL: which, by its place in lacis_sweep_gpu_kernel_name.
 */
#include "gpu_march.cuh"

/* What the prefix says, as gpu_window.cuh wants it. */
struct lacis_sweep_rules {
    typedef LACIS_SWEEP_T T;
    enum {
        DIMS = LACIS_SWEEP_DIMS,
        FIELDS = LACIS_SWEEP_FIELDS,
        TAPS = LACIS_SWEEP_TAPS,
        GROUPS = LACIS_SWEEP_GROUPS
    };
    static constexpr sweep_at tap(int i)
    {
        constexpr sweep_at at[] = {LACIS_SWEEP_TAP_LIST};
        return at[i];
    }
    static constexpr bool written(int f)
    {
        constexpr bool is[] = {LACIS_SWEEP_WRITTEN_LIST};
        return is[f];
    }
    static constexpr int first_tap(int f)
    {
        constexpr int first[] = {LACIS_SWEEP_FIRST_TAP_LIST};
        return first[f];
    }
    static constexpr int first_group(int f)
    {
        constexpr int first[] = {LACIS_SWEEP_FIRST_GROUP_LIST};
        return first[f];
    }
    static constexpr int group_tap(int g)
    {
        constexpr int group[][2] = {LACIS_SWEEP_GROUP_LIST};
        return group[g][0];
    }
    static constexpr int group_end(int g)
    {
        constexpr int group[][2] = {LACIS_SWEEP_GROUP_LIST};
        return group[g][1];
    }
    template <int F> static __device__ __forceinline__ T rule(const T *v, T x, T y, T z, T t, int *bad)
    {
        LACIS_SWEEP_CALLS
        return T(0);
    }
};

#if LACIS_KERNEL == 0
extern "C" __global__ void __launch_bounds__(32 * SWEEP_WARPS)
    lacis_sweep_kernel(const __grid_constant__ sweep_pass p)
{
    sweep_march<lacis_sweep_rules, false>(p);
}
#else
extern "C" __global__ void __launch_bounds__(32 * SWEEP_WARPS)
    lacis_sweep_change_kernel(const __grid_constant__ sweep_pass p)
{
    sweep_march<lacis_sweep_rules, true>(p);
}
#endif
