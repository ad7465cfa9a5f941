/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a product on the GPU: what becomes of an element of A x, for all families alike; and the traits that add
 * sums of a type.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_END_CUH
#define LACIS_KERNELS_SYMV_GPU_END_CUH

#include "symv/gpu_inside.h"
#include "symv/gpu_number.cuh"

/* y = alpha s + beta y0. */
template <class N> SYMV_GPU typename N::X symv_scaled(const symv_gpu_part &p, int side, int64_t i, typename N::X s)
{
    typedef typename N::X X;
    X y = N::step(N::number(p.alpha), s, symv_zero<X>());
    if (p.beta[0] != 0 || p.beta[1] != 0 || p.beta[2] != 0 || p.beta[3] != 0)
        y = N::step(N::number(p.beta), symv_load((const X *)p.y0 + side * p.y_side + i * p.y_step), y);
    return y;
}

/* Element i of side `side` of A x goes where it is wanted. */
template <class N> SYMV_GPU void symv_end(const symv_gpu_part &p, int side, int64_t i, typename N::X s)
{
    typedef typename N::X X;
    if (p.totals != NULL)
        ((X *)p.totals)[side * p.row + i] = s;
    else
        symv_store((X *)p.y + side * p.y_side + i * p.y_step, symv_scaled<N>(p, side, i, s));
}

/* DO(N) with the traits whose X is that of the type; an expression's value. */
#define SYMV_BY_SUMS(type, accurate, DO)                                                                             \
    ((type) == LACIS_SYMV_F32                                   ? DO(symv_f32)                                       \
     : (type) == LACIS_SYMV_F64 || (type) == LACIS_SYMV_F32_F64 ? DO(symv_f64)                                       \
     : (type) == LACIS_SYMV_C64                                 ? DO(symv_n_c64)                                     \
     : (type) == LACIS_SYMV_C128                                ? DO(symv_n_c128)                                    \
     : (type) == LACIS_SYMV_CDD && (accurate)                   ? DO(symv_n_cdd<true>)                               \
     : (type) == LACIS_SYMV_CDD                                 ? DO(symv_n_cdd<false>)                              \
     : (accurate)                                               ? DO(symv_n_dd<true>)                                \
                                                                : DO(symv_n_dd<false>))

#endif
