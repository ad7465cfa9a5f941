/* SPDX-License-Identifier: Apache-2.0
 *
 * The other triangle of dense symmetric matrices in full storage, copied from the stored one tile by tile. Called by
 * whoever has just built one.
 */
#include "core/symmetric.h"

#include <string.h>

enum { TILE = 32, STRIP = 256, FEW = 1 << 14 };

typedef struct mirror {
    lacis_symmetric a;
    char *values;
    int64_t strips; /* of columns, of the largest matrix */
    int64_t each;   /* strips of all matrices that a task takes: small matrices together */
} mirror;

/* Stored elements (i, j) of a tile to (j, i). */
static inline void copy_tile(char *at, size_t size, int64_t ld, int64_t i, int64_t i_end, int64_t j, int64_t j_end)
{
    for (int64_t c = j; c < j_end; c++)
        for (int64_t r = i; r < i_end; r++)
            if (r != c) memcpy(at + (size_t)(r * ld + c) * size, at + (size_t)(c * ld + r) * size, size);
}

/* The same for a type whose other triangle is the conjugate: imaginary parts change their sign. */
static void conjugate_tile(char *at, lacis_dtype dtype, int64_t ld, int64_t i, int64_t i_end, int64_t j,
                           int64_t j_end)
{
    float *f = (float *)(void *)at;
    double *d = (double *)(void *)at;
    for (int64_t c = j; c < j_end; c++) {
        for (int64_t r = i; r < i_end; r++) {
            int64_t to = r * ld + c;
            if (r == c) continue;
            if (dtype == LACIS_C64) {
                f[2 * to + 1] = -f[2 * to + 1];
            } else if (dtype == LACIS_C128) {
                d[2 * to + 1] = -d[2 * to + 1];
            } else {
                d[4 * to + 2] = -d[4 * to + 2];
                d[4 * to + 3] = -d[4 * to + 3];
            }
        }
    }
}

/* Of a tile on the diagonal only what is stored; there i_end == j_end and the tile is square. */
static void mirror_tile(const mirror *work, int64_t matrix, int64_t i, int64_t i_end, int64_t j, int64_t j_end)
{
    const lacis_symmetric *a = &work->a;
    size_t size = lacis_dtype_size(a->dtype);
    int64_t ld = lacis_symmetric_ld(a, matrix);
    char *at = work->values + (size_t)lacis_symmetric_begin(a, matrix) * size;
    switch (size) {
    case 4:
        copy_tile(at, 4, ld, i, i_end, j, j_end);
        break;
    case 8:
        copy_tile(at, 8, ld, i, i_end, j, j_end);
        break;
    case 16:
        copy_tile(at, 16, ld, i, i_end, j, j_end);
        break;
    default:
        copy_tile(at, 32, ld, i, i_end, j, j_end);
        break;
    }
    if (a->hermitian) conjugate_tile(at, a->dtype, ld, i, i_end, j, j_end);
}

static void mirror_strip(const mirror *work, int64_t task)
{
    int64_t matrix = task / work->strips, first = task % work->strips * STRIP;
    int64_t n = lacis_symmetric_order(&work->a, matrix), end = first + STRIP < n ? first + STRIP : n;
    bool upper = work->a.upper;
    for (int64_t j = first; j < end; j += TILE) {
        int64_t j_end = j + TILE < end ? j + TILE : end;
        for (int64_t c = j; c < j_end; c++) /* on the diagonal, column by column */
            mirror_tile(work, matrix, upper ? j : c, upper ? c : j_end, c, c + 1);
        for (int64_t i = upper ? 0 : j_end; i < (upper ? j : n); i += TILE)
            mirror_tile(work, matrix, i, upper ? i + TILE : i + TILE < n ? i + TILE : n, j, j_end);
    }
}

static lacis_status mirror_strips(void *context, int64_t task, int worker)
{
    (void)worker;
    const mirror *work = context;
    int64_t all = work->strips * work->a.matrices, end = (task + 1) * work->each;
    for (int64_t strip = task * work->each; strip < end && strip < all; strip++)
        mirror_strip(work, strip);
    return LACIS_OK;
}

lacis_status lacis_symmetric_mirror(lacis_run *run, lacis_array *array)
{
    mirror work;
    LACIS_TRY(lacis_symmetric_view(run, array, &work.a));
    if (work.a.packed || work.a.n == 0) return LACIS_OK;
    work.values = lacis_buffer_data(lacis_array_part_buffer(array, "values", NULL));
    work.strips = (work.a.n + STRIP - 1) / STRIP;
    work.each = 1 + FEW / (work.a.n * work.a.n);
    return lacis_run_parallel(run, (work.strips * work.a.matrices + work.each - 1) / work.each, mirror_strips, &work);
}
