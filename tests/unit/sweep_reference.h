/* SPDX-License-Identifier: Apache-2.0
 *
 * Random sweeps, and what they have to give, straight from the text of kernels/sweep/sweep.h: one cell after the
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

enum { TAPS_MOST = 40, CELLS_MOST = 1 << 16 };

static uint64_t draw(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15;
    uint64_t z = *seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static int64_t below(uint64_t *seed, int64_t n)
{
    return (int64_t)(draw(seed) % (uint64_t)n);
}
static double from_1_to_1(uint64_t *seed)
{
    return (double)(int64_t)(draw(seed) >> 11) * 0x1p-52 - 1;
}

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

/* --- random cases ----------------------------------------------------------------------------------------- */

typedef struct sweep_wish {
    lacis_sweep_type type;
    int dims, radius, fields, coefficients;
    int written; /* of 100 rules */
    int shape; /* of linear rules: 0 any, 1 star in two groups, 2 star in one, 3 box in groups, 4 star and corners */
    int same_edge; /* kind for all faces + 1; 0: any mixture */
    int64_t extent[3];
} sweep_wish;

static void any_rule(sweep_case *c, int f, const sweep_wish *wish, uint64_t *seed)
{
    lacis_sweep_rule *rule = &c->start.rule[f];
    const int arrays = wish->fields + wish->coefficients;
    rule->written = below(seed, 100) < wish->written;
    rule->taps = 0;
    const int groups = (int)below(seed, 5);
    for (int g = 0; g < (rule->written ? 1 : groups); g++) {
        const int count = 1 + (int)below(seed, 8);
        c->first[f][g] = rule->taps;
        c->weight[f][g] = from_1_to_1(seed) / (groups * count);
        for (int i = 0; i < count; i++) {
            lacis_sweep_tap *tap = &c->tap[f][rule->taps++];
            *tap = (lacis_sweep_tap){.array = (int8_t)below(seed, arrays)};
            for (int d = 0; d < wish->dims; d++)
                tap->at[d] = (int8_t)(below(seed, 2 * wish->radius + 1) - wish->radius);
        }
    }
    c->first[f][groups] = rule->taps;
    rule->linear = (lacis_sweep_linear){.groups = groups, .constant = below(seed, 2) ? 0 : from_1_to_1(seed)};
}

static void put_tap(sweep_case *c, int f, int x, int y, int z)
{
    c->tap[f][c->start.rule[f].taps++] =
        (lacis_sweep_tap){.array = (int8_t)f, .at = {(int8_t)x, (int8_t)y, (int8_t)z}};
}

/* Stars: the centre, then the 2 dims cells at each distance. */
static void star_rule(sweep_case *c, int f, const sweep_wish *wish, uint64_t *seed)
{
    lacis_sweep_rule *rule = &c->start.rule[f];
    int groups = 0;
    rule->taps = 0;
    if (wish->shape == 1 || (wish->shape == 4 && below(seed, 2))) {
        c->first[f][groups] = 0;
        c->weight[f][groups++] = 0.5 * from_1_to_1(seed);
        put_tap(c, f, 0, 0, 0);
    }
    for (int k = 1; k <= (wish->shape == 4 ? 1 : wish->radius); k++) {
        c->first[f][groups] = rule->taps;
        c->weight[f][groups++] = from_1_to_1(seed) / (2 * wish->dims * wish->radius);
        for (int d = 0; d < wish->dims; d++)
            for (int sign = -1; sign <= 1; sign += 2)
                put_tap(c, f, d == 0 ? sign * k : 0, d == 1 ? sign * k : 0, d == 2 ? sign * k : 0);
    }
    if (wish->shape == 4 && wish->dims == 2) {
        c->first[f][groups] = rule->taps;
        c->weight[f][groups++] = 0.125 * from_1_to_1(seed);
        for (int i = 0; i < 4; i++)
            put_tap(c, f, i % 2 == 0 ? -1 : 1, i < 2 ? -1 : 1, 0);
    }
    c->first[f][groups] = rule->taps;
    rule->linear = (lacis_sweep_linear){.groups = groups, .constant = below(seed, 2) ? 0 : from_1_to_1(seed)};
}

/* All 3^dims cells, by how many components are not 0. */
static void box_rule(sweep_case *c, int f, const sweep_wish *wish, uint64_t *seed)
{
    lacis_sweep_rule *rule = &c->start.rule[f];
    rule->taps = 0;
    for (int g = 0; g <= wish->dims; g++) {
        c->first[f][g] = rule->taps;
        for (int i = 0; i < 27; i++) {
            const int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
            if (abs(x) + abs(y) + abs(z) == g && (wish->dims > 1 || y == 0) && (wish->dims > 2 || z == 0))
                put_tap(c, f, x, y, z);
        }
        c->weight[f][g] = from_1_to_1(seed) / (4 * (rule->taps - c->first[f][g]));
    }
    c->first[f][wish->dims + 1] = rule->taps;
    rule->linear = (lacis_sweep_linear){.groups = wish->dims + 1, .constant = below(seed, 2) ? 0 : from_1_to_1(seed)};
}

