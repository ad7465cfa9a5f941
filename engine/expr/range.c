/* SPDX-License-Identifier: Apache-2.0
 *
 * Interval arithmetic: what one operation can give for operands within ranges. Integer results are exact hulls or
 * wider; real ones follow the rounding of the steps, which is monotone for + - * / and sqrt, and are widened a little
 * for what comes from libm. Called by bounds.c.
 */
#include "expr/tree.h"

#include <math.h>

typedef __int128 wide;

static const lacis_range boolean = {.lo = 0, .hi = 1};
static const lacis_range any_integer = {.lo = INT64_MIN, .hi = INT64_MAX};

static wide least(wide a, wide b)
{
    return a < b ? a : b;
}

static wide most(wide a, wide b)
{
    return a > b ? a : b;
}

/* Results outside int64 never arise: the step fails instead. */
static lacis_range clamp(wide lo, wide hi, bool *fails)
{
    if (lo < INT64_MIN || hi > INT64_MAX) *fails = true;
    lacis_range range = {0};
    range.lo = (int64_t)most(INT64_MIN, least(lo, INT64_MAX));
    range.hi = (int64_t)least(INT64_MAX, most(hi, INT64_MIN));
    return range;
}

static lacis_range multiply(lacis_range x, lacis_range y, bool *fails)
{
    wide p = (wide)x.lo * y.lo, q = (wide)x.lo * y.hi, r = (wide)x.hi * y.lo, s = (wide)x.hi * y.hi;
    return clamp(least(least(p, q), least(r, s)), most(most(p, q), most(r, s)), fails);
}

/* The extremes lie at the ends of x and at the divisors of least and greatest size of either sign. */
static lacis_range divide(lacis_range x, lacis_range y, bool *fails)
{
    const int64_t divisor[4] = {y.lo, y.hi, -1, 1};
    wide lo = 0, hi = 0;
    bool first = true;
    if (y.lo <= 0 && y.hi >= 0) *fails = true;
    for (int i = 0; i < 4; i++) {
        int64_t d = divisor[i];
        if (d == 0 || d < y.lo || d > y.hi) continue;
        wide p = (wide)x.lo / d, q = (wide)x.hi / d;
        lo = first ? least(p, q) : least(lo, least(p, q));
        hi = first ? most(p, q) : most(hi, most(p, q));
        first = false;
    }
    return clamp(lo, hi, fails);
}

/* The remainder has the sign of x and is smaller than the divisor. */
static lacis_range remainder_of(lacis_range x, lacis_range y, bool *fails)
{
    wide size = most(most(y.lo, -(wide)y.lo), most(y.hi, -(wide)y.hi)) - 1;
    if (y.lo <= 0 && y.hi >= 0) *fails = true;
    if (size < 0) size = 0;
    return clamp(x.lo < 0 ? most(x.lo, -size) : 0, x.hi > 0 ? least(x.hi, size) : 0, fails);
}

static lacis_range bits_and(lacis_range x, lacis_range y)
{
    if (x.lo < 0 && y.lo < 0) return any_integer;
    if (x.lo >= 0 && y.lo >= 0) return (lacis_range){.lo = 0, .hi = x.hi < y.hi ? x.hi : y.hi};
    return (lacis_range){.lo = 0, .hi = x.lo >= 0 ? x.hi : y.hi};
}

static lacis_range bits_or(lacis_range x, lacis_range y)
{
    if (x.lo < 0 || y.lo < 0) return any_integer;
    uint64_t ones = (uint64_t)x.hi | (uint64_t)y.hi;
    for (int i = 1; i < 64; i *= 2) {
        ones |= ones >> i;
    }
    return (lacis_range){.lo = x.lo > y.lo ? x.lo : y.lo, .hi = (int64_t)ones};
}

static lacis_range shift_left(lacis_range x, lacis_range y)
{
    if (y.lo != y.hi || y.lo < 0 || y.lo > 62) return any_integer;
    wide lo = (wide)x.lo * ((wide)1 << y.lo), hi = (wide)x.hi * ((wide)1 << y.lo);
    if (lo < INT64_MIN || hi > INT64_MAX) return any_integer; /* bits leave */
    return (lacis_range){.lo = (int64_t)lo, .hi = (int64_t)hi};
}

static lacis_range shift_right(lacis_range x, lacis_range y)
{
    if (y.lo != y.hi || y.lo < 0 || y.lo > 63) return any_integer;
    return (lacis_range){.lo = x.lo >> y.lo, .hi = x.hi >> y.lo};
}

static lacis_range absolute(lacis_range x, bool *fails)
{
    if (x.lo >= 0) return x;
    wide hi = most(-(wide)x.lo, x.hi);
    return clamp(x.hi <= 0 ? -(wide)x.hi : 0, hi, fails);
}

