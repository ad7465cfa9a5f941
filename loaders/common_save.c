/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays as text; see common_save.h.
 */
#include "common_save.h"

#include <string.h>

void lacis_writer_begin(lacis_writer *w, lacis_run *run, FILE *file)
{
    w->run = run;
    w->file = file;
    w->used = 0;
}

void lacis_writer_flush(lacis_writer *w)
{
    if (w->used > 0 && !ferror(w->file)) (void)fwrite(w->text, 1, w->used, w->file); /* the engine asks ferror */
    w->used = 0;
}

lacis_status lacis_writer_end(lacis_writer *w)
{
    lacis_writer_flush(w);
    return lacis_run_cancelled(w->run) ? lacis_run_interrupted(w->run) : LACIS_OK;
}

static void put(lacis_writer *w, const char *text, size_t length)
{
    if (length > sizeof w->text - w->used) lacis_writer_flush(w);
    if (length > sizeof w->text) return; /* no caller writes such a piece */
    memcpy(w->text + w->used, text, length);
    w->used += length;
}

void lacis_writer_bytes(lacis_writer *w, const void *data, size_t size)
{
    put(w, data, size);
}

void lacis_writer_text(lacis_writer *w, const char *text)
{
    put(w, text, strlen(text));
}

void lacis_writer_integer(lacis_writer *w, int64_t value)
{
    char text[24], *p = text + sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        *--p = (char)('0' + rest % 10);
    } while ((rest /= 10) != 0);
    if (value < 0) *--p = '-';
    put(w, p, (size_t)(text + sizeof text - p));
}

static void put_double(lacis_writer *w, double value)
{
    char text[LACIS_NUMBER_TEXT];
    lacis_format_double(value, text);
    lacis_writer_text(w, text);
}

static void put_float(lacis_writer *w, float value)
{
    char text[LACIS_NUMBER_TEXT];
    lacis_format_float(value, text);
    lacis_writer_text(w, text);
}

void lacis_writer_value(lacis_writer *w, const void *data, lacis_dtype storage, int64_t index)
{
    switch (storage) {
    case LACIS_F32:
        put_float(w, ((const float *)data)[index]);
        return;
    case LACIS_C64:
        put_float(w, ((const float *)data)[2 * index]);
        lacis_writer_text(w, " ");
        put_float(w, ((const float *)data)[2 * index + 1]);
        return;
    case LACIS_C128:
        put_double(w, ((const double *)data)[2 * index]);
        lacis_writer_text(w, " ");
        put_double(w, ((const double *)data)[2 * index + 1]);
        return;
    case LACIS_F64:
    case LACIS_DD:
        put_double(w, lacis_value_double(data, storage, index));
        return;
    case LACIS_PATTERN:
        lacis_writer_text(w, "1");
        return;
    default:
        lacis_writer_integer(w, lacis_value_int64(data, storage, index));
        return;
    }
}

bool lacis_writer_stop(lacis_writer *w, int64_t done, int64_t all)
{
    if (lacis_run_cancelled(w->run) || ferror(w->file)) return true;
    lacis_run_progress(w->run, "saving", all > 0 ? (double)done / (double)all : 1);
    return false;
}

/* ------------------------------------------------------------------------------------------- graphs */

lacis_status lacis_save_graph(lacis_run *run, const lacis_array *array, const char *format, lacis_csr *csr)
{
    if (lacis_array_kind(array) != LACIS_CSR)
        return lacis_run_fail(run, LACIS_TYPE, "%s holds graphs; save a vector or table as csv, jsonl or npy",
                              format);
    lacis_csr_view(array, csr);
    return LACIS_OK;
}

lacis_status lacis_save_real(lacis_run *run, const lacis_csr *csr, const char *format)
{
    if (lacis_is_complex(csr->dtype))
        return lacis_run_fail(run, LACIS_TYPE, "%s has no complex values; save as mtx", format);
    if (csr->dtype == LACIS_DD || csr->dtype == LACIS_CDD)
        return lacis_run_fail(run, LACIS_TYPE, "%s cannot hold double-double values; convert them to f64 first",
                              format);
    return LACIS_OK;
}

/* Whether rows and columns are the same vertices. */
static bool same_vertices(const lacis_csr *csr)
{
    return csr->rows == csr->cols && csr->row_label == csr->col_label && csr->row_base == csr->col_base;
}

lacis_status lacis_save_nodes(lacis_run *run, const lacis_csr *csr, int64_t *nodes)
{
    *nodes = -1;
    if (!same_vertices(csr)) return LACIS_OK;
    char *seen;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)csr->rows, &seen));
    memset(seen, 0, (size_t)csr->rows);
    for (int64_t r = 0; r < csr->rows; r++) {
        if (csr->end[r] > csr->begin[r]) seen[r] = 1;
        for (int64_t i = csr->begin[r]; i < csr->end[r]; i++) {
            seen[csr->column[i]] = 1;
        }
    }
    *nodes = 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        *nodes += seen[r];
    }
    lacis_run_free(run, seen);
    if (*nodes < csr->rows)
        lacis_run_note(run, LACIS_WARNING, "%lld vertices without edges are not in the file; mtx would keep them",
                       (long long)(csr->rows - *nodes));
    return LACIS_OK;
}

static void put_entry(lacis_writer *w, const lacis_csr *csr, int64_t row, int64_t i, const char *gap)
{
    lacis_writer_integer(w, lacis_label(csr->row_label, csr->row_base, row));
    lacis_writer_text(w, gap);
    lacis_writer_integer(w, lacis_label(csr->col_label, csr->col_base, csr->column[i]));
    if (csr->value != NULL) {
        lacis_writer_text(w, gap);
        lacis_writer_value(w, csr->value, csr->storage, i);
    }
    lacis_writer_text(w, "\n");
}

lacis_status lacis_save_entries(lacis_writer *w, const lacis_csr *csr, const char *gap)
{
    int64_t done = 0;
    for (int64_t row = 0; row < csr->rows; row++) {
        for (int64_t i = csr->begin[row]; i < csr->end[row]; i++) {
            put_entry(w, csr, row, i, gap);
            if ((++done & 8191) == 0 && lacis_writer_stop(w, done, csr->entries)) return lacis_writer_end(w);
        }
    }
    return LACIS_OK;
}
