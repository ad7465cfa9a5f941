/* SPDX-License-Identifier: Apache-2.0
 *
 * The classes of rows of the GPU's product: a kernel launch a list, heavy ones on the job's own stream and light ones
 * beside them. Called by gpu_run.cu once the rows are dealt.
 */
#include "common/gpu_shared.h"
#include "gpu_small_hash.cuh"
#include "gpu_state.h"

mul_u32 mulg_list_rows(const mulg_header *header, int list)
{
    mul_u32 rows = 0;
    for (int i = 0; i < MULG_STEPS; i++)
        rows += header->rows[list * MULG_STEPS + i];
    return rows;
}

static lacis_mul_gpu_class class_of_list(const mulg_run *s, int list)
{
    static const lacis_mul_gpu_class of[MULG_LISTS] = {LACIS_MUL_GPU_COPY, LACIS_MUL_GPU_TINY,   LACIS_MUL_GPU_TINY,
                                                       LACIS_MUL_GPU_TINY, LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_MIDDLE,
                                                       LACIS_MUL_GPU_DENSE};
    return list == MULG_LIST_SMALL && s->small ? LACIS_MUL_GPU_SMALL : of[list];
}

void mulg_class_totals(const mulg_run *s, int64_t count, uint64_t *class_rows, uint64_t *class_products)
{
    uint64_t listed = 0;
    for (int list = 0; list < MULG_LISTS; list++) {
        const mul_u32 rows = mulg_list_rows(s->host, list);
        const lacis_mul_gpu_class of = class_of_list(s, list);
        listed += rows;
        class_rows[of] += rows;
        class_products[of] += s->host->products[list];
    }
    class_rows[LACIS_MUL_GPU_EMPTY] = (uint64_t)count - listed;
}

/* Blocks take tasks until none is left: no more of them than run at once. `fit` run on a multiprocessor. */
static lacis_mul_gpu_status launch(mulg_run *s, const void *kernel, mul_u64 blocks, mul_u64 fit, size_t dynamic,
                                   const mulg_params *p, cudaStream_t stream)
{
    void *argument[] = {(void *)p};
    const mul_u64 most = (mul_u64)s->multiprocessors * fit;
    if (dynamic > 32768) MULG_TRY_CUDA(s, lacis_gpu_all_shared(kernel));
    MULG_TRY_CUDA(s, cudaLaunchKernel(kernel, dim3((unsigned)(blocks < most ? blocks : most)), dim3(MULG_THREADS),
                                      argument, dynamic, stream));
    return LACIS_MUL_GPU_OK;
}

/* Windows of B, what each window tells the next, HUB rows and keys of TOP, in one block. Without memory for HUB rows
 * they are like others. */
static lacis_mul_gpu_status take_dense(mulg_run *s, mulg_params *p, cudaStream_t stream)
{
    const mul_u64 tasks = (mul_u64)p->rows * p->windows, rows = s->select ? (mul_u64)p->rows : 0;
    const mul_u64 places = (mul_u64)s->job->b.rows * (p->windows + 1);
    const bool search = s->rules.wide_windows > 0 && !s->few &&
                        s->host->products[MULG_LIST_DENSE] < places / 2; /* cheaper than to cut all of B */
    const mul_u64 cuts = search ? 0 : mulg_aligned(places * sizeof *s->cut);
    const mul_u64 told = mulg_aligned((tasks + rows) * sizeof *p->prefix);
    const mulg_hub_shape shape = mulg_hub_shape_of(s->job, s->ordered, s->window_width);
    if (shape.cells) mulg_hub_plan(s->job, s->host, shape, s->multiprocessors, p);
    if (p->hub_rows)
        s->cut = (mul_u32 *)s->job->memory.alloc(s->job->memory.context, cuts + told + mulg_hub_bytes(p, shape));
    if (!s->cut) {
        p->hub_rows = p->hub_tasks = 0;
        MULG_TRY(mulg_take(s, cuts + told, &s->cut));
    }
    p->cut = search ? NULL : s->cut;
    p->prefix = s->cut + cuts / sizeof *s->cut;
    p->least = p->prefix + tasks;
    MULG_TRY_CUDA(s, cudaMemsetAsync(p->prefix, 0, told, stream));
    if (p->hub_rows)
        MULG_TRY_CUDA(s, mulg_hub_begin(s->job, p, shape, (char *)s->cut + cuts + told, s->header, stream));
    s->hub_rows = p->hub_rows;
    if (search) return LACIS_MUL_GPU_OK;
    MULG_TRY_CUDA(s, s->few ? mulg_cuts_reached(*p, s->window_width, s->cut, stream)
                            : mulg_cuts(*p, s->job->b.rows, s->window_width, s->cut, stream));
    return LACIS_MUL_GPU_OK;
}

