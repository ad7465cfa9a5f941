/* SPDX-License-Identifier: Apache-2.0
 *
 * See nbody_support.h: bodies as test cases.
 */
#include "nbody_support.h"

#include <cmath>
#include <thread>

static double uniform(u64 *state) /* [0, 1) */
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static void direction(u64 *state, double *d)
{
    const double c = 2 * uniform(state) - 1, a = 2 * M_PI * uniform(state), s = sqrt(1 - c * c);
    d[0] = s * cos(a);
    d[1] = s * sin(a);
    d[2] = c;
}

static void put(nbody_set *set, double m, const double *p, const double *v)
{
    set->m.push_back(m);
    set->x.push_back(p[0]);
    set->y.push_back(p[1]);
    set->z.push_back(p[2]);
    if (v == nullptr) return;
    set->vx.push_back(v[0]);
    set->vy.push_back(v[1]);
    set->vz.push_back(v[2]);
}

/* A body of Aarseth, Henon and Wielen (1974), in units of G = M = 1, E = -1/4. */
static void plummer_body(u64 state, double *place, double *speed)
{
    const double scale = 3 * M_PI / 16, mass = 0.999 * uniform(&state);
    const double r = mass > 0 ? 1 / sqrt(pow(mass, -2.0 / 3) - 1) : 0;
    double q, g;
    do {
        q = uniform(&state);
        g = 0.1 * uniform(&state);
    } while (g > q * q * pow(1 - q * q, 3.5));
    direction(&state, place);
    direction(&state, speed);
    const double v = q * sqrt(2) * pow(1 + r * r, -0.25) / sqrt(scale);
    for (int k = 0; k < 3; k++) {
        place[k] *= r * scale;
        speed[k] *= v;
    }
}

/* Each body has numbers of its own, so that many can be made by all processors. */
nbody_set nbody_plummer(int64_t n, u64 seed)
{
    nbody_set set;
    set.name = "plummer";
    set.soften = 0.05;
    const size_t many = (size_t)n, threads = many < 100000 ? 1 : std::thread::hardware_concurrency();
    for (auto *column : {&set.m, &set.x, &set.y, &set.z, &set.vx, &set.vy, &set.vz})
        column->assign(many, 1 / (double)n);
    const auto fill = [&](size_t from, size_t to) {
        for (size_t i = from; i < to; i++) {
            double p[3], v[3];
            plummer_body((seed * 0x9e3779b97f4a7c15u + 1) ^ (i * 0xd1342543de82ef95u), p, v);
            set.x[i] = p[0], set.y[i] = p[1], set.z[i] = p[2];
            set.vx[i] = v[0], set.vy[i] = v[1], set.vz[i] = v[2];
        }
    };
    std::vector<std::thread> team;
    for (size_t t = 1; t < threads; t++)
        team.emplace_back(fill, many * t / threads, many * (t + 1) / threads);
    fill(0, threads > 1 ? many / threads : many);
    for (std::thread &one : team)
        one.join();
    return set;
}

nbody_set nbody_uneven(int64_t n, u64 seed)
{
    nbody_set set = nbody_plummer(n, seed);
    set.name = "two clusters, uneven masses";
    u64 state = seed + 77;
    double total = 0;
    for (size_t i = 0; i < set.m.size(); i++) {
        set.m[i] = pow(10, -6 * uniform(&state));
        total += set.m[i];
        if (i % 2) set.x[i] += 1e6;
    }
    for (double &m : set.m)
        m /= total;
    return set;
}

/* n bodies of a shape: 0 all at one place, 1 duplicates of few, 2 on a line, 3 in a plane, 4 on a lattice, 5 near the
 * smallest floats. */
static nbody_set shaped(const char *name, int shape, int64_t n, u64 seed)
{
    nbody_set set;
    set.name = name;
    u64 state = seed + (u64)shape;
    for (int64_t i = 0; i < n; i++) {
        double p[3] = {uniform(&state), uniform(&state), uniform(&state)};
        if (shape == 0) p[0] = p[1] = p[2] = 0.25;
        if (shape == 1)
            for (double &c : p)
                c = floor(2 * c);
        if (shape == 2) p[1] = p[2] = -1;
        if (shape == 3) p[2] = 3;
        if (shape == 4) {
            p[0] = (double)(i % 8);
            p[1] = (double)(i / 8 % 8);
            p[2] = (double)(i / 64);
        }
        if (shape == 5)
            for (double &c : p)
                c *= 1e-9;
        put(&set, 1 / (double)n, p, nullptr);
    }
    return set;
}

std::vector<nbody_set> nbody_hard(int64_t n, u64 seed)
{
    std::vector<nbody_set> out;
    out.push_back(shaped("none", 0, 0, seed));
    out.push_back(shaped("one", 2, 1, seed));
    out.push_back(shaped("two", 2, 2, seed));
    out.push_back(shaped("two at one place", 0, 2, seed));
    out.push_back(shaped("all at one place", 0, n, seed));
    out.push_back(shaped("duplicates", 1, n, seed));
    out.push_back(shaped("collinear", 2, n, seed));
    out.push_back(shaped("planar", 3, n, seed));
    out.push_back(shaped("lattice", 4, n, seed));
    out.push_back(shaped("tiny", 5, n, seed));
    out.push_back(nbody_uneven(n, seed));
    out.push_back(nbody_plummer(n, seed));
    nbody_set set = nbody_plummer(n, seed + 1);
    set.name = "zero masses";
    for (double &m : set.m)
        m = 0;
    out.push_back(set);
    set = nbody_plummer(n, seed + 2);
    set.name = "massless tracers, no softening";
    set.soften = 0;
    for (size_t i = 0; i < set.m.size(); i++)
        if (i % 3) set.m[i] = 0;
    out.push_back(set);
    set = nbody_plummer(n, seed + 3);
    set.name = "softening by body";
    for (size_t i = 0; i < set.m.size(); i++)
        set.eps.push_back(i % 4 == 0 ? 0 : 0.01 * (double)(i % 7));
    out.push_back(set);
    set = nbody_plummer(n, seed + 4);
    set.name = "heavy";
    set.soften = 0;
    for (double &m : set.m)
        m *= 1e12;
    out.push_back(set);
    return out;
}

void nbody_round(nbody_set *set)
{
    for (auto *column : {&set->m, &set->x, &set->y, &set->z, &set->vx, &set->vy, &set->vz, &set->eps})
        for (double &value : *column)
            value = (double)(float)value;
    set->soften = (double)(float)set->soften;
}

nbody_set nbody_shuffled(const nbody_set &set, u64 seed, std::vector<int64_t> *to)
{
    const size_t n = set.m.size();
    u64 state = seed;
    to->resize(n);
    for (size_t i = 0; i < n; i++)
        (*to)[i] = (int64_t)i;
    for (size_t i = n; i > 1; i--)
        std::swap((*to)[i - 1], (*to)[next_random(&state) % i]);
    nbody_set out = set;
    const auto move = [&](const std::vector<double> &from, std::vector<double> *into) {
        for (size_t i = 0; i < from.size(); i++)
            (*into)[(size_t)(*to)[i]] = from[i];
    };
    move(set.m, &out.m);
    move(set.x, &out.x);
    move(set.y, &out.y);
    move(set.z, &out.z);
    move(set.vx, &out.vx);
    move(set.vy, &out.vy);
    move(set.vz, &out.vz);
    move(set.eps, &out.eps);
    return out;
}
