/* SPDX-License-Identifier: Apache-2.0
 *
 * The statement parser: what each text becomes, what is left to SQL, and what the errors say.
 */
#include "support/parse.h"

#include <stdlib.h>

static void let_names_a_call_or_a_query(void **state)
{
    (void)state;
    parse("LET v = MULTIPLY a BY b ;", LACIS_AST_LET);
    assert_string_equal(ast.name, "v");
    assert_int_equal(ast.name_offset, 4);
    assert_string_equal(ast.text, "MULTIPLY a BY b");
    assert_null(ast.sql);
    const char *text = "let \"w x\" = SELECT * FROM t; SELECT 2";
    parse(text, LACIS_AST_LET);
    assert_string_equal(ast.name, "w x");
    assert_null(ast.call);
    assert_ptr_equal(ast.sql, text + 12);
    assert_int_equal(ast.sql_offset, 12);
    assert_null(tail);
    parse("LET v = with t as (values (1)) select * from t", LACIS_AST_LET);
    refuse("LET v = SLECT 1", LACIS_SYNTAX, "SLECT", "unknown operator", NULL);
    refuse("LET v = MULTIPYL a BY b", LACIS_SYNTAX, "MULTIPYL", "unknown operator", "did you mean MULTIPLY?");
    refuse("LET v MULTIPLY a BY b", LACIS_SYNTAX, "MULTIPLY",
           "expected =", "the form is LET name = OPERATOR ... | SELECT ...");
}

static void a_view_is_ours_where_a_verb_stands(void **state)
{
    (void)state;
    parse("CREATE VIEW fof AS\n  MULTIPLY w BY w -- twice\n CON nil  \n; x", LACIS_AST_VIEW);
    assert_string_equal(ast.name, "fof");
    assert_string_equal(ast.text, "MULTIPLY w BY w -- twice\n CON nil");
    assert_string_equal(tail, " x");
    static const char *const sql[] = {"CREATE VIEW f AS SELECT 1;",
                                      "create view f(a) as select 1",
                                      "CREATE TABLE t(x)",
                                      "CREATE TEMP VIEW f AS SELECT 1",
                                      "CREATE VIEW IF NOT EXISTS f AS SELECT 1",
                                      "CREATE VIEW f AS WITH x AS (SELECT 1) TABLE",
                                      "CREATE VIEW f AS",
                                      "CREATE"};
    for (int i = 0; i < LACIS_COUNT(sql); i++) {
        parse(sql[i], LACIS_AST_SQL);
        assert_ptr_equal(ast.sql, sql[i]);
        assert_null(ast.name);
    }
    refuse("CREATE VIEW f AS MULTIPYL a BY b", LACIS_SYNTAX, "MULTIPYL", "unknown operator",
           "did you mean MULTIPLY?");
}

static void explain_stands_before_work_and_sql(void **state)
{
    (void)state;
    parse("EXPLAIN MULTIPLY a BY b", LACIS_AST_CALL);
    assert_true(ast.explain && !ast.analyze);
    parse("explain analyze let v = multiply a by b", LACIS_AST_LET);
    assert_true(ast.explain && ast.analyze);
    parse("EXPLAIN CREATE VIEW v AS MULTIPLY a BY b", LACIS_AST_VIEW);
    const char *text = "EXPLAIN ANALYZE SELECT 1";
    parse(text, LACIS_AST_SQL);
    assert_true(ast.explain && ast.analyze);
    assert_ptr_equal(ast.sql, text + 16);
    assert_int_equal(ast.sql_offset, 16);
    text = "EXPLAIN QUERY PLAN SELECT 1";
    parse(text, LACIS_AST_SQL);
    assert_true(!ast.explain);
    assert_ptr_equal(ast.sql, text);
    refuse("EXPLAIN LOAD g FROM 'x'", LACIS_SYNTAX, "LOAD", "not of LOAD", NULL);
    refuse("EXPLAIN", LACIS_SYNTAX, NULL, "expected a statement", NULL);
    refuse("EXPLAIN EXPLAIN SELECT 1", LACIS_SYNTAX, "EXPLAIN S", "unknown statement", NULL);
}

