/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_mul_run: hub rows first, each by all threads, then the other rows in chunks of about equal products, dealt to
 * whichever thread is free. Within a chunk rows run class by class: branches and caches settle, and the clock is read
 * once a class. Called by operators/multiply and operators/power.
 */
#include "common/parallel.h"
#include "multiply/inside.h"

#include <string.h>
#include <time.h>

enum {
    CHUNKS_A_THREAD = 64,
    CHUNK_LEAST = 1 << 14, /* products */
    CHUNK_MOST = 1 << 22,  /* products: about 10 ms, how soon a cancelled run stops */
    FETCH_BEGIN = 8,       /* rows ahead whose B rows' bounds are fetched */
    FETCH_COLUMNS = 4,     /* rows ahead whose B rows are fetched */
    FETCH_ENTRIES = 32     /* of a row of A, at most */
};

double lacis_mul_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int64_t row_at(const mul_run *run, int64_t i)
{
    return run->rows ? run->rows[i] : i;
}

static int64_t degree_of(const mul_run *run, int64_t row)
{
    return run->job->a.end[row] - run->job->a.begin[row];
}

static bool cancelled(const mul_run *run)
{
    const lacis_mul_memory *memory = &run->job->memory;
    return memory->cancelled && memory->cancelled(memory->context);
}

/* --- dealing ------------------------------------------------------------------------------------------ */

/* Cuts the list of rows; with chunk NULL only counts the chunks. */
static int64_t cut(const mul_run *run, uint64_t most, int64_t *chunk)
{
    int64_t chunks = 0, begin = 0;
    uint64_t products = 0;
    for (int64_t i = 0; i < run->count; i++) {
        if (i > begin && (products + run->products[i] > most || i - begin == MUL_CHUNK_ROWS)) {
            if (chunk) chunk[chunks] = begin;
            chunks++;
            begin = i;
            products = 0;
        }
        products += run->products[i];
    }
    if (chunk) {
        chunk[chunks] = begin;
        chunk[chunks + 1] = run->count;
    }
    return chunks + 1;
}

static lacis_mul_status make_chunks(mul_run *run)
{
    const lacis_mul_memory *memory = &run->job->memory;
    uint64_t most = run->plan.total / ((uint64_t)(run->job->threads > 1 ? run->job->threads : 1) * CHUNKS_A_THREAD);
    most = most < CHUNK_LEAST ? CHUNK_LEAST : most > CHUNK_MOST ? CHUNK_MOST : most;
    run->chunks = cut(run, most, NULL);
    run->chunk = memory->alloc(memory->context, (uint64_t)(run->chunks + 1) * sizeof *run->chunk);
    if (!run->chunk) return LACIS_MUL_NO_MEMORY;
    cut(run, most, run->chunk);
    return LACIS_MUL_OK;
}

/* --- a chunk ------------------------------------------------------------------------------------------ */

/* gcc 12 takes a function that only fetches for one without effect, and drops its calls. */
#define HAS_EFFECT() __asm__ volatile("")

/* Short B rows lie anywhere: their bounds, then their columns and values are fetched some rows ahead. */
static void fetch_begins(const mul_run *run, int64_t row)
{
    const lacis_mul_matrix *a = &run->job->a, *b = &run->job->b;
    const int64_t end = a->end[row] - a->begin[row] > FETCH_ENTRIES ? a->begin[row] + FETCH_ENTRIES : a->end[row];
    HAS_EFFECT();
    for (int64_t i = a->begin[row]; i < end; i++) {
        __builtin_prefetch(b->begin + a->column[i]);
        __builtin_prefetch(b->end + a->column[i]);
    }
}

static void fetch_columns(const mul_run *run, int64_t row)
{
    const lacis_mul_matrix *a = &run->job->a, *b = &run->job->b;
    const int64_t end = a->end[row] - a->begin[row] > FETCH_ENTRIES ? a->begin[row] + FETCH_ENTRIES : a->end[row];
    const int64_t bytes = (int64_t)mul_type_bytes(b->type);
    const char *value = run->plan.mode == MUL_MODE_COUNT ? NULL : b->value;
    HAS_EFFECT();
    for (int64_t i = a->begin[row]; i < end; i++) {
        const int64_t at = b->begin[a->column[i]];
        __builtin_prefetch(b->column + at);
        __builtin_prefetch(b->column + at + 7);
        if (value) {
            __builtin_prefetch(value + at * bytes);
            __builtin_prefetch(value + (at + 7) * bytes);
        }
    }
}

/* Rows order[from, to) of a chunk, all of one class. */
static bool run_class(mul_run *run, mul_worker *w, int64_t first, uint32_t from, uint32_t to, lacis_mul_class class)
{
    const bool fetch = class == LACIS_MUL_SORT || class == LACIS_MUL_HASH;
    uint64_t products = 0;
    const double start = lacis_mul_seconds();
    for (uint32_t i = from; i < to; i++) {
        const int64_t at = first + w->order[i], row = row_at(run, at);
        if (fetch && i + FETCH_BEGIN < to) fetch_begins(run, row_at(run, first + w->order[i + FETCH_BEGIN]));
        if (fetch && i + FETCH_COLUMNS < to) fetch_columns(run, row_at(run, first + w->order[i + FETCH_COLUMNS]));
        products += run->products[at];
        if (class == LACIS_MUL_EMPTY)
            run->out->begin[row] = run->out->end[row] = 0;
        else if (!lacis_mul_place(run, w, row, run->products[at], class))
            return false;
    }
    w->class_seconds[class] += lacis_mul_seconds() - start;
    w->class_rows[class] += to - from;
    w->class_products[class] += products;
    return true;
}

