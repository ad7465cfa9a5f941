/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep_bench_five.cuh, f32.
 */
#define REAL    float
#define PROGRAM five_f32
#include "sweep_bench_five.cuh"
