/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops over one slice of a B row, for each type: `scatter` updates cells acc[index[i]], `fill` writes CON's values.
 * Compiled once an instruction set; called from apply.h and sort.isa.c of the same set. Indices within a slice are
 * distinct. MIN and MAX over floats ignore NaN unless every value is NaN; of equal values the last stays, so
 * that minss can be used; an untouched cell is a NaN of all ones, which no value may be. Sums add v + 0.0: a touched
 * sum is never -0.0, which marks untouched cells.
 */
#include "multiply/loops.h"

#define WRAPPED(T, U, x, op, y) ((T)((U)(x)op(U)(y)))
#define I32_ADD(x, y)           WRAPPED(int32_t, uint32_t, x, +, y)
#define I32_MUL(x, y)           WRAPPED(int32_t, uint32_t, x, *, y)
#define I64_ADD(x, y)           WRAPPED(int64_t, uint64_t, x, +, y)
#define I64_MUL(x, y)           WRAPPED(int64_t, uint64_t, x, *, y)
#define FLOAT_ADD(x, y)         ((x) + (y))
#define FLOAT_MUL(x, y)         ((x) * (y))

static inline mul_pair pair_add(mul_pair x, mul_pair y)
{
    return (mul_pair){x.re + y.re, x.im + y.im};
}

/* Written with sums alone: of a difference in one part and a sum in the other gcc 12 makes one fused operation with
 * AVX-512, in spite of -ffp-contract=off (vfmaddsub), and results would depend on the processor. */
static inline mul_pair pair_mul(mul_pair x, mul_pair y)
{
    return (mul_pair){x.re * y.re + -x.im * y.im, x.re * y.im + x.im * y.re};
}

/* The compiler must not turn these loops into gathers and scatters, which are slower. */
#define KEEP_SCALAR(j) __asm__("" : "+r"(j))

#define LOOP_HEAD(T)                                                                                                 \
    T *const acc = cells;                                                                                            \
    const T *const b = values;                                                                                       \
    (void)b;                                                                                                         \
    (void)a;

#define SCATTER(name, T, VALUE, UPDATE)                                                                              \
    static void name(void *cells, const uint32_t *restrict index, int64_t n, const void *restrict values,            \
                     mul_scalar a)                                                                                   \
    {                                                                                                                \
        LOOP_HEAD(T)                                                                                                 \
        _Pragma("GCC unroll 4") for (int64_t i = 0; i < n; i++)                                                      \
        {                                                                                                            \
            size_t j = index[i];                                                                                     \
            KEEP_SCALAR(j);                                                                                          \
            const T v = VALUE;                                                                                       \
            const T x = acc[j];                                                                                      \
            (void)x;                                                                                                 \
            acc[j] = UPDATE;                                                                                         \
        }                                                                                                            \
    }

/* Any values: a slice that holds a NaN takes the slow way. */
#define SCATTER_ORDERED(name, T, VALUE, CMP)                                                                         \
    static void name(void *cells, const uint32_t *restrict index, int64_t n, const void *restrict values,            \
                     mul_scalar a)                                                                                   \
    {                                                                                                                \
        LOOP_HEAD(T)                                                                                                 \
        int odd = 0;                                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            const T v = VALUE;                                                                                       \
            odd |= v != v;                                                                                           \
        }                                                                                                            \
        if (!odd) {                                                                                                  \
            sure_##name(cells, index, n, values, a);                                                                 \
            return;                                                                                                  \
        }                                                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            const T v = VALUE;                                                                                       \
            const T x = acc[index[i]];                                                                               \
            acc[index[i]] = v == v ? (x CMP v ? x : v) : x == x ? x : (T)NAN;                                        \
        }                                                                                                            \
    }

