/* SPDX-License-Identifier: Apache-2.0
 *
 * Grey images in and out: PGM as text and binary, PNG of every kind of pixel, interlaced or not; what 0 and 1 are;
 * the range that lacis writes and finds again; files that are cut off, broken, or claim to be vast.
 */
#include "support/png.h"

#include <math.h>

static void is(lacis_engine *engine, const bytes *b, const char *with, const char *rows)
{
    db_run(engine, load_bytes(b, b->size, with));
    db_expect(engine, "SELECT x, y, value FROM x", rows);
}

static void refused(lacis_engine *engine, const bytes *b, const char *how, lacis_status status, const char *message)
{
    db_fails(engine, load_bytes(b, b->size, how), status, message);
}

/* --------------------------------------------------------------------------------------------- PGM */

static void pgm_text(void **state)
{
    static const char *const same[] = {"P2\n2 2\n4\n0 1\n2 4\n", "P2 2 2 4 0 1 2 4",
                                       "P2 # made by hand\n#\n2\t2 # size\r\n4\n0\n1 # in between\n2\n4 # end",
                                       "P2\n# lacis range is not here\n2 2 4\n0 1 2 4\n\n"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        bytes b = {0};
        put_text(&b, same[i]);
        is(*state, &b, "", "0,0,0.0\n1,0,0.25\n0,1,0.5\n1,1,1.0\n");
        is(*state, &b, "WITH (scale = 'counts', type = 'f64')", "0,0,0.0\n1,0,1.0\n0,1,2.0\n1,1,4.0\n");
    }
    bytes b = {0};
    put_text(&b, "P2\n# lacis range -50 150\n2 2 4\n0 1 2 4\n");
    is(*state, &b, "", "0,0,-50.0\n1,0,0.0\n0,1,50.0\n1,1,150.0\n");
    is(*state, &b, "WITH (scale = 'unit')", "0,0,0.0\n1,0,0.25\n0,1,0.5\n1,1,1.0\n");
    is(*state, &b, "WITH (scale = 'counts')", "0,0,0.0\n1,0,1.0\n0,1,2.0\n1,1,4.0\n");
    unlink(path_of("bin"));
}

static void pgm_binary(void **state)
{
    bytes b = {0};
    put_text(&b, "P5\n3 1\n255\n");
    put_bytes(&b, "\0\x33\xff", 3);
    is(*state, &b, "", "0,0,0.0\n1,0,0.20000000298023224\n2,0,1.0\n");
    for (size_t size = 0; size < b.size; size++)
        db_fails(*state, load_bytes(&b, size, "AS pgm"), LACIS_FORMAT, path_of("bin"));
    put_bytes(&b, "\n", 1);
    refused(*state, &b, "", LACIS_FORMAT, "bytes follow its pixels");
    b = (bytes){0};
    put_text(&b, "P5 2 1 1000\n"); /* counts of two bytes, the higher one first */
    put_bytes(&b, "\1\0\3\xe8", 4);
    is(*state, &b, "WITH (type = 'f64')", "0,0,0.256\n1,0,1.0\n");
    unlink(path_of("bin"));
}

