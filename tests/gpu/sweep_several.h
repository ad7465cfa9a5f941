/* SPDX-License-Identifier: Apache-2.0
 *
 * A case's grid in slabs on several devices, as checks and benches begin them. Where there are fewer devices they are
 * taken in turn.
 */
#ifndef LACIS_TESTS_GPU_SWEEP_SEVERAL_H
#define LACIS_TESTS_GPU_SWEEP_SEVERAL_H

#include "sweep/gpu_several.h"
#include "sweep_support.h"

struct sweep_slabs {
    lacis_sweep_gpus_start start = {};
    lacis_sweep_start whole = {};
    lacis_sweep_gpus *systems = nullptr;
    cudaStream_t streams[LACIS_SWEEP_GPUS_MOST] = {};
    std::vector<void *> held[LACIS_SWEEP_GPUS_MOST];
    sweep_slabs() = default;
    sweep_slabs(const sweep_slabs &) = delete;
    ~sweep_slabs();
};

extern int64_t several_live, several_allocs, several_fail_at; /* blocks of systems; the nth fails, from 1 */
enum { SEVERAL_TIMED = 6 };                                   /* exchanges that slabs_begin has timed */
/* False: the grid cannot be cut so (why in `why`). */
bool slabs_begin(sweep_slabs *s, const sweep_case &c, int devices, int deep, bool apart, char *why, size_t size);
lacis_sweep_status slabs_make(sweep_slabs *s);
void slabs_collect(sweep_slabs *s, const sweep_case &c, sweep_state *out);

#endif
