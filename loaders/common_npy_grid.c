/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids in NumPy's format: numbers, or records with a field each, in one to three dimensions, the last of which is x:
 * cell (x, y, z) is a[z, y, x]. What lacis writes has a comment behind the dictionary, which NumPy skips,
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (768, 1024), } # lacis grid, step 500
 * by which LOAD knows a grid without being told, and the sweeps that led to it. See common_npy.h.
 */
#include "common_grid.h"
#include "common_npy.h"
#include "common_number.h"

#include <string.h>
#include <strings.h>

enum { DIMENSIONS = 3 };

typedef struct field {
    const lacis_npy_type *type;
    size_t offset; /* in a record */
} field;

typedef struct records {
    lacis_run *run;
    const lacis_source *source;
    size_t size; /* bytes of a record */
    field field[LACIS_GRID_FIELDS];
    char name[LACIS_GRID_FIELDS][LACIS_GRID_NAME];
    lacis_grid shape;
} records;

static lacis_status refuse(const records *r, const char *cause)
{
    return lacis_run_fail(r->run, LACIS_FORMAT, "%s: %s", r->source->path, cause);
}

/* ------------------------------------------------------------------------------------------- heads */

/* "(5,)", "(5, 7)", "(5, 7, 9)": how many dimensions; 0 where there are none or more, or one that cannot be counted.
 */
static int read_shape(const lacis_npy_head *h, int64_t *size)
{
    const char *p = lacis_npy_value(h, "'shape'");
    int count = 0;
    if (*p++ != '(') return 0;
    for (; count < DIMENSIONS && *p >= '0' && *p <= '9'; count++) {
        const char *end = p + strspn(p, "0123456789");
        if (!lacis_number_integer(p, end, &size[count])) return 0;
        p = end + strspn(end, ", ");
    }
    return *p == ')' ? count : 0;
}

static const char mark[] = "# lacis grid";

/* What lacis writes behind the dictionary; NULL: it is another's. */
static const char *find_mark(const lacis_npy_head *h)
{
    const char *end = strrchr(h->text, '}');
    if (end == NULL) return NULL;
    end += 1 + strspn(end + 1, " ");
    return strncmp(end, mark, sizeof mark - 1) == 0 ? end + sizeof mark - 1 : NULL;
}

static int64_t step_of(const lacis_npy_head *h)
{
    static const char name[] = ", step ";
    const char *at = find_mark(h);
    int64_t step;
    if (at == NULL || strncmp(at, name, sizeof name - 1) != 0) return 0;
    at += sizeof name - 1;
    return lacis_number_integer(at, at + strspn(at, "0123456789"), &step) ? step : 0;
}

bool lacis_npy_is_grid(const lacis_npy_head *h)
{
    int64_t size[DIMENSIONS];
    return find_mark(h) != NULL || read_shape(h, size) == DIMENSIONS;
}

/* ('name', '<f8') at *p, which moves behind it; bytes that pad records ('', '|V4') are passed over. */
static lacis_status read_field(records *r, const char **p)
{
    const char *name = *p + 1 + strspn(*p + 1, " ");
    const char *end = **p == '(' && (*name == '\'' || *name == '"') ? strchr(name + 1, *name) : NULL;
    if (end == NULL) return refuse(r, "its records are not of plain named fields");
    const char *code = end + 1 + strspn(end + 1, ", ");
    const char *stop = *code == '\'' || *code == '"' ? strchr(code + 1, *code) : NULL;
    if (stop == NULL || stop[1 + strspn(stop + 1, " ")] != ')')
        return refuse(r, "its records are not of plain named fields");
    *p = stop + 2 + strspn(stop + 1, " ");
    if (end == name + 1 && strncmp(code + 1, "|V", 2) == 0) {
        int64_t padding;
        if (!lacis_number_integer(code + 3, stop, &padding) || padding < 0 || padding > LACIS_NPY_HEAD)
            return refuse(r, "its records are padded in a way that lacis does not know");
        r->size += (size_t)padding;
        return LACIS_OK;
    }
    const lacis_npy_type *type = lacis_npy_type_at(code + 1);
    const char *fault = lacis_grid_name_fault(name + 1, end);
    if (type == NULL || type->storage == LACIS_C64 || type->storage == LACIS_C128)
        return refuse(r, "a field's type is none of f4, f8, i4, i8, u1, u2, u4, b1 (little-endian); convert it");
    if (fault != NULL)
        return lacis_run_fail(r->run, LACIS_FORMAT, "%s: its field '%.*s' %s; rename it", r->source->path,
                              (int)(end - name - 1), name + 1, fault);
    if (r->shape.fields == LACIS_GRID_FIELDS) return refuse(r, "its records have more fields than a grid can have");
    int i = r->shape.fields++;
    memcpy(r->name[i], name + 1, (size_t)(end - name - 1));
    r->shape.name[i] = r->name[i];
    for (int k = 0; k < i; k++)
        if (strcasecmp(r->name[k], r->name[i]) == 0) return refuse(r, "two of its fields have one name");
    r->field[i] = (field){type, r->size};
    r->size += lacis_dtype_size(type->storage);
    return LACIS_OK;
}

