/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_symv_gpu_run: checks, chooses, takes memory, and hands one matrix with 1, 2 or 4 right-hand sides after the
 * other to a family (a batch: all at once). Called by operators/symv's GPU variants.
 */
#include "symv/gpu_inside.h"

typedef struct symv_run {
    const lacis_symv_gpu_job *job;
    lacis_symv_gpu_choice choice;
    void *work, *totals;
    cudaStream_t stream;
} symv_run;

#define TRY(call)                                                                                                    \
    do {                                                                                                             \
        const cudaError_t error_ = (call);                                                                           \
        if (error_ != cudaSuccess) return error_;                                                                    \
    } while (0)

/* --- what the job consists of ---------------------------------------------------------------------------------- */

static int64_t rows_of(const lacis_symv_job *job, int64_t matrix)
{
    return job->one != NULL ? job->one[matrix].n : job->n;
}

static int64_t most_rows(const lacis_symv_job *job)
{
    int64_t most = job->one != NULL ? 0 : job->n;
    for (int64_t m = 0; job->one != NULL && m < job->matrices; m++)
        if (job->one[m].n > most) most = job->one[m].n;
    return most;
}

int64_t symv_gpu_row(const lacis_symv_gpu_job *job)
{
    return (most_rows(&job->job) + 63) / 64 * 64;
}

/* Sides of the next pass, where so many are left. */
static int sides_of(const symv_run *r, int64_t left)
{
    const bool wide = lacis_symv_vector_bytes(r->job->job.type) > 8 && r->job->job.type != LACIS_SYMV_C128;
    const bool one = r->choice.kind == LACIS_SYMV_GPU_ROWS || r->choice.kind == LACIS_SYMV_GPU_TICKETS;
    if (wide || one) return 1; /* double-double: arithmetic takes the time, not the matrix */
    return left >= SYMV_GPU_SIDES ? SYMV_GPU_SIDES : left >= 2 ? 2 : 1;
}

static symv_gpu_part part_of(const symv_run *r, int64_t matrix, int64_t side)
{
    const lacis_symv_job *job = &r->job->job;
    const lacis_symv_one *one = job->one != NULL ? &job->one[matrix] : NULL;
    const int64_t x_at = (one != NULL ? one->x : matrix * job->x_stride) + side * job->x_side;
    const int64_t y_at = (one != NULL ? one->y : matrix * job->y_stride) + side * job->y_side;
    const int64_t a_at = one != NULL ? one->a : matrix * job->stride;
    const int64_t bytes = lacis_symv_vector_bytes(job->type);
    symv_gpu_part p = {};
    p.grid.n = rows_of(job, matrix);
    p.grid.upper = job->uplo == LACIS_SYMV_UPPER;
    p.grid.canonical = job->order == LACIS_SYMV_CANONICAL;
    p.a = (const char *)job->a + a_at * lacis_symv_matrix_bytes(job->type);
    p.ld = one != NULL ? one->ld : job->ld;
    p.packed = job->packed;
    p.hermitian = job->hermitian && lacis_symv_complex(job->type);
    p.x = (const char *)job->x + x_at * bytes;
    p.x_side = job->x_side;
    p.x_step = job->x_step;
    p.row = (p.grid.n + 63) / 64 * 64;
    p.y0 = job->y0 != NULL ? (const char *)job->y0 + y_at * bytes : NULL;
    p.y = job->y != NULL ? (char *)job->y + y_at * bytes : NULL;
    p.y_side = job->y_side;
    p.y_step = job->y_step;
    for (int i = 0; i < 4; i++) {
        const bool used = lacis_symv_complex(job->type) || i < 2;
        p.alpha[i] = used ? job->alpha[i] : 0;
        p.beta[i] = used ? job->beta[i] : 0;
    }
    p.totals = r->totals;
    return p;
}

/* --- memory --------------------------------------------------------------------------------------------------------
 */

static uint64_t family_bytes(const symv_run *r, int64_t n, int sides)
{
    switch (r->choice.kind) {
    case LACIS_SYMV_GPU_TILES:
    case LACIS_SYMV_GPU_ATOMIC:
        return symv_gpu_tiles_bytes(r->job, &r->choice, n, sides);
    case LACIS_SYMV_GPU_RING:
        return symv_gpu_ring_bytes(r->job, &r->choice, n, sides);
    case LACIS_SYMV_GPU_TICKETS:
        return symv_gpu_tickets_bytes(r->job, &r->choice, n, sides);
    default:
        return 0;
    }
}

static uint64_t work_bytes(const symv_run *r)
{
    const lacis_symv_job *job = &r->job->job;
    if (r->choice.kind == LACIS_SYMV_GPU_BATCH) return symv_gpu_batch_bytes(r->job, &r->choice);
    const int64_t n = most_rows(job);
    uint64_t most = 0;
    for (int sides = sides_of(r, job->sides); sides >= 1 && n > 0; sides /= 2) {
        const uint64_t bytes = family_bytes(r, n, sides);
        if (bytes > most) most = bytes;
    }
    return most;
}

