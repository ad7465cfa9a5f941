/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse symmetric products on the CPU (half.h). Called by operators/symv.
 *
 * Rows fall into blocks, blocks into tasks, by the matrix alone: a task has so many entries that its window, which
 * spans the columns that it reaches, should be little beside them. Tasks are taken in order. Whoever has filled a
 * task's window copies its own rows to the sums, which nobody has written yet; waits until the tasks before are done
 * with theirs; and adds what it reaches of them. So the bits do not depend on the number of threads, and one window a
 * thread is all that is needed. How far rows reach is asked of a sample; a window that is too small for its task
 * grows.
 */
#include "symv/half_inside.h"

#include "common/isa.h"
#include "common/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    BLOCK = 256,       /* rows of a block */
    SAMPLES = 64,      /* blocks that are looked at for what a task reaches */
    LEAST = 1 << 15,   /* entries of a task, unless it is the last */
    ENOUGH_TASKS = 32, /* with fewer, tasks are made smaller against their windows */
    WIDE_WORKERS = 8   /* at most, where windows are more than a quarter of the vector */
};

struct window {
    char *at;
    int64_t room; /* elements */
};

struct run {
    const lacis_symv_half *half;
    const half_loops *loops;
    int64_t *entries; /* of each block, of both triangles */
    int64_t *first;   /* block of each task; behind the last, the number of blocks */
    int64_t blocks, tasks;
    int64_t reach; /* of a block beside its rows, about */
    size_t bytes;  /* of an element */
    const char *x;
    char *packed, *sum;
    struct window *window; /* of each worker */
    int workers;
    _Atomic int64_t added; /* tasks whose window is in sum */
};

/* ---------------------------------------------------------------------------------------- blocks, tasks */

static int64_t row_behind(const struct run *run, int64_t block)
{
    const int64_t n = run->half->job.n;
    return n / BLOCK < block ? n : block * BLOCK;
}

static int count_block(void *context, int64_t block, int worker)
{
    (void)worker;
    const struct run *run = context;
    const int64_t *begin = run->half->begin, *end = run->half->end, last = row_behind(run, block + 1);
    int64_t entries = 0;
    for (int64_t r = block * BLOCK; r < last; r++)
        entries += end[r] - begin[r];
    run->entries[block] = entries;
    return 0;
}

/* The columns [low, high) that rows first .. last-1 reach, themselves among them. */
static void find_reach(const lacis_symv_half *half, int64_t first, int64_t last, int64_t *low, int64_t *high)
{
    *low = first;
    *high = last;
    for (int64_t r = first; r < last; r++) {
        int64_t from, to;
        half_wanted(half, r, &from, &to);
        if (from == to) continue;
        if (half->column[from] < *low) *low = half->column[from];
        if (half->column[to - 1] >= *high) *high = (int64_t)half->column[to - 1] + 1;
    }
}

static int64_t sample_reach(const struct run *run)
{
    const int64_t count = run->blocks < SAMPLES ? run->blocks : SAMPLES;
    int64_t all = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t block = run->blocks * i / count, first = block * BLOCK, last = row_behind(run, block + 1);
        int64_t low, high;
        find_reach(run->half, first, last, &low, &high);
        all += (high - low) - (last - first);
    }
    return all / count;
}

/* Blocks into tasks with `times` entries at least for each element of the window, as far as the sample tells. */
static void join_blocks(struct run *run, int64_t times)
{
    int64_t entries = 0;
    run->tasks = 0;
    run->first[0] = 0;
    for (int64_t block = 0; block < run->blocks; block++) {
        const int64_t rows = (block + 1 - run->first[run->tasks]) * BLOCK;
        entries += run->entries[block];
        if (entries < LEAST || entries < times * (rows + run->reach)) continue;
        run->first[++run->tasks] = block + 1;
        entries = 0;
    }
    if (run->first[run->tasks] < run->blocks) run->first[++run->tasks] = run->blocks;
}

