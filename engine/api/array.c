/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the embedding program: checked, copied or lent, and entered in the catalog.
 */
#include "api/engine.h"

#include <inttypes.h>
#include <string.h>

static const lacis_part *part_of(const lacis_array_spec *spec, const char *name)
{
    for (int i = 0; i < spec->part_count; i++)
        if (strcmp(spec->parts[i].name, name) == 0) return &spec->parts[i];
    return NULL;
}

/* A part that must be there, of this type and length. */
static lacis_status need(lacis_run *run, const lacis_array_spec *spec, const char *name, lacis_dtype dtype,
                         int64_t count)
{
    const lacis_part *part = part_of(spec, name);
    if (part == NULL) return lacis_run_fail(run, LACIS_TYPE, "the array has no part \"%s\"", name);
    if (part->dtype != dtype || part->count != count || (part->data == NULL && count > 0))
        return lacis_run_fail(run, LACIS_TYPE,
                              "part \"%s\" must be %" PRId64 " elements of %s, not %" PRId64 " of %s", name, count,
                              lacis_dtype_name(dtype), part->count, lacis_dtype_name(part->dtype));
    return LACIS_OK;
}

static lacis_status rising(lacis_run *run, const lacis_array_spec *spec, const char *name, int64_t count)
{
    const lacis_part *part = part_of(spec, name);
    if (part == NULL) return LACIS_OK;
    LACIS_TRY(need(run, spec, name, LACIS_I64, count));
    const int64_t *label = part->data;
    for (int64_t i = 1; i < count; i++)
        if (label[i] <= label[i - 1])
            return lacis_run_fail(run, LACIS_RANGE, "\"%s\" must rise: element %" PRId64 " does not", name, i);
    return LACIS_OK;
}

static lacis_status check_rows(lacis_run *run, const lacis_array_spec *spec)
{
    const int64_t *offset = part_of(spec, "offsets")->data;
    const uint32_t *column = part_of(spec, "columns")->data;
    int64_t entries = part_of(spec, "columns")->count, rows = spec->extent[0], cols = spec->extent[1];
    if (offset[0] != 0 || offset[rows] != entries)
        return lacis_run_fail(run, LACIS_RANGE, "\"offsets\" must go from 0 to the %" PRId64 " columns", entries);
    for (int64_t row = 0; row < rows; row++) {
        if (offset[row + 1] < offset[row] || offset[row + 1] > entries)
            return lacis_run_fail(run, LACIS_RANGE, "\"offsets\" falls behind row %" PRId64, row);
        for (int64_t i = offset[row]; i < offset[row + 1]; i++)
            if (column[i] >= cols || (i > offset[row] && column[i] <= column[i - 1]))
                return lacis_run_fail(run, LACIS_RANGE, "row %" PRId64 ": columns must rise and stay below %" PRId64,
                                      row, cols);
    }
    return LACIS_OK;
}

static lacis_status check_csr(lacis_run *run, const lacis_array_spec *spec)
{
    const lacis_part *columns = part_of(spec, "columns");
    if (spec->extent[0] == INT64_MAX || spec->extent[1] > (int64_t)UINT32_MAX)
        return lacis_run_fail(run, LACIS_RANGE, "a graph may have at most %u columns", UINT32_MAX);
    LACIS_TRY(need(run, spec, "offsets", LACIS_I64, spec->extent[0] + 1));
    LACIS_TRY(need(run, spec, "columns", LACIS_U32, columns == NULL ? 0 : columns->count));
    if (spec->dtype != LACIS_PATTERN) LACIS_TRY(need(run, spec, "values", spec->dtype, columns->count));
    LACIS_TRY(rising(run, spec, "row_labels", spec->extent[0]));
    LACIS_TRY(rising(run, spec, "col_labels", spec->extent[1]));
    return check_rows(run, spec);
}

