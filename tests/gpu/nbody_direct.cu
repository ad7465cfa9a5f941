/* SPDX-License-Identifier: Apache-2.0
 *
 * All pairs against double sums on the host: types, softenings, potentials, tiles of every shape, points.
 */
#include "nbody/gpu_direct.h"
#include "nbody_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace nbody;

static double tolerance(lacis_nbody_type type)
{
    return type == LACIS_NBODY_F64 ? 1e-12 : 4e-6;
}

/* Of a sum: how far off for its size, or for the sum of its terms' sizes, which bounds what rounding can do. */
static double error_of(const nbody_sum &want, double x, double y, double z, double phi)
{
    const double dx = x - want.a[0], dy = y - want.a[1], dz = z - want.a[2];
    const double a = sqrt(dx * dx + dy * dy + dz * dz), scale = std::max(want.modulus, 1e-300);
    const double p = std::isnan(phi) ? INFINITY : fabs(phi - want.phi) / std::max(want.phi, 1e-300);
    const double e = a == 0 ? 0 : a / scale;
    return std::isnan(a) ? INFINITY : std::max(e, phi == want.phi ? 0 : p);
}

/* One type's arrays on the device, as kernels have them. */
template <class P, class R> struct Held {
    Four<P> *body = nullptr;
    R *soft = nullptr;
    Four<R> *out = nullptr;
    void *slots = nullptr;
    int64_t n;
    Held(const nbody_set &set) : n(set.n())
    {
        std::vector<Four<P>> b;
        std::vector<R> e;
        for (size_t i = 0; i < set.m.size(); i++)
            b.push_back({(P)set.x[i], (P)set.y[i], (P)set.z[i], (P)set.m[i]});
        for (double one : set.eps)
            e.push_back((R)(one * one));
        CUDA(cudaMalloc(&body, b.size() * sizeof b[0] + 16));
        CUDA(cudaMalloc(&out, b.size() * sizeof(Four<R>) + 16));
        CUDA(cudaMemcpy(body, b.data(), b.size() * sizeof b[0], cudaMemcpyHostToDevice));
        if (e.empty()) return;
        CUDA(cudaMalloc(&soft, e.size() * sizeof e[0]));
        CUDA(cudaMemcpy(soft, e.data(), e.size() * sizeof e[0], cudaMemcpyHostToDevice));
    }
    ~Held()
    {
        CUDA(cudaFree(body));
        CUDA(cudaFree(out));
        if (soft) CUDA(cudaFree(soft));
    }
};

template <class P, class R>
static std::vector<Four<R>> run_pairs(const nbody_set &set, const Held<P, R> &held, const Pairs &pairs,
                                      bool potential)
{
    std::vector<Four<R>> out((size_t)held.n);
    void *slots = nullptr;
    const uint64_t bytes = pairs_bytes<R>(pairs);
    CUDA(cudaMalloc(&slots, bytes + 16));
    CUDA(cudaMemset(slots, 0xff, bytes));
    CUDA(cudaMemset(held.out, 0xff, (size_t)held.n * sizeof(Four<R>)));
    const Sources<P, R> sources = {held.body, held.soft, (R)(set.soften * set.soften)};
    const Finish<P, R> finish = {held.out, nullptr, nullptr, {}, {}};
    CUDA(cudaDeviceSynchronize());
    CUDA(pairs_run(stream, pairs, sources, potential, slots, finish));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(out.data(), held.out, out.size() * sizeof out[0], cudaMemcpyDeviceToHost));
    CUDA(cudaFree(slots));
    return out;
}

template <class R>
static double worst_of(const std::vector<Four<R>> &got, const std::vector<nbody_sum> &want,
                       const std::vector<int64_t> &which)
{
    double worst = 0;
    for (size_t k = 0; k < which.size(); k++) {
        const Four<R> &f = got[(size_t)which[k]];
        worst = std::max(worst, error_of(want[k], f.x, f.y, f.z, f.w));
    }
    return worst;
}

/* A sample of bodies spread over all, and always the last ones. */
static std::vector<int64_t> some_of(int64_t n, int64_t most)
{
    std::vector<int64_t> out;
    for (int64_t k = 0; k < std::min(n, most); k++)
        out.push_back(n <= most ? k : k * n / most);
    if (n > most) out.push_back(n - 1);
    return out;
}

template <class P, class R> static void check_set(lacis_nbody_type type, const nbody_set &set, int warps, int columns)
{
    const Held<P, R> held(set);
    const Pairs pairs = pairs_of<R>(set.n(), 132, warps, columns);
    const std::vector<int64_t> which = some_of(set.n(), 300);
    const std::vector<nbody_sum> want = nbody_directs(set, which);
    const auto full = run_pairs(set, held, pairs, true), again = run_pairs(set, held, pairs, true);
    const auto plain = run_pairs(set, held, pairs, false);
    const double worst = worst_of(full, want, which);
    nbody_expect(worst <= tolerance(type), "direct: %s, type %d, n %lld, %d x %d: error %.2e", set.name.c_str(), type,
                 (long long)set.n(), warps, columns, worst);
    nbody_expect(full.empty() || !memcmp(full.data(), again.data(), full.size() * sizeof full[0]),
                 "direct: %s, n %lld: other bits the second time", set.name.c_str(), (long long)set.n());
    bool same = true;
    for (size_t i = 0; i < full.size(); i++)
        same = same && !memcmp(&full[i], &plain[i], 3 * sizeof(R));
    nbody_expect(same, "direct: %s, n %lld: potentials change the bits of accelerations", set.name.c_str(),
                 (long long)set.n());
}

