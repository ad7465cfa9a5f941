/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches without fields yet: of groups given, or shaped as another one; and layouts as they are written. Used by
 * batch_gather.c, generators, loaders and operators over batches.
 */
#include "core/batch.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* --- layouts -------------------------------------------------------------------------------------- */

int64_t lacis_batch_layout_read(const char *text)
{
    int64_t block = 0;
    if (strcasecmp(text, "flat") == 0) return 1;
    if (strcasecmp(text, "full") == 0) return 0;
    if (strncasecmp(text, "block(", 6) != 0) return -1;
    const char *p = text + 6;
    for (; *p >= '0' && *p <= '9' && block <= INT32_MAX; p++)
        block = 10 * block + (*p - '0');
    return *p == ')' && p[1] == '\0' && block >= 1 && block <= INT32_MAX ? block : -1;
}

const char *lacis_batch_layout_text(int64_t block, char *text)
{
    if (block > 1)
        snprintf(text, LACIS_LAYOUT_TEXT, "block(%" PRId64 ")", block);
    else
        snprintf(text, LACIS_LAYOUT_TEXT, "%s", block == 1 ? "flat" : "full");
    return text;
}

/* --- shapes --------------------------------------------------------------------------------------- */

static lacis_status add_copy(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                             const void *data)
{
    lacis_buffer *buffer;
    uint64_t bytes = (uint64_t)count * lacis_dtype_size(dtype);
    LACIS_TRY(lacis_buffer_new(run, bytes, &buffer));
    if (bytes > 0) memcpy(lacis_buffer_data(buffer), data, bytes);
    lacis_status status = lacis_array_add(run, array, name, dtype, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status add_structure(lacis_run *run, const lacis_batch_shape *shape, lacis_array *array)
{
    int64_t rows = 0;
    for (int64_t g = 0; g < shape->groups; g++)
        rows += shape->rows[g];
    LACIS_TRY(add_copy(run, array, "block", LACIS_I64, 1, &shape->block));
    if (shape->groups > 1) {
        LACIS_TRY(add_copy(run, array, "group_lanes", LACIS_I64, shape->groups, shape->lanes));
        LACIS_TRY(add_copy(run, array, "group_rows", LACIS_I64, shape->groups, shape->rows));
    }
    if (shape->parent == NULL) return LACIS_OK;
    return add_copy(run, array, "parent", LACIS_I32, rows, shape->parent);
}

lacis_status lacis_batch_new(lacis_run *run, const lacis_batch_shape *shape, lacis_array **out)
{
    lacis_array *array;
    int64_t lanes = 0, most = 0;
    for (int64_t g = 0; g < shape->groups; g++) {
        lanes += shape->lanes[g];
        if (shape->rows[g] > most) most = shape->rows[g];
    }
    LACIS_TRY(lacis_array_new(run, LACIS_INTERLEAVED, shape->dtype, lanes, most, &array));
    for (int d = 0; d < 2; d++)
        lacis_array_set_base(array, d, shape->base[d]);
    lacis_status status = add_structure(run, shape, array);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}
