/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies as text: columns in any order and with any separator, Princeton's format, what is refused with its place,
 * and that graphs and tables are still what they were.
 */
#include "support/files.h"

#include <stdbool.h>

struct given {
    const char *text, *how, *rows;
};

static const char *load(const char *text, const char *how)
{
    static char sql[256];
    write_file(path_of("txt"), text, strlen(text));
    snprintf(sql, sizeof sql, "LOAD x FROM '%s' %s", path_of("txt"), how);
    return sql;
}

static void all_give(lacis_engine *engine, const struct given *file, int count)
{
    for (int i = 0; i < count; i++) {
        db_run(engine, load(file[i].text, file[i].how));
        db_expect(engine, "SELECT * FROM x", file[i].rows);
        unlink(path_of("txt"));
    }
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void columns_in_any_order(void **state)
{
    static const struct given given[] = {
        {"m x y z vx vy vz\n1 2 3 4 5 6 7\n", "", "0,1.0,2.0,3.0,4.0,5.0,6.0,7.0\n"},
        {"vz,vy,vx,z,y,x,m\n7,6,5,4,3,2,1\n", "", "0,1.0,2.0,3.0,4.0,5.0,6.0,7.0\n"},
        {"X;Y;Mass\n2;3;1\n-2;-3;.5\n", "", "0,1.0,2.0,3.0,0.0,0.0,0.0,0.0\n1,0.5,-2.0,-3.0,0.0,0.0,0.0,0.0\n"},
        {"# a comment\n# m\tx\ty\tz\n\n1\t2\t3\t4 # tail\n# more\n", "", "0,1.0,2.0,3.0,4.0,0.0,0.0,0.0\n"},
        {"\"m\",\"x\",\"y\"\r\n1,2,3\r\n", "", "0,1.0,2.0,3.0,0.0,0.0,0.0,0.0\n"},
        {"id m x y z eps\n7 1 2 3 4 0.5\n9 1 2 3 5 0\n", "",
         "7,1.0,2.0,3.0,4.0,0.0,0.0,0.0,0.5\n9,1.0,2.0,3.0,5.0,0.0,0.0,0.0,0.0\n"},
        {"m x y ax ay az pot\n1 2 3 4 5 6 -7\n", "", "0,1.0,2.0,3.0,0.0,0.0,0.0,0.0,4.0,5.0,6.0,-7.0\n"},
        {"2 3 4 1\n", "AS bodies WITH (columns = 'x y z m')", "0,1.0,2.0,3.0,4.0,0.0,0.0,0.0\n"},
        {"8,2,3,9,1\n", "AS bodies WITH (columns = 'what,x,y,ever,m')", "0,1.0,2.0,3.0,0.0,0.0,0.0,0.0\n"},
        {"a,b,c\n2,3,1\n", "AS bodies WITH (columns = 'x y m')", "0,1.0,2.0,3.0,0.0,0.0,0.0,0.0\n"},
        {"m x colour y\n1 2 99 3\n", "AS bodies", "0,1.0,2.0,3.0,0.0,0.0,0.0,0.0\n"},
        {"x y\n2 3\n", "AS bodies", "0,0.0,2.0,3.0,0.0,0.0,0.0,0.0\n"},
        {"m x y\n0.1 1e-3 1d2\n", "AS bodies WITH (type = 'f32')",
         "0,0.10000000149011612,0.0010000000474974513,100.0,0.0,0.0,0.0,0.0\n"},
        {"m x y\n", "", ""},
    };
    all_give(*state, given, COUNT(given));
    db_run(*state, load("m x y time\n1 2 3 1.5\n1 2 4 1.5\n", ""));
    lacis_array *array;
    lacis_part part;
    int i = 0;
    assert_int_equal(lacis_array_find(*state, "x", &array), LACIS_OK);
    assert_int_equal(lacis_array_kind(array), LACIS_BODIES);
    while (lacis_array_part(array, i, &part) == LACIS_OK && strcmp(part.name, "time") != 0)
        i++;
    assert_string_equal(part.name, "time");
    assert_true(*(const double *)part.data == 1.5);
    lacis_array_release(array);
}

static void princeton(void **state)
{
    static const struct given given[] = {
        {"2\n2.5E11\n1.0 2 3 4 5 255 0 0\n-1 -2 -3 -4 6 earth.gif\n", "",
         "0,5.0,1.0,2.0,0.0,3.0,4.0,0.0\n1,6.0,-1.0,-2.0,0.0,-3.0,-4.0,0.0\n"},
        {"1\n1\n\n 1 2 3e0 4 5\n\nThis file was made by hand.\n3 bodies would be better.\n", "",
         "0,5.0,1.0,2.0,0.0,3.0,4.0,0.0\n"},
        {"0\n1\n", "AS bodies", ""},
    };
    all_give(*state, given, COUNT(given));
    db_fails(*state, load("3\n1\n1 2.5 3 4 5\n", ""), LACIS_FORMAT, ":1:1: 3 bodies are announced, and only 1 came");
    db_fails(*state, load("1\n1\n1 2 3. 4 5\n1 2 3 4 5\n", ""), LACIS_FORMAT, ":4:1: the file says 1 bodies");
    db_fails(*state, load("2\n1\n1 2 3 4 5\n1 2 3 4\n", "AS bodies"), LACIS_FORMAT, ":4:1: fewer fields");
    db_fails(*state, load("1\n1\n1 2 3 4 -5\n", "AS bodies"), LACIS_FORMAT, ":3:9: m = '-5' is negative");
}

struct refused {
    const char *text, *how;
    lacis_status status;
    const char *message;
};

static void what_no_body_has(void **state)
{
    static const struct refused refused[] = {
        {"m x y\n1 2 3\n\n1 nan 3\n", "", LACIS_FORMAT, ":4:3: x = 'nan' is not a number"},
        {"m x y\n1 2 3\n1 2 -inf\n", "", LACIS_FORMAT, ":3:5: y = '-inf' is infinite"},
        {"m x y\n-1e-9 2 3\n", "", LACIS_FORMAT, ":2:1: m = '-1e-9' is negative"},
        {"m x y eps\n1 2 3 -1\n", "", LACIS_FORMAT, ":2:7: eps = '-1' is negative"},
        {"m x y\n1 1e39 3\n", "AS bodies WITH (type = 'f32')", LACIS_FORMAT, ":2:3: x = '1e39' is too large for f32"},
        {"m x y\n1 1e400 3\n", "", LACIS_FORMAT, ":2:3: x = '1e400' is not a number"},
        {"m x y\n1 two 3\n", "", LACIS_FORMAT, ":2:3: x = 'two' is not a number"},
        {"m,x,y\n1,,3\n", "", LACIS_FORMAT, ":2:3: x = '' is not a number"},
        {"m x y\n1 2\n", "", LACIS_FORMAT, ":2:1: fewer fields than columns: there are 3"},
        {"m x y\n1 2 3 4\n", "", LACIS_FORMAT, ":2:7: more fields"},
        {"m x y id\n1 2 3 1.5\n", "", LACIS_FORMAT, "id = '1.5' is no whole number"},
        {"m x y id\n1 2 3 9223372036854775808\n", "", LACIS_FORMAT, "is no whole number of 64 bits"},
        {"m x y id\n1 2 3 5\n1 2 3 6\n1 2 3 5\n", "", LACIS_FORMAT, "bodies 0 and 2 both have id 5"},
        {"m x y time\n1 2 3 1\n1 2 3 2\n", "", LACIS_FORMAT, ":3:1: time = '1 2 3 2' has another time"},
        {"m x y time\n1 2 3 nan\n", "", LACIS_FORMAT, "time = 'nan' is not a number"},
        {"m x y x\n1 2 3 4\n", "AS bodies", LACIS_FORMAT, ":1:7: column x is there twice"},
        {"m mass x y\n1 2 3 4\n", "AS bodies", LACIS_FORMAT, ":1:3: column m is there twice"},
        {"m x z\n1 2 3\n", "AS bodies", LACIS_FORMAT, ":1:1: bodies need columns x and y"},
        {"m x y ax\n1 2 3 4\n", "AS bodies", LACIS_FORMAT, "ax, ay and az go together"},
        {"1 2 3\n", "AS bodies", LACIS_FORMAT, ":1:1: no line names the columns; say them"},
        {"", "AS bodies", LACIS_FORMAT, "the file is empty"},
        {"1 2 3\n", "AS bodies WITH (columns = 'x y y')", LACIS_RANGE, "column y is there twice"},
        {"1 2 3\n", "AS bodies WITH (columns = 'x z m')", LACIS_RANGE, "bodies need columns x and y"},
        {"1 2 3\n", "AS bodies WITH (columns = '')", LACIS_RANGE, "bodies need columns x and y"},
        {"1 2 3\n", "AS bodies WITH (columns = 'x y')", LACIS_FORMAT, ":1:5: more fields"},
    };
    for (int i = 0; i < COUNT(refused); i++) {
        db_fails(*state, load(refused[i].text, refused[i].how), refused[i].status, refused[i].message);
        unlink(path_of("txt"));
    }
}

/* Large enough for many chunks; the first of several faults is the one that is told. */
static void many_chunks(void **state)
{
    enum { ROWS = 60000, LINE = 32 };
    char *text = malloc(ROWS * LINE + 64), *p = text;
    assert_non_null(text);
    db_run(*state, "SET threads = 2");
    p += sprintf(p, "id,m,x,y,vz\n");
    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "%d,1,%d.5,-%d,0.25\n", i + 100, i, i);
    db_run(*state, load(text, ""));
    db_expect(*state, "SELECT count(*), min(id), max(id), sum(x - 0.5 - (id - 100)), sum(y), sum(vz) FROM x",
              "60000,100,60099,0.0,-1799970000.0,15000.0\n");
    db_expect(*state, "SHOW ARRAYS", "x,bodies,60000,60000,f64,3360000,NULL\n"); /* ids that count on take nothing */
    for (int row = ROWS - 1; row > ROWS / 2; row -= 1000) {
        char *line = text;
        for (int skip = 0; skip <= row; skip++)
            line = strchr(line, '\n') + 1;
        char *comma = strchr(strchr(line, ',') + 1, ',');
        comma[1] = 'z';
    }
    db_fails(*state, load(text, ""), LACIS_FORMAT, ":31001:9: x = ");
    unlink(path_of("txt"));
    free(text);
}

