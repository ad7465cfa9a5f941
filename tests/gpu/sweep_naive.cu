/* SPDX-License-Identifier: Apache-2.0
 *
 * The naive sweep on the host: every cell by sweep.h's words, without any ghosts: what lies beyond a face is asked
 * for one cell at a time.
 */
#include "sweep_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>

template <class T> struct naive {
    const sweep_case &c;
    const lacis_sweep_start &s;
    int64_t n[3];
    int64_t reach[3] = {};
    std::vector<T> array[LACIS_SWEEP_ARRAYS], v; /* v: taps' values */

    explicit naive(const sweep_case &of) : c(of), s(of.start)
    {
        for (int k = 0; k < 3; k++)
            n[k] = s.extent[k];
        for (int f = 0; f < s.fields; f++)
            for (const lacis_sweep_tap &tap : c.tap[f])
                for (int k = 0; k < 3; k++)
                    reach[k] = std::max<int64_t>(reach[k], std::abs(tap.at[k]));
        for (int i = 0; i < s.fields + s.coefficients; i++) {
            array[i].resize(c.cells());
            memcpy(array[i].data(), c.array[i].data(), c.array[i].size());
        }
    }

    lacis_sweep_edge_kind kind(int a, int face) const
    {
        if (a < s.fields) return s.edge[a][face].kind;
        return s.edge[0][face].kind == LACIS_SWEEP_PERIODIC ? LACIS_SWEEP_PERIODIC : LACIS_SWEEP_CLAMP;
    }

    /* An element of VALUES, continued along the other axes. */
    T element(int a, int face, const int64_t *at) const
    {
        int64_t where = 0, step = 1;
        for (int k = 0; k < 3; k++) {
            if (k == face / 2) continue;
            int64_t x = at[k];
            if (k < s.dims && kind(a, 2 * k) == LACIS_SWEEP_PERIODIC) x = (x + n[k]) % n[k];
            x = std::min(std::max<int64_t>(x, 0), n[k] - 1);
            where += x * step;
            step *= n[k];
        }
        return static_cast<const T *>(s.edge[a][face].values)[where];
    }

    /* The cell as it is continued: along `axis` last. */
    T value(int a, int64_t x, int64_t y, int64_t z, int axis = 2) const
    {
        const bool all_inside = x >= 0 && x < n[0] && y >= 0 && y < n[1] && z >= 0 && z < n[2];
        if (axis < 0 || all_inside) return array[a][(uint64_t)((z * n[1] + y) * n[0] + x)];
        int64_t at[3] = {x, y, z};
        if (at[axis] >= 0 && at[axis] < n[axis]) return value(a, x, y, z, axis - 1);
        const bool high = at[axis] >= n[axis];
        const int face = 2 * axis + high;
        const int64_t k = high ? at[axis] - n[axis] + 1 : -at[axis];
        auto inside = [&](int64_t deep) {
            at[axis] = high ? n[axis] - 1 - deep : deep;
            return value(a, at[0], at[1], at[2], axis - 1);
        };
        switch (kind(a, face)) {
        case LACIS_SWEEP_MIRROR:
            return inside(k);
        case LACIS_SWEEP_PERIODIC:
            at[axis] = high ? k - 1 : n[axis] - k;
            return value(a, at[0], at[1], at[2], axis - 1);
        case LACIS_SWEEP_AFFINE: {
            const T add = (T)s.edge[a][face].a[k - 1], times = (T)s.edge[a][face].b[k - 1];
            return times == 0 ? add : std::fma(times, inside(k - 1), add);
        }
        case LACIS_SWEEP_VALUES:
            return element(a, face, at);
        default:
            return inside(0);
        }
    }

    T tap(const lacis_sweep_tap &t, const int64_t *at) const
    {
        return value(t.array, at[0] + t.at[0], at[1] + t.at[1], at[2] + t.at[2]);
    }

    T group(int f, int from, int to, const int64_t *at)
    {
        v.clear();
        for (int i = from; i < to; i++)
            v.push_back(tap(c.tap[f][(size_t)i], at));
        for (size_t left = v.size(); left > 1; left = (left + 1) / 2) {
            for (size_t i = 0; i + 1 < left; i += 2)
                v[i / 2] = v[i] + v[i + 1];
            if (left % 2) v[left / 2] = v[left - 1];
        }
        return v[0];
    }

    T linear(int f, const int64_t *at)
    {
        const lacis_sweep_linear &rule = s.rule[f].linear;
        T r = (T)rule.constant;
        for (int g = 0; g < rule.groups; g++) {
            const T sum = group(f, rule.first[g], rule.first[g + 1], at), weight = (T)rule.weight[g];
            r = g == 0 && (T)rule.constant == 0 ? weight * sum : std::fma(weight, sum, r);
        }
        return r;
    }

    T written(int f, const int64_t *at, int64_t t)
    {
        v.clear();
        for (const lacis_sweep_tap &one : c.tap[f])
            v.push_back(tap(one, at));
        if constexpr (sizeof(T) == 4)
            return c.f32[f](v.data(), (T)at[0], (T)at[1], (T)at[2], (T)t);
        else
            return c.f64[f](v.data(), (T)at[0], (T)at[1], (T)at[2], (T)t);
    }

    bool held(int f, const int64_t *at) const
    {
        for (int k = 0; k < s.dims; k++) {
            if (kind(f, 2 * k) == LACIS_SWEEP_HOLD && at[k] < reach[k]) return true;
            if (kind(f, 2 * k + 1) == LACIS_SWEEP_HOLD && at[k] >= n[k] - reach[k]) return true;
        }
        return false;
    }

    void tile(int f, const std::vector<T> &next, int64_t x, int64_t y, int64_t z, lacis_sweep_change *change) const
    {
        double column[32] = {};
        for (int64_t i = 0; i < 32; i++)
            for (int64_t j = 0; j < 8; j++) {
                const int64_t at[3] = {x + i, y + j, z};
                if (at[0] >= n[0] || at[1] >= n[1] || held(f, at)) continue;
                const uint64_t cell = (uint64_t)((z * n[1] + at[1]) * n[0] + at[0]);
                const T d = next[cell] - array[f][cell];
                column[i] = std::fma((double)d, (double)d, column[i]);
                if (d != d || std::fabs(d) > change->max) change->max = std::fabs(d);
                if (change->max != change->max) change->max = NAN;
            }
        for (int left = 16; left > 0; left /= 2)
            for (int i = 0; i < left; i++)
                column[i] = column[2 * i] + column[2 * i + 1];
        lacis_sweep_exact_add(&change->squares, column[0]);
    }

    void step(int64_t t, lacis_sweep_change *change)
    {
        std::vector<T> next[LACIS_SWEEP_FIELDS];
        *change = {};
        for (int f = 0; f < s.fields; f++) {
            next[f] = array[f];
            uint64_t cell = 0;
            for (int64_t z = 0; z < n[2]; z++)
                for (int64_t y = 0; y < n[1]; y++)
                    for (int64_t x = 0; x < n[0]; x++, cell++) {
                        const int64_t at[3] = {x, y, z};
                        if (!held(f, at)) next[f][cell] = s.rule[f].written ? written(f, at, t) : linear(f, at);
                    }
            for (int64_t z = 0; z < n[2]; z++)
                for (int64_t y = 0; y < n[1]; y += 8)
                    for (int64_t x = 0; x < n[0]; x += 32)
                        tile(f, next[f], x, y, z, change);
        }
        for (int f = 0; f < s.fields; f++)
            array[f] = next[f];
    }
};

template <class T> static void run(const sweep_case &c, int64_t steps, sweep_state *out)
{
    naive<T> grid(c);
    for (int64_t i = 0; i < steps; i++)
        grid.step(c.start.t + i, &out->change);
    for (int f = 0; f < c.start.fields; f++) {
        out->field[f].resize(grid.array[f].size() * sizeof(T));
        memcpy(out->field[f].data(), grid.array[f].data(), out->field[f].size());
    }
}

void sweep_naive(const sweep_case &c, int64_t steps, sweep_state *out)
{
    if (c.start.type == LACIS_SWEEP_F32)
        run<float>(c, steps, out);
    else
        run<double>(c, steps, out);
}
