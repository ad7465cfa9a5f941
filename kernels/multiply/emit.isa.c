/* SPDX-License-Identifier: Apache-2.0
 *
 * A dense window turned into rising (column, value) entries, and emptied on the way. Called from dense rows. Blocks
 * of 64 columns: a mask of the touched cells, then columns and values compressed in registers and stored whole (so up
 * to MUL_PAD entries past the end are written): compressing stores are microcode on Zen 4. With AVX-512 VBMI2 columns
 * are compressed as bytes, 64 at once. Only blocks that a flag byte names are looked at, where there are flags.
 */
#include "multiply/loops.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

/* The touched cells of a block of 64, as bits. */
#if defined(__AVX512BW__)
INLINE uint64_t differing(const char *cells, int cell, uint64_t empty)
{
    if (cell == 0) {
        const __m512i v = _mm512_loadu_si512(cells);
        return _mm512_test_epi8_mask(v, v);
    }
    uint64_t mask = 0;
    const int lanes = 64 >> cell;
    const __m512i none = cell == 3 ? _mm512_set1_epi64((int64_t)empty) : _mm512_set1_epi32((int32_t)empty);
    for (int i = 0; i < 64 / lanes; i++) {
        const __m512i v = _mm512_loadu_si512(cells + i * 64);
        const uint64_t bits = cell == 1   ? _mm512_test_epi16_mask(v, v)
                              : cell == 2 ? _mm512_cmpneq_epi32_mask(v, none)
                                          : _mm512_cmpneq_epi64_mask(v, none);
        mask |= bits << (i * lanes);
    }
    return mask;
}

INLINE uint64_t touched(const uint8_t *touch)
{
    const __m512i v = _mm512_loadu_si512(touch);
    return _mm512_test_epi8_mask(v, v);
}
#else
INLINE uint64_t nonzero_bytes(const void *bytes)
{
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) {
        const __m128i v = _mm_loadu_si128((const __m128i *)bytes + i);
        const int zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128()));
        mask |= (uint64_t)(~zeros & 0xffff) << (i * 16);
    }
    return mask;
}

INLINE uint64_t differing(const char *cells, int cell, uint64_t empty)
{
    if (cell == 0) return nonzero_bytes(cells);
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) {
        const uint64_t bit = cell == 1   ? ((const uint16_t *)cells)[i] != 0
                             : cell == 2 ? ((const uint32_t *)cells)[i] != (uint32_t)empty
                                         : ((const uint64_t *)cells)[i] != empty;
        mask |= bit << i;
    }
    return mask;
}

INLINE uint64_t touched(const uint8_t *touch)
{
    return nonzero_bytes(touch);
}
#endif

INLINE void empty_block(char *cells, int cell, uint64_t empty)
{
    uint64_t pattern = empty;
    if (cell == 2) pattern = (uint64_t)(uint32_t)empty << 32 | (uint32_t)empty;
    uint64_t *words = (uint64_t *)cells;
    for (int i = 0; i < 8 << cell; i++)
        words[i] = pattern;
}

/* The flags of 64 blocks as bits, cleared. */
INLINE uint64_t take_flags(uint8_t *flags, int64_t blocks)
{
    const uint64_t all = blocks >= 64 ? UINT64_MAX : (1ULL << blocks) - 1;
    if (!flags) return all;
    const uint64_t mask = touched(flags) & all;
    if (mask) memset(flags, 0, 64);
    return mask;
}

#if defined(__AVX512BW__)
INLINE void store_wide(void *to, int store, int64_t at, __m512i v)
{
    if (store == 0)
        _mm_storeu_si128((__m128i *)((char *)to + at), _mm512_cvtepi32_epi8(v));
    else if (store == 1)
        _mm256_storeu_si256((__m256i *)((char *)to + at * 2), _mm512_cvtepi32_epi16(v));
    else
        _mm512_storeu_si512((char *)to + at * 4, v);
}

/* Columns and values of 16 cells at a time. */
INLINE void put_block_words(const char *cells, int cell, int store, uint64_t mask, uint32_t first, uint32_t *column,
                            char *value)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    int64_t at = 0;
    for (int i = 0; i < 4; i++) {
        const __mmask16 k = (__mmask16)(mask >> (16 * i));
        const __m512i t = _mm512_add_epi32(iota, _mm512_set1_epi32((int32_t)(first + 16 * (uint32_t)i)));
        _mm512_storeu_si512(column + at, _mm512_maskz_compress_epi32(k, t));
        if (cell == 3) {
            const int low = __builtin_popcount(k & 0xff);
            const __m512i x = _mm512_loadu_si512(cells + i * 128), y = _mm512_loadu_si512(cells + i * 128 + 64);
            _mm512_storeu_si512(value + at * 8, _mm512_maskz_compress_epi64((__mmask8)k, x));
            _mm512_storeu_si512(value + (at + low) * 8, _mm512_maskz_compress_epi64((__mmask8)(k >> 8), y));
        } else {
            const __m512i v = cell == 0   ? _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)cells + i))
                              : cell == 1 ? _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)cells + i))
                                          : _mm512_loadu_si512(cells + i * 64);
            store_wide(value, store, at, _mm512_maskz_compress_epi32(k, v));
        }
        at += __builtin_popcount(k);
    }
}

