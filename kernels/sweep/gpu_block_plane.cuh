/* SPDX-License-Identifier: Apache-2.0
 *
 * Two dimensions, several steps a pass. A warp marches along y over a strip of 128 columns; all levels between the
 * first and the last step lie in its registers, a few rows each, four cells a lane. Neighbours along x come by
 * shuffles, so that the outermost columns of a strip lose one with each level: strips overlap by OVERLAP on each
 * side. Nothing is shared among warps.
 *
 * Level 0 is what is read, level LEVELS what is written. With the step of the march that reads row j, level t gets
 * its row j - LAG t. chained   levels go up, each uses the row that the one below has just got: two rows a level, LAG
 * 1; else      levels go down, each uses what the one below had before: three rows a level, LAG 2, no level waits for
 *             another.
 * Rows' places in the arrays turn with the steps, so nothing is moved: a turn of ROWS steps is one loop's body.
 *
 * Quick steps know no edges: inside the grid, 16 bytes a time. All others are careful steps, with moves and whatever
 * the edges ask for: strips at the ends along x, rows near the ends along y, rows where reading wraps. Ghosts are not
 * kept: along x they are made where a neighbour is wanted; a row beyond an end along y takes the place of the one
 * that was computed of nothing there. PERIODIC: columns and rows of the other side are read, and computed again.
 *
 * Work is dealt as if all strips' rows lay in one line, weighted, and each warp gets an equal piece of it.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_PLANE_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_PLANE_CUH

#include "sweep/gpu_block_cells.cuh"

namespace sweep
{
namespace block
{

/* Costs of a row are in 16ths of a quick step of the march. */
enum { QUICK = 16, CAREFUL = 32, WARPS = 4 };

/* What is dealt: strip s begins at place s strip_cost + (more for careful strips before it). */
struct Deal {
    int strips, tail;       /* strips at the right end that are careful; the first is careful too */
    int64_t strip, careful; /* a quick strip's cost; what a careful one costs more */
    int64_t lead;           /* part of `strip` before its first row */
    int64_t total, pieces;
};

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

static inline __host__ __device__ int64_t place_of(const Deal &deal, int strip)
{
    const int tail = strip - (deal.strips - deal.tail);
    return strip * deal.strip + deal.careful * ((strip > 0) + (tail > 0 ? tail : 0));
}

static inline __host__ __device__ bool is_careful(const Deal &deal, int strip)
{
    return strip == 0 || strip >= deal.strips - deal.tail;
}

/* How many of the strip's rows lie before a place. */
BLOCK_INLINE int rows_before(const Deal &deal, int strip, int64_t place, int rows)
{
    const int64_t cost = is_careful(deal, strip) ? CAREFUL : QUICK;
    const int64_t beyond = place - place_of(deal, strip) - deal.lead;
    if (beyond <= 0) return 0;
    const int64_t count = (beyond + cost - 1) / cost;
    return count < rows ? (int)count : rows;
}

/* RING: rows of the asynchronous copies' ring, a power of two; 0: two rows are read ahead into registers. BLOCKS: of
 * WARPS warps on a multiprocessor. */
template <class T, int LEVELS_, bool CHAINED_, int GROUPS_, int RING_, int BLOCKS_> struct PlaneForm {
    typedef T number;
    enum {
        LEVELS = LEVELS_,
        CHAINED = CHAINED_,
        GROUPS = GROUPS_,
        RING = RING_,
        BLOCKS = BLOCKS_,
        ROWS = CHAINED ? 2 : 3,
        LAG = CHAINED ? 1 : 2,
        AHEAD = RING ? RING - 2 : 2,
        SUMS = (GROUPS & CORNERS) ? 2 : 0, /* rows whose pairs are kept */
        V = Vector<T>::CELLS,
        OVERLAP = (LEVELS + V - 1) / V * V,
        STEP = WIDTH - 2 * OVERLAP,
        RING_CELLS = RING ? RING * WIDTH : V
    };
    static_assert(!SUMS || CHAINED, "kept sums turn with two rows");
    static_assert(RING || CHAINED, "registers read ahead turn with two rows");
};

