/* SPDX-License-Identifier: Apache-2.0
 *
 * Five fields, for benches: u and four coefficients, one for each neighbour.
 */
#define LACIS_SWEEP_T      REAL
#define LACIS_SWEEP_DIMS   2
#define LACIS_SWEEP_FIELDS 1
#define LACIS_SWEEP_TAPS   9
#define LACIS_SWEEP_GROUPS 0
#define LACIS_SWEEP_TAP_LIST                                                                                         \
    {0, 0, 0, 0}, {0, -1, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 1, 0}, {1, 0, 0, 0}, {2, 0, 0, 0},              \
        {3, 0, 0, 0},                                                                                                \
    {                                                                                                                \
        4, 0, 0, 0                                                                                                   \
    }
#define LACIS_SWEEP_WRITTEN_LIST     1
#define LACIS_SWEEP_FIRST_TAP_LIST   0, 9
#define LACIS_SWEEP_FIRST_GROUP_LIST 0, 0
#define LACIS_SWEEP_GROUP_LIST                                                                                       \
    {                                                                                                                \
        0, 0                                                                                                         \
    }
#define LACIS_SWEEP_CALLS                                                                                            \
    if constexpr (F == 0) return lacis_rule_0(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], x, y, z, t, bad);

static __device__ __forceinline__ REAL lacis_rule_0(REAL c, REAL l, REAL r, REAL d, REAL u, REAL kl, REAL kr, REAL kd,
                                                    REAL ku, REAL, REAL, REAL, REAL, int *)
{
    return c + (kl * (l - c) + kr * (r - c)) + (kd * (d - c) + ku * (u - c));
}

#include "sweep_written_rules.cuh"
