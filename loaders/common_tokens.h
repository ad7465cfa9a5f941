/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of blank-separated integers, each line a vertex with its neighbours: METIS and adjacency lists. Used by
 * metis.c and adjacency.c.
 */
#ifndef LACIS_LOADERS_TOKENS_H
#define LACIS_LOADERS_TOKENS_H

#include "common_number.h"
#include "common_text.h"

/* The field at *p of the line that ends at end; false where none is left. */
static inline bool lacis_token(const char **p, const char *end, const char **from, const char **to)
{
    const char *q = lacis_skip_blanks(*p, end);
    *from = q;
    while (q < end && !lacis_blank(*q)) {
        q++;
    }
    *to = *p = q;
    return q > *from;
}

#endif
