/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading numbers; see common_number.h.
 */
#include "common_number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const double lacis_power_of_ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool lacis_number_integer(const char *p, const char *end, int64_t *out)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return false;
    uint64_t value = 0;
    for (; p < end; p++) {
        unsigned digit = (unsigned char)*p - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    if (value > (uint64_t)INT64_MAX + negative) return false;
    *out = (int64_t)(negative ? 0 - value : value);
    return true;
}

static bool all_digits(const char *p, const char *end)
{
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return false;
    while (p < end && (unsigned char)*p - (unsigned)'0' <= 9) {
        p++;
    }
    return p == end;
}

/* Decimal digits with a point and a small exponent, where one multiplication or division rounds correctly: a mantissa
 * below 2^53 and a power of ten up to 10^22, both exact. */
static bool short_real(const char *p, const char *end, double *out)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    uint64_t mantissa = 0;
    int digits = 0, point = -1, exponent = 0;
    for (; p < end; p++) {
        unsigned digit = (unsigned char)*p - (unsigned)'0';
        if (digit <= 9) {
            if (++digits > 18) return false;
            mantissa = 10 * mantissa + digit;
        } else if (*p == '.' && point < 0) {
            point = digits;
        } else {
            break;
        }
    }
    if (digits == 0 || mantissa >> 53 != 0) return false;
    if (p < end) {
        int64_t e;
        if ((*p != 'e' && *p != 'E') || !lacis_number_integer(p + 1, end, &e) || e < -400 || e > 400) return false;
        exponent = (int)e;
    }
    exponent -= point < 0 ? 0 : digits - point;
    if (exponent < -22 || exponent > 22) return false;
    double value = (double)mantissa;
    value = exponent < 0 ? value / lacis_power_of_ten[-exponent] : value * lacis_power_of_ten[exponent];
    *out = negative ? -value : value;
    return true;
}

/* Everything else goes through strtod in the C locale; hexadecimal is not taken. */
static bool long_real(const char *p, const char *end, double *out)
{
    char text[512];
    size_t length = (size_t)(end - p);
    if (length == 0 || length >= sizeof text) return false;
    for (size_t i = 0; i < length; i++) {
        char c = p[i];
        if (c == 'x' || c == 'X' || c == '(' || c == ' ') return false;
        text[i] = c == 'D' || c == 'd' ? 'e' : c;
    }
    text[length] = '\0';
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* static in glibc and musl: takes no memory */
    if (c_locale == (locale_t)0) return false;
    char *stop;
    *out = strtod_l(text, &stop, c_locale);
    freelocale(c_locale);
    if (stop != text + length) return false;
    return !isinf(*out) || strpbrk(text, "iI") != NULL;
}

bool lacis_number_real(const char *p, const char *end, double *out)
{
    return short_real(p, end, out) || long_real(p, end, out);
}

lacis_number_kind lacis_number_parse(const char *p, const char *end, int64_t *integer, double *real)
{
    if (lacis_number_integer(p, end, integer)) {
        *real = *integer == 0 && *p == '-' ? -0.0 : (double)*integer;
        return LACIS_NUMBER_INTEGER;
    }
    if (!lacis_number_real(p, end, real)) return LACIS_NUMBER_BAD;
    return all_digits(p, end) ? LACIS_NUMBER_BIG : LACIS_NUMBER_REAL;
}
