/* SPDX-License-Identifier: Apache-2.0
 *
 * Saving: what each format writes, that loading it again gives the same array, and what is refused.
 */
#include "support/load.h"

#include <math.h>

static load_bench bench;

static int setup(void **state)
{
    (void)state;
    load_open(&bench, 2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    load_close(&bench);
    return 0;
}

/* What a loader writes, to be freed. */
static lacis_status saved(const char *format, const lacis_array *array, char **text, size_t *size)
{
    FILE *file = open_memstream(text, size);
    assert_non_null(file);
    bench.notes[0] = '\0';
    lacis_status status = load_loader(format)->save(&bench.run, array, file);
    assert_int_equal(fclose(file), 0);
    return status;
}

static lacis_array *loaded(const char *path, const char *text)
{
    lacis_array *array;
    if (load_text(&bench, path, text, NULL, "", &array) != LACIS_OK) fail_msg("%s", bench.host.error.message);
    return array;
}

static void writes(const char *format, const lacis_array *array, const char *expected)
{
    char *text;
    size_t size;
    if (saved(format, array, &text, &size) != LACIS_OK) fail_msg("%s", bench.host.error.message);
    if (strcmp(text, expected) != 0) fail_msg("%s wrote\n%s\nnot\n%s", format, text, expected);
    free(text);
}

static void refuses(const char *format, const lacis_array *array, const char *message)
{
    char *text;
    size_t size;
    assert_int_equal(saved(format, array, &text, &size), LACIS_TYPE);
    free(text);
    if (strstr(bench.host.error.message, message) == NULL)
        fail_msg("'%s' lacks '%s'", bench.host.error.message, message);
}

static void graphs_as_text(void **state)
{
    (void)state;
    lacis_array *a = loaded("a.txt", "7 3 0.1\n3 7 -2\n");
    writes("snap", a, "# Saved by lacis\n# Nodes: 2 Edges: 2\n3\t7\t-2.0\n7\t3\t0.1\n");
    writes("csv", a, "src,dst,value\n3,7,-2.0\n7,3,0.1\n");
    writes("jsonl", a, "{\"src\":3,\"dst\":7,\"value\":-2.0}\n{\"src\":7,\"dst\":3,\"value\":0.1}\n");
    writes("mtx", a, "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 -2.0\n2 1 0.1\n");
    assert_non_null(strstr(bench.notes, "warning: mtx numbers vertices 1 .. n"));
    refuses("npy", a, "save as mtx");
    lacis_array_release(a);
    a = loaded("a.txt", "0 1\n1 2\n");
    writes("mtx", a, "%%MatrixMarket matrix coordinate pattern general\n%lacis base 0 0\n3 3 2\n1 2\n2 3\n");
    writes("csv", a, "src,dst\n0,1\n1,2\n");
    lacis_array_release(a);
    a = loaded("a.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1.5 -2\n");
    writes("mtx", a, "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1.5 -2.0\n");
    writes("csv", a, "src,dst,re,im\n1,2,1.5,-2.0\n");
    refuses("snap", a, "no complex values");
    lacis_array_release(a);
}

static void isolated_vertices_are_told(void **state)
{
    (void)state;
    char *text;
    size_t size;
    lacis_array *a = loaded("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 1\n1 2\n");
    assert_int_equal(saved("snap", a, &text, &size), LACIS_OK);
    assert_non_null(strstr(bench.notes, "warning: 3 vertices without edges are not in the file"));
    free(text);
    lacis_array_release(a);
}

static bool same_bits(const lacis_csr *a, const lacis_csr *b)
{
    if (a->rows != b->rows || a->cols != b->cols || a->entries != b->entries || a->dtype != b->dtype) return false;
    if (a->row_base != b->row_base && a->row_label == NULL) return false;
    if ((a->row_label == NULL) != (b->row_label == NULL)) return false;
    if (a->row_label != NULL && memcmp(a->row_label, b->row_label, (size_t)a->rows * 8) != 0) return false;
    if (memcmp(a->begin, b->begin, (size_t)a->rows * 8) != 0) return false;
    if (memcmp(a->column, b->column, (size_t)a->entries * 4) != 0) return false;
    return a->value == NULL || memcmp(a->value, b->value, (size_t)a->entries * lacis_dtype_size(a->storage)) == 0;
}

static void comes_back(const char *format, const char *path, const lacis_array *array)
{
    char *text;
    size_t size;
    lacis_array *again;
    lacis_csr a, b;
    assert_int_equal(saved(format, array, &text, &size), LACIS_OK);
    lacis_source source = {path, text, size, false};
    if (load_source(&bench, &source, NULL, "", &again) != LACIS_OK)
        fail_msg("%s: %s", path, bench.host.error.message);
    lacis_csr_view(array, &a);
    lacis_csr_view(again, &b);
    if (!same_bits(&a, &b)) fail_msg("%s came back as %s", format, load_show(&bench, again));
    lacis_array_release(again);
    free(text);
}

/* Reals of all sizes, integers up to both ends, labels and bases: the same bits come back. */
static void round_trips(void **state)
{
    (void)state;
    char text[1 << 16] = "";
    for (int i = 0; i < 900; i++) {
        snprintf(text + strlen(text), 64, "%d %d %.17g\n", i % 37, i * 7 % 101, ldexp(1.0 / (i + 1), i % 300 - 150));
    }
    lacis_array *a = loaded("a.txt", text);
    comes_back("snap", "b.txt", a);
    comes_back("csv", "b.csv", a);
    comes_back("jsonl", "b.jsonl", a);
    comes_back("mtx", "b.mtx", a);
    lacis_array_release(a);
    a = loaded("a.txt", "5 900000000000 9223372036854775807\n900000000000 5 -9223372036854775808\n5 5 0\n");
    comes_back("snap", "b.txt", a);
    comes_back("csv", "b.csv", a);
    comes_back("jsonl", "b.jsonl", a);
    lacis_array_release(a);
    a = loaded("a.txt", "1 2 inf\n2 1 -inf\n2 2 -0.0\n");
    comes_back("snap", "b.txt", a);
    comes_back("csv", "b.csv", a);
    comes_back("jsonl", "b.jsonl", a);
    comes_back("mtx", "b.mtx", a);
    lacis_array_release(a);
    a = loaded("a.mtx", "%%MatrixMarket matrix coordinate complex general\n3 2 2\n1 2 0.1 -2e300\n3 1 0 1\n");
    comes_back("mtx", "b.mtx", a);
    lacis_array_release(a);
}

static void vector_back(const char *format, const char *path, const lacis_array *array)
{
    char *text;
    size_t size;
    lacis_array *again;
    if (saved(format, array, &text, &size) != LACIS_OK) fail_msg("%s", bench.host.error.message);
    lacis_source source = {path, text, size, false};
    if (load_source(&bench, &source, NULL, "", &again) != LACIS_OK)
        fail_msg("%s: %s", path, bench.host.error.message);
    const lacis_part *a = lacis_array_part_named(array, "values"), *b = lacis_array_part_named(again, "values");
    assert_int_equal(lacis_array_kind(again), LACIS_VECTOR);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->dtype, b->dtype);
    assert_memory_equal(a->data, b->data, (size_t)a->count * lacis_dtype_size(a->dtype));
    assert_int_equal(lacis_array_extent(again, 0), lacis_array_extent(array, 0));
    assert_int_equal(lacis_array_part_named(array, "index") != NULL, lacis_array_part_named(again, "index") != NULL);
    assert_int_equal(lacis_array_base(array, 0), lacis_array_base(again, 0));
    lacis_array_release(again);
    free(text);
}

