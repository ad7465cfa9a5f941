/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep_bench_varied.cuh, f32.
 */
#define REAL    float
#define PROGRAM varied_f32
#include "sweep_bench_varied.cuh"
