/* SPDX-License-Identifier: Apache-2.0
 *
 * SWC files in small texts: each rule of what is taken, warned of and refused; figures of random trees; files told
 * from edge lists; saving.
 */
#include "support/load.h"
#include "support/trees.h"

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

static const lacis_part *part(const lacis_array *array, const char *name)
{
    const lacis_part *p = lacis_array_part_named(array, name);
    if (p == NULL) fail_msg("no column %s", name);
    return p;
}

static int64_t whole(const lacis_array *array, const char *name, int64_t row)
{
    return lacis_value_int64(part(array, name)->data, LACIS_I64, row);
}

static double real(const lacis_array *array, const char *name, int64_t row)
{
    return lacis_value_double(part(array, name)->data, LACIS_F64, row);
}

/* "id:type(x,y,z,radius)parent ..." */
static char *show(const lacis_array *array)
{
    char *text = lacis_run_text(&bench.run, "%s", "");
    for (int64_t i = 0; i < lacis_array_extent(array, 0); i++)
        text = lacis_run_text(&bench.run, "%s%s%lld:%lld(%g,%g,%g,%g)%lld", text, i > 0 ? " " : "",
                              (long long)whole(array, "id", i), (long long)whole(array, "type", i),
                              real(array, "x", i), real(array, "y", i), real(array, "z", i), real(array, "radius", i),
                              (long long)whole(array, "parent", i));
    return text;
}

static lacis_array *load_swc(const char *text, const char *options)
{
    lacis_array *array;
    if (load_text(&bench, "t.swc", text, NULL, options, &array) != LACIS_OK)
        fail_msg("%s: refused: %s", text, bench.host.error.message);
    assert_int_equal(lacis_array_kind(array), LACIS_TABLE);
    return array;
}

static void is(const char *text, const char *options, const char *expected)
{
    lacis_array *array = load_swc(text, options);
    char *shown = show(array);
    if (strcmp(shown, expected) != 0) fail_msg("'%s' gave\n%s\nnot\n%s\n%s", text, shown, expected, bench.notes);
    lacis_array_release(array);
}

/* Taken, with just this note (NULL: none). */
static void says(const char *text, const char *note)
{
    lacis_array_release(load_swc(text, ""));
    if (note == NULL ? bench.notes[0] != '\0' : strcmp(bench.notes, note) != 0)
        fail_msg("'%s' said\n%s\nnot\n%s", text, bench.notes, note != NULL ? note : "");
}

static void refused(const char *text, const char *message)
{
    lacis_array *array;
    lacis_status status = load_text(&bench, "t.swc", text, "swc", "", &array);
    if (status == LACIS_OK) {
        lacis_array_release(array);
        fail_msg("'%s' was taken", text);
    }
    assert_int_equal(status, LACIS_FORMAT);
    if (strncmp(bench.host.error.message, message, strlen(message)) != 0)
        fail_msg("'%s' failed with\n%s\nnot\n%s", text, bench.host.error.message, message);
}

#define SOMA "1 1 0 0 0 5 -1\n"

static void lines_and_fields(void **state)
{
    (void)state;
    const char *two = "1:1(0,0,0,5)-1 2:3(1,2.5,-3,0.5)1";
    is(SOMA "2 3 1 2.5 -3 .5 1\n", "", two);
    is(SOMA "2 3 1 2.5 -3 .5 1", "", two);
    is("# a\n\n \t\n" SOMA "#b\n  2\t3 1.0e0 +2.5 -3. 5E-1 1  \n# c", "", two);
    is("1 1 0 0 0 5 -1\r\n2 3 1 2.5 -3 .5 1\r\n", "", two);
    is("1 1 0 0 0 5 -1\r2 3 1 2.5 -3 .5 1\r", "", two);
    is("\xef\xbb\xbf# \xc3\xa9t\xe9 \xff\n" SOMA "2 3 1 2.5 -3 .5 1\n", "", two);
    is("1.0 1.0e0 0 0 0 5 -1.0\n2. 3 1 2.5 -3 .5 1\n", "", two);
    is(SOMA "2 3 1 2.5 -3 .5 1 7 x\n", "", two);
    is(SOMA "2 3 1 2.5 -3 .5 1#tip\n", "", two);
    is(SOMA "2 3 1 2.5 -3 .5 -7\n", "", "1:1(0,0,0,5)-1 2:3(1,2.5,-3,0.5)-1");
}

