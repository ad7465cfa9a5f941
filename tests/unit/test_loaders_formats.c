/* SPDX-License-Identifier: Apache-2.0
 *
 * MatrixMarket, DIMACS, METIS, Ligra and adjacency lists in small texts: forms, warnings, errors with their places.
 */
#include "support/load.h"

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

#define IS(path, text, options, expected)           load_is(&bench, path, text, options, expected)
#define FAILS(path, text, options, status, message) load_fails(&bench, path, text, options, status, message)
#define SAID(text)                                                                                                   \
    do {                                                                                                             \
        if (strstr(bench.notes, text) == NULL) fail_msg("no '%s' in:\n%s", text, bench.notes);                       \
    } while (0)

static void matrix_market(void **state)
{
    (void)state;
    const char *real = "%%MatrixMarket matrix coordinate real general\n";
    char text[512];
    snprintf(text, sizeof text, "%s3 4 2\n1 4 2.5\n3 1 -0\n", real);
    IS("a.mtx", text, "", "3x4 f64/f64 1-4=2.5 3-1=-0.0");
    snprintf(text, sizeof text, "%s2 2 2\n0 1 2.5\n1 0 1\n", real);
    IS("a.mtx", text, "base=0", "2x2 f64/f64 0-1=2.5 1-0=1.0");
    IS("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n", "", "3x3 1-2 2-1 3-3");
    IS("a.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 5\n", "",
       "3x3 i64/i32 1-2=-5 2-1=5");
    FAILS("a.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 2 5\n", "", LACIS_FORMAT,
          "a.mtx:3:1: an entry on the diagonal");
    IS("a.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 2 3\n", "",
       "2x2 c128/c128 1-1=1+0i 1-2=2-3i 2-1=2+3i");
    IS("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n0\n", "",
       "2x2 f64/f64 1-1=1.0 1-2=3.0 2-1=2.0 2-2=0.0");
    IS("a.mtx", "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n", "",
       "2x2 i64/i32 1-1=1 1-2=2 2-1=2 2-2=3");
    IS("a.mtx", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", "",
       "3x3 f64/f64 1-2=-1.0 1-3=-2.0 2-1=1.0 2-3=-3.0 3-1=2.0 3-2=3.0");
    IS("a.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 -9223372036854775808\n", "",
       "2x2 f64/f64 1-2=9.223372036854776e+18 2-1=-9.223372036854776e+18");
    FAILS("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "", LACIS_FORMAT,
          "the file ends after 3 values");
    FAILS("a.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n2\n3\n", "", LACIS_FORMAT,
          "a.mtx:5:1: more values than the 2");
    FAILS("a.mtx", "%%MatrixMarket matrix array pattern general\n1 2\n", "", LACIS_FORMAT,
          "where real, integer or complex");
    FAILS("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 2\n", "", LACIS_FORMAT,
          "a.mtx:2:4: the size line lacks its number of entries");
    FAILS("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 0 7\n", "", LACIS_FORMAT,
          "a.mtx:2:7: the size line has more than 3");
    FAILS("a.mtx", "%%MatrixMarket matrix coordinate real\n1 2 0\n", "", LACIS_FORMAT,
          "a.mtx:1:38: the banner ends early");
}

static void huge_matrices_keep_labels(void **state)
{
    (void)state;
    IS("a.mtx", "%%MatrixMarket matrix coordinate integer general\n9000000000 9000000000 2\n8999999999 5 1\n5 7 2\n",
       "", "3x3 i64/i32 5-7=2 8999999999-5=1");
    SAID("note: of 9000000000 x 9000000000 only the rows and columns with entries are kept");
    IS("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 9000000000 2\n2 5\n1 8999999999\n", "",
       "2x2 1-8999999999 2-5");
    FAILS("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 9223372036854775808 1\n2 5\n", "",
          LACIS_FORMAT, "a.mtx:2:3: the number of columns");
}

static void dimacs(void **state)
{
    (void)state;
    IS("a.gr", "c x\np sp 3 2\na 1 2 5\nc y\na 2 3 7\n", "", "3x3 i64/i32 1-2=5 2-3=7");
    IS("a.gr", "p edge 3 2\ne 1 2\ne 2 3\n", "", "3x3 1-2 2-1 2-3 3-2");
    IS("a.gr", "p sp 3 3\na 1 2 5\n", "", "3x3 i64/i32 1-2=5");
    SAID("warning: the problem line promises 3 arcs, only 1 came");
    FAILS("a.gr", "p sp 3 1\na 1 4 5\n", "", LACIS_FORMAT, "a.gr:2:5: index 4 lies outside what the problem line");
    FAILS("a.gr", "p sp 3 1\nb 1 2 5\n", "", LACIS_FORMAT, "a.gr:2:1: 'b 1 2 5' does not begin with 'a'");
    FAILS("a.gr", "p sp 3 1\na 1 2\n", "", LACIS_FORMAT, "a.gr:2:6: 2 field(s) where 3");
    FAILS("a.gr", "p max 3 1\n", "", LACIS_FORMAT, "a.gr:1:3: problem 'max' is not");
    FAILS("a.gr", "p sp x 1\n", "", LACIS_FORMAT, "a.gr:1:6: 'x' is not a count");
}

