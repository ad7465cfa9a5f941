/* SPDX-License-Identifier: Apache-2.0
 *
 * NVRTC by dlopen: the one file that knows its functions. jit.c calls it.
 */
#include "jit/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { OPTIONS_MOST = 32 };

/* As nvrtc.h declares them; a result of 0 is success, a program opaque. */
typedef struct nvrtc {
    int (*version)(int *major, int *minor);
    int (*create)(void **program, const char *source, const char *name, int headers, const char *const *text,
                  const char *const *names);
    int (*destroy)(void **program);
    int (*compile)(void *program, int options, const char *const *option);
    int (*log_size)(void *program, size_t *bytes);
    int (*log)(void *program, char *text);
    int (*cubin_size)(void *program, size_t *bytes);
    int (*cubin)(void *program, char *image);
    const char *(*text)(int code);
} nvrtc;

/* Process-wide: a library is loaded once. Written under `once` alone. */
static nvrtc loaded;
static bool found;
static char missing[200];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *open_library(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    void *library = NULL;
    for (int i = 0; library == NULL && i < LACIS_COUNT(names); i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool take(void *library, const char *name, void *out)
{
    void *function = dlsym(library, name);
    memcpy(out, &function, sizeof function);
    if (function == NULL) snprintf(missing, sizeof missing, "libnvrtc is too old: it lacks %s", name);
    return function != NULL;
}

static void load(void)
{
    void *library = open_library();
    if (library == NULL) {
        snprintf(
            missing, sizeof missing,
            "written functions need NVRTC on a GPU, and libnvrtc.so was not found (it comes with the CUDA toolkit)");
        return;
    }
    found = take(library, "nvrtcVersion", &loaded.version) && take(library, "nvrtcCreateProgram", &loaded.create) &&
            take(library, "nvrtcDestroyProgram", &loaded.destroy) &&
            take(library, "nvrtcCompileProgram", &loaded.compile) &&
            take(library, "nvrtcGetProgramLogSize", &loaded.log_size) &&
            take(library, "nvrtcGetProgramLog", &loaded.log) &&
            take(library, "nvrtcGetCUBINSize", &loaded.cubin_size) && take(library, "nvrtcGetCUBIN", &loaded.cubin) &&
            take(library, "nvrtcGetErrorString", &loaded.text);
    if (!found) dlclose(library);
}

bool lacis_nvrtc_there(char *reason, size_t size)
{
    pthread_once(&once, load);
    if (!found) snprintf(reason, size, "%s", missing);
    return found;
}

int lacis_nvrtc_version(void)
{
    char reason[200];
    int major = 0, minor = 0;
    if (!lacis_nvrtc_there(reason, sizeof reason) || loaded.version(&major, &minor) != 0) return 0;
    return major * 1000 + minor * 10;
}

/* The compiler's first complaint, which is about a text of ours. */
static lacis_status refused(lacis_run *run, void *program, int code)
{
    size_t bytes = 0;
    char *log = NULL;
    if (loaded.log_size(program, &bytes) == 0 && bytes > 1 && lacis_run_scratch(run, bytes, &log) == LACIS_OK &&
        loaded.log(program, log) != 0)
        log = NULL;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "NVRTC refused the GPU's source (%s): %.300s", loaded.text(code),
                          log == NULL ? "it does not say why" : log);
}

static lacis_status take_image(lacis_run *run, lacis_nvrtc_program *own)
{
    size_t size = 0;
    int code = loaded.cubin_size(own->program, &size);
    if (code != 0) return refused(run, own->program, code);
    LACIS_TRY(lacis_run_alloc(run, size, &own->image));
    own->bytes = size;
    code = loaded.cubin(own->program, own->image);
    return code == 0 ? LACIS_OK : refused(run, own->program, code);
}

/* What all programs share while they are compiled. */
struct compiling {
    const char *source, *const *option;
    int options, version;
    lacis_nvrtc_program *program;
};

/* A thread's turn: the compiler keeps programs apart. */
static lacis_status compile_one(void *context, int64_t task, int worker)
{
    const struct compiling *all = context;
    lacis_nvrtc_program *own = &all->program[task];
    const char *option[OPTIONS_MOST + 2];
    int options = all->options;
    (void)worker;
    for (int i = 0; i < all->options; i++)
        option[i] = all->option[i];
    option[options++] = own->option;
    if (own->quick && all->version >= 13000) option[options++] = "--Ofast-compile=min";
    own->code = loaded.create(&own->program, all->source, "lacis", 0, NULL, NULL);
    if (own->code == 0) own->code = loaded.compile(own->program, options, option);
    return LACIS_OK;
}

/* Images of compiled programs, in the engine's thread. */
static lacis_status finish(lacis_run *run, lacis_nvrtc_program *program, int programs, lacis_status status)
{
    for (int i = 0; i < programs; i++) {
        lacis_nvrtc_program *own = &program[i];
        if (status == LACIS_OK)
            status = own->code == 0 ? take_image(run, own) : refused(run, own->program, own->code);
        if (own->program != NULL) loaded.destroy(&own->program);
    }
    for (int i = 0; status != LACIS_OK && i < programs; i++) {
        lacis_run_free(run, program[i].image);
        program[i].image = NULL;
    }
    return status;
}

lacis_status lacis_nvrtc_compile(lacis_run *run, const char *source, const char *const *option, int options, int arch,
                                 lacis_nvrtc_program *program, int programs)
{
    char reason[200], target[40];
    const char *all[OPTIONS_MOST];
    if (!lacis_nvrtc_there(reason, sizeof reason)) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    if (options > OPTIONS_MOST - 5)
        return lacis_run_fail(run, LACIS_MISUSE, "more than %d options", OPTIONS_MOST - 5);
    for (int i = 0; i < options; i++)
        all[i] = option[i];
    snprintf(target, sizeof target, "--gpu-architecture=sm_%d", arch);
    all[options] = target;
    all[options + 1] = "--std=c++17";
    all[options + 2] = "--fmad=false"; /* as the CPU computes */
    all[options + 3] = "-w";
    int more = options + 4, version = lacis_nvrtc_version();
    /* jit.c keeps images itself; opening the compiler's own cache takes 200 ms. */
    if (version >= 13000) all[more++] = "-no-cache";
    for (int i = 0; i < programs; i++)
        program[i] = (lacis_nvrtc_program){.option = program[i].option, .quick = program[i].quick};
    struct compiling compiling = {source, all, more, version, program};
    return finish(run, program, programs, lacis_run_parallel(run, programs, compile_one, &compiling));
}
