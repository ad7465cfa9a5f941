/* SPDX-License-Identifier: Apache-2.0
 *
 * The catalog in memory and in a file: names, transactions of every kind, what is written and read back, and what
 * becomes of damaged, foreign and half-written files. Files are made in a folder of their own below /tmp.
 */
#include "support/catalog.h"

#include <unistd.h>

static bench b;
static char folder[64], file[128];

static int setup(void **state)
{
    (void)state;
    memset(&b, 0, sizeof b);
    snprintf(folder, sizeof folder, "/tmp/lacis-catalog-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/test.lacis", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char journal[160];
    snprintf(journal, sizeof journal, "%s-journal", file);
    unlink(journal);
    unlink(file);
    rmdir(folder);
    return 0;
}

static void reopen(void)
{
    bench_close(&b);
    bench_open(&b, file);
}

static void put_fails(const char *name, lacis_status expected)
{
    lacis_array *array = bench_vector(&b, 0, 3, 1);
    assert_int_equal(lacis_catalog_put(&b.run, b.catalog, name, array), expected);
    lacis_array_release(array);
}

static bool known(const char *name)
{
    lacis_entry entry;
    return lacis_catalog_find(b.catalog, name, &entry);
}

/* ----------------------------------------------------------------------------------- names, memory */

static void names(void **state)
{
    (void)state;
    lacis_entry entry;
    lacis_array *array;
    bench_open(&b, NULL);
    assert_false(lacis_catalog_in_file(b.catalog));
    put_fails("lacis_x", LACIS_NAME);
    put_fails("SQLite_x", LACIS_NAME);
    put_fails("", LACIS_NAME);
    bench_run(&b, "CREATE TABLE Taken(a)");
    put_fails("taken", LACIS_NAME);
    bench_put(&b, "Zebra", bench_vector(&b, 0, 3, 1));
    bench_put(&b, "apple", bench_vector(&b, 0, 4, 1));
    bench_put(&b, "my \"odd\" name; --", bench_vector(&b, 0, 5, 1));
    assert_int_equal(lacis_catalog_count(b.catalog), 3);
    lacis_catalog_entry(b.catalog, 2, &entry);
    assert_string_equal(entry.name, "Zebra");
    assert_int_equal(entry.entries, 3);
    bench_expect(&b, "SELECT count(*) FROM \"my \"\"odd\"\" name; --\"", "5;");
    bench_put(&b, "ZEBRA", bench_vector(&b, 0, 7, 1)); /* replaces Zebra */
    assert_int_equal(lacis_catalog_count(b.catalog), 3);
    bench_expect(&b, "SELECT count(*) FROM zebra", "7;");
    assert_int_equal(lacis_catalog_get(&b.run, b.catalog, "zebar", 12, &array), LACIS_NAME);
    assert_int_equal(b.host.error.offset, 12);
    assert_string_equal(b.host.error.hint, "did you mean ZEBRA?");
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "nothing", -1, false), LACIS_NAME);
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "nothing", -1, true), LACIS_OK);
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "zebra", -1, false), LACIS_OK);
    bench_fails(&b, "SELECT * FROM zebra", LACIS_NAME, "zebra");
    bench_expect(&b, "SELECT count(*) FROM lacis_array", "0;"); /* in memory nothing is written */
    bench_close(&b);
}

static void views(void **state)
{
    (void)state;
    lacis_entry entry;
    bench_open(&b, file);
    bench_put(&b, "g", bench_graph(&b, 20, 4, true, 1));
    assert_int_equal(lacis_catalog_put_view(&b.run, b.catalog, "f", "g"), LACIS_OK);
    assert_int_equal(lacis_catalog_put_view(&b.run, b.catalog, "bad", "no such"), LACIS_NAME);
    assert_false(known("bad"));
    for (int i = 0; i < 2; i++) {
        assert_string_equal(lacis_catalog_view(b.catalog, "F"), "g");
        assert_null(lacis_catalog_view(b.catalog, "g"));
        assert_true(lacis_catalog_find(b.catalog, "f", &entry));
        assert_string_equal(entry.view, "g");
        bench_expect(&b, "SELECT (SELECT sum(value) FROM f) = (SELECT sum(value) FROM g)", "1;");
        bench_expect(&b, "SELECT type FROM pragma_table_info('f') WHERE name = 'value'", "REAL;");
        if (i == 0) reopen();
    }
    bench_put(&b, "f", bench_vector(&b, 0, 3, 2)); /* an array takes the view's name */
    bench_expect(&b, "SELECT sum(value) FROM f", "6;");
    assert_int_equal(lacis_catalog_put_view(&b.run, b.catalog, "f", "g"), LACIS_OK);
    reopen();
    assert_string_equal(lacis_catalog_view(b.catalog, "f"), "g");
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "f", -1, false), LACIS_OK);
    reopen();
    assert_int_equal(lacis_catalog_count(b.catalog), 1);
    bench_close(&b);
}

/* ------------------------------------------------------------------------------------------- storage */