/* Supers of few bodies, so that there are several rounds. */
template <class P, class R> static void check_rounds(lacis_nbody_type type, int64_t n, uint32_t supers)
{
    nbody_set set = nbody_plummer(n, 5);
    if (type == LACIS_NBODY_F32) nbody_round(&set);
    const Held<P, R> held(set);
    Pairs pairs = pairs_of<R>(n, 132, 1, 64);
    pairs.super = ((uint32_t)n / supers + pairs.rows - 1) / pairs.rows * pairs.rows;
    pairs.supers = ((uint32_t)n + pairs.super - 1) / pairs.super;
    pairs.row_tiles = pairs.super / pairs.rows;
    pairs.column_tiles = pairs.super / pairs.columns;
    const std::vector<int64_t> which = some_of(n, 200);
    const double worst = worst_of(run_pairs(set, held, pairs, true), nbody_directs(set, which), which);
    nbody_expect(worst <= tolerance(type), "direct: type %d, n %lld, %u supers: error %.2e", type, (long long)n,
                 pairs.supers, worst);
}

template <class P, class R> static void check_type(lacis_nbody_type type, bool small, u64 seed)
{
    for (const int64_t n : small ? std::vector<int64_t>{70} : std::vector<int64_t>{33, 517, 3000})
        for (nbody_set &set : nbody_hard(n, seed)) {
            if (type == LACIS_NBODY_F32) nbody_round(&set);
            check_set<P, R>(type, set, 0, 0);
        }
    nbody_set set = nbody_plummer(small ? 600 : 9001, seed);
    if (type == LACIS_NBODY_F32) nbody_round(&set);
    for (const int warps : {1, 2, 4})
        for (const int columns : {32, 64, 128})
            if (!small || (warps == 2 && columns == 64)) check_set<P, R>(type, set, warps, columns);
    for (const uint32_t supers : {2u, 3u, 4u, 5u})
        if (!small || supers == 4) check_rounds<P, R>(type, small ? 1100 : 7003, supers);
}

/* The type's points, by `direct` of gpu_inside.h. */
static void check_points(lacis_nbody_type type, bool own, u64 seed)
{
    nbody_set set = nbody_plummer(300, seed);
    for (size_t i = 0; own && i < set.m.size(); i++)
        set.eps.push_back(0.02 * (double)(i % 5));
    if (type == LACIS_NBODY_F32) nbody_round(&set);
    nbody_columns c;
    nbody_begin(&c, set, type, nbody_rule(LACIS_NBODY_DIRECT, LACIS_NBODY_MONOPOLE, LACIS_NBODY_GEOMETRIC));
    lacis_nbody_gpu *system = nullptr;
    int error = 0;
    nbody_expect(lacis_nbody_gpu_new(&c.start, &system, &error) == LACIS_NBODY_OK, "points: no system");
    nbody_set at = nbody_plummer(77, seed + 9);
    at.x[3] = set.x[5]; /* at a body's place */
    at.y[3] = set.y[5];
    at.z[3] = set.z[5];
    nbody_round(&at);
    void *column[7] = {nbody_up(type, at.x), nbody_up(type, at.y), nbody_up(type, at.z)};
    for (int k = 3; k < 7; k++)
        column[k] = nbody_room(type, at.n());
    nbody_expect(lacis_nbody_gpu_points(system, at.n(), column[0], column[1], column[2], column[3], column[4],
                                        column[5], column[6]) == LACIS_NBODY_OK,
                 "points: not done");
    std::vector<double> got[4];
    for (int k = 0; k < 4; k++)
        got[k] = nbody_down(type, column[3 + k], at.n());
    double worst = 0;
    for (size_t i = 0; i < at.m.size(); i++) {
        const double p[3] = {at.x[i], at.y[i], at.z[i]};
        worst = std::max(worst, error_of(nbody_direct(set, -1, p), got[0][i], got[1][i], got[2][i], -got[3][i]));
    }
    nbody_expect(worst <= tolerance(type), "points: type %d, own %d: error %.2e", type, own, worst);
    for (void *one : column)
        nbody_drop(one);
    lacis_nbody_gpu_free(system);
}

static void check(bool small, u64 seed)
{
    check_type<float, float>(LACIS_NBODY_F32, small, seed);
    check_type<double, double>(LACIS_NBODY_F64, small, seed);
    check_type<double, float>(LACIS_NBODY_MIXED, small, seed);
    for (const lacis_nbody_type type : {LACIS_NBODY_F32, LACIS_NBODY_F64, LACIS_NBODY_MIXED})
        for (const bool own : {false, true})
            check_points(type, own, seed);
}

static nbody_part part("direct", check);
