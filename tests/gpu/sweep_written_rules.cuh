/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of rules compiled with the rest: a file that includes this has what lacis_sweep_gpu_prefix would say, and
 * the rules' functions, before it, and names its program PROGRAM. Behind it there is sweep_program_PROGRAM(kernel).
 */
#include "sweep/gpu_march.cuh"

#include <string>

#define NAME_OF(a, b) a##b
#define NAME(a, b)    NAME_OF(a, b)
#define TEXT_OF(...)  #__VA_ARGS__
#define TEXT(...)     TEXT_OF(__VA_ARGS__)

#define lacis_sweep_kernel        NAME(lacis_sweep_kernel_, PROGRAM)
#define lacis_sweep_change_kernel NAME(lacis_sweep_change_kernel_, PROGRAM)

#define LACIS_KERNEL 0
namespace NAME(plain_, PROGRAM)
{
#include "sweep/gpu_sweep_written.cuh"
    static const void *kernel()
    {
        return (const void *)lacis_sweep_kernel;
    }
} // namespace )
#undef LACIS_KERNEL
#define LACIS_KERNEL 1
namespace NAME(change_, PROGRAM)
{
#include "sweep/gpu_sweep_written.cuh"
    static const void *kernel()
    {
        return (const void *)lacis_sweep_change_kernel;
    }
} // namespace )

/* The kernels, and the lists as texts. */
void NAME(sweep_program_, PROGRAM)(void **kernel, std::string *lists)
{
    kernel[0] = const_cast<void *>(NAME(plain_, PROGRAM)::kernel());
    kernel[1] = const_cast<void *>(NAME(change_, PROGRAM)::kernel());
    *lists =
        "TAP_LIST" TEXT((LACIS_SWEEP_TAP_LIST)) "WRITTEN_LIST" TEXT((LACIS_SWEEP_WRITTEN_LIST)) "FIRST_TAP_LIST" TEXT((
            LACIS_SWEEP_FIRST_TAP_LIST)) "FIRST_GROUP_LIST" TEXT((LACIS_SWEEP_FIRST_GROUP_LIST)) "GROUP_"
                                                                                                 "LIST" TEXT((
                                                                                                     LACIS_SWEEP_GROUP_LIST));
}
