/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench's products over several devices, on pretended GPUs: whatever number of them shares a product, its parts
 * together are the plain loop's answer; a device that fails is an error; nothing is left on any of them.
 */
#include "support/gpu_multiply.h"

#define LACIS_BENCH_GPU
#include "../bench/resident.c"

#include "../bench/resident_run.c"

static bench_graph bench_input;
static int64_t input_source[BENCH_SOURCES];

static int with_graph(void **state)
{
    (void)state;
    fake_install(1000000000);
    fake.devices = 3;
    fake_cuda_error = 0;
    if (bench_graph_make("rmat:7", &bench_input) != 0) return 1;
    bench_sources(&bench_input, input_source);
    return 0;
}

static int without(void **state)
{
    (void)state;
    bench_graph_free(&bench_input);
    fake_remove();
    return 0;
}

static bench_resident *open_with(int gpus)
{
    bench_resident *r;
    char reason[300] = "";
    assert_int_equal(bench_resident_open(&bench_input, true, gpus, &r, reason, sizeof reason), 0);
    if (r == NULL) fail_msg("%s", reason);
    return r;
}

/* Answers whether the kernels do the op. */
static bool begin_op(bench_resident *r, bench_op op)
{
    char why[300];
    assert_int_equal(bench_resident_begin(r, op, why, sizeof why), 0);
    return why[0] == '\0';
}

static void run_op(bench_resident *r, bench_op op, int gpus)
{
    bench_digest right = {0, 0}, found = {0, 0};
    double seconds = -1;
    assert_int_equal(bench_digest_plain(&bench_input, op, input_source, &right), 0);
    for (int i = 0; i < (op == BENCH_SOURCE ? BENCH_SOURCES : 1); i++)
        assert_int_equal(bench_resident_run(r, gpus, input_source[i], &seconds, &found), 0);
    assert_true(seconds > 0);
    assert_true(right.entries > 0);
    assert_int_equal(found.entries, right.entries);
    assert_int_equal(found.sum, right.sum);
}

static void test_shared(void **state)
{
    (void)state;
    const bench_op ops[] = {BENCH_PAIR, BENCH_MINPLUS, BENCH_TIMES, BENCH_TOP10, BENCH_SOURCE};
    bench_resident *r = open_with(3);
    assert_int_equal(bench_resident_gpus(r), 3);
    for (int i = 0; i < LACIS_COUNT(ops); i++) {
        assert_true(begin_op(r, ops[i]));
        for (int gpus = 1; gpus <= 3; gpus++)
            run_op(r, ops[i], gpus);
    }
    bench_resident_close(r);
}

/* Every row is somebody's, and nobody has much more than his share of the products. */
static void test_cut(void **state)
{
    (void)state;
    double seconds, share = bench_products(&bench_input, BENCH_PAIR, NULL) / 3;
    bench_resident *r = open_with(3);
    assert_true(begin_op(r, BENCH_PAIR));
    assert_int_equal(bench_resident_run(r, 3, 0, &seconds, NULL), 0);
    int64_t next = 0;
    for (int i = 0; i < 3; i++) {
        const bench_device *device = &r->device[i];
        assert_int_equal(device->first, next);
        next += device->count;
        assert_true((double)device->out.products > 0.7 * share && (double)device->out.products < 1.3 * share);
    }
    assert_int_equal(next, bench_input.n);
    bench_resident_close(r);
}

static void test_fewer(void **state)
{
    (void)state;
    bench_resident *r = open_with(9);
    assert_int_equal(bench_resident_gpus(r), 3);
    bench_resident_close(r);
    r = open_with(2);
    assert_int_equal(bench_resident_gpus(r), 2);
    bench_resident_close(r);
}

static void test_fails(void **state)
{
    (void)state;
    double seconds;
    bench_resident *r = open_with(2);
    assert_true(begin_op(r, BENCH_TIMES));
    fake_cuda_error = 700; /* of one of the two */
    assert_int_equal(bench_resident_run(r, 2, 0, &seconds, NULL), 1);
    run_op(r, BENCH_TIMES, 2);
    bench_resident_close(r);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, with_graph, without)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_shared), CASE(test_cut), CASE(test_fewer), CASE(test_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
