/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/core: memory and its limit, scratch, buffers, arrays, values, labels, number texts, the thread team.
 */
#include "common/parallel.h"
#include "core/run.h"
#include "support/check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static lacis_host host;
static lacis_run run;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(lacis_host_init(&host), LACIS_OK);
    lacis_run_init(&run, &host);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lacis_run_clear(&run);
    assert_int_equal(lacis_memory_used(host.memory), 0);
    lacis_host_clear(&host);
    return 0;
}

static void memory_counts_and_limits(void **state)
{
    (void)state;
    lacis_memory_set_limit(host.memory, 1000000);
    void *block, *other;
    assert_int_equal(lacis_run_alloc(&run, 600000, &block), LACIS_OK);
    assert_true(lacis_memory_used(host.memory) >= 600000);
    assert_int_equal((uintptr_t)block % 64, 0);
    assert_int_equal(lacis_run_alloc(&run, 600000, &other), LACIS_LIMIT);
    assert_non_null(strstr(host.error.message, "memory_limit"));
    assert_int_equal(lacis_run_alloc(&run, UINT64_MAX - 3, &other), LACIS_LIMIT);
    lacis_run_free(&run, block);
    assert_int_equal(lacis_memory_used(host.memory), 0);
    assert_true(lacis_memory_peak(host.memory) >= 600000 && lacis_memory_peak(host.memory) <= 1000000);
}

static int refuse(void *arg, size_t bytes)
{
    (void)bytes;
    return (*(int *)arg)-- == 0;
}

static void guard_refuses(void **state)
{
    (void)state;
    int after = 1;
    void *block, *other;
    lacis_set_allocation_guard(refuse, &after);
    assert_int_equal(lacis_run_alloc(&run, 10, &block), LACIS_OK);
    assert_int_equal(lacis_run_alloc(&run, 10, &other), LACIS_NOMEM);
    lacis_set_allocation_guard(NULL, NULL);
    lacis_run_free(&run, block);
}

static void scratch_holds_many_sizes(void **state)
{
    (void)state;
    enum { PIECES = 3000 };
    char *piece[PIECES];
    for (int i = 0; i < PIECES; i++) {
        uint64_t bytes = i % 100 == 0 ? 50000 : (uint64_t)(i % 97);
        assert_int_equal(lacis_run_scratch(&run, bytes, &piece[i]), LACIS_OK);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        memset(piece[i], i, bytes);
    }
    for (int i = 0; i < PIECES; i++) {
        uint64_t bytes = i % 100 == 0 ? 50000 : (uint64_t)(i % 97);
        for (uint64_t j = 0; j < bytes; j++)
            assert_int_equal((unsigned char)piece[i][j], (unsigned char)i);
    }
    assert_string_equal(lacis_run_text(&run, "%s-%d", "x", 5), "x-5");
}

static void counted(void *arg)
{
    ++*(int *)arg;
}

static void buffers_are_counted(void **state)
{
    (void)state;
    lacis_buffer *heap, *mapped, *foreign;
    int released = 0;
    assert_int_equal(lacis_buffer_new(&run, 100, &heap), LACIS_OK);
    assert_int_equal(lacis_buffer_reserve(&run, (uint64_t)1 << 36, &mapped), LACIS_OK);
    uint64_t before = lacis_memory_used(host.memory);
    memset(lacis_buffer_data(mapped), 1, 1 << 20);
    assert_int_equal(lacis_buffer_charge(mapped, 1 << 20), LACIS_OK);
    assert_int_equal(lacis_memory_used(host.memory) - before, 1 << 20);
    lacis_buffer_trim(mapped, 5000);
    assert_int_equal(lacis_memory_used(host.memory) - before, 5000);
    assert_int_equal(((char *)lacis_buffer_data(mapped))[4999], 1);
    assert_int_equal(lacis_buffer_charge(mapped, (uint64_t)1 << 60), LACIS_LIMIT);
    assert_int_equal(lacis_buffer_wrap(&run, "abc", 3, counted, &released, &foreign), LACIS_OK);
    assert_ptr_equal(lacis_buffer_retain(foreign), foreign);
    lacis_buffer_release(foreign);
    assert_int_equal(released, 0);
    lacis_buffer_release(foreign);
    assert_int_equal(released, 1);
    lacis_buffer_release(heap);
    lacis_buffer_release(mapped);
}

