/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense symmetric matrices in files and from generators: MatrixMarket and NumPy read and written, csv and jsonl
 * written, and what is refused, with its place.
 */
#include "support/files.h"

#include <stdbool.h>

/* LOAD x FROM a file of this text, WITH these options. */
static const char *load(const char *ending, const void *data, size_t size, const char *options)
{
    static char sql[256];
    write_file(path_of(ending), data, size);
    snprintf(sql, sizeof sql, "LOAD x FROM '%s' WITH (%s)", path_of(ending), options);
    return sql;
}

struct given {
    const char *text, *options, *rows;
};

static void give(lacis_engine *engine, const struct given *file)
{
    db_run(engine, load("mtx", file->text, strlen(file->text), file->options));
    db_expect(engine, "SELECT * FROM x", file->rows);
    unlink(path_of("mtx"));
}

static void all_give(lacis_engine *engine, const struct given *file, int count)
{
    for (int i = 0; i < count; i++)
        give(engine, &file[i]);
}

struct refused {
    const char *text, *options;
    lacis_status status;
    const char *message;
};

static void all_refuse(lacis_engine *engine, const struct refused *file, int count)
{
    for (int i = 0; i < count; i++) {
        const char *sql = load("mtx", file[i].text, strlen(file[i].text), file[i].options);
        db_fails(engine, sql, file[i].status, file[i].message);
        unlink(path_of("mtx"));
    }
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define ARRAY   "%%MatrixMarket matrix array "
#define ENTRIES "%%MatrixMarket matrix coordinate "

/* Graphs of one triangle, which the file has. */
static void halves_of_matrix_market(void **state)
{
    static const struct given given[] = {
        {ENTRIES "real symmetric\n3 3 3\n1 1 1\n3 1 4\n3 3 2\n", "half = true", "1,1,1.0\n3,1,4.0\n3,3,2.0\n"},
        {ENTRIES "complex hermitian\n2 2 1\n2 1 3 4\n", "half = true", "2,1,3.0,4.0\n"},
        {ARRAY "real symmetric\n2 2\n1\n2\n3\n", "half = true", "1,1,1.0\n2,1,2.0\n2,2,3.0\n"},
    };
    static const struct refused refused[] = {
        {ENTRIES "real general\n1 1 1\n1 1 1\n", "half = true", LACIS_RANGE, "this one is general"},
        {ENTRIES "real skew-symmetric\n2 2 1\n2 1 1\n", "half = true", LACIS_RANGE, "skew-symmetric"},
        {ENTRIES "real symmetric\n3 3 2\n1 1 1\n2 3 4\n", "half = true", LACIS_FORMAT,
         "row 2 has an entry above the diagonal"},
    };
    all_give(*state, given, COUNT(given));
    all_refuse(*state, refused, COUNT(refused));
}

static void arrays_of_matrix_market(void **state)
{
    static const struct given given[] = {
        {ARRAY "real symmetric\n3 3\n1\n2\n3\n\n4\n% five\n5\n6\n", "dense = true",
         "1,1,1.0\n2,1,2.0\n2,2,4.0\n3,1,3.0\n3,2,5.0\n3,3,6.0\n"},
        {ARRAY "integer symmetric\n2 2\n1\n2\n3\n", "dense = true, packed = true, type = 'f32'",
         "1,1,1.0\n2,1,2.0\n2,2,3.0\n"},
        {ARRAY "complex symmetric\n1 1\n1 2\n", "dense = true, type = 'c64'", "1,1,1.0,2.0\n"},
        {ARRAY "real symmetric\n1 1\n0.1\n", "dense = true, type = 'dd'", "1,1,0.1,-5.551115123125783e-18,0.1\n"},
        {ARRAY "real symmetric\n1 1\n1d-1\n", "dense = true, type = 'dd'", "1,1,0.1,-5.551115123125783e-18,0.1\n"},
        {ARRAY "real symmetric\n1 1\n2\n", "dense = true, type = 'cdd'", "1,1,2.0,0.0,0.0,0.0,complex(2.0, 0.0)\n"},
        {ARRAY "real symmetric\n0 0\n", "dense = true", ""},
        {ARRAY "real general\n2 2\n1\n2\n2\n3\n", "dense = true", "1,1,1.0\n2,1,2.0\n2,2,3.0\n"},
        {ARRAY "complex general\n2 2\n1 0\n2 1\n2 -1\n3 0\n", "dense = true",
         "1,1,1.0,0.0\n2,1,2.0,1.0\n2,2,3.0,0.0\n"},
        {ARRAY "real symmetric\n2 2\n1\n2\n3\n", "dense = false", "1,1,1.0\n1,2,2.0\n2,1,2.0\n2,2,3.0\n"},
    };
    all_give(*state, given, COUNT(given));
    give(*state, &(struct given){ARRAY "complex hermitian\n2 2\n1 0\n2 3\n4 0\n", "dense = true",
                                 "1,1,1.0,0.0\n2,1,2.0,3.0\n2,2,4.0,0.0\n"});
    db_expect(*state, "SHOW ARRAYS", "x,symmetric,2 x 2,3,c128,96,NULL\n");
}

static void coordinates_of_matrix_market(void **state)
{
    static const struct given given[] = {
        {ENTRIES "real symmetric\n3 3 3\n1 1 1\n3 2 5\n1 2 7\n", "dense = true",
         "1,1,1.0\n2,1,7.0\n2,2,0.0\n3,1,0.0\n3,2,5.0\n3,3,0.0\n"},
        {ENTRIES "complex hermitian\n2 2 2\n1 2 1 2\n2 2 3 0\n", "dense = true, packed = true",
         "1,1,0.0,0.0\n2,1,1.0,-2.0\n2,2,3.0,0.0\n"},
        {ENTRIES "pattern symmetric\n2 2 2\n2 1\n2 1\n", "dense = true", "1,1,0.0\n2,1,2.0\n2,2,0.0\n"},
        {ENTRIES "real symmetric\n2 2 1\n1 0 4\n", "dense = true, base = 0", "0,0,0.0\n1,0,4.0\n1,1,0.0\n"},
    };
    all_give(*state, given, COUNT(given));
}

static void what_matrix_market_lacks(void **state)
{
    static const struct refused refused[] = {
        {ARRAY "real symmetric\n2 2\n1\n2\n", "dense = true", LACIS_FORMAT, "ends after 2 values"},
        {ARRAY "real symmetric\n2 2\n1\n2\n3\n4\n", "dense = true", LACIS_FORMAT, "declares 3"},
        {ARRAY "real symmetric\n2 2\n1\n2 3\n3\n", "dense = true", LACIS_FORMAT, ":4:"},
        {ARRAY "real symmetric\n2 2\n1\nx\n3\n", "dense = true", LACIS_FORMAT, "is not a number"},
        {ARRAY "complex hermitian\n1 1\n1\n", "dense = true", LACIS_FORMAT, "more or fewer numbers"},
        {ARRAY "real skew-symmetric\n2 2\n1\n", "dense = true", LACIS_FORMAT, "skew-symmetric"},
        {ARRAY "real general\n2 2\n1\n2\n3\n4\n", "dense = true", LACIS_FORMAT, "element (2, 1) differs from (1, 2)"},
        {ARRAY "real general\n2 1\n1\n2\n", "dense = true", LACIS_FORMAT, "not square"},
        {ARRAY "real general\n1 1\n1\n", "dense = true, packed = true", LACIS_FORMAT, "packed"},
        {ARRAY "complex symmetric\n1 1\n1 2\n", "dense = true, type = 'dd'", LACIS_RANGE, "complex"},
        {ARRAY "real symmetric\n1 1\n1\n", "dense = true, type = 'i32'", LACIS_RANGE, "i32"},
        {ARRAY "real symmetric\n1 1\n1\n", "type = 'dd'", LACIS_RANGE, "becomes a graph"},
        {ARRAY "real symmetric\n1 1\n1\n", "packed = true", LACIS_RANGE, "becomes a graph"},
        {ARRAY "real symmetric\n2000000 2000000\n1\n", "dense = true", LACIS_LIMIT, "memory_limit"},
        {ENTRIES "real general\n1 1 1\n1 1 1\n", "dense = true", LACIS_FORMAT, "general"},
        {ENTRIES "real symmetric\n1 1 1\n1 2 1\n", "dense = true", LACIS_FORMAT, "no row or column"},
        {ENTRIES "real symmetric\n1 1 1\n1\n", "dense = true", LACIS_FORMAT, "more or fewer"},
        {ENTRIES "real symmetric\n1 1 2\n1 1 1\n", "dense = true", LACIS_FORMAT, "1 of the 2 entries"},
        {ENTRIES "real symmetric\n1 1 1\n1 1 1\n1 1 1\n", "dense = true", LACIS_FORMAT, "entry 2"},
        {ENTRIES "real symmetric\n1 1 1\n1 1 1\n", "dense = true, duplicates = 'max'", LACIS_RANGE, "adds"},
    };
    all_refuse(*state, refused, COUNT(refused));
}

/* Large enough for several chunks of lines. */
static void many_chunks(void **state)
{
    char sql[300];
    db_run(*state, "GENERATE a AS symmetric(n = 700, seed = 3, uplo = 'upper')");
    snprintf(sql, sizeof sql, "SAVE a TO '%s'; LOAD b FROM '%s' WITH (dense = true)", path_of("mtx"), path_of("mtx"));
    db_run(*state, sql);
    db_expect(*state, "SELECT count(*) FROM (SELECT j, i, value FROM a EXCEPT SELECT i, j, value FROM b)", "0\n");
    db_expect(*state, "SELECT count(*) FROM b", "245350\n");
    unlink(path_of("mtx"));
}

/* Every type, triangle and storage comes back as it was. */
static void saved_and_loaded(void **state)
{
    static const char *const types[] = {"f64", "f32", "c64", "c128", "dd", "cdd"};
    char sql[400];
    for (int t = 0; t < 6; t++) {
        for (int k = 0; k < 4; k++) {
            snprintf(sql, sizeof sql,
                     "GENERATE a AS symmetric(n = 7, type = '%s', uplo = '%s', packed = %s); SAVE a TO '%s';"
                     "LOAD b FROM '%s' WITH (dense = true, type = '%s', packed = %s); LET a = SELECT * FROM a",
                     types[t], k % 2 == 0 ? "lower" : "upper", k < 2 ? "false" : "true", path_of("mtx"),
                     path_of("mtx"), types[t], k < 2 ? "true" : "false");
            db_run(*state, sql);
            const char *re = t == 5 ? "re, re_lo" : t == 4 ? "value, lo" : t > 1 ? "re" : "value";
            const char *im = t == 5 ? ", im, im_lo" : t > 1 && t < 4 ? ", im" : "";
            const char *back = k % 2 == 0 || im[0] == '\0' ? im : t == 5 ? ", -im, -im_lo" : ", -im";
            snprintf(sql, sizeof sql,
                     "SELECT count(*) FROM (SELECT i, j, %s%s FROM a INTERSECT SELECT %s, %s%s FROM b)", re, im,
                     k % 2 == 0 ? "i, j" : "j, i", re, back);
            db_expect(*state, sql, "28\n");
        }
    }
    unlink(path_of("mtx"));
}

/* --- NPY ------------------------------------------------------------------------------------------ */

static const char *npy(const char *descr, const char *shape, bool fortran, const void *data, size_t bytes,
                       const char *options)
{
    unsigned char file[1024];
    char head[200];
    int length = snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr,
                          fortran ? "True" : "False", shape);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (unsigned char)length;
    file[9] = 0;
    memcpy(file + 10, head, (size_t)length);
    memcpy(file + 10 + length, data, bytes);
    return load("npy", file, 10 + (size_t)length + bytes, options);
}

