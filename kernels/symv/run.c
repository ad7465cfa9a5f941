/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a job. Small matrices are dealt to the threads, several a task; of each larger one the parts of the triangle
 * are, then the rows of y. Called by operators/symv.
 */
#include "symv/inside.h"

#include "common/parallel.h"

#include <string.h>

enum {
    SMALL = 256,             /* n up to which a matrix is one thread's */
    TASK_ELEMENTS = 1 << 17, /* of small matrices in a task, about */
    TASKS_A_THREAD = 8
};

struct run {
    const lacis_symv_job *job;
    const symv_loops *loops;
    const symv_path *path;
    int64_t small, batch; /* the largest n of small matrices; how many of them are a task */
    char **worker;        /* room of each thread, NULL until needed */
    symv_pass pass;       /* the larger matrix in work */
    double done;          /* products before those of the pass */
    symv_partial *partial;
};

static void *take(const lacis_symv_job *job, uint64_t bytes)
{
    return job->host.alloc(job->host.context, bytes);
}

static void give(const lacis_symv_job *job, void *block)
{
    if (block != NULL) job->host.free(job->host.context, block);
}

static bool is_cancelled(const lacis_symv_job *job)
{
    return job->host.cancelled != NULL && job->host.cancelled(job->host.context);
}

static void tell(const lacis_symv_job *job, double done)
{
    if (job->host.told != NULL) job->host.told(job->host.context, done, (double)job->matrices * (double)job->sides);
}

/* Never 0, of which an allocator may make NULL. */
static uint64_t room_bytes(const symv_path *path, int64_t n, int sides)
{
    return symv_lines(path->room(n, sides) + 1);
}

/* --- matrices ---------------------------------------------------------------------------------------- */

static int64_t size_of(const lacis_symv_job *job, int64_t m)
{
    return job->one == NULL ? job->n : job->one[m].n;
}

static symv_matrix matrix_of(const lacis_symv_job *job, int64_t m)
{
    lacis_symv_one one = {job->n, job->ld, m * job->stride, m * job->x_stride, m * job->y_stride};
    if (job->one != NULL) one = job->one[m];
    const int64_t element = lacis_symv_matrix_bytes(job->type), number = lacis_symv_vector_bytes(job->type);
    symv_matrix out = {.job = job, .n = one.n, .ld = one.ld};
    out.a = (const char *)job->a + one.a * element;
    out.x = (const char *)job->x + one.x * number;
    out.y0 = job->y0 == NULL ? NULL : (const char *)job->y0 + one.y * number;
    out.y = job->y == NULL ? NULL : (char *)job->y + one.y * number;
    return out;
}

/* The largest n of the small matrices, or of all. */
static int64_t largest(const lacis_symv_job *job, bool small)
{
    int64_t most = 0;
    if (job->matrices == 0) return 0;
    for (int64_t m = 0; m < (job->one == NULL ? 1 : job->matrices); m++) {
        const int64_t n = size_of(job, m);
        if (n > most && (!small || n <= SMALL)) most = n;
    }
    return most;
}

static int pass_sides(const lacis_symv_job *job, const symv_path *path, int64_t side)
{
    return job->sides - side < path->sides ? (int)(job->sides - side) : path->sides;
}

static int64_t chunks_of(int64_t n)
{
    return (n + SYMV_ROWS - 1) / SYMV_ROWS;
}

static const symv_path *path_of(const lacis_symv_job *job, const symv_loops *loops)
{
    return job->order == LACIS_SYMV_CANONICAL ? &loops->canonical : &loops->fixed;
}

/* --- y ----------------------------------------------------------------------------------------------- */

static void finish_rows(const struct run *run, const symv_pass *pass, int side, int64_t chunk, symv_partial *partial)
{
    _Alignas(64) char sums[SYMV_ROWS * SYMV_NUMBER_MOST];
    const int64_t row = chunk * SYMV_ROWS;
    const int count = pass->m->n - row < SYMV_ROWS ? (int)(pass->m->n - row) : SYMV_ROWS;
    run->path->sum(pass, side, row, count, sums);
    run->loops->finish(pass, side, row, count, sums, partial);
}

