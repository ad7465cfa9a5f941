/* SPDX-License-Identifier: Apache-2.0
 *
 * What the device code of MULTIPLY shares: parameters of a launch, lanes and searches. CON is in gpu_con.cuh, the
 * ways in which products enter cells in gpu_cell.cuh, the walk over a row's products in gpu_walk.cuh. No header is
 * included but this folder's, so that NVRTC compiles the same text as nvcc.
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
    MULG_FLAT_MOST = 8,        /* entries of a FLAT row of A, and of each row of B then */
    MULG_DENSE_BYTES = 32768,  /* cells of a dense window */
    MULG_ORDERED_BYTES = 5120, /* cells of a warp's window */
    MULG_HUB_GROUPS = 8,       /* of rows with as many parts each */
    MULG_ORDERED_WIDE = 6144,  /* likewise, of 16 bytes: windows are whole turns of 128 columns */
    MULG_AVERAGE_WIDTH = 512,  /* columns of a warp's window for AVG: a sum of 8 bytes and a count of 4 each */
    MULG_AVERAGE_WIDE = 256,   /* likewise, sums of 16 bytes */
    /* Blocks of a kernel that are to run at once on a multiprocessor: the compiler keeps registers to that. */
    MULG_COPY_BLOCKS = 6,
    MULG_TINY_BLOCKS = 6,
    MULG_WIDE_BLOCKS = 5,
    MULG_PAIR_BLOCKS = 5,
    MULG_FLAT_BLOCKS = 4,
    MULG_MIDDLE_LEAST = 5,
    MULG_MIDDLE_BLOCKS = 8, /* at most; shared memory says how many */
    MULG_SMALL_BLOCKS = 4, /* likewise */
    MULG_DENSE_BLOCKS = 6,
    MULG_ORDERED_BLOCKS = 4
};

/* What NVRTC knows when it compiles is a constant of its source: kernels keep only the code of their own AGG. */
#ifdef LACIS_NVRTC
template <int VALUE> struct mulg_known {
    int unused;
    __device__ __forceinline__ constexpr operator int() const
    {
        return VALUE;
    }
};
typedef mulg_known<LACIS_CON> mulg_con_kind;
typedef mulg_known<LACIS_AGG> mulg_agg_kind;
typedef mulg_known<LACIS_CHECKED> mulg_flag;
struct __align__(LACIS_BYTES) mulg_widest
{ /* values in lines of shared memory */
    char byte[LACIS_BYTES];
};
#else
typedef int mulg_con_kind, mulg_agg_kind, mulg_flag;
typedef mul_u64 mulg_widest;
#endif

/* Of a row of B packed for FLAT rows, and shared memory of a warp of theirs; values of b (0: not read) and t bytes.
 */
#define MULG_FLAT_CHUNK(b)    (32 + MULG_FLAT_MOST * (b))
#define MULG_FLAT_BYTES(b, t) (32 * MULG_FLAT_CHUNK(b) + 1024 + ((b) ? 288 : 4) * (t))

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
    const void *b_flat;             /* FLAT: chunks of B (gpu_bounds.cu) */
    const mul_u32 *list;            /* rows of A; NULL (FLAT only): from `first` on */
    mul_u32 rows, first;            /* of the list */
    mul_i64 *c_begin, *c_end;       /* c_begin is given, c_end found */
    mul_u32 *c_column;
    void *c_value;
    mul_u32 t_lo;
    mul_u64 width;
    const mul_u32 *cut; /* DENSE: NULL or cut[c * (windows + 1) + w] is where window w of row c of B begins */
    mul_u32 windows;
    mul_u32 *prefix; /* DENSE: [row of the list * windows + w]: 1 + entries of windows up to w; 0: not known yet */
    mul_u32 *next;   /* the next task */
    /* DENSE: the first hub_rows of the list are HUB, with hub_tasks tasks a window. */
    mul_u32 hub_rows, hub_tasks;
    uint2 hub_group[MULG_HUB_GROUPS];  /* rows, parts a window of each */
    mul_u32 hub_wide[MULG_HUB_GROUPS]; /* entries of A from which such a row is wide */
    void *hub_cell;                    /* sums of their windows, empty before */
    mul_u32 *hub_mark, *hub_done;
    mul_u64 *hub_products; /* counted as they are computed */
    /* MIDDLE, DENSE with TOP: entries wanted, at most so many stored a window, and of each row of the list a key
     * (gpu_top.cuh) that `top` entries reach; 0 before. */
    mul_u32 top, top_room;
    mul_u32 *least;
    /* MIDDLE, DENSE: columns that stay of a row (gpu_mask.cuh); mask_begin NULL: all do. */
    const mul_i64 *mask_begin, *mask_end;
    const mul_u32 *mask_column;
    mul_u32 mask_not;
    mul_u32 bits;  /* MIDDLE: columns of a bitmap, a multiple of 1024 */
    mul_u32 cells; /* MIDDLE: cells that fit */
    mulg_con_kind con;
    mulg_agg_kind agg;
    mulg_flag checked;
    const mul_i64 *label[3]; /* of s, c, t, where a written CON takes them from lists */
    mul_u64 *entries;        /* sum over rows */
    mul_u64 *products;       /* FLAT: likewise */
    mul_u32 *bad;            /* set where something overflowed */
    /* HAVING that only compares (gpu_sift.cuh): values that stay, of integers and of reals. */
    mul_i64 low, high;
    double low_f64, high_f64;
    float low_f32, high_f32;
    mul_u32 masks; /* light rows: all values that MASK keeps stay */
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
