/* SPDX-License-Identifier: Apache-2.0
 *
 * A matrix's plan (half.h, half_inside.cuh): which entries are wanted, tiles whose columns fit a window, each entry's
 * slot there, each row's slots. Called by operators/symv once a matrix; all on the device, three numbers are read
 * back.
 *
 * Tiles come from stretches of as many rows each, as a sample says most windows hold. A stretch that does not fit is
 * halved until it does; a single row that does not is cut. A tile's distinct columns are marked as bits: a column's
 * slot is the number of bits before its own.
 */
#include "half_inside.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

enum {
    THREADS = 256,
    LANES = 8, /* that share a row here */
    GROUPS = THREADS / LANES,
    WORDS = 4096,          /* of the bits of a pass */
    SPAN = WORDS * 32,     /* columns of a pass */
    EACH = WORDS / THREADS /* words a thread */
};

struct csr {
    const half_i64 *begin, *end;
    const half_u32 *column;
    half_i64 n;
    bool upper;
    const half_i64 *pos, *skip; /* of the plan; skip NULL: contiguous from `first` on */
    half_i64 first;
};

/* --- wanted entries ------------------------------------------------------------------------------ */

/* The first of [from, to) whose column is at least c. */
static __device__ half_i64 lower_bound(const half_u32 *column, half_i64 from, half_i64 to, half_u64 c)
{
    while (from < to) {
        const half_i64 middle = from + (to - from) / 2;
        if (column[middle] < c)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static __global__ void wanted_kernel(csr a, bool contiguous, half_i64 *pos, half_i64 *skip)
{
    const half_i64 r = (half_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (r > a.n) return;
    if (r == a.n) {
        pos[r] = 0; /* the scan's last place */
        return;
    }
    half_i64 from = a.begin[r], to = a.end[r];
    if (!contiguous && a.upper) from = lower_bound(a.column, from, to, (half_u64)r);
    if (!contiguous && !a.upper) to = lower_bound(a.column, from, to, (half_u64)r + 1);
    pos[r] = to - from;
    if (!contiguous) skip[r] = from;
}

static __global__ void skip_kernel(half_i64 n, const half_i64 *pos, half_i64 *skip)
{
    const half_i64 r = (half_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) skip[r] -= pos[r];
}

static __device__ __forceinline__ half_i64 place_of(const csr &a, half_i64 row)
{
    return a.skip == NULL ? a.first : a.skip[row];
}

/* --- distinct columns ---------------------------------------------------------------------------- */

struct marks {
    union {
        struct {
            half_u32 word[WORDS];
            half_u16 before[WORDS]; /* bits before each word's, from the tile's first on */
        };
        half_u16 stamp[THREADS / 32][HALF_MOST_WINDOW];
    };
    half_u32 next, sums[THREADS / 32];
};

/* Entries [p0, p1) of rows [row0, row1). */
struct stretch {
    half_i64 row0, row1, p0, p1;
};

/* Calls each(row, place among columns, position) with every entry, by the whole block. */
template <class F> static __device__ void for_entries(const csr &a, const stretch &s, F each)
{
    for (half_i64 r = s.row0 + threadIdx.x / LANES; r < s.row1; r += GROUPS) {
        const half_i64 to = min(a.pos[r + 1], s.p1), skip = place_of(a, r);
        for (half_i64 p = max(a.pos[r], s.p0) + threadIdx.x % LANES; p < to; p += LANES)
            each(r, p + skip, p);
    }
}

/* The least of the stretch's columns, its own rows among them. */
static __device__ half_u32 first_column(const csr &a, const stretch &s, marks &m)
{
    if (a.upper) return (half_u32)s.row0;
    if (threadIdx.x == 0) m.next = (half_u32)s.row0;
    __syncthreads();
    for (half_i64 r = s.row0 + threadIdx.x; r < s.row1; r += THREADS) {
        const half_i64 p = max(a.pos[r], s.p0);
        if (p < min(a.pos[r + 1], s.p1)) atomicMin(&m.next, a.column[p + place_of(a, r)]);
    }
    __syncthreads();
    const half_u32 first = m.next;
    __syncthreads();
    return first;
}

/* Marks columns lo .. lo + SPAN - 1; m.next: the least column beyond, ~0 where there is none. */
static __device__ void mark(const csr &a, const stretch &s, half_u32 lo, half_u32 words, marks &m)
{
    for (half_u32 w = threadIdx.x; w < words; w += THREADS)
        m.word[w] = 0;
    if (threadIdx.x == 0) m.next = ~0u;
    __syncthreads();
    half_u32 next = ~0u;
    auto set = [&](half_u32 c) {
        if (c < lo) return;
        if (c - lo < (half_u32)SPAN)
            atomicOr(&m.word[(c - lo) / 32], 1u << (c - lo) % 32);
        else
            next = min(next, c);
    };
    for_entries(a, s, [&](half_i64, half_i64 i, half_i64) { set(a.column[i]); });
    for (half_i64 r = s.row0 + threadIdx.x; r < s.row1; r += THREADS)
        set((half_u32)r);
    if (next != ~0u) atomicMin(&m.next, next);
    __syncthreads();
}

/* m.before of the words, from `base` on; the number of all bits with base. */
static __device__ half_u32 rank(half_u32 words, half_u32 base, marks &m)
{
    const half_u32 first = threadIdx.x * EACH, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    half_u32 own = 0;
    for (half_u32 w = first; w < min(first + (half_u32)EACH, words); w++)
        own += __popc(m.word[w]);
    half_u32 up = own;
    for (half_u32 d = 1; d < 32; d *= 2) {
        const half_u32 other = __shfl_up_sync(HALF_ALL, up, d);
        if (lane >= d) up += other;
    }
    if (lane == 31) m.sums[warp] = up;
    __syncthreads();
    half_u32 at = base + up - own, all = base;
    for (half_u32 v = 0; v < THREADS / 32; v++) {
        if (v < warp) at += m.sums[v];
        all += m.sums[v];
    }
    for (half_u32 w = first; w < min(first + (half_u32)EACH, words); w++) {
        m.before[w] = (half_u16)at;
        at += __popc(m.word[w]);
    }
    __syncthreads();
    return all;
}

/* How many words hold [lo, the last column that may occur]. */
static __device__ half_u32 words_of(const csr &a, const stretch &s, half_u32 lo)
{
    const half_i64 end = a.upper ? a.n : s.row1;
    return (half_u32)min((half_i64)WORDS, (end - lo + 31) / 32);
}

/* The number of slots that the stretch's window needs; what is more than `most` may come out as less. */
static __device__ half_u32 count_slots(const csr &a, const stretch &s, half_u32 most, marks &m)
{
    half_u32 slots = 0;
    for (half_u32 lo = first_column(a, s, m); lo != ~0u && slots <= most;) {
        const half_u32 words = words_of(a, s, lo);
        mark(a, s, lo, words, m);
        lo = m.next;
        slots = rank(words, slots, m);
    }
    return slots;
}

/* --- stretches and tiles ------------------------------------------------------------------------- */

static __device__ bool fits(const csr &a, const stretch &s, half_u32 most, half_u32 *slots, marks &m)
{
    if (s.row1 - s.row0 > min((half_i64)HALF_MOST_ROWS, (half_i64)most) || s.p1 - s.p0 > HALF_MOST_ENTRIES)
        return false;
    *slots = count_slots(a, s, most, m);
    return *slots <= most;
}

/* Calls tile(stretch, slots) with each tile of the rows [row0, row1) in order, by the whole block. */
template <class F>
static __device__ void for_tiles(const csr &a, half_i64 row0, half_i64 row1, half_u32 most, marks &m, F tile)
{
    half_i64 at = row0, step = row1 - row0;
    half_u32 slots;
    while (at < row1) {
        const half_i64 end = min(at + step, row1);
        stretch s = {at, end, a.pos[at], a.pos[end]};
        if (fits(a, s, most, &slots, m)) {
            tile(s, slots);
            at = end;
        } else if (step > 1) {
            step = (min(step, row1 - at) + 1) / 2;
        } else { /* the row's own slot, and as many entries as fit besides */
            for (half_i64 p = a.pos[at]; p < a.pos[end]; p += most - 1) {
                s.p0 = p;
                s.p1 = min(p + (half_i64)most - 1, a.pos[end]);
                tile(s, count_slots(a, s, most, m));
            }
            at = end;
            step = row1 - row0;
        }
    }
}

/* Whether windows of `most` slots hold a sample's stretches of the block's candidate of rows. */
enum { SAMPLES = 32, CANDIDATES = 12 };
static __device__ half_i64 candidate_rows(half_u32 candidate)
{
    const half_i64 rows[CANDIDATES] = {32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256};
    return rows[candidate];
}

static __global__ void sample_kernel(csr a, half_u32 most, half_u32 *fitting)
{
    __shared__ marks m;
    const half_i64 rows = candidate_rows(blockIdx.y), row0 = (half_i64)(a.n / (double)SAMPLES * blockIdx.x);
    const half_i64 row1 = min(row0 + rows, a.n);
    half_u32 slots = 0;
    const bool fit = fits(a, {row0, row1, a.pos[row0], a.pos[row1]}, most, &slots, m);
    if (threadIdx.x == 0 && fit) atomicAdd(&fitting[blockIdx.y], 1);
}

static __global__ void __launch_bounds__(THREADS)
    count_kernel(csr a, half_i64 rows, half_u32 most, half_i64 *tiles, half_i64 *slots)
{
    __shared__ marks m;
    const half_i64 row0 = blockIdx.x * rows;
    half_i64 mine = 0, all = 0;
    for_tiles(a, row0, min(row0 + rows, a.n), most, m, [&](const stretch &, half_u32 of) {
        mine++;
        all += of;
    });
    if (threadIdx.x != 0) return;
    tiles[blockIdx.x] = mine;
    slots[blockIdx.x] = all;
}

/* Marks entries whose slot an earlier group takes in the same steps (half_tiles.cu). A warp keeps in `stamp` when each
 * slot was last taken. */
static __device__ void mark_late(const csr &a, const stretch &s, int lanes, half_u16 *local, half_u32 slots,
                                 half_u16 *stamp)
{
    const half_u32 lane = threadIdx.x % 32, groups = 32 / lanes, group = lane / lanes, take = lanes * HALF_STEPS;
    const half_i64 rows = s.row1 - s.row0, share = (rows + groups - 1) / groups;
    half_u16 time = 0;
    for (half_u32 i = lane; i < slots; i += 32)
        stamp[i] = 0;
    for (half_i64 j = threadIdx.x / 32; j < share; j += THREADS / 32) {
        const half_i64 r = s.row0 + group * share + j;
        const bool there = r < min(s.row0 + (group + 1) * share, s.row1);
        const half_i64 from = there ? max(a.pos[r], s.p0) : 0, to = there ? min(a.pos[r + 1], s.p1) : 0;
        const half_u32 most = __reduce_max_sync(HALF_ALL, (half_u32)max(to - from, 0ll));
        for (half_u32 at = 0; at < most; at += take) {
            const half_i64 end = min(to, from + at + take);
            time++;
            for (half_u32 turn = 0; turn < groups; turn++) {
                __syncwarp();
                for (half_i64 p = from + at + lane % lanes; turn == group && p < end; p += lanes) {
                    const half_u16 slot = local[p];
                    if (a.column[p + place_of(a, r)] == (half_u32)r) continue;
                    if (stamp[slot] == time) local[p] = slot | HALF_LATE;
                    stamp[slot] = time;
                }
            }
        }
    }
}

struct fill_params {
    const half_i64 *tile_of, *slot_of; /* of each stretch, the first */
    half_i64 rows;
    half_u32 most;
    int lanes;
    half_tile *tiles;
    half_u16 *local;
    half_u32 *list;
};

/* A tile's slots: its list, and each entry's. */
static __device__ void fill_slots(const csr &a, const stretch &s, half_u16 *local, half_u32 *list, marks &m)
{
    half_u32 slots = 0;
    for (half_u32 lo = first_column(a, s, m); lo != ~0u;) {
        const half_u32 words = words_of(a, s, lo);
        mark(a, s, lo, words, m);
        const half_u32 next = m.next;
        slots = rank(words, slots, m);
        for_entries(a, s, [&](half_i64, half_i64 i, half_i64 p) {
            const half_u32 c = a.column[i] - lo, w = c / 32;
            if (a.column[i] < lo || c >= (half_u32)SPAN) return;
            local[p] = (half_u16)(m.before[w] + __popc(m.word[w] & ((1u << c % 32) - 1)));
        });
        for (half_u32 w = threadIdx.x; w < words; w += THREADS) {
            half_u32 at = m.before[w];
            for (half_u32 left = m.word[w]; left; left &= left - 1)
                list[at++] = lo + 32 * w + __ffs((int)left) - 1;
        }
        __syncthreads();
        lo = next;
    }
}

static __global__ void __launch_bounds__(THREADS) fill_kernel(csr a, fill_params f)
{
    __shared__ marks m;
    const half_i64 row0 = blockIdx.x * f.rows;
    half_i64 at = f.tile_of[blockIdx.x], slot = f.slot_of[blockIdx.x];
    for_tiles(a, row0, min(row0 + f.rows, a.n), f.most, m, [&](const stretch &s, half_u32 slots) {
        if (threadIdx.x == 0) f.tiles[at] = {s.p0, s.p1, slot, (half_u32)s.row0, (half_u32)s.row1};
        fill_slots(a, s, f.local, f.list + slot, m);
        mark_late(a, s, f.lanes, f.local, slots, m.stamp[threadIdx.x / 32]);
        __syncthreads();
        at++;
        slot += slots;
    });
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
        f.tiles[at] = {a.pos[a.n], a.pos[a.n], slot, (half_u32)a.n, (half_u32)a.n};
}

/* --- rows' slots --------------------------------------------------------------------------------- */

static __global__ void count_up_kernel(half_u32 count, half_u32 *out)
{
    const half_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = i;
}

/* from[c]: the first of the rising columns that is at least c. */
static __global__ void bounds_kernel(const half_u32 *column, half_u32 count, half_i64 n, half_u32 *from)
{
    const half_i64 i = (half_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > count) return;
    const half_i64 low = i == 0 ? -1 : (half_i64)column[i - 1], high = i == count ? n : (half_i64)column[i];
    for (half_i64 c = low + 1; c <= high; c++)
        from[c] = (half_u32)i;
}

/* --- host ---------------------------------------------------------------------------------------- */

struct work {
    const lacis_symv_half_gpu *job;
    lacis_symv_half_plan *plan;
    cudaStream_t stream;
    csr a;
    void *held[16];
    int count;
    bool full; /* alloc answered NULL */
    cudaError_t error;
};

static void *take(work *w, half_u64 bytes)
{
    const lacis_symv_host *host = &w->job->half.job.host;
    void *block = w->full || w->error != cudaSuccess ? NULL : host->alloc(host->context, bytes + 256);
    if (block == NULL)
        w->full = w->full || w->error == cudaSuccess;
    else
        w->held[w->count++] = block;
    return block;
}

static bool good(work *w, cudaError_t error)
{
    if (w->error == cudaSuccess) w->error = error;
    return w->error == cudaSuccess && !w->full;
}

static unsigned blocks_of(half_i64 count)
{
    return (unsigned)(count / THREADS + 1);
}

/* Sums before each of count numbers, in place. */
static bool scan(work *w, half_i64 *numbers, half_i64 count)
{
    size_t bytes = 0;
    if (!good(w, cub::DeviceScan::ExclusiveSum(NULL, bytes, numbers, numbers, count, w->stream))) return false;
    void *room = take(w, bytes);
    return good(w, cudaSuccess) &&
           good(w, cub::DeviceScan::ExclusiveSum(room, bytes, numbers, numbers, count, w->stream));
}

static bool read_back(work *w, void *to, const void *from, size_t bytes)
{
    return good(w, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, w->stream)) &&
           good(w, cudaStreamSynchronize(w->stream));
}

static half_u64 rounded(half_u64 bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Wanted entries into new memory that later goes into the plan's block. */
static bool find_wanted(work *w, half_i64 **pos, half_i64 **skip, half_i64 *ends)
{
    const half_i64 n = w->a.n;
    const bool contiguous = w->job->contiguous;
    *pos = (half_i64 *)take(w, sizeof(half_i64) * (half_u64)(n + 1));
    *skip = contiguous ? NULL : (half_i64 *)take(w, sizeof(half_i64) * (half_u64)n);
    if (!good(w, cudaSuccess)) return false;
    wanted_kernel<<<blocks_of(n + 1), THREADS, 0, w->stream>>>(w->a, contiguous, *pos, *skip);
    if (!good(w, cudaGetLastError()) || !scan(w, *pos, n + 1)) return false;
    if (!contiguous) skip_kernel<<<blocks_of(n), THREADS, 0, w->stream>>>(n, *pos, *skip);
    w->a.pos = *pos;
    w->a.skip = *skip;
    return good(w, cudaGetLastError()) && read_back(w, &ends[0], *pos + n, sizeof(half_i64)) &&
           read_back(w, &ends[1], w->a.begin, sizeof(half_i64));
}

/* Warps that windows leave room for on a multiprocessor. */
static half_u32 warps_of(lacis_symv_type type, half_u32 window)
{
    return min(32u, (half_u32)(228 * 1024 / (half_window_bytes(type, window) + 1024)));
}

/* Rows of a stretch: the most that seven of eight samples' windows hold, and no more than give every multiprocessor
 * enough warps. */
static bool choose_rows(work *w, half_u32 most, half_i64 *rows)
{
    half_u32 fitting[CANDIDATES] = {0};
    half_u32 *room = (half_u32 *)take(w, sizeof fitting);
    if (!good(w, cudaSuccess) || !good(w, cudaMemsetAsync(room, 0, sizeof fitting, w->stream))) return false;
    sample_kernel<<<dim3(SAMPLES, CANDIDATES), THREADS, 0, w->stream>>>(w->a, most, room);
    if (!good(w, cudaGetLastError()) || !read_back(w, fitting, room, sizeof fitting)) return false;
    static const half_i64 candidates[CANDIDATES] = {32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256};
    *rows = 16;
    for (int i = 0; i < CANDIDATES; i++)
        if (fitting[i] >= SAMPLES * 7 / 8) *rows = candidates[i];
    /* As many as make whole waves. */
    const half_i64 wave = w->job->processors * (half_i64)warps_of(w->job->half.job.type, most);
    const half_i64 waves = (w->a.n + *rows * wave - 1) / (*rows * wave);
    *rows = (w->a.n + waves * wave - 1) / (waves * wave);
    return true;
}

/* Tiles and slots before each stretch; all of them behind the last. */
static bool count_tiles(work *w, half_i64 stretches, half_i64 rows, half_u32 most, half_i64 **tiles, half_i64 **slots,
                        half_i64 *all)
{
    *tiles = (half_i64 *)take(w, 2 * sizeof(half_i64) * (half_u64)(stretches + 1));
    if (!good(w, cudaSuccess)) return false;
    *slots = *tiles + stretches + 1;
    if (!good(w, cudaMemsetAsync(*tiles, 0, 2 * sizeof(half_i64) * (half_u64)(stretches + 1), w->stream)))
        return false;
    count_kernel<<<(unsigned)stretches, THREADS, 0, w->stream>>>(w->a, rows, most, *tiles, *slots);
    return good(w, cudaGetLastError()) && scan(w, *tiles, stretches + 1) && scan(w, *slots, stretches + 1) &&
           read_back(w, &all[0], *tiles + stretches, sizeof(half_i64)) &&
           read_back(w, &all[1], *slots + stretches, sizeof(half_i64));
}

static bool make_block(work *w)
{
    lacis_symv_half_plan *plan = w->plan;
    const half_u64 n = (half_u64)w->a.n;
    const half_u64 bytes[HALF_PARTS] = {8 * (n + 1),
                                        w->job->contiguous ? 0 : 8 * n,
                                        sizeof(half_tile) * ((half_u64)plan->tiles + 1),
                                        2 * plan->wanted,
                                        4 * plan->slots,
                                        4 * (n + 1),
                                        4 * plan->slots};
    plan->bytes = 0;
    for (int i = 0; i < HALF_PARTS; i++) {
        plan->place[i] = plan->bytes;
        plan->bytes += rounded(bytes[i]);
    }
    const lacis_symv_host *host = &w->job->half.job.host;
    plan->block = host->alloc(host->context, plan->bytes + 256);
    w->full = plan->block == NULL;
    return !w->full;
}

static bool sort_slots(work *w)
{
    const lacis_symv_half_plan *plan = w->plan;
    const half_u32 count = (half_u32)plan->slots;
    half_u32 *column = (half_u32 *)take(w, 8 * plan->slots), *number = column == NULL ? NULL : column + count;
    const half_u32 *list = half_at<half_u32>(plan, HALF_LIST);
    half_u32 *slot = half_at<half_u32>(plan, HALF_SLOT);
    size_t bytes = 0;
    int bits = 1;
    while (bits < 32 && (w->a.n >> bits) > 0)
        bits++;
    if (!good(w, cub::DeviceRadixSort::SortPairs(NULL, bytes, list, column, number, slot, count, 0, bits, w->stream)))
        return false;
    void *room = take(w, bytes);
    if (!good(w, cudaSuccess)) return false;
    count_up_kernel<<<blocks_of(count), THREADS, 0, w->stream>>>(count, number);
    if (!good(w, cub::DeviceRadixSort::SortPairs(room, bytes, list, column, number, slot, count, 0, bits, w->stream)))
        return false;
    bounds_kernel<<<blocks_of(count), THREADS, 0, w->stream>>>(column, count, w->a.n,
                                                               half_at<half_u32>(plan, HALF_SLOT_FROM));
    return good(w, cudaGetLastError());
}

static int lanes_for(half_u64 wanted, half_i64 n)
{
    const double each = (double)wanted / (double)n;
    return each <= 24 ? 4 : each <= 96 ? 8 : each <= 256 ? 16 : 32;
}

static bool make_plan(work *w)
{
    lacis_symv_half_plan *plan = w->plan;
    half_i64 *pos, *skip, *tiles, *slots, ends[2], all[2], rows = 0;
    if (!find_wanted(w, &pos, &skip, ends)) return false;
    plan->wanted = (half_u64)ends[0];
    plan->contiguous = w->job->contiguous;
    plan->first = plan->contiguous ? ends[1] : 0;
    w->a.first = plan->first;
    plan->lanes = lanes_for(plan->wanted, w->a.n);
    if (!choose_rows(w, plan->window, &rows)) return false;
    const half_i64 stretches = (w->a.n + rows - 1) / rows;
    if (!count_tiles(w, stretches, rows, plan->window, &tiles, &slots, all)) return false;
    plan->tiles = all[0];
    plan->slots = (half_u64)all[1];
    if (plan->slots >= 0xffffffffu) return good(w, cudaErrorNotSupported);
    if (!make_block(w)) return false;
    if (!good(w, cudaMemcpyAsync(half_at<void>(plan, HALF_POS), pos, 8 * (half_u64)(w->a.n + 1),
                                 cudaMemcpyDeviceToDevice, w->stream)))
        return false;
    if (skip != NULL && !good(w, cudaMemcpyAsync(half_at<void>(plan, HALF_SKIP), skip, 8 * (half_u64)w->a.n,
                                                 cudaMemcpyDeviceToDevice, w->stream)))
        return false;
    const fill_params f = {tiles,
                           slots,
                           rows,
                           plan->window,
                           plan->lanes,
                           half_at<half_tile>(plan, HALF_TILES),
                           half_at<half_u16>(plan, HALF_LOCAL),
                           half_at<half_u32>(plan, HALF_LIST)};
    fill_kernel<<<(unsigned)stretches, THREADS, 0, w->stream>>>(w->a, f);
    return good(w, cudaGetLastError()) && sort_slots(w) && good(w, cudaStreamSynchronize(w->stream));
}

static half_u32 default_window(lacis_symv_type type)
{
    return (half_u32)min(13024 / (2 * lacis_symv_vector_bytes(type)), (int)HALF_MOST_WINDOW);
}

lacis_symv_gpu_status lacis_symv_half_gpu_plan(const lacis_symv_half_gpu *job, lacis_symv_half_plan *plan,
                                               int *cuda_error)
{
    const lacis_symv_half *half = &job->half;
    const half_u32 wish = job->window > 0 ? (half_u32)max(job->window, 32) : default_window(half->job.type);
    const half_u32 window = min(wish, (half_u32)HALF_MOST_WINDOW);
    *plan = (lacis_symv_half_plan){};
    *cuda_error = 0;
    if (lacis_symv_half_gpu_refuses(half) || half->job.n == 0) return LACIS_SYMV_GPU_UNSUPPORTED;
    plan->window = window;
    work w = {};
    w.job = job;
    w.plan = plan;
    w.stream = (cudaStream_t)job->stream;
    w.a.begin = (const half_i64 *)half->begin;
    w.a.end = (const half_i64 *)half->end;
    w.a.column = half->column;
    w.a.n = half->job.n;
    w.a.upper = half->job.uplo == LACIS_SYMV_UPPER;
    const bool made = make_plan(&w);
    const lacis_symv_host *host = &half->job.host;
    for (int i = 0; i < w.count; i++)
        host->free(host->context, w.held[i]);
    if (made) return LACIS_SYMV_GPU_OK;
    if (plan->block != NULL) host->free(host->context, plan->block);
    *plan = (lacis_symv_half_plan){};
    *cuda_error = (int)w.error;
    return w.full ? LACIS_SYMV_GPU_NO_MEMORY : LACIS_SYMV_GPU_FAILED;
}

uint64_t lacis_symv_half_gpu_plan_bytes(const lacis_symv_half_gpu *job)
{
    const half_u64 n = (half_u64)job->half.job.n, most = job->entries + n;
    return 2 * 16 * (n + 1) + (sizeof(half_tile) + 16) * (n / 16 + most / 64 + 2) + 2 * job->entries + 8 * most +
           4 * n + 24 * most + (1 << 20);
}
