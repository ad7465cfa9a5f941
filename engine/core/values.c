/* SPDX-License-Identifier: Apache-2.0
 *
 * Single elements and whole stretches of stored values in other types, and labels of indices.
 */
#include "core/run.h"

int64_t lacis_label(const int64_t *labels, int64_t base, int64_t index)
{
    return labels != NULL ? labels[index] : base + index;
}

int64_t lacis_label_lower(const int64_t *labels, int64_t base, int64_t count, int64_t label)
{
    if (labels == NULL) {
        if (label <= base) return 0;
        uint64_t distance = (uint64_t)label - (uint64_t)base;
        return distance >= (uint64_t)count ? count : (int64_t)distance;
    }
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (labels[middle] < label) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t lacis_label_find(const int64_t *labels, int64_t base, int64_t count, int64_t label)
{
    int64_t at = lacis_label_lower(labels, base, count, label);
    return at < count && lacis_label(labels, base, at) == label ? at : -1;
}

int64_t lacis_value_int64(const void *data, lacis_dtype storage, int64_t index)
{
    switch (storage) {
    case LACIS_PATTERN:
        return 1;
    case LACIS_U8:
        return ((const uint8_t *)data)[index];
    case LACIS_U16:
        return ((const uint16_t *)data)[index];
    case LACIS_U32:
        return ((const uint32_t *)data)[index];
    case LACIS_I32:
        return ((const int32_t *)data)[index];
    case LACIS_I64:
        return ((const int64_t *)data)[index];
    default:
        return (int64_t)lacis_value_double(data, storage, index);
    }
}

double lacis_value_double(const void *data, lacis_dtype storage, int64_t index)
{
    switch (storage) {
    case LACIS_F32:
        return (double)((const float *)data)[index];
    case LACIS_F64:
        return ((const double *)data)[index];
    case LACIS_C64:
        return (double)((const float *)data)[2 * index];
    case LACIS_C128:
        return ((const double *)data)[2 * index];
    case LACIS_DD:
        return ((const double *)data)[2 * index] + ((const double *)data)[2 * index + 1];
    case LACIS_CDD:
        return ((const double *)data)[4 * index] + ((const double *)data)[4 * index + 1];
    default:
        return (double)lacis_value_int64(data, storage, index);
    }
}

/* One loop for each pair of plain types; gcc turns them into vector code. */
#define COPY(from_t, to_t)                                                                                           \
    for (int64_t i = 0; i < count; i++)                                                                              \
        ((to_t *)to)[i] = (to_t)((const from_t *)from)[first + i];                                                   \
    return

#define COPY_TO(to_t)                                                                                                \
    switch (from_type) {                                                                                             \
    case LACIS_PATTERN:                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                          \
            ((to_t *)to)[i] = 1;                                                                                     \
        return;                                                                                                      \
    case LACIS_U8:                                                                                                   \
        COPY(uint8_t, to_t);                                                                                         \
    case LACIS_U16:                                                                                                  \
        COPY(uint16_t, to_t);                                                                                        \
    case LACIS_U32:                                                                                                  \
        COPY(uint32_t, to_t);                                                                                        \
    case LACIS_I32:                                                                                                  \
        COPY(int32_t, to_t);                                                                                         \
    case LACIS_I64:                                                                                                  \
        COPY(int64_t, to_t);                                                                                         \
    case LACIS_F32:                                                                                                  \
        COPY(float, to_t);                                                                                           \
    case LACIS_F64:                                                                                                  \
        COPY(double, to_t);                                                                                          \
    default:                                                                                                         \
        for (int64_t i = 0; i < count; i++)                                                                          \
            ((to_t *)to)[i] = (to_t)lacis_value_double(from, from_type, first + i);                                  \
        return;                                                                                                      \
    }

static void set_pair(void *to, lacis_dtype to_type, int64_t index, double value, double second)
{
    if (to_type == LACIS_C64) {
        ((float *)to)[2 * index] = (float)value;
        ((float *)to)[2 * index + 1] = (float)second;
    } else {
        ((double *)to)[2 * index] = value;
        ((double *)to)[2 * index + 1] = second;
    }
}

/* The four words of a value: real high, real low, imaginary high, imaginary low. */
static void words_of(const void *from, lacis_dtype type, int64_t index, double *word)
{
    const double *d = from;
    word[1] = word[2] = word[3] = 0;
    if (type == LACIS_CDD) {
        for (int k = 0; k < 4; k++)
            word[k] = d[4 * index + k];
    } else if (type == LACIS_DD) {
        word[0] = d[2 * index];
        word[1] = d[2 * index + 1];
    } else if (type == LACIS_I64) { /* 64 bits do not fit one double */
        int64_t value = ((const int64_t *)from)[index];
        word[0] = (double)value;
        word[1] = (double)(value - (__int128)word[0]);
    } else {
        word[0] = lacis_value_double(from, type, index);
        if (type == LACIS_C64) word[2] = (double)((const float *)from)[2 * index + 1];
        if (type == LACIS_C128) word[2] = d[2 * index + 1];
    }
}

static void put_words(void *to, lacis_dtype type, int64_t index, const double *word)
{
    double *d = to;
    switch (type) {
    case LACIS_CDD:
        for (int k = 0; k < 4; k++)
            d[4 * index + k] = word[k];
        break;
    case LACIS_DD:
        set_pair(to, type, index, word[0], word[1]);
        break;
    default:
        set_pair(to, type, index, word[0] + word[1], word[2] + word[3]);
        break;
    }
}

void lacis_values_convert(const void *from, lacis_dtype from_type, int64_t first, int64_t count, void *to,
                          lacis_dtype to_type)
{
    switch (to_type) {
    case LACIS_U8:
        COPY_TO(uint8_t)
    case LACIS_U16:
        COPY_TO(uint16_t)
    case LACIS_U32:
        COPY_TO(uint32_t)
    case LACIS_I32:
        COPY_TO(int32_t)
    case LACIS_I64:
        COPY_TO(int64_t)
    case LACIS_F32:
        COPY_TO(float)
    case LACIS_F64:
        COPY_TO(double)
    case LACIS_PATTERN:
        return;
    default:
        break;
    }
    for (int64_t i = 0; i < count; i++) {
        double word[4];
        words_of(from, from_type, first + i, word);
        put_words(to, to_type, i, word);
    }
}
