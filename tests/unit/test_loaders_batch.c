/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches in files: CSV, JSON lines and NPY written and read back, and what is refused, named by lane and row.
 */
#include "support/files.h"

static void loads(lacis_engine *engine, const char *ending, const char *text, const char *rows)
{
    char sql[128];
    write_file(path_of(ending), text, strlen(text));
    snprintf(sql, sizeof sql, "LOAD x FROM '%s'", path_of(ending));
    db_run(engine, sql);
    db_expect(engine, "SELECT * FROM x", rows);
    unlink(path_of(ending));
}

static void refuses(lacis_engine *engine, const char *ending, const void *data, size_t size, const char *message)
{
    char sql[128];
    write_file(path_of(ending), data, size);
    snprintf(sql, sizeof sql, "LOAD x FROM '%s'", path_of(ending));
    db_fails(engine, sql, LACIS_FORMAT, message);
    unlink(path_of(ending));
}

static void refuses_text(lacis_engine *engine, const char *ending, const char *text, const char *message)
{
    refuses(engine, ending, text, strlen(text), message);
}

static void as_text(void **state)
{
    loads(*state, "csv", "lane,row,v\n1,0,5\n0,0,3\n0,1,4.5\n", "0,0,3.0\n0,1,4.5\n1,0,5.0\n");
    loads(*state, "csv", "# tree\nLane,Row,parent,d,rhs\n7,1,-1,5,1\n7,2,1,3,2\n", "7,1,-1,5,1\n7,2,1,3,2\n");
    loads(*state, "csv", "lane,row,v\n", "");
    loads(*state, "csv", "lane,row,w,w_im\n0,0,1,-2\n", "0,0,1.0,-2.0\n");
    loads(*state, "jsonl", "{\"lane\":0,\"row\":1,\"d\":4}\n{\"lane\":0,\"row\":0,\"d\":3}\n", "0,0,3\n0,1,4\n");
    refuses_text(*state, "csv", "lane,row,v\n0,0,1\n0,2,1\n", "lane 0 lacks row 1, and has row 2");
    refuses_text(*state, "csv", "lane,row,v\n0,0,1\n2,0,1\n", "lane 1 is missing");
    refuses_text(*state, "csv", "lane,row,v\n0,0,1\n0,0,1\n", "lane 0 has row 0 twice");
    refuses_text(*state, "csv", "lane,row,v\n0,0.5,1\n", "row must be an integer");
    refuses_text(*state, "csv", "lane,row,parent,v\n0,0,0,1\n", "lane 0, row 0 has parent 0");
    refuses_text(*state, "csv", "lane,row,block\n0,0,0\n", "cannot be called block");
    refuses_text(*state, "jsonl", "{\"lane\":3,\"row\":0,\"d\":4}\n{\"lane\":3,\"row\":0,\"d\":3}\n",
                 "lane 3 has row 0 twice");
}

static void there_and_back(void **state)
{
    static const char *const batches[] = {
        "GENERATE x AS tridiagonal(7, 20, layout = 'block(8)', shared = 'offdiagonals')",
        "GENERATE x AS tridiagonal(7, 3, type = 'c128', layout = 'full')",
        "GENERATE x AS tree(31, 7, 5, layout = 'full', shared = 'matrix')",
        "LET x = SELECT lane, row, row * 7 AS value FROM x",
        "GENERATE x AS trees(4, 31, 7, 9)",
        "LET x = SELECT lane + 3 AS lane, row + 1 AS row, d FROM x",
    };
    static const char *const endings[] = {"csv", "jsonl", "npy"};
    char sql[200];
    for (int b = 0; b < 6; b++) {
        db_run(*state, batches[b]);
        for (int e = 0; e < 3; e++) {
            if (e == 2 && b >= 4) continue; /* lanes of several lengths */
            snprintf(sql, sizeof sql, "SAVE x TO '%s'; LOAD y FROM '%s'", path_of(endings[e]), path_of(endings[e]));
            db_run(*state, sql);
            db_expect(*state, "SELECT count(*) FROM (SELECT * FROM x EXCEPT SELECT * FROM y)", "0\n");
            db_expect(*state, "SELECT (SELECT count(*) FROM x) = (SELECT count(*) FROM y)", "1\n");
            unlink(path_of(endings[e]));
        }
    }
}

static void views_are_saved_in_pieces(void **state)
{
    char sql[200];
    db_run(*state, "GENERATE x AS tree(310, 31, 1500); CREATE VIEW v AS x LAYOUT full");
    snprintf(sql, sizeof sql, "SAVE v TO '%s'; LOAD y FROM '%s'", path_of("csv"), path_of("csv"));
    db_run(*state, sql);
    db_expect(*state, "SELECT (SELECT total(d * row) FROM x) = (SELECT total(d * row) FROM y)", "1\n");
    unlink(path_of("csv"));
}

/* --- NPY ------------------------------------------------------------------------------------------ */

