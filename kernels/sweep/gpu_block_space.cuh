/* SPDX-License-Identifier: Apache-2.0
 *
 * Three dimensions, several steps a pass. A block marches along z over a tile of 128 columns by HIGH rows of a warp
 * for each of its warps; two planes of each level lie in registers. With the step that reads plane j, level t gets
 * its plane j - t: chained as in gpu_block_strip.cuh. Neighbours along x come by shuffles; along y from the warp's
 * own rows, the outermost through shared memory, where each warp puts its first and last row of every plane that it
 * gets. They are wanted one step later: one barrier a step, and two places to write to in turn.
 *
 * Tiles overlap by OVERLAP columns and LEVELS rows on each side. At the grid's ends along x and y tiles are shifted
 * so that they end with the grid: the ghost is then always beside a lane's first or last cell, and beside the first
 * or last warp's outer row. Planes beyond the ends along z are made as gpu_block_careful.cuh makes rows. With open
 * ends a grid may be smaller than a tile, whose last row may then be any of a warp's, and VALUES are read beyond the
 * faces.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_SPACE_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_SPACE_CUH

#include "sweep/gpu_block_tiles.cuh"

namespace sweep
{
namespace block
{

template <class T, bool OPEN> struct EndsOf {
    typedef Ends<T> type;
};
template <class T> struct EndsOf<T, true> {
    typedef OpenEnds<T> type;
};

/* EDGES: the tile may stand at the grid's ends along x or y, or wrap there. OPEN: ends may be so. */
template <class F, bool EDGES, bool OPEN> struct Cube {
    typedef typename F::number T;
    typedef T Row[CELLS];
    enum { SIZE = (int)sizeof(T) };

    const Space<T> &p;
    int lane, warp;
    T *ring; /* the warp's: planes of rows, cells in their order */
    T *seam; /* the lane's place, of warp 0 */
    unsigned address;
    Span x, y;
    typename EndsOf<T, EDGES && OPEN>::type ends;
    bool first_warp, last_warp; /* the warp has the grid's first, or last, row */
    int last_row;               /* which of its rows that is */
    int column[EDGES && OPEN ? CELLS : 1], line[EDGES && OPEN ? F::HIGH : 1]; /* of the lane's cells */
    int lap;       /* the plane that is read, less the one that it is in the grid */
    int low, high; /* newest planes with which the first and the last plane are made */
    int plane;     /* to be read next, wrapped */
    Row r[F::LEVELS][2][F::HIGH];

    __device__ __forceinline__ Cube(const Space<T> &space, T *shared, int of_warp, int of_team)
        : p(space), lane(of_warp), warp(of_team)
    {
        ring = shared + warp * F::RING_CELLS;
        address = shared_address(ring);
        seam = shared + F::TEAM * F::RING_CELLS + lane * F::V;
    }

    __device__ __forceinline__ static int wrapped(int i, int n)
    {
        return i < 0 ? i + n : i >= n ? i - n : i;
    }
    __device__ __forceinline__ static int slot(int j)
    {
        return (j & (F::RING - 1)) * (F::HIGH * WIDTH);
    }

    /* Where a lane's cells are in the grid. */
    __device__ __forceinline__ int column_of(int k) const
    {
        return EDGES && OPEN ? column[EDGES && OPEN ? k : 0] : x.at + lane * CELLS + k;
    }
    __device__ __forceinline__ int row_of(int i) const
    {
        return EDGES && OPEN ? line[EDGES && OPEN ? i : 0] : y.at + warp * F::HIGH + i;
    }
    /* Plane z, if there is one. */
    __device__ __forceinline__ const T *plane_of(int z) const
    {
        return p.in + place_in(z - lap, p.n[2], p.wraps[2]) * p.plane;
    }

    __device__ __forceinline__ void ask(int j)
    {
        const T *from = p.in + plane * p.plane;
#pragma unroll
        for (int i = 0; i < F::HIGH; i++) {
            const int at_y = y.at + warp * F::HIGH + i, at_x = x.at + lane * CELLS;
            const int place = slot(j) + i * WIDTH;
            if (EDGES) {
                const T *row = from + (OPEN ? row_of(i) : wrapped(at_y, p.n[1])) * p.pitch;
#pragma unroll
                for (int k = 0; k < CELLS; k++)
                    copy_one<SIZE>(address + (unsigned)((place + lane * CELLS + k) * SIZE),
                                   row + (OPEN ? column_of(k) : wrapped(at_x + k, p.n[0])));
            } else { /* all lanes' side by side, so not a lane's own cells where it takes several */
                const T *row = from + at_y * p.pitch + x.at + lane * F::V;
#pragma unroll
                for (int k = 0; k < CELLS; k += F::V)
                    copy_16(address + (unsigned)((place + lane * F::V + k * LANES) * SIZE), row + k * (int)LANES);
            }
        }
        commit();
        if (plane < p.n[2] - 1)
            plane++;
        else if (p.wraps[2])
            plane = 0;
    }

    __device__ __forceinline__ void take(int j, Row (&to)[F::HIGH])
    {
        wait<F::AHEAD>();
        if (F::V < CELLS) __syncwarp();
#pragma unroll
        for (int i = 0; i < F::HIGH; i++)
#pragma unroll
            for (int k = 0; k < CELLS; k += F::V)
                load(ring + slot(j) + i * WIDTH + lane * CELLS + k, &to[i][k]);
    }

    /* --- first (0) and last (1) rows of the warps' planes */

    __device__ __forceinline__ T *seam_of(int j, int t, int of_warp, int side)
    {
        return seam + of_warp * F::SEAM_CELLS + (((j & 1) * F::LEVELS + t) * 2 + side) * WIDTH;
    }
    __device__ __forceinline__ void show(T *to, const Row &row)
    {
#pragma unroll
        for (int k = 0; k < CELLS; k += F::V)
            store(to + cell_place<T>(k), &row[k]);
    }
    __device__ __forceinline__ void look(const T *from, Row &row)
    {
#pragma unroll
        for (int k = 0; k < CELLS; k += F::V)
            load(from + cell_place<T>(k), &row[k]);
    }

    /* What lies beside row i of plane z at the lane's end of the grid. */
    __device__ __forceinline__ T beside_of(const Row &row, int i, int z)
    {
        T value = EDGES ? beside(row, ends) : (T)0;
        if constexpr (EDGES && OPEN) {
            if (ends.values) value = plane_of(z)[row_of(i) * p.pitch + (ends.left ? -1 : p.n[0])];
        }
        return value;
    }
    __device__ __forceinline__ bool is_last_row(int i) const
    {
        return EDGES && last_warp && i == (OPEN ? last_row : F::HIGH - 1);
    }

    /* The next values of row i of plane b, of number z. */
    __device__ __forceinline__ void next_row(int i, int z, const Row &a, const Row (&b)[F::HIGH], const Row &c,
                                             const Row &under, const Row &over, Row &to)
    {
        Row across;
        pairs<EDGES>(b[i], ends, beside_of(b[i], i, z), across);
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            const T down = i > 0 ? b[i > 0 ? i - 1 : 0][k] : under[k];
            T up = i < F::HIGH - 1 ? b[i < F::HIGH - 1 ? i + 1 : 0][k] : over[k];
            if (OPEN) up = either(is_last_row(i), over[k], up);
            T value = p.weights.constant;
            if (F::GROUPS & CENTRE) value = multiply_add(p.weights.centre, b[i][k], value);
            to[k] = multiply_add(p.weights.cross, add(add(across[k], add(down, up)), add(a[k], c[k])), value);
        }
        if (!EDGES) return;
        hold(ends, b[i], to);
        if ((i == 0 && first_warp && p.edge[2].kind == LACIS_SWEEP_HOLD) ||
            (is_last_row(i) && p.edge[3].kind == LACIS_SWEEP_HOLD)) {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                to[k] = b[i][k];
        }
    }

    /* VALUES beyond the ends along y. */
    __device__ __forceinline__ void given_rows(const T *of_plane, Row &under, Row &over)
    {
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            if (first_warp && p.edge[2].kind == LACIS_SWEEP_VALUES) under[k] = of_plane[column_of(k) - p.pitch];
            if (last_warp && p.edge[3].kind == LACIS_SWEEP_VALUES)
                over[k] = of_plane[column_of(k) + p.n[1] * p.pitch];
        }
    }

    /* Rows beyond the ends along y, of plane b, of number z. */
    __device__ __forceinline__ void end_rows(const Row (&b)[F::HIGH], int z, Row &under, Row &over)
    {
        Row outer, inner;
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            outer[k] = b[F::HIGH - 1][k];
            inner[k] = b[F::HIGH - 2][k];
            if constexpr (OPEN) {
#pragma unroll
                for (int i = F::HIGH - 2; i >= 0; i--) {
                    outer[k] = either(last_row == i, b[i][k], outer[k]);
                    inner[k] = either(last_row == i, i > 0 ? T(b[i > 0 ? i - 1 : 0][k]) : T(under[k]), inner[k]);
                }
            }
        }
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            if (first_warp) under[k] = beyond(p.edge[2], b[0][k], b[1][k]);
            if (last_warp) over[k] = beyond(p.edge[3], outer[k], inner[k]);
        }
        if constexpr (OPEN) given_rows(plane_of(z), under, over);
    }

    /* VALUES beyond an end along z. */
    __device__ __forceinline__ void given_plane(int z, Row (&to)[F::HIGH])
    {
#pragma unroll
        for (int i = 0; i < F::HIGH; i++)
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                to[i][k] = p.in[z * p.plane + row_of(i) * p.pitch + column_of(k)];
    }

    /* The plane beyond an end, from the outermost one and the one behind it. */
    __device__ __forceinline__ void end_plane(const Edge<T> &edge, const Row (&outer)[F::HIGH],
                                              const Row (&inner)[F::HIGH], Row (&to)[F::HIGH])
    {
        const bool mirror = edge.kind == LACIS_SWEEP_MIRROR, sum = edge.kind == LACIS_SWEEP_AFFINE;
        const bool fixed = sum && edge.b == 0;
#pragma unroll
        for (int i = 0; i < F::HIGH; i++)
#pragma unroll
            for (int k = 0; k < CELLS; k++) {
                const T value = mirror ? inner[i][k] : outer[i][k], plus = multiply_add(edge.b, value, edge.a);
                to[i][k] = fixed ? edge.a : sum ? plus : value;
            }
    }

    /* Planes beside plane b, which is the first or the last, or both. */
    __device__ __forceinline__ void at_end(Row (&a)[F::HIGH], const Row (&b)[F::HIGH], Row (&c)[F::HIGH], bool first,
                                           bool last)
    {
        if (last) end_plane(p.edge[5], b, a, c);
        if (OPEN && last && p.edge[5].kind == LACIS_SWEEP_VALUES) given_plane(p.n[2], c);
        if (first) end_plane(p.edge[4], b, c, a);
        if (OPEN && first && p.edge[4].kind == LACIS_SWEEP_VALUES) given_plane(-1, a);
    }

    /* c: level t's newest plane, of step j; becomes the next level's. ENDS: planes at the grid's ends may be. */
    template <int P, bool ENDS> __device__ __forceinline__ void link(int t, int j, Row (&c)[F::HIGH])
    {
        Row(&a)[F::HIGH] = r[t][P];
        const Row(&b)[F::HIGH] = r[t][1 - P];
        const bool first = ENDS && j - t == low, last = ENDS && j - t == high;
        if (first || last) at_end(a, b, c, first, last);
        show(seam_of(j, t, warp, 0), c[0]);
        show(seam_of(j, t, warp, 1), c[F::HIGH - 1]);
        Row under, over, next[F::HIGH];
        look(seam_of(j - 1, t, max(warp - 1, 0), 1), under);
        look(seam_of(j - 1, t, min(warp + 1, F::TEAM - 1), 0), over);
        if (EDGES) end_rows(b, j - t - 1, under, over);
#pragma unroll
        for (int i = 0; i < F::HIGH; i++)
            next_row(i, j - t - 1, a[i], b, c[i], under, over, next[i]);
        if ((first && p.edge[4].kind == LACIS_SWEEP_HOLD) || (last && p.edge[5].kind == LACIS_SWEEP_HOLD)) {
#pragma unroll
            for (int i = 0; i < F::HIGH; i++)
#pragma unroll
                for (int k = 0; k < CELLS; k++)
                    next[i][k] = b[i][k];
        }
#pragma unroll
        for (int i = 0; i < F::HIGH; i++)
#pragma unroll
            for (int k = 0; k < CELLS; k++) {
                a[i][k] = c[i][k];
                c[i][k] = next[i][k];
            }
    }

    /* Plane z. Where a lane's cells are more than 16 bytes, by way of the place of the plane read in step j, so that
     * whole sectors are written at once. */
    __device__ __forceinline__ void write(int z, int j, const Row (&last)[F::HIGH])
    {
        if (!EDGES && F::V < CELLS) {
            __syncwarp();
#pragma unroll
            for (int i = 0; i < F::HIGH; i++)
#pragma unroll
                for (int k = 0; k < CELLS; k += F::V)
                    store(ring + slot(j) + i * WIDTH + lane * CELLS + k, &last[i][k]);
            __syncwarp();
        }
#pragma unroll
        for (int i = 0; i < F::HIGH; i++) {
            const int at_y = y.at + warp * F::HIGH + i;
            if (at_y < y.begin || at_y >= y.end) continue;
            T *to = p.out + z * p.plane + at_y * p.pitch + x.at;
            if (EDGES) {
#pragma unroll
                for (int k = 0; k < CELLS; k++) {
                    const int at = lane * CELLS + k;
                    if (x.at + at >= x.begin && x.at + at < x.end) to[at] = last[i][k];
                }
            } else {
#pragma unroll
                for (int k = 0; k < CELLS; k += F::V) {
                    const int at = lane * F::V + k * (int)LANES;
                    Row out;
                    if (F::V < CELLS) load(ring + slot(j) + i * WIDTH + at, out);
                    if (x.at + at >= x.begin && x.at + at < x.end) store(to + at, F::V < CELLS ? out : last[i]);
                }
            }
        }
    }

    /* Reads plane j, and writes plane j - LEVELS from z on. */
    template <int P, bool ENDS> __device__ __forceinline__ void step(int j, int z)
    {
        Row c[F::HIGH];
        ask(j + F::AHEAD);
        take(j, c);
        if (OPEN && p.wraps[2] && j - lap >= p.n[2]) lap += p.n[2];
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++)
            link<P, ENDS>(t, j, c);
        if (j - F::LEVELS >= z) write(j - F::LEVELS, j, c);
        __syncthreads();
    }

    /* What was newer becomes older. */
    __device__ __forceinline__ void swap()
    {
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++)
#pragma unroll
            for (int i = 0; i < F::HIGH; i++)
