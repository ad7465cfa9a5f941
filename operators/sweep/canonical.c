/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear stencils in their canonical order: see canonical.h.
 */
#include "sweep/canonical.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the order of taps -------------------------------------------------------------------------------- */

static int components(const lacis_sweep_tap *tap)
{
    return (tap->at[0] != 0) + (tap->at[1] != 0) + (tap->at[2] != 0);
}

static int distance(const lacis_sweep_tap *tap)
{
    return tap->at[0] * tap->at[0] + tap->at[1] * tap->at[1] + tap->at[2] * tap->at[2];
}

/* Along z first, x last. */
static int by_tap(const lacis_sweep_tap *a, const lacis_sweep_tap *b)
{
    const int more = components(b) - components(a);
    if (more != 0) return more;
    for (int k = 2; k >= 0; k--)
        if (abs(a->at[k]) != abs(b->at[k])) return abs(a->at[k]) - abs(b->at[k]);
    for (int k = 2; k >= 0; k--)
        if (a->at[k] != b->at[k]) return a->at[k] - b->at[k];
    return 0;
}

/* --- groups ------------------------------------------------------------------------------------------- */

/* Equal weights of one array: a group. Its leader is its first tap; groups come by rank (the field itself, then other
 * arrays), by the distance of their nearest tap, and as their leaders do. */
static int by_place(const void *x, const void *y)
{
    const lacis_sweep_term *a = x, *b = y;
    const int order = by_tap(&a->tap, &b->tap);
    return order != 0 ? order : a->tap.array - b->tap.array;
}

static int by_group(const void *x, const void *y)
{
    const lacis_sweep_term *a = x, *b = y;
    if (a->rank != b->rank) return a->rank - b->rank;
    if (a->nearest != b->nearest) return a->nearest - b->nearest;
    if (a->leader != b->leader) return a->leader - b->leader;
    return by_tap(&a->tap, &b->tap);
}

static void find_groups(int own, lacis_sweep_term *term, int terms)
{
    qsort(term, (size_t)terms, sizeof *term, by_place);
    for (int i = 0; i < terms; i++) {
        int first = 0;
        while (term[first].tap.array != term[i].tap.array || term[first].weight != term[i].weight)
            first++;
        term[i].leader = first;
        term[i].rank = term[i].tap.array == own ? -1 : term[i].tap.array;
        term[i].nearest = distance(&term[i].tap);
        if (term[i].nearest < term[first].nearest) term[first].nearest = term[i].nearest;
    }
    for (int i = 0; i < terms; i++)
        term[i].nearest = term[term[i].leader].nearest;
    qsort(term, (size_t)terms, sizeof *term, by_group);
}

void lacis_sweep_canonical(lacis_sweep_type type, int own, double constant, lacis_sweep_term *term, int terms,
                           int source, const lacis_sweep_room *room, lacis_sweep_rule *out)
{
    int count = 0;
    for (int i = 0; i < terms && type == LACIS_SWEEP_F32; i++)
        term[i].weight = (double)(float)term[i].weight;
    find_groups(own, term, terms);
    for (int i = 0; i < terms; i++) {
        room->tap[i] = term[i].tap;
        if (i > 0 && term[i].leader == term[i - 1].leader) continue;
        room->weight[count] = term[i].weight;
        room->first[count++] = i;
    }
    if (source >= 0) {
        room->tap[terms] = (lacis_sweep_tap){.array = (int8_t)source};
        room->weight[count] = 1;
        room->first[count++] = terms;
    }
    *out = (lacis_sweep_rule){.taps = terms + (source >= 0), .tap = room->tap};
    room->first[count] = out->taps;
    out->linear = (lacis_sweep_linear){count, constant, room->weight, room->first};
}

/* --- names -------------------------------------------------------------------------------------------- */

/* How many of the taps are the field's own, the centre counted always; how far they reach; whether off the axes. */
typedef struct extent {
    int points, radius;
    bool off_axes;
} extent;

static extent extent_of(const lacis_sweep_rule *rule, int own)
{
    extent e = {.points = 1};
    for (int i = 0; i < rule->taps; i++) {
        const lacis_sweep_tap *tap = &rule->tap[i];
        if (tap->array != own || components(tap) == 0) continue;
        e.points++;
        e.off_axes = e.off_axes || components(tap) > 1;
        for (int k = 0; k < 3; k++)
            if (abs(tap->at[k]) > e.radius) e.radius = abs(tap->at[k]);
    }
    return e;
}

void lacis_sweep_shape(const lacis_sweep_rule *rule, int own, int dims, char *text, int size)
{
    const extent e = extent_of(rule, own);
    int box = 1;
    for (int k = 0; k < dims; k++)
        box *= 2 * e.radius + 1;
    const bool star = !e.off_axes && e.points == 2 * dims * e.radius + 1;
    const char *kind = e.points == box || (star && e.radius <= 1) ? "" : star ? " star" : ", its own table";
    snprintf(text, (size_t)size, "%d-point%s", e.points, kind);
}
