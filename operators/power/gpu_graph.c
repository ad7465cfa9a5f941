/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph as POWER's variant "gpu" multiplies by it: its rows where its columns are, found by label where the two
 * carry different ones, and complex values of single precision in double. Called by gpu.c.
 */
#include "power/gpu.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

lacis_mul_matrix lacis_power_host_graph(const lacis_power *work)
{
    return (lacis_mul_matrix){.rows = work->a.rows,
                              .cols = work->a.cols,
                              .begin = work->a.begin,
                              .end = work->a.end,
                              .column = work->a.column,
                              .value = work->a.value,
                              .type = LACIS_MUL_I64};
}

static bool same_labels(const lacis_power *work)
{
    lacis_labels rows = lacis_labels_of_rows(&work->a), cols = lacis_labels_of_cols(&work->a);
    if (rows.count != cols.count || (rows.label == NULL) != (cols.label == NULL)) return false;
    if (rows.label == NULL) return rows.base == cols.base;
    return memcmp(rows.label, cols.label, sizeof(int64_t) * (size_t)rows.count) == 0;
}

/* The row with this label, or -1. */
static int64_t row_of(const lacis_labels *rows, int64_t label)
{
    if (rows->label != NULL) return lacis_label_find(rows->label, 0, rows->count, label);
    return label >= rows->base && label - rows->base < rows->count ? label - rows->base : -1;
}

/* Of each column the bounds of its row; made once a statement. */
static lacis_status align_rows(struct lacis_power_gpu *on)
{
    lacis_power *work = on->work;
    const lacis_labels rows = lacis_labels_of_rows(&work->a), cols = lacis_labels_of_cols(&work->a);
    const uint64_t bytes = sizeof(int64_t) * (uint64_t)cols.count;
    const void *begin, *end;
    if (work->aligned == NULL) {
        int64_t *made;
        LACIS_TRY(lacis_run_scratch(on->run, 2 * bytes, &made));
        for (int64_t c = 0; c < cols.count; c++) {
            const int64_t row = row_of(&rows, lacis_labels_at(&cols, c));
            made[c] = row < 0 ? 0 : work->a.begin[row];
            made[cols.count + c] = row < 0 ? 0 : work->a.end[row];
        }
        work->aligned = made;
    }
    LACIS_TRY(lacis_send_host(on->run, on->gpu, &work->sent, work->aligned, bytes, &begin));
    LACIS_TRY(lacis_send_host(on->run, on->gpu, &work->sent, work->aligned + cols.count, bytes, &end));
    on->a.begin = begin;
    on->a.end = end;
    on->a.rows = cols.count;
    return LACIS_OK;
}

static lacis_status widen_values(struct lacis_power_gpu *on, lacis_mul_matrix *a)
{
    lacis_power *work = on->work;
    if (work->a.value == NULL || work->a.storage != LACIS_C64) return LACIS_OK;
    if (work->wide == NULL) {
        void *made;
        LACIS_TRY(lacis_run_scratch(on->run, lacis_dtype_size(LACIS_C128) * on->places, &made));
        lacis_values_convert(work->a.value, LACIS_C64, 0, (int64_t)on->places, made, LACIS_C128);
        work->wide = made;
    }
    a->value = work->wide;
    a->type = LACIS_MUL_C128;
    on->storage = LACIS_C128;
    return LACIS_OK;
}

lacis_status lacis_power_gpu_send(struct lacis_power_gpu *on)
{
    lacis_mul_matrix a = lacis_power_host_graph(on->work);
    on->places = lacis_send_places(&a);
    on->storage = on->work->a.storage;
    LACIS_TRY(widen_values(on, &a));
    LACIS_TRY(lacis_send_matrix(on->run, on->gpu, &on->work->sent, &a, &on->a));
    return same_labels(on->work) ? LACIS_OK : align_rows(on);
}

#endif
