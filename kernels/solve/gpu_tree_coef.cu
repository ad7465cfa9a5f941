/* SPDX-License-Identifier: Apache-2.0
 *
 * Off-diagonals that lanes share, put into the order in which rows are computed, each with what its row's diagonal
 * must reach. Called by gpu_tree.cu for THREAD and BRANCHES.
 */
#include "gpu_tree.cuh"
#include "gpu_tree_host.h"

namespace
{
template <class S, class C> TREE_DEVICE void coef_of(const tree_params &p, const tree_group &g, int32_t k)
{
    const tree_entry *entry = (const tree_entry *)(p.plan + g.plan);
    const int32_t *first = (const int32_t *)(entry + g.rows), *next = first + g.rows;
    const tree_column<const S> lower = tree_column_at<const S>(p.lower.data, true, g.matrix, g.rows, 0);
    const tree_column<const S> upper = tree_column_at<const S>(p.upper.data, true, g.matrix, g.rows, 0);
    const tree_entry e = entry[k];
    const bool root = e.flags & TREE_ROOT;
    const C b = root ? (C)0 : (C)lower.at[e.row * lower.step], a = root ? (C)0 : (C)upper.at[e.row * upper.step];
    C off = 0;
    for (int32_t child = first[e.row]; child >= 0; child = next[child])
        off += tree_abs((C)upper.at[child * upper.step]);
    C *to = (C *)p.coef + 4 * (g.coef + k);
    to[0] = b;
    to[1] = a;
    to[2] = (tree_abs(b) + off) * tree_number<C>::enough;
    to[3] = 0;
}

template <class S, class C> __global__ void __launch_bounds__(TREE_THREADS) coef_kernel(const tree_params p)
{
    solve_gpu_begin();
    for (int64_t i = blockIdx.x; i < p.groups; i += gridDim.x) {
        const tree_group g = p.group == NULL ? p.one : p.group[i];
        for (int32_t k = blockIdx.y * TREE_THREADS + threadIdx.x; k < g.rows; k += gridDim.y * TREE_THREADS)
            coef_of<S, C>(p, g, k);
    }
}
} // namespace

cudaError_t tree_coefs(const tree_params *p, lacis_solve_type type, cudaStream_t stream)
{
    const int64_t each = (p->most_rows + TREE_THREADS - 1) / TREE_THREADS;
    const dim3 grid((unsigned)(p->groups < 65535 ? p->groups : 65535), (unsigned)(each < 64 ? each : 64));
    const void *kernel = type == LACIS_SOLVE_F64   ? (const void *)coef_kernel<double, double>
                         : type == LACIS_SOLVE_F32 ? (const void *)coef_kernel<float, float>
                                                   : (const void *)coef_kernel<float, double>;
    tree_params own = *p;
    void *arguments[] = {&own};
    const solve_gpu_start_at at = {grid, TREE_THREADS, 1, 0, stream};
    return solve_gpu_start(&at, kernel, arguments);
}
