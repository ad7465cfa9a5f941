/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's kernels alone: operands of both layouts on a device of the engine's, runs from there to a result there. A
 * call is bound as the engine does, so that kernels see what a statement would give them.
 */
#ifdef LACIS_BENCH_GPU

#include "solve_gpu.h"

#include "core/registry.h"
#include "lang/lang.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct side {
    lacis_call *call;
    lacis_solve_job host; /* as on the CPU */
    lacis_solve_gpu_job job;
    lacis_solve_gpu_plan *plan; /* of the way that ran last */
    int planned;                /* which; -1: none */
};

struct bench_solve_resident {
    lacis_host host;
    lacis_run run;
    lacis_registry registry;
    lacis_gpu *gpu;
    struct side side[2];
    void *x, *found, *first; /* on the device; on the host: the last answer, and the first one, lane by lane */
    int last;                /* layout of the last answer; 2: full, by cuSPARSE */
    bool have;
};

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(context, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(context, block);
}

static int failed(bench_solve_resident *r)
{
    return bench_fail("GPU: %s", r->host.error.message);
}

bool bench_solve_gpu_here(char *reason, size_t size)
{
    lacis_host host;
    lacis_run run;
    if (lacis_host_init(&host) != LACIS_OK) return false;
    lacis_run_init(&run, &host);
    bool here = lacis_run_gpu(&run, reason, size) != NULL;
    lacis_run_clear(&run);
    lacis_gpu_release(host.gpu);
    host.gpu = NULL;
    lacis_host_clear(&host);
    return here;
}

/* --- operands ----------------------------------------------------------------------------------------- */

static lacis_status bind(bench_solve_resident *r, struct side *side, lacis_array *array)
{
    const lacis_bindings none = {NULL, 0};
    LACIS_TRY(lacis_lang_call(&r->run, &r->registry, "SOLVE s", &none, &side->call));
    side->call->args[0].item[0].array = array;
    LACIS_TRY(side->call->op->bind(&r->run, side->call));
    const lacis_solve *work = side->call->work;
    return lacis_solve_job_of(&r->run, work, 0, work->like->batch.lanes, &work->like->batch, &side->host);
}

static lacis_status send(bench_solve_resident *r, struct side *side)
{
    const lacis_solve *work = side->call->work;
    const void *there[LACIS_SOLVE_ROLES], *parent;
    void *beside[2], *pinned;
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        LACIS_TRY(lacis_gpu_part(&r->run, r->gpu, work->matrix.array, work->part[role], &there[role]));
    LACIS_TRY(lacis_gpu_part(&r->run, r->gpu, work->matrix.array, "parent", &parent));
    lacis_gpu_beside(r->gpu, beside, &pinned);
    side->job = (lacis_solve_gpu_job){.job = side->host, .stream = lacis_gpu_stream(r->gpu), .pinned = pinned};
    lacis_solve_job *job = &side->job.job;
    job->lower.data = there[LACIS_SOLVE_LOWER];
    job->diagonal.data = there[LACIS_SOLVE_DIAGONAL];
    job->upper.data = there[LACIS_SOLVE_UPPER];
    job->rhs.data = there[LACIS_SOLVE_RIGHT];
    job->parent = parent;
    job->host = (lacis_solve_host){device_alloc, device_free, NULL, r->gpu};
    side->planned = -1;
    return LACIS_OK;
}

static lacis_status open_all(bench_solve_resident *r, lacis_array *const *array)
{
    char reason[200];
    LACIS_TRY(lacis_registry_init(&r->run, &r->registry));
    r->gpu = lacis_run_gpu(&r->run, reason, sizeof reason);
    if (r->gpu == NULL) return lacis_run_fail(&r->run, LACIS_UNSUPPORTED, "%s", reason);
    for (int i = 0; i < 2; i++) {
        LACIS_TRY(bind(r, &r->side[i], array[i]));
        LACIS_TRY(send(r, &r->side[i]));
    }
    const lacis_solve *work = r->side[0].call->work;
    const uint64_t bytes = (uint64_t)lacis_solve_bytes(work->type) * (uint64_t)work->like->batch.elements;
    r->x = lacis_gpu_alloc(r->gpu, bytes);
    r->found = malloc(bytes);
    r->first = malloc(bytes);
    bool fine = r->x != NULL && r->found != NULL && r->first != NULL;
    for (int i = 0; i < 2; i++)
        r->side[i].job.job.x = r->x;
    return fine ? LACIS_OK : lacis_run_fail(&r->run, LACIS_NOMEM, "no memory for an answer");
}

