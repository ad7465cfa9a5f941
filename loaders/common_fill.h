/* SPDX-License-Identifier: Apache-2.0
 *
 * The second reading of common_edges.c: value types, room for the entries, and putting edges in their places.
 */
#ifndef LACIS_LOADERS_FILL_H
#define LACIS_LOADERS_FILL_H

#include "common_edges.h"

/* The fault of a repeated edge; readers' own codes are below it. */
enum { LACIS_FAULT_DUPLICATE = 1000 };

/* Decides the type of values and how they are stored, from what was seen and what the user wants. */
lacis_status lacis_fill_type(lacis_edges *edges);
lacis_status lacis_fill_space(lacis_edges *edges);
lacis_want lacis_fill_want(const lacis_edges *edges);
void lacis_fill_take(lacis_edges *edges, lacis_sink *sink);

#endif
