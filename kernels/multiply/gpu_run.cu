/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_mul_gpu_run and lacis_mul_gpu_look: set-up, one read-back that says how many rows each class has, a kernel a
 * class (gpu_classes.cu), one read-back of the totals. Called by operators/multiply's variant "gpu".
 */
#include "gpu_state.h"

static_assert(sizeof(mulg_header) <= LACIS_MUL_GPU_PINNED_BYTES, "pinned");

/* One block of device memory: header and zeros behind it, bounds, lengths, list, buckets. */
static lacis_mul_gpu_status take_block(mulg_run *s, int64_t count, bool lists)
{
    const uint64_t b_rows = (uint64_t)s->job->b.rows;
    const uint64_t head = mulg_aligned(sizeof *s->header + ZEROS_BYTES);
    const uint64_t bounds = mulg_aligned(b_rows * sizeof *s->bound);
    const uint64_t lengths = s->few ? 0 : mulg_aligned(b_rows * sizeof *s->length);
    const uint64_t list = lists ? mulg_aligned((uint64_t)count * sizeof *s->list) : 0;
    char *block;
    MULG_TRY(mulg_take(s, head + bounds + lengths + list + (lists ? (uint64_t)count : 0), &block));
    s->header = (mulg_header *)block;
    s->start = (mul_u32 *)(s->header + 1);
    s->bound = (uint2 *)(block + head);
    s->length = (unsigned short *)(block + head + bounds);
    s->list = (mul_u32 *)(block + head + bounds + lengths);
    s->bucket = lists ? (unsigned char *)(block + head + bounds + lengths + list) : NULL;
    s->p.b_bound = s->bound;
    s->p.b_length = s->length;
    MULG_TRY_CUDA(s, cudaMemsetAsync(s->header, 0, sizeof *s->header + ZEROS_BYTES, s->stream));
    return LACIS_MUL_GPU_OK;
}

/* Without memory for chunks of B no row is FLAT. */
static mulg_chunks take_chunks(mulg_run *s)
{
    const lacis_mul_gpu_job *job = s->job;
    mulg_chunks chunks = {NULL, job->b.value, 0, s->value_bytes};
    if (!s->rules.flat) return chunks;
    const float f32 = 1;
    const double f64 = 1;
    const lacis_mul_type type = mulg_b_type(job);
    if (type == LACIS_MUL_F32)
        memcpy(&chunks.one, &f32, sizeof f32);
    else if (type == LACIS_MUL_F64)
        memcpy(&chunks.one, &f64, sizeof f64);
    else
        chunks.one = 1;
    const uint64_t bytes = (uint64_t)job->b.rows * (uint64_t)MULG_FLAT_CHUNK(chunks.value_bytes);
    chunks.to = (char *)job->memory.alloc(job->memory.context, bytes);
    s->rules.flat = chunks.to != NULL;
    s->packed = chunks.to;
    s->p.b_flat = chunks.to;
    return chunks;
}

/* Where the kernels of the set-up put the header by themselves. */
static mulg_header *handed_to(const mulg_run *s)
{
    return s->job->pinned ? s->host : NULL;
}

static lacis_mul_gpu_status read_header(mulg_run *s)
{
    if (!handed_to(s))
        MULG_TRY_CUDA(s, cudaMemcpyAsync(s->host, s->header, sizeof *s->host, cudaMemcpyDeviceToHost, s->stream));
    MULG_TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    return LACIS_MUL_GPU_OK;
}

/* Few rows: one launch. */
static lacis_mul_gpu_status set_up_few(mulg_run *s, const int64_t *rows, int64_t first, int64_t count)
{
    MULG_TRY(take_block(s, count, true));
    MULG_TRY_CUDA(s, mulg_few(s->p, s->rules, &s->job->b, rows, first, count, s->bound, (mul_u64 *)s->start, s->list,
                              s->header, handed_to(s), s->stream));
    return read_header(s);
}

