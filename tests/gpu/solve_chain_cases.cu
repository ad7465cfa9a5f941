/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains: every way, type, layout, sharing and kind of bad lane against the CPU's loops and against residuals in long
 * double; and the same bits whatever the layout, the groups and the lanes beside.
 */
#include "solve_chain_support.h"

extern "C" {
#include "solve/inside.h"
}

#include <chrono>
#include <cmath>
#include <cstring>

static void *host_alloc(void *, uint64_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
}

static void host_free(void *, void *block)
{
    free(block);
}

/* Those for chains. */
static const lacis_solve_gpu_way ways[] = {LACIS_SOLVE_GPU_THREAD, LACIS_SOLVE_GPU_CHIP, LACIS_SOLVE_GPU_CYCLIC};

/* On the CPU: x, status and residual of `b` become what came out. */
static void run_on_host(batch &b)
{
    lacis_solve_job job = b.job();
    lacis_solve_output out;
    job.residual = b.residual.data();
    job.status = b.status.data();
    job.host = {host_alloc, host_free, nullptr, nullptr};
    if (lacis_solve_run(&job, &out) != LACIS_SOLVE_OK) exit(3);
}

typedef std::complex<long double> wide;

static long double size_of(long double x)
{
    return fabsl(x);
}
static long double size_of(wide x)
{
    return hypotl(x.real(), x.imag());
}
static void take_value(long double *to, value v)
{
    *to = v.real();
}
static void take_value(wide *to, value v)
{
    *to = wide(v);
}

/* The greatest |rhs - A x| of a lane against what its terms come to. */
template <class W> static long double worst_row(const batch &b, const chain_set &s, int64_t lane, const char *x)
{
    long double worst = 0;
    W solved[3] = {0, 0, 0};
    take_value(&solved[1], value_at(b.type, x, lane * s.rows));
    for (int64_t r = 0; r < s.rows; r++) {
        W left, c[3];
        if (r + 1 < s.rows) take_value(&solved[2], value_at(b.type, x, lane * s.rows + r + 1));
        take_value(&left, s.in[RHS][lane * s.rows + r]);
        long double size = size_of(left);
        for (int f = LOWER; f <= UPPER; f++) {
            take_value(&c[f], s.in[f][lane * s.rows + r]);
            if ((f == LOWER && r == 0) || (f == UPPER && r == s.rows - 1)) continue;
            left -= c[f] * solved[f];
            size += size_of(c[f] * solved[f]);
        }
        const long double error = size > 0 ? size_of(left) / size : size_of(left);
        if (!(error <= worst)) worst = error;
        solved[0] = solved[1], solved[1] = solved[2];
    }
    return worst;
}

/* In roundings of the type. */
static double backward_error(const batch &b, int64_t g, int64_t lane, const std::vector<char> &x)
{
    const chain_set &s = b.sets[(size_t)g];
    const long double worst = b.type == LACIS_SOLVE_C128 ? worst_row<wide>(b, s, lane, x.data())
                                                         : worst_row<long double>(b, s, lane, x.data());
    const bool single = b.type == LACIS_SOLVE_F32 || b.type == LACIS_SOLVE_MIXED;
    return (double)(worst / (single ? 0x1p-24L : 0x1p-53L));
}

static const char *const type_name[] = {"f64", "f32", "mixed", "c128"};
static double worst_error[LACIS_SOLVE_TYPES];

static void check_x(const batch &gpu, const batch &cpu, lacis_solve_gpu_way way, const std::string &what)
{
    const double most = 250; /* roundings */
    const size_t bytes = (size_t)lacis_solve_bytes(gpu.type);
    for (int64_t g = 0; g < (int64_t)gpu.groups.size(); g++) {
        const std::vector<char> own = x_of(gpu, g), other = x_of(cpu, g);
        const int64_t rows = gpu.groups[(size_t)g].rows;
        for (int64_t l = 0; l < gpu.groups[(size_t)g].lanes; l++) {
            const int64_t word = cpu.status[(size_t)(gpu.groups[(size_t)g].first + l)];
            if (word % 4 == LACIS_SOLVE_NOT_FINITE) continue;
            int64_t row = 0;
            while (row < rows && same_value(gpu.type, &own[(size_t)(l * rows + row) * bytes],
                                            &other[(size_t)(l * rows + row) * bytes]))
                row++;
            if (row == rows) continue;
            const double error =
                word == 0 && way != LACIS_SOLVE_GPU_THREAD ? backward_error(gpu, g, l, own) : INFINITY;
            expect(error <= most, "%s: lane %lld of group %lld (%lld rows), row %lld, word %lld: error %g",
                   what.c_str(), (long long)l, (long long)g, (long long)rows, (long long)row, (long long)word, error);
            if (error > worst_error[gpu.type]) worst_error[gpu.type] = error;
        }
    }
}

