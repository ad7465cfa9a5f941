/* SPDX-License-Identifier: Apache-2.0
 *
 * Plummer's sphere in equilibrium (common_model_draw.c). The engine calls it through its descriptor.
 */
#include "common_model.h"

static const lacis_option_spec options[] = {
    LACIS_OPTION_MODEL_N,
    LACIS_OPTION_MODEL_SEED,
    LACIS_OPTION_MODEL_MASS,
    {.name = "radius",
     .form = 'r',
     .otherwise = "1",
     .help = "Plummer's length: half the mass lies within 1.3 of it"},
    {.name = "cut",
     .form = 'r',
     .otherwise = "0.999",
     .help = "the part of the mass, from the middle, that is drawn"},
    LACIS_OPTION_MODEL_VIRIAL,
    LACIS_OPTION_MODEL_RANGE("1"),
    LACIS_OPTION_MODEL_TYPE,
};

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_model model;
    lacis_model_sphere sphere = {.uniform = false};
    LACIS_TRY(lacis_model_begin(run, given, "plummer", &model));
    LACIS_TRY(lacis_model_sphere_read(run, given, &sphere));
    LACIS_TRY(lacis_model_real(run, given, "cut", 1e-6, 0.999999999, &sphere.cut));
    model.groups = 1;
    model.group[0] = (lacis_model_group){.count = model.count, .mass = sphere.mass, .model = &sphere};
    model.draw = lacis_model_sphere_draw;
    return lacis_model_make(run, &model, out);
}

const lacis_generator lacis_generator_plummer = {
    .name = "plummer",
    .summary = "bodies: Plummer's sphere in equilibrium",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
