/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's words and types as plain C++: what stands in a kernel's declarations. Part of the emulator's cuda_runtime.h.
 */
#ifndef LACIS_EMULATE_TYPES_H
#define LACIS_EMULATE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define LACIS_EMULATED 1
#define __CUDACC__     1
#define __CUDA_ARCH__  900

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __forceinline__ inline
#define __align__(n)    __attribute__((aligned(n)))

/* Vectors are aligned to their size, at most 16 bytes, as on the device. */
#define EMULATE_VECTORS(T, name, two, four)                                                                          \
    struct name##1                                                                                                   \
    {                                                                                                                \
        T x;                                                                                                         \
    };                                                                                                               \
    struct __align__(two) name##2                                                                                    \
    {                                                                                                                \
        T x, y;                                                                                                      \
    };                                                                                                               \
    struct name##3                                                                                                   \
    {                                                                                                                \
        T x, y, z;                                                                                                   \
    };                                                                                                               \
    struct __align__(four) name##4                                                                                   \
    {                                                                                                                \
        T x, y, z, w;                                                                                                \
    };                                                                                                               \
    static inline name##1 make_##name##1(T x)                                                                        \
    {                                                                                                                \
        return {x};                                                                                                  \
    }                                                                                                                \
    static inline name##2 make_##name##2(T x, T y)                                                                   \
    {                                                                                                                \
        return {x, y};                                                                                               \
    }                                                                                                                \
    static inline name##3 make_##name##3(T x, T y, T z)                                                              \
    {                                                                                                                \
        return {x, y, z};                                                                                            \
    }                                                                                                                \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                                                         \
    {                                                                                                                \
        return {x, y, z, w};                                                                                         \
    }
EMULATE_VECTORS(signed char, char, 2, 4)
EMULATE_VECTORS(unsigned char, uchar, 2, 4)
EMULATE_VECTORS(short, short, 4, 8)
EMULATE_VECTORS(unsigned short, ushort, 4, 8)
EMULATE_VECTORS(int, int, 8, 16)
EMULATE_VECTORS(unsigned int, uint, 8, 16)
EMULATE_VECTORS(long, long, 16, 16)
EMULATE_VECTORS(unsigned long, ulong, 16, 16)
EMULATE_VECTORS(long long, longlong, 16, 16)
EMULATE_VECTORS(unsigned long long, ulonglong, 16, 16)
EMULATE_VECTORS(float, float, 8, 16)
EMULATE_VECTORS(double, double, 16, 16)
#undef EMULATE_VECTORS
typedef double4 double4_16a;

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
};

#endif
