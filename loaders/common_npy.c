/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of systems in NumPy's format; see common_npy.h. lanes x rows in C's order is Flat, in Fortran's it is Full;
 * a batch of several fields is an array of records, [('a', '<f8'), ...].
 */
#include "common_npy.h"

#include <string.h>
#include <strings.h>

/* --- loading --------------------------------------------------------------------------------------- */

typedef struct record_field {
    const lacis_npy_type *type;
    char name[64];
    size_t offset; /* in a record */
} record_field;

typedef struct table {
    lacis_run *run;
    const lacis_source *source;
    int64_t lanes, rows;
    bool fortran;
    size_t record; /* bytes */
    int fields;
    record_field field[LACIS_BATCH_FIELDS + 1];
} table;

static lacis_status refuse(const table *t, const char *cause)
{
    return lacis_run_fail(t->run, LACIS_FORMAT, "%s: %s", t->source->path, cause);
}

bool lacis_npy_is_batch(const lacis_npy_head *h)
{
    const char *shape = lacis_npy_value(h, "'shape'"), *comma = strchr(shape, ',');
    if (lacis_npy_value(h, "'descr'")[0] == '[') return true;
    return comma != NULL && comma[1 + strspn(comma + 1, " ")] >= '0' && comma[1 + strspn(comma + 1, " ")] <= '9';
}

static bool read_count(const char **p, int64_t *out)
{
    const char *digits = *p += strspn(*p, " ");
    *out = 0;
    for (; **p >= '0' && **p <= '9'; ++*p)
        if (__builtin_mul_overflow(*out, (int64_t)10, out) || __builtin_add_overflow(*out, (int64_t)(**p - '0'), out))
            return false;
    return *p > digits;
}

/* "(lanes, rows)" */
static bool read_shape(table *t, const lacis_npy_head *h)
{
    const char *p = lacis_npy_value(h, "'shape'");
    if (*p++ != '(' || !read_count(&p, &t->lanes) || *p++ != ',' || !read_count(&p, &t->rows)) return false;
    p += strspn(p, ", ");
    return *p == ')';
}

/* ('name', '<f8') at *p, which moves behind it. */
static lacis_status read_field(table *t, const char **p)
{
    record_field *field = &t->field[t->fields];
    const char *name = *p + 1 + strspn(*p + 1, " ");
    if (**p != '(' || (*name != '\'' && *name != '"')) return refuse(t, "its records are not of plain named fields");
    const char *end = strchr(name + 1, *name);
    size_t length = end == NULL ? 0 : (size_t)(end - name - 1);
    if (length == 0 || length >= sizeof field->name) return refuse(t, "a field without a name, or with a long one");
    if (t->fields == LACIS_BATCH_FIELDS) return refuse(t, "more fields than a batch can have");
    memcpy(field->name, name + 1, length);
    field->name[length] = '\0';
    const char *code = end + 1 + strspn(end + 1, ", ");
    field->type = *code == '\'' || *code == '"' ? lacis_npy_type_at(code + 1) : NULL;
    if (field->type == NULL)
        return refuse(t, "a field's type is none of f4, f8, i4, i8, u1, u2, u4, b1, c8, c16 (little-endian)");
    code += 1 + strlen(field->type->code) + 1;
    if (code[strspn(code, " ")] != ')') return refuse(t, "its records are not of plain named fields");
    *p = code + strspn(code, " ") + 1;
    field->offset = t->record;
    t->record += lacis_dtype_size(field->type->storage);
    t->fields++;
    return LACIS_OK;
}

static lacis_status read_fields(table *t, const lacis_npy_head *h)
{
    const char *p = lacis_npy_value(h, "'descr'");
    if (*p != '[') {
        t->field[0] = (record_field){lacis_npy_type_at(p), "value", 0};
        if (t->field[0].type == NULL)
            return refuse(t, "its type is none of f4, f8, i4, i8, u1, u2, u4, b1, c8, c16 (little-endian); convert "
                             "it with astype");
        t->record = lacis_dtype_size(t->field[0].type->storage);
        t->fields = 1;
        return LACIS_OK;
    }
    for (p += 1 + strspn(p + 1, " "); *p != ']'; p += strspn(p, ", "))
        LACIS_TRY(read_field(t, &p));
    return t->fields > 0 ? LACIS_OK : refuse(t, "its records have no fields");
}

/* Numbers in "(2, 3, 4)". */
static int dimensions_of(const lacis_npy_head *h)
{
    int count = 0;
    for (const char *p = lacis_npy_value(h, "'shape'"); *p != ')' && *p != '\0'; p++)
        count += *p >= '0' && *p <= '9' && (p[1] < '0' || p[1] > '9');
    return count;
}

