/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of a simulation, compiled for each instruction set with vectors as wide as it has, and with narrow ones
 * for one or two lanes. Called through lacis_neuron_loops() by simulate.c.
 */
#include "neuron/inside.h"

#if defined(__AVX512F__)
#define WIDE 8
#elif defined(__AVX2__)
#define WIDE 4
#else
#define WIDE 2
#endif

#define WIDTH 2
#include "neuron/vector.h"
#define BY_LANE 0
#include "neuron/loops.h"
#undef BY_LANE
#define BY_LANE 1
#include "neuron/loops.h"
#undef BY_LANE
#undef WIDTH
#if WIDE > 2
#undef VECTOR_GLUE2
#undef VECTOR_GLUE
#undef V
#define WIDTH WIDE
#include "neuron/vector.h"
#define BY_LANE 0
#include "neuron/loops.h"
#undef BY_LANE
#define BY_LANE 1
#include "neuron/loops.h"
#endif

#define NAME2(name, width, by) name##_##width##_##by
#define NAME(name, width, by)  NAME2(name, width, by)
#define BOTH(name, width, by)                                                                                        \
    {                                                                                                                \
        NAME(name##_euler, width, by), NAME(name##_half, width, by)                                                  \
    }
#define TEXT2(name) #name
#define TEXT(name)  TEXT2(name)

const neuron_loops LACIS_ISA(lacis_neuron_loops) = {
    .name = TEXT(LACIS_ISA_NAME),
    .width = WIDE,
    .passive = {{BOTH(passive, 2, 0), BOTH(passive, 2, 1)}, {BOTH(passive, WIDE, 0), BOTH(passive, WIDE, 1)}},
    .channels = {{BOTH(channels, 2, 0), BOTH(channels, 2, 1)}, {BOTH(channels, WIDE, 0), BOTH(channels, WIDE, 1)}},
    .gates = {{NAME(gates_begin, 2, 0), NAME(gates_begin, 2, 1)},
              {NAME(gates_begin, WIDE, 0), NAME(gates_begin, WIDE, 1)}},
};
