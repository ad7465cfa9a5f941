/* SPDX-License-Identifier: Apache-2.0
 *
 * What is best for the walk on an H200 where a rule leaves it open.
 */
#include "nbody/gpu_walk.h"

#include <math.h>

namespace nbody
{

/* Groups of 64 save visits and cost pairs: they were never faster with shared upper walks. Expansion makes errors of
 * its own, which must stay below those of theta; a monopole's are the larger in the tail. */
void walk_settle(lacis_nbody_type type, int64_t n, lacis_nbody_rule *rule)
{
    const double share = rule->order == LACIS_NBODY_QUADRUPOLE ? 0.3 : 0.15;
    const bool relative = rule->opening == LACIS_NBODY_RELATIVE;
    rule->group = rule->group > 32 && type != LACIS_NBODY_F64 ? 64 : 32;
    if (rule->leaf <= 0) rule->leaf = n < 30000 ? 16 : 24;
    if (rule->expand >= 0) return;
    if (relative)
        rule->expand = n < 1500000 ? 0.2 : 0.22;
    else
        rule->expand = rule->theta > 0 ? fmin(0.25, share * rule->theta) : 0;
}

} // namespace nbody
