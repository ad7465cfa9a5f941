/* SPDX-License-Identifier: Apache-2.0
 *
 * What SYMV's variants for the GPU share, of dense matrices and of graphs: the device's memory for kernels, what they
 * say, y's way back, and what is asked before a run: bytes and seconds of copies, and room.
 */
#include "symv/device.h"

/* --- runs --------------------------------------------------------------------------------------------- */

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(context, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(context, block);
}

lacis_symv_host lacis_symv_gpu_host(lacis_gpu *gpu)
{
    return (lacis_symv_host){.alloc = device_alloc, .free = device_free, .context = gpu};
}

lacis_status lacis_symv_gpu_said(lacis_run *run, lacis_gpu *gpu, lacis_symv_gpu_status status, int cuda_error)
{
    switch (status) {
    case LACIS_SYMV_GPU_OK:
        return LACIS_OK;
    case LACIS_SYMV_GPU_NO_MEMORY:
        return LACIS_LIMIT;
    case LACIS_SYMV_GPU_FAILED:
        return lacis_gpu_failed(run, gpu, cuda_error);
    case LACIS_SYMV_GPU_UNSUPPORTED:
        break;
    }
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this product after all");
}

lacis_status lacis_symv_gpu_fetch(const lacis_symv_task *task, lacis_gpu *gpu, void **y)
{
    const lacis_symv_work *work = task->work;
    if (task->y_bytes > 0) LACIS_TRY(lacis_gpu_download(task->run, gpu, *y, task->y_bytes, task->y));
    if (work->scattered) return LACIS_OK;
    uint64_t offset;
    lacis_buffer *buffer = lacis_array_part_buffer(task->array, work->x.batch ? "value" : "values", &offset);
    lacis_gpu_keep(gpu, buffer, offset, task->y_bytes, *y);
    *y = NULL;
    return LACIS_OK;
}

/* --- before a run ------------------------------------------------------------------------------------- */

double lacis_symv_gpu_missing(lacis_gpu *gpu, const lacis_symv_work *work, const lacis_symv_vectors *vectors)
{
    if (vectors->array == NULL) return 0;
    if (vectors->direct) return (double)lacis_gpu_part_missing(gpu, vectors->array, vectors->part);
    return (double)lacis_dtype_size(work->dtype) * (double)work->places;
}

double lacis_symv_gpu_copy_seconds(lacis_gpu *gpu, const lacis_profile *profile, int copies_up, double up,
                                   double down)
{
    const int copies = (up > 0 ? copies_up : 0) + (down > 0 ? 1 : 0);
    return lacis_gpu_copy_seconds(gpu, profile, up, down) +
           copies * lacis_profile_get(profile, LACIS_GPU_COPY_FIGURE, LACIS_GPU_COPY_SECONDS);
}

bool lacis_symv_gpu_room(lacis_gpu *gpu, double need, const char *what, char *reason, size_t size)
{
    const double mega = 1e-6;
    if (gpu == NULL || need <= (double)lacis_gpu_memory_left(gpu)) return true;
    snprintf(reason, size, "%s take %.4g MB of its memory, of which %.4g MB are left", what, mega * need,
             mega * (double)lacis_gpu_memory_left(gpu));
    return false;
}

#ifndef LACIS_GPU_KERNELS
lacis_status lacis_symv_no_kernels(lacis_symv_task *task)
{
    return lacis_run_fail(task->run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}
#endif
