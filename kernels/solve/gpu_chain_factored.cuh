/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains on chip, of one segment, whose matrix all lanes share: one warp a group does everything that the matrix
 * alone gives, once (factor_kernel), and the lanes only take their right sides through it, two words an unknown. The
 * steps are those of gpu_chip.cuh, so the bits are those of the same matrices given lane by lane. Blocks stay and
 * take one task after another, to bring the factors into shared memory once. Included by gpu_chip_*.cu.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CHAIN_FACTORED_CUH
#define LACIS_KERNELS_SOLVE_GPU_CHAIN_FACTORED_CUH

#include "solve/gpu_chain_behind.cuh"
#include "solve/gpu_chain_beside.cuh"

/* Factors of a group, as computed: tables by row (chunk after chunk, the last one filled up), then by chunk. */
template <int TYPE> struct factors_of {
    typedef typename solve_of<TYPE>::T T;
    enum {
        K = solve_of<TYPE>::K,
        ROWS = SEGMENT * K,
        LOWER = 0, /* by row */
        INVERSE,
        FIRST_Q,
        Q,
        F,
        ROW_TABLES,
        NEXT = 0, /* by chunk: couple's q and inverse, then lower, upper and inverse of each step of reduce */
        NEXT_INVERSE,
        STEPS,
        CHUNK_TABLES = STEPS + 3 * 5,
        COUNT = ROW_TABLES * ROWS + CHUNK_TABLES * SEGMENT
    };
    T at[COUNT];
    int doubt;

    __device__ __forceinline__ T &row(int table, int row)
    {
        return at[table * ROWS + row];
    }
    __device__ __forceinline__ T &chunk(int table, int chunk)
    {
        return at[ROW_TABLES * ROWS + table * SEGMENT + chunk];
    }
    __device__ __forceinline__ const T &row(int table, int row) const
    {
        return at[table * ROWS + row];
    }
    __device__ __forceinline__ const T &chunk(int table, int chunk) const
    {
        return at[ROW_TABLES * ROWS + table * SEGMENT + chunk];
    }
};

struct factored_job {
    chip_job chip;
    void *factors; /* of each group of the launch */
};

template <int TYPE> __global__ void __launch_bounds__(32) factor_kernel(const factored_job job)
{
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    typedef factors_of<TYPE> F;
    solve_gpu_begin();
    const solve_gpu_groups &groups = job.chip.groups;
    const lacis_solve_group &group = *group_at(groups, blockIdx.x);
    F &to = ((F *)job.factors)[blockIdx.x];
    const int me = threadIdx.x, rows = (int)group.rows, chunks = (rows + F::K - 1) / F::K;
    solve_rows<const S> in[SOLVE_GPU_FIELDS];
    for (int field = 0; field < SOLVE_GPU_RHS; field++)
        in[field] = rows_of<S>(job.chip.fields, field, group, 0);
    watch w = {};
    const auto get = [&](int i) {
        const int row = me * F::K + i;
        row_of<T> r = {number<T>(0), number<T>(1), number<T>(0), number<T>(0)};
        if (row >= rows) return r;
        if (row > 0) load_as(&r.lower, in[SOLVE_GPU_LOWER][row]);
        if (row < rows - 1) load_as(&r.upper, in[SOLVE_GPU_UPPER][row]);
        load_as(&r.diagonal, in[SOLVE_GPU_DIAGONAL][row]);
        return r;
    };
    const auto keep = [&](int i, const row_of<T> &r, T inverse, const ends_of<T> &e) {
        const int row = me * F::K + i;
        to.row(F::LOWER, row) = r.lower, to.row(F::INVERSE, row) = inverse;
        to.row(F::FIRST_Q, row) = e.first_q, to.row(F::Q, row) = e.q, to.row(F::F, row) = e.f;
    };
    const auto note = [&](int step, const coupled<T> &c, T inverse) {
        if (step < 0) {
            to.chunk(F::NEXT, me) = c.upper, to.chunk(F::NEXT_INVERSE, me) = inverse;
            return;
        }
        to.chunk(F::STEPS + 3 * step, me) = c.lower, to.chunk(F::STEPS + 3 * step + 1, me) = c.upper;
        to.chunk(F::STEPS + 3 * step + 2, me) = inverse;
    };
    const ends_of<T> ends = eliminate<T, F::K>(get, keep, &w);
    unknowns(ends, me < chunks ? me : -1, chunks, &w, note);
    const bool doubt = __any_sync(~0U, in_doubt<T>(w));
    if (me == 0) to.doubt = doubt;
}

