/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of a written semiring with HAVING inside, by nvcc instead of NVRTC, so that tests/emulate runs them. A file
 * multiply_inside_TYPE.cu says what the prefix of operators/multiply/written.c would: lacis_t and so on, lacis_con,
 * lacis_fold, lacis_having, LACIS_BYTES; and INSIDE(name), its kernels' names. They have MASK too.
 */
#define LACIS_NVRTC   1
#define LACIS_CON     5
#define LACIS_AGG     7
#define LACIS_CHECKED 0
#define LACIS_MASKED  1
#define LACIS_SIFTED  2
#define LACIS_LISTED  0
#define LACIS_SEMIRING

#include "multiply/gpu_flat.cuh"
#include "multiply/gpu_fold.cuh"
#include "multiply/gpu_ordered.cuh"
#include "multiply/gpu_pair.cuh"
#include "multiply/gpu_small_hash.cuh"

/* Kernels of two files must not have one name. */
#define lacis_copy          INSIDE(copy)
#define lacis_tiny          INSIDE(tiny)
#define lacis_tiny_wide     INSIDE(tiny_wide)
#define lacis_middle        INSIDE(middle)
#define lacis_ordered       INSIDE(ordered)
#define lacis_dense         INSIDE(dense)
#define lacis_ordered_dense INSIDE(ordered_dense)
#define lacis_pair          INSIDE(pair)
#define lacis_flat          INSIDE(flat)
#define lacis_small_sort    INSIDE(small_sort)
#define lacis_small_hash    INSIDE(small_hash)

#undef LACIS_KERNEL
#define LACIS_KERNEL 0
namespace kernel_copy
{
#include "multiply/gpu_written.cuh"
}
using kernel_copy::lacis_copy;
#undef LACIS_KERNEL
#define LACIS_KERNEL 1
namespace kernel_tiny
{
#include "multiply/gpu_written.cuh"
}
using kernel_tiny::lacis_tiny;
#undef LACIS_KERNEL
#define LACIS_KERNEL 2
namespace kernel_tiny_wide
{
#include "multiply/gpu_written.cuh"
}
using kernel_tiny_wide::lacis_tiny_wide;
#undef LACIS_KERNEL
#define LACIS_KERNEL 3
namespace kernel_middle
{
#include "multiply/gpu_written.cuh"
}
using kernel_middle::lacis_middle;
#undef LACIS_KERNEL
#define LACIS_KERNEL 4
namespace kernel_ordered
{
#include "multiply/gpu_written.cuh"
}
using kernel_ordered::lacis_ordered;
#undef LACIS_KERNEL
#define LACIS_KERNEL 5
namespace kernel_dense
{
#include "multiply/gpu_written.cuh"
}
using kernel_dense::lacis_dense;
#undef LACIS_KERNEL
#define LACIS_KERNEL 6
namespace kernel_ordered_dense
{
#include "multiply/gpu_written.cuh"
}
using kernel_ordered_dense::lacis_ordered_dense;
#undef LACIS_KERNEL
#define LACIS_KERNEL 7
namespace kernel_pair
{
#include "multiply/gpu_written.cuh"
}
using kernel_pair::lacis_pair;
#undef LACIS_KERNEL
#define LACIS_KERNEL 8
namespace kernel_flat
{
#include "multiply/gpu_written.cuh"
}
using kernel_flat::lacis_flat;
#undef LACIS_KERNEL
#define LACIS_KERNEL 9
namespace kernel_small_sort
{
#include "multiply/gpu_written.cuh"
}
using kernel_small_sort::lacis_small_sort;
#undef LACIS_KERNEL
#define LACIS_KERNEL 10
namespace kernel_small_hash
{
#include "multiply/gpu_written.cuh"
}
using kernel_small_hash::lacis_small_hash;

static void inside_kernels(lacis_mul_gpu_written *out)
{
    const void *const kernel[] = {
        (const void *)lacis_copy,          (const void *)lacis_tiny,      (const void *)lacis_tiny_wide,
        (const void *)lacis_middle,        (const void *)lacis_ordered,   (const void *)lacis_dense,
        (const void *)lacis_ordered_dense, (const void *)lacis_pair,      (const void *)lacis_flat,
        (const void *)lacis_small_sort,    (const void *)lacis_small_hash};
    for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
        out->kernel[i] = (void *)kernel[i];
}