static const char *sums = "SELECT count(*), sum(src), sum(dst), sum(value), sum(src * dst * value) FROM g";

static void arrays_come_back(void **state)
{
    (void)state;
    lacis_status status;
    lacis_entry entry;
    lacis_array *array;
    bench_open(&b, file);
    /* Several chunks of columns and values: 320000 rows, 1.9 million entries. */
    bench_put(&b, "g", bench_graph(&b, 320000, 6, true, 9));
    bench_put(&b, "small", bench_graph(&b, 9, 3, false, 9));
    bench_put(&b, "none", bench_vector(&b, 7, 0, 1));
    bench_put(&b, "v", bench_vector(&b, -3, 100, 2));
    char want[256];
    snprintf(want, sizeof want, "%s", bench_sql(&b, sums, &status));
    reopen();
    assert_true(lacis_catalog_find(b.catalog, "g", &entry));
    assert_false(entry.resident);
    assert_int_equal(entry.extent[0], 320000);
    bench_expect(&b, sums, want);
    assert_true(lacis_catalog_find(b.catalog, "g", &entry) && entry.resident);
    assert_int_equal(lacis_catalog_get(&b.run, b.catalog, "g", -1, &array), LACIS_OK);
    lacis_csr csr;
    lacis_csr_view(array, &csr);
    assert_true(csr.entries == entry.entries && csr.begin[0] == 0 && csr.begin + 1 == csr.end);
    assert_int_equal(lacis_array_bytes(array), entry.bytes);
    lacis_array_release(array);
    bench_expect(&b, "SELECT count(*), min(i), max(value) FROM v", "100,-3,192;");
    bench_expect(&b, "SELECT count(*) FROM none", "0;");
    assert_int_equal(lacis_catalog_get(&b.run, b.catalog, "small", -1, &array), LACIS_OK);
    lacis_csr_view(array, &csr);
    assert_true(csr.storage == LACIS_U8 && csr.dtype == LACIS_I64); /* counts stay narrow */
    lacis_array_release(array);
    bench_put(&b, "g", bench_vector(&b, 0, 3, 1)); /* the old chunks go */
    bench_expect(&b, "SELECT count(*) FROM lacis_chunk WHERE array_id NOT IN (SELECT id FROM lacis_array)", "0;");
    bench_expect(&b, "SELECT count(*) FROM lacis_part WHERE array_id NOT IN (SELECT id FROM lacis_array)", "0;");
    bench_close(&b);
}

struct seen {
    int count;
    char text[64];
};
static void note_kept(void *arg, const char *name, const char *value)
{
    struct seen *seen = arg;
    seen->count++;
    snprintf(seen->text, sizeof seen->text, "%s=%s", name, value);
}

static void kept_texts(void **state)
{
    (void)state;
    struct seen seen = {0};
    bench_open(&b, file);
    assert_int_equal(lacis_catalog_keep(&b.run, b.catalog, "option", "threads", "1"), LACIS_OK);
    assert_int_equal(lacis_catalog_keep(&b.run, b.catalog, "option", "threads", "2"), LACIS_OK);
    assert_int_equal(lacis_catalog_keep(&b.run, b.catalog, "profile", "copy", "1e9"), LACIS_OK);
    reopen();
    assert_int_equal(lacis_catalog_kept(&b.run, b.catalog, "option", note_kept, &seen), LACIS_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.text, "threads=2");
    assert_int_equal(lacis_catalog_keep(&b.run, b.catalog, "option", "threads", NULL), LACIS_OK);
    assert_int_equal(lacis_catalog_kept(&b.run, b.catalog, "option", note_kept, &seen), LACIS_OK);
    assert_int_equal(seen.count, 1);
    bench_close(&b);
}

/* -------------------------------------------------------------------------------------- transactions */