static void load_takes_format_and_options(void **state)
{
    (void)state;
    const char *text = "LOAD \"my g\" FROM 'it''s.txt' AS snap WITH (directed = false, delimiter = ',', base = -1, "
                       "columns = 'src,dst', max = 2.5e3) ; rest";
    parse(text, LACIS_AST_LOAD);
    assert_string_equal(ast.name, "my g");
    assert_string_equal(ast.string, "it's.txt");
    assert_int_equal(ast.string_offset, strstr(text, "'it") - text);
    assert_string_equal(ast.format, "snap");
    assert_int_equal(ast.format_offset, strstr(text, "snap") - text);
    assert_int_equal(ast.options, 5);
    static const char *const values[] = {"false", ",", "-1", "src,dst", "2.5e3"};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(ast.option[i].text, values[i]);
        assert_int_equal(ast.option[i].string, i == 1 || i == 3);
    }
    assert_string_equal(ast.option[1].name, "delimiter");
    assert_int_equal(ast.option[0].offset, strstr(text, "directed") - text);
    assert_int_equal(ast.option[0].value_offset, strstr(text, "false") - text);
    assert_string_equal(tail, " rest");
    parse("load g from 'x'", LACIS_AST_LOAD);
    assert_true(ast.format == NULL && ast.options == 0);
    parse("LOAD g FROM 'x' WITH ()", LACIS_AST_LOAD);
    refuse("LOAD g 'x'", LACIS_SYNTAX, "'x'", "expected FROM",
           "the form is LOAD name FROM 'file' [AS format] [WITH (option = value, ...)]");
    refuse("LOAD g FROM x.txt", LACIS_SYNTAX, "x.txt", "expected a file name in '...'", NULL);
    refuse("LOAD g FROM 'x' WITH (base = )", LACIS_SYNTAX, ")", "expected a value", NULL);
    refuse("LOAD g FROM 'x' WITH (base = 1 header = true)", LACIS_SYNTAX, "header", "expected )", NULL);
    refuse("LOAD g FROM 'x", LACIS_SYNTAX, "'x", "file name", NULL);
    refuse("LOAD g FROM 'x' FOO", LACIS_SYNTAX, "FOO", "end of the statement", NULL);
}

static void options_grow(void **state)
{
    (void)state;
    char text[2000] = "GENERATE g AS rmat(0";
    for (int i = 1; i < 100; i++) {
        snprintf(text + strlen(text), 40, ", n%d = %d", i, i);
    }
    strcat(text, ")");
    parse(text, LACIS_AST_GENERATE);
    assert_int_equal(ast.options, 100);
    assert_null(ast.option[0].name);
    assert_string_equal(ast.option[99].text, "99");
    assert_string_equal(ast.option[57].name, "n57");
}

static void the_other_statements(void **state)
{
    (void)state;
    parse("GENERATE g AS plummer(1e6, seed = 7);", LACIS_AST_GENERATE);
    assert_string_equal(ast.format, "plummer");
    assert_true(ast.options == 2 && ast.option[0].name == NULL && ast.option[1].offset == 27);
    assert_string_equal(ast.option[0].text, "1e6");
    parse("GENERATE g AS path", LACIS_AST_GENERATE);
    parse("SAVE g TO 'x.mtx' AS mtx", LACIS_AST_SAVE);
    assert_string_equal(ast.string, "x.mtx");
    assert_string_equal(ast.format, "mtx");
    parse("SAVE g TO 'x.mtx'", LACIS_AST_SAVE);
    assert_null(ast.format);
    parse("PLOT g", LACIS_AST_PLOT);
    assert_string_equal(ast.name, "g");
    assert_true(ast.format == NULL && ast.string == NULL);
    parse("plot g as HEAT to 'x.png';", LACIS_AST_PLOT);
    assert_string_equal(ast.format, "heat");
    assert_string_equal(ast.string, "x.png");
    parse("PLOT g TO 'x.png' AS hist;", LACIS_AST_PLOT);
    assert_string_equal(ast.format, "hist");
    assert_string_equal(ast.string, "x.png");
    parse("PLOT select", LACIS_AST_PLOT);
    parse("PLOT multiply AS spy", LACIS_AST_PLOT);
    refuse("PLOT SELECT 1 AS a", LACIS_SYNTAX, "SELECT", "takes the name of an array", "LET p = SELECT ...; PLOT p;");
    refuse("PLOT (SELECT 1)", LACIS_SYNTAX, "(SELECT", "takes the name of an array", "LET p = SELECT ...; PLOT p;");
    refuse("PLOT MULTIPLY a BY b CON nil AGG count", LACIS_SYNTAX, "MULTIPLY", "takes the name of an array",
           "LET p = SELECT ...; PLOT p;");
    refuse("PLOT g TO 'x.png' AS pie", LACIS_SYNTAX, "pie", "expected line, scatter, heat, spy, hist or tree", NULL);
    refuse("PLOT g AS pie", LACIS_SYNTAX, "pie", "expected line, scatter, heat, spy, hist or tree", NULL);
    parse("CALIBRATE;", LACIS_AST_CALIBRATE);
    parse("show arrays", LACIS_AST_SHOW);
    assert_string_equal(ast.string, "ARRAYS");
    parse("SHOW GENERATORS", LACIS_AST_SHOW);
    assert_string_equal(ast.string, "GENERATORS");
    refuse("SHOW ARAYS", LACIS_SYNTAX, "ARAYS", "cannot show 'ARAYS'", "did you mean ARRAYS?");
    refuse("SHOW TABLES", LACIS_SYNTAX, "TABLES", "cannot show 'TABLES'",
           "SHOW ARRAYS lists them; SELECT * FROM x LIMIT 3 shows one");
    refuse("SHOW", LACIS_SYNTAX, NULL, "expected what to show", NULL);
    parse("TUNE MULTIPLY TYPE f64 SECONDS 2.5;", LACIS_AST_TUNE);
    assert_string_equal(ast.name, "MULTIPLY");
    assert_string_equal(ast.string, "f64");
    assert_true(ast.seconds == 2.5);
    refuse("CALIBRATE now", LACIS_SYNTAX, "now", "end of the statement", NULL);
}

