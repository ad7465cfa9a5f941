/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as they stand in files, whatever the locale. Used by all loaders of text formats.
 */
#ifndef LACIS_LOADERS_NUMBER_H
#define LACIS_LOADERS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lacis_number_kind {
    LACIS_NUMBER_BAD,     /* no number, or a real too large for a double */
    LACIS_NUMBER_INTEGER, /* fits int64 */
    LACIS_NUMBER_BIG,     /* an integer that does not; the real is its nearest double */
    LACIS_NUMBER_REAL
} lacis_number_kind;

/* The whole of [p, end): digits with an optional sign. False where it is anything else or does not fit. */
bool lacis_number_integer(const char *p, const char *end, int64_t *out);
/* The whole of [p, end) as integer or real; *real is always set, correctly rounded. inf and nan count, Fortran's D as
 * an exponent too. */
lacis_number_kind lacis_number_parse(const char *p, const char *end, int64_t *integer, double *real);
/* As a real only. */
bool lacis_number_real(const char *p, const char *end, double *out);

/* 10^0 .. 10^22: the powers that a double holds exactly. */
extern const double lacis_power_of_ten[23];

#endif
