/* SPDX-License-Identifier: Apache-2.0
 *
 * Completion: what is offered where. The cursor is the | of each text.
 */
#include "support/fake_lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* What was offered, as " word:kind word:kind ". */
static char offers[16384];
static size_t start;

static void note(void *arg, const char *word, const char *kind)
{
    (void)arg;
    size_t used = strlen(offers);
    snprintf(offers + used, sizeof offers - used, "%s:%s ", word, kind);
}

static void names(void *context, lacis_complete_fn add, void *arg)
{
    (void)context;
    add(arg, "wiki", "array");
    add(arg, "fof", "view");
    add(arg, "my graph", "array");
    add(arg, "Facts", "array");
}

static void settings(void *context, lacis_complete_fn add, void *arg)
{
    (void)context;
    add(arg, "memory_limit", "option");
    add(arg, "threads", "option");
}

static const lacis_completion_source source = {&fake_registry, names, settings, NULL};

static void complete_at(const char *text, size_t cursor)
{
    lacis_host host;
    lacis_run run = {0};
    assert_int_equal(lacis_host_init(&host), LACIS_OK);
    lacis_run_init(&run, &host);
    lacis_run_fail(&run, LACIS_IO, "an error from before");
    strcpy(offers, " ");
    assert_int_equal(lacis_lang_complete(&run, &source, text, cursor, &start, note, NULL), LACIS_OK);
    assert_string_equal(host.error.message, "an error from before");
    lacis_run_clear(&run);
    assert_int_equal(lacis_memory_used(host.memory), 0);
    lacis_host_clear(&host);
}

/* Completes at the | of text, which is taken out; returns what was offered. */
static const char *complete(const char *text)
{
    char plain[1000];
    const char *bar = strchr(text, '|');
    assert_non_null(bar);
    size_t cursor = (size_t)(bar - text);
    snprintf(plain, sizeof plain, "%.*s%s", (int)cursor, text, bar + 1);
    complete_at(plain, cursor);
    return offers;
}

/* Exactly these, in this order. */
static void expect(const char *text, const char *want)
{
    const char *got = complete(text);
    if (strcmp(got, want) != 0) fail_msg("%s\n   offers %s\n   not    %s", text, got, want);
}

static void expect_among(const char *text, const char *word)
{
    if (strstr(complete(text), word) == NULL) fail_msg("%s\n   offers %s\n   without %s", text, offers, word);
}

static void expect_not(const char *text, const char *word)
{
    if (strstr(complete(text), word) != NULL) fail_msg("%s\n   offers %s", text, offers);
}

static void first_words(void **state)
{
    (void)state;
    static const char *const all[] = {" MULTIPLY:verb ", " LET:keyword ",  " LOAD:keyword ",   " SELECT:keyword ",
                                      " SHOW:keyword ",  " DROP:keyword ", " CREATE:keyword ", " EXPLAIN:keyword "};
    for (int i = 0; i < LACIS_COUNT(all); i++) {
        expect_among("|", all[i]);
        expect_among("SELECT 1; |", all[i]);
    }
    expect("MUL|", " MULTIPLY:verb ");
    expect("mul|", " multiply:verb ");
    expect("lo|", " load:keyword ");
    expect("LO| g FROM 'x'", " LOAD:keyword ");
    expect("DR|", " DROP:keyword ");
    expect("EXPLAIN AN|", " ANALYZE:keyword ");
    expect("EXPLAIN ANALYZE MUL|", " MULTIPLY:verb ");
    expect("XY|", " ");
}

static void start_is_where_the_word_begins(void **state)
{
    (void)state;
    complete("MULTIPLY wi|");
    assert_int_equal(start, 9);
    complete("MULTIPLY |");
    assert_int_equal(start, 9);
    complete("SELECT 1;\nMULTIPLY a BY \"my|");
    assert_int_equal(start, 24);
    complete("LOAD g FROM 'da/fi|");
    assert_int_equal(start, 13);
}

static void names_of_arrays(void **state)
{
    (void)state;
    expect("MULTIPLY |", " wiki:array fof:view \"my graph\":array Facts:array ");
    expect("multiply w|", " wiki:array ");
    expect("MULTIPLY a BY f|", " fof:view Facts:array ");
    expect("MULTIPLY a BY m|", " \"my graph\":array ");
    expect("MULTIPLY a BY \"m|", " \"my graph\":array ");
    expect("MULTIPLY a BY \"w|", " \"wiki\":array ");
    expect("SAVE w|", " wiki:array ");
    expect("LET w|", " wiki:array ");
    expect_among("DROP |", " wiki:array ");
    expect_among("DROP |", " TABLE:keyword ");
    expect("DROP TABLE w|", " wiki:array ");
    expect("DROP IF |", " EXISTS:keyword wiki:array fof:view \"my graph\":array Facts:array ");
    expect("MULTIPLY a BY b MASK w|", " wiki:array ");
    expect_among("MULTIPLY a BY b MASK |", " NOT:keyword ");
    expect("FORMS SET x = w|", " wiki:array ");
    expect("MULTIPLY a BY (|", " MULTIPLY:verb FORMS:verb RELAX:verb ");
    expect("MULTIPLY a BY (FORMS w|", " wiki:array ");
}

