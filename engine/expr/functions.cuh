/* SPDX-License-Identifier: Apache-2.0
 *
 * What emitted expressions (emit.c) call, in the part of C that CUDA has too: it stands before them in what NVRTC
 * compiles, and a test compiles it as C. Everything means what the strips' loops (loops.h) mean: integers that overflow or
 * divide by zero set *bad. Of the compiler it needs LACIS_DEVICE, the start of a function, and lacis_high, the upper 64
 * bits of a product.
 */

typedef long long lacis_i64;
typedef unsigned long long lacis_u64;

LACIS_DEVICE lacis_i64 lacis_add(lacis_i64 a, lacis_i64 b, int *bad)
{
    lacis_i64 r = (lacis_i64)((lacis_u64)a + (lacis_u64)b);
    if (((a ^ r) & (b ^ r)) < 0) *bad = 1;
    return r;
}

LACIS_DEVICE lacis_i64 lacis_sub(lacis_i64 a, lacis_i64 b, int *bad)
{
    lacis_i64 r = (lacis_i64)((lacis_u64)a - (lacis_u64)b);
    if (((a ^ b) & (a ^ r)) < 0) *bad = 1;
    return r;
}

LACIS_DEVICE lacis_i64 lacis_mul(lacis_i64 a, lacis_i64 b, int *bad)
{
    lacis_i64 r = (lacis_i64)((lacis_u64)a * (lacis_u64)b);
    if (lacis_high(a, b) != r >> 63) *bad = 1;
    return r;
}

/* b, or 1 where a / b would fail. */
LACIS_DEVICE lacis_i64 lacis_divisor(lacis_i64 a, lacis_i64 b)
{
    return b == 0 || (b == -1 && a == -9223372036854775807ll - 1) ? 1 : b;
}

LACIS_DEVICE lacis_i64 lacis_div(lacis_i64 a, lacis_i64 b, int *bad)
{
    lacis_i64 d = lacis_divisor(a, b);
    if (d != b) *bad = 1;
    return a / d;
}

LACIS_DEVICE lacis_i64 lacis_mod(lacis_i64 a, lacis_i64 b, int *bad)
{
    if (b == 0) *bad = 1;
    return a % lacis_divisor(a, b);
}

LACIS_DEVICE lacis_i64 lacis_neg(lacis_i64 a, int *bad)
{
    return lacis_sub(0, a, bad);
}

LACIS_DEVICE lacis_i64 lacis_abs(lacis_i64 a, int *bad)
{
    return a < 0 ? lacis_sub(0, a, bad) : a;
}

/* b < 0 shifts to the right; bits that leave are lost. */
LACIS_DEVICE lacis_i64 lacis_shl(lacis_i64 a, lacis_i64 b)
{
    if (b >= 0) return b > 63 ? 0 : (lacis_i64)((lacis_u64)a << b);
    return a >> (b < -63 ? 63 : -b);
}

LACIS_DEVICE lacis_i64 lacis_shr(lacis_i64 a, lacis_i64 b)
{
    return b == -9223372036854775807ll - 1 ? 0 : lacis_shl(a, -b);
}

LACIS_DEVICE lacis_i64 lacis_min(lacis_i64 a, lacis_i64 b)
{
    return a < b ? a : b;
}

LACIS_DEVICE lacis_i64 lacis_max(lacis_i64 a, lacis_i64 b)
{
    return a > b ? a : b;
}

LACIS_DEVICE lacis_i64 lacis_sign(lacis_i64 a)
{
    return (a > 0) - (a < 0);
}

LACIS_DEVICE lacis_i64 lacis_to_int(double a, int *bad)
{
    if (a >= -9223372036854775808.0 && a < 9223372036854775808.0) return (lacis_i64)a;
    *bad = 1;
    return 0;
}

/* min and max of reals pass over NaN. */
LACIS_DEVICE double lacis_min_f64(double a, double b)
{
    return a < b ? a : (b == b ? b : a);
}

LACIS_DEVICE double lacis_max_f64(double a, double b)
{
    return a > b ? a : (b == b ? b : a);
}

LACIS_DEVICE double lacis_sign_f64(double a)
{
    return (a > 0) - (a < 0);
}

LACIS_DEVICE float lacis_min_f32(float a, float b)
{
    return a < b ? a : (b == b ? b : a);
}

LACIS_DEVICE float lacis_max_f32(float a, float b)
{
    return a > b ? a : (b == b ? b : a);
}

LACIS_DEVICE float lacis_sign_f32(float a)
{
    return (float)((a > 0) - (a < 0));
}

/* Complex numbers. */
typedef struct lacis_c64 {
    float re, im;
} lacis_c64;
typedef struct lacis_c128 {
    double re, im;
} lacis_c128;

LACIS_DEVICE lacis_c128 lacis_complex(double re, double im)
{
    lacis_c128 z;
    z.re = re;
    z.im = im;
    return z;
}

LACIS_DEVICE lacis_c128 lacis_load_c64(lacis_c64 z)
{
    return lacis_complex((double)z.re, (double)z.im);
}

LACIS_DEVICE double lacis_re(lacis_c128 z)
{
    return z.re;
}

LACIS_DEVICE double lacis_im(lacis_c128 z)
{
    return z.im;
}

LACIS_DEVICE lacis_c128 lacis_conj(lacis_c128 z)
{
    return lacis_complex(z.re, -z.im);
}

LACIS_DEVICE double lacis_abs_c128(lacis_c128 z)
{
    return hypot(z.re, z.im);
}

LACIS_DEVICE double lacis_arg(lacis_c128 z)
{
    return atan2(z.im, z.re);
}

LACIS_DEVICE lacis_i64 lacis_eq_c128(lacis_c128 a, lacis_c128 b)
{
    return a.re == b.re && a.im == b.im;
}

LACIS_DEVICE lacis_i64 lacis_ne_c128(lacis_c128 a, lacis_c128 b)
{
    return a.re != b.re || a.im != b.im;
}

LACIS_DEVICE lacis_c128 lacis_neg_c128(lacis_c128 z)
{
    return lacis_complex(-z.re, -z.im);
}

LACIS_DEVICE lacis_c128 lacis_add_c128(lacis_c128 a, lacis_c128 b)
{
    return lacis_complex(a.re + b.re, a.im + b.im);
}

LACIS_DEVICE lacis_c128 lacis_sub_c128(lacis_c128 a, lacis_c128 b)
{
    return lacis_complex(a.re - b.re, a.im - b.im);
}

LACIS_DEVICE lacis_c128 lacis_mul_c128(lacis_c128 a, lacis_c128 b)
{
    return lacis_complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

/* After Smith (CACM 5(8), 1962): no square of b overflows. */
LACIS_DEVICE lacis_c128 lacis_div_c128(lacis_c128 a, lacis_c128 b)
{
    int wide = fabs(b.re) >= fabs(b.im);
    double most = wide ? b.re : b.im, least = wide ? b.im : b.re;
    double ratio = least / most, size = most + least * ratio;
    double re = wide ? a.re + a.im * ratio : a.re * ratio + a.im;
    double im = wide ? a.im - a.re * ratio : a.im * ratio - a.re;
    return lacis_complex(re / size, im / size);
}
