/* SPDX-License-Identifier: Apache-2.0
 *
 * What sweeps (sweep_cases.h) have to give, straight from the text of kernels/sweep/sweep.h: one cell after the
 * other, cells beyond the grid found by recursion, in double where the type is F64 and in float where it is F32.
 */
#ifndef LACIS_TESTS_SWEEP_REFERENCE_H
#define LACIS_TESTS_SWEEP_REFERENCE_H

#include "sweep/sweep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TAPS_MOST = 40 };

/* A sweep with all that its start points to. */
typedef struct sweep_case {
    lacis_sweep_start start;
    lacis_sweep_tap tap[LACIS_SWEEP_FIELDS][TAPS_MOST];
    double weight[LACIS_SWEEP_FIELDS][TAPS_MOST];
    int first[LACIS_SWEEP_FIELDS][TAPS_MOST + 1];
    void *array[LACIS_SWEEP_ARRAYS];
    void *values[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES];
    int64_t cells, reach[3];
} sweep_case;

/* --- numbers of the type ---------------------------------------------------------------------------------- */

static double rounded(lacis_sweep_type type, double value)
{
    return type == LACIS_SWEEP_F32 ? (double)(float)value : value;
}
static double number_at(lacis_sweep_type type, const void *array, int64_t i)
{
    return type == LACIS_SWEEP_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}
static void put_number(lacis_sweep_type type, void *array, int64_t i, double value)
{
    if (type == LACIS_SWEEP_F32) {
        ((float *)array)[i] = (float)value;
    } else {
        ((double *)array)[i] = value;
    }
}
/* Sums and products of floats are exact enough in double that rounding them again gives the float's. */
static double add(lacis_sweep_type type, double a, double b)
{
    return rounded(type, a + b);
}
static double multiply_add(lacis_sweep_type type, double a, double b, double c)
{
    return type == LACIS_SWEEP_F32 ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

/* --- cells beyond the grid -------------------------------------------------------------------------------- */

typedef struct sweep_state {
    const sweep_case *c;
    void *const *array;
} sweep_state;

static lacis_sweep_edge_kind kind_of(const sweep_case *c, int array, int face)
{
    const int fields = c->start.fields;
    const lacis_sweep_edge_kind kind = c->start.edge[array < fields ? array : 0][face].kind;
    if (array >= fields) return kind == LACIS_SWEEP_PERIODIC ? kind : LACIS_SWEEP_CLAMP;
    return kind == LACIS_SWEEP_HOLD ? LACIS_SWEEP_CLAMP : kind;
}

static int64_t clamped(const sweep_case *c, int array, int axis, int64_t at)
{
    const int64_t n = c->start.extent[axis];
    if (kind_of(c, array, 2 * axis) == LACIS_SWEEP_PERIODIC) return ((at % n) + n) % n;
    return at < 0 ? 0 : at >= n ? n - 1 : at;
}

static double face_value(const sweep_case *c, int field, int face, const int64_t at[3])
{
    const int axis = face / 2, low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
    const int64_t u = clamped(c, field, low, at[low]), v = clamped(c, field, high, at[high]);
    return number_at(c->start.type, c->values[field][face], v * c->start.extent[low] + u);
}

static double cell_at(const sweep_state *s, int array, int64_t x, int64_t y, int64_t z)
{
    const sweep_case *c = s->c;
    int64_t at[3] = {x, y, z};
    for (int axis = 2; axis >= 0; axis--) {
        const int64_t n = c->start.extent[axis];
        if (at[axis] >= 0 && at[axis] < n) continue;
        const int side = at[axis] < 0 ? 0 : 1, face = 2 * axis + side;
        const int64_t k = side == 0 ? -at[axis] : at[axis] - n + 1;
        const lacis_sweep_edge *edge = &c->start.edge[array < c->start.fields ? array : 0][face];
        const double b = rounded(c->start.type, edge->b[k - 1]), a = rounded(c->start.type, edge->a[k - 1]);
        switch (kind_of(c, array, face)) {
        case LACIS_SWEEP_MIRROR:
            at[axis] = side == 0 ? k : n - 1 - k;
            break;
        case LACIS_SWEEP_PERIODIC:
            at[axis] = ((at[axis] % n) + n) % n;
            break;
        case LACIS_SWEEP_AFFINE:
            at[axis] = side == 0 ? k - 1 : n - k;
            return b == 0 ? a : multiply_add(c->start.type, b, cell_at(s, array, at[0], at[1], at[2]), a);
        case LACIS_SWEEP_VALUES:
            return face_value(c, array, face, at);
        default:
            at[axis] = side == 0 ? 0 : n - 1;
        }
    }
    return number_at(c->start.type, s->array[array],
                     (at[2] * c->start.extent[1] + at[1]) * c->start.extent[0] + at[0]);
}

/* --- rules ------------------------------------------------------------------------------------------------ */

static double pairwise(lacis_sweep_type type, double *v, int n)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++)
            v[i] = add(type, v[2 * i], v[2 * i + 1]);
        if (n % 2 == 1) v[n / 2] = v[n - 1];
    }
    return v[0];
}

