/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches out of rows in any order (lane, row [, parent], fields): sorts them, names what is missing or comes twice,
 * finds the groups of lanes of one length and tree. Callers: LET name = SELECT, and loaders of text formats.
 */
#include "core/batch.h"
#include "core/cells.h"
#include "core/radix.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

typedef struct gather {
    lacis_run *run;
    const lacis_batch_column *column;
    int columns, keys; /* keys: 3 with parents */
    int64_t count;
    const char *path;
    uint64_t *key;                     /* lane and row of each element, from the least of each on */
    int64_t *order;                    /* its number among the elements that came */
    int64_t base[2];                   /* least lane, least row */
    int64_t *group_lanes, *group_rows; /* room for as many as there are lanes */
    int32_t *parent;                   /* room for all elements; those of groups behind one another */
    int64_t groups, parents;
} gather;

static const uint64_t LAST = UINT32_MAX;

static lacis_status refuse(const gather *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
static lacis_status refuse(const gather *self, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return lacis_run_fail(self->run, self->path == NULL ? LACIS_TYPE : LACIS_FORMAT, "%s%s%s",
                          self->path == NULL ? "" : self->path, self->path == NULL ? "" : ": ", text);
}

/* --- order ---------------------------------------------------------------------------------------- */

static int64_t least(const int64_t *value, int64_t count)
{
    int64_t low = count > 0 ? value[0] : 0;
    for (int64_t i = 1; i < count; i++)
        if (value[i] < low) low = value[i];
    return low;
}

/* Numbers too far from the least come last: before them one is missing. */
static uint64_t from_least(int64_t value, int64_t low)
{
    uint64_t distance = (uint64_t)value - (uint64_t)low;
    return distance < LAST ? distance : LAST;
}

static lacis_status sort(gather *self)
{
    uint64_t bytes = (uint64_t)self->count * 8;
    LACIS_TRY(lacis_run_alloc(self->run, bytes, &self->key));
    LACIS_TRY(lacis_run_alloc(self->run, bytes, &self->order));
    for (int d = 0; d < 2; d++)
        self->base[d] = least(self->column[d].bits, self->count);
    for (int64_t i = 0; i < self->count; i++) {
        self->key[i] = from_least(self->column[0].bits[i], self->base[0]) << 32 |
                       from_least(self->column[1].bits[i], self->base[1]);
        self->order[i] = i;
    }
    return lacis_radix_sort(self->run, self->key, self->order, self->count);
}

static int64_t lane_label(const gather *self, int64_t i)
{
    return self->column[0].bits[self->order[i]];
}

static int64_t row_label(const gather *self, int64_t i)
{
    return self->column[1].bits[self->order[i]];
}

/* Element i follows element i - 1 (-1: none) in a lane, or begins the next one. */
static lacis_status check_place(const gather *self, int64_t i)
{
    int64_t lane = lane_label(self, i), row = row_label(self, i), last = i > 0 ? lane_label(self, i - 1) : lane;
    bool same = i > 0 && lane == last;
    if (i > 0 && !same && self->key[i] >> 32 != (self->key[i - 1] >> 32) + 1)
        return refuse(self, "lane %" PRId64 " is missing: lanes %" PRId64 " and %" PRId64 " are there", last + 1,
                      last, lane);
    if (same && row == row_label(self, i - 1))
        return refuse(self, "lane %" PRId64 " has row %" PRId64 " twice", lane, row);
    int64_t wanted = same ? row_label(self, i - 1) + 1 : self->base[1];
    if (row == wanted) return LACIS_OK;
    return refuse(self, "lane %" PRId64 " lacks row %" PRId64 ", and has row %" PRId64, lane, wanted, row);
}

static lacis_status check_places(const gather *self)
{
    for (int64_t i = 0; i < self->count; i++) {
        LACIS_TRY(check_place(self, i));
        if ((i & 0xffff) == 0xffff && lacis_run_cancelled(self->run)) return lacis_run_interrupted(self->run);
    }
    return LACIS_OK;
}

/* --- groups --------------------------------------------------------------------------------------- */

/* The parents of the lane that begins at element `first`, as numbers of rows. */
static lacis_status read_tree(const gather *self, int64_t first, int64_t rows, int32_t *parent)
{
    const int64_t *label = self->column[2].bits;
    for (int64_t r = 0; r < rows; r++) {
        int64_t given = label[self->order[first + r]], own = self->base[1] + r;
        bool root = given == -1;
        if (!root && (given < self->base[1] || given >= own))
            return refuse(self,
                          "lane %" PRId64 ", row %" PRId64 " has parent %" PRId64
                          ": a parent is a row of the lane before its children, and -1 is a root's",
                          lane_label(self, first), own, given);
        parent[r] = root ? -1 : (int32_t)(given - self->base[1]);
    }
    return LACIS_OK;
}

/* Puts the lane to the last group where it is like that group's lanes. */
static lacis_status add_lane(gather *self, int64_t first, int64_t rows)
{
    int64_t last = self->groups - 1;
    bool like = last >= 0 && self->group_rows[last] == rows;
    if (rows > INT32_MAX) return refuse(self, "lane %" PRId64 " has more than 2^31 rows", lane_label(self, first));
    if (self->keys == 3) {
        int32_t *parent = self->parent + self->parents;
        LACIS_TRY(read_tree(self, first, rows, parent));
        like = like && memcmp(parent - rows, parent, (size_t)rows * sizeof *parent) == 0;
    }
    if (like) {
        self->group_lanes[last]++;
        return LACIS_OK;
    }
    self->parents += rows;
    self->group_lanes[self->groups] = 1;
    self->group_rows[self->groups++] = rows;
    return LACIS_OK;
}

static lacis_status find_groups(gather *self)
{
    int64_t lanes = self->count > 0 ? (int64_t)(self->key[self->count - 1] >> 32) + 1 : 0;
    LACIS_TRY(lacis_run_alloc(self->run, 2 * (uint64_t)lanes * sizeof *self->group_lanes, &self->group_lanes));
    self->group_rows = self->group_lanes + lanes;
    if (self->keys == 3)
        LACIS_TRY(lacis_run_alloc(self->run, (uint64_t)self->count * sizeof *self->parent, &self->parent));
    int64_t end;
    for (int64_t first = 0; first < self->count; first = end) {
        for (end = first + 1; end < self->count && self->key[end] >> 32 == self->key[first] >> 32;)
            end++;
        LACIS_TRY(add_lane(self, first, end - first));
    }
    return LACIS_OK;
}

/* --- fields --------------------------------------------------------------------------------------- */

/* Whether column i + k is called as column i with `ending`. */
static bool follows(const gather *self, int i, int k, const char *ending)
{
    if (i + k >= self->columns) return false;
    const char *name = self->column[i].name, *next = self->column[i + k].name;
    size_t length = strlen(name);
    return strncasecmp(next, name, length) == 0 && strcasecmp(next + length, ending) == 0;
}

/* The type of the field that begins with column i: those behind it may hold its imaginary parts and low words. */
static lacis_dtype field_type(const gather *self, int i)
{
    static const lacis_dtype several[] = {LACIS_CDD, LACIS_DD, LACIS_C128};
    for (int t = 0; t < LACIS_COUNT(several); t++) {
        bool all = true;
        for (int k = 1; k < lacis_cells_of(several[t]); k++)
            all = all && follows(self, i, k, lacis_field_ending(several[t], k));
        if (all) return several[t];
    }
    return self->column[i].real ? LACIS_F64 : LACIS_I64;
}

static double as_real(const lacis_batch_column *column, int64_t element)
{
    double value;
    memcpy(&value, &column->bits[element], sizeof value);
    return column->real ? value : (double)column->bits[element];
}

static void fill(const gather *self, int i, int words, void *data)
{
    const lacis_batch_column *column = &self->column[i];
    int64_t *bits = data;
    double *word = data;
    for (int64_t k = 0; k < self->count && words == 1; k++)
        bits[k] = column->bits[self->order[k]];
    for (int64_t k = 0; k < self->count && words > 1; k++)
        for (int w = 0; w < words; w++)
            word[words * k + w] = as_real(column + w, self->order[k]);
}

static lacis_status add_field(const gather *self, int i, lacis_dtype dtype, lacis_array *array)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(self->run, (uint64_t)self->count * lacis_dtype_size(dtype), &buffer));
    fill(self, i, lacis_cells_of(dtype), lacis_buffer_data(buffer));
    lacis_status status = lacis_array_add(self->run, array, self->column[i].name, dtype, self->count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

/* The type of the whole: the widest of its fields'. */
static lacis_dtype common_type(const gather *self)
{
    lacis_dtype type = LACIS_I64;
    for (int i = self->keys; i < self->columns; i += lacis_cells_of(field_type(self, i)))
        if (field_type(self, i) > type) type = field_type(self, i);
    return type;
}

static lacis_status make(gather *self, lacis_array **out)
{
    lacis_array *array;
    lacis_batch_shape shape = {.groups = self->groups,
                               .lanes = self->group_lanes,
                               .rows = self->group_rows,
                               .parent = self->parent,
                               .block = 1,
                               .base = {self->base[0], self->base[1]},
                               .dtype = common_type(self)};
    LACIS_TRY(lacis_batch_new(self->run, &shape, &array));
    lacis_status status = LACIS_OK;
    for (int i = self->keys; i < self->columns && status == LACIS_OK; i += lacis_cells_of(field_type(self, i)))
        status = add_field(self, i, field_type(self, i), array);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}

static lacis_status check_names(const gather *self)
{
    if (self->columns - self->keys > LACIS_BATCH_FIELDS)
        return refuse(self, "a batch has at most %d fields, not %d", (int)LACIS_BATCH_FIELDS,
                      self->columns - self->keys);
    for (int i = 0; i < self->keys; i++)
        if (self->column[i].real) return refuse(self, "%s must be an integer in all rows", self->column[i].name);
    for (int i = self->keys; i < self->columns; i++)
        if (lacis_batch_structure(self->column[i].name) || strcasecmp(self->column[i].name, "parent") == 0)
            return refuse(self, "a field cannot be called %s: call it something else (parent stands behind row)",
                          self->column[i].name);
    return LACIS_OK;
}

lacis_status lacis_batch_gather(lacis_run *run, const lacis_batch_column *column, int columns, int64_t elements,
                                const char *path, lacis_array **out)
{
    gather self = {.run = run, .column = column, .columns = columns, .keys = 2, .count = elements, .path = path};
    if (columns > 2 && strcasecmp(column[2].name, "parent") == 0) self.keys = 3;
    lacis_status status = check_names(&self);
    if (status == LACIS_OK) status = sort(&self);
    if (status == LACIS_OK) status = check_places(&self);
    if (status == LACIS_OK) status = find_groups(&self);
    if (status == LACIS_OK) status = make(&self, out);
    lacis_run_free(run, self.parent);
    lacis_run_free(run, self.group_lanes);
    lacis_run_free(run, self.order);
    lacis_run_free(run, self.key);
    return status;
}
