/* SPDX-License-Identifier: Apache-2.0
 *
 * THREAD where all lanes of a shape share the whole matrix and are many: one warp a shape eliminates the matrix,
 * once, and the lanes only take their right sides through it: four words of memory traffic an unknown instead of
 * seven. The steps are those of gpu_tree_rows.cuh, so the bits are. Called by gpu_tree.cu.
 */
#include "gpu_tree.cuh"
#include "gpu_tree_host.h"

namespace
{
enum { STRETCH = 128, AHEAD = 6 }; /* rows that a warp brings at a time; that a lane does, see gpu_tree_thread.cu */

/* Of a row, in the order of computation, in p.coef. spare: on the way up the stack of sums, a slot a row; then, of
 * the first row, whether all of the matrix is surely fine (1). */
template <class C> struct __align__(4 * sizeof(C)) factors
{
    C upper, w, q, spare;
};

template <class C> TREE_DEVICE factors<C> *factors_of(const tree_params &p, const tree_group &g)
{
    return (factors<C> *)p.coef + g.coef;
}

/* The children's part in a row's diagonal, and the sum of their moduli. */
template <class C> struct matrix_sums {
    C q, off;
};

/* By one thread. */
template <class C> struct eliminator {
    factors<C> *to;
    int32_t top;
    matrix_sums<C> sum;
    bool fine;

    __device__ __forceinline__ void put()
    {
        to[top].spare = sum.q;
        to[top + 1].spare = sum.off;
    }
    __device__ __forceinline__ void row(int32_t k, uint32_t flags, C lower, C diagonal, C upper)
    {
        const bool leaf = flags & TREE_LEAF, root = flags & TREE_ROOT;
        if (root) lower = upper = 0;
        const C w = (C)1 / (leaf ? diagonal : diagonal - sum.q), q = lower * w;
        const C least = (leaf ? tree_abs(lower) : tree_abs(lower) + sum.off) * tree_number<C>::enough;
        fine = fine && tree_fine(diagonal, least);
        to[k].upper = upper;
        to[k].w = w;
        to[k].q = q;
        sum = {upper * q, tree_abs(upper)};
        const uint32_t op = flags & TREE_STACK;
        if (op == TREE_ONLY) return;
        if (op == TREE_PUSH) {
            top += 2;
            put();
            return;
        }
        sum = {to[top].spare + sum.q, to[top + 1].spare + sum.off};
        if (op == TREE_ADD)
            put();
        else
            top -= 2;
    }
};

template <class S, class C> __global__ void __launch_bounds__(32) factor_kernel(const tree_params p)
{
    __shared__ C lower[STRETCH], diagonal[STRETCH], upper[STRETCH];
    __shared__ uint32_t flags[STRETCH];
    solve_gpu_begin();
    const tree_group g = p.group == NULL ? p.one : p.group[blockIdx.x];
    const tree_entry *entry = (const tree_entry *)(p.plan + g.plan);
    const tree_column<const S> in[3] = {tree_column_at<const S>(p.lower.data, true, g.matrix, g.rows, 0),
                                        tree_column_at<const S>(p.diagonal.data, true, g.matrix, g.rows, 0),
                                        tree_column_at<const S>(p.upper.data, true, g.matrix, g.rows, 0)};
    eliminator<C> e = {factors_of<C>(p, g), -2, {0, 0}, true};
    for (int32_t first = 0; first < g.rows; first += STRETCH) {
        const int32_t some = min((int32_t)STRETCH, g.rows - first);
        __syncwarp();
        for (int32_t i = threadIdx.x; i < some; i += 32) {
            const tree_entry own = entry[first + i];
            const bool root = own.flags & TREE_ROOT; /* what lies there is not of the matrix */
            flags[i] = own.flags;
            lower[i] = root ? (C)0 : (C)in[0].at[own.row * in[0].step];
            diagonal[i] = (C)in[1].at[own.row * in[1].step];
            upper[i] = root ? (C)0 : (C)in[2].at[own.row * in[2].step];
        }
        __syncwarp();
        for (int32_t i = 0; threadIdx.x == 0 && i < some; i++)
            e.row(first + i, flags[i], lower[i], diagonal[i], upper[i]);
    }
    if (threadIdx.x == 0) e.to[0].spare = e.fine;
}

/* Right sides upwards: y of all rows goes to `out`. Answers whether y of every root is finite. */
template <class S, class C>
TREE_DEVICE bool side_up(const tree_params &p, const tree_group &g, int64_t lane, C *stack, C *out)
{
    const int2 *entry = (const int2 *)(p.plan + g.plan);
    const factors<C> *f = factors_of<C>(p, g);
    const tree_column<const S> rhs = tree_column_at<const S>(p.rhs.data, false, g.rhs, g.rows, lane);
    S next[AHEAD];
    C sum = 0;
    bool fine = true;
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        next[i] = __ldcs(rhs.at + __ldg(&entry[min(i, g.rows - 1)].x) * rhs.step);
    for (int32_t k = 0; k < g.rows; k += AHEAD) {
        S now[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            now[i] = next[i];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            next[i] = __ldcs(rhs.at + __ldg(&entry[min(k + AHEAD + i, g.rows - 1)].x) * rhs.step);
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const C own = (C)now[i];
            if (k + i >= g.rows) continue;
            const uint32_t flags = (uint32_t)__ldg(&entry[k + i].y), op = flags & TREE_STACK;
            const C y = (flags & TREE_LEAF ? own : own - sum) * __ldg(&f[k + i].w);
            out[(k + i) * TREE_THREADS] = y;
            if (flags & TREE_ROOT) fine = fine && tree_finite(y);
            sum = __ldg(&f[k + i].upper) * y;
            if (op == TREE_ONLY) continue;
            if (op == TREE_PUSH) {
                stack += TREE_THREADS;
                *stack = sum;
                continue;
            }
            sum = *stack + sum;
            if (op == TREE_ADD)
                *stack = sum;
            else
                stack -= TREE_THREADS;
        }
    }
    return fine;
}

template <class S, class C>
TREE_DEVICE void side_down(const tree_params &p, const tree_group &g, int64_t lane, bool live, C *stack,
                           const C *from)
{
    const int2 *entry = (const int2 *)(p.plan + g.plan);
    const factors<C> *f = factors_of<C>(p, g);
    const tree_column<S> x = tree_column_at<S>(p.x, false, g.x, g.rows, lane);
    C next[AHEAD], up = 0;
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        next[i] = from[max(g.rows - 1 - i, 0) * TREE_THREADS];
    for (int32_t k = g.rows - 1; k >= 0; k -= AHEAD) {
        C now[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            now[i] = next[i];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            next[i] = from[max(k - AHEAD - i, 0) * TREE_THREADS];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const C y = now[i];
            if (k - i < 0) continue;
            const int2 e = __ldg(entry + k - i);
            const uint32_t op = (uint32_t)e.y & TREE_STACK;
            if (op == TREE_POP) {
                stack += TREE_THREADS;
                *stack = up;
            } else if (op != TREE_ONLY) {
                up = *stack;
                if (op == TREE_PUSH) stack -= TREE_THREADS;
            }
            up = (uint32_t)e.y & TREE_ROOT ? y : y - __ldg(&f[k - i].q) * up;
            if (live) x.at[e.x * x.step] = (S)up;
        }
    }
}

/* p.stack NULL: the stack is in shared memory. */
template <class S, class C> __global__ void __launch_bounds__(TREE_THREADS, 12) side_kernel(const tree_params p)
{
    extern __shared__ __align__(16) char memory[];
    solve_gpu_begin();
    C *stack = (C *)memory + threadIdx.x, *own = (C *)p.scratch + threadIdx.x;
    own += (int64_t)blockIdx.x * p.most_rows * TREE_THREADS;
    if (p.stack != NULL) stack = (C *)p.stack + (int64_t)blockIdx.x * (p.most_depth + 1) * TREE_THREADS + threadIdx.x;
    for (int64_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
        const tree_group g = tree_group_of(p, tile);
        int64_t lane = (tile - g.tile) * TREE_THREADS + threadIdx.x;
        const bool live = lane < g.lanes;
        if (!live) lane = g.lanes - 1;
        const bool fine = side_up<S, C>(p, g, lane, stack, own) && factors_of<C>(p, g)->spare != (C)0;
        if (live) solve_gpu_mark(p.flags, g.first + lane, fine ? SOLVE_GPU_SURE : SOLVE_GPU_DOUBT);
        side_down<S, C>(p, g, lane, live, stack, own);
    }
}
} // namespace

const void *tree_side_kernel(lacis_solve_type type)
{
    return type == LACIS_SOLVE_F64   ? (const void *)side_kernel<double, double>
           : type == LACIS_SOLVE_F32 ? (const void *)side_kernel<float, float>
                                     : (const void *)side_kernel<float, double>;
}

cudaError_t tree_factor(const tree_params *p, lacis_solve_type type, cudaStream_t stream)
{
    const void *kernel = type == LACIS_SOLVE_F64   ? (const void *)factor_kernel<double, double>
                         : type == LACIS_SOLVE_F32 ? (const void *)factor_kernel<float, float>
                                                   : (const void *)factor_kernel<float, double>;
    tree_params own = *p;
    void *arguments[] = {&own};
    const solve_gpu_start_at at = {dim3((unsigned)p->groups), 32, 1, 0, stream};
    return solve_gpu_start(&at, kernel, arguments);
}
