/* SPDX-License-Identifier: Apache-2.0
 *
 * Edge lists in small texts: what they may look like, options, values, duplicates, errors with their places; for all
 * loaders memory that runs out and interruption. Other formats are in test_loaders_formats.c, public files in
 * test_loaders_shared.c, saving in test_loaders_save.c.
 */
#include "support/load.h"

#include <limits.h>

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
    lacis_set_allocation_guard(NULL, NULL);
    load_close(&bench);
    return 0;
}

#define IS(path, text, options, expected)           load_is(&bench, path, text, options, expected)
#define FAILS(path, text, options, status, message) load_fails(&bench, path, text, options, status, message)
#define SAID(text)                                                                                                   \
    do {                                                                                                             \
        if (strstr(bench.notes, text) == NULL) fail_msg("no '%s' in:\n%s", text, bench.notes);                       \
    } while (0)

static void edge_list_forms(void **state)
{
    (void)state;
    const char *want = "3x3 1-2 1-3 2-1";
    IS("a.txt", "1\t2\n1\t3\n2\t1\n", "", want);
    IS("a.txt", "1 2\n1 3\n2 1", "", want);
    IS("a.txt", "1,2\r\n1,3\r\n2,1\r\n", "", want);
    IS("a.txt", "1, 2\n1 ,3\n 2,  1 \n", "", want);
    IS("a.txt", "1;2\n1;3\n2;1\n", "", want);
    IS("a.txt", "1|2\n1|3\n2|1\n", "", want);
    IS("a.txt", "  1    2   \n\t1 \t 3\n2 1\t\r\n\n  \n", "", want);
    IS("a.txt", "# c\n1 2\n% c\n1 3\n// c\n  # c\n2 1 # c\n", "", want);
    IS("a.txt",
       "\xef\xbb\xbf"
       "1 2\n1 3\n2 1\n",
       "", want);
    IS("a.txt", "1 2\r1 3\r2 1\r", "", want);
    IS("a.txt", "\"src\",\"dst\"\n\"1\",\"2\"\n\"1\",\"3\"\n\"2\",\"1\"\n", "", want);
    IS("a.txt", "+1 2\n1 +3\n02 001\n", "", want);
    IS("a.txt", "1 2\n1 3\n2 1\n", "delimiter=space", want);
    IS("a.txt", "1\t2\n1\t3\n2\t1\n", "delimiter=tab", want);
    IS("a.txt", "1:2\n1:3\n2:1\n", "delimiter=:", want);
    FAILS("a.txt", "1 2\n", "delimiter=ab", LACIS_RANGE, "is not one character");
}

static void empty_texts(void **state)
{
    (void)state;
    IS("a.txt", "", "", "0x0");
    SAID("a.txt has no edges");
    IS("a.txt", "# Nodes: 5 Edges: 0\n", "", "0x0");
    SAID("the header says 5 nodes, 0 occur");
    IS("a.txt", "\n\n", "", "0x0");
}

static void ids_become_labels(void **state)
{
    (void)state;
    IS("a.txt", "0 7\n7 3\n", "", "3x3 0-7 7-3");
    IS("a.txt", "5 6\n6 7\n", "", "3x3 5-6 6-7");
    IS("a.txt", "-9223372036854775808 9223372036854775807\n-1 0\n", "",
       "4x4 -9223372036854775808-9223372036854775807 -1-0");
    IS("a.txt", "35184372088856 14\n14 35184372088857\n", "", "3x3 14-35184372088857 35184372088856-14");
    IS("a.txt", "90000000001 90000000002\n90000000002 90000000003\n", "",
       "3x3 90000000001-90000000002 90000000002-90000000003");
    lacis_array *array;
    assert_int_equal(load_text(&bench, "a.txt", "90000000001 90000000002\n", NULL, "", &array), LACIS_OK);
    assert_null(lacis_array_part_named(array, "row_labels"));
    assert_int_equal(lacis_array_base(array, 1), 90000000001);
    lacis_array_release(array);
    assert_int_equal(load_text(&bench, "a.txt", "4 9\n", NULL, "", &array), LACIS_OK);
    const lacis_part *rows = lacis_array_part_named(array, "row_labels");
    const lacis_part *cols = lacis_array_part_named(array, "col_labels");
    assert_non_null(rows);
    assert_ptr_equal(rows->data, cols->data);
    lacis_array_release(array);
}

