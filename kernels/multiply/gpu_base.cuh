/* SPDX-License-Identifier: Apache-2.0
 *
 * What the device code of MULTIPLY shares: parameters of a launch, CON, the ways in which products enter cells, and
 * the walk over a row's products. No header is included but this folder's, so that NVRTC compiles the same text as
 * nvcc.
 *
 * Each kernel is a template over a semiring, a struct with
 *     T, A, B    types of accumulators and operands' values          S    type that results are stored as
 *     AGG        a lacis_mul_agg, or -1: params.agg says             VALUES  false: counts, no value is ever read
 *     WRITTEN, WRITTEN_FOLD  CON, AGG are the user's
 *     con(params, a, b, s, c, t, bad), start(params), fold(params, x, v, bad)
 * Called from gpu_builtin*.cu (nvcc) and, behind a prefix that the emitter writes, from NVRTC (gpu_written.cuh).
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_BASE_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_BASE_CUH

typedef unsigned int mul_u32;
typedef unsigned long long mul_u64;
typedef long long mul_i64;

/* As in multiply.h, which NVRTC does not see; gpu_run.cu asserts that they agree. */
enum { MULG_ONE, MULG_A, MULG_B, MULG_ADD, MULG_MUL, MULG_WRITTEN };
enum { MULG_COUNT, MULG_SUM, MULG_MIN, MULG_MAX, MULG_FIRST, MULG_LAST, MULG_AVG, MULG_FOLD };

enum {
    MULG_THREADS = 256, /* of every block */
    MULG_WARPS = MULG_THREADS / 32,
    MULG_TINY = 64,            /* products of a tiny row at most */
    MULG_PLACE_LONG = 31,      /* entries of a row of packed B at most */
    MULG_TINY_DEGREE = 32,     /* entries of a tiny row of A at most */
    MULG_PAIR_DEGREE = 16,     /* where two rows share a warp */
    MULG_DENSE_BYTES = 32768,  /* cells of a dense window */
    MULG_ORDERED_BYTES = 5120, /* cells of a warp's window */
    MULG_HUB_GROUPS = 8,       /* of rows with as many parts each */
    /* Blocks of a kernel that are to run at once on a multiprocessor: the compiler keeps registers to that. */
    MULG_COPY_BLOCKS = 6,
    MULG_TINY_BLOCKS = 6,
    MULG_WIDE_BLOCKS = 5,
    MULG_PAIR_BLOCKS = 5,
    MULG_MIDDLE_LEAST = 5,
    MULG_MIDDLE_BLOCKS = 8, /* at most; shared memory says how many */
    MULG_DENSE_BLOCKS = 5,
    MULG_ORDERED_BLOCKS = 4
};

struct mulg_params {
    const mul_i64 *a_begin, *a_end;
    const mul_u32 *a_column;
    const void *a_value;
    const uint2 *b_bound; /* [x, y) of each row of B, columns outside [t_lo, t_lo + width) left out */
    const mul_u32 *b_column;
    const void *b_value;
    const unsigned short *b_length; /* 65535: that or more */
    const uint2 *b_pair;            /* TINY in pairs: (column, value) of B; NULL: not packed */
    const mul_u32 *b_place;         /* likewise: where a row lies there (gpu_setup.cu) */
    const mul_u32 *list;            /* rows of A */
    mul_u32 rows;                   /* of the list */
    mul_i64 *c_begin, *c_end;       /* c_begin is given, c_end found */
    mul_u32 *c_column;
    void *c_value;
    mul_u32 t_lo;
    mul_u64 width;
    const mul_u32 *cut; /* DENSE: cut[c * (windows + 1) + w] is where window w of row c of B begins */
    mul_u32 windows;
    mul_u32 *prefix; /* DENSE: [row of the list * windows + w]: 1 + entries of windows up to w; 0: not known yet */
    mul_u32 *next;   /* the next task */
    /* DENSE: the first hub_rows of the list are HUB, with hub_tasks tasks a window. */
    mul_u32 hub_rows, hub_tasks;
    uint2 hub_group[MULG_HUB_GROUPS];
    void *hub_cell; /* sums of their windows, empty before */
    mul_u32 *hub_mark, *hub_done;
    mul_u64 *hub_products; /* counted as they are computed */
    /* MIDDLE, DENSE with TOP: entries wanted, at most so many stored a window, and of each row of the list a key
     * (gpu_top.cuh) that `top` entries reach; 0 before. */
    mul_u32 top, top_room;
    mul_u32 *least;
    mul_u32 bits;  /* MIDDLE: columns of a bitmap, a multiple of 1024 */
    mul_u32 cells; /* MIDDLE: cells that fit */
    int con, agg, checked;
    mul_u64 *entries; /* sum over rows */
    mul_u32 *bad;     /* set where something overflowed */
};

