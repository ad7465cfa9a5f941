/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements arrow_rows.h. SQL's values have their types each, Arrow's columns one: integers become reals where both
 * come in the first batch; otherwise values of another type are refused. Texts and blobs have 64-bit offsets.
 */
#include "api/arrow_rows.h"

#include <inttypes.h>
#include <string.h>

static const char *type_name(lacis_type type)
{
    static const char *const name[] = {"nulls", "integers", "reals", "texts", "blobs"};
    return name[type];
}

const char *lacis_arrow_column_format(const lacis_arrow_column *column)
{
    static const char *const format[] = {"U", "l", "g", "U", "Z"};
    return format[column->type];
}

/* ------------------------------------------------------------------------------------------ growing */

static lacis_status grow_rows(lacis_run *run, lacis_arrow_column *column, int64_t rows)
{
    int64_t room = column->room == 0 ? 1024 : 2 * column->room;
    unsigned char *valid;
    int64_t *word;
    if (rows < column->room) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)room / 8, &valid));
    lacis_status status = lacis_run_alloc(run, (uint64_t)(room + 1) * sizeof *word, &word);
    if (status != LACIS_OK) {
        lacis_run_free(run, valid);
        return status;
    }
    memset(valid, 0, (size_t)room / 8);
    memset(word, 0, (size_t)(room + 1) * sizeof *word);
    if (column->room > 0) memcpy(valid, column->valid, (size_t)column->room / 8);
    if (column->room > 0) memcpy(word, column->word, (size_t)(column->room + 1) * sizeof *word);
    lacis_run_free(run, column->valid);
    lacis_run_free(run, column->word);
    column->valid = valid;
    column->word = word;
    column->room = room;
    return LACIS_OK;
}

static lacis_status add_bytes(lacis_run *run, lacis_arrow_column *column, const void *data, size_t count)
{
    if (count > column->space - column->used) {
        uint64_t space = 2 * (column->used + count) + 64;
        char *bytes;
        LACIS_TRY(lacis_run_alloc(run, space, &bytes));
        if (column->used > 0) memcpy(bytes, column->bytes, column->used);
        lacis_run_free(run, column->bytes);
        column->bytes = bytes;
        column->space = space;
    }
    if (count > 0) memcpy(column->bytes + column->used, data, count);
    column->used += count;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- values */

static bool has_offsets(const lacis_arrow_column *column)
{
    return column->type == LACIS_TEXT || column->type == LACIS_BLOB;
}

static void make_real(lacis_arrow_column *column, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        double real = (double)column->word[i];
        memcpy(&column->word[i], &real, sizeof real);
    }
    column->type = LACIS_REAL;
}

/* Makes the column able to take a value of this type, or says why it cannot. */
static lacis_status settle(lacis_run *run, lacis_arrow_column *column, lacis_type type, int64_t row)
{
    bool numbers = type == LACIS_INTEGER && column->type == LACIS_REAL;
    if (column->type == type || numbers) return LACIS_OK;
    if (column->type == LACIS_NULL) {
        column->type = type;
        return LACIS_OK;
    }
    if (column->type == LACIS_INTEGER && type == LACIS_REAL && !column->fixed) {
        make_real(column, row);
        return LACIS_OK;
    }
    return lacis_run_fail_at(run, LACIS_TYPE, -1, "CAST(... AS REAL) or AS TEXT makes them alike",
                             "column \"%s\" has %s among its %s; a column of Arrow is of one type", column->name,
                             type_name(type), type_name(column->type));
}

static lacis_status add_text(lacis_run *run, lacis_arrow_column *column, lacis_statement *statement, int index,
                             lacis_type type)
{
    size_t bytes;
    if (type == LACIS_TEXT || type == LACIS_BLOB) {
        const void *data = lacis_column_blob(statement, index, &bytes);
        return add_bytes(run, column, data, bytes);
    }
    const char *text = lacis_column_text(statement, index); /* of a number, in a column that began with nulls */
    if (text == NULL) return lacis_run_no_memory(run, LACIS_NUMBER_TEXT);
    return add_bytes(run, column, text, strlen(text));
}

