/* SPDX-License-Identifier: Apache-2.0
 *
 * Double-double numbers from and to decimal text, exactly: quotients of whole numbers are rounded once, to the
 * nearest double or digit, ties to even. Called for literals of statements, the column "text", and by loaders.
 */
#include "core/big.h"
#include "core/run.h"

#include <math.h>
#include <strings.h>

enum {
    DIGITS = 1100, /* what follows matters only as "more": no boundary between two numbers has as many */
    SHOWN = 32,    /* digits of a double-double number */
    MOST = 60      /* where it takes more to tell it from its neighbours */
};

/* ------------------------------------------------------------------------------------- to a double */

/* num / den, both above 0, to the nearest double. Overwrites both. */
static double nearest(big *num, big *den)
{
    int64_t exponent = big_bits(num) - big_bits(den);
    big_shift(exponent > 0 ? den : num, exponent > 0 ? exponent : -exponent);
    if (big_compare(num, den) < 0) {
        big_shift(num, 1);
        exponent--;
    }
    /* 1 <= num / den < 2 */
    int64_t bits = exponent < -1022 ? exponent + 1075 : 53;
    uint64_t mantissa = 0;
    if (bits < 0) return 0;
    if (exponent > 1023) return INFINITY;
    for (int64_t i = 0; i < bits; i++) {
        bool one = big_compare(num, den) >= 0;
        mantissa = 2 * mantissa + one;
        if (one) big_subtract(num, den);
        big_shift(num, 1);
    }
    int rest = big_compare(num, den);
    if (rest > 0 || (rest == 0 && mantissa % 2 == 1)) mantissa++;
    return ldexp((double)mantissa, (int)(exponent - bits + 1));
}

/* |value| as whole 2^exponent; 0 has exponent 0. */
static uint64_t take_apart(double value, int *exponent)
{
    double fraction = frexp(fabs(value), exponent);
    *exponent = fraction == 0 ? 0 : *exponent - 53;
    return (uint64_t)ldexp(fraction, 53);
}

/* num / den > 0 as hi + lo. */
static void split(const big *num, const big *den, double *hi, double *lo)
{
    big a, b, whole, over;
    int exponent;
    big_copy(&a, num);
    big_copy(&b, den);
    *hi = nearest(&a, &b);
    *lo = 0;
    if (!isfinite(*hi)) return;
    /* a = |num - hi den|, over b: all times 2^-exponent where hi is not whole */
    uint64_t mantissa = take_apart(*hi, &exponent);
    big_copy(&a, num);
    big_copy(&b, den);
    big_copy(&whole, den);
    big_scale(&whole, (uint32_t)(mantissa >> 32), 0);
    big_shift(&whole, 32);
    big_copy(&over, den);
    big_scale(&over, (uint32_t)mantissa, 0);
    if (mantissa >> 32 == 0) whole.count = 0;
    if ((uint32_t)mantissa == 0) over.count = 0;
    big_add(&whole, &over);
    big_shift(exponent > 0 ? &whole : &a, exponent > 0 ? exponent : -exponent);
    if (exponent < 0) big_shift(&b, -exponent);
    int order = big_compare(&a, &whole);
    if (order == 0) return;
    if (order > 0) {
        big_subtract(&a, &whole);
        *lo = nearest(&a, &b);
    } else {
        big_subtract(&whole, &a);
        *lo = -nearest(&whole, &b);
    }
}

/* -------------------------------------------------------------------------------------------- text */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

typedef struct number {
    char digit[DIGITS + 1]; /* the first one not 0; as numbers */
    int count;
    int64_t exponent; /* of ten, of the digits as a whole number */
    bool more;        /* digits that are not 0 were left out */
} number;

static void take_digit(number *x, char c, bool fraction)
{
    if (x->count == 0 && c == '0') {
        x->exponent -= fraction;
    } else if (x->count < DIGITS) {
        x->digit[x->count++] = (char)(c - '0');
        x->exponent -= fraction;
    } else {
        x->more = x->more || c != '0';
        x->exponent += !fraction;
    }
}

