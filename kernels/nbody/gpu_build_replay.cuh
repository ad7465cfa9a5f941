/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree's launches, some twenty, are the same from step to step: the second time they are recorded as a graph, which
 * is launched from then on. That takes the host one call, and the device less time between kernels. Where the stream
 * cannot be recorded they are launched one by one.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_REPLAY_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_REPLAY_CUH

#include "gpu_build_job.cuh"

namespace nbody
{

template <class P, class R> static Launches launches_of(const Job<P, R> &j)
{
    return {j.m->stream,      j.m->pinned, j.from.body, j.from.soft, j.order,
            (double)j.common, j.leaf,      j.b->levels, j.offset,    j.quad};
}

static inline bool same(const Launches &a, const Launches &b)
{
    return a.stream == b.stream && a.pinned == b.pinned && a.body == b.body && a.soft == b.soft &&
           a.order == b.order && a.common == b.common && a.leaf == b.leaf && a.levels == b.levels &&
           a.offset == b.offset && a.quad == b.quad;
}

/* launch(recording): what is to be recorded. False: nothing is on the stream, and no error is left. */
template <class P, class R, class LAUNCH> static bool record(const Job<P, R> &j, LAUNCH launch)
{
    Builder<P, R> *b = j.b;
    cudaGraph_t graph = nullptr;
    const int error = *j.m->cuda_error;
    bool done = cudaStreamBeginCapture(j.m->stream, cudaStreamCaptureModeRelaxed) == cudaSuccess;
    if (done) {
        done = launch(true) == LACIS_NBODY_OK;
        done = cudaStreamEndCapture(j.m->stream, &graph) == cudaSuccess && done;
    }
    done = done && cudaGraphInstantiate(&b->replay, graph, 0) == cudaSuccess;
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    if (done) return true;
    b->replay = nullptr;
    b->unrecorded = true;
    (void)cudaGetLastError();
    *j.m->cuda_error = error;
    return false;
}

/* launch, or what was recorded of it. */
template <class P, class R, class LAUNCH>
static lacis_nbody_status launch_or_replay(const Job<P, R> &j, LAUNCH launch)
{
    Builder<P, R> *b = j.b;
    const Launches now = launches_of(j);
    const bool again = same(now, b->last);
    if (!again && b->replay != nullptr) {
        (void)cudaGraphExecDestroy(b->replay); /* the device keeps what still runs of it */
        b->replay = nullptr;
    }
    b->last = now;
    if (j.insert || !again || b->unrecorded || (b->replay == nullptr && !record(j, launch))) return launch(false);
    return good(j.m, cudaGraphLaunch(b->replay, j.m->stream)) ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

} // namespace nbody

#endif
