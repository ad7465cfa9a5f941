/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies as NumPy's records: every column, id and the time come back with the same bits, in both types; what NumPy
 * may write otherwise; n x k numbers; files that are cut off or say what no body has.
 */
#include "support/bytes.h"

#include <float.h>
#include <math.h>

/* ------------------------------------------------------------------------------------- round trips */

enum { BODIES = 1000, REALS = 12 };

static const char *const names[REALS] = {"m", "x", "y", "z", "vx", "vy", "vz", "eps", "ax", "ay", "az", "phi"};

/* Numbers of every size, some of them denormal, negative zeros among them. */
static double figure(int column, int row)
{
    double value = ldexp(1 + (row * 7919 % 1000) / 1000.0, (row * 31 + column * 17) % 2000 - 1000);
    if (row % 50 == 3) value = 0;
    if (column == 0 || column == 7) return value;
    return row % 3 == 0 ? -value : value;
}

static float narrow(double value)
{
    if (fabs(value) > FLT_MAX) return value < 0 ? -FLT_MAX : FLT_MAX;
    return (float)value;
}

static void make(lacis_engine *engine, lacis_dtype dtype, int reals, bool ids, const double *time)
{
    static double wide[REALS][BODIES];
    static float single[REALS][BODIES];
    static int64_t id[BODIES];
    lacis_part part[REALS + 2];
    int parts = 0;
    for (int c = 0; c < reals; c++) {
        for (int i = 0; i < BODIES; i++) {
            wide[c][i] = figure(c, i);
            single[c][i] = narrow(wide[c][i]);
        }
        part[parts++] =
            (lacis_part){names[c], dtype, BODIES, dtype == LACIS_F32 ? (void *)single[c] : (void *)wide[c]};
    }
    for (int i = 0; i < BODIES; i++)
        id[i] = (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15U);
    if (ids) part[parts++] = (lacis_part){"id", LACIS_I64, BODIES, id};
    if (time != NULL) part[parts++] = (lacis_part){"time", LACIS_F64, 1, time};
    const lacis_array_spec spec = {LACIS_BODIES, dtype, {BODIES, 0}, part, parts};
    assert_int_equal(lacis_array_create(engine, "x", &spec), LACIS_OK);
}

static void every_bit(void **state)
{
    static const double time = 0.1;
    char sql[200];
    snprintf(sql, sizeof sql, "SAVE x TO '%s'; LOAD y FROM '%s'", path_of("npy"), path_of("npy"));
    for (int form = 0; form < 16; form++) {
        int reals = (form & 2) == 0 ? 7 : (form & 4) == 0 ? 8 : REALS;
        make(*state, (form & 1) != 0 ? LACIS_F32 : LACIS_F64, reals, (form & 8) != 0, (form & 4) != 0 ? &time : NULL);
        db_run(*state, sql);
        same_bits(*state, "x", "y");
    }
    unlink(path_of("npy"));
}

/* Ids that count on from another number than 0 stay as well. */
static void counted_ids(void **state)
{
    char sql[300];
    bytes b = {0};
    static const char text[] = "id m x y\n-3 1 2 3\n-2 1 2 3\n";
    put_bytes(&b, text, sizeof text - 1);
    db_run(*state, load_bytes(&b, b.size, ""));
    snprintf(sql, sizeof sql, "SAVE x TO '%s'; LOAD y FROM '%s'", path_of("npy"), path_of("npy"));
    db_run(*state, sql);
    db_expect(*state, "SELECT id FROM y", "-3\n-2\n");
    unlink(path_of("npy"));
    unlink(path_of("bin"));
}

static void nobody(void **state)
{
    char sql[300];
    bytes b = {0};
    put_bytes(&b, "m x y\n", 6);
    db_run(*state, load_bytes(&b, b.size, ""));
    snprintf(sql, sizeof sql, "SAVE x TO '%s'; LOAD y FROM '%s'", path_of("npy"), path_of("npy"));
    db_run(*state, sql);
    db_expect(*state, "SELECT count(*) FROM y", "0\n");
    unlink(path_of("npy"));
    unlink(path_of("bin"));
}

/* ---------------------------------------------------------------------------------- others' records */

/* Padding, fields of other names, and types that differ: the widest counts. */
static void aligned_records(void **state)
{
    bytes b;
    put_npy(&b, "{'descr': [('id', '<i4'), ('', '|V4'), ('y', '<f8'), ('m', '<f4'), ('spin', '<u2'), ('x', '<f8')], "
                "'fortran_order': False, 'shape': (2,), }\n");
    for (uint32_t i = 0; i < 2; i++) {
        put_u32(&b, 9 - i);
        put_u32(&b, 0xffffffff);
        put_f64(&b, 3 + i);
        put_f32(&b, 0.5F);
        put_bytes(&b, "zz", 2);
        put_f64(&b, -1);
    }
    db_run(*state, load_bytes(&b, b.size, ""));
    db_expect(*state, "SELECT * FROM x", "8,0.5,-1.0,4.0,0.0,0.0,0.0,0.0\n9,0.5,-1.0,3.0,0.0,0.0,0.0,0.0\n");
    for (size_t size = 0; size < b.size; size++)
        db_fails(*state, load_bytes(&b, size, "AS npy"), LACIS_FORMAT, path_of("bin"));
    put_u32(&b, 0);
    db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, "bytes follow its data");
    unlink(path_of("bin"));
}

#define RECORDS(fields, count) "{'descr': [" fields "], 'fortran_order': False, 'shape': (" count ",), }\n"

