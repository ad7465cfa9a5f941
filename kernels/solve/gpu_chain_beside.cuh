/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains on chip in any layout, made for lanes side by side (Full, Block): a block has a row of lanes, as many as
 * fill 128 bytes, and each of its threads a few chunks of one lane, which it reads where they are: a row's lanes in
 * one go, no element twice. The ends of chunks are turned in shared memory, so that each warp gets all chunks of a
 * lane. Included by gpu_chip_*.cu.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CHAIN_BESIDE_CUH
#define LACIS_KERNELS_SOLVE_GPU_CHAIN_BESIDE_CUH

#include "solve/gpu_chip.cuh"
#include "solve/gpu_cluster.cuh"

enum {
    BESIDE_THREADS = 512,
    BESIDE_AHEAD = 5, /* rows under way */
    BESIDE_SLOTS = BESIDE_AHEAD + 1,
    ENDS = 6
};

/* Shared memory of a block. Ends lie by chunk and lane, one place between chunks, so that neither all lanes of a
 * chunk nor all chunks of a lane meet in a bank. */
template <class T> struct beside_room {
    T *ends, *f, *before;
    ends_of<T> *segment;
    void *ahead; /* rows on their way, by row, field and thread */
    int *doubt;
    int chunks, lanes;

    __device__ __forceinline__ T &end(int which, int chunk, int lane) const
    {
        return ends[(which * chunks + chunk) * (lanes + 1) + lane];
    }
    __device__ __forceinline__ ends_of<T> get(int chunk, int lane) const
    {
        return {end(0, chunk, lane), end(1, chunk, lane), end(2, chunk, lane),
                end(3, chunk, lane), end(4, chunk, lane), end(5, chunk, lane)};
    }
    __device__ __forceinline__ void put(int chunk, int lane, const ends_of<T> &e) const
    {
        end(0, chunk, lane) = e.y, end(1, chunk, lane) = e.q, end(2, chunk, lane) = e.f;
        end(3, chunk, lane) = e.first_y, end(4, chunk, lane) = e.first_q, end(5, chunk, lane) = e.first_f;
    }
};

/* Chunks of a thread, and the blocks that registers are given out for. Long chunks of 8 bytes: one, else two. */
template <int TYPE> struct beside_bounds {
    static constexpr bool SMALL = sizeof(typename solve_of<TYPE>::T) < 8, LONG = TYPE >= SOLVE_LONG;
    static constexpr int CHUNKS = LONG && !SMALL ? 1 : 2;
    static constexpr int BLOCKS = SMALL && !LONG ? 2 : 1;
};

/* Threads of a block: whole warps. */
static inline int beside_threads(int chunks, int lanes, int each)
{
    return (chunks / each * lanes + 31) / 32 * 32;
}

template <int TYPE> static uint64_t beside_bytes(int chunks, int lanes)
{
    typedef typename solve_of<TYPE>::T T;
    const uint64_t ends = (uint64_t)ENDS * chunks * (lanes + 1);
    const int each = beside_bounds<TYPE>::CHUNKS, threads = beside_threads(chunks, lanes, each);
    const uint64_t kept = (uint64_t)solve_of<TYPE>::K * each * threads;
    const uint64_t segments = (uint64_t)(chunks + SEGMENT - 1) / SEGMENT;
    const uint64_t ahead = (uint64_t)BESIDE_SLOTS * SOLVE_GPU_FIELDS * threads;
    return sizeof(T) * (ends + kept + lanes) + sizeof(ends_of<T>) * segments * lanes +
           sizeof(typename solve_of<TYPE>::S) * ahead + sizeof(int) * lanes;
}

/* Into shared memory without waiting: 16 bytes go past the first-level cache. */
template <int BYTES> SOLVE_FN void bring_bytes(void *to, const void *from)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(BYTES) : "memory");
}
SOLVE_FN void close_row()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
SOLVE_FN void wait_for_row()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(BESIDE_AHEAD - 1) : "memory");
}

