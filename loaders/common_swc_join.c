/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells of several files as one table, and one cell back to a file; see common_swc.h.
 */
#include "common_save.h"
#include "common_swc.h"

/* ------------------------------------------------------------------------------------------- joining */

static lacis_status add_columns(lacis_run *run, lacis_array *array, lacis_buffer *const *buffer, int64_t count)
{
    for (int i = 0; i < LACIS_SWC_COLUMNS; i++) {
        lacis_dtype dtype = lacis_swc_columns[i].real ? LACIS_F64 : LACIS_I64;
        LACIS_TRY(lacis_array_add(run, array, lacis_swc_columns[i].name, dtype, count, buffer[i], 0));
    }
    return LACIS_OK;
}

lacis_status lacis_swc_table(lacis_run *run, lacis_buffer *const *buffer, int64_t count, lacis_array **out)
{
    lacis_array *array;
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, count, 0, &array));
    lacis_status status = add_columns(run, array, buffer, count);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}

/* Reserved only: a piece is let go as soon as it is copied, so that little more than one copy is ever held. */
static lacis_status reserve(lacis_run *run, lacis_buffer **buffer, int64_t count)
{
    for (int i = 0; i < LACIS_SWC_COLUMNS; i++)
        LACIS_TRY(lacis_buffer_reserve(run, (uint64_t)count * sizeof(int64_t), &buffer[i]));
    return LACIS_OK;
}

static lacis_status copy_piece(lacis_run *run, lacis_buffer *const *buffer, const lacis_array *piece, int64_t cell,
                               int64_t at)
{
    int64_t count = lacis_array_extent(piece, 0);
    uint64_t bytes = (uint64_t)count * sizeof(int64_t);
    for (int i = 0; i < LACIS_SWC_COLUMNS; i++) {
        lacis_status status = lacis_buffer_charge(buffer[i], bytes);
        if (status != LACIS_OK)
            return lacis_run_fail(run, status,
                                  "the cells together do not fit %s; raise memory_limit, or load fewer at a time",
                                  status == LACIS_LIMIT ? "memory_limit" : "memory");
        int64_t *to = (int64_t *)lacis_buffer_data(buffer[i]) + at;
        memcpy(to, lacis_array_part_named(piece, lacis_swc_columns[i].name)->data, bytes);
        for (int64_t k = 0; i == LACIS_SWC_CELL && k < count; k++)
            to[k] = cell;
    }
    return LACIS_OK;
}

static lacis_status copy_pieces(lacis_run *run, lacis_buffer *const *buffer, lacis_array **piece, int64_t pieces)
{
    int64_t at = 0;
    for (int64_t i = 0; i < pieces; i++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        lacis_run_progress(run, "joining", (double)i / (double)pieces);
        LACIS_TRY(copy_piece(run, buffer, piece[i], i, at));
        at += lacis_array_extent(piece[i], 0);
        lacis_array_release(piece[i]);
        piece[i] = NULL;
    }
    return LACIS_OK;
}

lacis_status lacis_swc_join(lacis_run *run, lacis_array **piece, int64_t pieces, lacis_array **out)
{
    lacis_buffer *buffer[LACIS_SWC_COLUMNS] = {NULL};
    int64_t count = 0;
    for (int64_t i = 0; i < pieces; i++)
        count += lacis_array_extent(piece[i], 0);
    lacis_status status = reserve(run, buffer, count);
    if (status == LACIS_OK) status = copy_pieces(run, buffer, piece, pieces);
    if (status == LACIS_OK) status = lacis_swc_table(run, buffer, count, out);
    for (int i = 0; i < LACIS_SWC_COLUMNS; i++)
        lacis_buffer_release(buffer[i]);
    return status;
}

/* -------------------------------------------------------------------------------------------- saving */

static lacis_status find_columns(lacis_run *run, const lacis_array *array, const lacis_part **part)
{
    bool table = lacis_array_kind(array) == LACIS_TABLE;
    for (int i = 0; i < LACIS_SWC_COLUMNS; i++) {
        part[i] = table ? lacis_array_part_named(array, lacis_swc_columns[i].name) : NULL;
        if (part[i] != NULL || i == LACIS_SWC_CELL) continue;
        return lacis_run_fail(run, LACIS_TYPE,
                              "swc holds a table with the columns id, type, x, y, z, radius, parent; %s is missing",
                              table ? lacis_swc_columns[i].name : "a table");
    }
    return LACIS_OK;
}

static lacis_status refuse_cells(lacis_run *run, const lacis_part *cell)
{
    for (int64_t i = 1; cell != NULL && i < cell->count; i++)
        if (lacis_value_int64(cell->data, cell->dtype, i) != lacis_value_int64(cell->data, cell->dtype, 0))
            return lacis_run_fail(run, LACIS_TYPE,
                                  "an swc file holds one cell, here are more: LET one = SELECT ... WHERE cell = 0");
    return LACIS_OK;
}

lacis_status lacis_swc_save(lacis_run *run, const lacis_array *array, FILE *file)
{
    const lacis_part *part[LACIS_SWC_COLUMNS];
    LACIS_TRY(find_columns(run, array, part));
    LACIS_TRY(refuse_cells(run, part[LACIS_SWC_CELL]));
    lacis_writer w;
    int64_t count = lacis_array_extent(array, 0);
    lacis_writer_begin(&w, run, file);
    lacis_writer_text(&w, "# Saved by lacis\n# id type x y z radius parent\n");
    for (int64_t i = 0; i < count; i++) {
        for (int c = LACIS_SWC_ID; c < LACIS_SWC_COLUMNS; c++) {
            if (c > LACIS_SWC_ID) lacis_writer_text(&w, " ");
            lacis_writer_value(&w, part[c]->data, part[c]->dtype, i);
        }
        lacis_writer_text(&w, "\n");
        if ((i & 8191) == 8191 && lacis_writer_stop(&w, i, count)) break;
    }
    return lacis_writer_end(&w);
}
