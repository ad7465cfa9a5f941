/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels blocked in time for double, two dimensions.
 */
#include "sweep/gpu_block_launch.cuh"

namespace sweep
{
namespace block
{

const Variant plane_f64[] = {
    plane_variant<PlaneForm<double, 10, true, 0, 8, 8>>("f64 cross 10"),
    plane_variant<PlaneForm<double, 4, true, 0, 8, 12>>("f64 cross 4"),
    plane_variant<PlaneForm<double, 2, true, 0, 8, 12>>("f64 cross 2"),
    plane_variant<PlaneForm<double, 8, true, CENTRE, 8, 8>>("f64 centre+cross 8"),
    plane_variant<PlaneForm<double, 4, true, CENTRE, 8, 12>>("f64 centre+cross 4"),
    plane_variant<PlaneForm<double, 2, true, CENTRE, 8, 12>>("f64 centre+cross 2"),
    plane_variant<PlaneForm<double, 6, PAIRS, CORNERS, 10, 8>>("f64 cross+corners 6"),
    plane_variant<PlaneForm<double, 2, true, CORNERS, 8, 8>>("f64 cross+corners 2"),
    plane_variant<PlaneForm<double, 6, PAIRS, CENTRE | CORNERS, 10, 8>>("f64 centre+cross+corners 6"),
    plane_variant<PlaneForm<double, 2, false, CENTRE | CORNERS, 9, 12>>("f64 centre+cross+corners 2"),
};
const int plane_f64_count = (int)(sizeof plane_f64 / sizeof plane_f64[0]);

} // namespace block
} // namespace sweep
