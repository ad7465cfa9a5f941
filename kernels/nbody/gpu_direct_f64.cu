/* SPDX-License-Identifier: Apache-2.0
 *
 * All pairs of F64.
 */
#include "nbody/gpu_direct_marks.cuh"
#include "nbody/gpu_direct_pairs.cuh"

namespace nbody
{

template cudaError_t pairs_run(cudaStream_t, const Pairs &, const Sources<double, double> &, bool, void *,
                               const Finish<double, double> &);
template cudaError_t marks_run(cudaStream_t, int, int64_t, const Sources<double, double> &,
                               const Marks<double, double> &, bool, void *, Four<double> *);

} // namespace nbody
