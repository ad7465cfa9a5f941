/* SPDX-License-Identifier: Apache-2.0
 *
 * What the *.isa.c files of one type each put into the table of their instruction set.
 */
#ifndef LACIS_KERNELS_SOLVE_TYPES_H
#define LACIS_KERNELS_SOLVE_TYPES_H

#include "solve/inside.h"

#ifndef LACIS_ISA_NAME
#error "files called *.isa.c are compiled with LACIS_ISA_NAME"
#endif

/* Vectors of 64 bytes are only passed between functions that are inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"

#define SOLVE_INSTANCES(shape)                                                                                       \
    static bool shape##_alone(const solve_tile *tile)                                                                \
    {                                                                                                                \
        return shape##_one(tile, 1);                                                                                 \
    }                                                                                                                \
    static bool shape##_narrow(const solve_tile *tile)                                                               \
    {                                                                                                                \
        return shape##_side(tile, 1);                                                                                \
    }                                                                                                                \
    static bool shape##_wide(const solve_tile *tile)                                                                 \
    {                                                                                                                \
        return shape##_side(tile, SOLVE_WIDE);                                                                       \
    }

#define SOLVE_TABLE(name, side)                                                                                      \
    SOLVE_INSTANCES(chain)                                                                                           \
    SOLVE_INSTANCES(chain_factored)                                                                                  \
    SOLVE_INSTANCES(tree)                                                                                            \
    SOLVE_INSTANCES(tree_factored)                                                                                   \
    const solve_loops LACIS_ISA(name) = {                                                                            \
        .chain = {chain_alone, chain_narrow, chain_wide},                                                            \
        .tree = {tree_alone, tree_narrow, tree_wide},                                                                \
        .chain_factored = {chain_factored_alone, chain_factored_narrow, chain_factored_wide},                        \
        .tree_factored = {tree_factored_alone, tree_factored_narrow, tree_factored_wide},                            \
        .lanes = {1, side, SOLVE_WIDE * (side)}};

extern const solve_loops LACIS_ISA(lacis_solve_f64), LACIS_ISA(lacis_solve_f32), LACIS_ISA(lacis_solve_mixed),
    LACIS_ISA(lacis_solve_c128);

#endif