#define MULG_DEVICE static __device__ __forceinline__
#define MULG_ALL    0xffffffffu

MULG_DEVICE mul_u32 mulg_lanes_below()
{
    mul_u32 m;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
    return m;
}

MULG_DEVICE mul_u32 mulg_lanes_upto()
{
    mul_u32 m;
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(m));
    return m;
}

/* Sum over the lanes up to this one. */
MULG_DEVICE mul_u32 mulg_scan(mul_u32 x)
{
    const mul_u32 lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const mul_u32 y = __shfl_up_sync(MULG_ALL, x, d);
        if (lane >= d) x += y;
    }
    return x;
}

/* --- bits of values ----------------------------------------------------------------------------- */

template <class T> struct mulg_traits;
template <> struct mulg_traits<int> {
    typedef mul_u32 bits;
    static constexpr bool real = false;
    static __device__ __forceinline__ int least()
    {
        return -2147483647 - 1;
    }
    static __device__ __forceinline__ int greatest()
    {
        return 2147483647;
    }
    static __device__ __forceinline__ mul_u32 to(int v)
    {
        return (mul_u32)v;
    }
    static __device__ __forceinline__ int from(mul_u32 b)
    {
        return (int)b;
    }
};
template <> struct mulg_traits<mul_i64> {
    typedef mul_u64 bits;
    static constexpr bool real = false;
    static __device__ __forceinline__ mul_i64 least()
    {
        return -9223372036854775807LL - 1;
    }
    static __device__ __forceinline__ mul_i64 greatest()
    {
        return 9223372036854775807LL;
    }
    static __device__ __forceinline__ mul_u64 to(mul_i64 v)
    {
        return (mul_u64)v;
    }
    static __device__ __forceinline__ mul_i64 from(mul_u64 b)
    {
        return (mul_i64)b;
    }
};
template <> struct mulg_traits<float> {
    typedef mul_u32 bits;
    static constexpr bool real = true;
    static __device__ __forceinline__ mul_u32 to(float v)
    {
        return __float_as_uint(v);
    }
    static __device__ __forceinline__ float from(mul_u32 b)
    {
        return __uint_as_float(b);
    }
    static __device__ __forceinline__ float nan()
    {
        return __uint_as_float(0x7fc00000u);
    }
    static constexpr mul_u32 sign = 0x80000000u;
};
template <> struct mulg_traits<double> {
    typedef mul_u64 bits;
    static constexpr bool real = true;
    static __device__ __forceinline__ mul_u64 to(double v)
    {
        return (mul_u64)__double_as_longlong(v);
    }
    static __device__ __forceinline__ double from(mul_u64 b)
    {
        return __longlong_as_double((long long)b);
    }
    static __device__ __forceinline__ double nan()
    {
        return __longlong_as_double(0x7ff8000000000000LL);
    }
    static constexpr mul_u64 sign = 0x8000000000000000ull;
};

/* --- CON ------------------------------------------------------------------------------------------ */

