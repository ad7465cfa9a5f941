/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays and views as SQL tables: every condition, order and limit that the module takes over must give what SQLite
 * gives on a plain table of the same rows, whatever type the other side of a comparison has.
 */
#include "support/catalog.h"

static bench b;

static int setup(void **state)
{
    (void)state;
    bench_open(&b, NULL);
    bench_put(&b, "g", bench_graph(&b, 40, 8, false, 3));
    bench_put(&b, "r", bench_graph(&b, 40, 8, true, 3));
    bench_put(&b, "v", bench_vector(&b, -5, 60, 3));
    assert_int_equal(lacis_catalog_put_view(&b.run, b.catalog, "w", "g"), LACIS_OK);
    bench_run(&b, "CREATE TABLE pg(src INTEGER, dst INTEGER, value INTEGER, PRIMARY KEY (src, dst)) WITHOUT ROWID");
    bench_run(&b, "CREATE TABLE pr(src INTEGER, dst INTEGER, value REAL, PRIMARY KEY (src, dst)) WITHOUT ROWID");
    bench_run(&b, "CREATE TABLE pv(i INTEGER PRIMARY KEY, value INTEGER)");
    bench_run(&b, "INSERT INTO pg SELECT * FROM g");
    bench_run(&b, "INSERT INTO pr SELECT * FROM r");
    bench_run(&b, "INSERT INTO pv SELECT * FROM v");
    bench_run(&b, "CREATE TABLE x(n, t TEXT, k INTEGER, d REAL)");
    bench_run(&b,
              "INSERT INTO x VALUES (3, '3', 3, 3.0), (5.0, '5.0', 5, 4.5), ('7', ' 7', 7, 1e30), (NULL, NULL, NULL,"
              " NULL), ('abc', 'abc', -5, -1e30), (x'37', '0x7', 1, 0.5), (9.5, '9e0', 9, 9)");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    bench_close(&b);
    return 0;
}

/* `form` has $g, $r, $v for the tables' names: virtual ones (w: the view instead of g) or plain ones. */
static const char *spell(const char *form, const char *g, const char *r, const char *v)
{
    char *text = lacis_run_text(&b.run, "%s", "");
    for (; *form != '\0'; form++) {
        const char *name = form[0] != '$' ? NULL : form[1] == 'g' ? g : form[1] == 'r' ? r : v;
        text =
            name == NULL ? lacis_run_text(&b.run, "%s%c", text, *form) : lacis_run_text(&b.run, "%s%s", text, name);
        if (name != NULL) form++;
    }
    return text;
}

static void same(const char *form)
{
    lacis_status status;
    const char *plain = bench_sql(&b, spell(form, "pg", "pr", "pv"), &status);
    if (plain == NULL) fail_msg("%s: %s", form, b.host.error.message);
    const char *array = bench_sql(&b, spell(form, "g", "r", "v"), &status);
    if (array == NULL) fail_msg("%s: %s", form, b.host.error.message);
    if (strcmp(plain, array) != 0) fail_msg("%s\n  plain: %s\n  array: %s", form, plain, array);
    const char *view = bench_sql(&b, spell(form, "w", "r", "v"), &status);
    if (view == NULL || strcmp(plain, view) != 0) fail_msg("view: %s\n  %s\n  %s", form, plain, view);
    lacis_run_clear(&b.run);
}

static const char *const sides[] = {
    "3",
    "-5",
    "0",
    "75",
    "76",
    "3.0",
    "3.5",
    "-5.0",
    "-0.5",
    "1e30",
    "-1e30",
    "9e999",
    "'3'",
    "'3.0'",
    "' 7 '",
    "'abc'",
    "''",
    "'3abc'",
    "NULL",
    "x'33'",
    "x''",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "9223372036854775808.0",
    "-9223372036854775808.0",
    "9223372036854774784.0",
    "CAST(3 AS TEXT)",
    "'-5e0'",
    "'0x3'",
    "3 + 0.25",
    "'9223372036854775808'",
    "'1e3'",
};
static const char *const compares[] = {"=", "<", "<=", ">", ">=", "==", "IS"};

