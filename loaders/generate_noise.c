/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids of random values, even between two bounds, each a function of seed, field and cell alone. The engine calls it
 * through its descriptor.
 */
#include "common_generate_grid.h"

static const lacis_option_spec options[] = {
    LACIS_OPTIONS_GRID_SHAPE,
    {.name = "seed", .form = 'i', .otherwise = "1", .help = "another seed, other values"},
    {.name = "low", .form = 'r', .otherwise = "0", .help = "no value is below"},
    {.name = "high", .form = 'r', .otherwise = "1", .help = "nor above"},
    LACIS_OPTIONS_GRID_FIELDS,
};

typedef struct noise {
    uint64_t seed;
    double low, high;
} noise;

static void row(const void *context, const lacis_grid *grid, int field, const int64_t *at, int64_t count, double *out)
{
    const noise *n = context;
    uint64_t first = (uint64_t)((at[2] * grid->extent[1] + at[1]) * grid->extent[0] + at[0]);
    uint64_t key = lacis_mix(n->seed + (uint64_t)field);
    const double low = n->low / 2, high = n->high / 2; /* halved: the range may be larger than a double */
    for (int64_t i = 0; i < count; i++)
        out[i] = 2 * (low + (high - low) * lacis_unit(lacis_mix(key + first + (uint64_t)i)));
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_generate_grid g;
    noise n = {.seed = lacis_mix((uint64_t)lacis_option_integer(given, "seed", 1) ^ UINT64_C(0x4e6f697365))};
    LACIS_TRY(lacis_generate_grid_begin(run, given, &g));
    LACIS_TRY(lacis_generate_real(run, given, "low", &n.low));
    LACIS_TRY(lacis_generate_real(run, given, "high", &n.high));
    if (n.low > n.high)
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "low"), NULL,
                                 "low = %g is above high = %g", n.low, n.high);
    g.row = row;
    g.context = &n;
    return lacis_generate_grid_make(run, &g, "noise", out);
}

const lacis_generator lacis_generator_noise = {
    .name = "noise",
    .summary = "grid: random values between two bounds",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
