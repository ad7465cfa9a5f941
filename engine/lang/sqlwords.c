/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of SQL that the statement parser has to know: which statements begin how, which words no alias may be, and
 * what completion offers inside SQL. Callers: statement.c, work.c, totals.c, offer.c.
 */
#include "lang/parser.h"

#include <stdlib.h>
#include <string.h>

/* Without those that statement.c looks at first: CREATE, DROP and EXPLAIN. */
const char *const lacis_sql_statements[] = {"SELECT",    "INSERT",  "UPDATE",   "DELETE", "ALTER",   "BEGIN",
                                            "COMMIT",    "END",     "ROLLBACK", "WITH",   "VALUES",  "PRAGMA",
                                            "ATTACH",    "ANALYZE", "DETACH",   "VACUUM", "REPLACE", "REINDEX",
                                            "SAVEPOINT", "RELEASE", NULL};

const char *const lacis_sql_words[] = {
    "ALL",    "AND",    "AS",        "ASC",    "AVG",  "BETWEEN", "BY",     "CASE", "CAST",  "COUNT",  "CROSS",
    "DELETE", "DESC",   "DISTINCT",  "ELSE",   "END",  "EXCEPT",  "EXISTS", "FROM", "GROUP", "HAVING", "IN",
    "INNER",  "INSERT", "INTERSECT", "INTO",   "IS",   "JOIN",    "LEFT",   "LIKE", "LIMIT", "MAX",    "MIN",
    "NOT",    "NULL",   "OFFSET",    "ON",     "OR",   "ORDER",   "SELECT", "SET",  "SUM",   "TABLE",  "THEN",
    "UNION",  "UPDATE", "USING",     "VALUES", "VIEW", "WHEN",    "WHERE",  "WITH", NULL};

/* All keywords of SQLite 3.45, sorted. */
static const char *const keywords[] = {"ABORT",
                                       "ACTION",
                                       "ADD",
                                       "AFTER",
                                       "ALL",
                                       "ALTER",
                                       "ALWAYS",
                                       "ANALYZE",
                                       "AND",
                                       "AS",
                                       "ASC",
                                       "ATTACH",
                                       "AUTOINCREMENT",
                                       "BEFORE",
                                       "BEGIN",
                                       "BETWEEN",
                                       "BY",
                                       "CASCADE",
                                       "CASE",
                                       "CAST",
                                       "CHECK",
                                       "COLLATE",
                                       "COLUMN",
                                       "COMMIT",
                                       "CONFLICT",
                                       "CONSTRAINT",
                                       "CREATE",
                                       "CROSS",
                                       "CURRENT",
                                       "CURRENT_DATE",
                                       "CURRENT_TIME",
                                       "CURRENT_TIMESTAMP",
                                       "DATABASE",
                                       "DEFAULT",
                                       "DEFERRABLE",
                                       "DEFERRED",
                                       "DELETE",
                                       "DESC",
                                       "DETACH",
                                       "DISTINCT",
                                       "DO",
                                       "DROP",
                                       "EACH",
                                       "ELSE",
                                       "END",
                                       "ESCAPE",
                                       "EXCEPT",
                                       "EXCLUDE",
                                       "EXCLUSIVE",
                                       "EXISTS",
                                       "EXPLAIN",
                                       "FAIL",
                                       "FILTER",
                                       "FIRST",
                                       "FOLLOWING",
                                       "FOR",
                                       "FOREIGN",
                                       "FROM",
                                       "FULL",
                                       "GENERATED",
                                       "GLOB",
                                       "GROUP",
                                       "GROUPS",
                                       "HAVING",
                                       "IF",
                                       "IGNORE",
                                       "IMMEDIATE",
                                       "IN",
                                       "INDEX",
                                       "INDEXED",
                                       "INITIALLY",
                                       "INNER",
                                       "INSERT",
                                       "INSTEAD",
                                       "INTERSECT",
                                       "INTO",
                                       "IS",
                                       "ISNULL",
                                       "JOIN",
                                       "KEY",
                                       "LAST",
                                       "LEFT",
                                       "LIKE",
                                       "LIMIT",
                                       "MATCH",
                                       "MATERIALIZED",
                                       "NATURAL",
                                       "NO",
                                       "NOT",
                                       "NOTHING",
                                       "NOTNULL",
                                       "NULL",
                                       "NULLS",
                                       "OF",
                                       "OFFSET",
                                       "ON",
                                       "OR",
                                       "ORDER",
                                       "OTHERS",
                                       "OUTER",
                                       "OVER",
                                       "PARTITION",
                                       "PLAN",
                                       "PRAGMA",
                                       "PRECEDING",
                                       "PRIMARY",
                                       "QUERY",
                                       "RAISE",
                                       "RANGE",
                                       "RECURSIVE",
                                       "REFERENCES",
                                       "REGEXP",
                                       "REINDEX",
                                       "RELEASE",
                                       "RENAME",
                                       "REPLACE",
                                       "RESTRICT",
                                       "RETURNING",
                                       "RIGHT",
                                       "ROLLBACK",
                                       "ROW",
                                       "ROWS",
                                       "SAVEPOINT",
                                       "SELECT",
                                       "SET",
                                       "TABLE",
                                       "TEMP",
                                       "TEMPORARY",
                                       "THEN",
                                       "TIES",
                                       "TO",
                                       "TRANSACTION",
                                       "TRIGGER",
                                       "UNBOUNDED",
                                       "UNION",
                                       "UNIQUE",
                                       "UPDATE",
                                       "USING",
                                       "VACUUM",
                                       "VALUES",
                                       "VIEW",
                                       "VIRTUAL",
                                       "WHEN",
                                       "WHERE",
                                       "WINDOW",
                                       "WITH",
                                       "WITHIN",
                                       "WITHOUT"};

static int compare(const void *word, const void *element)
{
    return strcmp(word, *(const char *const *)element);
}

bool lacis_sql_keyword(const char *text, size_t length)
{
    char word[LACIS_WORD_TEXT];
    if (length >= sizeof word) return false;
    for (size_t i = 0; i < length; i++) {
        word[i] = lacis_upper(text[i]);
    }
    word[length] = '\0';
    return bsearch(word, keywords, LACIS_COUNT(keywords), sizeof keywords[0], compare) != NULL;
}

bool lacis_sql_query_word(const lacis_token *token)
{
    static const char *const queries[] = {"SELECT", "WITH", "VALUES"};
    for (int i = 0; i < LACIS_COUNT(queries); i++) {
        if (token->kind == LACIS_TOKEN_WORD && lacis_word_is(token->text, token->length, queries[i])) return true;
    }
    return false;
}
