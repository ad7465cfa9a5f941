/* SPDX-License-Identifier: Apache-2.0
 *
 * The box about bodies and their keys along Hilbert's curve: Hamilton's algorithm (Compact Hilbert indices, 2006),
 * whose turns are a table made when this is compiled.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_KEYS_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_KEYS_CUH

#include "gpu_build.cuh"
#include "gpu_number.cuh"

namespace nbody
{

/* step[orientation << 3 | octant] = next orientation << 3 | digit. */
struct Curve {
    uint8_t step[192];
};

/* Two levels at once: steps[orientation << 6 | octant of the upper << 3 | octant of the lower] = next orientation <<
 * 6 | digits. */
constexpr int STEPS = 24 << 6;
struct alignas(4) Turns {
    uint16_t steps[STEPS];
};
constexpr uint32_t KEYS_EACH = 4; /* bodies of a thread */

constexpr int turned(int bits, int by) /* to the left, of three bits */
{
    return by % 3 == 0 ? bits : ((bits << (by % 3)) | (bits >> (3 - by % 3))) & 7;
}

constexpr int ones(int i)
{
    return (i & 1) == 0 ? 0 : 1 + ones(i >> 1);
}

/* One level: next orientation << 3 | digit. */
constexpr int turn(int state, int octant)
{
    const int entry = state & 7, axis = state >> 3;
    const int gray = turned(octant ^ entry, 3 - (axis + 1) % 3);
    const int digit = gray ^ (gray >> 1) ^ (gray >> 2);
    const int before = digit == 0 ? 0 : (digit - 1) / 2 * 2;
    const int enters = digit == 0 ? 0 : before ^ (before >> 1);
    const int along = digit == 0 ? 0 : digit % 2 == 0 ? ones(digit - 1) % 3 : ones(digit) % 3;
    return ((entry ^ turned(enters, axis + 1)) | ((axis + along + 1) % 3) << 3) << 3 | digit;
}

constexpr Curve make_curve()
{
    Curve curve = {};
    for (int t = 0; t < 192; t++)
        curve.step[t] = (uint8_t)turn(t >> 3, t & 7);
    return curve;
}

constexpr Turns make_turns()
{
    Turns turns = {};
    for (int t = 0; t < STEPS; t++) {
        const int upper = turn(t >> 6, t >> 3 & 7), lower = turn(upper >> 3, t & 7);
        turns.steps[t] = (uint16_t)((lower >> 3) << 6 | (upper & 7) << 3 | (lower & 7));
    }
    return turns;
}

static __device__ const Turns all_turns = make_turns();

__device__ static inline Key key_of(const uint8_t *step, uint32_t x, uint32_t y, uint32_t z, int levels)
{
    Key key = 0;
    uint32_t state = 0;
    for (int b = GRID - 1; b >= GRID - levels; b--) {
        const uint32_t octant = (x >> b & 1) | (y >> b & 1) << 1 | (z >> b & 1) << 2;
        state = step[(state & ~7u) | octant];
        key = key << 3 | (state & 7);
    }
    return key;
}

/* Bits three places apart. */
__device__ static inline Key spread(uint32_t x)
{
    Key v = x;
    v = (v | v << 32) & 0x1f00000000ffffull;
    v = (v | v << 16) & 0x1f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
}

/* The uppermost levels of a place on the grid, two by two. */
__device__ static inline Key key_of(const uint16_t *steps, uint32_t x, uint32_t y, uint32_t z, int levels)
{
    Key octants = (spread(x) | spread(y) << 1 | spread(z) << 2) << 1;
    Key key = 0;
    uint32_t state = 0;
    for (int k = 0; k < levels / 2; k++) {
        const uint32_t next = steps[state | (uint32_t)(octants >> 58)];
        octants <<= 6;
        key = key << 6 | (next & 63);
        state = next & ~63u;
    }
    return levels & 1 ? key << 3 | (steps[state | (uint32_t)(octants >> 58)] >> 3 & 7) : key;
}