template <int TYPE> SOLVE_FN beside_room<typename solve_of<TYPE>::T> beside_room_of(const chip_job &job, char *memory)
{
    typedef typename solve_of<TYPE>::T T;
    beside_room<T> room;
    room.chunks = job.chunks;
    room.lanes = job.beside;
    room.ends = (T *)memory;
    room.f = room.ends + ENDS * job.chunks * (job.beside + 1);
    room.before = room.f + solve_of<TYPE>::K * beside_bounds<TYPE>::CHUNKS * (int)blockDim.x;
    room.segment = (ends_of<T> *)(room.before + job.beside);
    room.ahead = room.segment + (job.chunks + SEGMENT - 1) / SEGMENT * job.beside;
    room.doubt =
        (int *)((typename solve_of<TYPE>::S *)room.ahead + BESIDE_SLOTS * SOLVE_GPU_FIELDS * (int)blockDim.x);
    return room;
}

/* One segment a chain: several lanes to a warp where chunks are few. */
template <class T> SOLVE_FN void solve_ends(const beside_room<T> &room, int chunks)
{
    const int me = threadIdx.x % 32, warps = blockDim.x / 32, fit = 32 / chunks, chunk = me % chunks;
    for (int first = threadIdx.x / 32 * fit; first < room.lanes; first += warps * fit) {
        const int lane = first + me / chunks;
        const bool idle = me / chunks >= fit || lane >= room.lanes;
        watch w = {};
        const ends_of<T> ends = idle ? no_ends<T>() : room.get(chunk, lane);
        const T x = unknowns(ends, idle ? -1 : chunk, chunks, &w);
        if (idle) continue;
        room.end(0, chunk, lane) = x;
        if (in_doubt<T>(w)) room.doubt[lane] = 1;
    }
}

/* Several: what a segment has of its own, in place of its ends. */
template <class T> SOLVE_FN void solve_segments(const beside_room<T> &room)
{
    const int me = threadIdx.x % 32, warps = blockDim.x / 32, all = room.chunks / SEGMENT * room.lanes;
    for (int task = threadIdx.x / 32; task < all; task += warps) {
        const int lane = task % room.lanes, segment = task / room.lanes, chunk = segment * SEGMENT + me;
        watch w = {};
        const ends_of<T> ends = room.get(chunk, lane);
        const segment_of<T> own = segment_unknowns(ends, &w);
        const ends_of<T> mine = ends_of_segment(ends, own, &w);
        room.end(0, chunk, lane) = own.rhs, room.end(1, chunk, lane) = own.before;
        room.end(2, chunk, lane) = own.behind;
        if (me == 0) room.segment[task] = mine;
        if (in_doubt<T>(w)) room.doubt[lane] = 1;
    }
}