static void base_keeps_all_ids(void **state)
{
    (void)state;
    IS("a.txt", "1 4\n4 2\n", "base=0", "5x5 1-4 4-2");
    IS("a.txt", "1 4\n4 2\n", "base=1", "4x4 1-4 4-2");
    FAILS("a.txt", "1 4\n0 2\n", "base=1", LACIS_FORMAT, "a.txt:2:1: index 0 lies outside what base = 1 allows");
    FAILS("a.txt", "1 4\n", "base=2", LACIS_RANGE, "neither 0 nor 1");
    FAILS("a.txt", "1 40000000000\n", "base=1", LACIS_RANGE, "leave base out");
    FAILS("a.txt", "1 3000000000\n", "base=1", LACIS_RANGE, "leave base out");
}

static void values_and_types(void **state)
{
    (void)state;
    IS("a.txt", "1 2 5\n2 1 -3\n", "", "2x2 i64/i32 1-2=5 2-1=-3");
    IS("a.txt", "1 2 5\n2 1 2147483648\n", "", "2x2 i64/i64 1-2=5 2-1=2147483648");
    IS("a.txt", "1 2 5\n2 1 0.1\n", "", "2x2 f64/f64 1-2=5.0 2-1=0.1");
    IS("a.txt", "1 2 1e-3\n2 1 -.5\n1 1 1.5D+2\n", "", "2x2 f64/f64 1-1=150.0 1-2=0.001 2-1=-0.5");
    IS("a.txt", "1 2 inf\n2 1 nan\n1 1 -Infinity\n", "", "2x2 f64/f64 1-1=-inf 1-2=inf 2-1=nan");
    IS("a.txt", "1 2 18446744073709551616\n2 1 3\n", "", "2x2 f64/f64 1-2=1.8446744073709552e+19 2-1=3.0");
    SAID("values beyond 64 bits");
    IS("a.txt", "1 2 123456789012345678\n2 1 0.30000000000000004\n", "",
       "2x2 f64/f64 1-2=1.2345678901234568e+17 2-1=0.30000000000000004");
    IS("a.txt", "1 2 5\n", "type=pattern", "2x2 1-2");
    IS("a.txt", "1 2 5\n", "type=i32", "2x2 i32/i32 1-2=5");
    IS("a.txt", "1 2 5\n", "type=f64", "2x2 f64/f64 1-2=5.0");
    IS("a.txt", "1 2 0.1\n", "type=f32", "2x2 f32/f32 1-2=0.1");
    FAILS("a.txt", "1 2 0.1\n", "type=i64", LACIS_TYPE, "type = 'i64' cannot hold its values: some are no integers");
    FAILS("a.txt", "1 2 5000000000\n", "type=i32", LACIS_TYPE, "do not fit 32 bits");
    FAILS("a.txt", "1 2 5\n1 3 x\n1 3 6\n", "columns=src,dst,value", LACIS_FORMAT, "a.txt:2:5: 'x' is not a number");
    FAILS("a.txt", "1 2 5\n1 3 1e999\n", "columns=src,dst,value", LACIS_FORMAT, "a.txt:2:5: '1e999' is not a number");
}

