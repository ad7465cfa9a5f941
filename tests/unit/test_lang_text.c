/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries that are recognised as totals, and texts that end inside a statement.
 */
#include "support/parse.h"

#include <sqlite3.h>

static void recognises_totals(void **state)
{
    (void)state;
    lacis_total_query query;
    const char *text = "select count(*), sum( value ) s, MAX(\"Value\") AS \"the max\", min(src) as 'm', avg(dst),\n"
                       "total (i) AS t, count(value) FROM \"my f\" ; SELECT 2";
    assert_true(lacis_lang_totals(&run, text, &query));
    assert_string_equal(query.name, "my f");
    assert_string_equal(query.tail, " SELECT 2");
    static const struct {
        lacis_total_kind kind;
        const char *column, *heading;
    } want[] = {{LACIS_TOTAL_COUNT, NULL, "count(*)"},       {LACIS_TOTAL_SUM, "value", "s"},
                {LACIS_TOTAL_MAX, "Value", "the max"},       {LACIS_TOTAL_MIN, "src", "m"},
                {LACIS_TOTAL_AVG, "dst", "avg(dst)"},        {LACIS_TOTAL_TOTAL, "i", "t"},
                {LACIS_TOTAL_COUNT, "value", "count(value)"}};
    assert_int_equal(query.items, LACIS_COUNT(want));
    for (int i = 0; i < query.items; i++) {
        assert_int_equal(query.item[i].kind, want[i].kind);
        assert_string_equal(query.item[i].heading, want[i].heading);
        if (want[i].column == NULL) assert_null(query.item[i].column);
        if (want[i].column != NULL) assert_string_equal(query.item[i].column, want[i].column);
    }
}

static void leaves_other_queries_to_sqlite(void **state)
{
    (void)state;
    static const char *const others[] = {"SELECT count(*) FROM f WHERE src = 1",
                                         "SELECT count(*) FROM f g",
                                         "SELECT count(*), src FROM f",
                                         "SELECT count(DISTINCT src) FROM f",
                                         "SELECT count(*) FROM main.f",
                                         "SELECT count(*) FROM f, g",
                                         "SELECT count(*) + 1 FROM f",
                                         "SELECT sum(value + 1) FROM f",
                                         "SELECT sum(f.value) FROM f",
                                         "SELECT sum(*) FROM f",
                                         "SELECT count() FROM f",
                                         "SELECT min(src, dst) FROM f",
                                         "SELECT sum(select) FROM f",
                                         "SELECT sum(null) FROM f",
                                         "SELECT sum('value') FROM f",
                                         "SELECT sum(7) FROM f",
                                         "SELECT DISTINCT count(*) FROM f",
                                         "SELECT ALL count(*) FROM f",
                                         "SELECT count(*)",
                                         "SELECT count(*) FROM (f)",
                                         "SELECT count(*) FROM f LIMIT 1",
                                         "SELECT count(*) FROM f GROUP BY src",
                                         "SELECT count(*) OVER () FROM f",
                                         "SELECT count(*) FILTER (WHERE 1) FROM f",
                                         "SELECT count(*) isnull FROM f",
                                         "SELECT count(*) AS FROM f",
                                         "SELECT count(*) AS select FROM f",
                                         "SELECT count(*) FROM select",
                                         "SELECT count(*) FROM 'f'",
                                         "SELECT count(*) FROM [f]",
                                         "SELECT count(*) FROM f UNION SELECT 1",
                                         "SELECT \"count\"(*) FROM f",
                                         "SELECT count(*) /* x */ FROM f",
                                         "SELECT count(*) a b FROM f",
                                         "SELECT count(*), FROM f",
                                         "SELECT FROM f",
                                         "SELECT count(* FROM f",
                                         "EXPLAIN SELECT count(*) FROM f",
                                         "WITH f AS (SELECT 1) SELECT count(*) FROM f",
                                         "SELECT sum(:p) FROM f",
                                         "SELECT count(*) collate nocase FROM f",
                                         "SELECT count(*) FROM f()",
                                         "SELECT",
                                         ""};
    lacis_total_query query;
    for (int i = 0; i < LACIS_COUNT(others); i++) {
        if (lacis_lang_totals(&run, others[i], &query)) fail_msg("taken for totals: %s", others[i]);
    }
    char many[1000] = "SELECT count(*)";
    for (int i = 1; i < LACIS_TOTAL_ITEMS; i++) {
        strcat(many, ",count(*)");
    }
    size_t end = strlen(many);
    strcat(many, " FROM f");
    assert_true(lacis_lang_totals(&run, many, &query));
    strcpy(many + end, ",count(*) FROM f");
    assert_false(lacis_lang_totals(&run, many, &query));
}

