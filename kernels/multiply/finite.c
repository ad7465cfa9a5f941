/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether B holds neither NaN nor infinity: then MIN and MAX need not look for NaN in each slice. Called by run.c.
 */
#include "common/parallel.h"
#include "multiply/inside.h"

enum { TASK_ROWS = 1 << 14, WORTH = 16 /* products a value of B */ };

/* x - x is 0 for finite x only. */
#define ALL_FINITE(name, T)                                                                                          \
    static bool name(const T *value, int64_t n)                                                                      \
    {                                                                                                                \
        int odd = 0;                                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                                              \
            odd |= value[i] - value[i] != 0;                                                                         \
        return !odd;                                                                                                 \
    }
ALL_FINITE(finite_f32, float)
ALL_FINITE(finite_f64, double)

static int finite_rows(void *context, int64_t task, int worker)
{
    const lacis_mul_matrix *b = context;
    const int64_t first = task * TASK_ROWS, last = b->rows - first < TASK_ROWS ? b->rows : first + TASK_ROWS;
    (void)worker;
    for (int64_t r = first; r < last; r++) {
        const int64_t at = b->begin[r], n = b->end[r] - at;
        if (!(b->type == LACIS_MUL_F32 ? finite_f32((const float *)b->value + at, n)
                                       : finite_f64((const double *)b->value + at, n)))
            return 1;
    }
    return 0;
}

bool lacis_mul_all_finite(const lacis_mul_job *job, uint64_t products)
{
    const lacis_mul_matrix *b = &job->b;
    if (!b->value) return true;
    if (b->type != LACIS_MUL_F32 && b->type != LACIS_MUL_F64) return true;
    if (products / WORTH < (uint64_t)b->rows) return false;
    uint64_t values = 0;
    for (int64_t r = 0; r < b->rows; r++)
        values += (uint64_t)(b->end[r] - b->begin[r]);
    if (products / WORTH < values) return false;
    const int64_t tasks = b->rows / TASK_ROWS + 1;
    return lacis_parallel(job->threads, tasks, finite_rows, (void *)b) == 0;
}
