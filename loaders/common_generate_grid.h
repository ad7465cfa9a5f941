/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generators of grids share: shape, fields, and the way from a function of cells to a grid. Values are
 * functions of the options and the cell alone, with the same bits on every machine and number of threads.
 */
#ifndef LACIS_LOADERS_GENERATE_GRID_H
#define LACIS_LOADERS_GENERATE_GRID_H

#include "common_generate.h"
#include "common_grid.h"

/* Before a generator's own options, and behind them. */
#define LACIS_OPTIONS_GRID_SHAPE                                                                                     \
    {.name = "nx", .form = 'i', .required = true, .help = "cells along x"},                                          \
        {.name = "ny", .form = 'i', .help = "cells along y; without it the grid has one dimension"},                 \
    {                                                                                                                \
        .name = "nz", .form = 'i', .help = "cells along z; without it the grid has two dimensions"                   \
    }
#define LACIS_OPTIONS_GRID_FIELDS                                                                                    \
    {.name = "type", .form = 'w', .words = LACIS_GRID_TYPES, .otherwise = "f64", .help = "of all fields"},           \
        {.name = "fields", .form = 's', .otherwise = "value", .help = "their names: 'u,v'"},                         \
        {.name = "fill", .form = 's', .help = "the fields that are filled so: 'v'; by default the first"},           \
    {                                                                                                                \
        .name = "rest", .form = 'r', .otherwise = "0", .help = "the value of the other fields"                       \
    }

typedef struct lacis_generate_grid {
    lacis_grid shape;
    bool fill[LACIS_GRID_FIELDS];
    double rest;
    /* Values of cells x .. x + count - 1 of row y, z of a field, as doubles. */
    void (*row)(const void *context, const lacis_grid *grid, int field, const int64_t *at, int64_t count,
                double *out);
    const void *context;
} lacis_generate_grid;

/* Reads the options that all have. */
lacis_status lacis_generate_grid_begin(lacis_run *run, const lacis_options *given, lacis_generate_grid *out);
lacis_status lacis_generate_grid_make(lacis_run *run, const lacis_generate_grid *g, const char *name,
                                      lacis_array **out);
/* A real option that must be finite. */
lacis_status lacis_generate_real(lacis_run *run, const lacis_options *given, const char *name, double *out);

#endif
