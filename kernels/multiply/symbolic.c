/* SPDX-License-Identifier: Apache-2.0
 *
 * How many entries rows have, exactly, without their values: a bit a column. The planner asks for a sample of rows to
 * estimate the whole product.
 */
#include "common/parallel.h"
#include "multiply/inside.h"

#include <string.h>

typedef struct symbolic {
    const lacis_mul_job *job;
    const int64_t *rows;
    uint64_t *entries;
    uint64_t *bits; /* of all workers, `words` each */
    uint64_t words;
} symbolic;

static void slice(const lacis_mul_job *job, int64_t c, int64_t *lo, int64_t *hi)
{
    *lo = mul_lower_bound(job->b.column, job->b.begin[c], job->b.end[c], job->t_lo);
    *hi = mul_lower_bound(job->b.column, *lo, job->b.end[c], job->t_hi);
}

static uint64_t mark_row(const lacis_mul_job *job, int64_t row, uint64_t *bits)
{
    uint64_t entries = 0;
    for (int64_t i = job->a.begin[row]; i < job->a.end[row]; i++) {
        int64_t lo, hi;
        slice(job, job->a.column[i], &lo, &hi);
        for (int64_t j = lo; j < hi; j++) {
            const uint64_t t = (uint64_t)job->b.column[j] - (uint64_t)job->t_lo, bit = 1ULL << (t & 63);
            entries += (bits[t >> 6] & bit) == 0;
            bits[t >> 6] |= bit;
        }
    }
    return entries;
}

static uint64_t count_masked(const lacis_mul_job *job, int64_t row, const uint64_t *bits)
{
    uint64_t hits = 0;
    for (int64_t j = job->mask->begin[row]; j < job->mask->end[row]; j++) {
        const int64_t t = (int64_t)job->mask->column[j];
        if (t >= job->t_lo && t < job->t_hi) hits += bits[(t - job->t_lo) >> 6] >> ((t - job->t_lo) & 63) & 1;
    }
    return hits;
}

static void unmark_row(const lacis_mul_job *job, int64_t row, uint64_t *bits)
{
    for (int64_t i = job->a.begin[row]; i < job->a.end[row]; i++) {
        int64_t lo, hi;
        slice(job, job->a.column[i], &lo, &hi);
        for (int64_t j = lo; j < hi; j++)
            bits[((int64_t)job->b.column[j] - job->t_lo) >> 6] = 0;
    }
}

static int symbolic_row(void *context, int64_t task, int worker)
{
    const symbolic *s = context;
    const lacis_mul_job *job = s->job;
    const int64_t row = s->rows ? s->rows[task] : task;
    uint64_t *bits = s->bits + (uint64_t)worker * s->words;
    if (job->memory.cancelled && job->memory.cancelled(job->memory.context)) return LACIS_MUL_CANCELLED;
    s->entries[task] = mark_row(job, row, bits);
    if (job->mask) {
        const uint64_t hits = count_masked(job, row, bits);
        s->entries[task] = job->mask_not ? s->entries[task] - hits : hits;
    }
    unmark_row(job, row, bits);
    return 0;
}

lacis_mul_status lacis_mul_symbolic(const lacis_mul_job *job, const int64_t *rows, int64_t count, uint64_t *entries)
{
    const int threads = job->threads > 1 && count > 1 ? job->threads : 1;
    const uint64_t width = job->t_hi > job->t_lo ? (uint64_t)(job->t_hi - job->t_lo) : 0;
    symbolic s = {.job = job, .rows = rows, .entries = entries, .words = width / 64 + 8};
    const uint64_t bytes = (uint64_t)threads * s.words * sizeof *s.bits;
    s.bits = job->memory.alloc(job->memory.context, bytes);
    if (!s.bits) return LACIS_MUL_NO_MEMORY;
    memset(s.bits, 0, bytes);
    const lacis_mul_status status = (lacis_mul_status)lacis_parallel(threads, count, symbolic_row, &s);
    job->memory.free(job->memory.context, s.bits);
    return status;
}
