/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a task of a kernel finds its lanes. Every kernel runs over tasks of all groups it was launched for: one group
 * is passed by value, several as a table on the device.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_PLACE_CUH
#define LACIS_KERNELS_SOLVE_GPU_PLACE_CUH

#include "solve/gpu_number.cuh"

enum { SOLVE_GPU_LOWER, SOLVE_GPU_DIAGONAL, SOLVE_GPU_UPPER, SOLVE_GPU_RHS, SOLVE_GPU_FIELDS };

typedef struct solve_gpu_groups {
    lacis_solve_group one;          /* table is NULL */
    const lacis_solve_group *table; /* device */
    const int64_t *begin;           /* device: first task of each group, and the number of all behind them */
    int64_t count, tasks;
} solve_gpu_groups;

/* The fields of a job, for kernels. */
typedef struct solve_gpu_fields {
    const void *in[SOLVE_GPU_FIELDS];
    bool shared[SOLVE_GPU_FIELDS];
    void *x;
} solve_gpu_fields;

static inline solve_gpu_fields solve_gpu_fields_of(const lacis_solve_job *job)
{
    solve_gpu_fields f = {{job->lower.data, job->diagonal.data, job->upper.data, job->rhs.data},
                          {job->lower.shared, job->diagonal.shared, job->upper.shared, job->rhs.shared},
                          job->x};
    return f;
}

/* The number of a task's group in the launch; *task becomes the task's number within it. */
SOLVE_FN int64_t group_number(const solve_gpu_groups &groups, int64_t *task)
{
    if (groups.table == nullptr) return 0;
    int64_t low = 0, high = groups.count;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (groups.begin[middle] <= *task)
            low = middle;
        else
            high = middle;
    }
    *task -= groups.begin[low];
    return low;
}

SOLVE_FN const lacis_solve_group *group_at(const solve_gpu_groups &groups, int64_t number)
{
    return groups.table == nullptr ? &groups.one : groups.table + number;
}

SOLVE_FN const lacis_solve_group *group_of(const solve_gpu_groups &groups, int64_t *task)
{
    return group_at(groups, group_number(groups, task));
}

SOLVE_FN int64_t place_of(const lacis_solve_side &side, int64_t rows, int64_t lane)
{
    const int64_t l = lane + side.lane;
    if (side.block == 1) return side.place + l * rows;
    if (l < side.block) return side.place + l; /* spares a division */
    const int64_t flock = l / side.block;
    return side.place + flock * side.block * rows + l % side.block;
}

template <class S> struct solve_rows {
    S *at;
    int64_t step;
    __device__ __forceinline__ S &operator[](int64_t row) const
    {
        return at[row * step];
    }
};

template <class S>
SOLVE_FN solve_rows<const S> rows_of(const solve_gpu_fields &fields, int field, const lacis_solve_group &group,
                                     int64_t lane)
{
    const lacis_solve_side &side = field == SOLVE_GPU_RHS ? group.rhs : group.matrix;
    const S *data = (const S *)fields.in[field];
    if (fields.shared[field]) return {data + side.row, side.step};
    return {data + place_of(side, group.rows, lane), side.block};
}

template <class S>
SOLVE_FN solve_rows<S> x_rows_of(const solve_gpu_fields &fields, const lacis_solve_group &group, int64_t lane)
{
    return {(S *)fields.x + place_of(group.x, group.rows, lane), group.x.block};
}

#endif