#define FORMS_OF(make, prefix, T, X, ADD, MUL, ...)                                                                  \
    make(prefix##_const, T, a.X, __VA_ARGS__) make(prefix##_b, T, b[i], __VA_ARGS__)                                 \
        make(prefix##_add, T, ADD(a.X, b[i]), __VA_ARGS__) make(prefix##_mul, T, MUL(a.X, b[i]), __VA_ARGS__)

#define ORDERED(name, T, VALUE, CMP)                                                                                 \
    SCATTER(sure_##name, T, VALUE, x CMP v ? x : v)                                                                  \
    SCATTER_ORDERED(name, T, VALUE, CMP)

#define ORDERED_OF(prefix, T, X, CMP)                                                                                \
    ORDERED(prefix##_const, T, a.X, CMP)                                                                             \
    ORDERED(prefix##_b, T, b[i], CMP)                                                                                \
    ORDERED(prefix##_add, T, a.X + b[i], CMP)                                                                        \
    ORDERED(prefix##_mul, T, a.X *b[i], CMP)

#define INTEGERS(T, X, ADD, MUL)                                                                                     \
    FORMS_OF(SCATTER, sum_##X, T, X, ADD, MUL, ADD(x, v))                                                            \
    FORMS_OF(SCATTER, min_##X, T, X, ADD, MUL, x < v ? x : v)                                                        \
    FORMS_OF(SCATTER, max_##X, T, X, ADD, MUL, x > v ? x : v)                                                        \
    FORMS_OF(SCATTER, put_##X, T, X, ADD, MUL, v)

#define FLOATS(T, X)                                                                                                 \
    FORMS_OF(SCATTER, sum_##X, T, X, FLOAT_ADD, FLOAT_MUL, x + (v + (T)0))                                           \
    FORMS_OF(SCATTER, put_##X, T, X, FLOAT_ADD, FLOAT_MUL, v)                                                        \
    ORDERED_OF(min_##X, T, X, <)                                                                                     \
    ORDERED_OF(max_##X, T, X, >)

INTEGERS(int32_t, i32, I32_ADD, I32_MUL)
INTEGERS(int64_t, i64, I64_ADD, I64_MUL)
FLOATS(float, f32)
FLOATS(double, f64)
FORMS_OF(SCATTER, sum_c128, mul_pair, c128, pair_add, pair_mul, pair_add(x, v))
FORMS_OF(SCATTER, put_c128, mul_pair, c128, pair_add, pair_mul, v)

#define FORM_ROW(prefix)                                                                                             \
    {                                                                                                                \
        prefix##_const, prefix##_b, prefix##_add, prefix##_mul                                                       \
    }
#define PAIR_ROWS(op)                                                                                                \
    {                                                                                                                \
        FORM_ROW(op##_i32), FORM_ROW(op##_i64), FORM_ROW(op##_f32), FORM_ROW(op##_f64), FORM_ROW(op##_c128)          \
    }
#define TYPE_ROWS(op)                                                                                                \
    {                                                                                                                \
        FORM_ROW(op##_i32), FORM_ROW(op##_i64), FORM_ROW(op##_f32), FORM_ROW(op##_f64)                               \
    }
const mul_scatter_fn LACIS_ISA(lacis_mul_scatter)[MUL_UPDATES][5][MUL_FORMS] = {PAIR_ROWS(sum), TYPE_ROWS(min),
                                                                                TYPE_ROWS(max), PAIR_ROWS(put)};
const mul_scatter_fn LACIS_ISA(lacis_mul_scatter_sure)[2][2][MUL_FORMS] = {
    {FORM_ROW(sure_min_f32), FORM_ROW(sure_min_f64)}, {FORM_ROW(sure_max_f32), FORM_ROW(sure_max_f64)}};

#define COUNT(name, T)                                                                                               \
    static void name(void *cells, const uint32_t *restrict index, int64_t n)                                         \
    {                                                                                                                \
        T *const acc = cells;                                                                                        \
        _Pragma("GCC unroll 4") for (int64_t i = 0; i < n; i++) acc[index[i]]++;                                     \
    }
COUNT(count_u8, uint8_t)
COUNT(count_u16, uint16_t)
COUNT(count_u32, uint32_t)
const mul_count_fn LACIS_ISA(lacis_mul_count)[3] = {count_u8, count_u16, count_u32};

#define FILL(name, T, VALUE, ...)                                                                                    \
    static void name(void *restrict out, int64_t n, const void *restrict values, mul_scalar a)                       \
    {                                                                                                                \
        T *const v = out;                                                                                            \
        const T *const b = values;                                                                                   \
        (void)b;                                                                                                     \
        (void)a;                                                                                                     \
        for (int64_t i = 0; i < n; i++)                                                                              \
            v[i] = VALUE;                                                                                            \
    }
FORMS_OF(FILL, fill_i32, int32_t, i32, I32_ADD, I32_MUL, )
FORMS_OF(FILL, fill_i64, int64_t, i64, I64_ADD, I64_MUL, )
FORMS_OF(FILL, fill_f32, float, f32, FLOAT_ADD, FLOAT_MUL, )
FORMS_OF(FILL, fill_f64, double, f64, FLOAT_ADD, FLOAT_MUL, )
FORMS_OF(FILL, fill_c128, mul_pair, c128, pair_add, pair_mul, )
const mul_fill_fn LACIS_ISA(lacis_mul_fill)[5][MUL_FORMS] = PAIR_ROWS(fill);

/* a + b or a * b with overflow told. */
#define FILL_CHECKED(name, T, X)                                                                                     \
    static bool name(T *restrict out, int64_t n, const T *restrict b, mul_scalar a, mul_form form)                   \
    {                                                                                                                \
        bool over = false;                                                                                           \
        for (int64_t i = 0; i < n; i++)                                                                              \
            over |= form == MUL_FORM_ADD ? __builtin_add_overflow(a.X, b[i], &out[i])                                \
                                         : __builtin_mul_overflow(a.X, b[i], &out[i]);                               \
        return !over;                                                                                                \
    }
FILL_CHECKED(fill_checked_i32, int32_t, i32)
FILL_CHECKED(fill_checked_i64, int64_t, i64)

bool LACIS_ISA(lacis_mul_fill_checked)(lacis_mul_type type, mul_form form, void *out, int64_t n, const void *b,
                                       mul_scalar a)
{
    if (form == MUL_FORM_CONST || form == MUL_FORM_B || type >= LACIS_MUL_F32) {
        LACIS_ISA(lacis_mul_fill)[type][form](out, n, b, a);
        return true;
    }
    return type == LACIS_MUL_I32 ? fill_checked_i32(out, n, b, a, form) : fill_checked_i64(out, n, b, a, form);
}

#define SUM_CHECKED(name, T)                                                                                         \
    static bool name(T *acc, const uint32_t *restrict index, int64_t n, const T *restrict v)                         \
    {                                                                                                                \
        bool over = false;                                                                                           \
        for (int64_t i = 0; i < n; i++)                                                                              \
            over |= __builtin_add_overflow(acc[index[i]], v[i], &acc[index[i]]);                                     \
        return !over;                                                                                                \
    }
SUM_CHECKED(sum_checked_i32, int32_t)
SUM_CHECKED(sum_checked_i64, int64_t)

bool LACIS_ISA(lacis_mul_sum_checked)(lacis_mul_type type, void *cells, const uint32_t *index, int64_t n,
                                      const void *values)
{
    return type == LACIS_MUL_I32 ? sum_checked_i32(cells, index, n, values)
                                 : sum_checked_i64(cells, index, n, values);
}

#define MOVE(name, T, TO, FROM)                                                                                      \
    static void name(T *restrict to, const T *restrict from, const uint32_t *restrict index, int64_t n)              \
    {                                                                                                                \
        _Pragma("GCC unroll 4") for (int64_t i = 0; i < n; i++)                                                      \
        {                                                                                                            \
            size_t j = index[i];                                                                                     \
            KEEP_SCALAR(j);                                                                                          \
            to[TO] = from[FROM];                                                                                     \
        }                                                                                                            \
    }
MOVE(pick_4, uint32_t, i, j)
MOVE(pick_8, uint64_t, i, j)
MOVE(pick_16, mul_pair, i, j)
MOVE(put_4, uint32_t, j, i)
MOVE(put_8, uint64_t, j, i)
MOVE(put_16, mul_pair, j, i)

void LACIS_ISA(lacis_mul_pick)(int log2_bytes, void *out, const void *cells, const uint32_t *index, int64_t n)
{
    if (log2_bytes == 2)
        pick_4(out, cells, index, n);
    else if (log2_bytes == 3)
        pick_8(out, cells, index, n);
    else
        pick_16(out, cells, index, n);
}

void LACIS_ISA(lacis_mul_put)(int log2_bytes, void *cells, const void *in, const uint32_t *index, int64_t n)
{
    if (log2_bytes == 2)
        put_4(cells, in, index, n);
    else if (log2_bytes == 3)
        put_8(cells, in, index, n);
    else
        put_16(cells, in, index, n);
}
