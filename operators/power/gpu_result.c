/* SPDX-License-Identifier: Apache-2.0
 *
 * What POWER's variant "gpu" brings to the host: a block of sources behind the other. Called by gpu.c.
 */
#include "power/gpu.h"

#ifdef LACIS_GPU_KERNELS

static lacis_status fetch_bounds(struct lacis_power_gpu *on, int64_t first, int64_t count,
                                 const struct lacis_power_device_rows *from)
{
    lacis_product_result *to = &on->out->rows;
    uint64_t bytes = sizeof(int64_t) * (uint64_t)count;
    int64_t *begin = (int64_t *)lacis_buffer_data(to->begin) + first;
    int64_t *end = (int64_t *)lacis_buffer_data(to->end) + first;
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, from->begin, bytes, begin));
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, from->end, bytes, end));
    for (int64_t i = 0; to->used > 0 && i < count; i++) {
        begin[i] += (int64_t)to->used;
        end[i] += (int64_t)to->used;
    }
    return LACIS_OK;
}

/* Room for the whole result as address space, once its type is known: that of the first block with entries. */
lacis_status lacis_power_gpu_result(struct lacis_power_gpu *on, lacis_dtype storage)
{
    lacis_product_result *to = &on->out->rows;
    uint64_t places = (uint64_t)to->rows * (uint64_t)on->work->a.cols;
    if (to->column != NULL) return LACIS_OK;
    on->out->storage = storage;
    LACIS_TRY(lacis_buffer_reserve(on->run, places * sizeof(uint32_t), &to->column));
    return lacis_buffer_reserve(on->run, places * lacis_dtype_size(storage), &to->value);
}

static lacis_status charge(struct lacis_power_gpu *on, uint64_t entries)
{
    lacis_product_result *to = &on->out->rows;
    lacis_status status = lacis_buffer_charge(to->column, entries * sizeof(uint32_t));
    if (status == LACIS_OK) status = lacis_buffer_charge(to->value, entries * lacis_dtype_size(on->out->storage));
    return status == LACIS_OK ? LACIS_OK : lacis_power_too_large(on->run, status);
}

/* A block that is the whole result leaves its pieces on the device as copies of the host's. */
static void keep(struct lacis_power_gpu *on, int64_t count, struct lacis_power_device_rows *from, uint64_t size)
{
    const lacis_product_result *to = &on->out->rows;
    uint64_t rows = sizeof(int64_t) * (uint64_t)count, n = from->entries;
    if (count != to->rows || n == 0) return;
    lacis_gpu_keep(on->gpu, to->begin, 0, rows, from->begin);
    lacis_gpu_keep(on->gpu, to->end, 0, rows, from->end);
    lacis_gpu_keep(on->gpu, to->column, 0, sizeof(uint32_t) * n, from->column);
    lacis_gpu_keep(on->gpu, to->value, 0, size * n, from->value);
    *from = (struct lacis_power_device_rows){0};
}

lacis_status lacis_power_gpu_fetch(struct lacis_power_gpu *on, int64_t first, int64_t count,
                                   struct lacis_power_device_rows *from)
{
    lacis_product_result *to = &on->out->rows;
    uint64_t n = from->entries, size = lacis_dtype_size(from->storage);
    LACIS_TRY(fetch_bounds(on, first, count, from));
    if (n == 0) return LACIS_OK;
    LACIS_TRY(lacis_power_gpu_result(on, from->storage));
    if (from->storage != on->out->storage)
        return lacis_run_fail(on->run, LACIS_UNSUPPORTED, "blocks of sources came in different types");
    LACIS_TRY(charge(on, n));
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, from->column, sizeof(uint32_t) * n,
                                 (uint32_t *)lacis_buffer_data(to->column) + to->used));
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, from->value, size * n,
                                 (char *)lacis_buffer_data(to->value) + size * to->used));
    to->used += n;
    to->entries += n;
    keep(on, count, from, size);
    return LACIS_OK;
}

#endif
