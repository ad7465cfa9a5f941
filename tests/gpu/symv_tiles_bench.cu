/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of TILES, ROWS and ATOMIC, cold: matrices rotate over more than the L2 holds. Beside them, in the same run,
 * an empty launch, a copy on the device, a plain read of as many bytes, and cuBLAS in both its modes.
 *
 *   bench [type f64|..] [n N]... [uplo L|U] [accurate] [all] [packed] [canonical] [free] [sides K] [repeat R]
 *         [choice TEXT]...
 *
 * The default choice and those given ("tiles 64x64 w8 u8 b4 c1"); with "all" every candidate, the best ones last.
 */
#include "symv_tiles.h"
#include "symv_time.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char *const type_name[] = {"f32", "f64", "c64", "c128", "dd", "cdd", "f32_f64", "f32_dd", "f64_dd"};

struct options {
    int type = -1;
    std::vector<int64_t> n;
    lacis_symv_uplo uplo = LACIS_SYMV_LOWER;
    lacis_symv_order order = LACIS_SYMV_FIXED;
    bool accurate = false, all = false, packed = false, peers = true;
    int64_t sides = 1;
    int repeat = 15;
    std::vector<lacis_symv_gpu_choice> choices;
};

/* --- cuBLAS, where it is found: int cublasXsymv_v2(handle, uplo, n, alpha, a, lda, x, 1, beta, y, 1) ---------------
 */

typedef int (*symv_function)(void *, int, int, const void *, const void *, int, const void *, int, const void *,
                             void *, int);
struct peer {
    void *handle = nullptr;
    symv_function symv[4] = {};
    int (*mode)(void *, int) = nullptr; /* atomics: 0 not allowed, 1 allowed */
};

static peer open_peer()
{
    peer p;
    int (*create)(void **), (*set)(void *, cudaStream_t);
    void *library = dlopen("libcublas.so.13", RTLD_NOW);
    if (!library) library = dlopen("/usr/local/cuda/lib64/libcublas.so.13", RTLD_NOW);
    if (!library) return p;
    create = (int (*)(void **))dlsym(library, "cublasCreate_v2");
    set = (int (*)(void *, cudaStream_t))dlsym(library, "cublasSetStream_v2");
    p.mode = (int (*)(void *, int))dlsym(library, "cublasSetAtomicsMode");
    const char *const names[] = {"cublasSsymv_v2", "cublasDsymv_v2", "cublasChemv_v2", "cublasZhemv_v2"};
    for (int i = 0; i < 4; i++)
        p.symv[i] = (symv_function)dlsym(library, names[i]);
    if (create(&p.handle) != 0 || set(p.handle, stream) != 0) p.handle = nullptr;
    return p;
}

static double time_peer(const peer &p, const options &o, int64_t n, const std::vector<char *> &a, char *x, char *y,
                        int atomics)
{
    const float one_f[2] = {1, 0}, none_f[2] = {0, 0};
    const double one_d[2] = {1, 0}, none_d[2] = {0, 0};
    const bool single = o.type == LACIS_SYMV_F32 || o.type == LACIS_SYMV_C64;
    size_t at = 0;
    if (!p.handle || o.type > LACIS_SYMV_C128) return NAN;
    p.mode(p.handle, atomics);
    return symv_time(o.repeat, [&] {
        p.symv[o.type](p.handle, o.uplo == LACIS_SYMV_UPPER, (int)n, single ? (const void *)one_f : one_d,
                       a[at++ % a.size()], (int)n, x, 1, single ? (const void *)none_f : none_d, y, 1);
    });
}

/* --- ours
 * --------------------------------------------------------------------------------------------------------------- */

static char *work;
static uint64_t work_room;
static void *work_alloc(void *, uint64_t bytes)
{
    return bytes <= work_room ? work : nullptr;
}
static void work_free(void *, void *)
{
}

