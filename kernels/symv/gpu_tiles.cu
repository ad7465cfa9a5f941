/* SPDX-License-Identifier: Apache-2.0
 *
 * Family TILES, and ATOMIC: which first pass of the type's list runs, its grid and its slots, and what follows it.
 */
#include "symv/gpu_end.cuh"
#include "symv/gpu_tiles.h"

static symv_tiles_list list_of(const lacis_symv_job *job)
{
    switch (job->type) {
    case LACIS_SYMV_F32:
        return symv_tiles_f32;
    case LACIS_SYMV_F64:
        return symv_tiles_f64;
    case LACIS_SYMV_C64:
        return symv_tiles_c64;
    case LACIS_SYMV_C128:
        return symv_tiles_c128;
    case LACIS_SYMV_DD:
        return symv_tiles_dd[job->accurate];
    case LACIS_SYMV_CDD:
        return symv_tiles_cdd[job->accurate];
    case LACIS_SYMV_F32_F64:
        return symv_tiles_f32_f64;
    case LACIS_SYMV_F32_DD:
        return symv_tiles_f32_dd[job->accurate];
    case LACIS_SYMV_F64_DD:
        return symv_tiles_f64_dd[job->accurate];
    case LACIS_SYMV_TYPES:
        break;
    }
    return {};
}

static bool same(const symv_tiles_entry *e, const lacis_symv_gpu_choice *c)
{
    return e->tx == c->tx && e->ty == c->ty && e->warps == c->warps && e->resident == c->resident &&
           e->unroll == c->unroll && e->run == (c->chunk > 1);
}

/* What the canonical order wants: 64 x 64, a column's q in groups of 8. Groups are 64 / V lanes, or 32. */
static bool is_canonical(lacis_symv_type type, const lacis_symv_gpu_choice *c)
{
    const int per_load = lacis_symv_matrix_bytes(type) < 16 ? 16 / lacis_symv_matrix_bytes(type) : 1;
    const int lanes = 64 / per_load < 32 ? 64 / per_load : 32;
    return c->tx == 64 && c->ty == 64 && c->chunk == 1 && c->warps * 32 == 8 * lanes;
}

/* The first pass for a choice with so many sides, whole or element by element. Where the choice has no twin that
 * reads element by element, or with more sides, the type's first such entry stands in. */
static const symv_tiles_entry *entry_of(const lacis_symv_job *job, const lacis_symv_gpu_choice *choice, int sides,
                                        bool whole)
{
    const symv_tiles_list list = list_of(job);
    const bool canonical = job->order == LACIS_SYMV_CANONICAL;
    const symv_tiles_entry *fallback = NULL;
    for (int i = 0; i < list.count; i++) {
        const symv_tiles_entry *e = &list.entry[i];
        if (e->sides != sides || e->whole != whole) continue;
        if (same(e, choice)) return e;
        const lacis_symv_gpu_choice own = {LACIS_SYMV_GPU_TILES, e->tx,         e->ty, e->warps, e->unroll,
                                           e->resident,          e->run ? 2 : 1};
        const bool fits = canonical ? is_canonical(job->type, &own) : e->run == (choice->chunk > 1) || e->run;
        if (fallback == NULL && fits) fallback = e;
    }
    return fallback;
}

static bool known(const lacis_symv_job *job, const lacis_symv_gpu_choice *choice)
{
    const symv_tiles_list list = list_of(job);
    for (int i = 0; i < list.count; i++)
        if (same(&list.entry[i], choice)) return true;
    return false;
}

const char *symv_gpu_tiles_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice)
{
    const lacis_symv_job *j = &job->job;
    if (choice->chunk < 1 || !known(j, choice)) return "no such tiles are compiled for this type";
    if (j->order == LACIS_SYMV_CANONICAL && !is_canonical(j->type, choice))
        return "the canonical order wants tiles of 64 x 64, one after the other";
    if (choice->kind != LACIS_SYMV_GPU_ATOMIC) return NULL;
    if (j->order != LACIS_SYMV_FREE) return "atomics add in no fixed order";
    if (lacis_symv_vector_bytes(j->type) > 8 && j->type != LACIS_SYMV_C128)
        return "there are no atomics of double-double numbers";
    if (j->figures != NULL) return "figures want sums, which atomics do not keep";
    return NULL;
}

