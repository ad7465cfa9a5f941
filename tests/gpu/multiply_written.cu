/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON, AGG and HAVING for multiply_gpu.cu: kernels from texts by NVRTC as operators/multiply/written.c makes
 * them, in every class that can take a row, against the products written out; and their times beside built-in ones.
 * Only with WITH_NVRTC, -lnvrtc and the text of engine/expr/functions.cuh.
 */
#include "multiply_support.h"

#ifdef WITH_NVRTC

#include <nvrtc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>

extern "C" const char lacis_text_functions_cuh[];

/* A value, whatever its type: small integers stay exact. */
struct pair {
    double x, y;
};

struct ring {
    const char *name, *text; /* of lacis_con_of, lacis_fold and so on */
    lacis_mul_type type;
    lacis_mul_agg agg;
    bool any_order, having, listed;
    pair (*con)(double a, double b, int64_t s, int64_t c, int64_t t);
    pair (*fold)(pair x, pair y); /* NULL: the first value stays */
    pair start;
    bool (*keeps)(pair v, int64_t s, int64_t t);
};

static const char *const head = "#define LACIS_DEVICE static __device__ __forceinline__\n"
                                "#define lacis_high(a, b) __mul64hi(a, b)\n"
                                "#define LACIS_INFINITY __longlong_as_double(0x7ff0000000000000ll)\n"
                                "#define LACIS_NAN __longlong_as_double(0x7ff8000000000000ll)\n";
#define CON  "LACIS_DEVICE lacis_t lacis_con(lacis_a a, lacis_b b, long long s, long long c, long long t, int *bad)\n"
#define FOLD "LACIS_DEVICE lacis_t lacis_fold(lacis_t x, lacis_t y, int *bad)\n"

static const double infinite = INFINITY;
static pair least(pair x, pair y)
{
    return y.x < x.x ? y : x;
}
static pair greatest(pair x, pair y)
{
    return y.x > x.x ? y : x;
}
static pair total(pair x, pair y)
{
    return {x.x + y.x, x.y + y.y};
}
static pair mixed(pair x, pair y)
{
    return {fmod(x.x * 3 + y.x, 1009), fmod(x.y * 3 + y.y, 1009)};
}
static pair paths(pair x, pair y)
{
    return x.x < y.x ? x : y.x < x.x ? y : pair{x.x, x.y + y.y};
}
static pair newest(pair, pair y)
{
    return y;
}
static pair plus(double a, double b, int64_t, int64_t, int64_t)
{
    return {a + b, 0};
}
static pair one_path(double a, double b, int64_t, int64_t, int64_t)
{
    return {a + b, 1};
}
static pair labels(double, double, int64_t s, int64_t c, int64_t t)
{
    return {(double)((5 * s + 3) * 3 + (5 * c + 3) - (5 * t + 3)), 0};
}
static bool some(pair v, int64_t s, int64_t t)
{
    return v.x > 1 && (s + t) % 3 != 0;
}
static pair nothing(double, double, int64_t, int64_t, int64_t)
{
    return {1, 0};
}

static const char plus_text[] = CON "{ return a + b; }\n";
static const char min_text[] = CON "{ return a + b; }\n" FOLD "{ return y < x ? y : x; }\n"
                                   "#define LACIS_IDENTITY ((lacis_t)LACIS_INFINITY)\n";
static const char max_text[] = CON "{ return a + b; }\n" FOLD "{ return y > x ? y : x; }\n"
                                   "#define LACIS_IDENTITY ((lacis_t)-1000)\n";
static const char mix_text[] = CON "{ return a + b; }\n" FOLD "{ return fmod(x * 3 + y, 1009.0); }\n"
                                   "#define LACIS_IDENTITY ((lacis_t)7)\n";
static const char paths_text[] =
    CON "{ return lacis_complex(a + b, 1.0); }\n" FOLD
        "{ return x.re < y.re ? x : y.re < x.re ? y : lacis_complex(x.re, x.im + y.im); }\n"
        "#define LACIS_IDENTITY lacis_complex(LACIS_INFINITY, 0.0)\n";
static const char pair_mix_text[] = CON "{ return lacis_complex(a + b, 1.0); }\n" FOLD
                                        "{ return lacis_complex(fmod(x.re * 3 + y.re, 1009.0), fmod(x.im * 3 + y.im, "
                                        "1009.0)); }\n#define LACIS_IDENTITY lacis_complex(7.0, 7.0)\n";
