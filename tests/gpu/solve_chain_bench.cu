/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of chains of the shapes that the bars are about (solve_chain_times.cuh says how).
 */
#include "solve_chain_times.cuh"

template <class S> static void bench_shape(const char *name, int64_t n, int64_t m, double rate, bool peers)
{
    operands<S> o(n * m);
    const lacis_solve_type type = of<S>::type;
    double ours[2], peer[2] = {NAN, NAN};
    for (int flat = 1; flat >= 0; flat--) {
        o.refill(n, m, flat);
        ours[flat] = own_ms(o, n, m, flat, 0, LACIS_SOLVE_GPU_CHIP, type);
        if (peers) peer[flat] = peer_ms(o, n, m, flat);
    }
    const double best = fmin(peer[0], peer[1]), floor = 5.0 * sizeof(S) * n * m / rate;
    printf("| %s | %lld x %lld | %.4f | %.4f | %.4f | %.4f | %.4f | %.2f | %.2f | %.0f%% | %.0f%% |\n", name,
           (long long)n, (long long)m, floor, ours[1], ours[0], peer[1], peer[0], ours[1] / best, ours[0] / best,
           100 * floor / ours[1], 100 * floor / ours[0]);
    fflush(stdout);
}

static void bench_shared(int64_t n, int64_t m, double rate, bool peers)
{
    operands<double> o(n * m);
    double peer = NAN;
    o.refill(n, m, false);
    if (peers) peer = peer_ms(o, n, m, false);
    for (int shared : {5, 7})
        for (int flat = 1; flat >= 0; flat--) {
            o.refill(n, m, flat);
            const double floor = (shared == 7 ? 2.0 : 3.0) * 8 * n * m / rate;
            const double ms = own_ms(o, n, m, flat, shared, LACIS_SOLVE_GPU_CHIP, LACIS_SOLVE_F64);
            const double slow = own_ms(o, n, m, flat, shared, LACIS_SOLVE_GPU_THREAD, LACIS_SOLVE_F64);
            printf("| shared %d %s | %lld x %lld | %.4f | %.4f | thread %.4f | %.2f | %.0f%% |\n", shared,
                   flat ? "flat" : "full", (long long)n, (long long)m, floor, ms, slow, ms / peer, 100 * floor / ms);
            fflush(stdout);
        }
}

/* Times of ours alone: TYPE N M. */
template <class S> static void bench_one(int64_t n, int64_t m, double rate)
{
    operands<S> o(n * m);
    double ms[2], reduced[2], streamed[2]; /* by gpu chip, by CR-PCR (NaN: too long), by gpu thread */
    for (int flat = 0; flat < 2; flat++) {
        o.refill(n, m, flat);
        ms[flat] = own_ms(o, n, m, flat, 0, LACIS_SOLVE_GPU_CHIP, of<S>::type);
        reduced[flat] = own_ms(o, n, m, flat, 0, LACIS_SOLVE_GPU_CYCLIC, of<S>::type);
        streamed[flat] = own_ms(o, n, m, flat, 0, LACIS_SOLVE_GPU_THREAD, of<S>::type);
    }
    const double floor = 5.0 * sizeof(S) * n * m / rate;
    printf("%zu bytes %lld x %lld: flat %.4f %.0f%%, full %.4f %.0f%%; cr-pcr %.4f, %.4f; thread %.4f, %.4f\n",
           sizeof(S), (long long)n, (long long)m, ms[1], 100 * floor / ms[1], ms[0], 100 * floor / ms[0], reduced[1],
           reduced[0], streamed[1], streamed[0]);
    fflush(stdout);
}

/* bench [shapes]: what the bars are about. bench final: the same in 15 seconds. bench one f64|f32 N M ...: ours
 * alone. bench grid ...: solve_chain_grid_bench.cu */
int bench_chains(int argc, char **argv)
{
    const std::string what = argc > 0 ? argv[0] : "shapes";
    if (what == "grid") return bench_grid(argc - 1, argv + 1);
    const bool peers = what != "one" && open_peer(), final = what == "final";
    const double rate = copy_rate();
    printf("copy %.2f TB/s%s\n", rate * 1e-9, peers ? "" : "; without cuSPARSE");
    for (int i = 1; what == "one" && i + 2 < argc; i += 3) {
        const int64_t n = atoll(argv[i + 1]), m = atoll(argv[i + 2]);
        if (strcmp(argv[i], "f64") == 0)
            bench_one<double>(n, m, rate);
        else
            bench_one<float>(n, m, rate);
    }
    if (what == "one") return 0;
    printf("| type | n x m | floor | flat | full | gtsv2Strided | gtsvInterleaved | flat / "
           "better | full / better | flat of floor | full |\n");
    if (final) bench_shared(256, 256000, rate, peers);
    for (int64_t m : {256000, 25600, 2560, 256})
        for (int64_t n : {64, 128, 256, 512, 1024}) {
            bench_shape<double>("f64", n, m, rate, peers);
            bench_shape<float>("f32", n, m, rate, peers);
        }
    for (int64_t m : {256, 2560, 25600})
        bench_shape<double>("f64", 4096, m, rate, peers && !final);
    as_graph = true;
    printf("20 as one graph:\n");
    for (int64_t m : {256, 2560})
        for (int64_t n : {64, 128, 256, 512, 1024})
            bench_shape<double>("f64", n, m, rate, peers);
    as_graph = false;
    if (!final) bench_shared(256, 256000, rate, peers);
    return 0;
}