/* Tiles of a chunk: where another entry stands in for the choice's, as many rows as the choice has. */
static int chunk_of(const symv_tiles_entry *e, const lacis_symv_gpu_choice *c)
{
    if (!e->run) return 1;
    return c->tx <= e->tx ? c->chunk : c->chunk * (c->tx / e->tx);
}

static symv_gpu_grid grid_of(const symv_gpu_pass *pass, const symv_tiles_entry *e)
{
    symv_gpu_grid g = pass->part.grid;
    g.tx = e->tx;
    g.ty = e->ty;
    g.chunk = chunk_of(e, &pass->choice);
    return g;
}

static uint64_t sums_bytes(const lacis_symv_job *job, const symv_gpu_grid *g, int sides)
{
    const uint64_t row = (uint64_t)(g->n + 63) / 64 * 64;
    return (uint64_t)symv_gpu_most_slots(g) * (uint64_t)sides * row * (uint64_t)lacis_symv_vector_bytes(job->type);
}

uint64_t symv_gpu_tiles_bytes(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice, int64_t n,
                              int sides)
{
    uint64_t most = 0;
    if (choice->kind == LACIS_SYMV_GPU_ATOMIC) return 0;
    for (int whole = 0; whole <= 1; whole++) {
        const symv_tiles_entry *e = entry_of(&job->job, choice, sides, whole != 0);
        if (e == NULL) continue;
        const symv_gpu_grid g = {n,
                                 e->tx,
                                 e->ty,
                                 chunk_of(e, choice),
                                 job->job.uplo == LACIS_SYMV_UPPER,
                                 job->job.order == LACIS_SYMV_CANONICAL};
        const uint64_t bytes = sums_bytes(&job->job, &g, sides);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* --- the atomic form begins with y = beta y0 ---------------------------------------------------------------------
 */

template <class N> static __global__ void begin_kernel(const __grid_constant__ symv_gpu_part p)
{
    typedef typename N::X X;
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    const int side = (int)blockIdx.y;
    if (i >= p.grid.n) return;
    symv_store((X *)p.y + side * p.y_side + i * p.y_step, symv_scaled<N>(p, side, i, symv_zero<X>()));
}

static cudaError_t begin(const symv_gpu_pass *pass)
{
    const dim3 grid((unsigned)((pass->part.grid.n + 255) / 256), (unsigned)pass->sides);
#define DO(N) (begin_kernel<N><<<grid, 256, 0, pass->stream>>>(pass->part), 0)
    SYMV_BY_SUMS(pass->job->job.type, pass->job->job.accurate, DO);
#undef DO
    return cudaGetLastError();
}

/* --- the pass
 * -------------------------------------------------------------------------------------------------------- */

static int64_t most_chunks(const symv_gpu_grid *g)
{
    const int64_t strips = symv_gpu_strips(g);
    int64_t most = 0;
    for (int64_t a = 0, b = strips - 1; a <= b; a++, b--) {
        const int64_t both = symv_gpu_chunks(g, a) + (a == b ? 0 : symv_gpu_chunks(g, b));
        if (both > most) most = both;
    }
    return most;
}

cudaError_t symv_gpu_tiles(const symv_gpu_pass *given)
{
    symv_gpu_pass pass = *given;
    const lacis_symv_job *job = &pass.job->job;
    const bool whole = symv_gpu_aligned(&pass.part, job->type), atomic = pass.choice.kind == LACIS_SYMV_GPU_ATOMIC;
    const symv_tiles_entry *e = entry_of(job, &pass.choice, pass.sides, whole);
    if (e == NULL) return cudaErrorInvalidValue;
    pass.part.grid = grid_of(&pass, e);
    pass.part.sums = pass.work;
    pass.part.row = (pass.part.grid.n + 63) / 64 * 64;
    if (atomic) {
        const cudaError_t error = begin(&pass);
        if (error != cudaSuccess) return error;
    }
    const cudaError_t error = e->launch(&pass.part, atomic, most_chunks(&pass.part.grid), pass.stream);
    if (error != cudaSuccess || atomic) return error;
    return symv_gpu_sum(&pass, true);
}