static void check_residuals(batch &b, const std::string &what)
{
    batch again = b;
    lacis_solve_job job = again.job();
    std::vector<double> scratch;
    job.residual = again.residual.data();
    bool good = true;
    for (const lacis_solve_group &group : again.groups)
        for (int64_t l = 0; l < group.lanes; l++) {
            scratch.resize((size_t)(2 * group.rows + 1));
            lacis_solve_residual(&job, &group, l, scratch.data());
            for (int64_t r = 0; r < group.rows; r++) {
                const int64_t at = lacis_solve_place(&group.x, group.rows, l, r);
                const double x = b.residual[(size_t)at], y = again.residual[(size_t)at];
                const double slack = b.type == LACIS_SOLVE_C128 ? 1e-15 : 0; /* hypot */
                good = good && (x == y || (std::isnan(x) && std::isnan(y)) || fabs(x - y) <= slack * fabs(y));
            }
        }
    expect(good, "%s: residuals", what.c_str());
}

static void check_batch(batch b, lacis_solve_gpu_way way, const std::string &name)
{
    batch cpu = b;
    run_on_host(cpu);
    int64_t bad = 0, lowest = -1;
    for (int64_t l = 0; l < b.lanes; l++) {
        if (cpu.status[(size_t)l] == 0) continue;
        if (bad++ == 0) lowest = l;
    }
    const std::string what = name + " " + lacis_solve_gpu_way_name[way];
    for (int later = 0; later < 2; later++) {
        const run_result r = run_on_device(b, way, true, later == 0, later == 1, what);
        expect(r.status == LACIS_SOLVE_GPU_OK, "%s: status %d", what.c_str(), r.status);
        expect(later == 1 || r.out.solve.bad_lanes == bad, "%s: %lld bad lanes, %lld on the CPU", what.c_str(),
               (long long)r.out.solve.bad_lanes, (long long)bad);
        for (int64_t l = 0; l < b.lanes; l++)
            if (b.status[(size_t)l] != cpu.status[(size_t)l]) {
                expect(false, "%s: lane %lld has %lld, on the CPU %lld", what.c_str(), (long long)l,
                       (long long)b.status[(size_t)l], (long long)cpu.status[(size_t)l]);
                break;
            }
        check_x(b, cpu, way, what);
        if (later == 0) check_residuals(b, what);
    }
    const run_result r = run_on_device(b, way, false, false, false, what);
    expect(r.status == (bad ? LACIS_SOLVE_GPU_BAD : LACIS_SOLVE_GPU_OK), "%s: status %d", what.c_str(), r.status);
    if (bad)
        expect(r.out.solve.bad_lane == lowest && r.out.solve.bad == cpu.status[(size_t)lowest],
               "%s: lane %lld, %lld, on the CPU %lld, %lld", what.c_str(), (long long)r.out.solve.bad_lane,
               (long long)r.out.solve.bad, (long long)lowest, (long long)cpu.status[(size_t)lowest]);
    else
        check_x(b, cpu, way, what);
}

static layout random_layout(uint64_t *state)
{
    static const int64_t blocks[] = {1, 1, 0, 0, 2, 3, 8, 16, 32, 64};
    layout l;
    l.block = blocks[next_random(state) % 10];
    if (next_random(state) % 2) l.ahead = (int64_t)(next_random(state) % 40), l.behind = next_random(state) % 20;
    return l;
}

