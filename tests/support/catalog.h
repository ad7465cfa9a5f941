/* SPDX-License-Identifier: Apache-2.0
 *
 * A catalog without the engine above it, for tests: a host, a run, and a resolver for which a view's text is simply
 * the name of another array.
 */
#ifndef LACIS_TESTS_CATALOG_H
#define LACIS_TESTS_CATALOG_H

#include "catalog/catalog.h"
#include "support/check.h"

#include <stdlib.h>

typedef struct bench {
    lacis_host host;
    lacis_run run;
    lacis_catalog *catalog;
    lacis_resolver resolver;
    lacis_status open_fails; /* other than LACIS_OK: what opening a view's rows ends with */
    int opened;              /* sources opened */
    lacis_filter last;       /* the last filter given */
} bench;

static inline lacis_status bench_describe(void *context, lacis_run *run, const char *name, lacis_relation *out)
{
    bench *self = context;
    lacis_entry entry;
    const char *view = lacis_catalog_view(self->catalog, name);
    if (!lacis_catalog_find(self->catalog, view == NULL ? name : view, &entry))
        return lacis_run_fail(run, LACIS_NAME, "the view's array is not there");
    lacis_columns_of(entry.kind, entry.dtype, NULL, &out->columns);
    out->rows = (double)entry.entries;
    out->first = 4;
    return LACIS_OK;
}

static inline lacis_status bench_rows(void *context, lacis_run *run, const char *name, const lacis_filter *filter,
                                      lacis_rows **out)
{
    bench *self = context;
    const char *view = lacis_catalog_view(self->catalog, name);
    if (view != NULL && self->open_fails != LACIS_OK) return lacis_run_fail(run, self->open_fails, "it went wrong");
    lacis_array *array;
    LACIS_TRY(lacis_catalog_get(run, self->catalog, view == NULL ? name : view, -1, &array));
    lacis_status status = lacis_rows_of_array(run, array, filter, out);
    lacis_array_release(array);
    self->opened++;
    self->last = *filter;
    return status;
}

static inline lacis_status bench_try_open(bench *self, const char *path)
{
    memset(self, 0, sizeof *self);
    assert_int_equal(lacis_host_init(&self->host), LACIS_OK);
    lacis_run_init(&self->run, &self->host);
    self->resolver = (lacis_resolver){bench_describe, bench_rows, self};
    return lacis_catalog_open(&self->run, path, &self->resolver, &self->catalog);
}

static inline void bench_open(bench *self, const char *path)
{
    if (bench_try_open(self, path) != LACIS_OK) fail_msg("cannot open: %s", self->host.error.message);
}

static inline void bench_close(bench *self)
{
    lacis_catalog_close(self->catalog);
    lacis_run_clear(&self->run);
    assert_int_equal(lacis_memory_used(self->host.memory), 0);
    lacis_host_clear(&self->host);
}

/* Runs SQL; all cells of all rows as "a,b;c,d;" in scratch, or NULL with the failure's status in *status. */
static inline const char *bench_sql(bench *self, const char *sql, lacis_status *status)
{
    sqlite3 *db = lacis_catalog_db(self->catalog);
    sqlite3_stmt *statement = NULL;
    char *text = lacis_run_text(&self->run, "%s", "");
    lacis_host_ok(&self->host);
    lacis_catalog_set_run(self->catalog, &self->run);
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW)
            for (int i = 0, n = sqlite3_column_count(statement); i < n; i++) {
                const char *cell = (const char *)sqlite3_column_text(statement, i);
                text =
                    lacis_run_text(&self->run, "%s%s%c", text, cell == NULL ? "NULL" : cell, i + 1 < n ? ',' : ';');
            }
    }
    *status =
        code == SQLITE_OK || code == SQLITE_DONE ? LACIS_OK : lacis_catalog_fail(&self->run, self->catalog, code, 0);
    sqlite3_finalize(statement);
    lacis_catalog_set_run(self->catalog, NULL);
    return *status == LACIS_OK ? text : NULL;
}

static inline void bench_expect(bench *self, const char *sql, const char *rows)
{
    lacis_status status;
    const char *text = bench_sql(self, sql, &status);
    if (text == NULL) fail_msg("%s: %s", sql, self->host.error.message);
    assert_string_equal(text, rows);
}