static void times_are_no_values(void **state)
{
    (void)state;
    IS("a.txt", "1 2 1082040961\n2 3 1082155839\n", "", "3x3 1-2 2-3");
    SAID("note: column 3 looks like a time and is left out");
    IS("a.txt", "1 2 1082040961\n2 3 1082155839\n", "columns=src,dst,value",
       "3x3 i64/i32 1-2=1082040961 2-3=1082155839");
    IS("a.txt", "1 2 1289241911.72\n2 3 1082155839\n", "", "3x3 1-2 2-3");
    IS("a.txt", "1,2,1289241911.72,4\n2,3,1082155839,-5\n", "", "3x3 i64/i32 1-2=4 2-3=-5");
    SAID("note: column 3 looks like a time and is left out");
    /* The first lines look like times, a later one does not: so they are values. */
    char text[8192] = "";
    for (int i = 0; i < 100; i++) {
        snprintf(text + strlen(text), 64, "1 %d 1082040961\n", i + 2);
    }
    strcat(text, "1 200 7\n");
    lacis_array *array;
    assert_int_equal(load_text(&bench, "a.txt", text, NULL, "", &array), LACIS_OK);
    assert_int_equal(lacis_array_dtype(array), LACIS_I64);
    lacis_array_release(array);
}

static void headers_and_columns(void **state)
{
    (void)state;
    IS("a.csv", "target,source\n1,2\n", "", "2x2 2-1");
    IS("a.csv", "time from to\n32520 1467 1591\n", "", "2x2 1467-1591");
    SAID("note: line 1, 'time from to', is a header row");
    IS("a.csv", "weight,u,v\n5,1,2\n", "", "2x2 i64/i32 1-2=5");
    IS("a.csv", "alpha,beta\n1,2\n", "", "2x2 1-2");
    SAID("without names that tell src and dst");
    IS("a.csv", "2012-10-07 02:24:40.381+00,14,20\n2012-10-08 02:24:40.381+00,20,14\n", "", "2x2 14-20 20-14");
    SAID("note: column 1 is no number and is left out");
    IS("a.csv", "7,1,2\n8,2,3\n", "columns=weight,src,dst", "3x3 i64/i32 1-2=7 2-3=8");
    IS("a.csv", "7,1,2\n8,2,3\n", "columns=-,dst,src", "3x3 2-1 3-2");
    IS("a.csv", "x,y\n1,2\n", "header=true", "2x2 1-2");
    IS("a.csv", "9,9\n1,2\n", "header=true", "2x2 1-2");
    FAILS("a.csv", "x,y\n1,2\n", "header=false", LACIS_FORMAT, "a.csv:1:1: 'x' is not an integer id");
    FAILS("a.csv", "1,2\n", "columns=src,value", LACIS_RANGE, "names no dst");
    IS("a.txt", "0 1 {'weight': 3}\n1 2 {}\n", "", "3x3 0-1 1-2");
    SAID("note: columns 3, 4 are no numbers and are left out");
    IS("a.csv", "1,2,a,b,0.5,c\n2,3,d,e,0.5,f\n", "", "3x3 f64/f64 1-2=0.5 2-3=0.5");
    SAID("note: columns 3, 4, 6 are no numbers and are left out");
}

static void lines_that_are_no_edges(void **state)
{
    (void)state;
    IS("a.txt", "3\n0 1\n1 2\n", "", "3x3 0-1 1-2");
    SAID("note: line 1, '3', gives sizes and is no edge: skipped");
    IS("a.txt", "3 2\n0 1 5\n1 2 6\n", "", "3x3 i64/i32 0-1=5 1-2=6");
    IS("a.txt", "3 3 2\n1 2 5\n2 3 6\n", "", "3x3 i64/i32 1-2=5 2-3=6");
    SAID("warning: line 1, '3 3 2', gives sizes");
    IS("a.txt", "3 3\n0 1\n1 2\n2 0\n", "", "3x3 0-1 1-2 2-0");
    SAID("warning: line 1, '3 3', gives sizes");
    IS("a.txt", "3 3\n0 1\n1 2\n2 0\n", "header=false", "4x4 0-1 1-2 2-0 3-3");
    IS("a.txt", "0 3\n1 2\n2 0\n0 1\n", "", "4x4 0-1 0-3 1-2 2-0");
    IS("a.txt", "0 1\n1 2\n-1\n", "", "3x3 0-1 1-2");
    SAID("note: line 3, '-1', ends the list");
}

