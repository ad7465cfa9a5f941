/* SPDX-License-Identifier: Apache-2.0
 *
 * The field at free points, which are put into the order of the curve first, so that neighbours share a walk.
 */
#include "nbody/inside.h"

lacis_nbody_status lacis_nbody_points(lacis_nbody *system, int64_t points, const void *x, const void *y,
                                      const void *z, void *ax, void *ay, void *az, void *phi)
{
    lacis_nbody_status status = lacis_nbody_prepare(system);
    if (status != LACIS_NBODY_OK || points == 0) return status;
    const void *const place[3] = {x, y, z};
    const uint64_t bytes = sizeof(nbody_pair) * (uint64_t)points;
    nbody_pair *pair = nbody_take(&system->host, bytes), *spare = nbody_take(&system->host, bytes);
    nbody_box box;
    if (pair == NULL || spare == NULL) {
        status = LACIS_NBODY_NO_MEMORY;
        goto done;
    }
    status = lacis_nbody_box_of(system, place, points, &box);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_keys(system, place, &box, points, pair);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_sort(system, pair, spare, points);
    if (status != LACIS_NBODY_OK) goto done;
    const nbody_targets targets = {points, x, y, z, pair, ax, ay, az, phi, false};
    status = lacis_nbody_forces(system, &targets);
done:
    nbody_give(&system->host, pair);
    nbody_give(&system->host, spare);
    return status;
}