/* The unknowns of chunks, in place. */
template <bool MANY, class T>
SOLVE_FN void join_segments(const beside_room<T> &room, int segments, const solve_gpu_flags &flags,
                            int64_t first_lane, int some)
{
    const int me = threadIdx.x % 32, warps = blockDim.x / 32, each = room.chunks / SEGMENT, all = each * room.lanes;
    const int rank = (int)cluster_rank<MANY>();
    for (int task = threadIdx.x / 32; task < all; task += warps) {
        const int lane = task % room.lanes, own = task / room.lanes, segment = rank * each + own;
        const int chunk = own * SEGMENT + me;
        watch w = {};
        ends_of<T> of_all = no_ends<T>();
        bool doubt = false;
        if (me < segments) {
            of_all = *cluster_at<MANY>(&room.segment[me % each * room.lanes + lane], me / each);
            doubt = *cluster_at<MANY>(&room.doubt[lane], me / each) != 0;
        }
        const T of_segments = unknowns(of_all, me < segments ? me : -1, segments, &w);
        doubt = __any_sync(~0U, doubt || in_doubt<T>(w));
        const int known = segment < segments ? segment : 0;
        const segment_of<T> r = {room.end(0, chunk, lane), room.end(1, chunk, lane), room.end(2, chunk, lane)};
        room.end(0, chunk, lane) = unknown_of(r, of_segments, known);
        const T beyond = shuffle(of_segments, known > 0 ? known - 1 : 0);
        if (own == 0 && me == 0) room.before[lane] = known > 0 ? beyond : number<T>(0);
        if (segment == 0 && me == 0 && lane < some)
            solve_gpu_mark(flags, first_lane + lane, doubt ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
    }
}

/* How a thread brings its part of a row: WIDE, 16 bytes at a time past the first-level cache, also for threads beside
 * it in the warp; otherwise its own elements. SOME: some fields are shared, and read where they are. */
template <int TYPE, bool SOME, bool WIDE> struct beside_rows {
    typedef typename solve_of<TYPE>::S S;
    enum { GRAIN = WIDE ? 16 / sizeof(S) : 1, PARTS = SOLVE_GPU_FIELDS / GRAIN, M = beside_bounds<TYPE>::CHUNKS };
    solve_rows<const S> from[PARTS]; /* of the first row of the thread it is for */
    int to[PARTS], rows[PARTS];      /* in a slot of the ring; that there are */
    S *ring;
    bool skip[PARTS];

    __device__ __forceinline__ void set(const chip_job &job, const lacis_solve_group &group, int64_t begin, int some,
                                        int before_block, S *ahead)
    {
        enum { EACH = 32 / GRAIN }; /* parts of a warp's row of one field */
        ring = ahead;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const int item = part * 32 + (int)threadIdx.x % 32, field = item / EACH;
            const int thread = (int)threadIdx.x / 32 * 32 + item % EACH * GRAIN;
            const int lane = thread % job.beside, own = thread / job.beside * M;
            const int row = (before_block + own) * solve_of<TYPE>::K;
            const bool none = lane >= some || own >= job.chunks;
            from[part] = rows_of<S>(job.fields, field, group, begin + (none ? 0 : lane));
            from[part].at += row * from[part].step;
            rows[part] = none ? 0 : (int)group.rows - row;
            to[part] = field * (int)blockDim.x + thread;
            skip[part] = SOME && job.fields.shared[field];
        }
    }
    __device__ __forceinline__ void bring(int i) const
    {
#pragma unroll
        for (int part = 0; part < PARTS; part++)
            if (i < rows[part] && !skip[part])
                bring_bytes<GRAIN * sizeof(S)>(
                    ring + i % BESIDE_SLOTS * SOLVE_GPU_FIELDS * (int)blockDim.x + to[part], &from[part][i]);
        close_row();
    }
    /* Of this thread's own row i, when it has come. */
    __device__ __forceinline__ const S &at(int i, int field) const
    {
        return ring[(i % BESIDE_SLOTS * SOLVE_GPU_FIELDS + field) * (int)blockDim.x + threadIdx.x];
    }
};

/* A block's (or cluster's) lanes: a task. */
struct beside_task {
    const lacis_solve_group *group;
    int64_t begin; /* the first lane, of the group */
    int rows, chunks, some;
};
SOLVE_FN beside_task beside_task_of(const chip_job &job, int64_t task)
{
    beside_task t;
    t.group = group_of(job.groups, &task);
    t.rows = (int)t.group->rows;
    t.begin = task * job.beside;
    t.some = t.group->lanes - t.begin < job.beside ? (int)(t.group->lanes - t.begin) : job.beside;
    return t;
}

/* Blocks stay and take one task after another: while the chunks of one are joined and its x goes out, the first rows
 * of the next are on their way. */
