/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays taken from other programs through Arrow's C data interface, where they lie: a struct becomes a table,
 * numbers a vector. Its release callback is called when nobody needs the array any more.
 */
#include "api/arrow.h"
#include "api/engine.h"
#include "core/cells.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- checks */

static lacis_status damaged(lacis_run *run, const char *name)
{
    return lacis_run_fail(run, LACIS_TYPE, "column \"%s\": its ArrowArray is not what its ArrowSchema says", name);
}

static bool has_null(const unsigned char *valid, int64_t offset, int64_t length)
{
    for (int64_t i = offset; i < offset + length; i++)
        if ((valid[i / 8] >> (i % 8) & 1) == 0) return true;
    return false;
}

/* That elements [from, from + length) are there, and all of them valid. */
static lacis_status check_range(lacis_run *run, const char *name, const struct ArrowArray *array, int64_t buffers,
                                int64_t from, int64_t length)
{
    if (array->release == NULL || array->n_buffers != buffers || array->buffers == NULL || array->offset < 0 ||
        array->length < 0 || array->offset > INT64_MAX / 64 - array->length)
        return damaged(run, name);
    if (from < 0 || from + length > array->length) return damaged(run, name);
    if (array->null_count != 0 && array->buffers[0] != NULL &&
        has_null(array->buffers[0], array->offset + from, length))
        return lacis_run_fail_at(run, LACIS_TYPE, -1, "fill them with a number, or leave these rows out",
                                 "column \"%s\" has nulls, which lacis's arrays cannot hold", name);
    return LACIS_OK;
}

/* Numbers [from, from + part->count * numbers) of `array`, whose elements are numbers of `bytes` each. */
static lacis_status lend_numbers(lacis_run *run, const struct ArrowArray *array, int64_t from, int numbers,
                                 lacis_part *part)
{
    uint64_t bytes = lacis_dtype_size(part->dtype) / (unsigned)numbers;
    LACIS_TRY(check_range(run, part->name, array, 2, from, part->count * numbers));
    if (array->n_children != 0 || (array->buffers[1] == NULL && part->count > 0)) return damaged(run, part->name);
    part->data = array->buffers[1];
    if (part->data != NULL) part->data = (const char *)part->data + (uint64_t)(array->offset + from) * bytes;
    if ((uintptr_t)part->data % bytes != 0)
        return lacis_run_fail(run, LACIS_TYPE, "column \"%s\" is not aligned to its %" PRIu64 " bytes", part->name,
                              bytes);
    return LACIS_OK;
}

/* `length` elements of a column from element `from`, as a part. */
static lacis_status lend_column(lacis_run *run, const char *name, const struct ArrowSchema *schema,
                                const struct ArrowArray *array, int64_t from, int64_t length, lacis_part *part)
{
    *part = (lacis_part){name, lacis_arrow_dtype(schema), length, NULL};
    if (part->dtype == LACIS_PATTERN)
        return lacis_run_fail_at(
            run, LACIS_TYPE, -1,
            "u8, u16, u32, i32, i64, f32, f64, and lists of fixed size 2 or 4 of the last two fit",
            "column \"%s\" is of Arrow's format \"%s\"%s, which no array of lacis holds", name, schema->format,
            schema->dictionary != NULL ? " with a dictionary" : "");
    int numbers = lacis_cells_of(part->dtype);
    if (numbers == 1) return lend_numbers(run, array, from, 1, part);
    LACIS_TRY(check_range(run, name, array, 1, from, length));
    if (array->n_children != 1) return damaged(run, name);
    return lend_numbers(run, array->children[0], (array->offset + from) * numbers, numbers, part);
}

/* -------------------------------------------------------------------------------------------- whole */

static lacis_status lend_struct(lacis_run *run, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                lacis_part *part)
{
    LACIS_TRY(check_range(run, "(all)", array, 1, 0, array->length));
    if (array->n_children != schema->n_children) return damaged(run, "(all)");
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *name = schema->children[i]->name;
        if (name == NULL || name[0] == '\0')
            return lacis_run_fail(run, LACIS_NAME, "column %" PRId64 " has no name", i);
        LACIS_TRY(
            lend_column(run, name, schema->children[i], array->children[i], array->offset, array->length, &part[i]));
    }
    return LACIS_OK;
}

static lacis_status describe(lacis_run *run, const struct ArrowSchema *schema, const struct ArrowArray *array,
                             lacis_array_spec *spec)
{
    enum { MOST_COLUMNS = 2000 }; /* SQLite's own limit of a table */
    lacis_part *part;
    bool table = strcmp(schema->format, "+s") == 0;
    if (schema->n_children < 0 || schema->n_children > MOST_COLUMNS)
        return lacis_run_fail(run, LACIS_RANGE, "a table may have at most %d columns", MOST_COLUMNS);
    LACIS_TRY(lacis_run_scratch(run, sizeof *part * (uint64_t)(schema->n_children + 1), &part));
    *spec = (lacis_array_spec){LACIS_TABLE, LACIS_PATTERN, {array->length, 1}, part, (int)schema->n_children};
    if (table) return lend_struct(run, schema, array, part);
    LACIS_TRY(lend_column(run, "values", schema, array, 0, array->length, part));
    spec->kind = LACIS_VECTOR;
    spec->dtype = part->dtype;
    spec->part_count = 1;
    return LACIS_OK;
}

/* What a lent array's release callback lets go. */
struct loan {
    struct ArrowArray array;
    lacis_memory *memory;
};

static void loan_end(void *arg)
{
    struct loan *loan = arg;
    lacis_memory *memory = loan->memory;
    loan->array.release(&loan->array);
    lacis_memory_free(memory, loan);
    lacis_memory_release(memory);
}

/* From here on the array is the loan's. */
static lacis_status take(lacis_run *run, struct ArrowArray *array, struct loan **out)
{
    LACIS_TRY(lacis_run_alloc(run, sizeof **out, out));
    **out = (struct loan){*array, lacis_memory_retain(run->host->memory)};
    array->release = NULL;
    return LACIS_OK;
}

static lacis_status import(lacis_engine *engine, lacis_run *run, const char *name, const struct ArrowSchema *schema,
                           struct ArrowArray *array)
{
    lacis_array_spec spec;
    struct loan *loan;
    LACIS_TRY(describe(run, schema, array, &spec));
    LACIS_TRY(take(run, array, &loan));
    return lacis_array_lend(engine, name, &spec, loan_end, loan);
}

lacis_status lacis_array_import_arrow(lacis_engine *engine, const char *name, struct ArrowSchema *schema,
                                      struct ArrowArray *array)
{
    lacis_status status = LACIS_MISUSE;
    bool there = schema != NULL && array != NULL && schema->release != NULL && array->release != NULL;
    if (there && name != NULL && lacis_engine_usable(engine)) {
        lacis_run run;
        lacis_run_init(&run, &engine->host);
        status = import(engine, &run, name, schema, array);
        lacis_run_clear(&run);
    }
    if (schema != NULL && schema->release != NULL) schema->release(schema);
    if (array != NULL && array->release != NULL) array->release(array);
    return status;
}
