/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps that are measured one by one: each is followed by another as a rule, so that the next one is begun before the
 * host waits for what this one has changed. Its values are in the level that comes next; nobody sees them before the
 * step is asked for, and if something else is asked for it is done again.
 */
#include "sweep/gpu_inside.h"

namespace sweep
{

/* Rules that are written may fail in a step that nobody asked for; what lies in halos is known to the caller alone.
 */
static bool may(const lacis_sweep_gpu *s)
{
    for (int face = 0; face < 2 * s->start.dims; face++)
        if (s->start.edge[0][face].kind == LACIS_SWEEP_INNER) return false;
    return sums_fused(s) && !any_written(&s->start);
}

bool take_ahead(lacis_sweep_gpu *s, bool alone)
{
    const bool there = s->ahead && alone;
    s->alone = alone ? s->alone + 1 : 0;
    s->ahead = false;
    if (!there) return false;
    s->done.updates += s->ahead_updates;
    turn(s, 1);
    return true;
}

lacis_sweep_status begin_ahead(lacis_sweep_gpu *s)
{
    const double before = s->done.updates;
    if (s->alone < 2 || !may(s)) return LACIS_SWEEP_OK;
    SWEEP_TRY(pass(s, whole_part(s), true, s->stream));
    s->ahead_updates = s->done.updates - before;
    s->done.updates = before;
    s->ahead = true;
    s->sums_clear = false;
    return LACIS_SWEEP_OK;
}

} // namespace sweep
