/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields over a grid of one to three dimensions: taken apart with their shapes checked, and built. Used by row
 * sources, the catalog's and the interface's checks, loaders, generators and operators.
 */
#include "core/grid.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

const char *const lacis_grid_axis[3] = {"x", "y", "z"};

bool lacis_grid_structure(const char *name)
{
    return strcmp(name, "shape") == 0 || strcmp(name, "step") == 0;
}

bool lacis_grid_field_name(const char *name)
{
    static const char *const taken[] = {"shape", "step", "x", "y", "z", "t", ""};
    for (int i = 0; i < LACIS_COUNT(taken); i++)
        if (strcasecmp(name, taken[i]) == 0) return false;
    return true;
}

bool lacis_grid_plain(int fields, const char *first)
{
    return fields == 1 && strcmp(first, "value") == 0;
}

int lacis_grid_dims(const lacis_array *array)
{
    const lacis_part *shape = lacis_array_part_named(array, "shape");
    return shape == NULL || shape->count < 1 || shape->count > 3 ? 0 : (int)shape->count;
}

int lacis_grid_dims_of(const int64_t *extent)
{
    int dims = 0;
    while (dims < 3 && extent[dims] > 0)
        dims++;
    return dims;
}

int64_t lacis_grid_cells(const lacis_array *array)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++)
        if (!lacis_grid_structure(part.name)) return part.count;
    return 0;
}

void lacis_grid_extents(const int64_t *extent, int64_t cells, int dims, int64_t *out)
{
    int64_t known = 1;
    for (int d = 0; d < 3; d++)
        out[d] = d < dims && d < 2 && extent[d] > 0 ? extent[d] : 1;
    if (dims == 3 && !__builtin_mul_overflow(out[0], out[1], &known) && cells >= known) out[2] = cells / known;
}

/* ------------------------------------------------------------------------------------------- telling */

const char *lacis_grid_shape_text(const int64_t *extent, int dims, char *text)
{
    int used = 0;
    text[0] = '\0';
    for (int d = 0; d < dims; d++)
        used += snprintf(text + used, (size_t)(LACIS_GRID_SHAPE_TEXT - used), "%s%" PRId64, d == 0 ? "" : " x ",
                         extent[d]);
    return text;
}

const char *lacis_grid_fields_text(const char *const *name, int fields, char *text)
{
    size_t used = 0, size = LACIS_GRID_FIELDS_TEXT;
    text[0] = '\0';
    if (fields == 0 || lacis_grid_plain(fields, name[0])) return text;
    used += (size_t)snprintf(text, size, "field%s ", fields == 1 ? "" : "s");
    for (int f = 0; f < fields && used < size; f++)
        used += (size_t)snprintf(text + used, size - used, "%s, ", name[f]);
    return text;
}

/* --- taking apart --------------------------------------------------------------------------------- */

static lacis_status wrong_part(lacis_run *run, const lacis_part *part, int64_t count, lacis_dtype dtype)
{
    return lacis_run_fail(run, LACIS_TYPE,
                          "part \"%s\" of a grid must be %" PRId64 " elements of %s, not %" PRId64 " of %s",
                          part->name, count, lacis_dtype_name(dtype), part->count, lacis_dtype_name(part->dtype));
}

static lacis_status check_type(lacis_run *run, lacis_dtype dtype)
{
    if (dtype == LACIS_F32 || dtype == LACIS_F64) return LACIS_OK;
    return lacis_run_fail(run, LACIS_TYPE, "a grid is of f32 or f64, not of %s", lacis_dtype_name(dtype));
}