static double linear_value(const sweep_case *c, int field, const double *tap)
{
    const lacis_sweep_linear *linear = &c->start.rule[field].linear;
    const lacis_sweep_type type = c->start.type;
    double r = rounded(type, linear->constant);
    for (int g = 0; g < linear->groups; g++) {
        const int first = linear->first[g], count = linear->first[g + 1] - first;
        double v[TAPS_MOST] = {0};
        memcpy(v, tap + first, sizeof(double) * (size_t)count);
        const double sum = pairwise(type, v, count), w = rounded(type, linear->weight[g]);
        r = g == 0 && linear->constant == 0 ? rounded(type, w * sum) : multiply_add(type, w, sum, r);
    }
    return r;
}

/* Any function of all that a written rule sees. */
static double written_value(lacis_sweep_type type, int field, const double *tap, int taps, const int64_t at[4])
{
    double r = rounded(type, 0.125 * (double)(at[0] % 7 - 3) + 0.0625 * (double)(at[1] % 5) +
                                 0.25 * (double)(at[2] % 3) - 0.5 * (double)(at[3] % 2) + field);
    for (int i = 0; i < taps; i++)
        r = add(type, rounded(type, r * 0.5), rounded(type, tap[i] * (i % 2 == 0 ? 0.25 : -0.125)));
    return r;
}

static bool written_cells(void *context, int worker, int field, int n, const void *const *tap, int64_t x, int64_t y,
                          int64_t z, int64_t t, void *out)
{
    const sweep_case *c = context;
    const int taps = c->start.rule[field].taps;
    if (worker < 0 || n < 1 || n > LACIS_SWEEP_STRIP) return false;
    for (int i = 0; i < n; i++) {
        double v[TAPS_MOST] = {0};
        for (int k = 0; k < taps; k++)
            v[k] = number_at(c->start.type, tap[k], i);
        const int64_t at[4] = {x + i, y, z, t};
        put_number(c->start.type, out, i, written_value(c->start.type, field, v, taps, at));
    }
    return true;
}

static bool holds(const sweep_case *c, int field, const int64_t at[3])
{
    for (int d = 0; d < c->start.dims; d++)
        for (int side = 0; side < 2; side++) {
            const int64_t deep = side == 0 ? at[d] : c->start.extent[d] - 1 - at[d];
            if (c->start.edge[field][2 * d + side].kind == LACIS_SWEEP_HOLD && deep < c->reach[d]) return true;
        }
    return false;
}

static double next_value(const sweep_state *s, int field, const int64_t at[3], int64_t t)
{
    const sweep_case *c = s->c;
    const lacis_sweep_rule *rule = &c->start.rule[field];
    if (holds(c, field, at)) return cell_at(s, field, at[0], at[1], at[2]);
    double tap[TAPS_MOST];
    for (int i = 0; i < rule->taps; i++)
        tap[i] = cell_at(s, rule->tap[i].array, at[0] + rule->tap[i].at[0], at[1] + rule->tap[i].at[1],
                         at[2] + rule->tap[i].at[2]);
    const int64_t place[4] = {at[0], at[1], at[2], t};
    return rule->written ? written_value(c->start.type, field, tap, rule->taps, place) : linear_value(c, field, tap);
}