/* A file of this head and these data. */
static size_t npy(unsigned char *out, const char *head, const void *data, size_t size)
{
    size_t length = strlen(head);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)length;
    out[9] = (unsigned char)(length >> 8);
    memcpy(out + 10, head, length);
    memcpy(out + 10 + length, data, size);
    return 10 + length + size;
}

static void npy_gives(lacis_engine *engine, const char *head, const void *data, size_t size, const char *rows)
{
    unsigned char file[1024];
    char sql[128];
    write_file(path_of("npy"), file, npy(file, head, data, size));
    snprintf(sql, sizeof sql, "LOAD x FROM '%s'", path_of("npy"));
    db_run(engine, sql);
    db_expect(engine, "SELECT * FROM x", rows);
    unlink(path_of("npy"));
}

static void npy_refuses(lacis_engine *engine, const char *head, const void *data, size_t size, const char *message)
{
    unsigned char file[1024];
    refuses(engine, "npy", file, npy(file, head, data, size), message);
}

static void from_numpy(void **state)
{
    static const double six[] = {1, 2, 3, 4, 5, 6};
    static const struct {
        int32_t parent;
        float x;
    } records[] = {{-1, 0.5f}, {0, 1.5f}, {-1, 2.5f}, {0, 3.5f}};
    npy_gives(*state, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", six, sizeof six,
              "0,0,1.0\n0,1,2.0\n0,2,3.0\n1,0,4.0\n1,1,5.0\n1,2,6.0\n");
    npy_gives(*state, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", six, sizeof six,
              "0,0,1.0\n0,1,3.0\n0,2,5.0\n1,0,2.0\n1,1,4.0\n1,2,6.0\n");
    db_expect(*state, "SHOW ARRAYS", "x,batch,2 x 3, full,6,f64,56,NULL\n");
    npy_gives(*state, "{'descr': [('parent', '<i4'), ('x', '<f4')], 'fortran_order': False, 'shape': (2, 2), }",
              records, sizeof records, "0,0,-1,0.5\n0,1,0,1.5\n1,0,-1,2.5\n1,1,0,3.5\n");
    npy_gives(*state, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", six, 0, "");
}

static void strange_npy(void **state)
{
    static const int32_t numbers[] = {-1, 1, -1, 0, 0, 0, 0, 0}, trees[] = {-1, 0, 0, -1, 0, 1};
    const char *const fields =
        "{'descr': [('parent', '<i4'), ('x', '<f4')], 'fortran_order': False, 'shape': (1, 2), }";
    npy_refuses(*state, fields, numbers, 8, "ends before its data");
    npy_refuses(*state, fields, numbers, 24, "bytes follow");
    npy_refuses(*state, "{'descr': [('parent', '<i4')], 'fortran_order': False, 'shape': (1, 2), }", numbers + 3, 8,
                "lane 0, row 0 has parent 0");
    npy_refuses(*state, "{'descr': [('parent', '<i4')], 'fortran_order': False, 'shape': (2, 3), }", trees, 24,
                "lane 1 has another tree than lane 0");
    npy_refuses(*state, "{'descr': [('parent', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", numbers, 4,
                "parent must be of type i4 or i8");
    npy_refuses(*state, "{'descr': [('lane', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", numbers, 4,
                "a field lane");
    npy_refuses(*state, "{'descr': [('a', '<f4'), ('a', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", numbers,
                8, "a field a");
    npy_refuses(*state, "{'descr': [('a', '<f4', (2,))], 'fortran_order': False, 'shape': (1, 1), }", numbers, 8,
                "plain named fields");
    npy_refuses(*state, "{'descr': [('a', '>f4')], 'fortran_order': False, 'shape': (1, 1), }", numbers, 4, "type");
    npy_refuses(*state, "{'descr': [('', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", numbers, 4,
                "without a name");
    npy_refuses(*state, "{'descr': [], 'fortran_order': False, 'shape': (1, 1), }", numbers, 4, "no fields");
    npy_refuses(*state, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }", numbers, 16,
                "two dimensions");
    npy_refuses(*state, "{'descr': [('a', '<f4')", numbers, 0, "dimensions");
    npy_refuses(*state, "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }", numbers, 4,
                "ends before its data");
    char sql[128];
    db_run(*state, "GENERATE x AS trees(4, 31, 7, 9)");
    snprintf(sql, sizeof sql, "SAVE x TO '%s'", path_of("npy"));
    db_fails(*state, sql, LACIS_TYPE, "this batch has 4 kinds; save it as csv");
    snprintf(sql, sizeof sql, "SAVE x TO '%s'", path_of("mtx"));
    db_fails(*state, sql, LACIS_TYPE, "mtx");
    snprintf(sql, sizeof sql, "SAVE x TO '%s'", path_of("txt"));
    db_fails(*state, sql, LACIS_TYPE, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_text, setup, teardown),
        cmocka_unit_test_setup_teardown(there_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(views_are_saved_in_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(from_numpy, setup, teardown),
        cmocka_unit_test_setup_teardown(strange_npy, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
