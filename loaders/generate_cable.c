/* SPDX-License-Identifier: Apache-2.0
 *
 * A made-up neuron of cylinders, as a table of samples like those of SWC files: one cable, or a cable at whose end
 * equal branches begin. The engine calls it through its descriptor.
 *
 * Without branches the cable is a dendrite (type 3). With branches it has the type of a soma, so that branches begin
 * with their own diameter and not with a cone from the cable's.
 */
#include "common_generate.h"

static const lacis_option_spec options[] = {
    {.name = "length", .form = 'r', .required = true, .help = "of the cable, um"},
    {.name = "diameter", .form = 'r', .required = true, .help = "of the cable, um"},
    {.name = "branches", .form = 'i', .otherwise = "0", .help = "at its end"},
    {.name = "branch_length", .form = 'r', .help = "of each, um: as the cable by default"},
    {.name = "branch_diameter", .form = 'r', .help = "of each, um: as the cable by default"},
};

enum { CELL, ID, TYPE, X, Y, Z, RADIUS, PARENT, COLUMNS };
static const char *const name[COLUMNS] = {"cell", "id", "type", "x", "y", "z", "radius", "parent"};

struct cable {
    int64_t branches;
    double length, diameter, branch_length, branch_diameter;
};

static lacis_status read_length(lacis_run *run, const lacis_options *given, const char *option, double otherwise,
                                double *out)
{
    const lacis_option_value *value = lacis_option(given, option);
    *out = value->given ? value->real : otherwise;
    if (*out > 0 && *out <= 1e9) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, value->offset, NULL, "%s must be above 0 and at most 1e9, not %g",
                             option, *out);
}

static lacis_status read_options(lacis_run *run, const lacis_options *given, struct cable *out)
{
    LACIS_TRY(lacis_generate_integer(run, given, "branches", 0, INT32_MAX / 8, &out->branches));
    LACIS_TRY(read_length(run, given, "length", 0, &out->length));
    LACIS_TRY(read_length(run, given, "diameter", 0, &out->diameter));
    LACIS_TRY(read_length(run, given, "branch_length", out->length, &out->branch_length));
    return read_length(run, given, "branch_diameter", out->diameter, &out->branch_diameter);
}

/* Sample `row`: the cable's two ends along x, then a tip for each branch, along y, -y, z, -z in turn: along axes
 * lengths are exact. */
static void put(const struct cable *cable, int64_t row, void *const data[COLUMNS])
{
    bool tip = row > 1;
    double along = !tip ? 0 : row % 2 == 0 ? cable->branch_length : -cable->branch_length;
    ((int64_t *)data[CELL])[row] = 0;
    ((int64_t *)data[ID])[row] = row + 1;
    ((int64_t *)data[TYPE])[row] = !tip && cable->branches > 0 ? 1 : 3;
    ((int64_t *)data[PARENT])[row] = row == 0 ? -1 : tip ? 2 : 1;
    ((double *)data[X])[row] = row == 0 ? 0 : cable->length;
    ((double *)data[Y])[row] = row % 4 < 2 ? 0 : along;
    ((double *)data[Z])[row] = row % 4 < 2 ? along : 0;
    ((double *)data[RADIUS])[row] = (tip ? cable->branch_diameter : cable->diameter) / 2;
}

static lacis_status add_columns(lacis_run *run, lacis_array *array, int64_t rows, void *data[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        lacis_buffer *buffer;
        bool real = i >= X && i <= RADIUS;
        LACIS_TRY(lacis_buffer_new(run, (uint64_t)rows * sizeof(double), &buffer));
        data[i] = lacis_buffer_data(buffer);
        lacis_status status = lacis_array_add(run, array, name[i], real ? LACIS_F64 : LACIS_I64, rows, buffer, 0);
        lacis_buffer_release(buffer);
        if (status != LACIS_OK) return status;
    }
    return LACIS_OK;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    struct cable cable;
    void *data[COLUMNS];
    LACIS_TRY(read_options(run, given, &cable));
    int64_t rows = 2 + cable.branches;
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, rows, 0, out));
    lacis_status status = add_columns(run, *out, rows, data);
    if (status != LACIS_OK) {
        lacis_array_release(*out);
        *out = NULL;
        return status;
    }
    for (int64_t row = 0; row < rows; row++)
        put(&cable, row, data);
    return LACIS_OK;
}

const lacis_generator lacis_generator_cable = {
    .name = "cable",
    .summary = "a made-up neuron: a cable, with branches at its end where wanted",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
