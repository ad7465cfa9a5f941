/* SPDX-License-Identifier: Apache-2.0
 *
 * The cross's mean as a written rule of numbers REAL, for benches: what NVRTC would make of 0.25 * (l + r + (d + u)).
 */
#define LACIS_SWEEP_T      REAL
#define LACIS_SWEEP_DIMS   2
#define LACIS_SWEEP_FIELDS 1
#define LACIS_SWEEP_TAPS   4
#define LACIS_SWEEP_GROUPS 0
#define LACIS_SWEEP_TAP_LIST                                                                                         \
    {0, -1, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0},                                                                      \
    {                                                                                                                \
        0, 0, 1, 0                                                                                                   \
    }
#define LACIS_SWEEP_WRITTEN_LIST     1
#define LACIS_SWEEP_FIRST_TAP_LIST   0, 4
#define LACIS_SWEEP_FIRST_GROUP_LIST 0, 0
#define LACIS_SWEEP_GROUP_LIST                                                                                       \
    {                                                                                                                \
        0, 0                                                                                                         \
    }
#define LACIS_SWEEP_CALLS                                                                                            \
    if constexpr (F == 0) return lacis_rule_0(v[0], v[1], v[2], v[3], x, y, z, t, bad);

static __device__ __forceinline__ REAL lacis_rule_0(REAL l, REAL r, REAL d, REAL u, REAL, REAL, REAL, REAL, int *)
{
    return REAL(0.25) * (l + r + (d + u));
}

#include "sweep_written_rules.cuh"