/* Behind the sign. */
static bool read_number(const char *p, const char *end, number *x)
{
    bool any = false, fraction = false;
    int64_t exponent = 0;
    x->count = 0;
    x->exponent = 0;
    x->more = false;
    for (; p < end && (is_digit(*p) || (*p == '.' && !fraction)); p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        take_digit(x, *p, fraction);
        any = true;
    }
    if (!any) return false;
    if (p == end) return true;
    if ((*p | 32) != 'e' && (*p | 32) != 'd') return false; /* D: Fortran's */
    bool negative = ++p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return false;
    for (; p < end && is_digit(*p); p++)
        if (exponent < INT32_MAX) exponent = 10 * exponent + (*p - '0');
    x->exponent += negative ? -exponent : exponent;
    return p == end;
}

static void value_of(number *x, double *hi, double *lo)
{
    big num, den;
    *hi = *lo = 0;
    while (x->count > 0 && !x->more && x->digit[x->count - 1] == 0) {
        x->count--;
        x->exponent++;
    }
    if (x->more) {
        x->digit[x->count++] = 1;
        x->exponent--;
    }
    if (x->count == 0 || x->exponent + x->count < -330) return;
    if (x->exponent + x->count > 310) {
        *hi = INFINITY;
        return;
    }
    big_set(&num, 0);
    for (int i = 0; i < x->count; i++)
        big_scale(&num, 10, (uint32_t)x->digit[i]);
    big_set(&den, 1);
    big_times_ten(x->exponent > 0 ? &num : &den, x->exponent > 0 ? x->exponent : -x->exponent);
    split(&num, &den, hi, lo);
}

static bool word_is(const char *p, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - p) == length && strncasecmp(p, word, length) == 0;
}

bool lacis_parse_dd(const char *text, size_t length, double *hi, double *lo)
{
    const char *p = text, *end = text + length;
    number x;
    *hi = *lo = 0;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (word_is(p, end, "inf"))
        *hi = INFINITY;
    else if (word_is(p, end, "nan"))
        *hi = NAN;
    else if (!read_number(p, end, &x))
        return false;
    else
        value_of(&x, hi, lo);
    if (negative) {
        *hi = -*hi;
        *lo = 0 - *lo; /* 0 stays 0 */
    }
    return true;
}

/* ------------------------------------------------------------------------------------------ showing */

/* |hi + lo| = num / den exactly. False: it is 0. */
static bool add_words(double hi, double lo, big *num, big *den)
{
    int high, low;
    big other;
    big_set(num, take_apart(hi, &high));
    big_set(&other, take_apart(lo, &low));
    big_set(den, 1);
    if (num->count == 0) high = low;
    if (other.count == 0) low = high;
    int least = high < low ? high : low;
    big_shift(num, high - least);
    big_shift(&other, low - least);
    if (num->count == 0 || other.count == 0 || (hi < 0) == (lo < 0)) {
        big_add(num, &other);
    } else if (big_compare(num, &other) >= 0) {
        big_subtract(num, &other);
    } else {
        big_subtract(&other, num);
        big_copy(num, &other);
    }
    if (num->count == 0) return false;
    big_shift(least > 0 ? num : den, least > 0 ? least : -least);
    return true;
}

/* The digits of num / den one after another; only num changes. */
typedef struct digits {
    big num, den;
    char digit[MOST];
    int count;
    int exponent; /* of ten, of the first digit */
} digits;

