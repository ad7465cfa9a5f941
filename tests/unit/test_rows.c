/* SPDX-License-Identifier: Apache-2.0
 *
 * Row sources over arrays, against loops over the same small arrays written out plainly.
 */
#include "support/rows.h"

/* ------------------------------------------------------------------------------------------- reading */

static double number(const lacis_cell *cell)
{
    return cell->type == LACIS_INTEGER ? (double)cell->integer : cell->real;
}

static void read_all(lacis_rows *source, int columns, rows *out)
{
    bool more = true;
    out->count = 0;
    for (;;) {
        lacis_cell cell = {.type = LACIS_NULL};
        assert_int_equal(lacis_rows_next(source, &run, &more), LACIS_OK);
        if (!more) break;
        row *to = &out->at[out->count++];
        *to = (row){0};
        lacis_rows_cell(source, 0, &cell);
        assert_int_equal(cell.type, LACIS_INTEGER);
        to->src = cell.integer;
        if (columns == 3) {
            lacis_rows_cell(source, 1, &cell);
            assert_int_equal(cell.type, LACIS_INTEGER);
            to->dst = cell.integer;
        }
        lacis_rows_cell(source, columns - 1, &cell);
        to->value = number(&cell);
    }
    lacis_rows_close(source);
}

static bool better(const row *a, const row *b)
{
    if (a->value != b->value) return a->value > b->value;
    return a->src != b->src ? a->src < b->src : a->dst < b->dst;
}

/* What the filter means, the slow way. */
static void expect(const rows *all, const lacis_filter *filter, rows *out)
{
    const lacis_restriction *where = &filter->where;
    out->count = 0;
    for (int i = 0; i < all->count; i++) {
        const row *r = &all->at[i];
        bool listed = where->list == NULL;
        for (int64_t k = 0; k < where->count; k++)
            if (where->list[k] == r->src) listed = true;
        bool in =
            listed && r->src >= where->lo && r->src <= where->hi && r->dst >= where->lo1 && r->dst <= where->hi1;
        if (!in) continue;
        int64_t ahead = 0;
        for (int k = 0; k < all->count && where->top > 0; k++)
            if (all->at[k].src == r->src && all->at[k].dst >= where->lo1 && all->at[k].dst <= where->hi1 &&
                better(&all->at[k], r))
                ahead++;
        if (where->top == 0 || ahead < where->top) out->at[out->count++] = *r;
    }
    if (!filter->by_value) return;
    for (int i = 0; i < out->count; i++)
        for (int k = i + 1; k < out->count; k++)
            if (better(&out->at[k], &out->at[i])) {
                row keep = out->at[i];
                out->at[i] = out->at[k];
                out->at[k] = keep;
            }
    if (out->count > filter->limit) out->count = (int)filter->limit;
}

static void same_rows(const rows *a, const rows *b)
{
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        assert_int_equal(a->at[i].src, b->at[i].src);
        assert_int_equal(a->at[i].dst, b->at[i].dst);
        assert_true(a->at[i].value == b->at[i].value);
    }
}

static void check_filter(lacis_array *array, int columns, const rows *all, const lacis_filter *filter)
{
    static rows got, want;
    lacis_rows *source;
    assert_int_equal(lacis_rows_of_array(&run, array, filter, &source), LACIS_OK);
    read_all(source, columns, &got);
    expect(all, filter, &want);
    same_rows(&got, &want);
}

static void check_filters(lacis_array *array, const rows *all)
{
    static const int64_t list[] = {-20, -19, -5, 1, 7, 8, 9, 20, 25, 400};
    check_filter(array, 3, all, &lacis_filter_all);
    for (int i = 0; i < 300; i++) {
        lacis_filter filter = lacis_filter_all;
        if (random_bits() % 2) filter.where.lo = (int64_t)(random_bits() % 60) - 25;
        if (random_bits() % 2) filter.where.hi = (int64_t)(random_bits() % 60) - 25;
        if (random_bits() % 3 == 0) filter.where.lo1 = (int64_t)(random_bits() % 60) - 25;
        if (random_bits() % 3 == 0) filter.where.hi1 = (int64_t)(random_bits() % 60) - 25;
        if (random_bits() % 3 == 0) filter.where.list = list;
        if (filter.where.list != NULL) filter.where.count = (int64_t)(random_bits() % LACIS_COUNT(list));
        if (random_bits() % 3 == 0) filter.where.top = (int64_t)(random_bits() % 6);
        filter.by_value = random_bits() % 3 == 0;
        filter.limit = filter.by_value ? (int64_t)(random_bits() % 100) : -1;
        check_filter(array, 3, all, &filter);
    }
}

