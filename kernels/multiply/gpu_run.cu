/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_mul_gpu_run and lacis_mul_gpu_look: set-up, one read-back that says how many rows each class has, a kernel a
 * class, one read-back of the totals. Called by operators/multiply's variant "gpu".
 */
#include "gpu_host.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static_assert((int)MULG_WRITTEN == (int)LACIS_MUL_CON_STRIPS && (int)MULG_MUL == (int)LACIS_MUL_CON_MUL, "CON");
static_assert((int)MULG_FOLD == (int)LACIS_MUL_FOLD && (int)MULG_FIRST == (int)LACIS_MUL_FIRST, "AGG");
static_assert(sizeof(mulg_header) <= LACIS_MUL_GPU_PINNED_BYTES, "pinned");
static_assert((int)MULG_KERNELS == (int)LACIS_MUL_GPU_WRITTEN_KERNELS, "kernels");

const char *const lacis_mul_gpu_class_name[LACIS_MUL_GPU_CLASSES] = {"empty",  "copy",  "tiny",
                                                                     "middle", "dense", "hub"};
const char *const lacis_mul_gpu_kernel_name[LACIS_MUL_GPU_WRITTEN_KERNELS] = {
    "lacis_copy",    "lacis_tiny",  "lacis_tiny_wide",     "lacis_middle",
    "lacis_ordered", "lacis_dense", "lacis_ordered_dense", "lacis_pair"};

enum {
    SMALL_CELLS = 2048, /* of MIDDLE rows with few products */
    LARGE_CELLS = 8192,
    BITS_MOST = 1 << 18, /* columns of a bitmap */
    ORDERED_PLACES_BYTES = 512,
    PACK_LEAST = 1 << 22,    /* entries of B that are worth packing: fewer stay in the L2 anyway */
    MIDDLE_FIXED = 5 * 1024, /* shared memory of a MIDDLE block beside its dynamic part, at most */
    CUT_BYTES_SHIFT = 31     /* cuts of B take 2 GiB at most: wider matrices have no dense rows */
};

typedef struct run_state {
    const lacis_mul_gpu_job *job;
    lacis_mul_gpu_output *out;
    cudaStream_t stream;
    mulg_params p;
    mulg_rules rules;
    mulg_kernels kernels;
    bool ordered;
    mul_u32 window_width;                            /* of DENSE */
    int multiprocessors, shared_bytes, shared_block; /* shared memory of a multiprocessor, and of a block at most */
    mulg_header *header, *host, own;
    uint2 *bound;
    unsigned short *length;
    unsigned char *bucket;
    mul_u32 *start, *list, *cut, *prefix;
    mul_i64 *offset;
    void *work, *packed;
    cudaEvent_t fork, join[2];
    cudaEvent_t mark[MULG_LISTS + 1];
    cudaError_t error;
} run_state;

#define TRY_CUDA(s, call)                                                                                            \
    do {                                                                                                             \
        (s)->error = (call);                                                                                         \
        if ((s)->error != cudaSuccess) return LACIS_MUL_GPU_FAILED;                                                  \
    } while (0)
#define TRY(call)                                                                                                    \
    do {                                                                                                             \
        const lacis_mul_gpu_status status_ = (call);                                                                 \
        if (status_ != LACIS_MUL_GPU_OK) return status_;                                                             \
    } while (0)

static lacis_mul_gpu_status take(run_state *s, uint64_t bytes, void *out_pointer)
{
    void *block = s->job->memory.alloc(s->job->memory.context, bytes ? bytes : 1);
    if (!block) return LACIS_MUL_GPU_NO_MEMORY;
    memcpy(out_pointer, &block, sizeof block);
    return LACIS_MUL_GPU_OK;
}

static void give(run_state *s, void *block)
{
    if (block) s->job->memory.free(s->job->memory.context, block);
}

/* --- what a job takes ----------------------------------------------------------------------------- */

static bool real(lacis_mul_type type)
{
    return type == LACIS_MUL_F32 || type == LACIS_MUL_F64;
}

