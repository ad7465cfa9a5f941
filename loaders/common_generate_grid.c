/* SPDX-License-Identifier: Apache-2.0
 *
 * From functions of cells to grids; see common_generate_grid.h.
 */
#include "common_generate_grid.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { STRIP = 512 }; /* cells at a time */

/* ----------------------------------------------------------------------------------------- options */

lacis_status lacis_generate_real(lacis_run *run, const lacis_options *given, const char *name, double *out)
{
    const lacis_option_value *value = lacis_option(given, name);
    *out = value->real;
    if (isfinite(*out)) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, value->given ? value->offset : -1, NULL, "%s must be a finite number",
                             name);
}

static lacis_status read_extents(lacis_run *run, const lacis_options *given, lacis_grid *shape)
{
    static const char *const names[] = {"nx", "ny", "nz"};
    if (lacis_option_set(given, "nz") != NULL && lacis_option_set(given, "ny") == NULL)
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "nz"), NULL,
                                 "nz is given and ny is not: a grid of three dimensions needs all of them");
    for (shape->dims = 0; shape->dims < 3; shape->dims++) {
        if (lacis_option_set(given, names[shape->dims]) == NULL) break;
        LACIS_TRY(
            lacis_generate_integer(run, given, names[shape->dims], 1, INT64_MAX / 1024, &shape->extent[shape->dims]));
    }
    return LACIS_OK;
}

/* Marks the fields that `fill` names, or the first. */
static lacis_status read_fill(lacis_run *run, const lacis_options *given, lacis_generate_grid *out)
{
    const char *text = lacis_option_text(given, "fill");
    lacis_grid named;
    out->fill[0] = text == NULL;
    if (text == NULL) return LACIS_OK;
    int64_t offset = lacis_option_offset(given, "fill");
    LACIS_TRY(lacis_grid_names(run, text, offset, &named));
    for (int i = 0; i < named.fields; i++) {
        int f = 0;
        while (f < out->shape.fields && strcasecmp(named.name[i], out->shape.name[f]) != 0)
            f++;
        if (f == out->shape.fields)
            return lacis_run_fail_at(run, LACIS_NAME, offset, NULL, "fill: there is no field '%s' among '%s'",
                                     named.name[i], lacis_option_text(given, "fields"));
        out->fill[f] = true;
    }
    return LACIS_OK;
}

lacis_status lacis_generate_grid_begin(lacis_run *run, const lacis_options *given, lacis_generate_grid *out)
{
    *out = (lacis_generate_grid){.shape = {.extent = {1, 1, 1}, .dtype = lacis_grid_type(given, LACIS_F64)}};
    LACIS_TRY(read_extents(run, given, &out->shape));
    LACIS_TRY(
        lacis_grid_names(run, lacis_option_text(given, "fields"), lacis_option_offset(given, "fields"), &out->shape));
    LACIS_TRY(lacis_generate_real(run, given, "rest", &out->rest));
    return read_fill(run, given, out);
}

/* ------------------------------------------------------------------------------------------- cells */

typedef struct job {
    const lacis_generate_grid *g;
    const lacis_grid_maker *maker;
    int field;
} job;

static void make_part(void *context, int64_t first, int64_t end)
{
    const job *j = context;
    const lacis_grid *grid = &j->maker->grid;
    size_t size = lacis_dtype_size(grid->dtype);
    double value[STRIP];
    for (int64_t i = first, count; i < end; i += count) {
        int64_t row = i / grid->extent[0];
        const int64_t at[3] = {i % grid->extent[0], row % grid->extent[1], row / grid->extent[1]};
        count = grid->extent[0] - at[0] < end - i ? grid->extent[0] - at[0] : end - i;
        if (count > STRIP) count = STRIP;
        if (j->g->fill[j->field])
            j->g->row(j->g->context, grid, j->field, at, count, value);
        else
            for (int64_t k = 0; k < count; k++)
                value[k] = j->g->rest;
        lacis_values_convert(value, LACIS_F64, 0, count,
                             (char *)lacis_grid_maker_cells(j->maker, j->field) + (size_t)i * size, grid->dtype);
    }
}

lacis_status lacis_generate_grid_make(lacis_run *run, const lacis_generate_grid *g, const char *name,
                                      lacis_array **out)
{
    lacis_grid_maker maker;
    LACIS_TRY(lacis_grid_begin(run, name, &g->shape, &maker));
    lacis_status status = LACIS_OK;
    for (int f = 0; f < g->shape.fields && status == LACIS_OK; f++) {
        job j = {g, &maker, f};
        status = lacis_grid_parts(run, maker.grid.cells, make_part, &j);
    }
    return lacis_grid_end(&maker, status, out);
}