template <class F> struct March {
    typedef typename F::number T;
    typedef T Row[CELLS];

    const Plane<T> &p;
    T *ring;          /* the lane's, in shared memory */
    unsigned address; /* the same */
    int lane;
    /* Of the strip. */
    int first;      /* column of the lane's first cell; wraps: it may lie outside the grid */
    int begin, end; /* columns that the strip writes */
    Ends ends;
    int low,
        high; /* a level whose newest row is this has its rows before the first, or behind the last, to be made */
    /* Of the march. */
    int row;   /* to be read next, wrapped */
    int start; /* first row to be written */
    Row r[F::LEVELS][F::ROWS];
    Row s[F::SUMS ? F::LEVELS : 1][2];
    Row soon[2];

    __device__ __forceinline__ March(const Plane<T> &plane, T *mine, int of_warp) : p(plane), lane(of_warp)
    {
        ring = mine + lane * F::V;
        address = shared_address(ring);
    }

    /* --- rows that are read: cell k of slot i lies at vector k / V of the slot */

    __device__ __forceinline__ static int slot(int j)
    {
        return (j & (F::RING - 1)) * WIDTH;
    }
    __device__ __forceinline__ static int cell_place(int k)
    {
        return k / F::V * (F::V * LANES) + k % F::V;
    }

    __device__ __forceinline__ void ask_quickly(const T *from, int j, Row &into)
    {
#pragma unroll
        for (int k = 0; k < CELLS; k += F::V) {
            if (F::RING)
                copy_16(address + (unsigned)((slot(j) + cell_place(k)) * (int)sizeof(T)), from + k);
            else
                load(from + k, &into[k]);
        }
        if (F::RING) commit();
    }

    __device__ __forceinline__ void ask_carefully(int j, Row &into)
    {
        const T *from = p.in + row * p.pitch;
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            int x = first + k;
            if (x < 0) x += p.nx;
            if (x >= p.nx) x -= p.nx;
            if (F::RING)
                copy_one<(int)sizeof(T)>(address + (unsigned)((slot(j) + cell_place(k)) * (int)sizeof(T)), from + x);
            else
                into[k] = from[x];
        }
        if (F::RING) commit();
        if (row < p.ny - 1)
            row++;
        else if (p.wraps_y)
            row = 0;
    }

    __device__ __forceinline__ void take(int j, Row &to)
    {
        wait<F::AHEAD>();
#pragma unroll
        for (int k = 0; k < CELLS; k += F::V)
            load(ring + slot(j) + cell_place(k), &to[k]);
    }

    /* --- one level: row b's next values of rows a, b, c; sa, sb: pairs of a and b where they are kept, sa becomes
     * c's */

    template <bool EDGES>
    __device__ __forceinline__ void level(const Row &a, const Row &b, const Row &c, Row &sa, const Row &sb, Row &to)
    {
        Row across, corners;
        if (F::SUMS) {
            Row sc;
            pairs<EDGES>(c, ends, p.edge, sc);
#pragma unroll
            for (int k = 0; k < CELLS; k++) {
                corners[k] = add(sa[k], sc[k]);
                across[k] = sb[k];
                sa[k] = sc[k];
            }
        } else {
            pairs<EDGES>(b, ends, p.edge, across);
        }
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            T value = p.weights.constant;
            if (F::GROUPS & CENTRE) value = multiply_add(p.weights.centre, b[k], value);
            value = multiply_add(p.weights.cross, add(across[k], add(a[k], c[k])), value);
            if (F::GROUPS & CORNERS) value = multiply_add(p.weights.corners, corners[k], value);
            to[k] = value;
        }
    }

    /* The same where the grid may end; c is row `newest`. */
    __device__ __forceinline__ void level_carefully(Row &a, const Row &b, Row &c, Row &sa, const Row &sb, Row &to,
                                                    int newest)
    {
        const bool at_low = newest == low, at_high = newest == high;
        if (at_high) {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                c[k] = beyond(p.edge[3], b[k], a[k]);
        }
        if (at_low) {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                a[k] = beyond(p.edge[2], b[k], c[k]);
            if (F::SUMS) pairs<true>(a, ends, p.edge, sa);
        }
        level<true>(a, b, c, sa, sb, to);
        const bool hold =
            (at_low && p.edge[2].kind == LACIS_SWEEP_HOLD) || (at_high && p.edge[3].kind == LACIS_SWEEP_HOLD);
        const bool hold_left = hold || (ends.left && p.edge[0].kind == LACIS_SWEEP_HOLD);
        const bool hold_right = hold || (ends.right && p.edge[1].kind == LACIS_SWEEP_HOLD);
        to[0] = hold_left ? b[0] : to[0];
        to[CELLS - 1] = hold_right ? b[CELLS - 1] : to[CELLS - 1];
#pragma unroll
        for (int k = 1; k < CELLS - 1; k++)
            to[k] = hold ? b[k] : to[k];
    }

    /* --- one step of the march, in which the oldest rows lie at place P; `last` becomes the row that is written */

    template <int P, bool CAREFULLY> __device__ __forceinline__ void advance(int j, Row &last)
    {
        if constexpr (F::CHAINED) {
            Row c;
            if (F::RING) {
                take(j, c);
            } else {
#pragma unroll
                for (int k = 0; k < CELLS; k++)
                    c[k] = soon[P][k];
            }
#pragma unroll
            for (int t = 0; t < F::LEVELS; t++) {
                Row next;
                Row &sa = s[F::SUMS ? t : 0][P];
                const Row &sb = s[F::SUMS ? t : 0][1 - P];
                if (CAREFULLY)
                    level_carefully(r[t][P], r[t][1 - P], c, sa, sb, next, j - t);
                else
                    level<false>(r[t][P], r[t][1 - P], c, sa, sb, next);
#pragma unroll
                for (int k = 0; k < CELLS; k++) {
                    r[t][P][k] = c[k];
                    c[k] = next[k];
                }
            }
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                last[k] = c[k];
        } else {
            constexpr int B = (P + 1) % 3, C = (P + 2) % 3;
#pragma unroll
            for (int t = F::LEVELS - 1; t >= 0; t--) {
                Row &to = t + 1 < F::LEVELS ? r[t + 1 < F::LEVELS ? t + 1 : 0][P] : last;
                if (CAREFULLY)
                    level_carefully(r[t][P], r[t][B], r[t][C], s[0][0], s[0][1], to, j - 1 - 2 * t);
                else
                    level<false>(r[t][P], r[t][B], r[t][C], s[0][0], s[0][1], to);
            }
            take(j, r[0][P]);
        }
    }

    __device__ __forceinline__ void step_carefully(int j)
    {
        Row last;
        if (F::RING) ask_carefully(j + F::AHEAD, soon[0]);
        advance<0, true>(j, last);
        if (!F::RING) {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                soon[0][k] = soon[1][k];
            ask_carefully(j + F::AHEAD, soon[1]);
        }
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++)
#pragma unroll
            for (int k = 0; k < CELLS; k++) {
                const T newest = r[t][0][k];
#pragma unroll
                for (int i = 0; i + 1 < F::ROWS; i++)
                    r[t][i][k] = r[t][i + 1][k];
                r[t][F::ROWS - 1][k] = newest;
                if (F::SUMS) {
                    const T sum = s[t][0][k];
                    s[t][0][k] = s[t][1][k];
                    s[t][1][k] = sum;
                }
            }
        const int y = j - F::LAG * F::LEVELS;
        if (y < start) return;
        T *to = p.out + y * p.pitch;
