/* SPDX-License-Identifier: Apache-2.0
 *
 * The loaders on the public files: every number of expected.json that is about the file itself, and what becomes of
 * each awkward, truncated or invalid one (the table below is the decision and its record).
 */
#include "support/load.h"

#include <math.h>
#include <sqlite3.h>

#define GRAPHS LACIS_SHARED_DATA "/graphs/"

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

static void need_data(void)
{
    if (access(GRAPHS "expected.json", R_OK) == 0) return;
    print_message("no " GRAPHS ": skipped\n");
    skip();
}

/* ------------------------------------------------------------------------------------- expected.json */

typedef struct facts {
    int64_t vertices; /* with an edge to or from them */
    int64_t rows, cols, entries, loops, duplicates;
    double sum, imag; /* as python adds them up, more or less */
} facts;

static int64_t number_before(const char *notes, const char *words)
{
    const char *at = strstr(notes, words);
    if (at == NULL) return 0;
    while (at > notes && at[-1] >= '0' && at[-1] <= '9') {
        at--;
    }
    return strtoll(at, NULL, 10);
}

static void take_facts(const lacis_array *array, facts *f)
{
    lacis_csr g;
    lacis_csr_view(array, &g);
    *f = (facts){.rows = g.rows, .cols = g.cols, .entries = g.entries};
    int64_t ids = g.rows > g.cols ? g.rows : g.cols;
    char *seen = calloc((size_t)ids + 1, 1);
    long double sum = 0;
    for (int64_t r = 0; r < g.rows; r++) {
        for (int64_t i = g.begin[r]; i < g.end[r]; i++) {
            assert_true(g.column[i] < g.cols);
            assert_true(i == g.begin[r] || g.column[i] > g.column[i - 1]);
            seen[r] = seen[g.column[i]] = 1;
            f->loops += lacis_label(g.row_label, g.row_base, r) == lacis_label(g.col_label, g.col_base, g.column[i]);
            bool integer = g.storage == LACIS_I32 || g.storage == LACIS_I64;
            if (g.value != NULL && !integer) sum += (long double)lacis_value_double(g.value, g.storage, i);
            if (g.value == NULL || integer) sum += (long double)lacis_value_int64(g.value, g.storage, i);
            if (g.storage == LACIS_C128) f->imag += ((const double *)g.value)[2 * i + 1];
        }
    }
    for (int64_t v = 0; v < ids; v++) {
        f->vertices += seen[v];
    }
    free(seen);
    f->sum = (double)sum;
    f->duplicates = number_before(bench.notes, " duplicate e");
}

static void same(const char *file, const char *what, double got, double want)
{
    if (fabs(got - want) > 1e-9 * fabs(want)) fail_msg("%s: %s is %.17g, not %.17g", file, what, got, want);
}

/* One key of a file's object, where it is there. */
static bool expected_number(sqlite3_stmt *get, const char *json, const char *path, double *out)
{
    sqlite3_reset(get);
    sqlite3_bind_text(get, 1, json, -1, SQLITE_STATIC);
    sqlite3_bind_text(get, 2, path, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(get), SQLITE_ROW);
    *out = sqlite3_column_double(get, 0);
    return sqlite3_column_type(get, 0) != SQLITE_NULL;
}

static void compare(sqlite3_stmt *get, const char *file, const char *json, const facts *f)
{
    const struct {
        const char *path;
        double got;
    } keys[] = {
        {"$.nodes", (double)f->vertices},
        {"$.edge_entries", (double)(f->entries + f->duplicates)},
        {"$.duplicate_entries", (double)f->duplicates},
        {"$.distinct_edges", (double)f->entries},
        {"$.self_loops", (double)f->loops},
        {"$.rows", (double)f->rows},
        {"$.cols", (double)f->cols},
        {"$.expanded_entries", (double)(f->entries + f->duplicates)},
        {"$.duplicate_positions", (double)f->duplicates},
        {"$.diagonal_entries", (double)f->loops},
        {"$.value_sum_expanded", f->sum},
        {"$.value_sum_expanded_re_im[0]", f->sum},
        {"$.value_sum_expanded_re_im[1]", f->imag},
    };
    double want;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (expected_number(get, json, keys[i].path, &want)) same(file, keys[i].path, keys[i].got, want);
    }
}

