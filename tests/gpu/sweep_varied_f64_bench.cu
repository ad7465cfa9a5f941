/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep_bench_varied.cuh, f64.
 */
#define REAL    double
#define PROGRAM varied_f64
#include "sweep_bench_varied.cuh"
