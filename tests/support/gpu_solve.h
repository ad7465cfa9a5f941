/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's variants for the GPU on a pretended device whose kernels are the CPU's. gpu.c and what belongs to it are
 * compiled into whatever includes this file, so that tests of them work in builds without nvcc as well.
 */
#ifndef LACIS_TESTS_GPU_SOLVE_H
#define LACIS_TESTS_GPU_SOLVE_H

#include "parity/systems.h"
#include "plan/plan.h"
#include "solve/gpu.h"
#include "support/gpu.h"

#include <unistd.h>

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_solve_gpu_run        fake_kernels
#define lacis_solve_gpu_refuses    fake_refuses
#define lacis_solve_gpu_work_bytes fake_work_bytes
#define lacis_solve_gpu_way_name   fake_way_name
#define lacis_solve_gpu_converts   fake_converts
#define lacis_solve_gpu_sums       fake_sums
#define lacis_solve_gpu_plan_new   fake_plan_new
#define lacis_solve_gpu_plan_keep  fake_plan_keep
#define lacis_solve_gpu_plan_from  fake_plan_from
#define lacis_solve_gpu_plan_free  fake_plan_free

/* The library has its own. */
#define lacis_solve_gpu_thread         tested_thread
#define lacis_solve_gpu_chip           tested_chip
#define lacis_solve_gpu_lanes          tested_lanes
#define lacis_solve_gpu_shared         tested_shared
#define lacis_solve_gpu_branches       tested_branches
#define lacis_solve_gpu_cyclic         tested_cyclic
#define lacis_solve_gpu_can            tested_can
#define lacis_solve_gpu_cost           tested_cost
#define lacis_solve_gpu_explain        tested_explain
#define lacis_solve_gpu_explain_layout tested_explain_layout
#define lacis_solve_gpu_calibrate      tested_calibrate
#define lacis_solve_gpu_figure_of      tested_figure_of
#define lacis_solve_gpu_words          tested_words
#define lacis_solve_sums_there         tested_sums_there
#define lacis_solve_sums_at_once       tested_sums_at_once
#define lacis_solve_gpu_totals         tested_totals
#define lacis_solve_gpu_variant        tested_variant
#define lacis_solve_deal               tested_deal
#define lacis_solve_devices            tested_devices
#define lacis_solve_devices_leave      tested_devices_leave
#define lacis_solve_plan_find          tested_plan_find
#define lacis_solve_plan_leave         tested_plan_leave
#define lacis_solve_panel_lanes        tested_panel_lanes
#define lacis_solve_panel_compute      tested_panel_compute
#define lacis_solve_panel_drop         tested_panel_drop

static int fake_cuda_error;             /* not 0: the next run of the kernels fails with it */
static uint64_t fake_said, fake_takes;  /* bytes a lane that they say they take, and that they do */
static atomic_int fake_runs, fake_ways; /* runs; bits of ways that were asked for */

static const char *fake_refuses(const lacis_solve_gpu_job *job)
{
    const bool chains = job->way == LACIS_SOLVE_GPU_CHIP || job->way == LACIS_SOLVE_GPU_CYCLIC;
    if (chains && job->job.parent != NULL) return "only for chains";
    if (!chains && job->way >= LACIS_SOLVE_GPU_LANES && job->job.parent == NULL) return "only for trees";
    return NULL;
}

static const char *const fake_way_name[LACIS_SOLVE_GPU_WAYS] = {"thread", "chip",     "lanes",
                                                                "shared", "branches", "cr-pcr"};

static const char *fake_converts(const lacis_solve_gpu_job *job)
{
    return job->way == LACIS_SOLVE_GPU_THREAD ? "rows are put side by side" : NULL;
}

/* Plans, of trees alone: the shapes that they were made for. */
struct lacis_solve_gpu_plan {
    int64_t groups, rows;
    void *block;
    bool lent;
};
static int fake_plans, fake_plans_used; /* made; runs that were given one */
static int fake_plan_error;             /* not 0: no plan can be made for it */

static int64_t rows_of(const lacis_solve_gpu_job *job)
{
    int64_t rows = 0;
    for (int64_t g = 0; g < job->job.groups; g++)
        rows += job->job.group[g].rows;
    return rows;
}

static void fake_plan_free(const lacis_solve_gpu_job *job, lacis_solve_gpu_plan *plan)
{
    if (plan != NULL && !plan->lent) job->job.host.free(job->job.host.context, plan->block);
    free(plan);
}

static lacis_solve_gpu_status fake_plan_new(const lacis_solve_gpu_job *job, const int32_t *host_parent,
                                            lacis_solve_gpu_plan **out, int *cuda_error)
{
    assert_non_null(host_parent);
    *cuda_error = fake_plan_error;
    if (fake_plan_error != 0) return LACIS_SOLVE_GPU_FAILED;
    lacis_solve_gpu_plan *plan = calloc(1, sizeof *plan);
    *plan =
        (lacis_solve_gpu_plan){job->job.groups, rows_of(job), job->job.host.alloc(job->job.host.context, 512), false};
    if (plan->block == NULL) {
        free(plan);
        return LACIS_SOLVE_GPU_NO_MEMORY;
    }
    fake_plans++;
    *out = plan;
    return LACIS_SOLVE_GPU_OK;
}