static const char pair_text[] = CON "{ return lacis_complex(a + b, 1.0); }\n";
static const char labels_text[] = CON "{ return s * 3 + c - t; }\n";
static const char having_text[] =
    "#define LACIS_HAVING\ntypedef unsigned int lacis_stored;\n"
    "LACIS_DEVICE bool lacis_having(lacis_stored v, long long s, long long t, int *bad)\n"
    "{ return v > 1 && (s + t) % 3 != 0; }\n";

static const ring rings[] = {
    {"min", plus_text, LACIS_MUL_F32, LACIS_MUL_MIN, false, false, false, plus, least, {infinite, 0}, nullptr},
    {"fold min", min_text, LACIS_MUL_F32, LACIS_MUL_FOLD, true, false, false, plus, least, {infinite, 0}, nullptr},
    {"fold min ordered",
     min_text,
     LACIS_MUL_F32,
     LACIS_MUL_FOLD,
     false,
     false,
     false,
     plus,
     least,
     {infinite, 0},
     nullptr},
    {"fold max i32",
     max_text,
     LACIS_MUL_I32,
     LACIS_MUL_FOLD,
     true,
     false,
     false,
     plus,
     greatest,
     {-1000, 0},
     nullptr},
    {"fold max i64",
     max_text,
     LACIS_MUL_I64,
     LACIS_MUL_FOLD,
     true,
     false,
     false,
     plus,
     greatest,
     {-1000, 0},
     nullptr},
    {"fold mix f64", mix_text, LACIS_MUL_F64, LACIS_MUL_FOLD, false, false, false, plus, mixed, {7, 0}, nullptr},
    {"paths c128",
     paths_text,
     LACIS_MUL_C128,
     LACIS_MUL_FOLD,
     true,
     false,
     false,
     one_path,
     paths,
     {infinite, 0},
     nullptr},
    {"paths c128 ordered",
     paths_text,
     LACIS_MUL_C128,
     LACIS_MUL_FOLD,
     false,
     false,
     false,
     one_path,
     paths,
     {infinite, 0},
     nullptr},
    {"mix c128",
     pair_mix_text,
     LACIS_MUL_C128,
     LACIS_MUL_FOLD,
     false,
     false,
     false,
     one_path,
     mixed,
     {7, 7},
     nullptr},
    {"sum c128", pair_text, LACIS_MUL_C128, LACIS_MUL_SUM, true, false, false, one_path, total, {0, 0}, nullptr},
    {"sum c128 ordered",
     pair_text,
     LACIS_MUL_C128,
     LACIS_MUL_SUM,
     false,
     false,
     false,
     one_path,
     total,
     {0, 0},
     nullptr},
    {"last c128", pair_text, LACIS_MUL_C128, LACIS_MUL_LAST, false, false, false, one_path, newest, {0, 0}, nullptr},
    {"labels", labels_text, LACIS_MUL_I64, LACIS_MUL_MAX, false, false, true, labels, greatest, {-1e18, 0}, nullptr},
    {"having", having_text, LACIS_MUL_F32, LACIS_MUL_COUNT, false, true, false, nothing, total, {0, 0}, some},
};

/* --- compiling ---------------------------------------------------------------------------------------- */

struct compiling {
    std::string text;
    std::vector<std::string> option;
    double seconds;
};

static void *compile_one(const compiling &of, int kernel)
{
    std::vector<const char *> option;
    const std::string which = "-DLACIS_KERNEL=" + std::to_string(kernel);
    for (const std::string &o : of.option)
        option.push_back(o.c_str());
    option.push_back(which.c_str());
    nvrtcProgram program;
    size_t bytes = 0;
    nvrtcCreateProgram(&program, of.text.c_str(), "lacis", 0, nullptr, nullptr);
    if (nvrtcCompileProgram(program, (int)option.size(), option.data()) != NVRTC_SUCCESS) {
        nvrtcGetProgramLogSize(program, &bytes);
        std::string log(bytes, ' ');
        nvrtcGetProgramLog(program, &log[0]);
        printf("%.2000s\n", log.c_str());
        exit(1);
    }
    nvrtcGetCUBINSize(program, &bytes);
    char *image = (char *)malloc(bytes);
    nvrtcGetCUBIN(program, image);
    nvrtcDestroyProgram(&program);
    return image;
}

