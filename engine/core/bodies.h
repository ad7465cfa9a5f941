/* SPDX-License-Identifier: Apache-2.0
 *
 * What the engine knows of bodies besides lacis_extend_bodies.h.
 */
#ifndef LACIS_CORE_BODIES_H
#define LACIS_CORE_BODIES_H

#include "lacis_extend.h"

/* The columns of figures in SQL's order, which are the names of the parts, too. Those before EPS are always there. */
enum { LACIS_BODIES_EPS = 7, LACIS_BODIES_FIGURES = 12 };
extern const char *const lacis_bodies_figure[LACIS_BODIES_FIGURES];
/* The same of a view; NULL: not there. */
const void *lacis_bodies_column(const lacis_bodies *bodies, int figure);
void lacis_bodies_set_column(lacis_bodies *bodies, int figure, const void *data);

static inline int64_t lacis_bodies_id(const lacis_bodies *bodies, int64_t at)
{
    return bodies->id == NULL ? bodies->base + at : bodies->id[at];
}

/* Places of the bodies by rising id; *order NULL: they lie so. Made once an array, which keeps it. */
lacis_status lacis_bodies_order(lacis_run *run, const lacis_array *array, const lacis_bodies *bodies,
                                const int64_t **order);

#endif
