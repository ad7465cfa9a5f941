/* SPDX-License-Identifier: Apache-2.0
 *
 * The change of a step, by the tile rule of sweep.h: columns of squares and maxima, and what becomes of them where a
 * row of tiles ends.
 */
static void change(const void *now, const void *old, int64_t n, double *squares, void *most)
{
    const T *a = now, *b = old;
    T *m = most;
    for (int64_t x = 0; x < n; x++) {
        const T d = a[x] - b[x], size = T_FLOAT ? (T)__builtin_fabsf((float)d) : (T)__builtin_fabs((double)d);
        squares[x] = __builtin_fma((double)d, (double)d, squares[x]);
        m[x] = size > m[x] ? size : m[x];
    }
}

static double tile_sum(const double *squares, int64_t first, int64_t count)
{
    double sum[LACIS_SWEEP_TILE_X] = {0};
    memcpy(sum + first, squares, sizeof(double) * (size_t)count);
    for (int left = LACIS_SWEEP_TILE_X / 2; left >= 1; left /= 2)
        for (int i = 0; i < left; i++)
            sum[i] = sum[2 * i] + sum[2 * i + 1];
    return sum[0];
}

static void settle(double *squares, void *most, int64_t x, int64_t n, lacis_sweep_change *total)
{
    T *m = most;
    for (int64_t at = 0; at < n;) {
        const int64_t first = (x + at) % LACIS_SWEEP_TILE_X, rest = LACIS_SWEEP_TILE_X - first,
                      count = rest < n - at ? rest : n - at;
        const double sum = tile_sum(squares + at, first, count);
        lacis_sweep_exact_add(&total->squares, sum);
        for (int64_t i = at; i < at + count; i++)
            if ((double)m[i] > total->max) total->max = (double)m[i];
        if (isnan(sum)) total->max = NAN;
        at += count;
    }
    memset(squares, 0, sizeof(double) * (size_t)n);
    memset(m, 0, sizeof(T) * (size_t)n);
}
