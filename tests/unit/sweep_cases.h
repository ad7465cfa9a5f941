/* SPDX-License-Identifier: Apache-2.0
 *
 * Random sweeps for unit tests, and a host that counts what they take. What they have to give: sweep_reference.h.
 */
#ifndef LACIS_TESTS_SWEEP_CASES_H
#define LACIS_TESTS_SWEEP_CASES_H

#include "unit/sweep_reference.h"

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
