/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of Hines systems over trees of many shapes: row r is d x[r] + b x[parent] + the sum over its children of
 * a[child] x[child] = rhs, strictly dominant. The engine calls it through its descriptor.
 */
#include "common_systems.h"

static const lacis_option_spec options[] = {
    {.name = "shapes", .form = 'i', .required = true, .help = "different trees"},
    {.name = "rows", .form = 'i', .required = true, .help = "unknowns of each tree, from half of it to three halves"},
    {.name = "branches",
     .form = 'i',
     .required = true,
     .help = "unbranched stretches of each tree, in proportion to its rows"},
    {.name = "lanes", .form = 'i', .required = true, .help = "systems"},
    LACIS_OPTION_SYSTEMS_SEED,
    LACIS_OPTION_KIND,
    {.name = "type", .form = 'w', .words = "f64|f32", .otherwise = "f64", .help = "of all fields"},
    LACIS_OPTION_LAYOUT,
    LACIS_OPTION_SHARED,
};

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    return lacis_systems_trees(run, given, "trees", out);
}

const lacis_generator lacis_generator_trees = {
    .name = "trees",
    .summary = "batch of Hines systems over trees of many shapes, a group of lanes each",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
