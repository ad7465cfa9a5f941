/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains, a thread a system, streaming (cuThomasBatch, Valero-Lara et al. 2018): the very steps of solve.h, so the
 * bits of the CPU. Rows are taken in tiles, to have many loads under way. q and y wait for the second sweep in device
 * memory, lanes side by side, whatever the layout. Lanes that lie one behind the other are turned in shared memory, a
 * warp's tile at a time. Called from gpu_chain.cu.
 */
#include "solve/gpu_chain.h"

enum {
    THREADS = 64,
    TILE = 8,
    SLOTS_MOST = 132 * 2048 /* more are not in flight anyway */
};
static const uint64_t bytes_most = (uint64_t)2 << 30;

/* Rows [row, row + TILE) of 32 lanes, one behind the other in memory, through shared memory. Beside one another in a
 * row of the tile there are as many elements as 64 bytes hold. */
template <class S> struct turn {
    enum { WIDE = 64 / sizeof(S) < TILE ? 64 / sizeof(S) : TILE, PITCH = TILE + 1 };
    S at[32 * PITCH];
};

/* A warp's lanes of one field where they lie one behind the other. */
template <class S> SOLVE_FN void bring(turn<S> *tile, const S *first, int64_t rows, int lanes, int64_t row)
{
    enum { WIDE = turn<S>::WIDE };
    const int me = threadIdx.x % 32;
    for (int at = me; at < 32 * TILE; at += 32) {
        const int lane = at / WIDE % 32, r = at % WIDE + at / (32 * WIDE) * WIDE;
        if (lane < lanes && row + r < rows) tile->at[lane * turn<S>::PITCH + r] = first[lane * rows + row + r];
    }
}

template <class S> SOLVE_FN void send(const turn<S> *tile, S *first, int64_t rows, int lanes, int64_t row)
{
    enum { WIDE = turn<S>::WIDE };
    const int me = threadIdx.x % 32;
    for (int at = me; at < 32 * TILE; at += 32) {
        const int lane = at / WIDE % 32, r = at % WIDE + at / (32 * WIDE) * WIDE;
        if (lane < lanes && row + r < rows) first[lane * rows + row + r] = tile->at[lane * turn<S>::PITCH + r];
    }
}

struct thread_job {
    solve_gpu_groups groups;
    solve_gpu_fields fields;
    solve_gpu_flags flags;
    void *work; /* q, then y: slots x most_rows each */
    int64_t slots, most_rows;
};

/* One row is in doubt: see solve.h. */
template <class T> SOLVE_FN bool in_doubt(T lower, T diagonal, T upper, T rhs, T w)
{
    const auto off = modulus(lower) + modulus(upper), size = modulus(diagonal);
    const auto all = (off + size) + modulus(rhs);
    return !(with_slack(size) - off >= 0) || !is_finite(all) || !is_finite(w);
}

/* One lane of a warp. TURN: lanes lie one behind the other. */
template <int TYPE, bool TURN> struct thread_lane {
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    const thread_job &job;
    turn<S> *tile; /* of the warp: one a field */
    T *keep_q, *keep_y;
    int64_t rows;
    int lanes, me; /* lanes of the warp that there are; threads beyond go along with the first */
    bool doubt;

    __device__ __forceinline__ int ahead() const
    {
        return me < lanes ? me : 0;
    }

    __device__ __forceinline__ void bring_tile(const solve_rows<const S> *in, int64_t row)
    {
        __syncwarp();
        for (int f = 0; f < SOLVE_GPU_FIELDS; f++)
            if (!job.fields.shared[f]) bring(&tile[f], in[f].at - ahead() * rows, rows, lanes, row);
        __syncwarp();
    }

    __device__ __forceinline__ T get(const solve_rows<const S> *in, int f, int64_t row, int i) const
    {
        const int64_t r = row + i;
        const bool none = (f == SOLVE_GPU_LOWER && r == 0) || (f == SOLVE_GPU_UPPER && r == rows - 1);
        T x = number<T>(0);
        if (r < rows && !none)
            load_as(&x, TURN && !job.fields.shared[f] ? tile[f].at[me * turn<S>::PITCH + i] : in[f][r]);
        return x;
    }

    __device__ __forceinline__ void down(const solve_rows<const S> *in)
    {
        T q = number<T>(0), y = number<T>(0);
        doubt = false;
        for (int64_t row = 0; row < rows; row += TILE) {
            T take[SOLVE_GPU_FIELDS][TILE];
            if (TURN) bring_tile(in, row);
#pragma unroll
            for (int f = 0; f < SOLVE_GPU_FIELDS; f++)
#pragma unroll
                for (int i = 0; i < TILE; i++)
                    take[f][i] = get(in, f, row, i);
#pragma unroll
            for (int i = 0; i < TILE; i++) {
                if (row + i >= rows) break;
                const T lower = take[SOLVE_GPU_LOWER][i], diagonal = take[SOLVE_GPU_DIAGONAL][i];
                const T w = inverse(diagonal - lower * q);
                q = take[SOLVE_GPU_UPPER][i] * w;
                y = (take[SOLVE_GPU_RHS][i] - lower * y) * w;
                doubt = doubt || in_doubt(lower, diagonal, take[SOLVE_GPU_UPPER][i], take[SOLVE_GPU_RHS][i], w);
                keep_q[(row + i) * job.slots] = q;
                keep_y[(row + i) * job.slots] = y;
            }
        }
    }

    __device__ __forceinline__ void up(const solve_rows<S> &out)
    {
        T x = number<T>(0);
        for (int64_t row = (rows - 1) / TILE * TILE; row >= 0; row -= TILE) {
            T q[TILE], y[TILE];
#pragma unroll
            for (int i = 0; i < TILE; i++) {
                const bool there = row + i < rows;
                q[i] = there ? keep_q[(row + i) * job.slots] : number<T>(0);
                y[i] = there ? keep_y[(row + i) * job.slots] : number<T>(0);
            }
            if (TURN) __syncwarp();
#pragma unroll
            for (int i = TILE - 1; i >= 0; i--) {
                if (row + i >= rows) continue;
                x = y[i] - q[i] * x;
                if (TURN)
                    load_as(&tile[0].at[me * turn<S>::PITCH + i], x);
                else if (me < lanes)
                    load_as(&out[row + i], x);
            }
            if (!TURN) continue;
            __syncwarp();
            send(&tile[0], out.at - ahead() * rows, rows, lanes, row);
        }
    }
};