static lacis_status refuse_shape(const table *t, const lacis_npy_head *h)
{
    int dimensions = dimensions_of(h);
    if (dimensions <= 3) return refuse(t, "fields stand in two dimensions, lanes x rows");
    return lacis_run_fail(
        t->run, LACIS_FORMAT,
        "%s: an array of %d dimensions; lacis takes one (a vector), two (lanes x rows of a batch) and "
        "three (a grid): a.reshape(...) in NumPy",
        t->source->path, dimensions);
}

static lacis_status read_table(table *t, const lacis_npy_head *h)
{
    int64_t count;
    if (!read_shape(t, h)) return refuse_shape(t, h);
    t->fortran = strncmp(lacis_npy_value(h, "'fortran_order'"), "True", 4) == 0;
    LACIS_TRY(read_fields(t, h));
    size_t left = t->source->size - h->end;
    bool counts = !__builtin_mul_overflow(t->lanes, t->rows, &count) && t->rows <= INT32_MAX;
    if (!counts || (uint64_t)count > left / t->record)
        return refuse(t, "the file ends before its data; fetch it again");
    if (count == 0) t->lanes = t->rows = 0;
    return (uint64_t)count * t->record < left ? refuse(t, "bytes follow its data; fetch it again") : LACIS_OK;
}

/* Elements of a field out of the records, in their order. */
static void take(const table *t, const record_field *field, const char *data, int64_t count, void *out)
{
    size_t size = lacis_dtype_size(field->type->storage);
    char *to = out;
    if (t->record == size) {
        if (count > 0) memcpy(to, data, (size_t)count * size);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, data + (size_t)i * t->record + field->offset, size);
}

/* The tree that all lanes have. */
static lacis_status take_parent(const table *t, const record_field *field, const char *data, int32_t **out)
{
    lacis_dtype type = field->type->storage;
    if (type != LACIS_I32 && type != LACIS_I64) return refuse(t, "parent must be of type i4 or i8");
    LACIS_TRY(lacis_run_scratch(t->run, (uint64_t)t->rows * sizeof **out, out));
    for (int64_t lane = 0; lane < t->lanes; lane++)
        for (int64_t row = 0; row < t->rows; row++) {
            int64_t at = t->fortran ? row * t->lanes + lane : lane * t->rows + row, parent = 0;
            const char *from = data + (size_t)at * t->record + field->offset;
            int32_t narrow;
            memcpy(&parent, from, lacis_dtype_size(type));
            memcpy(&narrow, from, sizeof narrow);
            if (type == LACIS_I32) parent = narrow;
            if (parent < -1 || parent >= row)
                return lacis_run_fail(t->run, LACIS_FORMAT,
                                      "%s: lane %lld, row %lld has parent %lld: a parent comes before its children, "
                                      "and -1 is a root's",
                                      t->source->path, (long long)lane, (long long)row, (long long)parent);
            if (lane == 0) (*out)[row] = (int32_t)parent;
            if ((*out)[row] != parent)
                return lacis_run_fail(t->run, LACIS_FORMAT,
                                      "%s: lane %lld has another tree than lane 0; batches of several trees are "
                                      "saved as csv",
                                      t->source->path, (long long)lane);
        }
    return LACIS_OK;
}

/* Names of columns that a batch has anyway, and of parts that say how it is built. */
static bool is_taken(const char *name)
{
    static const char *const taken[] = {"lane", "row", "block", "group_lanes", "group_rows", "parent"};
    for (int i = 0; i < LACIS_COUNT(taken); i++)
        if (strcasecmp(taken[i], name) == 0) return true;
    return false;
}

