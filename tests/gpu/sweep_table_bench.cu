/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of sweeps, each as GCells/s and as the share of a device copy of the same run (of as many bytes as the rule
 * must read and write):
 *
 *   sweep_gpu bench table [NAME...]   all rows, or those whose names have one of the words
 *   sweep_gpu bench rows [N [ROWS...]]  how many rows a warp should march, 2-D and 3-D (0: as is chosen)
 *   sweep_gpu bench pack [N]          borders by a kernel and by copies of two dimensions
 *   sweep_gpu bench ghosts            edges that move: ghosts put by the sweep, and by a kernel of their own
 *
 * A row's time is the median of rounds of several steps, with events around each round.
 */
#include "sweep/gpu_inside.h"
#include "sweep_support.h"

#include <algorithm>
#include <cstring>

void sweep_program_five_f32(void **kernel, std::string *lists);
void sweep_program_five_f64(void **kernel, std::string *lists);
void sweep_program_varied_f32(void **kernel, std::string *lists);
void sweep_program_varied_f64(void **kernel, std::string *lists);

enum rule { CROSS, HEAT, NINE, STAR, BACKWARDS, SEVEN, BOX, WRITTEN, VARIED };
enum edges { HOLD, PERIODIC, MIXED };

struct bench_row {
    const char *name;
    rule what;
    int dims;
    int64_t n;
    edges edge;
    int norm; /* a change each so many steps; 0: never */
    int steps;
    double bar; /* share of copy; 0: none */
};

/* --- one system, numbers drawn on the device -------------------------------------------------------------------- */

static __global__ void fill_kernel(void *to, int64_t n, bool wide, u64 seed)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        u64 z = (seed + (u64)i) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        const double value = (double)(z >> 11) * 0x1p-53;
        if (wide)
            static_cast<double *>(to)[i] = value;
        else
            static_cast<float *>(to)[i] = (float)value;
    }
}

static void *filled(lacis_sweep_type type, int64_t cells, u64 seed)
{
    void *block = nullptr;
    CUDA(cudaMallocAsync(&block, (uint64_t)cells * lacis_sweep_size(type), stream));
    fill_kernel<<<4096, 256, 0, stream>>>(block, cells, type == LACIS_SWEEP_F64, seed);
    CUDA(cudaGetLastError());
    return block;
}

static void set_rule(sweep_case *c, rule what)
{
    const std::vector<int> centre = {0, 0, 0, 0}, cross = {0, -1, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 1, 0};
    const std::vector<int> corners = {0, -1, -1, 0, 0, 1, -1, 0, 0, -1, 1, 0, 0, 1, 1, 0};
    std::vector<int> faces = cross, edges, points;
    faces.insert(faces.end(), {0, 0, 0, -1, 0, 0, 0, 1});
    if (what == HEAT || what == NINE || what == STAR || what == BOX) sweep_group(c, 0, 0.125, centre);
    if (what == CROSS || what == HEAT || what == NINE || what == STAR) sweep_group(c, 0, 0.15, cross);
    if (what == NINE) sweep_group(c, 0, 0.0625, corners);
    if (what == STAR) sweep_group(c, 0, 0.05, {0, -2, 0, 0, 0, 2, 0, 0, 0, 0, -2, 0, 0, 0, 2, 0});
    if (what == BACKWARDS) /* in an order that no kernel is for: the general one */
        sweep_group(c, 0, 0.25, {0, 0, 1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0});
    if (what == SEVEN || what == BOX) sweep_group(c, 0, 0.1, faces);
    if (what != BOX) return;
    for (int i = 0; i < 12; i++) { /* edges by |z|, |y|, |x|, then z, y, x */
        const int a = i % 2 ? 1 : -1, b = i / 2 % 2 ? 1 : -1;
        const int at[4] = {0, i < 8 ? a : 0, i < 4 ? b : i < 8 ? 0 : a, i < 4 ? 0 : b};
        edges.insert(edges.end(), at, at + 4);
    }
    for (int i = 0; i < 8; i++)
        points.insert(points.end(), {0, i % 2 ? 1 : -1, i / 2 % 2 ? 1 : -1, i / 4 ? 1 : -1});
    sweep_group(c, 0, 0.01, edges);
    sweep_group(c, 0, 0.005, points);
}

