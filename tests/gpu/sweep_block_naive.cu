/* SPDX-License-Identifier: Apache-2.0
 *
 * Single steps on the host: each cell's taps are looked up one by one, beyond the ends as sweep.h says.
 */
#include "sweep_block_support.h"

#include <cmath>

namespace sweep_block
{

static const char *const kinds[] = {"hold", "clamp", "mirror", "periodic", "affine", "values", "inner"};

static double number(u64 *random, double low, double high)
{
    return low + (high - low) * (double)(next_random(random) >> 11) / (double)(1ull << 53);
}

static void add_group(Case *c, int group, std::vector<lacis_sweep_tap> taps, double weight)
{
    for (const lacis_sweep_tap &tap : taps)
        c->tap[c->rule.taps++] = tap;
    c->weight[group] = weight;
    c->first[group + 1] = c->rule.taps;
    c->rule.linear.groups = group + 1;
}

Case::Case(lacis_sweep_type type, int dims, int groups, bool constant, u64 *random)
{
    block.type = type;
    block.dims = dims;
    block.rule = &rule;
    int group = 0;
    if (groups & 1) add_group(this, group++, {{0, {0, 0, 0}}}, number(random, 0.1, 0.3));
    std::vector<lacis_sweep_tap> cross = {{0, {-1, 0, 0}}, {0, {1, 0, 0}}, {0, {0, -1, 0}}, {0, {0, 1, 0}}};
    if (dims == 3) cross.insert(cross.end(), {{0, {0, 0, -1}}, {0, {0, 0, 1}}});
    add_group(this, group++, cross, number(random, 0.1, 0.9 / (2 * dims)));
    if (groups & 2)
        add_group(this, group++, {{0, {-1, -1, 0}}, {0, {1, -1, 0}}, {0, {-1, 1, 0}}, {0, {1, 1, 0}}},
                  number(random, 0.01, 0.1));
    rule.tap = tap;
    rule.linear.constant = constant ? number(random, -0.5, 0.5) : 0;
    rule.linear.weight = weight;
    rule.linear.first = first;
    size(1, 1, 1);
}

void Case::size(int64_t nx, int64_t ny, int64_t nz)
{
    block.extent[0] = nx;
    block.extent[1] = ny;
    block.extent[2] = nz;
    block.pitch[0] = (nx + 2 + 3) / 4 * 4;
    block.pitch[1] = block.pitch[0] * (ny + 2);
}

void Case::edges(const lacis_sweep_edge_kind *kind, u64 *random)
{
    for (int face = 0; face < 2 * block.dims; face++) {
        block.edge[face].kind = kind[face];
        block.edge[face].a[0] = number(random, -1, 1);
        block.edge[face].b[0] = next_random(random) % 4 ? number(random, -1, 1) : 0;
        values[face].clear();
        if (kind[face] != LACIS_SWEEP_VALUES) continue;
        int64_t cells = 1;
        for (int axis = 0; axis < 3; axis++)
            cells *= axis == face / 2 ? 1 : block.extent[axis];
        for (int64_t i = 0; i < cells; i++)
            values[face].push_back(number(random, -1, 1));
    }
}

double Case::given(int face, const int64_t *at) const
{
    int64_t element = 0, step = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (axis == face / 2) continue;
        const int64_t n = block.extent[axis];
        const bool wraps = block.edge[2 * axis].kind == LACIS_SWEEP_PERIODIC;
        const int64_t x = wraps ? (at[axis] + n) % n : at[axis] < 0 ? 0 : at[axis] >= n ? n - 1 : at[axis];
        element += x * step;
        step *= n;
    }
    return values[face][(size_t)element];
}