static void conditions_on_keys(void **state)
{
    (void)state;
    char form[512];
    for (int s = 0; s < LACIS_COUNT(sides); s++)
        for (int c = 0; c < LACIS_COUNT(compares); c++) {
            snprintf(form, sizeof form, "SELECT * FROM $g WHERE src %s %s ORDER BY src, dst", compares[c], sides[s]);
            same(form);
            snprintf(form, sizeof form, "SELECT * FROM $r WHERE dst %s %s AND src > 20 ORDER BY src, dst",
                     compares[c], sides[s]);
            same(form);
            snprintf(form, sizeof form, "SELECT * FROM $v WHERE %s %s i ORDER BY i", sides[s], compares[c]);
            same(form);
            snprintf(form, sizeof form,
                     "SELECT * FROM $g WHERE src %s %s ORDER BY value DESC, src, dst LIMIT 9 OFFSET 2", compares[c],
                     sides[s]);
            same(form);
        }
}

static void lists(void **state)
{
    (void)state;
    char form[512];
    same("SELECT * FROM $g WHERE src IN (9, 3, 3, 75, 1000, NULL, '5', 7.0, 7.5, 'abc', x'39') ORDER BY src, dst");
    same("SELECT * FROM $g WHERE src IN (9, 3, 5) AND src > 3 AND src <= 9.0 ORDER BY src, dst");
    same("SELECT * FROM $g WHERE src IN (9, 3) AND dst IN (1, 3, 5, 7, 9, 11, 13) ORDER BY src, dst");
    same("SELECT * FROM $g WHERE src IN (9, 3, 13) AND src IN (3, 13, 15) ORDER BY src, dst");
    same("SELECT * FROM $g WHERE src NOT IN (9, 3) ORDER BY src, dst");
    same("SELECT * FROM $g WHERE src IN () ORDER BY src, dst");
    same("SELECT * FROM $v WHERE i IN (SELECT dst FROM $g WHERE src = 9) ORDER BY i");
    same("SELECT * FROM $v WHERE i IN (SELECT n FROM x) ORDER BY i");
    same("SELECT * FROM $v WHERE i IN (SELECT t FROM x) ORDER BY i");
    same("SELECT * FROM $v WHERE i IN (SELECT d FROM x) ORDER BY i DESC");
    same("SELECT * FROM $g WHERE src IN (9, 3, 13) ORDER BY value DESC, src, dst LIMIT 5");
    same("SELECT * FROM $g WHERE (src, dst) IN (VALUES (9, 1), (3, 7), (5, 5)) ORDER BY src, dst");
    for (int s = 0; s < LACIS_COUNT(sides); s++) {
        snprintf(form, sizeof form, "SELECT * FROM $g WHERE src IN (%s, 7) ORDER BY src, dst", sides[s]);
        same(form);
        snprintf(form, sizeof form, "SELECT * FROM $v WHERE i BETWEEN %s AND 12.5 ORDER BY i", sides[s]);
        same(form);
    }
}