static void set_program(sweep_case *c, rule what)
{
    std::string lists;
    const bool wide = c->start.type == LACIS_SWEEP_F64;
    std::vector<int> taps = {0, -1, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 1, 0};
    if (what == VARIED) {
        taps.insert(taps.begin(), {0, 0, 0, 0});
        for (int k = 1; k <= 4; k++)
            taps.insert(taps.end(), {k, 0, 0, 0});
    }
    sweep_written(c, 0, taps, nullptr, nullptr);
    if (what == VARIED)
        (wide ? sweep_program_varied_f64 : sweep_program_varied_f32)(c->kernel, &lists);
    else
        (wide ? sweep_program_five_f64 : sweep_program_five_f32)(c->kernel, &lists);
}

static void set_edges(sweep_case *c, edges edge)
{
    static const lacis_sweep_edge_kind mixed[] = {LACIS_SWEEP_MIRROR, LACIS_SWEEP_AFFINE, LACIS_SWEEP_CLAMP,
                                                  LACIS_SWEEP_HOLD,   LACIS_SWEEP_MIRROR, LACIS_SWEEP_AFFINE};
    for (int face = 0; face < 2 * c->start.dims; face++) {
        lacis_sweep_edge *e = &c->start.edge[0][face];
        e->kind = edge == HOLD ? LACIS_SWEEP_HOLD : edge == PERIODIC ? LACIS_SWEEP_PERIODIC : mixed[face];
        for (int k = 0; k < LACIS_SWEEP_RADIUS; k++)
            e->a[k] = 0.25, e->b[k] = 0.5;
    }
}

struct bench_system {
    sweep_case c;
    sweep_device d;
};

/* False: no memory, or it cannot be made. */
static bool begin(bench_system *b, rule what, lacis_sweep_type type, int dims, int64_t n, edges edge)
{
    sweep_case *c = &b->c;
    sweep_shape(c, type, dims, n, n, n, 1, what == VARIED ? 4 : 0);
    if (what == WRITTEN || what == VARIED)
        set_program(c, what);
    else
        set_rule(c, what);
    set_edges(c, edge);
    sweep_settle(c);
    b->d.start.start = c->start;
    for (int i = 0; i < c->start.fields + c->start.coefficients; i++) {
        b->d.held.push_back(filled(type, (int64_t)c->cells(), 1000 * (u64)i + 1));
        b->d.start.start.array[i] = b->d.held.back();
    }
    for (int k = 0; k < LACIS_SWEEP_GPU_KERNELS; k++)
        b->d.start.kernel[k] = c->kernel[k];
    b->d.start.start.host = sweep_host();
    b->d.start.stream = stream;
    CUDA(cudaMallocHost(&b->d.pinned, LACIS_SWEEP_GPU_PINNED_BYTES));
    b->d.start.pinned = b->d.pinned;
    return sweep_make(&b->d) == LACIS_SWEEP_OK;
}

/* --- times -------------------------------------------------------------------------------------------------------
 */

template <class F> static double median_of(int rounds, const F &work)
{
    cudaEvent_t begin, end;
    std::vector<double> times;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (int round = 0; round <= rounds; round++) {
        float ms = 0;
        CUDA(cudaEventRecord(begin, stream));
        work();
        CUDA(cudaEventRecord(end, stream));
        CUDA(cudaEventSynchronize(end));
        CUDA(cudaEventElapsedTime(&ms, begin, end));
        if (round > 0) times.push_back(1e-3 * ms);
    }
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

/* Bytes a second of a copy, read and written counted both. */
static double copy_rate()
{
    const uint64_t bytes = (uint64_t)4 << 30;
    void *const from = filled(LACIS_SWEEP_F32, (int64_t)(bytes / 4), 5), *to = nullptr;
    CUDA(cudaMallocAsync(&to, bytes, stream));
    const double s =
        median_of(9, [&]() { CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)); });
    CUDA(cudaFreeAsync(from, stream));
    CUDA(cudaFreeAsync(to, stream));
    return 2.0 * (double)bytes / s;
}

static void must(lacis_sweep_status status)
{
    if (status == LACIS_SWEEP_OK) return;
    printf("status %d\n", (int)status);
    exit(2);
}

