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
    plane_variant<PlaneForm<double, 9, CHAIN, 0, 8, 8, 4>>("f64 cross 9"),
    plane_variant<PlaneForm<double, 4, CHAIN, 0, 8, 12>>("f64 cross 4"),
    plane_variant<PlaneForm<double, 2, CHAIN, 0, 8, 12>>("f64 cross 2"),
    plane_variant<PlaneForm<double, 8, CHAIN, CENTRE, 8, 8, 4>>("f64 centre+cross 8"),
    plane_variant<PlaneForm<double, 4, CHAIN, CENTRE, 8, 12>>("f64 centre+cross 4"),
    plane_variant<PlaneForm<double, 2, CHAIN, CENTRE, 8, 12>>("f64 centre+cross 2"),
    plane_variant<PlaneForm<double, 5, CHAIN, CORNERS, 8, 8>>("f64 cross+corners 5"),
    plane_variant<PlaneForm<double, 2, CHAIN, CORNERS, 8, 8>>("f64 cross+corners 2"),
    plane_variant<PlaneForm<double, 5, CHAIN, CENTRE | CORNERS, 8, 8>>("f64 centre+cross+corners 5"),
    plane_variant<PlaneForm<double, 2, APART, CENTRE | CORNERS, 9, 12>>("f64 centre+cross+corners 2"),
};
const int plane_f64_count = (int)(sizeof plane_f64 / sizeof plane_f64[0]);

} // namespace block
} // namespace sweep