static void orders_and_limits(void **state)
{
    (void)state;
    static const char *const orders[] = {"src, dst",
                                         "src DESC, dst",
                                         "src, dst DESC",
                                         "dst, src",
                                         "value DESC, src, dst",
                                         "value, src, dst",
                                         "value DESC, src DESC, dst",
                                         "value DESC NULLS FIRST, src, dst",
                                         "src, dst, value DESC",
                                         "src + 0, dst",
                                         "value + 0 DESC, src, dst"};
    static const char *const wheres[] = {"1",
                                         "src = 9",
                                         "src > 9 AND dst < 40",
                                         "value > 3",
                                         "src = 9 AND value < 5",
                                         "src % 3 = 0",
                                         "src = 9 OR dst = 7",
                                         "src = 9 OR src = 11 OR (dst = 7 AND src > 3)",
                                         "src < 3 OR value = 5",
                                         "src BETWEEN 3 AND 15",
                                         "value IS NOT NULL",
                                         "src IN (1, 3) AND dst > 7",
                                         "NOT src = 5",
                                         "src = dst",
                                         "src = value",
                                         "src > (SELECT min(k) FROM x)",
                                         "src = 9 AND dst IN (1, 3, 5, 7, 9)",
                                         "src IN (3, 5) AND value LIKE '%'"};
    static const char *const limits[] = {"",
                                         "LIMIT 5",
                                         "LIMIT 5 OFFSET 3",
                                         "LIMIT -1 OFFSET 4",
                                         "LIMIT 0",
                                         "LIMIT 2 + 1 OFFSET 1 + 1",
                                         "LIMIT 4 OFFSET -2",
                                         "LIMIT 1000000"};
    char form[512];
    for (int w = 0; w < LACIS_COUNT(wheres); w++)
        for (int o = 0; o < LACIS_COUNT(orders); o++)
            for (int l = 0; l < LACIS_COUNT(limits); l++) {
                snprintf(form, sizeof form, "SELECT * FROM $%c WHERE %s ORDER BY %s %s", (w + o + l) % 2 ? 'g' : 'r',
                         wheres[w], orders[o], limits[l]);
                same(form);
            }
    same("SELECT value FROM $g ORDER BY value DESC LIMIT 20");
    same("SELECT DISTINCT value FROM $g ORDER BY value DESC LIMIT 3");
    same("SELECT DISTINCT src FROM $g ORDER BY src LIMIT 7");
    same("SELECT DISTINCT dst FROM $g ORDER BY dst");
    same("SELECT src, count(*), sum(value) FROM $g GROUP BY src ORDER BY 3 DESC, 1 LIMIT 4");
    same("SELECT dst, max(value) FROM $g GROUP BY dst ORDER BY dst");
    same("SELECT dst FROM $g WHERE src = 9 ORDER BY dst");
    same("SELECT * FROM $v ORDER BY value DESC LIMIT 3");
    same("SELECT value FROM $r WHERE src = 9 UNION ALL SELECT value FROM $r WHERE src = 7 ORDER BY value DESC LIMIT "
         "3");
    same("SELECT * FROM (SELECT * FROM $g ORDER BY value DESC, src, dst LIMIT 9) WHERE src > 9 ORDER BY dst, src");
    same("SELECT k, (SELECT dst FROM $g WHERE src = k ORDER BY value DESC, src, dst LIMIT 1) FROM x ORDER BY k");
    same("SELECT k, (SELECT dst FROM $g WHERE src = k ORDER BY value DESC, src, dst LIMIT 1 OFFSET 1) FROM x"
         " ORDER BY k");
}

static void joins(void **state)
{
    (void)state;
    same("SELECT a.src, b.dst, count(*), sum(a.value * b.value) FROM $g a JOIN $g b ON b.src = a.dst GROUP BY 1, 2"
         " ORDER BY 1, 2");
    same("SELECT * FROM x JOIN $v ON i = n ORDER BY i");
    same("SELECT * FROM x JOIN $v ON i = t ORDER BY i");
    same("SELECT * FROM x JOIN $v ON i = d ORDER BY i");
    same("SELECT * FROM x JOIN $v ON i > n ORDER BY n, t, i");
    same("SELECT * FROM x JOIN $v ON i <= t ORDER BY k, i");
    same("SELECT * FROM x LEFT JOIN $v ON i = n AND value > 3 ORDER BY k, i");
    same("SELECT * FROM $v LEFT JOIN x ON i = k ORDER BY i, k");
    same("SELECT * FROM $g a, $v WHERE a.dst = i AND a.src IN (9, 3) ORDER BY src, dst");
    same("SELECT * FROM $g WHERE EXISTS (SELECT 1 FROM $v WHERE i = dst AND value > 60) ORDER BY src, dst");
    same("SELECT a.src, a.dst FROM $g a WHERE NOT EXISTS (SELECT 1 FROM $g b WHERE b.src = a.dst AND b.dst = a.src)"
         " ORDER BY 1, 2");
    same("SELECT count(*) FROM $g a JOIN $g b ON a.src = b.src AND a.dst = b.dst");
    same("WITH RECURSIVE f(n) AS (VALUES (9) UNION SELECT dst FROM f JOIN $g ON src = n) SELECT n FROM f ORDER BY n");
    same(
        "SELECT a.src, a.value, b.value FROM $g a JOIN $r b USING (src, dst) WHERE b.value > 3 ORDER BY a.value DESC,"
        " a.src, a.dst LIMIT 7");
}