static void vectors(void **state)
{
    (void)state;
    lacis_array *a = loaded("a.csv", "i,value\n0,0.1\n1,-2\n2,1e300\n");
    writes("csv", a, "i,value\n0,0.1\n1,-2.0\n2,1e+300\n");
    writes("jsonl", a, "{\"i\":0,\"value\":0.1}\n{\"i\":1,\"value\":-2.0}\n{\"i\":2,\"value\":1e+300}\n");
    vector_back("csv", "b.csv", a);
    vector_back("jsonl", "b.jsonl", a);
    vector_back("npy", "b.npy", a);
    refuses("mtx", a, "mtx holds graphs");
    refuses("snap", a, "snap holds graphs");
    lacis_array_release(a);
    a = loaded("a.csv", "i,value\n5,1\n9,2\n");
    vector_back("csv", "b.csv", a);
    refuses("npy", a, "save it as csv");
    lacis_array_release(a);
    a = loaded("a.csv", "i,value\n5,1\n6,2\n");
    vector_back("jsonl", "b.jsonl", a);
    lacis_array_release(a);
    load_fails(&bench, "a.csv", "i,value\n5,1\n5,2\n", "", LACIS_FORMAT, "must be rising integers");
    load_fails(&bench, "a.csv", "i,value\n5,1\n6\n", "", LACIS_FORMAT, "a.csv:3:1: the header row names 2 columns");
    load_fails(&bench, "a.csv", "i,value\n5,x\n", "", LACIS_FORMAT, "a.csv:2:3: 'x' is not a number");
}

