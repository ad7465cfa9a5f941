/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk with positions in doubles and forces in floats.
 */
#include "nbody/gpu_walk.cuh"

namespace nbody
{

template <>
cudaError_t walk_instance(const Walk<double, float> &walk, int group, bool quad, bool potential, cudaStream_t stream)
{
    return group > 32 ? walk_launch<double, float, 2>(walk, quad, potential, stream)
                      : walk_launch<double, float, 1>(walk, quad, potential, stream);
}

} // namespace nbody
