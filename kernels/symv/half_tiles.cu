/* SPDX-License-Identifier: Apache-2.0
 *
 * A tile a warp: its columns' x and their part of y lie in shared memory, entries are streamed once. Called by
 * half_run.cu.
 *
 * LANES lanes share a row. The 32 / LANES groups of a warp walk through equal shares of the tile's rows in step, one
 * row each at a time, so that rows which are taken together lie apart and seldom have a column in common. Where they
 * do, the plan has marked the later groups' entries: these wait for their group's turn. So what is added to a slot is
 * added in an order that the plan alone decides.
 */
#include "half_inside.cuh"

template <class T> static __device__ __forceinline__ T half_load(const T *from)
{
    return __ldg(from);
}
template <> __device__ __forceinline__ half_complex<float> half_load(const half_complex<float> *from)
{
    const float2 v = __ldg((const float2 *)from);
    return {v.x, v.y};
}
template <> __device__ __forceinline__ half_complex<double> half_load(const half_complex<double> *from)
{
    const double2 v = __ldg((const double2 *)from);
    return {v.x, v.y};
}

template <class T> struct half_windows {
    T *x, *y;
    half_u16 *offset; /* of the rows' entries from p0 on */
};

template <class T> static __device__ __forceinline__ half_windows<T> find_windows(const half_params &p)
{
    extern __shared__ __align__(16) unsigned char memory[];
    half_windows<T> w;
    w.x = (T *)memory;
    w.y = w.x + p.window;
    w.offset = (half_u16 *)(w.y + p.window);
    return w;
}

static __device__ __forceinline__ void fill_offsets(const half_params &p, const half_tile &tile, half_u32 rows,
                                                    half_u16 *offset)
{
    for (half_u32 r = threadIdx.x; r <= rows; r += 32) {
        const half_i64 at = __ldg(p.pos + tile.row0 + r);
        offset[r] = (half_u16)(min(max(at, tile.p0), tile.p1) - tile.p0);
    }
    __syncwarp();
}

/* The columns' x, and zeros. */
template <class T>
static __device__ __forceinline__ void fill_windows(const half_params &p, const half_tile &tile, half_u32 slots,
                                                    const half_windows<T> &w)
{
    enum { EACH = 8 }; /* in flight together */
    const half_u32 *list = p.list + tile.slot0;
    for (half_u32 s = threadIdx.x; s < slots; s += 32 * EACH) {
        half_u32 column[EACH];
        T x[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            column[k] = s + 32 * k < slots ? __ldg(list + s + 32 * k) : 0;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            x[k] = half_load((const T *)p.x + (half_i64)column[k] * p.x_step);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (s + 32 * k < slots) w.x[s + 32 * k] = x[k], w.y[s + 32 * k] = T();
    }
    __syncwarp();
}

/* Up to STEPS entries of each lane of a row, in flight. */
template <class T, int STEPS> struct half_load_ahead {
    T value[STEPS];
    half_u16 local[STEPS];
};

template <class T, int LANES, int STEPS>
static __device__ __forceinline__ void load_ahead(const half_params &p, const half_tile &tile, half_u32 row,
                                                  half_u32 from, half_u32 to, half_load_ahead<T, STEPS> &out)
{
    const half_i64 skip = p.skip == NULL ? p.first : from < to ? __ldg(p.skip + tile.row0 + row) : 0;
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        const half_u32 at = from + s * LANES;
        out.local[s] = HALF_NONE;
        if (at >= to) continue;
        out.local[s] = __ldg(p.local + tile.p0 + at);
        out.value[s] = p.value == NULL ? half_number<T>::one() : half_load((const T *)p.value + tile.p0 + at + skip);
    }
}

/* Entries' share of their columns' sums, of those that `now` tells: all are read before any is written. */
template <class T, int STEPS>
static __device__ __forceinline__ void add_columns(const half_windows<T> &w, const half_load_ahead<T, STEPS> &in,
                                                   half_u32 now, T x, bool hermitian)
{
    typedef half_number<T> N;
    T sum[STEPS];
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        if (now >> s & 1) sum[s] = w.y[in.local[s] & HALF_MOST_SLOTS];
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        if (now >> s & 1)
            w.y[in.local[s] & HALF_MOST_SLOTS] = N::fma(N::mirrored(in.value[s], hermitian), x, sum[s]);
    __syncwarp();
}