static void tables(void **state)
{
    (void)state;
    lacis_array *a;
    assert_int_equal(load_text(&bench, "a.csv", "t,v,w\n1,0.5,2\n2,3,4\n", "csv", "", &a), LACIS_OK);
    assert_int_equal(lacis_array_kind(a), LACIS_TABLE);
    assert_int_equal(lacis_array_extent(a, 0), 2);
    writes("csv", a, "t,v,w\n1,0.5,2\n2,3.0,4\n");
    writes("jsonl", a, "{\"t\":1,\"v\":0.5,\"w\":2}\n{\"t\":2,\"v\":3.0,\"w\":4}\n");
    refuses("npy", a, "holds one column, the table has 3");
    lacis_array_release(a);
    assert_int_equal(load_text(&bench, "a.csv", "t,t\n1,2\n", "csv", "", &a), LACIS_FORMAT);
}

static void json_lines_errors(void **state)
{
    (void)state;
    load_fails(&bench, "a", "{\"src\":1,\"dst\":2}\n{\"src\":1}\n", "", LACIS_FORMAT,
               "a:2:10: 1 numbers where the first");
    load_fails(&bench, "a", "{\"src\":1,\"dst\":2}\n{\"src\":1,\"x\":2}\n", "", LACIS_FORMAT, "a:2:11: a name that");
    load_fails(&bench, "a", "{\"src\":1 \"dst\":2}\n", "", LACIS_FORMAT, "a:1:10: ',' or '}' should stand before");
    load_fails(&bench, "a", "{\"src\":1,\"dst\":\"two\"}\n", "", LACIS_FORMAT, "'two' is not a number");
    load_fails(&bench, "a", "{\"src\":1,\"dst\":2}x\n", "", LACIS_FORMAT,
               "the end of the line should stand before 'x'");
    load_fails(&bench, "a", "{\"src\":1.5,\"dst\":2}\n", "", LACIS_FORMAT, "src and dst must be integers");
}

static void npy_heads(void **state)
{
    (void)state;
    static const struct {
        const char *head, *message;
    } cases[] = {
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", "its type is none of"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", "lanes x rows"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "ends before its data"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "bytes follow its data"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", "one dimension (a vector) nor two"},
        {"", "its type is none of"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char data[256] = "\x93NUMPY\x01";
        size_t length = strlen(cases[i].head);
        lacis_array *array;
        data[8] = (char)length;
        data[7] = 0;
        data[9] = 0;
        memcpy(data + 10, cases[i].head, length);
        lacis_source source = {"a.npy", data, 10 + length + 8, false};
        assert_int_equal(load_source(&bench, &source, NULL, "", &array), LACIS_FORMAT);
        if (strstr(bench.host.error.message, cases[i].message) == NULL) fail_msg("%s", bench.host.error.message);
    }
}

static void interrupted(void **state)
{
    (void)state;
    char *text;
    size_t size;
    lacis_array *a = loaded("a.txt", "1 2\n2 3\n");
    atomic_store(&bench.host.cancel, 1);
    static const char *const formats[] = {"snap", "csv", "jsonl", "mtx"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        assert_int_equal(saved(formats[i], a, &text, &size), LACIS_INTERRUPT);
        free(text);
    }
    lacis_array_release(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(graphs_as_text), CHECK(isolated_vertices_are_told), CHECK(round_trips), CHECK(vectors),
        CHECK(tables),         CHECK(json_lines_errors),          CHECK(npy_heads),   CHECK(interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