static void snap_header_is_checked(void **state)
{
    (void)state;
    IS("a.txt", "# Nodes: 3 Edges: 2\n0 1\n1 2\n", "", "3x3 0-1 1-2");
    assert_string_equal(bench.notes, "");
    IS("a.txt", "# Nodes: 3 Edges: 9\n0 1\n1 2\n", "", "3x3 0-1 1-2");
    SAID("warning: the header promises 9 edges, only 2 came: the file may be cut off: compare its size with what its "
         "source says");
    IS("a.txt", "# Nodes: 7 Edges: 1\n0 1\n1 2\n", "", "3x3 0-1 1-2");
    SAID("note: the header says 1 edges, 2 came");
    SAID("note: the header says 7 nodes, 3 occur in edges");
}

static void duplicates_by_rule(void **state)
{
    (void)state;
    const char *text = "1 2 5\n1 3 1\n1 2 7\n1 2 -1\n";
    IS("a.txt", text, "", "3x3 i64/i32 1-2=11 1-3=1");
    SAID("note: 2 duplicate edges collapsed (values: sum)");
    IS("a.txt", text, "duplicates=min", "3x3 i64/i32 1-2=-1 1-3=1");
    IS("a.txt", text, "duplicates=max", "3x3 i64/i32 1-2=7 1-3=1");
    IS("a.txt", text, "duplicates=first", "3x3 i64/i32 1-2=5 1-3=1");
    IS("a.txt", text, "duplicates=last", "3x3 i64/i32 1-2=-1 1-3=1");
    IS("a.txt", text, "duplicates=count", "3x3 i64/u32 1-2=3 1-3=1");
    IS("a.txt", "1 2\n2 1\n", "duplicates=count", "2x2 i64/u32 1-2=1 2-1=1");
    FAILS("a.txt", text, "duplicates=error", LACIS_FORMAT, "a.txt:3:1: '1 2 7' gives an edge for the second time");
    IS("a.txt", "1 2\n2 2\n1 2\n", "", "2x2 1-2 2-2");
    SAID("note: 1 duplicate edges collapsed\n");
    IS("a.txt", "1 2 2000000000\n1 2 2000000000\n", "columns=src,dst,value", "2x2 i64/i64 1-2=4000000000");
    FAILS("a.txt", "1 2 9223372036854775807\n1 2 1\n", "", LACIS_OVERFLOW, "leaves 64 bits");
    IS("a.txt", "1 2 0.1\n1 2 0.2\n1 2 0.3\n", "", "2x2 f64/f64 1-2=0.6000000000000001");
    IS("a.txt", "1 2 0.3\n1 2 0.1\n1 2 0.2\n", "", "2x2 f64/f64 1-2=0.6000000000000001");
    IS("a.txt", "1 2 nan\n1 2 0.5\n", "duplicates=max", "2x2 f64/f64 1-2=0.5");
    IS("a.txt", "1 2 5\n1 2 7\n", "type=f32", "2x2 f32/f32 1-2=12.0");
}

static void undirected_adds_the_reverse(void **state)
{
    (void)state;
    IS("a.txt", "1 2 5\n2 2 1\n", "directed=false", "2x2 i64/i32 1-2=5 2-1=5 2-2=1");
    IS("a.txt", "1 2\n2 1\n", "directed=false", "2x2 1-2 2-1");
    SAID("2 duplicate edges collapsed");
    FAILS("a.txt", "1 2\n3 4\n2 1\n", "directed=false;duplicates=error", LACIS_FORMAT,
          "a.txt:3:1: '2 1' gives an edge");
}