static void check_transactions(const char *path)
{
    lacis_status status;
    bench_open(&b, path);
    bench_put(&b, "a", bench_vector(&b, 0, 3, 1));
    assert_int_equal(lacis_catalog_begin(&b.run, b.catalog), LACIS_OK);
    bench_put(&b, "a", bench_graph(&b, 9, 3, false, 9));
    bench_put(&b, "c", bench_vector(&b, 0, 3, 1));
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "a", -1, false), LACIS_OK);
    assert_false(known("a"));
    uint64_t generation = lacis_catalog_generation(b.catalog);
    lacis_catalog_rollback(&b.run, b.catalog);
    assert_true(lacis_catalog_generation(b.catalog) != generation);
    assert_false(known("c"));
    bench_expect(&b, "SELECT sum(value) FROM a", "3;");
    bench_fails(&b, "SELECT * FROM c", LACIS_NAME, "c");

    /* The user's own transactions, ended through SQL. */
    bench_run(&b, "BEGIN");
    bench_put(&b, "c", bench_vector(&b, 0, 4, 1));
    bench_put(&b, "a", bench_graph(&b, 9, 3, false, 9));
    bench_expect(&b, "SELECT count(*) > 4 FROM a", "1;");
    bench_run(&b, "ROLLBACK");
    assert_false(known("c"));
    bench_expect(&b, "SELECT sum(value) FROM a", "3;");
    bench_run(&b, "CREATE TABLE c(x)"); /* the name is free */
    bench_run(&b, "DROP TABLE c");

    bench_run(&b, "BEGIN; ");
    bench_put(&b, "c", bench_vector(&b, 0, 4, 1));
    bench_run(&b, "SAVEPOINT s");
    bench_put(&b, "d", bench_vector(&b, 0, 5, 1));
    put_fails("lacis_no", LACIS_NAME); /* a failing statement undoes itself alone */
    bench_put(&b, "c", bench_graph(&b, 9, 3, false, 9));
    bench_run(&b, "ROLLBACK TO s");
    assert_false(known("d"));
    bench_expect(&b, "SELECT sum(value) FROM c", "6;");
    bench_put(&b, "e", bench_vector(&b, 0, 2, 1));
    bench_run(&b, "COMMIT");
    assert_true(known("c") && known("e") && !known("d"));
    if (path != NULL) reopen();
    if (path != NULL) assert_true(known("c") && known("e") && !known("d"));
    bench_expect(&b, "SELECT count(*) FROM e", "2;");

    /* Work inside an open read; and closing with a transaction open. */
    sqlite3_stmt *reading;
    sqlite3 *db = lacis_catalog_db(b.catalog);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT i FROM a ORDER BY i", -1, &reading, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    bench_put(&b, "a", bench_vector(&b, 10, 3, 1));
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(reading, 0), 1);
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "a", -1, false), LACIS_BUSY);
    sqlite3_finalize(reading);
    assert_true(known("a"));
    bench_expect(&b, "SELECT min(i) FROM a", "10;");
    bench_sql(&b, "BEGIN", &status);
    bench_put(&b, "late", bench_vector(&b, 0, 2, 1));
    bench_close(&b);
}

static void transactions_in_memory(void **state)
{
    (void)state;
    check_transactions(NULL);
}

static void transactions_in_a_file(void **state)
{
    (void)state;
    check_transactions(file);
    bench_open(&b, file);
    assert_false(known("late"));
    bench_close(&b);
}

static void another_process(void **state)
{
    (void)state;
    static bench other;
    lacis_array *array = NULL;
    bench_open(&b, file);
    bench_put(&b, "a", bench_vector(&b, 0, 3, 1));
    bench_open(&other, file);
    bench_put(&b, "a", bench_vector(&b, 0, 4, 1));
    bench_put(&b, "n", bench_vector(&b, 0, 5, 1));
    assert_int_equal(lacis_catalog_get(&other.run, other.catalog, "a", -1, &array), LACIS_OK);
    assert_int_equal(lacis_array_extent(array, 0), 4); /* not the one that was there at its opening */
    lacis_array_release(array);
    bench_expect(&other, "SELECT count(*) FROM n", "5;");
    assert_int_equal(lacis_catalog_begin(&b.run, b.catalog), LACIS_OK);
    assert_int_equal(lacis_catalog_begin(&other.run, other.catalog), LACIS_BUSY); /* after five seconds */
    atomic_store(&other.host.cancel, 1);
    assert_int_equal(lacis_catalog_begin(&other.run, other.catalog), LACIS_INTERRUPT); /* at once */
    atomic_store(&other.host.cancel, 0);
    lacis_catalog_rollback(&b.run, b.catalog);
    /* What is in memory already is looked at again when the next statement begins, not before. */
    bench_put(&b, "a", bench_vector(&b, 0, 6, 1));
    bench_expect(&other, "SELECT count(*) FROM a", "4;");
    assert_int_equal(lacis_catalog_follow(&other.run, other.catalog), LACIS_OK);
    bench_expect(&other, "SELECT count(*) FROM a", "6;");
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "a", -1, false), LACIS_OK);
    bench_run(&other, "BEGIN");
    assert_int_equal(lacis_catalog_follow(&other.run, other.catalog), LACIS_OK);
    bench_expect(&other, "SELECT count(*) FROM a", "6;"); /* a transaction keeps what it began with */
    bench_run(&other, "COMMIT");
    assert_int_equal(lacis_catalog_follow(&other.run, other.catalog), LACIS_OK);
    bench_fails(&other, "SELECT count(*) FROM a", LACIS_NAME, "a");
    /* Replaced between the look and the reading. */
    bench_put(&b, "n", bench_vector(&b, 0, 7, 1));
    assert_int_equal(lacis_catalog_follow(&other.run, other.catalog), LACIS_OK);
    bench_put(&b, "n", bench_vector(&b, 0, 8, 1));
    bench_fails(&other, "SELECT count(*) FROM n", LACIS_BUSY, "replaced or dropped n");
    bench_close(&other);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(names),
        CHECK(views),
        CHECK(arrays_come_back),
        CHECK(kept_texts),
        CHECK(transactions_in_memory),
        CHECK(transactions_in_a_file),
        CHECK(another_process),
    };
    return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