static void reserved_space_is_used_again(void **state)
{
    (void)state;
    lacis_buffer *first, *second;
    assert_int_equal(lacis_buffer_reserve(&run, 10 << 20, &first), LACIS_OK);
    void *data = lacis_buffer_data(first);
    assert_int_equal(lacis_buffer_charge(first, 10 << 20), LACIS_OK);
    lacis_buffer_release(first);
    assert_int_equal(lacis_buffer_reserve(&run, 8 << 20, &second), LACIS_OK);
    assert_ptr_equal(lacis_buffer_data(second), data);
    lacis_buffer_release(second);
}

static lacis_buffer *buffer_of(const void *data, size_t bytes)
{
    lacis_buffer *buffer;
    assert_int_equal(lacis_buffer_new(&run, bytes, &buffer), LACIS_OK);
    memcpy(lacis_buffer_data(buffer), data, bytes);
    return buffer;
}

static void csr_views_show_both_layouts(void **state)
{
    (void)state;
    const int64_t begin[] = {5, 0}, end[] = {7, 1}, labels[] = {10, 20, 30};
    const uint32_t columns[] = {2, 0, 0, 0, 0, 0, 1, 0};
    const double values[] = {1, 0, 0, 0, 0, 2, 3, 0};
    lacis_csr_parts parts = {.rows = 2, .cols = 3, .entries = 3, .storage = LACIS_F64, .dtype = LACIS_F64};
    parts.begin = buffer_of(begin, sizeof begin);
    parts.end = buffer_of(end, sizeof end);
    parts.columns = buffer_of(columns, sizeof columns);
    parts.values = buffer_of(values, sizeof values);
    parts.col_labels = buffer_of(labels, sizeof labels);
    lacis_array *array;
    assert_int_equal(lacis_csr_new(&run, &parts, &array), LACIS_OK);
    lacis_csr csr;
    lacis_csr_view(array, &csr);
    assert_int_equal(csr.entries, 3);
    assert_int_equal(csr.begin[0], 5);
    assert_int_equal(csr.end[1], 1);
    assert_int_equal(lacis_label(csr.col_label, csr.col_base, csr.column[6]), 20);
    assert_int_equal(lacis_array_bytes(array), 2 * 16 + 3 * 12 + 24);
    assert_int_equal(lacis_array_entries(array), 3);
    lacis_array *again = lacis_array_retain(array);
    lacis_array_release(array);
    assert_int_equal(lacis_array_part_count(again), 5);
    lacis_array_release(again);
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.end);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    lacis_buffer_release(parts.col_labels);
}

static void labels_are_found(void **state)
{
    (void)state;
    const int64_t label[] = {-5, 3, INT64_MAX};
    assert_int_equal(lacis_label_find(label, 0, 3, 3), 1);
    assert_int_equal(lacis_label_find(label, 0, 3, 4), -1);
    assert_int_equal(lacis_label_lower(label, 0, 3, 4), 2);
    assert_int_equal(lacis_label_lower(NULL, INT64_MIN, 10, INT64_MAX), 10);
    assert_int_equal(lacis_label_find(NULL, 1, 10, 1), 0);
    assert_int_equal(lacis_label_find(NULL, 1, 10, 11), -1);
    assert_int_equal(lacis_label_find(NULL, 1, 10, 0), -1);
}

