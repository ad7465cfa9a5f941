/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a query's conditions, order and limit a virtual table takes over (xBestIndex), and how the arguments that
 * SQLite then gives are read (xFilter). vtab.c calls both.
 *
 * Taken over: equality, IN and ranges on the first key, equality and ranges on the second, rising order of the keys,
 * and ORDER BY value DESC with LIMIT where no condition is left to SQLite; of a grid equality and ranges on all keys,
 * and IN on one of them. All exactly as SQLite would compare an INTEGER column: reals by value, text as a number
 * where it looks like one and above all numbers otherwise, NULL with nothing.
 *
 * idxStr: two characters an argument: the column '0', '1' or '2' and one of = < { > } ('{' is <=, '}' is >=) or I
 * (IN); "LL" and "OO" for LIMIT and OFFSET. idxNum: 1 for rows by falling value.
 */
#include "catalog/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BY_VALUE = 1, KEYS = 3 };

/* --------------------------------------------------------------------------------------------- plan */

typedef struct plan {
    sqlite3_index_info *info;
    const lacis_relation *relation;
    char *text;
    int args;
    bool equal[KEYS], list[KEYS], lower[KEYS], upper[KEYS]; /* by column; a list of one */
    bool listed;
    bool left;         /* a condition stays with SQLite */
    int limit, offset; /* constraints, or -1 */
} plan;

static char operation(int op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_IS:
        return '=';
    case SQLITE_INDEX_CONSTRAINT_LT:
        return '<';
    case SQLITE_INDEX_CONSTRAINT_LE:
        return '{';
    case SQLITE_INDEX_CONSTRAINT_GT:
        return '>';
    case SQLITE_INDEX_CONSTRAINT_GE:
        return '}';
    default:
        return '\0';
    }
}

static void take(plan *self, int constraint, char column, char op, bool omit)
{
    self->text[2 * self->args] = column;
    self->text[2 * self->args + 1] = op;
    self->info->aConstraintUsage[constraint].argvIndex = ++self->args;
    self->info->aConstraintUsage[constraint].omit = omit;
}

/* Whether the constraint is taken over; `i` is one of its places in the tables of info. */
static bool take_key(plan *self, int i)
{
    const lacis_columns *columns = &self->relation->columns;
    int column = self->info->aConstraint[i].iColumn, most = columns->last_first ? KEYS : 2;
    char op = operation(self->info->aConstraint[i].op);
    if (op == '\0' || column < 0 || column >= columns->keys || column >= most) return false;
    bool list = op == '=' && sqlite3_vtab_in(self->info, i, -1);
    if (list) {
        if ((column != 0 && !columns->last_first) || self->listed) return false;
        sqlite3_vtab_in(self->info, i, 1);
        self->list[column] = self->listed = true;
        op = 'I';
    }
    if (op == '=') self->equal[column] = true;
    if (op == '>' || op == '}') self->lower[column] = true;
    if (op == '<' || op == '{') self->upper[column] = true;
    take(self, i, (char)('0' + column), op, true);
    return true;
}

static void take_constraints(plan *self)
{
    for (int i = 0; i < self->info->nConstraint; i++) {
        int op = self->info->aConstraint[i].op;
        bool usable = self->info->aConstraint[i].usable != 0;
        if (op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET) {
            if (!usable) self->left = true;
            if (op == SQLITE_INDEX_CONSTRAINT_LIMIT) {
                self->limit = i;
            } else {
                self->offset = i;
            }
        } else if (!usable || !take_key(self, i)) {
            self->left = true;
        }
    }
}

static bool fixed(const plan *self, int column)
{
    return column >= 0 && column < KEYS && self->equal[column];
}

/* The k-th column by which rows are sorted, from `k` on the first one that no equality fixes; keys: none is left. */
static int sorted_by(const plan *self, int *k)
{
    const lacis_columns *columns = &self->relation->columns;
    for (; *k < columns->keys; (*k)++) {
        int column = columns->last_first ? columns->keys - 1 - *k : *k;
        if (!fixed(self, column)) return column;
    }
    return columns->keys;
}

/* Whether ORDER BY asks for no more than the keys rising. A key that an equality fixes may stand anywhere; behind the
 * last key nothing matters, since no two rows have the same keys. */
static bool ordered_by_keys(const plan *self, int from)
{
    const sqlite3_index_info *info = self->info;
    int keys = self->relation->columns.keys, k = 0, next = sorted_by(self, &k);
    for (int i = from; i < info->nOrderBy && next < keys; i++) {
        int column = info->aOrderBy[i].iColumn;
        if (fixed(self, column)) continue;
        if (column != next || info->aOrderBy[i].desc) return false;
        k++;
        next = sorted_by(self, &k);
    }
    return keys > 0;
}

