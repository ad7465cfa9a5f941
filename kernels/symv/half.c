/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse symmetric products on the CPU (half.h). Called by operators/symv.
 *
 * Rows fall into blocks, blocks into tasks, by the matrix alone: a task has so many entries that its window, which
 * spans the columns that it reaches, is little beside them. Tasks are taken in rising order; whoever has filled a
 * task's window waits until the ones before have been added to the sums, and adds it. So the bits do not depend on
 * the number of threads, and one window a thread is all that is needed.
 */
#include "symv/half_inside.h"

#include "common/isa.h"
#include "common/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    BLOCK = 256,       /* rows of a block */
    LEAST = 1 << 15,   /* entries of a task, unless it is the last */
    ENOUGH_TASKS = 32, /* with fewer, tasks are made smaller against their windows */
    WIDE_WORKERS = 8   /* at most, where windows are more than a quarter of the vector */
};

/* Rows first .. last-1, which reach columns low .. high-1. */
struct task {
    int64_t first, last, low, high, entries;
};

struct run {
    const lacis_symv_half *half;
    const half_loops *loops;
    struct task *block, *task;
    int64_t blocks, tasks;
    size_t bytes; /* of an element */
    const char *x;
    char *packed, *sum, *window; /* window: one behind the other, `width` elements each */
    int64_t width;
    int workers;
    _Atomic int64_t added; /* tasks whose window is in sum */
};

/* ---------------------------------------------------------------------------------------- blocks, tasks */

static int find_block(void *context, int64_t number, int worker)
{
    (void)worker;
    struct run *run = context;
    const lacis_symv_half *half = run->half;
    const int64_t n = half->job.n;
    struct task *block = &run->block[number];
    block->first = number * BLOCK;
    block->last = n - block->first < BLOCK ? n : block->first + BLOCK;
    block->low = block->first;
    block->high = block->last;
    block->entries = 0;
    for (int64_t r = block->first; r < block->last; r++) {
        int64_t from, to;
        half_wanted(half, r, &from, &to);
        if (from == to) continue;
        block->entries += to - from;
        if (half->column[from] < block->low) block->low = half->column[from];
        if (half->column[to - 1] >= block->high) block->high = (int64_t)half->column[to - 1] + 1;
    }
    return 0;
}

/* Blocks into tasks with `times` entries at least for each element of the window. */
static void join_blocks(struct run *run, int64_t times)
{
    run->tasks = 0;
    for (int64_t b = 0; b < run->blocks; b++) {
        struct task *task = &run->task[run->tasks], *block = &run->block[b];
        if (block->first == 0 || task->last == 0) {
            *task = *block;
        } else {
            task->last = block->last;
            task->entries += block->entries;
            if (block->low < task->low) task->low = block->low;
            if (block->high > task->high) task->high = block->high;
        }
        if (task->entries < LEAST || task->entries < times * (task->high - task->low)) continue;
        run->tasks++;
        if (run->tasks < run->blocks) run->task[run->tasks].last = 0;
    }
    if (run->tasks < run->blocks && run->task[run->tasks].last != 0) run->tasks++;
}

static void make_tasks(struct run *run)
{
    for (int64_t times = 16; times >= 4; times /= 2) {
        run->task[0].last = 0;
        join_blocks(run, times);
        if (run->tasks >= ENOUGH_TASKS) break;
    }
    run->width = 0;
    for (int64_t t = 0; t < run->tasks; t++)
        if (run->task[t].high - run->task[t].low > run->width) run->width = run->task[t].high - run->task[t].low;
}

/* ------------------------------------------------------------------------------------------------- sums */

#define ADD(R)                                                                                                       \
    static void add_##R(int64_t count, const R *from, R *to)                                                         \
    {                                                                                                                \
        for (int64_t i = 0; i < count; i++)                                                                          \
            to[i] += from[i];                                                                                        \
    }
ADD(float)
ADD(double)

static bool is_single(lacis_symv_type type)
{
    return type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64;
}

static bool cancelled(const lacis_symv_host *host)
{
    return host->cancelled != NULL && host->cancelled(host->context);
}