/* One layout for all, or any. */
static batch random_batch(lacis_solve_type type, int64_t groups, int64_t most_lanes, int64_t most_rows, int shared,
                          kind kind, uint64_t *state)
{
    std::vector<chain_set> sets;
    std::vector<layout> matrix, rhs, x;
    const bool mixed = next_random(state) % 3 == 0;
    for (int64_t g = 0; g < groups; g++) {
        const int64_t lanes = (int64_t)(next_random(state) % (uint64_t)(most_lanes + 1));
        const int64_t rows = g % 7 == 6 ? 0 : 1 + (int64_t)(next_random(state) % (uint64_t)most_rows);
        sets.push_back(make_chains(type, lanes, rows, shared, rows ? kind : EASY, state));
        matrix.push_back(random_layout(state));
        rhs.push_back(mixed ? random_layout(state) : matrix.back());
        x.push_back(mixed ? random_layout(state) : matrix.back());
    }
    return lay_out(type, shared, sets, matrix, rhs, x, next_random(state) % 2);
}

static const kind kinds[] = {EASY, BARE, BAD};
static const char *const kind_name[] = {"easy", "bare", "bad"};
static const int shares[] = {0, 1 << LOWER | 1 << UPPER, 7, 0, 1 << DIAGONAL, 7 | 1 << RHS};

static void check_random(bool small, uint64_t seed)
{
    uint64_t state = seed;
    for (int t = 0; t < LACIS_SOLVE_TYPES; t++)
        for (int k = 0; k < 3; k++)
            for (int round = 0; round < (small ? 2 : 10); round++)
                for (lacis_solve_gpu_way way : ways) {
                    const int shared = shares[next_random(&state) % 6];
                    const int64_t groups = round % 3 == 0 ? 1 : 1 + (int64_t)(next_random(&state) % (small ? 4 : 30));
                    const int64_t rows = round % 4 == 1 ? 700 : round % 4 == 2 ? 40 : 300;
                    const batch b = random_batch((lacis_solve_type)t, groups,
                                                 small       ? 20
                                                 : round % 2 ? 40
                                                             : 150,
                                                 small ? rows / 4 : rows, shared, kinds[k], &state);
                    char name[128];
                    snprintf(name, sizeof name, "%s %s round %d shared %d", type_name[t], kind_name[k], round,
                             shared);
                    check_batch(b, way, name);
                }
}

static void check_length(lacis_solve_type type, size_t turn, int64_t n, bool flat, int64_t lanes, uint64_t *state)
{
    layout l;
    l.block = flat;
    if (turn % 2) l.ahead = 1, l.behind = 2;
    const chain_set s = make_chains(type, lanes, n, 0, kinds[turn % 3], state);
    const batch b = lay_out(type, 0, {s}, {l}, {l}, {l}, turn % 4 == 0);
    char name[128];
    snprintf(name, sizeof name, "%s %s %lld rows, %s", type_name[type], kind_name[turn % 3], (long long)n,
             flat ? "flat" : "full");
    check_batch(b, LACIS_SOLVE_GPU_THREAD, name);
    lacis_solve_gpu_job job = {};
    job.job = b.job();
    for (lacis_solve_gpu_way way : {LACIS_SOLVE_GPU_CHIP, LACIS_SOLVE_GPU_CYCLIC}) {
        const int64_t of_bytes = type == LACIS_SOLVE_C128 ? 2048 : type == LACIS_SOLVE_F32 ? 8192 : 4096;
        const int64_t longest = way == LACIS_SOLVE_GPU_CYCLIC ? of_bytes : type == LACIS_SOLVE_C128 ? 5120 : 9216;
        job.way = way;
        expect((lacis_solve_gpu_refuses(&job) == nullptr) == (n <= longest), "%s: %s refused", name,
               lacis_solve_gpu_way_name[way]);
        if (n <= longest) check_batch(b, way, name);
    }
}

/* Lengths about the limits of chunks, segments, blocks and clusters, in the two layouts that have kernels of their
 * own. Few: racecheck takes seconds for long chains side by side. */
static void check_lengths(bool small, uint64_t seed)
{
    static const int64_t few[2][5] = {{1, 19, 160, 400, 1024}, {2, 19, 160, 512, 4608}}; /* Full, Flat */
    static const int64_t lengths[] = {1,    2,    3,    4,    5,    6,    8,    9,    10,   15,   17,   18,
                                      19,   31,   36,   63,   64,   65,   72,   73,   128,  144,  145,  159,
                                      160,  161,  255,  256,  257,  287,  288,  289,  319,  320,  321,  500,
                                      512,  575,  576,  577,  640,  641,  1024, 1152, 1153, 1280, 1281, 2047,
                                      2304, 2305, 4096, 4608, 4609, 5119, 5120, 5121, 8192, 9215, 9216, 9217};
    uint64_t state = seed + 77;
    for (int t = 0; t < LACIS_SOLVE_TYPES; t++)
        for (int flat = 0; flat < 2; flat++) {
            for (size_t i = 0; small && i < (flat || t == LACIS_SOLVE_F64 ? 5 : 4); i++)
                check_length((lacis_solve_type)t, i, few[flat][i], flat, 4, &state);
            for (size_t i = 0; !small && i < sizeof lengths / sizeof *lengths; i++)
                check_length((lacis_solve_type)t, i, lengths[i], flat,
                             lengths[i] > 1000  ? 4
                             : lengths[i] > 300 ? 20
                                                : 72,
                             &state);
        }
}