static void set_keeps_the_value_as_written(void **state)
{
    (void)state;
    static const struct {
        const char *written, *value;
    } cases[] = {{"2GB", "2GB"}, {"on", "on"}, {"-3", "-3"},       {"1.5e3", "1.5e3"}, {"'a ''b'", "a 'b"},
                 {"007", "007"}, {".5", ".5"}, {"1.5GB", "1.5GB"}, {"\"off\"", "off"}};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        char text[100];
        snprintf(text, sizeof text, "SET memory_limit = %s ;", cases[i].written);
        parse(text, LACIS_AST_SET);
        assert_string_equal(ast.name, "memory_limit");
        assert_string_equal(ast.string, cases[i].value);
        assert_int_equal(ast.string_offset, 19);
        assert_string_equal(tail, "");
    }
    refuse("SET threads 4", LACIS_SYNTAX, "4", "expected =", "the form is SET option = value");
    refuse("SET threads = ;", LACIS_SYNTAX, ";", "expected a value", NULL);
    refuse("SET threads = -on", LACIS_SYNTAX, "on", "expected a value", NULL);
}

static void drop_is_shared_with_sql(void **state)
{
    (void)state;
    static const char *const ours[] = {"DROP wiki",      "DROP unknown", "DROP TABLE wiki;", "drop view \"my graph\"",
                                       "DROP \"table\"", "DROP if"};
    for (int i = 0; i < LACIS_COUNT(ours); i++) {
        parse(ours[i], LACIS_AST_DROP);
        assert_false(ast.if_exists);
        assert_null(ast.sql);
    }
    assert_string_equal(ast.name, "if");
    parse("DROP IF EXISTS wiki", LACIS_AST_DROP);
    assert_true(ast.if_exists);
    assert_string_equal(ast.name, "wiki");
    assert_int_equal(ast.name_offset, 15);
    parse("DROP TABLE IF EXISTS wiki", LACIS_AST_DROP);
    assert_true(ast.if_exists);
    static const char *const sql[] = {"DROP TABLE other",  "DROP TABLE IF EXISTS other", "DROP INDEX wiki",
                                      "DROP TRIGGER wiki", "DROP TABLE main.wiki",       "DROP VIEW",
                                      "DROP TABLE ?"};
    for (int i = 0; i < LACIS_COUNT(sql); i++) {
        parse(sql[i], LACIS_AST_SQL);
        assert_ptr_equal(ast.sql, sql[i]);
        assert_true(ast.name == NULL && !ast.if_exists);
    }
    refuse("DROP", LACIS_SYNTAX, NULL, "expected a name", NULL);
}