static inline void bench_run(bench *self, const char *sql)
{
    lacis_status status;
    if (bench_sql(self, sql, &status) == NULL) fail_msg("%s: %s", sql, self->host.error.message);
}

/* The SQL fails so, with a message that contains `part`. */
static inline void bench_fails(bench *self, const char *sql, lacis_status expected, const char *part)
{
    lacis_status status;
    bench_sql(self, sql, &status);
    if (status != expected) fail_msg("%s gave %d (%s), not %d", sql, status, self->host.error.message, expected);
    if (strstr(self->host.error.message, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", self->host.error.message, part);
}

static inline uint64_t bench_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static inline lacis_buffer *bench_buffer(bench *self, uint64_t bytes)
{
    lacis_buffer *buffer;
    assert_int_equal(lacis_buffer_new(&self->run, bytes, &buffer), LACIS_OK);
    return buffer;
}

/* A graph of `side` vertices labelled 2 v - 5 with about `degree` edges each, values 0 .. 6, halves added where real.
 * Rows lie loose, with gaps. */
static inline lacis_array *bench_graph(bench *self, int64_t side, int64_t degree, bool real, uint64_t seed)
{
    lacis_csr_parts parts = {.rows = side, .cols = side};
    uint64_t room = (uint64_t)(side * (degree + 1));
    parts.storage = parts.dtype = real ? LACIS_F64 : LACIS_I64;
    if (!real) parts.storage = LACIS_U8;
    parts.begin = bench_buffer(self, (uint64_t)side * 8);
    parts.end = bench_buffer(self, (uint64_t)side * 8);
    parts.columns = bench_buffer(self, room * 4);
    parts.values = bench_buffer(self, room * lacis_dtype_size(parts.storage));
    parts.row_labels = bench_buffer(self, (uint64_t)side * 8);
    int64_t *begin = lacis_buffer_data(parts.begin), *end = lacis_buffer_data(parts.end);
    int64_t *label = lacis_buffer_data(parts.row_labels), at = 0;
    uint32_t *column = lacis_buffer_data(parts.columns);
    uint8_t *small = lacis_buffer_data(parts.values);
    double *values = lacis_buffer_data(parts.values);
    for (int64_t row = 0; row < side; row++, at++) {
        label[row] = 2 * row - 5;
        begin[row] = at;
        uint64_t step = (uint64_t)(2 * side / degree);
        for (uint64_t c = bench_random(&seed) % step; c < (uint64_t)side && at - begin[row] < degree;
             c += 1 + bench_random(&seed) % step) {
            column[at] = (uint32_t)c;
            uint8_t value = (uint8_t)(bench_random(&seed) % 7);
            if (real) {
                values[at++] = value + (c % 2 ? 0.5 : 0);
            } else {
                small[at++] = value;
            }
            parts.entries++;
        }
        end[row] = at;
    }
    parts.col_labels = parts.row_labels;
    lacis_array *array;
    assert_int_equal(lacis_csr_new(&self->run, &parts, &array), LACIS_OK);
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.end);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    lacis_buffer_release(parts.row_labels);
    return array;
}

/* A vector i = first, first + 1 ...; value = i * scale. */
static inline lacis_array *bench_vector(bench *self, int64_t first, int64_t count, int64_t scale)
{
    lacis_array *array;
    lacis_buffer *buffer = bench_buffer(self, (uint64_t)count * 8);
    int64_t *values = lacis_buffer_data(buffer);
    for (int64_t i = 0; i < count; i++)
        values[i] = (first + i) * scale;
    assert_int_equal(lacis_array_new(&self->run, LACIS_VECTOR, LACIS_I64, count, 0, &array), LACIS_OK);
    lacis_array_set_base(array, 0, first);
    assert_int_equal(lacis_array_add(&self->run, array, "values", LACIS_I64, count, buffer, 0), LACIS_OK);
    lacis_buffer_release(buffer);
    return array;
}

/* Puts the array and lets go of it. */
static inline void bench_put(bench *self, const char *name, lacis_array *array)
{
    lacis_status status = lacis_catalog_put(&self->run, self->catalog, name, array);
    lacis_array_release(array);
    if (status != LACIS_OK) fail_msg("put %s: %s", name, self->host.error.message);
}

#endif
