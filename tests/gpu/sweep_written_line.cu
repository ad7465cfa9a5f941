/* SPDX-License-Identifier: Apache-2.0
 *
 * The program line of sweep_written.h.
 */
#include "sweep_written.h"

#define PROGRAM            line
#define LACIS_SWEEP_T      double
#define LACIS_SWEEP_DIMS   1
#define LACIS_SWEEP_FIELDS 2
#define LACIS_SWEEP_TAPS   4
#define LACIS_SWEEP_GROUPS 0
#define LACIS_SWEEP_TAP_LIST                                                                                         \
    LINE_TAPS,                                                                                                       \
    {                                                                                                                \
        0, 0, 0, 0                                                                                                   \
    }
#define LACIS_SWEEP_WRITTEN_LIST     1, 1,
#define LACIS_SWEEP_FIRST_TAP_LIST   0, 4, 4
#define LACIS_SWEEP_FIRST_GROUP_LIST 0, 0, 0
#define LACIS_SWEEP_GROUP_LIST                                                                                       \
    {                                                                                                                \
        0, 0                                                                                                         \
    }
#define LACIS_SWEEP_CALLS                                                                                            \
    if constexpr (F == 0) return lacis_rule_0(v[0], v[1], v[2], v[3], x, y, z, t, bad);                              \
    if constexpr (F == 1) return lacis_rule_1(x, y, z, t, bad);

static __device__ __forceinline__ double lacis_rule_0(double a, double b, double c, double d, double x, double,
                                                      double, double t, int *)
{
    return LINE_U(a, b, c, d, x, t);
}
static __device__ __forceinline__ double lacis_rule_1(double x, double, double, double t, int *)
{
    return LINE_V(x, t);
}

#include "sweep_written_rules.cuh"
