/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's matrix: a symmetric array taken apart, which triangle of it is read, and whether the other is its conjugate.
 * Graphs are taken apart in sparse.c. Called by bind.
 */
#include "symv/sparse.h"

int64_t lacis_symv_rows_of(const lacis_symv_matrix *matrix, int64_t m)
{
    return matrix->one == NULL ? matrix->n : matrix->one[m].n;
}

/* Matrices of several sizes, or at places of their own: one entry each. */
static lacis_status list_matrices(lacis_run *run, const lacis_symmetric *view, lacis_symv_matrix *out)
{
    lacis_symv_one *one;
    LACIS_TRY(lacis_run_scratch(run, sizeof *one * (uint64_t)view->matrices, &one));
    for (int64_t m = 0; m < view->matrices; m++)
        one[m] = (lacis_symv_one){.n = lacis_symmetric_order(view, m),
                                  .ld = lacis_symmetric_ld(view, m),
                                  .a = lacis_symmetric_begin(view, m)};
    out->one = one;
    return LACIS_OK;
}

static lacis_status take_symmetric(lacis_run *run, const lacis_array *array, lacis_symv_matrix *out)
{
    lacis_symmetric view;
    LACIS_TRY(lacis_symmetric_view(run, array, &view));
    out->part = "values";
    out->data = view.values;
    out->dtype = view.dtype;
    out->uplo = view.upper ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
    out->hermitian = view.hermitian;
    out->packed = view.packed;
    out->matrices = view.matrices;
    out->most = out->n = view.n;
    out->ld = view.ld;
    out->stride = view.stride;
    out->elements = (double)view.elements;
    out->base = lacis_array_base(array, 0);
    if (view.matrices == 1) { /* a list of one says no more */
        out->n = lacis_symmetric_order(&view, 0);
        out->ld = lacis_symmetric_ld(&view, 0);
        return LACIS_OK;
    }
    return view.order == NULL && view.begin == NULL ? LACIS_OK : list_matrices(run, &view, out);
}

/* UPPER or LOWER: the triangle that is read. */
static lacis_status choose_triangle(lacis_run *run, const lacis_call *call, lacis_symv_matrix *out)
{
    const lacis_arg *upper = lacis_call_arg(call, "UPPER"), *lower = lacis_call_arg(call, "LOWER");
    const lacis_arg *asked = upper != NULL ? upper : lower;
    if (upper != NULL && lower != NULL)
        return lacis_run_fail_at(run, LACIS_SYNTAX, lower->offset, NULL,
                                 "SYMV reads one triangle: UPPER or LOWER, not both");
    if (asked == NULL) return LACIS_OK;
    const lacis_symv_uplo wanted = upper != NULL ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
    if (out->packed && wanted != out->uplo)
        return lacis_run_fail_at(run, LACIS_TYPE, asked->offset, NULL,
                                 "SYMV: the matrix is packed and has its %s triangle alone",
                                 out->uplo == LACIS_SYMV_UPPER ? "upper" : "lower");
    out->uplo = wanted;
    return LACIS_OK;
}

lacis_status lacis_symv_bind_matrix(lacis_run *run, const lacis_call *call, lacis_symv_matrix *out)
{
    const lacis_item *item = &lacis_call_arg(call, NULL)->item[0];
    *out = (lacis_symv_matrix){.array = item->array, .offset = item->offset, .matrices = 1};
    switch (lacis_array_kind(item->array)) {
    case LACIS_SYMMETRIC:
        LACIS_TRY(take_symmetric(run, item->array, out));
        break;
    case LACIS_CSR:
        LACIS_TRY(lacis_symv_take_graph(run, item, out));
        break;
    default:
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL,
                                 "SYMV takes a symmetric matrix or a graph of which one triangle is stored");
    }
    if (lacis_call_arg(call, "CONJ") != NULL) out->hermitian = true;
    return choose_triangle(run, call, out);
}