static void metis(void **state)
{
    (void)state;
    IS("a.graph", "3 2\n2\n1 3\n2\n", "", "3x3 1-2 2-1 2-3 3-2");
    IS("a.graph", "% c\n3 2 1\n2 7\n1 7 3 9\n% c\n2 9\n", "", "3x3 i64/i32 1-2=7 2-1=7 2-3=9 3-2=9");
    IS("a.graph", "3 1 11 2\n5 5 2 7\n5 5 1 7\n5 5\n", "", "3x3 i64/i32 1-2=7 2-1=7");
    IS("a.graph", "3 1 100\n9 2\n9 1\n9\n", "", "3x3 1-2 2-1");
    IS("a.graph", "4 1\n2\n1\n", "", "4x4 1-2 2-1");
    SAID("warning: no lines for the last 2 of 4 vertices");
    IS("a.graph", "3 5\n2\n1 3\n2\n", "", "3x3 1-2 2-1 2-3 3-2");
    SAID("warning: the head promises 5 edges, so 10 neighbours; 4 came: the file may be cut off");
    FAILS("a.graph", "4 3\n2\n1 3\n", "", LACIS_FORMAT, "a.graph:3:4: the file ends after 2 of its 4 vertices");
    FAILS("a.graph", "2 1\n2\n1\n1\n", "", LACIS_FORMAT, "a.graph:4:1: a line for vertex 3, but the head declares 2");
    FAILS("a.graph", "2 1\n3\n1\n", "", LACIS_FORMAT, "a.graph:2:1: neighbour '3' lies outside 1 .. 2");
    FAILS("a.graph", "2 1 1\n2\n1 5\n", "", LACIS_FORMAT, "has no weight");
    FAILS("a.graph", "2 1 10\n\n1 5\n", "", LACIS_FORMAT, "a.graph:2:1: 1 number(s) of the vertex");
    IS("noname", "4 4\n2 3 4\n1\n1 4\n1 3\n", "", "4x4 1-2 1-3 1-4 2-1 3-1 3-4 4-1 4-3");
}

static void ligra_and_adjacency(void **state)
{
    (void)state;
    IS("x", "AdjacencyGraph\n3\n3\n0\n2\n2\n1\n2\n0\n", "", "3x3 0-1 0-2 2-0");
    IS("x", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n5\n-6\n", "", "2x2 i64/i32 0-1=5 1-0=-6");
    IS("x", "AdjacencyGraph\n0\n0\n", "", "0x0");
    FAILS("x", "AdjacencyGraph\n3\n3\n0\n2\n2\n1\n2\n", "", LACIS_FORMAT, "x:9:1: the file ends early");
    FAILS("x", "AdjacencyGraph\n3\n3\n0\n2\n1\n1\n2\n0\n", "", LACIS_FORMAT, "is less than the one before");
    FAILS("x", "AdjacencyGraph\n1\n1\n0\n1\n", "", LACIS_FORMAT, "is not below n = 1");
    FAILS("x", "AdjacencyGraph\n1\n1\n0\n0\n0\n", "", LACIS_FORMAT, "x:6:1: '0' and what follows");
    FAILS("x", "AdjacencyGraph\n99999999999\n1\n0\n0\n0\n", "", LACIS_FORMAT, "the file ends early");
    IS("x.adj", "0 1 2 3 4\n1 0\n2 3 4 0 1\n3\n9\n5\n", "", "7x7 0-1 0-2 0-3 0-4 1-0 2-0 2-1 2-3 2-4");
    IS("x.adj", "0: 1 2 3 4\n1: 0\n2: 3 4 0 1\n3:\n9:\n5:\n", "", "7x7 0-1 0-2 0-3 0-4 1-0 2-0 2-1 2-3 2-4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(matrix_market), CHECK(huge_matrices_keep_labels), CHECK(dimacs),
        CHECK(metis),         CHECK(ligra_and_adjacency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