static int run_chunk(void *context, int64_t task, int worker)
{
    mul_run *run = context;
    mul_worker *w = &run->worker[worker];
    const int64_t first = run->chunk[task], rows = run->chunk[task + 1] - first;
    uint32_t start[LACIS_MUL_CLASSES + 1] = {0}, next[LACIS_MUL_CLASSES];
    if (cancelled(run)) {
        w->status = LACIS_MUL_CANCELLED;
        return LACIS_MUL_CANCELLED;
    }
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = row_at(run, first + i);
        w->row_class[i] = (uint8_t)lacis_mul_class_of(&run->plan, degree_of(run, row), run->products[first + i]);
        start[w->row_class[i] + 1]++;
    }
    for (int class = 0; class < LACIS_MUL_CLASSES; class ++) {
        next[class] = start[class];
        start[class + 1] += start[class];
    }
    for (int64_t i = 0; i < rows; i++)
        w->order[next[w->row_class[i]]++] = (uint32_t)i;
    for (int class = 0; class < LACIS_MUL_HUB; class ++)
        if (start[class] < start[class + 1] &&
            !run_class(run, w, first, start[class], start[class + 1], (lacis_mul_class) class))
            return w->status;
    return 0;
}

/* --- the run ------------------------------------------------------------------------------------------ */

static lacis_mul_status run_hubs(mul_run *run)
{
    for (int64_t i = 0; i < run->count; i++) {
        const int64_t row = row_at(run, i);
        if (run->products[i] == 0 ||
            lacis_mul_class_of(&run->plan, degree_of(run, row), run->products[i]) != LACIS_MUL_HUB)
            continue;
        if (cancelled(run)) return LACIS_MUL_CANCELLED;
        const lacis_mul_status status = lacis_mul_hub(run, row, run->products[i]);
        if (status != LACIS_MUL_OK) return status;
    }
    return LACIS_MUL_OK;
}

static lacis_mul_status open_workers(mul_run *run, int threads)
{
    const lacis_mul_memory *memory = &run->job->memory;
    run->worker = memory->alloc(memory->context, (uint64_t)threads * sizeof *run->worker);
    if (!run->worker) return LACIS_MUL_NO_MEMORY;
    bool good = true;
    for (int i = 0; i < threads; i++)
        good = lacis_mul_worker_open(&run->worker[i], &run->plan) && good;
    return good ? LACIS_MUL_OK : LACIS_MUL_NO_MEMORY;
}

static void close_workers(mul_run *run, int threads)
{
    const lacis_mul_memory *memory = &run->job->memory;
    lacis_mul_output *out = run->out;
    for (int i = 0; run->worker && i < threads; i++) {
        mul_worker *w = &run->worker[i];
        out->entries += w->entries;
        for (int class = 0; class < LACIS_MUL_CLASSES; class ++) {
            out->class_seconds[class] += w->class_seconds[class];
            out->class_rows[class] += w->class_rows[class];
            out->class_products[class] += w->class_products[class];
        }
        lacis_mul_worker_close(w);
    }
    if (run->worker) memory->free(memory->context, run->worker);
    if (run->chunk) memory->free(memory->context, run->chunk);
    lacis_mul_bits_close(&run->bits, run->job);
}

static void clear_output(lacis_mul_output *out)
{
    out->used = out->entries = 0;
    memset(out->class_seconds, 0, sizeof out->class_seconds);
    memset(out->class_rows, 0, sizeof out->class_rows);
    memset(out->class_products, 0, sizeof out->class_products);
}

/* Small runs take small stretches, so that they touch and are charged for little. */
static int64_t stretch(const lacis_mul_job *job, const lacis_mul_output *out, int threads)
{
    const uint64_t slack = lacis_mul_slack(job), room = out->room > slack ? out->room - slack : 0;
    const int64_t most = lacis_mul_arena(job), fair = (int64_t)(room / (8 * (uint64_t)threads)) + 256;
    return fair < most ? fair : most;
}

bool lacis_mul_alone(const lacis_mul_job *job, int64_t count, uint64_t products)
{
    return job->threads <= 1 || (count <= MUL_CHUNK_ROWS && products <= CHUNK_LEAST);
}

lacis_mul_status lacis_mul_run(const lacis_mul_job *job, const int64_t *rows, int64_t count, const uint64_t *products,
                               lacis_mul_output *out)
{
    mul_run run = {.job = job, .rows = rows, .count = count, .products = products, .out = out};
    const int threads = job->threads > 1 ? job->threads : 1;
    uint64_t total = 0;
    clear_output(out);
    for (int64_t i = 0; i < count; i++)
        total += products[i];
    if (count == 0) return LACIS_MUL_OK;
    lacis_mul_plan(&run.plan, job, total);
    if (run.plan.mode == MUL_MODE_DIRECT && !run.plan.sure && job->type >= LACIS_MUL_F32 &&
        (job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX))
        run.plan.sure = lacis_mul_all_finite(job, total);
    run.arena = stretch(job, out, threads);
    atomic_init(&run.next, 0);
    atomic_init(&run.allowance, (int64_t)(lacis_mul_slack(job) / 2));
    lacis_mul_status status = open_workers(&run, threads);
    if (status == LACIS_MUL_OK) status = make_chunks(&run);
    if (status == LACIS_MUL_OK) lacis_mul_bits_open(&run.bits, &run.plan, run.worker, threads);
    if (status == LACIS_MUL_OK) status = run_hubs(&run);
    if (status == LACIS_MUL_OK) {
        if (run.chunks == 1)
            status = (lacis_mul_status)run_chunk(&run, 0, 0);
        else
            status = (lacis_mul_status)lacis_parallel(threads, run.chunks, run_chunk, &run);
    }
    close_workers(&run, threads);
    out->used = atomic_load(&run.next);
    return status;
}