template <int TYPE, bool SOME, bool WIDE, bool SEGMENTS, bool MANY>
__global__ void __launch_bounds__(BESIDE_THREADS, beside_bounds<TYPE>::BLOCKS) beside_kernel(const chip_job job)
{
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    enum { K = solve_of<TYPE>::K, M = beside_bounds<TYPE>::CHUNKS };
    extern __shared__ __align__(16) char memory[];
    solve_gpu_begin();
    const beside_room<T> room = beside_room_of<TYPE>(job, memory);
    const int mine = (int)threadIdx.x % job.beside, own = (int)threadIdx.x / job.beside * M;
    const int before_block = SEGMENTS ? (int)cluster_rank<MANY>() * job.chunks : 0,
              first_row = (before_block + own) * K;
    const int64_t stride = gridDim.x / job.blocks;
    T *const f = room.f + threadIdx.x;
    const int pitch = blockDim.x;
    int64_t task = blockIdx.x / job.blocks;
    const auto rows_in = [&](const beside_task &t) {
        beside_rows<TYPE, SOME, WIDE> in;
        in.set(job, *t.group, t.begin, t.some, before_block, (S *)room.ahead);
        return in;
    };
    const auto begin_task = [&](const beside_task &t) {
        const beside_rows<TYPE, SOME, WIDE> in = rows_in(t);
#pragma unroll
        for (int i = 0; i < BESIDE_AHEAD; i++)
            in.bring(i);
    };
    if ((int)threadIdx.x < job.beside) room.doubt[threadIdx.x] = 0;
    begin_task(beside_task_of(job, task));
    while (task < job.groups.tasks) {
        const beside_task t = beside_task_of(job, task);
        const bool idle = mine >= t.some || own >= room.chunks;
        const int all = idle ? 0 : t.rows - first_row, chunks = (t.rows + K - 1) / K;
        const beside_rows<TYPE, SOME, WIDE> in = rows_in(t); /* again: registers are scarce while chunks are joined */
        T y[M][K], q[M][K];
        watch w = {};
        __syncthreads(); /* nobody reads ends or doubts of the task before any more */
        solve_rows<const S> near[SOME ? SOLVE_GPU_FIELDS : 1]; /* shared: of few lines, which stay near */
        if (SOME)
#pragma unroll
            for (int field = 0; field < SOLVE_GPU_FIELDS; field++)
                near[field] = rows_of<S>(job.fields, field, *t.group, t.begin + (idle ? 0 : mine));
        const auto take = [&](T *to, int i, int field) {
            load_as(to, SOME && job.fields.shared[field] ? near[SOME ? field : 0][first_row + i] : in.at(i, field));
        };
#pragma unroll
        for (int m = 0; m < M; m++) {
            const auto get = [&](int in_chunk) {
                const int i = m * K + in_chunk;
                row_of<T> r = {number<T>(0), number<T>(1), number<T>(0), number<T>(0)};
                wait_for_row();
                if (WIDE)
                    __syncwarp(); /* others have brought it; and all have taken the row before, whose place is next */
                if (i + BESIDE_AHEAD < M * K)
                    in.bring(i + BESIDE_AHEAD);
                else
                    close_row();
                if (i < all) {
                    if (i > 0 || first_row > 0) take(&r.lower, i, SOLVE_GPU_LOWER);
                    if (i < all - 1) take(&r.upper, i, SOLVE_GPU_UPPER);
                    take(&r.diagonal, i, SOLVE_GPU_DIAGONAL);
                    take(&r.rhs, i, SOLVE_GPU_RHS);
                }
                return r;
            };
            const auto keep = [&](int i, const row_of<T> &, T, const ends_of<T> &e) {
                y[m][i] = e.y, q[m][i] = e.q, f[(m * K + i) * pitch] = e.f;
            };
            const ends_of<T> ends = eliminate<T, K>(get, keep, &w);
            if (own < room.chunks) room.put(own + m, mine, ends);
        }
        if (!idle && in_doubt<T>(w)) room.doubt[mine] = 1;
        __syncthreads();
        task += stride;
        if (task < job.groups.tasks) begin_task(beside_task_of(job, task)); /* all rows of this one have been taken */
        if (SEGMENTS) {
            solve_segments(room);
            cluster_meet<MANY>();
            join_segments<MANY>(room, (chunks + SEGMENT - 1) / SEGMENT, job.flags, t.group->first + t.begin, t.some);
            cluster_meet<MANY>(); /* and nobody goes on before the others have read its shared memory */
        } else {
            solve_ends(room, chunks);
            __syncthreads();
            if ((int)threadIdx.x < t.some)
                solve_gpu_mark(job.flags, t.group->first + t.begin + threadIdx.x,
                               room.doubt[threadIdx.x] != 0 ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
        }
        if ((int)threadIdx.x < job.beside) room.doubt[threadIdx.x] = 0;
        if (idle) continue;
        const solve_rows<S> out = x_rows_of<S>(job.fields, *t.group, t.begin + mine);
#pragma unroll
        for (int m = M - 1; m >= 0; m--) {
            const int chunk = own + m, row = (before_block + chunk) * K, left = t.rows - row;
            if (left <= 0) continue;
            T x = room.end(0, chunk, mine), before = number<T>(0);
            if (chunk > 0)
                before = room.end(0, chunk - 1, mine);
            else if (SEGMENTS)
                before = room.before[mine];
#pragma unroll
            for (int i = K - 1; i >= 0; i--) {
                if (i < K - 1) x = less(less(y[m][i], q[m][i], x), f[(m * K + i) * pitch], before);
                if (i < left) load_as(&out[row + i], x);
            }
        }
    }
}

#endif