static void clauses(void **state)
{
    (void)state;
    expect("MULTIPLY a |", " BY:keyword CON:keyword AGG:keyword MASK:keyword WHERE:keyword TOP:keyword ON:keyword ");
    expect("MULTIPLY a BY b TOP 3 ON CPU |", " CON:keyword AGG:keyword MASK:keyword WHERE:keyword ");
    expect("MULTIPLY a BY b t|", " top:keyword ");
    expect("MULTIPLY a BY b ON |", " AUTO:keyword CPU:keyword GPU:keyword ");
    expect("MULTIPLY a BY b ON g|", " gpu:keyword ");
    expect("FORMS x CLAMP s 1 |", " FROM:keyword ");
    expect_among("FORMS x CLAMP s 1 FROM 2 TO 3 |", " CLAMP:keyword ");
    expect("FORMS x UNTIL |", " STABLE:keyword ");
    expect("FORMS x EDGE |", " FIXED:keyword PERIODIC:keyword OPEN:keyword ");
    expect("FORMS x EDGE p|", " periodic:keyword ");
    expect("FORMS x EDGE open |", " WRAP:keyword ");
    expect_among("FORMS F|", " Facts:array FLAG:keyword ");
    expect("MULTIPLY (MULTIPLY a BY b TOP 3) B|", " BY:keyword ");
    expect("RELAX g STEP u EDGE |",
           " OF:keyword LEFT:keyword RIGHT:keyword FIXED:keyword FREE:keyword ROBIN:keyword FROM:keyword ");
    expect("RELAX g STEP u EDGE left f|", " fixed:keyword free:keyword from:keyword ");
    expect_among("RELAX g STEP u EDGE fixed |", " wiki:array ");
    expect_among("RELAX g STEP u EDGE fixed |", " UNTIL:keyword ");
    expect_among("RELAX g STEP u UNTIL max < 1 |", " EVERY:keyword EDGE:keyword COEFF:keyword ");
    expect("RELAX g STEP u UNTIL |", " MAX:keyword SUM:keyword ");
    expect("RELAX g STEP u COEFF k = a, c = w|", " wiki:array ");
    expect("MULTIPLY a BYE b |", " ");
    expect("MULTIPLY a BY b TOP |", " ");
}

static void inside_expressions(void **state)
{
    (void)state;
    expect_among("MULTIPLY a BY b CON |", " a:slot b:slot s:slot c:slot t:slot ");
    expect_among("MULTIPLY a BY b CON |", " sqrt:function ");
    expect_among("MULTIPLY a BY b CON a + |", " t:slot ");
    expect("MULTIPLY a BY b CON a + sq|", " sqrt:function ");
    expect("MULTIPLY a BY b WHERE sr|", " src:slot ");
    expect_among("MULTIPLY a BY b CON a + b |", " AGG:keyword ");
    expect_not("MULTIPLY a BY b CON a + b |", ":slot");
    expect_among("RELAX g STEP |", " x:slot t:slot abs:function ");
    expect("RELAX g STEP v = u[1] + sq|", " sqrt:function ");
    expect_among("RELAX g STEP u, v = |", " x:slot ");
    expect("MULTIPLY a BY b AGG co|", " count:aggregate ");
    expect_not("MULTIPLY a BY b AGG |", ":keyword");
    expect_among("MULTIPLY a BY b AGG (x, y) -> |", " x:slot y:slot ");
    expect_among("MULTIPLY a BY b AGG (x, y) -> x + y |", " IDENTITY:keyword ");
    expect("MULTIPLY a BY b CON ) |", " ");
}

