/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_mul_gpu_run and lacis_mul_gpu_look: set-up, one read-back that says how many rows each class has, a kernel a
 * class (gpu_classes.cu), one read-back of the totals. Called by operators/multiply's variant "gpu".
 */
#include "gpu_state.h"

static_assert(sizeof(mulg_header) <= LACIS_MUL_GPU_PINNED_BYTES, "pinned");

static lacis_mul_gpu_status set_up(mulg_run *s, const int64_t *rows, int64_t first, int64_t count, uint64_t *products,
                                   bool lists)
{
    const lacis_mul_gpu_job *job = s->job;
    const uint64_t head = mulg_aligned(sizeof *s->header + MULG_BUCKETS * sizeof *s->start);
    const uint64_t bounds = mulg_aligned((uint64_t)job->b.rows * sizeof *s->bound);
    const uint64_t list = lists ? mulg_aligned((uint64_t)count * sizeof *s->list) : 0;
    char *block;
    const uint64_t lengths = mulg_aligned((uint64_t)job->b.rows * sizeof *s->length);
    MULG_TRY(mulg_take(s, head + bounds + lengths + list + (lists ? (uint64_t)count : 0), &block));
    s->header = (mulg_header *)block;
    s->start = (mul_u32 *)(s->header + 1);
    s->bound = (uint2 *)(block + head);
    s->length = (unsigned short *)(block + head + bounds);
    s->list = (mul_u32 *)(block + head + bounds + lengths);
    s->bucket = lists ? (unsigned char *)(block + head + bounds + lengths + list) : NULL;
    s->p.b_bound = s->bound;
    s->p.b_length = s->length;
    MULG_TRY_CUDA(s, cudaMemsetAsync(s->header, 0, sizeof *s->header + MULG_BUCKETS * sizeof *s->start, s->stream));
    MULG_TRY_CUDA(s, mulg_bounds(&job->b, job->t_lo, job->t_lo + (int64_t)s->p.width, s->bound, s->length, s->header,
                                 s->stream));
    MULG_TRY_CUDA(
        s, mulg_deal(s->p, s->rules, rows, first, count, s->bucket, (mul_u64 *)products, s->header, s->stream));
    if (lists) MULG_TRY_CUDA(s, mulg_list(rows, first, count, s->bucket, s->header, s->start, s->list, s->stream));
    MULG_TRY_CUDA(s, cudaMemcpyAsync(s->host, s->header, sizeof *s->host, cudaMemcpyDeviceToHost, s->stream));
    MULG_TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    return LACIS_MUL_GPU_OK;
}

/* --- the run ------------------------------------------------------------------------------------------ */

static lacis_mul_gpu_status compact(mulg_run *s, const int64_t *rows, int64_t first, int64_t count)
{
    lacis_mul_gpu_output *out = s->out;
    const int bytes = mulg_storage_bytes(s->job->storage);
    const size_t work_bytes = mulg_compact_bytes(count);
    uint32_t *column = NULL;
    void *value = NULL;
    MULG_TRY(mulg_take(s, (uint64_t)(count + 1) * sizeof *s->offset, &s->offset));
    MULG_TRY(mulg_take(s, work_bytes, &s->work));
    MULG_TRY_CUDA(
        s, mulg_compact_begin(rows, first, count, out->begin, out->end, s->offset, s->work, work_bytes, s->stream));
    MULG_TRY(mulg_take(s, out->entries * sizeof *column, &column));
    const lacis_mul_gpu_status status = mulg_take(s, out->entries * (uint64_t)bytes, &value);
    if (status != LACIS_MUL_GPU_OK) {
        mulg_give(s, column);
        return status;
    }
    s->error = mulg_compact_move(rows, first, count, out->begin, out->end, s->offset, out->entries, bytes,
                                 out->column, out->value, column, value, s->stream);
    mulg_give(s, out->column);
    mulg_give(s, out->value);
    out->column = column;
    out->value = value;
    out->room = out->entries;
    return s->error == cudaSuccess ? LACIS_MUL_GPU_OK : LACIS_MUL_GPU_FAILED;
}

static bool cancelled(const mulg_run *s)
{
    return s->job->memory.cancelled && s->job->memory.cancelled(s->job->memory.context);
}

