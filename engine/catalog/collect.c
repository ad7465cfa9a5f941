/* SPDX-License-Identifier: Apache-2.0
 *
 * LET x = SELECT ...: reads the rows of a query into columns of numbers and has collect_build.c make the array that
 * their names ask for. A column is of integers until a real comes.
 */
#include "catalog/collect.h"
#include "core/bodies.h"
#include "core/grid.h"

#include <math.h>
#include <string.h>

typedef enum shape { GRAPH, VECTOR, WORDS, SYMMETRIC, BATCH, BODIES, GRID, TABLE } shape;

typedef struct gathering {
    lacis_run *run;
    sqlite3_stmt *query;
    shape shape;
    int keys;          /* leading columns that must be integers */
    int id;            /* one that must be, too, or -1 */
    int unread;        /* a column of text beside the words that it shows, or -1 */
    lacis_dtype dtype; /* of vectors of several words a value, and of symmetric matrices */
    lacis_collected *into;
} gathering;

static bool named(const lacis_collected *from, int column, const char *name)
{
    return column < from->columns && lacis_name_compare(from->name[column], name) == 0;
}

/* Whether the columns from `at` on are a value's words. */
static bool find_words(gathering *self, int at)
{
    static const struct {
        lacis_dtype dtype;
        int words;
        const char *name[4];
    } forms[] = {{LACIS_F64, 1, {"value"}},
                 {LACIS_DD, 2, {"value", "lo"}},
                 {LACIS_C128, 2, {"re", "im"}},
                 {LACIS_CDD, 4, {"re", "re_lo", "im", "im_lo"}},
                 {LACIS_DD, 1, {"text"}}};
    lacis_collected *from = self->into;
    for (int f = 0; f < LACIS_COUNT(forms); f++) {
        int words = forms[f].words, left = from->columns - at - words;
        bool shown = left == 1 && (forms[f].dtype == LACIS_DD || forms[f].dtype == LACIS_CDD) &&
                     named(from, at + words, "text");
        bool all = left == 0 || shown;
        for (int k = 0; k < words; k++)
            all = all && named(from, at + k, forms[f].name[k]);
        if (!all) continue;
        self->dtype = forms[f].dtype;
        if (shown) self->unread = at + words;
        if (f == LACIS_COUNT(forms) - 1) from->text = at;
        return true;
    }
    return false;
}

static bool find_symmetric(gathering *self)
{
    const lacis_collected *from = self->into;
    int lane = named(from, 0, "lane");
    if (!named(from, lane, "i") || !named(from, lane + 1, "j") || !find_words(self, lane + 2)) return false;
    self->shape = SYMMETRIC;
    self->keys = lane + 2;
    return true;
}

/* Whether every column is one of bodies, and all that they must have is there. */
static bool find_bodies(gathering *self)
{
    const lacis_collected *from = self->into;
    unsigned found = 0, needed = 0xf; /* m, x, y, z */
    int id = -1;
    for (int c = 0; c < from->columns; c++) {
        int f = 0;
        while (f < LACIS_BODIES_FIGURES && !named(from, c, lacis_bodies_figure[f]))
            f++;
        if (f < LACIS_BODIES_FIGURES)
            found |= 1u << f;
        else if (named(from, c, "id"))
            id = c;
        else
            return false;
    }
    if ((found & needed) != needed) return false;
    self->shape = BODIES;
    self->id = id;
    return true;
}

/* Whether the columns are x, y and z as far as they go, then fields. Along x alone one of them must be "value": two
 * columns of which the first is called x are many things. Whatever has m or id besides is points, and no grid. */
static bool find_grid(gathering *self)
{
    const lacis_collected *from = self->into;
    int dims = 0;
    while (dims < 3 && named(from, dims, lacis_grid_axis[dims]))
        dims++;
    int fields = from->columns - dims;
    bool value = false, points = false;
    for (int c = dims; c < from->columns; c++) {
        if (!lacis_grid_field_name(from->name[c])) return false;
        value = value || named(from, c, "value");
        points = points || named(from, c, "m") || named(from, c, "id");
    }
    if (dims == 0 || fields < 1 || fields > LACIS_GRID_FIELDS || points || (dims == 1 && !value)) return false;
    self->shape = GRID;
    self->keys = dims;
    return true;
}

