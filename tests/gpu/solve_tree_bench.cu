/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of trees on the GPU: solve_gpu bench-trees [table[:ROWS[:LANES]] | table-even |
 * WAY:KIND:ROWS:BRANCHES:LANES:LAYOUT:SHARING:TYPE[:SHAPES]]... LAYOUT 1 is Flat, 0 Full, else Block of so many;
 * SHARING and TYPE are numbers of solve_tree.h and solve.h. A tree of each job is checked by its residual. Times are
 * of runs with a plan whose lanes are known to be good; of small jobs, of 20 runs in a row.
 */
#include "solve_tree.h"

#include <cmath>
#include <cstring>
#include <string>
#include <thread>

struct job_spec {
    lacis_solve_gpu_way way;
    int kind;
    int64_t rows, branches, lanes, layout;
    int sharing, type, shapes;
};

__device__ static double random_unit(uint64_t key)
{
    uint64_t x = key * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

template <class T> __global__ static void fill_kernel(T *to, int64_t count, double low, double high, uint64_t seed)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        to[i] = (T)(low + (high - low) * random_unit(seed * 0x100000001ull + (uint64_t)i));
}

static void fill(void *to, int64_t count, double low, double high, uint64_t seed, int type)
{
    if (type == LACIS_SOLVE_F64)
        fill_kernel<double><<<1024, 256, 0, stream>>>((double *)to, count, low, high, seed);
    else
        fill_kernel<float><<<1024, 256, 0, stream>>>((float *)to, count, low, high, seed);
    CUDA(cudaGetLastError());
}

struct bench_job {
    job_spec spec;
    std::vector<int32_t> parent;
    std::vector<lacis_solve_group> group;
    int64_t places, shared_rows, most_children;
    void *field[5]; /* lower, diagonal, upper, rhs, x */
    int32_t *device_parent;
};

static int64_t elements(const bench_job &b, int field)
{
    const bool off = field == 0 || field == 2,
               shared = off ? b.spec.sharing != SHARE_NONE : field == 1 && b.spec.sharing == SHARE_ALL;
    return shared ? b.shared_rows : b.places;
}

/* Several shapes: of 19 rows fewer to 19 more. */
static void add_shapes(bench_job &b)
{
    const job_spec &s = b.spec;
    for (int g = 0; g < s.shapes; g++) {
        const int64_t n = s.shapes > 1 ? s.rows - 19 + g * 37 % 39 : s.rows, lanes = s.lanes / s.shapes;
        const tree t = make_tree(s.kind, n, s.branches * n / s.rows, 5 + (uint64_t)g);
        const int64_t block = s.layout == LAYOUT_FULL ? lanes : s.layout;
        lacis_solve_group group = {};
        group.lanes = lanes;
        group.rows = n;
        group.first = g * lanes;
        group.tree = (int64_t)b.parent.size();
        group.matrix = group.rhs = group.x = {b.places, block, 0, b.shared_rows, 1};
        b.places += (lanes + block - 1) / block * block * n;
        b.shared_rows += n;
        std::vector<int64_t> children((size_t)n, 0);
        for (int32_t p : t)
            if (p >= 0 && ++children[(size_t)p] > b.most_children) b.most_children = children[(size_t)p];
        b.group.push_back(group);
        b.parent.insert(b.parent.end(), t.begin(), t.end());
    }
}

static bench_job make_job(const job_spec &spec)
{
    bench_job b = {};
    b.spec = spec;
    add_shapes(b);
    const int64_t bytes = lacis_solve_bytes((lacis_solve_type)spec.type);
    for (int i = 0; i < 5; i++)
        CUDA(cudaMalloc(&b.field[i], (size_t)(elements(b, i) * bytes)));
    const double most = (double)b.most_children + 1;
    fill(b.field[0], elements(b, 0), -0.9, -0.1, 1, spec.type);
    fill(b.field[1], elements(b, 1), most, most + 1, 2, spec.type);
    fill(b.field[2], elements(b, 2), -0.9, -0.1, 3, spec.type);
    fill(b.field[3], elements(b, 3), -1, 1, 4, spec.type);
    CUDA(cudaMemsetAsync(b.field[4], 0xA5, (size_t)(elements(b, 4) * bytes), stream));
    b.device_parent = upload(b.parent);
    return b;
}