static lacis_mul_gpu_status run_all(mulg_run *s, const int64_t *rows, int64_t first, int64_t count)
{
    const lacis_mul_gpu_job *job = s->job;
    lacis_mul_gpu_output *out = s->out;
    int device = 0;
    MULG_TRY_CUDA(s, cudaGetDevice(&device));
    MULG_TRY_CUDA(s, cudaDeviceGetAttribute(&s->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    MULG_TRY_CUDA(s, cudaDeviceGetAttribute(&s->shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    MULG_TRY_CUDA(s, cudaDeviceGetAttribute(&s->shared_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    mulg_set_top(s);
    s->p.c_begin = (mul_i64 *)out->begin;
    s->p.c_end = (mul_i64 *)out->end;
    MULG_TRY(set_up(s, rows, first, count, NULL, true));
    for (int list = 0; list < MULG_LISTS; list++)
        out->products += s->host->products[list];
    mulg_class_totals(s->host, count, out->class_rows, out->class_products);
    out->room = s->host->room;
    if (out->room == 0) return LACIS_MUL_GPU_OK;
    if (cancelled(s)) return LACIS_MUL_GPU_CANCELLED;
    MULG_TRY(mulg_take_room(s, rows, first, count));
    s->p.c_column = out->column;
    s->p.c_value = out->value;
    MULG_TRY(mulg_run_classes(s, rows, first, count));
    out->entries = mulg_filters(job) ? s->host->kept : s->host->entries;
    return job->compact || mulg_filters(job) ? compact(s, rows, first, count) : LACIS_MUL_GPU_OK;
}

static void release(mulg_run *s)
{
    void *const blocks[] = {s->header, s->cut, s->offset, s->work, s->packed};
    cudaEvent_t const events[] = {s->fork, s->join[0], s->join[1], s->hub_mark};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mulg_give(s, blocks[i]);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i]) cudaEventDestroy(events[i]);
    for (int i = 0; i <= MULG_LISTS; i++)
        if (s->mark[i]) cudaEventDestroy(s->mark[i]);
}

lacis_mul_gpu_status lacis_mul_gpu_run(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                       int64_t count, lacis_mul_gpu_output *out)
{
    mulg_run s = {};
    lacis_mul_gpu_output empty = {};
    empty.begin = out->begin;
    empty.end = out->end;
    *out = empty;
    if (lacis_mul_gpu_refuses(job)) return LACIS_MUL_GPU_UNSUPPORTED;
    if (count <= 0) return LACIS_MUL_GPU_OK;
    s.job = job;
    s.out = out;
    mulg_set_params(&s);
    if ((mul_u64)count * s.p.windows > UINT32_MAX) s.rules.dense = 0; /* tasks are numbered with 32 bits */
    const lacis_mul_gpu_status status = run_all(&s, rows, first, count);
    out->cuda_error = (int)s.error;
    if (status != LACIS_MUL_GPU_OK) {
        if (mulg_sided(&s)) {
            cudaStreamSynchronize((cudaStream_t)job->side[0]);
            cudaStreamSynchronize((cudaStream_t)job->side[1]);
        }
        mulg_give(&s, out->column);
        mulg_give(&s, out->value);
        out->column = NULL;
        out->value = NULL;
    }
    release(&s);
    return status;
}

lacis_mul_gpu_status lacis_mul_gpu_look(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                        int64_t count, uint64_t *products, lacis_mul_gpu_totals *out)
{
    mulg_run s = {};
    memset(out, 0, sizeof *out);
    if (count <= 0) return LACIS_MUL_GPU_OK;
    s.job = job;
    mulg_set_params(&s);
    const lacis_mul_gpu_status status = set_up(&s, rows, first, count, products, false);
    out->cuda_error = (int)s.error;
    if (status == LACIS_MUL_GPU_OK) {
        for (int list = 0; list < MULG_LISTS; list++)
            out->products += s.host->products[list];
        mulg_class_totals(s.host, count, out->class_rows, out->class_products);
        out->bound = s.host->room;
        out->most = s.host->most;
    }
    release(&s);
    return status;
}

uint64_t lacis_mul_gpu_work_bytes(const lacis_mul_gpu_job *job, int64_t count)
{
    mulg_run s = {};
    s.job = job;
    mulg_set_params(&s);
    uint64_t bytes = sizeof(mulg_header) + (uint64_t)job->b.rows * (sizeof(uint2) + 2) + (uint64_t)count * 5 + 4096;
    if (s.rules.dense)
        bytes += (uint64_t)job->b.rows * (s.p.windows + 1) * sizeof(mul_u32) +
                 (uint64_t)count * s.p.windows * sizeof(mul_u32);
    if (job->agg != LACIS_MUL_COUNT && job->b.value && mulg_type_bytes(job->b.type) == 4)
        bytes += (uint64_t)job->b.rows * (39 + 1) * sizeof(uint2); /* mulg_pack, at most */
    if (job->compact) bytes += (uint64_t)count * 9 + 65536;
    return bytes;
}
