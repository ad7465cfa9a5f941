/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep_bench_five.cuh, f64.
 */
#define REAL    double
#define PROGRAM five_f64
#include "sweep_bench_five.cuh"