static void take_order(plan *self)
{
    sqlite3_index_info *info = self->info;
    if (info->nOrderBy == 0) return;
    if (ordered_by_keys(self, 0)) {
        info->orderByConsumed = 1;
        return;
    }
    int value = self->relation->columns.value;
    bool falling = value >= 0 && info->aOrderBy[0].iColumn == value && info->aOrderBy[0].desc &&
                   (info->nOrderBy == 1 || ordered_by_keys(self, 1));
    if (!falling || self->limit < 0 || self->left || sqlite3_vtab_distinct(info) != 0) return;
    take(self, self->limit, 'L', 'L', false);
    if (self->offset >= 0) take(self, self->offset, 'O', 'O', false);
    info->orderByConsumed = 1;
    info->idxNum = BY_VALUE;
}

/* Cells within a box; of a lazy view all are computed first. */
static void estimate_grid(const plan *self, bool lazy)
{
    const int few = 8, part = 4;
    int keys = self->relation->columns.keys, equal = 0;
    double rows = 1;
    for (int d = 0; d < keys && d < KEYS; d++) {
        double along = self->relation->extent[d] < 1 ? 1 : (double)self->relation->extent[d];
        if (self->equal[d])
            along = 1;
        else if (self->list[d])
            along = along < few ? along : few;
        else
            along /= (self->lower[d] ? part : 1) * (self->upper[d] ? part : 1);
        rows *= along < 1 ? 1 : along;
        equal += self->equal[d];
    }
    if (equal == keys && keys > 0) self->info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    self->info->estimatedRows = rows > 1e18 ? (sqlite3_int64)1e18 : (sqlite3_int64)rows;
    self->info->estimatedCost = lazy ? 50 + 4 * self->relation->rows : 2 + rows;
}

/* Rows and cost in rows read. Each start of a lazy view has work of its own; so has looking for the second key alone.
 */
static void estimate(const plan *self, bool lazy)
{
    double all = self->relation->rows < 1 ? 1 : self->relation->rows;
    double first = self->relation->first < 1 ? 1 : self->relation->first;
    double rows = all, read;
    if (self->equal[0]) {
        rows = first;
    } else if (self->list[0]) {
        rows = 8 * first;
    } else {
        if (self->lower[0]) rows /= 4;
        if (self->upper[0]) rows /= 4;
    }
    if (rows > all) rows = all;
    read = rows;
    if (self->equal[1]) {
        rows /= first;
        read = self->equal[0] && !lazy ? 1 : read / 2;
    } else if (self->lower[1] || self->upper[1]) {
        rows /= 4;
        read /= 2;
    }
    bool unique = self->equal[0] && (self->equal[1] || self->relation->columns.keys == 1);
    if (unique) self->info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    self->info->estimatedRows = rows < 1 || unique ? 1 : rows > 1e18 ? (sqlite3_int64)1e18 : (sqlite3_int64)rows;
    self->info->estimatedCost = (lazy ? 50 + 4 * read : 2 + read);
}

int lacis_pushdown_plan(const lacis_relation *relation, bool lazy, sqlite3_index_info *info)
{
    plan self = {.info = info, .relation = relation, .limit = -1, .offset = -1};
    self.text = sqlite3_malloc64(2 * (uint64_t)info->nConstraint + 1);
    if (self.text == NULL) return SQLITE_NOMEM;
    info->idxNum = 0;
    take_constraints(&self);
    take_order(&self);
    self.text[2 * self.args] = '\0';
    info->idxStr = self.text;
    info->needToFreeIdxStr = 1;
    if (relation->columns.last_first)
        estimate_grid(&self, lazy);
    else
        estimate(&self, lazy);
    return SQLITE_OK;
}

/* ------------------------------------------------------------------------------------------- filter */

typedef struct range {
    int64_t lo, hi;
    bool empty;
} range;

static void narrow_integer(range *keys, char op, int64_t value)
{
    if ((op == '<' && value == INT64_MIN) || (op == '>' && value == INT64_MAX)) {
        keys->empty = true;
        return;
    }
    int64_t below = op == '<' ? value - 1 : value, above = op == '>' ? value + 1 : value;
    if ((op == '<' || op == '{' || op == '=') && below < keys->hi) keys->hi = below;
    if ((op == '>' || op == '}' || op == '=') && above > keys->lo) keys->lo = above;
    if (keys->lo > keys->hi) keys->empty = true;
}

/* Compares as if keys were exact reals. Within the range of 64 bits every bound becomes an integer one. */
static void narrow_real(range *keys, char op, double value)
{
    const double least = -0x1p63, beyond = 0x1p63;
    bool up = op == '>' || op == '}', down = op == '<' || op == '{';
    if (value >= beyond || value < least) {
        bool all = value >= beyond ? down : up;
        if (!all) keys->empty = true;
        return;
    }
    if (op == '=' && value != floor(value)) keys->empty = true;
    if (op == '=') narrow_integer(keys, '=', (int64_t)floor(value));
    if (op == '{' || op == '>') narrow_integer(keys, op, (int64_t)floor(value));
    if (op == '<' || op == '}') {
        double above = ceil(value);
        narrow_integer(keys, op, (int64_t)above);
    }
}

static void narrow(range *keys, char op, sqlite3_value *value)
{
    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
        narrow_integer(keys, op, sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        narrow_real(keys, op, sqlite3_value_double(value));
        break;
    case SQLITE_NULL:
        keys->empty = true;
        break;
    default: /* text and blobs are above every number */
        if (op != '<' && op != '{') keys->empty = true;
        break;
    }
}