static void make_tasks(struct run *run)
{
    lacis_parallel(run->half->job.threads, run->blocks, count_block, run);
    run->reach = sample_reach(run);
    for (int64_t times = 16; times >= 4; times /= 2) {
        join_blocks(run, times);
        if (run->tasks >= ENOUGH_TASKS) break;
    }
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

/* Room for at least [low, high) and for what was there, on the side to which rows reach. */
static bool grow_window(struct run *run, int worker, half_rows *rows, int64_t low, int64_t high)
{
    struct window *window = &run->window[worker];
    const int64_t n = run->half->job.n, span = (high - low) + (high - low) / 4, room = span < n ? span : n;
    char *old = window->at;
    if (window->room < high - low || rows->window != NULL) {
        window->at = take(run, (uint64_t)room * run->bytes);
        if (window->at == NULL) {
            window->at = old;
            return false;
        }
        window->room = room;
    }
    const char *before = rows->window;
    const bool upper = run->half->job.uplo == LACIS_SYMV_UPPER;
    rows->least = upper ? low : high - window->room;
    rows->most = upper ? low + window->room : high;
    rows->window = window->at - rows->least * (int64_t)run->bytes;
    if (rows->least < 0) rows->least = 0;
    if (rows->most > n) rows->most = n;
    const size_t from = (size_t)rows->low * run->bytes, count = (size_t)(rows->high - rows->low) * run->bytes;
    if (before != NULL)
        memcpy(rows->window + from, before + from, count);
    else
        memset(rows->window + from, 0, count);
    if (window->at != old) give(run, old);
    return true;
}

static bool fill_window(struct run *run, int worker, half_rows *rows)
{
    const int64_t n = run->half->job.n;
    const bool upper = run->half->job.uplo == LACIS_SYMV_UPPER;
    const int64_t reach = run->reach + run->reach / 4;
    rows->low = rows->first;
    rows->high = rows->last;
    int64_t low = upper || rows->low < reach ? (upper ? rows->low : 0) : rows->low - reach;
    int64_t high = upper ? (n - rows->high < reach ? n : rows->high + reach) : rows->high;
    if (!grow_window(run, worker, rows, low, high)) return false;
    while (rows->first < rows->last) {
        rows->first = run->loops->rows[run->half->job.type](rows);
        if (rows->first == rows->last) break;
        /* Twice as much, or all that the row wishes. */
        const int64_t twice = 2 * (high - low);
        if (upper)
            high = rows->wish >= low + twice ? rows->wish + 1 : low + twice < n ? low + twice : n;
        else
            low = rows->wish < high - twice ? rows->wish : high - twice > 0 ? high - twice : 0;
        if (!grow_window(run, worker, rows, low, high)) return false;
    }
    return true;
}

static void add_window(const struct run *run, const char *window, int64_t low, int64_t span)
{
    const lacis_symv_type type = run->half->job.type;
    const int64_t numbers = lacis_symv_complex(type) ? 2 * span : span;
    char *to = run->sum + (size_t)low * run->bytes;
    if (is_single(type))
        add_float(numbers, (const float *)window, (float *)to);
    else
        add_double(numbers, (const double *)window, (double *)to);
}

/* The first task's rows for the lower triangle, the last one's for the upper: what tasks reach besides their own rows
 * belongs to tasks before them. */
static void rows_of_task(const struct run *run, int64_t number, half_rows *rows)
{
    const int64_t task = run->half->job.uplo == LACIS_SYMV_UPPER ? run->tasks - 1 - number : number;
    rows->first = run->first[task] * BLOCK;
    rows->last = row_behind(run, run->first[task + 1]);
}

enum { DONE, STOPPED, NO_ROOM };
static int do_task(void *context, int64_t number, int worker)
{
    struct run *run = context;
    half_rows rows = {.half = run->half, .x = run->x};
    rows_of_task(run, number, &rows);
    const int64_t first = rows.first, last = rows.last, bytes = (int64_t)run->bytes;
    int answer = cancelled(&run->half->job.host) ? STOPPED : DONE;
    if (answer == DONE && !fill_window(run, worker, &rows)) answer = NO_ROOM;
    if (answer == DONE)
        memcpy(run->sum + first * bytes, rows.window + first * bytes, (size_t)((last - first) * bytes));
    while (atomic_load_explicit(&run->added, memory_order_acquire) != number)
        sched_yield();
    if (answer == DONE) {
        add_window(run, rows.window + rows.low * bytes, rows.low, first - rows.low);
        add_window(run, rows.window + last * bytes, last, rows.high - last);
    }
    atomic_store_explicit(&run->added, number + 1, memory_order_release);
    return answer;
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
    const int64_t first = number * BLOCK, last = row_behind(put->run, number + 1);
    const bool complex = lacis_symv_complex(job->type);
    if (is_single(job->type))
        (complex ? put_complex_f32 : put_f32)(job, put->side, first, last, (const float *)put->run->sum);
    else
        (complex ? put_complex_f64 : put_f64)(job, put->side, first, last, (const double *)put->run->sum);
    return 0;
}

/* -------------------------------------------------------------------------------------------- a product */

static lacis_symv_status one_side(struct run *run, int64_t side)
{
    const lacis_symv_job *job = &run->half->job;
    run->x = (const char *)job->x + side * job->x_side * (int64_t)run->bytes;
    if (job->x_step != 1) {
        pack(run, side);
        run->x = run->packed;
    }
    atomic_store(&run->added, 0);
    const int answer = lacis_parallel(run->workers, run->tasks, do_task, run);
    if (answer != DONE) return answer == STOPPED ? LACIS_SYMV_CANCELLED : LACIS_SYMV_NO_MEMORY;
    struct put put = {run, side};
    lacis_parallel(job->threads, run->blocks, put_block, &put);
    return LACIS_SYMV_OK;
}

static bool take_tasks(struct run *run)
{
    run->entries = take(run, sizeof(int64_t) * (2 * (uint64_t)run->blocks + 1));
    if (run->entries == NULL) return false;
    run->first = run->entries + run->blocks;
    make_tasks(run);
    return true;
}

static bool take_vectors(struct run *run)
{
    const lacis_symv_job *job = &run->half->job;
    run->workers = job->threads < 1 ? 1 : job->threads;
    if (run->reach > job->n / 4 && run->workers > WIDE_WORKERS) run->workers = WIDE_WORKERS;
    if (run->workers > run->tasks) run->workers = (int)run->tasks;
    run->sum = take(run, (uint64_t)job->n * run->bytes);
    run->packed = job->x_step == 1 ? NULL : take(run, (uint64_t)job->n * run->bytes);
    run->window = take(run, sizeof *run->window * (uint64_t)run->workers);
    if (run->window != NULL) memset(run->window, 0, sizeof *run->window * (size_t)run->workers);
    return run->sum != NULL && run->window != NULL && (job->x_step == 1 || run->packed != NULL);
}

static void give_all(struct run *run)
{
    for (int i = 0; run->window != NULL && i < run->workers; i++)
        give(run, run->window[i].at);
    give(run, run->window);
    give(run, run->packed);
    give(run, run->sum);
    give(run, run->entries);
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
    if (job->matrices != 1 || job->figures != NULL) return "a sparse matrix only alone, and without figures";
    return NULL;
}

uint64_t lacis_symv_half_work_bytes(const lacis_symv_half *half)
{
    const lacis_symv_job *job = &half->job;
    const uint64_t n = (uint64_t)job->n, threads = job->threads < 1 ? 1 : (uint64_t)job->threads;
    /* Sums, x, and of each thread a window with the larger one that it grows into. */
    return (2 + 2 * threads) * n * (uint64_t)lacis_symv_vector_bytes(job->type) +
           2 * sizeof(int64_t) * (n / BLOCK + 2) + sizeof(struct window) * threads;
}

lacis_symv_status lacis_symv_half_run(const lacis_symv_half *half)
{
    const lacis_symv_job *job = &half->job;
    struct run run = {.half = half, .loops = loops_here(), .blocks = (job->n + BLOCK - 1) / BLOCK};
    lacis_symv_status status = LACIS_SYMV_NO_MEMORY;
    if (job->n == 0 || job->sides == 0) return LACIS_SYMV_OK;
    run.bytes = (size_t)lacis_symv_vector_bytes(job->type);
    if (take_tasks(&run) && take_vectors(&run)) {
        status = LACIS_SYMV_OK;
        for (int64_t side = 0; status == LACIS_SYMV_OK && side < job->sides; side++)
            status = one_side(&run, side);
    }
    give_all(&run);
    return status;
}
