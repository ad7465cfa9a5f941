/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of doubles without rounding, after Kulisch: a fixed-point number of 68 digits of 32 bits, digit i in units of
 * 2^(32 i - 1088). That reaches below the least double (2^-1074) and 64 bits above the greatest. Digits are signed
 * and 64 bits wide; what is added to one is less than 2^32, and carries are moved on when one of them leaves 2^61.
 */
#include "sweep/sweep.h"

#include <math.h>
#include <string.h>

enum { DIGIT = 32, LOWEST = -1088, LEAST = -1074, MANTISSA = 53 };
#define ROOM ((int64_t)1 << 61)

void lacis_sweep_exact_settle(lacis_sweep_exact *sum)
{
    int64_t carry = 0;
    for (int i = 0; i < LACIS_SWEEP_DIGITS - 1; i++) {
        const int64_t digit = sum->digit[i] + carry, low = digit & 0xffffffff;
        sum->digit[i] = low;
        carry = (digit - low) / ((int64_t)1 << DIGIT);
    }
    sum->digit[LACIS_SWEEP_DIGITS - 1] += carry;
}

void lacis_sweep_exact_add(lacis_sweep_exact *sum, double value)
{
    if (!isfinite(value)) {
        sum->special[isnan(value) ? 2 : value < 0 ? 1 : 0]++;
        return;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const uint64_t mantissa = (bits & 0xfffffffffffff) | (exponent != 0 ? (uint64_t)1 << 52 : 0);
    const int place = (exponent != 0 ? exponent - 1 : 0) + LEAST - LOWEST, first = place / DIGIT;
    unsigned __int128 shifted = (unsigned __int128)mantissa << place % DIGIT;
    bool full = false;
    for (int i = first; i < first + 3; i++) {
        const int64_t part = (int64_t)(uint32_t)shifted;
        sum->digit[i] += bits >> 63 ? -part : part;
        full |= sum->digit[i] >= ROOM || sum->digit[i] <= -ROOM;
        shifted >>= DIGIT;
    }
    if (full) lacis_sweep_exact_settle(sum);
}

void lacis_sweep_exact_merge(lacis_sweep_exact *sum, const lacis_sweep_exact *other)
{
    lacis_sweep_exact settled = *other;
    lacis_sweep_exact_settle(&settled);
    lacis_sweep_exact_settle(sum);
    for (int i = 0; i < LACIS_SWEEP_DIGITS; i++)
        sum->digit[i] += settled.digit[i];
    for (int i = 0; i < 3; i++)
        sum->special[i] += settled.special[i];
    lacis_sweep_exact_settle(sum);
}

static bool bit_at(const lacis_sweep_exact *sum, int place)
{
    return place >= 0 && (sum->digit[place / DIGIT] >> place % DIGIT & 1);
}

static bool any_below(const lacis_sweep_exact *sum, int place)
{
    for (int i = 0; i * DIGIT < place; i++) {
        const int left = place - i * DIGIT;
        const int64_t mask = left >= DIGIT ? 0xffffffff : ((int64_t)1 << left) - 1;
        if (sum->digit[i] & mask) return true;
    }
    return false;
}

/* The highest bit that is set; -1: none. All digits are settled and not negative. */
static int highest(const lacis_sweep_exact *sum)
{
    for (int i = LACIS_SWEEP_DIGITS - 1; i >= 0; i--)
        if (sum->digit[i] != 0) return i * DIGIT + 63 - __builtin_clzll((unsigned long long)sum->digit[i]);
    return -1;
}

/* Of a settled sum that is not negative, to the nearest, ties to even. */
static double nearest(const lacis_sweep_exact *sum)
{
    const int top = highest(sum),
              lowest = top - (MANTISSA - 1) > LEAST - LOWEST ? top - (MANTISSA - 1) : LEAST - LOWEST;
    if (top < 0) return 0;
    if (top > 1023 - LOWEST) return INFINITY;
    uint64_t mantissa = 0;
    for (int place = top; place >= lowest; place--)
        mantissa = mantissa << 1 | bit_at(sum, place);
    const bool half = bit_at(sum, lowest - 1), more = any_below(sum, lowest - 1), odd = mantissa & 1;
    if (half && (more || odd)) mantissa++;
    return ldexp((double)mantissa, lowest + LOWEST);
}

double lacis_sweep_exact_round(const lacis_sweep_exact *sum)
{
    const int64_t *special = sum->special;
    if (special[2] > 0 || (special[0] > 0 && special[1] > 0)) return NAN;
    if (special[0] > 0 || special[1] > 0) return special[0] > 0 ? INFINITY : -INFINITY;
    lacis_sweep_exact settled = *sum;
    lacis_sweep_exact_settle(&settled);
    if (settled.digit[LACIS_SWEEP_DIGITS - 1] >= 0) return nearest(&settled);
    for (int i = 0; i < LACIS_SWEEP_DIGITS; i++)
        settled.digit[i] = -settled.digit[i];
    lacis_sweep_exact_settle(&settled);
    return -nearest(&settled);
}

void lacis_sweep_change_merge(lacis_sweep_change *change, const lacis_sweep_change *other)
{
    if (isnan(other->max) || other->max > change->max) change->max = other->max;
    lacis_sweep_exact_merge(&change->squares, &other->squares);
}
