/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense bodies of MatrixMarket files; see common_mtx_dense.h. The lines are counted chunk by chunk, so that each
 * chunk knows which places its values belong to; then all chunks are read at once.
 */
#include "common_mtx_dense.h"

#include "common_number.h"

#include <string.h>

static const int64_t chunk_bytes = (int64_t)1 << 20;

typedef enum fault { FINE, BAD_NUMBER, BAD_SHAPE } fault;

typedef struct chunk {
    const char *begin, *end;
    int64_t first, values; /* number of its first value, and how many it has */
    fault fault;
    const char *at, *to; /* where */
} chunk;

typedef struct dense {
    lacis_run *run;
    const lacis_mtx *m;
    lacis_symmetric a;
    void *values;
    bool general;
    int64_t wanted; /* values */
    int64_t chunks;
    chunk *chunk;
} dense;

/* --- options -------------------------------------------------------------------------------------- */

lacis_status lacis_mtx_store_read(lacis_run *run, const lacis_mtx *m, const lacis_options *given,
                                  lacis_mtx_store *out)
{
    static const lacis_dtype types[] = {LACIS_I32, LACIS_I64,  LACIS_F32, LACIS_F64, LACIS_PATTERN,
                                        LACIS_C64, LACIS_C128, LACIS_DD,  LACIS_CDD};
    const lacis_option_value *type = lacis_option_set(given, "type");
    bool complex = m->field == LACIS_MTX_COMPLEX;
    *out = (lacis_mtx_store){.dtype = complex ? LACIS_C128 : LACIS_F64, .base = 1};
    if (type != NULL) out->dtype = types[type->integer];
    out->packed = lacis_option_integer(given, "packed", 0) != 0;
    if (out->dtype < LACIS_F32)
        return lacis_run_fail_at(run, LACIS_RANGE, type->offset, NULL,
                                 "a dense symmetric matrix is of f32, f64, c64, c128, dd or cdd, not of %s",
                                 lacis_dtype_name(out->dtype));
    if (complex && !lacis_dense_complex(out->dtype))
        return lacis_run_fail_at(run, LACIS_RANGE, type->offset, NULL,
                                 "the file has complex values, which %s does not hold", lacis_dtype_name(out->dtype));
    return LACIS_OK;
}

static lacis_status make(lacis_run *run, const lacis_mtx *m, const lacis_mtx_store *store, dense *out,
                         lacis_array **array)
{
    const lacis_symmetric_shape shape = {.n = m->rows,
                                         .matrices = 1,
                                         .hermitian = m->symmetry == LACIS_MIRROR_CONJUGATE,
                                         .packed = store->packed,
                                         .dtype = store->dtype,
                                         .base = {store->base == 0 && m->base[0] == 1 ? 0 : m->base[0], 0}};
    if (m->symmetry == LACIS_MIRROR_NEGATED)
        return lacis_text_fail(run, m->text, m->text->begin,
                               "the banner says skew-symmetric, and dense matrices are symmetric or Hermitian; "
                               "without dense = true it becomes a graph");
    if (m->rows != m->cols)
        return lacis_text_fail(
            run, m->text, m->text->begin,
            "%lld x %lld is not square, as a symmetric matrix is; without dense = true it becomes a graph",
            (long long)m->rows, (long long)m->cols);
    LACIS_TRY(lacis_dense_room(run, m->text->path, lacis_symmetric_places(&shape), shape.dtype));
    LACIS_TRY(lacis_symmetric_new(run, &shape, NULL, array));
    *out = (dense){.run = run, .m = m, .general = m->symmetry == LACIS_MIRROR_NONE};
    out->values = lacis_buffer_data(lacis_array_part_buffer(*array, "values", NULL));
    return lacis_symmetric_view(run, *array, &out->a);
}

/* --- numbers -------------------------------------------------------------------------------------- */