/* --------------------------------------------------------------------------------------------- tests */

static void graphs_through_filters(void **state)
{
    (void)state;
    static const lacis_dtype types[][2] = {
        {LACIS_PATTERN, LACIS_PATTERN}, {LACIS_I64, LACIS_U8},  {LACIS_I64, LACIS_U16}, {LACIS_I64, LACIS_U32},
        {LACIS_I32, LACIS_I32},         {LACIS_I64, LACIS_I64}, {LACIS_F32, LACIS_F32}, {LACIS_F64, LACIS_F64},
        {LACIS_C64, LACIS_C64},         {LACIS_DD, LACIS_DD}};
    static rows all;
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        for (int form = 0; form < 4; form++) {
            lacis_array *array = random_csr(form & 1, form & 2, types[t][0], types[t][1], &all);
            if (types[t][0] == LACIS_C64) {
                check_filter(array, 3, &all, &(lacis_filter){.where = {INT64_MIN, 8, NULL, 0, 0, INT64_MAX, 2}});
            } else if (types[t][0] == LACIS_DD) {
                static rows got; /* value and lo: the source's last column is lo */
                lacis_rows *source;
                assert_int_equal(lacis_rows_of_array(&run, array, &lacis_filter_all, &source), LACIS_OK);
                read_all(source, 3, &got);
                same_rows(&got, &all);
            } else {
                check_filters(array, &all);
            }
            lacis_array_release(array);
        }
    }
}

static void rows_outlive_run_and_array(void **state)
{
    (void)state;
    static rows all, got;
    int64_t list[] = {8, 11};
    lacis_run other;
    lacis_rows *source;
    lacis_array *array = random_csr(true, false, LACIS_I64, LACIS_I64, &all);
    lacis_filter filter = lacis_filter_all;
    filter.where.list = list;
    filter.where.count = 2;
    lacis_run_init(&other, &host);
    assert_int_equal(lacis_rows_of_array(&other, array, &filter, &source), LACIS_OK);
    list[0] = list[1] = 0;
    lacis_run_clear(&other);
    lacis_array_release(array);
    read_all(source, 3, &got);
    assert_true(got.count > 0);
    for (int i = 0; i < got.count; i++)
        assert_true(got.at[i].src == 8 || got.at[i].src == 11);
}

static void vectors(void **state)
{
    (void)state;
    static const int64_t index[] = {-7, -2, 0, 5, 100};
    static const double values[] = {2, 9, NAN, 9, 4};
    static const int64_t list[] = {-7, 3, 5, 101};
    static rows got;
    lacis_rows *source;
    lacis_array *sparse = vector(index, 0, values, LACIS_F64, 5), *dense = vector(NULL, 10, values, LACIS_F64, 5);
    lacis_filter filter = {.where = {-2, 99, NULL, 0, INT64_MIN, INT64_MAX, 0}, .limit = -1};
    assert_int_equal(lacis_rows_of_array(&run, sparse, &filter, &source), LACIS_OK);
    read_all(source, 2, &got);
    assert_int_equal(got.count, 3);
    assert_int_equal(got.at[2].src, 5);
    filter = (lacis_filter){.where = {-6, INT64_MAX, list, 4, INT64_MIN, INT64_MAX, 0}, .limit = -1};
    assert_int_equal(lacis_rows_of_array(&run, sparse, &filter, &source), LACIS_OK);
    read_all(source, 2, &got);
    assert_int_equal(got.count, 1);
    assert_int_equal(got.at[0].src, 5);
    filter = lacis_filter_all;
    filter.by_value = true;
    filter.limit = 9;
    assert_int_equal(lacis_rows_of_array(&run, dense, &filter, &source), LACIS_OK);
    read_all(source, 2, &got);
    assert_int_equal(got.count, 5);
    assert_int_equal(got.at[0].src, 11); /* ties by i, what is not a number last */
    assert_int_equal(got.at[1].src, 13);
    assert_int_equal(got.at[4].src, 12);
    lacis_array_release(sparse);
    lacis_array_release(dense);
}

