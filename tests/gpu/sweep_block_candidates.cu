/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels blocked in time that are not the library's: what one run on a device is to choose from, by depth, rows a
 * level, how rows are read ahead, warps. They are compiled with -D LACIS_SWEEP_CANDIDATES alone; check and bench then
 * take them like the others.
 */
#include "sweep/gpu_block_launch.cuh"
#include "sweep_block_support.h"

namespace sweep_block
{

using namespace sweep::block;

static const Variant candidates[] = {
#ifdef LACIS_SWEEP_CANDIDATES
    plane_variant<PlaneForm<double, 9, CHAIN, 0, 12, 8, 4>>("f64 cross 9, 12 rows ahead"),
    plane_variant<PlaneForm<double, 9, CHAIN, 0, 16, 8, 4>>("f64 cross 9, 16 rows ahead"),
    plane_variant<PlaneForm<double, 6, CHAIN, CORNERS, 8, 8, 0, true>>("f64 cross+corners 6, lean"),
    plane_variant<PlaneForm<double, 6, CHAIN, CENTRE | CORNERS, 8, 8, 0, true>>("f64 centre+cross+corners 6, lean"),
    space_variant<SpaceForm<float, 3, 0, 16, 2, 1>>("f32 space cross 3, 16x2"),
    space_variant<SpaceForm<double, 2, 0, 12, 2, 1>>("f64 space cross 2, 12x2"),
#endif
    {nullptr, LACIS_SWEEP_F32, 0, 0, 0, {0, 0}, 0, false, nullptr, nullptr}};

void add_candidates(std::vector<const Variant *> *to)
{
    for (const Variant *v = candidates; v->name != nullptr; v++)
        to->push_back(v);
}

} // namespace sweep_block
