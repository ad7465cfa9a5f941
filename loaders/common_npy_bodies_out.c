/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies as NumPy's records: id (where ids do not count from 0), every column that the array has, and time (where it
 * is not 0), each in its own type, so that all come back with the same bits. See common_npy.h.
 */
#include "common_bodies.h"
#include "common_npy.h"

#include <string.h>

static char *describe(lacis_run *run, const lacis_bodies *b, const void *const *columns, bool ids)
{
    const char *code = lacis_npy_type_of(b->dtype)->code;
    char *text = lacis_run_text(run, ids ? "[('id', '<i8'), " : "[");
    for (int i = 0; i < LACIS_BODY_REALS && text != NULL; i++)
        if (columns[i] != NULL) text = lacis_run_text(run, "%s('%s', '%s'), ", text, lacis_body_names[i], code);
    if (text != NULL && b->time != 0) text = lacis_run_text(run, "%s('time', '<f8'), ", text);
    if (text == NULL) return NULL;
    text[strlen(text) - 2] = '\0'; /* the last comma */
    return lacis_run_text(run, "%s]", text);
}

static void put_record(lacis_writer *w, const lacis_bodies *b, const void *const *columns, bool ids, int64_t row)
{
    size_t size = lacis_dtype_size(b->dtype);
    if (ids) {
        int64_t id = lacis_label(b->id, b->base, row);
        lacis_writer_bytes(w, &id, sizeof id);
    }
    for (int i = 0; i < LACIS_BODY_REALS; i++)
        if (columns[i] != NULL) lacis_writer_bytes(w, (const char *)columns[i] + (size_t)row * size, size);
    if (b->time != 0) lacis_writer_bytes(w, &b->time, sizeof b->time);
}

lacis_status lacis_npy_save_bodies(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_bodies b;
    lacis_writer *w;
    const void *columns[LACIS_BODY_REALS];
    char shape[32];
    LACIS_TRY(lacis_bodies_view(run, array, &b));
    lacis_body_data(&b, columns);
    bool ids = b.id != NULL || b.base != 0, stop = false;
    char *descr = describe(run, &b, columns, ids);
    if (descr == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(lacis_run_alloc(run, sizeof *w, &w));
    lacis_writer_begin(w, run, file);
    snprintf(shape, sizeof shape, "%lld,", (long long)b.count);
    lacis_npy_write_head(file, descr, false, shape, NULL);
    for (int64_t row = 0; row < b.count && !stop; row++) {
        put_record(w, &b, columns, ids, row);
        stop = (row & 0xffff) == 0xffff && lacis_writer_stop(w, row, b.count);
    }
    lacis_status status = lacis_writer_end(w);
    lacis_run_free(run, w);
    return status;
}