static int type_bytes(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : 8;
}

static int storage_bytes(lacis_mul_storage storage)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[storage];
}

/* Whether entries are taken out of computed rows. */
static bool filters(const lacis_mul_gpu_job *job)
{
    return job->mask || job->top > 0;
}

static bool in_order(const lacis_mul_gpu_job *job)
{
    if (job->agg == LACIS_MUL_COUNT || job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX) return false;
    if (job->agg == LACIS_MUL_SUM) return real(job->type) ? job->ordered : job->checked;
    return true;
}

const char *lacis_mul_gpu_refuses(const lacis_mul_gpu_job *job)
{
    if (job->a.rows >= UINT32_MAX || job->b.rows >= UINT32_MAX || job->b.cols >= UINT32_MAX)
        return "a dimension has 2^32 rows or columns";
    if ((job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD) && !job->written)
        return "a written function is not compiled for the GPU";
    return NULL;
}

static mulg_kernels kernels_of(const lacis_mul_gpu_job *job)
{
    mulg_kernels k;
    if (job->written) {
        memcpy(k.kernel, job->written->kernel, sizeof k.kernel);
        return k;
    }
    if (job->agg == LACIS_MUL_COUNT) return mulg_count_kernels(job->storage);
    switch (job->type) {
    case LACIS_MUL_I32:
        return mulg_i32_kernels(job->con_kind, job->agg);
    case LACIS_MUL_I64:
        return mulg_i64_kernels(job->con_kind, job->agg);
    case LACIS_MUL_F32:
        return mulg_f32_kernels(job->con_kind, job->agg);
    default:
        return mulg_f64_kernels(job->con_kind, job->agg);
    }
}

/* Keys of tiny rows are a column and a slot of 6 bits. */
static bool wide_keys(const lacis_mul_gpu_job *job)
{
    return job->t_hi > 1 << 26;
}

/* Rows this heavy are DENSE: looking at every column must cost less than a second walk over the products. */
static mul_u64 dense_from(mul_u64 width)
{
    const mul_u64 share = width / 16, least = width <= 1 << 14 ? 4096 : 8192;
    return share > least ? share : least;
}

