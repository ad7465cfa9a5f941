/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk in doubles: groups of 32, whose sums fill the registers.
 */
#include "nbody/gpu_walk.cuh"

namespace nbody
{

template <>
cudaError_t walk_instance(const Walk<double, double> &walk, int group, bool quad, bool potential, cudaStream_t stream)
{
    (void)group;
    return walk_launch<double, double, 1>(walk, quad, potential, stream);
}

} // namespace nbody
