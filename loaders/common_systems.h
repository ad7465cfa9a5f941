/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generators of batches of systems share: options, trees of a given number of rows and branches, and the
 * numbers of matrices and right-hand sides, which are functions of seed, field, lane and row alone, so that machine,
 * threads and layout do not change them.
 */
#ifndef LACIS_LOADERS_SYSTEMS_H
#define LACIS_LOADERS_SYSTEMS_H

#include "common_generate.h"

#define LACIS_OPTION_SYSTEMS_SEED                                                                                    \
    {                                                                                                                \
        .name = "seed", .form = 'i', .otherwise = "1", .help = "another seed, other numbers"                         \
    }
#define LACIS_OPTION_LAYOUT                                                                                          \
    {                                                                                                                \
        .name = "layout", .form = 's', .otherwise = "flat", .help = "'flat', 'full' or 'block(n)'"                   \
    }
#define LACIS_OPTION_SHARED                                                                                          \
    {                                                                                                                \
        .name = "shared", .form = 'w', .words = "none|offdiagonals|matrix", .otherwise = "none",                     \
        .help =                                                                                                      \
            "what lanes of one shape have in common, stored once: the off-diagonals, or all but the right-hand side" \
    }
#define LACIS_OPTION_KIND                                                                                            \
    {                                                                                                                \
        .name = "kind", .form = 'w', .words = "random|bifurcating|chain", .otherwise = "random",                     \
        .help = "random branch points and lengths, an even binary tree, or one branch"                               \
    }

typedef enum lacis_tree_kind { LACIS_TREE_RANDOM, LACIS_TREE_BIFURCATING, LACIS_TREE_CHAIN } lacis_tree_kind;

/* Sizes and trees of a batch before it is filled: lacis_systems_begin takes room for `groups` of them. */
typedef struct lacis_systems {
    lacis_run *run;
    int64_t groups;
    int64_t *lanes, *rows; /* of each */
    int32_t *parent;       /* NULL: chains, tridiagonal */
} lacis_systems;

/* Parents of `rows` rows in `branches` branches, numbered depth first; a branch ends where it has two or more
 * children or none. LACIS_RANGE where there is no such tree. */
lacis_status lacis_tree_grow(lacis_run *run, lacis_tree_kind kind, int64_t rows, int64_t branches, uint64_t seed,
                             int32_t *parent);
/* All of generators tree and trees. */
lacis_status lacis_systems_trees(lacis_run *run, const lacis_options *given, const char *name, lacis_array **out);
/* Options lanes and shapes: *groups of almost equal numbers of lanes. */
lacis_status lacis_systems_begin(lacis_run *run, const lacis_options *given, lacis_systems *out);
/* Around `rows`, the same for one shape: between half and three halves of it. */
int64_t lacis_systems_vary(const lacis_options *given, const lacis_systems *systems, int64_t rows, int64_t group);
/* Options seed, type, layout, shared; `name` is the generator's. */
lacis_status lacis_systems_make(const lacis_systems *systems, const lacis_options *given, const char *name,
                                lacis_array **out);

#endif
