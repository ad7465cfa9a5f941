/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense symmetric matrices: what SQL sees of every storage and type, totals, batches of one and of several sizes,
 * lent memory, the way through a database file, and descriptions that do not go together.
 */
#include "support/db.h"

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 4, LD = 6 };

static int setup(void **state)
{
    *state = db_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

/* Element (i, j) of the whole matrix. */
static double element(int i, int j)
{
    int low = i < j ? i : j, high = i < j ? j : i;
    return 10.0 * (high + 1) + (low + 1);
}

/* NaN wherever the stored triangle is not. */
static int64_t fill(bool upper, int64_t ld, double *out)
{
    int64_t count = 0;
    for (int i = 0; i < N * LD; i++)
        out[i] = NAN;
    for (int j = 0; j < N; j++)
        for (int i = upper ? 0 : j; i < (upper ? j + 1 : N); i++)
            out[ld == 0 ? count++ : j * ld + i] = element(i, j);
    return ld == 0 ? count : (N - 1) * ld + N;
}

static lacis_status create(lacis_engine *engine, const char *name, bool upper, int64_t ld)
{
    double values[N * LD];
    const int64_t shape[] = {upper, 0, ld, 0};
    const lacis_part parts[] = {{"values", LACIS_F64, fill(upper, ld, values), values},
                                {"shape", LACIS_I64, 4, shape}};
    const lacis_array_spec spec = {LACIS_SYMMETRIC, LACIS_F64, {N, 1}, parts, 2};
    return lacis_array_create(engine, name, &spec);
}

static void every_storage_shows_its_triangle(void **state)
{
    static const int64_t lds[] = {0, N, LD};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(create(*state, "a", false, lds[i]), LACIS_OK);
        db_expect(*state, "SELECT i, j, value FROM a",
                  "0,0,11.0\n1,0,21.0\n1,1,22.0\n2,0,31.0\n2,1,32.0\n2,2,33.0\n3,0,41.0\n3,1,42.0\n3,2,43.0\n"
                  "3,3,44.0\n");
        db_expect(*state, "SELECT j, value FROM a WHERE i = 2", "0,31.0\n1,32.0\n2,33.0\n");
        db_expect(*state, "SELECT i, value FROM a WHERE j = 2", "2,33.0\n3,43.0\n");
        db_expect(*state, "SELECT value FROM a WHERE i = 3 AND j = 1", "42.0\n");
        db_expect(*state, "SELECT i, j FROM a WHERE i IN (1, 3, 7) AND j >= 1", "1,1\n3,1\n3,2\n3,3\n");
        db_expect(*state, "SELECT i, j FROM a WHERE i > 2 ORDER BY i, j DESC", "3,3\n3,2\n3,1\n3,0\n");
        db_expect(*state, "SELECT i, j FROM a ORDER BY value DESC LIMIT 2", "3,3\n3,2\n");
        db_expect(*state, "SELECT count(*), sum(value), min(value), max(i), sum(i), sum(j), min(j) FROM a",
                  "10,320.0,11.0,3,20,10,0\n");
        db_expect(*state, "SELECT sum(value), sum(i), sum(j) FROM a WHERE value > 0", "320.0,20,10\n");
        assert_int_equal(create(*state, "a", true, lds[i]), LACIS_OK);
        db_expect(*state, "SELECT i, j, value FROM a WHERE i < 2",
                  "0,0,11.0\n0,1,21.0\n0,2,31.0\n0,3,41.0\n1,1,22.0\n1,2,32.0\n1,3,42.0\n");
        db_expect(*state, "SELECT count(*), sum(value), sum(i), sum(j), max(j) FROM a", "10,320.0,10,20,3\n");
        db_expect(*state, "SELECT i, value FROM a WHERE j = 1", "0,21.0\n1,22.0\n");
    }
}

static void put(lacis_engine *engine, const char *name, lacis_dtype dtype, int64_t count, const void *values,
                bool hermitian, int64_t n)
{
    const int64_t shape[] = {0, hermitian, 0, 0};
    const lacis_part parts[] = {{"values", dtype, count, values}, {"shape", LACIS_I64, 4, shape}};
    const lacis_array_spec spec = {LACIS_SYMMETRIC, dtype, {n, 1}, parts, 2};
    if (lacis_array_create(engine, name, &spec) != LACIS_OK) fail_msg("%s", lacis_error_message(engine));
}

