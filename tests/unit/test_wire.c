/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays as messages between ranks: every kind and type comes back as it was, rows that lie loose come back packed,
 * and what is damaged is refused.
 */
#include "core/wire.h"

#include "support/check.h"

typedef struct bench {
    lacis_host host;
    lacis_run run;
} bench;

static int setup(void **state)
{
    static bench self;
    memset(&self, 0, sizeof self);
    assert_int_equal(lacis_host_init(&self.host), LACIS_OK);
    lacis_run_init(&self.run, &self.host);
    *state = &self;
    return 0;
}

static int teardown(void **state)
{
    bench *self = *state;
    lacis_run_clear(&self->run);
    assert_int_equal(lacis_memory_used(self->host.memory), 0);
    lacis_host_clear(&self->host);
    return 0;
}

static lacis_buffer *filled(lacis_run *run, uint64_t bytes, int seed)
{
    lacis_buffer *buffer;
    assert_int_equal(lacis_buffer_new(run, bytes, &buffer), LACIS_OK);
    for (uint64_t i = 0; i < bytes; i++)
        ((unsigned char *)lacis_buffer_data(buffer))[i] = (unsigned char)(7 * i + (uint64_t)seed);
    return buffer;
}

static void add(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                lacis_buffer *buffer)
{
    assert_int_equal(lacis_array_add(run, array, name, dtype, count, buffer, 0), LACIS_OK);
    lacis_buffer_release(buffer);
}

static lacis_buffer *copied(lacis_run *run, const void *data, uint64_t bytes)
{
    lacis_buffer *buffer;
    assert_int_equal(lacis_buffer_new(run, bytes, &buffer), LACIS_OK);
    memcpy(lacis_buffer_data(buffer), data, bytes);
    return buffer;
}

/* What a reader makes of the first `bytes` of a message, in a buffer of its own. */
static lacis_status read_back(lacis_run *run, const lacis_wire *wire, uint64_t bytes, lacis_array **out)
{
    lacis_buffer *whole;
    assert_int_equal(lacis_buffer_new(run, bytes, &whole), LACIS_OK);
    if (bytes > 0) memcpy(lacis_buffer_data(whole), wire->data, bytes);
    lacis_unwire from = {.data = lacis_buffer_data(whole), .bytes = bytes};
    lacis_status status = lacis_unwire_array(run, &from, whole, out);
    lacis_buffer_release(whole);
    return status;
}

static lacis_array *round_trip(lacis_run *run, const lacis_array *array)
{
    lacis_wire wire = {.run = run};
    lacis_array *back;
    lacis_wire_array(&wire, array);
    assert_int_equal(wire.status, LACIS_OK);
    assert_int_equal(read_back(run, &wire, wire.bytes, &back), LACIS_OK);
    lacis_wire_free(&wire);
    assert_int_equal(lacis_array_kind(back), lacis_array_kind(array));
    assert_int_equal(lacis_array_dtype(back), lacis_array_dtype(array));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lacis_array_extent(back, i), lacis_array_extent(array, i));
        assert_int_equal(lacis_array_base(back, i), lacis_array_base(array, i));
    }
    assert_int_equal(lacis_array_entries(back), lacis_array_entries(array));
    return back;
}

static void same_parts(const lacis_array *x, const lacis_array *y)
{
    assert_int_equal(lacis_array_part_count(x), lacis_array_part_count(y));
    for (int i = 0; i < lacis_array_part_count(x); i++) {
        lacis_part one, other;
        lacis_array_part(x, i, &one);
        lacis_array_part(y, i, &other);
        assert_string_equal(one.name, other.name);
        assert_int_equal(one.dtype, other.dtype);
        assert_int_equal(one.count, other.count);
        assert_int_equal((uintptr_t)other.data % 64, 0);
        size_t bytes = (size_t)one.count * lacis_dtype_size(one.dtype);
        if (bytes > 0) assert_memory_equal(one.data, other.data, bytes);
    }
}

static void test_vectors(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    for (int type = LACIS_U8; type <= LACIS_DD; type++) {
        for (int64_t count = 0; count < 40; count += 13) {
            lacis_array *array, *back;
            uint64_t bytes = (uint64_t)count * lacis_dtype_size((lacis_dtype)type);
            assert_int_equal(lacis_array_new(run, LACIS_VECTOR, (lacis_dtype)type, 99, 0, &array), LACIS_OK);
            lacis_array_set_base(array, 0, -5);
            add(run, array, "values", (lacis_dtype)type, count, filled(run, bytes, type));
            if (count != 13) add(run, array, "index", LACIS_I64, count, filled(run, 8 * (uint64_t)count, 1));
            back = round_trip(run, array);
            same_parts(array, back);
            lacis_array_release(back);
            lacis_array_release(array);
        }
    }
}