static void data_in_and_out(void **state)
{
    (void)state;
    expect("LOAD g |", " FROM:keyword ");
    expect("LOAD g FROM 'x' |", " AS:keyword WITH:keyword ");
    expect("LOAD g FROM 'x' AS |", " edges:format mtx:format ");
    expect("LOAD g FROM 'x' WITH (|", " directed:option duplicates:option header:option base:option ");
    expect("LOAD g FROM 'x' AS mtx WITH (|", " directed:option base:option ");
    expect("LOAD g FROM 'x' AS mtx WITH (base = 1, d|", " directed:option ");
    expect("LOAD g FROM 'x' AS edges WITH (duplicates = |", " sum:keyword min:keyword max:keyword ");
    expect("LOAD g FROM 'x' WITH (duplicates = m|", " min:keyword max:keyword ");
    expect("LOAD g FROM 'x' WITH (header = t|", " true:keyword ");
    expect("GENERATE g AS |", " rmat:generator ");
    expect("GENERATE g AS rmat(|", " scale:option seed:option ");
    expect("GENERATE g AS nosuch(|", " ");
    expect("SAVE g |", " TO:keyword ");
    expect("PLOT g |", " AS:keyword TO:keyword ");
    expect("PLOT g AS s|", " scatter:keyword spy:keyword ");
    expect("PLOT g AS t|", " tree:keyword ");
    expect("PLOT g AS heat |", " TO:keyword ");
    expect("SAVE g TO 'x' AS |", " mtx:format ");
    expect("SET th|", " threads:option ");
    expect("SET threads = |", " ");
    expect_among("TUNE |", " MULTIPLY:verb ");
    expect("TUNE MULTIPLY |", " TYPE:keyword SECONDS:keyword ");
    expect("TUNE MULTIPLY TYPE f64 |", " SECONDS:keyword ");
    expect("SHOW OP|", " OPERATOR:keyword OPERATORS:keyword OPTIONS:keyword ");
    expect("show ar|", " arrays:keyword ");
}

static void inside_sql(void **state)
{
    (void)state;
    expect_among("SELECT count(*) FROM w|", " wiki:array ");
    expect_among("SELECT count(*) FROM w|", " where:keyword ");
    expect_among("SELECT * FROM [x] WHERE a = ?1 ORD|", " ORDER:keyword ");
    expect_among("LET v = SEL|", " SELECT:keyword ");
    expect_among("LET v = SELECT * FROM w|", " wiki:array ");
    expect_among("CREATE VIEW v AS SELECT * FROM w|", " wiki:array ");
    expect_among("CREATE T|", " TABLE:keyword ");
    expect("CREATE VIEW v A|", " AS:keyword ");
    expect("CREATE VIEW v AS M|", " MULTIPLY:verb ");
    expect_among("EXPLAIN SELECT * FROM f|", " fof:view ");
    expect("SELECT 'wi|", " ");
    expect("SELECT `wi|", " ");
    expect("SELECT * FROM \"wi|", " \"wiki\":array ");
}

static void nothing_inside_comments_and_parameters(void **state)
{
    (void)state;
    expect("-- MUL|", " ");
    expect("/* MUL|", " ");
    expect("MULTIPLY a BY b TOP :w|", " ");
    expect("-- c\nMUL|", " MULTIPLY:verb ");
    expect("/* ; */ MULTIPLY 'a;b|", " ");
}

static void the_cursor_may_lie_beyond(void **state)
{
    (void)state;
    complete_at("MUL", 1000);
    assert_string_equal(offers, " MULTIPLY:verb ");
    complete_at("MULTIPLY wiki", 1);
    assert_string_equal(offers, " MULTIPLY:verb ");
}

static void files(void **state)
{
    (void)state;
    char folder[] = "/tmp/lacis-complete-XXXXXX", here[4096], text[4200];
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    static const char *const files[] = {"data.txt", "other.txt", ".hidden", "da'ta"};
    for (int i = 0; i < LACIS_COUNT(files); i++) {
        FILE *file = fopen(files[i], "w");
        assert_non_null(file);
        fclose(file);
    }
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_int_equal(rename("other.txt", "sub/other.txt"), 0);
    expect("LOAD g FROM 'da|", " data.txt:file ");
    expect("LOAD g FROM 'DA|", " ");
    expect("LOAD g FROM 's|", " sub/:file ");
    expect("LOAD g FROM 'sub/|", " sub/other.txt:file ");
    expect("LOAD g FROM '.h|", " .hidden:file ");
    expect("SAVE g TO './da|", " ./data.txt:file ");
    expect_not("LOAD g FROM '|", "hidden");
    expect("LOAD g FROM 'nowhere/|", " ");
    expect("LOAD g FROM |", " ");
    snprintf(text, sizeof text, "LOAD g FROM '%s/sub/o|", folder);
    expect_among(text, "/sub/other.txt:file ");
    unlink("data.txt");
    unlink("sub/other.txt");
    unlink(".hidden");
    unlink("da'ta");
    assert_int_equal(rmdir("sub"), 0);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_words),
        cmocka_unit_test(start_is_where_the_word_begins),
        cmocka_unit_test(names_of_arrays),
        cmocka_unit_test(clauses),
        cmocka_unit_test(inside_expressions),
        cmocka_unit_test(data_in_and_out),
        cmocka_unit_test(inside_sql),
        cmocka_unit_test(nothing_inside_comments_and_parameters),
        cmocka_unit_test(the_cursor_may_lie_beyond),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
