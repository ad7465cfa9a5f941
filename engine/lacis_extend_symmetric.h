/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_symmetric.h - the part of lacis_extend.h, which includes it, that is about dense symmetric and
 * Hermitian matrices.
 */
#ifndef LACIS_EXTEND_SYMMETRIC_H
#define LACIS_EXTEND_SYMMETRIC_H

/* An array of LACIS_SYMMETRIC taken apart (its parts: lacis_array_create). Everything that can be wrong with them has
 * been checked: whatever lacis_symmetric_place gives for an element of the triangle lies in values. */
typedef struct lacis_symmetric {
    int64_t n;        /* rows of the largest matrix */
    int64_t matrices; /* a batch, with a column "lane" in SQL, unless it is one */
    int64_t elements; /* of the stored triangles of all matrices */
    int64_t places;   /* elements that values has at least */
    bool upper, hermitian, packed;
    int64_t ld;           /* of each matrix, >= n; 0 where packed, or where order says it */
    int64_t stride;       /* elements from one matrix to the next; 0 where order says it */
    const int64_t *order; /* NULL, or rows of each matrix */
    const int64_t *begin; /* NULL, or the place of each matrix, one more for the end; in the run's scratch */
    lacis_dtype dtype;
    const void *values;
} lacis_symmetric;

/* LACIS_TYPE where the parts do not go together. */
LACIS_API lacis_status lacis_symmetric_view(lacis_run *run, const lacis_array *array, lacis_symmetric *out);

static inline int64_t lacis_symmetric_order(const lacis_symmetric *a, int64_t matrix)
{
    return a->order == NULL ? a->n : a->order[matrix];
}
static inline int64_t lacis_symmetric_begin(const lacis_symmetric *a, int64_t matrix)
{
    return a->begin == NULL ? matrix * a->stride : a->begin[matrix];
}
/* 0: packed. */
static inline int64_t lacis_symmetric_ld(const lacis_symmetric *a, int64_t matrix)
{
    return a->packed || a->order == NULL ? a->ld : a->order[matrix];
}
/* Where element (i, j) of the stored triangle lies: row i, column j, from 0; lower i >= j, upper i <= j. */
static inline int64_t lacis_symmetric_place(const lacis_symmetric *a, int64_t matrix, int64_t i, int64_t j)
{
    int64_t at = lacis_symmetric_begin(a, matrix);
    if (!a->packed) return at + j * lacis_symmetric_ld(a, matrix) + i;
    /* j (2 n - j - 1) / 2: one of the two factors is even */
    if (!a->upper) return at + j * (2 * lacis_symmetric_order(a, matrix) - j - 1) / 2 + i;
    return at + j * (j + 1) / 2 + i;
}

/* What an item of form %k holds where `packed` was written. */
enum { LACIS_LAYOUT_PACKED = -1 };

/* Builds one. Values may be NULL: then they are taken as long as needed, not cleared, and to be filled through
 * lacis_buffer_data(lacis_array_part_buffer(array, "values", NULL)); otherwise they are retained. */
typedef struct lacis_symmetric_shape {
    int64_t n, matrices;
    const int64_t *order; /* NULL: all have n rows; copied */
    bool upper, hermitian, packed;
    int64_t ld, stride; /* 0: the least */
    lacis_dtype dtype;
    int64_t base[2]; /* the labels of row and column 0, and of matrix 0 */
} lacis_symmetric_shape;
LACIS_API lacis_status lacis_symmetric_new(lacis_run *run, const lacis_symmetric_shape *shape, lacis_buffer *values,
                                           lacis_array **out);
/* Elements that the values of such a shape take; negative where they cannot be counted. */
LACIS_API int64_t lacis_symmetric_places(const lacis_symmetric_shape *shape);
/* Fills the other triangle of full storage, too, so that whoever takes it for the stored one finds the same matrix:
 * the last step of building one. Packed ones are left as they are. */
LACIS_API lacis_status lacis_symmetric_mirror(lacis_run *run, lacis_array *array);

#endif
