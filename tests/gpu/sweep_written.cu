/* SPDX-License-Identifier: Apache-2.0
 *
 * Written rules: programs that are compiled with the rest here, whose lists must be those of the prefix; and with
 * WITH_NVRTC what NVRTC makes of the prefix and the source.
 */
#include "sweep_support.h"
#include "sweep_written.h"

#include <cstring>

#ifdef WITH_NVRTC
#include <array>
#include <map>
#include <nvrtc.h>
#endif

static float heat_f32(const float *v, float x, float y, float, float t)
{
    return HEAT(v[0], v[1], v[2], v[3], v[4], v[5], v[6], x, y, t);
}
static double wave_f64(const double *v, double x, double y, double z, double t)
{
    return WAVE(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], x, y, z, t);
}
static double line_u_f64(const double *v, double x, double, double, double t)
{
    return LINE_U(v[0], v[1], v[2], v[3], x, t);
}
static double line_v_f64(const double *, double x, double, double, double t)
{
    return LINE_V(x, t);
}

struct braces {
    int at[4];
};
static std::vector<int> flat(const std::vector<braces> &taps)
{
    std::vector<int> out;
    for (const braces &tap : taps)
        out.insert(out.end(), tap.at, tap.at + 4);
    return out;
}

#ifdef WITH_NVRTC
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...)    TEXT_OF(__VA_ARGS__)
static const char *const functions[] = {
    "LACIS_DEVICE float lacis_rule_0(float c, float l, float r, float d, float u, float k, float n, float x, float "
    "y, "
    "float z, float t, int *bad) { return " TEXT(HEAT(c, l, r, d, u, k, n, x, y, t)) "; }\n",
    "LACIS_DEVICE double lacis_rule_1(double c, double l, double r, double d, double u, double f, double b, double "
    "v, "
    "double x, double y, double z, double t, int *bad) { if (t > 1000) *bad = 1; return " TEXT(
        WAVE(c, l, r, d, u, f, b, v, x, y, z, t)) "; }\n",
    "LACIS_DEVICE double lacis_rule_0(double a, double b, double c, double d, double x, double y, double z, double "
    "t, "
    "int *bad) { return " TEXT(LINE_U(
        a, b, c, d, x,
        t)) "; }\n"
            "LACIS_DEVICE double lacis_rule_1(double x, double y, double z, double t, int *bad) { return " TEXT(
                LINE_V(x, t)) "; }\n"};
#endif

enum { PROGRAMS = 3 };
static const char *const names[] = {"heat", "wave", "line"};

static void make(sweep_case *c, int program, bool small, u64 seed)
{
    u64 state = seed;
    const int64_t far = small ? 40 : 300;
    const auto extent = [&]() { return 5 + (int64_t)(next_random(&state) % (u64)far); };
    const int64_t x = extent(), y = extent(), z = 5 + (int64_t)(next_random(&state) % (small ? 9u : 40u));
    c->name = std::string("written ") + names[program] + " seed " + std::to_string(seed);
    sweep_shape(c, program == 0 ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64,
                program == 0   ? 2
                : program == 1 ? 3
                               : 1,
                program == 2 ? 20 * x : x, program == 1 && !small ? 5 + y % 60 : y, z,
                program == 0   ? 1
                : program == 1 ? 3
                               : 2,
                program == 0 ? 1 : 0);
    sweep_fill(c, &state);
    c->start.t = 5;
    if (program == 0) sweep_written(c, 0, flat({HEAT_TAPS}), heat_f32, nullptr);
    if (program == 1) {
        sweep_group(c, 0, 0.75, {1, 1, 0, 0, 2, 0, 0, 0});
        sweep_written(c, 1, flat({WAVE_TAPS}), nullptr, wave_f64);
        sweep_group(c, 2, 1, {0, 0, 1, 0});
        c->start.rule[2].linear.constant = 0.125;
    }
    if (program == 2) {
        sweep_written(c, 0, flat({LINE_TAPS}), nullptr, line_u_f64);
        sweep_written(c, 1, {}, nullptr, line_v_f64);
    }
    sweep_edges(c, &state);
    sweep_settle(c);
}

