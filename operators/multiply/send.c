/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands to the GPU, as send.h says. A pointer of a matrix lies in a part of one of the operand arrays, then the
 * whole part is sent once and stays; or in memory that bind took (values converted, columns joined by label), then it
 * is sent once a call.
 */
#include "multiply/send.h"

uint64_t lacis_send_places(const lacis_mul_matrix *matrix)
{
    int64_t most = 0;
    if (matrix->rows > 0 && matrix->end == matrix->begin + 1) return (uint64_t)matrix->end[matrix->rows - 1];
    for (int64_t r = 0; r < matrix->rows; r++)
        if (matrix->end[r] > most) most = matrix->end[r];
    return (uint64_t)most;
}

/* The part in which `host` lies; false: in none. */
static bool locate(const lacis_sent *sent, const void *host, const lacis_array **array, lacis_part *part,
                   uint64_t *offset)
{
    uintptr_t at = (uintptr_t)host;
    for (int i = 0; i < LACIS_SENT_ARRAYS; i++) {
        if (sent->array[i] == NULL) continue;
        for (int j = 0; lacis_array_part(sent->array[i], j, part) == LACIS_OK; j++) {
            uintptr_t first = (uintptr_t)part->data;
            uint64_t bytes = (uint64_t)part->count * lacis_dtype_size(part->dtype);
            if (at < first || at - first >= bytes) continue;
            *array = sent->array[i];
            *offset = at - first;
            return true;
        }
    }
    return false;
}

static lacis_status send_own(lacis_run *run, lacis_gpu *gpu, lacis_sent *sent, const void *host, uint64_t bytes,
                             const void **out)
{
    for (int i = 0; i < sent->blocks; i++) {
        if (sent->block[i].host != host || sent->block[i].gpu != gpu) continue;
        *out = sent->block[i].device;
        return LACIS_OK;
    }
    if (sent->blocks == LACIS_SENT_BLOCKS)
        return lacis_run_fail(run, LACIS_MISUSE, "more than %d blocks to be sent to the GPU", LACIS_SENT_BLOCKS);
    void *device = lacis_gpu_alloc(gpu, bytes);
    if (device == NULL) return LACIS_LIMIT;
    lacis_status status = lacis_gpu_upload(run, gpu, host, bytes, device);
    if (status != LACIS_OK) {
        lacis_gpu_free(gpu, device);
        return status;
    }
    sent->block[sent->blocks].gpu = gpu;
    sent->block[sent->blocks].host = host;
    sent->block[sent->blocks++].device = device;
    *out = device;
    return LACIS_OK;
}

lacis_status lacis_send_host(lacis_run *run, lacis_gpu *gpu, lacis_sent *sent, const void *host, uint64_t bytes,
                             const void **out)
{
    const lacis_array *array;
    lacis_part part;
    uint64_t offset;
    *out = NULL;
    if (host == NULL) return LACIS_OK;
    if (!locate(sent, host, &array, &part, &offset)) return send_own(run, gpu, sent, host, bytes, out);
    LACIS_TRY(lacis_gpu_part(run, gpu, array, part.name, out));
    *out = (const char *)*out + offset;
    return LACIS_OK;
}

static uint64_t value_bytes(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : type == LACIS_MUL_C128 ? 16 : 8;
}

lacis_status lacis_send_matrix(lacis_run *run, lacis_gpu *gpu, lacis_sent *sent, const lacis_mul_matrix *matrix,
                               lacis_mul_matrix *out)
{
    const void *begin, *end, *column, *value;
    uint64_t rows = sizeof(int64_t) * (uint64_t)matrix->rows, places = lacis_send_places(matrix);
    LACIS_TRY(lacis_send_host(run, gpu, sent, matrix->begin, rows, &begin));
    LACIS_TRY(lacis_send_host(run, gpu, sent, matrix->end, rows, &end));
    LACIS_TRY(lacis_send_host(run, gpu, sent, matrix->column, sizeof(uint32_t) * places, &column));
    LACIS_TRY(lacis_send_host(run, gpu, sent, matrix->value, value_bytes(matrix->type) * places, &value));
    *out = *matrix;
    out->begin = begin;
    out->end = end;
    out->column = column;
    out->value = value;
    return LACIS_OK;
}

uint64_t lacis_send_host_missing(lacis_gpu *gpu, const lacis_sent *sent, const void *host, uint64_t bytes)
{
    const lacis_array *array;
    lacis_part part;
    uint64_t offset;
    if (host == NULL) return 0;
    if (locate(sent, host, &array, &part, &offset)) return lacis_gpu_part_missing(gpu, array, part.name);
    for (int i = 0; i < sent->blocks; i++)
        if (sent->block[i].host == host && sent->block[i].gpu == gpu) return 0;
    return bytes;
}

uint64_t lacis_send_missing(lacis_gpu *gpu, const lacis_sent *sent, const lacis_mul_matrix *matrix)
{
    uint64_t rows = sizeof(int64_t) * (uint64_t)matrix->rows, places = lacis_send_places(matrix);
    bool one = matrix->end == matrix->begin + 1; /* two views of one part */
    return lacis_send_host_missing(gpu, sent, matrix->begin, rows) +
           (one ? 0 : lacis_send_host_missing(gpu, sent, matrix->end, rows)) +
           lacis_send_host_missing(gpu, sent, matrix->column, sizeof(uint32_t) * places) +
           lacis_send_host_missing(gpu, sent, matrix->value, value_bytes(matrix->type) * places);
}

void lacis_send_clear(lacis_sent *sent)
{
    for (int i = 0; i < sent->blocks; i++)
        lacis_gpu_free(sent->block[i].gpu, sent->block[i].device);
    sent->blocks = 0;
}
