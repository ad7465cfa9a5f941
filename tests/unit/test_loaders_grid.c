/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids in and out as NumPy's arrays, bare numbers and text: every bit comes back, in one to three dimensions, of one
 * field and of several; other programs' orders, types and records; files that are cut off, or say what no grid is.
 */
#include "support/bytes.h"

#include <math.h>

/* Statements in which # stands for the file. */
static void run(lacis_engine *engine, const char *form)
{
    char sql[600];
    size_t used = 0;
    for (const char *p = form; *p != '\0'; p++)
        used += (size_t)snprintf(sql + used, sizeof sql - used, *p == '#' ? "%s" : "%.1s",
                                 *p == '#' ? path_of("npy") : p);
    db_run(engine, sql);
}

/* ------------------------------------------------------------------------------------- round trips */

enum { CELLS = 5 * 3 * 2 };

static const int64_t shapes[][3] = {{1}, {7}, {5, 3}, {1, 4}, {4, 1}, {5, 3, 2}, {1, 1, 1}, {2, 1, 3}};
static const int dims_of[] = {1, 1, 2, 2, 2, 3, 3, 3};

/* Numbers of every size, and some that are none. */
static double figure(int field, int64_t i)
{
    static const double strange[] = {-0.0, NAN, INFINITY, -INFINITY, 5e-324, 0.1};
    if (i % 7 == 2) return strange[(i + field) % 6];
    return ldexp(1 + (double)((i * 7919 + field) % 1000) / 1000, (int)((i * 31 + field) % 60) - 30);
}

static void make(lacis_engine *engine, int form, lacis_dtype dtype, int fields, int64_t step)
{
    static const char *const names[] = {"u", "v", "w"};
    static double wide[3][CELLS];
    static float single[3][CELLS];
    lacis_part part[5];
    int64_t cells = 1;
    for (int d = 0; d < dims_of[form]; d++)
        cells *= shapes[form][d];
    for (int f = 0; f < fields; f++) {
        for (int64_t i = 0; i < cells; i++) {
            wide[f][i] = figure(f, i);
            single[f][i] = (float)wide[f][i];
        }
        part[f] = (lacis_part){fields == 1 ? "value" : names[f], dtype, cells,
                               dtype == LACIS_F32 ? (void *)single[f] : (void *)wide[f]};
    }
    part[fields] = (lacis_part){"shape", LACIS_I64, dims_of[form], shapes[form]};
    part[fields + 1] = (lacis_part){"step", LACIS_I64, 1, &step};
    const lacis_array_spec spec = {LACIS_GRID,
                                   dtype,
                                   {shapes[form][0], dims_of[form] > 1 ? shapes[form][1] : 1},
                                   part,
                                   fields + (step > 0 ? 2 : 1)};
    if (lacis_array_create(engine, "x", &spec) != LACIS_OK) fail_msg("%s", lacis_error_message(engine));
}

/* A .npy tells shape, type, fields and step itself; and the file is found to be a grid by its content. */
static void npy_every_bit(void **state)
{
    for (int form = 0; form < (int)(sizeof dims_of / sizeof dims_of[0]); form++)
        for (int kind = 0; kind < 12; kind++) {
            make(*state, form, kind % 2 == 0 ? LACIS_F32 : LACIS_F64, 1 + kind / 2 % 3, kind > 5 ? 123456789012 : 0);
            run(*state, "SAVE x TO '#'; LOAD y FROM '#'");
            same_bits_of(LACIS_GRID, *state, "x", "y");
            run(*state, "LOAD y FROM '#' AS grid");
            same_bits_of(LACIS_GRID, *state, "x", "y");
        }
    unlink(path_of("npy"));
}

/* LET takes any name, and SAVE no file that LOAD would not read. */
static void npy_names(void **state)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SAVE g TO '%s'", path_of("npy"));
    db_run(*state, "LET g = SELECT 0 AS x, 0 AS y, 1 AS \"a'b\"");
    db_fails(*state, sql, LACIS_NAME, "field 'a'b' is not a plain name");
    assert_int_not_equal(access(path_of("npy"), F_OK), 0);
}

