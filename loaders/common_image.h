/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids as grey images, for pgm.c and png.c: how brightness and values belong together. Row 0, the topmost, is y = 0.
 */
#ifndef LACIS_LOADERS_IMAGE_H
#define LACIS_LOADERS_IMAGE_H

#include "common_grid.h"

#define LACIS_OPTION_IMAGE                                                                                           \
    {.name = "scale",                                                                                                \
     .form = 'w',                                                                                                    \
     .words = "found|unit|counts",                                                                                   \
     .otherwise = "found",                                                                                           \
     .help = "values: 0 (black) to 1 (white), the counts of the file, or the range that lacis wrote into it, if "    \
             "there is one"},                                                                                        \
    {                                                                                                                \
        .name = "type", .form = 'w', .words = LACIS_GRID_TYPES, .otherwise = "f32", .help = "of the grid"            \
    }

/* What is written for a grid, and looked for in a file, as text: "lacis range LOW HIGH", the values of black and
 * white. */
#define LACIS_IMAGE_RANGE "lacis range "
enum { LACIS_IMAGE_TEXT = 100, LACIS_IMAGE_WHITE = 65535 };

/* Values of 0 and of `most`, as option scale says; found: what stands in the file, or NULL. Sets low, high and most
 * of `numbers`. */
void lacis_image_scale(const lacis_options *given, const char *found, double most, lacis_grid_numbers *numbers);

/* A grid as an image of 16 bits. */
typedef struct lacis_image {
    lacis_grid grid;
    double low, high; /* of its finite values */
    char range[LACIS_IMAGE_TEXT];
} lacis_image;
/* LACIS_TYPE where the array is no image: a grid of two dimensions (one is an image of one row) and one field. Warns
 * of values that are not finite: infinite ones become black or white, NaN black. */
lacis_status lacis_image_of(lacis_run *run, const lacis_array *array, const char *format, lacis_image *out);
/* Row y, brightest first byte first. */
void lacis_image_row(const lacis_image *image, int64_t y, unsigned char *out);

#endif
