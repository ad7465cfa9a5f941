/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting heavy rows of B by bits. A product counted by scattering costs about 3 cycles. A row of B with many
 * entries costs less as a bitmap: 512 columns of it are added to counters of all 512 at once (bits.isa.c). Here the
 * bitmaps are built, once a run, and it is said for each row of A which of them it sums. Called by run.c and the
 * dense rows.
 *
 * Layout: columns are counted from t_lo and cut into groups of MUL_BITS_GROUP. A group holds 64 bytes of each heavy
 * row, so that a group's bits lie close together: what a row of A reads at a time are lines of one group.
 */
#include "common/parallel.h"
#include "multiply/inside.h"

#include <string.h>

enum {
    SHARE = 128, /* rows of B of at least columns / SHARE + LEAST entries are heavy (swept: 64, 128, 320): with */
    LEAST = 8,   /* fewer, bitmaps of a graph of 2^16 nodes outgrow the L2 and lines cost what scatters do */
    MOST_BYTES = 16 << 20, /* of all bitmaps: half an L3 */
    MOST_ROWS = 1 << 22,   /* of B */
    BUILD_SHARE = 8,       /* products of a run for each entry that building costs */
    /* Cycles: */
    SCATTER = 2, /* a product of a long row */
    LINE = 2,    /* 64 bytes of a bitmap */
    BLOCK = 6    /* 64 counts made of bits */
};

static int64_t degree_of(const lacis_mul_matrix *b, int64_t c)
{
    return b->end[c] - b->begin[c];
}

static bool is_forced(const lacis_mul_job *job)
{
    return job->force == LACIS_MUL_DENSE || job->force == LACIS_MUL_HUB;
}

/* Bytes of a bitmap. */
static uint64_t row_bytes(const mul_plan *plan)
{
    return ((uint64_t)plan->width + MUL_BITS_GROUP - 1) / MUL_BITS_GROUP * MUL_BITS_LINE;
}

static bool can_use(const mul_plan *plan)
{
    return plan->mode == MUL_MODE_COUNT && plan->kernels->has_bits && plan->job->b.rows <= MOST_ROWS &&
           plan->width > 0 && row_bytes(plan) <= MOST_BYTES;
}

static uint64_t count_heavy(const lacis_mul_matrix *b, int64_t least, uint64_t *entries)
{
    uint64_t rows = 0;
    *entries = 0;
    for (int64_t c = 0; c < b->rows; c++) {
        const int64_t degree = degree_of(b, c);
        rows += degree >= least;
        *entries += degree >= least ? (uint64_t)degree : 0;
    }
    return rows;
}

/* Sets bits->least and rows; no rows: bitmaps do not pay. */
static void choose(const mul_plan *plan, mul_bits *bits)
{
    const lacis_mul_job *job = plan->job;
    const uint64_t each = row_bytes(plan);
    uint64_t entries;
    bits->least = job->b.cols / SHARE + LEAST;
    if (!is_forced(job) && plan->total / BUILD_SHARE < (uint64_t)job->b.rows) return;
    while ((bits->rows = count_heavy(&job->b, bits->least, &entries)) * each > MOST_BYTES)
        bits->least *= 2;
    if (!is_forced(job) && plan->total / BUILD_SHARE < entries + bits->rows * each / 64) bits->rows = 0;
}

static void set_row(const mul_bits *bits, const lacis_mul_job *job, int64_t c)
{
    const uint32_t *column = job->b.column;
    const int64_t lo = mul_lower_bound(column, job->b.begin[c], job->b.end[c], job->t_lo);
    const int64_t hi = mul_lower_bound(column, lo, job->b.end[c], job->t_hi);
    for (int64_t i = lo; i < hi; i++) {
        const uint64_t t = (uint64_t)((int64_t)column[i] - job->t_lo);
        uint64_t *line = (uint64_t *)(bits->lines + t / MUL_BITS_GROUP * bits->group_bytes + bits->line_of[c]);
        line[t % MUL_BITS_GROUP / 64] |= 1ULL << (t & 63);
    }
}

static void build(const mul_bits *bits, const mul_plan *plan)
{
    uint32_t line = 0;
    memset(bits->lines, 0, bits->rows * row_bytes(plan));
    for (int64_t c = 0; c < plan->job->b.rows; c++) {
        if (degree_of(&plan->job->b, c) < bits->least) continue;
        bits->line_of[c] = line;
        line += MUL_BITS_LINE;
        set_row(bits, plan->job, c);
    }
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

void lacis_mul_bits_open(mul_bits *bits, mul_plan *plan, mul_worker *workers, int threads)
{
    const lacis_mul_memory *memory = &plan->job->memory;
    *bits = (mul_bits){.rows = 0};
    if (!can_use(plan)) return;
    choose(plan, bits);
    if (bits->rows == 0) return;
    const uint64_t lines = bits->rows * row_bytes(plan), list = round_up(bits->rows * sizeof(uint32_t));
    const uint64_t places = round_up((uint64_t)plan->job->b.rows * sizeof(uint32_t));
    bits->lines = memory->alloc(memory->context, lines + (uint64_t)threads * list + places);
    if (!bits->lines) return;
    bits->group_bytes = bits->rows * MUL_BITS_LINE;
    bits->line_of = (uint32_t *)(bits->lines + lines);
    for (int i = 0; i < threads; i++)
        workers[i].heavy = (uint32_t *)(bits->lines + lines + places + (uint64_t)i * list);
    build(bits, plan);
    plan->bits = bits;
}

void lacis_mul_bits_close(const mul_bits *bits, const lacis_mul_job *job)
{
    if (bits->lines) job->memory.free(job->memory.context, bits->lines);
}

uint64_t lacis_mul_bits_bytes(const mul_plan *plan)
{
    const uint64_t threads = plan->job->threads > 1 ? (uint64_t)plan->job->threads : 1;
    if (!can_use(plan)) return 0;
    const uint64_t fit = MOST_BYTES / row_bytes(plan), b_rows = (uint64_t)plan->job->b.rows;
    const uint64_t rows = fit < b_rows ? fit : b_rows;
    return rows * row_bytes(plan) + threads * round_up(rows * sizeof(uint32_t)) + round_up(b_rows * sizeof(uint32_t));
}

/* Bitmaps save the scatters and cost a line a group, and the counts of all columns. */
static bool pays(const mul_plan *plan, uint64_t rows, uint64_t products)
{
    const uint64_t columns = (uint64_t)plan->width;
    return products * SCATTER > columns / MUL_BITS_GROUP * rows * LINE + columns / MUL_BLOCK * BLOCK;
}

int64_t lacis_mul_bits_pick(mul_worker *w, int64_t row)
{
    const mul_plan *plan = w->plan;
    const lacis_mul_job *job = plan->job;
    const mul_bits *bits = plan->bits;
    int64_t rows = 0;
    uint64_t products = 0;
    /* Counts of 16 bits are enough then. */
    if (!bits || job->a.end[row] - job->a.begin[row] > UINT16_MAX) return 0;
    for (int64_t i = job->a.begin[row]; i < job->a.end[row]; i++) {
        const uint32_t c = job->a.column[i];
        const int64_t degree = degree_of(&job->b, c);
        if (degree < bits->least) continue;
        w->heavy[rows++] = bits->line_of[c];
        products += (uint64_t)degree;
    }
    return is_forced(job) || pays(plan, (uint64_t)rows, products) ? rows : 0;
}
