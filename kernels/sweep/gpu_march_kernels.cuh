/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of gpu_shapes.cuh for one type: included by gpu_march_f32.cu and gpu_march_f64.cu.
 */
#include "sweep/gpu_inside.h"
#include "sweep/gpu_march.cuh"
#include "sweep/gpu_shapes.cuh"

namespace sweep
{

/* Of a multiprocessor at least. Asked for four, the compiler spills nothing; of itself it does for the sake of five.
 */
template <class S> constexpr int blocks_of()
{
    return S::DIMS == 3 && S::TAPS < 8 ? 4 : 1;
}

template <class S, bool CHANGE>
static __global__ void __launch_bounds__(32 * SWEEP_WARPS, blocks_of<S>())
    march_kernel_of(const __grid_constant__ sweep_pass p)
{
    sweep_march<S, CHANGE>(p);
}

template <class S> static bool matches(const lacis_sweep_start *start)
{
    const lacis_sweep_rule *rule = &start->rule[0];
    if (start->dims != S::DIMS || start->fields != 1 || rule->written || rule->linear.groups != S::GROUPS)
        return false;
    for (int g = 0; g < S::GROUPS; g++)
        if (rule->linear.first[g] != S::group_tap(g) || rule->linear.first[g + 1] != S::group_end(g)) return false;
    for (int i = 0; i < S::TAPS; i++) {
        const sweep_at at = S::tap(i);
        const lacis_sweep_tap *tap = &rule->tap[i];
        if (tap->array != at.array || tap->at[0] != at.x || tap->at[1] != at.y || tap->at[2] != at.z) return false;
    }
    return true;
}

template <class S> static const void *kernel_of(const lacis_sweep_start *start, bool sums)
{
    if (!matches<S>(start)) return nullptr;
    return sums ? (const void *)march_kernel_of<S, true> : (const void *)march_kernel_of<S, false>;
}

template <class T> static const void *kernel_for(const lacis_sweep_start *start, bool sums)
{
    typedef const void *(*choice)(const lacis_sweep_start *, bool);
    static const choice choices[] = {
        kernel_of<sweep_shape<T, sweep_line, false, 1>>,   kernel_of<sweep_shape<T, sweep_line, true, 1>>,
        kernel_of<sweep_shape<T, sweep_square, false, 1>>, kernel_of<sweep_shape<T, sweep_square, true, 1>>,
        kernel_of<sweep_shape<T, sweep_square, false, 2>>, kernel_of<sweep_shape<T, sweep_square, true, 2>>,
        kernel_of<sweep_shape<T, sweep_star, true, 2>>,    kernel_of<sweep_shape<T, sweep_cube, false, 1>>,
        kernel_of<sweep_shape<T, sweep_cube, true, 1>>,    kernel_of<sweep_shape<T, sweep_cube, true, 3>>};
    for (const choice of : choices) {
        const void *const kernel = of(start, sums);
        if (kernel != nullptr) return kernel;
    }
    return nullptr;
}

} // namespace sweep
