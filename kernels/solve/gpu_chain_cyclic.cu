/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains by cyclic reduction, CR-PCR of Zhang, Cohen and Owens (PPoPP 2010): a block has a chain in shared memory.
 * Each step takes every second unknown out of the rows that are left, until a few dozen are; those are solved by
 * parallel cyclic reduction, a thread a row; then each step backwards gives the unknowns that it had taken out. Row i
 * is part of the step of distance s if i + 1 is a multiple of s, so chains need not be as long as a power of two.
 * Called from gpu_chain.cu.
 *
 * Half of the threads are idle in the first step and half of the rest in each that follows, and every step goes
 * through shared memory: gpu_chip.cuh comes to as few rows in registers. This is the way to compare that with. Nor is
 * it as exact where rows are hardly dominant: x is checked, and lanes that are off are solved again in the steps of
 * solve.h.
 */
#include "common/gpu_shared.h"
#include "solve/gpu_chain.h"
#include "solve/gpu_chip.cuh"

enum { CYCLIC_LAST = 64, CYCLIC_THREADS = 256 };

/* Rows s apart lie in different banks: one place more every 16. */
SOLVE_FN int cyclic_place(int row)
{
    return row + row / 16;
}
static int64_t cyclic_places(int64_t rows)
{
    return rows + rows / 16 + 1;
}

template <class T> struct cyclic_rows {
    T *lower, *diagonal, *upper, *rhs; /* rhs becomes x */
    int count;

    __device__ __forceinline__ row_of<T> get(int row) const
    {
        const int at = cyclic_place(row);
        return {lower[at], diagonal[at], upper[at], rhs[at]};
    }
    __device__ __forceinline__ void put(int row, const row_of<T> &r) const
    {
        const int at = cyclic_place(row);
        lower[at] = r.lower, diagonal[at] = r.diagonal, upper[at] = r.upper, rhs[at] = r.rhs;
    }
    /* Beyond the ends there are rows of the identity. */
    __device__ __forceinline__ row_of<T> get_near(int row) const
    {
        if (row >= 0 && row < count) return get(row);
        return {number<T>(0), number<T>(1), number<T>(0), number<T>(0)};
    }
};

template <class T> SOLVE_FN T cyclic_inverse(T x, watch *w)
{
    const T inv = quick_inverse(x);
    w->top = max(w->top, high_bits(inv));
    return inv;
}

/* A row without the unknowns of the rows on either side, which bring in theirs. */
template <class T>
SOLVE_FN row_of<T> without(const row_of<T> &r, const row_of<T> &low, const row_of<T> &high, watch *w)
{
    const T below = times(r.lower, cyclic_inverse(low.diagonal, w)),
            above = times(r.upper, cyclic_inverse(high.diagonal, w));
    return {negative(times(below, low.lower)), less(less(r.diagonal, below, low.upper), above, high.lower),
            negative(times(above, high.upper)), less(less(r.rhs, below, low.rhs), above, high.rhs)};
}

/* The chain's fields in device memory. */
template <int TYPE> struct cyclic_fields {
    typedef typename solve_of<TYPE>::T T;
    solve_rows<const typename solve_of<TYPE>::S> in[SOLVE_GPU_FIELDS];
    int count;

    __device__ __forceinline__ row_of<T> get(int row) const
    {
        row_of<T> r = {number<T>(0), number<T>(0), number<T>(0), number<T>(0)};
        if (row > 0) load_as(&r.lower, in[SOLVE_GPU_LOWER][row]);
        load_as(&r.diagonal, in[SOLVE_GPU_DIAGONAL][row]);
        if (row < count - 1) load_as(&r.upper, in[SOLVE_GPU_UPPER][row]);
        load_as(&r.rhs, in[SOLVE_GPU_RHS][row]);
        return r;
    }
};

template <int TYPE>
SOLVE_FN void fetch_chain(const cyclic_fields<TYPE> &fields, const cyclic_rows<typename solve_of<TYPE>::T> &rows,
                          watch *w)
{
    for (int i = threadIdx.x; i < rows.count; i += blockDim.x) {
        const row_of<typename solve_of<TYPE>::T> r = fields.get(i);
        look(w, r.lower, r.diagonal, r.upper, r.rhs);
        rows.put(i, r);
    }
}

