/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains on chip that lie one behind the other (Flat): each warp takes in its rows as they lie, through shared memory
 * (chunks have odd lengths, so its lanes read from different banks), and puts x there before it goes out. Short
 * chains go several to a warp; long ones have a warp a segment, blocks of up to eight warps, clusters of up to four
 * blocks. Included by gpu_chip_*.cu.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CHAIN_BEHIND_CUH
#define LACIS_KERNELS_SOLVE_GPU_CHAIN_BEHIND_CUH

#include "solve/gpu_chip.cuh"
#include "solve/gpu_cluster.cuh"
#include "solve/gpu_image.cuh"

enum { BEHIND_WARPS = 1 }; /* so that each makes room for the next when it is done */

/* Blocks of a multiprocessor that registers are given out for: as many as shared memory has room for. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
enum { BEHIND_BLOCKS = 16 };
#else
enum { BEHIND_BLOCKS = 24 };
#endif

template <int TYPE> static constexpr int behind_blocks()
{
    const int bytes = (int)sizeof(typename solve_of<TYPE>::T);
    return bytes > 8 ? 16 : bytes == 8 && TYPE >= SOLVE_LONG ? BEHIND_BLOCKS / 2 : BEHIND_BLOCKS;
}

/* Warps of a block where each has a segment, and blocks: long segments of f64 take twice the shared memory. */
template <int TYPE> static constexpr int segment_warps()
{
    return TYPE == LACIS_SOLVE_F64 + SOLVE_LONG ? SEGMENT_WARPS / 2 : SEGMENT_WARPS;
}
template <int TYPE> static constexpr int segment_blocks()
{
    return sizeof(typename solve_of<TYPE>::T) > 8 ? 2 : 3;
}

/* A warp's part of a field: `elements` of it lie in the image from `shift` on, or all lanes share row after row. */
template <class S> struct part_of {
    const S *at;
    int64_t step;
};

/* SOME: some fields are shared. */
template <int TYPE, bool SOME> struct behind {
    typedef typename solve_of<TYPE>::S S;
    typedef typename solve_of<TYPE>::T T;
    enum { K = solve_of<TYPE>::K };
    /* f waits where `lower` was, in the image of that field, which takes it if it is stored as it is computed with;
     * if that is shared, in an image of its own. */
    enum { IMAGES = SOLVE_GPU_FIELDS + (SOME ? 1 : 0) };
    static constexpr bool F_IN_IMAGE = sizeof(S) == sizeof(T);
    T y[K], q[K], f[F_IN_IMAGE ? 1 : K];
    T *f_image; /* of this thread's chunk */

    /* Begins to take in `elements` from row `row` of `lane` on. at: where this thread's chunk begins, so many
     * elements on (chunk); in a shared field row `row + in_chain`. */
    __device__ __forceinline__ void bring(const chip_job &job, const lacis_solve_group &group, int64_t lane,
                                          int64_t row, int elements, int chunk, int in_chain, char *image,
                                          part_of<S> *part)
    {
#pragma unroll
        for (int field = 0; field < SOLVE_GPU_FIELDS; field++) {
            const solve_rows<const S> rows = rows_of<S>(job.fields, field, group, lane);
            const bool shared = SOME && job.fields.shared[field];
            if (shared && rows.step != 1) {
                part[field] = {rows.at + (row + in_chain) * rows.step, rows.step};
                continue;
            }
            const S *first = rows.at + row;
            const int count = shared && group.rows - row < elements ? (int)(group.rows - row) : elements;
            char *own = image + field * job.image;
            bring_image(own, first, count);
            part[field] = {(const S *)own + image_shift(first) + (shared ? in_chain : chunk), 1};
        }
        f_image = !SOME || !job.fields.shared[SOLVE_GPU_LOWER] ? (T *)part[SOLVE_GPU_LOWER].at
                                                               : (T *)(image + SOLVE_GPU_FIELDS * job.image) + chunk;
    }

    static __device__ __forceinline__ T at(const part_of<S> &part, int i)
    {
        T x;
        load_as(&x, part.at[SOME ? i * part.step : i]);
        return x;
    }

    /* left: rows of the chain from the chunk's first on. */
    __device__ __forceinline__ ends_of<T> go(const part_of<S> *part, bool first, int64_t left, watch *w)
    {
        const auto get = [&](int i) {
            row_of<T> r = {number<T>(0), number<T>(1), number<T>(0), number<T>(0)};
            if (i < left) {
                if (i > 0 || !first) r.lower = at(part[SOLVE_GPU_LOWER], i);
                if (i < left - 1) r.upper = at(part[SOLVE_GPU_UPPER], i);
                r.diagonal = at(part[SOLVE_GPU_DIAGONAL], i);
                r.rhs = at(part[SOLVE_GPU_RHS], i);
            }
            return r;
        };
        const auto keep = [&](int i, const row_of<T> &, T, const ends_of<T> &e) {
            y[i] = e.y, q[i] = e.q;
            if constexpr (!F_IN_IMAGE)
                f[i] = e.f;
            else if (i < left)
                f_image[i] = e.f;
        };
        return eliminate<T, K>(get, keep, w);
    }

    __device__ __forceinline__ void back(S *to, T x, T before, int64_t left)
    {
#pragma unroll
        for (int i = K - 1; i >= 0; i--) {
            if (i >= left) continue;
            T own_f;
            if constexpr (F_IN_IMAGE)
                own_f = f_image[i];
            else
                own_f = f[i];
            if (i < K - 1) x = less(less(y[i], q[i], x), own_f, before);
            load_as(&to[i], x);
        }
    }
};

