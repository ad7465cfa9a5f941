/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes of three dimensions: what a kernel is compiled for and what it is called with, where tiles lie, and how they
 * are dealt: all tiles' planes lie in one line, of which each block gets an equal piece.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_TILES_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_TILES_CUH

#include "sweep/gpu_block_open.cuh"
#include "sweep/gpu_block_strip.cuh"

namespace sweep
{
namespace block
{

/* What a plane costs a block, in 16ths of one of a tile that is inside the grid. */
enum { INSIDE_PLANE = 16, EDGE_PLANE = 28 };

/* The line that is dealt: tiles along x first, of each `lead` planes for the march to get under way and its planes.
 */
struct Tiles {
    int count[2];
    int lead, planes;
    int64_t total, pieces;
};
static inline __host__ __device__ bool at_edge(const Tiles &tiles, int tile)
{
    const int x = tile % tiles.count[0], y = tile / tiles.count[0];
    return x == 0 || x == tiles.count[0] - 1 || y == 0 || y == tiles.count[1] - 1;
}
static inline __host__ __device__ int64_t place_of(const Tiles &tiles, int tile)
{
    const int x = tile % tiles.count[0], y = tile / tiles.count[0], sides = tiles.count[0] > 1 ? 2 : 1;
    int64_t edges = y > 0 ? tiles.count[0] + (y - 1) * (int64_t)sides : 0;
    edges += y == 0 || y == tiles.count[1] - 1 ? x : x > 0;
    if (y == tiles.count[1]) edges += y > 1 ? tiles.count[0] - sides : 0; /* behind the last */
    return (tile * (int64_t)INSIDE_PLANE + edges * (EDGE_PLANE - INSIDE_PLANE)) * (tiles.lead + tiles.planes);
}
/* How many of a tile's planes lie before a place. */
static inline __device__ int planes_before(const Tiles &tiles, int tile, int64_t place)
{
    const int cost = at_edge(tiles, tile) ? EDGE_PLANE : INSIDE_PLANE;
    const int64_t rest = (place - place_of(tiles, tile) + cost - 1) / cost - tiles.lead;
    return rest <= 0 ? 0 : rest < tiles.planes ? (int)rest : tiles.planes;
}
/* The tile that a place lies in. */
static inline __device__ int tile_at(const Tiles &tiles, int64_t place)
{
    int tile = 0, behind = tiles.count[0] * tiles.count[1];
    while (behind - tile > 1) {
        const int middle = (tile + behind) / 2;
        if (place_of(tiles, middle) <= place)
            tile = middle;
        else
            behind = middle;
    }
    return tile;
}

template <class T> struct Space {
    const T *in;
    T *out;
    int64_t pitch, plane;
    int n[3];
    bool wraps[3];
    Edge<T> edge[6];
    Weights<T> weights;
    Tiles tiles;
};

/* TEAM: warps of a block. BLOCKS: of a multiprocessor. */
template <class T, int LEVELS_, int GROUPS_, int TEAM_, int HIGH_, int BLOCKS_> struct SpaceForm {
    typedef T number;
    enum {
        LEVELS = LEVELS_,
        GROUPS = GROUPS_,
        TEAM = TEAM_,
        HIGH = HIGH_,
        BLOCKS = BLOCKS_,
        V = Vector<T>::CELLS,
        OVERLAP = (LEVELS + V - 1) / V * V,
        STEP_X = WIDTH - 2 * OVERLAP,
        INSET = OVERLAP / (2 * V) * (2 * V), /* tiles write whole sectors of 32 bytes */
        ROWS = TEAM * HIGH,
        STEP_Y = ROWS - 2 * LEVELS,
        AHEAD = 2,
        RING = 4,
        RING_CELLS = RING * HIGH * WIDTH,    /* of a warp */
        SEAM_CELLS = 2 * LEVELS * 2 * WIDTH, /* of a warp: in turn, of each level, two rows */
        BYTES = TEAM * (RING_CELLS + SEAM_CELLS) * (int)sizeof(T)
    };
    static_assert(STEP_Y > 0 && HIGH >= 2, "a tile has to leave something, and a mirror needs two rows of a warp");
};

/* Where a tile lies along an axis: `at` its first cell, of which begin .. end - 1 are written. */
struct Span {
    int at, begin, end;
};
static inline __device__ Span span_of(int tile, int tiles, int step, int overlap, int inset, int width, int n,
                                      bool wraps)
{
    const bool last = tile == tiles - 1;
    if (wraps) inset = 0;
    Span out;
    out.at = tile * step + inset - overlap;
    if (!wraps) out.at = max(last ? n - width : out.at, 0);
    out.begin = tile == 0 ? 0 : tile * step + inset;
    out.end = last ? n : (tile + 1) * step + inset;
    return out;
}

/* A block's piece of the line, and of it what the block is at: planes z .. stop - 1 of a tile. */
struct Piece {
    int64_t from, until;
    int tile;
    bool more, edges;
    Span x, y;
    int z, stop;

    template <class F> __device__ __noinline__ void next(const Space<typename F::number> &p)
    {
        const int across = p.tiles.count[0], tiles = across * p.tiles.count[1];
        for (z = stop; z >= stop;) { /* a piece can end before a tile's first plane */
            tile++;
            more = tile < tiles && place_of(p.tiles, tile) < until;
            if (!more) return;
            z = planes_before(p.tiles, tile, from);
            stop = planes_before(p.tiles, tile, until);
        }
        x = span_of(tile % across, across, F::STEP_X, F::OVERLAP, F::INSET, WIDTH, p.n[0], p.wraps[0]);
        y = span_of(tile / across, p.tiles.count[1], F::STEP_Y, F::LEVELS, F::LEVELS, F::ROWS, p.n[1], p.wraps[1]);
        edges = x.at <= 0 || x.at + WIDTH >= p.n[0] || y.at <= 0 || y.at + F::ROWS >= p.n[1];
    }
    template <class F> __device__ __forceinline__ void begin(const Space<typename F::number> &p)
    {
        from = p.tiles.total * blockIdx.x / p.tiles.pieces;
        until = p.tiles.total * (blockIdx.x + 1ll) / p.tiles.pieces;
        tile = tile_at(p.tiles, from) - 1;
        stop = 0;
        next<F>(p);
    }
};

} // namespace block
} // namespace sweep

#endif
