/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of WIDTH doubles and the exponential function on them, in operations that have the same bits for every
 * width. Included by step.isa.c with WIDTH set, which makes V(name) a name for this width.
 */
#if WIDTH == 1

typedef double V(vec);

static inline V(vec) V(all)(double value)
{
    return value;
}

#else

typedef double V(vec) __attribute__((vector_size(WIDTH * 8), may_alias));
typedef int64_t V(ints) __attribute__((vector_size(WIDTH * 8), may_alias));

static inline V(vec) V(all)(double value)
{
    return value - (V(vec)){0};
}

static inline V(vec) V(choose)(V(ints) mask, V(vec) yes, V(vec) no)
{
    return (V(vec))((mask & (V(ints))yes) | (~mask & (V(ints))no));
}

/* e^x to about one unit in the last place: x = n ln 2 + r, |r| <= ln 2 / 2, Taylor's series to r^13. Below -700 and
 * above 700 as there. */
static inline V(vec) V(exponential)(V(vec) x)
{
    const double magic = 0x1.8p52; /* adding it rounds to an integer, which its low bits then hold */
    x = V(choose)(x < -700.0, V(all)(-700.0), x);
    x = V(choose)(x > 700.0, V(all)(700.0), x);
    V(vec) shifted = x * 0x1.71547652b82fep0 + magic, n = shifted - magic;
    V(vec) r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
    V(vec) r2 = r * r, r4 = r2 * r2; /* pairs, then pairs of pairs: a chain of additions would be waited for */
    V(vec) low = (r * (1 / 6.0) + 0.5) + r2 * (r * (1 / 120.0) + 1 / 24.0);
    V(vec) middle = (r * (1 / 5040.0) + 1 / 720.0) + r2 * (r * (1 / 362880.0) + 1 / 40320.0);
    V(vec) high = (r * (1 / 39916800.0) + 1 / 3628800.0) + r2 * (r * (1 / 6227020800.0) + 1 / 479001600.0);
    V(vec) sum = (r + r2 * (low + r4 * (middle + r4 * high))) + 1.0;
    return (V(vec))((V(ints))sum + ((V(ints))shifted << 52));
}

#endif
