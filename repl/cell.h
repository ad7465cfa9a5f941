/* SPDX-License-Identifier: Apache-2.0
 *
 * One value of a result row as text, without a copy where the engine has it as text already.
 */
#ifndef SHELL_CELL_H
#define SHELL_CELL_H

#include "lacis.h"
#include "text.h"

typedef struct shell_cell {
    lacis_type type;
    const char *text; /* until the next call on the statement or the cell buffer; not zero-terminated */
    size_t length;
} shell_cell;

/* What shell_cell_read needs beside the statement. */
typedef struct shell_cell_buffer {
    char digits[SHELL_DIGITS];
    shell_text blob;
} shell_cell_buffer;

/* A null reads as a text of no bytes, a blob as x'0AFF'. */
shell_cell shell_cell_read(lacis_statement *statement, int column, shell_cell_buffer *buffer);

static inline bool shell_cell_number(const shell_cell *cell)
{
    return cell->type == LACIS_INTEGER || cell->type == LACIS_REAL;
}

#endif
