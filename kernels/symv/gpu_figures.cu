/* SPDX-License-Identifier: Apache-2.0
 *
 * What lacis_symv_figures holds, of one y a block, in an order of its own that does not change; it writes y too. Sums
 * in double-double; the 2-norm from three sums of squares, of the large, the small and the other components, scaled
 * (Blue, "A portable Fortran program to find the Euclidean norm of a vector", 1978).
 */
#include "symv/gpu_end.cuh"

enum { THREADS = 256 };

#define LARGE   0x1p500
#define SMALL   0x1p-500
#define SHRINK  0x1p-600
#define ENLARGE 0x1p600

struct symv_known {
    lacis_dd re, im, moduli;
    double large, other, small; /* sums of squares, scaled */
    double most;
};

SYMV_GPU void components(float x, lacis_dd (&to)[2])
{
    to[0] = lacis_dd_new(x, 0), to[1] = lacis_dd_new(0, 0);
}
SYMV_GPU void components(double x, lacis_dd (&to)[2])
{
    to[0] = lacis_dd_new(x, 0), to[1] = lacis_dd_new(0, 0);
}
SYMV_GPU void components(symv_c64 x, lacis_dd (&to)[2])
{
    to[0] = lacis_dd_new(x.re, 0), to[1] = lacis_dd_new(x.im, 0);
}
SYMV_GPU void components(symv_c128 x, lacis_dd (&to)[2])
{
    to[0] = lacis_dd_new(x.re, 0), to[1] = lacis_dd_new(x.im, 0);
}
SYMV_GPU void components(symv_dd x, lacis_dd (&to)[2])
{
    to[0] = symv_plain(x), to[1] = lacis_dd_new(0, 0);
}
SYMV_GPU void components(symv_cdd x, lacis_dd (&to)[2])
{
    to[0] = symv_plain(x.re), to[1] = symv_plain(x.im);
}

/* conj(x) t */
template <class N> SYMV_GPU void see_dot(symv_known &k, typename N::X x, typename N::X t)
{
    lacis_dd a[2], b[2];
    components(x, a);
    components(t, b);
    k.re = lacis_dd_fma_accurate(a[0], b[0], k.re);
    if (!N::COMPLEX) return;
    k.re = lacis_dd_fma_accurate(a[1], b[1], k.re);
    k.im = lacis_dd_fma_accurate(a[0], b[1], k.im);
    k.im = lacis_dd_fma_accurate(lacis_dd_neg(a[1]), b[0], k.im);
}

SYMV_GPU void see_square(symv_known &k, double x)
{
    const double size = ::fabs(x);
    if (size > LARGE)
        k.large += (x * SHRINK) * (x * SHRINK);
    else if (size < SMALL)
        k.small += (x * ENLARGE) * (x * ENLARGE);
    else
        k.other += x * x;
}

/* The larger, NaN where one is. */
SYMV_GPU double larger(double a, double b)
{
    return a >= b || a != a ? a : b;
}

template <class N> SYMV_GPU void see_y(symv_known &k, typename N::X y)
{
    lacis_dd v[2];
    components(y, v);
    see_square(k, v[0].hi);
    if (N::COMPLEX) see_square(k, v[1].hi);
    const double modulus = N::COMPLEX ? ::hypot(v[0].hi, v[1].hi) : ::fabs(v[0].hi);
    const double low = !N::COMPLEX && v[0].lo == v[0].lo ? (v[0].hi < 0 ? -v[0].lo : v[0].lo) : 0;
    k.moduli = lacis_dd_add_accurate(k.moduli, lacis_dd_new(modulus, low));
    k.most = larger(modulus, k.most);
}

SYMV_GPU symv_known both(symv_known a, const symv_known &b)
{
    a.re = lacis_dd_add_accurate(a.re, b.re);
    a.im = lacis_dd_add_accurate(a.im, b.im);
    a.moduli = lacis_dd_add_accurate(a.moduli, b.moduli);
    a.large += b.large;
    a.other += b.other;
    a.small += b.small;
    a.most = larger(a.most, b.most);
    return a;
}

SYMV_GPU double norm(const symv_known &k)
{
    if (k.other != k.other) return k.other;
    if (k.large > 0) return ::sqrt(k.large + k.other * SHRINK * SHRINK) * ENLARGE;
    if (k.other > 0) return ::sqrt(k.other + k.small * SHRINK * SHRINK);
    return ::sqrt(k.small) * SHRINK;
}

/* Block (side, matrix). */
template <class N>
static __global__ void __launch_bounds__(THREADS)
    figures_kernel(const __grid_constant__ symv_gpu_part p, symv_gpu_stride stride, lacis_symv_figures *figures)
{
    typedef typename N::X X;
    __shared__ symv_known share[THREADS];
    const int side = (int)blockIdx.x;
    const int64_t matrix = blockIdx.y;
    const X *const totals = (const X *)p.totals + matrix * stride.total + side * p.row;
    const X *const x = (const X *)p.x + matrix * stride.x + side * p.x_side;
    symv_gpu_part own = p; /* with this matrix's y */
    own.y = p.y != NULL ? (X *)p.y + matrix * stride.y : NULL;
    own.y0 = p.y0 != NULL ? (const X *)p.y0 + matrix * stride.y : NULL;
    symv_known k = {};
    for (int64_t i = threadIdx.x; i < p.grid.n; i += THREADS) {
        const X total = totals[i], y = symv_scaled<N>(own, side, i, total);
        see_dot<N>(k, symv_load(x + i * p.x_step), total);
        see_y<N>(k, y);
        if (own.y != NULL) symv_store((X *)own.y + side * p.y_side + i * p.y_step, y);
    }
    share[threadIdx.x] = k;
    for (int h = THREADS / 2; h >= 1; h /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < h) share[threadIdx.x] = both(share[threadIdx.x], share[threadIdx.x + h]);
    }
    if (threadIdx.x > 0) return;
    k = share[0];
    lacis_symv_figures *const to = figures + matrix * stride.figures + side;
    to->dot[0] = k.re.hi, to->dot[1] = k.re.lo;
    to->dot_im[0] = k.im.hi, to->dot_im[1] = k.im.lo;
    to->norm1 = k.moduli.hi;
    to->norm2 = norm(k);
    to->norm_max = k.most;
}

cudaError_t symv_gpu_figures(const symv_gpu_pass *pass, int64_t matrices, symv_gpu_stride stride,
                             lacis_symv_figures *to)
{
    const lacis_symv_job *job = &pass->job->job;
    const dim3 grid((unsigned)pass->sides, (unsigned)matrices);
#define DO(N) (figures_kernel<N><<<grid, THREADS, 0, pass->stream>>>(pass->part, stride, to), 0)
    SYMV_BY_SUMS(job->type, job->accurate, DO);
#undef DO
    return cudaGetLastError();
}