static lacis_status read_fields(records *r, const lacis_npy_head *h)
{
    const char *p = lacis_npy_value(h, "'descr'");
    if (*p == '[') {
        for (p += 1 + strspn(p + 1, " "); *p != ']'; p += strspn(p, ", "))
            LACIS_TRY(read_field(r, &p));
        return r->shape.fields > 0 ? LACIS_OK : refuse(r, "its records have no fields");
    }
    const lacis_npy_type *type = lacis_npy_type_at(p);
    if (type == NULL || type->storage == LACIS_C64 || type->storage == LACIS_C128)
        return refuse(r, "a grid is of real numbers, and its type is none of f4, f8, i4, i8, u1, u2, u4, b1 "
                         "(little-endian); convert it with astype");
    r->shape.fields = 1;
    r->shape.name[0] = "value";
    r->field[0] = (field){type, 0};
    r->size = lacis_dtype_size(type->storage);
    return LACIS_OK;
}

/* How far cells are apart, in C's order or Fortran's. */
static void find_strides(const records *r, bool fortran, int64_t *stride)
{
    const int64_t *extent = r->shape.extent;
    lacis_grid_strides(&r->shape, r->size, stride);
    if (!fortran) return;
    int64_t apart = (int64_t)r->size;
    for (int i = r->shape.dims - 1; i >= 0; i--) {
        stride[i] = apart;
        apart *= extent[i];
    }
}

static lacis_status check_size(records *r, const lacis_npy_head *h)
{
    int64_t cells = 1;
    uint64_t left = r->source->size - h->end;
    for (int i = 0; i < r->shape.dims; i++)
        if (__builtin_mul_overflow(cells, r->shape.extent[i], &cells)) cells = INT64_MAX;
    if ((uint64_t)cells > left / r->size) return refuse(r, "the file ends before its data; fetch it again");
    return (uint64_t)cells * r->size < left ? refuse(r, "bytes follow its data; fetch it again") : LACIS_OK;
}

static lacis_status take(records *r, const lacis_npy_head *h, const lacis_options *given, lacis_array **out)
{
    lacis_grid_maker maker;
    lacis_grid_numbers numbers = {0};
    lacis_dtype type = LACIS_F32;
    for (int i = 0; i < r->shape.fields; i++)
        if (lacis_grid_type_for(r->field[i].type->storage) == LACIS_F64) type = LACIS_F64;
    r->shape.dtype = lacis_grid_type(given, type);
    r->shape.step = step_of(h);
    LACIS_TRY(check_size(r, h));
    LACIS_TRY(lacis_grid_begin(r->run, r->source->path, &r->shape, &maker));
    find_strides(r, strncmp(lacis_npy_value(h, "'fortran_order'"), "True", 4) == 0, numbers.stride);
    lacis_status status = LACIS_OK;
    for (int i = 0; i < r->shape.fields && status == LACIS_OK; i++) {
        numbers.data = r->source->data + h->end + r->field[i].offset;
        numbers.storage = r->field[i].type->storage;
        status = lacis_grid_take(&maker, i, &numbers);
    }
    return lacis_grid_end(&maker, status, out);
}

