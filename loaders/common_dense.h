/* SPDX-License-Identifier: Apache-2.0
 *
 * What loaders and generators of dense matrices and vectors share: their element types, elements as four words, and
 * the memory check. A word is one of real high, real low, imaginary high, imaginary low.
 */
#ifndef LACIS_LOADERS_DENSE_H
#define LACIS_LOADERS_DENSE_H

#include "common_options.h"

#define LACIS_DENSE_TYPES "f64|f32|c64|c128|dd|cdd"

/* Of option `type`, whose words are those above. */
static inline lacis_dtype lacis_dense_type(const lacis_options *given)
{
    static const lacis_dtype types[] = {LACIS_F64, LACIS_F32, LACIS_C64, LACIS_C128, LACIS_DD, LACIS_CDD};
    return types[lacis_option_integer(given, "type", 0)];
}

static inline bool lacis_dense_complex(lacis_dtype dtype)
{
    return dtype == LACIS_C64 || dtype == LACIS_C128 || dtype == LACIS_CDD;
}

static inline void lacis_dense_put(void *data, lacis_dtype dtype, int64_t at, const double *word)
{
    float *f = data;
    double *d = data;
    switch (dtype) {
    case LACIS_F32:
        f[at] = (float)word[0];
        break;
    case LACIS_C64:
        f[2 * at] = (float)word[0];
        f[2 * at + 1] = (float)word[2];
        break;
    case LACIS_C128:
        d[2 * at] = word[0];
        d[2 * at + 1] = word[2];
        break;
    case LACIS_DD:
        d[2 * at] = word[0];
        d[2 * at + 1] = word[1];
        break;
    case LACIS_CDD:
        for (int k = 0; k < 4; k++)
            d[4 * at + k] = word[k];
        break;
    default:
        d[at] = word[0];
        break;
    }
}

static inline void lacis_dense_get(const void *data, lacis_dtype dtype, int64_t at, double *word)
{
    lacis_values_convert(data, dtype, at, 1, word, LACIS_CDD);
}

/* Element (i, j) of matrix `matrix` whichever triangle is stored; of a Hermitian matrix's diagonal the real part. */
void lacis_dense_element(const lacis_symmetric *a, int64_t matrix, int64_t i, int64_t j, double *word);

/* Clears *same where x and y differ (a NaN is another's equal), *conjugate where y is not x's conjugate. */
void lacis_dense_compare(const double *x, const double *y, bool *same, bool *conjugate);

/* LACIS_LIMIT with a message where `places` elements do not fit memory_limit; LACIS_RANGE where places < 0: they
 * cannot be counted. */
lacis_status lacis_dense_room(lacis_run *run, const char *what, int64_t places, lacis_dtype dtype);

/* Random words in (-1, 1) that are a function of `key` alone; a type with fewer words or digits has the others'
 * numbers rounded. */
void lacis_dense_random(uint64_t key, double *word);

#endif