#define VBMI2 __attribute__((target("avx512vbmi2")))

VBMI2 static inline void put_columns(uint64_t mask, int n, uint32_t first, uint32_t *column)
{
    static const uint8_t numbers[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i t = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(numbers));
    const __m512i base = _mm512_set1_epi32((int32_t)first);
    _mm512_storeu_si512(column, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(t))));
    if (n <= 16) return;
    _mm512_storeu_si512(column + 16, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(t, 1))));
    if (n <= 32) return;
    _mm512_storeu_si512(column + 32, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(t, 2))));
    _mm512_storeu_si512(column + 48, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(t, 3))));
}

/* Values of 64 counts of a byte. */
VBMI2 static inline void put_bytes(const char *cells, int store, uint64_t mask, int n, char *value)
{
    const __m512i v = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(cells));
    if (store == 0) {
        _mm512_storeu_si512(value, v);
    } else if (store == 1) {
        _mm512_storeu_si512(value, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(v)));
        if (n > 32) _mm512_storeu_si512(value + 64, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(v, 1)));
    } else {
        _mm512_storeu_si512(value, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(v)));
        if (n > 16) _mm512_storeu_si512(value + 64, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(v, 1)));
        if (n > 32) {
            _mm512_storeu_si512(value + 128, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(v, 2)));
            _mm512_storeu_si512(value + 192, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(v, 3)));
        }
    }
}

INLINE void put_values_words(const char *cells, int cell, int store, uint64_t mask, char *value)
{
    int64_t at = 0;
    const int lanes = cell == 3 ? 8 : 16;
    for (int i = 0; i < 64 / lanes; i++) {
        const uint64_t k = mask >> (lanes * i) & ((1ULL << lanes) - 1);
        if (cell == 3) {
            const __m512i v = _mm512_loadu_si512(cells + i * 64);
            _mm512_storeu_si512(value + at * 8, _mm512_maskz_compress_epi64((__mmask8)k, v));
        } else {
            const __m512i v = cell == 1 ? _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)cells + i))
                                        : _mm512_loadu_si512(cells + i * 64);
            store_wide(value, store, at, _mm512_maskz_compress_epi32((__mmask16)k, v));
        }
        at += __builtin_popcountll(k);
    }
}

VBMI2 static inline void put_block_bytes(const char *cells, int cell, int store, uint64_t mask, int n, uint32_t first,
                                         uint32_t *column, char *value)
{
    put_columns(mask, n, first, column);
    if (cell == 0)
        put_bytes(cells, store, mask, n, value);
    else
        put_values_words(cells, cell, store, mask, value);
}
#else
INLINE void put_block_words(const char *cells, int cell, int store, uint64_t mask, uint32_t first, uint32_t *column,
                            char *value)
{
    for (int64_t at = 0; mask; mask &= mask - 1, at++) {
        const int i = __builtin_ctzll(mask);
        column[at] = first + (uint32_t)i;
        if (cell == 3) {
            ((uint64_t *)value)[at] = ((const uint64_t *)cells)[i];
            continue;
        }
        const uint32_t v = cell == 0   ? ((const uint8_t *)cells)[i]
                           : cell == 1 ? ((const uint16_t *)cells)[i]
                                       : ((const uint32_t *)cells)[i];
        if (store == 0)
            ((uint8_t *)value)[at] = (uint8_t)v;
        else if (store == 1)
            ((uint16_t *)value)[at] = (uint16_t)v;
        else
            ((uint32_t *)value)[at] = v;
    }
}
#define VBMI2
#endif

/* One loop for every kind of cell: PUT writes a block. */
#define EMIT_LOOP(PUT)                                                                                               \
    int64_t at = 0;                                                                                                  \
    const int64_t blocks = (window->n + MUL_BLOCK - 1) / MUL_BLOCK;                                                  \
    for (int64_t group = 0; group < blocks; group += 64) {                                                           \
        uint64_t todo = take_flags(window->flags ? window->flags + group : NULL, blocks - group);                    \
        for (; todo; todo &= todo - 1) {                                                                             \
            const int64_t block = group + __builtin_ctzll(todo);                                                     \
            char *const cells = (char *)window->cells + ((block * MUL_BLOCK) << cell);                               \
            const uint64_t mask =                                                                                    \
                touch ? touched(window->touch + block * MUL_BLOCK) : differing(cells, cell, window->empty);          \
            if (!mask) continue;                                                                                     \
            const int n = __builtin_popcountll(mask);                                                                \
            const uint32_t first = window->first + (uint32_t)(block * MUL_BLOCK);                                    \
            uint32_t *const to_column = column + at;                                                                 \
            char *const to_value = (char *)value + (at << store);                                                    \
            PUT;                                                                                                     \
            empty_block(cells, cell, window->empty);                                                                 \
            if (touch) memset(window->touch + block * MUL_BLOCK, 0, MUL_BLOCK);                                      \
            at += n;                                                                                                 \
        }                                                                                                            \
    }                                                                                                                \
    return at

