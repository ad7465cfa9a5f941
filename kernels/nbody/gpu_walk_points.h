/* SPDX-License-Identifier: Apache-2.0
 *
 * Free points as targets: they are put in the order of the curve first, so that groups are compact.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_POINTS_H
#define LACIS_KERNELS_NBODY_GPU_WALK_POINTS_H

#include "nbody/gpu_walk.h"

namespace nbody
{

/* The rule leaves nothing open. |a| of points is not known: for RELATIVE the field is evaluated twice, the first time
 * by the geometric rule. */
template <class P, class R>
lacis_nbody_status walk_points(const Machine *machine, const lacis_nbody_rule *rule, const Tree<P, R> *tree,
                               const Targets<P> *points, const Forces<R> *forces);

} // namespace nbody

#endif
