/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids with a bump, base + height exp(-r^2 / (2 width^2)), r the distance from its centre in cells. The exponential
 * has the same bits everywhere (common_model_math.c). The engine calls it through its descriptor.
 */
#include "common_generate_grid.h"
#include "common_model.h"

static const lacis_option_spec options[] = {
    LACIS_OPTIONS_GRID_SHAPE,
    {.name = "width", .form = 'r', .help = "standard deviation in cells; by default an eighth of the shortest side"},
    {.name = "height", .form = 'r', .otherwise = "1", .help = "above the base"},
    {.name = "base", .form = 'r', .otherwise = "0", .help = "far away"},
    {.name = "x", .form = 'r', .help = "centre, in cells; by default the middle"},
    {.name = "y", .form = 'r', .help = "likewise"},
    {.name = "z", .form = 'r', .help = "likewise"},
    LACIS_OPTIONS_GRID_FIELDS,
};

typedef struct bump {
    double centre[3], width, height, base;
} bump;

static void row(const void *context, const lacis_grid *grid, int field, const int64_t *at, int64_t count, double *out)
{
    const bump *b = context;
    const double y = (double)at[1] - b->centre[1], z = (double)at[2] - b->centre[2], across = y * y + z * z;
    (void)grid;
    (void)field;
    for (int64_t i = 0; i < count; i++) {
        double x = (double)(at[0] + i) - b->centre[0];
        double power = -(x * x + across) / (2 * b->width * b->width);
        out[i] = power > -690 ? b->base + b->height * lacis_model_exp(power) : b->base;
    }
}

static lacis_status read(lacis_run *run, const lacis_options *given, const lacis_grid *shape, bump *out)
{
    static const char *const axis[] = {"x", "y", "z"};
    int64_t shortest = shape->extent[0];
    for (int i = 0; i < 3; i++) {
        out->centre[i] = (double)(shape->extent[i] - 1) / 2;
        if (i < shape->dims && shape->extent[i] < shortest) shortest = shape->extent[i];
        if (lacis_option_set(given, axis[i]) == NULL) continue;
        if (i >= shape->dims)
            return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, axis[i]), NULL,
                                     "%s: the grid has %d dimensions", axis[i], shape->dims);
        LACIS_TRY(lacis_generate_real(run, given, axis[i], &out->centre[i]));
    }
    LACIS_TRY(lacis_generate_real(run, given, "height", &out->height));
    LACIS_TRY(lacis_generate_real(run, given, "base", &out->base));
    out->width = (double)shortest / 8;
    if (lacis_option_set(given, "width") != NULL) LACIS_TRY(lacis_generate_real(run, given, "width", &out->width));
    if (out->width >= 1e-100 && out->width <= 1e100) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "width"), NULL,
                             "width = %g is not between 1e-100 and 1e100", out->width);
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_generate_grid g;
    bump b;
    LACIS_TRY(lacis_generate_grid_begin(run, given, &g));
    LACIS_TRY(read(run, given, &g.shape, &b));
    g.row = row;
    g.context = &b;
    return lacis_generate_grid_make(run, &g, "gaussian", out);
}

const lacis_generator lacis_generator_gaussian = {
    .name = "gaussian",
    .summary = "grid: a bump",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