MULG_DEVICE bool mulg_add_over(int x, int y, int *z)
{
    *z = (int)((mul_u32)x + (mul_u32)y);
    return ((x ^ *z) & (y ^ *z)) < 0;
}
MULG_DEVICE bool mulg_add_over(mul_i64 x, mul_i64 y, mul_i64 *z)
{
    *z = (mul_i64)((mul_u64)x + (mul_u64)y);
    return ((x ^ *z) & (y ^ *z)) < 0;
}
MULG_DEVICE bool mulg_mul_over(int x, int y, int *z)
{
    const mul_i64 p = (mul_i64)x * y;
    *z = (int)p;
    return p != *z;
}
MULG_DEVICE bool mulg_mul_over(mul_i64 x, mul_i64 y, mul_i64 *z)
{
    *z = (mul_i64)((mul_u64)x * (mul_u64)y);
    return __mul64hi(x, y) != (*z >> 63);
}
MULG_DEVICE float mulg_plus(float x, float y)
{
    return __fadd_rn(x, y);
}
MULG_DEVICE double mulg_plus(double x, double y)
{
    return __dadd_rn(x, y);
}
MULG_DEVICE int mulg_plus(int x, int y)
{
    return (int)((mul_u32)x + (mul_u32)y);
}
MULG_DEVICE mul_i64 mulg_plus(mul_i64 x, mul_i64 y)
{
    return (mul_i64)((mul_u64)x + (mul_u64)y);
}
MULG_DEVICE float mulg_times(float x, float y)
{
    return __fmul_rn(x, y);
}
MULG_DEVICE double mulg_times(double x, double y)
{
    return __dmul_rn(x, y);
}
MULG_DEVICE int mulg_times(int x, int y)
{
    return (int)((mul_u32)x * (mul_u32)y);
}
MULG_DEVICE mul_i64 mulg_times(mul_i64 x, mul_i64 y)
{
    return (mul_i64)((mul_u64)x * (mul_u64)y);
}

template <class T> MULG_DEVICE T mulg_con(int con, T a, T b)
{
    switch (con) {
    case MULG_A:
        return a;
    case MULG_B:
        return b;
    case MULG_ADD:
        return mulg_plus(a, b);
    case MULG_MUL:
        return mulg_times(a, b);
    default:
        return (T)1;
    }
}

/* CON with overflow of integers told. */
template <class T> MULG_DEVICE T mulg_con_checked(int con, T a, T b, int *bad)
{
    if constexpr (!mulg_traits<T>::real) {
        T z = 0;
        if (con == MULG_ADD) {
            if (mulg_add_over(a, b, &z)) *bad = 1;
            return z;
        }
        if (con == MULG_MUL) {
            if (mulg_mul_over(a, b, &z)) *bad = 1;
            return z;
        }
    }
    return mulg_con<T>(con, a, b);
}

/* Values of an operand; 1 where there are none. */
template <class T> MULG_DEVICE T mulg_value(const void *value, mul_u64 at)
{
    return value ? __ldg((const T *)value + at) : (T)1;
}

/* --- AGG in order: x := fold(x, v); used where one thread at a time owns a cell -------------------- */

template <class T> MULG_DEVICE T mulg_start(int agg)
{
    if constexpr (mulg_traits<T>::real)
        return mulg_traits<T>::from(agg == MULG_SUM || agg == MULG_AVG ? mulg_traits<T>::sign
                                                                       : ~(typename mulg_traits<T>::bits)0);
    else
        return agg == MULG_MIN ? mulg_traits<T>::greatest() : agg == MULG_MAX ? mulg_traits<T>::least() : 0;
}

template <class T> MULG_DEVICE T mulg_fold(int agg, T x, T v, int checked, int *bad)
{
    if (agg == MULG_SUM || agg == MULG_AVG) {
        if constexpr (mulg_traits<T>::real)
            return mulg_plus(x, mulg_plus(v, (T)0));
        else {
            T z;
            if (mulg_add_over(x, v, &z) && checked) *bad = 1;
            return z;
        }
    }
    if (agg == MULG_MIN || agg == MULG_MAX) {
        if constexpr (mulg_traits<T>::real) {
            if (v != v) return x == x ? x : mulg_traits<T>::nan();
            return (agg == MULG_MIN ? x < v : x > v) ? x : v;
        } else
            return (agg == MULG_MIN ? x < v : x > v) ? x : v;
    }
    return v; /* FIRST runs over falling c, LAST over rising c */
}

