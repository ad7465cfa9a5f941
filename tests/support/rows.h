/* SPDX-License-Identifier: Apache-2.0
 *
 * Small arrays of every kind for the tests of row sources and totals, with their rows written out plainly.
 */
#ifndef LACIS_TESTS_ROWS_H
#define LACIS_TESTS_ROWS_H

#include "core/rows.h"
#include "support/check.h"

#include <limits.h>
#include <math.h>
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

/* ------------------------------------------------------------------------------------------- arrays */

/* One row as all sources give it. */
typedef struct row {
    int64_t src, dst;
    double value;
} row;

enum { MOST = 4096 };
typedef struct rows {
    row at[MOST];
    int count;
} rows;

static uint64_t seed = 1;
static uint64_t random_bits(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

static lacis_buffer *buffer_of(const void *data, uint64_t bytes)
{
    lacis_buffer *buffer;
    assert_int_equal(lacis_buffer_new(&run, bytes, &buffer), LACIS_OK);
    if (bytes > 0) memcpy(lacis_buffer_data(buffer), data, bytes);
    return buffer;
}

enum { SIDE = 23 };

/* A random matrix, loose (rows backwards with gaps) or not, with labels (3 i - 20) or bases, and its rows. */
static lacis_array *random_csr(bool loose, bool labels, lacis_dtype dtype, lacis_dtype storage, rows *out)
{
    int64_t begin[SIDE + 1], end[SIDE], label[SIDE];
    uint32_t column[MOST];
    double value[MOST];
    int64_t place = 0, entries = 0;
    out->count = 0;
    for (int i = 0; i < SIDE; i++)
        label[i] = labels ? 3 * i - 20 : i + 5;
    for (int k = 0; k < SIDE; k++) {
        int r = loose ? SIDE - 1 - k : k;
        begin[r] = place;
        for (uint32_t c = 0; c < SIDE; c++) {
            if (r % 5 == 2 || random_bits() % 3 != 0) continue;
            column[place] = c;
            value[place++] = dtype == LACIS_PATTERN ? 1 : (double)(random_bits() % 9);
            entries++;
        }
        end[r] = place;
        if (loose) place += 2;
    }
    if (!loose) begin[SIDE] = place;
    for (int r = 0; r < SIDE; r++)
        for (int64_t i = begin[r]; i < end[r]; i++)
            out->at[out->count++] = (row){label[r], label[column[i]], value[i]};
    uint64_t size = lacis_dtype_size(storage);
    lacis_csr_parts parts = {.rows = SIDE, .cols = SIDE, .entries = entries, .storage = storage, .dtype = dtype};
    parts.row_base = parts.col_base = 5;
    parts.begin = buffer_of(begin, sizeof(int64_t) * (SIDE + (loose ? 0 : 1)));
    if (loose) parts.end = buffer_of(end, sizeof end);
    parts.columns = buffer_of(column, sizeof(uint32_t) * (uint64_t)place);
    if (dtype != LACIS_PATTERN) {
        assert_int_equal(lacis_buffer_new(&run, size * (uint64_t)place, &parts.values), LACIS_OK);
        lacis_values_convert(value, LACIS_F64, 0, place, lacis_buffer_data(parts.values), storage);
    }
    if (labels) parts.row_labels = buffer_of(label, sizeof label);
    if (labels) parts.col_labels = buffer_of(label, sizeof label);
    lacis_array *array;
    assert_int_equal(lacis_csr_new(&run, &parts, &array), LACIS_OK);
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.end);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    lacis_buffer_release(parts.row_labels);
    lacis_buffer_release(parts.col_labels);
    return array;
}

static lacis_array *vector(const int64_t *index, int64_t base, const void *values, lacis_dtype dtype, int64_t count)
{
    lacis_array *array;
    assert_int_equal(lacis_array_new(&run, LACIS_VECTOR, dtype, count, 0, &array), LACIS_OK);
    lacis_array_set_base(array, 0, base);
    lacis_buffer *buffer = buffer_of(values, lacis_dtype_size(dtype) * (uint64_t)count);
    assert_int_equal(lacis_array_add(&run, array, "values", dtype, count, buffer, 0), LACIS_OK);
    lacis_buffer_release(buffer);
    if (index != NULL) {
        buffer = buffer_of(index, sizeof(int64_t) * (uint64_t)count);
        assert_int_equal(lacis_array_add(&run, array, "index", LACIS_I64, count, buffer, 0), LACIS_OK);
        lacis_buffer_release(buffer);
    }
    return array;
}

#endif
