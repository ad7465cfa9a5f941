/* SPDX-License-Identifier: Apache-2.0
 *
 * A sphere of even density, with velocities that are even in a ball (common_model_draw.c). The engine calls it
 * through its descriptor.
 */
#include "common_model.h"

static const lacis_option_spec options[] = {
    LACIS_OPTION_MODEL_N,      LACIS_OPTION_MODEL_SEED,
    LACIS_OPTION_MODEL_MASS,   {.name = "radius", .form = 'r', .otherwise = "1", .help = "of the sphere"},
    LACIS_OPTION_MODEL_VIRIAL, LACIS_OPTION_MODEL_RANGE("1"),
    LACIS_OPTION_MODEL_TYPE,
};

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_model model;
    lacis_model_sphere sphere = {.uniform = true, .cut = 1};
    LACIS_TRY(lacis_model_begin(run, given, "sphere", &model));
    LACIS_TRY(lacis_model_sphere_read(run, given, &sphere));
    model.groups = 1;
    model.group[0] = (lacis_model_group){.count = model.count, .mass = sphere.mass, .model = &sphere};
    model.draw = lacis_model_sphere_draw;
    return lacis_model_make(run, &model, out);
}

const lacis_generator lacis_generator_sphere = {
    .name = "sphere",
    .summary = "bodies: a sphere of even density",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
