/* SPDX-License-Identifier: Apache-2.0
 *
 * NBODY: point masses in motion under gravity. This file is the descriptor from which parser, completion, help,
 * planner and EXPLAIN work; the engine's registry names it.
 */
#include "nbody/work.h"

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "bodies: m, x, y, z, vx, vy, vz"},
    {.keyword = "STEPS", .form = "%i", .help = "how many (1 with DT, else 0: accelerations alone)"},
    {.keyword = "DT", .form = "%r", .help = "the time that a step takes; below 0: back"},
    LACIS_NBODY_FIELD_PARAMS,
    {.keyword = "EVERY", .form = "%i", .help = "figures (NAME_energy) after each n-th step, not the last alone"},
    {.keyword = "TO", .form = "%s", .help = "with EVERY: files of the bodies at those steps, * the step's number"},
    {.keyword = "CERTIFY", .form = "%i", .help = "check so many accelerations at the end (NAME_error)"},
};

static const char *const examples[] = {
    "NBODY g STEPS 100 DT 0.01 SOFTEN 0.05",
    "NBODY g STEPS 1000 DT 0.001 ERROR 1e-3 EVERY 100 CERTIFY 1000",
    "NBODY g STEPS 100 DT 0.01 THETA 0.75 ORDER monopole TYPE f32 ON GPU",
    "NBODY g STEPS 100 DT 0.01 ALPHA 0.01 EVERY 10 TO 'step_*.npy'",
    NULL,
};

static const char help[] =
    "NBODY bodies STEPS n DT dt moves point masses under their gravity by n steps of leapfrog (kick, drift, kick)\n"
    "and gives the bodies at the end, with ax, ay, az (and phi with POTENTIAL) of that time. NBODY of a result goes\n"
    "on with the bits of a run that was never interrupted. Body i is accelerated by\n"
    "G sum of m_j d / (|d|^2 + e)^(3/2), e the mean of the two bodies' eps^2 (or SOFTEN's for all).\n"
    "\n"
    "Forces are summed over all pairs, or by a tree (Barnes and Hut 1986) in which far cells count as wholes: with\n"
    "OPENING geometric where s < THETA d, s a cell's radius and d its distance from the nearest body of a group "
    "that\n"
    "shares a walk; offset: by the side of its cube and how far its centre of mass lies off the middle; relative:\n"
    "where the cell's error is less than ALPHA times the last acceleration (Gadget's criterion). ORDER monopole "
    "takes\n"
    "a cell's mass, quadrupole (the default) its second moments as well. Without any: geometric, THETA 0.5.\n"
    "ERROR e seeks ALPHA (or THETA, with OPENING geometric or offset) and ORDER on the bodies themselves so that 99 "
    "%\n"
    "of the relative errors of accelerations stay within e, says what it found, and fails where e is not reached.\n"
    "\n"
    "LET r = NBODY ... makes two tables besides: r_energy (step, t, kinetic, potential, energy, drift, momentum p,\n"
    "angular momentum l, centre of mass c, drifts of p and l; f64; first and last step, and each k-th with EVERY "
    "k),\n"
    "and with CERTIFY n r_error: quantiles of the relative error of n accelerations against direct sums in f64, and\n"
    "of the error over the sum of the terms' moduli. EVERY k TO 'step_*.npy' writes the bodies of those steps.\n"
    "\n"
    "TYPE f32, f64 or mixed (positions and velocities f64, forces f32); where it is left out, the bodies'. On the "
    "CPU\n"
    "the same bits on any number of threads; SET deterministic = on: on GPUs as well, and for bodies in any order.\n"
    "docs/nbody.md has the mathematics, costs and errors. Barnes and Hut 1986; Burtscher and Pingali 2011.";

const lacis_op lacis_op_nbody = {
    .verb = "NBODY",
    .summary = "point masses in motion under gravity, by all pairs or a tree",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "terms",
    .bind = lacis_nbody_bind,
    .explain = lacis_nbody_explain,
    .calibrate = lacis_nbody_calibrate,
    .variants = lacis_nbody_variants,
    .variant_count = LACIS_NBODY_VARIANTS,
    .tables = (const char *const[]){"energy", "error", NULL},
};