/* LOAD x of npy, after which x has these rows where it is asked for them. */
static void numpy_gives(lacis_engine *engine, const char *load_it, const char *where, const char *rows)
{
    char sql[100];
    db_run(engine, load_it);
    snprintf(sql, sizeof sql, "SELECT * FROM x %s", where);
    db_expect(engine, sql, rows);
}

static void from_numpy(void **state)
{
    static const double a[] = {1, 2, 2, 3}, u[] = {1, 2, 9, 3}, h[] = {1, 0, 2, 5, 2, -5, 3, 0};
    static const double two[] = {1, 2, 2, 3, 4, 5, 5, 6};
    static const int32_t whole[] = {1, 2, 2, 3};
    static const char *const same = "0,0,1.0\n1,0,2.0\n1,1,3.0\n";
    numpy_gives(*state, npy("<f8", "2, 2", false, a, sizeof a, "matrix = 'symmetric'"), "", same);
    numpy_gives(*state, npy("<i4", "2, 2", true, whole, sizeof whole, "matrix = 'symmetric'"), "", same);
    /* u in C's order: (0, 1) is 2, (1, 0) is 9; column behind column the upper triangle is the lower one */
    numpy_gives(*state, npy("<f8", "2, 2", false, u, sizeof u, "matrix = 'symmetric', uplo = 'upper'"), "",
                "0,0,1.0\n1,0,2.0\n1,1,3.0\n");
    numpy_gives(*state, npy("<f8", "2, 2", false, u, sizeof u, "matrix = 'symmetric', uplo = 'lower'"), "",
                "0,0,1.0\n0,1,9.0\n1,1,3.0\n");
    numpy_gives(*state, npy("<f8", "2, 2", true, u, sizeof u, "matrix = 'symmetric', uplo = 'lower'"), "",
                "0,0,1.0\n1,0,2.0\n1,1,3.0\n");
    numpy_gives(*state, npy("<f8", "2, 2", true, u, sizeof u, "matrix = 'symmetric', uplo = 'upper'"), "",
                "0,0,1.0\n0,1,9.0\n1,1,3.0\n");
    /* h in C's order: (0, 1) is 2 + 5i */
    numpy_gives(*state, npy("<c16", "2, 2", false, h, sizeof h, "matrix = 'hermitian'"), "WHERE i > j",
                "1,0,2.0,-5.0\n");
    numpy_gives(*state, npy("<c16", "2, 2", true, h, sizeof h, "matrix = 'hermitian', uplo = 'upper'"),
                "WHERE i <> j", "0,1,2.0,-5.0\n");
    numpy_gives(*state, npy("<f8", "2, 2, 2", false, two, sizeof two, "matrix = 'symmetric'"), "WHERE lane = 1",
                "1,0,0,4.0\n1,1,0,5.0\n1,1,1,6.0\n");
    numpy_gives(*state, npy("<f8", "0, 0", false, two, 0, "matrix = 'symmetric'"), "", "");
    db_run(*state, npy("<f8", "2, 2", false, a, sizeof a, "uplo = 'lower', matrix = 'symmetric'"));
    unlink(path_of("npy"));
}