static bool compile(lacis_mul_gpu_written *written, uint32_t wanted)
{
    compiling *of = (compiling *)written->context;
    const auto t0 = std::chrono::steady_clock::now();
    void *image[LACIS_MUL_GPU_WRITTEN_KERNELS] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < LACIS_MUL_GPU_WRITTEN_KERNELS; i++)
        if (wanted >> i & 1) threads.emplace_back([of, i, &image] { image[i] = compile_one(*of, i); });
    for (std::thread &t : threads)
        t.join();
    of->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    for (int i = 0; i < LACIS_MUL_GPU_WRITTEN_KERNELS; i++) {
        cudaLibrary_t library;
        if (!image[i]) continue;
        CUDA(cudaLibraryLoadData(&library, image[i], nullptr, nullptr, 0, nullptr, nullptr, 0));
        CUDA(cudaLibraryGetKernel((cudaKernel_t *)&written->kernel[i], library, lacis_mul_gpu_kernel_name[i]));
        free(image[i]);
    }
    return true;
}

static const char *type_name(lacis_mul_type type)
{
    static const char *const name[] = {"int", "long long", "float", "double", "lacis_c128"};
    return name[type];
}

static void prepare(const ring &r, const lacis_mul_gpu_job &job, compiling &of)
{
    const char *option[16];
    static char text[512];
    const int options = lacis_mul_gpu_options(&job, option, 16, text, sizeof text);
    of.option.assign(option, option + options);
    for (const char *o :
         {"-default-device", "--std=c++17", "--gpu-architecture=sm_90", "--fmad=false", "-w", "-no-cache"})
        of.option.push_back(o);
    if (getenv("NVRTC_OPTION")) of.option.push_back(getenv("NVRTC_OPTION"));
    of.text = std::string(head) + lacis_text_functions_cuh;
    of.text += r.listed ? "#define LACIS_LISTED 7\n" : "#define LACIS_LISTED 0\n";
    if (lacis_mul_gpu_semiring_written(&job))
        of.text += std::string("#define LACIS_SEMIRING\ntypedef ") + type_name(job.type) + " lacis_t; typedef " +
                   type_name(job.a.type) + " lacis_a; typedef " + type_name(job.b.type) + " lacis_b;\n";
    of.text += r.text;
    of.text += lacis_mul_gpu_source();
}

static lacis_mul_gpu_job job_of(const ring &r, const lacis_mul_matrix &a, const lacis_mul_matrix &b)
{
    lacis_mul_gpu_job job = make_job(a, b);
    job.con_kind = r.having ? LACIS_MUL_CON_ONE : LACIS_MUL_CON_STRIPS;
    job.agg = r.agg;
    job.type = r.type;
    job.storage = r.agg == LACIS_MUL_COUNT ? LACIS_MUL_TO_U32 : storage_of(r.type);
    job.any_order = r.any_order;
    job.ordered = !r.any_order;
    job.having = r.having;
    return job;
}

/* --- checks ------------------------------------------------------------------------------------------- */

static double as_double(const char *value, lacis_mul_storage storage)
{
    switch (storage) {
    case LACIS_MUL_TO_U32:
        return *(const uint32_t *)value;
    case LACIS_MUL_TO_I32:
        return *(const int32_t *)value;
    case LACIS_MUL_TO_I64:
        return (double)*(const int64_t *)value;
    case LACIS_MUL_TO_F32:
        return *(const float *)value;
    default:
        return *(const double *)value;
    }
}

static int bytes_of(lacis_mul_storage storage)
{
    return storage == LACIS_MUL_TO_C128 ? 16 : storage_bytes(storage);
}

typedef std::map<uint32_t, pair> row_values;

static row_values expected_row(const ring &r, const matrix &a, const matrix &b, const matrix *mask, int64_t row)
{
    row_values out;
    for (int64_t i = a.begin[row]; i < a.end[row]; i++) {
        const uint32_t c = a.column[i];
        for (int64_t j = b.begin[c]; j < b.end[c]; j++) {
            const uint32_t t = b.column[j];
            const pair v = r.con(((const float *)a.value.data())[i], ((const float *)b.value.data())[j], row, c, t);
            const auto at = out.emplace(t, r.start).first;
            at->second = r.fold(at->second, v);
        }
    }
    for (auto at = out.begin(); at != out.end();) {
        const uint32_t *column = mask ? mask->column.data() : nullptr;
        const bool masked =
            !mask || std::binary_search(column + mask->begin[row], column + mask->end[row], at->first);
        at = masked && (!r.keeps || r.keeps(at->second, row, at->first)) ? std::next(at) : out.erase(at);
    }
    return out;
}