static lacis_solve_gpu_job job_of(const bench_job &b)
{
    lacis_solve_gpu_job job = {};
    job.way = b.spec.way;
    job.stream = stream;
    job.pinned = pinned;
    job.job.type = (lacis_solve_type)b.spec.type;
    job.job.lower = {b.field[0], b.spec.sharing != SHARE_NONE};
    job.job.diagonal = {b.field[1], b.spec.sharing == SHARE_ALL};
    job.job.upper = {b.field[2], b.spec.sharing != SHARE_NONE};
    job.job.rhs = {b.field[3], false};
    job.job.x = b.field[4];
    job.job.parent = b.device_parent;
    job.job.group = b.group.data();
    job.job.groups = (int64_t)b.group.size();
    job.job.host = {device_alloc, device_free, NULL, NULL};
    return job;
}

/* Largest residual of a lane in the middle of the batch. */
static double residual(const bench_job &b)
{
    const lacis_solve_group &g = b.group[b.group.size() / 2];
    const size_t n = (size_t)g.rows;
    std::vector<double> value[5];
    const size_t bytes = (size_t)lacis_solve_bytes((lacis_solve_type)b.spec.type);
    for (int i = 0; i < 5; i++) {
        const bool shared = i < 4 && elements(b, i) == b.shared_rows && b.shared_rows != b.places;
        const int64_t at = shared ? g.matrix.row : lacis_solve_place(&g.matrix, g.rows, g.lanes / 3, 0);
        const size_t step = shared ? 1 : (size_t)g.matrix.block;
        std::vector<char> raw(n * bytes);
        CUDA(cudaMemcpy2D(raw.data(), bytes, (char *)b.field[i] + (size_t)at * bytes, step * bytes, bytes, n,
                          cudaMemcpyDeviceToHost));
        for (size_t r = 0; r < n; r++)
            value[i].push_back(b.spec.type == LACIS_SOLVE_F64 ? ((const double *)raw.data())[r]
                                                              : (double)((const float *)raw.data())[r]);
    }
    std::vector<double> left(n);
    double most = 0;
    for (size_t r = 0; r < n; r++)
        left[r] = value[3][r] - value[1][r] * value[4][r];
    for (size_t r = 0; r < n; r++) {
        const int32_t p = b.parent[(size_t)g.tree + r];
        if (p < 0) continue;
        left[r] -= value[0][r] * value[4][(size_t)p];
        left[(size_t)p] -= value[2][r] * value[4][r];
    }
    for (double x : left)
        most = std::fmax(most, std::isnan(x) ? INFINITY : std::fabs(x));
    return most;
}

/* Milliseconds; < 0: it failed or was wrong; NaN: refused. */
static double time_job(const job_spec &spec)
{
    bench_job b = make_job(spec);
    lacis_solve_gpu_job job = job_of(b);
    lacis_solve_gpu_plan *plan = NULL;
    lacis_solve_gpu_output out;
    int error = 0;
    double ms = NAN;
    if (lacis_solve_gpu_refuses(&job) == NULL) {
        bool good = lacis_solve_gpu_plan_new(&job, b.parent.data(), &plan, &error) == LACIS_SOLVE_GPU_OK &&
                    lacis_solve_gpu_run(&job, plan, b.parent.data(), &out) == LACIS_SOLVE_GPU_OK;
        good = good && residual(b) < (spec.type == LACIS_SOLVE_F64 ? 1e-12 : 1e-4);
        job.trusted = true;
        if (good)
            ms = median_ms(7, (double)spec.lanes * (double)spec.rows < 4e6 ? 20 : 1, [&] {
                if (lacis_solve_gpu_run(&job, plan, b.parent.data(), &out) != LACIS_SOLVE_GPU_OK) good = false;
            });
        if (!good) ms = -1;
        lacis_solve_gpu_plan_free(&job, plan);
    }
    CUDA(cudaStreamSynchronize(stream));
    for (void *field : b.field)
        CUDA(cudaFree(field));
    CUDA(cudaFree(b.device_parent));
    return ms;
}

/* The same systems by the processor. */
static double time_cpu(const job_spec &spec)
{
    bench_job b = make_job(spec);
    size_t bytes[5];
    for (int i = 0; i < 5; i++)
        bytes[i] = (size_t)(elements(b, i) * lacis_solve_bytes((lacis_solve_type)spec.type));
    CUDA(cudaStreamSynchronize(stream));
    const double ms = cpu_ms(job_of(b).job, b.parent, bytes, 3);
    for (void *field : b.field)
        CUDA(cudaFree(field));
    CUDA(cudaFree(b.device_parent));
    return ms;
}

static double words(const job_spec &s) /* that have to be moved */
{
    return s.sharing == SHARE_NONE ? 5 : s.sharing == SHARE_OFF ? 3 : 2;
}

