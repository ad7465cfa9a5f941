/* SPDX-License-Identifier: Apache-2.0
 *
 * Two Plummer spheres or disks on a parabolic orbit towards each other. The engine calls it through its descriptor.
 */
#include "common_model.h"

#include <math.h>

static const lacis_option_spec options[] = {
    LACIS_OPTION_MODEL_N,
    LACIS_OPTION_MODEL_SEED,
    LACIS_OPTION_MODEL_MASS,
    {.name = "radius",
     .form = 'r',
     .otherwise = "1",
     .help =
         "of the first: Plummer's length, or the disk's scale length; the second's goes with the root of its mass"},
    {.name = "ratio", .form = 'r', .otherwise = "1", .help = "the second's mass over the first's"},
    {.name = "model", .form = 'w', .words = "plummer|disk", .otherwise = "plummer", .help = "what they are"},
    {.name = "distance", .form = 'r', .otherwise = "10", .help = "between them at first, in radii"},
    {.name = "pericentre",
     .form = 'r',
     .otherwise = "1",
     .help = "between them when nearest, were they points, in radii"},
    {.name = "tilt",
     .form = 'r',
     .otherwise = "30",
     .help = "of disks against the orbit's plane, in degrees: the first's, and the second's the other way"},
    LACIS_OPTION_MODEL_TYPE,
};

/* The second as seen from the first, in the plane z = 0: two points with that pericentre, which fall from infinity.
 */
static void orbit(double mass, double distance, double pericentre, double *place, double *velocity)
{
    double square = 2 * (mass / distance), across = square * (pericentre / distance);
    place[0] = distance;
    velocity[0] = -sqrt(square - across);
    velocity[1] = sqrt(across);
    place[1] = place[2] = velocity[2] = 0;
}

static lacis_status read_pair(lacis_run *run, const lacis_options *given, lacis_model *model, double *radius)
{
    double mass, ratio, distance, pericentre, place[3], velocity[3];
    LACIS_TRY(lacis_model_real(run, given, "mass", 0, 1e300, &mass));
    LACIS_TRY(lacis_model_real(run, given, "radius", 1e-290, 1e290, radius));
    LACIS_TRY(lacis_model_real(run, given, "ratio", 1e-6, 1e6, &ratio));
    LACIS_TRY(lacis_model_real(run, given, "distance", 1e-6, 1e9, &distance));
    LACIS_TRY(lacis_model_real(run, given, "pericentre", 0, distance, &pericentre));
    orbit(mass, distance * *radius, pericentre * *radius, place, velocity);
    lacis_model_pair(model, mass, ratio, place, velocity);
    return LACIS_OK;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_model model;
    lacis_model_sphere sphere[LACIS_MODEL_GROUPS];
    lacis_model_disk disk[LACIS_MODEL_GROUPS];
    double radius, tilt;
    LACIS_TRY(lacis_model_begin(run, given, "galaxies", &model));
    LACIS_TRY(read_pair(run, given, &model, &radius));
    LACIS_TRY(lacis_model_real(run, given, "tilt", -180, 180, &tilt));
    bool disks = lacis_option_integer(given, "model", 0) == 1;
    model.draw = disks ? lacis_model_disk_draw : lacis_model_sphere_draw;
    for (int g = 0; g < model.groups; g++) {
        double mass = model.group[g].mass, size = g == 0 ? radius : radius * sqrt(mass / model.group[0].mass);
        sphere[g] = (lacis_model_sphere){.mass = mass, .radius = size, .cut = 0.999, .virial = 0.5};
        disk[g] = (lacis_model_disk){.mass = mass, .radius = size, .central = 0.9, .inner = 0.1, .cut = 5};
        disk[g].thickness = disk[g].heat = 0.05;
        lacis_model_turn(g == 0 ? tilt : -tilt, &disk[g].cosine, &disk[g].sine);
        model.group[g].model = disks ? (const void *)&disk[g] : &sphere[g];
    }
    return lacis_model_make(run, &model, out);
}

const lacis_generator lacis_generator_galaxies = {
    .name = "galaxies",
    .summary = "bodies: two Plummer spheres or disks that meet",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
