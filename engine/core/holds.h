/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a format holds an array (lacis_loader.holds), before it is written or even computed. Used by exec/save.c.
 */
#ifndef LACIS_CORE_HOLDS_H
#define LACIS_CORE_HOLDS_H

#include "core/rows.h"

/* What an array is, and what a bound call will make; names are the array's and the call's own. */
typedef struct lacis_outline_room {
    const char *name[LACIS_GRID_FIELDS];
} lacis_outline_room;
lacis_status lacis_outline_of(lacis_run *run, const lacis_array *array, lacis_outline_room *room, lacis_outline *out);
void lacis_outline_of_call(const lacis_call *call, lacis_outline_room *room, lacis_outline *out);

/* False: what the format does hold, and what this is ("raw holds grids, and this is a vector"). LACIS_TYPE or
 * LACIS_NAME in *code. */
enum { LACIS_HOLDS_TEXT = 400 };
bool lacis_loader_holds(const lacis_loader *loader, const lacis_outline *form, lacis_status *code, char *why,
                        size_t size);

#endif