static void raw_every_bit(void **state)
{
    static const char *const shape[] = {"1", "7", "5x3", "1x4", "4x1", "5x3x2", "1x1x1", "2x1x3"};
    static const char *const fields[] = {"value", "u,v", "u v w"};
    char sql[400];
    for (int form = 0; form < (int)(sizeof dims_of / sizeof dims_of[0]); form++)
        for (int kind = 0; kind < 6; kind++) {
            make(*state, form, kind % 2 == 0 ? LACIS_F32 : LACIS_F64, 1 + kind / 2, 0);
            snprintf(sql, sizeof sql,
                     "SAVE x TO '%s'; LOAD y FROM '%s' AS raw WITH (shape = '%s', type = '%s', fields = '%s')",
                     path_of("raw"), path_of("raw"), shape[form], kind % 2 == 0 ? "f32" : "f64", fields[kind / 2]);
            db_run(*state, sql);
            same_bits_of(LACIS_GRID, *state, "x", "y");
        }
    unlink(path_of("raw"));
}

static void csv_every_cell(void **state)
{
    char sql[400];
    for (int form = 0; form < (int)(sizeof dims_of / sizeof dims_of[0]); form++)
        for (int kind = 0; kind < 6; kind++) {
            make(*state, form, kind % 2 == 0 ? LACIS_F32 : LACIS_F64, 1 + kind / 2, 0);
            snprintf(sql, sizeof sql, "SAVE x TO '%s'; LOAD y FROM '%s' WITH (type = '%s')", path_of("csv"),
                     path_of("csv"), kind % 2 == 0 ? "f32" : "f64");
            db_run(*state, sql);
            same_bits_of(LACIS_GRID, *state, "x", "y");
        }
    unlink(path_of("csv"));
}

/* ------------------------------------------------------------------------------------ NumPy's own */

#define NPY(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': (" shape "), }\n"

static void loads(lacis_engine *engine, const bytes *b, const char *how, const char *query, const char *rows)
{
    db_run(engine, load_bytes(b, b->size, how));
    db_expect(engine, query, rows);
    for (size_t size = 0; size < b->size; size++)
        if (lacis_exec(engine, load_bytes(b, size, *how == '\0' ? "AS npy" : how), NULL, NULL) == LACIS_OK)
            fail_msg("the first %zu of %zu bytes were taken, too", size, b->size);
}

/* a[y][x] = 10 y + x in either order: two rows of three columns. */
static void npy_orders(void **state)
{
    bytes b;
    put_npy(&b, NPY("'<f8'", "False", "2, 3"));
    for (int i = 0; i < 6; i++)
        put_f64(&b, i / 3 * 10 + i % 3);
    loads(*state, &b, "AS grid", "SELECT x, y, value FROM x",
          "0,0,0.0\n1,0,1.0\n2,0,2.0\n0,1,10.0\n1,1,11.0\n2,1,12.0\n");
    put_npy(&b, NPY("'<f8'", "True", "2, 3"));
    for (int i = 0; i < 6; i++)
        put_f64(&b, i % 2 * 10 + i / 2);
    loads(*state, &b, "AS grid", "SELECT x, y, value FROM x",
          "0,0,0.0\n1,0,1.0\n2,0,2.0\n0,1,10.0\n1,1,11.0\n2,1,12.0\n");
    /* three dimensions are found by content */
    put_npy(&b, NPY("'<i4'", "True", "2, 3, 4"));
    for (int i = 0; i < 24; i++)
        put_u32(&b, (uint32_t)(i % 2 * 100 + i / 2 % 3 * 10 + i / 6));
    loads(*state, &b, "", "SELECT count(*), sum(value = 100 * z + 10 * y + x), max(x), max(y), max(z) FROM x",
          "24,24,3,2,1\n");
    unlink(path_of("bin"));
}