/* --- steps ------------------------------------------------------------------------------------------------ */

static void *copy_of(const void *from, uint64_t bytes)
{
    void *out = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(out);
    memcpy(out, from, bytes);
    return out;
}

static void one_step(const sweep_case *c, void *const *now, void *const *next, int64_t t)
{
    const sweep_state s = {c, now};
    const int64_t *n = c->start.extent;
    for (int f = 0; f < c->start.fields; f++)
        for (int64_t i = 0; i < c->cells; i++) {
            const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
            put_number(c->start.type, next[f], i, next_value(&s, f, at, t));
        }
}

/* The change between two states, by the tile rule. */
static double tile_squares(const sweep_case *c, int field, const void *old, const void *now, const int64_t begin[3],
                           double *max)
{
    const int64_t *n = c->start.extent;
    double column[LACIS_SWEEP_TILE_X] = {0};
    for (int64_t y = begin[1]; y < begin[1] + LACIS_SWEEP_TILE_Y && y < n[1]; y++)
        for (int64_t x = begin[0]; x < begin[0] + LACIS_SWEEP_TILE_X && x < n[0]; x++) {
            const int64_t at[3] = {x, y, begin[2]}, i = (at[2] * n[1] + y) * n[0] + x;
            if (holds(c, field, at)) continue;
            const double d =
                rounded(c->start.type, number_at(c->start.type, now, i) - number_at(c->start.type, old, i));
            column[x - begin[0]] = fma(d, d, column[x - begin[0]]);
            *max = fabs(d) > *max || isnan(d) ? fabs(d) : *max;
        }
    for (int left = LACIS_SWEEP_TILE_X / 2; left >= 1; left /= 2)
        for (int i = 0; i < left; i++)
            column[i] = column[2 * i] + column[2 * i + 1];
    return column[0];
}

static void change_of(const sweep_case *c, void *const *old, void *const *now, lacis_sweep_change *change)
{
    *change = (lacis_sweep_change){0};
    int64_t at[3];
    for (int f = 0; f < c->start.fields; f++)
        for (at[2] = 0; at[2] < c->start.extent[2]; at[2]++)
            for (at[1] = 0; at[1] < c->start.extent[1]; at[1] += LACIS_SWEEP_TILE_Y)
                for (at[0] = 0; at[0] < c->start.extent[0]; at[0] += LACIS_SWEEP_TILE_X)
                    lacis_sweep_exact_add(&change->squares, tile_squares(c, f, old[f], now[f], at, &change->max));
}

/* What comes out of `steps`, one copy of each moving field; the change of the last. */
static void reference_steps(const sweep_case *c, int64_t steps, void **out, lacis_sweep_change *change)
{
    void *now[LACIS_SWEEP_ARRAYS], *next[LACIS_SWEEP_ARRAYS];
    const uint64_t bytes = (uint64_t)c->cells * lacis_sweep_size(c->start.type);
    const int arrays = c->start.fields + c->start.coefficients;
    for (int a = 0; a < arrays; a++) {
        now[a] = copy_of(c->array[a], bytes);
        next[a] = copy_of(c->array[a], bytes);
    }
    for (int64_t s = 0; s < steps; s++) {
        one_step(c, now, next, c->start.t + s);
        if (s + 1 == steps) change_of(c, now, next, change);
        for (int f = 0; f < c->start.fields; f++) {
            void *swap = now[f];
            now[f] = next[f];
            next[f] = swap;
        }
    }
    for (int a = 0; a < arrays; a++) {
        free(next[a]);
        if (a < c->start.fields) {
            out[a] = now[a];
        } else {
            free(now[a]);
        }
    }
}

#endif
