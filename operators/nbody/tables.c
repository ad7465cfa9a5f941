/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables, column by column: the result of ACCELERATE, and what goes with a result.
 */
#include "nbody/system.h"

static lacis_status add_columns(lacis_run *run, const lacis_column *column, const lacis_dtype *dtype, int columns,
                                int64_t rows, lacis_array *array, void **data)
{
    for (int i = 0; i < columns; i++) {
        lacis_buffer *buffer;
        LACIS_TRY(lacis_buffer_new(run, (uint64_t)rows * lacis_dtype_size(dtype[i]), &buffer));
        data[i] = lacis_buffer_data(buffer);
        lacis_status status = lacis_array_add(run, array, column[i].name, dtype[i], rows, buffer, 0);
        lacis_buffer_release(buffer); /* the array keeps its own hold */
        LACIS_TRY(status);
    }
    return LACIS_OK;
}

lacis_status lacis_nbody_new_table(lacis_run *run, const lacis_column *column, const lacis_dtype *dtype, int columns,
                                   int64_t rows, lacis_array **out, void **data)
{
    lacis_array *array;
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, rows, 0, &array));
    lacis_status status = add_columns(run, column, dtype, columns, rows, array, data);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}
