/* SPDX-License-Identifier: Apache-2.0
 *
 * A disk of bodies on nearly circular orbits about one in the middle, body 0: exponential, or flat (of even surface
 * density). Heights above its plane are distributed as sech^2 (common_model_draw.c). The engine calls it through its
 * descriptor.
 */
#include "common_model.h"

static const lacis_option_spec options[] = {
    LACIS_OPTION_MODEL_N,
    LACIS_OPTION_MODEL_SEED,
    LACIS_OPTION_MODEL_MASS,
    {.name = "radius", .form = 'r', .otherwise = "1", .help = "scale length; the next three are multiples of it"},
    {.name = "inner", .form = 'r', .otherwise = "0.1", .help = "nothing lies nearer to the middle"},
    {.name = "cut", .form = 'r', .otherwise = "5", .help = "nothing lies farther from the middle"},
    {.name = "thickness", .form = 'r', .otherwise = "0.05", .help = "scale height"},
    {.name = "central",
     .form = 'r',
     .otherwise = "0.9",
     .help = "the part of the mass that body 0 has in the middle; 0: no such body, 1: the others are massless"},
    {.name = "profile",
     .form = 'w',
     .words = "exponential|flat",
     .otherwise = "exponential",
     .help = "surface density: e^-r, or even"},
    {.name = "heat", .form = 'r', .otherwise = "0.05", .help = "random velocities, in circular ones"},
    LACIS_OPTION_MODEL_TYPE,
};

static lacis_status read_disk(lacis_run *run, const lacis_options *given, lacis_model_disk *disk)
{
    LACIS_TRY(lacis_model_real(run, given, "mass", 0, 1e300, &disk->mass));
    LACIS_TRY(lacis_model_real(run, given, "radius", 1e-300, 1e300, &disk->radius));
    LACIS_TRY(lacis_model_real(run, given, "inner", 1e-9, 1e9, &disk->inner));
    LACIS_TRY(lacis_model_real(run, given, "cut", disk->inner, 1e9, &disk->cut));
    LACIS_TRY(lacis_model_real(run, given, "thickness", 0, 10, &disk->thickness));
    LACIS_TRY(lacis_model_real(run, given, "central", 0, 1, &disk->central));
    LACIS_TRY(lacis_model_real(run, given, "heat", 0, 0.4, &disk->heat));
    disk->flat = lacis_option_integer(given, "profile", 0) == 1;
    double drawn = lacis_model_disk_within(disk->cut) - lacis_model_disk_within(disk->inner);
    if (disk->flat || drawn >= 1e-3) return LACIS_OK;
    return lacis_run_fail_at(
        run, LACIS_RANGE, lacis_option_offset(given, "cut"), NULL,
        "only %g of an exponential disk lies between inner = %g and cut = %g; take profile = flat", drawn,
        disk->inner, disk->cut);
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_model model;
    lacis_model_disk disk = {.cosine = 1, .sine = 0};
    LACIS_TRY(lacis_model_begin(run, given, "disk", &model));
    LACIS_TRY(read_disk(run, given, &disk));
    model.groups = 1;
    model.group[0] = (lacis_model_group){.count = model.count, .mass = disk.mass, .model = &disk};
    model.draw = lacis_model_disk_draw;
    return lacis_model_make(run, &model, out);
}

const lacis_generator lacis_generator_disk = {
    .name = "disk",
    .summary = "bodies: a disk on nearly circular orbits about a heavy one",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
