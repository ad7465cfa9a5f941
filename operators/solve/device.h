/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's variants for the GPU in parts: gpu_cost.c says whether and for how much, gpu_calibrate.c measures the
 * figures for that, gpu.c runs, gpu_devices.c has what gpu.c does on each device.
 */
#ifndef LACIS_OPERATORS_SOLVE_DEVICE_H
#define LACIS_OPERATORS_SOLVE_DEVICE_H

#include "solve/gpu.h"
#include "solve/pieces.h"

/* One a way of kernels/solve/gpu.h, in its order. */
extern const lacis_variant lacis_solve_gpu_thread, lacis_solve_gpu_chip, lacis_solve_gpu_lanes,
    lacis_solve_gpu_shared, lacis_solve_gpu_branches, lacis_solve_gpu_cyclic;

const lacis_variant *lacis_solve_gpu_variant(lacis_solve_gpu_way way);

/* gpu_cost.c */
bool lacis_solve_gpu_can(const lacis_call *call, lacis_solve_gpu_way way, char *reason, size_t size);
lacis_status lacis_solve_gpu_cost(lacis_run *run, const lacis_call *call, lacis_solve_gpu_way way,
                                  const lacis_profile *profile, lacis_cost *out);
/* Lines on what lacis_solve_gpu_cost found; none where it was not asked. _layout: on what ways do to Flat lanes. */
lacis_status lacis_solve_gpu_explain_layout(const lacis_solve *work, lacis_lines *lines);
lacis_status lacis_solve_gpu_explain(const lacis_solve *work, lacis_lines *lines);

/* CALIBRATE's part for the GPU; nothing where there is none. */
lacis_status lacis_solve_gpu_calibrate(lacis_run *run, lacis_profile *profile);

/* Figures in the profile: by way, trees or chains, and layout. */
typedef struct lacis_solve_gpu_figure {
    const char *element, *row; /* nanoseconds an element of many lanes; a row of few lanes */
    double element_ns, row_ns; /* where nobody has calibrated */
} lacis_solve_gpu_figure;
const lacis_solve_gpu_figure *lacis_solve_gpu_figure_of(lacis_solve_gpu_way way, bool tree, bool flat);
/* Words of memory traffic that an element of such a job costs that way. */
double lacis_solve_gpu_words(lacis_solve_gpu_way way, const lacis_solve_job *job);
#define LACIS_SOLVE_GPU_CALL_FIGURE "solve.gpu.call_seconds" /* of next to nothing */
#define LACIS_SOLVE_GPU_LOAD_FIGURE "solve.gpu.load_seconds" /* of the first use of its kernels */

/* gpu_totals.c: totals of the result are taken where it is, if lanes are many: lacis_variant.totals. */
bool lacis_solve_sums_there(const lacis_call *call);
int64_t lacis_solve_sums_at_once(const lacis_run *run, int64_t lanes); /* of so many lanes, as memory allows */
lacis_status lacis_solve_gpu_totals(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                                    lacis_solve_gpu_way way, lacis_totals *totals);
struct lacis_solving;
lacis_status lacis_solve_deal(struct lacis_solving *solving); /* gpu.c: devices, panels, what they ended with */

/* gpu_devices.c */
typedef struct lacis_solve_device {
    lacis_gpu *gpu;
    struct lacis_solving *solving;
    const void *part[LACIS_SOLVE_ROLES]; /* whole on the device; NULL: each panel brings its lanes */
    const int32_t *parent;
    void *pinned;
    lacis_solve_gpu_plan *plan; /* for panels of so many shapes with lanes; NULL: each makes its own */
    int64_t planned;
    uint64_t room; /* bytes for panels, once the operands are there */
} lacis_solve_device;

typedef struct lacis_solving {
    lacis_solve_task *task;
    lacis_solve_gpu_way way;
    lacis_solve_device device[LACIS_GPUS];
    int devices;
    double lane_work;         /* bytes a lane that kernels take besides */
    int64_t bad_lane, bad;    /* of the first panel with a bad one; bad_lane < 0: none */
    lacis_solve_output sums;  /* over panels */
    double sent;              /* bytes with panels */
    lacis_solve_gpu_sum *sum; /* by lane of the task; NULL: x is wanted, not totals */
} lacis_solving;

/* A panel from kernels to host: a lane's `own`. */
typedef struct lacis_solve_panel {
    lacis_solve_lie matrix, right, result;
    lacis_solve_group *group;
    int64_t groups;
    void *part[LACIS_SOLVE_ROLES]; /* lanes sent for it */
    void *x, *residual, *status, *sum;
    lacis_solve_output out;
    bool bad;
    uint64_t sent;
} lacis_solve_panel;

static inline const lacis_solve_field *lacis_solve_field_of(const lacis_solve_job *job, int role)
{
    const lacis_solve_field *field[] = {&job->lower, &job->diagonal, &job->upper, &job->rhs};
    return field[role];
}

/* Operands to every device that is worth it. _leave: what the devices do not keep. */
lacis_status lacis_solve_devices(lacis_solving *solving);
void lacis_solve_devices_leave(lacis_solving *solving);

/* gpu_plan.c: the plan of a batch of trees, as an earlier statement left it beside them or made now. */
lacis_status lacis_solve_plan_find(lacis_solving *solving, lacis_solve_device *device);
void lacis_solve_plan_leave(lacis_solve_device *device);
/* Functions of lacis_panels, in gpu_panels.c but for the first: context is lacis_solving. */
int64_t lacis_solve_panel_lanes(void *context, lacis_gpu *gpu, int device, int64_t first, int64_t end);
lacis_status lacis_solve_panel_compute(void *context, lacis_panel *panel);
void lacis_solve_panel_drop(void *context, lacis_panel *panel);

#endif
