/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that counts and fails when told, and random matrices, for test_multiply_kernel.c.
 */
#ifndef LACIS_TESTS_MULTIPLY_RANDOM_H
#define LACIS_TESTS_MULTIPLY_RANDOM_H

#include "multiply_reference.h"

#include <stdatomic.h>

/* --- memory that counts, and fails when told ---------------------------------------------------- */

typedef struct heap {
    atomic_int allocations, live, left; /* left: allocations until one fails; negative: none does */
    atomic_bool cancel;
    bool no_charge;
} heap;

static void *heap_alloc(void *context, uint64_t bytes)
{
    heap *h = context;
    atomic_fetch_add(&h->allocations, 1);
    if (atomic_fetch_sub(&h->left, 1) == 0) return NULL;
    atomic_fetch_add(&h->live, 1);
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(block, 0xa5, bytes);
    return block;
}

static void heap_free(void *context, void *block)
{
    heap *h = context;
    atomic_fetch_sub(&h->live, 1);
    free(block);
}

static bool heap_charge(void *context, uint64_t bytes)
{
    (void)bytes;
    return !((heap *)context)->no_charge;
}

static bool heap_cancelled(void *context)
{
    return atomic_load(&((heap *)context)->cancel);
}

/* --- random matrices ------------------------------------------------------------------------------ */

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed * 0x2545f4914f6cdd1dULL >> 20) % below;
}

static double draw_value(lacis_mul_type type, int odd)
{
    if (odd && type >= LACIS_MUL_F32 && draw(8) == 0) {
        static const double values[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
        return values[draw(5)];
    }
    const double v = (double)draw(40) - 12;
    return type >= LACIS_MUL_F32 ? v / 3 : v;
}

/* Rows of up to `most` entries, now and then of `long_row`; stored from the last row or from the first, with gaps. */
static lacis_mul_matrix make_matrix(int64_t rows, int64_t cols, int64_t most, int64_t long_row, lacis_mul_type type,
                                    bool valued, int odd)
{
    int64_t *begin = calloc((size_t)rows + 1, sizeof *begin), *end = calloc((size_t)rows + 1, sizeof *end);
    int64_t *degree = calloc((size_t)rows + 1, sizeof *degree);
    int64_t total = 1;
    for (int64_t r = 0; r < rows; r++) {
        degree[r] = draw(4) == 0 ? 0 : (int64_t)draw((uint64_t)most + 1);
        if (long_row > 0 && draw(16) == 0) degree[r] = (int64_t)draw((uint64_t)long_row + 1);
        total += degree[r] + 2;
    }
    uint32_t *column = malloc(sizeof *column * (size_t)total);
    char *value = valued ? malloc((size_t)total * 16) : NULL;
    const bool backward = draw(2);
    int64_t at = 0;
    for (int64_t k = 0; k < rows; k++) {
        const int64_t r = backward ? rows - 1 - k : k;
        begin[r] = at;
        for (int64_t i = 0; i < degree[r]; i++)
            column[at + i] = (uint32_t)draw((uint64_t)cols);
        qsort(column + at, (size_t)degree[r], sizeof *column, compare_columns);
        int64_t n = 0;
        for (int64_t i = 0; i < degree[r]; i++)
            if (n == 0 || column[at + n - 1] != column[at + i]) column[at + n++] = column[at + i];
        end[r] = at + n;
        for (int64_t i = at; value && i < at + n; i++) {
            cell v = from_double(type, draw_value(type, odd));
            if (type == LACIS_MUL_C128) v.c128.im = draw_value(type, odd);
            memcpy(value + i * type_size(type), &v, (size_t)type_size(type));
        }
        at += n + (int64_t)draw(3);
    }
    free(degree);
    return (lacis_mul_matrix){rows, cols, begin, end, column, value, type};
}

static void free_matrix(const lacis_mul_matrix *m)
{
    free((void *)m->begin);
    free((void *)m->end);
    free((void *)m->column);
    free((void *)m->value);
}

#endif