static int do_task(void *context, int64_t number, int worker)
{
    struct run *run = context;
    const struct task *task = &run->task[number];
    const lacis_symv_type type = run->half->job.type;
    const bool stop = cancelled(&run->half->job.host);
    char *window = run->window + (size_t)worker * (size_t)run->width * run->bytes;
    const int64_t span = task->high - task->low, numbers = lacis_symv_complex(type) ? 2 * span : span;
    if (!stop) {
        memset(window, 0, (size_t)span * run->bytes);
        const half_rows rows = {run->half, task->first, task->last, run->x, window - (size_t)task->low * run->bytes};
        run->loops->rows[type](&rows);
    }
    while (atomic_load_explicit(&run->added, memory_order_acquire) != number)
        sched_yield();
    char *to = run->sum + (size_t)task->low * run->bytes;
    if (is_single(type))
        add_float(numbers, (const float *)window, (float *)to);
    else
        add_double(numbers, (const double *)window, (double *)to);
    atomic_store_explicit(&run->added, number + 1, memory_order_release);
    return stop;
}

/* -------------------------------------------------------------------------------------------- x and y */

#define VECTORS(R, NAME)                                                                                             \
    static void pack_##NAME(const lacis_symv_job *job, int64_t side, R *to)                                          \
    {                                                                                                                \
        const R *from = (const R *)job->x + side * job->x_side;                                                      \
        for (int64_t i = 0; i < job->n; i++)                                                                         \
            to[i] = from[i * job->x_step];                                                                           \
    }                                                                                                                \
    static void put_##NAME(const lacis_symv_job *job, int64_t side, int64_t from, int64_t to, const R *sum)          \
    {                                                                                                                \
        const R alpha = (R)job->alpha[0], beta = (R)job->beta[0];                                                    \
        const R *y0 = job->beta[0] != 0 ? (const R *)job->y0 + side * job->y_side : NULL;                            \
        R *y = (R *)job->y + side * job->y_side;                                                                     \
        for (int64_t i = from; i < to; i++) {                                                                        \
            const R out = alpha * sum[i];                                                                            \
            y[i * job->y_step] = y0 != NULL ? out + beta * y0[i * job->y_step] : out;                                \
        }                                                                                                            \
    }                                                                                                                \
    static void pack_complex_##NAME(const lacis_symv_job *job, int64_t side, R *to)                                  \
    {                                                                                                                \
        const R *from = (const R *)job->x + 2 * side * job->x_side;                                                  \
        for (int64_t i = 0; i < job->n; i++) {                                                                       \
            to[2 * i] = from[2 * i * job->x_step];                                                                   \
            to[2 * i + 1] = from[2 * i * job->x_step + 1];                                                           \
        }                                                                                                            \
    }                                                                                                                \
    static void put_complex_##NAME(const lacis_symv_job *job, int64_t side, int64_t from, int64_t to, const R *sum)  \
    {                                                                                                                \
        const R ar = (R)job->alpha[0], ai = (R)job->alpha[2], br = (R)job->beta[0], bi = (R)job->beta[2];            \
        const bool add = br != 0 || bi != 0;                                                                         \
        for (int64_t i = from; i < to; i++) {                                                                        \
            const int64_t at = 2 * (side * job->y_side + i * job->y_step);                                           \
            R re = sum[2 * i], im = sum[2 * i + 1];                                                                  \
            if (ar != 1 || ai != 0) {                                                                                \
                const R old = re;                                                                                    \
                re = ar * old - ai * im;                                                                             \
                im = ar * im + ai * old;                                                                             \
            }                                                                                                        \
            if (add) {                                                                                               \
                const R yr = ((const R *)job->y0)[at], yi = ((const R *)job->y0)[at + 1];                            \
                re += br * yr - bi * yi;                                                                             \
                im += br * yi + bi * yr;                                                                             \
            }                                                                                                        \
            ((R *)job->y)[at] = re;                                                                                  \
            ((R *)job->y)[at + 1] = im;                                                                              \
        }                                                                                                            \
    }
VECTORS(float, f32)
VECTORS(double, f64)

static void pack(const struct run *run, int64_t side)
{
    const lacis_symv_job *job = &run->half->job;
    const bool complex = lacis_symv_complex(job->type);
    if (is_single(job->type))
        (complex ? pack_complex_f32 : pack_f32)(job, side, (float *)run->packed);
    else
        (complex ? pack_complex_f64 : pack_f64)(job, side, (double *)run->packed);
}

struct put {
    const struct run *run;
    int64_t side;
};

static int put_block(void *context, int64_t number, int worker)
{
    (void)worker;
    const struct put *put = context;
    const lacis_symv_job *job = &put->run->half->job;
    const struct task *block = &put->run->block[number];
    const bool complex = lacis_symv_complex(job->type);
    if (is_single(job->type))
        (complex ? put_complex_f32 : put_f32)(job, put->side, block->first, block->last,
                                              (const float *)put->run->sum);
    else
        (complex ? put_complex_f64 : put_f64)(job, put->side, block->first, block->last,
                                              (const double *)put->run->sum);
    return 0;
}