static void pgm_refused(void **state)
{
    static const struct {
        const char *text;
        lacis_status status;
        const char *message;
    } wrong[] = {
        {"P6\n1 1\n255\nabc", LACIS_FORMAT, "no grey map"},
        {"P2\n", LACIS_FORMAT, ":2:1: no number of the head"},
        {"P2\n2 -2 4\n", LACIS_FORMAT, ":2:3: no number of the head"},
        {"P2\n2 99999999999999999999 4\n", LACIS_FORMAT, ":2:3: no number of the head"},
        {"P2\n1 1 0\n0", LACIS_FORMAT, "white is 0"},
        {"P2\n1 1 65536\n0", LACIS_FORMAT, "white is 65536"},
        {"P2\n0 1 4\n", LACIS_RANGE, "a grid has cells"},
        {"P2\n2 2 4\n0 1 2 5\n", LACIS_FORMAT, ":3:7: no count from 0 to 4 for x = 1, y = 1"},
        {"P2\n2 2 4\n0 1 2a 3 \n", LACIS_FORMAT, ":3:6: no count from 0 to 4 for x = 1, y = 1"},
        {"P2\n2 2 4\n0 1 2 3 4\n", LACIS_FORMAT, ":3:9: more follows"},
        {"P2\n2 2 4\n0 1 2", LACIS_FORMAT, "ends before its 2 x 2 pixels"},
        {"P2\n2 2 4\n0 1  2 ", LACIS_FORMAT, "no count"},
        {"P2\n9223372036854775807 9223372036854775807 4\n0", LACIS_FORMAT, "ends before"},
        {"P5\n65536 65536 4\n0", LACIS_FORMAT, "ends before"},
        {"P5\n1 1 4#\n0", LACIS_FORMAT, "no white space behind the head"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bytes b = {0};
        put_text(&b, wrong[i].text);
        refused(*state, &b, "AS pgm", wrong[i].status, wrong[i].message);
    }
    unlink(path_of("bin"));
}

/* -------------------------------------------------------------------------------- saved and loaded */

/* Values come back to a 65535th of their range, in f64 as in f32; twice saved, it is the same file. */
static void there_and_back(void **state)
{
    static const char *const endings[] = {"pgm", "png"};
    char sql[500];
    for (int i = 0; i < 2; i++)
        for (int type = 0; type < 2; type++) {
            snprintf(
                sql, sizeof sql,
                "GENERATE g AS noise(37, 21, low = -3, high = 1000, type = '%s'); SAVE g TO '%s'; LOAD x FROM '%s' "
                "WITH (type = f64); SAVE x TO '%s'; LOAD y FROM '%s' WITH (type = f64)",
                type == 0 ? "f32" : "f64", path_of(endings[i]), path_of(endings[i]), path_of(endings[i]),
                path_of(endings[i]));
            db_run(*state, sql);
            db_expect(*state,
                      "SELECT count(*), max(abs(g.value - x.value)) <= 1003 / 131070.0 FROM g JOIN x USING (x, y)",
                      "777,1\n");
            db_expect(*state, "SELECT max(abs(x.value - y.value)) < 1e-9 FROM x JOIN y USING (x, y)", "1\n");
            unlink(path_of(endings[i]));
        }
}

static void flat(void **state)
{
    char sql[300];
    snprintf(sql, sizeof sql, "GENERATE g AS constant(3, value = -7); SAVE g TO '%s'; LOAD x FROM '%s'",
             path_of("pgm"), path_of("pgm"));
    db_run(*state, sql);
    db_expect(*state, "SELECT * FROM x", "0,0,-7.0\n1,0,-7.0\n2,0,-7.0\n");
    unlink(path_of("pgm"));
}

/* The largest range that there is, and values that are none. */
static void extreme(void **state)
{
    static const double value[] = {-1.7e308, 1.7e308, 0, INFINITY, -INFINITY, NAN};
    const int64_t shape[] = {3, 2};
    const lacis_part part[] = {{"value", LACIS_F64, 6, value}, {"shape", LACIS_I64, 2, shape}};
    const lacis_array_spec spec = {LACIS_GRID, LACIS_F64, {3, 2}, part, 2};
    static const char *const endings[] = {"pgm", "png"};
    char sql[300];
    assert_int_equal(lacis_array_create(*state, "g", &spec), LACIS_OK);
    for (int i = 0; i < 2; i++) {
        snprintf(sql, sizeof sql, "SAVE g TO '%s'; LOAD x FROM '%s' WITH (scale = 'counts')", path_of(endings[i]),
                 path_of(endings[i]));
        db_run(*state, sql);
        db_expect(*state, "SELECT x, y, value FROM x",
                  "0,0,0.0\n1,0,65535.0\n2,0,32768.0\n0,1,65535.0\n1,1,0.0\n2,1,0.0\n");
        snprintf(sql, sizeof sql, "LOAD x FROM '%s' WITH (type = 'f64')", path_of(endings[i]));
        db_run(*state, sql);
        db_expect(*state, "SELECT value = 1.7e308, value = -1.7e308 FROM x WHERE x < 2", "0,1\n1,0\n1,0\n0,1\n");
        unlink(path_of(endings[i]));
    }
}

static void no_images(void **state)
{
    static const char *const endings[] = {"pgm", "png"};
    char sql[200];
    db_run(*state, "GENERATE two AS constant(2, 2, fields = 'u,v'); GENERATE deep AS constant(2, 2, 2); "
                   "GENERATE p AS path(3)");
    for (int i = 0; i < 2; i++) {
        snprintf(sql, sizeof sql, "SAVE two TO '%s'", path_of(endings[i]));
        db_fails(*state, sql, LACIS_TYPE, "the grid has 2");
        snprintf(sql, sizeof sql, "SAVE deep TO '%s'", path_of(endings[i]));
        db_fails(*state, sql, LACIS_TYPE, "take a plane");
        snprintf(sql, sizeof sql, "SAVE p TO '%s'", path_of(endings[i]));
        db_fails(*state, sql, LACIS_TYPE, "holds grids");
        assert_int_not_equal(access(path_of(endings[i]), F_OK), 0);
    }
}

/* --------------------------------------------------------------------------------------------- PNG */

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };

static void png_pixels(void **state)
{
    bytes b;
    png_begin(&b, 2, 2, 8, GREY, 0);
    png_end(&b, (const unsigned char[]){0, 0, 51, 0, 102, 255}, 6);
    is(*state, &b, "WITH (type = f64)", "0,0,0.0\n1,0,0.2\n0,1,0.4\n1,1,1.0\n");
    is(*state, &b, "WITH (scale = counts)", "0,0,0.0\n1,0,51.0\n0,1,102.0\n1,1,255.0\n");
    for (size_t size = 0; size < b.size; size++)
        db_fails(*state, load_bytes(&b, size, "AS png"), LACIS_FORMAT, path_of("bin"));

    png_begin(&b, 9, 1, 1, GREY, 0); /* a bit a pixel */
    png_end(&b, (const unsigned char[]){0, 0xa5, 0x80}, 3);
    is(*state, &b, "", "0,0,1.0\n1,0,0.0\n2,0,1.0\n3,0,0.0\n4,0,0.0\n5,0,1.0\n6,0,0.0\n7,0,1.0\n8,0,1.0\n");

    png_begin(&b, 2, 1, 16, GREY, 0);
    png_end(&b, (const unsigned char[]){0, 0x80, 0x01, 0xff, 0xff}, 5);
    is(*state, &b, "WITH (scale = counts)", "0,0,32769.0\n1,0,65535.0\n");

    png_begin(&b, 2, 1, 8, GREY_ALPHA, 0); /* the second is transparent */
    png_end(&b, (const unsigned char[]){0, 51, 255, 102, 0}, 5);
    is(*state, &b, "WITH (type = f64)", "0,0,0.2\n1,0,0.4\n");

    png_begin(&b, 5, 1, 8, RGB, 0);
    png_end(&b, (const unsigned char[]){0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 51, 51, 51, 255, 255, 255}, 16);
    is(*state, &b, "WITH (type = f64)", "0,0,0.2126\n1,0,0.7152\n2,0,0.0722\n3,0,0.2\n4,0,1.0\n");

    png_begin(&b, 1, 1, 16, RGBA, 0);
    png_end(&b, (const unsigned char[]){0, 0, 100, 0, 100, 0, 100, 0, 0}, 9);
    is(*state, &b, "WITH (scale = counts)", "0,0,100.0\n");

    png_begin(&b, 3, 1, 2, PALETTE, 0); /* of black, a grey, blue */
    png_chunk(&b, "PLTE", (const unsigned char[]){0, 0, 0, 51, 51, 51, 0, 0, 255}, 9);
    png_end(&b, (const unsigned char[]){0, 0x18}, 2);
    is(*state, &b, "WITH (type = f64)", "0,0,0.0\n1,0,0.2\n2,0,0.0722\n");
    unlink(path_of("bin"));
}