static lacis_status check_vector(lacis_run *run, const lacis_array_spec *spec)
{
    const lacis_part *values = part_of(spec, "values");
    const lacis_part *index = part_of(spec, "index");
    int64_t count = index != NULL ? index->count : spec->extent[0];
    if (values == NULL) return lacis_run_fail(run, LACIS_TYPE, "the vector has no part \"values\"");
    LACIS_TRY(need(run, spec, "values", spec->dtype, count));
    return rising(run, spec, "index", count);
}

static lacis_status check_table(lacis_run *run, const lacis_array_spec *spec)
{
    for (int i = 0; i < spec->part_count; i++)
        LACIS_TRY(need(run, spec, spec->parts[i].name, spec->parts[i].dtype, spec->extent[0]));
    return LACIS_OK;
}

/* Whether there is memory at all; the rest is checked once it is built. */
static lacis_status check_lengths(lacis_run *run, const lacis_array_spec *spec)
{
    for (int i = 0; i < spec->part_count; i++) {
        const lacis_part *part = &spec->parts[i];
        if (part->count < 0 || part->count > INT64_MAX / 64 || (part->data == NULL && part->count > 0))
            return lacis_run_fail(run, LACIS_TYPE, "part \"%s\" has no proper length, or no data", part->name);
    }
    return LACIS_OK;
}

static lacis_status check(lacis_run *run, const lacis_array_spec *spec)
{
    bool small = spec->dtype >= LACIS_U8 && spec->dtype <= LACIS_U32;
    if (spec->extent[0] < 0 || spec->extent[1] < 0) return lacis_run_fail(run, LACIS_RANGE, "extents are negative");
    if (small || lacis_dtype_size(spec->dtype) == 0) {
        if (small || spec->dtype != LACIS_PATTERN || spec->kind == LACIS_VECTOR)
            return lacis_run_fail(run, LACIS_TYPE, "an array cannot be of type %s", lacis_dtype_name(spec->dtype));
    }
    switch (spec->kind) {
    case LACIS_CSR:
        return check_csr(run, spec);
    case LACIS_VECTOR:
        return check_vector(run, spec);
    case LACIS_TABLE:
        return check_table(run, spec);
    case LACIS_INTERLEAVED:
        return LACIS_OK; /* lacis_batch_view checks it once it is built */
    case LACIS_SYMMETRIC:
    case LACIS_BODIES:
    case LACIS_GRID:
        return check_lengths(run, spec);
    }
    return lacis_run_fail(run, LACIS_TYPE, "unknown kind of array");
}

/* The caller's memory as one thing that several buffers hold: it is given back when the last of them goes. */
struct loan {
    atomic_int holders;
    lacis_release_fn release;
    void *arg;
    lacis_memory *memory;
};

static void loan_release(void *arg)
{
    struct loan *loan = arg;
    if (atomic_fetch_sub(&loan->holders, 1) != 1) return;
    if (loan->release != NULL) loan->release(loan->arg);
    lacis_memory *memory = loan->memory;
    lacis_memory_free(memory, loan);
    lacis_memory_release(memory);
}

static lacis_status part_buffer(lacis_run *run, const lacis_part *part, struct loan *loan, lacis_buffer **out)
{
    uint64_t bytes = (uint64_t)part->count * lacis_dtype_size(part->dtype);
    if (loan == NULL) {
        LACIS_TRY(lacis_buffer_new(run, bytes, out));
        if (bytes > 0) memcpy(lacis_buffer_data(*out), part->data, bytes);
        return LACIS_OK;
    }
    atomic_fetch_add(&loan->holders, 1);
    lacis_status status = lacis_buffer_wrap(run, part->data, bytes, loan_release, loan, out);
    if (status != LACIS_OK) loan_release(loan);
    return status;
}

