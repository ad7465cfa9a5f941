/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generators of bodies share. Figures are functions of seed and body alone: random words come from a
 * counter, and nothing but what IEEE 754 rounds correctly (+ - * / and the root) stands behind them, so that they
 * have the same bits on every machine and number of threads. The constant of gravity is 1.
 */
#ifndef LACIS_LOADERS_MODEL_H
#define LACIS_LOADERS_MODEL_H

#include "common_bodies.h"
#include "common_generate.h"

#define LACIS_OPTION_MODEL_N                                                                                         \
    {                                                                                                                \
        .name = "n", .form = 'i', .required = true, .help = "bodies"                                                 \
    }
#define LACIS_OPTION_MODEL_SEED                                                                                      \
    {                                                                                                                \
        .name = "seed", .form = 'i', .otherwise = "1", .help = "another seed, other bodies"                          \
    }
#define LACIS_OPTION_MODEL_MASS                                                                                      \
    {                                                                                                                \
        .name = "mass", .form = 'r', .otherwise = "1", .help = "of all bodies together (G = 1)"                      \
    }
#define LACIS_OPTION_MODEL_VIRIAL                                                                                    \
    {                                                                                                                \
        .name = "virial", .form = 'r', .otherwise = "0.5",                                                           \
        .help = "kinetic over potential energy: 0.5 in equilibrium, 0 at rest"                                       \
    }
#define LACIS_OPTION_MODEL_RANGE(value)                                                                              \
    {                                                                                                                \
        .name = "mass_range", .form = 'r', .otherwise = value,                                                       \
        .help = "the largest mass over the least; between them their logarithms are uniform"                         \
    }
#define LACIS_OPTION_MODEL_TYPE                                                                                      \
    {                                                                                                                \
        .name = "type", .form = 'w', .words = LACIS_BODIES_TYPES, .otherwise = "f64", .help = "of all figures"       \
    }

/* --- random numbers, and functions of fixed bits */

/* The random words of one body, in their order. */
typedef struct lacis_dice {
    uint64_t key, used;
} lacis_dice;

static inline double lacis_dice_unit(lacis_dice *dice)
{
    return lacis_unit(lacis_mix(dice->key + dice->used++));
}

double lacis_model_root3(double x);                                  /* x >= 0 */
double lacis_model_log(double x);                                    /* x > 0 */
double lacis_model_exp(double x);                                    /* |x| < 700 */
void lacis_model_turn(double degrees, double *cosine, double *sine); /* |degrees| <= 360 */
/* A vector of that length in any direction; in the plane z = 0. */
void lacis_dice_direction(lacis_dice *dice, double length, double *out);
void lacis_dice_circle(lacis_dice *dice, double length, double *out);

/* --- one body of a model, with its centre at the origin */

typedef struct lacis_model_body {
    double mass; /* relative to the others of its group */
    double place[3], velocity[3];
} lacis_model_body;

/* Bodies that are brought to have their centre of mass at `place`, moving with `velocity`, and `mass` together. */
typedef struct lacis_model_group {
    int64_t count;
    double mass, place[3], velocity[3];
    const void *model;
} lacis_model_group;

/* Plummer's sphere with isotropic velocities; uniform: a sphere of even density, with velocities even in a ball. */
typedef struct lacis_model_sphere {
    bool uniform;
    double mass, radius, cut, virial, log_range;
} lacis_model_sphere;
void lacis_model_sphere_draw(const lacis_model_group *group, int64_t body, lacis_dice *dice, lacis_model_body *out);

/* A disk about a body in its middle, the first of its group. */
typedef struct lacis_model_disk {
    bool flat;
    double mass, radius, central, inner, cut, thickness, heat;
    double cosine, sine; /* of the turn about the x-axis */
} lacis_model_disk;
void lacis_model_disk_draw(const lacis_model_group *group, int64_t body, lacis_dice *dice, lacis_model_body *out);
/* The part of an exponential disk's mass within `x` scale lengths. */
double lacis_model_disk_within(double x);

/* --- all of them */

enum { LACIS_MODEL_GROUPS = 2 };

typedef struct lacis_model {
    const char *name;
    int64_t count; /* of the groups together */
    lacis_dtype dtype;
    uint64_t seed;
    int groups;
    lacis_model_group group[LACIS_MODEL_GROUPS];
    void (*draw)(const lacis_model_group *group, int64_t body, lacis_dice *dice, lacis_model_body *out);
} lacis_model;

/* Reads n, seed and type. */
lacis_status lacis_model_begin(lacis_run *run, const lacis_options *given, const char *name, lacis_model *out);
/* A real option that must lie in low .. high. */
lacis_status lacis_model_real(lacis_run *run, const lacis_options *given, const char *name, double low, double high,
                              double *out);
/* Reads mass, radius, virial and mass_range. */
lacis_status lacis_model_sphere_read(lacis_run *run, const lacis_options *given, lacis_model_sphere *out);
lacis_status lacis_model_make(lacis_run *run, const lacis_model *model, lacis_array **out);

/* Two groups, the second `ratio` times as heavy as the first, in their centre of mass at rest; `place` and `velocity`
 * are the second's as seen from the first. */
void lacis_model_pair(lacis_model *model, double mass, double ratio, const double *place, const double *velocity);

#endif
