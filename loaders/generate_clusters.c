/* SPDX-License-Identifier: Apache-2.0
 *
 * Two Plummer spheres far from each other, at rest, of bodies with very different masses: what trees find hard. The
 * engine calls it through its descriptor.
 */
#include "common_model.h"

static const lacis_option_spec options[] = {
    LACIS_OPTION_MODEL_N,
    LACIS_OPTION_MODEL_SEED,
    LACIS_OPTION_MODEL_MASS,
    {.name = "radius", .form = 'r', .otherwise = "1", .help = "Plummer's length of both"},
    {.name = "ratio", .form = 'r', .otherwise = "1", .help = "the second's mass, and bodies, over the first's"},
    {.name = "distance", .form = 'r', .otherwise = "1000", .help = "between them, in radii"},
    LACIS_OPTION_MODEL_VIRIAL,
    LACIS_OPTION_MODEL_RANGE("1e6"),
    LACIS_OPTION_MODEL_TYPE,
};

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_model model;
    lacis_model_sphere sphere[LACIS_MODEL_GROUPS] = {{.cut = 0.999}};
    double ratio, place[3] = {0}, velocity[3] = {0};
    LACIS_TRY(lacis_model_begin(run, given, "clusters", &model));
    LACIS_TRY(lacis_model_sphere_read(run, given, &sphere[0]));
    LACIS_TRY(lacis_model_real(run, given, "ratio", 1e-6, 1e6, &ratio));
    LACIS_TRY(lacis_model_real(run, given, "distance", 0, 1e9, &place[0]));
    place[0] *= sphere[0].radius;
    lacis_model_pair(&model, sphere[0].mass, ratio, place, velocity);
    for (int g = model.groups - 1; g >= 0; g--) {
        sphere[g] = sphere[0];
        sphere[g].mass = model.group[g].mass;
        model.group[g].model = &sphere[g];
    }
    model.draw = lacis_model_sphere_draw;
    return lacis_model_make(run, &model, out);
}

const lacis_generator lacis_generator_clusters = {
    .name = "clusters",
    .summary = "bodies: two Plummer spheres far apart, of unequal masses",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
