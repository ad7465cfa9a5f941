/* SPDX-License-Identifier: Apache-2.0
 *
 * Database files that went wrong: foreign, damaged, on a full disk, and written by a process that is killed. Files
 * are made in a folder of their own below /tmp.
 */
#include "support/catalog.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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

static void plain_sql(const char *sql)
{
    char *error = NULL;
    sqlite3_exec(lacis_catalog_db(b.catalog), sql, NULL, NULL, &error);
    if (error != NULL) fail_msg("%s: %s", sql, error);
}

static bool known(const char *name)
{
    lacis_entry entry;
    return lacis_catalog_find(b.catalog, name, &entry);
}

/* ------------------------------------------------------------------------------------- unusable files */

static void refused(lacis_status expected, const char *part)
{
    bench bad;
    assert_int_equal(bench_try_open(&bad, file), expected);
    if (strstr(bad.host.error.message, part) == NULL) fail_msg("\"%s\" lacks %s", bad.host.error.message, part);
    lacis_run_clear(&bad.run);
    assert_int_equal(lacis_memory_used(bad.host.memory), 0);
    lacis_host_clear(&bad.host);
}

static void write_file(const char *text)
{
    FILE *out = fopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, strlen(text), out), strlen(text));
    assert_int_equal(fclose(out), 0);
}

static void unusable_files(void **state)
{
    (void)state;
    sqlite3 *db;
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    write_file(text);
    refused(LACIS_CANTOPEN, "not a lacis database");
    unlink(file);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t(a)", NULL, NULL, NULL), SQLITE_OK);
    refused(LACIS_CANTOPEN, "another program");
    assert_int_equal(sqlite3_exec(db, "DROP TABLE t", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    bench_open(&b, file); /* an empty database is as good as a new file */
    plain_sql("PRAGMA user_version = 9");
    bench_close(&b);
    refused(LACIS_CANTOPEN, "newer");
    unlink(file);
    write_file("");
    bench_open(&b, file);
    bench_close(&b);
    char keep[128];
    memcpy(keep, file, sizeof keep);
    snprintf(file, sizeof file, "%s/no/such/place", folder);
    refused(LACIS_CANTOPEN, "No such file");
    snprintf(file, sizeof file, "%s", folder);
    refused(LACIS_CANTOPEN, "cannot open");
    memcpy(file, keep, sizeof keep);
}

static void damage(const char *sql, const char *part)
{
    lacis_array *array = NULL;
    bench_open(&b, file);
    bench_put(&b, "g", bench_graph(&b, 300000, 5, true, 4));
    plain_sql(sql);
    reopen();
    bench_fails(&b, "SELECT count(*) FROM g", LACIS_CORRUPT, "array g is damaged");
    assert_int_equal(lacis_catalog_get(&b.run, b.catalog, "g", -1, &array), LACIS_CORRUPT);
    if (strstr(b.host.error.message, part) == NULL) fail_msg("\"%s\" lacks \"%s\"", b.host.error.message, part);
    bench_put(&b, "ok", bench_vector(&b, 0, 3, 1)); /* the rest goes on */
    assert_int_equal(lacis_catalog_drop(&b.run, b.catalog, "g", -1, false), LACIS_OK);
    bench_close(&b);
}

static void damaged_chunks(void **state)
{
    (void)state;
    damage("UPDATE lacis_chunk SET bytes = CAST(substr(bytes, 1, 70) || x'ff' || substr(bytes, 72) AS BLOB)"
           " WHERE part = 2 AND seq = 1",
           "part values, chunk 1: its checksum differs");
    damage("DELETE FROM lacis_chunk WHERE part = 1 AND seq = 1", "shorter or longer");
    damage("UPDATE lacis_chunk SET seq = 7 WHERE part = 1 AND seq = 1", "part columns, chunk 1: is missing");
    damage("UPDATE lacis_part SET count = 1000000000000 WHERE seq = 1", "shorter or longer");
    damage("UPDATE lacis_part SET dtype = 'what' WHERE seq = 1", "no known type");
    damage("UPDATE lacis_part SET dtype = 'f64' WHERE seq = 0", "do not go together");
    damage("UPDATE lacis_array SET cols = 10", "do not go together");
    damage("UPDATE lacis_array SET entries = entries - 1", "do not go together");
}

/* ------------------------------------------------------------------------------- a full disk, a kill */

static void full_disk(void **state)
{
    (void)state;
    struct rlimit before, small = {6 << 20, 6 << 20};
    struct stat size;
    lacis_array *array;
    bench_open(&b, file);
    bench_put(&b, "a", bench_vector(&b, 0, 1000, 1));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 2; i++) {
        if (i == 1) bench_run(&b, "BEGIN"); /* and inside the user's transaction */
        array = bench_graph(&b, 300000, 5, true, 4);
        lacis_status status = lacis_catalog_put(&b.run, b.catalog, "g", array);
        lacis_array_release(array);
        if (status != LACIS_FULL) fail_msg("%d: %s", status, b.host.error.message);
        assert_non_null(strstr(b.host.error.message, "as it was before"));
        assert_false(known("g"));
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    if (!sqlite3_get_autocommit(lacis_catalog_db(b.catalog))) bench_run(&b, "ROLLBACK");
    bench_expect(&b, "SELECT sum(value) FROM a", "499500;");
    bench_put(&b, "g", bench_vector(&b, 0, 10, 1));
    reopen();
    bench_expect(&b, "SELECT count(*) FROM g", "10;");
    bench_expect(&b, "PRAGMA integrity_check", "ok;");
    assert_int_equal(stat(file, &size), 0);
    assert_true(size.st_size <= 8 << 20);
    bench_close(&b);
}

/* Puts two arrays that belong together again and again, until it is killed. */
static void put_for_ever(void)
{
    bench_open(&b, file);
    for (int64_t k = 1;; k++) {
        if (lacis_catalog_begin(&b.run, b.catalog) != LACIS_OK) _exit(1);
        bench_put(&b, "one", bench_vector(&b, k, 200000, 1));
        bench_put(&b, "two", bench_vector(&b, k, 200000, 2));
        if (lacis_catalog_commit(&b.run, b.catalog) != LACIS_OK) _exit(1);
    }
}

static void killed_while_writing(void **state)
{
    (void)state;
    bench_open(&b, file);
    bench_put(&b, "one", bench_vector(&b, 0, 200000, 1));
    bench_put(&b, "two", bench_vector(&b, 0, 200000, 2));
    bench_close(&b);
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) put_for_ever();
        nanosleep(&(struct timespec){0, 3000000 + 3700000 * i}, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        bench_open(&b, file);
        bench_expect(&b,
                     "SELECT count(*), min(one.i) = min(two.i), sum(two.value) = 2 * sum(one.value)"
                     " FROM one JOIN two USING (i)",
                     "200000,1,1;");
        bench_close(&b);
    }
    bench_open(&b, file);
    bench_expect(&b, "PRAGMA integrity_check", "ok;");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(unusable_files),
        CHECK(damaged_chunks),
        CHECK(full_disk),
        CHECK(killed_while_writing),
    };
    return cmocka_run_group_tests_name("database", tests, NULL, NULL);
}