/* A sum and a count. */
static mul_u64 average_bytes(const lacis_mul_gpu_job *job)
{
    return (job->type == LACIS_MUL_C128 ? 16 : 8) + sizeof(mul_u32);
}

/* The tasks of p: a window, or a part of one, is a block's, or a warp's in order. */
static lacis_mul_gpu_status launch_dense(mulg_run *s, const mulg_params *p, cudaStream_t stream)
{
    const mul_u64 tasks = (mul_u64)(p->hub_tasks + p->rows - p->hub_rows) * p->windows;
    if (!s->ordered)
        return launch(s, s->select ? s->kernels.dense_top : s->kernels.kernel[MULG_DENSE], tasks, MULG_DENSE_BLOCKS,
                      0, p, stream);
    /* as in gpu_ordered.cuh: cells, then places and MASK */
    const mul_u64 cell =
        s->job->agg == LACIS_MUL_AVG ? average_bytes(s->job) : (mul_u64)mulg_type_bytes(s->job->type) + 1;
    const mul_u64 warp = (s->window_width * cell + ORDERED_PLACES_BYTES + 15) / 16 * 16;
    return launch(s, s->kernels.kernel[MULG_ORDERED_DENSE], tasks / MULG_WARPS + 1, MULG_ORDERED_BLOCKS,
                  warp * MULG_WARPS, p, stream);
}

static lacis_mul_gpu_status run_dense(mulg_run *s, mulg_params *p, cudaStream_t stream)
{
    MULG_TRY(take_dense(s, p, stream));
    if (s->job->timed && p->hub_rows) { /* HUB alone, to tell how long it takes; the others behind it */
        mulg_params hub = *p;
        hub.rows = p->hub_rows;
        MULG_TRY(launch_dense(s, &hub, stream));
        p->list += p->hub_rows;
        p->prefix += (mul_u64)p->hub_rows * p->windows;
        p->least += p->hub_rows;
        p->rows -= p->hub_rows;
        p->hub_rows = p->hub_tasks = 0;
        p->next = &s->header->hub_next;
    }
    if (s->job->timed) MULG_TRY_CUDA(s, cudaEventRecord(s->hub_mark, stream));
    return p->rows == 0 ? LACIS_MUL_GPU_OK : launch_dense(s, p, stream);
}

/* Shared memory of a block of MIDDLE beside its dynamic part. */
static mul_u64 middle_fixed(const mulg_run *s)
{
    return mulg_type_bytes(s->job->a.type) == 16 ? MIDDLE_FIXED_WIDE : MIDDLE_FIXED;
}

static mul_u64 middle_cell(const lacis_mul_gpu_job *job)
{
    if (job->agg == LACIS_MUL_AVG) return average_bytes(job);
    return job->agg == LACIS_MUL_COUNT ? 4 : (mul_u64)mulg_type_bytes(job->type);
}

static void shape_middle(const mulg_run *s, mulg_params *p, int list)
{
    const mul_u64 cell = middle_cell(s->job);
    mul_u64 cells = list == MULG_LIST_SMALL ? SMALL_CELLS : LARGE_CELLS;
    if (list != MULG_LIST_SMALL && cell >= 16) cells = s->ordered ? LARGE_CELLS_WIDE : LARGE_CELLS_FREE;
    const mul_u64 fixed = middle_fixed(s);
    const mul_u64 bits = (p->width + 1023) / 1024 * 1024;
    const mul_u64 space = (mul_u64)s->shared_block - fixed;
    p->bits = (mul_u32)(bits < BITS_MOST ? bits : BITS_MOST);
    while (p->bits / 4 > space / 2)
        p->bits = (p->bits / 2 + 1023) / 1024 * 1024;
    if (cells > p->bits) cells = p->bits;
    if (cells > (space - p->bits / 4) / cell) cells = (space - p->bits / 4) / cell / 1024 * 1024;
    p->cells = (mul_u32)cells;
}

