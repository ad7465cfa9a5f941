/* SPDX-License-Identifier: Apache-2.0
 *
 * bench walk [f32|f64|mixed] [plummer|uneven|clusters] N [name=value ...]: times of build and walk, errors against
 * direct sums in double of 2,000 bodies, and what was counted, a line for each combination of the values (commas
 * between several): order=mono|quad opening=geo|off|rel theta= alpha= expand= group= leaf= repeat= share=0|1,
 * turns=0|1 (groups that took long first), and most=MEDIAN,99%: more is a failure; dear= times what a group may cost.
 * |a| of rel is what a geometric walk gives (theta 0.8), as at a run's second step.
 */
#include "nbody_support.h"

#include "nbody/gpu_walk.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace nbody;

/* Direct sums in double: a block a body. */
template <class P>
static __global__ void direct_kernel(uint32_t n, const Four<P> *body, double e, const uint32_t *which, double *out)
{
    __shared__ double part[3][256];
    const Four<P> me = body[which[blockIdx.x]];
    double a[3] = {0, 0, 0};
    for (uint32_t j = threadIdx.x; j < n; j += 256) {
        const Four<P> b = body[j];
        const double x = (double)b.x - (double)me.x, y = (double)b.y - (double)me.y, z = (double)b.z - (double)me.z;
        const double r2 = x * x + y * y + z * z + e, i = r2 > 0 ? 1 / sqrt(r2) : 0, f = (double)b.w * i * i * i;
        a[0] += f * x, a[1] += f * y, a[2] += f * z;
    }
    for (int k = 0; k < 3; k++)
        part[k][threadIdx.x] = a[k];
    __syncthreads();
    if (threadIdx.x >= 3) return;
    double s = 0;
    for (int t = 0; t < 256; t++)
        s += part[threadIdx.x][t];
    out[3 * blockIdx.x + threadIdx.x] = s;
}

template <class R> static __global__ void length_kernel(uint32_t n, const Four<R> *a, R *out)
{
    const uint32_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = sqrt(a[i].x * a[i].x + a[i].y * a[i].y + a[i].z * a[i].z);
}

template <class T> static T *room(size_t count)
{
    T *p;
    CUDA(cudaMalloc((void **)&p, count * sizeof(T)));
    return p;
}

