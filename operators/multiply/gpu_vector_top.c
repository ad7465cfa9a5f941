/* SPDX-License-Identifier: Apache-2.0
 *
 * A row that "gpu pull" or "gpu push" has found, from the device to the host: where TOP leaves out much of it, what
 * TOP keeps is chosen there, and nothing else is copied. Called by gpu_vector.c and gpu_against.c.
 */
#include "multiply/vector.h"

#ifdef LACIS_GPU_KERNELS

/* Entries left out from which on the device chooses: the host sorts all (50 ns each or more), the device takes a
 * dozen launches. */
enum { LEFT_OUT_LEAST = 4096 };

bool lacis_vector_tops(const lacis_product *product, uint64_t entries)
{
    const uint64_t top = product->job.top > 0 ? (uint64_t)product->job.top : UINT64_MAX;
    const bool having = product->job.having != NULL && !product->strips.within; /* is taken first, on the host */
    return product->spec.shape == LACIS_PRODUCT_ROW && !having && entries > top && entries - top >= LEFT_OUT_LEAST;
}

lacis_status lacis_vector_top(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, lacis_mul_gpu_top *top)
{
    lacis_mul_gpu_job job = *top->job;
    job.top = product->job.top;
    top->job = &job;
    const lacis_mul_gpu_status done = lacis_mul_gpu_top_run(top);
    if (done == LACIS_MUL_GPU_NO_MEMORY) return LACIS_OK;
    if (done != LACIS_MUL_GPU_OK) return lacis_vector_failed(run, gpu, done, top->cuda_error);
    lacis_run_count(run, "GPU entries of TOP", (double)top->entries);
    return LACIS_OK;
}

lacis_status lacis_vector_row(lacis_run *run, const lacis_product *product, uint64_t entries,
                              lacis_product_result *out)
{
    *out = (lacis_product_result){.rows = 1};
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t), &out->begin));
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t), &out->end));
    LACIS_TRY(lacis_buffer_new(run, sizeof(uint32_t) * entries, &out->column));
    LACIS_TRY(lacis_buffer_new(run, lacis_dtype_size(product->storage) * entries, &out->value));
    *(int64_t *)lacis_buffer_data(out->begin) = 0;
    *(int64_t *)lacis_buffer_data(out->end) = (int64_t)entries;
    out->entries = out->used = entries;
    return LACIS_OK;
}

lacis_status lacis_vector_fetch(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, const uint32_t *column,
                                const void *value, uint64_t entries, lacis_product_result *out)
{
    LACIS_TRY(lacis_vector_row(run, product, entries, out));
    LACIS_TRY(lacis_gpu_download(run, gpu, column, sizeof(uint32_t) * entries, lacis_buffer_data(out->column)));
    return lacis_gpu_download(run, gpu, value, lacis_dtype_size(product->storage) * entries,
                              lacis_buffer_data(out->value));
}

#endif
