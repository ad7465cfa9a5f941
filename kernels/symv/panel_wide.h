/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a panel for double-double sums, the steps of common/dd.h on vectors. Included after number.h.
 */
#include "symv/vector.h"

enum { COLUMNS = PARTS == 4 ? 2 : 4, SIDES_AT_ONCE = 1, VECTOR_ROWS = WIDTH, ACROSS = PARTS, ALONG = PARTS };

typedef struct wide {
    vec hi, lo;
} wide;

ALWAYS wide wide_two_sum(vec a, vec b)
{
    const vec s = a + b, part = s - a;
    return (wide){s, (a - (s - part)) + (b - part)};
}

ALWAYS wide wide_quick_two_sum(vec a, vec b)
{
    const vec s = a + b;
    return (wide){s, b - (s - a)};
}

ALWAYS wide wide_add(wide a, wide b, bool accurate)
{
    wide s = wide_two_sum(a.hi, b.hi);
    if (!accurate) return wide_quick_two_sum(s.hi, s.lo + (a.lo + b.lo));
    const wide t = wide_two_sum(a.lo, b.lo);
    s = wide_quick_two_sum(s.hi, s.lo + t.hi);
    return wide_quick_two_sum(s.hi, s.lo + t.lo);
}

ALWAYS wide wide_two_prod(vec a, vec b)
{
    const vec p = a * b;
#if defined(__FMA__)
    return (wide){p, vec_fma(a, b, -p)};
#else
    T rest[WIDTH];
    vec lo;
    for (int i = 0; i < WIDTH; i++)
        rest[i] = (T)__builtin_fma(a[i], b[i], -p[i]);
    memcpy(&lo, rest, sizeof lo);
    return (wide){p, lo};
#endif
}

/* The matrix's element may have no low part. */
ALWAYS wide wide_step(wide a, wide x, wide s, bool accurate)
{
    wide p = wide_two_prod(a.hi, x.hi);
    p.lo = vec_fma(a.hi, x.lo, p.lo);
    if (MATRIX > 1) p.lo = vec_fma(a.lo, x.hi, p.lo);
    return wide_add(s, p, accurate);
}

ALWAYS wide wide_minus(wide a)
{
    return (wide){-a.hi, -a.lo};
}

/* --- elements in memory ------------------------------------------------------------------------------ */

#if MATRIX == 2
/* Parts side by side in two vectors, to two planes. */
ALWAYS void wide_apart(vec first, vec second, vec *out)
{
    typedef int64_t places __attribute__((vector_size(VECTOR_BYTES)));
    places even, odd;
    for (int i = 0; i < WIDTH; i++) {
        even[i] = 2 * i;
        odd[i] = 2 * i + 1;
    }
    out[0] = __builtin_shuffle(first, second, even);
    out[1] = __builtin_shuffle(first, second, odd);
}
#endif

/* VECTOR_ROWS elements by planes, or the first of them. */
ALWAYS void wide_elements(const E *from, int count, vec *out)
{
#if MATRIX == 1
    out[0] = count == WIDTH ? vec_of(from) : vec_of_some(from, count);
#else
    vec raw[MATRIX];
    for (int v = 0; v < MATRIX; v++) {
        const int rest = count * MATRIX - v * WIDTH;
        raw[v] = count == WIDTH ? vec_at(from + v * WIDTH)
                                : vec_some(from + v * WIDTH, rest < 0       ? 0
                                                             : rest < WIDTH ? rest
                                                                            : WIDTH);
    }
#if MATRIX == 2
    wide_apart(raw[0], raw[1], out);
#elif defined(__AVX512F__)
    for (int half = 0; half < 2; half++) {
        const __m512i pick =
            half == 0 ? _mm512_setr_epi64(0, 4, 8, 12, 2, 6, 10, 14) : _mm512_setr_epi64(1, 5, 9, 13, 3, 7, 11, 15);
        const __m512d a = _mm512_permutex2var_pd((__m512d)raw[0], pick, (__m512d)raw[1]);
        const __m512d b = _mm512_permutex2var_pd((__m512d)raw[2], pick, (__m512d)raw[3]);
        out[half] = (vec)_mm512_shuffle_f64x2(a, b, 0x44);
        out[2 + half] = (vec)_mm512_shuffle_f64x2(a, b, 0xee);
    }
#else
    T flat[4 * WIDTH], plane[4][WIDTH];
    memcpy(flat, raw, sizeof flat);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < WIDTH; i++)
            plane[k][i] = flat[4 * i + k];
    memcpy(out, plane, sizeof plane);
#endif
#endif
}

ALWAYS wide wide_element(const vec *parts, int which)
{
    if (MATRIX == 1) return (wide){parts[0], parts[0]};
    return (wide){parts[2 * which], parts[2 * which + 1]};
}

/* --- what panel.h calls ------------------------------------------------------------------------------ */

ALWAYS void panel_spread(num x, vec *out)
{
    for (int i = 0; i < PARTS; i++)
        out[i] = vec_all(x.v[i]);
}

ALWAYS num panel_total(const vec *along, bool hermitian, bool accurate)
{
    num lane[WIDTH];
    (void)hermitian;
    for (int i = 0; i < WIDTH; i++)
        for (int k = 0; k < PARTS; k++)
            lane[i].v[k] = along[k][i];
    for (int half = WIDTH / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] = num_plus(lane[i], lane[i + half], accurate);
    return lane[0];
}

/* s + a x, all of one number's parts. */
ALWAYS void wide_number_step(const vec *a, const vec *x, vec *s, bool conjugate, bool accurate)
{
    const wide ar = wide_element(a, 0), xr = {x[0], x[1]};
    wide re = wide_step(ar, xr, (wide){s[0], s[1]}, accurate);
#if KIND == SYMV_WIDE_COMPLEX
    const wide ai = wide_element(a, 1), xi = {x[2], x[3]};
    re = wide_step(conjugate ? ai : wide_minus(ai), xi, re, accurate);
    wide im = wide_step(ar, xi, (wide){s[2], s[3]}, accurate);
    im = wide_step(conjugate ? wide_minus(ai) : ai, xr, im, accurate);
    s[2] = im.hi;
    s[3] = im.lo;
#endif
    (void)conjugate;
    s[0] = re.hi;
    s[1] = re.lo;
}

ALWAYS void panel_rows(const E *const *column, int64_t i, int count, int64_t stride, int width, int sides,
                       const T *const *x, T *const *y, const vec *xc, vec *along, bool hermitian, bool accurate)
{
    vec xs[PARTS], ys[PARTS];
    (void)sides;
    for (int k = 0; k < PARTS; k++) {
        xs[k] = vec_first(x[0] + k * stride + i, count);
        ys[k] = vec_first(y[0] + k * stride + i, count);
    }
    for (int c = 0; c < width; c++) {
        vec a[MATRIX];
        wide_elements(column[c] + i * MATRIX, count, a);
        wide_number_step(a, xc + c * PARTS, ys, false, accurate);
        wide_number_step(a, xs, along + c * PARTS, hermitian, accurate);
    }
    for (int k = 0; k < PARTS; k++)
        vec_put_first(y[0] + k * stride + i, ys[k], count);
}
