/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and arrays as bytes, for messages between ranks. All ranks run the same program on the same kind of machine:
 * numbers stand as they are in memory. Texts and the parts of arrays are aligned so that a reader uses them in place.
 */
#ifndef LACIS_CORE_WIRE_H
#define LACIS_CORE_WIRE_H

#include "core/run.h"

/* Grows as it is written to; the first failure sticks in `status`. */
typedef struct lacis_wire {
    lacis_run *run;
    char *data;
    uint64_t bytes, room;
    lacis_status status;
} lacis_wire;
void lacis_wire_bytes(lacis_wire *wire, const void *data, uint64_t bytes);
void lacis_wire_aligned(lacis_wire *wire, const void *data, uint64_t bytes); /* from a multiple of 64 bytes on */
void lacis_wire_int(lacis_wire *wire, int64_t value);
void lacis_wire_text(lacis_wire *wire, const char *text); /* NULL is kept */
/* Only what is used of it: rows of a graph one behind the other, whatever way they lie. */
void lacis_wire_array(lacis_wire *wire, const lacis_array *array);
void lacis_wire_free(lacis_wire *wire);

/* Reads what the functions above wrote. What is not there reads as 0 or NULL and makes `bad` true. */
typedef struct lacis_unwire {
    const char *data; /* 64-byte aligned */
    uint64_t bytes, at;
    bool bad;
} lacis_unwire;
const void *lacis_unwire_bytes(lacis_unwire *wire, uint64_t bytes);
const void *lacis_unwire_aligned(lacis_unwire *wire, uint64_t bytes);
int64_t lacis_unwire_int(lacis_unwire *wire);
const char *lacis_unwire_text(lacis_unwire *wire);
/* An array whose parts lie in `whole`, the buffer that the reader runs over. LACIS_FORMAT where it is none. */
lacis_status lacis_unwire_array(lacis_run *run, lacis_unwire *wire, lacis_buffer *whole, lacis_array **out);

#endif