std::string Case::name() const
{
    char text[256];
    int n = snprintf(text, sizeof text, "%s, %d groups%s, %lld x %lld x %lld,",
                     block.type == LACIS_SWEEP_F32 ? "f32" : "f64", rule.linear.groups,
                     rule.linear.constant != 0 ? " and a constant" : "", (long long)block.extent[0],
                     (long long)block.extent[1], (long long)block.extent[2]);
    for (int face = 0; face < 2 * block.dims; face++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s", kinds[block.edge[face].kind]);
    return text;
}

std::vector<const Variant *> variants()
{
    std::vector<const Variant *> out;
    for (int i = 0; const Variant *v = sweep::block::variant(i); i++)
        out.push_back(v);
    add_candidates(&out);
    return out;
}

namespace
{

float fused(float a, float b, float c)
{
    return fmaf(a, b, c);
}
double fused(double a, double b, double c)
{
    return fma(a, b, c);
}

template <class T> struct Grid {
    const Case &c;
    const lacis_sweep_block &block;
    const T *cell;

    T beyond(int face, T outer, T inner) const
    {
        const lacis_sweep_edge &e = block.edge[face];
        if (e.kind == LACIS_SWEEP_MIRROR) return inner;
        if (e.kind != LACIS_SWEEP_AFFINE) return outer;
        return (T)e.b[0] == 0 ? (T)e.a[0] : fused((T)e.b[0], outer, (T)e.a[0]);
    }
    /* Axes above `axis` are inside. */
    T get(int axis, int64_t x, int64_t y, int64_t z) const
    {
        if (axis < 0) return cell[(z * block.extent[1] + y) * block.extent[0] + x];
        int64_t at[3] = {x, y, z};
        const int64_t n = block.extent[axis];
        if (at[axis] >= 0 && at[axis] < n) return get(axis - 1, x, y, z);
        const int face = 2 * axis + (at[axis] >= n);
        if (block.edge[face].kind == LACIS_SWEEP_PERIODIC) {
            at[axis] = (at[axis] + n) % n;
            return get(axis - 1, at[0], at[1], at[2]);
        }
        if (block.edge[face].kind == LACIS_SWEEP_VALUES) return (T)c.given(face, at);
        int64_t inner[3] = {x, y, z};
        at[axis] = face & 1 ? n - 1 : 0;
        inner[axis] = n > 1 ? (face & 1 ? n - 2 : 1) : 0;
        return beyond(face, get(axis - 1, at[0], at[1], at[2]), get(axis - 1, inner[0], inner[1], inner[2]));
    }
    bool held(const int64_t *at) const
    {
        for (int axis = 0; axis < block.dims; axis++)
            if ((at[axis] == 0 && block.edge[2 * axis].kind == LACIS_SWEEP_HOLD) ||
                (at[axis] == block.extent[axis] - 1 && block.edge[2 * axis + 1].kind == LACIS_SWEEP_HOLD))
                return true;
        return false;
    }
    T next(const lacis_sweep_rule &rule, const int64_t *at) const
    {
        const lacis_sweep_linear &linear = rule.linear;
        T value = (T)linear.constant;
        for (int g = 0; g < linear.groups; g++) {
            T sum[9];
            int count = 0;
            for (int i = linear.first[g]; i < linear.first[g + 1]; i++) {
                const int8_t *to = rule.tap[i].at;
                sum[count++] = get(block.dims - 1, at[0] + to[0], at[1] + to[1], at[2] + to[2]);
            }
            for (; count > 1; count = (count + 1) / 2)
                for (int i = 0; i < count; i += 2)
                    sum[i / 2] = i + 1 < count ? sum[i] + sum[i + 1] : sum[i];
            const T weight = (T)linear.weight[g];
            value = g == 0 && (T)linear.constant == 0 ? weight * sum[0] : fused(weight, sum[0], value);
        }
        return value;
    }
};

} // namespace

template <class T> void naive(const Case &c, std::vector<T> &grid, int steps)
{
    std::vector<T> next(grid.size());
    const int64_t *n = c.block.extent;
    for (int step = 0; step < steps; step++) {
        const Grid<T> now = {c, c.block, grid.data()};
        int64_t at[3];
        size_t i = 0;
        for (at[2] = 0; at[2] < n[2]; at[2]++)
            for (at[1] = 0; at[1] < n[1]; at[1]++)
                for (at[0] = 0; at[0] < n[0]; at[0]++, i++)
                    next[i] = now.held(at) ? grid[i] : now.next(c.rule, at);
        grid.swap(next);
    }
}
template void naive<float>(const Case &, std::vector<float> &, int);
template void naive<double>(const Case &, std::vector<double> &, int);

} // namespace sweep_block
