/* SPDX-License-Identifier: Apache-2.0
 *
 * The program wave of sweep_written.h.
 */
#include "sweep_written.h"

#define PROGRAM            wave
#define LACIS_SWEEP_T      double
#define LACIS_SWEEP_DIMS   3
#define LACIS_SWEEP_FIELDS 3
#define LACIS_SWEEP_TAPS   11
#define LACIS_SWEEP_GROUPS 2
#define LACIS_SWEEP_TAP_LIST                                                                                         \
    {1, 1, 0, 0}, {2, 0, 0, 0}, WAVE_TAPS, {0, 0, 1, 0},                                                             \
    {                                                                                                                \
        0, 0, 0, 0                                                                                                   \
    }
#define LACIS_SWEEP_WRITTEN_LIST     0, 1, 0,
#define LACIS_SWEEP_FIRST_TAP_LIST   0, 2, 10, 11
#define LACIS_SWEEP_FIRST_GROUP_LIST 0, 1, 1, 2
#define LACIS_SWEEP_GROUP_LIST                                                                                       \
    {0, 2}, {10, 11},                                                                                                \
    {                                                                                                                \
        0, 0                                                                                                         \
    }
#define LACIS_SWEEP_CALLS                                                                                            \
    if constexpr (F == 1) return lacis_rule_1(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], x, y, z, t, bad);

static __device__ __forceinline__ double lacis_rule_1(double c, double l, double r, double d, double u, double f,
                                                      double b, double v, double x, double y, double z, double t,
                                                      int *bad)
{
    if (t > 1000) *bad = 1;
    return WAVE(c, l, r, d, u, f, b, v, x, y, z, t);
}

#include "sweep_written_rules.cuh"
