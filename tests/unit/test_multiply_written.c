/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON, AGG and HAVING compiled for a GPU that is only pretended: by NVRTC, to the end. Skipped in builds
 * without GPU kernels and where NVRTC is missing.
 */
#include "support/gpu_written.h"

/* Every kernel of a call that has some. */
static void check(parity *p, const char *text, const named *arrays, bool ordered)
{
    assert_int_not_equal(written_compile(p, text, arrays, ordered, ~0u), 0);
}

static const char *const texts[] = {
    "MULTIPLY a BY a CON CASE WHEN a < b THEN a ELSE b + 1 END AGG min",
    "MULTIPLY a BY a CON a * 2 - b + s * c - t AGG sum",
    "MULTIPLY a BY a AGG (x, y) -> x + y - x * y IDENTITY 0 ASSOCIATIVE",
    "MULTIPLY a BY a CON hypot(a, b) AGG (x, y) -> max(x, 2 * y) IDENTITY -inf",
    "MULTIPLY a BY a CON a * b AGG (x, y) -> CASE WHEN x > y THEN x ELSE y END IDENTITY -1 ASSOCIATIVE",
    "MULTIPLY a BY a AGG avg HAVING value > 1 AND src <> dst",
    "MULTIPLY a BY a AGG count HAVING value / (src - 3) > 0 TOP 3",
    "MULTIPLY a BY a CON complex(a, b) AGG sum",
    "MULTIPLY a BY a CON complex(a + b, 1) AGG (x, y) -> CASE WHEN re(x) < re(y) THEN x WHEN re(y) < re(x) THEN y "
    "ELSE "
    "complex(re(x), im(x) + im(y)) END IDENTITY complex(inf, 0) ASSOCIATIVE HAVING im(value) > 1",
    "MULTIPLY a BY a CON a * b + complex(0, c) AGG last HAVING abs(value) < 1e9",
    "MULTIPLY a BY a CON hypot(a, b) AGG (x, y) -> x + y - x * y IDENTITY 0.0 ASSOCIATIVE MASK a",
    "MULTIPLY a BY a CON complex(a + b, 1) AGG (x, y) -> CASE WHEN re(x) < re(y) THEN x ELSE y END IDENTITY "
    "complex(inf, 0) ASSOCIATIVE MASK NOT a",
    "MULTIPLY a BY a CON a - b AGG avg MASK a HAVING value > 1",
};

static void test_sources(void **state)
{
    parity *p = *state;
    uint64_t random = 3;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I64, LACIS_F32, LACIS_F64};
    if (!written_there()) skip();
    for (int i = 0; i < LACIS_COUNT(texts); i++) { /* NVRTC takes a second for each */
        graph g = graph_make(&random, GRAPH_SPARSE, 30, 30, types[i % LACIS_COUNT(types)]);
        named arrays[] = {{"a", graph_array(p, &g)}, {NULL, NULL}};
        check(p, texts[i], arrays, i > 0);
        lacis_array_release(arrays[0].array);
        graph_free(&g);
    }
}

/* Complex values, of which kernels for devices before 9.0 exchange no two. */
static void test_devices(void **state)
{
    static const char *const complex[] = {
        "MULTIPLY a BY b CON a * b AGG sum", "MULTIPLY b BY a CON re(a) * im(b) AGG max",
        "MULTIPLY a BY b CON a * b AGG (x, y) -> x * 0.5 + y IDENTITY complex(1, -2) ASSOCIATIVE"};
    static const int arch[] = {80, 86, 89};
    uint64_t random = 3;
    if (!written_there()) skip();
    for (int i = 0; i < LACIS_COUNT(arch); i++) {
        parity *p = *state;
        graph a = graph_make(&random, GRAPH_SPARSE, 30, 30, LACIS_F32);
        graph b = graph_make(&random, GRAPH_SPARSE, 30, 30, LACIS_C64);
        named arrays[] = {{"a", graph_array(p, &a)}, {"b", graph_array(p, &b)}, {NULL, NULL}};
        fake.arch = arch[i];
        check(p, complex[i], arrays, false);
        lacis_array_release(arrays[0].array);
        lacis_array_release(arrays[1].array);
        graph_free(&a);
        graph_free(&b);
        written_teardown(state); /* a device stays what it was */
        written_setup(state);
    }
}

/* Labels that are listed are read from lists. */
static void test_listed_labels(void **state)
{
    static const char *const listed[] = {"MULTIPLY a BY a CON a + t * s - c AGG max",
                                         "MULTIPLY a BY a AGG count HAVING src < dst"};
    parity *p = *state;
    uint64_t random = 3;
    if (!written_there()) skip();
    graph g = graph_make(&random, GRAPH_SPARSE, 30, 30, LACIS_F64);
    g.row_label = random_labels(&random, 30, 2);
    g.col_label = random_labels(&random, 30, 2);
    named arrays[] = {{"a", graph_array(p, &g)}, {NULL, NULL}};
    for (int i = 0; i < LACIS_COUNT(listed); i++)
        check(p, listed[i], arrays, true);
    lacis_array_release(arrays[0].array);
    graph_free(&g);
}

#define WRITTEN(function) cmocka_unit_test_setup_teardown(function, written_setup, written_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {WRITTEN(test_sources), WRITTEN(test_devices), WRITTEN(test_listed_labels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