/* Checks the extents, sets those beyond dims to 1, and counts the cells. */
static lacis_status count_cells(lacis_run *run, lacis_grid *grid)
{
    const int64_t most = INT64_MAX / 64; /* their bytes can be counted, too */
    grid->cells = 1;
    for (int d = 0; d < 3; d++) {
        if (d >= grid->dims) grid->extent[d] = 1;
        if (grid->extent[d] < 1)
            return lacis_run_fail(run, LACIS_RANGE, "the grid is %" PRId64 " cells long along %s: it must have one",
                                  grid->extent[d], lacis_grid_axis[d]);
        if (__builtin_mul_overflow(grid->cells, grid->extent[d], &grid->cells) || grid->cells > most)
            return lacis_run_fail(run, LACIS_RANGE, "the grid has more cells than can be counted");
    }
    return LACIS_OK;
}

static lacis_status take_shape(lacis_run *run, const lacis_array *array, lacis_grid *out)
{
    const lacis_part *shape = lacis_array_part_named(array, "shape");
    if (shape == NULL)
        return lacis_run_fail(run, LACIS_TYPE,
                              "the grid has no part \"shape\", which says how long it is along x, y and z");
    if (shape->dtype != LACIS_I64 || shape->count < 1 || shape->count > 3)
        return lacis_run_fail(run, LACIS_TYPE,
                              "part \"shape\" of a grid must be 1 to 3 elements of i64, not %" PRId64 " of %s",
                              shape->count, lacis_dtype_name(shape->dtype));
    out->dims = (int)shape->count;
    memcpy(out->extent, shape->data, (size_t)out->dims * sizeof out->extent[0]);
    LACIS_TRY(count_cells(run, out));
    if (lacis_array_extent(array, 0) == out->extent[0] && lacis_array_extent(array, 1) == out->extent[1])
        return LACIS_OK;
    return lacis_run_fail(run, LACIS_TYPE,
                          "the grid's extents must be {%" PRId64 ", %" PRId64 "} as its shape says, not {%" PRId64
                          ", %" PRId64 "}",
                          out->extent[0], out->extent[1], lacis_array_extent(array, 0), lacis_array_extent(array, 1));
}

static lacis_status take_step(lacis_run *run, const lacis_part *part, lacis_grid *out)
{
    if (part->dtype != LACIS_I64 || part->count != 1) return wrong_part(run, part, 1, LACIS_I64);
    memcpy(&out->step, part->data, sizeof out->step);
    if (out->step >= 0) return LACIS_OK;
    return lacis_run_fail(run, LACIS_RANGE, "the grid's step is %" PRId64 ", and steps are counted from 0",
                          out->step);
}

/* A name that no field before has. */
static lacis_status check_name(lacis_run *run, const lacis_grid *grid, const char *name)
{
    if (!lacis_grid_field_name(name))
        return lacis_run_fail(run, LACIS_NAME,
                              "a field of a grid cannot be called \"%s\": shape, step, x, y, z and t mean something "
                              "else",
                              name);
    for (int f = 0; f < grid->fields; f++)
        if (strcasecmp(grid->name[f], name) == 0)
            return lacis_run_fail(run, LACIS_NAME, "two fields of the grid are called \"%s\"", name);
    if (grid->fields < LACIS_GRID_FIELDS) return LACIS_OK;
    return lacis_run_fail(run, LACIS_RANGE, "a grid has at most %d fields", LACIS_GRID_FIELDS);
}

static lacis_status take_field(lacis_run *run, const lacis_part *part, lacis_grid *out)
{
    LACIS_TRY(check_name(run, out, part->name));
    if (part->dtype != out->dtype || part->count != out->cells) return wrong_part(run, part, out->cells, out->dtype);
    out->name[out->fields] = part->name;
    out->field[out->fields++] = part->data;
    return LACIS_OK;
}

static lacis_status take_part(lacis_run *run, const lacis_part *part, lacis_grid *out)
{
    if (strcmp(part->name, "shape") == 0) return LACIS_OK; /* take_shape */
    if (strcmp(part->name, "step") == 0) return take_step(run, part, out);
    return take_field(run, part, out);
}

