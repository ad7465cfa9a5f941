/* SPDX-License-Identifier: Apache-2.0
 *
 * BRANCHES: the branches of a level are a batch of chains, a thread each and lane (cuThomasBatch, Valero-Lara et al.
 * 2018, applied to trees); a launch a phase (gpu_tree_levels.cu), upwards and then downwards. Shapes of a batch go
 * side by side. q and y lie in memory in the order of rows, as in THREAD; x of rows with several children takes the
 * place of y there. Called by gpu_tree.cu.
 */
#include "gpu_tree_host.h"
#include "gpu_tree_rows.cuh"

namespace
{
/* What a thread works on: a lane of the job and the branches [begin, end) of its shape. */
template <class C> struct work {
    tree_group group;
    int64_t lane;
    const tree_entry *entry;
    const tree_branch *branch;
    const int32_t *child;
    int32_t begin, end;
    typename tree_number<C>::pair *at; /* of row 0 of the order */
};
enum { STEP = TREE_THREADS };

template <class C> TREE_DEVICE bool find_work(const tree_params &p, work<C> *w)
{
    const int64_t tile = p.first_tile + blockIdx.x;
    w->group = tree_group_of(p, tile);
    w->lane = (tile - w->group.tile) * TREE_THREADS + threadIdx.x;
    if (w->lane >= w->group.lanes) return false;
    const char *plan = p.plan + w->group.plan;
    const char *levels = plan + tree_order_bytes(w->group.rows);
    const tree_branches_head head = *(const tree_branches_head *)levels;
    if (p.phase >= head.phases) return false;
    const tree_phase phase = ((const tree_phase *)(levels + head.phase))[p.phase];
    w->entry = (const tree_entry *)plan;
    w->branch = (const tree_branch *)(levels + head.branch);
    w->child = (const int32_t *)(levels + head.child);
    w->begin = phase.begin;
    w->end = phase.end;
    if (!phase.in_turn) {
        w->begin += (int32_t)blockIdx.y;
        if (w->begin >= phase.end) return false;
    } else if (blockIdx.y > 0) {
        return false;
    }
    /* Phases of more branches than a grid has: every so many are this thread's. */
    w->at = (typename tree_number<C>::pair *)p.scratch + (int64_t)blockIdx.x * p.most_rows * STEP + threadIdx.x;
    return true;
}

template <class C> TREE_DEVICE int32_t stride(const tree_params &p, const work<C> &w)
{
    const char *levels = p.plan + w.group.plan + tree_order_bytes(w.group.rows);
    const tree_branches_head *head = (const tree_branches_head *)levels;
    return ((const tree_phase *)(levels + head->phase))[p.phase].in_turn ? 1 : (int32_t)gridDim.y;
}

template <class S, class C, bool COEF>
TREE_DEVICE tree_sums<C> sum_children(const work<C> &w, const tree_lane<S> &in, const C *coef, const tree_branch &b)
{
    tree_sums<C> sum = {};
    for (int32_t i = 0; i < b.children; i++) {
        const int32_t k = w.child[b.child + i];
        const typename tree_number<C>::pair own = w.at[(int64_t)k * STEP];
        const C upper = COEF ? coef[4 * (int64_t)k + 1] : (C)in.upper.at[w.entry[k].row * in.upper.step];
        const tree_sums<C> part = {upper * own.x, upper * own.y, tree_abs(upper)};
        sum = i == 0 ? part : tree_plus(sum, part);
    }
    return sum;
}

template <class S, class C, bool COEF>
TREE_DEVICE bool branch_up(const work<C> &w, const tree_lane<S> &in, const C *coef, const tree_branch &b)
{
    tree_row<C> next, row;
    tree_load<S, C, COEF>(in, w.entry, b.first, &next);
    tree_sums<C> sum = sum_children<S, C, COEF>(w, in, coef, b);
    bool fine = true;
    for (int32_t k = b.first; k < b.first + b.rows; k++) {
        row = next;
        tree_load_coef<C, COEF>(coef, k, &row);
        tree_load<S, C, COEF>(in, w.entry, min(k + 1, b.first + b.rows - 1), &next);
        if (!tree_row_up<C, COEF>(row, &sum, w.at + (int64_t)k * STEP)) fine = false;
    }
    return fine;
}

template <class S, class C, bool COEF> __global__ void __launch_bounds__(TREE_THREADS) up_kernel(const tree_params p)
{
    work<C> w;
    solve_gpu_begin();
    if (!find_work(p, &w)) return;
    const tree_lane<S> in = tree_lane_at<S>(p, w.group, w.lane);
    const C *coef = (const C *)p.coef + 4 * w.group.coef;
    bool fine = true;
    const int32_t each = stride(p, w);
    for (int32_t i = w.begin; i < w.end; i += each)
        if (!branch_up<S, C, COEF>(w, in, coef, w.branch[i])) fine = false;
    if (!fine) solve_gpu_mark(p.flags, w.group.first + w.lane, SOLVE_GPU_DOUBT);
}

template <class S, class C>
TREE_DEVICE void branch_down(const work<C> &w, const tree_column<S> &to, const tree_branch &b)
{
    C x = b.parent < 0 ? (C)0 : w.at[(int64_t)b.parent * STEP].y;
    for (int32_t k = b.first + b.rows - 1; k >= b.first; k--) {
        const tree_entry e = w.entry[k];
        const typename tree_number<C>::pair own = w.at[(int64_t)k * STEP];
        x = e.flags & TREE_ROOT ? own.y : own.y - own.x * x;
        to.at[e.row * to.step] = (S)x;
    }
    if (b.children > 0) w.at[(int64_t)b.first * STEP].y = x;
}

template <class S, class C> __global__ void __launch_bounds__(TREE_THREADS) down_kernel(const tree_params p)
{
    work<C> w;
    solve_gpu_begin();
    if (!find_work(p, &w)) return;
    const tree_column<S> to = tree_column_at<S>(p.x, false, w.group.x, w.group.rows, w.lane);
    const int32_t each = stride(p, w), last = w.begin + (w.end - 1 - w.begin) / each * each;
    for (int32_t i = last; i >= w.begin; i -= each)
        branch_down<S, C>(w, to, w.branch[i]);
}

__global__ void __launch_bounds__(TREE_THREADS) clear_kernel(const tree_params p)
{
    for (int64_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
        const tree_group g = tree_group_of(p, tile);
        const int64_t lane = (tile - g.tile) * TREE_THREADS + threadIdx.x;
        if (lane < g.lanes) p.flags.mark[g.first + lane] = SOLVE_GPU_SURE;
    }
}

template <class S, class C> const void *kernel_of(bool coef, bool up)
{
    return !up    ? (const void *)down_kernel<S, C>
           : coef ? (const void *)up_kernel<S, C, true>
                  : (const void *)up_kernel<S, C, false>;
}
} // namespace

const void *tree_branches_kernel(lacis_solve_type type, bool coef, bool up)
{
    return type == LACIS_SOLVE_F64   ? kernel_of<double, double>(coef, up)
           : type == LACIS_SOLVE_F32 ? kernel_of<float, float>(coef, up)
                                     : kernel_of<float, double>(coef, up);
}

cudaError_t tree_clear_marks(const tree_params *p, cudaStream_t stream)
{
    const int64_t blocks = p->tiles < 4096 ? p->tiles : 4096;
    clear_kernel<<<(unsigned)blocks, TREE_THREADS, 0, stream>>>(*p);
    return cudaGetLastError();
}