static void set_params(run_state *s)
{
    const lacis_mul_gpu_job *job = s->job;
    mulg_params *p = &s->p;
    p->a_begin = (const mul_i64 *)job->a.begin;
    p->a_end = (const mul_i64 *)job->a.end;
    p->a_column = job->a.column;
    p->a_value = job->a.value;
    p->b_column = job->b.column;
    p->b_value = job->b.value;
    p->t_lo = (mul_u32)job->t_lo;
    p->width = job->t_hi > job->t_lo ? (mul_u64)(job->t_hi - job->t_lo) : 0;
    p->con = (int)job->con_kind;
    p->agg = (int)job->agg;
    p->checked = job->checked && !real(job->type);
    s->host = job->pinned ? (mulg_header *)job->pinned : &s->own;
    s->stream = (cudaStream_t)job->stream;
    s->kernels = kernels_of(job);
    s->ordered = in_order(job) || !s->kernels.kernel[MULG_DENSE];
    const int cell = job->agg == LACIS_MUL_COUNT ? 4 : type_bytes(job->type);
    s->window_width = (s->ordered ? MULG_ORDERED_BYTES : MULG_DENSE_BYTES) / cell;
    p->windows = (mul_u32)((p->width + s->window_width - 1) / s->window_width);
    const bool cuts_fit = ((mul_u64)job->b.rows * (p->windows + 1)) >> (CUT_BYTES_SHIFT - 2) == 0;
    s->rules.force = (int)job->force;
    s->rules.dense =
        cuts_fit && job->agg != LACIS_MUL_AVG && s->kernels.kernel[s->ordered ? MULG_ORDERED_DENSE : MULG_DENSE];
    s->rules.pairs = !wide_keys(job);
    s->rules.dense_from = dense_from(p->width);
    s->rules.large_from = SMALL_CELLS + 1;
    s->rules.width = p->width;
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* --- set-up ----------------------------------------------------------------------------------------- */

static lacis_mul_gpu_status set_up(run_state *s, const int64_t *rows, int64_t first, int64_t count,
                                   uint64_t *products, bool lists)
{
    const lacis_mul_gpu_job *job = s->job;
    const uint64_t head = aligned(sizeof *s->header + MULG_BUCKETS * sizeof *s->start);
    const uint64_t bounds = aligned((uint64_t)job->b.rows * sizeof *s->bound);
    const uint64_t list = lists ? aligned((uint64_t)count * sizeof *s->list) : 0;
    char *block;
    const uint64_t lengths = aligned((uint64_t)job->b.rows * sizeof *s->length);
    TRY(take(s, head + bounds + lengths + list + (lists ? (uint64_t)count : 0), &block));
    s->header = (mulg_header *)block;
    s->start = (mul_u32 *)(s->header + 1);
    s->bound = (uint2 *)(block + head);
    s->length = (unsigned short *)(block + head + bounds);
    s->list = (mul_u32 *)(block + head + bounds + lengths);
    s->bucket = lists ? (unsigned char *)(block + head + bounds + lengths + list) : NULL;
    s->p.b_bound = s->bound;
    s->p.b_length = s->length;
    TRY_CUDA(s, cudaMemsetAsync(s->header, 0, sizeof *s->header + MULG_BUCKETS * sizeof *s->start, s->stream));
    TRY_CUDA(s, mulg_bounds(&job->b, job->t_lo, job->t_lo + (int64_t)s->p.width, s->bound, s->length, s->header,
                            s->stream));
    TRY_CUDA(s, mulg_deal(s->p, s->rules, rows, first, count, s->bucket, (mul_u64 *)products, s->header, s->stream));
    if (lists) TRY_CUDA(s, mulg_list(rows, first, count, s->bucket, s->header, s->start, s->list, s->stream));
    TRY_CUDA(s, cudaMemcpyAsync(s->host, s->header, sizeof *s->host, cudaMemcpyDeviceToHost, s->stream));
    TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    return LACIS_MUL_GPU_OK;
}

static mul_u32 list_rows(const mulg_header *header, int list)
{
    mul_u32 rows = 0;
    for (int i = 0; i < MULG_STEPS; i++)
        rows += header->rows[list * MULG_STEPS + i];
    return rows;
}

static const lacis_mul_gpu_class class_of_list[MULG_LISTS] = {LACIS_MUL_GPU_COPY,   LACIS_MUL_GPU_TINY,
                                                              LACIS_MUL_GPU_TINY,   LACIS_MUL_GPU_MIDDLE,
                                                              LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE};

static void class_totals(const mulg_header *header, int64_t count, uint64_t *class_rows, uint64_t *class_products)
{
    uint64_t listed = 0;
    for (int list = 0; list < MULG_LISTS; list++) {
        const mul_u32 rows = list_rows(header, list);
        listed += rows;
        class_rows[class_of_list[list]] += rows;
        class_products[class_of_list[list]] += header->products[list];
    }
    class_rows[LACIS_MUL_GPU_EMPTY] = (uint64_t)count - listed;
}

/* --- classes ------------------------------------------------------------------------------------------ */

/* Blocks take tasks until none is left: no more of them than run at once. `fit` run on a multiprocessor. */
static lacis_mul_gpu_status launch(run_state *s, const void *kernel, mul_u64 blocks, mul_u64 fit, size_t dynamic,
                                   const mulg_params *p, cudaStream_t stream)
{
    void *argument[] = {(void *)p};
    const mul_u64 most = (mul_u64)s->multiprocessors * fit;
    if (dynamic > 32768)
        TRY_CUDA(s, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic));
    TRY_CUDA(s, cudaLaunchKernel(kernel, dim3((unsigned)(blocks < most ? blocks : most)), dim3(MULG_THREADS),
                                 argument, dynamic, stream));
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status run_dense(run_state *s, mulg_params *p, cudaStream_t stream)
{
    const mul_u64 cuts = (mul_u64)s->job->b.rows * (p->windows + 1), tasks = (mul_u64)p->rows * p->windows;
    TRY(take(s, aligned(cuts * sizeof *s->cut) + tasks * sizeof *s->prefix, &s->cut));
    s->prefix = s->cut + aligned(cuts * sizeof *s->cut) / sizeof *s->cut;
    p->cut = s->cut;
    p->prefix = s->prefix;
    TRY_CUDA(s, cudaMemsetAsync(s->prefix, 0, tasks * sizeof *s->prefix, stream));
    TRY_CUDA(s, mulg_cuts(*p, s->job->b.rows, s->window_width, s->cut, stream));
    if (s->ordered) {
        const mul_u64 cell = (mul_u64)type_bytes(s->job->type), width = MULG_ORDERED_BYTES / cell;
        const mul_u64 warp = (MULG_ORDERED_BYTES + width + ORDERED_PLACES_BYTES + 15) / 16 * 16;
        return launch(s, s->kernels.kernel[MULG_ORDERED_DENSE], tasks / MULG_WARPS + 1, MULG_ORDERED_BLOCKS,
                      warp * MULG_WARPS, p, stream);
    }
    return launch(s, s->kernels.kernel[MULG_DENSE], tasks, MULG_DENSE_BLOCKS, 0, p, stream);
}

static lacis_mul_gpu_status run_middle(run_state *s, mulg_params *p, int list, cudaStream_t stream)
{
    const bool average = s->job->agg == LACIS_MUL_AVG;
    const mul_u64 cell = s->job->agg == LACIS_MUL_COUNT ? 4 : average ? 12 : (mul_u64)type_bytes(s->job->type);
    mul_u64 cells = list == MULG_LIST_SMALL ? SMALL_CELLS : LARGE_CELLS;
    const mul_u64 bits = (p->width + 1023) / 1024 * 1024;
    const mul_u64 space = (mul_u64)s->shared_block - MIDDLE_FIXED;
    p->bits = (mul_u32)(bits < BITS_MOST ? bits : BITS_MOST);
    while (p->bits / 4 > space / 2)
        p->bits = (p->bits / 2 + 1023) / 1024 * 1024;
    if (cells > p->bits) cells = p->bits;
    if (cells > (space - p->bits / 4) / cell) cells = (space - p->bits / 4) / cell / 2 * 2;
    p->cells = (mul_u32)cells;
    const size_t dynamic = p->bits / 4 + cells * cell;
    const mul_u64 fit = (mul_u64)s->shared_bytes / (dynamic + MIDDLE_FIXED);
    return launch(s, s->kernels.kernel[s->ordered ? MULG_ORDERED : MULG_MIDDLE], p->rows,
                  fit < 1                    ? 1
                  : fit > MULG_MIDDLE_BLOCKS ? MULG_MIDDLE_BLOCKS
                                             : fit,
                  dynamic, p, stream);
}

/* Worth it where short rows of B are read several times each. Without memory for it tiny rows do without. */
static lacis_mul_gpu_status pack(run_state *s, mulg_params *p, cudaStream_t stream)
{
    const lacis_mul_matrix *b = &s->job->b;
    const mul_u64 entries = s->host->b_entries, room = entries + 7 * (mul_u64)b->rows;
    const mul_u64 places = aligned((mul_u64)b->rows * sizeof(mul_u32));
    const bool reads = s->job->agg != LACIS_MUL_COUNT && b->value && type_bytes(b->type) == 4;
    const bool worth = entries >= PACK_LEAST && s->host->products[MULG_LIST_PAIR] >= 3 * entries;
    if (!reads || !worth || s->host->b_long || room >> 30) return LACIS_MUL_GPU_OK;
    char *block = (char *)s->job->memory.alloc(s->job->memory.context, places + room * sizeof(uint2));
    if (!block) return LACIS_MUL_GPU_OK;
    s->packed = block;
    p->b_place = (const mul_u32 *)block;
    p->b_pair = (const uint2 *)(block + places);
    TRY_CUDA(s, mulg_pack(*p, b->rows, (mul_u32 *)block, (uint2 *)(block + places), s->header, stream));
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status run_list(run_state *s, int list, mul_u32 first, mul_u32 rows, cudaStream_t stream)
{
    mulg_params p = s->p;
    p.list = s->list + first;
    p.rows = rows;
    p.next = &s->header->next[list];
    p.entries = &s->header->entries;
    p.bad = &s->header->bad;
    const mul_u64 warps = ((mul_u64)rows + MULG_WARPS - 1) / MULG_WARPS;
    switch (list) {
    case MULG_LIST_COPY:
        return launch(s, s->kernels.kernel[MULG_COPY], warps, MULG_COPY_BLOCKS, 0, &p, stream);
    case MULG_LIST_PAIR:
        TRY(pack(s, &p, stream));
        return launch(s, s->kernels.kernel[MULG_PAIR], (warps + 1) / 2, MULG_PAIR_BLOCKS, 0, &p, stream);
    case MULG_LIST_TINY:
        return launch(s, s->kernels.kernel[s->rules.pairs ? MULG_TINY_NARROW : MULG_TINY_WIDE], warps,
                      s->rules.pairs ? MULG_TINY_BLOCKS : MULG_WIDE_BLOCKS, 0, &p, stream);
    case MULG_LIST_DENSE:
        return run_dense(s, &p, stream);
    default:
        return run_middle(s, &p, list, stream);
    }
}

/* Which stream a class runs on: the heaviest on the job's own. */
static cudaStream_t stream_of(const run_state *s, int list)
{
    static const int side[MULG_LISTS] = {1, 1, 1, 0, 0, -1};
    const lacis_mul_gpu_job *job = s->job;
    if (job->timed || side[list] < 0 || !job->side[0] || !job->side[1]) return s->stream;
    return (cudaStream_t)job->side[side[list]];
}

static bool sided(const run_state *s)
{
    return !s->job->timed && s->job->side[0] && s->job->side[1];
}

static lacis_mul_gpu_status fork_streams(run_state *s)
{
    TRY_CUDA(s, cudaEventCreateWithFlags(&s->fork, cudaEventDisableTiming));
    TRY_CUDA(s, cudaEventRecord(s->fork, s->stream));
    for (int i = 0; i < 2; i++) {
        TRY_CUDA(s, cudaEventCreateWithFlags(&s->join[i], cudaEventDisableTiming));
        TRY_CUDA(s, cudaStreamWaitEvent((cudaStream_t)s->job->side[i], s->fork, 0));
    }
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status join_streams(run_state *s)
{
    for (int i = 0; i < 2; i++) {
        TRY_CUDA(s, cudaEventRecord(s->join[i], (cudaStream_t)s->job->side[i]));
        TRY_CUDA(s, cudaStreamWaitEvent(s->stream, s->join[i], 0));
    }
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status run_classes(run_state *s, const int64_t *rows, int64_t row, int64_t count)
{
    mul_u32 first[MULG_LISTS + 1] = {0};
    for (int list = 0; list < MULG_LISTS; list++)
        first[list + 1] = first[list] + list_rows(s->host, list);
    if (sided(s)) TRY(fork_streams(s));
    for (int i = 0; s->job->timed && i <= MULG_LISTS; i++)
        TRY_CUDA(s, cudaEventCreate(&s->mark[i]));
    if (s->job->timed) TRY_CUDA(s, cudaEventRecord(s->mark[0], s->stream));
    for (int list = MULG_LISTS - 1; list >= 0; list--) {
        const mul_u32 rows = first[list + 1] - first[list];
        if (rows) TRY(run_list(s, list, first[list], rows, stream_of(s, list)));
        if (s->job->timed) TRY_CUDA(s, cudaEventRecord(s->mark[MULG_LISTS - list], s->stream));
    }
    if (sided(s)) TRY(join_streams(s));
    if (filters(s->job))
        TRY_CUDA(s, mulg_keep(s->job, rows, row, count, s->out, s->header, s->list, s->multiprocessors, s->stream));
    TRY_CUDA(s, cudaMemcpyAsync(s->host, s->header, sizeof *s->host, cudaMemcpyDeviceToHost, s->stream));
    TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    for (int list = 0; s->job->timed && list < MULG_LISTS; list++) {
        float ms = 0;
        TRY_CUDA(s, cudaEventElapsedTime(&ms, s->mark[MULG_LISTS - 1 - list], s->mark[MULG_LISTS - list]));
        s->out->class_seconds[class_of_list[list]] += ms * 1e-3;
    }
    return s->host->bad ? LACIS_MUL_GPU_OVERFLOW : LACIS_MUL_GPU_OK;
}

/* --- the run ------------------------------------------------------------------------------------------ */

static lacis_mul_gpu_status compact(run_state *s, const int64_t *rows, int64_t first, int64_t count)
{
    lacis_mul_gpu_output *out = s->out;
    const int bytes = storage_bytes(s->job->storage);
    const size_t work_bytes = mulg_compact_bytes(count);
    uint32_t *column = NULL;
    void *value = NULL;
    TRY(take(s, (uint64_t)(count + 1) * sizeof *s->offset, &s->offset));
    TRY(take(s, work_bytes, &s->work));
    TRY_CUDA(s,
             mulg_compact_begin(rows, first, count, out->begin, out->end, s->offset, s->work, work_bytes, s->stream));
    TRY(take(s, out->entries * sizeof *column, &column));
    const lacis_mul_gpu_status status = take(s, out->entries * (uint64_t)bytes, &value);
    if (status != LACIS_MUL_GPU_OK) {
        give(s, column);
        return status;
    }
    s->error = mulg_compact_move(rows, first, count, out->begin, out->end, s->offset, out->entries, bytes,
                                 out->column, out->value, column, value, s->stream);
    give(s, out->column);
    give(s, out->value);
    out->column = column;
    out->value = value;
    out->room = out->entries;
    return s->error == cudaSuccess ? LACIS_MUL_GPU_OK : LACIS_MUL_GPU_FAILED;
}

static bool cancelled(const run_state *s)
{
    return s->job->memory.cancelled && s->job->memory.cancelled(s->job->memory.context);
}

static lacis_mul_gpu_status run_all(run_state *s, const int64_t *rows, int64_t first, int64_t count)
{
    const lacis_mul_gpu_job *job = s->job;
    lacis_mul_gpu_output *out = s->out;
    int device = 0;
    TRY_CUDA(s, cudaGetDevice(&device));
    TRY_CUDA(s, cudaDeviceGetAttribute(&s->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY_CUDA(s, cudaDeviceGetAttribute(&s->shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    TRY_CUDA(s, cudaDeviceGetAttribute(&s->shared_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    s->p.c_begin = (mul_i64 *)out->begin;
    s->p.c_end = (mul_i64 *)out->end;
    TRY(set_up(s, rows, first, count, NULL, true));
    for (int list = 0; list < MULG_LISTS; list++)
        out->products += s->host->products[list];
    class_totals(s->host, count, out->class_rows, out->class_products);
    out->room = s->host->room;
    if (out->room == 0) return LACIS_MUL_GPU_OK;
    if (job->room && out->room > job->room) return LACIS_MUL_GPU_ROOM;
    if (cancelled(s)) return LACIS_MUL_GPU_CANCELLED;
    TRY(take(s, out->room * sizeof *out->column, &out->column));
    TRY(take(s, out->room * (uint64_t)storage_bytes(job->storage), &out->value));
    s->p.c_column = out->column;
    s->p.c_value = out->value;
    TRY(run_classes(s, rows, first, count));
    out->entries = filters(job) ? s->host->kept : s->host->entries;
    return job->compact || filters(job) ? compact(s, rows, first, count) : LACIS_MUL_GPU_OK;
}

static void release(run_state *s)
{
    void *const blocks[] = {s->header, s->cut, s->offset, s->work, s->packed};
    cudaEvent_t const events[] = {s->fork, s->join[0], s->join[1]};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        give(s, blocks[i]);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i]) cudaEventDestroy(events[i]);
    for (int i = 0; i <= MULG_LISTS; i++)
        if (s->mark[i]) cudaEventDestroy(s->mark[i]);
}

lacis_mul_gpu_status lacis_mul_gpu_run(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                       int64_t count, lacis_mul_gpu_output *out)
{
    run_state s = {};
    lacis_mul_gpu_output empty = {};
    empty.begin = out->begin;
    empty.end = out->end;
    *out = empty;
    if (lacis_mul_gpu_refuses(job)) return LACIS_MUL_GPU_UNSUPPORTED;
    if (count <= 0) return LACIS_MUL_GPU_OK;
    s.job = job;
    s.out = out;
    set_params(&s);
    if ((mul_u64)count * s.p.windows > UINT32_MAX) s.rules.dense = 0; /* tasks are numbered with 32 bits */
    const lacis_mul_gpu_status status = run_all(&s, rows, first, count);
    out->cuda_error = (int)s.error;
    if (status != LACIS_MUL_GPU_OK) {
        if (sided(&s)) {
            cudaStreamSynchronize((cudaStream_t)job->side[0]);
            cudaStreamSynchronize((cudaStream_t)job->side[1]);
        }
        give(&s, out->column);
        give(&s, out->value);
        out->column = NULL;
        out->value = NULL;
    }
    release(&s);
    return status;
}

lacis_mul_gpu_status lacis_mul_gpu_look(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                        int64_t count, uint64_t *products, lacis_mul_gpu_totals *out)
{
    run_state s = {};
    memset(out, 0, sizeof *out);
    if (count <= 0) return LACIS_MUL_GPU_OK;
    s.job = job;
    set_params(&s);
    const lacis_mul_gpu_status status = set_up(&s, rows, first, count, products, false);
    out->cuda_error = (int)s.error;
    if (status == LACIS_MUL_GPU_OK) {
        for (int list = 0; list < MULG_LISTS; list++)
            out->products += s.host->products[list];
        class_totals(s.host, count, out->class_rows, out->class_products);
        out->bound = s.host->room;
        out->most = s.host->most;
    }
    release(&s);
    return status;
}

uint64_t lacis_mul_gpu_work_bytes(const lacis_mul_gpu_job *job, int64_t count)
{
    run_state s = {};
    s.job = job;
    set_params(&s);
    uint64_t bytes = sizeof(mulg_header) + (uint64_t)job->b.rows * (sizeof(uint2) + 2) + (uint64_t)count * 5 + 4096;
    if (s.rules.dense)
        bytes += (uint64_t)job->b.rows * (s.p.windows + 1) * sizeof(mul_u32) +
                 (uint64_t)count * s.p.windows * sizeof(mul_u32);
    if (job->agg != LACIS_MUL_COUNT && job->b.value && type_bytes(job->b.type) == 4)
        bytes += (uint64_t)job->b.rows * (39 + 1) * sizeof(uint2); /* mulg_pack, at most */
    if (job->compact) bytes += (uint64_t)count * 9 + 65536;
    return bytes;
}

/* --- written functions --------------------------------------------------------------------------------- */

extern "C" const char lacis_text_gpu_written_cuh[]; /* gpu_written.cuh with what it includes (cmake/embed.cmake) */

const char *lacis_mul_gpu_source(void)
{
    return lacis_text_gpu_written_cuh;
}

int lacis_mul_gpu_options(const lacis_mul_gpu_job *job, const char **option, int most, char *text, size_t text_bytes)
{
    const int value[] = {(int)job->agg, in_order(job), wide_keys(job)};
    static const char *const name[] = {"LACIS_AGG", "LACIS_ORDERED", "LACIS_WIDE"};
    int count = 0;
    for (size_t at = 0; count < 3 && count < most; count++) {
        const int length = snprintf(text + at, text_bytes - at, "-D%s=%d", name[count], value[count]);
        if (length < 0 || (size_t)length >= text_bytes - at) break;
        option[count] = text + at;
        at += (size_t)length + 1;
    }
    return count;
}