lacis_status lacis_grid_view(lacis_run *run, const lacis_array *array, lacis_grid *out)
{
    if (lacis_array_kind(array) != LACIS_GRID) return lacis_run_fail(run, LACIS_TYPE, "a grid is needed");
    *out = (lacis_grid){.dtype = lacis_array_dtype(array)};
    LACIS_TRY(check_type(run, out->dtype));
    LACIS_TRY(take_shape(run, array, out));
    for (int i = 0; i < lacis_array_part_count(array); i++) {
        lacis_part part;
        LACIS_TRY(lacis_array_part(array, i, &part));
        LACIS_TRY(take_part(run, &part, out));
    }
    return out->fields > 0 ? LACIS_OK : lacis_run_fail(run, LACIS_TYPE, "the grid has no field");
}

/* --- building ------------------------------------------------------------------------------------- */

/* A part of its own, not filled. Large ones are address space whose pages are taken when they are written. */
static lacis_status add_part(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                             void **data)
{
    const uint64_t small = (uint64_t)1 << 20, bytes = (uint64_t)count * lacis_dtype_size(dtype);
    lacis_buffer *buffer;
    LACIS_TRY(bytes <= small ? lacis_buffer_new(run, bytes, &buffer) : lacis_buffer_reserve(run, bytes, &buffer));
    lacis_status status = bytes <= small ? LACIS_OK : lacis_buffer_charge(buffer, bytes);
    if (status != LACIS_OK)
        status = lacis_run_fail(run, status, "no memory left for field %s of the grid; raise memory_limit", name);
    if (status == LACIS_OK) status = lacis_array_add(run, array, name, dtype, count, buffer, 0);
    *data = lacis_buffer_data(buffer);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status build(lacis_run *run, const lacis_grid *shape, lacis_array *array, lacis_grid *out)
{
    void *data;
    for (int f = 0; f < shape->fields; f++)
        LACIS_TRY(add_part(run, array, shape->name[f], shape->dtype, shape->cells, &data));
    LACIS_TRY(add_part(run, array, "shape", LACIS_I64, shape->dims, &data));
    memcpy(data, shape->extent, (size_t)shape->dims * sizeof shape->extent[0]);
    if (shape->step != 0) {
        LACIS_TRY(add_part(run, array, "step", LACIS_I64, 1, &data));
        memcpy(data, &shape->step, sizeof shape->step);
    }
    return lacis_grid_view(run, array, out);
}

/* What is to be built, checked; an only field without a name gets one. */
static lacis_status shape_of(lacis_run *run, const lacis_grid *like, lacis_grid *out)
{
    *out = *like;
    LACIS_TRY(check_type(run, like->dtype));
    if (like->dims < 1 || like->dims > 3)
        return lacis_run_fail(run, LACIS_RANGE, "a grid has one to three dimensions, not %d", like->dims);
    if (like->fields < 1 || like->fields > LACIS_GRID_FIELDS)
        return lacis_run_fail(run, LACIS_RANGE, "a grid has 1 to %d fields, not %d", LACIS_GRID_FIELDS, like->fields);
    if (like->fields == 1 && like->name[0] == NULL) out->name[0] = "value";
    for (out->fields = 0; out->fields < like->fields; out->fields++)
        LACIS_TRY(check_name(run, out, out->name[out->fields]));
    return count_cells(run, out);
}

lacis_status lacis_grid_new(lacis_run *run, const lacis_grid *like, lacis_array **array, lacis_grid *out)
{
    lacis_grid shape;
    lacis_array *fresh;
    LACIS_TRY(shape_of(run, like, &shape));
    LACIS_TRY(lacis_array_new(run, LACIS_GRID, shape.dtype, shape.extent[0], shape.extent[1], &fresh));
    lacis_status status = build(run, &shape, fresh, out);
    if (status != LACIS_OK) {
        lacis_array_release(fresh);
        return status;
    }
    *array = fresh;
    return LACIS_OK;
}