#pragma unroll
                for (int k = 0; k < CELLS; k++) {
                    const T older = r[t][1][i][k];
                    r[t][1][i][k] = r[t][0][i][k];
                    r[t][0][i][k] = older;
                }
    }

    /* With open ends: where the lane's cells are, and whether the grid ends there. */
    __device__ __forceinline__ void place_cells()
    {
        const int at = x.at + lane * CELLS;
        ends = open_ends_of(!p.wraps[0] && at == 0, p.wraps[0] ? 0 : p.n[0] - at, p.edge);
        last_warp = !p.wraps[1] && last_row >= 0 && last_row < F::HIGH;
#pragma unroll
        for (int k = 0; k < CELLS; k++)
            column[k] = place_in(at + k, p.n[0], p.wraps[0]);
#pragma unroll
        for (int i = 0; i < F::HIGH; i++)
            line[i] = place_in(y.at + warp * F::HIGH + i, p.n[1], p.wraps[1]);
    }

    /* Planes z .. stop - 1. */
    __device__ __forceinline__ void run(const Span &along_x, const Span &along_y, int z, int stop)
    {
        x = along_x;
        y = along_y;
        first_warp = !p.wraps[1] && y.at == 0 && warp == 0;
        last_row = p.n[1] - 1 - (y.at + warp * F::HIGH);
        if constexpr (EDGES && OPEN) {
            place_cells();
        } else {
            ends = ends_of(!p.wraps[0] && x.at == 0 && lane == 0,
                           !p.wraps[0] && x.at + WIDTH == p.n[0] && lane == LANES - 1, p.edge);
            last_warp = !p.wraps[1] && y.at + F::ROWS == p.n[1] && warp == F::TEAM - 1;
        }
        low = p.wraps[2] ? INT32_MIN : 1;
        high = p.wraps[2] ? INT32_MIN : p.n[2];
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++)
#pragma unroll
            for (int i = 0; i < F::HIGH; i++)