template <class P, class R> struct bench {
    static const int SAMPLE = 2000;
    Machine machine;
    int error = 0;
    nbody_set set;
    uint32_t n;
    Four<P> *body;
    uint32_t *order;
    Builder<P, R> *builder = nullptr;
    Tree<P, R> tree = {};
    Four<R> *out;
    R *old;
    double *counts;
    std::vector<uint32_t> sample; /* places in the tree */
    std::vector<double> want;
    cudaEvent_t at[3];
    int leaf = -1, made = -1;
    bool share = false, turn = false;
    double dear = 1;
    uint32_t compact = COMPACT;
    Rota turns = {};
    double most[2] = {INFINITY, INFINITY}; /* median and 99 % that are good */
    void *block;

    bench(const nbody_set &set_) : set(set_), n((uint32_t)set_.n())
    {
        void *pinned;
        CUDA(cudaHostAlloc(&pinned, LACIS_NBODY_GPU_PINNED_BYTES, 0));
        machine = {stream, pinned, 132, nbody_host(), &error};
        body = room<Four<P>>(n);
        order = room<uint32_t>(n);
        out = room<Four<R>>(n);
        old = room<R>(n);
        counts = room<double>(4);
        block = room<char>((size_t)n * 24 + (1 << 20));
        turns.block = room<uint32_t>(rota_words(n));
        std::vector<Four<P>> host(n);
        for (uint32_t i = 0; i < n; i++)
            host[i] = {(P)set.x[i], (P)set.y[i], (P)set.z[i], (P)set.m[i]};
        CUDA(cudaMemcpy(body, host.data(), n * sizeof *body, cudaMemcpyHostToDevice));
        good(builder_new(&machine, n, false, &builder));
        for (cudaEvent_t &e : at)
            CUDA(cudaEventCreate(&e));
    }
    void good(lacis_nbody_status status)
    {
        if (status == LACIS_NBODY_OK) return;
        printf("status %d, CUDA %d\n", (int)status, error);
        exit(2);
    }
    float make(const lacis_nbody_rule &rule)
    {
        CUDA(cudaEventRecord(at[0], stream));
        good(build(&machine, builder, &rule, body, (const R *)nullptr, (R)(set.soften * set.soften), order, &tree));
        CUDA(cudaEventRecord(at[1], stream));
        CUDA(cudaEventSynchronize(at[1]));
        float ms;
        CUDA(cudaEventElapsedTime(&ms, at[0], at[1]));
        return ms;
    }
    float go(const lacis_nbody_rule &rule, bool counted)
    {
        const Forces<R> forces = {out, false, counted ? counts : nullptr};
        Walk<P, R> walk = walk_of(&rule, &tree, &forces);
        walk_room(&rule, &walk, share, block);
        walk.budget = (uint32_t)std::min(dear * walk.budget, 4e9);
        walk.compact = compact;
        CUDA(cudaEventRecord(at[1], stream));
        CUDA(walk_rota(&rule, &walk, turn ? &turns : nullptr, stream));
        CUDA(walk_start(walk, &rule, false, stream));
        CUDA(cudaEventRecord(at[2], stream));
        CUDA(cudaEventSynchronize(at[2]));
        float ms;
        CUDA(cudaEventElapsedTime(&ms, at[1], at[2]));
        return ms;
    }
    void reference()
    {
        sample.clear();
        for (int i = 0; i < SAMPLE; i++)
            sample.push_back((uint32_t)((uint64_t)i * n / SAMPLE));
        uint32_t *which = room<uint32_t>(SAMPLE);
        double *sums = room<double>(3 * SAMPLE);
        want.resize(3 * SAMPLE);
        CUDA(cudaMemcpy(which, sample.data(), SAMPLE * 4, cudaMemcpyHostToDevice));
        const double e = (double)(R)(set.soften * set.soften);
        direct_kernel<P><<<SAMPLE, 256, 0, stream>>>(n, tree.body, e, which, sums);
        CUDA(cudaMemcpyAsync(want.data(), sums, want.size() * 8, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaFree(which));
        CUDA(cudaFree(sums));
    }
    /* Median, 90 %, 99 %, greatest. */
    void compare(double *quantiles)
    {
        std::vector<Four<R>> host(n);
        CUDA(cudaMemcpy(host.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost));
        std::vector<double> errors;
        for (int i = 0; i < SAMPLE; i++) {
            const Four<R> a = host[sample[(size_t)i]];
            const double *w = want.data() + 3 * i;
            const double x = (double)a.x - w[0], y = (double)a.y - w[1], z = (double)a.z - w[2];
            errors.push_back(sqrt((x * x + y * y + z * z) / (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])));
        }
        nbody_quantiles(errors, quantiles);
    }
    void line(const lacis_nbody_rule &rule, int repeat)
    {
        double q[4], c[4];
        std::vector<float> builds, walks;
        for (int i = 0; i < repeat; i++)
            builds.push_back(make(rule));
        if (rule.leaf != leaf || (int)rule.order != made) {
            reference();
            lacis_nbody_rule rough = rule;
            rough.opening = LACIS_NBODY_GEOMETRIC;
            rough.theta = 0.8;
            rough.expand = 0.4;
            go(rough, false);
            length_kernel<R><<<(n + 255) / 256, 256, 0, stream>>>(n, out, old);
            leaf = rule.leaf;
            made = (int)rule.order;
        }
        tree.old = old;
        CUDA(cudaMemsetAsync(out, 0xff, n * sizeof *out, stream));
        CUDA(cudaMemsetAsync(counts, 0, 32, stream));
        go(rule, true);
        compare(q);
        if (q[0] > most[0] || q[2] > most[1]) {
            printf("FAIL: the next line's errors are more than %.1e and %.1e\n", most[0], most[1]);
            failures++;
        }
        CUDA(cudaMemcpyAsync(c, counts, sizeof c, cudaMemcpyDeviceToHost, stream));
        for (int i = 0; i < repeat; i++)
            walks.push_back(go(rule, true));
        std::sort(builds.begin(), builds.end());
        std::sort(walks.begin(), walks.end());
        const double groups = ceil((double)n / (rule.group ? rule.group : 32));
        printf(
            "%s%s%.1f %s %s th %.2f al %.1e ex %.2f G%d L%d | %.3f walk %.3f step %.3f | %.2e %.2e %.2e | %.0f %.0f "
            "%.0f "
            "%.0f\n",
            share ? "shared " : "", turn ? "turns " : "", dear, rule.order ? "quad" : "mono",
            rule.opening == 0   ? "geo"
            : rule.opening == 1 ? "off"
                                : "rel",
            rule.theta, rule.alpha, rule.expand, rule.group, rule.leaf, builds[builds.size() / 2],
            walks[walks.size() / 2], builds[builds.size() / 2] + walks[walks.size() / 2], q[0], q[2], q[3], c[0] / n,
            c[1] / n, c[2] / groups, c[3] / groups);
        fflush(stdout);
    }
};