static void ids_and_order(void **state)
{
    (void)state;
    is("0 1 0 0 0 5 -1\n1 3 1 0 0 1 0\n", "", "0:1(0,0,0,5)-1 1:3(1,0,0,1)0");
    is("30 3 3 0 0 1 20\n10 1 0 0 0 5 -1\n20 3 2 0 0 1 10\n", "", "10:1(0,0,0,5)-1 20:3(2,0,0,1)10 30:3(3,0,0,1)20");
    is("5 3 0 0 0 1 -1\n9 3 9 0 0 1 7\n6 3 6 0 0 1 5\n7 3 7 0 0 1 6\n8 3 8 0 0 1 5\n", "",
       "5:3(0,0,0,1)-1 6:3(6,0,0,1)5 7:3(7,0,0,1)6 9:3(9,0,0,1)7 8:3(8,0,0,1)5");
    is("9000000000000000000 1 0 0 0 5 -1\n7 3 1 0 0 1 9000000000000000000\n", "",
       "9000000000000000000:1(0,0,0,5)-1 7:3(1,0,0,1)9000000000000000000");
}

static void lengths_and_radii(void **state)
{
    (void)state;
    is("1 1 125 250 -1000 375 -1\n", "scale=0.008", "1:1(1,2,-8,3)-1");
    is(SOMA "2 3 1 0 0 0 1\n3 3 2 0 0 -2 2\n", "", "1:1(0,0,0,5)-1 2:3(1,0,0,0)1 3:3(2,0,0,0)2");
    is(SOMA "2 3 1 0 0 0 1\n3 3 2 0 0 0.5 2\n", "min_radius=0.25", "1:1(0,0,0,5)-1 2:3(1,0,0,0.25)1 3:3(2,0,0,0.5)2");
    lacis_array *array;
    static const char *const bad[] = {"scale=0", "scale=-1", "scale=inf", "min_radius=-1", "min_radius=nan"};
    for (int i = 0; i < LACIS_COUNT(bad); i++)
        assert_int_equal(load_text(&bench, "t.swc", SOMA, "swc", bad[i], &array), LACIS_RANGE);
    assert_int_equal(load_text(&bench, "t.swc", "1 1 1e300 0 0 1 -1\n", "swc", "scale=1e300", &array), LACIS_FORMAT);
}

static void warnings(void **state)
{
    (void)state;
    says("# fine\n" SOMA "2 3 1 0 0 1 1\n", NULL);
    says("0 1 0 0 0 5 -1\n1 3 1 0 0 1 0\n",
         "warning: id 0: it is a sample like others here, and a parent; roots have -1\n"
         "warning: first id: it is 0, not 1: ids stay as they are\n");
    says(SOMA "5 3 1 0 0 1 1\n", "warning: line 2: ids skip numbers: ids stay as they are\n");
    says(SOMA "3 3 2 0 0 1 2\n2 3 1 0 0 1 1\n4 3 3 0 0 1 3\n",
         "warning: line 3: ids go down: ids stay as they are\n"
         "warning: line 2 and 2 more: ids skip numbers: ids stay as they are\n"
         "warning: line 2: parent after child: parents were moved in front of their children\n");
    says(SOMA "2 3 9 0 0 1 -1\n", "warning: several trees: 2 roots: each is a tree of its own in this cell\n");
    says("1 3 0 0 0 1 -1\n", "warning: no soma: no sample has type 1; where SIMULATE asks for a place, name a "
                             "section ('dend[0](0.5)') or a sample\n");
    says(SOMA "2 1 9 0 0 5 -1\n", "warning: several trees: 2 roots: each is a tree of its own in this cell\n"
                                  "warning: several somas: samples of type 1 in 2 pieces\n");
    says("1 3 0 0 0 1 -1\n2 1 9 0 0 5 1\n",
         "warning: line 2: soma below a neurite: a sample of type 1 hangs on one of another type\n");
    says(SOMA "2 0 1 0 0 1 1\n", "warning: line 2: type 0: a structure left undefined\n");
    says(SOMA "2 7 1 0 0 1 1\n", "warning: line 2: type 5 or above: a structure of its makers' own meaning\n");
    says(SOMA "2 -3 1 0 0 1 1\n", "warning: line 2: negative type: no such structure is known\n");
    says(SOMA "2 3 1 0 0 0 1\n",
         "warning: line 2: radius 0: no area and no axial conductance there; min_radius = r raises it\n");
    says(SOMA "2 3 1 0 0 -1 1\n", "warning: line 2: negative radius: it counts as 0; min_radius = r raises it\n");
    says(SOMA "2 3 0 0 0 1 1\n", "warning: line 2: length 0: a sample at the place of its parent; it is kept\n");
    says(SOMA "2 3.0 1 0 0 1 1\n", "warning: line 2: decimal ids: ids, types or parents with a decimal point\n");
    says(SOMA "2 3 1 0 0 1 1 5\n", "warning: line 2: more columns: what is behind the 7th is left out\n");
    says(SOMA "2 3 1 0 0 1 1 #tip\n", "warning: line 2: comment behind numbers: # and what follows is left out\n");
    says("#a\r\r\n" SOMA, NULL); /* its first line end is a lone CR: an old Macintosh's */
    says("#a\n#b\r\r\n" SOMA, "warning: line 2: stray carriage return: one that ends no line counts as a blank\n");
}

