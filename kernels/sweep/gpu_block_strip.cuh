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

/* What a row costs a warp, in 16ths of a quick one: of a careful strip, of one with open ends (reckoned, not yet
 * measured), at the grid's ends along y. */
enum { QUICK_ROW = 16, CAREFUL_ROW = 40, OPEN_ROW = 56, END_ROW = 112 };

/* Rows y .. stop - 1 of all strips in one line, which is dealt in equal pieces. A quick strip: edge[0] rows at the
 * grid's beginning (carefully: end[0]), `lead` for the march to get under way, the rows between, edge[1] rows at the
 * grid's end. A careful strip: its rows, behind `lead`. */
struct Line {
    int y, stop;
    int edge[2];
    int64_t end[2], lead;
    int64_t quick, careful; /* cost of a quick strip; what a careful one costs more, or less */
    int64_t careful_row;
    int64_t total, pieces;
};

/* Lines have their warps one after the other. */
struct Deal {
    int strips, tail; /* strip 0 and the last `tail` are careful */
    int edge;         /* rows at the grid's ends that are */
    int careful_row;  /* what one costs a warp */
    Line line[2];
};

static inline __host__ __device__ int64_t place_of(const Deal &deal, const Line &line, int strip)
{
    const int tail = strip - (deal.strips - deal.tail);
    return strip * line.quick + line.careful * ((strip > 0) + (tail > 0 ? tail : 0));
}

static inline __host__ __device__ bool is_careful(const Deal &deal, int strip)
{
    return strip == 0 || strip >= deal.strips - deal.tail;
}

/* The first of the strip's rows that does not lie before a place. */
static inline __host__ __device__ int row_at(const Deal &deal, const Line &line, int strip, int64_t place)
{
    int64_t rest = place - place_of(deal, line, strip);
    const int rows = line.stop - line.y;
    if (is_careful(deal, strip)) {
        rest -= line.lead;
        if (rest <= 0) return line.y;
        rest = (rest + line.careful_row - 1) / line.careful_row;
        return rest < rows ? line.y + (int)rest : line.stop;
    }
    const int64_t between = (rows - line.edge[0] - line.edge[1]) * (int64_t)QUICK_ROW;
    if (rest < line.end[0]) return line.y;
    rest -= line.end[0] + line.lead;
    if (rest <= 0) return line.y + line.edge[0];
    if (rest <= between) return line.y + line.edge[0] + (int)((rest + QUICK_ROW - 1) / QUICK_ROW);
    return rest - between < line.end[1] ? line.stop - line.edge[1] : line.stop;
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

/* How the quick march goes from level to level. Level 0 is what is read, level LEVELS what is written; DELAY is by
 * how much the row written lies behind the row read. APART: levels go down, each uses what the one below had before:
 * three rows a level, no level waits for another. CHAIN: levels go up, each uses the row that the one below has just
 * got: two rows a level; level SPLIT uses what the one below had before, so that two chains go on beside each other
 * (0: one chain). PAIRS: chains of two levels, of which the later go first: five rows a pair. RING: rows of the quick
 * march's asynchronous copies; 0: two rows are read ahead into registers. WARPS: of a multiprocessor. LEAN: a chain
 * keeps one row's pairs a level, and adds the other's once more. */
enum { APART = 0, CHAIN = 1, PAIRS = 2 };

template <class T, int LEVELS_, int MARCH_, int GROUPS_, int RING_, int WARPS_, int SPLIT_ = 0, bool LEAN_ = false>
struct PlaneForm {
    typedef T number;
    enum {
        LEVELS = LEVELS_,
        MARCH = MARCH_,
        GROUPS = GROUPS_,
        RING = RING_,
        WARPS = WARPS_,
        SPLIT = SPLIT_,
        LEAN = LEAN_,
        ROWS = MARCH == CHAIN ? 2 : 3,    /* of a level */
        TURN = MARCH == PAIRS ? 5 : ROWS, /* steps until all rows are at their places again */
        DELAY = MARCH == CHAIN   ? LEVELS + (SPLIT > 0)
                : MARCH == PAIRS ? LEVELS + LEVELS / 2
                                 : 2 * LEVELS,
        AHEAD = RING ? RING - TURN : 2,
        SUMS = (GROUPS & CORNERS) != 0, /* rows' pairs are kept: */
        KEPT = !SUMS                              ? 0
               : LEAN || (int)MARCH == (int)PAIRS ? 1
                                                  : ROWS, /* of a level in the quick march */
        V = Vector<T>::CELLS,
        OVERLAP = (LEVELS + V - 1) / V * V,
        STEP = WIDTH - 2 * OVERLAP,
        INSET = OVERLAP / (2 * V) * (2 * V), /* strips write whole sectors of 32 bytes */
        CAREFUL_RING = 8,
        RING_CELLS = ((int)RING > (int)CAREFUL_RING ? (int)RING : (int)CAREFUL_RING) * WIDTH,
        OUT_CELLS = (int)V < (int)CELLS ? (int)WIDTH : 0, /* a row on its way out */
        SHARED_CELLS = RING_CELLS + OUT_CELLS
    };
    static_assert(RING % TURN == 0 && AHEAD > 0 && AHEAD % TURN == 0, "slots turn with the rows");
    static_assert((int)MARCH == (int)CHAIN || (SPLIT == 0 && RING > 0), "two rows a level");
    static_assert(SPLIT < LEVELS, "a chain begins at a level");
    static_assert(!LEAN || (int)MARCH == (int)CHAIN, "others keep what they need");
    static_assert((int)MARCH != (int)PAIRS || LEVELS % 2 == 0, "two levels");
};

/* Columns of a strip. */
struct Strip {
    int x;          /* first column; with wrapping it may lie outside the grid */
    int begin, end; /* columns that are written */
};
template <class F, class T> BLOCK_INLINE Strip strip_of(const Plane<T> &p, int strip)
{
    const bool last = strip == p.deal.strips - 1;
    const int inset = p.wraps_x ? 0 : F::INSET;
    Strip out;
    out.x = strip * F::STEP + inset - F::OVERLAP;
    if (!p.wraps_x) out.x = max(last ? p.nx - (int)WIDTH : out.x, 0);
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

/* The same with less kept: s has a's pairs and gets b's, which are added once more. of_b, of_c: beside b and c. */
template <int GROUPS, bool EDGES, class T, class E>
BLOCK_INLINE void next_row(const Plane<T> &p, const E &ends, const T (&a)[CELLS], const T (&b)[CELLS],
                           const T (&c)[CELLS], T of_b, T of_c, T (&s)[CELLS], T (&to)[CELLS])
{
    T across[CELLS], corners[CELLS];
    if (GROUPS & CORNERS) {
        pairs<EDGES>(c, ends, of_c, corners);
#pragma unroll
        for (int k = 0; k < CELLS; k++)
            corners[k] = add(s[k], corners[k]);
    }
    pairs<EDGES>(b, ends, of_b, across);
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
