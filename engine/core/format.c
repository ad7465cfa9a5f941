/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as text, and names and sizes of element types.
 */
#include "core/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void tidy_special(double value, char *text)
{
    if (isnan(value)) {
        snprintf(text, LACIS_NUMBER_TEXT, "nan");
    } else {
        snprintf(text, LACIS_NUMBER_TEXT, value < 0 ? "-inf" : "inf");
    }
}

/* Reals always look like reals: 3 is written 3.0. */
static void add_point(char *text)
{
    if (strpbrk(text, ".en") == NULL) strcat(text, ".0");
}

void lacis_format_double(double value, char *text)
{
    if (!isfinite(value)) {
        tidy_special(value, text);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, LACIS_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    add_point(text);
}

void lacis_format_float(float value, char *text)
{
    if (!isfinite(value)) {
        tidy_special((double)value, text);
        return;
    }
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, LACIS_NUMBER_TEXT, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    add_point(text);
}

const char *lacis_format_bytes(uint64_t bytes, char *text)
{
    static const char *const unit[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    int i = 0;
    while (value >= 999.5 && i < 6) {
        value /= 1000;
        i++;
    }
    snprintf(text, LACIS_NUMBER_TEXT, i > 0 && value < 99.95 ? "%.1f %s" : "%.0f %s", value, unit[i]);
    return text;
}

const char *lacis_dtype_name(lacis_dtype dtype)
{
    static const char *const name[] = {
        [LACIS_PATTERN] = "pattern", [LACIS_U8] = "u8",     [LACIS_U16] = "u16", [LACIS_U32] = "u32",
        [LACIS_I32] = "i32",         [LACIS_I64] = "i64",   [LACIS_F32] = "f32", [LACIS_F64] = "f64",
        [LACIS_C64] = "c64",         [LACIS_C128] = "c128", [LACIS_DD] = "dd",   [LACIS_CDD] = "cdd",
    };
    return (size_t)dtype < sizeof name / sizeof name[0] ? name[dtype] : "unknown";
}

const char *lacis_dtype_words(lacis_dtype dtype)
{
    static const char *const words[] = {
        [LACIS_PATTERN] = "no values",
        [LACIS_U8] = "8-bit counts",
        [LACIS_U16] = "16-bit counts",
        [LACIS_U32] = "32-bit counts",
        [LACIS_I32] = "32-bit integers",
        [LACIS_I64] = "64-bit integers",
        [LACIS_F32] = "single precision",
        [LACIS_F64] = "double precision",
        [LACIS_C64] = "complex, single precision",
        [LACIS_C128] = "complex, double precision",
        [LACIS_DD] = "double-double, 32 digits",
        [LACIS_CDD] = "complex double-double, 32 digits",
    };
    return (size_t)dtype < sizeof words / sizeof words[0] ? words[dtype] : "unknown";
}

const char *lacis_isa_words(const char *name)
{
    static const char *const words[][2] = {
        {"avx512", "AVX-512"}, {"avx2", "AVX2"}, {"baseline", "those that every such processor has"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], name) == 0) return words[i][1];
    return name;
}

size_t lacis_dtype_size(lacis_dtype dtype)
{
    static const unsigned char size[] = {
        [LACIS_PATTERN] = 0, [LACIS_U8] = 1,  [LACIS_U16] = 2, [LACIS_U32] = 4,   [LACIS_I32] = 4, [LACIS_I64] = 8,
        [LACIS_F32] = 4,     [LACIS_F64] = 8, [LACIS_C64] = 8, [LACIS_C128] = 16, [LACIS_DD] = 16, [LACIS_CDD] = 32,
    };
    return (size_t)dtype < sizeof size / sizeof size[0] ? size[dtype] : 0;
}
