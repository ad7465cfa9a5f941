/* SPDX-License-Identifier: Apache-2.0
 *
 * Sweeps cell by cell, as kernels/sweep/sweep.h and docs/sweep.md say them and in no other way: edges by going back
 * to a cell that is there, z first; sums in the order of a rule's groups; changes by tiles. Numbers are kept as
 * doubles and rounded to the type after each operation. Written rules are functions of a test.
 */
#ifndef LACIS_TESTS_SWEEP_REFERENCE_H
#define LACIS_TESTS_SWEEP_REFERENCE_H

#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct naive naive;
typedef double (*naive_rule)(const naive *n, const int64_t at[3]); /* reads with naive_value */
struct naive {
    bool floats;
    int dims, fields, coefficients;
    int64_t extent[3], cells, t;
    double *array[LACIS_SWEEP_ARRAYS], *next[LACIS_SWEEP_FIELDS]; /* own memory */
    const lacis_sweep_rule *rule[LACIS_SWEEP_FIELDS];             /* linear; NULL: */
    naive_rule written[LACIS_SWEEP_FIELDS];
    int source[LACIS_SWEEP_FIELDS]; /* array added to a written rule, or -1 */
    const lacis_sweep_edge *edge[LACIS_SWEEP_FIELDS];
    const double *face[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES];
    int64_t reach[3];
};

static inline double to_type(const naive *n, double value)
{
    return n->floats ? (double)(float)value : value;
}

