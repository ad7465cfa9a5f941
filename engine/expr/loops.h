/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of steps.c, which includes this file once for each instruction set with ISA(name) giving each copy its
 * names. No include guard, for that reason. A loop has one variant for each set of operands that are single values;
 * the compiler vectorises all of them. `ivdep`: out is an operand itself or apart from all.
 */

#define LOOP(body)                                                                                                   \
    _Pragma("GCC ivdep") for (int i = 0; i < n; i++)                                                                 \
    {                                                                                                                \
        body;                                                                                                        \
    }

/* out[i] = e of a = x[i]. */
#define UNARY(name, T, R, e)                                                                                         \
    static int64_t ISA(name)(int n, unsigned form, const void *xs, const void *ys, const void *zs, void *os)         \
    {                                                                                                                \
        const T *x = xs;                                                                                             \
        R *out = os;                                                                                                 \
        (void)form, (void)ys, (void)zs;                                                                              \
        LOOP(T a = x[i]; out[i] = (R)(e)) return 0;                                                                  \
    }

/* out[i] = e of a = x[i], b = y[i]; `bad` is or-ed with f, whose sign says that the element failed. */
#define BINARY_CHECKED(name, T, R, e, f)                                                                             \
    static int64_t ISA(name)(int n, unsigned form, const void *xs, const void *ys, const void *zs, void *os)         \
    {                                                                                                                \
        const T *x = xs, *y = ys;                                                                                    \
        R *out = os;                                                                                                 \
        int64_t bad = 0;                                                                                             \
        (void)zs;                                                                                                    \
        if (form == 0) {                                                                                             \
            LOOP(T a = x[i]; T b = y[i]; R r = (R)(e); bad |= (f); out[i] = r)                                       \
        } else if (form == LACIS_FORM_X) {                                                                           \
            T a = *x;                                                                                                \
            LOOP(T b = y[i]; R r = (R)(e); bad |= (f); out[i] = r)                                                   \
        } else {                                                                                                     \
            T b = *y;                                                                                                \
            LOOP(T a = x[i]; R r = (R)(e); bad |= (f); out[i] = r)                                                   \
        }                                                                                                            \
        return bad < 0;                                                                                              \
    }
#define BINARY(name, T, R, e) BINARY_CHECKED(name, T, R, e, 0)

#define UNARY_CHECKED(name, T, R, e, f)                                                                              \
    static int64_t ISA(name)(int n, unsigned form, const void *xs, const void *ys, const void *zs, void *os)         \
    {                                                                                                                \
        const T *x = xs;                                                                                             \
        R *out = os;                                                                                                 \
        int64_t bad = 0;                                                                                             \
        (void)form, (void)ys, (void)zs;                                                                              \
        LOOP(T a = x[i]; R r = (R)(e); bad |= (f); out[i] = r) return bad < 0;                                       \
    }

/* ---------------------------------------------------------------------------------------- integers */

#define WRAP(a, op, b) (int64_t)((uint64_t)(a)op(uint64_t)(b))

