/* SPDX-License-Identifier: Apache-2.0
 *
 * The box of all places, their keys, the units of forces, and columns put into a new order. field.c and points.c
 * call these.
 */
#include "nbody/inside.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- extents ------------------------------------------------------------------------------------------ */

enum { RANGES = 64 };
struct range {
    double lo[3], hi[3];
};
struct ranges {
    const void *const *place;
    int64_t piece;
    struct range one[RANGES];
};

static void range_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    struct ranges *ranges = context;
    struct range *own = &ranges->one[begin / ranges->piece];
    system->loops->bounds(ranges->place, begin, end, own->lo, own->hi);
}

static lacis_nbody_status range_of(lacis_nbody *system, const void *const place[3], int64_t n, struct range *out)
{
    struct ranges ranges = {.place = place, .piece = (n + RANGES - 1) / RANGES};
    if (ranges.piece < NBODY_PIECE) ranges.piece = NBODY_PIECE;
    lacis_nbody_status status = lacis_nbody_over(system, n, ranges.piece, range_piece, &ranges);
    if (status != LACIS_NBODY_OK) return status;
    *out = ranges.one[0];
    for (int64_t i = 1; i * ranges.piece < n; i++)
        for (int d = 0; d < 3; d++) {
            out->lo[d] = fmin(out->lo[d], ranges.one[i].lo[d]);
            out->hi[d] = fmax(out->hi[d], ranges.one[i].hi[d]);
        }
    return LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_box_of(lacis_nbody *system, const void *const place[3], int64_t n, nbody_box *box)
{
    struct range range = {0};
    *box = (nbody_box){.half = 0};
    if (n == 0) return LACIS_NBODY_OK;
    lacis_nbody_status status = range_of(system, place, n, &range);
    if (status != LACIS_NBODY_OK) return status;
    for (int d = 0; d < 3; d++)
        lacis_nbody_axis(box, d, range.lo[d], range.hi[d]);
    return LACIS_NBODY_OK;
}

void lacis_nbody_axis(nbody_box *box, int d, double lo, double hi)
{
    box->lo[d] = fmin(fmax(lo, -DBL_MAX), DBL_MAX);
    box->half = fmax(box->half, fmin(hi, DBL_MAX) * 0.5 - box->lo[d] * 0.5);
}

/* --- units -------------------------------------------------------------------------------------------- */

/* The box is BOX wide in our units: from there floats reach as far up as down, where cubes of distances are formed.
 */
enum { BOX = 24 };

static int exponent_of(double value)
{
    int exponent = 0;
    if (value > 0) frexp(fmin(value, DBL_MAX), &exponent);
    return exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
}

lacis_nbody_status lacis_nbody_units_of(lacis_nbody *system, const nbody_box *box)
{
    const void *eps = system->column[NBODY_EPS], *m = system->column[NBODY_M];
    const void *const columns[] = {m, eps == NULL ? m : eps, m};
    struct range range = {0};
    if (system->n > 0) {
        lacis_nbody_status status = range_of(system, columns, system->n, &range);
        if (status != LACIS_NBODY_OK) return status;
    }
    const double longest = fmax(box->half * 2, eps == NULL ? system->soften : range.hi[1]);
    const int length = BOX - exponent_of(longest), mass = -exponent_of(range.hi[0]);
    nbody_units *units = &system->units;
    units->length = ldexp(1, length);
    units->mass = ldexp(1, mass);
    units->force = ldexp(system->g, 2 * length - mass);
    units->potential = -ldexp(system->g, length - mass);
    const double soften = system->soften * units->length;
    units->common = eps == NULL ? soften * soften : 0;
    return LACIS_NBODY_OK;
}

/* --- keys --------------------------------------------------------------------------------------------- */

struct keys {
    const void *const *place;
    const nbody_box *box;
    nbody_pair *pair;
};

static void keys_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    const struct keys *keys = context;
    system->loops->keys(keys->place, keys->box, begin, end, keys->pair);
}

lacis_nbody_status lacis_nbody_keys(lacis_nbody *system, const void *const place[3], const nbody_box *box, int64_t n,
                                    nbody_pair *pair)
{
    struct keys keys = {place, box, pair};
    return lacis_nbody_over(system, n, NBODY_PIECE, keys_piece, &keys);
}

/* --- a new order -------------------------------------------------------------------------------------- */

struct gather {
    const void *from;
    void *to;
    uint64_t size;
};

static void gather_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    const struct gather *gather = context;
    const nbody_pair *pair = system->tree.pair;
    if (gather->size == 4) {
        const uint32_t *from = gather->from;
        for (int64_t i = begin; i < end; i++)
            ((uint32_t *)gather->to)[i] = from[pair[i].index];
    } else {
        const uint64_t *from = gather->from;
        for (int64_t i = begin; i < end; i++)
            ((uint64_t *)gather->to)[i] = from[pair[i].index];
    }
}

static lacis_nbody_status put(lacis_nbody *system, void **column, void **spare, uint64_t size)
{
    struct gather gather = {*column, *spare, size};
    lacis_nbody_status status = lacis_nbody_over(system, system->n, NBODY_PIECE, gather_piece, &gather);
    if (status != LACIS_NBODY_OK) return status;
    *spare = *column;
    *column = gather.to;
    return LACIS_NBODY_OK;
}

/* Columns whose contents nobody will look at stay as they are. */
static bool wanted(const lacis_nbody *system, int column)
{
    if (system->column[column] == NULL) return false;
    if (column == NBODY_PHI) return system->potentials;
    if (column == NBODY_OLD) return system->old;
    return column < NBODY_AX || column > NBODY_AZ || system->known;
}

lacis_nbody_status lacis_nbody_permute(lacis_nbody *system)
{
    void *number = system->number, *spare = system->number_spare;
    lacis_nbody_status status = put(system, &number, &spare, sizeof(int64_t));
    system->number = number;
    system->number_spare = spare;
    for (int c = 0; c < NBODY_COLUMNS && status == LACIS_NBODY_OK; c++)
        if (wanted(system, c))
            status = put(system, &system->column[c], &system->spare, (uint64_t)lacis_nbody_size(system->type));
    return status;
}
