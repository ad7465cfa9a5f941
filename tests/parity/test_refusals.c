/* SPDX-License-Identifier: Apache-2.0
 *
 * What MULTIPLY must refuse, and how: shapes and types that do not go together, integers that overflow, results
 * beyond the memory limit, a cancelled run, and memory that fails at every single allocation.
 */
#include "parity/reference.h"
#include "parity/refusals.h"

#define NAMED(array) ((const named[]){{"a", (array)[0]}, {"b", (array)[1]}, {"m", (array)[2]}, {NULL, NULL}})

static void refuse(parity *p, const char *text, lacis_array *const *array, lacis_status wanted, const char *part)
{
    refuse_call(p, text, NAMED(array), wanted, part);
}

static void accept(parity *p, const char *text, lacis_array *const *array)
{
    accept_call(p, text, NAMED(array));
}

/* A full graph of one value. */
static lacis_array *constant(parity *p, int64_t rows, int64_t cols, lacis_dtype dtype, int64_t value)
{
    uint64_t random = 1;
    graph g = graph_make(&random, GRAPH_FULL, rows, cols, LACIS_PATTERN);
    lacis_array *array = NULL;
    lacis_csr_parts parts = {.rows = rows, .cols = cols, .entries = g.entries, .storage = dtype, .dtype = dtype};
    parts.begin = buffer_of(p, g.begin, sizeof(int64_t) * (size_t)(rows + 1));
    parts.columns = buffer_of(p, g.column, sizeof(uint32_t) * (size_t)g.entries);
    if (dtype != LACIS_PATTERN)
        parity_ok(p, lacis_buffer_new(&p->run, lacis_dtype_size(dtype) * (size_t)g.entries, &parts.values), "values");
    if (dtype == LACIS_I64)
        for (int64_t i = 0; i < g.entries; i++)
            ((int64_t *)lacis_buffer_data(parts.values))[i] = value;
    else if (dtype != LACIS_PATTERN)
        memset(lacis_buffer_data(parts.values), 0, lacis_dtype_size(dtype) * (size_t)g.entries);
    parity_ok(p, lacis_csr_new(&p->run, &parts, &array), "a graph");
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    graph_free(&g);
    return array;
}

static void release(lacis_array **array)
{
    for (int i = 0; i < 3; i++)
        lacis_array_release(array[i]);
}

static void test_shapes_types(void **state)
{
    parity *p = *state;
    lacis_array *array[] = {constant(p, 4, 6, LACIS_F64, 0), constant(p, 7, 3, LACIS_F64, 0),
                            constant(p, 4, 5, LACIS_PATTERN, 0)};
    refuse(p, "MULTIPLY a BY b", array, LACIS_TYPE, "a is 4 x 6 and b is 7 x 3");
    release(array);
    array[0] = constant(p, 4, 6, LACIS_C64, 0);
    array[1] = constant(p, 6, 3, LACIS_DD, 0);
    array[2] = constant(p, 4, 5, LACIS_PATTERN, 0);
    refuse(p, "MULTIPLY a BY b", array, LACIS_TYPE, "i32, i64, f32, f64 and complex values");
    refuse(p, "MULTIPLY a BY b CON b AGG min", array, LACIS_TYPE, "this operand's are dd");
    accept(p, "MULTIPLY a BY b CON nil", array);
    accept(p, "MULTIPLY a BY b CON s - t AGG min", array);
    refuse(p, "MULTIPLY a BY b CON nil MASK m", array, LACIS_TYPE, "the mask's columns");
    refuse(p, "MULTIPLY a BY b CON nil TOP 0", array, LACIS_RANGE, "at least one");
    release(array);
}

/* What complex values cannot do, and what they can. */
static void test_complex(void **state)
{
    parity *p = *state;
    lacis_array *array[] = {constant(p, 5, 5, LACIS_C64, 2), constant(p, 5, 5, LACIS_C128, 3),
                            constant(p, 5, 5, LACIS_PATTERN, 0)};
    accept(p, "MULTIPLY a BY b MASK m HAVING im(value) = 0 AND value <> 3", array);
    accept(p, "MULTIPLY a BY b CON abs(a - b) AGG max TOP 2", array);
    accept(p, "MULTIPLY a BY m AGG count TOP 2", array);
    accept(p, "MULTIPLY m BY m CON complex(s, t) AGG last", array);
    accept(p, "POWER a TO 3", array);
    refuse(p, "MULTIPLY a BY b AGG min", array, LACIS_TYPE, "AGG min needs values in an order");
    refuse(p, "MULTIPLY m BY b CON b AGG max", array, LACIS_TYPE, "AGG max needs values in an order");
    refuse(p, "MULTIPLY a BY b TOP 2", array, LACIS_TYPE, "complex numbers have no order");
    refuse(p, "MULTIPLY m BY m AGG (x, y) -> x + y IDENTITY complex(0, 0) TOP 2", array, LACIS_TYPE, "no order");
    refuse(p, "MULTIPLY a BY b CON a < b", array, LACIS_TYPE, "complex numbers have no order");
    refuse(p, "MULTIPLY a BY b CON a % b", array, LACIS_TYPE, "% does not take complex numbers");
    refuse(p, "MULTIPLY a BY b HAVING value", array, LACIS_TYPE, "is a complex number");
    refuse(p, "MULTIPLY m BY m WHERE complex(src, 1)", array, LACIS_TYPE, "is a complex number");
    refuse(p, "POWER a UNTIL STABLE CON a + b AGG min", array, LACIS_TYPE, "AGG min needs values in an order");
    release(array);
}

/* Vertices are matched by id, however many each graph has; matrices that are not square must fit. */
static void test_vertex_counts(void **state)
{
    parity *p = *state;
    lacis_array *array[] = {constant(p, 5, 5, LACIS_I64, 1), constant(p, 3, 3, LACIS_I64, 1),
                            constant(p, 7, 7, LACIS_PATTERN, 0)};
    accept(p, "MULTIPLY a BY b", array);
    accept(p, "MULTIPLY b BY a MASK m", array);
    accept(p, "MULTIPLY a BY a MASK NOT b", array);
    release(array);
    array[0] = constant(p, 5, 5, LACIS_I64, 1);
    array[1] = constant(p, 4, 6, LACIS_I64, 1);
    array[2] = constant(p, 4, 4, LACIS_PATTERN, 0);
    refuse(p, "MULTIPLY a BY b", array, LACIS_TYPE, "a is 5 x 5 and b is 4 x 6");
    refuse(p, "MULTIPLY m BY b MASK m", array, LACIS_TYPE, "the mask's columns");
    refuse(p, "POWER b TO 2", array, LACIS_TYPE, "shapes do not match");
    release(array);
}

static void test_overflow(void **state)
{
    parity *p = *state;
    const int64_t large = (int64_t)1 << 61;
    lacis_array *array[] = {constant(p, 5, 5, LACIS_I64, large), constant(p, 5, 5, LACIS_I64, 3), NULL};
    accept(p, "MULTIPLY a BY b CON a AGG max", array);
    accept(p, "MULTIPLY a BY b CON a * b AGG max", array);
    refuse(p, "MULTIPLY a BY b CON a AGG sum", array, LACIS_OVERFLOW, "AGG sum does not fit");
    refuse(p, "MULTIPLY a BY b", array, LACIS_OVERFLOW, "AGG sum does not fit");
    refuse(p, "MULTIPLY a BY a", array, LACIS_OVERFLOW, "overflow");
    refuse(p, "MULTIPLY a BY b CON a * (b + 1) + 1 AGG min", array, LACIS_OVERFLOW, "overflow");
    refuse(p, "MULTIPLY a BY b CON a / (b - 3) AGG min", array, LACIS_OVERFLOW, "division by zero in CON");
    refuse(p, "MULTIPLY a BY b CON b AGG (x, y) -> x * 1000000 + y IDENTITY 1", array, LACIS_OVERFLOW, "CON or AGG");
    lacis_array_release(array[1]);
    array[1] = constant(p, 5, 5, LACIS_I64, large * 3);
    refuse(p, "MULTIPLY a BY b CON a + b AGG min", array, LACIS_OVERFLOW, "overflow");
    accept(p, "MULTIPLY a BY b CON 1.0 * a * b", array);
    release(array);
}

/* A result of 16 M entries within 64 MB. */
static void test_memory_limit(void **state)
{
    parity *p = *state;
    lacis_array *array[] = {constant(p, 4000, 3, LACIS_PATTERN, 0), constant(p, 3, 4000, LACIS_PATTERN, 0), NULL};
    lacis_memory_set_limit(p->host.memory, (uint64_t)64 << 20);
    refuse(p, "MULTIPLY a BY b CON nil", array, LACIS_LIMIT, "memory_limit");
    accept(p, "MULTIPLY a BY b CON nil TOP 5", array);
    accept(p, "MULTIPLY a BY b CON nil WHERE src < 100", array);
    lacis_memory_set_limit(p->host.memory, (uint64_t)1 << 40);
    release(array);
}

static void test_cancel(void **state)
{
    parity *p = *state;
    lacis_array *array[] = {constant(p, 400, 400, LACIS_PATTERN, 0), constant(p, 400, 400, LACIS_PATTERN, 0), NULL};
    atomic_store(&p->host.cancel, 1);
    assert_int_equal(attempt_call(p, "MULTIPLY a BY b CON nil", NAMED(array)), LACIS_INTERRUPT);
    lacis_run_clear(&p->run);
    assert_int_equal(attempt_call(p, "POWER a TO 5", NAMED(array)), LACIS_INTERRUPT);
    lacis_run_clear(&p->run);
    atomic_store(&p->host.cancel, 0);
    accept(p, "MULTIPLY a BY b CON nil", array);
    release(array);
}

static void test_faults(void **state)
{
    parity *p = *state;
    uint64_t random = 9;
    graph a = graph_make(&random, GRAPH_SPARSE, 30, 30, LACIS_I32),
          b = graph_make(&random, GRAPH_POWER, 30, 30, LACIS_F32);
    graph m = graph_make(&random, GRAPH_SPARSE, 30, 30, LACIS_PATTERN);
    a.col_label = random_labels(&random, 30, 2);
    b.row_label = random_labels(&random, 30, 2);
    lacis_array *array[] = {graph_array(p, &a), graph_array(p, &b), graph_array(p, &m)};
    p->host.threads = 1;
    fail_each_allocation(p, "MULTIPLY a BY b", NAMED(array));
    fail_each_allocation(p, "MULTIPLY a BY b CON 2 * a - b AGG max MASK NOT m WHERE src % 2 = 1 HAVING value > 0",
                         NAMED(array));
    fail_each_allocation(p, "MULTIPLY a BY b CON a AGG (x, y) -> x * 0.5 + y IDENTITY 0 WHERE src IN (3, 4, 9)",
                         NAMED(array));
    fail_each_allocation(p, "POWER m TO 3", NAMED(array));
    fail_each_allocation(p, "POWER m UNTIL STABLE CON a + b AGG min WHERE src < 9", NAMED(array));
    p->host.threads = 2;
    fail_each_allocation(p, "MULTIPLY m BY b CON a + b AGG min", NAMED(array));
    release(array);
    graph_free(&a);
    graph_free(&b);
    graph_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shapes_types, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_complex, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_vertex_counts, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_overflow, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_memory_limit, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_cancel, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_faults, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
