/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels blocked in time for double, two dimensions, with open ends: VALUES and narrow grids.
 */
#include "sweep/gpu_block_launch.cuh"

namespace sweep
{
namespace block
{

const Variant open_f64[] = {
    open_plane_variant<PlaneForm<double, 6, CHAIN, 0, 8, 8, 3>>("f64 open cross 6"),
    open_plane_variant<PlaneForm<double, 2, CHAIN, 0, 8, 12>>("f64 open cross 2"),
    open_plane_variant<PlaneForm<double, 6, CHAIN, CENTRE, 8, 8, 3>>("f64 open centre+cross 6"),
    open_plane_variant<PlaneForm<double, 2, CHAIN, CENTRE, 8, 12>>("f64 open centre+cross 2"),
    open_plane_variant<PlaneForm<double, 5, CHAIN, CORNERS, 8, 8>>("f64 open cross+corners 5"),
    open_plane_variant<PlaneForm<double, 2, CHAIN, CORNERS, 8, 8>>("f64 open cross+corners 2"),
    open_plane_variant<PlaneForm<double, 5, CHAIN, CENTRE | CORNERS, 8, 8>>("f64 open centre+cross+corners 5"),
    open_plane_variant<PlaneForm<double, 2, APART, CENTRE | CORNERS, 9, 12>>("f64 open centre+cross+corners 2"),
};
const int open_f64_count = (int)(sizeof open_f64 / sizeof open_f64[0]);

} // namespace block
} // namespace sweep
