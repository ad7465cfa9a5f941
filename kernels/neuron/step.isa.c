/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of a simulation, compiled for each instruction set: for one lane, and for as many as a vector holds.
 * Called through lacis_neuron_loops() by simulate.c.
 */
#include "neuron/inside.h"

#if defined(__AVX512F__)
#define WIDE 8
#elif defined(__AVX2__)
#define WIDE 4
#else
#define WIDE 2
#endif

#define NAME2(name, width, by)      name##_##width##_##by
#define NAME(name, width, by)       NAME2(name, width, by)
#define FLAT(name)                  NAME(name, WIDE, 1)
#define VECTOR_GLUE2(name, width)   name##_##width
#define VECTOR_GLUE(name, width)    VECTOR_GLUE2(name, width)
#define V(name)                     VECTOR_GLUE(name, WIDTH)
#define LOOP_GLUE2(name, width, by) name##_##width##_##by
#define LOOP_GLUE(name, width, by)  LOOP_GLUE2(name, width, by)
#define L(name)                     LOOP_GLUE(name, WIDTH, BY_LANE)

/* A single lane seen as vectors of nodes. */
static inline void lay_flat(neuron_state *state)
{
    state->nodes = (state->nodes + WIDE - 1) / WIDE;
    state->area = NULL; /* nodes without area have no conductances either */
}

#define WIDTH WIDE
#include "neuron/vector.h"
#define BY_LANE 0
#include "neuron/loops.h"
#undef BY_LANE
#define BY_LANE 1
#include "neuron/loops.h"
#undef BY_LANE
#undef WIDTH

#define WIDTH 1
#include "neuron/vector.h"
#define BY_LANE 0
#include "neuron/loops.h"
#undef BY_LANE
#define BY_LANE 1
#include "neuron/loops.h"

#define METHODS(name, width, by)                                                                                     \
    {                                                                                                                \
        NAME(name##_euler, width, by), NAME(name##_half, width, by)                                                  \
    }
#define BOTH(name, width)                                                                                            \
    {                                                                                                                \
        METHODS(name, width, 0), METHODS(name, width, 1)                                                             \
    }
#define GATES(width)                                                                                                 \
    {                                                                                                                \
        NAME(gates_first, width, 0), NAME(gates_first, width, 1)                                                     \
    }
#define TEXT2(name) #name
#define TEXT(name)  TEXT2(name)

const neuron_loops LACIS_ISA(lacis_neuron_loops) = {
    .name = TEXT(LACIS_ISA_NAME),
    .width = {1, WIDE},
    .passive = {BOTH(passive, 1), BOTH(passive, WIDE)},
    .channels = {BOTH(channels, 1), BOTH(channels, WIDE)},
    .gates = {GATES(1), GATES(WIDE)},
};
