/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of rows and tasks of blocks of a sparse symmetric product on the CPU, as half.c says.
 */
#include "symv/half_cpu.h"

#include "common/parallel.h"

enum {
    SAMPLES = 64,     /* blocks that are looked at for what a task reaches */
    LEAST = 1 << 15,  /* entries of a task, unless it is the last */
    ENOUGH_TASKS = 32 /* with fewer, tasks are made smaller against their windows */
};

static int count_block(void *context, int64_t block, int worker)
{
    (void)worker;
    const half_run *run = context;
    const int64_t *begin = run->half->begin, *end = run->half->end, last = half_row_behind(run, block + 1);
    int64_t entries = 0;
    for (int64_t r = block * HALF_BLOCK; r < last; r++)
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

static int64_t sample_reach(const half_run *run)
{
    const int64_t count = run->blocks < SAMPLES ? run->blocks : SAMPLES;
    int64_t all = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t block = run->blocks * i / count, first = block * HALF_BLOCK,
                      last = half_row_behind(run, block + 1);
        int64_t low, high;
        find_reach(run->half, first, last, &low, &high);
        all += (high - low) - (last - first);
    }
    return all / count;
}

/* Blocks into tasks with `times` entries at least for each element of the window, as far as the sample tells. */
static void join_blocks(half_run *run, int64_t times)
{
    int64_t entries = 0;
    run->tasks = 0;
    run->first[0] = 0;
    for (int64_t block = 0; block < run->blocks; block++) {
        const int64_t rows = (block + 1 - run->first[run->tasks]) * HALF_BLOCK;
        entries += run->entries[block];
        if (entries < LEAST || entries < times * (rows + run->reach)) continue;
        run->first[++run->tasks] = block + 1;
        entries = 0;
    }
    if (run->first[run->tasks] < run->blocks) run->first[++run->tasks] = run->blocks;
}

void lacis_half_make_tasks(half_run *run)
{
    lacis_parallel(run->half->job.threads, run->blocks, count_block, run);
    run->reach = sample_reach(run);
    for (int64_t times = 16; times >= 4; times /= 2) {
        join_blocks(run, times);
        if (run->tasks >= ENOUGH_TASKS) break;
    }
}
