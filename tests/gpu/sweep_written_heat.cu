/* SPDX-License-Identifier: Apache-2.0
 *
 * The program heat of sweep_written.h.
 */
#include "sweep_written.h"

#define PROGRAM            heat
#define LACIS_SWEEP_T      float
#define LACIS_SWEEP_DIMS   2
#define LACIS_SWEEP_FIELDS 1
#define LACIS_SWEEP_TAPS   7
#define LACIS_SWEEP_GROUPS 0
#define LACIS_SWEEP_TAP_LIST                                                                                         \
    HEAT_TAPS,                                                                                                       \
    {                                                                                                                \
        0, 0, 0, 0                                                                                                   \
    }
#define LACIS_SWEEP_WRITTEN_LIST     1,
#define LACIS_SWEEP_FIRST_TAP_LIST   0, 7
#define LACIS_SWEEP_FIRST_GROUP_LIST 0, 0
#define LACIS_SWEEP_GROUP_LIST                                                                                       \
    {                                                                                                                \
        0, 0                                                                                                         \
    }
#define LACIS_SWEEP_CALLS                                                                                            \
    if constexpr (F == 0) return lacis_rule_0(v[0], v[1], v[2], v[3], v[4], v[5], v[6], x, y, z, t, bad);

static __device__ __forceinline__ float lacis_rule_0(float c, float l, float r, float d, float u, float k, float n,
                                                     float x, float y, float, float t, int *)
{
    return HEAT(c, l, r, d, u, k, n, x, y, t);
}

#include "sweep_written_rules.cuh"