/* Lists are made behind the read-back, where there is more than one to make. */
static lacis_mul_gpu_status set_up(mulg_run *s, const int64_t *rows, int64_t first, int64_t count, uint64_t *products,
                                   bool lists)
{
    const lacis_mul_gpu_job *job = s->job;
    MULG_TRY(take_block(s, count, lists));
    const mulg_chunks chunks = take_chunks(s);
    MULG_TRY_CUDA(s, mulg_bounds(&job->b, job->t_lo, job->t_lo + (int64_t)s->p.width, s->bound, s->length, chunks,
                                 s->header, s->stream));
    MULG_TRY_CUDA(s, mulg_deal(s->p, s->rules, rows, first, count, s->bucket, (mul_u64 *)products, s->header,
                               handed_to(s), s->stream));
    MULG_TRY(read_header(s));
    if (!mulg_is_flat(s->rules, s->host)) {
        mulg_give(s, s->packed);
        s->packed = NULL;
    }
    s->whole = !rows && mulg_list_rows(s->host, MULG_LIST_FLAT) == (mul_u64)count;
    if (lists && !s->whole)
        MULG_TRY_CUDA(s, mulg_list(rows, first, count, s->bucket, s->header, s->start, s->list, s->stream));
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
    if (s->few)
        MULG_TRY(set_up_few(s, rows, first, count));
    else
        MULG_TRY(set_up(s, rows, first, count, NULL, true));
    mulg_class_totals(s, count, out->class_rows, out->class_products);
    out->room = s->host->room;
    if (out->room == 0) return LACIS_MUL_GPU_OK; /* no products, or MASK keeps none of them */
    if (cancelled(s)) return LACIS_MUL_GPU_CANCELLED;
    MULG_TRY(mulg_compile(s, false));
    MULG_TRY(mulg_take_room(s, rows, first, count));
    s->p.c_column = out->column;
    s->p.c_value = out->value;
    MULG_TRY(mulg_run_classes(s, rows, first, count));
    for (int list = 0; list < MULG_LISTS; list++)
        out->products += s->host->products[list];
    out->class_products[LACIS_MUL_GPU_TINY] += s->host->products[MULG_LIST_FLAT]; /* counted by the kernel */
    out->entries = mulg_takes_out(job) ? s->host->kept : s->host->entries;
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

/* A way to compute rows. */
struct way {
    bool few, uncounted; /* see mulg_run */
    int64_t top_most;
};

static lacis_mul_gpu_status run_rows(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first, int64_t count,
                                     way how, lacis_mul_gpu_output *out)
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
    s.few = how.few;
    s.uncounted = how.uncounted;
    s.top_most = (mul_u32)how.top_most;
    s.rules.flat = s.rules.flat && !s.few && 4 * count >= job->b.rows;
    if (s.few && s.p.windows > 1) s.rules.dense_from = FEW_DENSE; /* a row's windows go to several multiprocessors */
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

/* Entries of few rows are not counted: where their bounds are too much they go the way of many. A greater TOP is
 * taken within the kernels where that spares counting. */
lacis_mul_gpu_status lacis_mul_gpu_run(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                       int64_t count, lacis_mul_gpu_output *out)
{
    enum { MOST = 32, MOST_INSIDE = 256 }; /* a lane's greatest cell each, a thread's */
    const int64_t inside = job->top_inside < MOST_INSIDE ? job->top_inside : MOST_INSIDE;
    const int64_t most = inside > 0 ? inside : MOST;
    const bool few = count <= MULG_FEW && count * 8 <= job->b.rows && !job->counted;
    const bool selects = !job->mask && job->having != LACIS_MUL_GPU_BEHIND && !mulg_in_order(job);
    const bool wide = selects && !job->counted && inside <= 0 && job->top > most && job->top <= MOST_INSIDE;
    const way ways[] = {{true, false, most}, {false, wide, most}, {false, true, MOST_INSIDE}, {false, false, most}};
    lacis_mul_gpu_status status = LACIS_MUL_GPU_ROOM;
    for (int i = few ? 0 : 1; i < (wide ? 4 : 2); i++) {
        status = run_rows(job, rows, first, count, ways[i], out);
        if (status != LACIS_MUL_GPU_ROOM && status != LACIS_MUL_GPU_NO_MEMORY) break;
    }
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
    s.rules.exact = 1;
    s.rules.flat = s.rules.flat && 4 * count >= job->b.rows; /* as a run would have it */
    const lacis_mul_gpu_status status = set_up(&s, rows, first, count, products, false);
    out->cuda_error = (int)s.error;
    if (status == LACIS_MUL_GPU_OK) {
        for (int list = 0; list < MULG_LISTS; list++)
            out->products += s.host->products[list];
        mulg_class_totals(&s, count, out->class_rows, out->class_products);
        out->bound = s.host->room;
        out->most = s.host->most;
    }
    release(&s);
    return status;
}

lacis_mul_gpu_status lacis_mul_gpu_compile(const lacis_mul_gpu_job *job, int64_t first, int64_t count,
                                           int *cuda_error)
{
    mulg_run s = {};
    *cuda_error = 0;
    if (lacis_mul_gpu_refuses(job)) return LACIS_MUL_GPU_UNSUPPORTED;
    if (count <= 0 || !job->written) return LACIS_MUL_GPU_OK;
    s.job = job;
    mulg_set_params(&s);
    s.rules.flat = s.rules.flat && 4 * count >= job->b.rows; /* as a run would have it */
    lacis_mul_gpu_status status = set_up(&s, NULL, first, count, NULL, false);
    if (status == LACIS_MUL_GPU_OK) status = mulg_compile(&s, true);
    *cuda_error = (int)s.error;
    release(&s);
    return status;
}

uint64_t lacis_mul_gpu_work_bytes(const lacis_mul_gpu_job *job, int64_t count)
{
    mulg_run s = {};
    s.job = job;
    mulg_set_params(&s);
    uint64_t bytes =
        sizeof(mulg_header) + ZEROS_BYTES + (uint64_t)job->b.rows * (sizeof(uint2) + 2) + (uint64_t)count * 5 + 4096;
    if (s.rules.dense)
        bytes += (uint64_t)job->b.rows * (s.p.windows + 1) * sizeof(mul_u32) +
                 (uint64_t)count * s.p.windows * sizeof(mul_u32);
    if (s.value_bytes == 4 && job->b.value)
        bytes += (uint64_t)job->b.rows * (39 + 1) * sizeof(uint2); /* mulg_pack, at most */
    else if (s.rules.flat)
        bytes += (uint64_t)job->b.rows * (uint64_t)MULG_FLAT_CHUNK(s.value_bytes);
    if (job->compact) bytes += (uint64_t)count * 9 + 65536;
    return bytes;
}
