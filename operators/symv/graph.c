/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's matrix where it is a graph: square, rows and columns called alike, one triangle of it read. Called by
 * matrix.c; sparse.c computes.
 */
#include "symv/sparse.h"

#include <inttypes.h>
#include <string.h>

static bool same_ids(const lacis_csr *csr)
{
    if (csr->rows != csr->cols || (csr->row_label == NULL) != (csr->col_label == NULL)) return false;
    if (csr->row_label == NULL) return csr->row_base == csr->col_base || csr->rows == 0;
    if (csr->row_label == csr->col_label) return true;
    return memcmp(csr->row_label, csr->col_label, sizeof *csr->row_label * (size_t)csr->rows) == 0;
}

/* The triangle that is read unless UPPER or LOWER says it: the lower one, except where all entries lie above the
 * diagonal. */
static lacis_symv_uplo triangle_of(const lacis_csr *csr)
{
    bool above = false;
    for (int64_t r = 0; r < csr->rows; r++) {
        if (csr->begin[r] == csr->end[r]) continue;
        if ((int64_t)csr->column[csr->begin[r]] < r) return LACIS_SYMV_LOWER;
        above = above || (int64_t)csr->column[csr->end[r] - 1] > r;
    }
    return above ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
}

static lacis_dtype computed(lacis_dtype dtype)
{
    const bool own = dtype == LACIS_F32 || dtype == LACIS_F64 || dtype == LACIS_C64 || dtype == LACIS_C128;
    return own ? dtype : LACIS_F64;
}

lacis_status lacis_symv_take_graph(lacis_run *run, const lacis_item *item, lacis_symv_matrix *out)
{
    lacis_csr csr;
    lacis_csr_view(item->array, &csr);
    out->sparse = true;
    out->part = "values";
    out->data = csr.value;
    if (lacis_symv_is_wide(csr.dtype))
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL,
                                 "SYMV: graphs have values of f32, f64, c64, c128 or integers, and this one's are %s",
                                 lacis_dtype_name(csr.dtype));
    out->dtype = computed(csr.dtype);
    out->n = out->most = csr.rows;
    out->label = csr.row_label;
    out->base = csr.row_base;
    out->elements = (double)csr.entries;
    if (item->partial) return LACIS_OK;
    if (!same_ids(&csr))
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL,
                                 "SYMV: a symmetric matrix has the same rows as columns, and this graph is %" PRId64
                                 " x %" PRId64 "%s",
                                 csr.rows, csr.cols, csr.rows == csr.cols ? " with other ids in them" : "");
    out->uplo = triangle_of(&csr);
    return LACIS_OK;
}
