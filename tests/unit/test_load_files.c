/* SPDX-License-Identifier: Apache-2.0
 *
 * LOAD of several files as one array: patterns, folders, lists; the table of what each gave; files that are refused;
 * strict; progress, limits and interrupts.
 */
#include "support/db.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[64];

static void put_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_packed(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gzFile file = gzopen(path, "w");
    assert_non_null(file);
    assert_int_equal(gzputs(file, text), (int)strlen(text));
    gzclose(file);
}

#define CELL(x) "1 1 0 0 0 5 -1\n2 3 " #x " 0 0 1 1\n"

static void notes_of(void *arg, lacis_level level, const char *message)
{
    db_text *text = arg;
    db_add(text, level == LACIS_WARNING ? "warning: " : level == LACIS_NOTE ? "note: " : "");
    db_add(text, message);
    db_add(text, "\n");
}

static int setup(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/lacis-files-XXXXXX");
    assert_non_null(mkdtemp(folder));
    put_file("a.swc", CELL(10));
    put_file("b.SWC", "1 1 0 0 0 5 -1\n3 3 20 0 0 0 1\n");
    put_file("c.swc", "1 1 0 0 0 5 -1\n2 3 x 0 0 1 1\n");
    put_packed("d.swc.gz", CELL(40));
    put_file("notes.txt", "nothing\n");
    put_file("list.txt", "1 2\n2 3\n");
    char path[256];
    snprintf(path, sizeof path, "%s/e.swc", folder); /* a folder of that name is no file */
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chdir(folder), 0);
    *state = db_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return chdir("/") != 0 || system(command) != 0;
}

static const char whole[] = "0,2,10.0\n1,3,20.0\n2,2,40.0\n";
#define TIPS "SELECT cell, id, x FROM n WHERE parent > 0 ORDER BY cell"

static void folders_patterns_and_lists(void **state)
{
    static const char *const from[] = {".", "./", "*.[sS]*", "a.swc', 'b.SWC', 'c.swc', 'd.swc.gz",
                                       "a.swc', '?.SWC', '[cd].swc*"};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "LOAD n FROM '%s'; " TIPS, from[i]);
        db_expect(*state, text, whole);
    }
    db_expect(*state, "LOAD n FROM 'd.swc.gz', 'a.swc'; " TIPS, "0,2,40.0\n1,2,10.0\n");
    db_expect(*state, "LOAD n FROM 'a*.swc'; SELECT cell, file FROM n_files", "0,a.swc\n");
    db_expect(*state, "LOAD n FROM 'a.swc', 'a.swc' WITH (scale = 0.5); " TIPS, "0,2,5.0\n1,2,5.0\n");
}

/* A single file leaves the same table, and its warnings are the statement's own. */
static void a_single_file(void **state)
{
    db_expect(*state, "LOAD n FROM 'a.swc'; SELECT cell, file, status, samples, length_um, message FROM n_files",
              "0,a.swc,ok,2,10.0,NULL\n");
    db_expect(*state, "LOAD n FROM 'b.SWC'; SELECT status, message FROM n_files",
              "warning,line 2: ids skip numbers: ids stay as they are; line 2: radius 0: no area and no axial "
              "conductance there; min_radius = r raises it\n");
    db_fails(*state, "LOAD n FROM 'c.swc'", LACIS_FORMAT, "c.swc:2:5: the x 'x' is no finite number");
    db_expect(*state, "SELECT file FROM n_files", "b.SWC\n"); /* as it was */
}