/* Chains of one segment at most: each warp by itself. */
template <int TYPE, bool SOME>
__global__ void __launch_bounds__(32 * BEHIND_WARPS, behind_blocks<TYPE>()) behind_kernel(const chip_job job)
{
    typedef behind<TYPE, SOME> B;
    typedef typename B::S S;
    typedef typename B::T T;
    extern __shared__ __align__(16) char memory[];
    solve_gpu_begin();
    char *image = memory + threadIdx.x / 32 * B::IMAGES * job.image;
    int64_t task = (int64_t)blockIdx.x * BEHIND_WARPS + threadIdx.x / 32;
    if (task >= job.groups.tasks) return;
    const lacis_solve_group &group = *group_of(job.groups, &task);
    const int rows = (int)group.rows, chunks = (rows + B::K - 1) / B::K, chains = 32 / chunks;
    const int64_t lane = task * chains;
    const int some = group.lanes - lane < chains ? (int)(group.lanes - lane) : chains;
    const int me = threadIdx.x % 32, chain = me / chunks, chunk = me % chunks;
    const bool idle = chain >= some;
    const int left = idle ? 0 : rows - chunk * B::K, at = idle ? 0 : chain * rows + chunk * B::K;
    part_of<S> part[SOLVE_GPU_FIELDS];
    B b;
    watch w = {};
    b.bring(job, group, lane, 0, some * rows, at, idle ? 0 : chunk * B::K, image, part);
    wait_for_images();
    __syncwarp();
    const ends_of<T> ends = b.go(part, chunk == 0, left, &w);
    const T x = unknowns(ends, idle ? -1 : chunk, chunks, &w);
    const T up = shuffle(x, me > 0 ? me - 1 : 0), before = chunk == 0 ? number<T>(0) : up;
    __syncwarp(); /* all of the matrix has been read */
    const solve_rows<S> out = x_rows_of<S>(job.fields, group, lane);
    char *x_image = image + SOLVE_GPU_RHS * job.image;
    b.back((S *)x_image + image_shift(out.at) + at, x, before, left);
    __syncwarp();
    send_image(x_image, out.at, some * rows);
    const unsigned doubts = __ballot_sync(~0U, !idle && in_doubt<T>(w));
    if (idle || chunk > 0) return;
    const unsigned own = (chunks == 32 ? ~0U : (1U << chunks) - 1) << me;
    solve_gpu_mark(job.flags, group.first + lane + chain, (doubts & own) != 0 ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
}

/* Chains of several segments: a cluster a chain. */
template <int TYPE, bool SOME, bool MANY>
__global__ void __launch_bounds__(32 * segment_warps<TYPE>(), segment_blocks<TYPE>())
    behind_segments_kernel(const chip_job job)
{
    typedef behind<TYPE, SOME> B;
    typedef typename B::S S;
    typedef typename B::T T;
    enum { ROWS = SEGMENT * B::K };
    extern __shared__ __align__(16) char memory[];
    __shared__ ends_of<T> segment_ends[SEGMENT_WARPS];
    __shared__ bool doubts[SEGMENT_WARPS];
    solve_gpu_begin();
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, me = threadIdx.x % 32;
    const int segment = (int)cluster_rank<MANY>() * warps + warp;
    char *image = memory + warp * B::IMAGES * job.image;
    int64_t task = blockIdx.x / job.blocks;
    const lacis_solve_group &group = *group_of(job.groups, &task);
    const int64_t lane = task, row = (int64_t)segment * ROWS;
    const int segments = (int)((group.rows + ROWS - 1) / ROWS);
    const int64_t behind = group.rows - row;
    const int elements = behind <= 0 ? 0 : behind < ROWS ? (int)behind : ROWS;
    const int left = elements - me * B::K + (behind > ROWS ? 1 : 0); /* the chain goes on behind the segment */
    const int first = left > 0 ? me * B::K : 0;
    part_of<S> part[SOLVE_GPU_FIELDS];
    B b;
    watch w = {};
    if (elements > 0) b.bring(job, group, lane, row, elements, first, first, image, part);
    wait_for_images();
    __syncwarp();
    const ends_of<T> ends = b.go(part, segment == 0 && me == 0, left, &w);
    const segment_of<T> own = segment_unknowns(ends, &w);
    const ends_of<T> mine = ends_of_segment(ends, own, &w);
    const bool doubt = __any_sync(~0U, in_doubt<T>(w));
    if (me == 0) segment_ends[warp] = mine, doubts[warp] = doubt;
    cluster_meet<MANY>();
    ends_of<T> of_all = no_ends<T>();
    bool any = false;
    if (me < segments) {
        of_all = *cluster_at<MANY>(&segment_ends[me % warps], me / warps);
        any = *cluster_at<MANY>(&doubts[me % warps], me / warps);
    }
    const T of_segments = unknowns(of_all, me < segments ? me : -1, segments, &w);
    any = __any_sync(~0U, any || in_doubt<T>(w));
    if (MANY) cluster_meet<MANY>(); /* nobody leaves before the others have read its shared memory */
    const int known = segment < segments ? segment : 0;
    const T x = unknown_of(own, of_segments, known);
    const T up = shuffle(x, me > 0 ? me - 1 : 0);
    const T beyond = shuffle(of_segments, known > 0 ? known - 1 : 0);
    const T before = me > 0 ? up : known > 0 ? beyond : number<T>(0);
    if (elements > 0) {
        const solve_rows<S> out = x_rows_of<S>(job.fields, group, lane);
        char *x_image = image + SOLVE_GPU_RHS * job.image;
        b.back((S *)x_image + image_shift(out.at + row) + first, x, before, elements - me * B::K);
        __syncwarp();
        send_image(x_image, out.at + row, elements);
    }
    if (segment == 0 && me == 0) solve_gpu_mark(job.flags, group.first + lane, any ? SOLVE_GPU_REDO : SOLVE_GPU_SURE);
}

#endif