static void steps(bench_system *b, int count, int norm)
{
    lacis_sweep_change change;
    for (int done = 0; done < count;) {
        const int now = norm > 0 ? std::min(norm, count - done) : count;
        must(lacis_sweep_gpu_steps(b->d.system, now, norm > 0 ? &change : nullptr));
        done += now;
    }
}

/* Seconds of a step; below 0: it was not made. */
static double time_of(const bench_row &row, lacis_sweep_type type)
{
    bench_system b;
    if (!begin(&b, row.what, type, row.dims, row.n, row.edge)) return -1;
    return median_of(row.steps >= 500 ? 3 : 7, [&]() { steps(&b, row.steps, row.norm); }) / row.steps;
}

static const bench_row rows[] = {{"5-point, fixed", CROSS, 2, 16384, HOLD, 0, 20, 0.93},
                                 {"5-point, fixed", CROSS, 2, 32768, HOLD, 0, 10, 0.93},
                                 {"5-point, fixed, norm each step", CROSS, 2, 16384, HOLD, 1, 20, 0.90},
                                 {"5-point, fixed, norm each step", CROSS, 2, 32768, HOLD, 1, 10, 0.90},
                                 {"5-point, periodic (1.02 of fixed)", CROSS, 2, 16384, PERIODIC, 0, 20, 0.92},
                                 {"5-point, mixed edges (1.02 of fixed)", CROSS, 2, 16384, MIXED, 0, 20, 0.92},
                                 {"5-point written (1.1 of recognised)", WRITTEN, 2, 16384, HOLD, 0, 20, 0.85},
                                 {"centre and cross, fixed", HEAT, 2, 16384, HOLD, 0, 20, 0},
                                 {"9-point, fixed", NINE, 2, 16384, HOLD, 0, 20, 0},
                                 {"star of radius 2, fixed", STAR, 2, 16384, HOLD, 0, 20, 0},
                                 {"5-point by the general kernel", BACKWARDS, 2, 16384, HOLD, 0, 20, 0},
                                 {"variable coefficients, five fields", VARIED, 2, 16384, HOLD, 0, 10, 0.85},
                                 {"7-point, fixed", SEVEN, 3, 1024, HOLD, 0, 10, 0.85},
                                 {"7-point, fixed, norm each step", SEVEN, 3, 1024, HOLD, 1, 10, 0},
                                 {"7-point, periodic", SEVEN, 3, 1024, PERIODIC, 0, 10, 0},
                                 {"27-point, fixed", BOX, 3, 1024, HOLD, 0, 10, 0},
                                 {"5-point 15708, fixed", CROSS, 2, 15708, HOLD, 0, 20, 0},
                                 {"5-point 25000 x 50 (f32 <= 65 ms)", CROSS, 2, 25000, HOLD, 0, 50, 0},
                                 {"5-point x 1000, norm each 100 (f32 1.09 s)", CROSS, 2, 16384, HOLD, 100, 1000, 0},
                                 {"5-point, small", CROSS, 2, 256, HOLD, 0, 1000, 0},
                                 {"5-point, small, periodic", CROSS, 2, 256, PERIODIC, 0, 1000, 0},
                                 {"5-point, small", CROSS, 2, 2048, HOLD, 0, 500, 0},
                                 {"7-point, small", SEVEN, 3, 128, HOLD, 0, 500, 0}};

static bool wanted(const char *name, int argc, char **argv)
{
    bool any = argc == 0;
    for (int i = 0; i < argc; i++)
        any = any || strstr(name, argv[i]) != nullptr;
    return any;
}

static int table(int argc, char **argv)
{
    const double copy = copy_rate();
    printf("device copy %.0f GB/s\n%-44s %6s %-4s %9s %9s %6s %5s\n", 1e-9 * copy, "what", "n", "type", "us a step",
           "GCells/s", "copy", "bar");
    for (const bench_row &row : rows)
        for (int type = 0; type < 2 && wanted(row.name, argc, argv); type++) {
            const double s = time_of(row, (lacis_sweep_type)type),
                         cells = row.dims == 2 ? (double)row.n * (double)row.n
                                               : (double)row.n * (double)row.n * (double)row.n;
            const double arrays = row.what == VARIED ? 6 : 2;
            const double bytes = arrays * cells * (double)lacis_sweep_size((lacis_sweep_type)type);
            if (s < 0)
                printf("%-44s %6lld %-4s not made\n", row.name, (long long)row.n, type ? "f64" : "f32");
            else
                printf("%-44s %6lld %-4s %9.1f %9.1f %6.3f %5.2f\n", row.name, (long long)row.n, type ? "f64" : "f32",
                       1e6 * s, 1e-9 * cells / s, bytes / s / copy, row.bar);
            fflush(stdout);
        }
    return failures != 0;
}
static sweep_bench table_bench("table", table);

