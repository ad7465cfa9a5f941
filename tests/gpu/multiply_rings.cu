/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON, AGG and HAVING as texts, with what they mean, and their kernels by NVRTC as
 * operators/multiply/written.c makes them: those only with WITH_NVRTC, -lnvrtc and the text of
 * engine/expr/functions.cuh.
 */
#include "multiply_rings.h"

lacis_mul_gpu_job ring_job(const ring &r, const lacis_mul_matrix &a, const lacis_mul_matrix &b)
{
    lacis_mul_gpu_job job = make_job(a, b);
    job.con_kind = r.having ? LACIS_MUL_CON_ONE : LACIS_MUL_CON_STRIPS;
    job.agg = r.agg;
    job.type = r.type;
    job.storage = r.agg == LACIS_MUL_COUNT                             ? LACIS_MUL_TO_U32
                  : r.agg == LACIS_MUL_AVG && r.type != LACIS_MUL_C128 ? LACIS_MUL_TO_F64
                                                                       : storage_of(r.type);
    job.any_order = r.any_order;
    job.ordered = !r.any_order;
    job.having = r.having ? LACIS_MUL_GPU_BEHIND : r.keeps ? LACIS_MUL_GPU_INSIDE : LACIS_MUL_GPU_ALL;
    return job;
}

void whole_values(matrix &m, u64 *state)
{
    add_values(m, LACIS_MUL_F32, state, false);
    for (size_t i = 0; i < m.column.size(); i++)
        ((float *)m.value.data())[i] = (float)(1 + (int)(next_random(state) % 3));
}

#ifdef WITH_NVRTC

#include <nvrtc.h>

#include <chrono>
#include <cmath>
#include <thread>

extern "C" const char lacis_text_functions_cuh[];

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
static bool more(pair v, int64_t s, int64_t t)
{
    return v.x > 3 && (s + t) % 3 != 0;
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
#define INSIDE                                                                                                       \
    "typedef lacis_t lacis_stored;\n"                                                                                \
    "LACIS_DEVICE bool lacis_having(lacis_stored v, long long s, long long t, int *bad)\n"
static const char min_inside_text[] =
    CON "{ return a + b; }\n" FOLD "{ return y < x ? y : x; }\n"
        "#define LACIS_IDENTITY ((lacis_t)LACIS_INFINITY)\n" INSIDE "{ return v > 3 && (s + t) % 3 != 0; }\n";
static const char sum_inside_text[] = CON "{ return a + b; }\n" INSIDE "{ return v > 3 && (s + t) % 3 != 0; }\n";
static const char paths_inside_text[] = CON
    "{ return lacis_complex(a + b, 1.0); }\n" FOLD
    "{ return x.re < y.re ? x : y.re < x.re ? y : lacis_complex(x.re, x.im + y.im); }\n"
    "#define LACIS_IDENTITY lacis_complex(LACIS_INFINITY, 0.0)\n" INSIDE "{ return v.re > 3 && (s + t) % 3 != 0; }\n";

const ring rings[] = {
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
    {"avg", plus_text, LACIS_MUL_F32, LACIS_MUL_AVG, false, false, false, one_path, total, {0, 0}, nullptr},
    {"avg c128", pair_text, LACIS_MUL_C128, LACIS_MUL_AVG, false, false, false, one_path, total, {0, 0}, nullptr},
    {"labels", labels_text, LACIS_MUL_I64, LACIS_MUL_MAX, false, false, true, labels, greatest, {-1e18, 0}, nullptr},
    {"having", having_text, LACIS_MUL_F32, LACIS_MUL_COUNT, false, true, false, nothing, total, {0, 0}, some},
    {"fold min inside",
     min_inside_text,
     LACIS_MUL_F32,
     LACIS_MUL_FOLD,
     true,
     false,
     false,
     plus,
     least,
     {infinite, 0},
     more},
    {"fold min ordered inside",
     min_inside_text,
     LACIS_MUL_F64,
     LACIS_MUL_FOLD,
     false,
     false,
     false,
     plus,
     least,
     {infinite, 0},
     more},
    {"sum i64 inside", sum_inside_text, LACIS_MUL_I64, LACIS_MUL_SUM, true, false, false, plus, total, {0, 0}, more},
    {"paths inside",
     paths_inside_text,
     LACIS_MUL_C128,
     LACIS_MUL_FOLD,
     true,
     false,
     false,
     one_path,
     paths,
     {infinite, 0},
     more},
    {"paths ordered inside",
     paths_inside_text,
     LACIS_MUL_C128,
     LACIS_MUL_FOLD,
     false,
     false,
     false,
     one_path,
     paths,
     {infinite, 0},
     more},
};

const int ring_count = sizeof rings / sizeof *rings;

/* --- compiling ---------------------------------------------------------------------------------------- */

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

bool compile_ring(lacis_mul_gpu_written *written, uint32_t wanted)
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

void prepare_ring(const ring &r, const lacis_mul_gpu_job &job, compiling &of)
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

#endif