static void load_and_compare(sqlite3_stmt *get, const char *file, const char *json)
{
    char path[512];
    lacis_array *array;
    facts f;
    snprintf(path, sizeof path, GRAPHS "%s", file);
    if (load_path(&bench, path, "", &array) != LACIS_OK) fail_msg("%s: %s", file, bench.host.error.message);
    take_facts(array, &f);
    compare(get, file, json, &f);
    lacis_array_release(array);
}

static char *read_file(const char *path)
{
    lacis_source_handle *handle;
    lacis_source source;
    assert_int_equal(lacis_source_open(&bench.run, path, &handle, &source), LACIS_OK);
    char *copy = malloc(source.size + 1);
    memcpy(copy, source.data, source.size);
    copy[source.size] = '\0';
    lacis_source_close(handle);
    return copy;
}

static void all_of_expected_json(void **state)
{
    (void)state;
    need_data();
    char *text = read_file(GRAPHS "expected.json");
    sqlite3 *db;
    sqlite3_stmt *each, *get;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT key, value FROM json_each(?1) WHERE key NOT LIKE 'nbody/%'", -1, &each, NULL);
    sqlite3_prepare_v2(db, "SELECT json_extract(?1, ?2)", -1, &get, NULL);
    sqlite3_bind_text(each, 1, text, -1, SQLITE_STATIC);
    int files = 0;
    while (sqlite3_step(each) == SQLITE_ROW) {
        load_and_compare(get, (const char *)sqlite3_column_text(each, 0), (const char *)sqlite3_column_text(each, 1));
        files++;
    }
    assert_true(files > 90);
    sqlite3_finalize(each);
    sqlite3_finalize(get);
    sqlite3_close(db);
    free(text);
}

/* The same arrays, bit for bit, whatever the number of threads. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    need_data();
    static const char *const files[] = {"snap/CollegeMsg.txt", "snap/soc-sign-bitcoinotc.csv.gz", "mtx/bcsstk13.mtx",
                                        "awkward/lanl_routes.edgelist", "weighted/rome99.gr"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[512];
        lacis_array *one, *many;
        lacis_csr a, b;
        snprintf(path, sizeof path, GRAPHS "%s", files[i]);
        bench.host.threads = 1;
        assert_int_equal(load_path(&bench, path, "", &one), LACIS_OK);
        bench.host.threads = 5;
        assert_int_equal(load_path(&bench, path, "", &many), LACIS_OK);
        lacis_csr_view(one, &a);
        lacis_csr_view(many, &b);
        assert_int_equal(a.entries, b.entries);
        assert_memory_equal(a.begin, b.begin, (size_t)a.rows * sizeof *a.begin);
        assert_memory_equal(a.column, b.column, (size_t)a.entries * sizeof *a.column);
        if (a.value != NULL) assert_memory_equal(a.value, b.value, (size_t)a.entries * lacis_dtype_size(a.storage));
        lacis_array_release(one);
        lacis_array_release(many);
    }
}

/* ----------------------------------------------------------------------------------- awkward and invalid */

/* status LACIS_OK: taken, and a note or warning that begins with `text` in the line; otherwise the message has it. */
typedef struct quirk {
    const char *file;
    lacis_status status;
    int64_t rows, entries; /* where taken */
    const char *text;
} quirk;