/* Sums and products of floats in double, rounded once more, are those of floats; a fused one is not. */
static inline double fused(const naive *n, double a, double b, double c)
{
    return n->floats ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

/* --- cells -------------------------------------------------------------------------------------------- */

static inline int64_t naive_index(const naive *n, const int64_t at[3])
{
    return (at[2] * n->extent[1] + at[1]) * n->extent[0] + at[0];
}

static inline int64_t clamped(int64_t at, int64_t extent)
{
    return at < 0 ? 0 : at >= extent ? extent - 1 : at;
}

static inline int64_t wrapped(int64_t at, int64_t extent)
{
    return (at % extent + extent) % extent;
}

/* Element of the array over a face for a cell beyond it, which may lie beyond lower axes' faces too. */
static inline double face_element(const naive *n, int field, int face, const int64_t at[3])
{
    int64_t index = 0, step = 1;
    for (int k = 0; k < n->dims; k++) {
        if (k == face / 2) continue;
        const bool around = n->edge[field][2 * k].kind == LACIS_SWEEP_PERIODIC;
        index += step * (around ? wrapped(at[k], n->extent[k]) : clamped(at[k], n->extent[k]));
        step *= n->extent[k];
    }
    return n->face[field][face][index];
}

static inline double naive_value(const naive *n, int array, const int64_t at[3]);

/* What lies beyond along `axis`, the cell being inside along all higher ones. */
static inline double beyond(const naive *n, int array, int axis, const int64_t at[3])
{
    int64_t there[3] = {at[0], at[1], at[2]};
    const int64_t extent = n->extent[axis], k = at[axis] < 0 ? -at[axis] : at[axis] - extent + 1;
    const int face = 2 * axis + (at[axis] >= 0), field = array < n->fields ? array : 0;
    const int64_t last = at[axis] < 0 ? 0 : extent - 1, inwards = at[axis] < 0 ? 1 : -1;
    const lacis_sweep_edge *edge = &n->edge[field][face];
    lacis_sweep_edge_kind kind = edge->kind == LACIS_SWEEP_HOLD ? LACIS_SWEEP_CLAMP : edge->kind;
    if (array >= n->fields && kind != LACIS_SWEEP_PERIODIC) kind = LACIS_SWEEP_CLAMP;
    there[axis] = last;
    switch (kind) {
    case LACIS_SWEEP_MIRROR:
        there[axis] = last + inwards * k;
        break;
    case LACIS_SWEEP_PERIODIC:
        there[axis] = wrapped(at[axis], extent);
        break;
    case LACIS_SWEEP_AFFINE:
        there[axis] = last + inwards * (k - 1);
        if (to_type(n, edge->b[k - 1]) == 0) return to_type(n, edge->a[k - 1]);
        return fused(n, to_type(n, edge->b[k - 1]), naive_value(n, array, there), to_type(n, edge->a[k - 1]));
    case LACIS_SWEEP_VALUES:
        return face_element(n, field, face, at);
    default:
        break;
    }
    return naive_value(n, array, there);
}

static inline double naive_value(const naive *n, int array, const int64_t at[3])
{
    for (int axis = 2; axis >= 0; axis--)
        if (at[axis] < 0 || at[axis] >= n->extent[axis]) return beyond(n, array, axis, at);
    return n->array[array][naive_index(n, at)];
}

static inline double naive_tap(const naive *n, int array, const int64_t at[3], int dx, int dy, int dz)
{
    return naive_value(n, array, (const int64_t[3]){at[0] + dx, at[1] + dy, at[2] + dz});
}

/* --- rules -------------------------------------------------------------------------------------------- */

static inline double pairwise(const naive *n, double *value, int count)
{
    while (count > 1) {
        for (int i = 0; i < count / 2; i++)
            value[i] = to_type(n, value[2 * i] + value[2 * i + 1]);
        if (count % 2 == 1) value[count / 2] = value[count - 1];
        count = (count + 1) / 2;
    }
    return value[0];
}

static inline double linear_value(const naive *n, const lacis_sweep_rule *rule, const int64_t at[3])
{
    const double constant = to_type(n, rule->linear.constant);
    double r = constant, *value = malloc(sizeof *value * (size_t)(rule->taps + 1));
    for (int g = 0; g < rule->linear.groups; g++) {
        const int first = rule->linear.first[g], count = rule->linear.first[g + 1] - first;
        for (int i = 0; i < count; i++) {
            const lacis_sweep_tap *tap = &rule->tap[first + i];
            value[i] = naive_tap(n, tap->array, at, tap->at[0], tap->at[1], tap->at[2]);
        }
        const double sum = pairwise(n, value, count), weight = to_type(n, rule->linear.weight[g]);
        r = g == 0 && constant == 0 ? to_type(n, weight * sum) : fused(n, weight, sum, r);
    }
    free(value);
    return r;
}

static inline double rule_value(const naive *n, int field, const int64_t at[3])
{
    if (n->rule[field] != NULL) return linear_value(n, n->rule[field], at);
    const double value = to_type(n, n->written[field](n, at));
    return n->source[field] < 0 ? value : to_type(n, value + naive_value(n, n->source[field], at));
}

static inline bool held(const naive *n, int field, const int64_t at[3])
{
    for (int axis = 0; axis < n->dims; axis++) {
        const lacis_sweep_edge *edge = &n->edge[field][2 * axis];
        if (edge[0].kind == LACIS_SWEEP_HOLD && at[axis] < n->reach[axis]) return true;
        if (edge[1].kind == LACIS_SWEEP_HOLD && at[axis] >= n->extent[axis] - n->reach[axis]) return true;
    }
    return false;
}

/* --- changes ------------------------------------------------------------------------------------------ */

/* Sums of doubles without rounding (Shewchuk's partials), rounded at the end as CPython's fsum does. */
typedef struct exactly {
    double partial[64];
    int count;
    bool nan, infinite; /* squares: never below 0 */
} exactly;

static inline void exactly_add(exactly *e, double x)
{
    int kept = 0;
    e->nan = e->nan || isnan(x);
    e->infinite = e->infinite || isinf(x);
    if (!isfinite(x)) return;
    for (int i = 0; i < e->count; i++) {
        double y = e->partial[i];
        if (fabs(x) < fabs(y)) {
            const double other = x;
            x = y;
            y = other;
        }
        const double high = x + y, low = y - (high - x);
        if (low != 0) e->partial[kept++] = low;
        x = high;
    }
    e->partial[kept] = x;
    e->count = kept + 1;
}

static inline double exactly_sum(const exactly *e)
{
    int i = e->count - 1;
    if (e->nan || e->infinite) return e->nan ? NAN : INFINITY;
    if (i < 0) return 0;
    double high = e->partial[i], low = 0;
    while (i > 0 && low == 0) {
        const double x = high, y = e->partial[--i];
        high = x + y;
        low = y - (high - x);
    }
    if (i > 0 && ((low < 0 && e->partial[i - 1] < 0) || (low > 0 && e->partial[i - 1] > 0))) {
        const double y = low * 2, x = high + y;
        if (y == x - high) high = x;
    }
    return high;
}

static inline double tile_sum(const naive *n, const double *d, int64_t x0, int64_t y0, int64_t z)
{
    double column[LACIS_SWEEP_TILE_X] = {0};
    for (int64_t y = y0; y < y0 + LACIS_SWEEP_TILE_Y && y < n->extent[1]; y++)
        for (int64_t x = x0; x < x0 + LACIS_SWEEP_TILE_X && x < n->extent[0]; x++) {
            const double one = d[(z * n->extent[1] + y) * n->extent[0] + x];
            column[x - x0] = fma(one, one, column[x - x0]);
        }
    for (int width = LACIS_SWEEP_TILE_X / 2; width >= 1; width /= 2)
        for (int i = 0; i < width; i++)
            column[i] = column[2 * i] + column[2 * i + 1];
    return column[0];
}

static inline void naive_change(const naive *n, const double *d, double *max, exactly *sum)
{
    for (int64_t i = 0; i < n->cells; i++)
        if (isnan(d[i]) || fabs(d[i]) > *max) *max = isnan(*max) ? *max : fabs(d[i]);
    for (int64_t z = 0; z < n->extent[2]; z++)
        for (int64_t y = 0; y < n->extent[1]; y += LACIS_SWEEP_TILE_Y)
            for (int64_t x = 0; x < n->extent[0]; x += LACIS_SWEEP_TILE_X)
                exactly_add(sum, tile_sum(n, d, x, y, z));
}

/* --- steps -------------------------------------------------------------------------------------------- */

static inline void naive_step(naive *n, double *max, double *l2)
{
    exactly sum = {.count = 0};
    double *d = calloc((size_t)n->cells, sizeof *d);
    *max = 0;
    for (int field = 0; field < n->fields; field++) {
        int64_t at[3], i = 0;
        memset(d, 0, (size_t)n->cells * sizeof *d);
        for (at[2] = 0; at[2] < n->extent[2]; at[2]++)
            for (at[1] = 0; at[1] < n->extent[1]; at[1]++)
                for (at[0] = 0; at[0] < n->extent[0]; at[0]++, i++) {
                    const double old = n->array[field][i];
                    n->next[field][i] = held(n, field, at) ? old : rule_value(n, field, at);
                    if (!held(n, field, at)) d[i] = to_type(n, n->next[field][i] - old);
                }
        naive_change(n, d, max, &sum);
    }
    for (int field = 0; field < n->fields; field++) {
        double *old = n->array[field];
        n->array[field] = n->next[field];
        n->next[field] = old;
    }
    n->t++;
    *l2 = sqrt(exactly_sum(&sum));
    free(d);
}

#endif