/* Compares all rows; says the first that differs. */
static bool compare(const ring &r, const lacis_mul_gpu_job &job, const matrix &a, const matrix &b, const matrix *mask,
                    const lacis_mul_gpu_output &out, const int64_t *begin, const int64_t *end)
{
    const int bytes = bytes_of(job.storage);
    CUDA(cudaStreamSynchronize(stream));
    std::vector<int64_t> lo(a.rows), hi(a.rows);
    columns column(out.room);
    std::vector<char> value(out.room * bytes);
    CUDA(cudaMemcpy(lo.data(), begin, a.rows * 8, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(hi.data(), end, a.rows * 8, cudaMemcpyDeviceToHost));
    if (out.column) CUDA(cudaMemcpy(column.data(), out.column, out.room * 4, cudaMemcpyDeviceToHost));
    if (out.value) CUDA(cudaMemcpy(value.data(), out.value, out.room * bytes, cudaMemcpyDeviceToHost));
    u64 entries = 0;
    for (int64_t row = 0; row < a.rows; row++) {
        const row_values want = expected_row(r, a, b, mask, row);
        int64_t at = lo[row];
        entries += want.size();
        bool good = hi[row] - lo[row] == (int64_t)want.size();
        for (auto w = want.begin(); good && w != want.end(); ++w, at++) {
            const char *v = value.data() + at * bytes;
            good = column[at] == w->first && as_double(v, job.storage) == w->second.x &&
                   (bytes < 16 || ((const double *)v)[1] == w->second.y);
            if (!good)
                printf("%s force %s: row %lld column %u: %g %g, expected column %u: %g %g\n", r.name,
                       lacis_mul_gpu_class_name[job.force], (long long)row, column[at], as_double(v, job.storage),
                       bytes < 16 ? 0 : ((const double *)v)[1], w->first, w->second.x, w->second.y);
        }
        if (hi[row] - lo[row] != (int64_t)want.size())
            printf("%s force %s: row %lld has %lld entries, expected %zu\n", r.name,
                   lacis_mul_gpu_class_name[job.force], (long long)row, (long long)(hi[row] - lo[row]), want.size());
        if (!good) return false;
    }
    return entries == out.entries;
}

/* Kernels are compiled for the first shape that needs them. */
static void check_ring(const ring &r, const matrix &a, const matrix &b, const matrix &mask,
                       lacis_mul_gpu_written *written)
{
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32), db = to_device(b, LACIS_MUL_F32),
                     dm = to_device(mask, LACIS_MUL_F32);
    std::vector<int64_t> label(std::max(std::max(a.rows, b.rows), b.cols));
    for (size_t i = 0; i < label.size(); i++)
        label[i] = 5 * (int64_t)i + 3;
    int64_t *device_label = upload(label), *begin, *end;
    CUDA(cudaMalloc(&begin, a.rows * 8));
    CUDA(cudaMalloc(&end, a.rows * 8));
    lacis_mul_gpu_job job = job_of(r, da, db);
    prepare(r, job, *(compiling *)written->context);
    job.written = written;
    for (int i = 0; i < 3 && r.listed; i++)
        job.label[i] = device_label;
    for (int masked = 0; masked < 2; masked++)
        for (lacis_mul_gpu_class force :
             {LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_TINY, LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE}) {
            lacis_mul_gpu_output out = {};
            out.begin = begin;
            out.end = end;
            job.force = force;
            job.mask = masked ? &dm : nullptr;
            const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out);
            if (status != LACIS_MUL_GPU_OK)
                printf("%s: status %d %s\n", r.name, status, cudaGetErrorString((cudaError_t)out.cuda_error));
            expect(status == LACIS_MUL_GPU_OK && compare(r, job, a, b, masked ? &mask : nullptr, out, begin, end));
            if (out.column) device_free(nullptr, out.column);
            if (out.value) device_free(nullptr, out.value);
            expect(live == 0);
        }
    cudaFree(begin), cudaFree(end), cudaFree(device_label);
    free_matrix(da), free_matrix(db), free_matrix(dm);
}

static void whole_values(matrix &m, u64 *state)
{
    add_values(m, LACIS_MUL_F32, state, false);
    for (size_t i = 0; i < m.column.size(); i++)
        ((float *)m.value.data())[i] = (float)(1 + (int)(next_random(state) % 3));
}