static void npy_types(void **state)
{
    bytes b;
    put_npy(&b, NPY("'|u1'", "False", "3,"));
    put_bytes(&b, "\0\x80\xff", 3);
    loads(*state, &b, "AS grid", "SELECT x, value FROM x", "0,0.0\n1,128.0\n2,255.0\n");
    loads(*state, &b, "AS grid WITH (type = 'f64')", "SELECT sum(value) FROM x", "383.0\n");
    put_npy(&b, NPY("[('u', '<f4'), ('', '|V4'), ('Speed', '<u2')]", "False", "1, 2"));
    for (int i = 0; i < 2; i++) {
        put_f32(&b, 0.5F + (float)i);
        put_u32(&b, 0xffffffff);
        put_u16(&b, (uint16_t)(65535 - i));
    }
    loads(*state, &b, "AS grid", "SELECT * FROM x", "0,0,0.5,65535.0\n1,0,1.5,65534.0\n");
    unlink(path_of("bin"));
}

/* What NumPy's two dimensions and vectors were before there were grids, they still are. */
static void npy_others(void **state)
{
    bytes b;
    put_npy(&b, NPY("'<f8'", "False", "2, 3"));
    for (int i = 0; i < 6; i++)
        put_f64(&b, i);
    loads(*state, &b, "", "SELECT max(lane), max(row) FROM x", "1,2\n");
    put_npy(&b, NPY("'<f8'", "False", "1,"));
    put_f64(&b, 3);
    loads(*state, &b, "", "SELECT i, value FROM x", "0,3.0\n");
    unlink(path_of("bin"));
}