/* The same systems in other layouts, other groups, by themselves. */
static void check_bits(bool small, uint64_t seed)
{
    static const int64_t lengths[] = {7, 33, 160, 600, 64, 100, 256, 300, 350, 512, 1024, 1500, 2500, 4096, 8192};
    const size_t all = sizeof lengths / sizeof *lengths;
    uint64_t state = seed + 99;
    for (int t = 0; t < LACIS_SOLVE_TYPES; t++)
        for (size_t i = 0; i < (!small ? all : t == LACIS_SOLVE_F64 ? 4 : 3); i++)
            for (int turn = 0; turn < (small ? 2 : 4); turn++) {
                const lacis_solve_gpu_way way = turn % 2 ? LACIS_SOLVE_GPU_CYCLIC : LACIS_SOLVE_GPU_CHIP;
                const int shared = turn / 2;
                const lacis_solve_type type = (lacis_solve_type)t;
                const int64_t n = lengths[i], lanes = small ? 5 : n > 1000 ? 19 : 75;
                if (t == LACIS_SOLVE_C128 && n > 5120) continue;
                if (way == LACIS_SOLVE_GPU_CYCLIC && n > 1500) continue;
                const int share = shared ? 7 : 0;
                const chain_set s = make_chains(type, lanes, n, share, BAD, &state);
                std::vector<char> first;
                for (int64_t block : {1, 0, 2, 3, 16, 64, -1, -2}) {
                    if (small && block > 1 && block != 16) continue;
                    std::vector<chain_set> sets;
                    std::vector<layout> matrix, x;
                    for (int64_t l = 0; l < lanes;) {
                        const int64_t left = lanes - l,
                                      some = block >= 0 ? left : 1 + (int64_t)(next_random(&state) % left);
                        chain_set part;
                        part.lanes = some, part.rows = n;
                        for (int f = 0; f < FIELDS; f++)
                            part.in[f].assign(s.in[f].begin() + l * n, s.in[f].begin() + (l + some) * n);
                        sets.push_back(part);
                        layout own;
                        if (block >= 0) own.block = block;
                        matrix.push_back(block >= 0 ? own : random_layout(&state));
                        x.push_back(block == -2 ? random_layout(&state) : matrix.back());
                        l += some;
                    }
                    batch b = lay_out(type, share, sets, matrix, x, x, block == 3);
                    const run_result r = run_on_device(b, way, true, false, false, "bits");
                    std::vector<char> all;
                    for (size_t g = 0; g < sets.size(); g++) {
                        const std::vector<char> own = x_of(b, (int64_t)g);
                        all.insert(all.end(), own.begin(), own.end());
                    }
                    if (first.empty()) first = all;
                    int64_t other = -1;
                    const size_t bytes = (size_t)lacis_solve_bytes(type);
                    for (int64_t e = 0; e < lanes * n && other < 0; e++)
                        if (b.status[(size_t)(e / n)] % 4 != LACIS_SOLVE_NOT_FINITE &&
                            !same_value(type, &all[(size_t)e * bytes], &first[(size_t)e * bytes]))
                            other = e;
                    expect(r.status == LACIS_SOLVE_GPU_OK && other < 0,
                           "%s %s, %lld rows, block %lld, shared %d: lane %lld, row %lld has other bits",
                           lacis_solve_gpu_way_name[way], type_name[t], (long long)n, (long long)block, share,
                           (long long)(other / n), (long long)(other % n));
                }
            }
}