static void columns_of_kinds(void **state)
{
    (void)state;
    lacis_columns columns;
    lacis_columns_of(LACIS_CSR, LACIS_PATTERN, NULL, &columns);
    assert_int_equal(columns.count, 3);
    assert_string_equal(columns.name[2], "value");
    assert_false(columns.real[2]);
    assert_int_equal(columns.keys, 2);
    assert_int_equal(columns.value, 2);
    lacis_columns_of(LACIS_CSR, LACIS_C128, NULL, &columns);
    assert_int_equal(columns.count, 4);
    assert_string_equal(columns.name[3], "im");
    assert_int_equal(columns.value, -1);
    lacis_columns_of(LACIS_VECTOR, LACIS_DD, NULL, &columns);
    assert_string_equal(columns.name[1], "value");
    assert_string_equal(columns.name[2], "lo");
    assert_true(columns.real[1]);
    assert_int_equal(columns.keys, 1);
}

static void tables(void **state)
{
    (void)state;
    static const int32_t whole[] = {3, 1, 2};
    static const float real[] = {0.5f, 1.5f, 2.5f};
    lacis_array *array;
    lacis_rows *source;
    lacis_columns columns;
    lacis_cell cell = {.type = LACIS_NULL};
    bool more;
    assert_int_equal(lacis_array_new(&run, LACIS_TABLE, LACIS_F64, 3, 0, &array), LACIS_OK);
    lacis_buffer *a = buffer_of(whole, sizeof whole), *b = buffer_of(real, sizeof real);
    assert_int_equal(lacis_array_add(&run, array, "whole", LACIS_I32, 3, a, 0), LACIS_OK);
    assert_int_equal(lacis_array_add(&run, array, "Real", LACIS_F32, 3, b, 0), LACIS_OK);
    lacis_columns_of(LACIS_TABLE, LACIS_F64, array, &columns);
    assert_int_equal(columns.count, 2);
    assert_int_equal(columns.keys, 0);
    assert_string_equal(columns.name[1], "Real");
    assert_true(columns.real[1] && !columns.real[0]);
    assert_int_equal(lacis_rows_of_array(&run, array, &lacis_filter_all, &source), LACIS_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lacis_rows_next(source, &run, &more), LACIS_OK);
        assert_true(more);
        lacis_rows_cell(source, 0, &cell);
        assert_int_equal(cell.integer, whole[i]);
        lacis_rows_cell(source, 1, &cell);
        assert_true(cell.type == LACIS_REAL && cell.real == (double)real[i]);
    }
    assert_int_equal(lacis_rows_next(source, &run, &more), LACIS_OK);
    assert_false(more);
    lacis_rows_close(source);
    lacis_buffer_release(a);
    lacis_buffer_release(b);
    lacis_array_release(array);
}

/* Refuses the nth allocation from now on. */
static int refuse(void *arg, size_t bytes)
{
    (void)bytes;
    int *left = arg;
    return (*left)-- == 0;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static rows all, got;
    lacis_array *array = random_csr(true, true, LACIS_I64, LACIS_U8, &all);
    lacis_filter filter = lacis_filter_all;
    filter.where.top = 3;
    filter.by_value = true;
    filter.limit = 200;
    lacis_status status = LACIS_NOMEM;
    uint64_t before = lacis_memory_used(host.memory);
    int failures = 0;
    for (int n = 0; status != LACIS_OK; n++) {
        lacis_rows *source = NULL;
        int left = n;
        lacis_set_allocation_guard(refuse, &left);
        status = lacis_rows_of_array(&run, array, &filter, &source);
        lacis_set_allocation_guard(NULL, NULL);
        assert_true(status == LACIS_OK || status == LACIS_NOMEM);
        if (status == LACIS_OK) {
            read_all(source, 3, &got);
        } else {
            failures++;
        }
        assert_int_equal(lacis_memory_used(host.memory), before);
    }
    assert_true(failures >= 6);
    lacis_array_release(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(columns_of_kinds), CHECK(graphs_through_filters),    CHECK(rows_outlive_run_and_array), CHECK(vectors),
        CHECK(tables),           CHECK(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
