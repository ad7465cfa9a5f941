/* SPDX-License-Identifier: Apache-2.0
 *
 * One row of one lane upwards, as the kernels that stream over memory do it (THREAD, BRANCHES).
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_TREE_ROWS_CUH
#define LACIS_KERNELS_SOLVE_GPU_TREE_ROWS_CUH

#include "gpu_tree.cuh"

template <class C> struct tree_row {
    uint32_t flags;
    int32_t row;
    C diagonal, rhs;
    C lower, upper, least; /* least: where the off-diagonals come from `coef` */
};

template <class S> struct tree_lane {
    tree_column<const S> lower, diagonal, upper, rhs;
};

template <class S> TREE_DEVICE tree_lane<S> tree_lane_at(const tree_params &p, const tree_group &g, int64_t lane)
{
    return {tree_column_at<const S>(p.lower.data, p.lower.shared, g.matrix, g.rows, lane),
            tree_column_at<const S>(p.diagonal.data, p.diagonal.shared, g.matrix, g.rows, lane),
            tree_column_at<const S>(p.upper.data, p.upper.shared, g.matrix, g.rows, lane),
            tree_column_at<const S>(p.rhs.data, p.rhs.shared, g.rhs, g.rows, lane)};
}

/* What comes from memory once: early, past what caches should keep. COEF: the off-diagonals do not. */
template <class S, class C, bool COEF>
TREE_DEVICE void tree_load(const tree_lane<S> &in, const tree_entry *entry, int32_t k, tree_row<C> *to)
{
    const int2 e = __ldg((const int2 *)entry + k);
    to->row = e.x;
    to->flags = (uint32_t)e.y;
    to->diagonal = (C)__ldcs(in.diagonal.at + e.x * in.diagonal.step);
    to->rhs = (C)__ldcs(in.rhs.at + e.x * in.rhs.step);
    if (COEF) return;
    const bool root = to->flags & TREE_ROOT;
    to->lower = root ? (C)0 : (C)__ldcs(in.lower.at + e.x * in.lower.step);
    to->upper = root ? (C)0 : (C)__ldcs(in.upper.at + e.x * in.upper.step);
}

/* What all lanes share: from the first-level cache, late. */
template <class C, bool COEF> TREE_DEVICE void tree_load_coef(const C *coef, int32_t k, tree_row<C> *to)
{
    if (!COEF) return;
    typedef typename tree_number<C>::pair pair;
    const pair off = __ldg((const pair *)coef + 2 * (int64_t)k);
    to->lower = off.x;
    to->upper = off.y;
    to->least = __ldg(coef + 4 * (int64_t)k + 2);
}

/* Parts of a row in its parent's sums; off: of moduli. */
template <class C> struct tree_sums {
    C q, y, off;
};

template <class C> TREE_DEVICE tree_sums<C> tree_plus(const tree_sums<C> &x, const tree_sums<C> &y)
{
    return {x.q + y.q, x.y + y.y, x.off + y.off};
}

/* sum: of the row's children; becomes what the row adds to its parent's. Answers whether the row is surely fine. */
template <class C, bool COEF>
TREE_DEVICE bool tree_row_up(const tree_row<C> &in, tree_sums<C> *sum, typename tree_number<C>::pair *out)
{
    const bool leaf = in.flags & TREE_LEAF;
    const C w = (C)1 / (leaf ? in.diagonal : in.diagonal - sum->q);
    const C q = in.lower * w, y = (leaf ? in.rhs : in.rhs - sum->y) * w;
    const C least =
        COEF ? in.least : (leaf ? tree_abs(in.lower) : tree_abs(in.lower) + sum->off) * tree_number<C>::enough;
    *out = {q, y};
    *sum = {in.upper * q, in.upper * y, tree_abs(in.upper)};
    return tree_fine(in.diagonal, least) && (!(in.flags & TREE_ROOT) || tree_finite(y));
}

#endif