int bench_solve_begin(lacis_array *const *array, bench_solve_resident **out)
{
    bench_solve_resident *r = calloc(1, sizeof *r);
    *out = r;
    if (r == NULL || lacis_host_init(&r->host) != LACIS_OK) {
        free(r);
        *out = NULL;
        return bench_fail("out of memory");
    }
    lacis_run_init(&r->run, &r->host);
    r->host.threads = lacis_cpus();
    return open_all(r, array) == LACIS_OK ? 0 : failed(r);
}

void bench_solve_end(bench_solve_resident *r)
{
    if (r == NULL) return;
    for (int i = 0; i < 2; i++)
        if (r->side[i].plan != NULL) lacis_solve_gpu_plan_free(&r->side[i].job, r->side[i].plan);
    if (r->gpu != NULL) lacis_gpu_free(r->gpu, r->x);
    free(r->found);
    free(r->first);
    lacis_run_clear(&r->run);
    lacis_registry_clear(&r->host, &r->registry);
    lacis_gpu_release(r->host.gpu);
    r->host.gpu = NULL;
    lacis_host_clear(&r->host);
    free(r);
}

/* --- runs --------------------------------------------------------------------------------------------- */

/* As SIMULATE does, a plan serves many runs. */
static int plan_for(bench_solve_resident *r, struct side *side, lacis_solve_gpu_way way)
{
    int error = 0;
    side->job.way = way;
    if (side->planned == (int)way) return 0;
    lacis_solve_gpu_plan_free(&side->job, side->plan);
    side->plan = NULL;
    side->planned = (int)way;
    if (lacis_solve_gpu_plan_new(&side->job, side->host.parent, &side->plan, &error) == LACIS_SOLVE_GPU_OK) return 0;
    return error != 0 ? (lacis_gpu_failed(&r->run, r->gpu, error), failed(r)) : bench_fail("no plan");
}

int bench_solve_run(bench_solve_resident *r, int layout, lacis_solve_gpu_way way, bool *can, double *seconds)
{
    struct side *side = &r->side[layout];
    lacis_solve_gpu_output out;
    side->job.way = way;
    *can = lacis_solve_gpu_refuses(&side->job) == NULL;
    if (!*can) return 0;
    int code = plan_for(r, side, way);
    if (code != 0) return code;
    if (lacis_gpu_wait(&r->run, r->gpu) != LACIS_OK) return failed(r);
    double start = bench_now();
    lacis_solve_gpu_status status = lacis_solve_gpu_run(&side->job, side->plan, side->host.parent, &out);
    if (lacis_gpu_wait(&r->run, r->gpu) != LACIS_OK) return failed(r);
    *seconds = bench_now() - start;
    r->last = layout;
    if (status == LACIS_SOLVE_GPU_OK) return 0;
    return bench_fail("the kernels answered %d (CUDA's code %d)", (int)status, out.cuda_error);
}

int bench_solve_peer(bench_solve_resident *r, bench_gtsv *gtsv, int layout, double *seconds)
{
    const struct side *side = &r->side[layout];
    const lacis_solve_group *group = &side->host.group[0];
    const lacis_solve_job *job = &side->job.job;
    const void *const field[] = {job->lower.data, job->diagonal.data, job->upper.data, job->rhs.data};
    r->last = layout;
    return bench_gtsv_run(gtsv, layout == 1, group->rows, group->lanes, field, r->x, lacis_gpu_stream(r->gpu),
                          seconds) == 0
               ? bench_solve_check(r)
               : 1;
}

/* --- answers ------------------------------------------------------------------------------------------ */

static double value_at(const lacis_solve *work, const void *data, int64_t at)
{
    return work->type == LACIS_SOLVE_F64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

/* Every element against the first answer, wherever each lies. */
int bench_solve_check(bench_solve_resident *r)
{
    const lacis_solve *work = r->side[r->last].call->work;
    const lacis_batch_group *group = &work->like->batch.group[0];
    const int64_t lanes = group->lanes, rows = group->rows;
    const uint64_t size = (uint64_t)lacis_solve_bytes(work->type), bytes = size * (uint64_t)(lanes * rows);
    const double most = work->type == LACIS_SOLVE_F64 ? 1e-9 : 1e-3;
    if (lacis_gpu_download(&r->run, r->gpu, r->x, bytes, r->found) != LACIS_OK) return failed(r);
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t i = 0; i < rows; i++) {
            int64_t at = lacis_batch_place(group, l, i), to = l * rows + i;
            if (!r->have)
                memcpy((char *)r->first + (uint64_t)to * size, (char *)r->found + (uint64_t)at * size, size);
            double found = value_at(work, r->found, at), first = value_at(work, r->first, to);
            if (!(fabs(found - first) <= most * (1 + fabs(first))))
                return bench_fail("answers differ in lane %lld, row %lld: %.17g and %.17g", (long long)l,
                                  (long long)i, found, first);
        }
    r->have = true;
    return 0;
}

#endif