static const quirk quirks[] = {
    {"awkward/SFHH_conference.csv", LACIS_OK, 403, 9889, "note: line 1, 'time from to', is a header row"},
    {"awkward/ca-AstroPh.truncated.txt", LACIS_OK, 8043, 24437,
     "warning: the header promises 396160 edges, only 24437 came: the file may be cut off: compare its size with "
     "what its source says"},
    {"awkward/ca-GrQc.truncated.txt.gz", LACIS_FORMAT, 0, 0, "gzip stream ends early after"},
    {"awkward/celegansneural_powerlaw_weighted.txt", LACIS_OK, 297, 2345,
     "note: line 1, '297 2359', gives sizes and is no edge: skipped"},
    {"awkward/celegansneural_powerlaw_weighted.txt", LACIS_OK, 297, 2345,
     "note: 14 duplicate edges collapsed (values: sum)"},
    {"awkward/football-follows.mtx", LACIS_OK, 247, 3819,
     "warning: line 1, '248 248 3819', gives sizes and is no edge: skipped"},
    {"awkward/football-follows.mtx", LACIS_OK, 247, 3819,
     "warning: no MatrixMarket banner: read as an edge list (%%MatrixMarket ... in the first line makes it a "
     "matrix)"},
    {"awkward/jazz.trailer.txt", LACIS_FORMAT, 0, 0,
     "jazz.trailer.txt:2744:3: '0.09210629036080398' is not an integer id"},
    {"awkward/oregon1_010331.txt", LACIS_OK, 10670, 44004,
     "note: line 1, '10670', gives sizes and is no edge: skipped"},
    {"awkward/oregon1_010331.txt", LACIS_OK, 10670, 44004, "note: line 44006, '-1', ends the list and is no edge"},
    {"awkward/p2p-Gnutella04.count-line.txt", LACIS_OK, 10876, 39994, "note: line 1, '10900', gives sizes"},
    {"awkward/person_knows_person.csv", LACIS_OK, 39, 83, "note: column 1 is no number and is left out"},
    {"awkward/sample-space-comma.csv", LACIS_OK, 4, 3, "note: line 1, 'src,dst', is a header row"},
    {"awkward/soc-wiki-Vote.mtx", LACIS_OK, 889, 5828, "warning: the banner begins with one % instead of two"},
    {"snap/CollegeMsg.txt", LACIS_OK, 1899, 20296, "note: 39539 duplicate edges collapsed"},
    {"snap/CollegeMsg.txt", LACIS_OK, 1899, 20296, "note: column 3 looks like a time and is left out"},
    {"snap/soc-sign-bitcoinotc.csv.gz", LACIS_OK, 5881, 35592, "note: column 4 looks like a time and is left out"},
    {"snap/as20000102.txt", LACIS_OK, 6474, 13895, "note: the header says 13233 edges, 13895 came"},
    {"snap/lastfm_asia_edges.csv", LACIS_OK, 7440, 27804, "note: line 1, 'source, target', is a header row"},
    {"weighted/gap-4.graph", LACIS_OK, 14, 53, "warning: fmt in the head says that vertices have sizes"},
    {"weighted/gap-4.graph", LACIS_OK, 14, 53, "warning: m = 53 in the head counts each direction by itself"},
    {"weighted/test.mgraph", LACIS_OK, 766, 2628, "note: 2 number(s) of each vertex (size, weights) are left out"},
    {"mtx/matrix_uint64.mtx", LACIS_OK, 7, 12, "warning: integers beyond 64 bits: all values are kept as f64"},
    {"mtx/matrix_fp32.mtx", LACIS_OK, 7, 12, "warning: the banner says integer, but some values are not"},
    {"mtx/fmm_matrix_bool.mtx", LACIS_OK, 3, 3, "note: 1 duplicate entries collapsed (values: sum)"},
    {"mtx-bad/c2.zero-based.mtx", LACIS_FORMAT, 0, 0,
     "c2.zero-based.mtx:9:1: index 0 lies outside what the size line, 2 x 2, allows; indices count from 1"},
    {"mtx-bad/cholmod_mangle1.mtx", LACIS_FORMAT, 0, 0, ":1:16: the banner says 'junk' where matrix should stand"},
    {"mtx-bad/cholmod_mangle3.mtx", LACIS_FORMAT, 0, 0, ":1:34: the banner says 'junk' where real, integer"},
    {"mtx-bad/fmm_invalid_bad_banner.mtx", LACIS_FORMAT, 0, 0, ":1:1: no MatrixMarket banner"},
    {"mtx-bad/fmm_invalid_bad_field.mtx", LACIS_FORMAT, 0, 0, ":1:34: the banner says '____' where real"},
    {"mtx-bad/fmm_invalid_bad_object.mtx", LACIS_FORMAT, 0, 0, ":1:16: the banner says '___' where matrix"},
    {"mtx-bad/fmm_invalid_bad_value.mtx", LACIS_FORMAT, 0, 0, ":3:5: 'not_a_double' is not a number"},
    {"mtx-bad/fmm_invalid_bad_value_3.mtx", LACIS_FORMAT, 0, 0, ":1:16: the banner says 'vector' where matrix"},
    {"mtx-bad/fmm_invalid_dimensions_out_of_range_1.mtx", LACIS_FORMAT, 0, 0,
     ":3:1: the number of rows, '-3', is not"},
    {"mtx-bad/fmm_invalid_dimensions_out_of_range_3.mtx", LACIS_FORMAT, 0, 0, ":3:5: the number of entries, '-3'"},
    {"mtx-bad/fmm_invalid_indices_out_of_range_2.mtx", LACIS_FORMAT, 0, 0, ":6:3: index 2000 lies outside"},
    {"mtx-bad/fmm_invalid_indices_out_of_range_4.mtx", LACIS_FORMAT, 0, 0, ":6:3: index 0 lies outside"},
    {"mtx-bad/fmm_invalid_indices_out_of_range_6.mtx", LACIS_FORMAT, 0, 0, ":6:3: index -2 lies outside"},
    {"mtx-bad/fmm_invalid_matrix_coord_too_long.mtx", LACIS_FORMAT, 0, 0,
     ":7:1: entry 4, but the size line declares 3"},
    {"mtx-bad/fmm_invalid_truncated_header_1.mtx", LACIS_FORMAT, 0, 0, ":3:1: the file ends before its size line"},
    {"mtx-bad/fmm_invalid_truncated_line_1.mtx", LACIS_FORMAT, 0, 0, ":5:4: 2 field(s) where 3 are expected"},
    {"mtx-bad/fmm_invalid_truncated_lines.mtx", LACIS_FORMAT, 0, 0, ":4:6: the file ends after 2 of the 12 entries"},
    {"mtx-bad/fmm_invalid_vector_array_too_long.mtx", LACIS_FORMAT, 0, 0, ":1:16: the banner says 'vector'"},
    {"mtx-bad/fmm_lone_cr_newlines.mtx", LACIS_OK, 3, 3, ""},
    {"mtx-bad/fmm_overflow_dim_gt_int64.mtx", LACIS_FORMAT, 0, 0,
     ":2:1: the number of rows, '19223372036854775808', is not an integer from 0 to 2^63 - 1"},
    {"mtx-bad/fmm_overflow_value_gt_int64.mtx", LACIS_OK, 3, 3, "warning: integers beyond 64 bits"},
    {"mtx-bad/fmm_permissive_banner_one_percent_eye3.mtx", LACIS_OK, 3, 3, "warning: the banner begins with one %"},
    {"mtx-bad/full_noheader.mtx", LACIS_FORMAT, 0, 0, ":2:1: '.646' is not an integer id"},
    {"mtx-bad/mangled1.mtx", LACIS_FORMAT, 0, 0, ":1:16: the banner says 'mangled' where matrix"},
    {"mtx-bad/mangled3.mtx", LACIS_FORMAT, 0, 0, ":1:34: the banner says 'mangled' where real"},
    {"mtx-bad/mangled5.mtx", LACIS_FORMAT, 0, 0, ":1:42: the banner says 'hermitian' where another symmetry"},
    {"mtx-bad/mangled7.mtx", LACIS_FORMAT, 0, 0, ":5:4: 2 field(s) where 3 are expected"},
    {"mtx-bad/mangled9.mtx", LACIS_FORMAT, 0, 0, ":4:1: 3 x 4 is not square"},
    {"mtx-bad/mangled11.mtx", LACIS_FORMAT, 0, 0, ":5:3: 'zero' is not an integer id"},
    {"mtx-bad/mangled13.mtx", LACIS_FORMAT, 0, 0, ":7:3: index 9999 lies outside"},
    {"mtx-bad/mangled15.mtx", LACIS_FORMAT, 0, 0, ":5:6: a line of this array holds 1 number"},
    {"mtx-bad/mangled_bool.mtx", LACIS_OK, 7, 12, "warning: a comment gives the GraphBLAS type bool"},
    {"mtx-bad/mangled_int32.mtx", LACIS_OK, 7, 12, "warning: a comment gives the GraphBLAS type int32_t"},
    {"mtx-bad/mangled_int8.mtx", LACIS_OK, 7, 12, "warning: a comment gives the GraphBLAS type int8_t"},
    {"mtx-bad/mangled_uint16.mtx", LACIS_OK, 7, 12, "warning: a comment gives the GraphBLAS type uint16_t"},
    {"mtx-bad/mangled_skew.mtx", LACIS_OK, 6, 20, "warning: a comment gives the GraphBLAS type uint8_t"},
    {"mtx-bad/mongoose_bad_header.mtx", LACIS_FORMAT, 0, 0, ":1:42: the banner says 'bogus' where general"},
    {"mtx-bad/west0067_noheader.mtx", LACIS_OK, 67, 294, "warning: line 1, '67 67 294', gives sizes and is no edge"},
};