static lacis_status add_field(const table *t, const record_field *field, const char *data, lacis_array *array)
{
    lacis_buffer *buffer;
    int64_t count = t->lanes * t->rows;
    if (lacis_array_part_named(array, field->name) != NULL || is_taken(field->name))
        return lacis_run_fail(t->run, LACIS_FORMAT, "%s: a batch cannot have a field %s here; rename it",
                              t->source->path, field->name);
    LACIS_TRY(lacis_buffer_new(t->run, (uint64_t)count * lacis_dtype_size(field->type->storage), &buffer));
    take(t, field, data, count, lacis_buffer_data(buffer));
    lacis_status status = lacis_array_add(t->run, array, field->name, field->type->storage, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static bool is_parent(const record_field *field)
{
    return strcmp(field->name, "parent") == 0;
}

lacis_status lacis_npy_load_batch(lacis_run *run, const lacis_source *source, const lacis_npy_head *h,
                                  lacis_array **out)
{
    table t = {.run = run, .source = source};
    int32_t *parent = NULL;
    lacis_array *array;
    lacis_dtype dtype = LACIS_I32;
    LACIS_TRY(read_table(&t, h));
    for (int i = 0; i < t.fields; i++) {
        if (is_parent(&t.field[i])) LACIS_TRY(take_parent(&t, &t.field[i], source->data + h->end, &parent));
        if (!is_parent(&t.field[i]) && t.field[i].type->dtype > dtype) dtype = t.field[i].type->dtype;
    }
    lacis_batch_shape shape = {
        .groups = 1, .lanes = &t.lanes, .rows = &t.rows, .parent = parent, .block = !t.fortran, .dtype = dtype};
    LACIS_TRY(lacis_batch_new(run, &shape, &array));
    lacis_status status = LACIS_OK;
    for (int i = 0; i < t.fields && status == LACIS_OK; i++)
        if (!is_parent(&t.field[i])) status = add_field(&t, &t.field[i], source->data + h->end, array);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}

/* --- saving ---------------------------------------------------------------------------------------- */

static lacis_status check(lacis_run *run, const lacis_batch *batch)
{
    if (batch->groups > 1)
        return lacis_run_fail(run, LACIS_TYPE,
                              "npy holds lanes of one length and tree, and this batch has %lld kinds; save it as csv",
                              (long long)batch->groups);
    if (batch->fields == 0) return lacis_run_fail(run, LACIS_TYPE, "the batch has no field to save");
    for (int i = 0; i < batch->fields; i++)
        if (lacis_npy_type_of(batch->field[i].dtype) == NULL)
            return lacis_run_fail(run, LACIS_TYPE, "npy has no type for %s", lacis_dtype_name(batch->field[i].dtype));
    return LACIS_OK;
}

/* "'<f8'" of a field value alone, or "[('a', '<f8'), ...]". */
static char *describe(lacis_run *run, const lacis_batch *batch)
{
    bool alone = batch->fields == 1 && batch->parent == NULL && strcmp(batch->field[0].name, "value") == 0;
    if (alone) return lacis_run_text(run, "'%s'", lacis_npy_type_of(batch->field[0].dtype)->code);
    char *text = lacis_run_text(run, batch->parent == NULL ? "[" : "[('parent', '<i4'), ");
    for (int i = 0; i < batch->fields && text != NULL; i++)
        text = lacis_run_text(run, "%s('%s', '%s')%s", text, batch->field[i].name,
                              lacis_npy_type_of(batch->field[i].dtype)->code, i + 1 < batch->fields ? ", " : "]");
    return text;
}

static void put_record(lacis_writer *w, const lacis_batch *batch, int64_t lane, int64_t row)
{
    int64_t place = lacis_batch_place(&batch->group[0], lane, row);
    if (batch->parent != NULL) lacis_writer_bytes(w, &batch->parent[row], sizeof *batch->parent);
    for (int i = 0; i < batch->fields; i++) {
        const lacis_batch_part *field = &batch->field[i];
        size_t size = lacis_dtype_size(field->dtype);
        int64_t at = field->shared ? row : place;
        lacis_writer_bytes(w, (const char *)field->data + (size_t)at * size, size);
    }
}

lacis_status lacis_npy_save_batch(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_batch batch;
    lacis_writer *w;
    int64_t done = 0;
    LACIS_TRY(lacis_batch_view(run, array, &batch));
    LACIS_TRY(check(run, &batch));
    if (lacis_array_base(array, 0) != 0 || lacis_array_base(array, 1) != 0)
        lacis_run_note(run, LACIS_WARNING,
                       "npy counts from 0: that lanes begin at %lld and rows at %lld is not in "
                       "the file; csv keeps them",
                       (long long)lacis_array_base(array, 0), (long long)lacis_array_base(array, 1));
    char *descr = describe(run, &batch);
    char *shape = lacis_run_text(run, "%lld, %lld", (long long)batch.lanes, (long long)batch.most_rows);
    if (descr == NULL || shape == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(lacis_run_alloc(run, sizeof *w, &w));
    lacis_writer_begin(w, run, file);
    lacis_npy_write_head(file, descr, false, shape, NULL);
    bool stop = false;
    for (int64_t lane = 0; lane < batch.lanes && !stop; lane++)
        for (int64_t row = 0; row < batch.most_rows && !stop; row++) {
            put_record(w, &batch, lane, row);
            stop = (++done & 0xffff) == 0 && lacis_writer_stop(w, done, batch.elements);
        }
    lacis_status status = lacis_writer_end(w);
    lacis_run_free(run, w);
    return status;
}