static lacis_mul_gpu_status run_middle(mulg_run *s, mulg_params *p, int list, cudaStream_t stream)
{
    shape_middle(s, p, list);
    const size_t dynamic = p->bits / 4 + p->cells * middle_cell(s->job);
    const mul_u64 fit = (mul_u64)s->shared_bytes / (dynamic + middle_fixed(s));
    const void *kernel =
        s->select ? s->kernels.middle_top : s->kernels.kernel[s->ordered ? MULG_ORDERED : MULG_MIDDLE];
    return launch(s, kernel, p->rows,
                  fit < 1                    ? 1
                  : fit > MULG_MIDDLE_BLOCKS ? MULG_MIDDLE_BLOCKS
                                             : fit,
                  dynamic, p, stream);
}

/* Sorting takes no more shared memory than MIDDLE has at most, hashing 16-byte values half of an H200's. A block of a
 * device that has less is for MIDDLE, which knows how to do with little. */
static lacis_mul_gpu_status run_small(mulg_run *s, mulg_params *p, cudaStream_t stream)
{
    const lacis_mul_gpu_job *job = s->job;
    const bool hash = s->small == LACIS_MUL_GPU_HASH, values = s->value_bytes > 0;
    const mul_u64 bytes = job->agg == LACIS_MUL_COUNT && !values ? 0 : (mul_u64)mulg_type_bytes(job->type);
    const mul_u64 dynamic =
        hash ? MULG_SMALL_HASH_BYTES(bytes ? bytes : 4) : MULG_SMALL_SORT_BYTES(bytes, !mulg_small_narrow(p->width));
    const mul_u64 fixed = mulg_type_bytes(job->a.type) == 16 ? SMALL_FIXED_WIDE : SMALL_FIXED;
    if (dynamic + fixed > (mul_u64)s->shared_block) return run_middle(s, p, MULG_LIST_SMALL, stream);
    const mul_u64 fit = (mul_u64)s->shared_bytes / (dynamic + fixed), most = MULG_MIDDLE_BLOCKS;
    return launch(s, s->kernels.kernel[hash ? MULG_SMALL_HASH : MULG_SMALL_SORT], p->rows, fit < most ? fit : most,
                  dynamic, p, stream);
}

void mulg_set_top(mulg_run *s)
{
    enum { MORE = 16 }; /* entries beyond 2 k that a turn may store, so that the first key tried mostly does */
    const lacis_mul_gpu_job *job = s->job;
    mulg_params shape = s->p;
    s->select = job->top > 0 && job->top <= (int64_t)s->top_most && !job->mask && !s->ordered &&
                job->having != LACIS_MUL_GPU_BEHIND && s->kernels.dense_top && s->p.width > 0;
    if (!s->select) return;
    s->small = LACIS_MUL_GPU_BITMAP;
    shape_middle(s, &shape, MULG_LIST_LARGE);
    s->p.top = (mul_u32)job->top;
    s->p.top_room = 2 * s->p.top + MORE;
    s->rules.top_room = s->p.top_room;
    s->rules.top_windows = s->p.windows;
    s->rules.top_passes = (s->p.width + shape.bits - 1) / shape.bits;
}

