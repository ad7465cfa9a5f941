/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of bodies: how many, and of their ids; and of columns that have no part. See totals.c.
 */
#include "core/bodies.h"
#include "core/totals.h"

#include <math.h>

/* base, base + 1 ... base + count - 1 */
static void add_plain(const lacis_bodies *bodies, lacis_totals *keys)
{
    __int128 count = bodies->count;
    keys->sum_src = count * bodies->base + count * (count - 1) / 2;
    keys->min_src = bodies->base;
    keys->max_src = bodies->base + bodies->count - 1;
}

static void add_ids(const lacis_bodies *bodies, lacis_totals *keys)
{
    for (int64_t i = 0; i < bodies->count; i++) {
        int64_t id = bodies->id[i];
        keys->sum_src += id;
        if (id < keys->min_src) keys->min_src = id;
        if (id > keys->max_src) keys->max_src = id;
    }
}

lacis_status lacis_totals_bodies(lacis_run *run, const lacis_array *array, lacis_totals *totals)
{
    lacis_bodies bodies;
    lacis_totals keys;
    LACIS_TRY(lacis_bodies_view(run, array, &bodies));
    if (bodies.count == 0) return LACIS_OK;
    lacis_totals_init(&keys);
    keys.count = bodies.count;
    if (bodies.id == NULL)
        add_plain(&bodies, &keys);
    else
        add_ids(&bodies, &keys);
    lacis_totals_merge(totals, &keys);
    return LACIS_OK;
}

void lacis_totals_partless(const lacis_array *bodies, bool id, lacis_totals *totals)
{
    __int128 count = lacis_array_extent(bodies, 0);
    totals->count += (int64_t)count;
    if (count == 0) return;
    if (id) {
        int64_t base = lacis_array_base(bodies, 0), last = base + (int64_t)count - 1;
        totals->exact += count * base + count * (count - 1) / 2;
        if (base < totals->min_int) totals->min_int = base;
        if (last > totals->max_int) totals->max_int = last;
    } else {
        totals->min = fmin(totals->min, 0);
        totals->max = fmax(totals->max, 0);
    }
}