lacis_range lacis_range_integer(lacis_node_op op, lacis_range x, lacis_range y, bool *fails)
{
    switch (op) {
    case LACIS_NODE_ADD:
        return clamp((wide)x.lo + y.lo, (wide)x.hi + y.hi, fails);
    case LACIS_NODE_SUB:
        return clamp((wide)x.lo - y.hi, (wide)x.hi - y.lo, fails);
    case LACIS_NODE_MUL:
        return multiply(x, y, fails);
    case LACIS_NODE_DIV:
        return divide(x, y, fails);
    case LACIS_NODE_MOD:
        return remainder_of(x, y, fails);
    case LACIS_NODE_NEG:
        return clamp(-(wide)x.hi, -(wide)x.lo, fails);
    case LACIS_NODE_ABS:
        return absolute(x, fails);
    case LACIS_NODE_SIGN:
        return (lacis_range){.lo = (x.lo > 0) - (x.lo < 0), .hi = (x.hi > 0) - (x.hi < 0)};
    case LACIS_NODE_MIN:
        return (lacis_range){.lo = x.lo < y.lo ? x.lo : y.lo, .hi = x.hi < y.hi ? x.hi : y.hi};
    case LACIS_NODE_MAX:
        return (lacis_range){.lo = x.lo > y.lo ? x.lo : y.lo, .hi = x.hi > y.hi ? x.hi : y.hi};
    case LACIS_NODE_BITNOT:
        return (lacis_range){.lo = ~x.hi, .hi = ~x.lo};
    case LACIS_NODE_BITAND:
        return bits_and(x, y);
    case LACIS_NODE_BITOR:
        return bits_or(x, y);
    case LACIS_NODE_SHL:
        return shift_left(x, y);
    case LACIS_NODE_SHR:
        return shift_right(x, y);
    default:
        return op >= LACIS_NODE_OR && op <= LACIS_NODE_BETWEEN ? boolean : any_integer;
    }
}

/* ------------------------------------------------------------------------------------------- reals */

static const lacis_range unknown = {.real_lo = -INFINITY, .real_hi = INFINITY, .nan = true};

static lacis_range real(double lo, double hi)
{
    return isnan(lo) || isnan(hi) ? unknown : (lacis_range){.real_lo = lo, .real_hi = hi};
}

static bool infinite(lacis_range x)
{
    return isinf(x.real_lo) || isinf(x.real_hi);
}

static bool has_zero(lacis_range x)
{
    return x.real_lo <= 0 && x.real_hi >= 0;
}

/* libm is right to a few units in the last place. */
static lacis_range widened(lacis_dtype dtype, double lo, double hi)
{
    double slack = dtype == LACIS_F32 ? 1e-6 : 4e-15, tiny = dtype == LACIS_F32 ? 0x1p-149 : 0x1p-1074;
    double low = isinf(lo) ? lo : lo - fabs(lo) * slack - tiny;
    double high = isinf(hi) ? hi : hi + fabs(hi) * slack + tiny;
    return real(low, high);
}

/* The hull of a function, monotone in each operand, at the four corners. */
static lacis_range corners(double p, double q, double r, double s)
{
    if (isnan(p) || isnan(q) || isnan(r) || isnan(s)) return unknown;
    return real(fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)));
}

static lacis_range add_reals(lacis_range x, lacis_range y)
{
    bool apart =
        (x.real_lo == -INFINITY && y.real_hi == INFINITY) || (x.real_hi == INFINITY && y.real_lo == -INFINITY);
    return apart ? unknown : real(x.real_lo + y.real_lo, x.real_hi + y.real_hi);
}

static lacis_range negate(lacis_range x)
{
    return real(-x.real_hi, -x.real_lo);
}

static lacis_range multiply_reals(lacis_range x, lacis_range y)
{
    if ((has_zero(x) && infinite(y)) || (has_zero(y) && infinite(x))) return unknown;
    return corners(x.real_lo * y.real_lo, x.real_lo * y.real_hi, x.real_hi * y.real_lo, x.real_hi * y.real_hi);
}

static lacis_range divide_reals(lacis_range x, lacis_range y)
{
    if (has_zero(y) || (infinite(x) && infinite(y))) return unknown;
    return corners(x.real_lo / y.real_lo, x.real_lo / y.real_hi, x.real_hi / y.real_lo, x.real_hi / y.real_hi);
}

static double size(lacis_range x)
{
    return fmax(fabs(x.real_lo), fabs(x.real_hi));
}

static lacis_range absolute_real(lacis_range x)
{
    double nearest = has_zero(x) ? 0 : fmin(fabs(x.real_lo), fabs(x.real_hi));
    return real(nearest, size(x));
}

