/* SPDX-License-Identifier: Apache-2.0
 *
 * A row that holds a large share of all products: its columns are cut into windows dealt over the threads, each
 * window is computed as a dense row's would be, into a stretch of its own, and the stretches are put together. Called
 * by run.c.
 */
#include "common/parallel.h"
#include "multiply/inside.h"

#include <string.h>

enum { WINDOWS_A_THREAD = 4 };

typedef struct hub {
    mul_run *run;
    int64_t row, width; /* of a window */
    uint32_t *column;
    char *value;
    int64_t *entries; /* of each window */
    int64_t windows;
} hub;

/* Entries before a window's stretch: vector stores may run past the one before. */
static int64_t offset(const hub *h, int64_t window)
{
    return window * (h->width + MUL_PAD);
}

static int hub_window(void *context, int64_t task, int worker)
{
    hub *h = context;
    mul_run *run = h->run;
    const lacis_mul_memory *memory = &run->job->memory;
    mul_worker *w = &run->worker[worker];
    const int64_t lo = run->job->t_lo + task * h->width;
    const int64_t hi = run->job->t_hi - lo < h->width ? run->job->t_hi : lo + h->width;
    const double start = lacis_mul_seconds();
    if (memory->cancelled && memory->cancelled(memory->context)) {
        w->status = LACIS_MUL_CANCELLED;
        return LACIS_MUL_CANCELLED;
    }
    h->entries[task] = run->plan.kernels->dense(w, h->row, lo, hi, h->column + offset(h, task),
                                                h->value + offset(h, task) * run->plan.value_bytes);
    w->class_seconds[LACIS_MUL_HUB] += lacis_mul_seconds() - start;
    return h->entries[task] < 0 ? (int)w->status : 0;
}

static int64_t count_windows(const mul_plan *plan, int64_t *width)
{
    const int64_t threads = plan->job->threads > 1 ? plan->job->threads : 1;
    int64_t each = plan->width / (threads * WINDOWS_A_THREAD) + 1;
    each = (each + MUL_BITS_GROUP - 1) / MUL_BITS_GROUP * MUL_BITS_GROUP;
    *width = each;
    return (plan->width + each - 1) / each;
}

uint64_t lacis_mul_hub_bytes(const mul_plan *plan)
{
    int64_t width;
    const int64_t windows = count_windows(plan, &width);
    return (uint64_t)(windows * (width + MUL_PAD)) * (sizeof(uint32_t) + (uint64_t)plan->value_bytes) +
           (uint64_t)windows * sizeof(int64_t) + 64;
}

/* The windows' own tops make the row's. */
static int64_t merge_tops(hub *h, mul_worker *w, uint32_t *column, void *value)
{
    if (!lacis_mul_sink_begin(w, h->row, h->run->job->t_lo, column, value)) return -1;
    w->sink.counts = false;
    for (int64_t i = 0; i < h->windows; i++)
        lacis_mul_sink_offer(w, h->entries[i], h->column + offset(h, i),
                             h->value + offset(h, i) * h->run->plan.value_bytes);
    return lacis_mul_sink_end(w);
}

static lacis_mul_status put_together(hub *h, mul_worker *w)
{
    mul_run *run = h->run;
    const int bytes = run->plan.value_bytes;
    int64_t total = 0;
    for (int64_t i = 0; i < h->windows; i++)
        total += h->entries[i];
    if (run->job->top > 0 && total > run->job->top) total = run->job->top;
    const int64_t begin = lacis_mul_take(run, w, total);
    if (begin < 0) return w->status;
    int64_t at = begin;
    if (run->job->top > 0) {
        const int64_t n = merge_tops(h, w, run->out->column + at, (char *)run->out->value + at * bytes);
        if (n < 0) return w->status;
        at += n;
    }
    for (int64_t i = 0; run->job->top <= 0 && i < h->windows; i++) {
        memcpy(run->out->column + at, h->column + offset(h, i), (size_t)h->entries[i] * sizeof *h->column);
        memcpy((char *)run->out->value + at * bytes, h->value + offset(h, i) * bytes,
               (size_t)(h->entries[i] * bytes));
        at += h->entries[i];
    }
    run->out->begin[h->row] = begin;
    run->out->end[h->row] = at;
    w->entries += (uint64_t)(at - begin);
    return LACIS_MUL_OK;
}

lacis_mul_status lacis_mul_hub(mul_run *run, int64_t row, uint64_t products)
{
    const lacis_mul_memory *memory = &run->job->memory;
    const int threads = run->job->threads > 1 ? run->job->threads : 1;
    hub h = {.run = run, .row = row};
    h.windows = count_windows(&run->plan, &h.width);
    char *block = memory->alloc(memory->context, lacis_mul_hub_bytes(&run->plan));
    if (!block) return LACIS_MUL_NO_MEMORY;
    h.entries = (int64_t *)block;
    h.value = block + (((uint64_t)h.windows * sizeof *h.entries + 63) & ~63ULL);
    h.column = (uint32_t *)(h.value + offset(&h, h.windows) * run->plan.value_bytes);
    for (int i = 0; i < threads; i++)
        run->worker[i].row_products = products;
    lacis_mul_status status = (lacis_mul_status)lacis_parallel(threads, h.windows, hub_window, &h);
    if (status == LACIS_MUL_OK) status = put_together(&h, &run->worker[0]);
    memory->free(memory->context, block);
    run->worker[0].class_rows[LACIS_MUL_HUB]++;
    run->worker[0].class_products[LACIS_MUL_HUB] += products;
    return status;
}
