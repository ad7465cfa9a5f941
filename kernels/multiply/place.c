/* SPDX-License-Identifier: Apache-2.0
 *
 * Where rows go in the output. A worker takes a stretch of entries, writes rows into it by their bounds and moves on
 * by what they really had. A stretch's end that the next row's bound does not fit may be left unused as long as rows
 * have saved as much, or the slack lasts; else (no row compresses, or rows are about as long as a stretch) the row is
 * computed aside and copied to its exact place. So the room, the sum of all bounds and the slack, always suffices.
 * Called by run.c and hub.c.
 */
#include "multiply/inside.h"

#include <string.h>

static bool charge(mul_run *run, mul_worker *w, uint64_t entries)
{
    const lacis_mul_memory *memory = &run->job->memory;
    const bool good = memory->charge(memory->context, entries * (sizeof(uint32_t) + (uint64_t)run->plan.value_bytes));
    if (!good) w->status = LACIS_MUL_NO_MEMORY;
    return good;
}

/* The next `entries` of the output, or -1 where they are not there. */
static int64_t advance(mul_run *run, int64_t entries)
{
    uint64_t at = atomic_load(&run->next);
    do {
        if (run->out->room - at < (uint64_t)entries) return -1;
    } while (!atomic_compare_exchange_weak(&run->next, &at, at + (uint64_t)entries));
    return (int64_t)at;
}

int64_t lacis_mul_take(mul_run *run, mul_worker *w, int64_t n)
{
    const int64_t at = advance(run, n);
    if (at < 0) w->status = LACIS_MUL_NO_MEMORY;
    return at < 0 || !charge(run, w, (uint64_t)n) ? -1 : at;
}

/* Leaves the present stretch for one that has room for `need`. False: may not, or no memory (status). */
static bool next_stretch(mul_run *run, mul_worker *w, int64_t need)
{
    const int64_t tail = w->arena_end - w->arena_next;
    const int64_t size = need > run->arena ? need : run->arena;
    int64_t allowance = atomic_fetch_add(&run->allowance, (int64_t)w->saved) + (int64_t)w->saved;
    w->saved = 0;
    do {
        if (allowance < tail) return false;
    } while (!atomic_compare_exchange_weak(&run->allowance, &allowance, allowance - tail));
    const int64_t at = advance(run, size);
    if (at < 0) {
        atomic_fetch_add(&run->allowance, tail);
        return false;
    }
    w->arena_next = at;
    w->arena_end = at + size;
    return charge(run, w, (uint64_t)size);
}

static char *value_at(const mul_run *run, int64_t at)
{
    return (char *)run->out->value + at * run->plan.value_bytes;
}

/* Computes aside, then copies. Answers the place, or -1. */
static int64_t place_exactly(mul_run *run, mul_worker *w, int64_t row, mul_row_fn compute, int64_t need, int64_t *n)
{
    if (!lacis_mul_worker_spare(w, need)) return -1;
    uint32_t *column = (uint32_t *)w->spare;
    char *value = w->spare + ((uint64_t)w->spare_entries * sizeof *column + 63) / 64 * 64;
    *n = compute(w, row, column, value);
    if (*n < 0) return -1;
    int64_t at = w->arena_next;
    if (*n <= w->arena_end - at)
        w->arena_next += *n;
    else if ((at = lacis_mul_take(run, w, *n)) < 0)
        return -1;
    memcpy(run->out->column + at, column, (size_t)*n * sizeof *column);
    memcpy(value_at(run, at), value, (size_t)*n * (size_t)run->plan.value_bytes);
    return at;
}

bool lacis_mul_place(mul_run *run, mul_worker *w, int64_t row, uint64_t products, lacis_mul_class class)
{
    const int64_t bound = (int64_t)lacis_mul_bound(run->job, row, products), need = bound + MUL_PAD;
    const mul_row_fn compute = run->plan.kernels->row[class];
    int64_t at = -1, n = 0;
    w->row_products = products;
    if (w->arena_end - w->arena_next >= need || next_stretch(run, w, need)) {
        at = w->arena_next;
        n = compute(w, row, run->out->column + at, value_at(run, at));
        if (n < 0) return false;
        w->arena_next += n;
    } else if (w->status != LACIS_MUL_OK || (at = place_exactly(run, w, row, compute, need, &n)) < 0) {
        return false;
    }
    w->saved += (uint64_t)(bound - n);
    w->entries += (uint64_t)n;
    run->out->begin[row] = at;
    run->out->end[row] = at + n;
    return true;
}