/* All threads of a block. */
template <int TYPE> SOLVE_FN void load_factors(factors_of<TYPE> *to, const factors_of<TYPE> *from)
{
    __syncthreads();
    for (int i = threadIdx.x; i < (int)factors_of<TYPE>::COUNT; i += blockDim.x)
        to->at[i] = from->at[i];
    if (threadIdx.x == 0) to->doubt = from->doubt;
    __syncthreads();
}

/* A chunk's right side. get(i) of row i; y of all rows is kept. */
template <class T> struct side_ends {
    T y, first_y;
};
template <int TYPE, class T, class G>
SOLVE_FN side_ends<T> eliminate_side(const factors_of<TYPE> &f, int first_row, const G &get, T *y, unsigned *top)
{
    typedef factors_of<TYPE> F;
    side_ends<T> e;
#pragma unroll
    for (int i = 0; i < F::K; i++) {
        const int row = first_row + i;
        const T rhs = get(i), inverse = f.row(F::INVERSE, row);
        *top = max(*top, high_bits(rhs));
        e.y = times(i == 0 ? rhs : less(rhs, f.row(F::LOWER, row), e.y), inverse);
        if (i == 0)
            e.first_y = e.y;
        else if (i < F::K - 1)
            e.first_y = less(e.first_y, f.row(F::FIRST_Q, row - 1), e.y);
        y[i] = e.y;
    }
    return e;
}

/* `unknowns` for a right side. */
template <int TYPE, class T>
SOLVE_FN T side_unknowns(const factors_of<TYPE> &f, const side_ends<T> &e, int place, int count)
{
    typedef factors_of<TYPE> F;
    const int me = threadIdx.x % 32, next = place >= 0 && place + 1 < count ? me + 1 : me;
    const int chunk = place < 0 ? 0 : place;
    T rhs = times(less(e.y, f.chunk(F::NEXT, chunk), shuffle(e.first_y, next)), f.chunk(F::NEXT_INVERSE, chunk));
    for (int s = 1, step = F::STEPS; s < count; s *= 2, step += 3) {
        const int low = place >= s ? me - s : me, high = place >= 0 && place + s < count ? me + s : me;
        const T low_rhs = shuffle(rhs, low), high_rhs = shuffle(rhs, high);
        rhs = less(less(rhs, f.chunk(step, chunk), low_rhs), f.chunk(step + 1, chunk), high_rhs);
        rhs = times(rhs, f.chunk(step + 2, chunk));
    }
    return rhs;
}

/* put(i, x) takes x of row i. */
template <int TYPE, class T, class P>
SOLVE_FN void back_side(const factors_of<TYPE> &f, int first_row, const T *y, T x, T before, int left, const P &put)
{
    typedef factors_of<TYPE> F;
#pragma unroll
    for (int i = F::K - 1; i >= 0; i--) {
        if (i >= left) continue;
        const int row = first_row + i;
        if (i < F::K - 1) x = less(less(y[i], f.row(F::Q, row), x), f.row(F::F, row), before);
        put(i, x);
    }
}

enum { FACTORED_WARPS = 8 };

