/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of a sparse symmetric product on the CPU share: half.c, half_tasks.c, half_window.c, half_vectors.c.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_CPU_H
#define LACIS_KERNELS_SYMV_HALF_CPU_H

#include "symv/half_inside.h"

#include <stdatomic.h>
#include <stddef.h>

enum { HALF_BLOCK = 256 }; /* rows of a block */

/* A worker's. */
typedef struct half_window {
    char *at;
    int64_t room; /* elements */
} half_window;

typedef struct half_run {
    const lacis_symv_half *half;
    const half_loops *loops;
    int64_t *entries; /* of each block, of both triangles */
    int64_t *first;   /* block of each task; behind the last, the number of blocks */
    int64_t blocks, tasks;
    int64_t reach; /* of a block beside its rows, about */
    size_t bytes;  /* of an element */
    const char *x;
    char *packed, *sum;
    half_window *window; /* of each worker */
    int workers;
    _Atomic int64_t added; /* tasks whose window is in sum */
} half_run;

/* The first row of a block; n behind the last one. */
static inline int64_t half_row_behind(const half_run *run, int64_t block)
{
    const int64_t n = run->half->job.n;
    return n / HALF_BLOCK < block ? n : block * HALF_BLOCK;
}

static inline bool half_single(lacis_symv_type type)
{
    return type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64;
}

static inline void *half_take(const half_run *run, uint64_t bytes)
{
    const lacis_symv_host *host = &run->half->job.host;
    return host->alloc(host->context, bytes);
}

static inline void half_give(const half_run *run, void *block)
{
    if (block != NULL) run->half->job.host.free(run->half->job.host.context, block);
}

/* half_tasks.c: blocks into tasks, and how far rows reach. */
void lacis_half_make_tasks(half_run *run);

/* half_window.c: what lacis_parallel runs for each task; the answer is one of these. */
enum { HALF_DONE, HALF_STOPPED, HALF_NO_ROOM };
int lacis_half_do_task(void *context, int64_t number, int worker);

/* half_vectors.c: side's x, one element behind the other, into packed; its y of the sums. */
void lacis_half_pack(const half_run *run, int64_t side);
void lacis_half_put(const half_run *run, int64_t side);

#endif