/* Two lanes of two rows and one of three, each group with its tree; and the same with a parent behind its child. */
static void test_batches(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    for (int good = 0; good < 2; good++) {
        static const int64_t lanes[] = {2, 1}, rows[] = {2, 3};
        const int32_t parent[] = {-1, 0, -1, good ? 0 : 2, 1};
        lacis_array *array;
        assert_int_equal(lacis_array_new(run, LACIS_INTERLEAVED, LACIS_F64, 3, 3, &array), LACIS_OK);
        add(run, array, "group_lanes", LACIS_I64, 2, copied(run, lanes, sizeof lanes));
        add(run, array, "group_rows", LACIS_I64, 2, copied(run, rows, sizeof rows));
        add(run, array, "parent", LACIS_I32, 5, copied(run, parent, sizeof parent));
        add(run, array, "d", LACIS_F64, 7, filled(run, 56, 3));
        if (good) {
            lacis_array *back = round_trip(run, array);
            same_parts(array, back);
            lacis_array_release(back);
        } else {
            lacis_wire wire = {.run = run};
            lacis_array *back;
            lacis_wire_array(&wire, array);
            assert_int_equal(read_back(run, &wire, wire.bytes, &back), LACIS_FORMAT);
            lacis_wire_free(&wire);
        }
        lacis_array_release(array);
    }
}

/* Three matrices of 2, 0 and 1 rows; and the same with a largest one that none of them is. */
static void test_symmetric(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    for (int good = 0; good < 2; good++) {
        static const int64_t orders[] = {2, 0, 1}, shape[] = {1, 1, 2, 0};
        lacis_array *array, *back;
        assert_int_equal(lacis_array_new(run, LACIS_SYMMETRIC, LACIS_CDD, good ? 2 : 3, 3, &array), LACIS_OK);
        lacis_array_set_base(array, 0, 1);
        lacis_array_set_base(array, 1, -7);
        add(run, array, "values", LACIS_CDD, 5, filled(run, 160, 3));
        add(run, array, "shape", LACIS_I64, 4, copied(run, shape, sizeof shape));
        add(run, array, "orders", LACIS_I64, 3, copied(run, orders, sizeof orders));
        if (good) {
            back = round_trip(run, array);
            same_parts(array, back);
            assert_int_equal(lacis_array_entries(back), 4);
            lacis_array_release(back);
        } else {
            lacis_wire wire = {.run = run};
            lacis_wire_array(&wire, array);
            assert_int_equal(read_back(run, &wire, wire.bytes, &back), LACIS_FORMAT);
            lacis_wire_free(&wire);
        }
        lacis_array_release(array);
    }
}

/* Bodies with labels and a time; and the same with a label too few. */
static void test_bodies(void **state)
{
    static const char *const names[] = {"m", "x", "y", "z", "eps"};
    lacis_run *run = &((bench *)*state)->run;
    for (int good = 0; good < 2; good++) {
        const double time = 0.25;
        lacis_array *array, *back;
        assert_int_equal(lacis_array_new(run, LACIS_BODIES, LACIS_F32, 3, 0, &array), LACIS_OK);
        for (int i = 0; i < LACIS_COUNT(names); i++)
            add(run, array, names[i], LACIS_F32, 3, filled(run, 12, (unsigned char)i));
        add(run, array, "id", LACIS_I64, good ? 3 : 2, filled(run, 24, 3));
        add(run, array, "time", LACIS_F64, 1, copied(run, &time, sizeof time));
        assert_int_equal(lacis_array_entries(array), 3);
        if (good) {
            lacis_bodies bodies;
            back = round_trip(run, array);
            same_parts(array, back);
            assert_int_equal(lacis_array_entries(back), 3);
            assert_int_equal(lacis_bodies_view(run, back, &bodies), LACIS_OK);
            assert_true(bodies.time == time && bodies.eps != NULL && bodies.vx == NULL);
            lacis_array_release(back);
        } else {
            lacis_wire wire = {.run = run};
            lacis_wire_array(&wire, array);
            assert_int_equal(read_back(run, &wire, wire.bytes, &back), LACIS_FORMAT);
            lacis_wire_free(&wire);
        }
        lacis_array_release(array);
    }
}

