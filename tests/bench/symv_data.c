/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of lacis-bench symv and what their products must be. The reference is computed in __float128, from the
 * elements that a stored triangle stands for, row by row of some rows.
 */
#include "symv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 24 };

struct symv_reference {
    int rows;
    int64_t row[MOST_ROWS];
    __float128 value[MOST_ROWS][2];
    double scale[MOST_ROWS]; /* the sum of moduli */
};

/* ----------------------------------------------------------------------------------------- operands */

static double drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return 2 * ((double)(*state >> 11) / 9007199254740992.0) - 1;
}

/* Real numbers in an element, of how many words (high, low) each. */
static int reals(lacis_symv_type type)
{
    return lacis_symv_complex(type) ? 2 : 1;
}

static bool wide(int bytes, lacis_symv_type type)
{
    return (type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD || (bytes == 16 && type == LACIS_SYMV_F32_DD) ||
            (bytes == 16 && type == LACIS_SYMV_F64_DD));
}

static bool single(int bytes, lacis_symv_type type)
{
    return bytes / reals(type) == (int)sizeof(float);
}

static void fill(void *data, int bytes, lacis_symv_type type, uint64_t state)
{
    float *narrow = data;
    double *real = data;
    const int64_t count = (int64_t)SYMV_STRETCH * reals(type);
    for (int64_t i = 0; i < count; i++) {
        double value = drawn(&state);
        if (single(bytes, type)) {
            narrow[i] = (float)value;
        } else if (wide(bytes, type)) {
            real[2 * i] = value;
            real[2 * i + 1] = value * 0x1p-54 * drawn(&state);
        } else {
            real[i] = value;
        }
    }
}

int symv_data_make(const symv_kind *kind, symv_data *out)
{
    const int matrix = lacis_symv_matrix_bytes(kind->type), vector = lacis_symv_vector_bytes(kind->type);
    *out = (symv_data){kind, malloc((size_t)matrix * SYMV_STRETCH), malloc((size_t)vector * SYMV_STRETCH)};
    if (out->matrix == NULL || out->vector == NULL) return bench_fail("out of memory");
    fill(out->matrix, matrix, kind->type, 1);
    fill(out->vector, vector, kind->type, 2);
    return 0;
}

void symv_data_free(symv_data *data)
{
    free(data->matrix);
    free(data->vector);
    *data = (symv_data){NULL};
}

/* ---------------------------------------------------------------------------------------- reference */

static __float128 part_of(const void *data, int64_t element, int part, int bytes, lacis_symv_type type)
{
    const int64_t at = element * reals(type) + part;
    if (single(bytes, type)) return ((const float *)data)[at];
    const double *real = data;
    return wide(bytes, type) ? (__float128)real[2 * at] + real[2 * at + 1] : real[at];
}

static int64_t place(const symv_case *c, int64_t i, int64_t j)
{
    if (!c->op->packed) return j * c->n + i;
    return c->uplo == LACIS_SYMV_LOWER ? j * (2 * c->n - j - 1) / 2 + i : j * (j + 1) / 2 + i;
}

/* Element (i, j) of the matrix that the triangle stands for. */
static void element(const symv_case *c, const symv_data *data, int64_t i, int64_t j, __float128 *value)
{
    const lacis_symv_type type = c->kind->type;
    const int bytes = lacis_symv_matrix_bytes(type);
    const bool stored = c->uplo == LACIS_SYMV_LOWER ? i >= j : i <= j;
    const int64_t at = (stored ? place(c, i, j) : place(c, j, i)) % SYMV_STRETCH;
    value[0] = part_of(data->matrix, at, 0, bytes, type);
    value[1] = lacis_symv_complex(type) ? part_of(data->matrix, at, 1, bytes, type) : 0;
    if (symv_hermitian(c)) value[1] = i == j ? 0 : stored ? value[1] : -value[1];
}

static void one_row(const symv_case *c, const symv_data *data, symv_reference *r, int at)
{
    const lacis_symv_type type = c->kind->type;
    const int bytes = lacis_symv_vector_bytes(type);
    __float128 sum[2] = {0, 0};
    double scale = 0;
    for (int64_t j = 0; j < c->n; j++) {
        __float128 a[2], x[2] = {0, 0};
        element(c, data, r->row[at], j, a);
        x[0] = part_of(data->vector, j % SYMV_STRETCH, 0, bytes, type);
        if (lacis_symv_complex(type)) x[1] = part_of(data->vector, j % SYMV_STRETCH, 1, bytes, type);
        sum[0] += a[0] * x[0] - a[1] * x[1];
        sum[1] += a[0] * x[1] + a[1] * x[0];
        scale += hypot((double)a[0], (double)a[1]) * hypot((double)x[0], (double)x[1]);
    }
    r->value[at][0] = sum[0];
    r->value[at][1] = sum[1];
    r->scale[at] = scale;
}

int symv_reference_make(const symv_case *c, const symv_data *data, symv_reference **out)
{
    symv_reference *r = malloc(sizeof *r);
    uint64_t state = (uint64_t)c->n;
    *out = r;
    if (r == NULL) return bench_fail("out of memory");
    r->rows = c->n < MOST_ROWS ? (int)c->n : MOST_ROWS;
    for (int i = 0; i < r->rows; i++) {
        bool all = c->n <= MOST_ROWS || i == 0;
        r->row[i] = all ? i : i == 1 ? c->n - 1 : (int64_t)(fabs(drawn(&state)) * (double)(c->n - 1));
        one_row(c, data, r, i);
    }
    return 0;
}

void symv_reference_free(symv_reference *reference)
{
    free(reference);
}

int symv_check(const symv_case *c, const symv_reference *reference, const void *y, const char *who)
{
    const lacis_symv_type type = c->kind->type;
    const int bytes = lacis_symv_vector_bytes(type), parts = reals(type);
    const int64_t all = c->n * c->op->sides * c->op->matrices;
    for (int i = 0; i < reference->rows; i++)
        for (int part = 0; part < parts; part++) {
            __float128 off = part_of(y, reference->row[i], part, bytes, type) - reference->value[i][part];
            double most = 64 * c->kind->unit * reference->scale[i];
            if (!(fabs((double)off) <= most))
                return bench_fail("%s, %s/%s, n = %lld: row %lld is off by %g of at most %g", who, c->kind->name,
                                  c->op->name, (long long)c->n, (long long)reference->row[i], (double)off, most);
        }
    for (int64_t i = 0; i < all; i++)
        if (isnan((double)part_of(y, i, 0, bytes, type)))
            return bench_fail("%s, %s/%s, n = %lld: element %lld is not a number", who, c->kind->name, c->op->name,
                              (long long)c->n, (long long)i);
    return 0;
}
