/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays as rows; see common_columns_out.h.
 */
#include "common_columns_out.h"

#include "common_bodies.h"
#include "common_dense.h"

enum { MOST_COLUMNS = 256 };

typedef struct rows {
    lacis_writer w;
    const lacis_row_format *format;
    const char *name[MOST_COLUMNS];
    int columns;
} rows;

static void put_integer(rows *r, int column, int64_t value)
{
    r->format->before(&r->w, column, r->name[column]);
    lacis_writer_integer(&r->w, value);
}

/* Columns of a value: two where it is complex or double-double, four where it is both. */
static int words_of(lacis_dtype storage)
{
    if (storage == LACIS_CDD) return 4;
    return lacis_is_complex(storage) || storage == LACIS_DD ? 2 : 1;
}

static void put_value(rows *r, int column, const void *data, lacis_dtype storage, int64_t index)
{
    int words = words_of(storage);
    lacis_dtype part = words == 1 ? storage : storage == LACIS_C64 ? LACIS_F32 : LACIS_F64;
    for (int i = 0; i < words; i++) {
        r->format->before(&r->w, column + i, r->name[column + i]);
        if (lacis_is_real(part))
            r->format->real(&r->w, data, part, words * index + i);
        else
            lacis_writer_value(&r->w, data, part, index);
    }
}

/* As SQL calls them, less the text of double-double numbers: their words say as much. */
static void name_values(rows *r, lacis_dtype dtype)
{
    bool wide = dtype == LACIS_CDD;
    if (dtype == LACIS_PATTERN) return;
    if (lacis_is_complex(dtype) || wide) {
        r->name[r->columns++] = "re";
        if (wide) r->name[r->columns++] = "re_lo";
        r->name[r->columns++] = "im";
        if (wide) r->name[r->columns++] = "im_lo";
    } else {
        r->name[r->columns++] = "value";
        if (dtype == LACIS_DD) r->name[r->columns++] = "lo";
    }
}

static void put_head(rows *r)
{
    /* Only the first block of a result written in pieces has a head. */
    if (r->format->head != NULL && ftello(r->w.file) == 0) r->format->head(&r->w, r->name, r->columns);
}

static lacis_status put_graph(rows *r, const lacis_array *array)
{
    lacis_csr csr;
    int64_t done = 0;
    lacis_csr_view(array, &csr);
    r->name[r->columns++] = "src";
    r->name[r->columns++] = "dst";
    name_values(r, csr.dtype);
    put_head(r);
    for (int64_t row = 0; row < csr.rows; row++) {
        for (int64_t i = csr.begin[row]; i < csr.end[row]; i++) {
            r->format->begin(&r->w);
            put_integer(r, 0, lacis_label(csr.row_label, csr.row_base, row));
            put_integer(r, 1, lacis_label(csr.col_label, csr.col_base, csr.column[i]));
            if (csr.value != NULL) put_value(r, 2, csr.value, csr.storage, i);
            r->format->end(&r->w);
            if ((++done & 8191) == 0 && lacis_writer_stop(&r->w, done, csr.entries)) return LACIS_OK;
        }
    }
    return LACIS_OK;
}

static void put_vector(rows *r, const lacis_array *array)
{
    const lacis_part *values = lacis_array_part_named(array, "values");
    const lacis_part *index = lacis_array_part_named(array, "index");
    const int64_t *labels = index != NULL ? index->data : NULL;
    int64_t base = lacis_array_base(array, 0), count = values != NULL ? values->count : 0;
    r->name[r->columns++] = "i";
    name_values(r, lacis_array_dtype(array));
    put_head(r);
    for (int64_t i = 0; i < count; i++) {
        r->format->begin(&r->w);
        put_integer(r, 0, lacis_label(labels, base, i));
        put_value(r, 1, values->data, values->dtype, i);
        r->format->end(&r->w);
        if ((i & 8191) == 0 && lacis_writer_stop(&r->w, i, count)) return;
    }
}

