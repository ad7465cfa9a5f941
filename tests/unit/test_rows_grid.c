/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids below SQL: built and taken apart again, what goes together and what does not, and the row source against
 * loops over all cells.
 */
#include "core/rows.h"
#include "support/check.h"

static lacis_host host;
static lacis_run run;
static uint64_t seed = 1;

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

static uint64_t random_bits(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

enum { FIELDS = 2 };

/* Cell c of field f holds 10 c + f. */
static lacis_array *grid_of(int dims, const int64_t *extent, lacis_dtype dtype, lacis_grid *out)
{
    lacis_grid like = {.dims = dims, .dtype = dtype, .fields = FIELDS, .name = {"value", "u"}};
    lacis_array *array;
    memcpy(like.extent, extent, (size_t)dims * sizeof *extent);
    assert_int_equal(lacis_grid_new(&run, &like, &array, out), LACIS_OK);
    for (int f = 0; f < FIELDS; f++)
        for (int64_t c = 0; c < out->cells; c++) {
            double value = (double)(10 * c + f);
            char *to;
            memcpy(&to, &out->field[f], sizeof to);
            lacis_values_convert(&value, LACIS_F64, 0, 1, to + (uint64_t)c * lacis_dtype_size(dtype), dtype);
        }
    return array;
}

static void built_and_taken_apart(void **state)
{
    (void)state;
    lacis_grid like = {.dims = 3, .extent = {5, 4, 3}, .dtype = LACIS_F32, .fields = 1, .step = 17}, grid;
    lacis_array *array;
    assert_int_equal(lacis_grid_new(&run, &like, &array, &grid), LACIS_OK);
    assert_int_equal(lacis_array_kind(array), LACIS_GRID);
    assert_int_equal(lacis_array_extent(array, 0), 5);
    assert_int_equal(lacis_array_extent(array, 1), 4);
    assert_int_equal(lacis_array_entries(array), 60);
    assert_int_equal(lacis_array_bytes(array), 60 * 4 + 3 * 8 + 8);
    assert_true(grid.dims == 3 && grid.cells == 60 && grid.extent[2] == 3 && grid.fields == 1 && grid.step == 17);
    assert_string_equal(grid.name[0], "value");
    assert_ptr_equal(grid.field[0], lacis_array_part_named(array, "value")->data);
    lacis_array_release(array);
    like = (lacis_grid){.dims = 1, .extent = {1 << 20, 77, 99}, .dtype = LACIS_F64, .fields = 2, .name = {"a", "b"}};
    assert_int_equal(lacis_grid_new(&run, &like, &array, &grid), LACIS_OK); /* large enough to be reserved */
    assert_true(grid.extent[1] == 1 && grid.extent[2] == 1 && grid.cells == 1 << 20 && grid.step == 0);
    assert_int_equal(lacis_array_extent(array, 1), 1);
    assert_null(lacis_array_part_named(array, "step"));
    double *last;
    memcpy(&last, &grid.field[1], sizeof last);
    last[grid.cells - 1] = 3;
    lacis_array_release(array);
}

static void refuse_new(lacis_grid like, lacis_status status, const char *why)
{
    lacis_array *array = NULL;
    lacis_grid grid;
    assert_int_equal(lacis_grid_new(&run, &like, &array, &grid), status);
    if (strstr(host.error.message, why) == NULL) fail_msg("\"%s\" lacks \"%s\"", host.error.message, why);
    assert_null(array);
}

static void what_cannot_be_built(void **state)
{
    (void)state;
    const lacis_grid good = {.dims = 2, .extent = {2, 2}, .dtype = LACIS_F32, .fields = 2, .name = {"u", "v"}};
    lacis_grid bad = good;
    bad.dtype = LACIS_I64;
    refuse_new(bad, LACIS_TYPE, "f32 or f64, not of i64");
    bad = good, bad.dims = 4;
    refuse_new(bad, LACIS_RANGE, "one to three dimensions, not 4");
    bad = good, bad.extent[1] = 0;
    refuse_new(bad, LACIS_RANGE, "0 cells long along y");
    bad = good, bad.extent[0] = -3;
    refuse_new(bad, LACIS_RANGE, "-3 cells long along x");
    bad = good, bad.extent[0] = INT64_MAX / 2;
    refuse_new(bad, LACIS_RANGE, "more cells than can be counted");
    bad = good, bad.extent[0] = (int64_t)1 << 40, bad.extent[1] = (int64_t)1 << 24;
    refuse_new(bad, LACIS_RANGE, "more cells than can be counted");
    bad = good, bad.fields = 9;
    refuse_new(bad, LACIS_RANGE, "1 to 8 fields, not 9");
    bad = good, bad.fields = 0;
    refuse_new(bad, LACIS_RANGE, "1 to 8 fields, not 0");
    bad = good, bad.name[1] = "U";
    refuse_new(bad, LACIS_NAME, "two fields of the grid are called \"U\"");
    static const char *const taken[] = {"shape", "Step", "x", "Y", "z", "t", ""};
    for (int i = 0; i < LACIS_COUNT(taken); i++) {
        bad = good, bad.name[0] = taken[i];
        refuse_new(bad, LACIS_NAME, taken[i]);
    }
    lacis_memory_set_limit(host.memory, 1 << 24);
    bad = good, bad.extent[0] = 1 << 22;
    refuse_new(bad, LACIS_LIMIT, "memory");
    lacis_memory_set_limit(host.memory, UINT64_MAX);
    lacis_array *table;
    lacis_grid grid;
    assert_int_equal(lacis_array_new(&run, LACIS_TABLE, LACIS_F32, 4, 0, &table), LACIS_OK);
    assert_int_equal(lacis_grid_view(&run, table, &grid), LACIS_TYPE);
    lacis_array_release(table);
}

/* --- rows ----------------------------------------------------------------------------------------- */

static bool wanted(const lacis_restriction *where, int dims, const int64_t *at)
{
    const int64_t lo[] = {where->lo, where->lo1, where->lo2}, hi[] = {where->hi, where->hi1, where->hi2};
    for (int d = 0; d < dims && d < 3; d++)
        if ((d < 2 || where->third) && (at[d] < lo[d] || at[d] > hi[d])) return false;
    bool listed = where->list == NULL;
    for (int64_t k = 0; k < where->count; k++)
        listed = listed || where->list[k] == at[where->list_column];
    return listed;
}

static void expect_cell(const lacis_rows *source, int dims, const int64_t *at, int64_t place)
{
    lacis_cell cell = {.type = LACIS_NULL};
    for (int d = 0; d < dims && d < 3; d++) {
        lacis_rows_cell(source, d, &cell);
        assert_int_equal(cell.type, LACIS_INTEGER);
        assert_int_equal(cell.integer, at[d]);
    }
    for (int f = 0; f < FIELDS; f++) {
        lacis_rows_cell(source, dims + f, &cell);
        assert_int_equal(cell.type, LACIS_REAL);
        assert_true(cell.real == (double)(10 * place + f));
    }
}

/* The cells of the filter in their order and no other, then nothing however often it is asked. */
static void check_filter(lacis_array *array, const lacis_grid *grid, const lacis_filter *filter)
{
    lacis_rows *source;
    bool more;
    int64_t at[3] = {0};
    assert_int_equal(lacis_rows_of_array(&run, array, filter, &source), LACIS_OK);
    for (int64_t c = 0; c < grid->cells; c++) {
        at[0] = c % grid->extent[0];
        at[1] = c / grid->extent[0] % grid->extent[1];
        at[2] = c / grid->extent[0] / grid->extent[1];
        if (!wanted(&filter->where, grid->dims, at)) continue;
        assert_int_equal(lacis_rows_next(source, &run, &more), LACIS_OK);
        assert_true(more);
        expect_cell(source, grid->dims, at, c);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lacis_rows_next(source, &run, &more), LACIS_OK);
        assert_false(more);
    }
    lacis_rows_close(source);
}

