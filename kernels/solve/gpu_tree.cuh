/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of trees share: the job as they see it, where a lane's rows lie, and the look at rows.
 *
 * A row is surely fine if |diagonal| reaches `least`, a little less than solve.h wants of it, and is finite; and all
 * of the lane is if so are all rows and y of every root is finite: whatever else is not finite, an inverse of a pivot
 * too, ends up there, since a sum or product that it enters is not finite either.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_TREE_CUH
#define LACIS_KERNELS_SOLVE_GPU_TREE_CUH

#include "gpu_tree_host.h"

#define TREE_DEVICE static __device__ __forceinline__

typedef struct tree_params {
    lacis_solve_field lower, diagonal, upper, rhs;
    void *x;
    solve_gpu_flags flags;
    const tree_group *group; /* NULL: there is only `one` */
    tree_group one;
    int64_t groups, tiles, weight;
    const char *plan;
    void *coef, *scratch, *stack;
    int64_t most_rows;
    int32_t most_depth;
    int32_t barriers;   /* LANES: of the shape that has most */
    int32_t phase;      /* BRANCHES: this launch's, */
    int64_t first_tile; /* of these tiles */
} tree_params;

/* The group that has tile `tile`. */
TREE_DEVICE tree_group tree_group_of(const tree_params &p, int64_t tile)
{
    if (p.group == NULL) return p.one;
    int64_t low = 0, high = p.groups;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (p.group[middle].tile <= tile)
            low = middle;
        else
            high = middle;
    }
    return p.group[low];
}

/* Row 0 of a lane, and how far its rows are apart. */
template <class S> struct tree_column {
    S *at;
    int64_t step;
};

template <class S>
TREE_DEVICE tree_column<S> tree_column_at(const void *data, bool shared, const lacis_solve_side &side, int64_t rows,
                                          int64_t lane)
{
    if (shared) return {(S *)data + side.row, side.step};
    const int64_t l = lane + side.lane;
    if (side.block == 1) return {(S *)data + side.place + l * rows, 1};
    if (l < side.block) return {(S *)data + side.place + l, side.block};
    const int64_t flock = l / side.block;
    return {(S *)data + side.place + flock * side.block * rows + (l - flock * side.block), side.block};
}

/* By type computed in: how much less than the sum of a row's other elements is surely enough, half of the slack. */
template <class C> struct tree_number;
template <> struct tree_number<double> {
    typedef double2 pair;
    static constexpr double enough = 1 - 5e-13;
};
template <> struct tree_number<float> {
    typedef float2 pair;
    static constexpr float enough = 1 - 5e-6F;
};

TREE_DEVICE double tree_abs(double x)
{
    return fabs(x);
}
TREE_DEVICE float tree_abs(float x)
{
    return fabsf(x);
}
TREE_DEVICE double tree_infinity(double)
{
    return __longlong_as_double(0x7ff0000000000000LL);
}
TREE_DEVICE float tree_infinity(float)
{
    return __int_as_float(0x7f800000);
}

template <class C> TREE_DEVICE bool tree_fine(C diagonal, C least)
{
    const C size = tree_abs(diagonal);
    return size >= least && size < tree_infinity(C());
}

template <class C> TREE_DEVICE bool tree_finite(C x)
{
    return tree_abs(x) < tree_infinity(C());
}

#endif