static bool fake_plan_keep(lacis_solve_gpu_plan *plan, lacis_solve_gpu_kept *out)
{
    *out = (lacis_solve_gpu_kept){plan->block, 512, {(uint64_t)plan->groups, (uint64_t)plan->rows}};
    free(plan);
    return true;
}

static lacis_solve_gpu_status fake_plan_from(const lacis_solve_gpu_job *job, const lacis_solve_gpu_kept *kept,
                                             lacis_solve_gpu_plan **out, int *cuda_error)
{
    (void)job;
    *cuda_error = 0;
    *out = calloc(1, sizeof **out);
    **out = (lacis_solve_gpu_plan){(int64_t)kept->word[0], (int64_t)kept->word[1], kept->device, true};
    return LACIS_SOLVE_GPU_OK;
}

static uint64_t lanes_of(const lacis_solve_job *job)
{
    uint64_t lanes = 0;
    for (int64_t g = 0; g < job->groups; g++)
        lanes += (uint64_t)job->group[g].lanes;
    return lanes;
}

static uint64_t fake_work_bytes(const lacis_solve_gpu_job *job)
{
    return fake_said * lanes_of(&job->job);
}

static void *fake_take(void *context, uint64_t bytes)
{
    (void)context;
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static void fake_give(void *context, void *block)
{
    (void)context;
    free(block);
}

/* The CPU's loops between the job's device pointers. */
static lacis_solve_gpu_status solve_there(const lacis_solve_gpu_job *job, const int32_t *host_parent,
                                          lacis_solve_output *out)
{
    lacis_solve_job own = job->job;
    own.threads = 1;
    own.host = (lacis_solve_host){fake_take, fake_give, NULL, NULL};
    assert_true((own.parent == NULL) == (host_parent == NULL));
    lacis_solve_status status = lacis_solve_run(&own, out);
    if (status == LACIS_SOLVE_BAD) return LACIS_SOLVE_GPU_BAD;
    return status == LACIS_SOLVE_OK ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_NO_MEMORY;
}

static lacis_solve_gpu_status fake_kernels(const lacis_solve_gpu_job *job, const lacis_solve_gpu_plan *plan,
                                           const int32_t *host_parent, lacis_solve_gpu_output *out)
{
    const lacis_solve_host *host = &job->job.host;
    if (plan != NULL) {
        fake_plans_used++;
        assert_int_equal(plan->groups, job->job.groups);
        assert_int_equal(plan->rows, rows_of(job));
    }
    *out = (lacis_solve_gpu_output){0};
    out->cuda_error = fake_cuda_error;
    fake_runs++;
    fake_ways |= 1 << job->way;
    if (fake_cuda_error != 0) return LACIS_SOLVE_GPU_FAILED;
    if (host->cancelled != NULL && host->cancelled(host->context)) return LACIS_SOLVE_GPU_CANCELLED;
    void *work = host->alloc(host->context, fake_takes * lanes_of(&job->job));
    if (work == NULL) return LACIS_SOLVE_GPU_NO_MEMORY;
    fake_meet();
    lacis_solve_gpu_status status = solve_there(job, host_parent, &out->solve);
    host->free(host->context, work);
    return status;
}

static int fake_summed;

static lacis_solve_gpu_status fake_sums(const lacis_solve_gpu_job *job, lacis_solve_gpu_sum *out, int *cuda_error)
{
    *cuda_error = 0;
    fake_summed++;
    for (int64_t g = 0; g < job->job.groups; g++) {
        const lacis_solve_group *group = &job->job.group[g];
        for (int64_t l = 0; l < group->lanes; l++) {
            lacis_solve_gpu_sum *sum = &out[group->first + l];
            *sum = (lacis_solve_gpu_sum){0, INFINITY, -INFINITY, 0};
            for (int64_t r = 0; r < group->rows; r++) {
                const double v = ((const double *)job->job.x)[lacis_solve_place(&group->x, group->rows, l, r)];
                sum->sum += v;
                sum->least = fmin(sum->least, v);
                sum->most = fmax(sum->most, v);
            }
        }
    }
    return LACIS_SOLVE_GPU_OK;
}

#include "../../operators/solve/gpu.c"
#include "../../operators/solve/gpu_cost.c"
#include "../../operators/solve/gpu_devices.c"
#include "../../operators/solve/gpu_plan.c"
#include "../../operators/solve/gpu_totals.c"
#define device_alloc panels_alloc
#define device_free  panels_free
#include "../../operators/solve/gpu_panels.c"
#undef device_alloc
#undef device_free
#include "../../operators/solve/gpu_calibrate.c"

/* ----------------------------------------------------------------------------------------- fixture */

enum { TESTED = 6 };
static lacis_op with_fake; /* SOLVE with the CPU's variant and those under test */
static const lacis_variant *const tested[TESTED] = {&tested_thread, &tested_chip,     &tested_lanes,
                                                    &tested_shared, &tested_branches, &tested_cyclic};
static const lacis_variant *with_fake_variants[TESTED + 1];
static char last_note[400];

static void take_note(void *arg, lacis_level level, const char *message)
{
    (void)arg, (void)level;
    snprintf(last_note, sizeof last_note, "%s", message);
}

static int setup(void **state)
{
    fake_install(100000000);
    fake_meet_again(0);
    fake_cuda_error = fake_runs = fake_ways = fake_plans = fake_plans_used = fake_plan_error = fake_summed = 0;
    fake_said = fake_takes = 64;
    last_note[0] = '\0';
    parity_setup(state);
    parity *p = *state;
    p->host.log = take_note;
    with_fake = *lacis_registry_op(&p->registry, "SOLVE", 5);
    with_fake_variants[0] = with_fake.variants[0];
    for (int i = 0; i < TESTED; i++)
        with_fake_variants[1 + i] = tested[i];
    with_fake.variants = with_fake_variants;
    with_fake.variant_count = TESTED + 1;
    return 0;
}

static int teardown(void **state)
{
    parity_teardown(state);
    fake_remove();
    return 0;
}

static lacis_call *bind_on(parity *p, const char *text, const named *arrays, lacis_placement on)
{
    lacis_call *call;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    call->op = &with_fake;
    call->on = on;
    return call;
}

static lacis_array *run_whole(parity *p, const lacis_call *call, const lacis_variant *variant)
{
    lacis_array *array = NULL;
    parity_ok(p, variant->run(&p->run, call, 0, call->units, &array), variant->name);
    return array;
}

/* Every element of every field has the same bits; padding may differ. */
static void same_batches(parity *p, const lacis_array *found, const lacis_array *expected, const char *text)
{
    lacis_batch x, y;
    parity_ok(p, lacis_batch_view(&p->run, found, &x), text);
    parity_ok(p, lacis_batch_view(&p->run, expected, &y), text);
    assert_int_equal(x.lanes, y.lanes);
    assert_int_equal(x.fields, y.fields);
    assert_int_equal(x.block, y.block);
    assert_int_equal(lacis_array_base(found, 0), lacis_array_base(expected, 0));
    for (int f = 0; f < x.fields; f++)
        for (int64_t g = 0; g < x.groups; g++)
            for (int64_t l = 0; l < x.group[g].lanes; l++)
                for (int64_t r = 0; r < x.group[g].rows; r++) {
                    size_t size = lacis_dtype_size(x.field[f].dtype);
                    int64_t at = lacis_batch_place(&x.group[g], l, r), to = lacis_batch_place(&y.group[g], l, r);
                    const char *one = x.field[f].data, *other = y.field[f].data;
                    if (memcmp(one + (size_t)at * size, other + (size_t)to * size, size) != 0)
                        fail_msg("%s: %s differs in group %lld, lane %lld, row %lld", text, x.field[f].name,
                                 (long long)g, (long long)l, (long long)r);
                }
}

/* ----------------------------------------------------------------------------------------- batches */

enum { LAYOUTS = 5 };
static const int64_t layouts[LAYOUTS] = {1, 0, 3, 8, 64};
static const char *const texts[] = {"SOLVE s", "SOLVE s STATUS", "SOLVE s RESIDUAL", "SOLVE s STATUS RESIDUAL"};

/* A few shapes: groups of many lanes, of one, of none, and of no rows. */
static systems some_systems(bool tree, lacis_dtype dtype, int sharing)
{
    systems s = {.tree = tree,
                 .dtype = dtype,
                 .groups = 6,
                 .lanes = {40, 1, 0, 33, 3, 70},
                 .rows = {12, 5, 4, 9, 0, 17},
                 .off_shared = sharing == 1,
                 .matrix_shared = sharing == 2};
    systems_draw(&s, 11);
    return s;
}

static lacis_array *by_cpu(parity *p, const char *text, const named *arrays)
{
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_CPU);
    lacis_array *array = run_whole(p, call, with_fake_variants[0]);
    parity_unbind(p, call);
    return array;
}

static void compare_ways(parity *p, const char *text, const named *arrays)
{
    char reason[200];
    lacis_array *expected = by_cpu(p, text, arrays);
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_GPU);
    for (int i = 0; i < TESTED; i++) {
        if (!tested[i]->can(call, reason, sizeof reason)) continue;
        lacis_array *found = run_whole(p, call, tested[i]);
        same_batches(p, found, expected, text);
        lacis_array_release(found);
    }
    parity_unbind(p, call);
    lacis_array_release(expected);
}

/* Of the device's memory, so little that panels of few flocks fit: no operand is there whole. */
static void give_little(parity *p, bool little, int64_t block)
{
    lacis_device_set_limit(&p->host, !little ? 0 : block == 64 ? 150000 : 24000);
}

#endif
