/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch of tridiagonal systems, a x[r-1] + b x[r] + c x[r+1] = d, strictly dominant by rows. The engine calls it
 * through its descriptor.
 */
#include "common_systems.h"

static const lacis_option_spec options[] = {
    {.name = "rows", .form = 'i', .required = true, .help = "unknowns of each system"},
    {.name = "lanes", .form = 'i', .required = true, .help = "systems"},
    LACIS_OPTION_SYSTEMS_SEED,
    {.name = "type", .form = 'w', .words = "f64|f32|c128|c64", .otherwise = "f64", .help = "of all fields"},
    LACIS_OPTION_LAYOUT,
    LACIS_OPTION_SHARED,
    {.name = "shapes", .form = 'i', .otherwise = "1", .help = "sizes, from half of rows to three halves"},
};

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_systems systems;
    int64_t rows;
    LACIS_TRY(lacis_generate_integer(run, given, "rows", 0, INT32_MAX / 2, &rows));
    LACIS_TRY(lacis_systems_begin(run, given, &systems));
    for (int64_t g = 0; g < systems.groups; g++)
        systems.rows[g] = lacis_systems_vary(given, &systems, rows, g);
    return lacis_systems_make(&systems, given, "tridiagonal", out);
}

const lacis_generator lacis_generator_tridiagonal = {
    .name = "tridiagonal",
    .summary = "batch of tridiagonal systems: fields a, b (diagonal), c, d (right-hand side)",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