static void everything_else_is_sql(void **state)
{
    (void)state;
    static const char *const sql[] = {"SELECT count(*) FROM wiki",
                                      " -- c\n /* d */ insert into t values (1)",
                                      "PRAGMA user_version",
                                      "BEGIN; x",
                                      "WITH a AS (SELECT 1) SELECT [x], `y`, ?1, @z FROM a",
                                      "ANALYZE"};
    for (int i = 0; i < LACIS_COUNT(sql); i++) {
        parse(sql[i], LACIS_AST_SQL);
        assert_true(ast.sql == sql[i] || i == 1);
        assert_null(tail);
    }
    parse(sql[1], LACIS_AST_SQL);
    assert_ptr_equal(ast.sql, strstr(sql[1], "insert"));
    refuse("MULTIPYL a BY b", LACIS_SYNTAX, "MULTIPYL", "unknown statement 'MULTIPYL'", "did you mean MULTIPLY?");
    refuse("  selct 1", LACIS_SYNTAX, "selct", "unknown statement 'selct'", "did you mean SELECT?");
    refuse("LAOD g FROM 'x'", LACIS_SYNTAX, "LAOD", "unknown statement", "did you mean LOAD?");
    refuse("EXPLIAN SELECT 1", LACIS_SYNTAX, "EXPLIAN", "unknown statement", "did you mean EXPLAIN?");
    refuse("describe g", LACIS_SYNTAX, "describe", "unknown statement 'describe'",
           "SHOW ARRAYS lists them; SELECT * FROM x LIMIT 3 shows one");
    refuse("help me", LACIS_SYNTAX, "help", "unknown statement 'help'",
           "the shell has .help, and .help WORD about one thing");
    refuse("exit 1", LACIS_SYNTAX, "exit", "unknown statement 'exit'", "the shell has .quit");
    refuse("xyzzy", LACIS_SYNTAX, "xyzzy", "unknown statement", "");
    refuse("\"SELECT\" 1", LACIS_SYNTAX, "\"SELECT\"", "expected a statement", NULL);
    refuse("42", LACIS_SYNTAX, "42", "expected a statement", NULL);
}

static void empty_texts_are_empty(void **state)
{
    (void)state;
    parse("", LACIS_AST_EMPTY);
    assert_string_equal(tail, "");
    parse(" -- nothing\n /* at all */ ", LACIS_AST_EMPTY);
    assert_string_equal(tail, "");
    parse(" ; SELECT 1", LACIS_AST_EMPTY);
    assert_string_equal(tail, " SELECT 1");
}

static void reads_no_further_than_told(void **state)
{
    (void)state;
    const char *text = "CALIBRATE SHOW";
    assert_int_equal(lacis_lang_parse(&run, &fake_registry, text, 9, NULL, NULL, NULL, &ast, &tail), LACIS_OK);
    assert_int_equal(ast.kind, LACIS_AST_CALIBRATE);
    assert_ptr_equal(tail, text + 9);
}

static int refuse_after(void *arg, size_t bytes)
{
    int *left = arg;
    (void)bytes;
    return (*left)-- <= 0;
}

/* Long names and many options, so that scratch needs more than one block. */
static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    size_t size = 20000;
    char *text = calloc(4, size);
    strcpy(text, "LOAD g FROM '");
    memset(text + 13, 'x', size);
    strcpy(text + 13 + size, "' WITH (a = '");
    memset(text + 26 + size, 'y', size);
    strcpy(text + 26 + 2 * size, "')");
    lacis_status status = LACIS_NOMEM;
    int n = 0;
    for (; status != LACIS_OK && n < 20; n++) {
        lacis_run own = {0};
        int left = n;
        lacis_run_init(&own, &host);
        lacis_set_allocation_guard(refuse_after, &left);
        status = lacis_lang_parse(&own, &fake_registry, text, strlen(text), NULL, NULL, NULL, &ast, &tail);
        lacis_set_allocation_guard(NULL, NULL);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
        lacis_run_clear(&own);
    }
    assert_true(n > 2);
    assert_int_equal(status, LACIS_OK);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PARSER_TEST(let_names_a_call_or_a_query),
        PARSER_TEST(a_view_is_ours_where_a_verb_stands),
        PARSER_TEST(explain_stands_before_work_and_sql),
        PARSER_TEST(load_takes_format_and_options),
        PARSER_TEST(options_grow),
        PARSER_TEST(the_other_statements),
        PARSER_TEST(set_keeps_the_value_as_written),
        PARSER_TEST(drop_is_shared_with_sql),
        PARSER_TEST(everything_else_is_sql),
        PARSER_TEST(empty_texts_are_empty),
        PARSER_TEST(reads_no_further_than_told),
        PARSER_TEST(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