static void the_table_tells_of_every_file(void **state)
{
    db_expect(*state,
              "LOAD n FROM '.'; SELECT cell, file, status, samples, branch_points, tips, roots, length_um, message "
              "FROM n_files",
              "0,./a.swc,ok,2,0,1,1,10.0,NULL\n"
              "1,./b.SWC,warning,2,0,1,1,20.0,line 2: ids skip numbers: ids stay as they are; line 2: radius 0: no "
              "area and no axial conductance there; min_radius = r raises it\n"
              "NULL,./c.swc,refused,NULL,NULL,NULL,NULL,NULL,./c.swc:2:5: the x 'x' is no finite number; mend it\n"
              "2,./d.swc.gz,ok,2,0,1,1,40.0,NULL\n");
    db_expect(*state, "LOAD n FROM 'a.swc', 'gone.swc'; SELECT cell, status, message FROM n_files",
              "0,ok,NULL\nNULL,refused,cannot open 'gone.swc': No such file or directory\n");
}

static void messages(void **state)
{
    db_text text = {NULL, 0, 0, 0};
    db_add(&text, "");
    lacis_set_log(*state, notes_of, &text);
    db_run(*state, "LOAD n FROM '.'");
    lacis_set_log(*state, NULL, NULL);
    char *brackets = strstr(text.data, " (0");
    if (brackets != NULL) *brackets = '\0';
    assert_string_equal(text.data, "warning: 1 of 4 files were refused, the first: ./c.swc:2:5: the x 'x' is no "
                                   "finite number; mend it; n_files has all\n"
                                   "warning: 1 of 4 files were taken with warnings; n_files has them\n"
                                   "n: table, 6 rows, 8 columns, of 3 files");
    free(text.data);
}

static void failures(void **state)
{
    db_fails(*state, "LOAD n FROM '.' WITH (strict = true)", LACIS_FORMAT, "./c.swc:2:5: the x 'x'");
    db_fails(*state, "LOAD n FROM 'c.swc', 'gone.swc'", LACIS_FORMAT,
             "all 2 files were refused; the first: c.swc:2:5:");
    db_fails(*state, "LOAD n FROM 'c*.swc'", LACIS_FORMAT, "c.swc:2:5: the x 'x'");
    db_fails(*state, "LOAD n FROM 'z*.swc'", LACIS_IO, "no file is called 'z*.swc'");
    db_fails(*state, "LOAD n FROM 'e*.swc'", LACIS_IO, "only folders are called 'e*.swc'");
    db_fails(*state, "LOAD n FROM 'e.swc'", LACIS_IO, "no file in folder 'e.swc' ends in .swc");
    db_fails(*state, "LOAD n FROM '*.txt'", LACIS_FORMAT, "none of the files is of a format");
    db_fails(*state, "LOAD n FROM '*.txt' AS snap", LACIS_UNSUPPORTED, "format snap loads one file at a time");
    db_fails(*state, "LOAD n FROM '*.swc' WITH (scale = -1)", LACIS_RANGE, "scale = -1 is no positive number");
    assert_true(lacis_error_offset(*state) == 34);
    db_fails(*state, "LOAD n FROM '*.swc' WITH (sclae = 1)", LACIS_NAME, "no option \"sclae\"");
    db_fails(*state, "LOAD n FROM 'a.swc',", LACIS_SYNTAX, "a file name");
    db_fails(*state, "LOAD n FROM 'gone.swc'", LACIS_IO, "cannot open 'gone.swc'");
    db_fails(*state, "LOAD n FROM ''", LACIS_IO, "cannot open ''");
}

static void names_that_are_taken(void **state)
{
    db_run(*state, "CREATE TABLE m_files (a, b)");
    db_fails(*state, "LOAD m FROM '*.swc'", LACIS_NAME, "an SQL table is called m_files already");
    db_fails(*state, "SELECT * FROM m", LACIS_NAME, "no such table");
    db_run(*state, "DROP TABLE m_files; LOAD m_files FROM 'a.swc'");
    db_fails(*state, "LOAD m FROM '*.swc'", LACIS_NAME, "an array or view is called m_files already");
    db_run(*state, "LOAD \"two words\" FROM '*.swc'; LOAD \"two words\" FROM '*.swc'");
    db_expect(*state, "SELECT count(*) FROM \"two words_files\"", "2\n");
}

