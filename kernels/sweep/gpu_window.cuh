/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rule reads, known at compile time. A rule is a struct S:
 *
 *   typedef ... T;                            DIMS, FIELDS, TAPS (of all fields), GROUPS
 *   sweep_at tap(int i)                       field f has taps first_tap(f) .. first_tap(f + 1) - 1
 *   bool written(int f)                       T rule<F>(const T *taps, T x, T y, T z, T t, int *bad) of those
 *   int first_group(int f)                    of linear fields, to FIELDS
 *   int group_tap(int g), group_end(int g)    a group's taps
 *
 * A warp marches along the last axis, so that taps that differ in their place along it alone, or along x, come out of
 * one stream of rows, which is read once: a stream is an array and a place along the axis between.
 */
#ifndef LACIS_SWEEP_GPU_WINDOW_CUH
#define LACIS_SWEEP_GPU_WINDOW_CUH

#include "gpu_base.cuh"

struct sweep_at {
    int array, x, y, z;
};

/* Streams of a rule. OLD: the fields' own cells are read besides, at tap TAPS + f. */
template <class S, bool OLD> struct sweep_streams {
    enum {
        CELLS = sweep_vector<typename S::T>::CELLS,
        TAPS = S::TAPS + (OLD ? S::FIELDS : 0),
        ROOM = TAPS > 0 ? TAPS : 1,
        LAST = S::DIMS == 3 ? 2 : 1, /* axes; those that there are not have one cell */
        MIDDLE = S::DIMS == 3 ? 1 : 2
    };
    struct table {
        int streams;
        int array[ROOM], middle[ROOM], low[ROOM], high[ROOM], x[ROOM]; /* of a stream; x: its reach */
        int beside[ROOM]; /* the one row of which cells beside are read; MANY where there are others, x 0 where none
                           */
        int stream[ROOM]; /* of a tap */
    };
    enum { MANY = 99 };
    static constexpr sweep_at tap(int i)
    {
        return i < S::TAPS ? S::tap(i) : sweep_at{i - S::TAPS, 0, 0, 0};
    }
    static constexpr int middle(sweep_at at)
    {
        return S::DIMS == 3 ? at.y : 0;
    }
    static constexpr int last(sweep_at at)
    {
        return S::DIMS == 3 ? at.z : at.y;
    }
    static constexpr table make()
    {
        table t = {};
        for (int i = 0; i < TAPS; i++) {
            const sweep_at at = tap(i);
            const int x = at.x < 0 ? -at.x : at.x;
            int k = 0;
            while (k < t.streams && (t.array[k] != at.array || t.middle[k] != middle(at)))
                k++;
            const bool first = k == t.streams;
            if (first) t.streams++;
            t.stream[i] = k;
            t.array[k] = at.array;
            t.middle[k] = middle(at);
            t.low[k] = first || last(at) < t.low[k] ? last(at) : t.low[k];
            t.high[k] = first || last(at) > t.high[k] ? last(at) : t.high[k];
            if (x > 0) t.beside[k] = t.x[k] == 0 || t.beside[k] == last(at) ? last(at) : MANY;
            t.x[k] = x > t.x[k] ? x : t.x[k];
        }
        return t;
    }
};

/* Answers about them, to be asked in constant expressions alone. */
template <class S, bool OLD> struct sweep_window : sweep_streams<S, OLD> {
    typedef sweep_streams<S, OLD> base;
    static constexpr typename base::table TABLE = base::make();
    static constexpr int streams()
    {
        return TABLE.streams;
    }
    static constexpr int array(int k)
    {
        return TABLE.array[k];
    }
    static constexpr int between(int k) /* place along the axis between */
    {
        return TABLE.middle[k];
    }
    static constexpr int low(int k)
    {
        return TABLE.low[k];
    }
    static constexpr int high(int k)
    {
        return TABLE.high[k];
    }
    static constexpr int x(int k)
    {
        return TABLE.x[k];
    }
    static constexpr int stream(int tap)
    {
        return TABLE.stream[tap];
    }
    static constexpr bool one_beside(int k) /* cells beside are read of one of its rows alone */
    {
        return TABLE.x[k] > 0 && TABLE.beside[k] != base::MANY;
    }
    static constexpr int beside(int k) /* which */
    {
        return TABLE.beside[k];
    }
    static constexpr bool reads_beside(int f, int k) /* field f of stream k */
    {
        for (int i = S::first_tap(f); i < S::first_tap(f + 1); i++)
            if (TABLE.stream[i] == k && base::tap(i).x != 0) return true;
        return false;
    }
    static constexpr int reach() /* along x */
    {
        int x = 0;
        for (int k = 0; k < TABLE.streams; k++)
            x = TABLE.x[k] > x ? TABLE.x[k] : x;
        return x;
    }
    static constexpr int rows(int unroll) /* of the longest stream */
    {
        int most = 1;
        for (int k = 0; k < TABLE.streams; k++)
            most = TABLE.high[k] - TABLE.low[k] + unroll > most ? TABLE.high[k] - TABLE.low[k] + unroll : most;
        return most;
    }
    static constexpr int registers(int unroll)
    {
        int cells = 0;
        for (int k = 0; k < TABLE.streams; k++)
            cells += (TABLE.high[k] - TABLE.low[k] + unroll) * (base::CELLS + (one_beside(k) ? 1 : 2) * TABLE.x[k]);
        return cells * (int)sizeof(typename S::T) / 4;
    }
    /* Rows that are asked for at a time. */
    static constexpr int unroll()
    {
        return S::DIMS == 1                 ? 1
               : !OLD && registers(8) <= 56 ? 8
               : !OLD && registers(4) <= 48 ? 4
               : registers(2) <= 96         ? 2
                                            : 1;
    }
};

#endif
