/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies as text, a body a line. common_bodies_layout.c finds out which field is what, common_bodies_text.c reads the
 * lines. Used by bodies.c.
 */
#ifndef LACIS_LOADERS_BODIES_TEXT_H
#define LACIS_LOADERS_BODIES_TEXT_H

#include "common_bodies.h"
#include "common_text.h"

enum { LACIS_BODY_FIELDS = 64 };

typedef struct lacis_bodies_layout {
    const lacis_text *text;
    const char *begin, *end; /* the lines of bodies */
    char delimiter;          /* 0: blanks */
    bool more;               /* lines may have further fields */
    int fields;
    signed char column[LACIS_BODY_FIELDS]; /* a lacis_body_column; -1: left out */
    unsigned columns;                      /* bits of all that there are */
} lacis_bodies_layout;

/* From the names in a header line or in option columns, or from the two numbers at the head of a file in the format
 * of Princeton's assignment. */
lacis_status lacis_bodies_layout_find(lacis_run *run, const lacis_text *text, const lacis_options *given,
                                      lacis_bodies_layout *out);
/* How sure the text is one of bodies: 0 .. 100. */
int lacis_bodies_layout_sniff(const lacis_text *text);
/* Sets fields and columns from names that blanks or `delimiter` part. LACIS_RANGE or, from a file (text not NULL),
 * LACIS_FORMAT where they make no bodies; `offset` is the option's in the statement. */
lacis_status lacis_bodies_layout_names(lacis_run *run, const lacis_text *text, const char *from, const char *to,
                                       int64_t offset, lacis_bodies_layout *layout);

lacis_status lacis_bodies_text_read(lacis_run *run, const lacis_bodies_layout *layout, lacis_dtype dtype,
                                    lacis_array **out);

#endif