/* A grid with two fields; and the same with a cell too few, or another shape than its extents say. */
static void test_grids(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    for (int bad = 0; bad < 3; bad++) {
        const int64_t shape[3] = {2, bad == 2 ? 2 : 3, 4}, step = 6;
        lacis_array *array, *back;
        assert_int_equal(lacis_array_new(run, LACIS_GRID, LACIS_F32, 2, 3, &array), LACIS_OK);
        add(run, array, "u", LACIS_F32, 24, filled(run, 96, 1));
        add(run, array, "shape", LACIS_I64, 3, copied(run, shape, sizeof shape));
        add(run, array, "v", LACIS_F32, bad == 1 ? 23 : 24, filled(run, 96, 2));
        add(run, array, "step", LACIS_I64, 1, copied(run, &step, sizeof step));
        assert_int_equal(lacis_array_entries(array), 24);
        if (bad == 0) {
            lacis_grid grid;
            back = round_trip(run, array);
            same_parts(array, back);
            assert_int_equal(lacis_array_entries(back), 24);
            assert_int_equal(lacis_grid_view(run, back, &grid), LACIS_OK);
            assert_true(grid.step == 6 && grid.fields == 2 && grid.dims == 3 && grid.extent[2] == 4);
            lacis_array_release(back);
        } else {
            lacis_wire wire = {.run = run};
            lacis_wire_array(&wire, array);
            assert_int_equal(read_back(run, &wire, wire.bytes, &back), LACIS_FORMAT);
            lacis_wire_free(&wire);
        }
        lacis_array_release(array);
    }
}

static void test_tables(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    for (int64_t rows = 0; rows < 10; rows += 3) {
        lacis_array *array, *back;
        assert_int_equal(lacis_array_new(run, LACIS_TABLE, LACIS_PATTERN, rows, 0, &array), LACIS_OK);
        add(run, array, "x", LACIS_F32, rows, filled(run, 4 * (uint64_t)rows, 1));
        add(run, array, "a long name of a column, of more than one word", LACIS_I64, rows,
            filled(run, 8 * (uint64_t)rows, 2));
        back = round_trip(run, array);
        same_parts(array, back);
        lacis_array_release(back);
        lacis_array_release(array);
    }
}

/* Rows of 2, 0, 3 and 1 entries, out of order and with gaps between them. */
static lacis_array *loose_graph(lacis_run *run, lacis_dtype storage, lacis_dtype dtype, bool labels)
{
    static const int64_t begin[] = {6, 3, 0, 9}, end[] = {8, 3, 3, 10}, label[] = {2, 3, 5, 70};
    static const uint32_t column[] = {1, 2, 4, 99, 99, 99, 0, 3, 99, 2};
    lacis_csr_parts parts = {.rows = 4, .cols = 5, .entries = 6, .storage = storage, .dtype = dtype, .row_base = 3};
    lacis_array *array;
    parts.begin = filled(run, sizeof begin, 0);
    parts.end = filled(run, sizeof end, 0);
    parts.columns = filled(run, sizeof column, 0);
    memcpy(lacis_buffer_data(parts.begin), begin, sizeof begin);
    memcpy(lacis_buffer_data(parts.end), end, sizeof end);
    memcpy(lacis_buffer_data(parts.columns), column, sizeof column);
    if (dtype != LACIS_PATTERN) parts.values = filled(run, 10 * lacis_dtype_size(storage), 3);
    if (labels) parts.row_labels = filled(run, sizeof label, 0);
    if (labels) memcpy(lacis_buffer_data(parts.row_labels), label, sizeof label);
    assert_int_equal(lacis_csr_new(run, &parts, &array), LACIS_OK);
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.end);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    lacis_buffer_release(parts.row_labels);
    return array;
}

static void same_graph(const lacis_array *x, const lacis_array *y)
{
    lacis_csr one, other;
    lacis_csr_view(x, &one);
    lacis_csr_view(y, &other);
    size_t size = lacis_dtype_size(one.storage);
    assert_int_equal(one.storage, other.storage);
    assert_int_equal(one.row_label == NULL, other.row_label == NULL);
    for (int64_t r = 0; r < one.rows; r++) {
        int64_t count = one.end[r] - one.begin[r];
        if (one.row_label != NULL) assert_int_equal(one.row_label[r], other.row_label[r]);
        assert_int_equal(other.end[r] - other.begin[r], count);
        if (count == 0) continue;
        assert_memory_equal(one.column + one.begin[r], other.column + other.begin[r], 4 * (size_t)count);
        if (size > 0)
            assert_memory_equal((const char *)one.value + (size_t)one.begin[r] * size,
                                (const char *)other.value + (size_t)other.begin[r] * size, (size_t)count * size);
    }
}