/* -------------------------------------------------------------------------------------------- a product */

static bool one_side(struct run *run, int64_t side)
{
    const lacis_symv_job *job = &run->half->job;
    run->x = (const char *)job->x + side * job->x_side * (int64_t)run->bytes;
    if (job->x_step != 1) {
        pack(run, side);
        run->x = run->packed;
    }
    memset(run->sum, 0, (size_t)job->n * run->bytes);
    atomic_store(&run->added, 0);
    if (lacis_parallel(run->workers, run->tasks, do_task, run) != 0) return false;
    struct put put = {run, side};
    lacis_parallel(job->threads, run->blocks, put_block, &put);
    return true;
}

static void *take(const struct run *run, uint64_t bytes)
{
    const lacis_symv_host *host = &run->half->job.host;
    return host->alloc(host->context, bytes);
}

static void give(const struct run *run, void *block)
{
    if (block != NULL) run->half->job.host.free(run->half->job.host.context, block);
}

static bool take_vectors(struct run *run)
{
    const lacis_symv_job *job = &run->half->job;
    const uint64_t n = (uint64_t)job->n;
    run->workers = job->threads < 1 ? 1 : job->threads;
    if (run->width > job->n / 4 && run->workers > WIDE_WORKERS) run->workers = WIDE_WORKERS;
    if (run->workers > run->tasks) run->workers = (int)run->tasks;
    run->sum = take(run, n * run->bytes);
    run->packed = job->x_step == 1 ? NULL : take(run, n * run->bytes);
    run->window = take(run, (uint64_t)run->workers * (uint64_t)run->width * run->bytes);
    return run->sum != NULL && run->window != NULL && (job->x_step == 1 || run->packed != NULL);
}

static const half_loops *loops_here(void)
{
    static const half_loops *const loops[] = {[LACIS_ISA_BASELINE] = &lacis_half_loops_baseline,
                                              [LACIS_ISA_AVX2] = &lacis_half_loops_avx2,
                                              [LACIS_ISA_AVX512] = &lacis_half_loops_avx512};
    return loops[lacis_isa_here()];
}

const char *lacis_symv_half_refuses(const lacis_symv_half *half)
{
    const lacis_symv_job *job = &half->job;
    if (job->type > LACIS_SYMV_C128) return "a sparse matrix only in single and double precision";
    if (job->order == LACIS_SYMV_CANONICAL) return "a sparse matrix has no canonical order";
    if (job->matrices != 1 || job->figures != NULL) return "a sparse matrix only alone, and without figures";
    return NULL;
}

uint64_t lacis_symv_half_work_bytes(const lacis_symv_half *half)
{
    const lacis_symv_job *job = &half->job;
    const uint64_t n = (uint64_t)job->n, threads = job->threads < 1 ? 1 : (uint64_t)job->threads;
    const uint64_t wide = threads < WIDE_WORKERS ? threads : WIDE_WORKERS;
    const uint64_t windows = threads / 4 + 1 > wide ? threads / 4 + 1 : wide;
    return (2 + windows) * n * (uint64_t)lacis_symv_vector_bytes(job->type) +
           2 * sizeof(struct task) * (n / BLOCK + 1);
}

lacis_symv_status lacis_symv_half_run(const lacis_symv_half *half)
{
    const lacis_symv_job *job = &half->job;
    struct run run = {.half = half, .loops = loops_here(), .blocks = (job->n + BLOCK - 1) / BLOCK};
    lacis_symv_status status = LACIS_SYMV_NO_MEMORY;
    if (job->n == 0 || job->sides == 0) return LACIS_SYMV_OK;
    run.bytes = (size_t)lacis_symv_vector_bytes(job->type);
    run.block = take(&run, 2 * sizeof(struct task) * (uint64_t)run.blocks);
    if (run.block != NULL) {
        run.task = run.block + run.blocks;
        lacis_parallel(job->threads, run.blocks, find_block, &run);
        make_tasks(&run);
    }
    if (run.block != NULL && take_vectors(&run)) {
        status = LACIS_SYMV_OK;
        for (int64_t side = 0; status == LACIS_SYMV_OK && side < job->sides; side++)
            if (!one_side(&run, side)) status = LACIS_SYMV_CANCELLED;
    }
    give(&run, run.window);
    give(&run, run.packed);
    give(&run, run.sum);
    give(&run, run.block);
    return status;
}