static void wrong_records(void **state)
{
    static const struct {
        const char *head, *message;
    } wrong[] = {
        {RECORDS("('m', '<f8'), ('x', '<f8')", "0"), "need fields m, x and y"},
        {RECORDS("('m', '<f8'), ('x', '<f8'), ('y', '<f8'), ('ax', '<f8')", "0"), "ax, ay and az go together"},
        {RECORDS("('m', '<f8'), ('x', '<f8'), ('y', '<f8'), ('mass', '<f8')", "0"), "is there twice"},
        {RECORDS("('m', '<f8'), ('x', '<c16'), ('y', '<f8')", "0"), "is complex"},
        {RECORDS("('m', '<f8'), ('x', '<f8'), ('y', '<f8'), ('id', '<f8')", "0"), "save it as i8"},
        {RECORDS("('m', '<f8'), ('x', '>f8'), ('y', '<f8')", "0"), "little-endian"},
        {RECORDS("('m', '<f8'), ('x', '<f8', (3,)), ('y', '<f8')", "0"), "not of plain named fields"},
        {RECORDS("('m', '<f8'), ('x', '<f8'), 'y'", "0"), "not of plain named fields"},
        {RECORDS("('m', '<f8'), ('x', '<f8'), ('y', '<f8')", "9223372036854775807"), "ends before its data"},
        {RECORDS("('m', '<f8'), ('x', '<f8'), ('y', '|V8')", "1"), "convert it"},
        {RECORDS("('m', '<f8'), ('x', '<f8'), ('y', '<f8'), ('', '|V99999999999999999999')", "1"),
         "ends before its data"},
    };
    bytes b;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_npy(&b, wrong[i].head);
        db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, wrong[i].message);
    }
    unlink(path_of("bin"));
}

/* One body with m, x, y and time of doubles. */
static void put_body(bytes *b, double m, double x, double y, double time)
{
    put_f64(b, m);
    put_f64(b, x);
    put_f64(b, y);
    put_f64(b, time);
}

static void what_no_body_has(void **state)
{
    static const double bad[][4] = {
        {1, NAN, 3, 1}, {1, 2, -INFINITY, 1}, {-1, 2, 3, 1}, {1, 2, 3, 2}, {1, 2, 3, NAN}};
    static const char *const message[] = {": x is not a number", ": y is infinite", ": m is negative",
                                          "time is not the same", "time is not the same"};
    bytes b;
    for (int i = 0; i < 5; i++) {
        put_npy(&b, RECORDS("('m', '<f8'), ('x', '<f8'), ('y', '<f8'), ('time', '<f8')", "2"));
        size_t head = b.size;
        put_body(&b, 1, 2, 3, 1);
        put_body(&b, bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, message[i]);
        char place[40];
        snprintf(place, sizeof place, "row 1, at byte %zu", head + 32 + (i < 2 ? 8 + 8 * (size_t)i : 0));
        if (i < 3) db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, place);
    }
    unlink(path_of("bin"));
}

/* ------------------------------------------------------------------------------------- n x k numbers */

static void numbers(void **state)
{
    bytes b;
    put_npy(&b, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }\n");
    for (int i = 0; i < 8; i++)
        put_f32(&b, (float)i);
    db_run(*state, load_bytes(&b, b.size, "AS bodies"));
    db_expect(*state, "SELECT * FROM x", "0,0.0,1.0,2.0,3.0,0.0,0.0,0.0\n1,4.0,5.0,6.0,7.0,0.0,0.0,0.0\n");
    db_run(*state, load_bytes(&b, b.size, "AS bodies WITH (columns = 'x y z m', type = 'f64')"));
    db_expect(*state, "SELECT * FROM x", "0,3.0,0.0,1.0,2.0,0.0,0.0,0.0\n1,7.0,4.0,5.0,6.0,0.0,0.0,0.0\n");
    db_run(*state, load_bytes(&b, b.size, "")); /* still lanes x rows without AS */
    db_expect(*state, "SELECT count(*), max(lane), max(row) FROM x", "8,1,3\n");
    db_fails(*state, load_bytes(&b, b.size, "AS bodies WITH (columns = 'x y m')"), LACIS_FORMAT,
             "has 4 columns, and 3 are named");
    db_fails(*state, load_bytes(&b, b.size - 1, "AS bodies"), LACIS_FORMAT, "ends before its data");
    put_npy(&b, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 7), }\n");
    for (int i = 0; i < 14; i++)
        put_f64(&b, i);
    db_run(*state, load_bytes(&b, b.size, "AS bodies"));
    db_expect(*state, "SELECT * FROM x", "0,0.0,2.0,4.0,6.0,8.0,10.0,12.0\n1,1.0,3.0,5.0,7.0,9.0,11.0,13.0\n");
    put_npy(&b, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 5), }\n");
    db_fails(*state, load_bytes(&b, b.size, "AS bodies"), LACIS_FORMAT, "what its columns are is not known");
    put_npy(&b, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n");
    db_fails(*state, load_bytes(&b, b.size, "AS bodies"), LACIS_FORMAT, "bodies are records in one dimension");
    put_npy(&b, RECORDS("('m', '<f8'), ('x', '<f8'), ('y', '<f8')", "0"));
    db_fails(*state, load_bytes(&b, b.size, "AS bodies WITH (columns = 'x y m')"), LACIS_RANGE, "names already");
    unlink(path_of("bin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(counted_ids, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(aligned_records, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_records, setup, teardown),
        cmocka_unit_test_setup_teardown(what_no_body_has, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
