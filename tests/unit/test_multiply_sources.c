/* SPDX-License-Identifier: Apache-2.0
 *
 * What MULTIPLY gives NVRTC for every CON and AGG of the parity programs and every type of operands, looked at by the
 * compiler's first half alone: types and overloads are settled there, and a kernel takes it a tenth of the time.
 * test_multiply_written.c compiles some of them to the end.
 */
#include "parity/functions.h"
#include "support/gpu_written.h"

/* Our own copy of the one file that knows NVRTC, so that its functions can be changed. */
#include "../../engine/jit/nvrtc.c"

static int (*whole_compile)(void *program, int options, const char *const *option);

static int first_half(void *program, int options, const char *const *option)
{
    const char *all[OPTIONS_MOST + 2];
    memcpy(all, option, sizeof *all * (size_t)options);
    all[options] = "--fdevice-syntax-only";
    return whole_compile(program, options + 1, all);
}
static int image_size(void *program, size_t *bytes)
{
    (void)program;
    *bytes = 1;
    return 0;
}
static int image(void *program, char *to)
{
    (void)program;
    *to = 0;
    return 0;
}

static int setup(void **state)
{
    char reason[200];
    if (lacis_nvrtc_there(reason, sizeof reason) && loaded.compile != first_half) {
        whole_compile = loaded.compile;
        loaded.compile = first_half;
        loaded.cubin_size = image_size;
        loaded.cubin = image;
    }
    int status = written_setup(state);
    ((parity *)*state)->host.threads = lacis_parallel_cpus(); /* the compiler's */
    return status;
}

static int teardown(void **state)
{
    return written_teardown(state);
}

static const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64, LACIS_C64, LACIS_C128};
enum { TYPES = LACIS_COUNT(types) };

static bool complex_pair(int a, int b)
{
    return dtype_complex(types[a]) || dtype_complex(types[b]);
}

/* An array of each type. */
static void make_arrays(parity *p, lacis_array **array)
{
    uint64_t random = 3;
    for (int i = 0; i < TYPES; i++) {
        graph g = graph_make(&random, GRAPH_SPARSE, 30, 30, types[i]);
        array[i] = graph_array(p, &g);
        graph_free(&g);
    }
}

static void release_arrays(lacis_array **array)
{
    for (int i = 0; i < TYPES; i++)
        lacis_array_release(array[i]);
}

/* Kernels of a call, of `among`, for operands of two types; 0: there is nothing written in it. */
static uint32_t check(parity *p, lacis_array **array, int a, int b, const functions *f, bool ordered, uint32_t among)
{
    char text[500];
    const named arrays[] = {{"a", array[a]}, {"b", array[b]}, {NULL, NULL}};
    snprintf(text, sizeof text, "MULTIPLY a BY b %s %s %s %s", f->con != NULL ? "CON" : "",
             f->con != NULL ? f->con : "", f->agg != NULL ? "AGG" : "", f->agg != NULL ? f->agg : "");
    return written_compile(p, text, arrays, ordered, among);
}

/* Every function for every pair of types that it takes, with two of its kernels, others each time. */
static void check_table(parity *p, lacis_array **array, const functions *table, int count, bool pairs)
{
    int turn = 0, compiled = 0;
    for (int i = 0; i < TYPES * TYPES; i++) {
        int a = i / TYPES, b = i % TYPES;
        if (complex_pair(a, b) != pairs) continue;
        for (int f = 0; f < count; f++) {
            if (table[f].integers_only && (dtype_real(types[a]) || dtype_real(types[b]))) continue;
            if (pairs && table[f].kind == LACIS_AGG_AVG) continue; /* on the CPU alone */
            uint32_t among = 1u << turn % 9 | 1u << (turn + 4) % 9;
            compiled += check(p, array, a, b, &table[f], turn++ % 2 == 0, among) != 0;
        }
    }
    assert_true(compiled > 100);
}

static void test_functions(void **state)
{
    parity *p = *state;
    lacis_array *array[TYPES];
    if (!written_there()) skip();
    make_arrays(p, array);
    check_table(p, array, real_functions, LACIS_COUNT(real_functions), false);
    check_table(p, array, complex_functions, LACIS_COUNT(complex_functions), true);
    release_arrays(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK(test_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
