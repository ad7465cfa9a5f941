/* SPDX-License-Identifier: Apache-2.0
 *
 * Tipsy binary files: both orders of bytes and heads, gas, dark and stars, files cut off anywhere, values that no
 * body has, and what is saved.
 */
#include "support/bytes.h"

#include <math.h>

/* Two gas, one dark, one star body; the first figure of each record counts up from 1. */
static void make_file(bytes *b, bool swap, bool padded)
{
    static const int floats[] = {12, 12, 9, 11};
    b->swap = swap;
    b->size = 0;
    put_f64(b, 0.75);
    put_u32(b, 4);
    put_u32(b, 3);
    put_u32(b, 2);
    put_u32(b, 1);
    put_u32(b, 1);
    if (padded) put_u32(b, 0);
    for (int body = 0; body < 4; body++)
        for (int i = 0; i < floats[body]; i++)
            put_f32(b, (float)(body + 1) + 0.125F * (float)i);
}

#define GAS0 "0,1.0,1.125,1.25,1.375,1.5,1.625,1.75,2.125\n"
#define GAS1 "1,2.0,2.125,2.25,2.375,2.5,2.625,2.75,3.125\n"
#define DARK ",3.0,3.125,3.25,3.375,3.5,3.625,3.75,3.875\n"
#define STAR ",4.0,4.125,4.25,4.375,4.5,4.625,4.75,5.125\n"

static double time_of(lacis_engine *engine)
{
    lacis_array *array;
    lacis_part part = {0};
    double time = 0;
    assert_int_equal(lacis_array_find(engine, "x", &array), LACIS_OK);
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++)
        if (strcmp(part.name, "time") == 0) time = *(const double *)part.data;
    lacis_array_release(array);
    return time;
}

static void every_kind(void **state)
{
    bytes b;
    for (int form = 0; form < 4; form++) {
        make_file(&b, (form & 1) != 0, (form & 2) != 0);
        db_run(*state, load_bytes(&b, b.size, ""));
        db_expect(*state, "SELECT * FROM x", GAS0 GAS1 "2" DARK "3" STAR);
        assert_true(time_of(*state) == 0.75);
        db_run(*state, load_bytes(&b, b.size, "WITH (kinds = 'dark, 2', type = 'f64')"));
        db_expect(*state, "SELECT * FROM x", "0" DARK "1" STAR);
        db_run(*state, load_bytes(&b, b.size, "WITH (kinds = 'STAR')"));
        db_expect(*state, "SELECT * FROM x", "0" STAR);
    }
    db_fails(*state, load_bytes(&b, b.size, "WITH (kinds = 'dust')"), LACIS_RANGE,
             "'dust' is none of 0 .. 2, gas ... star");
    db_fails(*state, load_bytes(&b, b.size, "WITH (kinds = '3')"), LACIS_RANGE, "'3' is none of");
    unlink(path_of("bin"));
}

/* (All but one length tell: a padded file less its last 4 bytes is as long as one without padding.) */
static void cut_anywhere(void **state)
{
    bytes b;
    for (int form = 0; form < 4; form++) {
        make_file(&b, (form & 1) != 0, (form & 2) != 0);
        for (size_t size = 0; size < b.size; size++) {
            const char *message = size < 28 ? "too few" : "fetch it again";
            if ((form & 2) != 0 && size == b.size - 4) continue;
            db_fails(*state, load_bytes(&b, size, "AS tipsy"), LACIS_FORMAT, message);
        }
        put_u32(&b, 0);
        if ((form & 2) != 0) /* 28 bytes and a number behind the bodies would be taken for a padded head */
            db_fails(*state, load_bytes(&b, b.size, "AS tipsy"), LACIS_FORMAT,
                     "make 208 bytes, and the file has 212");
    }
    unlink(path_of("bin"));
}

