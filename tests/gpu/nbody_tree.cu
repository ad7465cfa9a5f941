/* SPDX-License-Identifier: Apache-2.0
 *
 * See nbody_tree.h. Cells are split by place, in doubles, down to as many levels as it takes; a cell with a single
 * child is left out. Children follow Hilbert's curve.
 */
#include "nbody_tree.h"

#include "nbody/gpu_build_keys.cuh"

#include <algorithm>
#include <cfloat>
#include <cmath>

struct cell {
    uint32_t begin, end, first, children;
    double cube[3], side;
    unsigned turn; /* of the curve */
    int level;
};

/* What a set is as numbers of P. */
template <class P> struct places {
    const nbody_set *set;
    double at(int k, uint32_t i) const
    {
        const std::vector<double> &c = k == 0 ? set->x : k == 1 ? set->y : set->z;
        return (double)(P)c[i];
    }
    bool one_place(const std::vector<uint32_t> &order, uint32_t begin, uint32_t end) const
    {
        for (uint32_t i = begin + 1; i < end; i++)
            for (int k = 0; k < 3; k++)
                if (at(k, order[i]) != at(k, order[begin])) return false;
        return true;
    }
};

static const nbody::Curve curve = nbody::make_curve();

/* Sorts the cell's bodies by child; ends[d]: behind those of digit d. cube and turn of each digit. */
template <class P>
static void split(const places<P> &p, const cell &c, std::vector<uint32_t> *order, uint32_t *ends, cell *child)
{
    std::vector<uint32_t> part[8];
    for (unsigned octant = 0; octant < 8; octant++) {
        const unsigned step = curve.step[c.turn << 3 | octant];
        cell &to = child[step & 7];
        to.turn = step >> 3;
        to.side = c.side / 2;
        for (int k = 0; k < 3; k++)
            to.cube[k] = c.cube[k] + (octant >> k & 1 ? c.side : -c.side) / 4;
    }
    for (uint32_t i = c.begin; i < c.end; i++) {
        const uint32_t b = (*order)[i];
        unsigned octant = 0;
        for (int k = 0; k < 3; k++)
            octant |= (unsigned)(p.at(k, b) >= c.cube[k]) << k;
        part[curve.step[c.turn << 3 | octant] & 7].push_back(b);
    }
    uint32_t at = c.begin;
    for (int d = 0; d < 8; d++) {
        std::copy(part[d].begin(), part[d].end(), order->begin() + at);
        at += (uint32_t)part[d].size();
        ends[d] = at;
    }
}

template <class P>
static std::vector<cell> cells_of(const places<P> &p, uint32_t n, uint32_t leaf, std::vector<uint32_t> *order)
{
    cell root = {0, n, 0, 0, {0, 0, 0}, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < n; i++) {
            low = std::min(low, p.at(k, i));
            high = std::max(high, p.at(k, i));
        }
        root.cube[k] = low / 2 + high / 2;
        root.side = std::max(root.side, (high - low) * (1 + 1e-9));
    }
    std::vector<cell> cells = {root};
    for (size_t at = 0; at < cells.size(); at++) {
        if (cells[at].end - cells[at].begin <= leaf || p.one_place(*order, cells[at].begin, cells[at].end)) continue;
        uint32_t ends[8];
        cell child[8], c = cells[at];
        for (;;) { /* past levels where all bodies share a child */
            split(p, c, order, ends, child);
            int only = -1, some = 0;
            for (int d = 0; d < 8; d++)
                if (ends[d] > (d ? ends[d - 1] : c.begin)) {
                    only = d;
                    some++;
                }
            if (some > 1 || child[only].side < DBL_MIN) break;
            c.turn = child[only].turn;
            c.side = child[only].side;
            std::copy(child[only].cube, child[only].cube + 3, c.cube);
        }
        c.first = (uint32_t)cells.size();
        for (int d = 0; d < 8; d++) {
            child[d].begin = d ? ends[d - 1] : c.begin;
            child[d].end = ends[d];
            child[d].first = child[d].children = 0;
            child[d].level = c.level + 1;
            if (child[d].end == child[d].begin) continue;
            c.children++;
            cells.push_back(child[d]);
        }
        cells[at] = c;
    }
    return cells;
}