/* --- AGG in any order, by atomics on shared memory -------------------------------------------------
 * Cells hold `bits`; `empty` is what an untouched cell holds. MARKED: a touched cell may hold `empty` too. */

template <class T, int AGG> struct mulg_cell;

struct mulg_count_cell {
    typedef mul_u32 bits;
    static constexpr bool marked = false;
    static __device__ __forceinline__ bits empty()
    {
        return 0;
    }
    static __device__ __forceinline__ void add(bits *cell)
    {
        atomicAdd(cell, 1u);
    }
};

/* Exchanges instead of compare-and-swap: whoever stores takes out what another stored meanwhile and puts it back in.
 */
template <class T> struct mulg_cell<T, MULG_SUM> {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = !mulg_traits<T>::real;
    static __device__ __forceinline__ bits empty()
    {
        if constexpr (mulg_traits<T>::real)
            return mulg_traits<T>::sign; /* -0.0 */
        else
            return 0;
    }
    static __device__ __forceinline__ void put(bits *cell, T v)
    {
        if constexpr (mulg_traits<T>::real) {
            v = mulg_plus(v, (T)0);
            for (;;) {
                const bits taken = atomicExch(cell, empty());
                v = mulg_plus(v, mulg_traits<T>::from(taken));
                const bits other = atomicExch(cell, mulg_traits<T>::to(v));
                if (other == empty()) break;
                v = mulg_traits<T>::from(other);
            }
        } else if constexpr (sizeof(T) == 4) {
            atomicAdd(cell, (mul_u32)v);
        } else {
            mul_u32 *half = (mul_u32 *)cell;
            const mul_u32 low = (mul_u32)(mul_u64)v, high = (mul_u32)((mul_u64)v >> 32);
            const mul_u32 old = atomicAdd(half, low);
            const mul_u32 carry = old + low < old;
            if (high + carry) atomicAdd(half + 1, high + carry);
        }
    }
    /* Two at a time, their exchanges in flight together. */
    static __device__ __forceinline__ void put_two(bits *x, T v, bits *y, T w)
    {
        if constexpr (mulg_traits<T>::real) {
            const bits taken_x = atomicExch(x, empty()), taken_y = atomicExch(y, empty());
            v = mulg_plus(mulg_plus(v, (T)0), mulg_traits<T>::from(taken_x));
            w = mulg_plus(mulg_plus(w, (T)0), mulg_traits<T>::from(taken_y));
            const bits other_x = atomicExch(x, mulg_traits<T>::to(v)), other_y = atomicExch(y, mulg_traits<T>::to(w));
            if (other_x != empty()) put(x, mulg_traits<T>::from(other_x));
            if (other_y != empty()) put(y, mulg_traits<T>::from(other_y));
        } else {
            put(x, v);
            put(y, w);
        }
    }
    static __device__ __forceinline__ T get(bits b)
    {
        return mulg_traits<T>::from(b);
    }
};

/* Bits whose unsigned order is the values' order, NaN the last but `empty`. */
template <class T> MULG_DEVICE typename mulg_traits<T>::bits mulg_order(T v, bool falling)
{
    typedef typename mulg_traits<T>::bits bits;
    bits b = mulg_traits<T>::to(v);
    if constexpr (mulg_traits<T>::real) {
        const bits sign = mulg_traits<T>::sign;
        b ^= (b & sign ? ~(bits)0 : 0) | sign;
        if (falling) b = ~b;
        return v != v ? ~(bits)1 : b;
    } else {
        b ^= (bits)1 << (sizeof(T) * 8 - 1);
        return falling ? ~b : b;
    }
}

template <class T> MULG_DEVICE T mulg_unorder(typename mulg_traits<T>::bits b, bool falling)
{
    typedef typename mulg_traits<T>::bits bits;
    if constexpr (mulg_traits<T>::real) {
        if (b == ~(bits)1) return mulg_traits<T>::nan();
        if (falling) b = ~b;
        b = b & mulg_traits<T>::sign ? b ^ mulg_traits<T>::sign : ~b;
    } else {
        if (falling) b = ~b;
        b ^= (bits)1 << (sizeof(T) * 8 - 1);
    }
    return mulg_traits<T>::from(b);
}