static int bench_one(const job_spec &s)
{
    const double ms = time_job(s);
    const double floor =
        (double)s.lanes * (double)s.rows * words(s) * lacis_solve_bytes((lacis_solve_type)s.type) / 4.3e9;
    printf("%-8s %-6s %lld/%lld x %lld, %d shapes, layout %lld, sharing %d, type %d: ",
           lacis_solve_gpu_way_name[s.way], tree_kind_name[s.kind], (long long)s.rows, (long long)s.branches,
           (long long)s.lanes, s.shapes, (long long)s.layout, s.sharing, s.type);
    if (std::isnan(ms))
        printf("refused\n");
    else
        printf("%.4f ms, floor %.4f%s\n", ms, floor, ms < 0 ? " FAILED" : "");
    fflush(stdout);
    return ms < 0;
}

static bool parse(const char *text, job_spec *s)
{
    char way[16], kind[16];
    long long rows, branches, lanes, layout;
    s->shapes = 1;
    if (sscanf(text, "%15[^:]:%15[^:]:%lld:%lld:%lld:%lld:%d:%d:%d", way, kind, &rows, &branches, &lanes, &layout,
               &s->sharing, &s->type, &s->shapes) < 8)
        return false;
    s->rows = rows;
    s->branches = branches;
    s->lanes = lanes;
    s->layout = layout;
    int w = 0;
    for (s->kind = 0; s->kind < TREE_KINDS && strcmp(kind, tree_kind_name[s->kind]) != 0; s->kind++) {
    }
    while (w < LACIS_SOLVE_GPU_WAYS && strcmp(way, lacis_solve_gpu_way_name[w]) != 0)
        w++;
    s->way = (lacis_solve_gpu_way)w;
    return w < LACIS_SOLVE_GPU_WAYS && s->kind < TREE_KINDS;
}

static const lacis_solve_gpu_way ways[] = {LACIS_SOLVE_GPU_THREAD, LACIS_SOLVE_GPU_LANES, LACIS_SOLVE_GPU_SHARED,
                                           LACIS_SOLVE_GPU_BRANCHES};
static const int64_t three_layouts[] = {LAYOUT_FLAT, LAYOUT_FULL, 64};

/* A cell: each layout by one way; NULL: by the processor. */
static int bench_cell(job_spec s, const lacis_solve_gpu_way *way)
{
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        s.layout = three_layouts[i];
        if (way != NULL) s.way = *way;
        const double ms = way != NULL ? time_job(s) : time_cpu(s);
        failed |= ms < 0;
        printf("%s", i > 0 ? " / " : " ");
        if (std::isnan(ms))
            printf("-");
        else
            printf("%.3g", ms);
    }
    printf(" |");
    fflush(stdout);
    return failed;
}

/* The six shapes, four numbers of lanes, each layout and way, and with `cpu` all processors; off-diagonals shared:
 * the finished table. Of trees of `rows` alone, if that is not 0, and of no more lanes than `most`. */
static int bench_table(int kind, bool cpu, int64_t rows, int64_t most)
{
    static const int64_t shapes[][2] = {{76, 7}, {76, 29}, {305, 30}, {319, 157}, {695, 66}, {691, 341}};
    int failed = 0;
    if (cpu) printf("%u processors; ", std::thread::hardware_concurrency());
    printf("%s trees; ms Flat / Full / Block(64)\n\n| rows / branches | lanes |%s `thread` | `lanes` | `shared` | "
           "`branches` |\n|---|---|%s---|---|---|---|\n",
           tree_kind_name[kind], cpu ? " processors |" : "", cpu ? "---|" : "");
    for (const auto &shape : shapes)
        for (int64_t lanes = 256; lanes <= most && (rows == 0 || rows == shape[0]); lanes *= 10) {
            const job_spec s = {ways[0], kind, shape[0], shape[1], lanes, 0, SHARE_OFF, LACIS_SOLVE_F64, 1};
            printf("| %lld / %lld | %lld |", (long long)shape[0], (long long)shape[1], (long long)lanes);
            if (cpu) failed |= bench_cell(s, NULL);
            for (const lacis_solve_gpu_way &way : ways)
                failed |= bench_cell(s, &way);
            printf("\n");
        }
    return failed;
}

int bench_trees(int argc, char **argv)
{
    int failed = 0;
    for (int i = 0; i < argc; i++) {
        job_spec s;
        long long rows = 0, most = 256000;
        if (strcmp(argv[i], "table") == 0 || sscanf(argv[i], "table:%lld:%lld", &rows, &most) > 0) {
            failed |= bench_table(TREE_SPLIT, true, rows, most);
        } else if (strcmp(argv[i], "table-even") == 0) {
            failed |= bench_table(TREE_EVEN, false, 0, 256000);
        } else if (parse(argv[i], &s)) {
            failed |= bench_one(s);
        } else {
            printf("%s is not understood\n", argv[i]);
            return 2;
        }
    }
    return failed;
}