#pragma unroll
        for (int k = 0; k < CELLS; k++)
            if (first + k >= begin && first + k < end) to[first + k] = last[k];
    }

    template <int P> __device__ __forceinline__ void step_quickly(int j, const T *&from, T *&to)
    {
        Row last;
        if (F::RING) ask_quickly(from, j + F::AHEAD, soon[0]);
        advance<P, false>(j, last);
        if (!F::RING) ask_quickly(from, j + F::AHEAD, soon[P & 1]);
        from += p.pitch;
        if (j - F::LAG * F::LEVELS >= start) {
#pragma unroll
            for (int k = 0; k < CELLS; k += F::V) {
                const int x = lane * CELLS + k;
                if (x >= F::OVERLAP && x < WIDTH - F::OVERLAP) store(to + k, &last[k]);
            }
        }
        to += p.pitch;
    }

    /* `count` steps, whole turns. */
    __device__ __forceinline__ void steps_quickly(int j, int count)
    {
        const T *from = p.in + row * p.pitch + first;
        T *to = p.out + (int64_t)(j - F::LAG * F::LEVELS) * p.pitch + first;
        row += count;
        if (row == p.ny) row = p.wraps_y ? 0 : p.ny - 1;
        for (const int stop = j + count; j < stop; j += F::ROWS) {
            step_quickly<0>(j, from, to);
            step_quickly<1>(j + 1, from, to);
            if (F::ROWS == 3) step_quickly<2 % F::ROWS>(j + 2, from, to);
        }
    }

    /* How many steps from the one that reads row j on may be quick. */
    __device__ __forceinline__ int quick_steps(int j, int stop)
    {
        int count = min(stop - j, p.ny - row);
        if (!p.wraps_y) count = j <= F::LAG * F::LEVELS ? 0 : min(count, p.ny - j);
        return count < 0 ? 0 : count / F::ROWS * F::ROWS;
    }

    __device__ __forceinline__ void begin_strip(int strip)
    {
        const bool last = strip == p.deal.strips - 1;
        const int inset = p.wraps_x ? 0 : F::OVERLAP, nearest = p.wraps_x ? -F::OVERLAP : 0;
        int x = strip * F::STEP + nearest;
        begin = strip * F::STEP + (strip == 0 ? 0 : inset);
        end = last ? p.nx : (strip + 1) * F::STEP + inset;
        if (last && !p.wraps_x) x = p.nx - WIDTH;
        ends.left = !p.wraps_x && x == 0 && lane == 0;
        ends.right = !p.wraps_x && x + WIDTH == p.nx && lane == LANES - 1;
        first = x + lane * CELLS;
        low = p.wraps_y ? INT32_MIN : 1;
        high = p.wraps_y ? INT32_MIN : p.ny;
    }

    /* Rows y .. stop - 1 of a strip. */
    __device__ __forceinline__ void run(int strip, int y, int stop)
    {
        begin_strip(strip);
        start = y;
        stop += F::LAG * F::LEVELS;
        int j = y - F::LEVELS;
        if (!p.wraps_y && j < 0) j = 0;
        row = j < 0 ? (j % p.ny + p.ny) % p.ny : j;
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++)
#pragma unroll
            for (int i = 0; i < F::ROWS; i++)
