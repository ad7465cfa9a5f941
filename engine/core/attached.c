/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements attached.h, and what operators see of it in lacis_extend_bodies.h.
 */
#include "core/attached.h"

#include <string.h>

static void let_go(lacis_attached *attached)
{
    lacis_memory *memory = attached->memory;
    lacis_array_release(attached->table);
    lacis_memory_free(memory, attached);
    lacis_memory_release(memory);
}

void lacis_array_detach(lacis_array *array)
{
    lacis_attached **first = lacis_array_attached(array);
    while (*first != NULL) {
        lacis_attached *attached = *first;
        *first = attached->next;
        let_go(attached);
    }
}

/* The place of the one of that suffix, or that behind the last. */
static lacis_attached **find(lacis_array *array, const char *suffix)
{
    lacis_attached **at = lacis_array_attached(array);
    while (*at != NULL && strcmp((*at)->suffix, suffix) != 0)
        at = &(*at)->next;
    return at;
}

lacis_status lacis_array_attach(lacis_run *run, lacis_array *array, const char *suffix, lacis_array *table)
{
    lacis_attached **at = find(array, suffix), *fresh;
    size_t bytes = strlen(suffix) + 1;
    if (lacis_array_kind(table) != LACIS_TABLE || bytes == 1)
        return lacis_run_fail(run, LACIS_MISUSE, "only a table with a suffix goes with an array");
    LACIS_TRY(lacis_run_alloc(run, sizeof *fresh + bytes, &fresh));
    *fresh = (lacis_attached){.memory = lacis_memory_retain(run->host->memory), .table = lacis_array_retain(table)};
    memcpy(fresh->suffix, suffix, bytes);
    lacis_attached *old = *at;
    fresh->next = old == NULL ? NULL : old->next;
    *at = fresh;
    if (old != NULL) let_go(old);
    return LACIS_OK;
}
