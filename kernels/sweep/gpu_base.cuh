/* SPDX-License-Identifier: Apache-2.0
 *
 * What all sweep kernels share, those that NVRTC compiles too (no headers here): a pass as a kernel's parameter,
 * loops over numbers known at compile time, vectors of 16 bytes.
 *
 * A row's cell 0 lies at a multiple of 16 bytes, rows and planes follow at multiples of 16 bytes, and around the
 * part's cells there are the ghosts that rules read: who computes cells looks at no edges.
 */
#ifndef LACIS_SWEEP_GPU_BASE_CUH
#define LACIS_SWEEP_GPU_BASE_CUH

enum {
    SWEEP_ARRAYS = 24,
    SWEEP_FIELDS = 8,
    SWEEP_WEIGHTS = 64, /* of all rules: constant, weights, constant ... */
    SWEEP_DIGITS = 68,
    SWEEP_COUNTERS = SWEEP_DIGITS + 2, /* behind the digits: how many were infinite, NaN */
    SWEEP_SUMS = 64,                   /* accumulators beside each other, so that warps do not all add to one */
    SWEEP_TILE_X = 32,
    SWEEP_TILE_Y = 8
};

/* max: bits of |new - old| as a double, which are in order as integers, NaN the greatest. */
struct sweep_sums {
    unsigned long long digit[SWEEP_COUNTERS], max;
};

struct sweep_edges;

/* Cells begin .. end - 1 of the part; those of field f outside keep_low .. keep_high - 1 keep their values. */
struct sweep_pass {
    const void *from[SWEEP_ARRAYS]; /* cell (0, 0, 0) of each array: fields as they are, then coefficients */
    void *to[SWEEP_FIELDS];
    long long stride[3]; /* elements between cells along x, y, z; stride[0] 1 */
    long long begin[3], end[3];
    long long keep_low[SWEEP_FIELDS][3], keep_high[SWEEP_FIELDS][3];
    long long origin[3], whole[3], t;
    /* Blocks are dealt x strips first, then `slab` of them along the axis between, then chunks of `length` along the
     * last, then further slabs. */
    unsigned strips, slab, chunks, length;
    /* Ghosts that the step changes come of cells before near_low or from near_high on; far away: there are none. */
    long long near_low[3], near_high[3];
    const sweep_edges *edges;
    int *bad; /* set where a written rule fails */
    sweep_sums *sums;
    double weight[SWEEP_WEIGHTS]; /* numbers of the type */
};

template <int N> struct sweep_number {
    static constexpr int value = N;
};
/* f(sweep_number<I>) for I = BEGIN .. END - 1. */
template <int BEGIN, int END, class F> __device__ __forceinline__ void sweep_each(F &&f)
{
    if constexpr (BEGIN < END) {
        f(sweep_number<BEGIN>{});
        sweep_each<BEGIN + 1, END>(f);
    }
}

__device__ __forceinline__ float sweep_add(float a, float b)
{
    return __fadd_rn(a, b);
}
__device__ __forceinline__ double sweep_add(double a, double b)
{
    return __dadd_rn(a, b);
}
__device__ __forceinline__ float sweep_difference(float a, float b)
{
    return __fsub_rn(a, b);
}
__device__ __forceinline__ double sweep_difference(double a, double b)
{
    return __dsub_rn(a, b);
}
__device__ __forceinline__ float sweep_fma(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}
__device__ __forceinline__ double sweep_fma(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

/* Stores as instructions: the compiler would cut an assignment where single cells are stored on another path. */
template <class T> struct sweep_vector;
template <> struct sweep_vector<float> {
    enum { CELLS = 4 };
    static __device__ __forceinline__ void load(const float *from, float *v)
    {
        const float4 four = *reinterpret_cast<const float4 *>(from);
        v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
    }
    static __device__ __forceinline__ void store(float *to, const float *v)
    {
        asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v[0]), "f"(v[1]), "f"(v[2]),
                     "f"(v[3]));
    }
};
template <> struct sweep_vector<double> {
    enum { CELLS = 2 };
    static __device__ __forceinline__ void load(const double *from, double *v)
    {
        const double2 two = *reinterpret_cast<const double2 *>(from);
        v[0] = two.x, v[1] = two.y;
    }
    static __device__ __forceinline__ void store(double *to, const double *v)
    {
        asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(to), "d"(v[0]), "d"(v[1]));
    }
};

/* A coordinate of the whole grid as a rule sees it: halos of an axis that is closed lie beyond its ends. */
__device__ __forceinline__ long long sweep_place(long long x, long long whole)
{
    return x < 0 ? x + whole : x >= whole ? x - whole : x;
}

#endif
