/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text as a statement: incomplete?, completion at every eighth byte, preparing all of its statements. Those that
 * only compute (MULTIPLY, POWER, SHOW) are run too, on a graph of six vertices; statements that could touch files are
 * not.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const fuzz_words[] = {"MULTIPLY g BY g",
                                  "POWER g TO 3",
                                  "POWER g UNTIL STABLE",
                                  "LET x = ",
                                  "CREATE VIEW f AS ",
                                  "EXPLAIN ",
                                  "ANALYZE ",
                                  "LOAD a FROM 'x'",
                                  " AS ",
                                  " WITH (",
                                  "directed = false",
                                  "GENERATE g AS rmat(scale = 3)",
                                  "SAVE g TO 'x'",
                                  "DROP g",
                                  "SET threads = 2",
                                  "SHOW ARRAYS",
                                  "SELECT * FROM g",
                                  " CON ",
                                  " AGG ",
                                  "count",
                                  "min",
                                  "sum",
                                  "avg",
                                  "a + b",
                                  "nil",
                                  "(x, y) -> x + y IDENTITY 0",
                                  " ASSOCIATIVE",
                                  " MASK NOT g",
                                  " WHERE src IN (1, 2)",
                                  " TOP 3",
                                  " HAVING value > 1",
                                  " ON CPU",
                                  ":name",
                                  "'text'",
                                  "''",
                                  "\"",
                                  "--",
                                  "/*",
                                  "*/",
                                  ";",
                                  "(",
                                  ")",
                                  "[",
                                  "]",
                                  "->",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "1e308",
                                  "0x10",
                                  ".5",
                                  "NULL",
                                  "BEGIN",
                                  "COMMIT",
                                  NULL};

static lacis_engine *engine;

static void start(void)
{
    engine = fuzz_open();
    fuzz_must(engine, "LET g = WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 5) "
                      "SELECT a.i AS src, b.i AS dst FROM n a, n b WHERE a.i <> b.i;"
                      "LET v = SELECT src AS i, src * 0.5 AS value FROM g GROUP BY src;");
}

static void ignore(void *arg, const char *word, const char *kind)
{
    (void)arg;
    FUZZ_CHECK(word != NULL && kind != NULL);
}

static int only_computes(const char *text)
{
    static const char *const safe[] = {"MULTIPLY", "POWER", "SHOW"};
    text += strspn(text, " \t\r\n");
    for (size_t i = 0; i < sizeof safe / sizeof safe[0]; i++)
        if (strncasecmp(text, safe[i], strlen(safe[i])) == 0) return 1;
    return 0;
}

static void prepare_all(const char *text)
{
    while (*text != '\0') {
        const char *tail = NULL;
        lacis_statement *statement = NULL;
        lacis_status status = lacis_prepare(engine, text, &tail, &statement);
        fuzz_check_error(engine, status, strlen(text));
        if (status != LACIS_OK) return;
        if (statement != NULL && only_computes(text))
            fuzz_drain(engine, statement);
        else
            lacis_finalize(statement);
        FUZZ_CHECK(tail != NULL && tail <= text + strlen(text));
        if (tail == text || statement == NULL) return;
        text = tail;
    }
}

void fuzz_one(const uint8_t *data, size_t size)
{
    if (engine == NULL) start();
    char *text = malloc(size + 1); /* exactly as long as it is, so that a step too far is seen */
    FUZZ_CHECK(text != NULL);
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    size_t length = strlen(text);
    (void)lacis_incomplete(text);
    for (size_t cursor = length; cursor <= length; cursor -= 8) {
        size_t begin = 0;
        if (lacis_complete(engine, text, cursor, &begin, ignore, NULL) == LACIS_OK) FUZZ_CHECK(begin <= cursor);
        if (cursor < 8) break;
    }
    prepare_all(text);
    free(text);
}