#pragma unroll
                for (int k = 0; k < CELLS; k++)
                    r[t][0][i][k] = r[t][1][i][k] = 0;
        int j = z - F::LEVELS;
        if (!p.wraps[2] && j < 0) j = 0;
        plane = j < 0 ? (j % p.n[2] + p.n[2]) % p.n[2] : j;
        lap = j - plane;
        for (int i = 0; i < F::AHEAD; i++)
            ask(j + i);
        const int behind = stop + F::LEVELS;
        while (j < behind) {
            const bool wraps = p.wraps[2];
            int quick = j - 1; /* no level has one of the grid's ends before it */
            if (wraps || j > F::LEVELS) quick = wraps ? behind : min(behind, p.n[2]);
            for (; j + 1 < quick; j += 2) {
                step<0, false>(j, z);
                step<1, false>(j + 1, z);
            }
            if (j >= behind) break;
            step<0, true>(j++, z);
            swap();
        }
        wait<0>();
    }
};

template <class F, bool OPEN>
__global__ void __launch_bounds__(F::TEAM *LANES, F::BLOCKS)
    space_kernel(const __grid_constant__ Space<typename F::number> p)
{
    typedef typename F::number T;
    extern __shared__ __align__(16) unsigned char lacis_sweep_space[];
    T *const shared = (T *)lacis_sweep_space;
    /* What is needed between marches alone is not to have registers in them. */
    __shared__ Piece piece;
    const int lane = (int)threadIdx.x, warp = (int)threadIdx.y;
    const bool leads = lane == 0 && warp == 0;
    if (leads) piece.begin<F>(p);
    __syncthreads();
    while (piece.more) {
        if (piece.edges) {
            Cube<F, true, OPEN> cube(p, shared, lane, warp);
            cube.run(piece.x, piece.y, piece.z, piece.stop);
        } else {
            Cube<F, false, OPEN> cube(p, shared, lane, warp);
            cube.run(piece.x, piece.y, piece.z, piece.stop);
        }
        __syncthreads();
        if (leads) piece.next<F>(p);
        __syncthreads();
    }
}

} // namespace block
} // namespace sweep

#endif