/* Sums of a cell's bodies. */
template <class P, class R> struct moments {
    double m = 0, at[3] = {0, 0, 0}, q[6] = {0, 0, 0, 0, 0, 0}, soft = 0, extent = 0;
    moments(const places<P> &p, const cell &c, const std::vector<uint32_t> &order, double common)
    {
        const nbody_set &set = *p.set;
        double mean[3] = {0, 0, 0};
        for (uint32_t i = c.begin; i < c.end; i++) {
            const uint32_t b = order[i];
            m += set.m[b];
            soft += set.m[b] * (set.eps.empty() ? common : set.eps[b] * set.eps[b]);
            for (int k = 0; k < 3; k++) {
                at[k] += set.m[b] * p.at(k, b);
                mean[k] += p.at(k, b) / (double)(c.end - c.begin);
            }
        }
        soft = m > 0 ? soft / m : common;
        const bool one = p.one_place(order, c.begin, c.end);
        for (int k = 0; k < 3; k++)
            at[k] = one ? p.at(k, order[c.begin]) : (double)(P)(m > 0 ? at[k] / m : mean[k]);
        for (uint32_t i = c.begin; i < c.end; i++) {
            const uint32_t b = order[i];
            const double x = p.at(0, b) - at[0], y = p.at(1, b) - at[1], z = p.at(2, b) - at[2], w = set.m[b];
            extent = std::max(extent, x * x + y * y + z * z);
            const double add[6] = {w * x * x, w * y * y, w * z * z, w * x * y, w * x * z, w * y * z};
            for (int k = 0; k < 6; k++)
                q[k] += add[k];
        }
        extent = sqrt(extent) * (1 + 1e-6);
    }
};

template <class T, class A, class B> static const T *up(nbody_tree<A, B> *out, const std::vector<T> &v)
{
    void *p;
    CUDA(cudaMalloc(&p, std::max<size_t>(1, v.size()) * sizeof(T)));
    out->held.push_back(p);
    CUDA(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return (const T *)p;
}

template <class P, class R>
void nbody_make_tree(const nbody_set &set, const lacis_nbody_rule &rule, nbody_tree<P, R> *out)
{
    using namespace nbody;
    const uint32_t n = (uint32_t)set.n();
    const places<P> p = {&set};
    out->order.resize(n);
    for (uint32_t i = 0; i < n; i++)
        out->order[i] = i;
    const std::vector<cell> cells =
        n ? cells_of(p, n, (uint32_t)std::max(1, rule.leaf), &out->order) : std::vector<cell>();
    std::vector<Link> link;
    std::vector<Four<P>> centre, cube, body;
    std::vector<Four<R>> quad;
    std::vector<R> soft, mean;
    for (const cell &c : cells) {
        const moments<P, R> s(p, c, out->order, set.soften * set.soften);
        const bool leaf = c.children == 0;
        link.push_back({leaf ? c.begin : c.first, leaf ? LEAF | (c.end - c.begin) : c.children,
                        nextafterf((float)s.extent, s.extent > 0 ? INFINITY : 0), (float)c.side});
        centre.push_back({(P)s.at[0], (P)s.at[1], (P)s.at[2], (P)s.m});
        cube.push_back({(P)c.cube[0], (P)c.cube[1], (P)c.cube[2], 0});
        quad.push_back({(R)s.q[0], (R)s.q[1], (R)s.q[2], (R)s.q[3]});
        quad.push_back({(R)s.q[4], (R)s.q[5], (R)s.soft, 0});
        mean.push_back((R)s.soft);
        out->leaves += leaf;
        out->levels = std::max<int64_t>(out->levels, c.level + 1);
    }
    for (const uint32_t b : out->order) {
        body.push_back({(P)set.x[b], (P)set.y[b], (P)set.z[b], (P)set.m[b]});
        if (!set.eps.empty()) soft.push_back((R)(set.eps[b] * set.eps[b]));
    }
    out->cells = (int64_t)cells.size();
    Tree<P, R> &tree = out->tree;
    tree.n = n;
    tree.body = up(out, body);
    tree.soft = set.eps.empty() ? nullptr : up(out, soft);
    tree.common = (R)(set.eps.empty() ? set.soften * set.soften : 0);
    tree.cells = up(out, std::vector<uint32_t>{(uint32_t)cells.size()});
    tree.room = (uint32_t)cells.size();
    tree.link = up(out, link);
    tree.centre = up(out, centre);
    tree.cube = rule.opening == LACIS_NBODY_OFFSET ? up(out, cube) : nullptr;
    if (rule.order == LACIS_NBODY_QUADRUPOLE)
        tree.quad = up(out, quad);
    else if (!set.eps.empty())
        tree.soft_mean = up(out, mean);
}

template <class P, class R> const R *nbody_in_order(nbody_tree<P, R> *tree, const std::vector<double> &values)
{
    std::vector<R> sorted;
    for (const uint32_t b : tree->order)
        sorted.push_back((R)values[b]);
    return up(tree, sorted);
}

template <class P, class R> nbody_tree<P, R>::~nbody_tree()
{
    for (void *p : held)
        CUDA(cudaFree(p));
}

#define INSTANCE(P, R)                                                                                               \
    template struct nbody_tree<P, R>;                                                                                \
    template void nbody_make_tree(const nbody_set &, const lacis_nbody_rule &, nbody_tree<P, R> *);                  \
    template const R *nbody_in_order(nbody_tree<P, R> *, const std::vector<double> &);
INSTANCE(float, float)
INSTANCE(double, double)
INSTANCE(double, float)