/* Down to CYCLIC_LAST rows at most; how far they are apart. */
template <class T> SOLVE_FN int reduce_rows(const cyclic_rows<T> &rows, watch *w)
{
    int s = 1;
    for (; rows.count / s > CYCLIC_LAST; s *= 2) {
        __syncthreads();
        for (int i = 2 * s * ((int)threadIdx.x + 1) - 1; i < rows.count; i += 2 * s * (int)blockDim.x)
            rows.put(i, without(rows.get(i), rows.get(i - s), rows.get_near(i + s), w));
    }
    return s;
}

/* Rows s apart, one a thread: x in the place of their right sides. */
template <class T> SOLVE_FN void solve_rows_left(const cyclic_rows<T> &rows, int s, watch *w)
{
    const int count = rows.count / s, me = (int)threadIdx.x, row = s * (me + 1) - 1;
    row_of<T> r = {};
    __syncthreads();
    if (me < count) r = rows.get(row);
    for (int far = 1; far < count; far *= 2) {
        if (me < count) {
            const row_of<T> none = {number<T>(0), number<T>(1), number<T>(0), number<T>(0)};
            const row_of<T> low = me >= far ? rows.get(row - far * s) : none;
            const row_of<T> high = me + far < count ? rows.get(row + far * s) : none;
            r = without(r, low, high, w);
        }
        __syncthreads();
        if (me < count) rows.put(row, r);
        __syncthreads();
    }
    if (me < count) rows.rhs[cyclic_place(row)] = times(r.rhs, cyclic_inverse(r.diagonal, w));
}

/* The unknowns that the steps took out, the last step's first. */
template <class T> SOLVE_FN void give_back(const cyclic_rows<T> &rows, int s, watch *w)
{
    const T none = number<T>(0);
    for (s /= 2; s > 0; s /= 2) {
        __syncthreads();
        for (int i = s - 1 + 2 * s * (int)threadIdx.x; i < rows.count; i += 2 * s * (int)blockDim.x) {
            const row_of<T> r = rows.get(i);
            const T low = i >= s ? rows.rhs[cyclic_place(i - s)] : none;
            const T high = i + s < rows.count ? rows.rhs[cyclic_place(i + s)] : none;
            rows.rhs[cyclic_place(i)] =
                times(less(less(r.rhs, r.lower, low), r.upper, high), cyclic_inverse(r.diagonal, w));
        }
    }
    __syncthreads();
}

SOLVE_FN double rough_size(double x)
{
    return fabs(x);
}
SOLVE_FN float rough_size(float x)
{
    return fabsf(x);
}
SOLVE_FN double rough_size(solve_complex z)
{
    return fabs(z.re) + fabs(z.im);
}
SOLVE_FN double roundings(double count)
{
    return count * 0x1p-53;
}
SOLVE_FN float roundings(float count)
{
    return count * 0x1p-24F;
}

/* Each unknown of the last rows comes from sums of its own, which where rows are hardly dominant may have cancelled
 * in other ways than their neighbours': so x is put into the rows as they were. Whether one is off by more than some
 * tens of roundings of its terms, or these overflow, which says nothing of x. */
template <int TYPE>
SOLVE_FN bool is_off(const cyclic_fields<TYPE> &fields, const cyclic_rows<typename solve_of<TYPE>::T> &rows, int row)
{
    typedef typename solve_of<TYPE>::T T;
    const row_of<T> r = fields.get(row);
    const T none = number<T>(0), x = rows.rhs[cyclic_place(row)];
    const T low = row > 0 ? rows.rhs[cyclic_place(row - 1)] : none;
    const T high = row < rows.count - 1 ? rows.rhs[cyclic_place(row + 1)] : none;
    const T below = times(r.lower, low), own = times(r.diagonal, x), above = times(r.upper, high);
    const auto left = rough_size(((r.rhs - below) - own) - above);
    const auto terms = rough_size(r.rhs) + rough_size(below) + rough_size(own) + rough_size(above);
    return !(left <= terms * roundings(decltype(left)(64)) && terms < decltype(left)(INFINITY));
}

struct cyclic_job {
    solve_gpu_groups groups;
    solve_gpu_fields fields;
    solve_gpu_flags flags;
    int places; /* in shared memory, of a field */
};