static void what_is_pushed(void **state)
{
    (void)state;
    b.opened = 0;
    bench_run(&b, "SELECT dst FROM w WHERE src = 9 ORDER BY value DESC LIMIT 3 OFFSET 2");
    assert_int_equal(b.opened, 1);
    assert_true(b.last.by_value && b.last.limit == 5);
    assert_true(b.last.where.lo == 9 && b.last.where.hi == 9);
    bench_run(&b, "SELECT dst FROM w WHERE src IN (3, 9) AND dst BETWEEN 1 AND 30");
    assert_true(b.last.where.count == 2 && b.last.where.lo1 == 1 && b.last.where.hi1 == 30 && !b.last.by_value);
    bench_run(&b, "SELECT dst FROM w WHERE src > 4 AND value > 2 ORDER BY value DESC LIMIT 4");
    assert_true(b.last.where.lo == 5 && !b.last.by_value && b.last.limit == -1);
    bench_run(&b, "SELECT dst FROM w WHERE src = dst ORDER BY value DESC LIMIT 0"); /* hidden from us, see vtab.c */
    bench_run(&b, "SELECT dst FROM w WHERE src = dst ORDER BY value DESC LIMIT 2");
    assert_true(b.last.limit == INT64_MAX || !b.last.by_value);
    b.opened = 0;
    bench_expect(&b, "SELECT count(*) FROM w WHERE src > 'a'", "0;");
    bench_expect(&b, "SELECT count(*) FROM w WHERE src = 4.5", "0;");
    bench_expect(&b, "SELECT count(*) FROM w WHERE src > 8 AND src < 9", "0;");
    assert_int_equal(b.opened, 0);
    /* The row of one vertex is looked up, not searched, in a join. */
    bench_run(&b, "SELECT count(*) FROM g a JOIN g b ON b.src = a.dst WHERE a.src = 9");
    assert_true(b.last.where.lo == b.last.where.hi && b.opened > 1 && b.opened < 20);
}

/* Conditions on all coordinates of a grid, and a list of one of them. */
static void what_is_pushed_to_grids(void **state)
{
    (void)state;
    const lacis_grid like = {.dims = 3, .extent = {10, 20, 30}, .dtype = LACIS_F32, .fields = 1};
    lacis_grid grid;
    lacis_array *array;
    void *field;
    assert_int_equal(lacis_grid_new(&b.run, &like, &array, &grid), LACIS_OK);
    memcpy(&field, &grid.field[0], sizeof field);
    memset(field, 0, sizeof(float) * (size_t)grid.cells);
    bench_put(&b, "h", array);
    const lacis_restriction *where = &b.last.where;
    bench_expect(&b, "SELECT count(*) FROM h WHERE z = 5 AND y > 3 AND y <= 9.5 AND x BETWEEN 2 AND 4", "18;");
    assert_true(where->lo == 2 && where->hi == 4 && where->lo1 == 4 && where->hi1 == 9);
    assert_true(where->third && where->lo2 == 5 && where->hi2 == 5 && where->list == NULL);
    bench_expect(&b, "SELECT count(*) FROM h WHERE x = 1 AND z < 7", "140;");
    assert_true(where->lo == 1 && where->hi == 1 && where->lo1 == INT64_MIN && where->hi1 == INT64_MAX);
    assert_true(where->third && where->lo2 == INT64_MIN && where->hi2 == 6);
    b.opened = 0;
    bench_expect(&b, "SELECT count(*) FROM h WHERE y IN (3, 30, 4, 5) AND y <> 4 AND y < 19", "600;");
    assert_true(b.opened == 1 && where->list_column == 1 && where->count == 3 && where->hi1 == 18 && !where->third);
    bench_expect(&b, "SELECT count(*) FROM h WHERE z IN (8, 9, 10, 11) AND z > 8 AND z < 11 AND x = 0", "40;");
    assert_true(where->list_column == 2 && where->count == 2 && where->lo == 0 && where->hi == 0);
    b.opened = 0;
    bench_expect(&b, "SELECT count(*) FROM h WHERE z > 4 AND z < 5", "0;");
    bench_expect(&b, "SELECT count(*) FROM h WHERE z IN (99, 7.5, 'a') AND z < 50", "0;");
    assert_int_equal(b.opened, 0);
    bench_run(&b, "SELECT x FROM h WHERE y = 3 ORDER BY value DESC LIMIT 2");
    assert_true(b.last.by_value && b.last.limit == 2 && where->lo1 == 3);
    /* A cell is looked up in a join. */
    bench_expect(&b, "SELECT count(*) FROM v JOIN h ON x = i AND y = i AND z = i", "10;");
    assert_true(where->lo == where->hi && where->lo1 == where->lo && where->lo2 == where->lo && where->third);
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "h", -1, false), LACIS_OK);
}

