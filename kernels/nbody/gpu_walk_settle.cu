/* SPDX-License-Identifier: Apache-2.0
 *
 * What is best for the walk on an H200 where a rule leaves it open.
 */
#include "nbody/gpu_walk.h"

#include <math.h>

namespace nbody
{

void walk_settle(lacis_nbody_type type, int64_t n, lacis_nbody_rule *rule)
{
    const double share = rule->order == LACIS_NBODY_QUADRUPOLE ? 0.3 : 0.4;
    const bool relative = rule->opening == LACIS_NBODY_RELATIVE;
    if (rule->group <= 0) rule->group = type == LACIS_NBODY_F64 || n < 1500000 ? 32 : 64;
    rule->group = rule->group > 32 && type != LACIS_NBODY_F64 ? 64 : 32;
    if (rule->leaf <= 0) rule->leaf = relative && n >= 1500000 ? 24 : n < 30000 ? 16 : 24;
    if (rule->expand < 0) rule->expand = relative ? 0.25 : rule->theta > 0 ? fmin(0.25, share * rule->theta) : 0;
}

} // namespace nbody