/* Texts that other loaders know are still theirs. */
static void others_stay(void **state)
{
    static const struct given given[] = {
        {"src,dst,value\n1,2,3\n", "", "1,2,3\n"},
        {"2\n1 2\n2 1\n", "", "1,2,1\n2,1,1\n"}, /* a count, then edges */
        {"1 2 3\n4 5 6\n", "", "1,2,3\n4,5,6\n"},
        {"m,x,y,w\n1,2,3,4\n", "AS csv", "1,2,3,4\n"}, /* a table */
        {"m,x,y,ax\n1,2,3,4\n", "AS csv", "1,2,3,4\n"},
        {"m,mass,x,y\n1,2,3,4\n", "AS csv", "1,2,3,4\n"},
        {"x,y,z\n1,2,3\n", "", "1,2,3\n"}, /* nothing has mass: edges */
        {"i,value\n1,2\n", "", "1,2\n"},
        {"1\n2\n3 4 5 6 7\n", "AS adjacency", "3,4,1\n3,5,1\n3,6,1\n3,7,1\n"},
    };
    all_give(*state, given, COUNT(given));
}

/* Figures come back as they are; ids, softening lengths, accelerations and time too. */
static void csv_again(void **state)
{
    db_run(*state, load("id m x y z eps ax ay az phi time\n4 0.1 1e-300 3 4 0.5 1 2 3 -4 0.125\n"
                        "1 1e22 -0.3333333333333333 3 4 0.5 1 2 3 -4 0.125\n",
                        ""));
    char *rows = db_rows(*state, "SELECT * FROM x");
    char sql[300];
    snprintf(sql, sizeof sql, "SAVE x TO '%s'; DROP x; LOAD x FROM '%s'", path_of("csv"), path_of("csv"));
    db_run(*state, sql);
    db_expect(*state, "SELECT * FROM x", rows);
    free(rows);
    char text[200] = "";
    FILE *file = fopen(path_of("csv"), "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, "id,m,x,y,z,vx,vy,vz,eps,ax,ay,az,phi,time\n4,0.1,1e-300,3"));
    unlink(path_of("csv"));
    unlink(path_of("txt"));
}

/* CSV and JSON lines make of columns what LET makes of them. */
static void records(void **state)
{
    static const struct given given[] = {
        {"m,x,y\n1,2.5,3\n", "AS csv", "0,1.0,2.5,3.0,0.0,0.0,0.0,0.0\n"},
        {"y,x,mass,id,eps,vx\n1,2.5,3,9,0.5,-1\n1,2.5,3,4,0.5,-1\n", "AS csv",
         "4,3.0,2.5,1.0,0.0,-1.0,0.0,0.0,0.5\n9,3.0,2.5,1.0,0.0,-1.0,0.0,0.0,0.5\n"},
        {"{\"m\": 1, \"x\": 2, \"y\": 3, \"z\": 4}\n", "", "0,1.0,2.0,3.0,4.0,0.0,0.0,0.0\n"},
    };
    static const struct refused refused[] = {
        {"m,x,y\n1,2,3\n1,nan,3\n", "AS csv", LACIS_FORMAT, "record 1: x is not a number"},
        {"m,x,y\n-1,2,3\n", "AS csv", LACIS_FORMAT, "record 0: m is negative"},
        {"m,x,y,id\n1,2,3,0.5\n", "AS csv", LACIS_FORMAT, "ids must be integers"},
        {"m,x,y,id\n1,2,3,5\n1,2,3,5\n", "AS csv", LACIS_FORMAT, "bodies 0 and 1 both have id 5"},
        {"m,x,y,time\n1,2,3,5\n1,2,3,5.5\n", "AS csv", LACIS_FORMAT, "record 1: time is not that of the first"},
        {"m,x,y,time\n1,2,3,nan\n", "AS csv", LACIS_FORMAT, "record 0: time"},
    };
    all_give(*state, given, COUNT(given));
    for (int i = 0; i < COUNT(refused); i++) {
        db_fails(*state, load(refused[i].text, refused[i].how), refused[i].status, refused[i].message);
        unlink(path_of("txt"));
    }
}

static void too_many(void **state)
{
    db_run(*state, "SET memory_limit = '1MB'");
    enum { ROWS = 40000 };
    char *text = malloc(ROWS * 8 + 64), *p = text;
    assert_non_null(text);
    p += sprintf(p, "m x y\n");
    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "1 2 3\n");
    db_fails(*state, load(text, ""), LACIS_LIMIT, "40000 bodies would need 2.24 MB");
    unlink(path_of("txt"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_in_any_order, setup, teardown),
        cmocka_unit_test_setup_teardown(princeton, setup, teardown),
        cmocka_unit_test_setup_teardown(what_no_body_has, setup, teardown),
        cmocka_unit_test_setup_teardown(many_chunks, setup, teardown),
        cmocka_unit_test_setup_teardown(others_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(csv_again, setup, teardown),
        cmocka_unit_test_setup_teardown(records, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
