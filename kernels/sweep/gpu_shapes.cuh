/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules that kernels are built for: one field, taps and groups in the order that operators/sweep/linear.h gives them.
 * CENTRE: a first group of the cell itself. Further groups follow by distance.
 */
#ifndef LACIS_SWEEP_GPU_SHAPES_CUH
#define LACIS_SWEEP_GPU_SHAPES_CUH

#include "gpu_window.cuh"

/* Of COUNT groups behind the centre, whose first taps (without the centre) L::group gives. */
template <class T_, class L, bool CENTRE, int COUNT> struct sweep_shape {
    typedef T_ T;
    enum { DIMS = L::DIMS, FIELDS = 1, GROUPS = CENTRE + COUNT, TAPS = CENTRE + L::group(COUNT) };
    static constexpr sweep_at tap(int i)
    {
        return CENTRE && i == 0 ? sweep_at{0, 0, 0, 0} : L::tap(i - CENTRE);
    }
    static constexpr bool written(int)
    {
        return false;
    }
    static constexpr int first_tap(int f)
    {
        return f == 0 ? 0 : TAPS;
    }
    static constexpr int first_group(int f)
    {
        return f == 0 ? 0 : GROUPS;
    }
    static constexpr int group_tap(int g)
    {
        return CENTRE && g == 0 ? 0 : CENTRE + L::group(g - CENTRE);
    }
    static constexpr int group_end(int g)
    {
        return CENTRE + L::group(g + 1 - CENTRE);
    }
};

struct sweep_line {
    enum { DIMS = 1 };
    static constexpr sweep_at tap(int i)
    {
        return {0, i == 0 ? -1 : 1, 0, 0};
    }
    static constexpr int group(int g)
    {
        return 2 * g;
    }
};
/* The cross, then the corners. */
struct sweep_square {
    enum { DIMS = 2 };
    static constexpr sweep_at tap(int i)
    {
        constexpr sweep_at at[] = {{0, -1, 0, 0},  {0, 1, 0, 0},  {0, 0, -1, 0}, {0, 0, 1, 0},
                                   {0, -1, -1, 0}, {0, 1, -1, 0}, {0, -1, 1, 0}, {0, 1, 1, 0}};
        return at[i];
    }
    static constexpr int group(int g)
    {
        return 4 * g;
    }
};
/* Crosses of distance 1, 2 ... */
struct sweep_star {
    enum { DIMS = 2 };
    static constexpr sweep_at tap(int i)
    {
        return {0,
                i % 4 == 0   ? -1 - i / 4
                : i % 4 == 1 ? 1 + i / 4
                             : 0,
                i % 4 == 2   ? -1 - i / 4
                : i % 4 == 3 ? 1 + i / 4
                             : 0,
                0};
    }
    static constexpr int group(int g)
    {
        return 4 * g;
    }
};
/* Faces, edges, corners. */
struct sweep_cube {
    enum { DIMS = 3 };
    static constexpr sweep_at tap(int i)
    {
        constexpr sweep_at at[] = {{0, -1, 0, 0},  {0, 1, 0, 0},   {0, 0, -1, 0},  {0, 0, 1, 0},    {0, 0, 0, -1},
                                   {0, 0, 0, 1},   {0, -1, -1, 0}, {0, 1, -1, 0},  {0, -1, 1, 0},   {0, 1, 1, 0},
                                   {0, -1, 0, -1}, {0, 1, 0, -1},  {0, -1, 0, 1},  {0, 1, 0, 1},    {0, 0, -1, -1},
                                   {0, 0, 1, -1},  {0, 0, -1, 1},  {0, 0, 1, 1},   {0, -1, -1, -1}, {0, 1, -1, -1},
                                   {0, -1, 1, -1}, {0, 1, 1, -1},  {0, -1, -1, 1}, {0, 1, -1, 1},   {0, -1, 1, 1},
                                   {0, 1, 1, 1}};
        return at[i];
    }
    static constexpr int group(int g)
    {
        return g == 0 ? 0 : g == 1 ? 6 : g == 2 ? 18 : 26;
    }
};

#endif
