/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the GPU kernels for vectors and closures against plain loops, and times them.
 *
 *     vector_gpu check [SEED]       random shapes: pull, push and closures in both ways, all types and operators
 *     vector_gpu small              a few small cases of every kernel: for compute-sanitizer
 *     vector_gpu bench SCALE...     rmat graphs with permuted labels: pull, push; cuSPARSE's SpMV where there is one
 *     vector_gpu closures SCALE...  those, then searches from 1, 32 and 1024 sources
 *     vector_gpu once SCALE...      all of it a few times, for a profiler
 *
 * Exit code 0: every comparison agreed; 2: wrong usage. Build: nvcc -arch=sm_90 -std=c++17 -O3 --fmad=false of the
 * vector_*.cu here, with kernels/ as include directory and the objects of kernels/multiply; -DWITH_CUSPARSE for the
 * peer.
 */
#include "vector_support.h"

int failures;
cudaStream_t stream;

/* A vector of n places, of which some are missing: begin, end as a column has them. */
struct vec {
    std::vector<int64_t> begin, end;
    int64_t stored = 0;
    bool every = false;
};

static vec make_vector(u64 *state, int64_t n, bool every)
{
    vec v;
    v.every = every;
    for (int64_t i = 0; i < n; i++) {
        v.begin.push_back(v.stored);
        v.stored += every || next_random(state) % 3 == 0;
        v.end.push_back(v.stored);
    }
    return v;
}

template <class T> static double slack_of(const lacis_mul_gpu_job &job, double size, bool exact)
{
    if (exact || job.agg != LACIS_MUL_SUM || !std::is_floating_point<T>::value) return 0;
    return size * (sizeof(T) == 4 ? 1e-5 : 1e-13);
}

/* A kernel is made for a type and an aggregate, and CON is a switch within it: a few cases have one CON for each. */
static bool left_out(int con, lacis_mul_agg agg, int turn, bool few)
{
    return few && con != ((int)agg + turn) % 5;
}

/* HAVING that compares, in every other turn; not where sums have no exact value. Small whole numbers, so that it is
 * the same for all types. */
template <class T> static void add_having(lacis_mul_gpu_job &job, int turn)
{
    if (turn % 2 || (job.agg == LACIS_MUL_SUM && std::is_floating_point<T>::value)) return;
    job.having = LACIS_MUL_GPU_WITHIN;
    job.low = turn % 3 - 1;
    job.high = turn % 4 ? job.low + 5 : INT64_MAX;
    job.low_real = (double)job.low;
    job.high_real = turn % 4 ? (double)job.high : (double)INFINITY;
}

static bool kept(const lacis_mul_gpu_job &job, double v)
{
    return job.having == LACIS_MUL_GPU_ALL || (job.low_real <= v && v <= job.high_real);
}

template <class T> static void check_pull(u64 *state, const matrix &g, int turn, bool few)
{
    const bool wild = turn % 4 == 3, valued = turn % 5 != 4, masks = turn % 3 == 1;
    const vec x = make_vector(state, g.cols, turn % 2);
    const std::vector<T> gv = make_values<T>(state, g.column.size(), wild),
                         xv = make_values<T>(state, x.stored, wild);
    const vec m = make_vector(state, g.rows, false);
    lacis_mul_matrix a = on_device(g, valued ? upload(gv) : NULL, kind<T>::type);
    lacis_mul_matrix b = {g.cols, 1, upload(x.begin), upload(x.end), NULL, upload(xv), kind<T>::type};
    lacis_mul_matrix mask = {g.rows, 1, upload(m.begin), upload(m.end), NULL, NULL, LACIS_MUL_I64};
    const int64_t first = turn % 7 == 6 ? g.rows / 3 : 0, count = g.rows - first;
    uint8_t *present = (uint8_t *)pool_alloc(NULL, count);
    void *value = pool_alloc(NULL, count * 8);
    for (int con = 0; con <= 4; con++)
        for (lacis_mul_agg agg : aggs) {
            if (left_out(con, agg, turn, few)) continue;
            char what[100];
            lacis_mul_gpu_job job = make_job<T>(con, agg, turn);
            job.a = a;
            job.b = b;
            if (masks) job.mask = &mask;
            job.mask_not = turn % 2;
            add_having<T>(job, turn);
            snprintf(what, sizeof what, "pull %s %s type %d turn %d", con_name[con], agg_name[agg], (int)job.type,
                     turn);
            lacis_mul_gpu_pull pull = {&job, x.every, g.column.size(), first, count, present, value, 0};
            const lacis_mul_gpu_status status = lacis_mul_gpu_pull_run(&pull);
            if (status != LACIS_MUL_GPU_OK) {
                fail(what, -1, status, pull.cuda_error);
                continue;
            }
            const auto p = download<uint8_t>(present, count);
            const auto v = download<char>(value, count * storage_size(job.storage));
            for (int64_t r = first; r < g.rows; r++) {
                cell<T> c;
                const bool off = masks && (m.end[r] > m.begin[r]) == job.mask_not;
                for (int64_t i = g.begin[r]; i < g.end[r] && !off; i++) {
                    const uint32_t t = g.column[i];
                    if (x.end[t] > x.begin[t])
                        c.take(agg, con_of<T>((lacis_mul_con)con, valued ? gv[i] : (T)1, xv[x.begin[t]]));
                }
                const bool there = c.n > 0 && kept(job, c.result(agg));
                if (p[r - first] != there) fail(what, r, p[r - first], there);
                if (c.n == 0 || !p[r - first]) continue;
                const double found = stored(v.data(), job.storage, r - first);
                if (!same(found, c.result(agg), slack_of<T>(job, c.size, job.ordered)))
                    fail(what, r, found, c.result(agg));
            }
        }
    drop(a);
    pool_free(NULL, (void *)b.begin), pool_free(NULL, (void *)b.end), pool_free(NULL, (void *)b.value);
    pool_free(NULL, (void *)mask.begin), pool_free(NULL, (void *)mask.end);
    pool_free(NULL, present), pool_free(NULL, value);
}