static void npy_refused(void **state)
{
    static const struct {
        const char *head;
        lacis_status status;
        const char *message;
    } wrong[] = {
        {NPY("'<f8'", "False", "2, 3, 4, 5"), LACIS_FORMAT, "one to three dimensions"},
        {NPY("'<f8'", "False", ""), LACIS_FORMAT, "one to three dimensions"},
        {NPY("'<f8'", "False", "99999999999999999999,"), LACIS_FORMAT, "one to three dimensions"},
        {NPY("'<f8'", "False", "4294967296, 4294967296"), LACIS_FORMAT, "ends before its data"},
        {NPY("'<f8'", "False", "1000000, 1000000"), LACIS_FORMAT, "ends before its data"},
        {NPY("'<f8'", "False", "0, 3"), LACIS_RANGE, "a grid has cells"},
        {NPY("'<c16'", "False", "0, 3"), LACIS_FORMAT, "real numbers"},
        {NPY("'>f8'", "False", "0, 3"), LACIS_FORMAT, "little-endian"},
        {NPY("[('x', '<f4')]", "False", "2, 2"), LACIS_FORMAT, "'x' means something else"},
        {NPY("[('a', '<f4'), ('A', '<f4')]", "False", "2, 2"), LACIS_FORMAT, "one name"},
        {NPY("[('a b', '<f4')]", "False", "2, 2"), LACIS_FORMAT, "not a plain name"},
        {NPY("[('a', '<f4', (3,))]", "False", "2, 2"), LACIS_FORMAT, "plain named fields"},
        {NPY("[('', '|V9999999999')]", "False", "2, 2"), LACIS_FORMAT, "padded"},
        {NPY("[]", "False", "2, 2"), LACIS_FORMAT, "no fields"},
        {NPY("[('a', '<f4'), ('b', '<f4'), ('c', '<f4'), ('d', '<f4'), ('e', '<f4'), ('f', '<f4'), ('g', '<f4'), "
             "('h', '<f4'), ('i', '<f4')]",
             "False", "2, 2"),
         LACIS_FORMAT, "more fields"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bytes b;
        put_npy(&b, wrong[i].head);
        db_fails(*state, load_bytes(&b, b.size, "AS grid"), wrong[i].status, wrong[i].message);
    }
    bytes b;
    put_npy(&b, NPY("'|u1'", "False", "1, 2"));
    put_bytes(&b, "abc", 3);
    db_fails(*state, load_bytes(&b, b.size, "AS grid"), LACIS_FORMAT, "bytes follow its data");
    unlink(path_of("bin"));
}

/* ------------------------------------------------------------------------------------ bare numbers */

static void raw_types(void **state)
{
    static const char *const types[] = {"u8", "i8", "u16", "i16", "u32", "i32", "i64", "f32", "f64"};
    static const int size[] = {1, 1, 2, 2, 4, 4, 8, 4, 8};
    static const char *const low[] = {
        "0.0", "-128.0", "0.0", "-32768.0", "0.0", "-2147483648.0", "-9007199254740992.0", "-0.25", "-0.25"};
    char sql[300], expected[100];
    for (int big = 0; big < 2; big++)
        for (int t = 0; t < 9; t++) {
            bytes b = {.swap = big != 0};
            const float narrow = -0.25F;
            const double wide = -0.25;
            uint64_t least = t == 8 ? 0 : (t & 1) == 0 && t < 6 ? 0 : (uint64_t)1 << (8 * size[t] - 1);
            if (t == 6) least = (uint64_t)-9007199254740992;
            if (t == 7) memcpy(&least, &narrow, sizeof narrow);
            if (t == 8) memcpy(&least, &wide, sizeof wide);
            put_bytes(&b, "abc", 3); /* all of it at odd places */
            put_number(&b, &least, (size_t)size[t]);
            uint64_t one = 1;
            const float one_narrow = 1;
            const double one_wide = 1;
            if (t == 7) memcpy(&one, &one_narrow, sizeof one_narrow);
            if (t == 8) memcpy(&one, &one_wide, sizeof one_wide);
            for (int i = 0; i < 3; i++)
                put_number(&b, &one, (size_t)size[t]);
            snprintf(sql, sizeof sql, "AS raw WITH (shape = '2 x 2', type = '%s', endian = '%s', skip = 3)", types[t],
                     big != 0 ? "big" : "little");
            snprintf(expected, sizeof expected, "0,0,%s\n1,0,1.0\n0,1,1.0\n1,1,1.0\n", low[t]);
            loads(*state, &b, sql, "SELECT x, y, value FROM x", expected);
            lacis_array *array;
            assert_int_equal(lacis_array_find(*state, "x", &array), LACIS_OK);
            assert_int_equal(lacis_array_dtype(array), t < 4 || t == 7 ? LACIS_F32 : LACIS_F64);
            lacis_array_release(array);
        }
    unlink(path_of("bin"));
}

static void raw_refused(void **state)
{
    static const struct {
        const char *with;
        lacis_status status;
        const char *message;
    } wrong[] = {
        {"", LACIS_SYNTAX, "needs shape"},
        {"WITH (shape = '2x4')", LACIS_SYNTAX, "needs type"},
        {"WITH (shape = '2x3', type = 'u8')", LACIS_FORMAT, "which takes 6"},
        {"WITH (shape = '2x4', type = 'u8', skip = 1)", LACIS_FORMAT, "7 bytes behind the first 1"},
        {"WITH (shape = '2x4', type = 'u8', skip = -1)", LACIS_FORMAT, "mend shape"},
        {"WITH (shape = '2x4', type = 'u8', skip = 9223372036854775807)", LACIS_FORMAT, "mend shape"},
        {"WITH (shape = '8', type = 'u8', fields = 'u,v')", LACIS_FORMAT, "which takes 16"},
        {"WITH (shape = '', type = 'u8')", LACIS_RANGE, "shape is empty"},
        {"WITH (shape = '2x', type = 'u8')", LACIS_FORMAT, "which takes 2"},
        {"WITH (shape = 'x2', type = 'u8')", LACIS_RANGE, "shape takes"},
        {"WITH (shape = '2x2x2x1', type = 'u8')", LACIS_RANGE, "shape takes"},
        {"WITH (shape = '99999999999999999999', type = 'u8')", LACIS_RANGE, "shape takes"},
        {"WITH (shape = '4294967296x4294967296', type = 'u8')", LACIS_FORMAT, "mend shape"},
        {"WITH (shape = '0x8', type = 'u8')", LACIS_FORMAT, "which takes 0"},
        {"WITH (shape = '8', type = 'u8', fields = ',')", LACIS_RANGE, "no field is named"},
        {"WITH (shape = '8', type = 'u8', fields = 'u,U')", LACIS_RANGE, "'U', is there twice"},
        {"WITH (shape = '8', type = 'u8', fields = 'y')", LACIS_RANGE, "means something else"},
        {"WITH (shape = '8', type = 'u8', fields = 'a,b,c,d,e,f,g,h,i')", LACIS_RANGE, "at most 8"},
    };
    bytes b = {0};
    char how[200];
    put_text(&b, "abcdefgh");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(how, sizeof how, "AS raw %s", wrong[i].with);
        db_fails(*state, load_bytes(&b, b.size, how), wrong[i].status, wrong[i].message);
    }
    db_fails(*state, load_bytes(&b, 0, "AS raw WITH (shape = '0', type = 'u8')"), LACIS_RANGE, "a grid has cells");
    db_run(*state, "GENERATE p AS path(3)");
    db_fails(*state, "SAVE p TO '/tmp/lacis-test-no.raw'", LACIS_TYPE, "raw holds grids");
    unlink(path_of("bin"));
}

