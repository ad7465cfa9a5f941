/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies out of records of named numbers; see common_records.h.
 */
#include "common_bodies.h"
#include "common_records.h"

#include <math.h>
#include <string.h>

static int column_of(const lacis_record_column *column)
{
    return lacis_body_named(column->name, column->name + strlen(column->name));
}

bool lacis_records_are_bodies(const lacis_records *records)
{
    unsigned columns = 0, need = 1U << LACIS_BODY_M | 1U << LACIS_BODY_X | 1U << LACIS_BODY_Y;
    for (int i = 0; i < records->columns; i++) {
        int column = column_of(&records->column[i]);
        if (column < 0 || (columns >> column & 1) != 0) return false; /* m and mass */
        columns |= 1U << column;
    }
    unsigned all = 1U << LACIS_BODY_AX | 1U << LACIS_BODY_AY | 1U << LACIS_BODY_AZ;
    return (columns & need) == need && ((columns & all) == 0 || (columns & all) == all);
}

static double real_at(const lacis_record_column *column, int64_t row)
{
    return column->real ? column->value[row].real : (double)column->value[row].integer;
}

static lacis_status take_time(const lacis_records *records, const lacis_record_column *column,
                              lacis_bodies_maker *maker)
{
    for (int64_t row = 0; row < records->count; row++) {
        double time = real_at(column, row);
        if (row == 0) maker->time = time;
        if (!isfinite(time) || time != maker->time)
            return lacis_run_fail(records->run, LACIS_FORMAT,
                                  "%s: record %lld: time is not that of the first; a file holds one moment",
                                  records->text->path, (long long)row);
    }
    return LACIS_OK;
}

static lacis_status take_column(const lacis_records *records, const lacis_record_column *from,
                                lacis_bodies_maker *maker)
{
    int column = column_of(from);
    if (column == LACIS_BODY_TIME) return take_time(records, from, maker);
    if (column == LACIS_BODY_ID && from->real)
        return lacis_run_fail(records->run, LACIS_FORMAT, "%s: ids must be integers of 64 bits", records->text->path);
    for (int64_t row = 0; row < records->count; row++)
        if (column == LACIS_BODY_ID)
            maker->id[row] = from->value[row].integer;
        else
            lacis_body_put(maker, (lacis_body_column)column, row, real_at(from, row));
    return LACIS_OK;
}

static lacis_status fill(const lacis_records *records, lacis_bodies_maker *maker)
{
    int64_t row;
    lacis_body_column column;
    const char *cause;
    for (int c = LACIS_BODY_Z; c <= LACIS_BODY_VZ; c++)
        lacis_bodies_clear(maker, (lacis_body_column)c);
    for (int i = 0; i < records->columns; i++)
        LACIS_TRY(take_column(records, &records->column[i], maker));
    LACIS_TRY(lacis_bodies_first_fault(maker, &row, &column, &cause));
    if (row < 0) return LACIS_OK;
    return lacis_run_fail(records->run, LACIS_FORMAT, "%s: record %lld: %s %s", records->text->path, (long long)row,
                          lacis_body_names[column], cause);
}

lacis_status lacis_records_make_bodies(const lacis_records *records, lacis_array **out)
{
    lacis_bodies_maker maker;
    unsigned columns = 0;
    for (int i = 0; i < records->columns; i++)
        columns |= 1U << column_of(&records->column[i]);
    LACIS_TRY(lacis_bodies_begin(records->run, records->text->path, records->count, LACIS_F64, columns, &maker));
    return lacis_bodies_end(&maker, fill(records, &maker), out);
}