template <class T> static void check_push(u64 *state, const matrix &g, int turn, bool few)
{
    const bool wild = turn % 4 == 3, valued = turn % 5 != 4, masks = turn % 3 == 1;
    const int64_t skip = turn % 3; /* the row does not begin at 0 */
    std::vector<uint32_t> ac(skip), mc;
    for (int64_t c = 0; c < g.rows; c++)
        if (turn % 2 || next_random(state) % 4 == 0) ac.push_back((uint32_t)c);
    for (int64_t t = 0; t < g.cols; t++)
        if (next_random(state) % 2) mc.push_back((uint32_t)t);
    const int64_t n = (int64_t)ac.size() - skip;
    const std::vector<T> gv = make_values<T>(state, g.column.size(), wild),
                         av = make_values<T>(state, ac.size(), wild);
    u64 products = 0;
    for (int64_t e = skip; e < skip + n; e++)
        products += (u64)(g.end[ac[e]] - g.begin[ac[e]]);
    lacis_mul_matrix b = on_device(g, valued ? upload(gv) : NULL, kind<T>::type);
    uint32_t *columns = upload(ac), *mask_columns = upload(mc);
    T *values = upload(av);
    for (int con = 0; con <= 4; con++)
        for (lacis_mul_agg agg : aggs) {
            if (left_out(con, agg, turn, few)) continue;
            char what[100];
            lacis_mul_gpu_job job = make_job<T>(con, agg, turn);
            lacis_mul_matrix mask = {1, g.cols, NULL, NULL, mask_columns, NULL, LACIS_MUL_I64};
            job.ordered = false;
            job.a = {1, g.rows, NULL, NULL, columns, values, kind<T>::type};
            job.b = b;
            job.t_lo = turn % 4 == 2 ? g.cols / 5 : 0;
            job.t_hi = turn % 4 == 2 ? g.cols - g.cols / 7 : g.cols;
            if (masks) job.mask = &mask;
            job.mask_not = turn % 2;
            add_having<T>(job, turn);
            if (lacis_mul_gpu_push_refuses(&job)) continue;
            snprintf(what, sizeof what, "push %s %s type %d turn %d", con_name[con], agg_name[agg], (int)job.type,
                     turn);
            lacis_mul_gpu_push push = {&job, skip, skip + n, 0, (int64_t)mc.size(), products, NULL, NULL, 0, 0};
            const lacis_mul_gpu_status status = lacis_mul_gpu_push_run(&push);
            if (status != LACIS_MUL_GPU_OK) {
                fail(what, -1, status, push.cuda_error);
                continue;
            }
            std::vector<cell<T>> cells(g.cols);
            for (int64_t e = skip; e < skip + n; e++)
                for (int64_t i = g.begin[ac[e]]; i < g.end[ac[e]]; i++)
                    cells[g.column[i]].take(agg, con_of<T>((lacis_mul_con)con, av[e], valued ? gv[i] : (T)1));
            const auto fc = download<uint32_t>(push.column, push.entries);
            const auto fv = download<char>(push.value, push.entries * storage_size(job.storage));
            size_t at = 0;
            for (int64_t t = job.t_lo; t < job.t_hi; t++) {
                const bool in = std::binary_search(mc.begin(), mc.end(), (uint32_t)t);
                if (cells[t].n == 0 || (masks && in == job.mask_not) || !kept(job, cells[t].result(agg))) continue;
                if (at >= fc.size() || fc[at] != t) {
                    fail(what, t, at < fc.size() ? (double)fc[at] : -1, (double)t);
                    break;
                }
                const double found = stored(fv.data(), job.storage, at++);
                if (!same(found, cells[t].result(agg), slack_of<T>(job, cells[t].size, false)))
                    fail(what, t, found, cells[t].result(agg));
            }
            if (at != fc.size()) fail(what, -2, (double)fc.size(), (double)at);
            if (push.column) pool_free(NULL, push.column);
            if (push.value) pool_free(NULL, push.value);
        }
    drop(b);
    pool_free(NULL, columns), pool_free(NULL, mask_columns), pool_free(NULL, values);
}

