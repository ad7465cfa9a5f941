/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays laid one behind the other into memory that a caller gave, each on its own cache line. Used inside
 * kernels/neuron.
 */
#ifndef LACIS_KERNELS_NEURON_ARENA_H
#define LACIS_KERNELS_NEURON_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct neuron_arena {
    char *base; /* NULL: only counts */
    size_t used;
} neuron_arena;

static inline void *neuron_arena_take(neuron_arena *arena, int64_t count, size_t size)
{
    size_t at = arena->used;
    arena->used += ((size_t)count * size + 63) / 64 * 64;
    return arena->base == NULL ? NULL : arena->base + at;
}

#define NEURON_TAKE(arena, pointer, count)                                                                           \
    ((pointer) = neuron_arena_take((arena), (int64_t)(count), sizeof *(pointer)))

#endif