static void values_convert(void **state)
{
    (void)state;
    const uint16_t small[] = {7, 65535};
    const double pair[] = {1.5, -2, 3, 4};
    int64_t whole[2];
    float real[4];
    lacis_values_convert(small, LACIS_U16, 0, 2, whole, LACIS_I64);
    assert_int_equal(whole[1], 65535);
    lacis_values_convert(NULL, LACIS_PATTERN, 0, 2, whole, LACIS_I64);
    assert_int_equal(whole[0], 1);
    lacis_values_convert(pair, LACIS_C128, 1, 1, real, LACIS_C64);
    assert_true(real[0] == 3.0f && real[1] == 4.0f);
    lacis_values_convert(pair, LACIS_F64, 2, 2, real, LACIS_F32);
    assert_true(real[0] == 3.0f && real[1] == 4.0f);
    assert_true(lacis_value_double(pair, LACIS_DD, 0) == -0.5);
}

static void numbers_round_trip(void **state)
{
    (void)state;
    char text[LACIS_NUMBER_TEXT];
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        lacis_format_double(value, text);
        assert_true(strtod(text, NULL) == value);
        lacis_format_float((float)bits, text);
        assert_true(strtof(text, NULL) == (float)bits);
    }
    lacis_format_double(3, text);
    assert_string_equal(text, "3.0");
    lacis_format_double(-INFINITY, text);
    assert_string_equal(text, "-inf");
    assert_string_equal(lacis_format_bytes(1500000000, text), "1.5 GB");
    assert_string_equal(lacis_format_bytes(999, text), "999 bytes");
}

struct tally {
    _Atomic int64_t sum;
    int64_t fail_at;
};

static int add_task(void *context, int64_t task, int worker)
{
    struct tally *tally = context;
    (void)worker;
    tally->sum += task;
    return task == tally->fail_at ? 7 : 0;
}

struct workers {
    int threads;
    _Atomic int beyond;
    _Atomic int64_t seen;
};

static int note_worker(void *context, int64_t task, int worker)
{
    struct workers *workers = context;
    (void)task;
    if (worker >= workers->threads) workers->beyond++;
    workers->seen++;
    return 0;
}

/* A team may stay larger than what is asked for; nobody beyond that gets a task. */
static void teams_keep_to_their_threads(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct workers workers = {.threads = round % 3 == 0 ? 8 : 2 + round % 2};
        assert_int_equal(lacis_parallel(workers.threads, 50, note_worker, &workers), 0);
        assert_int_equal(workers.beyond, 0);
        assert_int_equal(workers.seen, 50);
    }
}

static void tasks_all_run_once(void **state)
{
    (void)state;
    struct tally tally = {0, -1};
    assert_int_equal(lacis_parallel(4, 1000, add_task, &tally), 0);
    assert_int_equal(tally.sum, 999 * 1000 / 2);
    tally = (struct tally){0, 10};
    assert_int_equal(lacis_parallel(3, 1000000, add_task, &tally), 7);
    assert_int_equal(lacis_parallel(3, 0, add_task, &tally), 0);
}

static lacis_status nothing(void *context, int64_t task, int worker)
{
    (void)context;
    (void)task;
    (void)worker;
    return LACIS_OK;
}

static void cancelled_runs_stop(void **state)
{
    (void)state;
    host.cancel = 1;
    assert_int_equal(lacis_run_parallel(&run, 5, nothing, NULL), LACIS_INTERRUPT);
    assert_string_equal(host.error.message, "interrupted");
    host.cancel = 0;
    assert_int_equal(lacis_run_parallel(&run, 5, nothing, NULL), LACIS_OK);
}

static void counters_add_up(void **state)
{
    (void)state;
    lacis_run_count(&run, "rows", 2);
    lacis_run_count(&run, "products", 5);
    lacis_run_count(&run, "rows", 3);
    assert_int_equal(run.counters, 2);
    assert_true(run.counter[0].figure == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(memory_counts_and_limits),
        CHECK(guard_refuses),
        CHECK(scratch_holds_many_sizes),
        CHECK(buffers_are_counted),
        CHECK(labels_are_found),
        CHECK(reserved_space_is_used_again),
        CHECK(csr_views_show_both_layouts),
        CHECK(values_convert),
        CHECK(numbers_round_trip),
        CHECK(tasks_all_run_once),
        CHECK(teams_keep_to_their_threads),
        CHECK(counters_add_up),
        CHECK(cancelled_runs_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
