/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense symmetric matrices as MatrixMarket arrays: the lower triangle, column by column; see common_mtx_dense.h.
 */
#include "common_mtx_dense.h"

#include "common_save.h"

static void put_head(lacis_writer *w, const lacis_symmetric *a, int64_t base)
{
    lacis_writer_text(w, "%%MatrixMarket matrix array ");
    lacis_writer_text(w, lacis_dense_complex(a->dtype) ? "complex" : "real");
    lacis_writer_text(w, a->hermitian ? " hermitian\n" : " symmetric\n");
    if (base != 1) {
        lacis_writer_text(w, "%lacis base ");
        lacis_writer_integer(w, base);
        lacis_writer_text(w, " ");
        lacis_writer_integer(w, base);
        lacis_writer_text(w, "\n");
    }
    lacis_writer_integer(w, a->n);
    lacis_writer_text(w, " ");
    lacis_writer_integer(w, a->n);
    lacis_writer_text(w, "\n");
}

/* To as many digits as the type has. */
static void put_number(lacis_writer *w, lacis_dtype dtype, const double *word)
{
    char text[LACIS_DD_TEXT];
    if (dtype == LACIS_F32 || dtype == LACIS_C64)
        lacis_format_float((float)word[0], text);
    else if (dtype == LACIS_DD || dtype == LACIS_CDD)
        lacis_format_dd(word[0], word[1], text);
    else
        lacis_format_double(word[0], text);
    lacis_writer_text(w, text);
}

static void put_element(lacis_writer *w, const lacis_symmetric *a, int64_t i, int64_t j)
{
    double word[4];
    lacis_dense_element(a, 0, i, j, word);
    put_number(w, a->dtype, word);
    if (lacis_dense_complex(a->dtype)) {
        lacis_writer_text(w, " ");
        put_number(w, a->dtype, word + 2);
    }
    lacis_writer_text(w, "\n");
}

lacis_status lacis_mtx_save_dense(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_symmetric a;
    lacis_writer w;
    int64_t done = 0;
    LACIS_TRY(lacis_symmetric_view(run, array, &a));
    if (a.matrices != 1)
        return lacis_run_fail(run, LACIS_TYPE, "mtx holds one matrix, and this is a batch of %lld; save it as csv",
                              (long long)a.matrices);
    lacis_writer_begin(&w, run, file);
    put_head(&w, &a, lacis_array_base(array, 0));
    for (int64_t j = 0; j < a.n; j++) {
        for (int64_t i = j; i < a.n; i++) {
            put_element(&w, &a, i, j);
            if ((++done & 8191) == 0 && lacis_writer_stop(&w, done, a.elements)) return lacis_writer_end(&w);
        }
    }
    return lacis_writer_end(&w);
}