static double time_ours(const options &o, int64_t n, const std::vector<char *> &a, char *x, char *y,
                        const lacis_symv_gpu_choice *choice)
{
    lacis_symv_gpu_job g = {};
    lacis_symv_job *j = &g.job;
    size_t at = 0;
    int rc = 0;
    g.choice = choice;
    g.processors = 132;
    g.stream = stream;
    *j = {};
    j->type = (lacis_symv_type)o.type;
    j->uplo = o.uplo;
    j->order = o.order;
    j->hermitian = lacis_symv_complex(j->type);
    j->packed = o.packed;
    j->accurate = o.accurate;
    j->matrices = 1;
    j->sides = o.sides;
    j->n = j->ld = j->x_side = j->y_side = n;
    j->x = x;
    j->y = y;
    j->x_step = j->y_step = 1;
    j->alpha[0] = 1;
    j->host = {work_alloc, work_free, nullptr, nullptr};
    if (lacis_symv_gpu_refuses(&g) != nullptr) return NAN;
    return symv_time(o.repeat, [&] {
        j->a = a[at++ % a.size()];
        const lacis_symv_gpu_status status = lacis_symv_gpu_run(&g, &rc);
        if (status != LACIS_SYMV_GPU_OK) {
            printf("status %d, CUDA %d\n", (int)status, rc);
            exit(2);
        }
    });
}

static __global__ void fill_kernel(float *to, int64_t count, bool doubles)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15U;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        const double v = (double)(z >> 11) * 0x1p-53 - 0.5;
        if (doubles)
            ((double *)to)[i] = v;
        else
            to[i] = (float)v;
    }
}
static __global__ void empty_kernel()
{
}

static void line(const char *text, double us, double read, double bytes, double copy)
{
    if (us == us)
        printf("  %-34s %9.1f us  %.3f of read  %.3f of copy\n", text, us, read / us, bytes / us * 1e-6 / copy);
}

static void bench_n(const options &o, const peer &p, int64_t n, char *pool, uint64_t pool_bytes, char *x, char *y,
                    double copy)
{
    const int64_t each = lacis_symv_matrix_bytes((lacis_symv_type)o.type);
    const uint64_t matrix = (uint64_t)(n * n * each + 255) / 256 * 256;
    const double bytes = (double)(n * (n + 1) / 2 * each);
    std::vector<char *> a;
    for (uint64_t at = 0; at + matrix <= pool_bytes && a.size() < 64; at += matrix)
        a.push_back(pool + at);
    if (a.empty()) return;
    size_t at = 0;
    const uint64_t span = std::max((uint64_t)1, std::min(pool_bytes, matrix * a.size()) / (uint64_t)bytes);
    const double read = symv_plain_read_of(o.repeat, (uint64_t)bytes,
                                           [&] { return pool + (uint64_t)bytes / 16 * 16 * (at++ % span); });
    printf("%s%s n %lld %s%s sides %lld: plain read %.1f us (%zu matrices)\n", type_name[o.type],
           o.accurate ? " accurate" : "", (long long)n, o.uplo == LACIS_SYMV_UPPER ? "U" : "L",
           o.packed ? " packed" : "", (long long)o.sides, read, a.size());
    if (o.peers) {
        line("cublas", time_peer(p, o, n, a, x, y, 0), read, bytes, copy);
        line("cublas, atomics", time_peer(p, o, n, a, x, y, 1), read, bytes, copy);
    }
    line("default", time_ours(o, n, a, x, y, nullptr), read, bytes, copy);
    for (const lacis_symv_gpu_choice &c : o.choices) {
        char text[LACIS_SYMV_GPU_CHOICE_TEXT];
        line(lacis_symv_gpu_choice_text(&c, text), time_ours(o, n, a, x, y, &c), read, bytes, copy);
    }
    if (!o.all) return;
    const lacis_symv_gpu_choice *choice;
    const int count = lacis_symv_gpu_candidates((lacis_symv_type)o.type, &choice);
    std::vector<std::pair<double, std::string>> times;
    for (int i = 0; i < count; i++) {
        char text[LACIS_SYMV_GPU_CHOICE_TEXT];
        lacis_symv_gpu_choice c = choice[i];
        if (c.kind == LACIS_SYMV_GPU_ROWS && n > 3000) continue;
        if (o.order == LACIS_SYMV_FREE) c.kind = LACIS_SYMV_GPU_ATOMIC;
        const double us = time_ours(o, n, a, x, y, &c);
        if (us == us) times.push_back({us, lacis_symv_gpu_choice_text(&c, text)});
    }
    std::sort(times.begin(), times.end());
    for (size_t i = std::min<size_t>(times.size(), 8); i-- > 0;)
        line(times[i].second.c_str(), times[i].first, read, bytes, copy);
}

