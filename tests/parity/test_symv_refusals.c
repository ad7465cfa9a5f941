/* SPDX-License-Identifier: Apache-2.0
 *
 * What SYMV must refuse, and how: operands, shapes, ids, types and words that do not go together, memory that is not
 * there, a cancelled run; and memory that fails at every single allocation.
 */
#include "parity/refusals.h"
#include "parity/symmetric.h"

typedef struct operands {
    lacis_array *a, *x, *y;
} operands;

#define NAMED(o) ((const named[]){{"a", (o)->a}, {"x", (o)->x}, {"y", (o)->y}, {NULL, NULL}})

static void refuse(parity *p, const char *text, const operands *o, lacis_status wanted, const char *part)
{
    refuse_call(p, text, NAMED(o), wanted, part);
}

static void accept(parity *p, const char *text, const operands *o)
{
    accept_call(p, text, NAMED(o));
}

static void release(operands *o)
{
    lacis_array_release(o->a);
    lacis_array_release(o->x);
    lacis_array_release(o->y);
    *o = (operands){0};
}

static operands make(parity *p, lacis_dtype matrix, lacis_dtype x, lacis_dtype y, int64_t n)
{
    const symmetric s = {.dtype = matrix, .matrices = 1, .n = n, .seed = 1};
    return (operands){symmetric_array(p, &s), vector_array(p, 2, n, x, 0), vector_array(p, 3, n, y, 0)};
}

static lacis_array *lanes_array(parity *p, int64_t lanes, int64_t rows)
{
    int64_t each[16];
    for (int64_t l = 0; l < lanes; l++)
        each[l] = rows;
    return batch_array(p, 4, each, lanes, 1, LACIS_F64);
}

static void shapes(void **state)
{
    parity *p = *state;
    operands o = make(p, LACIS_F64, LACIS_F64, LACIS_F64, 5);
    accept(p, "SYMV a BY x ADD y", &o);
    lacis_array_release(o.x);
    o.x = vector_array(p, 2, 4, LACIS_F64, 0);
    refuse(p, "SYMV a BY x", &o, LACIS_TYPE, "the matrix is 5 x 5 and x has 4 elements");
    refuse(p, "SYMV a BY y ADD x", &o, LACIS_TYPE, "the matrix is 5 x 5 and ADD's y has 4 elements");
    lacis_array_release(o.x);
    o.x = vector_array(p, 2, 5, LACIS_F64, 1);
    refuse(p, "SYMV a BY x", &o, LACIS_TYPE, "the matrix counts from 0 and x from 1");
    lacis_array_release(o.x);
    o.x = lanes_array(p, 3, 6);
    refuse(p, "SYMV a BY x", &o, LACIS_TYPE, "lane 0 of x has 6 rows, and its matrix 5");
    lacis_array_release(o.x);
    o.x = lanes_array(p, 3, 5);
    accept(p, "SYMV a BY x", &o);
    refuse(p, "SYMV a BY x ADD y", &o, LACIS_TYPE, "the y of ADD is a vector and x is a batch");
    lacis_array_release(o.y);
    o.y = lanes_array(p, 2, 5);
    refuse(p, "SYMV a BY x ADD y", &o, LACIS_TYPE, "the y of ADD has 2 lanes and x has 3");
    refuse(p, "SYMV x BY a", &o, LACIS_TYPE, "SYMV takes a symmetric matrix or a graph");
    refuse(p, "SYMV a BY a", &o, LACIS_TYPE, "x is neither a vector nor a batch");
    release(&o);
}

static void batches(void **state)
{
    parity *p = *state;
    const symmetric s = {.dtype = LACIS_F64, .matrices = 3, .several = true, .order = {4, 5, 6}, .seed = 1};
    operands o = {symmetric_array(p, &s), lanes_array(p, 3, 5), vector_array(p, 3, 6, LACIS_F64, 0)};
    refuse(p, "SYMV a BY x", &o, LACIS_TYPE, "lane 0 of x has 5 rows, and its matrix 4");
    refuse(p, "SYMV a BY y", &o, LACIS_TYPE, "3 matrices go with a batch of as many lanes, and x is a vector");
    lacis_array_release(o.x);
    o.x = lanes_array(p, 2, 5);
    refuse(p, "SYMV a BY x", &o, LACIS_TYPE, "3 matrices go with as many lanes, and x has 2");
    lacis_array_release(o.x);
    o.x = batch_array(p, 5, s.order, 3, 0, LACIS_F64);
    accept(p, "SYMV a BY x", &o);
    release(&o);
}

static void ids(void **state)
{
    static const int64_t index[] = {1, 3, 7};
    static const double values[] = {1, 2, 3};
    parity *p = *state;
    operands o = make(p, LACIS_F64, LACIS_F64, LACIS_F64, 5);
    lacis_array_release(o.x);
    parity_ok(p, lacis_array_new(&p->run, LACIS_VECTOR, LACIS_F64, 8, 0, &o.x), "a vector");
    add_bytes(p, o.x, "values", LACIS_F64, 3, values, 0);
    add_bytes(p, o.x, "index", LACIS_I64, 3, index, 0);
    refuse(p, "SYMV a BY x", &o, LACIS_TYPE, "x has an element 7, which no row of the matrix is called");
    release(&o);
}

static void types_and_words(void **state)
{
    parity *p = *state;
    operands o = make(p, LACIS_F64, LACIS_F64, LACIS_F64, 5);
    refuse(p, "SYMV a BY x CONJ", &o, LACIS_TYPE, "CONJ is for complex matrices");
    refuse(p, "SYMV a BY x ACCURATE", &o, LACIS_TYPE, "ACCURATE is for double-double sums, and these are f64");
    accept(p, "SYMV a BY x ACCURATE PRECISION dd", &o);
    refuse(p, "SYMV a BY x BETA 2", &o, LACIS_SYNTAX, "BETA is a factor of ADD's vector");
    refuse(p, "SYMV a BY x UPPER LOWER", &o, LACIS_SYNTAX, "not both");
    refuse(p, "SYMV a BY x ALPHA complex(1, 2)", &o, LACIS_TYPE, "a complex ALPHA is for complex matrices");
    refuse(p, "SYMV a BY x ADD y BETA complex(1, 2)", &o, LACIS_TYPE, "a complex BETA is for complex matrices");
    release(&o);
    o = make(p, LACIS_C64, LACIS_C64, LACIS_C128, 5);
    refuse(p, "SYMV a BY y", &o, LACIS_TYPE, "this one is c64, and vectors or PRECISION ask for c128");
    refuse(p, "SYMV a BY x PRECISION f64", &o, LACIS_TYPE, "this one is c64, and vectors or PRECISION ask for c128");
    release(&o);
    o = make(p, LACIS_F64, LACIS_C128, LACIS_F64, 5);
    refuse(p, "SYMV a BY x FIGURES", &o, LACIS_TYPE, "FIGURES of a real matrix are of real vectors");
    release(&o);
    o = make(p, LACIS_F64, LACIS_F64, LACIS_F64, 5);
    lacis_array_release(o.a);
    o.a = symmetric_array(p, &(symmetric){.dtype = LACIS_F64, .storage = PACKED, .matrices = 1, .n = 5});
    refuse(p, "SYMV a BY x UPPER", &o, LACIS_TYPE, "packed and has its lower triangle alone");
    accept(p, "SYMV a BY x LOWER", &o);
    release(&o);
}

/* Parts of a graph's square: rows and columns of one name. */
static void graphs(void **state)
{
    parity *p = *state;
    uint64_t random = 3;
    graph g = graph_make(&random, GRAPH_SPARSE, 5, 6, LACIS_F64);
    operands o = make(p, LACIS_F64, LACIS_F64, LACIS_F64, 5);
    lacis_array_release(o.a);
    o.a = graph_array(p, &g);
    refuse(p, "SYMV a BY x", &o, LACIS_TYPE, "this graph is 5 x 6");
    graph_free(&g);
    lacis_array_release(o.a);
    g = graph_make(&random, GRAPH_SPARSE, 5, 5, LACIS_F64);
    o.a = graph_array(p, &g);
    refuse(p, "SYMV a BY x FIGURES", &o, LACIS_TYPE, "FIGURES are of dense matrices");
    refuse(p, "SYMV a BY x PRECISION dd", &o, LACIS_TYPE, "of single or double precision");
    graph_free(&g);
    release(&o);
}

/* Copies of many right sides within little memory. */
static void memory(void **state)
{
    parity *p = *state;
    const int64_t n = 64, lanes = 4000;
    const symmetric s = {.dtype = LACIS_F64, .matrices = 1, .n = n, .seed = 1};
    int64_t *rows = malloc(sizeof *rows * (size_t)lanes);
    for (int64_t l = 0; l < lanes; l++)
        rows[l] = n;
    operands o = {symmetric_array(p, &s), batch_array(p, 5, rows, lanes, 8, LACIS_F64), NULL};
    free(rows);
    lacis_memory_set_limit(p->host.memory, lacis_memory_used(p->host.memory) + ((uint64_t)1 << 20));
    refuse(p, "SYMV a BY x", &o, LACIS_LIMIT, "memory_limit");
    lacis_memory_set_limit(p->host.memory, (uint64_t)1 << 40);
    accept(p, "SYMV a BY x", &o);
    release(&o);
}

static void cancelled(void **state)
{
    parity *p = *state;
    operands o = make(p, LACIS_F64, LACIS_F64, LACIS_F64, 500);
    atomic_store(&p->host.cancel, 1);
    assert_int_equal(attempt_call(p, "SYMV a BY x", NAMED(&o)), LACIS_INTERRUPT);
    lacis_run_clear(&p->run);
    atomic_store(&p->host.cancel, 0);
    accept(p, "SYMV a BY x", &o);
    release(&o);
}

static void faults(void **state)
{
    parity *p = *state;
    const symmetric several = {.dtype = LACIS_F32, .matrices = 3, .several = true, .order = {40, 50, 60}, .seed = 1};
    for (int threads = 1; threads <= 2; threads++) {
        p->host.threads = threads;
        operands o = make(p, LACIS_F64, LACIS_F32, LACIS_F64, 300);
        fail_each_allocation(p, "SYMV a BY x ADD y", NAMED(&o));
        fail_each_allocation(p, "SYMV a BY x ADD y FIGURES ORDER canonical", NAMED(&o));
        lacis_array_release(o.x);
        o.x = lanes_array(p, 16, 300);
        fail_each_allocation(p, "SYMV a BY x PRECISION dd", NAMED(&o));
        release(&o);
        o = (operands){symmetric_array(p, &several), batch_array(p, 5, several.order, 3, 2, LACIS_F64), NULL};
        fail_each_allocation(p, "SYMV a BY x", NAMED(&o));
        release(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shapes, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(batches, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(ids, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(types_and_words, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(graphs, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(memory, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(cancelled, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(faults, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