static void damaged(void **state)
{
    bytes b;
    static const float bad[] = {NAN, INFINITY, -1.0F};
    static const char *const message[] = {"m is not a number", "m is infinite", "m is negative"};
    for (int i = 0; i < 3; i++) {
        make_file(&b, true, true);
        size_t whole = b.size;
        b.size = 32 + 2 * 48; /* the dark body's mass */
        put_f32(&b, bad[i]);
        db_fails(*state, load_bytes(&b, whole, ""), LACIS_FORMAT, message[i]);
        db_fails(*state, load_bytes(&b, whole, ""), LACIS_FORMAT, "dark body 0, at byte 128: m ");
    }
    make_file(&b, false, true);
    size_t whole = b.size;
    b.size = 32 + 2 * 48 + 36 + 9 * 4; /* the star's eps */
    put_f32(&b, -0.5F);
    db_fails(*state, load_bytes(&b, whole, ""), LACIS_FORMAT, "star body 0, at byte 200: eps is negative");
    db_run(*state, load_bytes(&b, whole, "WITH (kinds = 'gas dark')"));
    make_file(&b, false, true);
    b.size = 8;
    put_u32(&b, 5); /* the numbers do not add up */
    db_fails(*state, load_bytes(&b, whole, "AS tipsy"), LACIS_FORMAT, "do not add up");
    make_file(&b, false, true);
    b.size = 12;
    put_u32(&b, 4); /* dimensions */
    db_fails(*state, load_bytes(&b, whole, "AS tipsy"), LACIS_FORMAT, "do not add up");
    make_file(&b, false, true);
    b.size = 0;
    put_f64(&b, NAN);
    db_fails(*state, load_bytes(&b, whole, "AS tipsy"), LACIS_FORMAT, "do not add up");
    unlink(path_of("bin"));
}

/* More bodies than the file or the memory has room for are refused before anything is taken. */
static void huge(void **state)
{
    bytes b = {0};
    put_f64(&b, 0);
    put_u32(&b, 2000000000);
    put_u32(&b, 3);
    put_u32(&b, 0);
    put_u32(&b, 2000000000);
    put_u32(&b, 0);
    put_u32(&b, 0);
    db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, "make 72000000032 bytes, and the file has 32");
    unlink(path_of("bin"));
}

static void none(void **state)
{
    bytes b = {0};
    put_f64(&b, 0);
    put_u32(&b, 0);
    put_u32(&b, 3);
    for (int i = 0; i < 4; i++)
        put_u32(&b, 0);
    db_run(*state, load_bytes(&b, b.size, "AS tipsy"));
    db_expect(*state, "SELECT count(*) FROM x", "0\n");
    unlink(path_of("bin"));
}

/* Floats come back as they are; the file is big-endian, with a head of 32 bytes. */
static void saved(void **state)
{
    bytes b;
    char sql[200];
    unsigned char head[32];
    make_file(&b, false, false);
    db_run(*state, load_bytes(&b, b.size, ""));
    snprintf(sql, sizeof sql, "SAVE x TO '%s'; LOAD y FROM '%s'", path_of("tipsy"), path_of("tipsy"));
    db_run(*state, sql);
    same_bits(*state, "x", "y");
    FILE *file = fopen(path_of("tipsy"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftell(file), 32 + 4 * 36);
    fclose(file);
    assert_memory_equal(head, "\x3f\xe8\0\0\0\0\0\0\0\0\0\4\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0", 32);
    db_run(*state, "LET big = SELECT 1.0 AS m, 1e300 AS x, 0.0 AS y, 0.0 AS z");
    snprintf(sql, sizeof sql, "SAVE big TO '%s'", path_of("tipsy"));
    db_fails(*state, sql, LACIS_RANGE, "body 0 has a figure that tipsy's floats cannot hold");
    snprintf(sql, sizeof sql, "LET t = SELECT 1 AS i, 2 AS value; SAVE t TO '%s'", path_of("tipsy"));
    db_fails(*state, sql, LACIS_TYPE, "tipsy holds bodies");
    unlink(path_of("bin"));
    unlink(path_of("tipsy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(cut_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(huge, setup, teardown),
        cmocka_unit_test_setup_teardown(none, setup, teardown),
        cmocka_unit_test_setup_teardown(saved, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
