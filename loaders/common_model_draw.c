/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies of spheres and disks; see common_model.h.
 *
 * Plummer's sphere: S. J. Aarseth, M. Henon, R. Wielen, A comparison of numerical methods for the study of star
 * cluster dynamics, Astron. Astrophys. 37 (1974). In units of its mass M and radius a: the mass within r is (1 +
 * r^-2)^(-3/2), and a speed is q times that of escape, with density q^2 (1 - q^2)^(7/2).
 */
#include "common_model.h"

#include <math.h>

/* ----------------------------------------------------------------------------------------- spheres */

/* Of the speed of escape. */
static double plummer_speed(lacis_dice *dice)
{
    double q, w, height;
    do {
        q = lacis_dice_unit(dice);
        height = 0.1 * lacis_dice_unit(dice); /* the density is at most 0.092 */
        w = 1 - q * q;
    } while (height > q * q * (w * w * w * sqrt(w)));
    return q;
}

void lacis_model_sphere_draw(const lacis_model_group *group, int64_t body, lacis_dice *dice, lacis_model_body *out)
{
    const lacis_model_sphere *sphere = group->model;
    (void)body;
    double root = lacis_model_root3(sphere->cut * lacis_dice_unit(dice)), r = root, speed;
    if (!sphere->uniform) r = root / sqrt((1 - root) * (1 + root));
    lacis_dice_direction(dice, r * sphere->radius, out->place);
    if (sphere->uniform)
        speed = lacis_model_root3(lacis_dice_unit(dice));
    else
        speed = plummer_speed(dice) * sqrt(2 / sqrt(1 + r * r));
    lacis_dice_direction(dice, speed * sqrt(2 * sphere->virial * (sphere->mass / sphere->radius)), out->velocity);
    out->mass = sphere->log_range > 0 ? lacis_model_exp(sphere->log_range * lacis_dice_unit(dice)) : 1;
}

/* ------------------------------------------------------------------------------------------- disks */

double lacis_model_disk_within(double x)
{
    return x < 600 ? 1 - (1 + x) * lacis_model_exp(-x) : 1;
}

/* Distance from the middle in scale lengths, and the part of the disk's mass within it. A product of two even numbers
 * falls below e^-x with the probability that an exponential disk has its mass beyond x. */
static double draw_distance(const lacis_model_disk *disk, lacis_dice *dice, double *within)
{
    double from = disk->inner * disk->inner, to = disk->cut * disk->cut, x, product;
    if (disk->flat) {
        *within = lacis_dice_unit(dice);
        return sqrt(from + *within * (to - from));
    }
    do {
        product = lacis_dice_unit(dice);
        product *= lacis_dice_unit(dice);
        x = -lacis_model_log(product);
    } while (x < disk->inner || x > disk->cut);
    double hole = lacis_model_disk_within(disk->inner), all = lacis_model_disk_within(disk->cut);
    *within = (1 - (1 + x) * product - hole) / (all - hole);
    return x;
}

/* About the x-axis. */
static void turn(const lacis_model_disk *disk, double *vector)
{
    double y = vector[1], z = vector[2];
    vector[1] = disk->cosine * y - disk->sine * z;
    vector[2] = disk->sine * y + disk->cosine * z;
}

/* The disk's own pull is taken as that of a sphere with the same mass within. */
static double circular_speed(const lacis_model_disk *disk, double r, double z, double within)
{
    double distance = sqrt(r * r + z * z);
    double middle = disk->central * disk->mass * (r * r) / (distance * distance * distance);
    return sqrt(middle + (1 - disk->central) * disk->mass * within / r);
}

void lacis_model_disk_draw(const lacis_model_group *group, int64_t body, lacis_dice *dice, lacis_model_body *out)
{
    const lacis_model_disk *disk = group->model;
    const int64_t count = group->count;
    double within, random[3];
    if (body == 0 && disk->central > 0) {
        *out = (lacis_model_body){.mass = count > 1 ? disk->central * (double)(count - 1) : 1};
        return;
    }
    out->mass = 1 - disk->central;
    double r = disk->radius * draw_distance(disk, dice, &within), height = lacis_dice_unit(dice);
    lacis_dice_circle(dice, r, out->place);
    out->place[2] = 0.5 * disk->thickness * disk->radius * lacis_model_log(height / (1 - height));
    double speed = circular_speed(disk, r, out->place[2], within);
    lacis_dice_direction(dice, disk->heat * speed * lacis_model_root3(lacis_dice_unit(dice)), random);
    out->velocity[0] = -out->place[1] / r * speed + random[0];
    out->velocity[1] = out->place[0] / r * speed + random[1];
    out->velocity[2] = random[2];
    turn(disk, out->place);
    turn(disk, out->velocity);
}