static options parse(int argc, char **argv)
{
    options o;
    for (int i = 0; i < argc; i++) {
        const std::string word = argv[i];
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        for (int t = 0; word == "type" && t < LACIS_SYMV_TYPES; t++)
            if (strcmp(next, type_name[t]) == 0) o.type = t;
        if (word == "n") o.n.push_back(atoll(next));
        if (word == "uplo") o.uplo = *next == 'U' ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
        if (word == "sides") o.sides = atoll(next);
        if (word == "repeat") o.repeat = atoi(next);
        o.accurate |= word == "accurate";
        lacis_symv_gpu_choice choice;
        if (word == "choice" && lacis_symv_gpu_choice_read(next, &choice)) o.choices.push_back(choice);
        o.all |= word == "all";
        o.packed |= word == "packed";
        o.peers &= word != "alone";
        if (word == "canonical") o.order = LACIS_SYMV_CANONICAL;
        if (word == "free") o.order = LACIS_SYMV_FREE;
    }
    if (o.n.empty()) o.n = {512, 1024, 2048, 4096, 8192, 16384};
    return o;
}

int bench_tiles(int argc, char **argv)
{
    const uint64_t pool_bytes = UINT64_C(9) << 30;
    const options given = parse(argc, argv);
    const peer p = open_peer();
    char *pool, *x, *y;
    work_room = UINT64_C(1) << 30;
    CUDA(cudaMalloc(&pool, pool_bytes));
    CUDA(cudaMalloc(&x, 1 << 24));
    CUDA(cudaMalloc(&y, 1 << 24));
    CUDA(cudaMalloc(&work, work_room));
    const double copy_us = symv_time(
        5, [&] { cudaMemcpyAsync(pool, pool + (pool_bytes / 2), pool_bytes / 4, cudaMemcpyDeviceToDevice, stream); });
    const double copy = 2 * (double)(pool_bytes / 4) / copy_us * 1e-6;
    printf("copy %.2f TB/s, empty launch %.2f us, cuBLAS %s\n", copy,
           symv_time(given.repeat, [&] { empty_kernel<<<1, 32, 0, stream>>>(); }), p.handle ? "found" : "not found");
    for (int type = 0; type < LACIS_SYMV_TYPES; type++) {
        options o = given;
        if (given.type >= 0 && type != given.type) continue;
        o.type = type;
        const bool doubles = type != LACIS_SYMV_F32 && type != LACIS_SYMV_C64 && type != LACIS_SYMV_F32_F64 &&
                             type != LACIS_SYMV_F32_DD;
        fill_kernel<<<1024, 256, 0, stream>>>((float *)pool, (int64_t)(pool_bytes / (doubles ? 8 : 4)), doubles);
        fill_kernel<<<64, 256, 0, stream>>>((float *)x, (1 << 24) / (doubles ? 8 : 4), doubles);
        CUDA(cudaStreamSynchronize(stream));
        for (const int64_t n : o.n)
            bench_n(o, p, n, pool, pool_bytes, x, y, copy);
    }
    return 0;
}
