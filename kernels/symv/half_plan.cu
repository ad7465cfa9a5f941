/* SPDX-License-Identifier: Apache-2.0
 *
 * A matrix's plan (half.h, half_inside.cuh), made once a matrix; all on the device, a few numbers are read back.
 * Called by operators/symv. How many rows go into a tile a sample says.
 */
#include "half_fill.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

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

/* Wanted entries, into new memory that later goes into the plan's block. */
static bool find_wanted(work *w, half_i64 **pos, half_i64 **skip)
{
    const half_i64 n = w->a.n;
    half_i64 wanted, first, last;
    *pos = (half_i64 *)take(w, sizeof(half_i64) * (half_u64)(n + 1));
    *skip = (half_i64 *)take(w, sizeof(half_i64) * (half_u64)n);
    if (!good(w, cudaSuccess)) return false;
    wanted_kernel<<<blocks_of(n + 1), THREADS, 0, w->stream>>>(w->a, *pos, *skip);
    if (!good(w, cudaGetLastError()) || !scan(w, *pos, n + 1)) return false;
    skip_kernel<<<blocks_of(n), THREADS, 0, w->stream>>>(n, *pos, *skip);
    if (!good(w, cudaGetLastError()) || !read_back(w, &wanted, *pos + n, sizeof wanted) ||
        !read_back(w, &first, w->a.begin, sizeof first) || !read_back(w, &last, w->a.end + n - 1, sizeof last))
        return false;
    w->plan->wanted = (half_u64)wanted;
    if (w->job->joined && wanted == last - first) *skip = NULL; /* row behind row */
    w->a.pos = *pos;
    w->a.skip = *skip;
    w->a.first = first;
    return true;
}

enum { WARPS = 16 }; /* that windows leave room for on a multiprocessor */

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
    const half_i64 wave = w->job->processors * (half_i64)WARPS;
    const half_i64 waves = (w->a.n + *rows * wave - 1) / (*rows * wave);
    *rows = (w->a.n + waves * wave - 1) / (waves * wave);
    return true;
}

/* Tiles, slots and units before each stretch; all of them behind the last. */
static bool count_tiles(work *w, half_i64 stretches, half_i64 rows, half_i64 *part[3], half_i64 all[3])
{
    const half_u64 bytes = sizeof(half_i64) * (half_u64)(stretches + 1);
    part[0] = (half_i64 *)take(w, 3 * bytes);
    if (!good(w, cudaSuccess) || !good(w, cudaMemsetAsync(part[0], 0, 3 * bytes, w->stream))) return false;
    part[1] = part[0] + stretches + 1;
    part[2] = part[1] + stretches + 1;
    const half_form form = {w->plan->lanes, w->plan->steps};
    count_kernel<<<(unsigned)stretches, THREADS, 0, w->stream>>>(w->a, rows, w->plan->window, form, part[0], part[1],
                                                                 part[2]);
    if (!good(w, cudaGetLastError())) return false;
    for (int i = 0; i < 3; i++)
        if (!scan(w, part[i], stretches + 1)) return false;
    for (int i = 0; i < 3; i++)
        if (!good(w,
                  cudaMemcpyAsync(&all[i], part[i] + stretches, sizeof(half_i64), cudaMemcpyDeviceToHost, w->stream)))
            return false;
    return good(w, cudaStreamSynchronize(w->stream));
}

