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

/* Lanes one behind the other. */
template <int TYPE>
__global__ void __launch_bounds__(32 * FACTORED_WARPS, 3) behind_factored_kernel(const factored_job job)
{
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    typedef factors_of<TYPE> F;
    extern __shared__ __align__(16) char memory[];
    F &factors = *(F *)memory;
    const int warp = threadIdx.x / 32, me = threadIdx.x % 32;
    char *image = memory + (sizeof(F) + 15) / 16 * 16 + warp * job.chip.image;
    int64_t loaded = -1;
    for (int64_t t = blockIdx.x; t < job.chip.groups.tasks; t += gridDim.x) {
        int64_t task = t;
        const int64_t of_launch = group_number(job.chip.groups, &task);
        const lacis_solve_group &group = *group_at(job.chip.groups, of_launch);
        if (loaded != of_launch) load_factors(&factors, (const F *)job.factors + of_launch);
        loaded = of_launch;
        const int rows = (int)group.rows, chunks = (rows + F::K - 1) / F::K, chains = 32 / chunks;
        const int64_t lane = (task * FACTORED_WARPS + warp) * chains;
        const int64_t there = group.lanes - lane;
        const int some = there <= 0 ? 0 : there < chains ? (int)there : chains;
        if (some == 0) continue; /* the whole warp; others wait for it only in load_factors, where it comes along */
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
        __syncwarp();
        S *to = (S *)image + image_shift(out.at) + at;
        back_side(factors, first_row, y, x, before, left, [&](int i, T own) { load_as(&to[i], own); });
        __syncwarp();
        send_image(image, out.at, some * rows);
        const unsigned doubts = __ballot_sync(~0U, !idle && top >= great_bits(T()));
        __syncwarp();
        if (idle || chunk > 0) continue;
        const unsigned own = (chunks == 32 ? ~0U : (1U << chunks) - 1) << me;
        solve_gpu_mark(job.chip.flags, group.first + lane + chain,
                       factors.doubt || (doubts & own) != 0 ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
    }
}

/* Lanes side by side: as beside_kernel. */
template <int TYPE> static uint64_t beside_factored_bytes(int chunks, int lanes)
{
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    const int threads = beside_threads(chunks, lanes);
    return (sizeof(factors_of<TYPE>) + 15) / 16 * 16 + sizeof(T) * 2 * (uint64_t)chunks * (lanes + 1) +
           sizeof(S) * BESIDE_CHUNKS * solve_of<TYPE>::K * (uint64_t)threads + sizeof(int) * (uint64_t)lanes;
}

template <int TYPE>
__global__ void __launch_bounds__(BESIDE_THREADS, 2) beside_factored_kernel(const factored_job job)
{
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    typedef factors_of<TYPE> F;
    enum { K = F::K, M = BESIDE_CHUNKS };
    extern __shared__ __align__(16) char memory[];
    F &factors = *(F *)memory;
    const int lanes = job.chip.beside, all_chunks = job.chip.chunks, pitch = lanes + 1;
    T *const ends_y = (T *)(memory + (sizeof(F) + 15) / 16 * 16), *const ends_first = ends_y + all_chunks * pitch;
    S *const own_rows = (S *)(ends_first + all_chunks * pitch) + threadIdx.x;
    int *const doubt = (int *)(own_rows - threadIdx.x + M * K * (int)blockDim.x);
    const int me = threadIdx.x % 32, mine = (int)threadIdx.x % lanes, own = (int)threadIdx.x / lanes * M;
    const int first_row = own * K;
    int64_t loaded = -1;
    for (int64_t t = blockIdx.x; t < job.chip.groups.tasks; t += gridDim.x) {
        int64_t task = t;
        const int64_t of_launch = group_number(job.chip.groups, &task);
        const lacis_solve_group &group = *group_at(job.chip.groups, of_launch);
        if (loaded != of_launch) load_factors(&factors, (const F *)job.factors + of_launch);
        loaded = of_launch;
        const int rows = (int)group.rows, chunks = (rows + K - 1) / K;
        const int64_t begin = task * lanes;
        const int some = group.lanes - begin < lanes ? (int)(group.lanes - begin) : lanes;
        const bool idle = mine >= some || own >= all_chunks;
        const int left = idle ? 0 : rows - first_row;
        const solve_rows<const S> in = rows_of<S>(job.chip.fields, SOLVE_GPU_RHS, group, begin + (idle ? 0 : mine));
#pragma unroll
        for (int i = 0; i < M * K; i++)
            if (i < left) bring_bytes<sizeof(S)>(own_rows + i * (int)blockDim.x, &in[first_row + i]);
        if ((int)threadIdx.x < lanes) doubt[threadIdx.x] = factors.doubt;
        wait_for_images();
        __syncthreads();
        T y[M][K];
        unsigned top = 0;
#pragma unroll
        for (int m = 0; m < M; m++) {
            const auto get = [&](int i) {
                T rhs = number<T>(0);
                if (m * K + i < left) load_as(&rhs, own_rows[(m * K + i) * (int)blockDim.x]);
                return rhs;
            };
            if (own >= all_chunks) continue;
            const side_ends<T> ends = eliminate_side(factors, first_row + m * K, get, y[m], &top);
            ends_y[(own + m) * pitch + mine] = ends.y, ends_first[(own + m) * pitch + mine] = ends.first_y;
        }
        if (!idle && top >= great_bits(T())) doubt[mine] = 1;
        __syncthreads();
        const int fit = 32 / chunks, warps = blockDim.x / 32, chunk = me % chunks;
        for (int first = threadIdx.x / 32 * fit; first < lanes; first += warps * fit) {
            const int lane = first + me / chunks;
            const bool none = me / chunks >= fit || lane >= lanes;
            side_ends<T> ends = {number<T>(0), number<T>(0)};
            if (!none) ends = {ends_y[chunk * pitch + lane], ends_first[chunk * pitch + lane]};
            const T x = side_unknowns(factors, ends, none ? -1 : chunk, chunks);
            if (!none) ends_y[chunk * pitch + lane] = x;
        }
        __syncthreads();
        if ((int)threadIdx.x < some)
            solve_gpu_mark(job.chip.flags, group.first + begin + threadIdx.x,
                           doubt[threadIdx.x] != 0 ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
        if (!idle) {
            const solve_rows<S> out = x_rows_of<S>(job.chip.fields, group, begin + mine);
#pragma unroll
            for (int m = M - 1; m >= 0; m--) {
                const int c = own + m;
                if (left <= m * K) continue;
                const T before = c > 0 ? ends_y[(c - 1) * pitch + mine] : number<T>(0);
                back_side(factors, c * K, y[m], ends_y[c * pitch + mine], before, left - m * K,
                          [&](int i, T x) { load_as(&out[c * K + i], x); });
            }
        }
        __syncthreads(); /* ends and doubts have been read */
    }
}

#endif
