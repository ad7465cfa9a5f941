/* SPDX-License-Identifier: Apache-2.0
 *
 * Compartments of cells: the clauses that say how sections are cut and what they are made of, and the trees that come
 * of it. Used by COMPARTMENTS and SIMULATE.
 */
#ifndef LACIS_OPERATORS_TREES_H
#define LACIS_OPERATORS_TREES_H

#include "sections/cells.h"

/* What a stretch of neuron is made of; the hh figures only with HH. */
typedef enum lacis_matter {
    LACIS_MATTER_CM, /* uF/cm2 */
    LACIS_MATTER_RA, /* ohm cm */
    LACIS_MATTER_G,  /* S/cm2 */
    LACIS_MATTER_E,  /* mV */
    LACIS_MATTER_GNA,
    LACIS_MATTER_GK,
    LACIS_MATTER_GL,
    LACIS_MATTER_EL,
    LACIS_MATTER_ENA,
    LACIS_MATTER_EK,
    LACIS_MATTERS
} lacis_matter;
extern const char *const lacis_matter_name[LACIS_MATTERS];

/* One value a matter, and those of single types, of which the last one counts. */
typedef struct lacis_typed {
    int32_t type;
    lacis_matter matter;
    double value;
} lacis_typed;
typedef struct lacis_matters {
    double all[LACIS_MATTERS];
    const lacis_typed *typed;
    int typed_count;
} lacis_matters;
double lacis_matter_of(const lacis_matters *matters, int32_t type, lacis_matter matter);

#define LACIS_CUT_PARAMS                                                                                             \
    {.keyword = "NSEG", .form = "%i", .help = "so many compartments in each section"},                               \
        {.keyword = "LENGTH", .form = "%r", .help = "no compartment longer than so many um"},                        \
        {.keyword = "DLAMBDA",                                                                                       \
         .form = "%r",                                                                                               \
         .help = "no compartment longer than this part of the length constant (0.1 where nothing is said)"},         \
    {                                                                                                                \
        .keyword = "AT", .form = "%r", .help = "with DLAMBDA: the frequency in Hz (100)"                             \
    }

/* Reads NSEG, LENGTH, DLAMBDA, AT. */
lacis_status lacis_cut_bind(lacis_run *run, const lacis_call *call, neuron_cut *out);
const char *lacis_cut_text(lacis_run *run, const neuron_cut *cut);
/* A clause KEYWORD %r where it is there, checked to be finite, and above 0 where `positive`. */
lacis_status lacis_real_bind(lacis_run *run, const lacis_call *call, const char *keyword, bool positive,
                             double *value);

typedef struct lacis_trees {
    neuron_tree *tree; /* of each cell */
    int64_t nodes;     /* of all cells */
    void *block, *cut; /* memory */
} lacis_trees;
lacis_status lacis_trees_make(lacis_run *run, const lacis_cells *cells, const neuron_cut *cut,
                              const lacis_matters *matters, lacis_trees *out);
void lacis_trees_clear(lacis_run *run, lacis_trees *trees);

#endif