static void strange_npy(void **state)
{
    static const double u[] = {1, 2, 9, 3, 4, 5, 6, 7};
    static const struct {
        const char *descr, *shape;
        bool fortran;
        size_t bytes;
        const char *options;
        lacis_status status;
        const char *message;
    } refused[] = {
        {"<f8", "2, 2", false, 32, "matrix = 'symmetric'", LACIS_FORMAT, "element (1, 0) differs"},
        {"<c16", "2, 2", false, 64, "matrix = 'hermitian'", LACIS_FORMAT, "not the conjugate"},
        {"<f8", "2, 2", false, 32, "matrix = 'hermitian'", LACIS_FORMAT, "c8 or c16"},
        {"<f8", "2, 3", false, 48, "matrix = 'symmetric'", LACIS_FORMAT, "n x n"},
        {"<f8", "4,", false, 32, "matrix = 'symmetric'", LACIS_FORMAT, "n x n"},
        {"<f8", "2, 2, 2", true, 64, "matrix = 'symmetric'", LACIS_FORMAT, "C's order"},
        {"<f8", "2, 2", false, 24, "matrix = 'symmetric'", LACIS_FORMAT, "ends before"},
        {"<f8", "2, 2", false, 40, "matrix = 'symmetric'", LACIS_FORMAT, "bytes follow"},
        {">f8", "2, 2", false, 32, "matrix = 'symmetric'", LACIS_FORMAT, "astype"},
        {"<f8", "4000000000, 4000000000", false, 32, "matrix = 'symmetric'", LACIS_FORMAT, "2^31 - 1"},
        {"<f8", "9999999999, 2000000000, 2000000000", false, 32, "matrix = 'symmetric'", LACIS_FORMAT, "ends before"},
        {"<f8", "4,", false, 32, "uplo = 'lower'", LACIS_RANGE, "matrix"},
    };
    for (int i = 0; i < COUNT(refused); i++)
        db_fails(*state,
                 npy(refused[i].descr, refused[i].shape, refused[i].fortran, u, refused[i].bytes, refused[i].options),
                 refused[i].status, refused[i].message);
    unlink(path_of("npy"));
}