static bool make_block(work *w)
{
    lacis_symv_half_plan *plan = w->plan;
    const half_u64 n = (half_u64)w->a.n;
    const half_u64 bytes[HALF_PARTS] = {8 * (n + 1),
                                        sizeof(half_tile) * ((half_u64)plan->tiles + 1),
                                        half_unit_bytes({plan->lanes, plan->steps}) * plan->units,
                                        plan->ones ? 0
                                                   : 32 * (half_u64)plan->steps * plan->units *
                                                         (half_u64)lacis_symv_vector_bytes(w->job->half.job.type),
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

/* The smallest unit that most rows fit into. */
static half_form form_for(half_u64 wanted, half_i64 n)
{
    static const half_form forms[] = {{4, 4}, {4, 6}, {8, 4}, {8, 6}, {16, 6}};
    const double each = 1.08 * (double)wanted / (double)n;
    for (const half_form &form : forms)
        if (each <= form.lanes * form.steps) return form;
    return {32, 6};
}

static bool copy_within(work *w, half_part to, const void *from, half_u64 bytes)
{
    return good(w, cudaMemcpyAsync(half_at<void>(w->plan, to), from, bytes, cudaMemcpyDeviceToDevice, w->stream));
}

static bool make_plan(work *w)
{
    lacis_symv_half_plan *plan = w->plan;
    half_i64 *pos, *skip, *part[3], all[3], rows = 0;
    if (!find_wanted(w, &pos, &skip)) return false;
    const half_form form =
        w->job->lanes > 0 ? half_form{w->job->lanes, w->job->steps} : form_for(plan->wanted, w->a.n);
    plan->lanes = form.lanes;
    plan->steps = form.steps;
    if (!choose_rows(w, plan->window, &rows)) return false;
    const half_i64 stretches = (w->a.n + rows - 1) / rows;
    if (!count_tiles(w, stretches, rows, part, all)) return false;
    plan->tiles = all[0];
    plan->slots = (half_u64)all[1];
    plan->units = (half_u64)all[2];
    if (plan->slots >= 0xffffffffu) return good(w, cudaErrorNotSupported);
    if (!make_block(w) || !copy_within(w, HALF_POS, pos, 8 * (half_u64)(w->a.n + 1))) return false;
    const half_u64 values = plan->ones ? 0 : plan->place[HALF_LIST] - plan->place[HALF_VALUE];
    if (!good(w, cudaMemsetAsync(half_at<void>(plan, HALF_VALUE), 0, values, w->stream))) return false; /* gaps too */
    const fill_params f = {part[0],
                           part[1],
                           part[2],
                           rows,
                           plan->window,
                           form,
                           half_at<half_tile>(plan, HALF_TILES),
                           half_at<half_u16>(plan, HALF_LOCAL),
                           half_at<half_u32>(plan, HALF_LIST),
                           w->job->half.value,
                           half_at<void>(plan, HALF_VALUE),
                           lacis_symv_vector_bytes(w->job->half.job.type)};
    fill_kernel<<<(unsigned)stretches, THREADS, 0, w->stream>>>(w->a, f);
    return good(w, cudaGetLastError()) && sort_slots(w) && good(w, cudaStreamSynchronize(w->stream));
}

static half_u32 window_of(const lacis_symv_half_gpu *job)
{
    const half_u32 most = min(HALF_WINDOW_BYTES / lacis_symv_vector_bytes(job->half.job.type), (int)HALF_MOST_WINDOW);
    return job->window > 0 ? min((half_u32)max(job->window, 32), most) : most;
}

lacis_symv_gpu_status lacis_symv_half_gpu_plan(const lacis_symv_half_gpu *job, lacis_symv_half_plan *plan,
                                               int *cuda_error)
{
    const lacis_symv_half *half = &job->half;
    *plan = (lacis_symv_half_plan){};
    *cuda_error = 0;
    if (lacis_symv_half_gpu_refuses(half) || half->job.n == 0) return LACIS_SYMV_GPU_UNSUPPORTED;
    plan->window = window_of(job);
    plan->ones = half->value == NULL;
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
    /* No more tiles than rows and pieces of rows, no more units than these and what they have entries for. */
    const half_u64 tiles = n + most / 31 + 2, value = (half_u64)lacis_symv_vector_bytes(job->half.job.type);
    return 32 * (n + 1) + (sizeof(half_tile) + 24) * tiles + (2 + value) * (384 * tiles + 8 * most) + 36 * most +
           (1 << 20);
}
