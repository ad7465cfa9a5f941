/* SPDX-License-Identifier: Apache-2.0
 *
 * All pairs of MIXED: positions in double, forces in float.
 */
#include "nbody/gpu_direct_marks.cuh"
#include "nbody/gpu_direct_pairs.cuh"

namespace nbody
{

template cudaError_t pairs_run(cudaStream_t, const Pairs &, const Sources<double, float> &, bool, void *,
                               const Finish<double, float> &);
template cudaError_t marks_run(cudaStream_t, int, int64_t, const Sources<double, float> &,
                               const Marks<double, float> &, bool, void *, Four<float> *);
template cudaError_t marks_run(cudaStream_t, int, int64_t, const Sources<double, float> &,
                               const Marks<double, double> &, bool, void *, Four<double> *);

} // namespace nbody
