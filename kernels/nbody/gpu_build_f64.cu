/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees of one type: gpu_build.cuh.
 */
#include "gpu_build_run.cuh"

namespace nbody
{

NBODY_BUILDER(double, double)

} // namespace nbody
