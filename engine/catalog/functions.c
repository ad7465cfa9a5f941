/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL functions besides SQLite's: dd_text(hi, lo) and dd_text(re, re_lo, im, im_lo), double-double numbers as text to
 * all their digits, for fields of batches and whatever SQL computes. Registered when a catalog is opened.
 */
#include "catalog/internal.h"

static void dd_text(sqlite3_context *out, int count, sqlite3_value **value)
{
    char text[LACIS_CDD_TEXT];
    double word[4];
    for (int i = 0; i < count; i++) {
        int type = sqlite3_value_numeric_type(value[i]);
        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return; /* NULL */
        word[i] = sqlite3_value_double(value[i]);
    }
    if (count == 2)
        lacis_format_dd(word[0], word[1], text);
    else
        lacis_format_cdd(word, text);
    sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

lacis_status lacis_functions_register(lacis_run *run, lacis_catalog *catalog)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (int count = 2; count <= 4; count += 2) {
        int code = sqlite3_create_function_v2(catalog->db, "dd_text", count, flags, NULL, dd_text, NULL, NULL, NULL);
        if (code != SQLITE_OK) return lacis_catalog_fail(run, catalog, code, -1);
    }
    return LACIS_OK;
}