void check_written(u64 seed)
{
    static const int64_t cols[] = {900, 5000, 300000}; /* the last through windows of bitmaps */
    enum { SHAPES = 3 };
    u64 state = seed;
    matrix a[SHAPES], b[SHAPES], mask[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
        a[i] = make_shape(&state, i == 2 ? 2 : 1, 400, 700, 8000);
        b[i] = make_shape(&state, i == 0 ? 1 : 0, 700, cols[i], 30000);
        mask[i] = make_shape(&state, 0, 400, cols[i], 40000);
        whole_values(a[i], &state);
        whole_values(b[i], &state);
    }
    for (const ring &r : rings) {
        compiling of;
        lacis_mul_gpu_written written = {{}, compile, &of};
        for (int i = 0; i < SHAPES; i++)
            check_ring(r, a[i], b[i], mask[i], &written);
    }
}

/* --- times -------------------------------------------------------------------------------------------- */

static double run_once(lacis_mul_gpu_job &job, int64_t rows, lacis_mul_gpu_output &out)
{
    cudaEvent_t x, y;
    float ms = 0;
    CUDA(cudaEventCreate(&x));
    CUDA(cudaEventCreate(&y));
    CUDA(cudaEventRecord(x, stream));
    const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, rows, &out);
    CUDA(cudaEventRecord(y, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaEventElapsedTime(&ms, x, y));
    CUDA(cudaEventDestroy(x));
    CUDA(cudaEventDestroy(y));
    if (status != LACIS_MUL_GPU_OK) {
        printf("status %d %s\n", status, cudaGetErrorString((cudaError_t)out.cuda_error));
        exit(1);
    }
    if (out.column) device_free(nullptr, out.column);
    if (out.value) device_free(nullptr, out.value);
    return ms;
}

static double time_job(const char *graph, const char *name, lacis_mul_gpu_job job, int64_t rows, double compiled)
{
    std::vector<double> ms;
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, rows * 8));
    CUDA(cudaMalloc(&out.end, rows * 8));
    for (int i = 0; i < 12; i++) {
        const double t = run_once(job, rows, out);
        if (i >= 3) ms.push_back(t);
    }
    job.timed = true;
    run_once(job, rows, out);
    std::sort(ms.begin(), ms.end());
    printf("%-10s %-20s %8.3f ms, NVRTC %4.0f ms |", graph, name, ms[ms.size() / 2], 1e3 * compiled);
    for (int c = 1; c < LACIS_MUL_GPU_CLASSES; c++)
        if (out.class_rows[c]) printf(" %s %.3f", lacis_mul_gpu_class_name[c], out.class_seconds[c] * 1e3);
    printf("\n");
    fflush(stdout);
    cudaFree(out.begin), cudaFree(out.end);
    return ms[ms.size() / 2];
}

void bench_written(const char *name)
{
    matrix a = make_graph(name);
    u64 state = 7;
    whole_values(a, &state);
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    lacis_mul_gpu_job job = make_job(da, da);
    job.con_kind = LACIS_MUL_CON_ADD;
    job.storage = LACIS_MUL_TO_F32;
    static const char *const aggs[] = {"count", "sum", "min", "max", "first", "last", "avg"};
    double base = 0;
    for (lacis_mul_agg agg : {LACIS_MUL_MIN, LACIS_MUL_SUM, LACIS_MUL_LAST, LACIS_MUL_AVG}) {
        job.agg = agg;
        job.storage = agg == LACIS_MUL_AVG ? LACIS_MUL_TO_F64 : LACIS_MUL_TO_F32;
        job.ordered = agg == LACIS_MUL_SUM;
        const double ms = time_job(name, (std::string("built in ") + aggs[agg]).c_str(), job, a.rows, 0);
        if (agg == LACIS_MUL_MIN) base = ms;
    }
    for (const ring &r : rings) {
        lacis_mul_gpu_job own = job_of(r, da, da);
        compiling of;
        lacis_mul_gpu_written written = {{}, compile, &of};
        if (r.listed) continue;
        prepare(r, own, of);
        own.written = &written;
        lacis_mul_gpu_output out = {};
        CUDA(cudaMalloc(&out.begin, a.rows * 8));
        CUDA(cudaMalloc(&out.end, a.rows * 8));
        run_once(own, a.rows, out);
        cudaFree(out.begin), cudaFree(out.end);
        const double ms = time_job(name, r.name, own, a.rows, of.seconds);
        printf("    %.3f of the built-in min\n", ms / base);
    }
    free_matrix(da);
}

#endif