static void begin_digits(digits *d)
{
    /* log10(2), rounded down for a start that is never too large by more than one step */
    d->exponent = (int)floor((double)(big_bits(&d->num) - big_bits(&d->den)) * 0.30102999566398);
    d->count = 0;
    big_times_ten(d->exponent > 0 ? &d->den : &d->num, d->exponent > 0 ? d->exponent : -d->exponent);
    while (big_compare(&d->num, &d->den) < 0) {
        big_scale(&d->num, 10, 0);
        d->exponent--;
    }
    for (;;) { /* 10 den > num? */
        big tenth;
        big_copy(&tenth, &d->den);
        big_scale(&tenth, 10, 0);
        if (big_compare(&d->num, &tenth) < 0) return;
        big_copy(&d->den, &tenth);
        d->exponent++;
    }
}

static void next_digit(digits *d)
{
    char digit = 0;
    for (; big_compare(&d->num, &d->den) >= 0; digit++)
        big_subtract(&d->num, &d->den);
    d->digit[d->count++] = digit;
    big_scale(&d->num, 10, 0);
}

/* What is left against half a unit of the last digit: -1, 0, 1. */
static int compare_half(const digits *d)
{
    big half; /* num / 10 is the rest */
    big_copy(&half, &d->den);
    big_scale(&half, 5, 0);
    return big_compare(&d->num, &half);
}

/* The digits so far, rounded; trailing zeros dropped. */
static void rounded(const digits *d, char *digit, int *count, int *exponent)
{
    int half = compare_half(d), at = d->count - 1;
    memcpy(digit, d->digit, (size_t)d->count);
    *exponent = d->exponent;
    if (half > 0 || (half == 0 && digit[at] % 2 == 1)) {
        for (; at >= 0 && digit[at] == 9; at--)
            digit[at] = 0;
        if (at >= 0) {
            digit[at]++;
        } else {
            digit[0] = 1;
            ++*exponent;
        }
    }
    *count = d->count;
    while (*count > 1 && digit[*count - 1] == 0)
        --*count;
}

/* As printf's %g: plain where the exponent is small. */
static void lay_out(bool negative, const char *digit, int count, int exponent, char *text)
{
    bool plain = exponent >= -5 && exponent < SHOWN;
    int whole = plain ? exponent + 1 : 1; /* digits before the point */
    if (negative) *text++ = '-';
    if (whole <= 0) {
        *text++ = '0';
        *text++ = '.';
        for (int i = whole; i < 0; i++)
            *text++ = '0';
    }
    for (int i = 0; i < count || i < whole; i++) {
        if (i == whole && i > 0) *text++ = '.';
        *text++ = (char)('0' + (i < count ? digit[i] : 0));
    }
    if (plain && count <= whole) { /* 3 is written 3.0, as doubles are */
        *text++ = '.';
        *text++ = '0';
    }
    *text = '\0';
    if (!plain) snprintf(text, 8, "e%+03d", exponent);
}

void lacis_format_dd(double hi, double lo, char *text)
{
    digits d;
    char digit[MOST];
    int count, exponent;
    double back_hi, back_lo;
    bool finite = isfinite(hi) && isfinite(lo);
    if (!finite || !add_words(hi, lo, &d.num, &d.den)) {
        lacis_format_double(finite ? hi : hi + lo, text);
        return;
    }
    begin_digits(&d);
    while (d.count < SHOWN)
        next_digit(&d);
    bool negative = hi != 0 && fabs(hi) >= fabs(lo) ? hi < 0 : lo < 0;
    for (;;) {
        rounded(&d, digit, &count, &exponent);
        lay_out(negative, digit, count, exponent, text);
        lacis_parse_dd(text, strlen(text), &back_hi, &back_lo);
        if (d.count == MOST || (back_hi == hi && back_lo == lo)) return;
        next_digit(&d);
    }
}

void lacis_format_cdd(const double *value, char *text)
{
    char re[LACIS_DD_TEXT], im[LACIS_DD_TEXT];
    lacis_format_dd(value[0], value[1], re);
    lacis_format_dd(value[2], value[3], im);
    snprintf(text, LACIS_CDD_TEXT, "complex(%s, %s)", re, im);
}