/* --- small matrices ---------------------------------------------------------------------------------- */

static void small_pass(const struct run *run, const symv_pass *pass, lacis_symv_figures *figures)
{
    const int64_t parts = run->path->parts(pass->m->n);
    run->path->bring(pass);
    for (int64_t part = 0; part < parts; part++)
        run->path->part(pass, part);
    for (int side = 0; side < pass->sides; side++) {
        symv_partial all = symv_partial_none(), part;
        for (int64_t chunk = 0; chunk < chunks_of(pass->m->n); chunk++) {
            finish_rows(run, pass, side, chunk, figures == NULL ? NULL : &part);
            if (figures != NULL) lacis_symv_join(&all, &part);
        }
        if (figures != NULL) lacis_symv_figures_of(&all, &figures[side]);
    }
}

static void small_matrix(const struct run *run, int64_t index, char *room)
{
    const lacis_symv_job *job = run->job;
    const symv_matrix m = matrix_of(job, index);
    for (int64_t side = 0; side < job->sides; side += run->path->sides) {
        const symv_pass pass = {&m, side, pass_sides(job, run->path, side), room};
        small_pass(run, &pass, job->figures == NULL ? NULL : job->figures + index * job->sides + side);
    }
}

static int small_task(void *context, int64_t task, int worker)
{
    struct run *run = context;
    const lacis_symv_job *job = run->job;
    if (is_cancelled(job)) return LACIS_SYMV_CANCELLED;
    if (worker == 0) tell(job, (double)task * (double)run->batch * (double)job->sides);
    if (run->worker[worker] == NULL)
        run->worker[worker] = take(job, room_bytes(run->path, run->small, pass_sides(job, run->path, 0)));
    if (run->worker[worker] == NULL) return LACIS_SYMV_NO_MEMORY;
    int64_t end = (task + 1) * run->batch;
    if (end > job->matrices) end = job->matrices;
    for (int64_t m = task * run->batch; m < end; m++)
        if (size_of(job, m) <= SMALL) small_matrix(run, m, run->worker[worker]);
    return LACIS_SYMV_OK;
}

static int run_small(struct run *run)
{
    const lacis_symv_job *job = run->job;
    run->worker = take(job, sizeof *run->worker * (uint64_t)job->threads);
    if (run->worker == NULL) return LACIS_SYMV_NO_MEMORY;
    memset(run->worker, 0, sizeof *run->worker * (size_t)job->threads);
    const int64_t n = run->small < 8 ? 8 : run->small, share = job->matrices / (job->threads * TASKS_A_THREAD);
    run->batch = TASK_ELEMENTS / (n * n);
    if (run->batch > share) run->batch = share;
    if (run->batch < 1) run->batch = 1;
    int status = lacis_parallel(job->threads, (job->matrices + run->batch - 1) / run->batch, small_task, run);
    for (int i = 0; i < job->threads; i++)
        give(job, run->worker[i]);
    give(job, run->worker);
    return status;
}

/* --- larger ones ------------------------------------------------------------------------------------- */

static int part_task(void *context, int64_t task, int worker)
{
    const struct run *run = context;
    if (is_cancelled(run->job)) return LACIS_SYMV_CANCELLED;
    if (worker == 0)
        tell(run->job, run->done + run->pass.sides * ((double)task / (double)run->path->parts(run->pass.m->n)));
    run->path->part(&run->pass, task);
    return LACIS_SYMV_OK;
}

static int rows_task(void *context, int64_t task, int worker)
{
    const struct run *run = context;
    const int64_t chunks = chunks_of(run->pass.m->n);
    (void)worker;
    finish_rows(run, &run->pass, (int)(task / chunks), task % chunks,
                run->partial == NULL ? NULL : run->partial + task);
    return LACIS_SYMV_OK;
}

