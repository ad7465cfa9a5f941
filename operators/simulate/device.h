/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's GPU variants in parts: gpu_cost.c says whether and for how much, counting work by gpu_units.c,
 * gpu_calibrate.c measures the figures
 * for that, gpu.c runs, gpu_devices.c has what gpu.c does on each device.
 */
#ifndef LACIS_OPERATORS_SIMULATE_DEVICE_H
#define LACIS_OPERATORS_SIMULATE_DEVICE_H

#include "simulate/simulate.h"

#ifdef LACIS_GPU_KERNELS
#include "neuron/gpu.h"

#include <pthread.h>
#include <stdatomic.h>

/* What a way would take on the GPU, in seconds and bytes. */
typedef struct lacis_simulate_estimate {
    bool known;
    double kernels, once, copies;
    double up, down;
    double tables, work; /* of device memory */
    double step;         /* seconds of a step of all lanes */
    int gpus;
} lacis_simulate_estimate;

struct lacis_simulate_gpu_run;
typedef struct lacis_simulate_device {
    lacis_gpu *gpu;
    struct lacis_simulate_gpu_run *running;
    lacis_neuron_gpu_job job; /* of which a panel takes a copy with lanes and places of its own */
    int64_t computing;        /* lanes of the panel whose steps are under way */
    lacis_neuron_gpu_tables *tables;
    uint64_t room; /* bytes for panels */
} lacis_simulate_device;

/* One run: lanes [begin, end), the devices, and how far they are. */
typedef struct lacis_simulate_gpu_run {
    lacis_run *run;
    const lacis_simulation *s;
    lacis_neuron_gpu_way way;
    lacis_trace trace;
    int64_t begin, end;
    lacis_simulate_device device[LACIS_GPUS];
    int devices;
    int64_t panel;       /* lanes of one, where memory does not ask for fewer */
    bool single;         /* one panel a device at a time: there is little to copy */
    pthread_t thread;    /* the statement's, which alone may report */
    _Atomic double done; /* lanes times steps */
} lacis_simulate_gpu_run;

/* A panel's results on its device. */
typedef struct lacis_simulate_panel {
    double *out, *when;
} lacis_simulate_panel;

/* Tables to every device that is worth it. */
lacis_status lacis_simulate_devices(lacis_simulate_gpu_run *running);
void lacis_simulate_devices_clear(lacis_simulate_gpu_run *running);
/* Functions of lacis_panels: context is the run. */
int64_t lacis_simulate_panel_lanes(void *context, lacis_gpu *gpu, int device, int64_t first, int64_t end);
lacis_status lacis_simulate_panel_compute(void *context, lacis_panel *panel);
void lacis_simulate_panel_drop(void *context, lacis_panel *panel);
double lacis_simulate_fraction(void *context);

/* gpu_cost.c */
void lacis_simulate_gpu_job(const lacis_simulation *s, lacis_neuron_gpu_way way, lacis_neuron_gpu_job *out);
/* Seconds that one GPU would need for the steps of lanes [begin, end), by figures measured elsewhere. */
double lacis_simulate_gpu_seconds(const lacis_simulation *s, lacis_neuron_gpu_way way, int64_t begin, int64_t end);
#define LACIS_SIMULATE_SHARED  0.05 /* s of work from which several GPUs share it, */
#define LACIS_SIMULATE_STARTED 0.5  /* and from which those are started for it that are not yet */

/* Figures in the profile: nanoseconds a unit of a step's work, of many lanes and of so few that their number does not
 * matter. */
const char *lacis_simulate_figure(lacis_neuron_gpu_way way, bool hh, bool few);
/* gpu_units.c. Units: compartments, or (few) nodes one after the other; of POWER multiplications, or products. depth:
 * nodes one below the other. */
double lacis_simulate_units(const neuron_plan *plan, lacis_neuron_gpu_way way, bool few, int64_t depth);
double lacis_simulate_table_products(const neuron_plan *plan); /* of POWER, of one shape, before the first step */
#define LACIS_SIMULATE_LOAD_FIGURE "simulate.gpu.load_seconds" /* of the first use of the kernels */
enum { LACIS_SIMULATE_SAMPLE_NODES = 321 };                    /* of the cable on which they are measured */
#endif

bool lacis_simulate_gpu_can(const lacis_call *call, int way, char *reason, size_t size);
lacis_status lacis_simulate_gpu_cost(lacis_run *run, const lacis_call *call, int way, const lacis_profile *profile,
                                     lacis_cost *out);

#endif