/* One number as high and low word; the low one of double-double types alone. */
static bool take_number(const char *from, const char *to, bool wide, double *word)
{
    word[1] = 0;
    if (!wide) return lacis_number_real(from, to, &word[0]);
    return lacis_parse_dd(from, (size_t)(to - from), &word[0], &word[1]) && word[0] - word[0] == 0
               ? true
               : lacis_number_real(from, to, &word[0]);
}

/* The numbers of a value from *p on, which moves behind them (NULL at the end of the line). */
static fault take_value(const lacis_mtx *m, lacis_dtype dtype, const char **p, const char *end, double *word,
                        const char **from, const char **to)
{
    bool wide = dtype == LACIS_DD || dtype == LACIS_CDD;
    int numbers = m->field == LACIS_MTX_COMPLEX ? 2 : m->field == LACIS_MTX_PATTERN ? 0 : 1;
    word[0] = 1;
    word[1] = word[2] = word[3] = 0;
    for (int i = 0; i < numbers; i++) {
        const char *at = *p == NULL ? end : *p;
        if (!lacis_field(at, end, 0, from, to, p)) {
            *from = at;
            *to = end;
            return BAD_SHAPE;
        }
        if (!take_number(*from, *to, wide, &word[2 * i])) return BAD_NUMBER;
    }
    return *p != NULL && lacis_field(*p, end, 0, from, to, p) ? BAD_SHAPE : FINE;
}

static lacis_status report(const dense *d, fault code, const char *from, const char *to)
{
    char quote[LACIS_QUOTE];
    if (code == BAD_NUMBER)
        return lacis_text_fail(d->run, d->m->text, from, "%s is not a number; mend the line",
                               lacis_text_quote(from, to, quote));
    return lacis_text_fail(d->run, d->m->text, from, "this line has more or fewer numbers than it should; mend it");
}

/* --- arrays --------------------------------------------------------------------------------------- */

static lacis_status cut(dense *d)
{
    const char *p = d->m->body, *end = d->m->text->end;
    d->chunks = (end - p) / chunk_bytes + 1;
    LACIS_TRY(lacis_run_alloc(d->run, (uint64_t)d->chunks * sizeof *d->chunk, &d->chunk));
    for (int64_t i = 0; i < d->chunks; i++) {
        const char *to = i + 1 < d->chunks && end - p > chunk_bytes ? lacis_line_next(p + chunk_bytes, end) : end;
        d->chunk[i] = (chunk){.begin = p, .end = to};
        p = to;
    }
    return LACIS_OK;
}

static lacis_status count_lines(void *context, int64_t task, int worker)
{
    (void)worker;
    dense *d = context;
    chunk *c = &d->chunk[task];
    for (const char *p = c->begin; p < c->end; p = lacis_line_next(p, c->end))
        if (!lacis_line_empty(p, lacis_line_end(p, c->end))) c->values++;
    return LACIS_OK;
}

static lacis_status check_count(dense *d)
{
    int64_t found = 0;
    for (int64_t i = 0; i < d->chunks; i++) {
        d->chunk[i].first = found;
        found += d->chunk[i].values;
    }
    if (found == d->wanted) return LACIS_OK;
    if (found < d->wanted)
        return lacis_text_fail(d->run, d->m->text, d->m->text->end,
                               "the file ends after %lld values, before the array is full; fetch it again",
                               (long long)found);
    return lacis_text_fail(d->run, d->m->text, d->m->text->end,
                           "%lld values, but the size line declares %lld; mend one of them", (long long)found,
                           (long long)d->wanted);
}

/* Number of the first value of column j; j == n: of all. */
static int64_t column_first(const dense *d, int64_t j)
{
    return d->general ? j * d->a.n : j * (2 * d->a.n - j + 1) / 2;
}

