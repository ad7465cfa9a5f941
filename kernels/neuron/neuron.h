/* SPDX-License-Identifier: Apache-2.0
 *
 * Neurons: from traced samples to sections, from sections to compartments and the coefficients of their tree matrix,
 * and from these to voltages over time. Callers: operators/sections, operators/compartments, operators/simulate.
 *
 * Units: um, ms, mV, nA, megaohm; specific values as in NEURON: uF/cm2, S/cm2, ohm cm. Rows of the matrix are in
 * mA/cm2. Indices count from 0. Nothing recurses: a chain may be as long as memory holds.
 *
 * Memory is the caller's: each ..._bytes says how much, and the structures point into what was given. */
#ifndef LACIS_KERNELS_NEURON_H
#define LACIS_KERNELS_NEURON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NEURON_SOMA = 1, NEURON_AXON = 2, NEURON_DENDRITE = 3, NEURON_APICAL = 4 };

/* One cell. parent[i] < i, or -1; more than one -1 is a forest, whose later trees join the first sample. */
typedef struct neuron_samples {
    int64_t count;
    const int32_t *type;
    const int32_t *parent;
    const double *x, *y, *z, *radius;
    bool exact; /* keep double precision, where NEURON rounds points to single */
} neuron_samples;

/* What is wrong with a cell, and at which sample or section. */
typedef enum neuron_fault_kind {
    NEURON_FINE = 0,
    NEURON_EMPTY,           /* no sample */
    NEURON_ORDER,           /* a parent that does not come before its child */
    NEURON_NEGATIVE_RADIUS, /* radius below 0 */
    NEURON_NOT_FINITE,      /* a coordinate or radius that is NaN or infinite */
    NEURON_LENGTHLESS,      /* a section of length 0 that cannot be left out (the root) */
    NEURON_AREALESS,        /* a compartment without area: two diameters of 0 */
    NEURON_LAMBDA,          /* d_lambda: two neighbouring diameters of 0 */
    NEURON_TOO_MANY         /* more than 2^31 - 1 compartments */
} neuron_fault_kind;
typedef struct neuron_fault {
    neuron_fault_kind kind;
    int64_t at; /* sample or section */
} neuron_fault;

/* Unbranched pieces, in the order in which NEURON 8's import3d makes them (its Import3d_SWC_read and Import3d_GUI
 * were the specification, its results on shared/data/swc the test). Points of section s are first[s] .. first[s + 1]
 * - 1. */
typedef struct neuron_sections {
    int64_t count, points;
    int32_t *type;    /* of its samples */
    int32_t *number;  /* among sections of its type: dend[3] is type 3, number 3 */
    int32_t *parent;  /* section, or -1 for the root */
    double *parent_x; /* 0, 0.5 or 1: where on the parent its beginning is joined */
    int32_t *first;   /* count + 1 */
    double *arc;      /* of a point, from the section's beginning */
    double *diameter; /* of a point */
    /* Where a sample went: its section, and its point there; -1 where only the section before it is left. */
    int32_t *sample_section, *sample_point;
} neuron_sections;

size_t lacis_neuron_sections_bytes(int64_t samples);
neuron_fault lacis_neuron_sections(const neuron_samples *samples, void *memory, neuron_sections *out);

double lacis_neuron_length(const neuron_sections *sections, int64_t section);
/* Lateral area and mean diameter of a whole section. */
void lacis_neuron_measure(const neuron_sections *sections, int64_t section, double *area, double *diameter);
/* "soma[0]", "dend_7[2]": as NEURON names it. */
enum { NEURON_NAME_TEXT = 40 };
void lacis_neuron_name(int32_t type, int32_t number, char *text);

/* How a section is cut: into a fixed number of compartments; into the least odd number of which none is longer than
 * `length`; or by the d_lambda rule: none longer than `lambda` of the length constant at `hz`, an odd number. */
typedef enum neuron_cut_kind { NEURON_CUT_COUNT, NEURON_CUT_LENGTH, NEURON_CUT_LAMBDA } neuron_cut_kind;
typedef struct neuron_cut {
    neuron_cut_kind kind;
    int64_t count;
    double length;
    double lambda, hz;
} neuron_cut;

/* The number of compartments of one section; false where two neighbouring diameters are 0 (d_lambda) or it is too
 * large to count. */
bool lacis_neuron_cut_section(const neuron_sections *sections, const neuron_cut *cut, int64_t section, double ra,
                              double cm, double *compartments);
/* Fills nseg[0 .. sections-1]; ra and cm (of each section) matter to d_lambda alone. */
neuron_fault lacis_neuron_cut(const neuron_sections *sections, const neuron_cut *cut, const double *ra,
                              const double *cm, int32_t *nseg);

/* Compartments in NEURON's order: node 0 at x = 0 of the root section, then section by section (breadth first; of
 * the children at one place the later ones first) its nseg compartments and a node without area at x = 1. parent[i] <
 * i. a[i] is the coefficient of node i in its parent's row, b[i] that of the parent in i's row, both <= 0; a node
 * without area counts as 100 um2. Source of the discretisation: Hines 1984; Carnevale and Hines, The NEURON Book,
 * 2006. */
typedef struct neuron_tree {
    int64_t count;
    int32_t *parent;
    int32_t *section;
    double *x;        /* along its section */
    double *area;     /* um2; 0 at section ends */
    double *diameter; /* mean, um; 0 at section ends */
    double *ri;       /* megaohm to the parent; 0 for node 0 */
    double *a, *b;
    int32_t *first; /* of section s: its first node */
    int32_t *nseg;  /* of section s; the caller's */
} neuron_tree;

/* The number of nodes, or -1 where they are too many. */
int64_t lacis_neuron_tree_nodes(int64_t sections, const int32_t *nseg);
size_t lacis_neuron_tree_bytes(int64_t sections, int64_t nodes);
neuron_fault lacis_neuron_tree(const neuron_sections *sections, int32_t *nseg, const double *ra, void *memory,
                               neuron_tree *out);
/* The node nearest to x (0 .. 1) of a section: at 0 the parent's node, at 1 the section's last. */
int64_t lacis_neuron_node(const neuron_tree *tree, int64_t section, double x);

#endif