static void npy_written(void **state)
{
    char sql[300];
    db_run(*state, "GENERATE a AS symmetric(n = 5, type = 'c128', uplo = 'upper', packed = true)");
    snprintf(sql, sizeof sql, "SAVE a TO '%s'; LOAD b FROM '%s' WITH (matrix = 'hermitian')", path_of("npy"),
             path_of("npy"));
    db_run(*state, sql);
    db_expect(*state, "SELECT count(*) FROM (SELECT i, j, re, im FROM a INTERSECT SELECT j, i, re, -im FROM b)",
              "15\n");
    db_run(*state, "GENERATE a AS symmetric(n = 5, type = 'f32', matrices = 3)");
    snprintf(sql, sizeof sql, "SAVE a TO '%s'; LOAD b FROM '%s' WITH (matrix = 'symmetric')", path_of("npy"),
             path_of("npy"));
    db_run(*state, sql);
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM a INTERSECT SELECT * FROM b)", "45\n");
    snprintf(sql, sizeof sql, "SAVE a TO '%s'", path_of("npy"));
    db_run(*state, "GENERATE a AS symmetric(n = 5, type = 'dd')");
    db_fails(*state, sql, LACIS_TYPE, "dd");
    db_run(*state, "GENERATE a AS symmetric(n = 5, matrices = 2, least = 1)");
    db_fails(*state, sql, LACIS_TYPE, "several");
    snprintf(sql, sizeof sql, "SAVE a TO '%s'", path_of("mtx"));
    db_fails(*state, sql, LACIS_TYPE, "batch");
    unlink(path_of("npy"));
    unlink(path_of("mtx"));
}