typedef int64_t (*emit_fn)(const mul_window *window, uint32_t *column, void *value);

#define EMIT(name, CELL, STORE, TOUCH)                                                                               \
    static int64_t name##_words(const mul_window *window, uint32_t *column, void *value)                             \
    {                                                                                                                \
        enum { cell = CELL, store = STORE, touch = TOUCH };                                                          \
        EMIT_LOOP(put_block_words(cells, cell, store, mask, first, to_column, to_value));                            \
    }                                                                                                                \
    EMIT_BYTES(name, CELL, STORE, TOUCH)

#if defined(__AVX512BW__)
#define EMIT_BYTES(name, CELL, STORE, TOUCH)                                                                         \
    VBMI2 static int64_t name##_bytes(const mul_window *window, uint32_t *column, void *value)                       \
    {                                                                                                                \
        enum { cell = CELL, store = STORE, touch = TOUCH };                                                          \
        EMIT_LOOP(put_block_bytes(cells, cell, store, mask, n, first, to_column, to_value));                         \
    }
#define BOTH(name)                                                                                                   \
    {                                                                                                                \
        name##_words, name##_bytes                                                                                   \
    }
#else
#define EMIT_BYTES(name, CELL, STORE, TOUCH)
#define BOTH(name)                                                                                                   \
    {                                                                                                                \
        name##_words, name##_words                                                                                   \
    }
#endif

EMIT(emit_00, 0, 0, 0)
EMIT(emit_01, 0, 1, 0)
EMIT(emit_02, 0, 2, 0)
EMIT(emit_10, 1, 0, 0)
EMIT(emit_11, 1, 1, 0)
EMIT(emit_12, 1, 2, 0)
EMIT(emit_20, 2, 0, 0)
EMIT(emit_21, 2, 1, 0)
EMIT(emit_22, 2, 2, 0)
EMIT(emit_33, 3, 3, 0)
EMIT(emit_22_touch, 2, 2, 1)
EMIT(emit_33_touch, 3, 3, 1)

/* Cells of 16 bytes, which are always marked where touched. */
static int64_t emit_pairs(const mul_window *window, uint32_t *column, void *value)
{
    mul_pair empty;
    mul_pair *const to = value;
    int64_t at = 0;
    const int64_t blocks = (window->n + MUL_BLOCK - 1) / MUL_BLOCK;
    memcpy(&empty.re, &window->empty, sizeof empty.re);
    memcpy(&empty.im, &window->empty_high, sizeof empty.im);
    for (int64_t group = 0; group < blocks; group += 64) {
        uint64_t todo = take_flags(window->flags ? window->flags + group : NULL, blocks - group);
        for (; todo; todo &= todo - 1) {
            const int64_t block = (group + __builtin_ctzll(todo)) * MUL_BLOCK;
            mul_pair *const cells = (mul_pair *)window->cells + block;
            for (uint64_t mask = touched(window->touch + block); mask; mask &= mask - 1) {
                const int i = __builtin_ctzll(mask);
                column[at] = window->first + (uint32_t)block + (uint32_t)i;
                to[at++] = cells[i];
                cells[i] = empty;
            }
            memset(window->touch + block, 0, MUL_BLOCK);
        }
    }
    return at;
}

int64_t LACIS_ISA(lacis_mul_emit)(const mul_window *window, int cell, int store, uint32_t *column, void *value)
{
    static const emit_fn counts[3][3][2] = {{BOTH(emit_00), BOTH(emit_01), BOTH(emit_02)},
                                            {BOTH(emit_10), BOTH(emit_11), BOTH(emit_12)},
                                            {BOTH(emit_20), BOTH(emit_21), BOTH(emit_22)}};
    static const emit_fn eights[2] = BOTH(emit_33);
    static const emit_fn marked[2][2] = {BOTH(emit_22_touch), BOTH(emit_33_touch)};
    const int bytes = window->byte_compress;
    if (cell == 4) return emit_pairs(window, column, value);
    if (window->touch) return marked[cell == 3][bytes](window, column, value);
    return (cell == 3 ? eights : counts[cell][store])[bytes](window, column, value);
}

/* --- the top of a row, straight from its counts --------------------------------------------------- */