static int64_t bound(void)
{
    static const int64_t far[] = {INT64_MIN, INT64_MAX, -1};
    return random_bits() % 8 == 0 ? far[random_bits() % 3] : (int64_t)(random_bits() % 9) - 1;
}

static void boxes_of_cells(void **state)
{
    (void)state;
    static const int64_t list[] = {INT64_MIN, -2, 0, 1, 3, 4, 7, 8, 30, INT64_MAX};
    for (int round = 0; round < 60; round++) {
        int dims = 1 + round % 3;
        const int64_t extent[] = {1 + (int64_t)(random_bits() % 9), 1 + (int64_t)(random_bits() % 7),
                                  1 + (int64_t)(random_bits() % 5)};
        lacis_grid grid;
        lacis_array *array = grid_of(dims, extent, round % 2 ? LACIS_F32 : LACIS_F64, &grid);
        check_filter(array, &grid, &lacis_filter_all);
        for (int i = 0; i < 100; i++) {
            lacis_filter filter = lacis_filter_all;
            lacis_restriction *where = &filter.where;
            if (random_bits() % 2) where->lo = bound();
            if (random_bits() % 2) where->hi = bound();
            if (dims > 1 && random_bits() % 2) where->lo1 = bound();
            if (dims > 1 && random_bits() % 2) where->hi1 = bound();
            where->third = dims > 2 && random_bits() % 2;
            where->lo2 = bound();
            where->hi2 = bound();
            if (random_bits() % 3 == 0) where->list = list;
            if (where->list != NULL) where->count = (int64_t)(random_bits() % (LACIS_COUNT(list) + 1));
            if (where->list != NULL) where->list_column = (int)(random_bits() % (uint64_t)dims);
            check_filter(array, &grid, &filter);
        }
        lacis_array_release(array);
    }
}

