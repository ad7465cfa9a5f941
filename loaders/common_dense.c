/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of dense matrices and vectors; see common_dense.h.
 */
#include "common_dense.h"

#include "common_generate.h"

void lacis_dense_element(const lacis_symmetric *a, int64_t matrix, int64_t i, int64_t j, double *word)
{
    bool stored = a->upper ? i <= j : i >= j;
    int64_t place = stored ? lacis_symmetric_place(a, matrix, i, j) : lacis_symmetric_place(a, matrix, j, i);
    lacis_dense_get(a->values, a->dtype, place, word);
    if (!a->hermitian || (stored && i != j)) return;
    word[2] = i == j ? 0 : -word[2];
    word[3] = i == j ? 0 : -word[3];
}

static bool equal(double a, double b)
{
    return a == b || (a != a && b != b);
}

void lacis_dense_compare(const double *x, const double *y, bool *same, bool *conjugate)
{
    bool real = equal(x[0], y[0]) && equal(x[1], y[1]);
    *same = *same && real && equal(x[2], y[2]) && equal(x[3], y[3]);
    *conjugate = *conjugate && real && equal(x[2], -y[2]) && equal(x[3], -y[3]);
}

lacis_status lacis_dense_room(lacis_run *run, const char *what, int64_t places, lacis_dtype dtype)
{
    uint64_t size = lacis_dtype_size(dtype), left = lacis_run_memory_left(run);
    if (places < 0 || (uint64_t)places > (uint64_t)INT64_MAX / size)
        return lacis_run_fail(run, LACIS_RANGE, "%s would have more elements than can be counted", what);
    if ((uint64_t)places * size <= left) return LACIS_OK;
    return lacis_run_fail(run, LACIS_LIMIT,
                          "%s would need %.4g MB, and memory_limit leaves %.4g MB; make it smaller or raise "
                          "memory_limit",
                          what, (double)places * (double)size / 1e6, (double)left / 1e6);
}

void lacis_dense_random(uint64_t key, double *word)
{
    for (int k = 0; k < 4; k += 2) {
        word[k] = 2 * lacis_unit(lacis_mix(key + (uint64_t)k)) - 1;
        /* at most half of what the high word's last bit stands for */
        word[k + 1] = word[k] * (2 * lacis_unit(lacis_mix(key + (uint64_t)k + 1)) - 1) * 0x1p-54;
    }
}
