/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk in floats.
 */
#include "nbody/gpu_walk.cuh"

namespace nbody
{

template <>
cudaError_t walk_instance(const Walk<float, float> &walk, int group, bool quad, bool potential, cudaStream_t stream)
{
    return group > 32 ? walk_launch<float, float, 2>(walk, quad, potential, stream)
                      : walk_launch<float, float, 1>(walk, quad, potential, stream);
}

} // namespace nbody
