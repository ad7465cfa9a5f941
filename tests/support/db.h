/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of the whole engine share: statements run with their rows as text, and failures with their messages.
 */
#ifndef LACIS_TESTS_DB_H
#define LACIS_TESTS_DB_H

#include "lacis.h"
#include "support/check.h"

#include <stdlib.h>

typedef struct db_text {
    char *data;
    size_t length, room;
    int rows;
} db_text;

static inline void db_add(db_text *text, const char *piece)
{
    size_t more = strlen(piece);
    if (text->length + more + 1 > text->room) {
        text->room = 2 * (text->length + more + 64);
        text->data = realloc(text->data, text->room);
        assert_non_null(text->data);
    }
    memcpy(text->data + text->length, piece, more + 1);
    text->length += more;
}

static inline int db_row(void *arg, int columns, const char *const *names, const char *const *values)
{
    db_text *text = arg;
    (void)names;
    for (int i = 0; i < columns; i++) {
        if (i > 0) db_add(text, ",");
        db_add(text, values[i] == NULL ? "NULL" : values[i]);
    }
    db_add(text, "\n");
    text->rows++;
    return 0;
}

/* Runs text, which must succeed; its rows as "a,b\nc,d\n", to be freed. */
static inline char *db_rows(lacis_engine *engine, const char *text)
{
    db_text out = {NULL, 0, 0, 0};
    db_add(&out, "");
    lacis_status status = lacis_exec(engine, text, db_row, &out);
    if (status != LACIS_OK)
        fail_msg("%s\n  failed: %s: %s (%s)", text, lacis_status_name(status), lacis_error_message(engine),
                 lacis_error_hint(engine));
    return out.data;
}

static inline void db_expect(lacis_engine *engine, const char *text, const char *rows)
{
    char *out = db_rows(engine, text);
    assert_string_equal(out, rows);
    free(out);
}

static inline void db_run(lacis_engine *engine, const char *text)
{
    free(db_rows(engine, text));
}

/* Runs text, which must end with this status and a message that contains `part`. */
static inline void db_fails(lacis_engine *engine, const char *text, lacis_status expected, const char *part)
{
    lacis_status status = lacis_exec(engine, text, NULL, NULL);
    if (status != expected)
        fail_msg("%s\n  gave %s (%s), not %s", text, lacis_status_name(status), lacis_error_message(engine),
                 lacis_status_name(expected));
    assert_int_equal(lacis_error_status(engine), expected);
    if (strstr(lacis_error_message(engine), part) == NULL)
        fail_msg("%s\n  message \"%s\" lacks \"%s\"", text, lacis_error_message(engine), part);
}

static inline lacis_engine *db_open(const char *path)
{
    lacis_engine *engine;
    lacis_status status = lacis_open(path, &engine);
    if (status != LACIS_OK)
        fail_msg("cannot open %s: %s", path == NULL ? ":memory:" : path, lacis_error_message(engine));
    return engine;
}

#endif
