/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_strip.h.
 */
#include "sweep/gpu_strip.h"

namespace sweep
{

/* Cells before cell (0, 0, row) that belong to the row. */
static int64_t lead_of(const Layout &layout, int axis)
{
    const int64_t before = layout.low[1] * layout.stride[1];
    const int64_t lead = layout.first - before - layout.low[2] * layout.stride[2];
    return axis == 0 ? 0 : axis == 1 ? lead : lead + before;
}

Rows rows_of(const lacis_sweep_gpu *s, int axis, int level, int f, int64_t first, int64_t count)
{
    const int64_t size = (int64_t)lacis_sweep_size(s->start.type), stride = s->layout.stride[axis];
    char *const cells = static_cast<char *>(level < 0 ? s->fixed[f] : s->level[level][f]);
    return {cells + (first * stride - lead_of(s->layout, axis)) * size, (size_t)(count * stride * size)};
}

void strip_start(const lacis_sweep_gpu_start *part, const lacis_sweep_cut *cut, int k, int side,
                 lacis_sweep_gpu_start *out)
{
    const int axis = cut->dims - 1;
    const int64_t halo = cut->halo[axis], rows = part->start.extent[axis], first = side == 0 ? 0 : rows - halo;
    const uint64_t size = lacis_sweep_size(part->start.type);
    int64_t row = 1;
    *out = *part;
    lacis_sweep_start *const start = &out->start;
    for (int lower = 0; lower < axis; lower++)
        row *= start->extent[lower];
    start->extent[axis] = halo;
    start->origin[axis] += first;
    for (int i = 0; i < start->fields + start->coefficients && start->array[i] != nullptr; i++)
        start->array[i] = static_cast<const char *>(start->array[i]) + (uint64_t)(first * row) * size;
    const int64_t before = lacis_sweep_cut_inner(cut, k, 2 * axis) ? halo : 0;
    for (int f = 0; f < start->fields; f++)
        for (int face = 0; face < 2 * start->dims; face++) {
            lacis_sweep_edge *const edge = &start->edge[f][face];
            if (face / 2 == axis) {
                *edge = {};
                edge->kind = LACIS_SWEEP_INNER;
            } else if (edge->kind == LACIS_SWEEP_VALUES && start->array[0] != nullptr) {
                const int64_t line = row / start->extent[face / 2]; /* of the face, for each row */
                edge->values =
                    static_cast<const char *>(edge->values) + (uint64_t)((before + first - halo) * line) * size;
            }
        }
}

uint64_t strips_bytes(const lacis_sweep_start *part, const lacis_sweep_cut *cut, int k)
{
    lacis_sweep_gpu_start slab = {}, strip;
    uint64_t bytes = 0;
    slab.start = *part;
    for (int i = 0; i < part->fields + part->coefficients; i++)
        slab.start.array[i] = nullptr;
    for (int side = 0; side < 2; side++) {
        if (!lacis_sweep_cut_inner(cut, k, 2 * (cut->dims - 1) + side)) continue;
        strip_start(&slab, cut, k, side, &strip);
        bytes += lacis_sweep_gpu_bytes(&strip.start);
    }
    return bytes;
}

bool strips_fit(const lacis_sweep_cut *cut)
{
    const int axis = cut->dims - 1;
    bool fit = cut->grid[axis] == cut->parts;
    for (int part = 0; part < cut->parts && fit; part++) {
        lacis_sweep_box box;
        lacis_sweep_cut_box(cut, part, &box);
        fit = box.end[axis] - box.begin[axis] >= 2 * cut->halo[axis];
    }
    return fit;
}

} // namespace sweep
