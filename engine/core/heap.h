/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded heap of indices whose root is the worst one kept: the "greatest k of many" of rows.c and rows_top.c.
 */
#ifndef LACIS_CORE_HEAP_H
#define LACIS_CORE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Whether index a is worth less than index b: a strict total order. */
typedef bool (*lacis_worse_fn)(const void *context, int64_t a, int64_t b);

static inline void lacis_heap_swap(int64_t *heap, int64_t i, int64_t j)
{
    int64_t keep = heap[i];
    heap[i] = heap[j];
    heap[j] = keep;
}

/* Restores the order below position `at`. */
static inline void lacis_heap_down(int64_t *heap, int64_t count, int64_t at, lacis_worse_fn worse,
                                   const void *context)
{
    for (;;) {
        int64_t least = at;
        int64_t left = 2 * at + 1;
        if (left < count && worse(context, heap[left], heap[least])) least = left;
        if (left + 1 < count && worse(context, heap[left + 1], heap[least])) least = left + 1;
        if (least == at) return;
        lacis_heap_swap(heap, at, least);
        at = least;
    }
}

/* Restores the order above position `at`, where an index was just put. */
static inline void lacis_heap_up(int64_t *heap, int64_t at, lacis_worse_fn worse, const void *context)
{
    while (at > 0) {
        int64_t parent = (at - 1) / 2;
        if (!worse(context, heap[at], heap[parent])) return;
        lacis_heap_swap(heap, at, parent);
        at = parent;
    }
}

/* Turns the heap into a list, best first. */
static inline void lacis_heap_sort(int64_t *heap, int64_t count, lacis_worse_fn worse, const void *context)
{
    for (int64_t left = count - 1; left > 0; left--) {
        lacis_heap_swap(heap, 0, left);
        lacis_heap_down(heap, left, 0, worse, context);
    }
}

#endif
