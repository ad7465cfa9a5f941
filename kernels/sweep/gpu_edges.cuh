/* SPDX-License-Identifier: Apache-2.0
 *
 * Ghosts: cells beyond the faces, as edges say. Each is a number that does not change, or comes of one cell of the
 * part: along z, then y, then x it is asked which cell, nearer, it is continued from, and what is to be done with
 * that cell's value is done in the other order.
 */
#ifndef LACIS_SWEEP_GPU_EDGES_CUH
#define LACIS_SWEEP_GPU_EDGES_CUH

#include "gpu_base.cuh"

enum { SWEEP_FACES = 6, SWEEP_RADIUS = 4 };
enum { SWEEP_HOLD, SWEEP_CLAMP, SWEEP_MIRROR, SWEEP_PERIODIC, SWEEP_AFFINE, SWEEP_VALUES, SWEEP_INNER };

/* On the device, once a system. */
struct sweep_edges {
    int kind[SWEEP_ARRAYS][SWEEP_FACES];
    double a[SWEEP_FIELDS][SWEEP_FACES][SWEEP_RADIUS], b[SWEEP_FIELDS][SWEEP_FACES][SWEEP_RADIUS]; /* of the type */
    const void *values[SWEEP_FIELDS][SWEEP_FACES];
    long long extent[3];
    long long inner_low[3], inner_high[3]; /* cells of neighbours, which are no ghosts */
    long long deep[SWEEP_FACES];           /* ghosts beyond a face that steps change; 0: none there */
};

/* What continuing a cell along one axis does to its value. */
template <class T> struct sweep_turn {
    T a, b;
    bool used;
};

/* Continues cell x of array `array` along one axis: x becomes the cell that it comes of. True: it comes of none, but
 * is a number: turn->a, for VALUES an element of the array. */
template <class T>
static __device__ bool sweep_nearer(const sweep_edges &e, int array, int axis, long long *x, sweep_turn<T> *turn)
{
    const long long n = e.extent[axis], at = *x;
    turn->used = false;
    if (at >= -e.inner_low[axis] && at < n + e.inner_high[axis]) return false;
    const bool high = at >= n;
    const int face = 2 * axis + high;
    const long long beyond = high ? at - n : -1 - at; /* 0 is the first */
    long long inside = 0;                             /* cells inside of the outermost one */
    switch (e.kind[array][face]) {
    case SWEEP_PERIODIC:
        *x = high ? at - n : at + n;
        return false;
    case SWEEP_MIRROR:
        inside = beyond + 1;
        break;
    case SWEEP_AFFINE:
        inside = beyond;
        turn->a = (T)e.a[array][face][beyond];
        turn->b = (T)e.b[array][face][beyond];
        turn->used = true;
        if (turn->b == T(0)) return true;
        break;
    case SWEEP_VALUES:
        return true;
    default:
        break;
    }
    *x = high ? n - 1 - inside : inside;
    return false;
}

/* What the turns of axes first .. 2 make of a value. */
template <class T> static __device__ T sweep_turned(const sweep_turn<T> *turn, int first, T value)
{
    for (int axis = first; axis < 3; axis++)
        if (turn[axis].used) value = sweep_fma(turn[axis].b, value, turn[axis].a);
    return value;
}

#endif
