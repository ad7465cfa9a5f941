/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies in NumPy's format: records, [('m', '<f4'), ('x', '<f4'), ...], a field each column, with nothing rounded; or
 * rows of numbers. See common_npy.h.
 */
#include "common_bodies_text.h"
#include "common_npy.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1 << 14, DIMENSIONS = 2 };

/* Where the elements of a column lie: at from + row * stride behind the head. */
typedef struct field {
    const lacis_npy_type *type;
    size_t from;
} field;

typedef struct source_rows {
    lacis_run *run;
    const lacis_source *source;
    const char *data;
    int64_t rows;
    size_t stride; /* bytes */
    field field[LACIS_BODY_COLUMNS];
    unsigned columns; /* bits of those that are there */
    lacis_bodies_maker *maker;
} source_rows;

static lacis_status refuse(const source_rows *s, const char *cause)
{
    return lacis_run_fail(s->run, LACIS_FORMAT, "%s: %s", s->source->path, cause);
}

/* ------------------------------------------------------------------------------------------- heads */

/* "(5,)" or "(5, 7)": how many dimensions, 0 where it is neither. */
static int read_shape(const lacis_npy_head *h, int64_t *size)
{
    const char *p = lacis_npy_value(h, "'shape'");
    int count = 0;
    if (*p++ != '(') return 0;
    for (; count < DIMENSIONS && *p >= '0' && *p <= '9'; count++) {
        int64_t n = 0;
        for (; *p >= '0' && *p <= '9'; p++)
            if (__builtin_mul_overflow(n, (int64_t)10, &n) || __builtin_add_overflow(n, (int64_t)(*p - '0'), &n))
                return 0;
        size[count] = n;
        p += strspn(p, ", ");
    }
    return *p == ')' ? count : 0;
}

bool lacis_npy_is_bodies(const lacis_npy_head *h)
{
    int64_t size[DIMENSIONS];
    return *lacis_npy_value(h, "'descr'") == '[' && read_shape(h, size) == 1;
}

static lacis_status add_column(source_rows *s, int column, const lacis_npy_type *type, size_t from)
{
    if (s->columns >> column & 1) return refuse(s, "a column of bodies is there twice");
    if (type->storage == LACIS_C64 || type->storage == LACIS_C128)
        return refuse(s, "a column of bodies is complex; save its real part");
    if (column == LACIS_BODY_ID && (type->storage == LACIS_F32 || type->storage == LACIS_F64))
        return refuse(s, "the column id is of a real type; save it as i8");
    s->field[column] = (field){type, from};
    s->columns |= 1U << column;
    return LACIS_OK;
}

/* ('name', 'code') at *p, which moves behind it: bytes that pad records ('', '|V4') and fields of other names are
 * passed over. */
static lacis_status read_field(source_rows *s, const char **p)
{
    const char *name = *p + 1 + strspn(*p + 1, " ");
    const char *end = **p == '(' && (*name == '\'' || *name == '"') ? strchr(name + 1, *name) : NULL;
    if (end == NULL) return refuse(s, "its records are not of plain named fields");
    const char *code = end + 1 + strspn(end + 1, ", ");
    const char *stop = *code == '\'' || *code == '"' ? strchr(code + 1, *code) : NULL;
    if (stop == NULL || stop[1 + strspn(stop + 1, " ")] != ')')
        return refuse(s, "its records are not of plain named fields");
    *p = stop + 2 + strspn(stop + 1, " ");
    const lacis_npy_type *type = lacis_npy_type_at(code + 1);
    int column = lacis_body_named(name + 1, end);
    if (type != NULL && column >= 0) LACIS_TRY(add_column(s, column, type, s->stride));
    size_t size = type != NULL ? lacis_dtype_size(type->storage) : 0;
    if (type == NULL && strncmp(code + 1, "|V", 2) == 0 && column < 0)
        for (const char *digit = code + 3; *digit >= '0' && *digit <= '9' && size < LACIS_NPY_HEAD; digit++)
            size = 10 * size + (size_t)(*digit - '0');
    if (size == 0)
        return refuse(s, "a field's type is none of f4, f8, i4, i8, u1, u2, u4, b1 (little-endian); convert it");
    s->stride += size;
    return LACIS_OK;
}

