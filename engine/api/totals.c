/* SPDX-License-Identifier: Apache-2.0
 *
 * SELECT count(*), sum(value) ... FROM array: recognised by lang/, computed by exec/, turned here into the row that
 * SQLite would have given, with its types and its rules for no rows at all.
 */
#include "api/engine.h"

#include <string.h>
#include <strings.h>

/* Totals of one column. */
struct column {
    int64_t numbers; /* values that SQL sees as numbers: NaN is NULL to it */
    bool integer, overflow;
    int64_t sum_int, min_int, max_int;
    double sum, min, max;
};

static int find_column(const lacis_columns *columns, const char *name)
{
    for (int i = 0; i < columns->count; i++)
        if (strcasecmp(columns->name[i], name) == 0) return i;
    return -1;
}

bool lacis_totals_fit(const lacis_total_query *query, const lacis_relation *relation)
{
    const lacis_columns *columns = &relation->columns;
    if (!columns->summed && !columns->each) return false;
    /* keys of batches and grids are not summed */
    bool lanes = columns->last_first || (columns->keys > 0 && strcasecmp(columns->name[0], "lane") == 0);
    for (int i = 0; i < query->items; i++) {
        const char *name = query->item[i].column;
        if (name == NULL) continue;
        int at = find_column(columns, name);
        if (columns->each && at >= 0) continue;
        bool key = at < columns->keys && strcasecmp(name, "value") != 0 && !lanes;
        if (at < 0 || !(key || at == columns->total)) return false;
    }
    return true;
}

static struct column labels(int64_t count, __int128 sum, int64_t min, int64_t max)
{
    struct column column = {.numbers = count, .integer = true, .min_int = min, .max_int = max, .sum = (double)sum};
    column.overflow = sum > INT64_MAX || sum < INT64_MIN;
    if (!column.overflow) column.sum_int = (int64_t)sum;
    return column;
}

/* each: the totals are of this column alone. */
static struct column column_of(const lacis_totals *totals, const char *name, bool each)
{
    if (!each && (strcasecmp(name, "dst") == 0 || strcasecmp(name, "j") == 0))
        return labels(totals->count, totals->sum_dst, totals->min_dst, totals->max_dst);
    if (!each && strcasecmp(name, "value") != 0 && strcasecmp(name, "v") != 0)
        return labels(totals->count, totals->sum_src, totals->min_src, totals->max_src);
    return (struct column){
        .numbers = totals->count - totals->nan,
        .integer = totals->integer,
        .overflow = totals->overflow,
        .sum_int = totals->sum_int,
        .min_int = totals->min_int,
        .max_int = totals->max_int,
        .sum = totals->sum,
        .min = totals->min,
        .max = totals->max,
    };
}

static lacis_status add_number(lacis_run *run, lacis_table *table, bool integer, int64_t whole, double real)
{
    return integer ? lacis_table_integer(run, table, whole) : lacis_table_real(run, table, real);
}

static lacis_status add_sum(lacis_run *run, lacis_table *table, const struct column *column)
{
    if (column->integer && column->overflow)
        return lacis_run_fail(run, LACIS_OVERFLOW,
                              "the sum does not fit 64 bits: total() or avg() give it as a real");
    return add_number(run, table, column->integer, column->sum_int, column->sum);
}

static lacis_status add_item(lacis_run *run, lacis_table *table, lacis_total_kind kind, const char *name,
                             const lacis_totals *totals, bool each)
{
    if (name == NULL) return lacis_table_integer(run, table, totals->count); /* count(*) */
    struct column column = column_of(totals, name, each);
    if (kind == LACIS_TOTAL_COUNT) return lacis_table_integer(run, table, column.numbers);
    if (column.numbers == 0)
        return kind == LACIS_TOTAL_TOTAL ? lacis_table_real(run, table, 0.0) : lacis_table_text(run, table, NULL);
    switch (kind) {
    case LACIS_TOTAL_SUM:
        return add_sum(run, table, &column);
    case LACIS_TOTAL_MIN:
        return add_number(run, table, column.integer, column.min_int, column.min);
    case LACIS_TOTAL_MAX:
        return add_number(run, table, column.integer, column.max_int, column.max);
    case LACIS_TOTAL_AVG:
        return lacis_table_real(run, table, column.sum / (double)column.numbers);
    default:
        return lacis_table_real(run, table, column.sum);
    }
}

lacis_status lacis_totals_table(lacis_run *run, const lacis_total_query *query, const lacis_totals *totals, bool each,
                                const char *const *headings, lacis_table **out)
{
    lacis_table *table;
    LACIS_TRY(lacis_table_new(run, headings, query->items, &table));
    for (int i = 0; i < query->items; i++) {
        lacis_status status =
            add_item(run, table, query->item[i].kind, query->item[i].column, &totals[each ? i : 0], each);
        if (status != LACIS_OK) {
            lacis_table_free(table);
            return status;
        }
    }
    *out = table;
    return LACIS_OK;
}
