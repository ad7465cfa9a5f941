/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of one kind as another: cells to the caller's storage, operands to the job's type. Called a block or strip
 * at a time. Narrowing is the caller's promise that values fit.
 */
#include "multiply/inside.h"

#include <string.h>

#define COPY_LOOP(TO, FROM)                                                                                          \
    {                                                                                                                \
        TO *restrict y = out;                                                                                        \
        const FROM *restrict x = in;                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                                              \
            y[i] = (TO)x[i];                                                                                         \
        break;                                                                                                       \
    }

#define CONVERT_TO(name, TO)                                                                                         \
    static void name(int64_t n, mul_kind from, const void *in, void *out)                                            \
    {                                                                                                                \
        switch (from) {                                                                                              \
        case LACIS_MUL_TO_U8:                                                                                        \
            COPY_LOOP(TO, uint8_t)                                                                                   \
        case LACIS_MUL_TO_U16:                                                                                       \
            COPY_LOOP(TO, uint16_t)                                                                                  \
        case LACIS_MUL_TO_U32:                                                                                       \
            COPY_LOOP(TO, uint32_t)                                                                                  \
        case LACIS_MUL_TO_I32:                                                                                       \
            COPY_LOOP(TO, int32_t)                                                                                   \
        case LACIS_MUL_TO_I64:                                                                                       \
            COPY_LOOP(TO, int64_t)                                                                                   \
        case LACIS_MUL_TO_F32:                                                                                       \
            COPY_LOOP(TO, float)                                                                                     \
        case LACIS_MUL_TO_F64:                                                                                       \
            COPY_LOOP(TO, double)                                                                                    \
        case LACIS_MUL_TO_C128: /* stays what it is */                                                               \
            break;                                                                                                   \
        }                                                                                                            \
    }

CONVERT_TO(to_u8, uint8_t)
CONVERT_TO(to_u16, uint16_t)
CONVERT_TO(to_u32, uint32_t)
CONVERT_TO(to_i32, int32_t)
CONVERT_TO(to_i64, int64_t)
CONVERT_TO(to_f32, float)
CONVERT_TO(to_f64, double)

/* Numbers become complex through doubles, a strip of them at a time on the stack. */
static void to_c128(int64_t n, mul_kind from, const void *in, void *out)
{
    double part[LACIS_MUL_STRIP];
    mul_pair *y = out;
    if (from == LACIS_MUL_TO_C128) {
        memcpy(out, in, (size_t)n * sizeof *y);
        return;
    }
    for (int64_t at = 0; at < n; at += LACIS_MUL_STRIP) {
        const int64_t now = n - at < LACIS_MUL_STRIP ? n - at : LACIS_MUL_STRIP;
        to_f64(now, from, (const char *)in + (at << mul_log2_bytes(from)), part);
        for (int64_t i = 0; i < now; i++)
            y[at + i] = (mul_pair){part[i], 0};
    }
}

void lacis_mul_convert(int64_t n, mul_kind from, const void *in, mul_kind to, void *out)
{
    static void (*const table[])(int64_t, mul_kind, const void *, void *) = {to_u8,  to_u16, to_u32, to_i32,
                                                                             to_i64, to_f32, to_f64, to_c128};
    table[to](n, from, in, out);
}

mul_kind lacis_mul_kind_of(lacis_mul_type type)
{
    static const mul_kind kinds[] = {LACIS_MUL_TO_I32, LACIS_MUL_TO_I64, LACIS_MUL_TO_F32, LACIS_MUL_TO_F64,
                                     LACIS_MUL_TO_C128};
    return kinds[type];
}
