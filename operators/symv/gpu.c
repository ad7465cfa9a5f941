/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's variant for the GPU: the matrix goes to the device, and stays there for later statements, vectors that
 * kernels read where they lie likewise; y comes back, and its copy on the device stays with it.
 */
#include "symv/device.h"

#ifdef LACIS_GPU_KERNELS

/* What a run has on the device. */
struct there {
    lacis_gpu *gpu;
    const void *a, *x, *y0;
    void *own_x, *own_y0, *y; /* blocks of this run */
    lacis_symv_figures *figures;
};

/* LACIS_LIMIT: no room. */
static lacis_status take(lacis_gpu *gpu, uint64_t bytes, void **out)
{
    *out = lacis_gpu_alloc(gpu, bytes);
    return *out == NULL ? LACIS_LIMIT : LACIS_OK;
}

/* x or y0: a copy that stays where the array's memory is what kernels read, else the host's copy, for this run. */
static lacis_status send_vectors(const lacis_symv_task *task, lacis_gpu *gpu, const lacis_symv_vectors *from,
                                 const void *host, void **own, const void **out)
{
    if (from->direct) return lacis_gpu_part(task->run, gpu, from->array, from->part, out);
    if (*own == NULL) LACIS_TRY(take(gpu, task->y_bytes, own));
    *out = *own;
    return task->y_bytes == 0 ? LACIS_OK : lacis_gpu_upload(task->run, gpu, host, task->y_bytes, *own);
}

static lacis_status send(lacis_symv_task *task, struct there *there)
{
    const lacis_symv_work *work = task->work;
    lacis_gpu *gpu = there->gpu;
    LACIS_TRY(lacis_gpu_part(task->run, gpu, work->matrix.array, work->matrix.part, &there->a));
    LACIS_TRY(send_vectors(task, gpu, &work->x, task->x, &there->own_x, &there->x));
    if (task->y != NULL) LACIS_TRY(take(gpu, task->y_bytes, &there->y));
    if (task->figures != NULL) {
        void *figures;
        LACIS_TRY(take(gpu, sizeof *task->figures * (uint64_t)work->x.lanes, &figures));
        there->figures = figures;
    }
    if (task->y0 == NULL) return LACIS_OK;
    return send_vectors(task, gpu, &work->y, task->y0, there->y != NULL ? &there->y : &there->own_y0, &there->y0);
}

static lacis_status run_piece(const lacis_symv_task *task, const struct there *there, const lacis_symv_piece *piece)
{
    const lacis_symv_work *work = task->work;
    int cuda_error = 0;
    lacis_symv_gpu_job job = lacis_symv_gpu_job_of(work, piece, there->gpu);
    const lacis_symv_gpu_choice choice = lacis_symv_choose(task->call->profile, there->gpu, &job);
    if (piece->matrices == 0 || piece->sides == 0) return LACIS_OK;
    lacis_symv_point(work, piece, there->a, there->x, there->y0, there->y, there->figures, &job.job);
    job.choice = &choice;
    job.stream = lacis_gpu_stream(there->gpu);
    job.job.host = lacis_symv_gpu_host(there->gpu);
    return lacis_symv_gpu_said(task->run, there->gpu, lacis_symv_gpu_run(&job, &cuda_error), cuda_error);
}

static lacis_status fetch(lacis_symv_task *task, struct there *there)
{
    const uint64_t bytes = sizeof *task->figures * (uint64_t)task->work->x.lanes;
    if (task->figures != NULL)
        return bytes == 0 ? LACIS_OK
                          : lacis_gpu_download(task->run, there->gpu, there->figures, bytes, task->figures);
    return lacis_symv_gpu_fetch(task, there->gpu, &there->y);
}

static lacis_status on_device(lacis_symv_task *task, struct there *there)
{
    const lacis_symv_work *work = task->work;
    LACIS_TRY(send(task, there));
    for (int64_t i = 0; i < work->pieces; i++) {
        if (lacis_run_cancelled(task->run)) return lacis_run_interrupted(task->run);
        LACIS_TRY(run_piece(task, there, &work->piece[i]));
    }
    return fetch(task, there);
}

static lacis_status compute(lacis_symv_task *task)
{
    char reason[200];
    struct there there = {.gpu = lacis_run_gpu(task->run, reason, sizeof reason)};
    if (there.gpu == NULL) return lacis_run_fail(task->run, LACIS_UNSUPPORTED, "%s", reason);
    lacis_status status = on_device(task, &there);
    lacis_gpu_free(there.gpu, there.own_x);
    lacis_gpu_free(there.gpu, there.own_y0);
    lacis_gpu_free(there.gpu, there.y);
    lacis_gpu_free(there.gpu, there.figures);
    if (status == LACIS_LIMIT) return lacis_gpu_no_room(task->run, there.gpu, "the matrix and its vectors");
    return status;
}

#else

static const lacis_symv_compute compute = lacis_symv_no_kernels;

#endif

static lacis_status run_gpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return lacis_symv_by(run, call, begin, end, compute, out);
}

const lacis_variant lacis_symv_gpu = {
    .name = "gpu",
    .device = LACIS_GPU,
    .summary = "one triangle read once, by tiles over blocks, or as tuning found it best",
    .can = lacis_symv_gpu_can,
    .cost = lacis_symv_gpu_cost,
    .run = run_gpu,
};