template <int TYPE, bool TURN> __global__ void __launch_bounds__(THREADS, 8) thread_kernel(const thread_job job)
{
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    __shared__ turn<S> tiles[TURN ? THREADS / 32 : 1][SOLVE_GPU_FIELDS];
    const int warp = threadIdx.x / 32, me = threadIdx.x % 32;
    T *keep = (T *)job.work + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    for (int64_t t = blockIdx.x; t < job.groups.tasks; t += gridDim.x) {
        int64_t task = t;
        const lacis_solve_group &group = *group_of(job.groups, &task);
        const int64_t begin = task * THREADS + warp * 32, left = group.lanes - begin;
        const int lanes = left <= 0 ? 0 : left < 32 ? (int)left : 32;
        if (lanes == 0) continue; /* the whole warp */
        thread_lane<TYPE, TURN> own = {
            job, tiles[TURN ? warp : 0], keep, keep + job.slots * job.most_rows, group.rows, lanes, me, false};
        const int64_t lane = begin + own.ahead();
        solve_rows<const S> in[SOLVE_GPU_FIELDS];
        for (int f = 0; f < SOLVE_GPU_FIELDS; f++)
            in[f] = rows_of<S>(job.fields, f, group, lane);
        own.down(in);
        own.up(x_rows_of<S>(job.fields, group, lane));
        if (me < lanes) solve_gpu_mark(job.flags, group.first + lane, own.doubt ? SOLVE_GPU_DOUBT : SOLVE_GPU_SURE);
    }
}

/* --- host ------------------------------------------------------------------------------------------------ */

static uint64_t row_bytes(lacis_solve_type type)
{
    return 2 * (type == LACIS_SOLVE_C128 ? 16 : type == LACIS_SOLVE_F32 ? 4 : 8);
}

int64_t solve_gpu_thread_tasks(int64_t lanes)
{
    return (lanes + THREADS - 1) / THREADS;
}

int64_t solve_gpu_thread_slots(int64_t rows, int64_t tasks, lacis_solve_type type)
{
    const uint64_t fit = bytes_most / (row_bytes(type) * (uint64_t)rows);
    int64_t most = fit < SLOTS_MOST ? (int64_t)fit / THREADS : SLOTS_MOST / THREADS;
    if (most < 1) most = 1;
    return (tasks < most ? tasks : most) * THREADS;
}

uint64_t solve_gpu_thread_bytes(int64_t rows, int64_t slots, lacis_solve_type type)
{
    return (uint64_t)rows * (uint64_t)slots * row_bytes(type);
}

template <int TYPE> static void launch_of(const solve_gpu_launch *l, const thread_job &job)
{
    const unsigned blocks = (unsigned)(job.slots / THREADS);
    if (l->lie == SOLVE_GPU_BEHIND)
        thread_kernel<TYPE, true><<<blocks, THREADS, 0, l->stream>>>(job);
    else
        thread_kernel<TYPE, false><<<blocks, THREADS, 0, l->stream>>>(job);
}

cudaError_t solve_gpu_thread(const solve_gpu_launch *l, void *work, int64_t slots)
{
    const thread_job job = {l->groups, l->fields, l->flags, work, slots, l->most_rows};
    if (l->type == LACIS_SOLVE_F64) launch_of<LACIS_SOLVE_F64>(l, job);
    if (l->type == LACIS_SOLVE_F32) launch_of<LACIS_SOLVE_F32>(l, job);
    if (l->type == LACIS_SOLVE_MIXED) launch_of<LACIS_SOLVE_MIXED>(l, job);
    if (l->type == LACIS_SOLVE_C128) launch_of<LACIS_SOLVE_C128>(l, job);
    return cudaGetLastError();
}