static uint64_t totals_bytes(const symv_run *r)
{
    const lacis_symv_job *job = &r->job->job;
    if (job->figures == NULL) return 0;
    const uint64_t vectors = r->choice.kind == LACIS_SYMV_GPU_BATCH ? (uint64_t)job->matrices * (uint64_t)job->sides
                                                                    : (uint64_t)sides_of(r, job->sides);
    return vectors * (uint64_t)symv_gpu_row(r->job) * (uint64_t)lacis_symv_vector_bytes(job->type);
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* --- refusals
 * -------------------------------------------------------------------------------------------------------- */

static const char *family_refuses(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice)
{
    switch (choice->kind) {
    case LACIS_SYMV_GPU_TILES:
    case LACIS_SYMV_GPU_ATOMIC:
        return symv_gpu_tiles_refuse(job, choice);
    case LACIS_SYMV_GPU_RING:
        return symv_gpu_ring_refuse(job, choice);
    case LACIS_SYMV_GPU_TICKETS:
        return symv_gpu_tickets_refuse(job, choice);
    case LACIS_SYMV_GPU_BATCH:
        return symv_gpu_batch_refuse(job, choice);
    case LACIS_SYMV_GPU_ROWS:
        return symv_gpu_rows_refuse(job, choice);
    default:
        return "there is no such family of kernels";
    }
}

const char *lacis_symv_gpu_refuses(const lacis_symv_gpu_job *job)
{
    if (most_rows(&job->job) >= INT64_C(1) << 31) return "it has 2^31 rows or more";
    const lacis_symv_gpu_choice choice = job->choice != NULL ? *job->choice : lacis_symv_gpu_default(job);
    return family_refuses(job, &choice);
}

/* --- the run
 * ------------------------------------------------------------------------------------------------------------ */

static cudaError_t run_pass(const symv_run *r, const symv_gpu_pass *pass)
{
    switch (r->choice.kind) {
    case LACIS_SYMV_GPU_RING:
        return symv_gpu_ring(pass);
    case LACIS_SYMV_GPU_TICKETS:
        return symv_gpu_tickets(pass);
    case LACIS_SYMV_GPU_ROWS:
        return symv_gpu_rows(pass);
    default:
        return symv_gpu_tiles(pass);
    }
}

static cudaError_t run_matrix(const symv_run *r, int64_t matrix)
{
    const lacis_symv_job *job = &r->job->job;
    for (int64_t side = 0, sides; side < job->sides; side += sides) {
        symv_gpu_pass pass = {r->job, r->choice, part_of(r, matrix, side), 0, r->work, r->stream};
        pass.sides = sides_of(r, job->sides - side);
        sides = pass.sides;
        if (pass.part.grid.n > 0) TRY(run_pass(r, &pass));
        if (job->figures != NULL) TRY(symv_gpu_figures(&pass, 1, {}, job->figures + matrix * job->sides + side));
    }
    return cudaSuccess;
}

/* Matrices alike: so many in one launch as a grid may have; else one by one. */
static cudaError_t figures_of_batch(const symv_run *r)
{
    const lacis_symv_job *job = &r->job->job;
    const int64_t row = symv_gpu_row(r->job), total = job->sides * row, most = job->one != NULL ? 1 : 65535;
    const symv_gpu_stride stride = {job->x_stride, job->y_stride, total, job->sides};
    for (int64_t m = 0; m < job->matrices; m += most) {
        symv_gpu_pass pass = {r->job, r->choice, part_of(r, m, 0), (int)job->sides, NULL, r->stream};
        pass.part.totals = (char *)r->totals + m * total * lacis_symv_vector_bytes(job->type);
        pass.part.row = row;
        TRY(symv_gpu_figures(&pass, job->matrices - m < most ? job->matrices - m : most, stride,
                             job->figures + m * job->sides));
    }
    return cudaSuccess;
}

static cudaError_t run_batch(const symv_run *r)
{
    const lacis_symv_job *job = &r->job->job;
    TRY(symv_gpu_batch(r->job, &r->choice, r->totals, r->work));
    if (job->figures == NULL) return cudaSuccess;
    return figures_of_batch(r);
}

static cudaError_t run_all(const symv_run *r)
{
    if (r->choice.kind == LACIS_SYMV_GPU_BATCH) return run_batch(r);
    for (int64_t m = 0; m < r->job->job.matrices; m++)
        TRY(run_matrix(r, m));
    return cudaSuccess;
}

static symv_run run_of(const lacis_symv_gpu_job *job)
{
    symv_run r = {};
    r.job = job;
    r.choice = job->choice != NULL ? *job->choice : lacis_symv_gpu_default(job);
    r.stream = (cudaStream_t)job->stream;
    return r;
}

lacis_symv_gpu_status lacis_symv_gpu_run(const lacis_symv_gpu_job *job, int *cuda_error)
{
    const lacis_symv_job *j = &job->job;
    *cuda_error = 0;
    if (lacis_symv_gpu_refuses(job) != NULL) return LACIS_SYMV_GPU_UNSUPPORTED;
    if (j->matrices == 0 || j->sides == 0 || (j->y == NULL && j->figures == NULL)) return LACIS_SYMV_GPU_OK;
    symv_run r = run_of(job);
    const uint64_t work = rounded(work_bytes(&r)), bytes = work + totals_bytes(&r);
    if (bytes > 0) {
        r.work = j->host.alloc(j->host.context, bytes);
        if (r.work == NULL) return LACIS_SYMV_GPU_NO_MEMORY;
    }
    if (j->figures != NULL) r.totals = (char *)r.work + work;
    *cuda_error = (int)run_all(&r);
    if (r.work != NULL) j->host.free(j->host.context, r.work);
    return *cuda_error != (int)cudaSuccess ? LACIS_SYMV_GPU_FAILED : LACIS_SYMV_GPU_OK;
}

uint64_t lacis_symv_gpu_work_bytes(const lacis_symv_gpu_job *job)
{
    if (lacis_symv_gpu_refuses(job) != NULL) return 0;
    const symv_run r = run_of(job);
    return rounded(work_bytes(&r)) + totals_bytes(&r);
}