static void check_quirk(const quirk *q)
{
    char path[512];
    lacis_array *array;
    snprintf(path, sizeof path, GRAPHS "%s", q->file);
    lacis_status status = load_path(&bench, path, "", &array);
    if (status != q->status) {
        lacis_array_release(array);
        fail_msg("%s: status %d, not %d; %s%s", q->file, status, q->status, bench.host.error.message, bench.notes);
    }
    const char *said = status == LACIS_OK ? bench.notes : bench.host.error.message;
    bool right = strstr(said, q->text) != NULL;
    int64_t rows = status == LACIS_OK ? lacis_array_extent(array, 0) : 0;
    lacis_csr g = {.entries = 0};
    if (status == LACIS_OK) lacis_csr_view(array, &g);
    lacis_array_release(array);
    if (!right) fail_msg("%s: expected '%s' in:\n%s", q->file, q->text, said);
    if (rows != q->rows || g.entries != q->entries)
        fail_msg("%s: %lld rows, %lld entries", q->file, (long long)rows, (long long)g.entries);
}

static void quirks_end_as_decided(void **state)
{
    (void)state;
    need_data();
    for (size_t i = 0; i < sizeof quirks / sizeof quirks[0]; i++) {
        check_quirk(&quirks[i]);
    }
}

/* Files without quirks are loaded without a word. */
static void no_idle_notes(void **state)
{
    (void)state;
    need_data();
    static const char *const files[] = {"snap/wiki-Vote.txt",
                                        "snap/wiki-Vote.txt.gz",
                                        "snap/p2p-Gnutella31.txt",
                                        "snap/email-Eu-core.txt",
                                        "snap/US_AIR.txt",
                                        "mtx/west0067.mtx",
                                        "weighted/4elt.graph",
                                        "weighted/lesmis.graph",
                                        "weighted/rMatGraph_J_5_100",
                                        "weighted/minimo.gr",
                                        "awkward/p2p-Gnutella08-adj.txt",
                                        "awkward/email-Eu-core.blank-tail.txt",
                                        "awkward/zachary-weighted-crlf.txt"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[512];
        lacis_array *array;
        snprintf(path, sizeof path, GRAPHS "%s", files[i]);
        assert_int_equal(load_path(&bench, path, "", &array), LACIS_OK);
        lacis_array_release(array);
        if (bench.notes[0] != '\0') fail_msg("%s: %s", files[i], bench.notes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(all_of_expected_json),
        CHECK(threads_do_not_matter),
        CHECK(quirks_end_as_decided),
        CHECK(no_idle_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
