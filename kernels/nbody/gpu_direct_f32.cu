/* SPDX-License-Identifier: Apache-2.0
 *
 * All pairs of F32.
 */
#include "nbody/gpu_direct_marks.cuh"
#include "nbody/gpu_direct_pairs.cuh"

namespace nbody
{

template cudaError_t pairs_run(cudaStream_t, const Pairs &, const Sources<float, float> &, bool, void *,
                               const Finish<float, float> &);
template cudaError_t marks_run(cudaStream_t, int, int64_t, const Sources<float, float> &, const Marks<float, float> &,
                               bool, void *, Four<float> *);
template cudaError_t marks_run(cudaStream_t, int, int64_t, const Sources<float, float> &,
                               const Marks<float, double> &, bool, void *, Four<double> *);

} // namespace nbody