static lacis_range remainder_of_reals(lacis_range x, lacis_range y)
{
    if (has_zero(y) || infinite(x)) return unknown;
    double most_size = fmin(size(x), size(y));
    return real(x.real_lo < 0 ? -most_size : 0, x.real_hi > 0 ? most_size : 0);
}

static lacis_range power(lacis_dtype dtype, lacis_range x, lacis_range y)
{
    if (x.real_lo <= 0) return unknown;
    lacis_range hull = corners(pow(x.real_lo, y.real_lo), pow(x.real_lo, y.real_hi), pow(x.real_hi, y.real_lo),
                               pow(x.real_hi, y.real_hi));
    return widened(dtype, hull.real_lo, hull.real_hi);
}

static lacis_range hypotenuse(lacis_dtype dtype, lacis_range x, lacis_range y)
{
    x = absolute_real(x);
    y = absolute_real(y);
    return widened(dtype, hypot(x.real_lo, y.real_lo), hypot(x.real_hi, y.real_hi));
}

/* A rising function of one operand from libm that is NaN below `from`. */
static lacis_range rising(lacis_dtype dtype, lacis_range x, double (*fn)(double), double from)
{
    return x.real_lo < from ? unknown : widened(dtype, fn(x.real_lo), fn(x.real_hi));
}

static lacis_range unary_real(lacis_node_op op, lacis_dtype dtype, lacis_range x)
{
    switch (op) {
    case LACIS_NODE_NEG:
        return negate(x);
    case LACIS_NODE_ABS:
        return absolute_real(x);
    case LACIS_NODE_SIGN:
        return real((x.real_lo > 0) - (x.real_lo < 0), (x.real_hi > 0) - (x.real_hi < 0));
    case LACIS_NODE_SQRT:
        return rising(dtype, x, sqrt, 0);
    case LACIS_NODE_EXP:
        return rising(dtype, x, exp, -INFINITY);
    case LACIS_NODE_LN:
        return rising(dtype, x, log, 0);
    case LACIS_NODE_LOG2:
        return rising(dtype, x, log2, 0);
    case LACIS_NODE_LOG10:
        return rising(dtype, x, log10, 0);
    case LACIS_NODE_FLOOR:
        return real(floor(x.real_lo), floor(x.real_hi));
    case LACIS_NODE_CEIL:
        return real(ceil(x.real_lo), ceil(x.real_hi));
    case LACIS_NODE_ROUND:
        return real(round(x.real_lo), round(x.real_hi));
    case LACIS_NODE_SIN:
    case LACIS_NODE_COS:
        return infinite(x) ? unknown : real(-1, 1);
    case LACIS_NODE_TAN:
        return infinite(x) ? unknown : real(-INFINITY, INFINITY);
    case LACIS_NODE_TANH:
        return rising(dtype, x, tanh, -INFINITY);
    case LACIS_NODE_TO_REAL:
        return x;
    default:
        return unknown;
    }
}

static lacis_range binary_real(lacis_node_op op, lacis_dtype dtype, lacis_range x, lacis_range y)
{
    switch (op) {
    case LACIS_NODE_ADD:
        return add_reals(x, y);
    case LACIS_NODE_SUB:
        return add_reals(x, negate(y));
    case LACIS_NODE_MUL:
        return multiply_reals(x, y);
    case LACIS_NODE_DIV:
        return divide_reals(x, y);
    case LACIS_NODE_MOD:
        return remainder_of_reals(x, y);
    case LACIS_NODE_MIN:
        return real(fmin(x.real_lo, y.real_lo), fmin(x.real_hi, y.real_hi));
    case LACIS_NODE_MAX:
        return real(fmax(x.real_lo, y.real_lo), fmax(x.real_hi, y.real_hi));
    case LACIS_NODE_POW:
        return power(dtype, x, y);
    case LACIS_NODE_ATAN2:
        return widened(dtype, -M_PI, M_PI);
    case LACIS_NODE_HYPOT:
        return hypotenuse(dtype, x, y);
    default:
        return unary_real(op, dtype, x);
    }
}

/* To float and back. A function of its own, never inlined: gcc 12 at -O3 drops the conversions from a pair of them
 * side by side (it vectorises the two and then takes float and back for nothing). */
static __attribute__((noinline)) double rounded(double value)
{
    return (double)(float)value;
}

/* For operands that cannot be NaN; with one that can, nothing is known. */
lacis_range lacis_range_real(lacis_node_op op, lacis_dtype dtype, lacis_range x, lacis_range y)
{
    if (x.nan || y.nan) return unknown;
    lacis_range range = binary_real(op, dtype, x, y);
    if (dtype == LACIS_F32) { /* rounding is monotone, and rounding twice harmless for + - * / sqrt of floats */
        range.real_lo = rounded(range.real_lo);
        range.real_hi = rounded(range.real_hi);
    }
    return range;
}
