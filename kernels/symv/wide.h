/* SPDX-License-Identifier: Apache-2.0
 *
 * Double-double numbers in vectors: how parts that lie side by side in memory come into vectors of their own. Of type
 * W the numbers' order in these is that of halves taken in turn, which is as good as any while matrix and vectors
 * have the same; vectors of the other types lie by planes in the room. Included after number.h.
 */
#include "symv/vector.h"

#define PLANES (MATRIX != 2)

typedef struct wide {
    vec hi, lo;
} wide;

/* `vectors` vectors, or only the first `count` scalars of them. */
ALWAYS void wide_raw(const T *from, int vectors, int count, vec *out)
{
    for (int v = 0; v < vectors; v++) {
        const int rest = count - v * WIDTH;
        out[v] = vec_first(from + v * WIDTH, rest < 0 ? 0 : rest < WIDTH ? rest : WIDTH);
    }
}

/* Parts side by side in two vectors, apart; and put together again: it is its own inverse. */
ALWAYS void wide_turn(const vec *in, vec *out)
{
    typedef int64_t places __attribute__((vector_size(VECTOR_BYTES)));
    places even, odd;
    for (int i = 0; i < WIDTH; i += 2) {
        even[i] = i;
        even[i + 1] = WIDTH + i;
        odd[i] = i + 1;
        odd[i + 1] = WIDTH + i + 1;
    }
    const vec first = in[0], second = in[1];
    out[0] = __builtin_shuffle(first, second, even);
    out[1] = __builtin_shuffle(first, second, odd);
}

#if MATRIX == 4
/* Four parts side by side, in order. */
ALWAYS void wide_turn_complex(const vec *in, vec *out)
{
#if defined(__AVX512F__)
    for (int half = 0; half < 2; half++) {
        const __m512i pick =
            half == 0 ? _mm512_setr_epi64(0, 4, 8, 12, 2, 6, 10, 14) : _mm512_setr_epi64(1, 5, 9, 13, 3, 7, 11, 15);
        const __m512d a = _mm512_permutex2var_pd((__m512d)in[0], pick, (__m512d)in[1]);
        const __m512d b = _mm512_permutex2var_pd((__m512d)in[2], pick, (__m512d)in[3]);
        out[half] = (vec)_mm512_shuffle_f64x2(a, b, 0x44);
        out[2 + half] = (vec)_mm512_shuffle_f64x2(a, b, 0xee);
    }
#else
    T flat[4 * WIDTH], plane[4][WIDTH];
    memcpy(flat, in, sizeof flat);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < WIDTH; i++)
            plane[k][i] = flat[4 * i + k];
    memcpy(out, plane, sizeof plane);
#endif
}
#endif

/* `count` elements of a column. */
ALWAYS void wide_elements(const E *from, int count, vec *out)
{
#if MATRIX == 1
    out[0] = count == WIDTH ? vec_of(from) : vec_of_some(from, count);
#else
    vec raw[MATRIX];
    wide_raw(from, MATRIX, count * MATRIX, raw);
#if MATRIX == 2
    wide_turn(raw, out);
#else
    wide_turn_complex(raw, out);
#endif
#endif
}

/* Rows [i, i + count) of a vector in the room. */
ALWAYS void wide_rows(const T *from, int64_t stride, int64_t i, int count, vec *out)
{
#if PLANES
    for (int k = 0; k < PARTS; k++)
        out[k] = vec_first(from + k * stride + i, count);
#else
    vec raw[PARTS];
    (void)stride;
    wide_raw(from + i * PARTS, PARTS, count * PARTS, raw);
    wide_turn(raw, out);
#endif
}

ALWAYS void wide_rows_put(T *to, int64_t stride, int64_t i, int count, const vec *in)
{
#if PLANES
    for (int k = 0; k < PARTS; k++)
        vec_put_first(to + k * stride + i, in[k], count);
#else
    vec raw[PARTS];
    (void)stride;
    wide_turn(in, raw);
    for (int v = 0; v < PARTS; v++) {
        const int rest = count * PARTS - v * WIDTH;
        vec_put_first(to + i * PARTS + v * WIDTH, raw[v], rest < 0 ? 0 : rest < WIDTH ? rest : WIDTH);
    }
#endif
}

/* Lanes in the rows' own order as wide_rows has them. */
ALWAYS vec wide_ordered(vec value)
{
#if PLANES
    return value;
#else
    typedef int64_t places __attribute__((vector_size(VECTOR_BYTES)));
    places from;
    for (int i = 0; i < WIDTH; i++)
        from[i] = i / 2 + i % 2 * (WIDTH / 2);
    return __builtin_shuffle(value, from);
#endif
}
