/* SPDX-License-Identifier: Apache-2.0
 *
 * Collapsing by rule and type; see common_collapse.h.
 */
#include "common_collapse.h"

#include "common_sort.h"

#include <math.h>
#include <string.h>

/* Real sums of three and more sort their terms first. */
static bool needs_space(const lacis_collapse *c)
{
    return c->values != NULL && c->rule == LACIS_DUPLICATES_SUM &&
           (c->storage == LACIS_F32 || c->storage == LACIS_F64 || c->storage == LACIS_C128);
}

uint64_t lacis_collapse_space(const lacis_collapse *c, int64_t from, int64_t to)
{
    return needs_space(c) ? (uint64_t)(to - from) * sizeof(uint64_t) : 0;
}

/* The sum of every `step`-th double from `value` on, in an order that the values alone decide. */
static double sum_real(const double *value, int64_t count, int step, uint64_t *space)
{
    if (count == 2) return value[0] + value[step];
    for (int64_t i = 0; i < count; i++) {
        memcpy(&space[i], &value[i * step], sizeof(double));
    }
    lacis_sort_u64(space, count);
    double sum = 0, term;
    for (int64_t i = 0; i < count; i++) {
        memcpy(&term, &space[i], sizeof term);
        sum = i == 0 ? term : sum + term;
    }
    return sum;
}

static float sum_float(const float *value, int64_t count, uint64_t *space)
{
    for (int64_t i = 0; i < count; i++) {
        double wide = (double)value[i];
        memcpy(&space[i], &wide, sizeof wide);
    }
    lacis_sort_u64(space, count);
    double sum = 0, term;
    for (int64_t i = 0; i < count; i++) {
        memcpy(&term, &space[i], sizeof term);
        sum = i == 0 ? term : sum + term;
    }
    return (float)sum;
}

static bool sum_integer(const lacis_collapse *c, int64_t from, int64_t to, int64_t *out)
{
    int64_t sum = 0;
    for (int64_t i = from; i < to; i++) {
        if (__builtin_add_overflow(sum, lacis_value_int64(c->values, c->storage, i), &sum)) return false;
    }
    *out = sum;
    return c->storage == LACIS_I64 || (sum >= INT32_MIN && sum <= INT32_MAX);
}

static bool sum_group(const lacis_collapse *c, int64_t from, int64_t to)
{
    int64_t sum;
    switch (c->storage) {
    case LACIS_F64:
        ((double *)c->values)[c->out] = sum_real((double *)c->values + from, to - from, 1, c->space);
        return true;
    case LACIS_F32:
        ((float *)c->values)[c->out] = sum_float((float *)c->values + from, to - from, c->space);
        return true;
    case LACIS_C128: {
        double *all = c->values;
        double re = sum_real(all + 2 * from, to - from, 2, c->space);
        double im = sum_real(all + 2 * from + 1, to - from, 2, c->space);
        all[2 * c->out] = re;
        all[2 * c->out + 1] = im;
        return true;
    }
    default:
        if (!sum_integer(c, from, to, &sum)) return false;
        if (c->storage == LACIS_I32)
            ((int32_t *)c->values)[c->out] = (int32_t)sum;
        else
            ((int64_t *)c->values)[c->out] = sum;
        return true;
    }
}

/* Index of the least or greatest of a group; nan counts as neither unless there is nothing else. */
static int64_t extreme(const lacis_collapse *c, int64_t from, int64_t to, bool greatest)
{
    bool real = c->storage == LACIS_F32 || c->storage == LACIS_F64;
    int64_t best = from;
    for (int64_t i = from + 1; i < to; i++) {
        bool better;
        if (real) {
            double x = lacis_value_double(c->values, c->storage, i);
            double y = lacis_value_double(c->values, c->storage, best);
            better = isnan(y) || (greatest ? x > y : x < y);
        } else {
            int64_t x = lacis_value_int64(c->values, c->storage, i);
            int64_t y = lacis_value_int64(c->values, c->storage, best);
            better = greatest ? x > y : x < y;
        }
        if (better) best = i;
    }
    return best;
}

static void keep(const lacis_collapse *c, int64_t from)
{
    size_t size = lacis_dtype_size(c->storage);
    memmove((char *)c->values + (size_t)c->out * size, (char *)c->values + (size_t)from * size, size);
}

/* Entries [from, to) share a column. */
static lacis_status collapse_group(lacis_collapse *c, int64_t from, int64_t to)
{
    if (c->rule == LACIS_DUPLICATES_COUNT)
        ((uint32_t *)c->values)[c->out] = (uint32_t)(to - from);
    else if (c->values != NULL && (to - from == 1 || c->rule == LACIS_DUPLICATES_FIRST))
        keep(c, from);
    else if (c->values != NULL && c->rule == LACIS_DUPLICATES_LAST)
        keep(c, to - 1);
    else if (c->values != NULL && (c->rule == LACIS_DUPLICATES_MIN || c->rule == LACIS_DUPLICATES_MAX))
        keep(c, extreme(c, from, to, c->rule == LACIS_DUPLICATES_MAX));
    else if (c->values != NULL && !sum_group(c, from, to))
        return LACIS_OVERFLOW;
    c->columns[c->out++] = c->columns[from];
    return LACIS_OK;
}

lacis_status lacis_collapse_row(lacis_collapse *c, int64_t from, int64_t to)
{
    for (int64_t i = from, next; i < to; i = next) {
        for (next = i + 1; next < to && c->columns[next] == c->columns[i];) {
            next++;
        }
        LACIS_TRY(collapse_group(c, i, next));
    }
    return LACIS_OK;
}