static lacis_status put_table(rows *r, lacis_run *run, const lacis_array *array)
{
    lacis_part part[MOST_COLUMNS];
    int parts = lacis_array_part_count(array);
    if (parts > MOST_COLUMNS)
        return lacis_run_fail(run, LACIS_LIMIT, "a table of more than %d columns", MOST_COLUMNS);
    for (int i = 0; i < parts; i++) {
        LACIS_TRY(lacis_array_part(array, i, &part[i]));
        if (words_of(part[i].dtype) > 1)
            return lacis_run_fail(run, LACIS_TYPE, "column %s is of %s; in a table each column is of one number",
                                  part[i].name, lacis_dtype_name(part[i].dtype));
        r->name[r->columns++] = part[i].name;
    }
    put_head(r);
    int64_t count = lacis_array_extent(array, 0);
    for (int64_t row = 0; row < count; row++) {
        r->format->begin(&r->w);
        for (int i = 0; i < parts; i++) {
            put_value(r, i, part[i].data, part[i].dtype, row);
        }
        r->format->end(&r->w);
        if ((row & 8191) == 0 && lacis_writer_stop(&r->w, row, count)) return LACIS_OK;
    }
    return LACIS_OK;
}

/* --- batches --------------------------------------------------------------------------------------- */

static lacis_status name_batch(rows *r, lacis_run *run, const lacis_batch *batch)
{
    r->name[r->columns++] = "lane";
    r->name[r->columns++] = "row";
    if (batch->parent != NULL) r->name[r->columns++] = "parent";
    for (int i = 0; i < batch->fields; i++) {
        const lacis_batch_part *field = &batch->field[i];
        static const char *const ending[] = {"_lo", "_im", "_im_lo"};
        if (r->columns + words_of(field->dtype) > MOST_COLUMNS)
            return lacis_run_fail(run, LACIS_LIMIT, "a batch of more than %d columns", MOST_COLUMNS);
        r->name[r->columns++] = field->name;
        for (int k = 1; k < words_of(field->dtype); k++) {
            r->name[r->columns] =
                lacis_run_text(run, "%s%s", field->name, ending[lacis_is_complex(field->dtype) ? 1 : k - 1]);
            if (r->name[r->columns++] == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
        }
    }
    return LACIS_OK;
}

/* One row of lane `lane` of a group. */
static void put_element(rows *r, const lacis_batch *batch, const lacis_batch_group *group, const int64_t *base,
                        int64_t lane, int64_t row)
{
    int64_t shared = group->row + row, place = lacis_batch_place(group, lane, row);
    int column = 0;
    r->format->begin(&r->w);
    put_integer(r, column++, base[0] + group->lane + lane);
    put_integer(r, column++, base[1] + row);
    if (batch->parent != NULL) {
        int32_t parent = batch->parent[shared];
        put_integer(r, column++, parent < 0 ? -1 : base[1] + parent);
    }
    for (int i = 0; i < batch->fields; i++) {
        const lacis_batch_part *field = &batch->field[i];
        put_value(r, column, field->data, field->dtype, field->shared ? shared : place);
        column += words_of(field->dtype);
    }
    r->format->end(&r->w);
}

static lacis_status put_batch(rows *r, lacis_run *run, const lacis_array *array)
{
    const int64_t base[2] = {lacis_array_base(array, 0), lacis_array_base(array, 1)};
    lacis_batch batch;
    int64_t done = 0;
    LACIS_TRY(lacis_batch_view(run, array, &batch));
    LACIS_TRY(name_batch(r, run, &batch));
    put_head(r);
    for (int64_t g = 0; g < batch.groups; g++)
        for (int64_t lane = 0; lane < batch.group[g].lanes; lane++)
            for (int64_t row = 0; row < batch.group[g].rows; row++) {
                put_element(r, &batch, &batch.group[g], base, lane, row);
                if ((++done & 8191) == 0 && lacis_writer_stop(&r->w, done, batch.elements)) return LACIS_OK;
            }
    return LACIS_OK;
}

/* --- symmetric matrices ---------------------------------------------------------------------------- */

static void put_matrix_row(rows *r, const lacis_symmetric *a, const int64_t *base, int64_t matrix, int64_t i,
                           int64_t j)
{
    double word[4], value[4];
    int column = 0;
    r->format->begin(&r->w);
    if (a->matrices != 1) put_integer(r, column++, base[1] + matrix);
    put_integer(r, column++, base[0] + i);
    put_integer(r, column++, base[0] + j);
    lacis_dense_element(a, matrix, i, j, word);
    lacis_dense_put(value, a->dtype, 0, word);
    put_value(r, column, value, a->dtype, 0);
    r->format->end(&r->w);
}

/* The stored triangle, as SQL shows it. */
static lacis_status put_symmetric(rows *r, lacis_run *run, const lacis_array *array)
{
    const int64_t base[2] = {lacis_array_base(array, 0), lacis_array_base(array, 1)};
    lacis_symmetric a;
    int64_t done = 0;
    LACIS_TRY(lacis_symmetric_view(run, array, &a));
    if (a.matrices != 1) r->name[r->columns++] = "lane";
    r->name[r->columns++] = "i";
    r->name[r->columns++] = "j";
    name_values(r, a.dtype);
    put_head(r);
    for (int64_t m = 0; m < a.matrices; m++) {
        int64_t n = lacis_symmetric_order(&a, m);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = a.upper ? i : 0; j < (a.upper ? n : i + 1); j++) {
                put_matrix_row(r, &a, base, m, i, j);
                if ((++done & 8191) == 0 && lacis_writer_stop(&r->w, done, a.elements)) return LACIS_OK;
            }
    }
    return LACIS_OK;
}