static int large_pass(struct run *run, lacis_symv_figures *figures)
{
    const symv_pass *pass = &run->pass;
    const int64_t chunks = chunks_of(pass->m->n);
    run->path->bring(pass);
    int status = lacis_parallel(run->job->threads, run->path->parts(pass->m->n), part_task, run);
    if (status == LACIS_SYMV_OK) status = lacis_parallel(run->job->threads, chunks * pass->sides, rows_task, run);
    for (int side = 0; status == LACIS_SYMV_OK && figures != NULL && side < pass->sides; side++) {
        symv_partial all = symv_partial_none();
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            lacis_symv_join(&all, &run->partial[side * chunks + chunk]);
        lacis_symv_figures_of(&all, &figures[side]);
    }
    return status;
}

static int large_matrix(struct run *run, int64_t index, char *room)
{
    const lacis_symv_job *job = run->job;
    const symv_matrix m = matrix_of(job, index);
    int status = LACIS_SYMV_OK;
    for (int64_t side = 0; status == LACIS_SYMV_OK && side < job->sides; side += run->path->sides) {
        run->pass = (symv_pass){&m, side, pass_sides(job, run->path, side), room};
        run->done = (double)index * (double)job->sides + (double)side;
        status = large_pass(run, job->figures == NULL ? NULL : job->figures + index * job->sides + side);
    }
    return status;
}

static uint64_t partial_bytes(const lacis_symv_job *job, const symv_path *path, int64_t n)
{
    return job->figures == NULL ? 0 : sizeof(symv_partial) * (uint64_t)(chunks_of(n) * pass_sides(job, path, 0));
}

static int run_large(struct run *run, int64_t most)
{
    const lacis_symv_job *job = run->job;
    int status = LACIS_SYMV_NO_MEMORY;
    char *room = take(job, room_bytes(run->path, most, pass_sides(job, run->path, 0)));
    const uint64_t bytes = partial_bytes(job, run->path, most);
    if (room != NULL && bytes != 0) run->partial = take(job, bytes);
    if (room != NULL && (bytes == 0 || run->partial != NULL)) status = LACIS_SYMV_OK;
    for (int64_t m = 0; status == LACIS_SYMV_OK && m < job->matrices; m++)
        if (size_of(job, m) > SMALL) status = large_matrix(run, m, room);
    give(job, run->partial);
    give(job, room);
    return status;
}

lacis_symv_status lacis_symv_run(const lacis_symv_job *job)
{
    struct run run = {.job = job, .loops = lacis_symv_kernels()->loops[job->type]};
    const int64_t most = largest(job, false);
    run.path = path_of(job, run.loops);
    run.small = largest(job, true);
    if (job->matrices == 0 || job->sides == 0) return LACIS_SYMV_OK;
    int status = LACIS_SYMV_OK;
    if (most <= SMALL || job->one != NULL) status = run_small(&run);
    if (status == LACIS_SYMV_OK && most > SMALL) status = run_large(&run, most);
    return (lacis_symv_status)status;
}

uint64_t lacis_symv_work_bytes(const lacis_symv_job *job)
{
    const symv_path *path = path_of(job, lacis_symv_kernels()->loops[job->type]);
    const int64_t most = largest(job, false), small = largest(job, true);
    const int sides = pass_sides(job, path, 0);
    if (job->matrices == 0 || job->sides == 0) return 0;
    const uint64_t of_small = (uint64_t)job->threads * (room_bytes(path, small, sides) + sizeof(char *));
    uint64_t bytes = 0;
    if (most <= SMALL || job->one != NULL) bytes = of_small;
    if (most > SMALL) {
        const uint64_t of_large = room_bytes(path, most, sides) + partial_bytes(job, path, most);
        bytes = of_large > bytes ? of_large : bytes;
    }
    return bytes;
}
