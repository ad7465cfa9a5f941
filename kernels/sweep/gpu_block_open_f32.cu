/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels blocked in time for float, two dimensions, with open ends: VALUES and narrow grids.
 */
#include "sweep/gpu_block_launch.cuh"

namespace sweep
{
namespace block
{

const Variant open_f32[] = {
    open_plane_variant<PlaneForm<float, 12, APART, 0, 9, 8>>("f32 open cross 12"),
    open_plane_variant<PlaneForm<float, 4, APART, 0, 9, 16>>("f32 open cross 4"),
    open_plane_variant<PlaneForm<float, 2, APART, 0, 9, 16>>("f32 open cross 2"),
    open_plane_variant<PlaneForm<float, 12, APART, CENTRE, 9, 8>>("f32 open centre+cross 12"),
    open_plane_variant<PlaneForm<float, 4, APART, CENTRE, 9, 16>>("f32 open centre+cross 4"),
    open_plane_variant<PlaneForm<float, 2, APART, CENTRE, 9, 16>>("f32 open centre+cross 2"),
    open_plane_variant<PlaneForm<float, 8, APART, CORNERS, 9, 8>>("f32 open cross+corners 8"),
    open_plane_variant<PlaneForm<float, 2, APART, CORNERS, 9, 12>>("f32 open cross+corners 2"),
    open_plane_variant<PlaneForm<float, 8, APART, CENTRE | CORNERS, 9, 8>>("f32 open centre+cross+corners 8"),
    open_plane_variant<PlaneForm<float, 2, APART, CENTRE | CORNERS, 9, 12>>("f32 open centre+cross+corners 2"),
};
const int open_f32_count = (int)(sizeof open_f32 / sizeof open_f32[0]);

} // namespace block
} // namespace sweep