template <class T, bool FALLING> struct mulg_least_cell {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = !mulg_traits<T>::real;
    static __device__ __forceinline__ bits empty()
    {
        return ~(bits)0;
    }
    static __device__ __forceinline__ void put(bits *cell, T v)
    {
        const bits b = mulg_order(v, FALLING);
        if constexpr (sizeof(T) == 4)
            atomicMin(cell, b);
        else {
            bits seen = *(volatile bits *)cell;
            while (b < seen) {
                const bits was = atomicCAS(cell, seen, b);
                if (was == seen) break;
                seen = was;
            }
        }
    }
    static __device__ __forceinline__ void put_two(bits *x, T v, bits *y, T w)
    {
        put(x, v);
        put(y, w);
    }
    static __device__ __forceinline__ T get(bits b)
    {
        return mulg_unorder<T>(b, FALLING);
    }
};
template <class T> struct mulg_cell<T, MULG_MIN> : mulg_least_cell<T, false> {
};
template <class T> struct mulg_cell<T, MULG_MAX> : mulg_least_cell<T, true> {
};

/* --- a walk over the products of a row --------------------------------------------------------------
 * A block takes up to 256 entries of the row of A at a time, one a thread. Their slices of B are laid end to end in a
 * line, empty ones left out, and each warp walks an equal part of the line: no warp waits long for another. */

template <class A> struct mulg_line {
    mul_u32 end[MULG_THREADS];   /* of the slice, in the line */
    mul_u32 shift[MULG_THREADS]; /* index into B minus place in the line */
    A a[MULG_THREADS];
    mul_u32 c[MULG_THREADS];
    uint2 warp_sum[MULG_WARPS];
};
/* The same where c is not needed. */
template <class A> struct mulg_line_plain {
    mul_u32 end[MULG_THREADS], shift[MULG_THREADS];
    A a[MULG_THREADS];
    uint2 warp_sum[MULG_WARPS];
};
template <class R, bool WRITTEN> struct mulg_line_choice {
    typedef mulg_line_plain<typename R::A> line;
};
template <class R> struct mulg_line_choice<R, true> {
    typedef mulg_line<typename R::A> line;
};
template <class R> struct mulg_line_of {
    typedef typename mulg_line_choice<R, R::WRITTEN>::line line;
};

struct mulg_extent {
    mul_u32 total, slices; /* products and slices of a line */
};

/* Lays the slices [lo, hi) that the threads hold in line. The line must be free; a barrier makes it ready at the end.
 */
template <class R, class LINE>
MULG_DEVICE mulg_extent mulg_lay(LINE &line, mul_u32 lo, mul_u32 hi, typename R::A a, mul_u32 c)
{
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32, length = hi - lo;
    const mul_u32 full = __ballot_sync(MULG_ALL, length != 0), upto = mulg_scan(length);
    if (lane == 31) line.warp_sum[warp] = make_uint2(upto, __popc(full));
    __syncthreads();
    mulg_extent all = {0, 0};
    mul_u32 before = 0, rank = 0;
#pragma unroll
    for (int w = 0; w < MULG_WARPS; w++) {
        const uint2 x = line.warp_sum[w];
        if (w == warp) {
            before = all.total;
            rank = all.slices;
        }
        all.total += x.x;
        all.slices += x.y;
    }
    if (length) {
        rank += __popc(full & mulg_lanes_below());
        line.end[rank] = before + upto;
        line.shift[rank] = lo - (before + upto - length);
        if constexpr (R::VALUES) line.a[rank] = a;
        if constexpr (R::WRITTEN) line.c[rank] = c;
    }
    __syncthreads();
    return all;
}

/* The slice in which `place` lies: two steps, of 32 and of 8. */
template <class LINE> MULG_DEVICE mul_u32 mulg_slice_at(const LINE &line, mul_u32 slices, mul_u32 place)
{
    const mul_u32 lane = threadIdx.x & 31, last = lane * 8 + 7;
    const mul_u32 group = __popc(__ballot_sync(MULG_ALL, last < slices && line.end[last] <= place)) * 8,
                  at = group + lane;
    return group + __popc(__ballot_sync(MULG_ALL, lane < 8 && at < slices && line.end[at] <= place));
}