static void headings_are_those_of_sqlite(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "SELECT count(*), sum( value ),max(value)\n,  MIN ( src )   FROM f",
        "SELECT count(*)a, sum(value)\"b c\", max(value)'d''e', total(\"value\") as _f, avg(dst) \"g\"\"h\" FROM f;",
        "SELECT /* c */ sum(/* d */value) , count( * )\t\nFROM f", "SELECT sum(value) S\xc3\xa4 FROM \"f\""};
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE f(src, dst, value)", NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < LACIS_COUNT(texts); i++) {
        sqlite3_stmt *statement;
        lacis_total_query query;
        assert_int_equal(sqlite3_prepare_v2(db, texts[i], -1, &statement, NULL), SQLITE_OK);
        assert_true(lacis_lang_totals(&run, texts[i], &query));
        assert_int_equal(query.items, sqlite3_column_count(statement));
        for (int k = 0; k < query.items; k++) {
            assert_string_equal(query.item[k].heading, sqlite3_column_name(statement, k));
        }
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
}

static void knows_unfinished_texts(void **state)
{
    (void)state;
    static const char *const unfinished[] = {"SELECT 1",
                                             "SELECT 'a;",
                                             "SELECT \"a;",
                                             "SELECT `a;",
                                             "SELECT [a;",
                                             "/* c",
                                             "SELECT 1; SELECT 2",
                                             "MULTIPLY (a;",
                                             "SELECT 1 -- c;",
                                             "SELECT 1 /* ; */",
                                             "SELECT 'it''s;",
                                             "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1;",
                                             "CREATE TEMP TRIGGER t BEGIN SELECT 1; END",
                                             "EXPLAIN QUERY PLAN CREATE TRIGGER t BEGIN SELECT 1;",
                                             "CREATE TRIGGER t BEGIN SELECT CASE 1 END; SELECT 2;",
                                             "-"};
    static const char *const finished[] = {"",
                                           " \n",
                                           "-- c",
                                           "/* c */",
                                           "SELECT 1;",
                                           "SELECT 1; -- c",
                                           "SELECT 1; /* c */ ",
                                           "SELECT ';';",
                                           ";",
                                           ";;",
                                           "SELECT (1);",
                                           "SELECT 1);",
                                           "CREATE TABLE trigger(x);",
                                           "CREATE TRIGGER t BEGIN SELECT 1; END;",
                                           "create temporary trigger t begin select 1 ; end ; -- c",
                                           "CREATE TRIGGER t BEGIN SELECT 1; END; SELECT 1;",
                                           "CREATE VIEW v AS MULTIPLY a BY b;",
                                           "EXPLAIN CREATE TABLE t(x);",
                                           "SELECT [a];"};
    for (int i = 0; i < LACIS_COUNT(unfinished); i++) {
        if (!lacis_lang_incomplete(unfinished[i])) fail_msg("taken for whole: %s", unfinished[i]);
    }
    for (int i = 0; i < LACIS_COUNT(finished); i++) {
        if (lacis_lang_incomplete(finished[i])) fail_msg("taken for unfinished: %s", finished[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PARSER_TEST(recognises_totals),
        PARSER_TEST(leaves_other_queries_to_sqlite),
        PARSER_TEST(headings_are_those_of_sqlite),
        PARSER_TEST(knows_unfinished_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