static void refusals(void **state)
{
    (void)state;
    refused("", "t.swc: no sample in it");
    refused("# nothing\n\n", "t.swc: no sample in it");
    refused(SOMA "2 3 1 0 0 1\n", "t.swc:2:1: 6 columns where a sample has 7");
    refused(SOMA "2 3 1 0 0 1 # 1\n", "t.swc:2:1: 6 columns where a sample has 7");
    refused(SOMA "2 3 1 0 NA 1 1\n", "t.swc:2:9: the z 'NA' is no finite number");
    refused(SOMA "2 3 1 0 nan 1 1\n", "t.swc:2:9: the z 'nan' is no finite number");
    refused(SOMA "2 3 1 0 0 inf 1\n", "t.swc:2:11: the radius 'inf' is no finite number");
    refused(SOMA "2 3 1 0 0 1e999 1\n", "t.swc:2:11: the radius '1e999' is no finite number");
    refused(SOMA "# x\n2.5 3 1 0 0 1 1\n", "t.swc:3:1: the id '2.5' is no whole number");
    refused(SOMA "2 axon 1 0 0 1 1\n", "t.swc:2:3: the type 'axon' is no whole number");
    refused(SOMA "2 3 1 0 0 1 C\n", "t.swc:2:13: the parent 'C' is no whole number");
    refused(SOMA "1e300 3 1 0 0 1 1\n", "t.swc:2:1: the id '1e300' is no whole number");
    refused(SOMA "-2 3 1 0 0 1 1\n", "t.swc:2:1: the id '-2' is negative");
    refused(SOMA "\n2 3 1 0 0 1 1\n2 3 2 0 0 1 1\n", "t.swc:4:1: id 2 stands on line 3 already");
    refused("1 1 0 0 0 1 -1\n1000000 3 1 0 0 1 1\n1000000 3 2 0 0 1 1\n",
            "t.swc:3:1: id 1000000 stands on line 2 already");
    refused(SOMA "2 3 1 0 0 1 2\n", "t.swc:2:1: sample 2 is its own parent");
    refused(SOMA "2 3 1 0 0 1 3\n", "t.swc:2:1: sample 2 has parent 3, which is not in the file");
    refused("1 1 0 0 0 1 0\n", "t.swc:1:1: sample 1 has parent 0, which is not in the file");
    refused(SOMA "2 3 1 0 0 1 4\n3 3 1 0 0 1 2\n4 3 1 0 0 1 3\n5 3 1 0 0 1 4\n",
            "t.swc:2:1: sample 2 is its own ancestor: the parents of 3 samples go round in a circle");
    refused("5 3 1 0 0 1 4\n1 1 0 0 0 1 -1\n4 3 1 0 0 1 3\n3 3 1 0 0 1 4\n",
            "t.swc:3:1: sample 4 is its own ancestor: the parents of 2 samples go round in a circle");
    refused("\xff\xfe", "t.swc:1:1: the text is UTF-16");
}

/* --------------------------------------------------------------------------------- random trees */

