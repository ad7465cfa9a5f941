/* SPDX-License-Identifier: Apache-2.0
 *
 * One system in parts, a device each: a part is a stretch of the curve, whose bodies its device alone moves, sorts
 * and walks for. Every device has the trees of all parts, its own as its builder makes it, the others as they are
 * sent, under one cell more; so only bodies and cells are copied in a step, and nothing is done twice. As bodies mix,
 * parts come to lie across each other and cost more visits: after a while they are cut anew.
 */
#ifndef LACIS_NBODY_GPU_PARTS_H
#define LACIS_NBODY_GPU_PARTS_H

#include "nbody/gpu_system.h"

namespace nbody
{

/* Trees of all parts on one device. Cells: the top, the parts' roots again, then the parts' cells. */
template <class P, class R> struct Joint {
    Four<P> *body;
    Link *link;
    Four<P> *centre, *cube; /* cube: where OFFSET has asked for it */
    Four<R> *quad;
};

/* Where part k lies: its first body and cell; bodies: n of part[k + 1] - part[k]. */
struct Place {
    int64_t body;
    uint32_t cell;
};

template <class P, class R> struct Parts {
    int many;
    System<P, R> *of[LACIS_NBODY_GPUS_MOST];
    Joint<P, R> joint[LACIS_NBODY_GPUS_MOST];
    Place at[LACIS_NBODY_GPUS_MOST + 1];
};

/* Places of the parts of n bodies. False: too few bodies. */
bool parts_cut(int64_t n, int many, Place *at);
/* Bytes of part k and of the trees on its device. */
template <class P, class R> uint64_t parts_bytes(const lacis_nbody_start *start, int many);

/* gpu_parts_tree.cu: launches alone. Links of a part's cells become those of all; what is above the parts. */
template <class P, class R>
cudaError_t parts_shift(const Joint<P, R> &joint, const Place &at, uint32_t cells, cudaStream_t stream);
template <class P, class R>
cudaError_t parts_top(const Joint<P, R> &joint, const Place *at, int many, bool quad, cudaStream_t stream);

} // namespace nbody

#endif