static void every_type_has_its_columns(void **state)
{
    static const float f32[] = {1, 2, 3}, c64[] = {1, 9, 2, -2, 3, 0};
    static const double c128[] = {1, 9, 2, -2, 3, 0};
    static const double dd[] = {0.1, -0x1.999999999999ap-58, 2, 0, 3, 0x1p-60};
    static const double cdd[] = {0.1, -0x1.999999999999ap-58, 5, 6, 1, 0, -0.5, 0, 2, 0, 7, 8};
    put(*state, "a", LACIS_F32, 3, f32, false, 2);
    db_expect(*state, "SELECT * FROM a", "0,0,1.0\n1,0,2.0\n1,1,3.0\n");
    put(*state, "a", LACIS_C64, 3, c64, true, 2);
    db_expect(*state, "SELECT i, j, re, im FROM a", "0,0,1.0,0.0\n1,0,2.0,-2.0\n1,1,3.0,0.0\n");
    put(*state, "a", LACIS_C128, 3, c128, false, 2);
    db_expect(*state, "SELECT i, j, re, im FROM a WHERE i = 0", "0,0,1.0,9.0\n");
    put(*state, "a", LACIS_DD, 3, dd, false, 2);
    db_expect(*state, "SELECT i, j, value, lo, text FROM a WHERE j = 0",
              "0,0,0.1,-5.551115123125783e-18,0.1\n1,0,2.0,0.0,2.0\n");
    db_expect(*state, "SELECT * FROM a WHERE text = '0.1'", "0,0,0.1,-5.551115123125783e-18,0.1\n");
    db_expect(*state, "SELECT typeof(text), text FROM a ORDER BY value DESC LIMIT 2",
              "text,3.0000000000000000008673617379884035\ntext,2.0\n");
    db_expect(*state, "SELECT count(*), sum(value), min(value) FROM a", "3,5.1,0.1\n");
    put(*state, "a", LACIS_CDD, 3, cdd, true, 2);
    db_expect(*state, "SELECT * FROM a",
              "0,0,0.1,-5.551115123125783e-18,0.0,0.0,complex(0.1, 0.0)\n"
              "1,0,1.0,0.0,-0.5,0.0,complex(1.0, -0.5)\n1,1,2.0,0.0,0.0,0.0,complex(2.0, 0.0)\n");
}

static void vectors_of_double_doubles(void **state)
{
    static const double dd[] = {2, 0, 0.1, -0x1.999999999999ap-58};
    const lacis_part parts[] = {{"values", LACIS_DD, 2, dd}};
    lacis_array_spec spec = {LACIS_VECTOR, LACIS_DD, {2, 0}, parts, 1};
    assert_int_equal(lacis_array_create(*state, "x", &spec), LACIS_OK);
    db_expect(*state, "SELECT * FROM x", "0,2.0,0.0,2.0\n1,0.1,-5.551115123125783e-18,0.1\n");
    db_expect(*state, "SELECT text FROM x WHERE i IN (1, 5)", "0.1\n");
    db_expect(*state, "SELECT text FROM x ORDER BY value DESC LIMIT 1", "2.0\n");
    const lacis_part field[] = {{"z", LACIS_CDD, 1, dd}};
    spec = (lacis_array_spec){LACIS_INTERLEAVED, LACIS_CDD, {1, 1}, field, 1};
    assert_int_equal(lacis_array_create(*state, "b", &spec), LACIS_OK);
    db_expect(*state, "SELECT z, z_lo, z_im, z_im_lo FROM b", "2.0,0.0,0.1,-5.551115123125783e-18\n");
    db_expect(*state, "SELECT dd_text(z, z_lo), dd_text(z_im, z_im_lo), dd_text(z, z_lo, z_im, z_im_lo) FROM b",
              "2.0,0.1,complex(2.0, 0.1)\n");
    db_expect(*state, "SELECT dd_text(3, 0), dd_text(NULL, 0), dd_text('x', 1)", "3.0,NULL,NULL\n");
}

/* Two matrices of 2 x 2 with a gap between them, then three of 2, 0 and 1 rows. */
static void create_batches(lacis_engine *engine)
{
    static const double a[] = {1, 2, NAN, 3, NAN, NAN, 4, 5, NAN, 6}, b[] = {1, 2, NAN, 3, 7}, c[] = {1, 2, 3, 7};
    const int64_t strided[] = {0, 0, 2, 6}, full[] = {0, 0, 2, 0}, packed[] = {1, 0, 0, 0}, orders[] = {2, 0, 1};
    lacis_part parts[] = {
        {"values", LACIS_F64, 10, a}, {"shape", LACIS_I64, 4, strided}, {"orders", LACIS_I64, 3, orders}};
    lacis_array_spec spec = {LACIS_SYMMETRIC, LACIS_F64, {2, 2}, parts, 2};
    assert_int_equal(lacis_array_create(engine, "s", &spec), LACIS_OK);
    parts[0] = (lacis_part){"values", LACIS_F64, 5, b};
    parts[1].data = full;
    spec.extent[1] = 3;
    spec.part_count = 3;
    assert_int_equal(lacis_array_create(engine, "v", &spec), LACIS_OK);
    parts[0] = (lacis_part){"values", LACIS_F64, 4, c};
    parts[1].data = packed;
    assert_int_equal(lacis_array_create(engine, "p", &spec), LACIS_OK);
}

