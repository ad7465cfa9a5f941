/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch of Hines systems over one tree: row r is d x[r] + b x[parent] + the sum over its children of a[child]
 * x[child] = rhs, strictly dominant. The engine calls it through its descriptor.
 */
#include "common_systems.h"

static const lacis_option_spec options[] = {
    {.name = "rows", .form = 'i', .required = true, .help = "unknowns of each tree"},
    {.name = "branches", .form = 'i', .required = true, .help = "unbranched stretches of each tree"},
    {.name = "lanes", .form = 'i', .required = true, .help = "systems"},
    LACIS_OPTION_SYSTEMS_SEED,
    LACIS_OPTION_KIND,
    {.name = "type", .form = 'w', .words = "f64|f32", .otherwise = "f64", .help = "of all fields"},
    LACIS_OPTION_LAYOUT,
    LACIS_OPTION_SHARED,
};

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    return lacis_systems_trees(run, given, "tree", out);
}

const lacis_generator lacis_generator_tree = {
    .name = "tree",
    .summary = "batch of Hines systems over one tree: fields parent, a, b, d (diagonal), rhs",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