/* One matrix for so many lanes that it is factored: as each lane by itself has it. */
static void check_factored(bool small, uint64_t seed)
{
    uint64_t state = seed + 55;
    if (small) return;
    static const int64_t shapes[][2] = {{64, 1}, {145, 0}, {100, 8}}; /* rows, block */
    for (int t = 0; t < LACIS_SOLVE_TYPES; t++)
        for (const auto &shape : shapes) {
            const int64_t n = shape[0], block = shape[1];
            const lacis_solve_type type = (lacis_solve_type)t;
            const int64_t lanes = ((int64_t)1 << 19) / n + 70 + 3 * block;
            const chain_set s = make_chains(type, lanes, n, 7, kinds[block % 3], &state);
            chain_set few = s;
            few.lanes = 50;
            layout l;
            l.block = block, l.ahead = 1;
            batch b = lay_out(type, 7, {s, few}, {l, l}, {l, l}, {l, l}, n == 64);
            const run_result r = run_on_device(b, LACIS_SOLVE_GPU_CHIP, true, false, false, "factored");
            const std::vector<char> many = x_of(b, 0), own = x_of(b, 1);
            bool same = true;
            const size_t bytes = (size_t)lacis_solve_bytes(type);
            for (int64_t e = 0; e < 50 * n; e++)
                same = same && (b.status[(size_t)(e / n)] % 4 == LACIS_SOLVE_NOT_FINITE ||
                                same_value(type, &many[(size_t)e * bytes], &own[(size_t)e * bytes]));
            expect(r.status == LACIS_SOLVE_GPU_OK && r.out.solve.factored == 1 && same,
                   "%s, %lld rows, block %lld: status %d, %lld factored, same %d", type_name[t], (long long)n,
                   (long long)block, r.status, (long long)r.out.solve.factored, same);
            double worst = 0;
            for (int64_t e = 0; e < lanes; e += 97)
                if (b.status[(size_t)e] == 0) worst = fmax(worst, backward_error(b, 0, e, many));
            expect(worst <= 250, "%s, %lld rows, block %lld: error %g", type_name[t], (long long)n, (long long)block,
                   worst);
        }
}

/* Right sides scaled by a power of two, lane by lane, so that some row's terms are finite and their sum is not. */
static void scale_up(const batch &solved, chain_set *s)
{
    const std::vector<char> x = x_of(solved, 0);
    const int most = solved.type == LACIS_SOLVE_F32 ? 127 : 1023;
    for (int64_t l = 0; l < s->lanes; l++) {
        double own = 0;
        for (int64_t e = l * s->rows; e < (l + 1) * s->rows; e++) {
            const value term = s->in[DIAGONAL][e] * value_at(solved.type, x.data(), e);
            own = fmax(own, fabs(term.real()) + fabs(term.imag()));
        }
        for (int64_t e = l * s->rows; e < (l + 1) * s->rows; e++)
            s->in[RHS][e] =
                value(ldexp(s->in[RHS][e].real(), most - ilogb(own)), ldexp(s->in[RHS][e].imag(), most - ilogb(own)));
    }
}

/* CR-PCR cannot tell from such rows whether x is right, and leaves these lanes to the CPU's steps. */
static void check_overflow(bool small, uint64_t seed)
{
    uint64_t state = seed + 23;
    for (lacis_solve_type type : {LACIS_SOLVE_F64, LACIS_SOLVE_F32, LACIS_SOLVE_C128})
        for (int64_t n : {3, 40, 130, 700}) {
            chain_set s = make_chains(type, small ? 9 : 60, n, 0, EASY, &state);
            batch cpu = lay_out(type, 0, {s}, {{}}, {{}}, {{}}, false);
            run_on_host(cpu);
            scale_up(cpu, &s);
            batch b = lay_out(type, 0, {s}, {{}}, {{}}, {{}}, false);
            cpu = b;
            run_on_host(cpu);
            const run_result r = run_on_device(b, LACIS_SOLVE_GPU_CYCLIC, true, false, false, "overflow");
            const std::vector<char> own = x_of(b, 0), other = x_of(cpu, 0);
            const size_t bytes = (size_t)lacis_solve_bytes(type);
            int64_t fine = 0, same = 0;
            for (int64_t l = 0; l < s.lanes; l++) {
                bool alike = true;
                for (size_t e = (size_t)(l * n); e < (size_t)((l + 1) * n); e++)
                    alike = alike && same_value(type, &own[e * bytes], &other[e * bytes]);
                fine += cpu.status[(size_t)l] == 0;
                same += cpu.status[(size_t)l] == 0 && alike;
            }
            expect(r.status == LACIS_SOLVE_GPU_OK && 2 * fine > s.lanes && same == fine,
                   "%s, %lld rows, overflow: status %d, of %lld lanes %lld are fine and %lld the same",
                   type_name[type], (long long)n, r.status, (long long)s.lanes, (long long)fine, (long long)same);
        }
}

