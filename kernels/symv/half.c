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
 *
 * half_tasks.c makes the tasks, half_window.c does one, half_vectors.c has x and y.
 */
#include "symv/half_cpu.h"

#include "common/isa.h"
#include "common/parallel.h"

#include <string.h>

enum { WIDE_WORKERS = 8 }; /* at most, where windows are more than a quarter of the vector */

static lacis_symv_status one_side(half_run *run, int64_t side)
{
    const lacis_symv_job *job = &run->half->job;
    run->x = (const char *)job->x + side * job->x_side * (int64_t)run->bytes;
    if (job->x_step != 1) {
        lacis_half_pack(run, side);
        run->x = run->packed;
    }
    atomic_store(&run->added, 0);
    const int answer = lacis_parallel(run->workers, run->tasks, lacis_half_do_task, run);
    if (answer != HALF_DONE) return answer == HALF_STOPPED ? LACIS_SYMV_CANCELLED : LACIS_SYMV_NO_MEMORY;
    lacis_half_put(run, side);
    return LACIS_SYMV_OK;
}

static bool take_tasks(half_run *run)
{
    run->entries = half_take(run, sizeof(int64_t) * (2 * (uint64_t)run->blocks + 1));
    if (run->entries == NULL) return false;
    run->first = run->entries + run->blocks;
    lacis_half_make_tasks(run);
    return true;
}

static bool take_vectors(half_run *run)
{
    const lacis_symv_job *job = &run->half->job;
    run->workers = job->threads < 1 ? 1 : job->threads;
    if (run->reach > job->n / 4 && run->workers > WIDE_WORKERS) run->workers = WIDE_WORKERS;
    if (run->workers > run->tasks) run->workers = (int)run->tasks;
    run->sum = half_take(run, (uint64_t)job->n * run->bytes);
    run->packed = job->x_step == 1 ? NULL : half_take(run, (uint64_t)job->n * run->bytes);
    run->window = half_take(run, sizeof *run->window * (uint64_t)run->workers);
    if (run->window != NULL) memset(run->window, 0, sizeof *run->window * (size_t)run->workers);
    return run->sum != NULL && run->window != NULL && (job->x_step == 1 || run->packed != NULL);
}

static void give_all(half_run *run)
{
    for (int i = 0; run->window != NULL && i < run->workers; i++)
        half_give(run, run->window[i].at);
    half_give(run, run->window);
    half_give(run, run->packed);
    half_give(run, run->sum);
    half_give(run, run->entries);
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
           2 * sizeof(int64_t) * (n / HALF_BLOCK + 2) + sizeof(half_window) * threads;
}

lacis_symv_status lacis_symv_half_run(const lacis_symv_half *half)
{
    const lacis_symv_job *job = &half->job;
    half_run run = {.half = half, .loops = loops_here(), .blocks = (job->n + HALF_BLOCK - 1) / HALF_BLOCK};
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
