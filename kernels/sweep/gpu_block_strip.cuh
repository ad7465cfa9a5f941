/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes of two dimensions: what a kernel is compiled for and what it is called with, how the work is dealt, where a
 * strip lies, the step from one level's rows to the next level's.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_STRIP_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_STRIP_CUH

#include "sweep/gpu_block_cells.cuh"

namespace sweep
{
namespace block
{

/* What a row costs a warp, in 16ths of a quick one. */
enum { QUICK_ROW = 16, CAREFUL_ROW = 40 };

/* The line that is dealt. A quick strip: its first rows (`edge`, carefully: `ends`), `lead` for the march to get
 * under way, the rows between, the last rows. A careful one: its rows, behind `lead`. */
struct Deal {
    int strips, tail; /* strip 0 and the last `tail` are careful */
    int edge;
    int64_t quick, careful; /* cost of a quick strip; what a careful one costs more, or less */
    int64_t ends, lead;
    int64_t total, pieces;
};

static inline __host__ __device__ int64_t place_of(const Deal &deal, int strip)
{
    const int tail = strip - (deal.strips - deal.tail);
    return strip * deal.quick + deal.careful * ((strip > 0) + (tail > 0 ? tail : 0));
}

static inline __host__ __device__ bool is_careful(const Deal &deal, int strip)
{
    return strip == 0 || strip >= deal.strips - deal.tail;
}

/* How many of the strip's rows lie before a place. */
static inline __host__ __device__ int rows_before(const Deal &deal, int strip, int64_t place, int rows)
{
    int64_t rest = place - place_of(deal, strip);
    if (is_careful(deal, strip)) {
        rest -= deal.lead;
        return rest <= 0                                       ? 0
               : (rest + CAREFUL_ROW - 1) / CAREFUL_ROW < rows ? (int)((rest + CAREFUL_ROW - 1) / CAREFUL_ROW)
                                                               : rows;
    }
    const int between = rows - 2 * deal.edge;
    if (rest < deal.ends) return 0;
    rest -= deal.ends + deal.lead;
    if (rest <= 0) return deal.edge;
    if (rest <= (int64_t)between * QUICK_ROW) return deal.edge + (int)((rest + QUICK_ROW - 1) / QUICK_ROW);
    return rest - (int64_t)between * QUICK_ROW < deal.ends ? rows - deal.edge : rows;
}

template <class T> struct Plane {
    const T *in;
    T *out;
    int64_t pitch;
    int nx, ny;
    bool wraps_x, wraps_y;
    Edge<T> edge[4];
    Weights<T> weights;
    Deal deal;
};

/* How the quick march goes from level to level. Level 0 is what is read, level LEVELS what is written; DELAY is by how
 * much the row written lies behind the row read. APART: levels go down, each uses what the one below had
 * before: three rows a level, no level waits for another. CHAIN: levels go up, each uses the row that the one below
 * has just got: two rows a level; level SPLIT uses what the one below had before, so that two chains go on beside
 * each other (0: one chain). PAIRS: chains of two levels, of which the later go first: five rows a pair. RING: rows
 * of the quick march's asynchronous copies; 0: two rows are read ahead into registers. WARPS: of a multiprocessor. */
enum { APART = 0, CHAIN = 1, PAIRS = 2 };

template <class T, int LEVELS_, int MARCH_, int GROUPS_, int RING_, int WARPS_, int SPLIT_ = 0> struct PlaneForm {
    typedef T number;
    enum {
        LEVELS = LEVELS_,
        MARCH = MARCH_,
        GROUPS = GROUPS_,
        RING = RING_,
        WARPS = WARPS_,
        SPLIT = SPLIT_,
        ROWS = MARCH == CHAIN ? 2 : 3,     /* of a level */
        TURN = MARCH == PAIRS ? 5 : ROWS,  /* steps until all rows are at their places again */
        DELAY = MARCH == CHAIN   ? LEVELS + (SPLIT > 0)
                : MARCH == PAIRS ? LEVELS + LEVELS / 2
                                 : 2 * LEVELS,
        AHEAD = RING ? RING - TURN : 2,
        SUMS = (GROUPS & CORNERS) != 0,           /* rows' pairs are kept: */
        KEPT = !SUMS ? 0 : MARCH == PAIRS ? 1 : ROWS, /* of a level in the quick march */
        V = Vector<T>::CELLS,
        OVERLAP = (LEVELS + V - 1) / V * V,
        STEP = WIDTH - 2 * OVERLAP,
        CAREFUL_RING = 8,
        RING_CELLS = (RING > CAREFUL_RING ? RING : CAREFUL_RING) * WIDTH
    };
    static_assert(RING % TURN == 0 && AHEAD > 0 && AHEAD % TURN == 0, "slots turn with the rows");
    static_assert(MARCH == CHAIN || (SPLIT == 0 && RING > 0), "two rows a level");
    static_assert(SPLIT < LEVELS, "a chain begins at a level");
    static_assert(MARCH != PAIRS || LEVELS % 2 == 0, "two levels");
};

/* Columns of a strip. */
struct Strip {
    int x;          /* first column; with wrapping it may lie outside the grid */
    int begin, end; /* columns that are written */
};
template <class F, class T> BLOCK_INLINE Strip strip_of(const Plane<T> &p, int strip)
{
    const bool last = strip == p.deal.strips - 1;
    const int inset = p.wraps_x ? 0 : F::OVERLAP;
    Strip out;
    out.x = last && !p.wraps_x ? p.nx - WIDTH : strip * F::STEP + inset - F::OVERLAP;
    out.begin = strip == 0 ? 0 : strip * F::STEP + inset;
    out.end = last ? p.nx : (strip + 1) * F::STEP + inset;
    return out;
}

/* Where cell k of a lane lies in a row of a ring, from the lane's first: 16 bytes of all lanes stand together. */
template <class T> BLOCK_INLINE int cell_place(int k)
{
    return k / Vector<T>::CELLS * (Vector<T>::CELLS * LANES) + k % Vector<T>::CELLS;
}

template <int GROUPS, class T>
BLOCK_INLINE void weigh(const Plane<T> &p, const T (&a)[CELLS], const T (&b)[CELLS], const T (&c)[CELLS],
                        const T (&across)[CELLS], const T (&corners)[CELLS], T (&to)[CELLS])
{
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        T value = p.weights.constant;
        if (GROUPS & CENTRE) value = multiply_add(p.weights.centre, b[k], value);
        value = multiply_add(p.weights.cross, add(across[k], add(a[k], c[k])), value);
        if (GROUPS & CORNERS) value = multiply_add(p.weights.corners, corners[k], value);
        to[k] = value;
    }
}

/* Row b's next values, of rows a, b, c. sa, sb: pairs of a and b, where the rule needs corners; sc becomes those of
 * c, and may be in the place of sa. */
template <int GROUPS, bool EDGES, class T>
BLOCK_INLINE void next_row(const Plane<T> &p, const Ends<T> &ends, const T (&a)[CELLS], const T (&b)[CELLS],
                           const T (&c)[CELLS], const T (&sa)[CELLS], const T (&sb)[CELLS], T (&sc)[CELLS],
                           T (&to)[CELLS])
{
    T across[CELLS], corners[CELLS];
    if (GROUPS & CORNERS) {
        T pairs_of_c[CELLS];
        pairs<EDGES>(c, ends, pairs_of_c);
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            corners[k] = add(sa[k], pairs_of_c[k]);
            across[k] = sb[k];
            sc[k] = pairs_of_c[k];
        }
    } else {
        pairs<EDGES>(b, ends, across);
    }
    weigh<GROUPS>(p, a, b, c, across, corners, to);
}

/* The same with less kept: s has a's pairs and gets b's, which are added once more. */
template <int GROUPS, bool EDGES, class T>
BLOCK_INLINE void next_row(const Plane<T> &p, const Ends<T> &ends, const T (&a)[CELLS], const T (&b)[CELLS],
                           const T (&c)[CELLS], T (&s)[CELLS], T (&to)[CELLS])
{
    T across[CELLS], corners[CELLS];
    if (GROUPS & CORNERS) {
        pairs<EDGES>(c, ends, corners);
#pragma unroll
        for (int k = 0; k < CELLS; k++)
            corners[k] = add(s[k], corners[k]);
    }
    pairs<EDGES>(b, ends, across);
    if (GROUPS & CORNERS) {
#pragma unroll
        for (int k = 0; k < CELLS; k++)
            s[k] = across[k];
    }
    weigh<GROUPS>(p, a, b, c, across, corners, to);
}

} // namespace block
} // namespace sweep

#endif
