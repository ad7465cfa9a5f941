/* SPDX-License-Identifier: Apache-2.0
 *
 * How a pass of two dimensions is dealt among the warps that the device holds, on the host; gpu_block_strip.cuh says
 * what the numbers mean. Each quick strip gets as many even pieces as all of them can have; rows are left for the
 * warps beyond those.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_DEAL_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_DEAL_CUH

#include "sweep/gpu_block_strip.cuh"

#include <stdlib.h>

namespace sweep
{
namespace block
{

/* Fewer rows than these are not worth a warp of its own. */
enum { LEAST_ROWS = 16 };
/* Numbers that programs with candidates (tests/gpu/sweep_block_bench.cu) take from the environment. */
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
    line.careful_row = deal.careful_row;
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

template <class F> Deal deal_of(int nx, int ny, bool wraps_x, bool open, int warps)
{
    Deal deal = {};
    const int left = nx - (int)WIDTH + F::OVERLAP - F::INSET, alone = left > 0 ? left : 0; /* by strip 0: columns */
    deal.careful_row = (int)knob("CAREFUL", open ? OPEN_ROW : CAREFUL_ROW);
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

} // namespace block
} // namespace sweep

#endif
