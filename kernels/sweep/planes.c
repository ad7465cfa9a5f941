/* SPDX-License-Identifier: Apache-2.0
 *
 * Where planes are: of arrays, of the rings of a task, and beyond the ends of the grid along z.
 */
#include "sweep/inside.h"

sweep_plane lacis_sweep_array_plane(const lacis_sweep *system, int copy, int array, int64_t z)
{
    return (sweep_plane){system->array[copy][array] + z * system->plan.array.plane, system->plan.array.pitch};
}

/* A plane of the worker's rings for a task, numbered through. */
static sweep_plane room_plane(const sweep_task *task, uint64_t offset, int64_t number)
{
    const lacis_sweep *system = task->pass->system;
    const sweep_shape *ring = &system->plan.ring;
    char *at = task->worker->room + offset + ring->first + number * ring->plane;
    return (sweep_plane){at - task->begin[1] * ring->pitch - task->begin[0] * system->loops->size, ring->pitch};
}

sweep_plane lacis_sweep_ring_plane(const sweep_task *task, int level, int field, int64_t z)
{
    const lacis_sweep *system = task->pass->system;
    const int64_t planes = system->plan.ring_planes, slot = (int64_t)(level - 1) * system->start.fields + field;
    return room_plane(task, 0, slot * planes + sweep_slot(&system->plan, z));
}

sweep_plane lacis_sweep_ghost_plane(const sweep_task *task, int level, int field, int side, int k)
{
    const lacis_sweep *system = task->pass->system;
    const int64_t slot = (int64_t)(level - 1) * system->start.fields + field;
    return room_plane(task, system->plan.ring_bytes, (2 * slot + side) * system->plan.reach[2] + k - 1);
}

/* The plane of level 0 (coefficients have no other), z beyond its ends too. */
static sweep_plane level_0(const lacis_sweep *system, int array, int64_t z)
{
    const int copy = array < system->start.fields ? system->now : 0;
    return lacis_sweep_array_plane(system, copy, array, z);
}

sweep_plane lacis_sweep_plane(const sweep_task *task, int level, int array, int64_t z)
{
    const lacis_sweep *system = task->pass->system;
    const int64_t n = system->plan.n[2];
    const bool in_memory = level == 0 || array >= system->start.fields;
    if (z < 0 || z >= n) {
        const int side = z < 0 ? 0 : 1, k = (int)(side == 0 ? -z : z - n + 1);
        switch (system->face[array][2 * SWEEP_Z + side].kind) {
        case LACIS_SWEEP_HOLD:
        case LACIS_SWEEP_CLAMP:
            z = side == 0 ? 0 : n - 1;
            break;
        case LACIS_SWEEP_MIRROR:
            z = side == 0 ? k : n - 1 - k;
            break;
        case LACIS_SWEEP_PERIODIC: /* rings reach over the end */
            if (in_memory) z = sweep_wrap(z, n);
            break;
        case LACIS_SWEEP_AFFINE:
            if (!in_memory) return lacis_sweep_ghost_plane(task, level, array, side, k);
            break;
        case LACIS_SWEEP_VALUES:
            return level_0(system, array, z);
        case LACIS_SWEEP_INNER:
            break;
        }
    }
    return in_memory ? level_0(system, array, z) : lacis_sweep_ring_plane(task, level, array, z);
}