/* By walking up from every sample. */
static void check_figures(const tree *t, const lacis_array *array)
{
    const lacis_loader *swc = load_loader("swc");
    double value[32], length = 0, neurite = 0;
    int64_t branch_points = 0, tips = 0, roots = 0, deepest = 0, most = 0, unbranched = 0;
    int64_t *children = calloc((size_t)t->count, sizeof *children);
    assert_int_equal(swc->measure(&bench.run, array, value), LACIS_OK);
    for (int64_t i = 0; i < t->count; i++) {
        if (t->up[i] >= 0) children[t->up[i]]++;
    }
    for (int64_t i = 0; i < t->count; i++) {
        int64_t depth = 0, run = 0, u = t->up[i];
        for (int64_t at = i; t->up[at] >= 0; at = t->up[at])
            depth++;
        for (int64_t at = i; t->up[at] >= 0 && children[t->up[at]] == 1; at = t->up[at])
            run++;
        deepest = depth > deepest ? depth : deepest;
        unbranched = run > unbranched ? run : unbranched;
        most = children[i] > most ? children[i] : most;
        branch_points += children[i] > 1;
        tips += children[i] == 0;
        roots += u < 0;
        if (u < 0) continue;
        double edge = sqrt(pow(t->x[i] - t->x[u], 2) + pow(t->y[i] - t->y[u], 2) + pow(t->z[i] - t->z[u], 2));
        length += edge;
        neurite += t->type[i] != 1 && t->type[u] != 1 ? edge : 0;
    }
    free(children);
    const double expected[] = {(double)t->count, (double)branch_points, (double)tips,       (double)roots, length,
                               neurite,          (double)deepest,       (double)unbranched, (double)most,  1};
    for (int i = 0; i < LACIS_COUNT(expected); i++)
        if (fabs(value[i] - expected[i]) > 1e-9 * (1 + fabs(expected[i])))
            fail_msg("%s: %.17g, expected %.17g", swc->figure[i].name, value[i], expected[i]);
}

/* Whether parents come first and every sample is what it was. */
static void check_samples(const tree *t, const lacis_array *array, int64_t first, int64_t stride)
{
    char *seen = calloc((size_t)t->count, 1);
    assert_int_equal(lacis_array_extent(array, 0), t->count);
    for (int64_t row = 0; row < t->count; row++) {
        int64_t i = (whole(array, "id", row) - first) / stride, u = t->up[i];
        assert_int_equal(whole(array, "id", row), first + stride * i);
        assert_int_equal(whole(array, "cell", row), 0);
        assert_int_equal(whole(array, "parent", row), u < 0 ? -1 : first + stride * u);
        assert_true(seen[i] == 0 && (u < 0 || seen[u] == 1));
        assert_int_equal(whole(array, "type", row), t->type[i]);
        assert_true(real(array, "x", row) == t->x[i] && real(array, "y", row) == t->y[i]);
        assert_true(real(array, "z", row) == t->z[i] && real(array, "radius", row) == t->radius[i]);
        seen[i] = 1;
    }
    free(seen);
}

static void random_trees(void **state)
{
    (void)state;
    static const struct {
        tree_shape shape;
        int64_t count, roots, first, stride;
        uint64_t shuffle;
    } cases[] = {
        {TREE_CHAIN, 1, 1, 1, 1, 0},        {TREE_CHAIN, 3000, 1, 1, 1, 7},   {TREE_DEEP, 5000, 1, 0, 1, 0},
        {TREE_DEEP, 5000, 3, 17, 3, 5},     {TREE_BUSHY, 20000, 1, 1, 1, 3},  {TREE_BUSHY, 3000, 40, 5, 1000, 0},
        {TREE_BINARY, 4095, 1, 1, 7919, 2}, {TREE_STAR, 2000, 1, 1000, 2, 9}, {TREE_BUSHY, 500, 500, 1, 1, 4},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        tree t;
        tree_make(&t, cases[i].shape, cases[i].count, cases[i].roots, (uint64_t)i + 1);
        char *text = tree_text(&t, cases[i].first, cases[i].stride, cases[i].shuffle);
        lacis_array *array = load_swc(text, "");
        check_samples(&t, array, cases[i].first, cases[i].stride);
        check_figures(&t, array);
        lacis_array_release(array);
        free(text);
        tree_free(&t);
    }
}

