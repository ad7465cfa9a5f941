/* SPDX-License-Identifier: Apache-2.0
 *
 * NVRTC by dlopen: the one file that knows its functions. jit.c calls it.
 */
#include "jit/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

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

static lacis_status take_image(lacis_run *run, void *program, void **out, uint64_t *bytes)
{
    size_t size = 0;
    int code = loaded.cubin_size(program, &size);
    if (code != 0) return refused(run, program, code);
    LACIS_TRY(lacis_run_alloc(run, size, out));
    *bytes = size;
    code = loaded.cubin(program, *out);
    if (code == 0) return LACIS_OK;
    lacis_run_free(run, *out);
    *out = NULL;
    return refused(run, program, code);
}

lacis_status lacis_nvrtc_compile(lacis_run *run, const char *source, const char *const *option, int options, int arch,
                                 void **out, uint64_t *bytes)
{
    char reason[200];
    const char **all;
    void *program = NULL;
    *out = NULL;
    if (!lacis_nvrtc_there(reason, sizeof reason)) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    LACIS_TRY(lacis_run_scratch(run, sizeof *all * (uint64_t)(options + 3), &all));
    for (int i = 0; i < options; i++)
        all[i] = option[i];
    all[options] = lacis_run_text(run, "--gpu-architecture=sm_%d", arch);
    if (all[options] == NULL) return LACIS_NOMEM;
    all[options + 1] = "--std=c++17";
    all[options + 2] = "--fmad=false"; /* as the CPU computes */
    int code = loaded.create(&program, source, "lacis", 0, NULL, NULL);
    if (code != 0) return lacis_run_fail(run, LACIS_UNSUPPORTED, "NVRTC failed: %s", loaded.text(code));
    code = loaded.compile(program, options + 3, all);
    lacis_status status = code == 0 ? take_image(run, program, out, bytes) : refused(run, program, code);
    loaded.destroy(&program);
    return status;
}
