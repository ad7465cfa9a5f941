/* SPDX-License-Identifier: Apache-2.0
 *
 * MatrixMarket files as dense symmetric matrices, and those as MatrixMarket files. Used by mtx.c.
 */
#ifndef LACIS_LOADERS_MTX_DENSE_H
#define LACIS_LOADERS_MTX_DENSE_H

#include "common_dense.h"
#include "common_mtx.h"

#define LACIS_MTX_TYPES LACIS_TYPE_WORDS "|c64|c128|dd|cdd"

/* How a matrix is to be stored. */
typedef struct lacis_mtx_store {
    lacis_dtype dtype;
    bool packed;
    int64_t base; /* what indices in the file count from */
} lacis_mtx_store;

/* Reads options `type` and `packed`. */
lacis_status lacis_mtx_store_read(lacis_run *run, const lacis_mtx *m, const lacis_options *given,
                                  lacis_mtx_store *out);
/* The body of an array; one whose banner says general must be symmetric, or of complex numbers Hermitian. */
lacis_status lacis_mtx_load_array(lacis_run *run, const lacis_mtx *m, const lacis_mtx_store *store,
                                  lacis_array **out);
/* The body of a coordinate file whose banner says symmetric or hermitian. Several values of one place are added. */
lacis_status lacis_mtx_load_entries(lacis_run *run, const lacis_mtx *m, const lacis_mtx_store *store,
                                    lacis_array **out);
/* An array of LACIS_SYMMETRIC of one matrix. */
lacis_status lacis_mtx_save_dense(lacis_run *run, const lacis_array *array, FILE *file);

#endif
