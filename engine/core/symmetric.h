/* SPDX-License-Identifier: Apache-2.0
 *
 * What the engine knows of dense symmetric matrices besides lacis_extend_symmetric.h.
 */
#ifndef LACIS_CORE_SYMMETRIC_H
#define LACIS_CORE_SYMMETRIC_H

#include "lacis_extend.h"

/* Elements of the stored triangles of an array whose parts go together. */
int64_t lacis_symmetric_elements(const lacis_array *array);

/* Rows [*first, *end) of the stored part of column j, or columns of row j of the other triangle. */
static inline void lacis_symmetric_column(const lacis_symmetric *a, int64_t matrix, int64_t j, int64_t *first,
                                          int64_t *end)
{
    *first = a->upper ? 0 : j;
    *end = a->upper ? j + 1 : lacis_symmetric_order(a, matrix);
}

#endif