/* Seven passes of a 5 x 5 image whose counts are 10 y + x. */
static void png_interlaced(void **state)
{
    static const int begin_x[] = {0, 4, 0, 2, 0, 1, 0}, begin_y[] = {0, 0, 4, 0, 2, 0, 1};
    static const int step_x[] = {8, 8, 4, 4, 2, 2, 1}, step_y[] = {8, 8, 8, 4, 4, 2, 2};
    unsigned char rows[100];
    size_t size = 0;
    for (int pass = 0; pass < 7; pass++)
        for (int y = begin_y[pass]; y < 5 && begin_x[pass] < 5; y += step_y[pass]) {
            rows[size++] = 0;
            for (int x = begin_x[pass]; x < 5; x += step_x[pass])
                rows[size++] = (unsigned char)(10 * y + x);
        }
    bytes b;
    png_begin(&b, 5, 5, 8, GREY, 1);
    png_end(&b, rows, size);
    db_run(*state, load_bytes(&b, b.size, "WITH (scale = counts)"));
    db_expect(*state, "SELECT count(*), sum(value = 10 * y + x) FROM x", "25,25\n");
    unlink(path_of("bin"));
}

static void png_refused(void **state)
{
    bytes b;
    png_begin(&b, 2, 2, 8, GREY, 0);
    png_end(&b, (const unsigned char[]){0, 0, 51, 0, 102, 255}, 6);
    for (size_t at = 8; at < b.size; at++) { /* a bit is wrong: found by sums, but for what nothing depends on */
        bytes broken = b;
        broken.data[at] ^= 0x10;
        lacis_status status = lacis_exec(*state, load_bytes(&broken, broken.size, "AS png"), NULL, NULL);
        if (at < b.size - 12 && status != LACIS_FORMAT) fail_msg("byte %zu: %s", at, lacis_error_message(*state));
    }
    b = (bytes){0};
    put_text(&b, "P5 1 1 255\nx");
    refused(*state, &b, "AS png", LACIS_FORMAT, "no PNG image");
    png_begin(&b, 2147483647, 2147483647, 16, RGBA, 1);
    png_end(&b, (const unsigned char[]){0}, 1);
    refused(*state, &b, "", LACIS_FORMAT, "too short for its width and height");
    png_begin(&b, 500000, 1, 16, RGBA, 0); /* its pixels are many bits each */
    png_end(&b, (const unsigned char[]){0}, 1);
    refused(*state, &b, "", LACIS_FORMAT, "too short for its width and height");
    png_begin(&b, 4, 4, 8, GREY, 0); /* rows are missing */
    png_end(&b, (const unsigned char[]){0, 1, 2, 3, 4}, 5);
    refused(*state, &b, "", LACIS_FORMAT, "fetch it again");
    png_begin(&b, 0, 4, 8, GREY, 0);
    png_end(&b, (const unsigned char[]){0}, 1);
    refused(*state, &b, "", LACIS_FORMAT, "IHDR");
    unlink(path_of("bin"));
}

/* No memory at any place: an error, and nothing is kept. */
static int countdown;

static int refuse(void *arg, size_t size)
{
    (void)arg;
    (void)size;
    return countdown-- <= 0;
}

static void no_memory(void **state)
{
    static const char *const endings[] = {"png", "pgm"};
    char sql[200];
    db_run(*state, "GENERATE g AS noise(40, 30)");
    for (int i = 0; i < 4; i++) {
        bool done = false;
        snprintf(sql, sizeof sql, "%s '%s'", i % 2 == 0 ? "SAVE g TO" : "LOAD x FROM", path_of(endings[i / 2]));
        for (int n = 0; !done; n++) {
            countdown = n;
            lacis_set_allocation_guard(refuse, NULL);
            lacis_status status = lacis_exec(*state, sql, NULL, NULL);
            lacis_set_allocation_guard(NULL, NULL);
            done = status == LACIS_OK;
            if (!done && status != LACIS_NOMEM) fail_msg("%s, %d: %s", sql, n, lacis_error_message(*state));
            assert_true(n < 1000);
        }
    }
    unlink(path_of("png"));
    unlink(path_of("pgm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pgm_text, setup, teardown),
        cmocka_unit_test_setup_teardown(pgm_binary, setup, teardown),
        cmocka_unit_test_setup_teardown(pgm_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(there_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(flat, setup, teardown),
        cmocka_unit_test_setup_teardown(extreme, setup, teardown),
        cmocka_unit_test_setup_teardown(no_images, setup, teardown),
        cmocka_unit_test_setup_teardown(png_pixels, setup, teardown),
        cmocka_unit_test_setup_teardown(png_interlaced, setup, teardown),
        cmocka_unit_test_setup_teardown(png_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