/* Worth it where short rows of B are read several times each. Without memory for it tiny rows do without. */
static lacis_mul_gpu_status pack(mulg_run *s, mulg_params *p, cudaStream_t stream)
{
    const lacis_mul_matrix *b = &s->job->b;
    const mul_u64 entries = s->host->b_entries, room = entries + 7 * (mul_u64)b->rows;
    const mul_u64 places = mulg_aligned((mul_u64)b->rows * sizeof(mul_u32));
    const bool reads = s->job->agg != LACIS_MUL_COUNT && b->value && mulg_type_bytes(b->type) == 4;
    const bool worth = entries >= PACK_LEAST && s->host->products[MULG_LIST_PAIR] >= 3 * entries;
    if (!reads || !worth || s->host->b_most > MULG_PLACE_LONG || room >> 30) return LACIS_MUL_GPU_OK;
    char *block = (char *)s->job->memory.alloc(s->job->memory.context, places + room * sizeof(uint2));
    if (!block) return LACIS_MUL_GPU_OK;
    s->packed = block;
    p->b_place = (const mul_u32 *)block;
    p->b_pair = (const uint2 *)(block + places);
    MULG_TRY_CUDA(s, mulg_pack(*p, b->rows, (mul_u32 *)block, (uint2 *)(block + places), s->header, stream));
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status run_flat(mulg_run *s, mulg_params *p, int64_t row, cudaStream_t stream)
{
    const size_t dynamic =
        MULG_WARPS * (size_t)MULG_FLAT_BYTES(s->value_bytes, s->value_bytes ? mulg_type_bytes(s->job->type) : 4);
    if (s->whole) p->list = NULL;
    p->first = (mul_u32)row;
    p->products = &s->header->products[MULG_LIST_FLAT];
    return launch(s, s->kernels.kernel[MULG_FLAT], ((mul_u64)p->rows + 31) / 32, MULG_FLAT_BLOCKS, dynamic, p,
                  stream);
}

static lacis_mul_gpu_status run_list(mulg_run *s, int list, mul_u32 first, mul_u32 rows, int64_t row,
                                     cudaStream_t stream)
{
    mulg_params p = s->p;
    p.list = s->list + first;
    p.rows = rows;
    p.next = &s->header->next[list];
    p.entries = &s->header->entries;
    p.bad = &s->header->bad;
    const mul_u64 warps = ((mul_u64)rows + MULG_WARPS - 1) / MULG_WARPS;
    if (s->as_middle >> list & 1) return run_middle(s, &p, MULG_LIST_SMALL, stream);
    switch (list) {
    case MULG_LIST_COPY:
        return launch(s, s->kernels.kernel[MULG_COPY], warps, MULG_COPY_BLOCKS, 0, &p, stream);
    case MULG_LIST_FLAT:
        return run_flat(s, &p, row, stream);
    case MULG_LIST_PAIR:
        MULG_TRY(pack(s, &p, stream));
        return launch(s, s->kernels.kernel[MULG_PAIR], (warps + 1) / 2, MULG_PAIR_BLOCKS, 0, &p, stream);
    case MULG_LIST_TINY:
        return launch(s, s->kernels.kernel[s->rules.pairs ? MULG_TINY_NARROW : MULG_TINY_WIDE], warps,
                      s->rules.pairs ? MULG_TINY_BLOCKS : MULG_WIDE_BLOCKS, 0, &p, stream);
    case MULG_LIST_SMALL:
        return s->small ? run_small(s, &p, stream) : run_middle(s, &p, list, stream);
    case MULG_LIST_DENSE:
        return run_dense(s, &p, stream);
    default:
        return run_middle(s, &p, list, stream);
    }
}

bool mulg_sided(const mulg_run *s)
{
    return s->beside;
}

/* Which stream a class runs on: the heaviest on the job's own. */
static cudaStream_t stream_of(const mulg_run *s, int list)
{
    static const int side[MULG_LISTS] = {1, -1, 1, 1, 0, 0, -1};
    return !mulg_sided(s) || side[list] < 0 ? s->stream : (cudaStream_t)s->job->side[side[list]];
}

static lacis_mul_gpu_status fork_streams(mulg_run *s)
{
    MULG_TRY_CUDA(s, cudaEventCreateWithFlags(&s->fork, cudaEventDisableTiming));
    MULG_TRY_CUDA(s, cudaEventRecord(s->fork, s->stream));
    for (int i = 0; i < 2; i++) {
        MULG_TRY_CUDA(s, cudaEventCreateWithFlags(&s->join[i], cudaEventDisableTiming));
        MULG_TRY_CUDA(s, cudaStreamWaitEvent((cudaStream_t)s->job->side[i], s->fork, 0));
    }
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status join_streams(mulg_run *s)
{
    for (int i = 0; i < 2; i++) {
        MULG_TRY_CUDA(s, cudaEventRecord(s->join[i], (cudaStream_t)s->job->side[i]));
        MULG_TRY_CUDA(s, cudaStreamWaitEvent(s->stream, s->join[i], 0));
    }
    return LACIS_MUL_GPU_OK;
}

/* HUB rows were counted among the DENSE ones. */
static lacis_mul_gpu_status count_hubs(mulg_run *s)
{
    lacis_mul_gpu_output *out = s->out;
    if (s->hub_rows == 0) return LACIS_MUL_GPU_OK;
    out->class_rows[LACIS_MUL_GPU_HUB] += s->hub_rows;
    out->class_rows[LACIS_MUL_GPU_DENSE] -= s->hub_rows;
    out->class_products[LACIS_MUL_GPU_HUB] += s->host->hub_products;
    out->class_products[LACIS_MUL_GPU_DENSE] -= s->host->hub_products;
    if (!s->job->timed) return LACIS_MUL_GPU_OK;
    float ms = 0; /* the list of DENSE is the first to run */
    MULG_TRY_CUDA(s, cudaEventElapsedTime(&ms, s->mark[0], s->hub_mark));
    out->class_seconds[LACIS_MUL_GPU_HUB] += ms * 1e-3;
    out->class_seconds[LACIS_MUL_GPU_DENSE] -= ms * 1e-3;
    return LACIS_MUL_GPU_OK;
}

/* MASK, HAVING, TOP, as the job wants them. */
static cudaError_t filter(mulg_run *s, const int64_t *rows, int64_t row, int64_t count)
{
    lacis_mul_gpu_job rest = *s->job;
    if (mulg_masked_inside(&rest)) rest.mask = NULL;
    if (s->job->having == LACIS_MUL_GPU_BEHIND) {
        const cudaError_t error = mulg_having(&rest, s->kernels.kernel[MULG_HAVING], rows, row, count, s->out,
                                              s->header, s->list, s->multiprocessors, s->stream);
        if (error != cudaSuccess) return error;
        rest.mask = NULL;
    }
    if (!rest.mask && rest.top <= 0) return cudaSuccess;
    return mulg_keep(&rest, rows, row, count, s->out, s->header, s->list, s->multiprocessors, s->stream);
}

lacis_mul_gpu_status mulg_run_classes(mulg_run *s, const int64_t *rows, int64_t row, int64_t count)
{
    mul_u32 first[MULG_LISTS + 1] = {0};
    for (int list = 0; list < MULG_LISTS; list++)
        first[list + 1] = first[list] + mulg_list_rows(s->host, list);
    int some = 0;
    for (int list = 0; list < MULG_LISTS; list++)
        some += first[list + 1] > first[list];
    s->beside = some > 1 && !s->job->timed && s->job->side[0] && s->job->side[1];
    if (mulg_sided(s)) MULG_TRY(fork_streams(s));
    for (int i = 0; s->job->timed && i <= MULG_LISTS; i++)
        MULG_TRY_CUDA(s, cudaEventCreate(&s->mark[i]));
    if (s->job->timed) MULG_TRY_CUDA(s, cudaEventCreate(&s->hub_mark));
    if (s->job->timed) MULG_TRY_CUDA(s, cudaEventRecord(s->mark[0], s->stream));
    for (int list = MULG_LISTS - 1; list >= 0; list--) {
        const mul_u32 rows = first[list + 1] - first[list];
        if (rows) MULG_TRY(run_list(s, list, first[list], rows, row, stream_of(s, list)));
        if (s->job->timed) MULG_TRY_CUDA(s, cudaEventRecord(s->mark[MULG_LISTS - list], s->stream));
    }
    if (mulg_sided(s)) MULG_TRY(join_streams(s));
    MULG_TRY_CUDA(s, filter(s, rows, row, count));
    MULG_TRY_CUDA(s, cudaMemcpyAsync(s->host, s->header, sizeof *s->host, cudaMemcpyDeviceToHost, s->stream));
    MULG_TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    for (int list = 0; s->job->timed && list < MULG_LISTS; list++) {
        float ms = 0;
        MULG_TRY_CUDA(s, cudaEventElapsedTime(&ms, s->mark[MULG_LISTS - 1 - list], s->mark[MULG_LISTS - list]));
        s->out->class_seconds[class_of_list(s, list)] += ms * 1e-3;
    }
    MULG_TRY(count_hubs(s));
    return s->host->bad ? LACIS_MUL_GPU_OVERFLOW : LACIS_MUL_GPU_OK;
}