#ifdef WITH_NVRTC
static void compile_text(const std::string &text, const std::string &name, void **kernel)
{
    int major = 0, minor = 0;
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    const std::string arch = "--gpu-architecture=sm_" + std::to_string(10 * major + minor);
    for (int k = 0; k < LACIS_SWEEP_GPU_KERNELS; k++) {
        const std::string which = "-DLACIS_KERNEL=" + std::to_string(k);
        const char *options[] = {arch.c_str(), "--std=c++17", "--fmad=false", "-default-device", which.c_str()};
        nvrtcProgram made;
        size_t bytes = 0;
        sweep_expect(nvrtcCreateProgram(&made, text.c_str(), "sweep.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS,
                     "NVRTC");
        if (nvrtcCompileProgram(made, 5, options) != NVRTC_SUCCESS) {
            nvrtcGetProgramLogSize(made, &bytes);
            std::string log(bytes, '\0');
            nvrtcGetProgramLog(made, &log[0]);
            printf("%s\n", log.c_str());
            sweep_expect(false, "%s: NVRTC does not compile it", name.c_str());
            return;
        }
        sweep_expect(nvrtcGetCUBINSize(made, &bytes) == NVRTC_SUCCESS, "NVRTC: no kernel");
        std::vector<char> image(bytes);
        sweep_expect(nvrtcGetCUBIN(made, image.data()) == NVRTC_SUCCESS, "NVRTC: no kernel");
        nvrtcDestroyProgram(&made);
        cudaLibrary_t library; /* stays */
        CUDA(cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        CUDA(cudaLibraryGetKernel((cudaKernel_t *)&kernel[k], library, lacis_sweep_gpu_kernel_name[k]));
    }
}

/* Sizes, edges and weights are no part of a text: few are compiled for many cases. */
static void compile(sweep_case *c, int program)
{
    static std::map<std::string, std::array<void *, LACIS_SWEEP_GPU_KERNELS>> made;
    std::string prefix(lacis_sweep_gpu_prefix(&c->start, nullptr, 0), '\0');
    lacis_sweep_gpu_prefix(&c->start, &prefix[0], prefix.size());
    const std::string text = "#define LACIS_DEVICE static __device__ __forceinline__\n" +
                             std::string(prefix.c_str()) + functions[program] + lacis_sweep_gpu_source();
    const bool known = made.count(text) > 0;
    std::array<void *, LACIS_SWEEP_GPU_KERNELS> &kernels = made[text];
    if (!known) compile_text(text, c->name, kernels.data());
    for (int k = 0; k < LACIS_SWEEP_GPU_KERNELS; k++)
        c->kernel[k] = kernels[(size_t)k];
}
#else
/* Without spaces, and brackets around lists. */
static std::string tight(const std::string &text)
{
    std::string out;
    for (const char c : text)
        if (strchr(" ()", c) == nullptr) out += c;
    return out;
}

static void compare_lists(const sweep_case &c, const std::string &lists)
{
    std::string text(lacis_sweep_gpu_prefix(&c.start, nullptr, 0), '\0'), got;
    const uint64_t bytes = lacis_sweep_gpu_prefix(&c.start, &text[0], text.size());
    sweep_expect(bytes == text.size() && text[bytes - 1] == '\0' && strlen(text.c_str()) == bytes - 1,
                 "%s: the prefix's length", c.name.c_str());
    for (const char *const name : {"TAP_LIST", "WRITTEN_LIST", "FIRST_TAP_LIST", "FIRST_GROUP_LIST", "GROUP_LIST"}) {
        const std::string line = std::string("#define LACIS_SWEEP_") + name;
        const size_t at = text.find(line + " ");
        sweep_expect(at != std::string::npos, "%s: no %s", c.name.c_str(), name);
        if (at != std::string::npos)
            got += name + text.substr(at + line.size(), text.find('\n', at) - at - line.size());
    }
    sweep_expect(tight(got) == tight(lists), "%s: lists %s, not %s", c.name.c_str(), tight(got).c_str(),
                 tight(lists).c_str());
}

static void compile(sweep_case *c, int program)
{
    static void (*const made[])(void **, std::string *) = {sweep_program_heat, sweep_program_wave,
                                                           sweep_program_line};
    std::string lists;
    made[program](c->kernel, &lists);
    compare_lists(*c, lists);
}
#endif

static void check(bool small, u64 seed)
{
    u64 state = seed ^ 77;
    for (int i = 0; i < (small ? 18 : 90); i++) {
        sweep_case c;
        make(&c, i % PROGRAMS, small, next_random(&state) % 1000000);
        compile(&c, i % PROGRAMS);
        sweep_compare(c, 3, true);
    }
    sweep_case c;
    sweep_device d;
    make(&c, 1, true, seed);
    compile(&c, 1);
    sweep_begin(&d, c, nullptr, nullptr, 0);
    d.start.start.t = 999;
    sweep_expect(sweep_make(&d) == LACIS_SWEEP_OK, "a rule that fails: new");
    sweep_expect(lacis_sweep_gpu_steps(d.system, 2, nullptr) == LACIS_SWEEP_OK, "it fails too early");
    sweep_expect(lacis_sweep_gpu_steps(d.system, 1, nullptr) == LACIS_SWEEP_ARITHMETIC,
                 "a rule that fails does not say so");
}
static sweep_part part("written", check);
