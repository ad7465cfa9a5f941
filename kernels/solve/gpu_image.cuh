/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that lie one behind the other in device memory as an image in shared memory, moved 16 bytes at a time
 * whatever their alignment: the image begins where the last address divisible by 16 does. By one warp.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_IMAGE_CUH
#define LACIS_KERNELS_SOLVE_GPU_IMAGE_CUH

#include "solve/gpu_number.cuh"

/* Bytes of an image of so many elements at most. */
template <class S> static __host__ __device__ __forceinline__ int image_bytes(int elements)
{
    return (elements * (int)sizeof(S) + 16 + 15) / 16 * 16;
}

/* Elements of the image before the first. */
template <class S> SOLVE_FN int image_shift(const S *first)
{
    return (int)((uintptr_t)first % 16 / sizeof(S));
}

/* Only begins to copy: wait_for_images, then __syncwarp. Nothing behind the last element is read (a copy of fewer
 * than 16 bytes still touches all 16, so the end goes by elements); up to 15 bytes before the first one, of the same
 * allocation, are. */
template <class S> SOLVE_FN void bring_image(char *image, const S *first, int elements)
{
    const int skip = (int)((uintptr_t)first % 16), bytes = skip + elements * (int)sizeof(S);
    const char *from = (const char *)first - skip;
    const unsigned to = (unsigned)__cvta_generic_to_shared(image);
    for (int at = threadIdx.x % 32 * 16; at < bytes; at += 32 * 16) {
        if (at + 16 <= bytes) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + at), "l"(from + at) : "memory");
            continue;
        }
        for (int b = at < skip ? skip : at; b < bytes; b += (int)sizeof(S))
            *(S *)(image + b) = *(const S *)(from + b);
    }
}

SOLVE_FN void wait_for_images()
{
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
}

template <class S> SOLVE_FN void send_image(const char *image, S *first, int elements)
{
    const int skip = (int)((uintptr_t)first % 16), bytes = skip + elements * (int)sizeof(S);
    char *to = (char *)first - skip;
    for (int at = threadIdx.x % 32 * 16; at < bytes; at += 32 * 16) {
        if (at >= skip && at + 16 <= bytes) {
            __stcs((float4 *)(to + at), *(const float4 *)(image + at));
        } else {
            for (int b = at < skip ? skip : at; b < at + 16 && b < bytes; b += (int)sizeof(S))
                *(S *)(to + b) = *(const S *)(image + b);
        }
    }
}

#endif
