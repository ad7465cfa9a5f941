/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposition in tiles as wide as a vector register: of T registers, halves are interleaved log2(T) times. Called
 * by convert.c for pieces of a few dozen lanes.
 */
#include "convert/inside.h"

#include <string.h>

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX2__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
enum { TILE4 = WIDTH / 4, TILE8 = WIDTH / 8 };

typedef uint32_t word4;
typedef uint64_t word8;
typedef struct word16 {
    uint64_t half[2];
} word16;
typedef struct word32 {
    word8 part[4];
} word32;
typedef word4 vector4 __attribute__((vector_size(WIDTH)));
typedef word8 vector8 __attribute__((vector_size(WIDTH)));

/* Element k of a followed by element k of b, for the lower or upper half of both. */
#define INTERLEAVE(name, vector, word, tile)                                                                         \
    static inline vector name(vector a, vector b, int upper)                                                         \
    {                                                                                                                \
        vector mask;                                                                                                 \
        for (int k = 0; k < (tile); k++)                                                                             \
            mask[k] = (word)((k & 1) * (tile) + k / 2 + upper * ((tile) / 2));                                       \
        return __builtin_shuffle(a, b, mask);                                                                        \
    }
INTERLEAVE(interleave4, vector4, word4, TILE4)
INTERLEAVE(interleave8, vector8, word8, TILE8)

/* Unrolled, so that rows stay in registers. */
#define UNROLL _Pragma("GCC unroll 16")
#define TILE_FUNCTION(name, vector, word, tile, interleave)                                                          \
    static inline void name(const word *from, int64_t from_stride, word *to, int64_t to_stride)                      \
    {                                                                                                                \
        vector row[tile], next[tile];                                                                                \
        UNROLL for (int i = 0; i < (tile); i++) memcpy(&row[i], from + i * from_stride, sizeof(vector));             \
        UNROLL for (int step = 1; step < (tile); step *= 2)                                                          \
        {                                                                                                            \
            UNROLL for (int i = 0; i < (tile) / 2; i++)                                                              \
            {                                                                                                        \
                next[2 * i] = interleave(row[i], row[i + (tile) / 2], 0);                                            \
                next[2 * i + 1] = interleave(row[i], row[i + (tile) / 2], 1);                                        \
            }                                                                                                        \
            UNROLL for (int i = 0; i < (tile); i++) row[i] = next[i];                                                \
        }                                                                                                            \
        UNROLL for (int i = 0; i < (tile); i++) memcpy(to + i * to_stride, &row[i], sizeof(vector));                 \
    }
TILE_FUNCTION(tile4, vector4, word4, TILE4, interleave4)
TILE_FUNCTION(tile8, vector8, word8, TILE8, interleave8)

/* Element by element: what tiles leave over, and elements that have none. */
#define SCALAR_FUNCTION(name, word)                                                                                  \
    static void name(const word *from, int64_t from_stride, word *to, int64_t to_stride, int64_t m, int64_t n)       \
    {                                                                                                                \
        for (int64_t j = 0; j < n; j++)                                                                              \
            for (int64_t i = 0; i < m; i++)                                                                          \
                to[j * to_stride + i] = from[i * from_stride + j];                                                   \
    }
SCALAR_FUNCTION(scalar1, uint8_t)
SCALAR_FUNCTION(scalar2, uint16_t)
SCALAR_FUNCTION(scalar4, word4)
SCALAR_FUNCTION(scalar8, word8)
SCALAR_FUNCTION(scalar16, word16)
SCALAR_FUNCTION(scalar32, word32)

#define TILED_FUNCTION(name, word, tile, one, scalar)                                                                \
    static void name(const word *from, int64_t from_stride, word *to, int64_t to_stride, int64_t m, int64_t n)       \
    {                                                                                                                \
        int64_t whole_m = m / (tile) * (tile), whole_n = n / (tile) * (tile);                                        \
        for (int64_t j = 0; j < whole_n; j += (tile))                                                                \
            for (int64_t i = 0; i < whole_m; i += (tile))                                                            \
                one(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);                     \
        scalar(from + whole_m * from_stride, from_stride, to + whole_m, to_stride, m - whole_m, whole_n);            \
        scalar(from + whole_n, from_stride, to + whole_n * to_stride, to_stride, m, n - whole_n);                    \
    }
TILED_FUNCTION(tiled4, word4, TILE4, tile4, scalar4)
TILED_FUNCTION(tiled8, word8, TILE8, tile8, scalar8)

void LACIS_ISA(lacis_convert_transpose)(const void *from, int64_t from_stride, void *to, int64_t to_stride, int64_t m,
                                        int64_t n, size_t size)
{
    switch (size) {
    case 1:
        scalar1(from, from_stride, to, to_stride, m, n);
        break;
    case 2:
        scalar2(from, from_stride, to, to_stride, m, n);
        break;
    case 4:
        tiled4(from, from_stride, to, to_stride, m, n);
        break;
    case 8:
        tiled8(from, from_stride, to, to_stride, m, n);
        break;
    case 16:
        scalar16(from, from_stride, to, to_stride, m, n);
        break;
    case 32:
        scalar32(from, from_stride, to, to_stride, m, n);
        break;
    default:
        break;
    }
}
