/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that go with an array until it is entered in the catalog; exec/load.c enters them with it.
 */
#ifndef LACIS_CORE_ATTACHED_H
#define LACIS_CORE_ATTACHED_H

#include "core/run.h"

typedef struct lacis_attached {
    struct lacis_attached *next;
    lacis_memory *memory;
    lacis_array *table;
    char suffix[];
} lacis_attached;

/* The first one's place, in the order in which they were attached. */
lacis_attached **lacis_array_attached(lacis_array *array);
/* Lets all of them go. */
void lacis_array_detach(lacis_array *array);

#endif