#pragma unroll
                for (int k = 0; k < CELLS; k++) {
                    r[t][i][k] = 0;
                    if (F::SUMS) s[F::SUMS ? t : 0][i & 1][k] = 0;
                }
        if (F::RING) {
            for (int i = 0; i < F::AHEAD; i++)
                ask_carefully(j + i, soon[0]);
        } else {
            ask_carefully(j, soon[0]);
            ask_carefully(j + 1, soon[1]);
        }
        const bool careful = is_careful(p.deal, strip);
        while (j < stop) {
            const int count = careful ? 0 : quick_steps(j, stop);
            if (count) {
                steps_quickly(j, count);
                j += count;
            } else {
                step_carefully(j);
                j++;
            }
        }
        if (F::RING) wait<0>();
    }
};

template <class F>
__global__ void __launch_bounds__(WARPS *LANES, F::BLOCKS)
    plane_kernel(const __grid_constant__ Plane<typename F::number> p)
{
    __shared__ __align__(16) typename F::number rings[WARPS][F::RING_CELLS];
    const int warp = (int)threadIdx.x / LANES;
    const int64_t piece = (int64_t)blockIdx.x * WARPS + warp;
    if (piece >= p.deal.pieces) return;
    const int64_t begin = p.deal.total * piece / p.deal.pieces, end = p.deal.total * (piece + 1) / p.deal.pieces;
    March<F> march(p, rings[warp], (int)threadIdx.x % LANES);
    int strip = (int)max((int64_t)0, (begin - 3 * p.deal.careful) / p.deal.strip);
    strip = min(strip, p.deal.strips - 1);
    for (; strip < p.deal.strips && place_of(p.deal, strip) < end; strip++) {
        const int y = rows_before(p.deal, strip, begin, p.ny), stop = rows_before(p.deal, strip, end, p.ny);
        if (y < stop) march.run(strip, y, stop);
    }
}

} // namespace block
} // namespace sweep

#endif