/* Upside down, the order of a chain is the worst there is; nothing may recurse along it. */
static void a_chain_of_a_million(void **state)
{
    (void)state;
    enum { N = 1000000 };
    char *text = malloc((size_t)N * 40), *p = text;
    for (int i = N; i > 0; i--)
        p += sprintf(p, "%d 3 %d 0 0 1 %d\n", i, i, i > 1 ? i - 1 : -1);
    lacis_array *array = load_swc(text, "");
    double value[32];
    assert_int_equal(whole(array, "id", 0), 1);
    assert_int_equal(whole(array, "id", N - 1), N);
    assert_int_equal(load_loader("swc")->measure(&bench.run, array, value), LACIS_OK);
    assert_true(value[6] == N - 1 && value[7] == N - 1 && value[4] == N - 1);
    lacis_array_release(array);
    p = text;
    for (int i = 1; i <= N; i++)
        p += sprintf(p, "%d 3 %d 0 0 1 %d\n", i, i, i < N ? i + 1 : 1);
    refused(text, "t.swc:1:1: sample 1 is its own ancestor: the parents of 1000000 samples");
    free(text);
}

/* ------------------------------------------------------------------------------- content, saving */

static void found_by_content(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text, *loader;
    } cases[] = {
        {"a.txt", SOMA "2 3 1 0 0 1 1\n3 3 2 0 0 1 2\n", "swc"},
        {"a", "0 1.0 0 0 0 5 -1\n1 3 1 0 0 1 0\n", "swc"},
        {"a.swc.gz", "1 2 nonsense\n2 3 more words here\n", "swc"},
        {"a.swc", "", "swc"},
        {"a.swc", "1 2\n2 3\n3 1\n", "snap"},
        {"a.swc", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", "mtx"},
        {"a.txt", "1 2 3 4 5 6 7\n2 3 4 5 6 7 8\n", "snap"},
        {"a.txt", "1 2 0.5 0.5 0.5 0.5 1\n1 3 0.5 0.5 0.5 0.5 -1\n", "snap"},
        {"a.txt", "1 1 0 0 0 5 9\n2 3 1 0 0 1 1\n", "snap"},
        {"a.txt", "1 2\n1 3\n", "snap"},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_source source = {cases[i].path, cases[i].text, strlen(cases[i].text), false};
        const lacis_loader *best = load_sniff(&source);
        if (best == NULL || strcmp(best->name, cases[i].loader) != 0)
            fail_msg("%s '%s': %s, not %s", cases[i].path, cases[i].text, best ? best->name : "none",
                     cases[i].loader);
    }
}

static void saved_and_read_again(void **state)
{
    (void)state;
    static const char text[] = "3 1 0.1 1e-7 123456789.125 5 -1\n0 2 0.30000000000000004 -0 2 0.5 3\n";
    lacis_array *array = load_swc(text, "");
    char *saved;
    size_t size;
    FILE *file = open_memstream(&saved, &size);
    assert_int_equal(load_loader("swc")->save(&bench.run, array, file), LACIS_OK);
    fclose(file);
    assert_string_equal(saved, "# Saved by lacis\n# id type x y z radius parent\n"
                               "3 1 0.1 1e-07 123456789.125 5.0 -1\n0 2 0.30000000000000004 -0.0 2.0 0.5 3\n");
    lacis_array *again = load_swc(saved, "");
    assert_string_equal(show(again), show(array));
    lacis_array_release(again);
    lacis_array_release(array);
    free(saved);
}

static void only_a_cell_is_saved(void **state)
{
    (void)state;
    lacis_array *graph;
    assert_int_equal(load_text(&bench, "g.txt", "1 2\n2 3\n", NULL, "", &graph), LACIS_OK);
    assert_int_equal(load_loader("swc")->save(&bench.run, graph, stderr), LACIS_TYPE);
    lacis_array_release(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_fields),
        cmocka_unit_test(ids_and_order),
        cmocka_unit_test(lengths_and_radii),
        cmocka_unit_test(warnings),
        cmocka_unit_test(refusals),
        cmocka_unit_test(random_trees),
        cmocka_unit_test(a_chain_of_a_million),
        cmocka_unit_test(found_by_content),
        cmocka_unit_test(saved_and_read_again),
        cmocka_unit_test(only_a_cell_is_saved),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