lacis_status lacis_npy_take_grid(lacis_run *run, const lacis_source *source, const lacis_npy_head *h,
                                 const lacis_options *given, lacis_array **out)
{
    records r = {.run = run, .source = source, .shape.extent = {1, 1, 1}};
    int64_t size[DIMENSIONS];
    r.shape.dims = read_shape(h, size);
    if (r.shape.dims == 0) return refuse(&r, "grids have one to three dimensions: a[z, y, x]");
    for (int i = 0; i < r.shape.dims; i++)
        r.shape.extent[i] = size[r.shape.dims - 1 - i];
    LACIS_TRY(read_fields(&r, h));
    return take(&r, h, given, out);
}

lacis_status lacis_npy_load_grid(lacis_run *run, const lacis_source *source, const lacis_options *given,
                                 lacis_array **out)
{
    lacis_npy_head *h;
    LACIS_TRY(lacis_run_alloc(run, sizeof *h, &h));
    lacis_status status = lacis_npy_read_head(run, source, h);
    if (status == LACIS_OK) status = lacis_npy_take_grid(run, source, h, given, out);
    lacis_run_free(run, h);
    return status;
}

/* ------------------------------------------------------------------------------------------ saving */

/* Names are written as they stand, and LOAD has to read what SAVE wrote. */
const char *lacis_npy_name_fault(const char *name)
{
    return lacis_grid_name_fault(name, name + strlen(name));
}

/* Of what only now is known: others were refused before they came here. */
static lacis_status check_names(lacis_run *run, const lacis_grid *g)
{
    for (int i = 0; i < g->fields; i++) {
        const char *fault = lacis_npy_name_fault(g->name[i]);
        if (fault != NULL)
            return lacis_run_fail_at(run, LACIS_NAME, -1, "LET h = SELECT x, y, \"its name\" AS u FROM g",
                                     "npy: field '%s' %s: rename it", g->name[i], fault);
    }
    return LACIS_OK;
}

/* "'<f4'" of a field value alone, or "[('u', '<f4'), ...]". */
static char *describe(lacis_run *run, const lacis_grid *g)
{
    const char *code = lacis_npy_type_of(g->dtype)->code;
    if (g->fields == 1 && strcmp(g->name[0], "value") == 0) return lacis_run_text(run, "'%s'", code);
    char *text = lacis_run_text(run, "[");
    for (int i = 0; i < g->fields && text != NULL; i++)
        text = lacis_run_text(run, "%s('%s', '%s')%s", text, g->name[i], code, i + 1 < g->fields ? ", " : "]");
    return text;
}

static char *describe_shape(lacis_run *run, const lacis_grid *g)
{
    const long long x = g->extent[0], y = g->extent[1], z = g->extent[2];
    if (g->dims == 1) return lacis_run_text(run, "%lld,", x);
    if (g->dims == 2) return lacis_run_text(run, "%lld, %lld", y, x);
    return lacis_run_text(run, "%lld, %lld, %lld", z, y, x);
}

lacis_status lacis_npy_save_grid(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_grid g;
    lacis_writer *w;
    LACIS_TRY(lacis_grid_view(run, array, &g));
    LACIS_TRY(check_names(run, &g));
    char *descr = describe(run, &g), *shape = describe_shape(run, &g);
    const char *note = g.step == 0 ? mark : lacis_run_text(run, "%s, step %lld", mark, (long long)g.step);
    if (descr == NULL || shape == NULL || note == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(lacis_run_alloc(run, sizeof *w, &w));
    lacis_npy_write_head(file, descr, false, shape, note);
    lacis_writer_begin(w, run, file);
    lacis_grid_write(w, &g, true);
    lacis_status status = lacis_writer_end(w);
    lacis_run_free(run, w);
    return status;
}
