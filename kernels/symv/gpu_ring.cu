/* SPDX-License-Identifier: Apache-2.0
 *
 * RING's host side: which launches a pass needs, and their shared memory.
 */
#include "symv/gpu_dispatch.cuh"
#include "symv/gpu_ring.h"

namespace
{

enum { SHARED_MOST = 227 * 1024, SHARED_OWN = 1024 /* of each block, taken by the system */ };

int tx(lacis_symv_type type)
{
    return 32 * (lacis_symv_matrix_bytes(type) < 16 ? 16 / lacis_symv_matrix_bytes(type) : 1);
}

int ty(lacis_symv_type type)
{
    return SYMV_RING_WARPS * (lacis_symv_matrix_bytes(type) > 16 ? 4 : 8);
}

bool double_double(lacis_symv_type type)
{
    return type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD || type == LACIS_SYMV_F32_DD || type == LACIS_SYMV_F64_DD;
}

symv_gpu_grid grid_of(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice, int64_t n)
{
    symv_gpu_grid g = {};
    g.n = n;
    g.tx = tx(job->job.type);
    g.ty = choice->ty;
    g.chunk = choice->chunk;
    g.upper = job->job.uplo == LACIS_SYMV_UPPER;
    return g;
}

int64_t padded(int64_t n)
{
    return (n + 63) / 64 * 64;
}

/* Shared memory of a block that works on so many sides and adds up sums of rows every `flush` tiles; where
 * columns begin anywhere it has 16 bytes more for each column's part. */
size_t shared_bytes(const symv_gpu_grid *g, lacis_symv_type type, bool aligned, int sides, int flush)
{
    const size_t stage = (size_t)((g->tx * lacis_symv_matrix_bytes(type) + (aligned ? 0 : 16)) * ty(type));
    const size_t vectors = (size_t)(2 * g->chunk * g->tx + g->ty + flush * SYMV_RING_WARPS * g->tx);
    return SYMV_RING_STAGES * stage + vectors * (size_t)sides * (size_t)lacis_symv_vector_bytes(type);
}

/* The most tiles at once with which `resident` blocks fit; 0: not even one. */
int flush_of(const symv_gpu_grid *g, lacis_symv_type type, bool aligned, int sides, int resident)
{
    for (int flush = g->chunk; flush >= 1; flush--)
        if ((shared_bytes(g, type, aligned, sides, flush) + SHARED_OWN) * (size_t)resident <=
            SHARED_MOST + SHARED_OWN)
            return flush;
    return 0;
}

int64_t most_per_pair(const symv_gpu_grid *g)
{
    const int64_t strips = symv_gpu_strips(g);
    int64_t most = 0;
    for (int64_t low = 0; low < (strips + 1) / 2; low++) {
        const int64_t high = strips - 1 - low;
        const int64_t chunks = symv_gpu_chunks(g, low) + (high > low ? symv_gpu_chunks(g, high) : 0);
        if (chunks > most) most = chunks;
    }
    return most;
}

} // namespace

const char *symv_gpu_ring_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice)
{
    const symv_gpu_grid g = grid_of(job, choice, job->job.n);
    if (job->job.order == LACIS_SYMV_CANONICAL) return "sums over chunks of tiles are not in the canonical order";
    const int wide = choice->ty / ty(job->job.type);
    if (choice->tx != g.tx || choice->warps != SYMV_RING_WARPS || choice->ty % ty(job->job.type) != 0 || wide < 1 ||
        (wide & (wide - 1)) != 0)
        return "not a tile of this type";
    if (job->job.n > INT64_C(1) << 21) return "too many tiles for one launch";
    if (choice->chunk < 1 || choice->resident < 1 || choice->resident > 3) return "not a choice of this family";
    const int together = job->job.sides > 1 && !double_double(job->job.type) ? SYMV_GPU_SIDES : 1;
    if (flush_of(&g, job->job.type, true, 1, choice->resident) == 0 ||
        flush_of(&g, job->job.type, false, together, 1) == 0)
        return "a chunk's sums do not fit into shared memory";
    return nullptr;
}

uint64_t symv_gpu_ring_bytes(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice, int64_t n, int sides)
{
    const symv_gpu_grid g = grid_of(job, choice, n);
    return (uint64_t)symv_gpu_most_slots(&g) * (uint64_t)sides * (uint64_t)padded(n) *
           (uint64_t)lacis_symv_vector_bytes(job->job.type);
}

cudaError_t symv_gpu_ring(const symv_gpu_pass *pass)
{
    const lacis_symv_type type = pass->job->job.type;
    symv_gpu_pass whole = *pass;
    whole.part.grid = grid_of(pass->job, &pass->choice, pass->part.grid.n);
    whole.part.sums = pass->work;
    whole.part.row = padded(pass->part.grid.n);
    if (whole.part.grid.n == 0) return cudaSuccess;
    symv_ring_launch l = {};
    l.part = whole.part;
    l.sides = pass->sides;
    l.aligned = symv_gpu_aligned(&whole.part, type);
    l.strips = (int)symv_gpu_strips(&l.part.grid);
    while (1 << l.strip_bits < l.part.grid.ty)
        l.strip_bits++;
    l.per_pair = (unsigned)most_per_pair(&l.part.grid);
    l.blocks = (unsigned)((symv_gpu_strips(&l.part.grid) + 1) / 2) * l.per_pair;
    l.stream = pass->stream;
    const int at_once = double_double(type) ? 1 : SYMV_GPU_SIDES;
    for (l.side = 0; l.side < pass->sides; l.side += l.count) {
        l.count = pass->sides - l.side < at_once ? pass->sides - l.side : at_once;
        const int together = l.count > 1 ? SYMV_GPU_SIDES : 1;
        for (l.resident = pass->choice.resident; l.resident > 1; l.resident--)
            if (flush_of(&l.part.grid, type, l.aligned, together, l.resident) > 0) break;
        l.flush = flush_of(&l.part.grid, type, l.aligned, together, l.resident);
        l.shared = shared_bytes(&l.part.grid, type, l.aligned, together, l.flush);
        const cudaError_t rc = symv_by_type(type, pass->job->job.accurate,
                                            [&](auto number) { return symv_ring_start<decltype(number)>(&l); });
        if (rc != cudaSuccess) return rc;
    }
    return symv_gpu_sum(&whole, true);
}
