/* SPDX-License-Identifier: Apache-2.0
 *
 * Symmetric matrices and vectors for tests of SYMV: their elements are made up from a seed and a place, so that they
 * need not be kept; laid out as asked for, everything that must not be read being NaN; and multiplied one element
 * after the other in __float128 (113 bits, more than double-double has).
 */
#ifndef LACIS_TESTS_SYMMETRIC_H
#define LACIS_TESTS_SYMMETRIC_H

#include "parity/parity.h"

#include <math.h>

typedef __float128 quad;
typedef struct number {
    quad re, im;
} number;

static inline bool is_complex(lacis_dtype dtype)
{
    return dtype == LACIS_C64 || dtype == LACIS_C128 || dtype == LACIS_CDD;
}

static inline bool is_wide(lacis_dtype dtype)
{
    return dtype == LACIS_DD || dtype == LACIS_CDD;
}

static inline bool is_single(lacis_dtype dtype)
{
    return dtype == LACIS_F32 || dtype == LACIS_C64;
}

/* --- numbers ------------------------------------------------------------------------------------------ */

static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* In [-1, 1), to the precision of the type; double-double has a low part of its own. */
static inline quad real_number(uint64_t seed, lacis_dtype dtype)
{
    uint64_t bits = mixed(seed);
    double value = (double)(int64_t)bits / 9223372036854775808.0;
    if (is_single(dtype)) return (quad)(float)value;
    if (!is_wide(dtype)) return (quad)value;
    double low = (double)(int64_t)mixed(bits) / 9223372036854775808.0 * 1e-17 * fabs(value);
    double hi = value + low;
    return (quad)hi + (quad)(low - (hi - value));
}

static inline number number_at(uint64_t seed, int64_t i, int64_t j, lacis_dtype dtype)
{
    uint64_t place = mixed(seed * 1000003 + (uint64_t)i) + (uint64_t)j * 0x9e3779b97f4a7c15u;
    return (number){real_number(place, dtype), is_complex(dtype) ? real_number(place + 77, dtype) : 0};
}

static inline void put_reals(void *to, int64_t at, lacis_dtype dtype, const quad *part, int parts)
{
    for (int k = 0; k < parts; k++) {
        int64_t index = parts * at + k;
        double hi = (double)part[k];
        if (is_single(dtype)) {
            ((float *)to)[index] = (float)part[k];
        } else if (is_wide(dtype)) {
            ((double *)to)[2 * index] = hi;
            ((double *)to)[2 * index + 1] = (double)(part[k] - (quad)hi);
        } else {
            ((double *)to)[index] = hi;
        }
    }
}

static inline void put_number(void *to, int64_t at, lacis_dtype dtype, number value)
{
    const quad part[2] = {value.re, value.im};
    put_reals(to, at, dtype, part, is_complex(dtype) ? 2 : 1);
}

static inline quad get_real(const void *from, int64_t index, lacis_dtype dtype)
{
    if (is_single(dtype)) return (quad)((const float *)from)[index];
    const double *values = from;
    return is_wide(dtype) ? (quad)values[2 * index] + (quad)values[2 * index + 1] : (quad)values[index];
}

static inline number get_number(const void *from, int64_t at, lacis_dtype dtype)
{
    if (!is_complex(dtype)) return (number){get_real(from, at, dtype), 0};
    return (number){get_real(from, 2 * at, dtype), get_real(from, 2 * at + 1, dtype)};
}