static void expect_batches(lacis_engine *engine)
{
    db_expect(engine, "SELECT * FROM s", "0,0,0,1.0\n0,1,0,2.0\n0,1,1,3.0\n1,0,0,4.0\n1,1,0,5.0\n1,1,1,6.0\n");
    db_expect(engine, "SELECT * FROM s WHERE lane = 1 AND i = 1", "1,1,0,5.0\n1,1,1,6.0\n");
    db_expect(engine, "SELECT lane, value FROM s WHERE i = 1 AND j = 0", "0,2.0\n1,5.0\n");
    db_expect(engine, "SELECT count(*), sum(value), max(value) FROM s", "6,21.0,6.0\n");
    db_expect(engine, "SELECT * FROM v", "0,0,0,1.0\n0,1,0,2.0\n0,1,1,3.0\n2,0,0,7.0\n");
    db_expect(engine, "SELECT * FROM v WHERE lane IN (1, 2)", "2,0,0,7.0\n");
    db_expect(engine, "SELECT * FROM p", "0,0,0,1.0\n0,0,1,2.0\n0,1,1,3.0\n2,0,0,7.0\n");
    db_expect(engine, "SELECT count(*), sum(value) FROM p", "4,13.0\n");
    db_expect(engine, "SELECT sum(lane), sum(i) FROM p", "2,1\n");
    db_expect(engine, "SELECT sum(i), max(j), count(i) FROM p", "1,1,4\n");
    db_expect(engine, "SELECT min(j), sum(value) FROM s", "0,21.0\n");
}

static void batches(void **state)
{
    create_batches(*state);
    expect_batches(*state);
    lacis_array *array;
    assert_int_equal(lacis_array_find(*state, "v", &array), LACIS_OK);
    assert_int_equal(lacis_array_kind(array), LACIS_SYMMETRIC);
    assert_int_equal(lacis_array_extent(array, 1), 3);
    lacis_array_release(array);
    db_expect(*state, "SHOW ARRAYS",
              "p,symmetric,3 of 2 x 2,4,f64,88,NULL\ns,symmetric,2 of 2 x 2,6,f64,112,NULL\n"
              "v,symmetric,3 of 2 x 2,4,f64,96,NULL\n");
}

/* The matrix "a" says that it has five rows. */
static void damage(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE lacis_array SET rows = 5 WHERE name = 'a'", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
}

static void they_live_in_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/lacis-symmetric-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    static const double cdd[] = {0.1, -0x1.999999999999ap-58, 5, 6};
    lacis_engine *engine = db_open(path);
    create_batches(engine);
    put(engine, "z", LACIS_CDD, 1, cdd, true, 1);
    assert_int_equal(create(engine, "a", true, LD), LACIS_OK);
    lacis_close(engine);
    engine = db_open(path);
    expect_batches(engine);
    db_expect(engine, "SELECT * FROM z", "0,0,0.1,-5.551115123125783e-18,0.0,0.0,complex(0.1, 0.0)\n");
    db_expect(engine, "SELECT count(*), sum(value) FROM a", "10,320.0\n");
    lacis_close(engine);
    damage(path);
    engine = db_open(path);
    db_fails(engine, "SELECT * FROM a", LACIS_CORRUPT, "a");
    lacis_close(engine);
    unlink(path);
}

static void let_go(void *arg)
{
    ++*(int *)arg;
}