/* The greatest values, of equal ones the first in the order of rows. */
static void greatest_values(void **state)
{
    (void)state;
    const int64_t extent[] = {3, 2, 2}, best[][3] = {{1, 0, 1}, {2, 0, 0}, {0, 1, 0}, {2, 1, 1}};
    lacis_grid grid;
    lacis_array *array = grid_of(3, extent, LACIS_F64, &grid);
    lacis_filter filter = lacis_filter_all;
    lacis_rows *source;
    double *value;
    bool more;
    memcpy(&value, &grid.field[0], sizeof value);
    const double values[] = {0, -1, 3, 3, 0, 0, 0, 5, 0, 0, 0, 3};
    memcpy(value, values, sizeof values);
    filter.by_value = true;
    filter.limit = 4;
    assert_int_equal(lacis_rows_of_array(&run, array, &filter, &source), LACIS_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(lacis_rows_next(source, &run, &more), LACIS_OK);
        assert_true(more);
        for (int d = 0; d < 3; d++) {
            lacis_cell cell;
            lacis_rows_cell(source, d, &cell);
            assert_int_equal(cell.integer, best[i][d]);
        }
    }
    assert_int_equal(lacis_rows_next(source, &run, &more), LACIS_OK);
    assert_false(more);
    lacis_rows_close(source);
    lacis_array_release(array);
}

static int refuse_later(void *arg, size_t bytes)
{
    (void)bytes;
    return --*(int *)arg == 0;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const lacis_grid like = {.dims = 2, .extent = {600, 500}, .dtype = LACIS_F64, .fields = 2, .name = {"u", "v"}};
    lacis_status status = LACIS_NOMEM;
    for (int nth = 1; status != LACIS_OK; nth++) {
        lacis_array *array = NULL;
        lacis_grid grid;
        lacis_rows *source = NULL;
        int left = nth;
        assert_true(nth < 100);
        lacis_set_allocation_guard(refuse_later, &left);
        status = lacis_grid_new(&run, &like, &array, &grid);
        if (status == LACIS_OK) status = lacis_rows_of_array(&run, array, &lacis_filter_all, &source);
        lacis_set_allocation_guard(NULL, NULL);
        assert_true(status == LACIS_OK || status == LACIS_NOMEM);
        lacis_rows_close(source);
        lacis_array_release(array);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(built_and_taken_apart), CHECK(what_cannot_be_built),      CHECK(boxes_of_cells),
        CHECK(greatest_values),       CHECK(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
