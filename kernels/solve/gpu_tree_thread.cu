/* SPDX-License-Identifier: Apache-2.0
 *
 * THREAD: one thread a system, in two sweeps over memory (Hines 1984; cuHinesBatch, Valero-Lara et al. 2017). Rows
 * are computed in the order of gpu_tree_order.cu, so that sums of unbranched stretches stay in registers and those of
 * branches on a stack: a parent is never read again. q and y go to memory side by side, in the order of computation.
 * Any tree, any layout.
 *
 * SHARED: the same with q and y in shared memory (cuHinesBatch's Block-Shared keeps the right side there, which y
 * takes the place of): three words of memory traffic instead of seven, but few systems at a time. Called by
 * gpu_tree.cu.
 */
#include "gpu_tree_host.h"
#include "gpu_tree_rows.cuh"

namespace
{
enum { AHEAD_DOWN = 8 }; /* rows that are on their way from memory */
template <bool COEF> struct ahead {
    static const int rows = COEF ? 6 : 4;
};

template <class C, bool COEF> struct stack_of {
    static constexpr int WORDS = COEF ? 2 : 3;
    C *top;
    int64_t step; /* from slot to slot, and from word to word of a slot */
    __device__ __forceinline__ void put(const tree_sums<C> &x)
    {
        top[0] = x.q;
        top[step] = x.y;
        if (!COEF) top[2 * step] = x.off;
    }
    __device__ __forceinline__ tree_sums<C> get() const
    {
        return {top[0], top[step], COEF ? (C)0 : top[2 * step]};
    }
};

template <class C, bool COEF> TREE_DEVICE void stack_up(uint32_t op, tree_sums<C> *sum, stack_of<C, COEF> *stack)
{
    if (op == TREE_ONLY) return;
    if (op == TREE_PUSH) {
        stack->top += stack->WORDS * stack->step;
        stack->put(*sum);
        return;
    }
    *sum = tree_plus(stack->get(), *sum);
    if (op == TREE_ADD)
        stack->put(*sum);
    else
        stack->top -= stack->WORDS * stack->step;
}

template <class S, class C, bool COEF>
TREE_DEVICE bool sweep_up(const tree_params &p, const tree_group &g, const tree_lane<S> &in, stack_of<C, COEF> stack,
                          typename tree_number<C>::pair *out, int64_t step)
{
    const tree_entry *entry = (const tree_entry *)(p.plan + g.plan);
    const C *coef = (const C *)p.coef + 4 * g.coef;
    const int AHEAD = ahead<COEF>::rows;
    tree_row<C> next[AHEAD];
    tree_sums<C> sum = {};
    bool fine = true;
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        tree_load<S, C, COEF>(in, entry, min(i, g.rows - 1), &next[i]);
    for (int32_t k = 0; k < g.rows; k += AHEAD) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            tree_row<C> row = next[i];
            tree_load<S, C, COEF>(in, entry, min(k + AHEAD + i, g.rows - 1), &next[i]);
            if (k + i >= g.rows) continue;
            tree_load_coef<C, COEF>(coef, k + i, &row);
            if (!tree_row_up<C, COEF>(row, &sum, out + (k + i) * step)) fine = false;
            stack_up(row.flags & TREE_STACK, &sum, &stack);
        }
    }
    return fine;
}

/* x of the row's parent: in `x` unless the stack has it; and the stack. */
template <class C> TREE_DEVICE void step_down(uint32_t op, C **top, int64_t step, C *x)
{
    if (op == TREE_ONLY) return;
    if (op == TREE_POP) {
        *top += step;
        **top = *x;
        return;
    }
    *x = **top;
    if (op == TREE_PUSH) *top -= step;
}

template <class S, class C>
TREE_DEVICE void sweep_down(const tree_params &p, const tree_group &g, const tree_column<S> &x, C *top, int64_t slot,
                            const typename tree_number<C>::pair *from, int64_t step, bool live)
{
    const int2 *entry = (const int2 *)(p.plan + g.plan);
    typename tree_number<C>::pair next[AHEAD_DOWN];
    int2 coming[AHEAD_DOWN];
    C up = 0;
#pragma unroll
    for (int i = 0; i < AHEAD_DOWN; i++) {
        next[i] = from[max(g.rows - 1 - i, 0) * step];
        coming[i] = __ldg(entry + max(g.rows - 1 - i, 0));
    }
    for (int32_t k = g.rows - 1; k >= 0; k -= AHEAD_DOWN) {
#pragma unroll
        for (int i = 0; i < AHEAD_DOWN; i++) {
            const typename tree_number<C>::pair own = next[i];
            const int2 e = coming[i];
            next[i] = from[max(k - AHEAD_DOWN - i, 0) * step];
            coming[i] = __ldg(entry + max(k - AHEAD_DOWN - i, 0));
            if (k - i < 0) continue;
            step_down((uint32_t)e.y & TREE_STACK, &top, slot, &up);
            up = (uint32_t)e.y & TREE_ROOT ? own.y : own.y - own.x * up;
            if (live) x.at[e.x * x.step] = (S)up;
        }
    }
}

/* p.scratch NULL: q and y are in shared memory, p.stack NULL: the stack is, behind them. */
template <class S, class C, bool COEF, int THREADS>
__global__ void __launch_bounds__(THREADS, THREADS == TREE_THREADS ? 8 : 1) thread_kernel(const tree_params p)
{
    extern __shared__ __align__(16) char memory[];
    solve_gpu_begin();
    typedef typename tree_number<C>::pair pair;
    pair *own = (pair *)memory + threadIdx.x;
    stack_of<C, COEF> stack = {(C *)memory + threadIdx.x, THREADS};
    if (p.scratch != NULL)
        own = (pair *)p.scratch + (int64_t)blockIdx.x * p.most_rows * THREADS + threadIdx.x;
    else
        stack.top += 2 * p.most_rows * THREADS;
    if (p.stack != NULL)
        stack.top = (C *)p.stack + (int64_t)blockIdx.x * (p.most_depth + 1) * stack.WORDS * THREADS + threadIdx.x;
    for (int64_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
        const tree_group g = tree_group_of(p, tile);
        int64_t lane = (tile - g.tile) * THREADS + threadIdx.x;
        const bool live = lane < g.lanes;
        if (!live) lane = g.lanes - 1;
        const bool fine = sweep_up<S, C, COEF>(p, g, tree_lane_at<S>(p, g, lane), stack, own, THREADS);
        if (live) solve_gpu_mark(p.flags, g.first + lane, fine ? SOLVE_GPU_SURE : SOLVE_GPU_DOUBT);
        sweep_down<S, C>(p, g, tree_column_at<S>(p.x, false, g.x, g.rows, lane), stack.top, stack.WORDS * stack.step,
                         own, THREADS, live);
    }
}

template <class S, class C, bool COEF> const void *kernel_of(bool shared)
{
    return shared ? (const void *)thread_kernel<S, C, COEF, TREE_SHARED_THREADS>
                  : (const void *)thread_kernel<S, C, COEF, TREE_THREADS>;
}

template <class S, class C> const void *kernel_of(bool coef, bool shared)
{
    return coef ? kernel_of<S, C, true>(shared) : kernel_of<S, C, false>(shared);
}
} // namespace

const void *tree_thread_kernel(lacis_solve_type type, bool coef, bool shared)
{
    return type == LACIS_SOLVE_F64   ? kernel_of<double, double>(coef, shared)
           : type == LACIS_SOLVE_F32 ? kernel_of<float, float>(coef, shared)
                                     : kernel_of<float, double>(coef, shared);
}