/* -------------------------------------------------------------------------------------------- text */

static void text_is(lacis_engine *engine, const char *text, const char *how, const char *query, const char *rows)
{
    write_file(path_of("txt"), text, strlen(text));
    char sql[200];
    snprintf(sql, sizeof sql, "LOAD x FROM '%s' %s", path_of("txt"), how);
    db_run(engine, sql);
    db_expect(engine, query, rows);
}

static void matrices(void **state)
{
    static const char *const same[] = {"1,2,3\n4,5,6\n",
                                       "1 2 3\n4 5 6",
                                       "# m\n\n 1\t2  3\r\n4 5 6\r\n\n",
                                       "1;2;3\n4;5;6\n",
                                       "1, 2 ,3\n4,\t5,6 \n",
                                       "\xef\xbb\xbf"
                                       "1 2 3\r4 5 6\r",
                                       "1e0 .2e1 3\n4.0 5 +6\n"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        text_is(*state, same[i], "AS grid", "SELECT x, y, value FROM x",
                "0,0,1.0\n1,0,2.0\n2,0,3.0\n0,1,4.0\n1,1,5.0\n2,1,6.0\n");
    text_is(*state, "nan inf\n-inf -0.0\n", "AS grid WITH (type = 'f32')", "SELECT value FROM x",
            "NULL\ninf\n-inf\n-0.0\n");
    text_is(*state, "7\n", "AS grid", "SELECT x, y, value FROM x", "0,0,7.0\n");
    unlink(path_of("txt"));
}

/* In any order of rows and columns; by content where they stand as SAVE writes them. */
static void cells(void **state)
{
    text_is(*state, "x,y,value\n0,0,1\n1,0,2\n0,1,3\n1,1,4\n", "", "SELECT x, y, value FROM x",
            "0,0,1.0\n1,0,2.0\n0,1,3.0\n1,1,4.0\n");
    text_is(*state, "x,u,v\n0,1,5\n1,2,6\n", "", "SELECT x, u, v FROM x", "0,1.0,5.0\n1,2.0,6.0\n");
    text_is(*state, "u y x v\n1 1 0 5\n2 0 0 6\n3 1 1 7\n4 0 1 8\n", "AS grid", "SELECT x, y, u, v FROM x",
            "0,0,2.0,6.0\n1,0,4.0,8.0\n0,1,1.0,5.0\n1,1,3.0,7.0\n");
    text_is(*state, "x,y,z,value\n0,0,0,1\n0,0,1,2\n", "", "SELECT x, y, z, value FROM x", "0,0,0,1.0\n0,0,1,2.0\n");
    /* not the first cell of a grid: edges, as they were before there were grids */
    text_is(*state, "x,y,value\n5,6,1\n6,7,2\n", "", "SELECT src, dst, value FROM x", "5,6,1\n6,7,2\n");
    unlink(path_of("txt"));
}

static void large_text(void **state)
{
    char sql[300];
    db_run(*state, "GENERATE x AS noise(300, 500, low = -1, seed = 4)");
    snprintf(sql, sizeof sql, "SAVE x TO '%s'; LOAD y FROM '%s'", path_of("csv"), path_of("csv"));
    db_run(*state, sql);
    same_bits_of(LACIS_GRID, *state, "x", "y");
    FILE *file = fopen(path_of("csv"), "w");
    assert_non_null(file);
    for (int y = 0; y < 700; y++)
        for (int x = 0; x < 400; x++)
            fprintf(file, "%d%s", 1000 * y + x, x == 399 ? "\n" : " ");
    assert_int_equal(fclose(file), 0);
    snprintf(sql, sizeof sql, "LOAD y FROM '%s' AS grid", path_of("csv"));
    db_run(*state, sql);
    db_expect(*state, "SELECT count(*), sum(value = 1000 * y + x) FROM y", "280000,280000\n");
    unlink(path_of("csv"));
}

static void text_refused(void **state)
{
    static const struct {
        const char *text, *place, *message;
    } wrong[] = {
        {"", ":1:1", "no numbers"},
        {"# nothing\n", ":2:1", "no numbers"},
        {"1,2\n3\n", ":2:1", "fewer numbers than in the first row"},
        {"1,2\n3,4,5\n", ":2:5", "more numbers than in the first row"},
        {"1,2\n3,a\n", ":2:3", "'a' is not a number"},
        {"1,2\n3,1e300\n", ":2:3", "f32 can hold"},
        {"x,y,value\n", "", "no line follows"},
        {"x,y,value\n0,0,1\n1,1,2\n", "", "4 cells, and it has 2"},
        {"x,y,value\n0,0,1\n1,0,2\n1,0,3\n1,1,4\n", ":4:1", "is a cell twice"},
        {"x,y,value\n0,0,1\n-1,0,2\n", ":3:1", "is no coordinate"},
        {"x,y,value\n0,0,1\n0.5,0,2\n", ":3:1", "is no coordinate"},
        {"x,y,value\n0,0,1\n9223372036854775807,0,2\n", "", "every cell must be there"},
        {"x,y,value\n0,0,1\n4294967296,4294967296,2\n", "", "every cell must be there"},
        {"x,y,value\n0,0\n", ":2:1", "fewer fields"},
        {"x,y,value\n0,0,1,1\n", ":2:7", "more fields"},
        {"x,y,value\n0,0,nought\n", ":2:5", "is not a number"},
        {"x,y\n0,0\n", ":1:1", "and a field"},
        {"y,value\n0,1\n", ":1:1", "need columns x"},
        {"x,z,value\n0,0,1\n", ":1:1", "need columns x"},
        {"x,x,value\n0,0,1\n", ":1:3", "there twice"},
        {"x,u,U\n0,0,1\n", ":1:5", "there twice"},
        {"x,t\n0,0\n", ":1:3", "means something else"},
        {"x,a,b,c,d,e,f,g,h,i\n", ":1:19", "at most 8 fields"},
    };
    char sql[200], place[100];
    snprintf(sql, sizeof sql, "LOAD x FROM '%s' AS grid WITH (type = 'f32')", path_of("txt"));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_file(path_of("txt"), wrong[i].text, strlen(wrong[i].text));
        db_fails(*state, sql, LACIS_FORMAT, wrong[i].message);
        snprintf(place, sizeof place, "%s%s", path_of("txt"), wrong[i].place);
        if (strstr(lacis_error_message(*state), place) == NULL)
            fail_msg("'%s': %s lacks %s", wrong[i].text, lacis_error_message(*state), place);
    }
    unlink(path_of("txt"));
}

