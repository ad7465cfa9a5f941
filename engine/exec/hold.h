/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands that a serving rank keeps for later calls, by rank 0's numbers of them. Called by serve.c.
 */
#ifndef LACIS_EXEC_HOLD_H
#define LACIS_EXEC_HOLD_H

#include "core/run.h"

enum { LACIS_HELD = 32 };

/* Zeroed to begin with. */
typedef struct lacis_hold {
    struct {
        uint64_t number, use;
        lacis_array *array; /* NULL: free */
    } held[LACIS_HELD];
    uint64_t uses;
} lacis_hold;

/* A hold on the array of that number, or NULL. */
lacis_array *lacis_hold_find(lacis_hold *hold, uint64_t number);
/* Lets go of the one that was used longest ago and is none of `used`. False: there is none. */
bool lacis_hold_drop(lacis_hold *hold, lacis_array *const *used, int count);
/* Keeps the array, if need be in place of another. */
void lacis_hold_keep(lacis_hold *hold, uint64_t number, const lacis_array *array, lacis_array *const *used,
                     int count);
uint64_t lacis_hold_bytes(const lacis_hold *hold);

#endif
