/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a panel for complex types, whose parts stay side by side in vectors: products with both parts of the other
 * factor are summed apart, and come together once for all columns. Included after number.h.
 */
#include "symv/vector.h"

#define PLANES 0

enum {
    COLUMNS = 8,
    AT_ONCE = 4,
    SIDES_AT_ONCE = 2,
    WITH_SIDES = 4,
    VECTOR_ROWS = WIDTH / 2,
    VECTORS = 1,
    ACROSS = 2, /* real part in all lanes, imaginary part in all */
    ALONG = 2   /* sums of a x by parts, and of a with x's parts exchanged */
};

ALWAYS vec vec_exchanged(vec value)
{
#if defined(__AVX512F__)
    if (T_FLOAT) return (vec)_mm512_permute_ps((__m512)value, 0xb1);
    return (vec)_mm512_permute_pd((__m512d)value, 0x55);
#elif defined(__AVX2__)
    if (T_FLOAT) return (vec)_mm256_permute_ps((__m256)value, 0xb1);
    return (vec)_mm256_permute_pd((__m256d)value, 0x5);
#else
    vec out;
    for (int i = 0; i < WIDTH; i++)
        out[i] = value[i ^ 1];
    return out;
#endif
}

/* s + i t. */
ALWAYS vec vec_turned(vec s, vec t)
{
    vec sign;
    for (int i = 0; i < WIDTH; i++)
        sign[i] = i % 2 == 0 ? -1 : 1;
    return vec_fma(vec_exchanged(t), sign, s);
}

ALWAYS void panel_spread(num x, vec *out)
{
    out[0] = vec_all(x.v[0]);
    out[1] = vec_all(x.v[1]);
}

ALWAYS void panel_settle(vec *along, bool accurate)
{
    (void)along, (void)accurate;
}

ALWAYS num panel_total(const vec *along, bool hermitian, bool accurate)
{
    T plain[2] = {0}, crossed[2] = {0};
    (void)accurate;
    for (int i = 0; i < WIDTH; i++) {
        plain[i % 2] += along[0][i];
        crossed[i % 2] += along[1][i];
    }
    if (hermitian) return (num){{plain[0] + plain[1], crossed[0] - crossed[1]}};
    return (num){{plain[0] - plain[1], crossed[0] + crossed[1]}};
}

ALWAYS void panel_rows(const E *const *column, int64_t i, int count, int64_t stride, int width, int sides,
                       const T *const *x, T *const *y, const vec *xc, vec *along, bool hermitian, bool accurate)
{
    vec a[AT_ONCE];
    (void)stride, (void)hermitian, (void)accurate;
    for (int c = 0; c < width; c++)
        a[c] = vec_first(column[c] + 2 * i, 2 * count);
    for (int k = 0; k < sides; k++) {
        const vec xs = vec_first(x[k] + 2 * i, 2 * count), exchanged = vec_exchanged(xs);
        vec ys = vec_first(y[k] + 2 * i, 2 * count), turned = {0};
        for (int c = 0; c < width; c++) {
            const int at = 2 * (k * width + c);
            ys = vec_fma(a[c], xc[at], ys);
            turned = vec_fma(a[c], xc[at + 1], turned);
            along[at] = vec_fma(a[c], xs, along[at]);
            along[at + 1] = vec_fma(a[c], exchanged, along[at + 1]);
        }
        vec_put_first(y[k] + 2 * i, vec_turned(ys, turned), 2 * count);
    }
}