static inline number times(number a, number b)
{
    return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline double size_of(number a)
{
    return hypot((double)a.re, (double)a.im);
}

/* --- matrices ----------------------------------------------------------------------------------------- */

enum { MOST_MATRICES = 8 };
typedef enum storage { FULL, FULL_ODD, PACKED, STORAGES } storage;

typedef struct symmetric {
    lacis_dtype dtype;
    bool hermitian, upper;
    storage storage;
    int64_t matrices, n; /* n: of all, unless order is set */
    int64_t order[MOST_MATRICES];
    bool several;   /* sizes */
    int64_t beside; /* elements in front of the first: the base is not aligned then */
    int64_t base;
    uint64_t seed;
} symmetric;

static inline int64_t rows_of(const symmetric *s, int64_t m)
{
    return s->several ? s->order[m] : s->n;
}

/* Element (i, j) of matrix m; the lower triangle is what is made up. */
static inline number element(const symmetric *s, int64_t m, int64_t i, int64_t j)
{
    number a = number_at(s->seed + (uint64_t)m, i > j ? i : j, i > j ? j : i, s->dtype);
    if (s->hermitian && i < j) a.im = -a.im;
    if (s->hermitian && i == j) a.im = 0;
    return a;
}

static inline int64_t leading(const symmetric *s, int64_t m)
{
    if (s->storage == PACKED) return 0;
    return rows_of(s, m) + (s->storage == FULL_ODD && !s->several ? 3 : 0);
}

static inline int64_t places_of(const symmetric *s, int64_t m)
{
    int64_t n = rows_of(s, m);
    return s->storage == PACKED ? n * (n + 1) / 2 : n == 0 ? 0 : leading(s, m) * n;
}

static inline int64_t place_of(const symmetric *s, int64_t m, int64_t i, int64_t j)
{
    if (s->storage != PACKED) return j * leading(s, m) + i;
    return s->upper ? j * (j + 1) / 2 + i : j * (2 * rows_of(s, m) - j - 1) / 2 + i;
}

static inline void fill_matrix(const symmetric *s, int64_t m, char *to)
{
    for (int64_t j = 0; j < rows_of(s, m); j++) {
        int64_t first = s->upper ? 0 : j, end = s->upper ? j + 1 : rows_of(s, m);
        for (int64_t i = first; i < end; i++) {
            number a = element(s, m, i, j);
            if (s->hermitian && i == j) a.im = (quad)NAN; /* not read */
            put_number(to, place_of(s, m, i, j), s->dtype, a);
        }
    }
}

static inline void add_bytes(parity *p, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                             const void *data, int64_t beside)
{
    const size_t size = lacis_dtype_size(dtype);
    lacis_buffer *buffer = buffer_of(p, data, size * (size_t)(count + beside));
    parity_ok(p, lacis_array_add(&p->run, array, name, dtype, count, buffer, size * (uint64_t)beside), name);
    lacis_buffer_release(buffer);
}

static inline lacis_array *symmetric_array(parity *p, const symmetric *s)
{
    enum { GAP = 5 }; /* elements between matrices of one size */
    lacis_array *array = NULL;
    const size_t size = lacis_dtype_size(s->dtype);
    int64_t most = 0, places = 0, stride = s->several || s->matrices == 1 ? 0 : places_of(s, 0) + GAP;
    for (int64_t m = 0; m < s->matrices; m++) {
        most = rows_of(s, m) > most ? rows_of(s, m) : most;
        places = s->several || s->matrices == 1 ? places + places_of(s, m) : stride * s->matrices;
    }
    char *data = malloc(size * (size_t)(places + s->beside) + 1);
    memset(data, 0xff, size * (size_t)(places + s->beside)); /* NaN */
    char *at = data + size * (size_t)s->beside;
    for (int64_t m = 0; m < s->matrices; m++) {
        fill_matrix(s, m, at);
        at += size * (size_t)(stride > 0 ? stride : places_of(s, m));
    }
    const int64_t shape[] = {s->upper, s->hermitian, leading(s, 0) == 0 && s->storage != PACKED ? 1 : leading(s, 0),
                             stride};
    parity_ok(p, lacis_array_new(&p->run, LACIS_SYMMETRIC, s->dtype, most, s->matrices, &array), "a matrix");
    lacis_array_set_base(array, 0, s->base);
    add_bytes(p, array, "values", s->dtype, places, data, s->beside);
    add_bytes(p, array, "shape", LACIS_I64, 4, shape, 0);
    if (s->several) add_bytes(p, array, "orders", LACIS_I64, s->matrices, s->order, 0);
    free(data);
    return array;
}

/* --- vectors ------------------------------------------------------------------------------------------ */

/* Element i of vector v. */
static inline number vector_number(uint64_t seed, int64_t v, int64_t i, lacis_dtype dtype)
{
    return number_at(seed * 31 + 7, v, i, dtype);
}

static inline lacis_array *vector_array(parity *p, uint64_t seed, int64_t n, lacis_dtype dtype, int64_t base)
{
    lacis_array *array = NULL;
    char *data = malloc(lacis_dtype_size(dtype) * (size_t)n + 1);
    for (int64_t i = 0; i < n; i++)
        put_number(data, i, dtype, vector_number(seed, 0, i, dtype));
    parity_ok(p, lacis_array_new(&p->run, LACIS_VECTOR, dtype, n, 0, &array), "a vector");
    lacis_array_set_base(array, 0, base);
    add_bytes(p, array, "values", dtype, n, data, 0);
    free(data);
    return array;
}

/* Groups of lanes of one length that follow each other. */
static inline int64_t group_lanes(const int64_t *rows, int64_t lanes, int64_t *count, int64_t *of)
{
    int64_t groups = 0;
    for (int64_t l = 0; l < lanes; l++) {
        if (groups == 0 || of[groups - 1] != rows[l]) {
            of[groups] = rows[l];
            count[groups++] = 0;
        }
        count[groups - 1]++;
    }
    return groups;
}

/* Lanes that pad a flock are NaN. */
static inline lacis_array *batch_array(parity *p, uint64_t seed, const int64_t *rows, int64_t lanes, int64_t block,
                                       lacis_dtype dtype)
{
    lacis_array *array = NULL;
    lacis_batch batch;
    int64_t *count = calloc(2 * (size_t)lanes + 2, sizeof *count), *of = count + lanes + 1;
    const lacis_batch_shape shape = {
        .groups = group_lanes(rows, lanes, count, of), .lanes = count, .rows = of, .block = block, .dtype = dtype};
    parity_ok(p, lacis_batch_new(&p->run, &shape, &array), "a batch");
    parity_ok(p, lacis_batch_view(&p->run, array, &batch), "a batch");
    char *data = malloc(lacis_dtype_size(dtype) * (size_t)batch.places + 1);
    memset(data, 0xff, lacis_dtype_size(dtype) * (size_t)batch.places);
    for (int64_t g = 0; g < batch.groups; g++)
        for (int64_t l = 0; l < batch.group[g].lanes; l++)
            for (int64_t r = 0; r < batch.group[g].rows; r++)
                put_number(data, lacis_batch_place(&batch.group[g], l, r), dtype,
                           vector_number(seed, batch.group[g].lane + l, r, dtype));
    add_bytes(p, array, "value", dtype, batch.places, data, 0);
    free(data);
    free(count);
    return array;
}

/* --- the reference ------------------------------------------------------------------------------------ */

typedef struct answer {
    number y;
    double size; /* |alpha| sum |a| |x| + |beta y0| */
} answer;

/* alpha A x + beta y0 of matrix m and vectors v of both seeds; y0 of seed 0: none. */
static inline void multiply_one(const symmetric *s, int64_t m, uint64_t x_seed, lacis_dtype x_type, uint64_t y_seed,
                                lacis_dtype y_type, int64_t v, number alpha, number beta, answer *out)
{
    const int64_t n = rows_of(s, m);
    number *x = malloc(sizeof *x * (size_t)(n + 1)), *sum = calloc((size_t)n + 1, sizeof *sum);
    double *size = calloc((size_t)n + 1, sizeof *size), *x_size = calloc((size_t)n + 1, sizeof *x_size);
    for (int64_t i = 0; i < n; i++) {
        x[i] = vector_number(x_seed, v, i, x_type);
        x_size[i] = size_of(x[i]);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            number a = element(s, m, i, j), ax = times(a, x[j]);
            double modulus = size_of(a);
            sum[i].re += ax.re, sum[i].im += ax.im;
            size[i] += modulus * x_size[j];
            if (i == j) continue;
            if (s->hermitian) a.im = -a.im;
            ax = times(a, x[i]);
            sum[j].re += ax.re, sum[j].im += ax.im;
            size[j] += modulus * x_size[i];
        }
    for (int64_t i = 0; i < n; i++) {
        number added = {0, 0}, product = times(alpha, sum[i]);
        if (y_seed != 0) added = times(beta, vector_number(y_seed, v, i, y_type));
        out[i] =
            (answer){{product.re + added.re, product.im + added.im}, size_of(alpha) * size[i] + size_of(added)};
    }
    free(x);
    free(sum);
    free(size);
    free(x_size);
}

/* The unit of rounding of sums; what double-double additions and products lose together, of the sum of moduli. */
static inline double unit_of(lacis_dtype dtype)
{
    return is_wide(dtype) ? 0x1p-102 : is_single(dtype) ? 0x1p-24 : 0x1p-53;
}

/* c n u sum |a| |x| with the steps of any order of sums: n + 4 of a real one, twice that and the length of the
 * diagonal of a square of a complex one. */
static inline double bound_of(lacis_dtype dtype, int64_t n, double size)
{
    const double steps = (double)n + 4, complex_steps = 1.5 * 2;
    return unit_of(dtype) * steps * (is_complex(dtype) ? complex_steps : 1) * size;
}

#endif
