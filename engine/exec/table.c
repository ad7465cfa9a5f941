/* SPDX-License-Identifier: Apache-2.0
 *
 * Small tables that the engine makes up itself (SHOW, EXPLAIN, totals), as row sources.
 */
#include "exec/exec.h"

#include <string.h>

struct lacis_table {
    lacis_rows base;
    lacis_run run; /* its scratch holds texts */
    const char *const *column;
    int columns;
    lacis_cell *cell;
    int64_t cells, room;
    int64_t row; /* -1 before the first */
};

static lacis_status table_next(lacis_rows *base, lacis_run *run, bool *more)
{
    lacis_table *table = (lacis_table *)base;
    (void)run;
    table->row++;
    *more = (table->row + 1) * table->columns <= table->cells;
    return LACIS_OK;
}

static void table_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const lacis_table *table = (const lacis_table *)base;
    *out = table->cell[table->row * table->columns + column];
}

static void table_close(lacis_rows *base)
{
    lacis_table_free((lacis_table *)base);
}

static const lacis_rows_class table_class = {table_next, table_cell, table_close};

lacis_status lacis_table_new(lacis_run *run, const char *const *columns, int count, lacis_table **out)
{
    lacis_table *table;
    LACIS_TRY(lacis_run_alloc(run, sizeof *table, &table));
    *table = (lacis_table){.base.class = &table_class, .column = columns, .columns = count, .row = -1};
    lacis_run_init(&table->run, run->host);
    *out = table;
    return LACIS_OK;
}

void lacis_table_free(lacis_table *table)
{
    if (table == NULL) return;
    lacis_memory *memory = table->run.host->memory;
    lacis_run_clear(&table->run);
    lacis_memory_free(memory, table->cell);
    lacis_memory_free(memory, table);
}

static lacis_status add(lacis_run *run, lacis_table *table, const lacis_cell *cell)
{
    if (table->cells == table->room) {
        int64_t room = table->room == 0 ? 64 : 2 * table->room;
        lacis_cell *grown;
        LACIS_TRY(lacis_run_alloc(run, sizeof(lacis_cell) * (uint64_t)room, &grown));
        if (table->cells > 0) memcpy(grown, table->cell, sizeof(lacis_cell) * (size_t)table->cells);
        lacis_run_free(run, table->cell);
        table->cell = grown;
        table->room = room;
    }
    table->cell[table->cells++] = *cell;
    return LACIS_OK;
}

lacis_status lacis_table_text(lacis_run *run, lacis_table *table, const char *text)
{
    lacis_cell cell = {.type = text == NULL ? LACIS_NULL : LACIS_TEXT};
    if (text != NULL) {
        char *copy;
        size_t length = strlen(text);
        LACIS_TRY(lacis_run_scratch(&table->run, length + 1, &copy));
        memcpy(copy, text, length + 1);
        cell.text = copy;
    }
    return add(run, table, &cell);
}

lacis_status lacis_table_integer(lacis_run *run, lacis_table *table, int64_t value)
{
    lacis_cell cell = {.type = LACIS_INTEGER, .integer = value, .real = (double)value};
    return add(run, table, &cell);
}

lacis_status lacis_table_real(lacis_run *run, lacis_table *table, double value)
{
    lacis_cell cell = {.type = LACIS_REAL, .real = value};
    return add(run, table, &cell);
}

lacis_rows *lacis_table_rows(lacis_table *table)
{
    return &table->base;
}

int lacis_table_columns(const lacis_rows *rows, const char *const **names)
{
    if (rows == NULL || rows->class != &table_class) return 0;
    const lacis_table *table = (const lacis_table *)rows;
    *names = table->column;
    return table->columns;
}

lacis_status lacis_table_of_lines(lacis_run *run, const lacis_lines *lines, lacis_table **out)
{
    static const char *const column[] = {"plan"};
    lacis_table *table;
    LACIS_TRY(lacis_table_new(run, column, 1, &table));
    for (int i = 0; i < lines->count; i++) {
        lacis_status status = lacis_table_text(run, table, lines->line[i]);
        if (status != LACIS_OK) {
            lacis_table_free(table);
            return status;
        }
    }
    *out = table;
    return LACIS_OK;
}
