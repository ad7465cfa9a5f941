/* SPDX-License-Identifier: Apache-2.0
 *
 * A matrix's plan (half.h, half_inside.cuh), made once a matrix; all on the device, a few numbers are read back.
 * Called by operators/symv.
 */
#include "half_fill.cuh"
#include "half_sample.cuh"
#include "half_slots.cuh"
#include "half_work.cuh"

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