/* --- bodies ---------------------------------------------------------------------------------------- */

/* In the array's order: id, every column that there is, and the time in every row where it is not 0. */
static lacis_status put_bodies(rows *r, lacis_run *run, const lacis_array *array)
{
    lacis_bodies b;
    const void *data[LACIS_BODY_REALS];
    LACIS_TRY(lacis_bodies_view(run, array, &b));
    lacis_body_data(&b, data);
    r->name[r->columns++] = lacis_body_names[LACIS_BODY_ID];
    for (int i = 0; i < LACIS_BODY_REALS; i++)
        if (data[i] != NULL) r->name[r->columns++] = lacis_body_names[i];
    if (b.time != 0) r->name[r->columns++] = lacis_body_names[LACIS_BODY_TIME];
    put_head(r);
    for (int64_t row = 0; row < b.count; row++) {
        int column = 0;
        r->format->begin(&r->w);
        put_integer(r, column++, lacis_label(b.id, b.base, row));
        for (int i = 0; i < LACIS_BODY_REALS; i++)
            if (data[i] != NULL) put_value(r, column++, data[i], b.dtype, row);
        if (b.time != 0) put_value(r, column, &b.time, LACIS_F64, 0);
        r->format->end(&r->w);
        if ((row & 8191) == 0 && lacis_writer_stop(&r->w, row, b.count)) return LACIS_OK;
    }
    return LACIS_OK;
}

/* --- grids ----------------------------------------------------------------------------------------- */

static lacis_status put_grid(rows *r, lacis_run *run, const lacis_array *array)
{
    static const char *const axis[] = {"x", "y", "z"};
    lacis_grid g;
    LACIS_TRY(lacis_grid_view(run, array, &g));
    for (int i = 0; i < g.dims; i++)
        r->name[r->columns++] = axis[i];
    for (int i = 0; i < g.fields; i++)
        r->name[r->columns++] = g.name[i];
    put_head(r);
    for (int64_t i = 0; i < g.cells; i++) {
        const int64_t at[3] = {i % g.extent[0], i / g.extent[0] % g.extent[1], i / g.extent[0] / g.extent[1]};
        r->format->begin(&r->w);
        for (int k = 0; k < g.dims; k++)
            put_integer(r, k, at[k]);
        for (int k = 0; k < g.fields; k++)
            put_value(r, g.dims + k, g.field[k], g.dtype, i);
        r->format->end(&r->w);
        if ((i & 8191) == 0 && lacis_writer_stop(&r->w, i, g.cells)) return LACIS_OK;
    }
    return LACIS_OK;
}

lacis_status lacis_save_rows(lacis_run *run, const lacis_array *array, FILE *file, const lacis_row_format *format)
{
    rows *r;
    LACIS_TRY(lacis_run_alloc(run, sizeof *r, &r));
    lacis_writer_begin(&r->w, run, file);
    r->format = format;
    r->columns = 0;
    lacis_status status = LACIS_OK;
    if (lacis_array_kind(array) == LACIS_CSR)
        status = put_graph(r, array);
    else if (lacis_array_kind(array) == LACIS_VECTOR)
        put_vector(r, array);
    else if (lacis_array_kind(array) == LACIS_INTERLEAVED)
        status = put_batch(r, run, array);
    else if (lacis_array_kind(array) == LACIS_SYMMETRIC)
        status = put_symmetric(r, run, array);
    else if (lacis_array_kind(array) == LACIS_BODIES)
        status = put_bodies(r, run, array);
    else if (lacis_array_kind(array) == LACIS_GRID)
        status = put_grid(r, run, array);
    else
        status = put_table(r, run, array);
    if (status == LACIS_OK) status = lacis_writer_end(&r->w);
    lacis_run_free(run, r);
    return status;
}