static void make_edge(sweep_case *c, int f, int face, lacis_sweep_edge_kind kind, uint64_t *seed)
{
    lacis_sweep_edge *edge = &c->start.edge[f][face];
    *edge = (lacis_sweep_edge){.kind = kind};
    for (int k = 0; k < LACIS_SWEEP_RADIUS; k++) {
        edge->a[k] = from_1_to_1(seed);
        edge->b[k] = below(seed, 3) == 0 ? 0 : from_1_to_1(seed);
    }
    if (kind != LACIS_SWEEP_VALUES) return;
    const int64_t cells = c->cells / c->start.extent[face / 2];
    c->values[f][face] = malloc(8 * (size_t)cells);
    assert_non_null(c->values[f][face]);
    for (int64_t i = 0; i < cells; i++)
        put_number(c->start.type, c->values[f][face], i, from_1_to_1(seed));
    edge->values = c->values[f][face];
}

static lacis_sweep_edge_kind draw_kind(const sweep_case *c, int axis, const sweep_wish *wish, uint64_t *seed)
{
    const int64_t n = c->start.extent[axis], reach = c->reach[axis];
    lacis_sweep_edge_kind kind = wish->same_edge > 0 ? (lacis_sweep_edge_kind)(wish->same_edge - 1)
                                                     : (lacis_sweep_edge_kind)below(seed, LACIS_SWEEP_INNER);
    const bool fits = kind == LACIS_SWEEP_MIRROR                                   ? n > reach
                      : kind == LACIS_SWEEP_PERIODIC || kind == LACIS_SWEEP_AFFINE ? n >= reach
                                                                                   : true;
    return fits ? kind : LACIS_SWEEP_CLAMP;
}

static void make_edges(sweep_case *c, int f, const sweep_wish *wish, uint64_t *seed)
{
    for (int axis = 0; axis < wish->dims; axis++) {
        lacis_sweep_edge_kind low = draw_kind(c, axis, wish, seed), high = draw_kind(c, axis, wish, seed);
        if (low == LACIS_SWEEP_PERIODIC || high == LACIS_SWEEP_PERIODIC) {
            const bool fits = c->start.extent[axis] >= c->reach[axis] && below(seed, 2) == 0;
            low = high = fits || wish->same_edge > 0 ? LACIS_SWEEP_PERIODIC : LACIS_SWEEP_CLAMP;
        }
        make_edge(c, f, 2 * axis, low, seed);
        make_edge(c, f, 2 * axis + 1, high, seed);
    }
}

static void make_case(sweep_case *c, const sweep_wish *wish, uint64_t *seed)
{
    memset(c, 0, sizeof *c);
    lacis_sweep_start *start = &c->start;
    start->type = wish->type;
    start->dims = wish->dims;
    start->fields = wish->fields;
    start->coefficients = wish->coefficients;
    start->cells = written_cells;
    start->cells_context = c;
    start->t = below(seed, 100);
    c->cells = 1;
    for (int d = 0; d < 3; d++)
        c->cells *= start->extent[d] = d < wish->dims ? wish->extent[d] : 1;
    for (int f = 0; f < wish->fields; f++) {
        if (wish->shape == 0 || below(seed, 100) < wish->written) {
            any_rule(c, f, wish, seed);
        } else if (wish->shape == 3) {
            box_rule(c, f, wish, seed);
        } else {
            star_rule(c, f, wish, seed);
        }
        start->rule[f].tap = c->tap[f];
        start->rule[f].linear.weight = c->weight[f];
        start->rule[f].linear.first = c->first[f];
    }
    lacis_sweep_reach(start, c->reach);
    for (int a = 0; a < wish->fields + wish->coefficients; a++) {
        c->array[a] = malloc(8 * (size_t)c->cells);
        assert_non_null(c->array[a]);
        for (int64_t i = 0; i < c->cells; i++)
            put_number(start->type, c->array[a], i, from_1_to_1(seed));
        start->array[a] = c->array[a];
    }
    for (int f = 0; f < wish->fields; f++)
        make_edges(c, f, wish, seed);
}

static void free_case(sweep_case *c)
{
    for (int a = 0; a < LACIS_SWEEP_ARRAYS; a++)
        free(c->array[a]);
    for (int f = 0; f < LACIS_SWEEP_FIELDS; f++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            free(c->values[f][face]);
}

/* --- the host, which counts ------------------------------------------------------------------------------- */

typedef struct sweep_memory {
    uint64_t bytes; /* taken so far */
    int64_t blocks, fail_at;
} sweep_memory;

static void *memory_take(void *context, uint64_t bytes)
{
    sweep_memory *memory = context;
    if (memory->fail_at > 0 && --memory->fail_at == 0) return NULL;
    const uint64_t room = (bytes + 63) / 64 * 64;
    void *block = aligned_alloc(64, room);
    assert_non_null(block);
    memset(block, 0xff, room); /* NaN: nothing may be read that was not written */
    memory->bytes += bytes;
    memory->blocks++;
    return block;
}

static void memory_free(void *context, void *block)
{
    sweep_memory *memory = context;
    memory->blocks--;
    free(block);
}

#endif
