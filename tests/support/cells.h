/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of samples and of parameters for tests of SIMULATE without a database.
 */
#ifndef LACIS_TESTS_CELLS_H
#define LACIS_TESTS_CELLS_H

#include "parity/parity.h"

static inline void cells_column(parity *p, lacis_array *table, const char *name, lacis_dtype dtype,
                                const double *value, int64_t rows)
{
    lacis_buffer *buffer;
    parity_ok(p, lacis_buffer_new(&p->run, 8 * (uint64_t)rows + 8, &buffer), name);
    lacis_values_convert(value, LACIS_F64, 0, rows, lacis_buffer_data(buffer), dtype);
    parity_ok(p, lacis_array_add(&p->run, table, name, dtype, rows, buffer, 0), name);
    lacis_buffer_release(buffer);
}

/* `count` cells that differ in thickness: a soma of one point, a fork, an axon, a side branch off a branch's first
 * sample. */
static inline lacis_array *cells_make(parity *p, int count)
{
    enum { SAMPLES = 11, COLUMNS = 8 };
    static const char *const name[COLUMNS] = {"cell", "id", "type", "x", "y", "z", "radius", "parent"};
    static const double sample[SAMPLES][COLUMNS] = {
        {0, 1, 1, 0, 0, 0, 6.5, -1},   {0, 2, 3, 7, 1, 0, 0.9, 1},    {0, 3, 3, 40, 9, 2, 0.7, 2},
        {0, 4, 3, 71, 30, 4, 0.55, 3}, {0, 5, 3, 80, -20, 4, 0.6, 3}, {0, 6, 3, 120, -33, 9, 0.25, 5},
        {0, 7, 2, -9, 0, 0, 0.4, 1},   {0, 8, 2, -90, 4, 7, 0.35, 7}, {0, 9, 3, 9, 60, -3, 0.5, 2},
        {0, 10, 4, 0, 30, 1, 1.1, 1},  {0, 11, 4, 2, 95, 1, 0.8, 10},
    };
    lacis_array *table;
    int64_t rows = (int64_t)count * SAMPLES;
    double *value = malloc(sizeof *value * (size_t)rows);
    assert_non_null(value);
    parity_ok(p, lacis_array_new(&p->run, LACIS_TABLE, LACIS_F64, rows, 0, &table), "cells");
    for (int c = 0; c < COLUMNS; c++) {
        bool real = c >= 3 && c <= 6;
        for (int64_t i = 0; i < rows; i++) {
            double cell = (double)(i / SAMPLES), v = sample[i % SAMPLES][c];
            value[i] = c == 0 ? cell : c == 6 ? v * (1 + 0.1 * cell) : v;
        }
        cells_column(p, table, name[c], real ? LACIS_F64 : LACIS_I64, value, rows);
    }
    free(value);
    return table;
}

/* Parameters of so many lanes, all different. */
static inline lacis_array *parameters_make(parity *p, int64_t lanes)
{
    static const char *const name[] = {"cm", "ra", "v", "amplitude"};
    static const double first[] = {0.8, 80, -75, 0}, more[] = {0.05, 10, 2, 0.1};
    lacis_array *table;
    double *value = malloc(sizeof *value * (size_t)lanes);
    assert_non_null(value);
    parity_ok(p, lacis_array_new(&p->run, LACIS_TABLE, LACIS_F64, lanes, 0, &table), "parameters");
    for (int c = 0; c < LACIS_COUNT(name); c++) {
        for (int64_t i = 0; i < lanes; i++)
            value[i] = first[c] + more[c] * (double)(i % 13);
        cells_column(p, table, name[c], LACIS_F64, value, lanes);
    }
    free(value);
    return table;
}

/* Two results in all columns, bit for bit. */
static inline void cells_same(const lacis_array *found, const lacis_array *expected, const char *text)
{
    assert_int_equal(lacis_array_part_count(found), lacis_array_part_count(expected));
    for (int i = 0; i < lacis_array_part_count(expected); i++) {
        lacis_part f, e;
        assert_int_equal(lacis_array_part(found, i, &f), LACIS_OK);
        assert_int_equal(lacis_array_part(expected, i, &e), LACIS_OK);
        assert_int_equal(f.count, e.count);
        assert_int_equal(f.dtype, e.dtype);
        size_t size = lacis_dtype_size(e.dtype);
        for (int64_t k = 0; k < e.count; k++)
            if (memcmp((const char *)f.data + (size_t)k * size, (const char *)e.data + (size_t)k * size, size) != 0)
                fail_msg("%s: row %lld, %s: %.17g, expected %.17g", text, (long long)k, e.name,
                         lacis_value_double(f.data, f.dtype, k), lacis_value_double(e.data, e.dtype, k));
    }
}

#endif