/* A leading dimension so large that places are beyond 2^31: only pages that are touched exist. */
static void lent_memory_is_not_copied(void **state)
{
    const int64_t n = 3, ld = (int64_t)3 << 30, shape[] = {0, 0, ld, 0};
    int released = 0;
    size_t bytes = (size_t)((n - 1) * ld + n) * sizeof(float);
    float *values = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (values == MAP_FAILED) skip();
    values[2 * ld + 2] = 7;
    values[ld + 1] = 5;
    const lacis_part parts[] = {{"values", LACIS_F32, (n - 1) * ld + n, values}, {"shape", LACIS_I64, 4, shape}};
    const lacis_array_spec spec = {LACIS_SYMMETRIC, LACIS_F32, {n, 1}, parts, 2};
    assert_int_equal(lacis_array_lend(*state, "a", &spec, let_go, &released), LACIS_OK);
    db_expect(*state, "SELECT * FROM a WHERE value > 0", "1,1,5.0\n2,2,7.0\n");
    db_expect(*state, "SELECT sum(value) FROM a", "12.0\n");
    lacis_array *array;
    lacis_part part;
    assert_int_equal(lacis_array_find(*state, "a", &array), LACIS_OK);
    assert_int_equal(lacis_array_part(array, 0, &part), LACIS_OK);
    assert_ptr_equal(part.data, values);
    lacis_array_release(array);
    assert_int_equal(released, 0);
    db_run(*state, "DROP a");
    assert_int_equal(released, 1);
    munmap(values, bytes);
}

static void refuse(lacis_engine *engine, lacis_array_spec spec, const char *part)
{
    assert_int_equal(lacis_array_create(engine, "x", &spec), LACIS_TYPE);
    if (strstr(lacis_error_message(engine), part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", lacis_error_message(engine), part);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const double values[32] = {0};
    int64_t shape[] = {0, 0, 4, 0}, orders[] = {4, 2};
    lacis_part parts[] = {
        {"values", LACIS_F64, 16, values}, {"shape", LACIS_I64, 4, shape}, {"orders", LACIS_I64, 2, orders}};
    lacis_array_spec spec = {LACIS_SYMMETRIC, LACIS_F64, {4, 1}, parts, 2};
    assert_int_equal(lacis_array_create(*state, "x", &spec), LACIS_OK);
    shape[0] = 2;
    refuse(*state, spec, "neither 0 nor 1");
    shape[0] = 0;
    shape[1] = 1;
    refuse(*state, spec, "Hermitian");
    shape[1] = 0;
    shape[2] = 3;
    refuse(*state, spec, "less than its 4 rows");
    shape[2] = -1;
    refuse(*state, spec, "negative");
    shape[2] = INT64_MAX / 3;
    refuse(*state, spec, "counted");
    shape[2] = 5;
    refuse(*state, spec, "needs 19");
    shape[2] = 0;
    parts[0].count = 9;
    refuse(*state, spec, "needs 10");
    parts[0].count = 20;
    spec.extent[1] = 2;
    assert_int_equal(lacis_array_create(*state, "x", &spec), LACIS_OK);
    shape[3] = 9;
    refuse(*state, spec, "stride");
    shape[3] = INT64_MAX;
    spec.extent[1] = 3;
    refuse(*state, spec, "counted");
    shape[3] = 0;
    spec.extent[1] = INT64_MAX;
    refuse(*state, spec, "counted");
    spec.extent[1] = 2;
    spec.part_count = 3;
    assert_int_equal(lacis_array_create(*state, "x", &spec), LACIS_OK);
    orders[0] = 5;
    refuse(*state, spec, "matrix 0 has 5 rows");
    orders[0] = 3;
    refuse(*state, spec, "largest");
    orders[0] = 4;
    shape[3] = 1;
    refuse(*state, spec, "stride");
    shape[3] = 0;
    parts[0].count = 12;
    refuse(*state, spec, "needs 13");
    parts[0] = (lacis_part){"values", LACIS_F32, 20, values};
    refuse(*state, spec, "f32");
    parts[0] = (lacis_part){"values", LACIS_I64, 20, values};
    spec.dtype = LACIS_I64;
    refuse(*state, spec, "i64");
    spec.dtype = LACIS_F64;
    parts[0] = (lacis_part){"values", LACIS_F64, 20, values};
    parts[1].count = 3;
    refuse(*state, spec, "four i64");
    spec.part_count = 1;
    refuse(*state, spec, "four i64");
    spec.extent[0] = (int64_t)1 << 31;
    parts[1].count = 4;
    spec.part_count = 2;
    refuse(*state, spec, "2^31 - 1");
    parts[0].data = NULL;
    refuse(*state, spec, "values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_storage_shows_its_triangle, setup, teardown),
        cmocka_unit_test_setup_teardown(every_type_has_its_columns, setup, teardown),
        cmocka_unit_test_setup_teardown(vectors_of_double_doubles, setup, teardown),
        cmocka_unit_test_setup_teardown(batches, setup, teardown),
        cmocka_unit_test(they_live_in_a_file),
        cmocka_unit_test_setup_teardown(lent_memory_is_not_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