BINARY_CHECKED(add_i64, int64_t, int64_t, WRAP(a, +, b), (a ^ r) & (b ^ r))
BINARY_CHECKED(sub_i64, int64_t, int64_t, WRAP(a, -, b), (a ^ b) & (a ^ r))
BINARY(add_safe, int64_t, int64_t, WRAP(a, +, b))
BINARY(sub_safe, int64_t, int64_t, WRAP(a, -, b))
BINARY(mul_narrow, int64_t, int64_t, (int64_t)(int32_t)a *(int64_t)(int32_t)b)
BINARY_CHECKED(mul_wide, int64_t, int64_t, WRAP(a, *, b), -(int64_t)product_overflows(a, b))
BINARY_CHECKED(div_i64, int64_t, int64_t, a / divisor(a, b), -(int64_t)(b == 0 || (a == INT64_MIN && b == -1)))
BINARY_CHECKED(mod_i64, int64_t, int64_t, a % divisor(a, b), -(int64_t)(b == 0))
UNARY_CHECKED(neg_i64, int64_t, int64_t, WRAP(0, -, a), a &r)
UNARY_CHECKED(abs_i64, int64_t, int64_t, WRAP(a ^ (a >> 63), -, a >> 63), r)
UNARY(sign_i64, int64_t, int64_t, (a > 0) - (a < 0))
UNARY(bitnot_i64, int64_t, int64_t, ~a)
UNARY(not_i64, int64_t, int64_t, a ^ 1)
BINARY(bitand_i64, int64_t, int64_t, a &b)
BINARY(bitor_i64, int64_t, int64_t, a | b)
BINARY(shl_i64, int64_t, int64_t, shift(a, b))
BINARY(shr_i64, int64_t, int64_t, b == INT64_MIN ? 0 : shift(a, -b))
BINARY(min_i64, int64_t, int64_t, a < b ? a : b)
BINARY(max_i64, int64_t, int64_t, a > b ? a : b)
UNARY(load_i32, int32_t, int64_t, a)

/* Whether all of x fits 32 bits, which is the usual case and allows the fast multiplication. */
static bool ISA(narrow)(int n, const int64_t *x)
{
    uint64_t high = 0;
    for (int i = 0; i < n; i++) {
        high |= (uint64_t)WRAP(x[i], +, 0x80000000) >> 32;
    }
    return high == 0;
}

static int64_t ISA(mul_i64)(int n, unsigned form, const void *x, const void *y, const void *z, void *out)
{
    bool narrow =
        ISA(narrow)((form & LACIS_FORM_X) != 0 ? 1 : n, x) && ISA(narrow)((form & LACIS_FORM_Y) != 0 ? 1 : n, y);
    return narrow ? ISA(mul_narrow)(n, form, x, y, z, out) : ISA(mul_wide)(n, form, x, y, z, out);
}

/* Short lists are compared one by one, long ones searched. */
static int64_t ISA(member_i64)(int n, unsigned form, const void *xs, const void *list, const void *zs, void *os)
{
    const int64_t *x = xs, *value = (const int64_t *)list + 1;
    int64_t count = *(const int64_t *)list, *out = os;
    (void)form, (void)zs;
    if (count > 16) {
        for (int i = 0; i < n; i++) {
            out[i] = listed(x[i], value, count);
        }
        return 0;
    }
    int64_t found[LACIS_STRIP]; /* out may be x */
    memset(found, 0, (size_t)n * sizeof *found);
    for (int64_t k = 0; k < count; k++) {
        for (int i = 0; i < n; i++) {
            found[i] |= x[i] == value[k];
        }
    }
    memcpy(out, found, (size_t)n * sizeof *found);
    return 0;
}

/* ------------------------------------------------------------------------------- reals of both sizes */

