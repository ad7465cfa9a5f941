/* SPDX-License-Identifier: Apache-2.0
 *
 * From a job's type to the trait of gpu_number.cuh, for the families whose kernels are compiled in one file each.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_DISPATCH_CUH
#define LACIS_KERNELS_SYMV_GPU_DISPATCH_CUH

#include "symv/gpu_number.cuh"

/* call(N{}) with the trait of the type. */
template <class CALL> cudaError_t symv_by_type(lacis_symv_type type, bool accurate, CALL call)
{
    switch (type) {
    case LACIS_SYMV_F32:
        return call(symv_f32{});
    case LACIS_SYMV_F64:
        return call(symv_f64{});
    case LACIS_SYMV_C64:
        return call(symv_n_c64{});
    case LACIS_SYMV_C128:
        return call(symv_n_c128{});
    case LACIS_SYMV_DD:
        return accurate ? call(symv_n_dd<true>{}) : call(symv_n_dd<false>{});
    case LACIS_SYMV_CDD:
        return accurate ? call(symv_n_cdd<true>{}) : call(symv_n_cdd<false>{});
    case LACIS_SYMV_F32_F64:
        return call(symv_f32_f64{});
    case LACIS_SYMV_F32_DD:
        return accurate ? call(symv_n_by<float, 4, true>{}) : call(symv_n_by<float, 4, false>{});
    case LACIS_SYMV_F64_DD:
        return accurate ? call(symv_n_by<double, 2, true>{}) : call(symv_n_by<double, 2, false>{});
    default:
        return cudaErrorInvalidValue;
    }
}

#endif
