/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree that the device built, on the host: for nbody_build*.cu, with the checks that any tree must pass.
 */
#ifndef LACIS_TESTS_GPU_NBODY_BUILT_H
#define LACIS_TESTS_GPU_NBODY_BUILT_H

#include "nbody/gpu_inside.h"
#include "nbody_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>

template <class T> static T *built_up(const std::vector<T> &from)
{
    T *to = nullptr;
    CUDA(cudaMallocAsync((void **)&to, from.size() * sizeof(T) + 1, stream));
    CUDA(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamSynchronize(stream));
    return to;
}

template <class T> static std::vector<T> built_down(const T *from, size_t count)
{
    std::vector<T> to(from != nullptr ? count : 0);
    if (!to.empty()) CUDA(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    return to;
}

template <class T> static bool built_same(const std::vector<T> &a, const std::vector<T> &b)
{
    return a.size() == b.size() && (a.empty() || memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/* A builder with the bodies of a set. */
template <class P, class R> struct Device {
    int error = 0;
    void *pinned = nullptr;
    nbody::Machine machine = {};
    nbody::Builder<P, R> *builder = nullptr;
    std::vector<nbody::Four<P>> body;
    std::vector<R> soft;
    R common;
    nbody::Four<P> *body_at = nullptr;
    R *soft_at = nullptr;
    uint32_t *order = nullptr;
    lacis_nbody_status made;
    explicit Device(const nbody_set &set) : common((R)(set.soften * set.soften))
    {
        const size_t n = set.m.size();
        for (size_t i = 0; i < n; i++)
            body.push_back({(P)set.x[i], (P)set.y[i], (P)set.z[i], (P)set.m[i]});
        for (const double e : set.eps)
            soft.push_back((R)(e * e));
        body_at = built_up(body);
        if (!soft.empty()) soft_at = built_up(soft);
        order = built_up(std::vector<uint32_t>(n, 0));
        CUDA(cudaHostAlloc(&pinned, LACIS_NBODY_GPU_PINNED_BYTES, 0));
        cudaDeviceProp p;
        CUDA(cudaGetDeviceProperties(&p, 0));
        machine = {stream, pinned, p.multiProcessorCount, nbody_host(), &error};
        made = nbody::builder_new<P, R>(&machine, (int64_t)n, !soft.empty(), &builder);
    }
    ~Device()
    {
        nbody::builder_free<P, R>(&machine, builder);
        for (const void *block : {(const void *)body_at, (const void *)soft_at, (const void *)order})
            if (block != nullptr) CUDA(cudaFreeAsync((void *)block, stream));
        CUDA(cudaFreeHost(pinned));
    }
    Device(const Device &) = delete;
};

template <class P, class R> struct Built {
    lacis_nbody_status status;
    uint32_t cells = 0;
    std::vector<uint32_t> order;
    std::vector<nbody::Four<P>> body, centre, cube;
    std::vector<R> soft, mean;
    std::vector<nbody::Link> link;
    std::vector<nbody::Four<R>> quad;
    lacis_nbody_counts counts = {};
    bool same_tree(const Built &o) const /* bits; not where bodies come from */
    {
        return cells == o.cells && built_same(body, o.body) && built_same(soft, o.soft) && built_same(link, o.link) &&
               built_same(centre, o.centre) && built_same(cube, o.cube) && built_same(quad, o.quad) &&
               built_same(mean, o.mean);
    }
};

template <class P, class R> static Built<P, R> built(Device<P, R> *d, const lacis_nbody_rule &rule)
{
    Built<P, R> t;
    nbody::Tree<P, R> tree;
    t.status = nbody::build<P, R>(&d->machine, d->builder, &rule, d->body_at, d->soft_at, d->common, d->order, &tree);
    if (t.status != LACIS_NBODY_OK) return t;
    const size_t n = d->body.size();
    t.cells = built_down(tree.cells, 1)[0];
    t.order = built_down(d->order, n);
    t.body = built_down(tree.body, n);
    t.soft = built_down(tree.soft, n);
    t.link = built_down(tree.link, t.cells);
    t.centre = built_down(tree.centre, t.cells);
    t.cube = built_down(tree.cube, t.cells);
    t.quad = built_down(tree.quad, 2 * (size_t)t.cells);
    t.mean = built_down(tree.soft_mean, t.cells);
    t.status = nbody::builder_figures<P, R>(&d->machine, d->builder, &t.counts);
    return t;
}

/* Says of a tree what is wrong with it. */
template <class P, class R> struct Verify {
    const Device<P, R> &d;
    const Built<P, R> &t;
    const lacis_nbody_rule &rule;
    const std::string &name;
    std::vector<uint32_t> begin, end, depth;
    uint32_t leaves = 0, deepest = 0, seen = 0;
    bool broken = false;

    void expect(bool good, const char *what, uint32_t cell, double found = 0, double expected = 0)
    {
        nbody_expect(good, "%s: %s (cell or body %u: %.17g, expected %.17g)", name.c_str(), what, cell, found,
                     expected);
    }
    void bodies()
    {
        std::vector<char> taken(t.order.size());
        bool all = true, same = true;
        for (size_t i = 0; i < t.order.size(); i++) {
            const uint32_t k = t.order[i];
            all = all && k < taken.size() && !taken[k];
            if (!all) break;
            taken[k] = 1;
            same = same && memcmp(&t.body[i], &d.body[k], sizeof t.body[i]) == 0;
            if (!t.soft.empty()) same = same && memcmp(&t.soft[i], &d.soft[k], sizeof(R)) == 0;
        }
        expect(all, "order is no permutation", 0);
        expect(same, "bodies are not those of their order", 0);
    }
    /* Ranges of bodies, and that each cell is reached once. */
    uint32_t walk(uint32_t cell, uint32_t from, uint32_t level)
    {
        if (broken) return from;
        const nbody::Link &l = t.link[cell];
        const uint32_t many = l.many & ~nbody::LEAF;
        seen++;
        deepest = std::max(deepest, level);
        begin[cell] = from;
        if (l.many & nbody::LEAF) {
            leaves++;
            broken = l.first != from || many == 0 || from + many > t.body.size();
        } else {
            broken = l.first <= cell || many < 1 || many > 8 || l.first + many > t.cells;
        }
        if (broken) {
            expect(false, "link", cell, l.first, from);
            return from;
        }
        uint32_t at = from;
        if (l.many & nbody::LEAF)
            at += many;
        else
            for (uint32_t k = 0; k < many; k++)
                at = walk(l.first + k, at, level + 1);
        return end[cell] = at;
    }
    void numbers(uint32_t cell)
    {
        const uint32_t from = begin[cell], to = end[cell];
        const nbody::Four<P> c = t.centre[cell], f = t.body[from];
        double size = 0;
        long double far = 0, m = 0, s[3] = {}, places[3] = {}, e = 0;
        bool one = true;
        for (uint32_t i = from; i < to; i++) {
            const nbody::Four<P> b = t.body[i];
            const double x[3] = {(double)b.x - (double)f.x, (double)b.y - (double)f.y, (double)b.z - (double)f.z};
            m += (double)b.w;
            for (int k = 0; k < 3; k++) {
                s[k] += (double)b.w * x[k];
                places[k] += x[k] / (to - from);
                size = std::max(size, fabs((double)x[k]));
            }
            one = one && x[0] == 0 && x[1] == 0 && x[2] == 0;
            e += (double)b.w * (t.soft.empty() ? 0 : (double)t.soft[i]);
            const long double u = (long double)b.x - c.x, v = (long double)b.y - c.y, w = (long double)b.z - c.z;
            far = std::max(far, u * u + v * v + w * w);
        }
        far = sqrtl(far);
        const bool leaf = (t.link[cell].many & nbody::LEAF) != 0, heavy = m > 0;
        const double tiny = sizeof(P) == 4 ? 1e-6 : 1e-14, unit = sizeof(P) == 4 ? 0x1p-23 : 0x1p-52,
                     least = sizeof(P) == 4 ? 1.5e-45 : 5e-324;
        const P stored[3] = {c.x, c.y, c.z}, first[3] = {f.x, f.y, f.z};
        expect(fabs((double)c.w - (double)m) <= tiny * (double)m + least, "mass", cell, (double)c.w, (double)m);
        for (int k = 0; k < 3; k++) {
            const double mean = (double)((double)first[k] + (heavy ? s[k] / m : places[k]));
            expect(fabs((double)stored[k] - mean) <= 8 * unit * fabs(mean) + 8 * tiny * size + least, "centre", cell,
                   (double)stored[k], mean);
        }
        const float extent = t.link[cell].extent;
        expect((extent == 0) == one, "extent of one place", cell, extent, one);
        if (one) expect(c.x == f.x && c.y == f.y && c.z == f.z && leaf, "one place", cell);
        const double most = far > 3.4e38 ? HUGE_VAL : (double)far * (1 + 2e-6) + 2e-45; /* floats end there */
        expect((double)extent >= (double)far && (double)extent <= most, "extent", cell, extent, (double)far);
        if (leaf) expect(to - from <= (uint32_t)rule.leaf || one, "bodies of a leaf", cell, to - from, rule.leaf);
        if (!leaf) expect(to - from > (uint32_t)rule.leaf, "bodies of a cell", cell, to - from, rule.leaf);
        softening(cell, heavy ? (double)(e / m) : (double)d.common);
        if (!t.quad.empty()) moments(cell, (double)m, (double)far);
        if (!t.cube.empty()) in_cube(cell);
    }
    void softening(uint32_t cell, double mean)
    {
        if (t.soft.empty()) return;
        const double found = t.quad.empty() ? (double)t.mean[cell] : (double)t.quad[2 * (size_t)cell + 1].z;
        expect(fabs(found - mean) <= 1e-5 * fabs(mean), "softening", cell, found, mean);
    }
    void moments(uint32_t cell, double m, double far)
    {
        const nbody::Four<P> c = t.centre[cell];
        const nbody::Four<R> a = t.quad[2 * (size_t)cell], b = t.quad[2 * (size_t)cell + 1];
        const double found[6] = {(double)a.x, (double)a.y, (double)a.z, (double)a.w, (double)b.x, (double)b.y};
        long double q[6] = {};
        for (uint32_t i = begin[cell]; i < end[cell]; i++) {
            const nbody::Four<P> p = t.body[i];
            const double x = (double)p.x - (double)c.x, y = (double)p.y - (double)c.y, z = (double)p.z - (double)c.z,
                         w = (double)p.w,
                         term[6] = {w * x * x, w * y * y, w * z * z, w * x * y, w * x * z, w * y * z};
            for (int k = 0; k < 6; k++)
                q[k] += term[k];
        }
        const double top = fabs((double)(q[0] + q[1] + q[2])), most = sizeof(R) == 4 ? 3e38 : 1e308;
        if (!(top < most / 4)) return; /* stored as 0, or near the end of the numbers */
        const double least = sizeof(R) == 4 ? 1e-40 : 1e-300;
        for (int k = 0; k < 6; k++)
            expect(fabs(found[k] - (double)q[k]) <= (sizeof(P) == 4   ? 2e-5
                                                     : sizeof(R) == 4 ? 1e-5
                                                                      : 1e-12) *
                                                            m * far * far +
                                                        least,
                   "second moment", cell, found[k], (double)q[k]);
    }
    void in_cube(uint32_t cell)
    {
        const nbody::Four<P> c = t.cube[cell];
        const double half = (double)t.link[cell].side / 2;
        bool inside = true;
        for (uint32_t i = begin[cell]; i < end[cell]; i++) {
            const nbody::Four<P> b = t.body[i];
            const double off = std::max(fabs((double)b.x - (double)c.x),
                                        std::max(fabs((double)b.y - (double)c.y), fabs((double)b.z - (double)c.z)));
            const double top = std::max(fabs((double)c.x), std::max(fabs((double)c.y), fabs((double)c.z)));
            inside = inside && off <= half * (1 + 1e-6) + top * (sizeof(P) == 4 ? 1e-6 : 1e-15) +
                                          (sizeof(P) == 4 ? 3e-45 : 1e-323);
        }
        expect(inside, "a body outside its cube", cell, half);
    }
    void all()
    {
        begin.assign(t.cells, 0);
        end.assign(t.cells, 0);
        const uint32_t n = (uint32_t)t.body.size();
        expect(t.status == LACIS_NBODY_OK, "status", 0, t.status);
        expect((n == 0) == (t.cells == 0), "cells", 0, t.cells);
        if (t.status != LACIS_NBODY_OK || n == 0 || t.cells == 0) return;
        bodies();
        const uint32_t last = walk(0, 0, 1);
        expect(broken || (last == n && seen == t.cells), "cells or bodies are left", 0, last, n);
        for (uint32_t c = 0; c < t.cells && !broken; c++)
            numbers(c);
        expect(t.counts.cells == t.cells && t.counts.leaves == leaves && t.counts.levels == deepest, "figures",
               leaves, (double)t.counts.leaves, (double)t.counts.levels);
    }
};

#endif