/* --- text ----------------------------------------------------------------------------------------- */

static void expect_file(lacis_engine *engine, const char *ending, const char *text)
{
    char sql[128], found[1000];
    snprintf(sql, sizeof sql, "SAVE a TO '%s'", path_of(ending));
    db_run(engine, sql);
    FILE *file = fopen(path_of(ending), "rb");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    unlink(path_of(ending));
    assert_string_equal(found, text);
}

static void written_as_rows(void **state)
{
    db_run(*state, "LET a = SELECT 1 AS i, 1 AS j, '0.1' AS text UNION ALL SELECT 2, 1, '-3'");
    expect_file(*state, "csv", "i,j,value,lo\n1,1,0.1,-5.551115123125783e-18\n2,1,-3.0,0.0\n2,2,0.0,0.0\n");
    db_run(*state, "LET a = SELECT column1 AS lane, 0 AS i, 0 AS j, 0.5 AS re, 0 AS im FROM (VALUES (0), (1))");
    expect_file(*state, "csv", "lane,i,j,re,im\n0,0,0,0.5,0.0\n1,0,0,0.5,0.0\n");
    expect_file(
        *state, "jsonl",
        "{\"lane\":0,\"i\":0,\"j\":0,\"re\":0.5,\"im\":0.0}\n{\"lane\":1,\"i\":0,\"j\":0,\"re\":0.5,\"im\":0.0}\n");
    db_run(*state, "LET a = SELECT 5 AS i, '0.1' AS text");
    expect_file(*state, "csv", "i,value,lo\n5,0.1,-5.551115123125783e-18\n");
    db_run(*state, "LET a = SELECT 0 AS lane, 0 AS row, 0.5 AS x, 1e-20 AS x_lo, 2 AS x_im, 0 AS x_im_lo");
    expect_file(*state, "csv", "lane,row,x,x_lo,x_im,x_im_lo\n0,0,0.5,1e-20,2.0,0.0\n");
    db_expect(*state, "SHOW ARRAYS", "a,batch,1 x 1, flat,1,cdd,40,NULL\n");
}

/* --- generators ----------------------------------------------------------------------------------- */

