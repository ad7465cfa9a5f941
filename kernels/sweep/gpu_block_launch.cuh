/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass's parameters and its launch, and how a kernel becomes a Variant.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_LAUNCH_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_LAUNCH_CUH

#include "sweep/gpu_block_inside.h"
#include "sweep/gpu_block_plane.cuh"
#include "sweep/gpu_block_space.cuh"

#include <stdlib.h>

namespace sweep
{
namespace block
{

/* Fewer rows than these are not worth a warp of its own. */
enum { LEAST_ROWS = 16 };
/* Nor fewer planes a block of a team. */
enum { LEAST_PLANES = 4 };

static inline cudaError_t processors(int *count)
{
    int device;
    const cudaError_t error = cudaGetDevice(&device);
    return error != cudaSuccess ? error : cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device);
}

template <class T> Weights<T> weights_of(const Shape *shape)
{
    return {(T)shape->constant, (T)shape->centre, (T)shape->cross, (T)shape->corners};
}

template <class T> Edge<T> edge_of(const lacis_sweep_edge *edge)
{
    return {edge->kind == LACIS_SWEEP_INNER ? (int)LACIS_SWEEP_HOLD : (int)edge->kind, (T)edge->a[0], (T)edge->b[0]};
}

#ifdef LACIS_SWEEP_CANDIDATES
static inline int64_t knob(const char *name, int64_t usual)
{
    const char *text = getenv(name);
    return text ? atoll(text) : usual;
}
#else
static inline int64_t knob(const char *, int64_t usual)
{
    return usual;
}
#endif

/* Rows y .. stop - 1 in one line. */
template <class F> Line line_of(const Deal &deal, int ny, int y, int stop, int64_t warps)
{
    Line line = {};
    line.y = y;
    line.stop = stop;
    line.careful_row = knob("CAREFUL", CAREFUL_ROW);
    line.edge[0] = y < deal.edge ? deal.edge : 0;
    line.edge[1] = stop > ny - deal.edge ? deal.edge : 0;
    for (int side = 0; side < 2; side++)
        line.end[side] = knob("ENDROW", END_ROW) * 3 * line.edge[side];
    line.lead = (int64_t)QUICK_ROW * (F::LEVELS + F::DELAY);
    const int64_t rows = stop - y, careful = line.lead + line.careful_row * rows;
    line.quick = line.end[0] + line.end[1] + line.lead + QUICK_ROW * (rows - line.edge[0] - line.edge[1]);
    if (deal.tail == deal.strips - 1) line.quick = careful;
    line.careful = careful - line.quick;
    line.total = place_of(deal, line, deal.strips);
    const int64_t most = line.total / (QUICK_ROW * LEAST_ROWS);
    line.pieces = most < 1 ? 1 : most < warps ? most : warps;
    return line;
}

/* The same, `each` pieces of every quick strip: all begin at the same rows. */
template <class F> Line even_line(const Deal &deal, int ny, int stop, int64_t each)
{
    Line line = line_of<F>(deal, ny, 0, stop, 1);
    const int64_t careful = line.quick + line.careful - line.lead;
    const int64_t piece = (line.quick - line.lead + each - 1) / each, pieces = (careful + piece - 1) / piece;
    line.lead = 0;
    line.quick = piece * each;
    line.careful = piece * pieces - line.quick;
    line.careful_row = piece * pieces / stop;
    line.total = place_of(deal, line, deal.strips);
    line.pieces = line.total / piece;
    return line;
}

/* Of the rows before `stop` as many even pieces as there are warps for; the rest is the others'. */
template <class F> void share(Deal *deal, int ny, int64_t warps)
{
    const int quick = deal->strips - 1 - deal->tail;
    int64_t each = quick > 0 ? warps / quick : 0;
    if (each > ny / LEAST_ROWS) each = ny / LEAST_ROWS;
    Line even = {};
    for (; each > 0; each--)
        if ((even = even_line<F>(*deal, ny, ny, each)).pieces <= warps) break;
    if (each == 0 || knob("LINES", 2) == 0) {
        deal->line[0] = line_of<F>(*deal, ny, 0, ny, warps);
        return;
    }
    deal->line[0] = even;
    const int64_t others = warps - even.pieces;
    if (others < 1 + warps / 64 || knob("LINES", 2) == 1) return;
    int low = ny / 2, high = ny - deal->edge; /* stops, the first of them too early */
    while (high - low > 1) {
        const int stop = (low + high) / 2;
        even = even_line<F>(*deal, ny, stop, each);
        const Line rest = line_of<F>(*deal, ny, stop, ny, others);
        (even.total / even.pieces < rest.total / rest.pieces ? low : high) = stop;
    }
    even = even_line<F>(*deal, ny, low, each);
    if (even.pieces + others > warps) return;
    deal->line[0] = even;
    deal->line[1] = line_of<F>(*deal, ny, low, ny, others);
}

template <class F> Deal deal_of(int nx, int ny, bool wraps_x, int warps)
{
    Deal deal = {};
    const int alone = nx - (int)WIDTH + F::OVERLAP - F::INSET; /* columns that strip 0 leaves */
    deal.strips = wraps_x ? (nx + F::STEP - 1) / F::STEP : 1 + (alone + F::STEP - 1) / F::STEP;
    deal.edge = F::LEVELS;
    if (ny < 4 * F::LEVELS + 2 * F::TURN) { /* all are careful */
        deal.tail = deal.strips - 1;
        deal.edge = 0;
        deal.line[0] = line_of<F>(deal, ny, 0, ny, warps);
        return deal;
    }
    if (!wraps_x) deal.tail = deal.strips > 1;
    while (wraps_x && deal.tail < deal.strips - 1 &&
           (deal.strips - 1 - deal.tail) * F::STEP - F::OVERLAP + (int)WIDTH > nx)
        deal.tail++;
    share<F>(&deal, ny, warps);
    return deal;
}

template <class F>
cudaError_t plane_pass(const lacis_sweep_block *block, const Shape *shape, const void *in, void *out,
                       cudaStream_t stream)
{
    typedef typename F::number T;
    int multiprocessors;
    const cudaError_t error = processors(&multiprocessors);
    if (error != cudaSuccess) return error;
    Plane<T> plane = {};
    plane.in = (const T *)in;
    plane.out = (T *)out;
    plane.pitch = block->pitch[0];
    plane.nx = (int)block->extent[0];
    plane.ny = (int)block->extent[1];
    plane.wraps_x = block->edge[0].kind == LACIS_SWEEP_PERIODIC;
    plane.wraps_y = block->edge[2].kind == LACIS_SWEEP_PERIODIC;
    for (int face = 0; face < 4; face++)
        plane.edge[face] = edge_of<T>(&block->edge[face]);
    plane.weights = weights_of<T>(shape);
    plane.deal = deal_of<F>(plane.nx, plane.ny, plane.wraps_x, multiprocessors * (int)F::WARPS);
    const int64_t pieces = plane.deal.line[0].pieces + plane.deal.line[1].pieces;
    plane_kernel<F><<<(unsigned)pieces, LANES, 0, stream>>>(plane);
    return cudaGetLastError();
}

template <class F> Tiles tiles_of(const int *n, const bool *wraps, int blocks)
{
    static const int step[2] = {F::STEP_X, F::STEP_Y};
    /* What the first tile leaves must begin so far from its end. */
    static const int width[2] = {WIDTH - (F::OVERLAP - F::INSET), F::ROWS};
    Tiles tiles = {};
    for (int axis = 0; axis < 2; axis++)
        tiles.count[axis] = wraps[axis] ? (n[axis] + step[axis] - 1) / step[axis]
                                        : 1 + (n[axis] - width[axis] + step[axis] - 1) / step[axis];
    tiles.planes = n[2];
    tiles.lead = 2 * F::LEVELS;
    tiles.total = place_of(tiles, tiles.count[0] * tiles.count[1]);
    const int64_t most = tiles.total / (INSIDE_PLANE * LEAST_PLANES);
    tiles.pieces = most < 1 ? 1 : most < blocks ? most : blocks;
    return tiles;
}

template <class F>
cudaError_t space_pass(const lacis_sweep_block *block, const Shape *shape, const void *in, void *out,
                       cudaStream_t stream)
{
    typedef typename F::number T;
    int multiprocessors;
    cudaError_t error = processors(&multiprocessors);
    if (error != cudaSuccess) return error;
    error =
        cudaFuncSetAttribute((const void *)space_kernel<F>, cudaFuncAttributeMaxDynamicSharedMemorySize, F::BYTES);
    if (error != cudaSuccess) return error;
    Space<T> space = {};
    space.in = (const T *)in;
    space.out = (T *)out;
    space.pitch = block->pitch[0];
    space.plane = block->pitch[1];
    for (int axis = 0; axis < 3; axis++) {
        space.n[axis] = (int)block->extent[axis];
        space.wraps[axis] = block->edge[2 * axis].kind == LACIS_SWEEP_PERIODIC;
    }
    for (int face = 0; face < 6; face++)
        space.edge[face] = edge_of<T>(&block->edge[face]);
    space.weights = weights_of<T>(shape);
    space.tiles = tiles_of<F>(space.n, space.wraps, multiprocessors * (int)F::BLOCKS);
    space_kernel<F><<<(unsigned)space.tiles.pieces, dim3(LANES, F::TEAM), F::BYTES, stream>>>(space);
    return cudaGetLastError();
}

template <class T> constexpr lacis_sweep_type type_of()
{
    return sizeof(T) == 4 ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64;
}
template <class F> Variant plane_variant(const char *name)
{
    return {name,
            type_of<typename F::number>(),
            2,
            F::GROUPS,
            F::LEVELS,
            {WIDTH, 1},
            0,
            (const void *)plane_kernel<F>,
            plane_pass<F>};
}
template <class F> Variant space_variant(const char *name)
{
    return {name,
            type_of<typename F::number>(),
            3,
            F::GROUPS,
            F::LEVELS,
            {WIDTH, F::ROWS},
            F::BYTES,
            (const void *)space_kernel<F>,
            space_pass<F>};
}

} // namespace block
} // namespace sweep

#endif