void lacis_arrow_column_fix(lacis_arrow_column *column)
{
    column->fixed = true;
    column->any = column->type == LACIS_NULL;
    if (column->any) column->type = LACIS_TEXT;
}

lacis_status lacis_arrow_column_add(lacis_run *run, lacis_arrow_column *column, lacis_statement *statement, int index,
                                    int64_t row)
{
    lacis_type type = lacis_column_type(statement, index);
    LACIS_TRY(grow_rows(run, column, row));
    if (type == LACIS_NULL) {
        column->nulls++;
    } else {
        if (!column->any || type == LACIS_BLOB) LACIS_TRY(settle(run, column, type, row));
        column->valid[row / 8] = (unsigned char)(column->valid[row / 8] | 1U << (row % 8));
    }
    if (has_offsets(column)) {
        if (type != LACIS_NULL) LACIS_TRY(add_text(run, column, statement, index, type));
        column->word[row + 1] = (int64_t)column->used;
    } else if (column->type == LACIS_REAL) {
        double real = type == LACIS_NULL ? 0 : lacis_column_double(statement, index);
        memcpy(&column->word[row], &real, sizeof real);
    } else {
        column->word[row] = type == LACIS_NULL ? 0 : lacis_column_int64(statement, index);
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- batches */

struct block {
    lacis_memory *memory;
    void *own[3];
    const void *buffer[3];
};

static void release(struct ArrowArray *array)
{
    struct block *block = array->private_data;
    lacis_memory *memory = block->memory;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
    for (int i = 0; i < 3; i++)
        lacis_memory_free(memory, block->own[i]);
    lacis_memory_free(memory, block);
    lacis_memory_release(memory);
    array->release = NULL;
}

lacis_status lacis_arrow_struct_new(lacis_run *run, int64_t rows, int columns, struct ArrowArray *out)
{
    struct block *block;
    uint64_t bytes = (uint64_t)columns * (sizeof(struct ArrowArray) + sizeof(struct ArrowArray *));
    LACIS_TRY(lacis_run_alloc(run, sizeof *block + bytes, &block));
    *block = (struct block){.memory = lacis_memory_retain(run->host->memory)};
    struct ArrowArray *child = (struct ArrowArray *)(block + 1);
    struct ArrowArray **pointer = (struct ArrowArray **)(child + columns);
    memset(child, 0, sizeof *child * (size_t)columns);
    for (int i = 0; i < columns; i++)
        pointer[i] = &child[i];
    *out = (struct ArrowArray){.length = rows,
                               .n_buffers = 1,
                               .n_children = columns,
                               .buffers = block->buffer,
                               .children = pointer,
                               .release = release,
                               .private_data = block};
    return LACIS_OK;
}

lacis_status lacis_arrow_column_take(lacis_run *run, lacis_arrow_column *column, int64_t rows, struct ArrowArray *out)
{
    bool texts = has_offsets(column);
    LACIS_TRY(lacis_arrow_struct_new(run, rows, 0, out));
    struct block *block = out->private_data;
    out->n_buffers = texts ? 3 : 2;
    out->null_count = column->nulls;
    out->children = NULL;
    block->own[0] = column->valid;
    block->own[1] = column->word;
    block->own[2] = column->bytes;
    for (int i = 0; i < 3; i++)
        block->buffer[i] = block->own[i];
    *column = (lacis_arrow_column){.name = column->name, .type = column->type, .fixed = true, .any = column->any};
    return LACIS_OK;
}

void lacis_arrow_column_free(lacis_memory *memory, lacis_arrow_column *column)
{
    lacis_memory_free(memory, column->name);
    lacis_memory_free(memory, column->valid);
    lacis_memory_free(memory, column->word);
    lacis_memory_free(memory, column->bytes);
}