/* The column that value `number` is of. */
static int64_t column_of(const dense *d, int64_t number)
{
    int64_t low = 0, high = d->a.n;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (column_first(d, middle) <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static lacis_status read_lines(void *context, int64_t task, int worker)
{
    (void)worker;
    dense *d = context;
    chunk *c = &d->chunk[task];
    int64_t j = column_of(d, c->first), i = c->first - column_first(d, j) + (d->general ? 0 : j);
    for (const char *p = c->begin; p < c->end; p = lacis_line_next(p, c->end)) {
        const char *end = lacis_line_end(p, c->end), *next = p;
        double word[4];
        if (lacis_line_empty(p, end)) continue;
        c->fault = take_value(d->m, d->a.dtype, &next, end, word, &c->at, &c->to);
        if (c->fault != FINE) return LACIS_FORMAT;
        lacis_dense_put(d->values, d->a.dtype, lacis_symmetric_place(&d->a, 0, i, j), word);
        if (++i < d->a.n) continue;
        j++;
        i = d->general ? 0 : j;
    }
    return LACIS_OK;
}

static lacis_status read_array(dense *d)
{
    LACIS_TRY(cut(d));
    LACIS_TRY(lacis_run_parallel(d->run, d->chunks, count_lines, d));
    LACIS_TRY(check_count(d));
    lacis_status status = lacis_run_parallel(d->run, d->chunks, read_lines, d);
    for (int64_t i = 0; i < d->chunks; i++)
        if (d->chunk[i].fault != FINE) return report(d, d->chunk[i].fault, d->chunk[i].at, d->chunk[i].to);
    return status;
}

/* A general array: whether it is symmetric, or else Hermitian. */
static lacis_status check_general(const dense *d, bool *hermitian)
{
    bool same = true, conjugate = lacis_dense_complex(d->a.dtype);
    for (int64_t j = 0; j < d->a.n; j++) {
        for (int64_t i = j; i < d->a.n; i++) {
            double x[4], y[4];
            lacis_dense_get(d->values, d->a.dtype, lacis_symmetric_place(&d->a, 0, i, j), x);
            lacis_dense_get(d->values, d->a.dtype, lacis_symmetric_place(&d->a, 0, j, i), y);
            lacis_dense_compare(x, y, &same, &conjugate);
            if (same || conjugate) continue;
            return lacis_text_fail(d->run, d->m->text, d->m->text->begin,
                                   "the array is not symmetric: element (%lld, %lld) differs from (%lld, %lld); "
                                   "without dense = true it becomes a graph",
                                   (long long)i + 1, (long long)j + 1, (long long)j + 1, (long long)i + 1);
        }
    }
    *hermitian = !same;
    return LACIS_OK;
}

/* The same values under a description that says Hermitian. */
static lacis_status say_hermitian(lacis_run *run, const dense *d, lacis_array **array)
{
    lacis_array *fresh;
    const lacis_symmetric_shape shape = {
        .n = d->a.n, .matrices = 1, .hermitian = true, .dtype = d->a.dtype, .base = {lacis_array_base(*array, 0), 0}};
    LACIS_TRY(lacis_symmetric_new(run, &shape, lacis_array_part_buffer(*array, "values", NULL), &fresh));
    lacis_array_release(*array);
    *array = fresh;
    return LACIS_OK;
}

static lacis_status fill_array(lacis_run *run, dense *d, lacis_array **array)
{
    bool hermitian = false;
    d->wanted = column_first(d, d->a.n);
    lacis_status status = read_array(d);
    lacis_run_free(run, d->chunk);
    LACIS_TRY(status);
    if (!d->general) return lacis_symmetric_mirror(run, *array);
    LACIS_TRY(check_general(d, &hermitian));
    return hermitian ? say_hermitian(run, d, array) : LACIS_OK;
}

lacis_status lacis_mtx_load_array(lacis_run *run, const lacis_mtx *m, const lacis_mtx_store *store, lacis_array **out)
{
    dense d;
    lacis_array *array = NULL;
    if (store->packed && m->symmetry == LACIS_MIRROR_NONE)
        return lacis_text_fail(run, m->text, m->text->begin,
                               "packed = true stores one triangle, and the banner says general; leave it out");
    lacis_status status = make(run, m, store, &d, &array);
    if (status == LACIS_OK) status = fill_array(run, &d, &array);
    if (status == LACIS_OK)
        *out = array;
    else
        lacis_array_release(array);
    return status;
}

/* --- coordinate files ----------------------------------------------------------------------------- */

/* An index of an entry's line, from 0. */
static lacis_status take_index(const dense *d, const lacis_mtx_store *store, const char **p, const char *end,
                               int64_t *out)
{
    const char *from = *p == NULL ? end : *p, *to = end;
    char quote[LACIS_QUOTE];
    if (*p == NULL || !lacis_field(*p, end, 0, &from, &to, p)) return report(d, BAD_SHAPE, from, to);
    if (lacis_number_integer(from, to, out) && *out >= store->base && *out - store->base < d->a.n) {
        *out -= store->base;
        return LACIS_OK;
    }
    return lacis_text_fail(d->run, d->m->text, from, "%s is no row or column of a matrix of %lld; mend the line",
                           lacis_text_quote(from, to, quote), (long long)d->a.n);
}

static lacis_status add_entry(dense *d, const lacis_mtx_store *store, const char *p, const char *end)
{
    int64_t i, j;
    double word[4], there[4];
    const char *next = p, *from = p, *to = p;
    LACIS_TRY(take_index(d, store, &next, end, &i));
    LACIS_TRY(take_index(d, store, &next, end, &j));
    fault code = take_value(d->m, d->a.dtype, &next, end, word, &from, &to);
    if (code != FINE) return report(d, code, from, to);
    bool conjugated = d->a.hermitian && i < j;
    int64_t place = lacis_symmetric_place(&d->a, 0, i > j ? i : j, i > j ? j : i);
    lacis_dense_get(d->values, d->a.dtype, place, there);
    for (int k = 0; k < 4; k += 2) {
        double sign = conjugated && k == 2 ? -1 : 1;
        double sum = there[k] + sign * word[k]; /* an entry has its own place, mostly: there is 0 */
        there[k + 1] += sign * word[k + 1];
        there[k] = sum;
    }
    lacis_dense_put(d->values, d->a.dtype, place, there);
    return LACIS_OK;
}

static lacis_status read_entries(dense *d, const lacis_mtx_store *store)
{
    const lacis_text *text = d->m->text;
    int64_t found = 0;
    memset(d->values, 0, (size_t)d->a.places * lacis_dtype_size(d->a.dtype));
    for (const char *p = d->m->body; p < text->end; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end);
        if (lacis_line_empty(p, end)) continue;
        if (found == d->m->entries)
            return lacis_text_fail(d->run, text, p, "entry %lld, but the size line declares %lld; mend one of them",
                                   (long long)found + 1, (long long)d->m->entries);
        LACIS_TRY(add_entry(d, store, p, end));
        if ((++found & 0xffff) != 0) continue;
        if (lacis_run_cancelled(d->run)) return lacis_run_interrupted(d->run);
        lacis_run_progress(d->run, "loading", (double)(p - d->m->body) / (double)(text->end - d->m->body));
    }
    if (found == d->m->entries) return LACIS_OK;
    return lacis_text_fail(d->run, text, text->end,
                           "the file ends after %lld of the %lld entries that its size line declares; fetch it again",
                           (long long)found, (long long)d->m->entries);
}

lacis_status lacis_mtx_load_entries(lacis_run *run, const lacis_mtx *m, const lacis_mtx_store *store,
                                    lacis_array **out)
{
    dense d;
    lacis_array *array = NULL;
    if (m->symmetry == LACIS_MIRROR_NONE)
        return lacis_text_fail(run, m->text, m->text->begin,
                               "the banner says general: dense = true takes symmetric and hermitian matrices");
    lacis_status status = make(run, m, store, &d, &array);
    if (status == LACIS_OK) status = read_entries(&d, store);
    if (status == LACIS_OK) status = lacis_symmetric_mirror(run, array);
    if (status == LACIS_OK)
        *out = array;
    else
        lacis_array_release(array);
    return status;
}
