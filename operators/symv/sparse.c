/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of graphs on the CPU: one triangle of entries read once (kernels/symv/half.h). Called by the engine.
 */
#include "symv/sparse.h"

#include <string.h>

/* --- the graph ---------------------------------------------------------------------------------------- */

void lacis_symv_sparse_job(const lacis_symv_work *work, lacis_symv_half *out)
{
    lacis_csr csr;
    lacis_csr_view(work->matrix.array, &csr);
    *out = (lacis_symv_half){.begin = csr.begin, .end = csr.end, .column = csr.column, .value = csr.value};
    lacis_symv_job_of(work, &work->piece[0], &out->job);
}

lacis_dtype lacis_symv_sparse_dtype(const lacis_symv_work *work)
{
    static const lacis_dtype dtypes[] = {[LACIS_SYMV_F32] = LACIS_F32,
                                         [LACIS_SYMV_F64] = LACIS_F64,
                                         [LACIS_SYMV_C64] = LACIS_C64,
                                         [LACIS_SYMV_C128] = LACIS_C128};
    return work->type <= LACIS_SYMV_C128 ? dtypes[work->type] : LACIS_F64;
}

bool lacis_symv_sparse_ready(const lacis_symv_work *work)
{
    lacis_csr csr;
    lacis_csr_view(work->matrix.array, &csr);
    return csr.value == NULL || csr.storage == lacis_symv_sparse_dtype(work);
}

uint64_t lacis_symv_sparse_places(const lacis_csr *csr)
{
    int64_t most = 0;
    if (csr->rows > 0 && csr->end == csr->begin + 1) return (uint64_t)csr->end[csr->rows - 1];
    for (int64_t r = 0; r < csr->rows; r++)
        if (csr->end[r] > most) most = csr->end[r];
    return (uint64_t)most;
}

struct converting {
    lacis_csr csr;
    lacis_dtype dtype;
    char *to;
};

enum { TASK_ROWS = 1024 };
static lacis_status convert_rows(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct converting *c = context;
    const int64_t first = task * TASK_ROWS, end = first + TASK_ROWS < c->csr.rows ? first + TASK_ROWS : c->csr.rows;
    const uint64_t size = lacis_dtype_size(c->dtype);
    for (int64_t r = first; r < end; r++)
        lacis_values_convert(c->csr.value, c->csr.storage, c->csr.begin[r], c->csr.end[r] - c->csr.begin[r],
                             c->to + size * (uint64_t)c->csr.begin[r], c->dtype);
    return LACIS_OK;
}

lacis_status lacis_symv_sparse_values(lacis_run *run, const lacis_symv_work *work, void **out)
{
    struct converting c = {.dtype = lacis_symv_sparse_dtype(work)};
    lacis_csr_view(work->matrix.array, &c.csr);
    const uint64_t bytes = lacis_dtype_size(c.dtype) * lacis_symv_sparse_places(&c.csr);
    LACIS_TRY(lacis_run_alloc(run, bytes, out));
    memset(*out, 0, bytes); /* places that no row has */
    c.to = *out;
    lacis_status status = lacis_run_parallel(run, (c.csr.rows + TASK_ROWS - 1) / TASK_ROWS, convert_rows, &c);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_run_free(run, *out);
    *out = NULL;
    return status;
}

/* --- runs --------------------------------------------------------------------------------------------- */

static lacis_status compute(lacis_symv_task *task)
{
    const lacis_symv_work *work = task->work;
    lacis_symv_half half;
    void *values = NULL;
    lacis_symv_sparse_job(work, &half);
    if (half.job.sides == 0) return LACIS_OK;
    if (!lacis_symv_sparse_ready(work)) {
        LACIS_TRY(lacis_symv_sparse_values(task->run, work, &values));
        half.value = values;
    }
    lacis_symv_point(work, &work->piece[0], NULL, task->x, task->y0, task->y, NULL, &half.job);
    half.job.host = lacis_symv_host_of(task->run);
    lacis_status status = lacis_symv_said(task->run, lacis_symv_half_run(&half), lacis_symv_half_work_bytes(&half));
    lacis_run_free(task->run, values);
    return status;
}

static lacis_status run_cpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return lacis_symv_by(run, call, begin, end, compute, out);
}

/* --- whether, and for how much -------------------------------------------------------------------------- */

static bool can_cpu(const lacis_call *call, char *reason, size_t size)
{
    const lacis_symv_work *work = call->work;
    const char *why = "only for graphs";
    if (work->matrix.sparse) {
        lacis_symv_half half;
        lacis_symv_sparse_job(work, &half);
        why = lacis_symv_half_refuses(&half);
    }
    if (why != NULL) snprintf(reason, size, "%s", why);
    return why == NULL;
}

/* Nanoseconds an entry of the triangle on one thread, of each right side, out of cache, on an AMD EPYC (Zen 4); more
 * threads than GAIN only share the memory. */
static double entry_ns(lacis_symv_type type)
{
    static const double ns[] = {
        [LACIS_SYMV_F32] = 0.9, [LACIS_SYMV_F64] = 1.1, [LACIS_SYMV_C64] = 1.8, [LACIS_SYMV_C128] = 2.2};
    return type <= LACIS_SYMV_C128 ? ns[type] : ns[LACIS_SYMV_F64];
}

lacis_status lacis_symv_sparse_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                    lacis_cost *out)
{
    (void)profile;
    const double start = 5e-6, gain = 10, row_ns = 4, convert_ns = 1;
    const lacis_symv_work *work = call->work;
    const double entries = work->matrix.elements, rows = (double)work->matrix.n;
    lacis_symv_half half;
    lacis_symv_sparse_job(work, &half);
    half.job.threads = lacis_symv_threads(run, work);
    const double threads = half.job.threads < gain ? half.job.threads : gain, sides = (double)half.job.sides;
    double ns = sides * (entries * entry_ns(work->type) + rows * row_ns);
    lacis_symv_vector_memory(work, out);
    out->peak_bytes += (double)lacis_symv_half_work_bytes(&half);
    if (!lacis_symv_sparse_ready(work)) {
        ns += entries * convert_ns;
        out->peak_bytes += entries * (double)lacis_dtype_size(lacis_symv_sparse_dtype(work));
    }
    out->seconds = start + 1e-9 * ns / threads;
    out->products = entries * sides;
    return LACIS_OK;
}

const lacis_variant lacis_symv_sparse_cpu = {
    .name = "half",
    .device = LACIS_CPU,
    .summary = "one triangle of a graph read once; tasks of rows with windows of their own, added in order",
    .can = can_cpu,
    .cost = lacis_symv_sparse_cost,
    .run = run_cpu,
};