static int march_rows(int argc, char **argv)
{
    const int64_t n = argc > 0 ? atoll(argv[0]) : 16384;
    const bench_row two = {"5-point", CROSS, 2, n, HOLD, 0, 20, 0},
                    three = {"7-point", SEVEN, 3, 1024, HOLD, 0, 10, 0};
    std::vector<int> lengths = {0, 8, 16, 32, 64, 128, 256, 512, 1024};
    if (argc > 1) lengths.clear();
    for (int i = 1; i < argc; i++)
        lengths.push_back(atoi(argv[i]));
    for (const int length : lengths) {
        sweep::march_length = length;
        printf("%4d rows:", length);
        for (int type = 0; type < 2; type++)
            printf("  %s: 5-point %.1f us, 7-point %.1f us", type ? "f64" : "f32",
                   1e6 * time_of(two, (lacis_sweep_type)type), 1e6 * time_of(three, (lacis_sweep_type)type));
        printf("\n");
        fflush(stdout);
    }
    sweep::march_length = 0;
    return 0;
}
static sweep_bench rows_bench("rows", march_rows);

/* In turn, so that what changes with time changes for all. */
static int ghosts(int, char **)
{
    static const bench_row held[] = {{"5-point", CROSS, 2, 16384, HOLD, 0, 20, 0},
                                     {"5-point", CROSS, 2, 2048, HOLD, 0, 500, 0},
                                     {"9-point", NINE, 2, 16384, HOLD, 0, 20, 0},
                                     {"7-point", SEVEN, 3, 1024, HOLD, 0, 10, 0}};
    for (const bench_row &row : held)
        for (int type = 0; type < 2; type++) {
            const double fixed = time_of(row, (lacis_sweep_type)type);
            printf("%s %lld %s: fixed %.1f us", row.name, (long long)row.n, type ? "f64" : "f32", 1e6 * fixed);
            for (const edges edge : {PERIODIC, MIXED})
                for (const bool apart : {false, true}) {
                    bench_row moving = row;
                    moving.edge = edge;
                    sweep::ghosts_apart = apart;
                    const double s = time_of(moving, (lacis_sweep_type)type);
                    printf(", %s%s %.1f (%.3f)", edge == PERIODIC ? "periodic" : "mixed", apart ? " apart" : "",
                           1e6 * s, s / fixed);
                }
            sweep::ghosts_apart = false;
            printf("\n");
            fflush(stdout);
        }
    return 0;
}
static sweep_bench ghosts_bench("ghosts", ghosts);

static int pack(int argc, char **argv)
{
    const int64_t n = argc > 0 ? atoll(argv[0]) : 16384;
    bench_system b;
    if (!begin(&b, CROSS, LACIS_SWEEP_F32, 2, n, HOLD)) return 2;
    void *buffer = nullptr;
    CUDA(cudaMallocAsync(&buffer, (uint64_t)n * 16 * 4, stream));
    for (const int64_t deep : {1, 12})
        for (int axis = 0; axis < 2; axis++)
            for (int copy = 0; copy < 2; copy++) {
                lacis_sweep_box box = {{0, 0, 0}, {n, n, 1}};
                box.end[axis] = deep;
                const double s = median_of(9, [&]() {
                    must(lacis_sweep_gpu_pack(b.d.system, 0, &box, buffer, copy != 0, stream));
                    must(lacis_sweep_gpu_unpack(b.d.system, 0, &box, buffer, copy != 0, stream));
                });
                printf("border of %lld %s, %s: %.1f us for packing and unpacking\n", (long long)deep,
                       axis ? "rows" : "columns", copy ? "copies" : "kernel", 1e6 * s);
            }
    CUDA(cudaFreeAsync(buffer, stream));
    return 0;
}
static sweep_bench pack_bench("pack", pack);