template <class T, int LANES, int STEPS>
static __device__ __forceinline__ void add_entries(const half_params &p, const half_windows<T> &w, half_u32 own,
                                                   const half_load_ahead<T, STEPS> &in, T &sum)
{
    typedef half_number<T> N;
    const T x = w.x[own];
    half_u32 now = 0, late = 0; /* steps of this lane */
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        if (in.local[s] == HALF_NONE) continue;
        const half_u32 c = in.local[s] & HALF_MOST_SLOTS;
        sum = N::fma(c == own ? N::on_diagonal(in.value[s], p.hermitian) : in.value[s], w.x[c], sum);
        if (c == own) continue;
        if (in.local[s] & HALF_LATE)
            late |= 1u << s;
        else
            now |= 1u << s;
    }
    add_columns<T, STEPS>(w, in, now, x, p.hermitian);
    if constexpr (LANES < 32) {
        if (!__any_sync(HALF_ALL, late)) return;
        for (half_u32 group = 1; group < 32 / LANES; group++)
            add_columns<T, STEPS>(w, in, threadIdx.x / LANES == group ? late : 0, x, p.hermitian);
    }
}

template <class T, int LANES, int STEPS>
static __global__ void __launch_bounds__(32, 16) tile_kernel(const __grid_constant__ half_params p)
{
    typedef half_number<T> N;
    enum { GROUPS = 32 / LANES, TAKE = LANES * STEPS };
    const half_tile tile = p.tiles[blockIdx.x];
    const half_u32 slots = (half_u32)(p.tiles[blockIdx.x + 1].slot0 - tile.slot0), rows = tile.row1 - tile.row0;
    const half_windows<T> w = find_windows<T>(p);
    fill_offsets(p, tile, rows, w.offset);
    const half_u32 share = (rows + GROUPS - 1) / GROUPS, group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const half_u32 own0 = p.upper ? 0 : slots - rows;
    const half_u32 first = group * share, last = min(first + share, rows);
    half_load_ahead<T, STEPS> next;
    half_u32 row = first, begin = 0, end = 0;
    if (row < last) begin = w.offset[row], end = w.offset[row + 1];
    load_ahead<T, LANES, STEPS>(p, tile, row, begin + lane, end, next);
    fill_windows<T>(p, tile, slots, w);
    T sum = T();
    half_u32 left = __reduce_max_sync(HALF_ALL, end - begin);
    for (half_u32 j = 0; j < share;) {
        const half_load_ahead<T, STEPS> now = next;
        const half_u32 at = row, take = left;
        const bool row_ends = left <= TAKE;
        if (row_ends) {
            row = first + ++j;
            begin = end = 0;
            if (row < last) begin = w.offset[row], end = w.offset[row + 1];
            left = __reduce_max_sync(HALF_ALL, end - begin);
        } else {
            begin = min(begin + TAKE, end);
            left -= TAKE;
        }
        load_ahead<T, LANES, STEPS>(p, tile, row, begin + lane, end, next);
        const half_u32 own = at < last ? own0 + at : 0;
        if (take > 0) add_entries<T, LANES, STEPS>(p, w, own, now, sum);
        if (!row_ends) continue;
#pragma unroll
        for (int d = LANES / 2; d > 0; d /= 2)
            sum = N::add(sum, N::across(sum, d));
        if (lane == 0 && at < last) w.y[own] = N::add(w.y[own], sum);
        sum = T();
        __syncwarp();
    }
    T *part = (T *)p.part + tile.slot0;
    for (half_u32 s = threadIdx.x; s < slots; s += 32)
        part[s] = w.y[s];
}

/* --- host ---------------------------------------------------------------------------------------- */

typedef void (*tile_fn)(half_params);

template <class T> static tile_fn kernel_of(int lanes)
{
    switch (lanes) {
    case 4:
        return tile_kernel<T, 4, HALF_STEPS>;
    case 8:
        return tile_kernel<T, 8, HALF_STEPS>;
    case 16:
        return tile_kernel<T, 16, HALF_STEPS>;
    default:
        return tile_kernel<T, 32, HALF_STEPS>;
    }
}

static tile_fn kernel_for(lacis_symv_type type, int lanes)
{
    switch (type) {
    case LACIS_SYMV_F32:
        return kernel_of<float>(lanes);
    case LACIS_SYMV_F64:
        return kernel_of<double>(lanes);
    case LACIS_SYMV_C64:
        return kernel_of<half_complex<float>>(lanes);
    default:
        return kernel_of<half_complex<double>>(lanes);
    }
}

cudaError_t half_tiles_launch(lacis_symv_type type, int lanes, half_i64 tiles, const half_params &p,
                              cudaStream_t stream)
{
    const tile_fn kernel = kernel_for(type, lanes);
    const half_u64 bytes = half_window_bytes(type, p.window);
    cudaError_t error =
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    if (error != cudaSuccess) return error;
    kernel<<<(unsigned)tiles, 32, bytes, stream>>>(p);
    return cudaGetLastError();
}