static lacis_status read_records(source_rows *s, const lacis_npy_head *h)
{
    const char *p = lacis_npy_value(h, "'descr'");
    for (p += 1 + strspn(p + 1, " "); *p != ']'; p += strspn(p, ", "))
        LACIS_TRY(read_field(s, &p));
    unsigned need = 1U << LACIS_BODY_M | 1U << LACIS_BODY_X | 1U << LACIS_BODY_Y;
    unsigned all = 1U << LACIS_BODY_AX | 1U << LACIS_BODY_AY | 1U << LACIS_BODY_AZ;
    if ((s->columns & need) != need)
        return refuse(
            s, "records in one dimension are bodies, which need fields m, x and y; those of batches stand in two "
               "dimensions, lanes x rows");
    if ((s->columns & all) != 0 && (s->columns & all) != all) return refuse(s, "ax, ay and az go together");
    return LACIS_OK;
}

/* n x k numbers. */
static lacis_status read_matrix(source_rows *s, const lacis_npy_head *h, const int64_t *size,
                                const lacis_options *given)
{
    const lacis_npy_type *type = lacis_npy_type_at(lacis_npy_value(h, "'descr'"));
    const char *names = lacis_option_text(given, "columns");
    int64_t offset = lacis_option_offset(given, "columns");
    lacis_bodies_layout layout = {.delimiter = 0};
    if (type == NULL) return refuse(s, "its type is none of f4, f8, i4, i8 (little-endian); convert it with astype");
    if (names != NULL && strchr(names, ',') != NULL) layout.delimiter = ',';
    if (names == NULL && size[1] == 4) names = "m x y z";
    if (names == NULL && size[1] == 7) names = "m x y z vx vy vz";
    if (names == NULL && size[1] == 8) names = "m x y z vx vy vz eps";
    if (names == NULL) return refuse(s, "what its columns are is not known; say it: columns = 'x y z vx vy vz m'");
    LACIS_TRY(lacis_bodies_layout_names(s->run, NULL, names, names + strlen(names), offset, &layout));
    if (layout.fields != size[1])
        return lacis_run_fail(s->run, LACIS_FORMAT, "%s has %lld columns, and %d are named", s->source->path,
                              (long long)size[1], layout.fields);
    size_t bytes = lacis_dtype_size(type->storage);
    bool fortran = strncmp(lacis_npy_value(h, "'fortran_order'"), "True", 4) == 0;
    if ((uint64_t)size[0] > s->source->size / bytes)
        return refuse(s, "the file ends before its data; fetch it again");
    s->stride = fortran ? bytes : bytes * (size_t)size[1];
    for (int i = 0; i < layout.fields; i++)
        if (layout.column[i] >= 0)
            LACIS_TRY(add_column(s, layout.column[i], type, bytes * (size_t)i * (fortran ? (size_t)size[0] : 1)));
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ values */

static void element(const source_rows *s, int column, int64_t row, void *out)
{
    const field *f = &s->field[column];
    memcpy(out, s->data + f->from + (size_t)row * s->stride, lacis_dtype_size(f->type->storage));
}

static double real_at(const source_rows *s, int column, int64_t row)
{
    uint64_t word = 0;
    element(s, column, row, &word);
    return lacis_value_double(&word, s->field[column].type->storage, 0);
}

static int64_t integer_at(const source_rows *s, int column, int64_t row)
{
    uint64_t word = 0;
    element(s, column, row, &word);
    return lacis_value_int64(&word, s->field[column].type->storage, 0);
}

static lacis_status take_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const source_rows *s = context;
    int64_t end = s->rows - task * BLOCK < BLOCK ? s->rows : (task + 1) * BLOCK;
    for (int64_t row = task * BLOCK; row < end; row++) {
        for (int i = 0; i < LACIS_BODY_REALS; i++)
            if (s->maker->column[i] != NULL)
                lacis_body_put(s->maker, (lacis_body_column)i, row, s->columns >> i & 1 ? real_at(s, i, row) : 0);
        if (s->maker->id != NULL) s->maker->id[row] = integer_at(s, LACIS_BODY_ID, row);
        if ((s->columns >> LACIS_BODY_TIME & 1) && real_at(s, LACIS_BODY_TIME, row) != s->maker->time)
            return LACIS_FORMAT;
    }
    return LACIS_OK;
}

