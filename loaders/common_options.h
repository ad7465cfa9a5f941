/* SPDX-License-Identifier: Apache-2.0
 *
 * Options that several loaders share, and reading them. A loader called without options behaves as by default.
 */
#ifndef LACIS_LOADERS_OPTIONS_H
#define LACIS_LOADERS_OPTIONS_H

#include "common_edges.h"

/* The words of option `type`, and what they mean. */
#define LACIS_TYPE_WORDS "i32|i64|f32|f64|pattern"

#define LACIS_OPTION_DIRECTED                                                                                        \
    {                                                                                                                \
        .name = "directed", .form = 'b', .otherwise = "true", .help = "false: each edge also stands for its reverse" \
    }
#define LACIS_OPTION_DUPLICATES                                                                                      \
    {                                                                                                                \
        .name = "duplicates", .form = 'w', .words = LACIS_DUPLICATES_WORDS, .otherwise = "sum",                      \
        .help = "what becomes of the values of several entries at one place (patterns keep one)"                     \
    }
#define LACIS_OPTION_TYPE                                                                                            \
    {                                                                                                                \
        .name = "type", .form = 'w', .words = LACIS_TYPE_WORDS,                                                      \
        .help = "of the values; by default i64 or f64, as they are found"                                            \
    }

static inline const lacis_option_value *lacis_option_set(const lacis_options *options, const char *name)
{
    const lacis_option_value *value = options != NULL ? lacis_option(options, name) : NULL;
    return value != NULL && value->text != NULL ? value : NULL;
}

/* Where its value stands in the statement, for errors. */
static inline int64_t lacis_option_offset(const lacis_options *options, const char *name)
{
    const lacis_option_value *value = lacis_option_set(options, name);
    return value != NULL && value->given ? value->offset : -1;
}

static inline int64_t lacis_option_integer(const lacis_options *options, const char *name, int64_t otherwise)
{
    const lacis_option_value *value = lacis_option_set(options, name);
    return value != NULL ? value->integer : otherwise;
}

static inline const char *lacis_option_text(const lacis_options *options, const char *name)
{
    const lacis_option_value *value = lacis_option_set(options, name);
    return value != NULL ? value->text : NULL;
}

static inline lacis_duplicates lacis_option_duplicates(const lacis_options *options)
{
    return (lacis_duplicates)lacis_option_integer(options, "duplicates", LACIS_DUPLICATES_SUM);
}

static inline int lacis_option_type(const lacis_options *options)
{
    static const lacis_dtype types[] = {LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64, LACIS_PATTERN};
    const lacis_option_value *value = lacis_option_set(options, "type");
    return value != NULL ? (int)types[value->integer] : LACIS_TYPE_FOUND;
}

static inline lacis_mirror lacis_option_mirror(const lacis_options *options)
{
    return lacis_option_integer(options, "directed", 1) != 0 ? LACIS_MIRROR_NONE : LACIS_MIRROR_SAME;
}

#endif
