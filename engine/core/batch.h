/* SPDX-License-Identifier: Apache-2.0
 *
 * What the engine knows of interleaved batches besides lacis_extend.h.
 */
#ifndef LACIS_CORE_BATCH_H
#define LACIS_CORE_BATCH_H

#include "lacis_extend.h"

/* Whether a part of that name says how a batch is built, and is not one of its fields. */
bool lacis_batch_structure(const char *part);
/* array.c: what the further columns (component 1 ..) of a complex or double-double field are called: "x_im", "x_lo",
 * of one that is both "x_lo", "x_im", "x_im_lo"; and how such names end. */
const char *lacis_array_further_name(const lacis_array *array, int index, int component);
const char *lacis_field_ending(lacis_dtype dtype, int component);

/* Elements of all lanes, without padding, of an array whose parts go together. */
int64_t lacis_batch_elements(const lacis_array *array);

#endif