static lacis_status take_rows(source_rows *s)
{
    int64_t row;
    lacis_body_column column;
    const char *cause;
    lacis_status status = lacis_run_parallel(s->run, (s->rows + BLOCK - 1) / BLOCK, take_block, s);
    if (status == LACIS_FORMAT) return refuse(s, "time is not the same in all records, or no number");
    LACIS_TRY(status);
    LACIS_TRY(lacis_bodies_first_fault(s->maker, &row, &column, &cause));
    if (row < 0) return LACIS_OK;
    return lacis_run_fail(
        s->run, LACIS_FORMAT, "%s: row %lld, at byte %llu: %s %s", s->source->path, (long long)row,
        (unsigned long long)((size_t)(s->data - s->source->data) + s->field[column].from + (size_t)row * s->stride),
        lacis_body_names[column], cause);
}

/* f32 where all reals of the file are. */
static lacis_dtype type_of(const source_rows *s)
{
    for (int i = 0; i < LACIS_BODY_REALS; i++)
        if ((s->columns >> i & 1) && s->field[i].type->storage != LACIS_F32) return LACIS_F64;
    return LACIS_F32;
}

static lacis_status check_size(const source_rows *s, const lacis_npy_head *h, int64_t all, size_t each)
{
    size_t left = s->source->size - h->end;
    if ((uint64_t)all > left / each) return refuse(s, "the file ends before its data; fetch it again");
    return (uint64_t)all * each < left ? refuse(s, "bytes follow its data; fetch it again") : LACIS_OK;
}

lacis_status lacis_npy_take_bodies(lacis_run *run, const lacis_source *source, const lacis_npy_head *h,
                                   const lacis_options *given, lacis_array **out)
{
    source_rows s = {.run = run, .source = source, .data = source->data + h->end};
    lacis_bodies_maker maker;
    int64_t size[DIMENSIONS];
    int dimensions = read_shape(h, size);
    bool records = *lacis_npy_value(h, "'descr'") == '[';
    if (dimensions != (records ? 1 : 2)) return refuse(&s, "bodies are records in one dimension, or n x k numbers");
    if (records && lacis_option_text(given, "columns") != NULL)
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "columns"), NULL,
                                 "columns: its records have names already");
    LACIS_TRY(records ? read_records(&s, h) : read_matrix(&s, h, size, given));
    size_t each = records ? s.stride : lacis_dtype_size(lacis_npy_type_at(lacis_npy_value(h, "'descr'"))->storage);
    int64_t all = size[0];
    if (!records && __builtin_mul_overflow(size[0], size[1], &all)) all = INT64_MAX;
    LACIS_TRY(check_size(&s, h, all, each));
    s.rows = size[0];
    s.maker = &maker;
    LACIS_TRY(
        lacis_bodies_begin(run, source->path, s.rows, lacis_bodies_type(given, type_of(&s)), s.columns, &maker));
    if (s.rows > 0 && (s.columns >> LACIS_BODY_TIME & 1)) maker.time = real_at(&s, LACIS_BODY_TIME, 0);
    if (!isfinite(maker.time)) maker.time = NAN; /* no row has it */
    return lacis_bodies_end(&maker, take_rows(&s), out);
}

lacis_status lacis_npy_load_bodies(lacis_run *run, const lacis_source *source, const lacis_options *given,
                                   lacis_array **out)
{
    lacis_npy_head *h;
    LACIS_TRY(lacis_run_alloc(run, sizeof *h, &h));
    lacis_status status = lacis_npy_read_head(run, source, h);
    if (status == LACIS_OK) status = lacis_npy_take_bodies(run, source, h, given, out);
    lacis_run_free(run, h);
    return status;
}