static void check_rows_look(u64 *state, const matrix &g)
{
    std::vector<int64_t> v = make_values<int64_t>(state, g.column.size(), false);
    u64 most = 0, degree = 0;
    for (int64_t r = 0; r < g.rows; r++) {
        degree = std::max<u64>(degree, (u64)(g.end[r] - g.begin[r]));
        for (int64_t i = g.begin[r]; i < g.end[r]; i++)
            most = std::max<u64>(most, (u64)llabs(v[i]));
    }
    lacis_mul_matrix a = on_device(g, upload(v), LACIS_MUL_I64);
    lacis_mul_gpu_facts facts;
    if (lacis_mul_gpu_rows_look(&a, &pool, stream, &facts) != LACIS_MUL_GPU_OK) fail("look", -1, facts.cuda_error, 0);
    if (facts.entries != g.column.size()) fail("look entries", 0, (double)facts.entries, (double)g.column.size());
    if (facts.degree != degree || facts.most != most)
        fail("look most", (int64_t)degree, (double)facts.most, (double)most);
    float *f = (float *)pool_alloc(NULL, 4 * g.column.size());
    if (lacis_mul_gpu_convert(a.value, LACIS_MUL_TO_I64, g.column.size(), f, LACIS_MUL_TO_F32, stream))
        fail("convert", 0, 0, 0);
    const auto back = download<float>(f, g.column.size());
    for (size_t i = 0; i < back.size(); i++)
        if (back[i] != (float)v[i]) fail("convert", (int64_t)i, back[i], (double)v[i]);
    pool_free(NULL, f);
    drop(a);
}

static void check_types(u64 *state, const matrix &g, int turn, bool few)
{
    check_pull<int32_t>(state, g, turn, few), check_pull<int64_t>(state, g, turn + 1, few);
    check_pull<float>(state, g, turn + 2, few), check_pull<double>(state, g, turn + 3, few);
    check_push<int32_t>(state, g, turn, few), check_push<int64_t>(state, g, turn + 1, few);
    check_push<float>(state, g, turn + 2, few), check_push<double>(state, g, turn + 3, few);
}

static int check(u64 seed)
{
    u64 state = seed;
    int turn = 0;
    for (int shape = 0; shape < 4; shape++)
        for (int size = 0; size < 3; size++) {
            static const int64_t rows[] = {37, 700, 9000}, cols[] = {61, 3000, 5000}, entries[] = {150, 9000, 120000};
            const matrix g = make_shape(&state, shape, rows[size], cols[size], entries[size]);
            for (int again = 0; again < (size == 2 ? 2 : 6); again++, turn++)
                check_types(&state, g, turn, false);
            check_rows_look(&state, g);
            for (int again = 0; again < (size == 2 ? 1 : 3); again++)
                check_against(&state, g, turn + again);
        }
    check_top(&state, false);
    printf("vectors: %d failures\n", failures);
    check_closures(&state);
    printf("all: %d failures\n", failures);
    return failures != 0;
}

/* Graphs with rows so long that they are cut up; turns with each of a mask, its inverse, no values, wild ones, and
 * not all rows or columns. */
static int check_small()
{
    u64 state = 3;
    for (int turn = 3; turn < 7; turn++) {
        const matrix g = make_shape(&state, 1 + turn % 2, 300, 700, 2500);
        check_types(&state, g, turn, true);
        check_rows_look(&state, g);
        check_against(&state, g, turn);
    }
    check_top(&state, true);
    check_few_closures(&state);
    printf("small: %d failures\n", failures);
    return failures != 0;
}

static bool known(const char *mode)
{
    for (const char *name : {"check", "small", "bench", "closures", "once"})
        if (strcmp(mode, name) == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 2 || !known(argv[1])) {
        fprintf(stderr, "usage: vector_gpu check [SEED] | small | bench|closures|once SCALE...\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    cudaMemPool_t device_pool;
    u64 keep = ~0ull;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceGetDefaultMemPool(&device_pool, 0));
    CUDA(cudaMemPoolSetAttribute(device_pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (strcmp(argv[1], "check") == 0) return check(argc > 2 ? (u64)atoll(argv[2]) : 1);
    if (strcmp(argv[1], "small") == 0) return check_small();
    const bool once = strcmp(argv[1], "once") == 0;
    for (int i = 2; i < argc; i++)
        bench(atoi(argv[i]), once || strcmp(argv[1], "closures") == 0, once ? 4 : 23);
    return 0;
}
