/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of dense symmetric matrices, over the stored triangle, in blocks of columns or, of a batch, of matrices; see
 * totals.c.
 */
#include "core/symmetric.h"
#include "core/totals.h"

enum { BLOCK = 1 << 16 }; /* elements, about */

typedef struct symmetric_job {
    lacis_symmetric a;
    int64_t each; /* columns or matrices of a block */
    lacis_totals *block;
} symmetric_job;

static void add_column(const lacis_symmetric *a, int64_t matrix, int64_t j, lacis_totals *totals)
{
    int64_t first, end;
    lacis_symmetric_column(a, matrix, j, &first, &end);
    lacis_totals_values(a->values, a->dtype, lacis_symmetric_place(a, matrix, first, j), end - first, totals);
}

static lacis_status columns_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const symmetric_job *work = context;
    lacis_totals *totals = &work->block[task];
    lacis_totals_init(totals);
    for (int64_t j = task * work->each; j < (task + 1) * work->each && j < work->a.n; j++)
        add_column(&work->a, 0, j, totals);
    return LACIS_OK;
}

static lacis_status matrices_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const symmetric_job *work = context;
    const lacis_symmetric *a = &work->a;
    lacis_totals *totals = &work->block[task];
    lacis_totals_init(totals);
    for (int64_t m = task * work->each; m < (task + 1) * work->each && m < a->matrices; m++)
        for (int64_t j = 0; j < lacis_symmetric_order(a, m); j++)
            add_column(a, m, j, totals);
    return LACIS_OK;
}

/* Of the keys i and j of one matrix: along the triangle's longer side k stands k + 1 times, across it n - k times. */
static void add_keys(const lacis_symmetric *a, int64_t base, lacis_totals *totals)
{
    lacis_totals keys;
    __int128 n = a->n, rising = n * (n - 1) * (n + 1) / 3, all = n * (n - 1) / 2 * (n + 1);
    __int128 label = (__int128)base * a->elements;
    if (a->n == 0) return;
    lacis_totals_init(&keys);
    keys.sum_src = label + (a->upper ? all - rising : rising);
    keys.sum_dst = label + (a->upper ? rising : all - rising);
    keys.min_src = keys.min_dst = base;
    keys.max_src = keys.max_dst = base + a->n - 1;
    lacis_totals_merge(totals, &keys);
}

lacis_status lacis_totals_symmetric(lacis_run *run, const lacis_array *array, lacis_totals *totals)
{
    symmetric_job work = {0};
    LACIS_TRY(lacis_symmetric_view(run, array, &work.a));
    bool batch = work.a.matrices != 1;
    int64_t units = batch ? work.a.matrices : work.a.n;
    work.each = 1 + BLOCK / (1 + (batch ? work.a.n * work.a.n / 2 : work.a.n / 2));
    int64_t blocks = (units + work.each - 1) / work.each;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)blocks * sizeof *work.block, &work.block));
    lacis_status status = lacis_run_parallel(run, blocks, batch ? matrices_block : columns_block, &work);
    for (int64_t i = 0; i < blocks && status == LACIS_OK; i++)
        if (work.block[i].count > 0) lacis_totals_merge(totals, &work.block[i]);
    if (status == LACIS_OK && !batch) add_keys(&work.a, lacis_array_base(array, 0), totals);
    lacis_run_free(run, work.block);
    return status;
}
