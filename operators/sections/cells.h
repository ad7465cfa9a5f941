/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells as operators see them: the samples of a table (cell, id, type, x, y, z, radius, parent), each cell's
 * sections, and its compartments. Used by SECTIONS, COMPARTMENTS and SIMULATE.
 */
#ifndef LACIS_OPERATORS_CELLS_H
#define LACIS_OPERATORS_CELLS_H

#include "lacis_extend.h"
#include "neuron/neuron.h"

typedef struct lacis_cells {
    int64_t count; /* cells */
    int64_t rows;  /* samples of all */
    int64_t *label;
    int64_t *first; /* of a cell: its first sample; count + 1 */
    int64_t *id;
    int32_t *type, *parent; /* parent: index within the cell */
    double *x, *y, *z, *radius;
    neuron_sections *sections;   /* of each cell */
    int64_t *first_section;      /* count + 1: sections of the cells before */
    bool exact;                  /* points in double precision: EXACT */
    int64_t offset;              /* of the operand in the statement */
    void *block, *drawn, *heads; /* memory */
} lacis_cells;

/* Reads the call's operand and makes its sections. What was taken before a failure lacis_cells_clear gives back. */
lacis_status lacis_cells_read(lacis_run *run, const lacis_call *call, lacis_cells *out);
void lacis_cells_clear(lacis_run *run, lacis_cells *cells);
/* Reports what kernels/neuron found wrong with a cell. */
lacis_status lacis_cells_fail(lacis_run *run, const lacis_cells *cells, int64_t cell, neuron_fault fault);
/* "cell 3" where there are several, or "the cell". */
const char *lacis_cells_name(lacis_run *run, const lacis_cells *cells, int64_t cell);

#define LACIS_EXACT_PARAM                                                                                            \
    {                                                                                                                \
        .keyword = "EXACT", .form = "",                                                                              \
        .help = "keep points in double precision, where NEURON rounds them to single"                                \
    }

/* A table of `rows` rows with its columns; data[i] is where column i is to be written. */
lacis_status lacis_cells_table(lacis_run *run, const lacis_column *column, const lacis_dtype *dtype, int columns,
                               int64_t rows, lacis_array **out, void **data);

#endif