static void edge_list_errors(void **state)
{
    (void)state;
    FAILS("a.txt", "1 2\n1 x\n", "header=false", LACIS_FORMAT, "a.txt:2:3: 'x' is not an integer id");
    FAILS("a.txt", "1 2\n\n1\n2 3\n", "", LACIS_FORMAT, "a.txt:3:2: 1 field(s) where 2 are expected");
    IS("a.txt", "1 2\n3 4 5\n", "", "2x2 i64/i32 3-4=5");
    SAID("warning: line 1, '1 2', gives sizes and is no edge: skipped (1 lines follow it)");
    FAILS("a.txt", "1 2\n2 3\n3 4 5\n", "", LACIS_FORMAT, "a.txt:3:5: 3 fields where 2 are expected, from '5' on");
    FAILS("a.txt", "1 2\n1.0 2\n", "", LACIS_FORMAT, "a.txt:2:1: '1.0' is not an integer id");
    FAILS("a.txt", "1 2\n1 99999999999999999999\n", "", LACIS_FORMAT,
          "a.txt:2:3: '99999999999999999999' is not an int");
    FAILS("a.txt", "1 2\n1 \x01\n", "columns=src,dst", LACIS_FORMAT, "'?' is not an integer id");
    FAILS("a.txt",
          "\xff\xfe"
          "1",
          "columns=src,dst", LACIS_FORMAT, "the text is UTF-16");
    lacis_array *array;
    lacis_source zero = {"a.bin", "1 2\n\0\0", 6, false};
    assert_int_equal(load_source(&bench, &zero, NULL, "", &array), LACIS_FORMAT);
    assert_int_equal(load_source(&bench, &zero, "snap", "", &array), LACIS_FORMAT);
    assert_non_null(strstr(bench.host.error.message, "a.bin:2:1: a zero byte"));
}

/* Of several errors in different chunks the first in the file is told, by any number of threads. */
static void the_first_error_is_told(void **state)
{
    (void)state;
    size_t size = 4 << 20, lines = size / 8;
    char *text = malloc(size + 1);
    for (size_t i = 0; i < lines; i++) {
        memcpy(text + 8 * i, "100 200\n", 8);
    }
    text[size] = '\0';
    for (size_t i = lines / 3; i < lines; i += lines / 50) {
        text[8 * i] = 'x';
    }
    char want[64];
    snprintf(want, sizeof want, "a.txt:%zu:1: 'x00' is not an integer id", lines / 3 + 1);
    for (int threads = 1; threads <= 4; threads++) {
        bench.host.threads = threads;
        FAILS("a.txt", text, "columns=src,dst", LACIS_FORMAT, want);
    }
    free(text);
}

/* Ids far apart go through the hash table: by any number of threads the graph is that of the same ids close together.
 */
static void wide_ids_are_the_same_graph(void **state)
{
    (void)state;
    enum { LINES = 60000 };
    char *near = malloc(LINES * 16 + 1), *far = malloc(LINES * 48 + 1);
    size_t near_used = 0, far_used = 0;
    unsigned long long random = 7;
    for (int i = 0; i < LINES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned src = (unsigned)(random >> 33) % 3000, dst = (unsigned)(random >> 45) % 3000;
        near_used += (size_t)sprintf(near + near_used, "%u %u\n", src, dst);
        far_used += (size_t)sprintf(far + far_used, "%llu %llu\n", src * 1000000000000ull, dst * 1000000000000ull);
    }
    lacis_array *one, *many;
    lacis_csr a, b;
    assert_int_equal(load_text(&bench, "a.txt", near, NULL, "", &one), LACIS_OK);
    lacis_csr_view(one, &a);
    for (int threads = 1; threads <= 4; threads++) {
        bench.host.threads = threads;
        assert_int_equal(load_text(&bench, "a.txt", far, NULL, "", &many), LACIS_OK);
        lacis_csr_view(many, &b);
        assert_int_equal(a.rows, b.rows);
        assert_int_equal(a.entries, b.entries);
        assert_memory_equal(a.begin, b.begin, (size_t)a.rows * sizeof *a.begin);
        assert_memory_equal(a.column, b.column, (size_t)a.entries * sizeof *a.column);
        assert_int_equal(b.row_label[1], 1000000000000);
        lacis_array_release(many);
    }
    lacis_array_release(one);
    free(near);
    free(far);
}