/* Doubles as integers of the same order, above 0. */
__device__ static inline Key ordered(double x)
{
    const Key bits = (Key)__double_as_longlong(x);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

__device__ static inline double unordered(Key bits)
{
    return __longlong_as_double((long long)(bits >> 63 ? bits & ~(1ull << 63) : ~bits));
}

/* bounds: greatest x, y, z, greatest -x, -y, -z. */
__device__ static inline Box box_of(const Key *bounds)
{
    Box box;
    double hi[3], most = 0;
    for (int k = 0; k < 3; k++) {
        hi[k] = unordered(bounds[k]);
        box.lo[k] = -unordered(bounds[3 + k]);
        most = fmax(most, fmax(fabs(hi[k]), fabs(box.lo[k])));
    }
    box.scale = most > 0x1p1021 ? 0.25 : 1;
    box.side = 0;
    for (int k = 0; k < 3; k++) {
        box.lo[k] *= box.scale;
        box.side = fmax(box.side, hi[k] * box.scale - box.lo[k]);
    }
    box.factor = box.rest = 0;
    if (box.side == 0) return box;
    const int e = ilogb(box.side);
    box.factor = scalbn(1.0, e < -1000 ? 1000 : -e);
    box.rest = (double)(1u << GRID) / (box.side * box.factor);
    return box;
}

__device__ static inline void raise(Key *to, Key value)
{
    if (*(volatile Key *)to < value) atomicMax(to, value);
}

/* A warp whose bodies are all of one segment raises its bounds once. */
__device__ static inline void raise_bounds(Key *bounds, uint32_t seg, bool mine, double x, double y, double z)
{
    Key value[6] = {mine ? ordered(x) : 0,  mine ? ordered(y) : 0,  mine ? ordered(z) : 0,
                    mine ? ordered(-x) : 0, mine ? ordered(-y) : 0, mine ? ordered(-z) : 0};
    const uint32_t first = __shfl_sync(~0u, seg, 0);
    if (__all_sync(~0u, !mine || seg == first)) {
        for (int k = 0; k < 6; k++) {
            for (int step = 16; step > 0; step /= 2) {
                const Key other = __shfl_xor_sync(~0u, value[k], step);
                value[k] = other > value[k] ? other : value[k];
            }
            if ((threadIdx.x & 31) == 0 && value[k] != 0) raise(bounds + 6 * (size_t)first + k, value[k]);
        }
    } else if (mine) {
        for (int k = 0; k < 6; k++)
            raise(bounds + 6 * (size_t)seg + k, value[k]);
    }
}

/* Of all bodies: each thread looks at several. */
template <class P> __global__ void __launch_bounds__(256) bounds_kernel(uint32_t n, const Four<P> *body, Key *bounds)
{
    __shared__ Key part[8][6];
    const uint32_t stride = gridDim.x * 256, lane = threadIdx.x & 31;
    uint32_t i = blockIdx.x * 256 + threadIdx.x;
    const Four<P> b = body[i < n ? i : 0];
    P value[6] = {b.x, b.y, b.z, -b.x, -b.y, -b.z};
    for (i += stride; i < n; i += stride) {
        const Four<P> c = body[i];
        const P more[6] = {c.x, c.y, c.z, -c.x, -c.y, -c.z};
        for (int k = 0; k < 6; k++)
            value[k] = more[k] > value[k] ? more[k] : value[k];
    }
    for (int k = 0; k < 6; k++) {
        for (int step = 16; step > 0; step /= 2) {
            const P other = __shfl_xor_sync(~0u, value[k], step);
            value[k] = other > value[k] ? other : value[k];
        }
        if (lane == 0) part[threadIdx.x / 32][k] = ordered((double)value[k]);
    }
    __syncthreads();
    if (threadIdx.x >= 6) return;
    Key most = 0;
    for (int w = 0; w < 8; w++)
        most = part[w][threadIdx.x] > most ? part[w][threadIdx.x] : most;
    raise(bounds + threadIdx.x, most);
}

static __global__ void boxes_kernel(uint32_t count, const Key *bounds, Box *box)
{
    const uint32_t s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < count) box[s] = box_of(bounds + 6 * (size_t)s);
}

/* Bodies of segments, whose bounds are 0 at first. */
template <class P>
__global__ void __launch_bounds__(256)
    segment_bounds_kernel(uint32_t n, const Four<P> *body, const uint32_t *at, const uint32_t *seg, Key *bounds)
{
    const uint32_t i = blockIdx.x * 256 + threadIdx.x, k = i < n ? i : 0;
    const Four<P> b = body[at[k]];
    raise_bounds(bounds, seg[k], i < n, (double)b.x, (double)b.y, (double)b.z);
}

/* Keys of bodies: all of them, or those of segments, in the order `by` where that is not NULL. shift: so many bits
 * below a key are the body's number; else order, where it is not NULL, becomes 0, 1, 2 ... */
template <class P>
__global__ void __launch_bounds__(256)
    keys_kernel(uint32_t n, const Four<P> *body, const uint32_t *at, const uint32_t *seg, const uint32_t *by,
                const Box *boxes, int levels, int shift, Key *key, uint32_t *order)
{
    __shared__ uint32_t words[STEPS / 2];
    for (uint32_t t = threadIdx.x; t < STEPS / 2; t += 256)
        words[t] = reinterpret_cast<const uint32_t *>(all_turns.steps)[t];
    __syncthreads();
    const uint16_t *steps = reinterpret_cast<const uint16_t *>(words);
#pragma unroll
    for (uint32_t turn = 0; turn < KEYS_EACH; turn++) {
        const uint32_t i = (blockIdx.x * KEYS_EACH + turn) * 256 + threadIdx.x;
        if (i >= n) return;
        const uint32_t k = by != nullptr ? by[i] : i;
        const Box box = boxes[seg != nullptr ? seg[k] : 0];
        const Four<P> b = load(body + (at != nullptr ? at[k] : k));
        const Key found = key_of(steps, grid_of((double)b.x, box.lo[0], box), grid_of((double)b.y, box.lo[1], box),
                                 grid_of((double)b.z, box.lo[2], box), levels);
        key[i] = shift > 0 ? found << shift | i : found;
        if (order != nullptr) order[i] = i;
    }
}

} // namespace nbody

#endif