INLINE uint64_t above(const char *cells, int cell, uint32_t least)
{
#if defined(__AVX512BW__)
    if (cell == 0) return _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(cells), _mm512_set1_epi8((char)least));
    uint64_t mask = 0;
    const int lanes = 64 >> cell;
    for (int i = 0; i < 64 / lanes; i++) {
        const __m512i v = _mm512_loadu_si512(cells + i * 64);
        const uint64_t bits = cell == 1 ? _mm512_cmpgt_epu16_mask(v, _mm512_set1_epi16((short)least))
                                        : _mm512_cmpgt_epu32_mask(v, _mm512_set1_epi32((int32_t)least));
        mask |= bits << (i * lanes);
    }
    return mask;
#else
    (void)least;
    return differing(cells, cell, 0);
#endif
}

INLINE uint32_t count_at(const char *cells, int cell, int i)
{
    return cell == 0   ? ((const uint8_t *)cells)[i]
           : cell == 1 ? ((const uint16_t *)cells)[i]
                       : ((const uint32_t *)cells)[i];
}

/* Offers the counts that `mask` names; answers what a count must exceed from now on. */
INLINE uint32_t offer_block(mul_worker *w, const char *cells, int cell, uint64_t mask, uint32_t first, uint32_t least)
{
    const mul_sink *sink = &w->sink;
    for (; mask; mask &= mask - 1) {
        const int i = __builtin_ctzll(mask);
        const uint32_t count = count_at(cells, cell, i);
        if (count <= least) continue;
        lacis_mul_sink_take(w, count, count, first + (uint32_t)i);
        least = sink->held == sink->capacity ? (uint32_t)sink->heap[0].key : 0;
    }
    return least;
}

/* Whether any count of four blocks is above `least`. */
INLINE bool any_above(const char *cells, int cell, uint32_t least)
{
#if defined(__AVX512BW__)
    __m512i most = _mm512_loadu_si512(cells);
    for (int i = 1; i < 4 << cell; i++) {
        const __m512i v = _mm512_loadu_si512(cells + i * 64);
        most = cell == 0   ? _mm512_max_epu8(most, v)
               : cell == 1 ? _mm512_max_epu16(most, v)
                           : _mm512_max_epu32(most, v);
    }
    return cell == 0   ? _mm512_cmpgt_epu8_mask(most, _mm512_set1_epi8((char)least)) != 0
           : cell == 1 ? _mm512_cmpgt_epu16_mask(most, _mm512_set1_epi16((short)least)) != 0
                       : _mm512_cmpgt_epu32_mask(most, _mm512_set1_epi32((int32_t)least)) != 0;
#else
    uint64_t any = 0;
    for (int i = 0; i < 4; i++)
        any |= above(cells + i * (MUL_BLOCK << cell), cell, least);
    return any != 0;
#endif
}

/* Few counts get through once the top is filled, so blocks are looked at four at a time. */
INLINE uint32_t offer_four(mul_worker *w, char *cells, int cell, uint32_t first, uint32_t least)
{
    const int64_t bytes = MUL_BLOCK << cell;
    if (any_above(cells, cell, least))
        for (int i = 0; i < 4; i++)
            least = offer_block(w, cells + i * bytes, cell, above(cells + i * bytes, cell, least),
                                first + (uint32_t)i * MUL_BLOCK, least);
    memset(cells, 0, (size_t)bytes * 4);
    return least;
}

INLINE void top_loop(mul_worker *w, const mul_window *window, int cell)
{
    const mul_sink *sink = &w->sink;
    const int64_t blocks = (window->n + MUL_BLOCK - 1) / MUL_BLOCK;
    uint32_t least = sink->held == sink->capacity ? (uint32_t)sink->heap[0].key : 0;
    int64_t group = 0;
    for (; !window->flags && group + 4 <= blocks; group += 4)
        least = offer_four(w, (char *)window->cells + ((group * MUL_BLOCK) << cell), cell,
                           window->first + (uint32_t)(group * MUL_BLOCK), least);
    for (; group < blocks; group += 64) {
        uint64_t todo = take_flags(window->flags ? window->flags + group : NULL, blocks - group);
        for (; todo; todo &= todo - 1) {
            const int64_t block = group + __builtin_ctzll(todo);
            char *const cells = (char *)window->cells + ((block * MUL_BLOCK) << cell);
            const uint32_t first = window->first + (uint32_t)(block * MUL_BLOCK);
            least = offer_block(w, cells, cell, above(cells, cell, least), first, least);
            empty_block(cells, cell, 0);
        }
    }
}

void LACIS_ISA(lacis_mul_emit_top)(mul_worker *w, const mul_window *window, int cell)
{
    if (cell == 0)
        top_loop(w, window, 0);
    else if (cell == 1)
        top_loop(w, window, 1);
    else
        top_loop(w, window, 2);
}