/* Slice after slice: fewer instructions a product where slices are longer than a warp. */
template <class R, class LINE, class F, class G>
MULG_DEVICE void mulg_walk_long(const mulg_params &p, const LINE &line, mul_u32 slice, mul_u32 place, mul_u32 stop,
                                F f, G g)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 31;
    for (; place < stop; slice++) {
        const mul_u32 upto = line.end[slice], end = upto < stop ? upto : stop;
        const mul_u32 shift = line.shift[slice];
        A a = A();
        mul_u32 c = 0;
        if constexpr (R::VALUES) a = line.a[slice];
        if constexpr (R::WRITTEN) c = line.c[slice];
        const mul_u32 last = end + shift;
        for (mul_u32 i = place + shift + lane; i < last; i += 64) {
            const bool more = i + 32 < last;
            mul_u32 t0, t1 = 0;
            B b0 = B(), b1 = B();
            t0 = __ldg(p.b_column + i);
            if (more) t1 = __ldg(p.b_column + i + 32);
            if constexpr (R::VALUES) {
                b0 = mulg_value<B>(p.b_value, i);
                if (more) b1 = mulg_value<B>(p.b_value, i + 32);
            }
            if (more)
                g(t0, t1, a, b0, b1, c);
            else
                f(t0, a, b0, c);
        }
        place = end;
    }
}

/* Any lane may stand in any slice. */
template <class R, class LINE, class F>
MULG_DEVICE void mulg_walk_short(const mulg_params &p, const LINE &line, mul_u32 slices, mul_u32 slice, mul_u32 place,
                                 mul_u32 stop, F f)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 31;
    for (; place < stop; place += 32) {
        const mul_u32 end = slice + lane < slices ? line.end[slice + lane] : MULG_ALL;
        const mul_u32 step = end - place;
        const mul_u32 marks = __reduce_or_sync(MULG_ALL, step < 32 ? 1u << step : 0u);
        const mul_u32 mine = slice + __popc(marks & mulg_lanes_upto()), i = place + lane;
        slice += __popc(marks) + (__ballot_sync(MULG_ALL, step == 32) != 0);
        if (i < stop) {
            const mul_u32 index = line.shift[mine] + i;
            const mul_u32 t = __ldg(p.b_column + index);
            A a = A();
            B b = B();
            mul_u32 c = 0;
            if constexpr (R::VALUES) {
                a = line.a[mine];
                b = mulg_value<B>(p.b_value, index);
            }
            if constexpr (R::WRITTEN) c = line.c[mine];
            f(t, a, b, c);
        }
    }
}

/* Calls f(column, a, b, c) for each product in line, the warp's share, or g for two of one slice. All threads call
 * it. */
template <class R, class LINE, class F, class G>
MULG_DEVICE void mulg_walk(const mulg_params &p, const LINE &line, mulg_extent all, F f, G g)
{
    enum {
        LONG = 40
    }; /* products a slice from which lanes idle at ends of slices cost less than looking slices up */
    const mul_u32 share = (all.total / MULG_WARPS + 32) & ~31u, place = threadIdx.x / 32 * share;
    if (place >= all.total) return;
    const mul_u32 stop = place + share < all.total ? place + share : all.total;
    const mul_u32 slice = mulg_slice_at(line, all.slices, place);
    if (all.total >= LONG * all.slices)
        mulg_walk_long<R>(p, line, slice, place, stop, f, g);
    else
        mulg_walk_short<R>(p, line, all.slices, slice, place, stop, f);
}

/* First index in [lo, hi) of a rising column that is not below t. */
MULG_DEVICE mul_u32 mulg_search(const mul_u32 *column, mul_u32 lo, mul_u32 hi, mul_u64 t)
{
    while (lo < hi) {
        const mul_u32 middle = lo + (hi - lo) / 2;
        if (__ldg(column + middle) < t)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

#endif
