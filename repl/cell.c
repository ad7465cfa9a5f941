/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements cell.h.
 */
#include "cell.h"

#include <string.h>

static void read_blob(lacis_statement *statement, int column, shell_text *out)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t bytes = 0;
    const unsigned char *data = lacis_column_blob(statement, column, &bytes);
    shell_text_clear(out);
    shell_text_puts(out, "x'");
    for (size_t i = 0; data && i < bytes; i++) {
        char pair[2] = {digits[data[i] >> 4], digits[data[i] & 15]};
        shell_text_add(out, pair, 2);
    }
    shell_text_puts(out, "'");
}

shell_cell shell_cell_read(lacis_statement *statement, int column, shell_cell_buffer *buffer)
{
    shell_cell cell = {.type = lacis_column_type(statement, column), .text = ""};
    switch (cell.type) {
    case LACIS_NULL:
        break;
    case LACIS_INTEGER:
        cell.text = buffer->digits;
        cell.length = shell_digits(lacis_column_int64(statement, column), buffer->digits);
        break;
    case LACIS_BLOB:
        read_blob(statement, column, &buffer->blob);
        cell.text = buffer->blob.data;
        cell.length = buffer->blob.used;
        break;
    case LACIS_REAL:
    case LACIS_TEXT: {
        const char *text = lacis_column_text(statement, column);
        if (text) cell.text = text;
        cell.length = strlen(cell.text);
        break;
    }
    }
    return cell;
}