static void errors(void **state)
{
    (void)state;
    bench_fails(&b, "DELETE FROM g", LACIS_SQL, "may not be modified");
    bench_fails(&b, "INSERT INTO v VALUES (1, 2)", LACIS_SQL, "may not be modified");
    bench_fails(&b, "UPDATE g SET value = 1", LACIS_SQL, "may not be modified");
    bench_fails(&b, "ALTER TABLE g RENAME TO h", LACIS_SQL, "cannot be renamed");
    bench_fails(&b, "SELECT * FROM gg", LACIS_NAME, "no such table, array or view: gg");
    assert_string_equal(b.host.error.hint, "did you mean g?");
    bench_fails(&b, "SELECT valeu FROM g", LACIS_NAME, "no such column: valeu");
    assert_string_equal(b.host.error.hint, "did you mean value?");
    assert_int_equal(b.host.error.offset, 7);
    bench_fails(&b, "SELECT FROM g", LACIS_SQL, "syntax error");
    bench_fails(&b, "CREATE TABLE G(a)", LACIS_NAME, "called g is there already");
    bench_fails(&b, "CREATE VIEW w AS SELECT 1", LACIS_NAME, "called w is there already");
    bench_fails(&b, "SELECT sum(n) FROM (SELECT 9223372036854775807 AS n UNION ALL SELECT 1)", LACIS_OVERFLOW, "64");
    bench_fails(&b, "SELECT * FROM lacis", LACIS_NAME, "lacis");
    static const lacis_status codes[] = {LACIS_LIMIT, LACIS_OVERFLOW, LACIS_NOMEM, LACIS_INTERRUPT, LACIS_CORRUPT};
    for (int i = 0; i < LACIS_COUNT(codes); i++) {
        b.open_fails = codes[i];
        bench_fails(&b, "SELECT count(*) FROM w WHERE src > 3", codes[i], "it went wrong");
        bench_fails(&b, "CREATE TABLE copy AS SELECT * FROM w", codes[i], "it went wrong");
    }
    b.open_fails = LACIS_OK;
    bench_run(&b, "CREATE VIEW mine AS SELECT src FROM g");
    bench_fails(&b, "SELECT * FROM mine", LACIS_NAME, "main.g");
    assert_non_null(strstr(b.host.error.hint, "TEMP"));
    bench_run(&b, "CREATE TEMP VIEW ours AS SELECT src FROM g WHERE src < 0");
    bench_expect(&b, "SELECT DISTINCT src FROM ours ORDER BY 1", "-5;-3;-1;");
}

static void layouts(void **state)
{
    (void)state;
    bench_expect(&b, "SELECT name || ' ' || type FROM pragma_table_info('r')", "src INTEGER;dst INTEGER;value REAL;");
    bench_put(&b, "g", bench_vector(&b, 0, 3, 10)); /* other columns under the same name */
    bench_expect(&b, "SELECT * FROM g", "0,0;1,10;2,20;");
    bench_fails(&b, "SELECT * FROM w", LACIS_TYPE, "operands changed");
    bench_put(&b, "g", bench_graph(&b, 40, 8, true, 3)); /* the view goes on with real values */
    bench_expect(&b, "SELECT count(*) = (SELECT count(*) FROM pr) FROM w", "1;");
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "g", -1, false), LACIS_OK);
    bench_fails(&b, "SELECT * FROM w", LACIS_NAME, "view's array is not there");
    bench_run(&b, "DROP TABLE r"); /* past the catalog: no harm */
    bench_put(&b, "r", bench_vector(&b, 0, 2, 1));
    bench_expect(&b, "SELECT count(*) FROM r", "2;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(conditions_on_keys),      CHECK(lists),  CHECK(orders_and_limits), CHECK(joins), CHECK(what_is_pushed),
        CHECK(what_is_pushed_to_grids), CHECK(errors), CHECK(layouts),
    };
    return cmocka_run_group_tests_name("vtab", tests, NULL, NULL);
}