static void test_graphs(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    for (int type = LACIS_PATTERN; type <= LACIS_DD; type++) {
        bool count = type >= LACIS_U8 && type <= LACIS_U32; /* storage of counts */
        lacis_array *array =
            loose_graph(run, (lacis_dtype)type, count ? LACIS_I64 : (lacis_dtype)type, type % 2 == 0);
        lacis_array *back = round_trip(run, array);
        same_graph(array, back);
        assert_null(lacis_array_part_named(back, "begin"));
        assert_int_equal(lacis_array_part_named(back, "columns")->count, 6);
        lacis_array_release(back);
        lacis_array_release(array);
    }
}

static void test_empty_graph(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    lacis_csr_parts parts = {.cols = 3, .dtype = LACIS_F64, .storage = LACIS_F64};
    lacis_array *array;
    parts.begin = filled(run, 8, 0);
    memset(lacis_buffer_data(parts.begin), 0, 8);
    parts.columns = filled(run, 0, 0);
    parts.values = filled(run, 0, 0);
    assert_int_equal(lacis_csr_new(run, &parts, &array), LACIS_OK);
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    lacis_array *back = round_trip(run, array);
    same_parts(array, back);
    lacis_array_release(back);
    lacis_array_release(array);
}

/* No prefix of a message is an array. */
static void test_cut_short(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    lacis_array *array = loose_graph(run, LACIS_F64, LACIS_F64, true), *back;
    lacis_wire wire = {.run = run};
    lacis_wire_array(&wire, array);
    for (uint64_t bytes = 0; bytes < wire.bytes; bytes++)
        assert_int_equal(read_back(run, &wire, bytes, &back), LACIS_FORMAT);
    lacis_wire_free(&wire);
    lacis_array_release(array);
}

/* Any byte may be wrong: the answer is an array whose rows can be read, or LACIS_FORMAT. */
static void test_damaged(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    lacis_array *array = loose_graph(run, LACIS_I32, LACIS_I32, true);
    lacis_wire wire = {.run = run};
    int refused = 0;
    lacis_wire_array(&wire, array);
    for (uint64_t at = 0; at < wire.bytes; at++) {
        for (int bit = 0; bit < 8; bit += 7) {
            lacis_array *back;
            wire.data[at] ^= (char)(1 << bit);
            lacis_status status = read_back(run, &wire, wire.bytes, &back);
            wire.data[at] ^= (char)(1 << bit);
            if (status == LACIS_FORMAT) refused++;
            if (status != LACIS_OK) continue;
            lacis_wire again = {.run = run};
            lacis_wire_array(&again, back); /* reads all of it */
            assert_int_equal(again.status, LACIS_OK);
            lacis_wire_free(&again);
            lacis_array_release(back);
        }
    }
    assert_true(refused > 100);
    lacis_wire_free(&wire);
    lacis_array_release(array);
}

static void test_texts(void **state)
{
    lacis_run *run = &((bench *)*state)->run;
    lacis_wire wire = {.run = run};
    lacis_wire_text(&wire, "MULTIPLY g BY g");
    lacis_wire_text(&wire, NULL);
    lacis_wire_text(&wire, "");
    lacis_wire_int(&wire, INT64_MIN);
    lacis_unwire from = {.data = wire.data, .bytes = wire.bytes};
    assert_string_equal(lacis_unwire_text(&from), "MULTIPLY g BY g");
    assert_null(lacis_unwire_text(&from));
    assert_false(from.bad);
    assert_string_equal(lacis_unwire_text(&from), "");
    assert_true(lacis_unwire_int(&from) == INT64_MIN);
    assert_false(from.bad);
    assert_int_equal(lacis_unwire_int(&from), 0);
    assert_true(from.bad);
    lacis_wire_free(&wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(test_vectors),   CHECK(test_batches), CHECK(test_symmetric), CHECK(test_bodies),
        CHECK(test_grids),     CHECK(test_tables),  CHECK(test_graphs),    CHECK(test_empty_graph),
        CHECK(test_cut_short), CHECK(test_damaged), CHECK(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