/* A warp's lanes, one behind the other, from `lane` on: `some` of them, of which a warp takes `chains` at most. */
template <int TYPE>
SOLVE_FN void behind_factored(const factored_job &job, const factors_of<TYPE> &factors,
                              const lacis_solve_group &group, int64_t lane, int some, char *image)
{
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    typedef factors_of<TYPE> F;
    const int rows = (int)group.rows, chunks = (rows + F::K - 1) / F::K, me = threadIdx.x % 32;
    const int chain = me / chunks, chunk = me % chunks, first_row = chunk * F::K;
    const bool idle = chain >= some;
    const int left = idle ? 0 : rows - first_row, at = idle ? 0 : chain * rows + first_row;
    const solve_rows<const S> in = rows_of<S>(job.chip.fields, SOLVE_GPU_RHS, group, lane);
    const solve_rows<S> out = x_rows_of<S>(job.chip.fields, group, lane);
    bring_image(image, in.at, some * rows);
    wait_for_images();
    __syncwarp();
    const S *side = (const S *)image + image_shift(in.at) + at;
    T y[F::K];
    unsigned top = 0;
    const auto get = [&](int i) {
        T rhs = number<T>(0);
        if (i < left) load_as(&rhs, side[i]);
        return rhs;
    };
    const side_ends<T> ends = eliminate_side(factors, first_row, get, y, &top);
    const T x = side_unknowns(factors, ends, idle ? -1 : chunk, chunks);
    const T up = shuffle(x, me > 0 ? me - 1 : 0), before = chunk == 0 ? number<T>(0) : up;
    __syncwarp(); /* all right sides have been read */
    S *to = (S *)image + image_shift(out.at) + at;
    back_side(factors, first_row, y, x, before, left, [&](int i, T own) { load_as(&to[i], own); });
    __syncwarp();
    send_image(image, out.at, some * rows);
    const unsigned doubts = __ballot_sync(~0U, !idle && top >= great_bits(T()));
    const unsigned own = (chunks == 32 ? ~0U : (1U << chunks) - 1) << me;
    if (!idle && chunk == 0)
        solve_gpu_mark(job.chip.flags, group.first + lane + chain,
                       factors.doubt || (doubts & own) != 0 ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
    __syncwarp(); /* before the image is filled again */
}

template <int TYPE>
__global__ void __launch_bounds__(32 * FACTORED_WARPS, 3) behind_factored_kernel(const factored_job job)
{
    typedef factors_of<TYPE> F;
    extern __shared__ __align__(16) char memory[];
    solve_gpu_begin();
    F &factors = *(F *)memory;
    const int warp = threadIdx.x / 32;
    char *image = memory + (sizeof(F) + 15) / 16 * 16 + warp * job.chip.image;
    int64_t loaded = -1;
    for (int64_t t = blockIdx.x; t < job.chip.groups.tasks; t += gridDim.x) {
        int64_t task = t;
        const int64_t of_launch = group_number(job.chip.groups, &task);
        const lacis_solve_group &group = *group_at(job.chip.groups, of_launch);
        if (loaded != of_launch) load_factors(&factors, (const F *)job.factors + of_launch);
        loaded = of_launch;
        const int chains = 32 / (((int)group.rows + F::K - 1) / F::K);
        const int64_t lane = (task * FACTORED_WARPS + warp) * chains, there = group.lanes - lane;
        if (there > 0) /* others wait for this warp only in load_factors, where it comes along */
            behind_factored(job, factors, group, lane, there < chains ? (int)there : chains, image);
    }
}

/* An element that is read once. */
SOLVE_FN double read_once(const double *from)
{
    return __ldcs(from);
}
SOLVE_FN float read_once(const float *from)
{
    return __ldcs(from);
}
SOLVE_FN solve_complex read_once(const solve_complex *from)
{
    const double2 z = __ldcs((const double2 *)from);
    return {z.x, z.y};
}

/* Lanes side by side, as in beside_kernel; right sides come straight into registers. */
template <int TYPE> static uint64_t beside_factored_bytes(int chunks, int lanes)
{
    typedef typename solve_of<TYPE>::T T;
    return (sizeof(factors_of<TYPE>) + 15) / 16 * 16 + sizeof(T) * 2 * (uint64_t)chunks * (lanes + 1) +
           sizeof(int) * (uint64_t)lanes;
}

/* Ends of chunks by chunk and lane, and doubts by lane. */
template <class T> struct side_room {
    T *y, *first;
    int *doubt;
    int lanes, chunks;
    __device__ __forceinline__ int at(int chunk, int lane) const
    {
        return chunk * (lanes + 1) + lane;
    }
};

/* All lanes' unknowns, in place of y. */
template <int TYPE, class T>
SOLVE_FN void solve_sides(const factors_of<TYPE> &factors, const side_room<T> &room, int chunks)
{
    const int me = threadIdx.x % 32, fit = 32 / chunks, warps = blockDim.x / 32, chunk = me % chunks;
    for (int first = threadIdx.x / 32 * fit; first < room.lanes; first += warps * fit) {
        const int lane = first + me / chunks;
        const bool none = me / chunks >= fit || lane >= room.lanes;
        side_ends<T> ends = {number<T>(0), number<T>(0)};
        if (!none) ends = {room.y[room.at(chunk, lane)], room.first[room.at(chunk, lane)]};
        const T x = side_unknowns(factors, ends, none ? -1 : chunk, chunks);
        if (!none) room.y[room.at(chunk, lane)] = x;
    }
}

/* A block's lanes, from `begin` on. */
template <int TYPE, class T>
SOLVE_FN void beside_factored(const factored_job &job, const factors_of<TYPE> &factors,
                              const lacis_solve_group &group, int64_t begin, const side_room<T> &room)
{
    typedef typename solve_of<TYPE>::S S;
    enum { K = factors_of<TYPE>::K, M = beside_bounds<TYPE>::CHUNKS };
    const int rows = (int)group.rows, lanes = room.lanes;
    const int mine = (int)threadIdx.x % lanes, own = (int)threadIdx.x / lanes * M, first_row = own * K;
    const int some = group.lanes - begin < lanes ? (int)(group.lanes - begin) : lanes;
    const bool idle = mine >= some || own >= room.chunks;
    const int left = idle ? 0 : rows - first_row;
    const int64_t lane = begin + (idle ? 0 : mine);
    const solve_rows<const S> in = rows_of<S>(job.chip.fields, SOLVE_GPU_RHS, group, lane);
    T y[M][K];
#pragma unroll
    for (int i = 0; i < M * K; i++) {
        y[i / K][i % K] = number<T>(0);
        if (i < left) load_as(&y[i / K][i % K], read_once(&in[first_row + i]));
    }
    if ((int)threadIdx.x < lanes) room.doubt[threadIdx.x] = factors.doubt;
    __syncthreads();
    unsigned top = 0;
#pragma unroll
    for (int m = 0; m < M; m++) {
        if (own >= room.chunks) continue;
        const side_ends<T> ends = eliminate_side(
            factors, first_row + m * K, [&](int i) { return y[m][i]; }, y[m], &top);
        room.y[room.at(own + m, mine)] = ends.y, room.first[room.at(own + m, mine)] = ends.first_y;
    }
    if (!idle && top >= great_bits(T())) room.doubt[mine] = 1;
    __syncthreads();
    solve_sides(factors, room, (rows + K - 1) / K);
    __syncthreads();
    if ((int)threadIdx.x < some)
        solve_gpu_mark(job.chip.flags, group.first + begin + threadIdx.x,
                       room.doubt[threadIdx.x] != 0 ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
    const solve_rows<S> out = x_rows_of<S>(job.chip.fields, group, lane);
#pragma unroll
    for (int m = M - 1; m >= 0; m--) {
        const int c = own + m;
        if (left <= m * K) continue;
        const T before = c > 0 ? room.y[room.at(c - 1, mine)] : number<T>(0);
        back_side(factors, c * K, y[m], room.y[room.at(c, mine)], before, left - m * K,
                  [&](int i, T x) { load_as(&out[c * K + i], x); });
    }
    __syncthreads(); /* ends and doubts have been read */
}

template <int TYPE>
__global__ void __launch_bounds__(BESIDE_THREADS, 2) beside_factored_kernel(const factored_job job)
{
    typedef typename solve_of<TYPE>::T T;
    typedef factors_of<TYPE> F;
    extern __shared__ __align__(16) char memory[];
    solve_gpu_begin();
    F &factors = *(F *)memory;
    side_room<T> room;
    room.lanes = job.chip.beside, room.chunks = job.chip.chunks;
    room.y = (T *)(memory + (sizeof(F) + 15) / 16 * 16);
    room.first = room.y + room.chunks * (room.lanes + 1);
    room.doubt = (int *)(room.first + room.chunks * (room.lanes + 1));
    int64_t loaded = -1;
    for (int64_t t = blockIdx.x; t < job.chip.groups.tasks; t += gridDim.x) {
        int64_t task = t;
        const int64_t of_launch = group_number(job.chip.groups, &task);
        if (loaded != of_launch) load_factors(&factors, (const F *)job.factors + of_launch);
        loaded = of_launch;
        beside_factored(job, factors, *group_at(job.chip.groups, of_launch), task * room.lanes, room);
    }
}

#endif