static void one_matrix_whatever_its_storage(void **state)
{
    static const char *const more[] = {
        "", ", packed = true", ", ld = 13", ", uplo = 'upper'", ", uplo = 'upper', packed = true", ", type = 'dd'"};
    db_run(*state, "GENERATE a AS symmetric(9, 4)");
    for (int k = 0; k < 6; k++) {
        char sql[160];
        snprintf(sql, sizeof sql, "GENERATE b AS symmetric(n = 9, seed = 4%s)", more[k]);
        db_run(*state, sql);
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM (SELECT i, j, value FROM a INTERSECT SELECT %s, value FROM b)",
                 k == 3 || k == 4 ? "j, i" : "i, j");
        db_expect(*state, sql, "45\n");
    }
    db_expect(*state, "SELECT max(abs(value)) <= 1, min(value) < -0.8, max(value) > 0.8 FROM a", "1,1,1\n");
    db_run(*state, "GENERATE b AS symmetric(n = 9, seed = 5)");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM a INTERSECT SELECT * FROM b)", "0\n");
    db_run(*state, "SET threads = 1; GENERATE b AS symmetric(n = 90, seed = 5, matrices = 3); SET threads = 2;"
                   "GENERATE c AS symmetric(n = 90, seed = 5, matrices = 3)");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM c EXCEPT SELECT * FROM b)", "0\n");
    db_run(*state, "GENERATE c AS symmetric(n = 6, matrices = 30, least = 2)");
    db_expect(*state,
              "SELECT count(DISTINCT lane), min(m), max(m), count(DISTINCT m) > 2"
              " FROM (SELECT lane, max(i) + 1 AS m FROM c GROUP BY lane)",
              "30,2,6,1\n");
    db_fails(*state, "GENERATE c AS symmetric(n = 6, least = 2)", LACIS_RANGE, "batch");
    db_fails(*state, "GENERATE c AS symmetric(n = 6, ld = 5)", LACIS_RANGE, "ld");
    db_fails(*state, "GENERATE c AS symmetric(n = 6, ld = 8, packed = true)", LACIS_RANGE, "leading dimension");
    db_fails(*state, "GENERATE c AS symmetric(n = 200000000)", LACIS_LIMIT, "memory_limit");
    db_fails(*state, "GENERATE c AS symmetric(n = 2000000000, matrices = 2000000000)", LACIS_RANGE, "counted");
}

/* Both triangles of full storage hold the matrix, in every type and of more than one tile. */
static void the_other_triangle_is_there(void **state)
{
    static const char *const types[] = {"f32", "c64", "c128", "cdd"};
    for (int t = 0; t < 4; t++) {
        for (int upper = 0; upper < 2; upper++) {
            char sql[200];
            lacis_array *array;
            lacis_part part;
            snprintf(sql, sizeof sql, "GENERATE a AS symmetric(n = 301, type = '%s', uplo = '%s', ld = 307)",
                     types[t], upper ? "upper" : "lower");
            db_run(*state, sql);
            assert_int_equal(lacis_array_find(*state, "a", &array), LACIS_OK);
            assert_int_equal(lacis_array_part(array, 0, &part), LACIS_OK);
            size_t size = lacis_dtype_size(part.dtype);
            for (int64_t j = 0; j < 301; j++)
                for (int64_t i = 0; i < j; i++) {
                    const char *x = (const char *)part.data + (size_t)(j * 307 + i) * size;
                    const char *y = (const char *)part.data + (size_t)(i * 307 + j) * size;
                    assert_memory_equal(x, y, part.dtype == LACIS_F32 ? size : size / 2);
                    if (part.dtype == LACIS_C64)
                        assert_true(((const float *)(const void *)x)[1] == -((const float *)(const void *)y)[1]);
                    if (part.dtype == LACIS_C128)
                        assert_true(((const double *)(const void *)x)[1] == -((const double *)(const void *)y)[1]);
                    for (int k = 2; k < 4 && part.dtype == LACIS_CDD; k++)
                        assert_true(((const double *)(const void *)x)[k] == -((const double *)(const void *)y)[k]);
                }
            lacis_array_release(array);
        }
    }
}

static void random_vectors(void **state)
{
    db_run(*state, "GENERATE x AS random(40000, seed = 2); GENERATE y AS random(40000, 2, 'dd')");
    db_expect(*state, "SELECT count(*), max(abs(value)) <= 1, abs(avg(value)) < 0.02 FROM x", "40000,1,1\n");
    db_expect(*state, "SELECT count(*) FROM x JOIN y USING (i) WHERE x.value = y.value AND y.lo <> 0", "40000\n");
    db_run(*state, "GENERATE z AS random(n = 5, lanes = 3, type = 'c64')");
    db_expect(*state, "SELECT count(*), max(lane), max(row) FROM z", "15,2,4\n");
    db_fails(*state, "GENERATE x AS random(n = 100000000000000)", LACIS_LIMIT, "memory_limit");
    db_fails(*state, "GENERATE x AS random(n = -1)", LACIS_RANGE, "n = -1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(halves_of_matrix_market),
        CHECK(arrays_of_matrix_market),
        CHECK(coordinates_of_matrix_market),
        CHECK(what_matrix_market_lacks),
        CHECK(many_chunks),
        CHECK(saved_and_loaded),
        CHECK(from_numpy),
        CHECK(strange_npy),
        CHECK(npy_written),
        CHECK(written_as_rows),
        CHECK(one_matrix_whatever_its_storage),
        CHECK(the_other_triangle_is_there),
        CHECK(random_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
