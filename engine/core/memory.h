/* SPDX-License-Identifier: Apache-2.0
 *
 * Address space for results, for buffer.c alone; the rest of memory.c is declared in run.h.
 */
#ifndef LACIS_CORE_MEMORY_H
#define LACIS_CORE_MEMORY_H

#include "core/run.h"

/* At least *bytes of address space; *bytes becomes what it is, *touched how far from its start pages may already be
 * in use (a pooled region's are warm). NULL: none. Nothing is charged. */
void *lacis_memory_map(lacis_memory *memory, uint64_t *bytes, uint64_t *touched);
/* Gives it back; touched: how far from its start pages may have been used. */
void lacis_memory_unmap(lacis_memory *memory, void *data, uint64_t bytes, uint64_t touched);

#endif
