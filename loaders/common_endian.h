/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers at any address of binary files, in the machine's order of bytes or the other one. Used by tipsy.c and
 * gadget.c.
 */
#ifndef LACIS_LOADERS_ENDIAN_H
#define LACIS_LOADERS_ENDIAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t lacis_get_u32(const char *at, bool swap)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return swap ? __builtin_bswap32(word) : word;
}

static inline uint64_t lacis_get_u64(const char *at, bool swap)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return swap ? __builtin_bswap64(word) : word;
}

static inline float lacis_get_f32(const char *at, bool swap)
{
    uint32_t word = lacis_get_u32(at, swap);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static inline double lacis_get_f64(const char *at, bool swap)
{
    uint64_t word = lacis_get_u64(at, swap);
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

#endif
