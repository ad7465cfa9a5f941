/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of a cell: mass, centre, second moments and softening, of bodies or of children. About a point near by (the
 * first body, the first child's centre), so that nothing is lost far from the origin; in double but for leaves of R
 * float, whose lengths are taken in units of about the leaf's size, so that no product leaves the numbers.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_SUMS_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_SUMS_CUH

#include "gpu_build.cuh"
#include "gpu_number.cuh"

namespace nbody
{

enum { SUM_M, SUM_X, SUM_Y, SUM_Z, SUM_XX, SUM_YY, SUM_ZZ, SUM_XY, SUM_XZ, SUM_YZ, SUM_E, SUMS };

template <class A> struct SumsOf {
    A v[SUMS];
};
typedef SumsOf<double> Sums;

/* Where the tree's numbers of cells go. */
template <class P, class R> struct Moments {
    const Four<P> *body;
    const R *soft; /* NULL: common */
    R common;
    Four<P> *centre;
    Four<R> *quad; /* NULL: not wanted */
    R *soft_mean;  /* NULL: not wanted */
    Four<R> *rest; /* centre as it was before it was rounded, less as it is stored */
};

template <class A> __device__ static inline void add(SumsOf<A> *s, A m, A x, A y, A z, A e)
{
    const A mx = m * x, my = m * y, mz = m * z;
    s->v[SUM_M] += m;
    s->v[SUM_X] += mx;
    s->v[SUM_Y] += my;
    s->v[SUM_Z] += mz;
    s->v[SUM_XX] += mx * x;
    s->v[SUM_YY] += my * y;
    s->v[SUM_ZZ] += mz * z;
    s->v[SUM_XY] += mx * y;
    s->v[SUM_XZ] += mx * z;
    s->v[SUM_YZ] += my * z;
    s->v[SUM_E] += m * e;
}

/* Sums of the lanes of a group (width: a power of two), in each of them the same bits. All lanes of the warp come
 * here together. */
template <class A> __device__ static inline void join(SumsOf<A> *s, int width)
{
    for (int step = width / 2; step > 0; step /= 2)
        for (int k = 0; k < SUMS; k++)
            s->v[k] += __shfl_xor_sync(~0u, s->v[k], step);
}

/* Whether centres come from masses; else they are means of places. */
__device__ static inline bool weighty(double mass)
{
    return mass > 0 && mass < 0x1p1020;
}

template <class R> __device__ static inline R finite(double x)
{
    const R r = (R)x;
    return r - r == 0 ? r : (R)0;
}

/* Writes a cell's numbers but its link. at: what the sums are about; mean: of the places about it, looked at where
 * there is no mass. Returns the centre as it is stored. */
template <class P, class R>
__device__ static inline Four<P> settle(const Moments<P, R> &to, uint32_t cell, const Sums &s, const Four<P> &at,
                                        const double *mean, bool write)
{
    const double *v = s.v, m = v[SUM_M];
    const bool heavy = weighty(m);
    double c[3];
    for (int k = 0; k < 3; k++)
        c[k] = heavy ? v[SUM_X + k] / m : mean[k];
    Four<P> centre = {(P)((double)at.x + c[0]), (P)((double)at.y + c[1]), (P)((double)at.z + c[2]), (P)m};
    if (!(centre.x - centre.x == 0 && centre.y - centre.y == 0 && centre.z - centre.z == 0)) {
        centre.x = at.x;
        centre.y = at.y;
        centre.z = at.z;
    }
    if (!write) return centre;
    store(to.centre + cell, centre);
    const R soft = heavy && to.soft != nullptr ? finite<R>(v[SUM_E] / m) : to.common;
    if (to.soft_mean != nullptr) to.soft_mean[cell] = soft;
    /* About the centre as it is stored, which is rounded. */
    const double x = (double)centre.x - (double)at.x, y = (double)centre.y - (double)at.y,
                 z = (double)centre.z - (double)at.z;
    store(to.rest + cell, Four<R>{finite<R>(c[0] - x), finite<R>(c[1] - y), finite<R>(c[2] - z), (R)0});
    if (to.quad == nullptr) return centre;
    const double xx = v[SUM_XX] - 2 * x * v[SUM_X] + m * x * x, yy = v[SUM_YY] - 2 * y * v[SUM_Y] + m * y * y,
                 zz = v[SUM_ZZ] - 2 * z * v[SUM_Z] + m * z * z,
                 xy = v[SUM_XY] - x * v[SUM_Y] - y * v[SUM_X] + m * x * y,
                 xz = v[SUM_XZ] - x * v[SUM_Z] - z * v[SUM_X] + m * x * z,
                 yz = v[SUM_YZ] - y * v[SUM_Z] - z * v[SUM_Y] + m * y * z;
    const R none = (R)0;
    const bool flat = !heavy;
    const R sum = finite<R>(xx + yy + zz + fabs(xy) + fabs(xz) + fabs(yz));
    const bool lost = flat || (sum == none && !(xx + yy + zz == 0));
    store(to.quad + 2 * (size_t)cell, lost ? Four<R>{none, none, none, none}
                                           : Four<R>{(R)fmax(xx, 0.0), (R)fmax(yy, 0.0), (R)fmax(zz, 0.0), (R)xy});
    store(to.quad + 2 * (size_t)cell + 1, lost ? Four<R>{none, none, soft, none} : Four<R>{(R)xz, (R)yz, soft, none});
    return centre;
}

/* How far bodies are from a centre, rounded up; 0 only where they are not. */
__device__ static inline float far_apart(double x, double y, double z)
{
    const float fx = (float)fabs(x), fy = (float)fabs(y), fz = (float)fabs(z);
    const float most = fmaxf(fx, fmaxf(fy, fz));
    if (most > 1e-15f && most < 1e15f) return sqrtf(fx * fx + fy * fy + fz * fz) * (1 + 5e-7f);
    const double top = fmax(fabs(x), fmax(fabs(y), fabs(z)));
    if (top == 0) return 0;
    if (!(top <= 0x1.fffffffffffffp1023)) return __int_as_float(0x7f800000);
    const int e = ilogb(top);
    const double a = scalbn(x, -e), b = scalbn(y, -e), c = scalbn(z, -e);
    return __double2float_ru(scalbn(sqrt(a * a + b * b + c * c) * (1 + 0x1p-50), e));
}

__device__ static inline float far_apart(const Four<double> &a, const Four<double> &b)
{
    return far_apart(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ static inline float far_apart(const Four<float> &a, const Four<float> &b)
{
    const float x = fabsf(a.x - b.x), y = fabsf(a.y - b.y), z = fabsf(a.z - b.z), most = fmaxf(x, fmaxf(y, z));
    if (most > 1e-15f && most < 1e15f) return sqrtf(x * x + y * y + z * z) * (1 + 5e-7f);
    return far_apart((double)a.x - (double)b.x, (double)a.y - (double)b.y, (double)a.z - (double)b.z);
}

__device__ static inline void raise(float *to, float value) /* not below 0 */
{
    if (*(volatile float *)to < value) atomicMax((unsigned *)to, __float_as_uint(value));
}

} // namespace nbody

#endif
