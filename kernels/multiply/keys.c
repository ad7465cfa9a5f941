/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys of column << 32 | number sorted by column: insertion for a few, else from the lowest digit of eight bits up.
 * For hash rows and for the top of a row.
 */
#include "multiply/inside.h"

#include <string.h>

enum { FEW = 24, DIGIT = 8, DIGITS = 1 << DIGIT };

static void insertion(uint64_t *keys, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        int64_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

static void pass(const uint64_t *from, uint64_t *to, int64_t n, int shift)
{
    uint32_t start[DIGITS] = {0};
    for (int64_t i = 0; i < n; i++)
        start[from[i] >> shift & (DIGITS - 1)]++;
    uint32_t sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        const uint32_t count = start[d];
        start[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[start[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

uint64_t *lacis_mul_sort_keys(uint64_t *keys, uint64_t *other, int64_t n, uint64_t highest)
{
    if (n <= FEW) {
        insertion(keys, n);
        return keys;
    }
    for (int shift = 32; shift < 64 && highest >> shift != 0; shift += DIGIT) {
        pass(keys, other, n, shift);
        uint64_t *const swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}