static std::vector<std::string> values_of(const std::string &list)
{
    std::vector<std::string> out(1);
    for (const char c : list)
        if (c == ',')
            out.push_back("");
        else
            out.back() += c;
    return out;
}

template <class P, class R>
static int run(const nbody_set &set, std::map<std::string, std::vector<std::string>> names)
{
    bench<P, R> b(set);
    for (size_t i = 0; i < 2 && i < names["most"].size(); i++)
        b.most[i] = atof(names["most"][i].c_str());
    const auto number = [](const std::string &s) { return atof(s.c_str()); };
    for (const auto &leaf : names["leaf"])
        for (const auto &order : names["order"])
            for (const auto &opening : names["opening"])
                for (const auto &group : names["group"])
                    for (const auto &theta : names["theta"])
                        for (const auto &alpha : names["alpha"])
                            for (const auto &expand : names["expand"]) {
                                lacis_nbody_rule rule = {LACIS_NBODY_TREE,
                                                         order == "mono" ? LACIS_NBODY_MONOPOLE
                                                                         : LACIS_NBODY_QUADRUPOLE,
                                                         opening == "geo"   ? LACIS_NBODY_GEOMETRIC
                                                         : opening == "off" ? LACIS_NBODY_OFFSET
                                                                            : LACIS_NBODY_RELATIVE,
                                                         number(theta),
                                                         number(alpha),
                                                         number(expand),
                                                         atoi(leaf.c_str()),
                                                         atoi(group.c_str()),
                                                         false};
                                walk_settle(sizeof(P) == 4   ? LACIS_NBODY_F32
                                            : sizeof(R) == 8 ? LACIS_NBODY_F64
                                                             : LACIS_NBODY_MIXED,
                                            set.n(), &rule);
                                for (const auto &share : names["share"])
                                    for (const auto &turn : names["turns"])
                                        for (const auto &dear : names["dear"]) {
                                            b.share = atoi(share.c_str());
                                            b.turn = atoi(turn.c_str());
                                            b.dear = number(dear);
                                            b.compact = (uint32_t)atoi(names["compact"][0].c_str());
                                            b.line(rule, atoi(names["repeat"][0].c_str()));
                                        }
                            }
    return failures != 0;
}

/* Two clusters 20 apart, masses over a range of 1e6. */
static nbody_set clusters(int64_t n)
{
    nbody_set set = nbody_uneven(n, 1);
    for (double &x : set.x)
        if (x > 5e5) x += 20 - 1e6;
    return set;
}

static int bench_walk(int argc, char **argv)
{
    std::string type = "f32", kind = "plummer";
    int64_t n = 100000;
    std::map<std::string, std::vector<std::string>> names = {
        {"leaf", {"24"}},    {"order", {"quad"}},  {"opening", {"rel"}}, {"group", {"64"}}, {"theta", {"1"}},
        {"alpha", {"1e-2"}}, {"expand", {"0.25"}}, {"repeat", {"5"}},    {"share", {"0"}},  {"turns", {"0"}},
        {"most", {}},        {"dear", {"1"}},      {"compact", {"10"}}};
    std::vector<std::vector<std::string>> jobs;
    for (int i = 0; i < argc; i++) {
        const std::string word = argv[i];
        const size_t is = word.find('=');
        if (word == "f32" || word == "f64" || word == "mixed")
            type = word;
        else if (word == "plummer" || word == "uneven" || word == "clusters")
            kind = word;
        else if (is != std::string::npos && names.count(word.substr(0, is)))
            names[word.substr(0, is)] = values_of(word.substr(is + 1));
        else if ((n = (int64_t)atof(argv[i])) <= 0)
            return 2;
    }
    nbody_set set = kind == "plummer" ? nbody_plummer(n, 1) : kind == "clusters" ? clusters(n) : nbody_uneven(n, 1);
    if (type != "f64") nbody_round(&set);
    printf("%s %s %lld\n", type.c_str(), kind.c_str(), (long long)n);
    return type == "f32"   ? run<float, float>(set, names)
           : type == "f64" ? run<double, double>(set, names)
                           : run<double, float>(set, names);
}

static nbody_bench bench_of("walk", bench_walk);
