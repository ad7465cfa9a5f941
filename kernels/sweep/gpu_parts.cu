/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a grid on devices: a step in boxes on streams of the caller's, and what lies in halos.
 */
#include "sweep/gpu_inside.h"

using namespace sweep;

static Box box_of(const lacis_sweep_gpu *s, const lacis_sweep_box *box)
{
    Box out = {};
    for (int k = 0; k < 3; k++) {
        const bool used = k < s->start.dims;
        out.begin[k] = used ? box->begin[k] - s->start.origin[k] : 0;
        out.end[k] = used ? box->end[k] - s->start.origin[k] : 1;
    }
    return out;
}

static cudaStream_t stream_of(const lacis_sweep_gpu *s, void *stream)
{
    return stream != nullptr ? static_cast<cudaStream_t>(stream) : s->stream;
}

lacis_sweep_status lacis_sweep_gpu_update(lacis_sweep_gpu *system, const lacis_sweep_box *box, void *stream)
{
    return pass(system, box_of(system, box), false, stream_of(system, stream));
}

void lacis_sweep_gpu_turn(lacis_sweep_gpu *system)
{
    turn(system, 1);
}

/* do_one(cells, dense) for the arrays that `array` stands for. */
template <class F>
static lacis_sweep_status each_array(lacis_sweep_gpu *s, int array, const Box &box, void *dense, F do_one)
{
    const size_t bytes = (size_t)(box.end[0] - box.begin[0]) * (size_t)(box.end[1] - box.begin[1]) *
                         (size_t)(box.end[2] - box.begin[2]) * lacis_sweep_size(s->start.type);
    if (empty(box)) return LACIS_SWEEP_OK;
    if (array >= s->start.fields) return do_one(s->fixed[array - s->start.fields], dense);
    for (int f = 0; f < s->start.fields; f++)
        SWEEP_TRY(do_one(s->level[s->now][f], static_cast<char *>(dense) + (size_t)f * bytes));
    return LACIS_SWEEP_OK;
}

lacis_sweep_status lacis_sweep_gpu_pack(lacis_sweep_gpu *system, int array, const lacis_sweep_box *box, void *to,
                                        bool copy, void *stream)
{
    const Box cells = box_of(system, box);
    const cudaStream_t on = stream_of(system, stream);
    return each_array(system, array, cells, to, [&](void *field, void *dense) {
        return copy ? move(system, field, cells, dense, false, on) : get(system, field, cells, dense, on);
    });
}

lacis_sweep_status lacis_sweep_gpu_unpack(lacis_sweep_gpu *system, int array, const lacis_sweep_box *box,
                                          const void *from, bool copy, void *stream)
{
    const Box cells = box_of(system, box);
    const cudaStream_t on = stream_of(system, stream);
    if (array >= system->start.fields) system->coefficients_new = true;
    system->ahead = false;
    return each_array(system, array, cells, const_cast<void *>(from), [&](void *field, void *dense) {
        return copy ? move(system, field, cells, dense, true, on) : put(system, field, cells, dense, on);
    });
}

lacis_sweep_status lacis_sweep_gpu_refresh(lacis_sweep_gpu *system, void *stream)
{
    const cudaStream_t on = stream_of(system, stream);
    const Box box = part_with_halos(system);
    if (system->coefficients_new) SWEEP_TRY(ghosts(system, -1, box, false, on));
    system->coefficients_new = false;
    if (system->ghosts_change) SWEEP_TRY(ghosts(system, system->now, box, false, on));
    return keep(system, on);
}
