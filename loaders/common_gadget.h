/* SPDX-License-Identifier: Apache-2.0
 *
 * Snapshots of Gadget-2 taken apart: which order of bytes, the head, and where the blocks of places, velocities, ids
 * and masses lie. Used by gadget.c.
 */
#ifndef LACIS_LOADERS_GADGET_H
#define LACIS_LOADERS_GADGET_H

#include "common_endian.h"
#include "lacis_extend.h"

enum { LACIS_GADGET_KINDS = 6, LACIS_GADGET_HEAD = 256 };

/* A Fortran record's bytes, `at` the start of the file. data NULL: the file has none such. */
typedef struct lacis_gadget_block {
    const char *data;
    uint64_t at, bytes;
    int size; /* bytes of an element: 4 or 8 */
} lacis_gadget_block;

typedef struct lacis_gadget {
    lacis_run *run;
    const lacis_source *source;
    bool swap;
    int format; /* 1, 2 */
    int64_t count[LACIS_GADGET_KINDS], bodies;
    double mass[LACIS_GADGET_KINDS]; /* 0: those of the kind are in the mass block */
    double time, redshift;
    uint32_t files; /* of the snapshot, of which this is one */
    lacis_gadget_block pos, vel, id, masses;
} lacis_gadget;

/* Whether the file begins as a snapshot does. */
bool lacis_gadget_is(const lacis_source *source, int *format, bool *swap);
/* LACIS_FORMAT, with the byte, where a record's two lengths differ, the file ends inside of one, or a block has not
 * the length that the head's numbers ask for. */
lacis_status lacis_gadget_open(lacis_run *run, const lacis_source *source, lacis_gadget *out);

#endif