static lacis_status add_parts(lacis_run *run, const lacis_array_spec *spec, struct loan *loan, lacis_array *array)
{
    for (int i = 0; i < spec->part_count; i++) {
        const lacis_part *part = &spec->parts[i];
        lacis_buffer *buffer;
        LACIS_TRY(part_buffer(run, part, loan, &buffer));
        lacis_status status = lacis_array_add(run, array, part->name, part->dtype, part->count, buffer, 0);
        lacis_buffer_release(buffer);
        LACIS_TRY(status);
    }
    return LACIS_OK;
}

static lacis_status enter(lacis_engine *engine, lacis_run *run, const char *name, lacis_array *array)
{
    LACIS_TRY(lacis_catalog_begin(run, engine->catalog));
    lacis_status status = lacis_catalog_put(run, engine->catalog, name, array);
    if (status == LACIS_OK) return lacis_catalog_commit(run, engine->catalog);
    lacis_catalog_rollback(run, engine->catalog);
    return status;
}

/* What is easier to see of the array than of its parts. */
static lacis_status check_built(lacis_run *run, const lacis_array *array)
{
    lacis_batch batch;
    lacis_symmetric symmetric;
    lacis_bodies bodies;
    lacis_grid grid;
    switch (lacis_array_kind(array)) {
    case LACIS_INTERLEAVED:
        return lacis_batch_view(run, array, &batch);
    case LACIS_SYMMETRIC:
        return lacis_symmetric_view(run, array, &symmetric);
    case LACIS_BODIES:
        LACIS_TRY(lacis_bodies_view(run, array, &bodies));
        return lacis_bodies_check(run, &bodies);
    case LACIS_GRID:
        return lacis_grid_view(run, array, &grid);
    default:
        return LACIS_OK;
    }
}

static lacis_status create(lacis_engine *engine, lacis_run *run, const char *name, const lacis_array_spec *spec,
                           struct loan *loan)
{
    lacis_array *array;
    LACIS_TRY(check(run, spec));
    LACIS_TRY(lacis_array_new(run, spec->kind, spec->dtype, spec->extent[0], spec->extent[1], &array));
    lacis_status status = add_parts(run, spec, loan, array);
    if (status == LACIS_OK) status = check_built(run, array);
    if (status == LACIS_OK) status = enter(engine, run, name, array);
    lacis_array_release(array);
    return status;
}

lacis_status lacis_array_create(lacis_engine *engine, const char *name, const lacis_array_spec *spec)
{
    if (!lacis_engine_usable(engine) || name == NULL || spec == NULL) return LACIS_MISUSE;
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = create(engine, &run, name, spec, NULL);
    lacis_run_clear(&run);
    return status;
}

static lacis_status lend(lacis_engine *engine, lacis_run *run, const char *name, const lacis_array_spec *spec,
                         lacis_release_fn release, void *arg)
{
    struct loan *loan = NULL;
    lacis_status status = lacis_run_alloc(run, sizeof *loan, &loan);
    if (status != LACIS_OK) {
        if (release != NULL) release(arg);
        return status;
    }
    *loan = (struct loan){1, release, arg, lacis_memory_retain(run->host->memory)};
    status = create(engine, run, name, spec, loan);
    loan_release(loan);
    return status;
}

lacis_status lacis_array_lend(lacis_engine *engine, const char *name, const lacis_array_spec *spec,
                              lacis_release_fn release, void *arg)
{
    if (!lacis_engine_usable(engine) || name == NULL || spec == NULL) {
        if (release != NULL) release(arg);
        return LACIS_MISUSE;
    }
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = lend(engine, &run, name, spec, release, arg);
    lacis_run_clear(&run);
    return status;
}

lacis_status lacis_array_find(lacis_engine *engine, const char *name, lacis_array **out)
{
    *out = NULL;
    if (!lacis_engine_usable(engine) || name == NULL) return LACIS_MISUSE;
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = engine->running == 0 ? lacis_catalog_follow(&run, engine->catalog) : LACIS_OK;
    if (status == LACIS_OK) status = lacis_catalog_get(&run, engine->catalog, name, -1, out);
    lacis_run_clear(&run);
    return status;
}