/* Sums by lane of what the CPU has solved, NaNs and infinities of bad lanes among them. */
static void check_sums(bool small, uint64_t seed)
{
    uint64_t state = seed + 11;
    for (int t = 0; t < LACIS_SOLVE_TYPES; t++)
        for (int round = 0; round < (small ? 2 : 8); round++) {
            batch b = random_batch((lacis_solve_type)t, 1 + 4 * round, 150, 60, 0, round % 2 ? BAD : EASY, &state);
            run_on_host(b);
            lacis_solve_gpu_job job = {};
            int error = 0;
            job.job = b.job();
            job.stream = stream;
            char *x = upload(b.x);
            job.job.x = x;
            lacis_solve_gpu_sum *out = upload(std::vector<lacis_solve_gpu_sum>((size_t)b.lanes + 1));
            expect(lacis_solve_gpu_sums(&job, out, &error) == LACIS_SOLVE_GPU_OK, "sums: error %d", error);
            CUDA(cudaStreamSynchronize(stream));
            std::vector<lacis_solve_gpu_sum> found((size_t)b.lanes + 1);
            CUDA(cudaMemcpy(found.data(), out, sizeof found[0] * (size_t)b.lanes, cudaMemcpyDeviceToHost));
            for (const lacis_solve_group &group : b.groups)
                for (int64_t l = 0; l < group.lanes; l++) {
                    lacis_solve_gpu_sum sum = {0, INFINITY, -INFINITY, 0};
                    for (int64_t r = 0; r < group.rows; r++) {
                        const double v =
                            value_at(b.type, b.x.data(), lacis_solve_place(&group.x, group.rows, l, r)).real();
                        if (!std::isnan(v))
                            sum.sum += v, sum.least = fmin(sum.least, v), sum.most = fmax(sum.most, v);
                        sum.nan += std::isnan(v);
                    }
                    const lacis_solve_gpu_sum &own = found[(size_t)(group.first + l)];
                    const bool same = own.sum == sum.sum || (std::isnan(own.sum) && std::isnan(sum.sum));
                    expect(same && own.least == sum.least && own.most == sum.most && own.nan == sum.nan,
                           "%s: sums of lane %lld", type_name[t], (long long)(group.first + l));
                }
            CUDA(cudaFree(x));
            CUDA(cudaFree(out));
        }
}

/* Each allocation in turn fails: nothing is left, and the run says so. */
static void check_memory(uint64_t seed)
{
    uint64_t state = seed + 5;
    for (lacis_solve_gpu_way way : ways)
        for (int64_t n = 0; n < 20; n++) {
            batch b = random_batch(LACIS_SOLVE_F64, 9, 20, 40, n % 2 ? 7 : 0, BAD, &state);
            allocs = 0, fail_at = n;
            const int64_t before = live;
            const run_result r = run_on_device(b, way, true, true, false, "memory");
            const bool failed = allocs > n;
            fail_at = -1;
            expect(r.status == (failed ? LACIS_SOLVE_GPU_NO_MEMORY : LACIS_SOLVE_GPU_OK) && live == before,
                   "allocation %lld of way %d: status %d", (long long)n, way, r.status);
        }
}

void check_chains(bool small, uint64_t seed)
{
    const auto timed = [&](const char *name, void (*part)(bool, uint64_t)) {
        const auto begin = std::chrono::steady_clock::now();
        part(small, seed);
        printf("chains, %s: %.1f s\n", name,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        fflush(stdout);
    };
    timed("lengths", check_lengths);
    timed("random", check_random);
    timed("bits", check_bits);
    timed("factored", check_factored);
    timed("overflow", check_overflow);
    timed("sums", check_sums);
    check_memory(seed);
    printf("chains: errors of at most %.0f %.0f %.0f %.0f roundings (f64 f32 mixed c128)\n", worst_error[0],
           worst_error[1], worst_error[2], worst_error[3]);
}
