/* SPDX-License-Identifier: Apache-2.0
 *
 * Systems on a device: how their arrays lie, their memory, made and freed.
 */
#include "sweep/gpu_inside.h"

#include <new>
#include <stdlib.h>

namespace sweep
{

enum {
    ROUND = 256, /* what host.alloc aligns to */
    WIDE = 2048,
    LINE = 128 /* bytes: from WIDE on rows begin at lines */
};

/* --- how arrays lie ----------------------------------------------------------------------------------------------
 */

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

bool layout_of(const lacis_sweep_start *start, Layout *out)
{
    const int64_t size = (int64_t)lacis_sweep_size(start->type);
    int64_t reach[3];
    double cells = 1;
    lacis_sweep_reach(start, reach);
    for (int k = 0; k < 3; k++) {
        const lacis_sweep_edge *edge = start->edge[0];
        const bool used = k < start->dims;
        out->extent[k] = used ? start->extent[k] : 1;
        out->low[k] = used && edge[2 * k].kind == LACIS_SWEEP_INNER ? start->halo[k] : reach[k];
        out->high[k] = used && edge[2 * k + 1].kind == LACIS_SWEEP_INNER ? start->halo[k] : reach[k];
        cells *= (double)out->extent[k] + (double)out->low[k] + (double)out->high[k] + (k == 0 ? 512 : 0);
    }
    if (cells > 1e14) return false;
    const int64_t line = (out->extent[0] * size >= WIDE ? LINE : 16) / size;
    const int64_t lead = round_up(out->low[0], line);
    out->stride[0] = 1;
    out->stride[1] = lead + round_up(out->extent[0] + out->high[0], line);
    out->stride[2] = out->stride[1] * (out->extent[1] + out->low[1] + out->high[1]);
    out->first = lead + out->low[1] * out->stride[1] + out->low[2] * out->stride[2];
    out->cells = (uint64_t)out->stride[2] * (uint64_t)(out->extent[2] + out->low[2] + out->high[2]);
    return true;
}

static uint64_t array_bytes(const lacis_sweep_start *start, const Layout &layout)
{
    return layout.cells * lacis_sweep_size(start->type);
}

/* --- made --------------------------------------------------------------------------------------------------------
 */

static lacis_sweep_status take(lacis_sweep_gpu *s, int block, uint64_t bytes)
{
    s->block[block] = s->start.host.alloc(s->start.host.context, bytes);
    return s->block[block] != nullptr ? LACIS_SWEEP_OK : LACIS_SWEEP_NO_MEMORY;
}

/* The block of tables: edges, sums, the word for failures, rules. */
static uint64_t tables_bytes(const lacis_sweep_start *start)
{
    return (uint64_t)round_up(sizeof(sweep_edges), ROUND) +
           (uint64_t)round_up(SWEEP_SUMS * sizeof(sweep_sums), ROUND) + ROUND + general_bytes(start);
}

static lacis_sweep_status make_tables(lacis_sweep_gpu *s)
{
    SWEEP_TRY(take(s, 0, tables_bytes(&s->start)));
    char *at = static_cast<char *>(s->block[0]);
    s->edges = reinterpret_cast<sweep_edges *>(at);
    at += round_up(sizeof(sweep_edges), ROUND);
    s->sums = reinterpret_cast<sweep_sums *>(at);
    at += round_up(SWEEP_SUMS * sizeof(sweep_sums), ROUND);
    s->bad = reinterpret_cast<int *>(at);
    at += ROUND;
    SWEEP_CUDA(s, cudaMemsetAsync(s->bad, 0, sizeof *s->bad, s->stream));
    SWEEP_TRY(ghost_tables(s));
    return general_tables(s, at);
}

/* Cells of each field that are computed: all but those that HOLD keeps; into halos without end. */
static void set_kept(lacis_sweep_gpu *s)
{
    const int64_t far = INT64_C(1) << 60;
    for (int f = 0; f < s->start.fields; f++)
        for (int k = 0; k < 3; k++) {
            const bool used = k < s->start.dims;
            const lacis_sweep_edge *edge = &s->start.edge[f][2 * k];
            s->keep_low[f][k] = used && edge[0].kind == LACIS_SWEEP_HOLD ? s->reach[k] : -far;
            s->keep_high[f][k] = used && edge[1].kind == LACIS_SWEEP_HOLD ? s->layout.extent[k] - s->reach[k] : far;
        }
}

static lacis_sweep_status make_arrays(lacis_sweep_gpu *s)
{
    const uint64_t bytes = array_bytes(&s->start, s->layout),
                   first = (uint64_t)s->layout.first * lacis_sweep_size(s->start.type);
    const int fields = s->start.fields;
    int block = 1;
    for (int level = 0; level < 2; level++)
        for (int f = 0; f < fields; f++, block++) {
            SWEEP_TRY(take(s, block, bytes));
            s->level[level][f] = static_cast<char *>(s->block[block]) + first;
            SWEEP_TRY(put(s, s->level[level][f], whole_part(s), s->start.array[f], s->stream));
        }
    for (int c = 0; c < s->start.coefficients; c++, block++) {
        SWEEP_TRY(take(s, block, bytes));
        s->fixed[c] = static_cast<char *>(s->block[block]) + first;
        SWEEP_TRY(put(s, s->fixed[c], whole_part(s), s->start.array[fields + c], s->stream));
    }
    for (int level = -1; level < 2; level++)
        SWEEP_TRY(ghosts(s, level, whole_part(s), true, s->stream));
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status fill(lacis_sweep_gpu *s, const lacis_sweep_gpu_start *start)
{
    int device = 0;
    s->start = start->start;
    s->stream = static_cast<cudaStream_t>(start->stream);
    s->pinned = start->pinned;
    s->t = s->start.t;
    for (int k = 0; k < LACIS_SWEEP_GPU_KERNELS; k++)
        s->kernel[k] = start->kernel[k];
    for (int k = 0; k < 3; k++) {
        if (k >= s->start.dims) s->start.extent[k] = 1;
        if (start->start.whole[0] != 0 && k < s->start.dims) continue;
        s->start.whole[k] = s->start.extent[k];
        s->start.origin[k] = 0;
    }
    layout_of(&s->start, &s->layout);
    lacis_sweep_reach(&s->start, s->reach);
    set_kept(s);
    s->ghosts_change = ghosts_change(s);
    SWEEP_CUDA(s, cudaGetDevice(&device));
    SWEEP_CUDA(s, cudaDeviceGetAttribute(&s->processors, cudaDevAttrMultiProcessorCount, device));
    for (cudaEvent_t &mark : s->mark)
        SWEEP_CUDA(s, cudaEventCreateWithFlags(&mark, cudaEventDisableTiming));
    SWEEP_TRY(make_tables(s));
    return make_arrays(s);
}

static void clear(lacis_sweep_gpu *s)
{
    for (void *block : s->block)
        if (block != nullptr) s->start.host.free(s->start.host.context, block);
    for (cudaEvent_t mark : s->mark)
        if (mark) cudaEventDestroy(mark);
    free(s);
}

bool any_written(const lacis_sweep_start *start)
{
    for (int f = 0; f < start->fields; f++)
        if (start->rule[f].written) return true;
    return false;
}

} // namespace sweep

using namespace sweep;

const char *lacis_sweep_gpu_refuses(const lacis_sweep_start *start)
{
    Layout layout;
    if (!layout_of(start, &layout)) return "the grid has more cells than a device can address";
    for (int k = 1; k < start->dims; k++)
        if (start->extent[k] >= INT64_C(1) << 31) return "it has 2^31 cells or more along an axis";
    if (any_written(start) && lacis_sweep_gpu_prefix(start, nullptr, 0) == 0)
        return "the rules read more different cells than a kernel can hold";
    return nullptr;
}

lacis_sweep_status lacis_sweep_gpu_new(const lacis_sweep_gpu_start *start, lacis_sweep_gpu **out, int *cuda_error)
{
    *out = nullptr;
    *cuda_error = 0;
    if (lacis_sweep_gpu_refuses(&start->start)) return LACIS_SWEEP_UNSUPPORTED;
    if (any_written(&start->start) && start->kernel[0] == nullptr) return LACIS_SWEEP_UNSUPPORTED;
    void *const block = calloc(1, sizeof(lacis_sweep_gpu));
    if (block == nullptr) return LACIS_SWEEP_NO_MEMORY;
    lacis_sweep_gpu *const s = new (block) lacis_sweep_gpu();
    const lacis_sweep_status status = fill(s, start);
    if (status == LACIS_SWEEP_OK) {
        *out = s;
        return status;
    }
    *cuda_error = s->cuda_error;
    clear(s);
    return status;
}

void lacis_sweep_gpu_free(lacis_sweep_gpu *system)
{
    if (system != nullptr) clear(system);
}

int lacis_sweep_gpu_error_code(const lacis_sweep_gpu *system)
{
    return system->cuda_error;
}

uint64_t lacis_sweep_gpu_bytes(const lacis_sweep_start *start)
{
    Layout layout;
    if (!layout_of(start, &layout)) return UINT64_MAX;
    const uint64_t arrays = 2 * (uint64_t)start->fields + (uint64_t)start->coefficients;
    return arrays * (uint64_t)round_up((int64_t)array_bytes(start, layout), ROUND) +
           (uint64_t)round_up((int64_t)tables_bytes(start), ROUND);
}