/* The key that equals a value, if one can. */
static bool as_key(sqlite3_value *value, int64_t *out)
{
    range one = {INT64_MIN, INT64_MAX, false};
    narrow(&one, '=', value);
    *out = one.lo;
    return !one.empty;
}

static int by_size(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* The keys in the list of an IN, rising, each once. */
static int read_list(sqlite3_value *values, int64_t **list, int64_t *count)
{
    int64_t room = 0, used = 0;
    sqlite3_value *value = NULL;
    int code = sqlite3_vtab_in_first(values, &value);
    for (; code == SQLITE_OK && value != NULL; code = sqlite3_vtab_in_next(values, &value)) {
        if (used == room) {
            room = room == 0 ? 16 : 2 * room;
            int64_t *more = sqlite3_realloc64(*list, (uint64_t)room * sizeof **list);
            if (more == NULL) return SQLITE_NOMEM;
            *list = more;
        }
        if (as_key(value, &(*list)[used])) used++;
    }
    if (code != SQLITE_OK && code != SQLITE_DONE) return code;
    if (used > 1) qsort(*list, (size_t)used, sizeof **list, by_size);
    *count = 0;
    for (int64_t i = 0; i < used; i++)
        if (i == 0 || (*list)[i] != (*list)[i - 1]) (*list)[(*count)++] = (*list)[i];
    return SQLITE_OK;
}

/* How many rows are wanted in all; negative: no limit, which by_value writes as the greatest integer. */
static int64_t rows_wanted(int64_t limit, int64_t offset)
{
    if (limit < 0) return INT64_MAX;
    if (offset <= 0) return limit;
    return limit > INT64_MAX - offset ? INT64_MAX : limit + offset;
}

/* Drops what the range excludes; the list stays rising. */
static void trim_list(lacis_restriction *where, const range *within)
{
    while (where->count > 0 && where->list[where->count - 1] > within->hi)
        where->count--;
    while (where->count > 0 && where->list[0] < within->lo) {
        where->list++;
        where->count--;
    }
}

int lacis_pushdown_filter(int number, const char *text, int count, sqlite3_value **value, lacis_filter *out,
                          int64_t **list, bool *nothing)
{
    range keys[KEYS] = {{INT64_MIN, INT64_MAX, false}, {INT64_MIN, INT64_MAX, false}, {INT64_MIN, INT64_MAX, false}};
    int64_t limit = -1, offset = 0;
    *out = lacis_filter_all;
    for (int i = 0; i < count; i++) {
        char column = text[2 * i], op = text[2 * i + 1];
        if (column == 'L') {
            limit = sqlite3_value_int64(value[i]);
        } else if (column == 'O') {
            offset = sqlite3_value_int64(value[i]);
        } else if (op == 'I') {
            int code = read_list(value[i], list, &out->where.count);
            if (code != SQLITE_OK) return code;
            if (out->where.count == 0) keys[0].empty = true;
            out->where.list = *list;
            out->where.list_column = column - '0';
        } else {
            narrow(&keys[column - '0'], op, value[i]);
            if (column == '2') out->where.third = true;
        }
    }
    out->where.lo = keys[0].lo;
    out->where.hi = keys[0].hi;
    out->where.lo1 = keys[1].lo;
    out->where.hi1 = keys[1].hi;
    out->where.lo2 = keys[2].lo;
    out->where.hi2 = keys[2].hi;
    out->by_value = (number & BY_VALUE) != 0;
    if (out->by_value) out->limit = rows_wanted(limit, offset);
    bool listed = out->where.list != NULL;
    if (listed) trim_list(&out->where, &keys[out->where.list_column]);
    *nothing = keys[0].empty || keys[1].empty || keys[2].empty || (listed && out->where.count == 0);
    return SQLITE_OK;
}

/* ------------------------------------------------------------------------------------------ explain */

void lacis_pushdown_text(const char *code, char *text, size_t size)
{
    static const char *const names[] = {"first column", "second column", "third column"};
    bool by_value = code[0] == '1';
    size_t used = (size_t)snprintf(text, size, "%s", by_value ? "greatest values" : "rows in order");
    const char *at = strchr(code, ':');
    for (at = at == NULL ? "" : at + 1; at[0] != '\0' && at[1] != '\0' && used < size; at += 2) {
        int more;
        if (at[0] == 'L' || at[0] == 'O') {
            more = snprintf(text + used, size - used, ", %s", at[0] == 'L' ? "limit" : "offset");
        } else {
            const char *op = at[1] == 'I' ? "IN" : at[1] == '{' ? "<=" : at[1] == '}' ? ">=" : NULL;
            const char single[] = {at[1], '\0'};
            more = snprintf(text + used, size - used, ", %s %s",
                            names[at[0] == '1' || at[0] == '2' ? at[0] - '0' : 0], op == NULL ? single : op);
        }
        if (more > 0) used += (size_t)more;
    }
}
