/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of graphs on a GPU before it runs: whether kernels can do the job and the device may be asked for it, and what
 * it would cost with the copies and the plan that are needed. Called through sparse_gpu.c's variant.
 */
#include "symv/sparse_device.h"

#ifdef LACIS_GPU_KERNELS

/* Of a call and its waits; of making a plan and of a product, an entry of the triangle; of the product without a
 * plan: measured on an H200. */
static const double CALL_SECONDS = 3e-5, PLAN_SECONDS = 3e-4;
static const double PLAN_NS = 0.06, HALF_NS = 0.007, FREE_NS = 0.01;
enum { COPIES = 3 }; /* to the device */

/* gpu NULL: nothing is there yet. */
static double bytes_to_send(lacis_gpu *gpu, const lacis_symv_work *work)
{
    static const char *const parts[] = {"offsets", "begin", "end", "columns"};
    const lacis_array *array = work->matrix.array;
    lacis_symv_half_plan plan;
    double bytes = lacis_symv_gpu_missing(gpu, work, &work->x);
    if (work->adds) bytes += lacis_symv_gpu_missing(gpu, work, &work->y);
    if (gpu != NULL && lacis_symv_find_plan(work, gpu, &plan)) return bytes; /* which has all of the graph */
    for (int i = 0; i < LACIS_COUNT(parts); i++)
        bytes += (double)lacis_gpu_part_missing(gpu, array, parts[i]);
    if (lacis_symv_sparse_ready(work)) return bytes + (double)lacis_gpu_part_missing(gpu, array, "values");
    return bytes + (double)lacis_dtype_size(lacis_symv_sparse_dtype(work)) * work->matrix.elements;
}

/* With a plan of usual size: a pattern that scatters widely takes more. */
static double bytes_there(const lacis_symv_work *work)
{
    const double entry = 16 + (double)lacis_dtype_size(work->dtype), row = 100;
    return bytes_to_send(NULL, work) + 2 * (double)lacis_dtype_size(work->dtype) * (double)work->places +
           entry * work->matrix.elements + row * (double)work->matrix.n;
}

static bool worth(const lacis_call *call, char *reason, size_t size)
{
    const double margin = 2;
    const lacis_symv_work *work = call->work;
    lacis_cost processor = {0};
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    const lacis_profile *profile = lacis_gpu_figures(gpu, call->profile);
    if (lacis_symv_sparse_cost(work->run, call, call->profile, &processor) != LACIS_OK) return false;
    const double device =
        CALL_SECONDS + lacis_symv_gpu_copy_seconds(gpu, profile, COPIES, bytes_to_send(gpu, work), processor.bytes);
    return lacis_gpu_worth(call, work->run, LACIS_SYMV_GPU_LOAD_FIGURE, margin * processor.seconds, device, reason,
                           size);
}

bool lacis_symv_sparse_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_symv_work *work = call->work;
    lacis_symv_half half;
    if (!work->matrix.sparse) {
        snprintf(reason, size, "only for graphs");
        return false;
    }
    lacis_symv_sparse_job(work, &half);
    const char *why = lacis_symv_half_gpu_refuses(&half);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    if (!lacis_gpu_possible(work->run, reason, size) || !worth(call, reason, size)) return false;
    if (call->on == LACIS_ON_GPU && lacis_run_gpu(work->run, reason, size) == NULL) return false;
    return lacis_symv_gpu_room(lacis_gpu_at_hand(work->run), bytes_there(work), "graph, plan and vectors", reason,
                               size);
}

lacis_status lacis_symv_sparse_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                        lacis_cost *out)
{
    const lacis_symv_work *work = call->work;
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    const lacis_profile *here = lacis_gpu_figures(gpu, profile);
    lacis_symv_half_plan plan;
    LACIS_TRY(lacis_symv_sparse_cost(run, call, profile, out));
    const double up = bytes_to_send(gpu, work), entries = work->matrix.elements;
    const bool there = gpu != NULL && lacis_symv_find_plan(work, gpu, &plan),
               free = work->order == LACIS_SYMV_FREE && !there;
    double seconds = CALL_SECONDS + 1e-9 * (free ? FREE_NS : HALF_NS) * out->products;
    if (!there && !free) seconds += PLAN_SECONDS + 1e-9 * PLAN_NS * entries;
    lacis_symv_vector_memory(work, out);
    out->once = lacis_gpu_start_seconds(run, here, LACIS_SYMV_GPU_LOAD_FIGURE);
    out->kind = up > 0 ? "sent" : there || free ? "there" : "planned";
    out->seconds = out->once + seconds + lacis_symv_gpu_copy_seconds(gpu, here, COPIES, up, out->bytes);
    return LACIS_OK;
}

#else

bool lacis_symv_sparse_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_symv_work *work = call->work;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Never asked, since lacis_symv_sparse_gpu_can says no. */
lacis_status lacis_symv_sparse_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                        lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif
