/* SPDX-License-Identifier: Apache-2.0
 *
 * Random graphs and vectors for the parity tests, in plain memory. Values are small multiples of 1/4, so that sums
 * are exact in every type.
 */
#ifndef LACIS_TESTS_GRAPHS_H
#define LACIS_TESTS_GRAPHS_H

#include "lacis_extend.h"

#include <stdlib.h>

typedef struct graph {
    int64_t rows, cols, entries;
    int64_t *begin; /* rows + 1 */
    uint32_t *column;
    double *value; /* NULL: a pattern */
    double *imag;  /* of complex values, else NULL */
    lacis_dtype dtype, storage;
    int64_t *row_label, *col_label; /* NULL: base + index */
    int64_t row_base, col_base;
    bool vector; /* one column (rows are its labels), some of which may be missing: then sparse */
} graph;

static inline uint64_t random_next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline int64_t random_below(uint64_t *state, int64_t n)
{
    return (int64_t)(random_next(state) % (uint64_t)n);
}

static inline bool dtype_real(lacis_dtype dtype)
{
    return dtype == LACIS_F32 || dtype == LACIS_F64;
}

static inline bool dtype_complex(lacis_dtype dtype)
{
    return dtype == LACIS_C64 || dtype == LACIS_C128;
}

/* A value, or part of one, as the type can hold it: small integers, or quarters. */
static inline double random_value(uint64_t *state, lacis_dtype dtype)
{
    double value = (double)(random_below(state, 41) - 20);
    return dtype_real(dtype) || dtype_complex(dtype) ? value / 4 : value;
}

/* Degrees of rows, and columns in them, by kind of graph. */
typedef enum graph_kind {
    GRAPH_SPARSE,
    GRAPH_POWER,
    GRAPH_EMPTY_ROWS,
    GRAPH_HUB,
    GRAPH_FULL,
    GRAPH_SINGLES,
    GRAPH_WIDE,
    GRAPH_KINDS
} graph_kind;

static inline int64_t random_degree(uint64_t *state, graph_kind kind, int64_t row, int64_t cols)
{
    int64_t degree;
    switch (kind) {
    case GRAPH_POWER:
        degree = 1 + random_below(state, 6) * random_below(state, 1 + cols / (row + 1));
        break;
    case GRAPH_EMPTY_ROWS:
        degree = random_below(state, 3) == 0 ? random_below(state, 9) : 0;
        break;
    case GRAPH_HUB:
        degree = row == 0 || row == 7 ? cols : random_below(state, 4);
        break;
    case GRAPH_FULL:
        degree = cols;
        break;
    case GRAPH_SINGLES:
        degree = 1;
        break;
    case GRAPH_WIDE:
        degree = random_below(state, 120);
        break;
    default:
        degree = random_below(state, 9);
        break;
    }
    return degree < cols ? degree : cols;
}

static inline int by_column(const void *x, const void *y)
{
    uint32_t left = *(const uint32_t *)x, right = *(const uint32_t *)y;
    return (left > right) - (left < right);
}

/* Distinct rising columns; fewer than degree where the same one was drawn twice. */
static inline int64_t random_columns(uint64_t *state, int64_t degree, int64_t cols, uint32_t *out)
{
    if (degree == cols) {
        for (int64_t i = 0; i < cols; i++)
            out[i] = (uint32_t)i;
        return cols;
    }
    for (int64_t i = 0; i < degree; i++)
        out[i] = (uint32_t)random_below(state, cols);
    qsort(out, (size_t)degree, sizeof *out, by_column);
    int64_t kept = 0;
    for (int64_t i = 0; i < degree; i++)
        if (i == 0 || out[i] != out[kept - 1]) out[kept++] = out[i];
    return kept;
}

static inline graph graph_make(uint64_t *state, graph_kind kind, int64_t rows, int64_t cols, lacis_dtype dtype)
{
    graph g = {.rows = rows, .cols = cols, .dtype = dtype, .storage = dtype};
    int64_t room = 16;
    g.begin = calloc((size_t)rows + 1, sizeof *g.begin);
    g.column = malloc(sizeof(uint32_t) * (size_t)room);
    for (int64_t r = 0; r < rows; r++) {
        int64_t degree = random_degree(state, kind, r, cols);
        if (g.entries + degree > room) {
            room = 2 * (g.entries + degree);
            g.column = realloc(g.column, sizeof(uint32_t) * (size_t)room);
        }
        g.entries += random_columns(state, degree, cols, g.column + g.entries);
        g.begin[r + 1] = g.entries;
    }
    if (dtype == LACIS_PATTERN) return g;
    g.value = malloc(sizeof(double) * (size_t)(g.entries + 1));
    for (int64_t i = 0; i < g.entries; i++)
        g.value[i] = random_value(state, dtype);
    if (!dtype_complex(dtype)) return g;
    g.imag = malloc(sizeof(double) * (size_t)(g.entries + 1));
    for (int64_t i = 0; i < g.entries; i++)
        g.imag[i] = random_value(state, dtype);
    return g;
}

/* Rising labels with gaps of up to `step`. */
static inline int64_t *random_labels(uint64_t *state, int64_t count, int64_t step)
{
    int64_t *labels = malloc(sizeof(int64_t) * (size_t)(count + 1)), label = -5;
    for (int64_t i = 0; i < count; i++)
        labels[i] = label += 1 + random_below(state, step);
    return labels;
}

static inline void graph_free(graph *g)
{
    free(g->begin);
    free(g->column);
    free(g->value);
    free(g->imag);
    free(g->row_label);
    free(g->col_label);
    *g = (graph){0};
}

static inline int64_t row_label(const graph *g, int64_t row)
{
    return g->row_label != NULL ? g->row_label[row] : g->row_base + row;
}

static inline int64_t col_label(const graph *g, int64_t col)
{
    return g->col_label != NULL ? g->col_label[col] : g->col_base + col;
}

#endif
