/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" in parts: gpu_cost.c says whether and for how much, gpu_calibrate.c measures the figures
 * for that, gpu.c runs, gpu_devices.c has what gpu.c does on each device, gpu_room.c and gpu_sample.c
 * say how much room results get there.
 */
#ifndef LACIS_OPERATORS_MULTIPLY_DEVICE_H
#define LACIS_OPERATORS_MULTIPLY_DEVICE_H

#include "multiply/bind.h"

#ifdef LACIS_GPU_KERNELS
#include "multiply/gpu_summary.h"

/* The product's job with host pointers, before anything is sent. */
void lacis_multiply_gpu_job(const lacis_product *product, lacis_mul_gpu_job *out);
/* Its HAVING: WITHIN or BEHIND. */
static inline void lacis_multiply_gpu_having(const lacis_product *product, lacis_mul_gpu_job *out)
{
    if (product->job.having == NULL) return;
    out->having = product->strips.within ? LACIS_MUL_GPU_WITHIN : LACIS_MUL_GPU_BEHIND;
    out->low = product->strips.low;
    out->high = product->strips.high;
    out->low_real = product->strips.low_real;
    out->high_real = product->strips.high_real;
}

enum { LACIS_GPU_ROOM_POWERS = 64 };

struct lacis_multiply_run;
/* A product's operands and job on one device. */
typedef struct lacis_multiply_device {
    lacis_gpu *gpu;
    struct lacis_multiply_run *running;
    lacis_mul_gpu_job job;
    lacis_mul_matrix mask;
    lacis_mul_gpu_keys keys; /* of totals */
    uint64_t room;           /* bytes for panels, once the operands are there */
} lacis_multiply_device;

/* One run: the devices, and the result as far as it has come. */
typedef struct lacis_multiply_run {
    lacis_run *run;
    lacis_multiply *work;
    lacis_multiply_device device[LACIS_GPUS];
    int devices;
    lacis_mul_gpu_written written;
    int64_t begin, end;
    uint64_t products;    /* of these rows */
    uint64_t dealt, part; /* of them: in panels so far, at most; of the present panels, for totals */
    int panels;           /* so far, for totals */
    uint64_t value_bytes;
    lacis_mul_gpu_output sums;    /* of panels, for EXPLAIN ANALYZE */
    lacis_product_result *result; /* NULL: totals */
    lacis_totals *totals;
    double *group; /* totals of reals: a panel's */
    bool real;
    /* gpu_sample.c: what a row's bound is multiplied by, by the power of two of its products; panels that had too
     * little room all the same. */
    lacis_gpu_room_way way;
    int64_t sampled;
    double room_share[LACIS_GPU_ROOM_POWERS];
    _Atomic int short_of;
} lacis_multiply_run;

/* The device's part of a panel, from kernels to host: a lane's `own`. */
typedef struct lacis_multiply_panel {
    int64_t *begin, *end;
    lacis_mul_gpu_output out;
    lacis_mul_gpu_summary summary;
} lacis_multiply_panel;

/* Operands to every device that is worth it, jobs ready to run. */
lacis_status lacis_multiply_devices(lacis_multiply_run *running);
/* Functions of lacis_panels: context is the run. */
int64_t lacis_multiply_panel_rows(void *context, lacis_gpu *gpu, int device, int64_t first, int64_t end);
lacis_status lacis_multiply_panel_compute(void *context, lacis_panel *panel);
/* Whether copying what comes out takes no time beside computing it: totals, or few entries a row. */
bool lacis_multiply_copies_little(const lacis_multiply_run *running);
void lacis_multiply_panel_drop(void *context, lacis_panel *panel);

/* gpu_room.c. */
typedef struct lacis_gpu_room_facts {
    double products, bound, entries, most; /* entries: by bounds; about; hardly more than these */
    double entry, fixed, left;             /* bytes: an entry's while rows are moved; of all rows; for all of it */
    double kernels, back, panel;           /* seconds: of all products; to the host; that each panel takes besides */
    bool countable;
} lacis_gpu_room_facts;
double lacis_multiply_room_counting(double products); /* seconds */
void lacis_multiply_room_choose(const lacis_gpu_room_facts *facts, lacis_gpu_room *out);
/* Whether counting may find less than bounds say: what MASK and TOP leave is bounded well. */
bool lacis_multiply_room_countable(const lacis_product *product);
/* gpu_sample.c. Bounds do not fit the limits of a device: the way of the run, once its devices are ready. */
lacis_status lacis_multiply_room(lacis_multiply_run *running, const lacis_mul_limits *limits);
/* The end of the rows from `first` on that keep to the limits by what the sample says, and their products. */
int64_t lacis_multiply_room_rows(lacis_multiply_run *running, int64_t first, int64_t end,
                                 const lacis_mul_limits *limits, uint64_t *products);
lacis_status lacis_multiply_room_explain(const lacis_gpu_room *room, double products, lacis_lines *lines);
#endif

bool lacis_multiply_gpu_can(const lacis_call *call, char *reason, size_t size);
lacis_status lacis_multiply_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                     lacis_cost *out);
/* Lines on what lacis_multiply_gpu_cost found; none where it was not asked. */
lacis_status lacis_multiply_gpu_explain(const lacis_multiply *work, lacis_lines *lines);

/* Figures in the profile: nanoseconds a product, for rows of so many products and for kinds of work. */
typedef enum lacis_gpu_work {
    LACIS_WORK_COUNT,
    LACIS_WORK_VALUE, /* integers and orders */
    LACIS_WORK_FLOAT, /* sums of floats in any order */
    LACIS_WORK_WRITTEN,
    LACIS_WORK_ORDERED, /* one product after the other: written folds, sums with their order fixed or watched */
    LACIS_WORK_KINDS
} lacis_gpu_work;
const char *lacis_multiply_gpu_figure(lacis_gpu_size size, lacis_gpu_work kind);
#define LACIS_GPU_CALL_FIGURE    "multiply.gpu.call_seconds"    /* of a product of nothing */
#define LACIS_GPU_TOP_FIGURE     "multiply.gpu.top_ns"          /* that TOP adds to a product */
#define LACIS_GPU_COMPILE_FIGURE "multiply.gpu.compile_seconds" /* of a written CON */
#define LACIS_GPU_LOAD_FIGURE    "multiply.gpu.load_seconds"    /* of the first use of its kernels */

/* CALIBRATE's part for the GPU; nothing where there is none. */
lacis_status lacis_multiply_gpu_calibrate(lacis_run *run, lacis_profile *profile);

#endif
