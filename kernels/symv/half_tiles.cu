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

/* x's window, y's behind it at a place that the compiler knows. */
template <class T> struct half_windows {
    T *x;
    half_u16 *offset; /* of the rows' entries from p0 on */
    __device__ __forceinline__ T &y(half_u32 slot) const
    {
        return x[HALF_WINDOW_BYTES / sizeof(T) + slot];
    }
};

template <class T> static __device__ __forceinline__ half_windows<T> find_windows()
{
    extern __shared__ __align__(16) unsigned char memory[];
    return {(T *)memory, (half_u16 *)(memory + 2 * HALF_WINDOW_BYTES)};
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
            if (s + 32 * k < slots) w.x[s + 32 * k] = x[k], w.y(s + 32 * k) = T();
    }
    __syncwarp();
}

/* A unit's entries of a lane, in flight. */
template <class T, int STEPS> struct half_unit {
    T value[STEPS];
    half_u32 pair[STEPS / 2];
    __device__ __forceinline__ half_u32 local(int s) const
    {
        return s % 2 ? pair[s / 2] >> 16 : pair[s / 2] & 0xffff;
    }
};

template <class T, int STEPS>
static __device__ __forceinline__ void load_unit(const half_u32 *local, const T *value, half_unit<T, STEPS> &out)
{
#pragma unroll
    for (int k = 0; k < STEPS / 2; k++)
        out.pair[k] = __ldg(local + 32 * k);
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        out.value[s] = value != NULL ? half_load(value + 32 * s) : half_number<T>::one();
}

/* Entries' share of their columns' sums, of those whose bits are `when`: all are read before any is written. */
template <class T, int STEPS>
static __device__ __forceinline__ void add_columns(const half_windows<T> &w, const half_unit<T, STEPS> &in,
                                                   half_u32 bits, half_u32 when, T x, bool hermitian)
{
    typedef half_number<T> N;
    T sum[STEPS];
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        if ((in.local(s) & bits) == when) sum[s] = w.y(in.local(s) & HALF_SLOT_BITS);
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        if ((in.local(s) & bits) == when)
            w.y(in.local(s) & HALF_SLOT_BITS) = N::fma(N::mirrored(in.value[s], hermitian), x, sum[s]);
    __syncwarp();
}

template <class T, int LANES, int STEPS>
static __device__ __forceinline__ void add_unit(const half_windows<T> &w, T x, bool hermitian,
                                                const half_unit<T, STEPS> &in, T &sum)
{
    typedef half_number<T> N;
    half_u32 all = 0;
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        const half_u32 c = in.local(s);
        if (c & HALF_NONE) continue;
        T a = in.value[s];
        if (N::complex && (c & (HALF_KEPT | HALF_LATE)) == HALF_KEPT) a = N::on_diagonal(a, hermitian);
        sum = N::fma(a, w.x[c & HALF_SLOT_BITS], sum);
    }
    add_columns<T, STEPS>(w, in, HALF_KEPT, 0, x, hermitian);
    if constexpr (LANES < 32) {
#pragma unroll
        for (int k = 0; k < STEPS / 2; k++)
            all |= in.pair[k];
        if (!__any_sync(HALF_ALL, all & (HALF_LATE | HALF_LATE << 16))) return;
        for (half_u32 group = 1; group < 32 / LANES; group++)
            add_columns<T, STEPS>(w, in, HALF_LATE, threadIdx.x / LANES == group ? HALF_LATE : ~0u, x, hermitian);
    }
}

template <class T, int LANES, int STEPS>
static __global__ void __launch_bounds__(32, 16) tile_kernel(const __grid_constant__ half_params p)
{
    typedef half_number<T> N;
    enum { GROUPS = 32 / LANES, TAKE = LANES * STEPS, PAIRS = 16 * STEPS };
    const half_tile tile = p.tiles[blockIdx.x];
    const half_u32 slots = (half_u32)(p.tiles[blockIdx.x + 1].slot0 - tile.slot0), rows = tile.row1 - tile.row0;
    const half_windows<T> w = find_windows<T>();
    fill_offsets(p, tile, rows, w.offset);
    const half_u32 share = (rows + GROUPS - 1) / GROUPS, first = threadIdx.x / LANES * share;
    const half_u32 last = min(first + share, rows);
    const int lane = threadIdx.x % LANES;
    const half_u32 *local = p.local + tile.unit0 * PAIRS + threadIdx.x;
    const T *value = p.value == NULL ? NULL : (const T *)p.value + tile.unit0 * (2 * PAIRS) + threadIdx.x;
    T *own = w.x + (p.upper ? 0 : slots - rows);
    half_unit<T, STEPS> next;
    half_u32 row = first;
    int length = row < last ? w.offset[row + 1] - w.offset[row] : 0; /* of what of the row is not yet taken */
    const auto load = [&] {
        load_unit<T, STEPS>(local, value, next);
        local += PAIRS;
        if (value != NULL) value += 2 * PAIRS;
    };
    int left = (int)__reduce_max_sync(HALF_ALL, (half_u32)length);
    if (left > 0) load();
    fill_windows<T>(p, tile, slots, w);
    T sum = T();
    for (half_u32 j = 0; j < share;) {
        const half_unit<T, STEPS> now = next;
        const half_u32 at = row;
        const bool something = left > 0, row_ends = left <= TAKE;
        if (row_ends) {
            row = first + ++j;
            length = row < last ? w.offset[row + 1] - w.offset[row] : 0;
            left = (int)__reduce_max_sync(HALF_ALL, (half_u32)length);
        } else {
            length -= TAKE;
            left -= TAKE;
        }
        if (left > 0) load();
        if (!something) continue;
        T *mine = own + (at < last ? at : 0);
        add_unit<T, LANES, STEPS>(w, *mine, p.hermitian, now, sum);
        if (!row_ends) continue;
#pragma unroll
        for (int d = LANES / 2; d > 0; d /= 2)
            sum = N::add(sum, N::across(sum, d));
        T &y = mine[HALF_WINDOW_BYTES / sizeof(T)];
        if (lane == 0 && at < last) y = N::add(y, sum);
        sum = T();
        __syncwarp();
    }
    T *part = (T *)p.part + tile.slot0;
    for (half_u32 s = threadIdx.x; s < slots; s += 32)
        part[s] = w.y(s);
}

/* --- host ---------------------------------------------------------------------------------------- */

typedef void (*tile_fn)(half_params);

template <class T> static tile_fn kernel_of(half_form form)
{
    if (form.lanes == 4 && form.steps == 12) return tile_kernel<T, 4, 12>;
    if (form.lanes == 4) return form.steps == 4 ? tile_kernel<T, 4, 4> : tile_kernel<T, 4, 6>;
    if (form.lanes == 8) return form.steps == 4 ? tile_kernel<T, 8, 4> : tile_kernel<T, 8, 6>;
    return form.lanes == 16 ? tile_kernel<T, 16, 6> : tile_kernel<T, 32, 6>;
}

static tile_fn kernel_for(lacis_symv_type type, half_form form)
{
    switch (type) {
    case LACIS_SYMV_F32:
        return kernel_of<float>(form);
    case LACIS_SYMV_F64:
        return kernel_of<double>(form);
    case LACIS_SYMV_C64:
        return kernel_of<half_complex<float>>(form);
    default:
        return kernel_of<half_complex<double>>(form);
    }
}

cudaError_t half_tiles_launch(lacis_symv_type type, half_form form, half_i64 tiles, const half_params &p,
                              cudaStream_t stream)
{
    const tile_fn kernel = kernel_for(type, form);
    const cudaError_t error =
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    if (error != cudaSuccess) return error;
    kernel<<<(unsigned)tiles, 32, half_tile_bytes(), stream>>>(p);
    return cudaGetLastError();
}