static int refuse_nth(void *arg, size_t bytes)
{
    (void)bytes;
    return (*(int *)arg)-- == 0;
}

/* The nth request for memory fails, for all n: a code, a message, and nothing is left behind. */
static void memory_runs_out(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text;
    } cases[] = {{"a.txt", "1 2 5\n3 9000000000 0.5\n1 2 6\n"},
                 {"a.txt", "1 2\n3 5\n1 2\r\n"},
                 {"a.txt", "1 2\r3 5\r"},
                 {"a.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 2 3\n"},
                 {"a.mtx", "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n"},
                 {"a.graph", "3 2\n2\n1 3\n2\n"},
                 {"a.gr", "p sp 3 2\na 1 2 2000000000\na 1 2 2000000000\n"},
                 {"v.csv", "i,value\n1,2\n5,3.5\n"},
                 {"v.jsonl", "{\"src\":1,\"dst\":2,\"value\":3}\n"}};
    bench.host.threads = 1; /* so that n means the same each time */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lacis_status status = LACIS_NOMEM;
        for (int n = 0; status != LACIS_OK; n++) {
            int after = n;
            lacis_array *array;
            lacis_set_allocation_guard(refuse_nth, &after);
            status = load_text(&bench, cases[i].path, cases[i].text, NULL, "", &array);
            lacis_set_allocation_guard(NULL, NULL);
            lacis_array_release(array);
            lacis_run_clear(&bench.run);
            assert_true(n < 1000);
            assert_int_equal(lacis_memory_used(bench.host.memory), 0);
            if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
            if (status != LACIS_OK) assert_true(bench.host.error.message[0] != '\0');
        }
    }
}

static void limit_is_kept(void **state)
{
    (void)state;
    size_t size = 4 << 20;
    char *text = malloc(size + 1), line[16];
    for (size_t i = 0; i < size / 16; i++) {
        snprintf(line, sizeof line, "%07zu %06zu\n", i % 70000, i * 7919 % 70000);
        memcpy(text + 15 * i, line, 15);
    }
    text[15 * (size / 16)] = '\0';
    lacis_array *array;
    lacis_memory_set_limit(bench.host.memory, 1 << 20);
    assert_int_equal(load_text(&bench, "a.txt", text, NULL, "", &array), LACIS_LIMIT);
    lacis_memory_set_limit(bench.host.memory, 8 << 20);
    lacis_memory_reset_peak(bench.host.memory);
    assert_int_equal(load_text(&bench, "a.txt", text, NULL, "", &array), LACIS_OK);
    assert_true(lacis_memory_peak(bench.host.memory) < 2 * lacis_array_bytes(array) + (1 << 20));
    lacis_array_release(array);
    free(text);
}

static void interrupted(void **state)
{
    (void)state;
    lacis_array *array;
    static const char *const texts[] = {"1 2\n", "%%MatrixMarket matrix array real general\n1 1\n1\n",
                                        "AdjacencyGraph\n1\n1\n0\n0\n", "{\"i\":1,\"value\":2}\n"};
    atomic_store(&bench.host.cancel, 1);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(load_text(&bench, "a", texts[i], NULL, "", &array), LACIS_INTERRUPT);
        assert_non_null(strstr(bench.host.error.message, "interrupted"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(edge_list_forms),
        CHECK(empty_texts),
        CHECK(ids_become_labels),
        CHECK(base_keeps_all_ids),
        CHECK(values_and_types),
        CHECK(times_are_no_values),
        CHECK(headers_and_columns),
        CHECK(lines_that_are_no_edges),
        CHECK(snap_header_is_checked),
        CHECK(duplicates_by_rule),
        CHECK(undirected_adds_the_reverse),
        CHECK(edge_list_errors),
        CHECK(the_first_error_is_told),
        CHECK(wide_ids_are_the_same_graph),
        CHECK(memory_runs_out),
        CHECK(limit_is_kept),
        CHECK(interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