#define REALS(S, T, M)                                                                                               \
    BINARY(add_##S, T, T, a + b)                                                                                     \
    BINARY(sub_##S, T, T, a - b)                                                                                     \
    BINARY(mul_##S, T, T, a *b)                                                                                      \
    BINARY(div_##S, T, T, a / b)                                                                                     \
    BINARY(mod_##S, T, T, M(fmod)(a, b))                                                                             \
    BINARY(min_##S, T, T, a < b ? a : (b == b ? b : a))                                                              \
    BINARY(max_##S, T, T, a > b ? a : (b == b ? b : a))                                                              \
    BINARY(pow_##S, T, T, M(pow)(a, b))                                                                              \
    BINARY(atan2_##S, T, T, M(atan2)(a, b))                                                                          \
    BINARY(hypot_##S, T, T, M(hypot)(a, b))                                                                          \
    UNARY(neg_##S, T, T, -a)                                                                                         \
    UNARY(abs_##S, T, T, M(fabs)(a))                                                                                 \
    UNARY(sign_##S, T, T, (a > 0) - (a < 0))                                                                         \
    UNARY(sqrt_##S, T, T, M(sqrt)(a))                                                                                \
    UNARY(exp_##S, T, T, M(exp)(a))                                                                                  \
    UNARY(ln_##S, T, T, M(log)(a))                                                                                   \
    UNARY(log2_##S, T, T, M(log2)(a))                                                                                \
    UNARY(log10_##S, T, T, M(log10)(a))                                                                              \
    UNARY(floor_##S, T, T, M(floor)(a))                                                                              \
    UNARY(ceil_##S, T, T, M(ceil)(a))                                                                                \
    UNARY(round_##S, T, T, M(round)(a))                                                                              \
    UNARY(sin_##S, T, T, M(sin)(a))                                                                                  \
    UNARY(cos_##S, T, T, M(cos)(a))                                                                                  \
    UNARY(tan_##S, T, T, M(tan)(a))                                                                                  \
    UNARY(tanh_##S, T, T, M(tanh)(a))                                                                                \
    UNARY_CHECKED(to_int_##S, T, int64_t, truncated((double)a), -(int64_t)!fits_int64((double)a))

/* out[i] = e of r = f of a and b, and c = z[i]: two operations, each rounded. x is seldom one value: then it is
 * spread out, unless y is one as well. */
#define FUSED(name, T, f, e)                                                                                         \
    static int64_t ISA(name)(int n, unsigned form, const void *xs, const void *ys, const void *zs, void *os)         \
    {                                                                                                                \
        const T *x = xs, *y = ys, *z = zs;                                                                           \
        T *out = os, spread[LACIS_STRIP];                                                                            \
        if ((form & LACIS_FORM_X) != 0 && (form & LACIS_FORM_Y) == 0) {                                              \
            T a = *x;                                                                                                \
            x = spread;                                                                                              \
            LOOP(spread[i] = a)                                                                                      \
        }                                                                                                            \
        if ((form & LACIS_FORM_X) != 0 && (form & LACIS_FORM_Y) != 0) {                                              \
            T a = *x, b = *y, r = (T)(f);                                                                            \
            LOOP(T c = z[i]; out[i] = (T)(e))                                                                        \
        } else if ((form & (LACIS_FORM_Y | LACIS_FORM_Z)) == 0) {                                                    \
            LOOP(T a = x[i]; T b = y[i]; T c = z[i]; T r = (T)(f); out[i] = (T)(e))                                  \
        } else if ((form & LACIS_FORM_Z) == 0) {                                                                     \
            T b = *y;                                                                                                \
            LOOP(T a = x[i]; T c = z[i]; T r = (T)(f); out[i] = (T)(e))                                              \
        } else if ((form & LACIS_FORM_Y) == 0) {                                                                     \
            T c = *z;                                                                                                \
            LOOP(T a = x[i]; T b = y[i]; T r = (T)(f); out[i] = (T)(e))                                              \
        } else {                                                                                                     \
            T b = *y, c = *z;                                                                                        \
            LOOP(T a = x[i]; T r = (T)(f); out[i] = (T)(e))                                                          \
        }                                                                                                            \
        return 0;                                                                                                    \
    }
#define FUSED_AFTER(S, T, name, f)                                                                                   \
    FUSED(name##_add_##S, T, f, r + c)                                                                               \
    FUSED(name##_sub_##S, T, f, r - c)                                                                               \
    FUSED(name##_from_##S, T, f, c - r)                                                                              \
    FUSED(name##_mul_##S, T, f, r *c)
#define ALL_FUSED(S, T)                                                                                              \
    FUSED_AFTER(S, T, add, a + b)                                                                                    \
    FUSED_AFTER(S, T, sub, a - b)                                                                                    \
    FUSED_AFTER(S, T, mul, a *b)
ALL_FUSED(f32, float)
ALL_FUSED(f64, double)
#undef ALL_FUSED
#undef FUSED_AFTER
#undef FUSED

#define FLOAT_FN(name)  name##f
#define DOUBLE_FN(name) name
REALS(f32, float, FLOAT_FN)
REALS(f64, double, DOUBLE_FN)
UNARY(to_real_i64, int64_t, double, a)
UNARY(to_real_f32, float, double, a)
#undef FLOAT_FN
#undef DOUBLE_FN
#undef REALS

/* -------------------------------------------------------------------- comparisons, copies and blends */

/* A blend whose condition is one value copies one side. */
#define BLEND(name, T)                                                                                               \
    static int64_t ISA(name)(int n, unsigned form, const void *xs, const void *ys, const void *zs, void *os)         \
    {                                                                                                                \
        const int64_t *x = xs;                                                                                       \
        const T *y = ys, *z = zs;                                                                                    \
        T *out = os;                                                                                                 \
        if ((form & LACIS_FORM_X) != 0) {                                                                            \
            const T *side = *x != 0 ? y : z;                                                                         \
            bool one = (form & (*x != 0 ? LACIS_FORM_Y : LACIS_FORM_Z)) != 0;                                        \
            T a = *side;                                                                                             \
            LOOP(out[i] = one ? a : side[i])                                                                         \
            return 0;                                                                                                \
        }                                                                                                            \
        T b = *y, c = *z;                                                                                            \
        if (form == 0) {                                                                                             \
            LOOP(T l = y[i]; T r = z[i]; out[i] = x[i] != 0 ? l : r)                                                 \
        } else if (form == LACIS_FORM_Y) {                                                                           \
            LOOP(T r = z[i]; out[i] = x[i] != 0 ? b : r)                                                             \
        } else if (form == LACIS_FORM_Z) {                                                                           \
            LOOP(T l = y[i]; out[i] = x[i] != 0 ? l : c)                                                             \
        } else {                                                                                                     \
            LOOP(out[i] = x[i] != 0 ? b : c)                                                                         \
        }                                                                                                            \
        return 0;                                                                                                    \
    }

#define EVERY_TYPE(S, T)                                                                                             \
    BINARY(eq_##S, T, int64_t, a == b)                                                                               \
    BINARY(ne_##S, T, int64_t, a != b)                                                                               \
    BINARY(lt_##S, T, int64_t, a < b)                                                                                \
    BINARY(le_##S, T, int64_t, a <= b)                                                                               \
    UNARY(copy_##S, T, T, a)                                                                                         \
    BLEND(blend_##S, T)
EVERY_TYPE(i64, int64_t)
EVERY_TYPE(f32, float)
EVERY_TYPE(f64, double)
BINARY(gt_i64, int64_t, int64_t, a > b)
BINARY(ge_i64, int64_t, int64_t, a >= b)
BINARY(gt_f32, float, int64_t, a > b)
BINARY(ge_f32, float, int64_t, a >= b)
BINARY(gt_f64, double, int64_t, a > b)
BINARY(ge_f64, double, int64_t, a >= b)
#undef EVERY_TYPE

/* ------------------------------------------------------------------------------------------ complex */

/* As UNARY and BINARY, for what is not a number of C: out[i] = e, an R already. */
#define UNARY_PAIR(name, T, R, e)                                                                                    \
    static int64_t ISA(name)(int n, unsigned form, const void *xs, const void *ys, const void *zs, void *os)         \
    {                                                                                                                \
        const T *x = xs;                                                                                             \
        R *out = os;                                                                                                 \
        (void)form, (void)ys, (void)zs;                                                                              \
        LOOP(T a = x[i]; out[i] = e) return 0;                                                                       \
    }
#define BINARY_PAIR(name, T, R, e)                                                                                   \
    static int64_t ISA(name)(int n, unsigned form, const void *xs, const void *ys, const void *zs, void *os)         \
    {                                                                                                                \
        const T *x = xs, *y = ys;                                                                                    \
        R *out = os;                                                                                                 \
        (void)zs;                                                                                                    \
        if (form == 0) {                                                                                             \
            LOOP(T a = x[i]; T b = y[i]; out[i] = e)                                                                 \
        } else if (form == LACIS_FORM_X) {                                                                           \
            T a = *x;                                                                                                \
            LOOP(T b = y[i]; out[i] = e)                                                                             \
        } else {                                                                                                     \
            T b = *y;                                                                                                \
            LOOP(T a = x[i]; out[i] = e)                                                                             \
        }                                                                                                            \
        return 0;                                                                                                    \
    }
#define PAIR(re, im) ((lacis_pair){re, im})
BINARY_PAIR(add_c128, lacis_pair, lacis_pair, PAIR(a.re + b.re, a.im + b.im))
BINARY_PAIR(sub_c128, lacis_pair, lacis_pair, PAIR(a.re - b.re, a.im - b.im))
BINARY_PAIR(mul_c128, lacis_pair, lacis_pair, pair_times(a, b))
BINARY_PAIR(div_c128, lacis_pair, lacis_pair, pair_over(a, b))
BINARY_PAIR(eq_c128, lacis_pair, int64_t, (a.re == b.re) & (a.im == b.im))
BINARY_PAIR(ne_c128, lacis_pair, int64_t, (a.re != b.re) | (a.im != b.im))
BINARY_PAIR(complex_f64, double, lacis_pair, PAIR(a, b))
UNARY_PAIR(neg_c128, lacis_pair, lacis_pair, PAIR(-a.re, -a.im))
UNARY_PAIR(conj_c128, lacis_pair, lacis_pair, PAIR(a.re, -a.im))
UNARY_PAIR(copy_c128, lacis_pair, lacis_pair, a)
UNARY_PAIR(load_c64, struct narrow_pair, lacis_pair, PAIR((double)a.re, (double)a.im))
UNARY_PAIR(re_c128, lacis_pair, double, a.re)
UNARY_PAIR(im_c128, lacis_pair, double, a.im)
UNARY_PAIR(abs_c128, lacis_pair, double, hypot(a.re, a.im))
UNARY_PAIR(arg_c128, lacis_pair, double, atan2(a.im, a.re))
BLEND(blend_c128, lacis_pair)
#undef PAIR
#undef UNARY_PAIR
#undef BINARY_PAIR
#undef BLEND

#define ALL(name)                                                                                                    \
    {                                                                                                                \
        ISA(name##_i64), ISA(name##_f32), ISA(name##_f64)                                                            \
    }
#define REAL(name)                                                                                                   \
    {                                                                                                                \
        NULL, ISA(name##_f32), ISA(name##_f64)                                                                       \
    }
#define PAIRS(name)                                                                                                  \
    {                                                                                                                \
        ISA(name##_i64), ISA(name##_f32), ISA(name##_f64), ISA(name##_c128)                                          \
    }
#define PAIR(name)                                                                                                   \
    {                                                                                                                \
        NULL, NULL, NULL, ISA(name##_c128)                                                                           \
    }
#define WHOLE(name)                                                                                                  \
    {                                                                                                                \
        ISA(name), NULL, NULL                                                                                        \
    }

static const lacis_steps ISA(steps) = {
    ISA_NAME,
    {
        [LACIS_NODE_OR] = WHOLE(bitor_i64),
        [LACIS_NODE_AND] = WHOLE(bitand_i64),
        [LACIS_NODE_NOT] = WHOLE(not_i64),
        [LACIS_NODE_EQ] = PAIRS(eq),
        [LACIS_NODE_NE] = PAIRS(ne),
        [LACIS_NODE_LT] = ALL(lt),
        [LACIS_NODE_LE] = ALL(le),
        [LACIS_NODE_GT] = ALL(gt),
        [LACIS_NODE_GE] = ALL(ge),
        [LACIS_NODE_BITAND] = WHOLE(bitand_i64),
        [LACIS_NODE_BITOR] = WHOLE(bitor_i64),
        [LACIS_NODE_SHL] = WHOLE(shl_i64),
        [LACIS_NODE_SHR] = WHOLE(shr_i64),
        [LACIS_NODE_ADD] = PAIRS(add),
        [LACIS_NODE_SUB] = PAIRS(sub),
        [LACIS_NODE_MUL] = PAIRS(mul),
        [LACIS_NODE_DIV] = PAIRS(div),
        [LACIS_NODE_MOD] = ALL(mod),
        [LACIS_NODE_NEG] = PAIRS(neg),
        [LACIS_NODE_BITNOT] = WHOLE(bitnot_i64),
        [LACIS_NODE_ABS] = PAIRS(abs),
        [LACIS_NODE_MIN] = ALL(min),
        [LACIS_NODE_MAX] = ALL(max),
        [LACIS_NODE_SQRT] = REAL(sqrt),
        [LACIS_NODE_EXP] = REAL(exp),
        [LACIS_NODE_LN] = REAL(ln),
        [LACIS_NODE_LOG2] = REAL(log2),
        [LACIS_NODE_LOG10] = REAL(log10),
        [LACIS_NODE_POW] = REAL(pow),
        [LACIS_NODE_FLOOR] = REAL(floor),
        [LACIS_NODE_CEIL] = REAL(ceil),
        [LACIS_NODE_ROUND] = REAL(round),
        [LACIS_NODE_SIGN] = ALL(sign),
        [LACIS_NODE_SIN] = REAL(sin),
        [LACIS_NODE_COS] = REAL(cos),
        [LACIS_NODE_TAN] = REAL(tan),
        [LACIS_NODE_TANH] = REAL(tanh),
        [LACIS_NODE_ATAN2] = REAL(atan2),
        [LACIS_NODE_HYPOT] = REAL(hypot),
        [LACIS_NODE_COMPLEX] = {NULL, NULL, ISA(complex_f64), NULL},
        [LACIS_NODE_RE] = PAIR(re),
        [LACIS_NODE_IM] = PAIR(im),
        [LACIS_NODE_CONJ] = PAIR(conj),
        [LACIS_NODE_ARG] = PAIR(arg),
        [LACIS_NODE_TO_INT] = REAL(to_int),
        [LACIS_NODE_TO_REAL] = {ISA(to_real_i64), ISA(to_real_f32), NULL},
        [LACIS_STEP_COPY] = PAIRS(copy),
        [LACIS_STEP_LOAD] = {ISA(load_i32), NULL, NULL, ISA(load_c64)},
        [LACIS_STEP_BLEND] = PAIRS(blend),
        [LACIS_STEP_ADD_SAFE] = WHOLE(add_safe),
        [LACIS_STEP_SUB_SAFE] = WHOLE(sub_safe),
        [LACIS_STEP_MUL_NARROW] = WHOLE(mul_narrow),
        [LACIS_STEP_MEMBER] = WHOLE(member_i64),
        [LACIS_STEP_FUSED] = REAL(add_add),
        [LACIS_STEP_FUSED + 1] = REAL(add_sub),
        [LACIS_STEP_FUSED + 2] = REAL(add_from),
        [LACIS_STEP_FUSED + 3] = REAL(add_mul),
        [LACIS_STEP_FUSED + 4] = REAL(sub_add),
        [LACIS_STEP_FUSED + 5] = REAL(sub_sub),
        [LACIS_STEP_FUSED + 6] = REAL(sub_from),
        [LACIS_STEP_FUSED + 7] = REAL(sub_mul),
        [LACIS_STEP_FUSED + 8] = REAL(mul_add),
        [LACIS_STEP_FUSED + 9] = REAL(mul_sub),
        [LACIS_STEP_FUSED + 10] = REAL(mul_from),
        [LACIS_STEP_FUSED + 11] = REAL(mul_mul),
    },
};

#undef ALL
#undef PAIRS
#undef PAIR
#undef REAL
#undef WHOLE
#undef WRAP
#undef UNARY
#undef UNARY_CHECKED
#undef BINARY
#undef BINARY_CHECKED
#undef LOOP