/* A name that is a file is no pattern. */
static void brackets_in_names(void **state)
{
    put_file("x[1].swc", CELL(7));
    db_expect(*state, "LOAD one FROM 'x[1].swc'; SELECT max(x) FROM one", "7.0\n");
    db_expect(*state, "LOAD one FROM 'x*.swc'; SELECT max(x) FROM one", "7.0\n");
    assert_int_equal(unlink("x[1].swc"), 0);
}

static void a_file_keeps_both(void **state)
{
    (void)state;
    lacis_engine *engine = db_open("kept.lacis");
    db_run(engine, "LOAD n FROM '.'");
    db_run(engine, "LOAD n FROM 'a.swc', 'd.swc.gz'");
    db_fails(engine, "LOAD n FROM 'c.swc', 'c.swc'", LACIS_FORMAT, "all 2 files");
    lacis_close(engine);
    engine = db_open("kept.lacis");
    db_expect(engine, TIPS, "0,2,10.0\n1,2,40.0\n");
    db_expect(engine, "SELECT cell, file FROM n_files", "0,a.swc\n1,d.swc.gz\n");
    db_expect(engine, "SELECT count(*) FROM n JOIN n_files USING (cell) WHERE status = 'ok'", "4\n");
    lacis_close(engine);
    assert_int_equal(unlink("kept.lacis"), 0);
}

/* ------------------------------------------------------------------- many, limits, interrupts */

enum { MANY = 300, ROWS = 2000 };

static void put_many(void)
{
    char *text = malloc((size_t)ROWS * 40), *p = text, name[40];
    for (int i = 1; i <= ROWS; i++)
        p += sprintf(p, "%d 1 %d 0 0 1 %d\n", i, i, i > 1 ? i - 1 : -1);
    assert_int_equal(mkdir("many", 0700), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many/%03d.swc", i);
        put_file(name, text);
    }
    free(text);
}

static int phases;
static void count_phase(void *arg, const char *phase, double fraction)
{
    (void)phase;
    assert_true(fraction <= 1);
    phases++;
    if (arg != NULL) lacis_interrupt(arg);
}

static void many_files(void **state)
{
    put_many();
    for (int threads = 1; threads <= 4; threads += 3) {
        char text[200];
        snprintf(text, sizeof text, "SET threads = %d; LOAD many FROM 'many'; SELECT count(*), sum(x) FROM many",
                 threads);
        db_expect(*state, text, "600000,600300000.0\n");
        db_expect(*state,
                  "SELECT count(*) FROM many_files WHERE samples = 2000 AND file = printf('many/%03d.swc', cell)",
                  "300\n");
    }
    uint64_t now, peak;
    lacis_memory_usage(*state, &now, &peak, 0);
    db_run(*state, "DROP many; SET memory_limit = '40MB'");
    db_fails(*state, "LOAD many FROM 'many'", LACIS_LIMIT, "memory_limit");
    db_run(*state, "SET memory_limit = '1MB'");
    db_fails(*state, "LOAD many FROM 'many'", LACIS_LIMIT, "300 files would take about");
    db_run(*state, "SET memory_limit = '4GB'");
    lacis_set_progress(*state, count_phase, NULL);
    db_run(*state, "SET threads = 2; LOAD many FROM 'many'");
    assert_true(phases > 0);
    lacis_set_progress(*state, count_phase, *state);
    db_fails(*state, "LOAD many FROM 'many', 'many', 'many', 'many', 'many', 'many'", LACIS_INTERRUPT, "interrupted");
    lacis_set_progress(*state, NULL, NULL);
    db_expect(*state, "SELECT count(*) FROM many", "600000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_patterns_and_lists),
        cmocka_unit_test(a_single_file),
        cmocka_unit_test(the_table_tells_of_every_file),
        cmocka_unit_test(messages),
        cmocka_unit_test(failures),
        cmocka_unit_test(names_that_are_taken),
        cmocka_unit_test(brackets_in_names),
        cmocka_unit_test(a_file_keeps_both),
        cmocka_unit_test(many_files),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