static void find_shape(gathering *self)
{
    const lacis_collected *from = self->into;
    bool graph = named(from, 0, "src") && named(from, 1, "dst");
    self->shape = TABLE;
    if (graph && (from->columns == 2 || (from->columns == 3 && named(from, 2, "value")))) {
        self->shape = GRAPH;
        self->keys = 2;
    } else if (from->columns == 2 && named(from, 0, "i") && named(from, 1, "value")) {
        self->shape = VECTOR;
        self->keys = 1;
    } else if (named(from, 0, "i") && find_words(self, 1)) {
        self->shape = WORDS;
        self->keys = 1;
    } else if (find_symmetric(self) || find_bodies(self) || find_grid(self)) {
        return;
    } else if (named(from, 0, "lane") && named(from, 1, "row")) {
        int keys = named(from, 2, "parent") ? 3 : 2;
        if (from->columns == keys) return; /* without a field */
        self->shape = BATCH;
        self->keys = keys;
    }
}

static lacis_status name_columns(gathering *self)
{
    lacis_collected *into = self->into;
    int columns = sqlite3_column_count(self->query);
    if (columns == 0) return lacis_run_fail(self->run, LACIS_TYPE, "the statement gives no rows: LET needs a SELECT");
    if (columns > LACIS_MAX_COLUMNS)
        return lacis_run_fail(self->run, LACIS_RANGE, "the query has %d columns; an array has at most %d", columns,
                              LACIS_MAX_COLUMNS);
    for (int i = 0; i < columns; i++) {
        const char *name = sqlite3_column_name(self->query, i);
        if (name == NULL) return lacis_run_fail(self->run, LACIS_NOMEM, "out of memory");
        for (int k = 0; k < i; k++)
            if (lacis_name_compare(into->name[k], name) == 0)
                return lacis_run_fail(self->run, LACIS_NAME, "two columns are called %s: name one of them with AS",
                                      name);
        into->name[i] = name;
    }
    into->columns = columns;
    find_shape(self);
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- rows */

static lacis_status grow(gathering *self)
{
    lacis_collected *into = self->into;
    int64_t room = into->room == 0 ? 256 : 2 * into->room;
    for (int i = 0; i < into->columns + (into->text >= 0); i++) {
        int64_t *fresh;
        LACIS_TRY(lacis_run_alloc(self->run, (uint64_t)room * sizeof *fresh, &fresh));
        if (into->rows > 0) memcpy(fresh, into->bits[i], (uint64_t)into->rows * sizeof *fresh);
        lacis_run_free(self->run, into->bits[i]);
        into->bits[i] = fresh;
    }
    into->room = room;
    return LACIS_OK;
}

static int64_t bits_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The column's first real: what came before becomes real too. */
static void become_real(lacis_collected *into, int column)
{
    for (int64_t i = 0; i < into->rows; i++)
        into->bits[column][i] = bits_of((double)into->bits[column][i]);
    into->real[column] = true;
}

static lacis_status wrong_type(gathering *self, int column, int type)
{
    const char *name = self->into->name[column];
    long long row = (long long)self->into->rows + 1;
    if (type == SQLITE_NULL)
        return lacis_run_fail_at(self->run, LACIS_TYPE, -1, "leave such rows out, or use coalesce",
                                 "row %lld: %s is NULL, and arrays hold numbers only", row, name);
    return lacis_run_fail_at(self->run, LACIS_TYPE, -1, "CAST it, or CREATE TABLE ... AS SELECT keeps text",
                             "row %lld: %s is %s, and arrays hold numbers only", row, name,
                             type == SQLITE_TEXT ? "text" : "a blob");
}

static lacis_status take_real(gathering *self, int column, double value)
{
    lacis_collected *into = self->into;
    int64_t *cell = &into->bits[column][into->rows];
    bool whole = value == floor(value) && value >= -0x1p63 && value < 0x1p63;
    if (column < self->keys && self->shape == GRID && !whole) {
        self->shape = TABLE; /* places that are no cells */
        self->keys = 0;
    }
    if (column < self->keys || column == self->id) {
        if (!whole)
            return lacis_run_fail(self->run, LACIS_TYPE, "row %lld: %s is %.17g, which is not an integer",
                                  (long long)into->rows + 1, into->name[column], value);
        *cell = (int64_t)value;
        return LACIS_OK;
    }
    if (!into->real[column]) become_real(into, column);
    *cell = bits_of(value);
    return LACIS_OK;
}

/* A number as text, to all its digits, or any other one. */
static lacis_status take_text(gathering *self, int column)
{
    lacis_collected *into = self->into;
    const char *text = (const char *)sqlite3_column_text(self->query, column);
    double hi, lo;
    if (text == NULL) return wrong_type(self, column, SQLITE_NULL);
    if (!lacis_parse_dd(text, strlen(text), &hi, &lo))
        return lacis_run_fail(self->run, LACIS_TYPE, "row %lld: %s is '%.60s', which is not a number",
                              (long long)into->rows + 1, into->name[column], text);
    into->real[column] = true;
    into->bits[column][into->rows] = bits_of(hi);
    into->bits[into->columns][into->rows] = bits_of(lo);
    return LACIS_OK;
}

static lacis_status take_row(gathering *self)
{
    lacis_collected *into = self->into;
    if (into->rows == into->room) LACIS_TRY(grow(self));
    for (int i = 0; i < into->columns; i++) {
        int type = sqlite3_column_type(self->query, i);
        if (i == self->unread) continue;
        if (i == into->text) {
            LACIS_TRY(take_text(self, i));
        } else if (type == SQLITE_FLOAT) {
            LACIS_TRY(take_real(self, i, sqlite3_column_double(self->query, i)));
        } else if (type == SQLITE_INTEGER) {
            int64_t value = sqlite3_column_int64(self->query, i);
            into->bits[i][into->rows] = into->real[i] ? bits_of((double)value) : value;
        } else {
            return wrong_type(self, i, type);
        }
    }
    into->rows++;
    return LACIS_OK;
}

static lacis_status gather(gathering *self)
{
    int code;
    LACIS_TRY(name_columns(self));
    LACIS_TRY(grow(self));
    while ((code = sqlite3_step(self->query)) == SQLITE_ROW) {
        if ((self->into->rows & 0xfff) == 0xfff && lacis_run_cancelled(self->run))
            return lacis_run_interrupted(self->run);
        LACIS_TRY(take_row(self));
    }
    if (code == SQLITE_DONE) return LACIS_OK;
    lacis_catalog nameless = {.db = sqlite3_db_handle(self->query)};
    return lacis_catalog_fail(self->run, &nameless, code, -1);
}

static lacis_status build(gathering *self, lacis_array **out)
{
    switch (self->shape) {
    case GRAPH:
        return lacis_collected_graph(self->run, self->into, out);
    case VECTOR:
        return lacis_collected_vector(self->run, self->into, out);
    case WORDS:
        return lacis_collected_words(self->run, self->into, self->dtype, out);
    case SYMMETRIC:
        return lacis_collected_symmetric(self->run, self->into, self->dtype, out);
    case BODIES:
        return lacis_collected_bodies(self->run, self->into, out);
    case GRID:
        return lacis_collected_grid(self->run, self->into, self->keys, out);
    case BATCH:
        return lacis_collected_batch(self->run, self->into, out);
    default:
        return lacis_collected_table(self->run, self->into, out);
    }
}

lacis_status lacis_catalog_collect(lacis_run *run, sqlite3_stmt *query, lacis_array **out)
{
    gathering self = {.run = run, .query = query, .unread = -1, .id = -1};
    LACIS_TRY(lacis_run_alloc(run, sizeof *self.into, &self.into));
    memset(self.into, 0, sizeof *self.into);
    self.into->text = -1;
    lacis_status status = gather(&self);
    if (status == LACIS_OK) status = build(&self, out);
    for (int i = 0; i < self.into->columns + 1; i++)
        lacis_run_free(run, self.into->bits[i]);
    lacis_run_free(run, self.into);
    return status;
}