template <int TYPE>
__global__ void __launch_bounds__(CYCLIC_THREADS) cyclic_kernel(const __grid_constant__ cyclic_job job)
{
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    extern __shared__ __align__(16) char memory[];
    solve_gpu_begin();
    for (int64_t task = blockIdx.x; task < job.groups.tasks; task += gridDim.x) {
        int64_t lane = task;
        const lacis_solve_group group = *group_of(job.groups, &lane);
        T *first = (T *)memory;
        const cyclic_rows<T> rows = {first, first + job.places, first + 2 * job.places, first + 3 * job.places,
                                     (int)group.rows};
        cyclic_fields<TYPE> fields;
        fields.count = rows.count;
        for (int f = 0; f < SOLVE_GPU_FIELDS; f++)
            fields.in[f] = rows_of<S>(job.fields, f, group, lane);
        watch w = {0, 0};
        fetch_chain(fields, rows, &w);
        const int s = reduce_rows(rows, &w);
        solve_rows_left(rows, s, &w);
        give_back(rows, s, &w);
        const solve_rows<S> x = x_rows_of<S>(job.fields, group, lane);
        bool off = false;
        for (int i = threadIdx.x; i < rows.count; i += blockDim.x) {
            off = off || is_off(fields, rows, i);
            load_as(&x[i], rows.rhs[cyclic_place(i)]);
        }
        const int doubt = __syncthreads_or(off || in_doubt<T>(w));
        if (threadIdx.x == 0) solve_gpu_mark(job.flags, group.first + lane, doubt ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
    }
}

static const void *kernel_of(lacis_solve_type type)
{
    switch (type) {
    case LACIS_SOLVE_F64:
        return (const void *)cyclic_kernel<LACIS_SOLVE_F64>;
    case LACIS_SOLVE_F32:
        return (const void *)cyclic_kernel<LACIS_SOLVE_F32>;
    case LACIS_SOLVE_MIXED:
        return (const void *)cyclic_kernel<LACIS_SOLVE_MIXED>;
    case LACIS_SOLVE_C128:
    case LACIS_SOLVE_TYPES:
        break;
    }
    return (const void *)cyclic_kernel<LACIS_SOLVE_C128>;
}

static uint64_t computed_bytes(lacis_solve_type type)
{
    return type == LACIS_SOLVE_C128 ? 16 : type == LACIS_SOLVE_F32 ? 4 : 8;
}

static uint64_t bytes_of(lacis_solve_type type, int64_t rows)
{
    return (uint64_t)SOLVE_GPU_FIELDS * (uint64_t)cyclic_places(rows) * computed_bytes(type);
}

int64_t solve_gpu_cyclic_longest(lacis_solve_type type)
{
    const int64_t bytes = 32 << 10; /* of a field: 139 KB with what lies between the rows */
    return bytes / (int64_t)computed_bytes(type);
}

bool solve_gpu_cyclic_fits(const solve_gpu_device *device, lacis_solve_type type, int64_t rows)
{
    return rows <= solve_gpu_cyclic_longest(type) && bytes_of(type, rows) <= (uint64_t)device->shared_bytes;
}

/* A thread for each row that the first step leaves, and for each of the last ones. */
static unsigned threads_for(int64_t rows)
{
    unsigned threads = CYCLIC_LAST;
    while (threads < CYCLIC_THREADS && threads < rows / 2)
        threads *= 2;
    return threads;
}

cudaError_t solve_gpu_cyclic(const solve_gpu_launch *launch)
{
    const int64_t most = INT32_MAX; /* of blocks */
    cyclic_job job;
    job.groups = launch->groups;
    job.fields = launch->fields;
    job.flags = launch->flags;
    job.places = (int)cyclic_places(launch->most_rows);
    const void *kernel = kernel_of(launch->type);
    const uint64_t bytes = bytes_of(launch->type, launch->most_rows);
    const cudaError_t error = lacis_gpu_all_shared(kernel);
    if (error != cudaSuccess) return error;
    const solve_gpu_start_at at = {dim3((unsigned)(launch->groups.tasks < most ? launch->groups.tasks : most)),
                                   threads_for(launch->most_rows), 1, bytes, launch->stream};
    void *arguments[] = {&job};
    return solve_gpu_start(&at, kernel, arguments);
}
