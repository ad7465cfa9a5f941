/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text as CON and HAVING of a product: parsing, typing, folding, canonical form, bounds and strips, over integer,
 * real and complex values. The first byte picks the graph's type and the place.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const fuzz_words[] = {"a",
                                  "b",
                                  "s",
                                  "c",
                                  "t",
                                  " + ",
                                  " - ",
                                  " * ",
                                  " / ",
                                  " % ",
                                  "min(",
                                  "max(",
                                  "abs(",
                                  "sqrt(",
                                  "exp(",
                                  "ln(",
                                  "pow(",
                                  "CASE WHEN ",
                                  " THEN ",
                                  " ELSE ",
                                  " END",
                                  " AND ",
                                  " OR ",
                                  "NOT ",
                                  " IS NULL",
                                  " IN (1, 2)",
                                  " BETWEEN 1 AND 2",
                                  "~",
                                  " << ",
                                  " >> ",
                                  " & ",
                                  " | ",
                                  "CAST(a AS int)",
                                  "CAST(b AS real)",
                                  "iif(",
                                  "coalesce(",
                                  "nullif(",
                                  "round(",
                                  "TRUE",
                                  "FALSE",
                                  "INF",
                                  "NAN",
                                  "nil",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "63",
                                  "64",
                                  "1e308",
                                  "0",
                                  "-1",
                                  "0.5",
                                  "(",
                                  ")",
                                  ",",
                                  "value",
                                  "<=",
                                  "<>",
                                  "hypot(",
                                  "atan2(",
                                  "floor(",
                                  "sign(",
                                  "complex(",
                                  "re(",
                                  "im(",
                                  "conj(",
                                  "arg(",
                                  NULL};

static lacis_engine *engine;

static void start(void)
{
    engine = fuzz_open();
    fuzz_must(engine, "LET p = WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 8) "
                      "SELECT a.i AS src, b.i AS dst FROM n a, n b WHERE a.i <> b.i;"
                      "LET i = SELECT src, dst, (src - 4) * (dst + 1) * 700000000000 AS value FROM p;"
                      "LET r = SELECT src, dst, (src - 4) / (dst + 0.5) AS value FROM p;"
                      "LET z = MULTIPLY r BY r CON complex(a - s, b * t) AGG any;");
}

static const char *const forms[] = {
    "MULTIPLY i BY i AGG sum CON ",         "MULTIPLY r BY r AGG min CON ",
    "MULTIPLY p BY i AGG last CON ",        "MULTIPLY i BY r AGG max TOP 2 CON ",
    "MULTIPLY p BY p AGG count HAVING ",    "MULTIPLY i BY i AGG min CON b HAVING ",
    "MULTIPLY i BY p CON a AGG (x, y) -> ", "MULTIPLY z BY z AGG sum CON ",
    "MULTIPLY z BY r AGG avg CON ",         "MULTIPLY z BY z CON a * b AGG (x, y) -> ",
};

void fuzz_one(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096) return;
    if (engine == NULL) start();
    const char *form = forms[data[0] % (sizeof forms / sizeof forms[0])];
    char *text = malloc(strlen(form) + size);
    FUZZ_CHECK(text != NULL);
    memcpy(text, form, strlen(form));
    memcpy(text + strlen(form), data + 1, size - 1);
    text[strlen(form) + size - 1] = '\0';
    lacis_statement *statement = NULL;
    lacis_status status = lacis_prepare(engine, text, NULL, &statement);
    fuzz_check_error(engine, status, strlen(text));
    if (status == LACIS_OK && statement != NULL) fuzz_drain(engine, statement);
    free(text);
}