/* Memory is looked at before it is taken. */
static void too_large(void **state)
{
    db_run(*state, "SET memory_limit = '1 MB'");
    db_fails(*state, "GENERATE g AS constant(1000, 1000)", LACIS_LIMIT, "memory_limit leaves");
    db_fails(*state, "GENERATE g AS constant(1000000, 1000000, 1000000)", LACIS_LIMIT, "memory_limit leaves");
    db_fails(*state, "GENERATE g AS constant(1e12, 1e12, 1e12)", LACIS_RANGE, "more cells than can be counted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(npy_every_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(npy_names, setup, teardown),
        cmocka_unit_test_setup_teardown(raw_every_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(csv_every_cell, setup, teardown),
        cmocka_unit_test_setup_teardown(npy_orders, setup, teardown),
        cmocka_unit_test_setup_teardown(npy_types, setup, teardown),
        cmocka_unit_test_setup_teardown(npy_others, setup, teardown),
        cmocka_unit_test_setup_teardown(npy_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(raw_types, setup, teardown),
        cmocka_unit_test_setup_teardown(raw_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(matrices, setup, teardown),
        cmocka_unit_test_setup_teardown(cells, setup, teardown),
        cmocka_unit_test_setup_teardown(large_text, setup, teardown),
        cmocka_unit_test_setup_teardown(text_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(too_large, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
