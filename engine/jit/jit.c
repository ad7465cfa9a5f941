/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels compiled at run time and where they are kept: with the GPU for as long as the engine lives, and as text in
 * the database file, both under a hash of source, options, architecture and compiler. Operators call it through
 * lacis_extend.h.
 */
#include "core/device.h"
#include "jit/nvrtc.h"

#include <string.h>

/* Two FNV-1a sums from different starts: nobody has to be kept from finding two texts of one hash. */
typedef struct hash {
    uint64_t a, b;
} hash;

static void add(hash *sum, const char *text)
{
    for (size_t i = 0;; i++) {
        sum->a = (sum->a ^ (unsigned char)text[i]) * 0x100000001b3u;
        sum->b = (sum->b ^ (unsigned char)text[i]) * 0x100000001b3u;
        sum->b ^= sum->b >> 29;
        if (text[i] == '\0') break; /* ends count: "ab", "c" is not "a", "bc" */
    }
}

static void hash_source(const lacis_gpu_source *source, int arch, int version, char *out)
{
    hash sum = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
    char number[40];
    snprintf(number, sizeof number, "sm_%d, %d, %d texts", arch, version, source->texts);
    add(&sum, number);
    for (int i = 0; i < source->texts; i++)
        add(&sum, source->text[i]);
    for (int i = 0; i < source->options; i++)
        add(&sum, source->option[i]);
    snprintf(out, LACIS_HASH_TEXT, "%016llx%016llx", (unsigned long long)sum.a, (unsigned long long)sum.b);
}

/* ---------------------------------------------------------------------------------- the database file */

/* An image as hexadecimal text. */
static char *image_text(lacis_run *run, const unsigned char *image, uint64_t bytes)
{
    static const char digit[] = "0123456789abcdef";
    char *text;
    if (lacis_run_scratch(run, 2 * bytes + 1, &text) != LACIS_OK) return NULL;
    for (uint64_t i = 0; i < bytes; i++) {
        text[2 * i] = digit[image[i] >> 4];
        text[2 * i + 1] = digit[image[i] & 15];
    }
    text[2 * bytes] = '\0';
    return text;
}

struct wanted {
    lacis_run *run;
    void *image;
    uint64_t bytes;
};

static int nibble(char digit)
{
    return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static void take_kept(void *arg, const char *name, const char *value)
{
    struct wanted *wanted = arg;
    uint64_t bytes = strlen(value) / 2;
    unsigned char *image = NULL;
    if (strcmp(name, "image") != 0 || wanted->image != NULL || bytes == 0) return;
    if (lacis_run_alloc(wanted->run, bytes, &image) != LACIS_OK) return;
    for (uint64_t i = 0; i < bytes; i++) {
        int high = nibble(value[2 * i]), low = nibble(value[2 * i + 1]);
        if (high < 0 || low < 0) {
            lacis_run_free(wanted->run, image);
            return;
        }
        image[i] = (unsigned char)(high << 4 | low);
    }
    wanted->image = image;
    wanted->bytes = bytes;
}

/* What the file says or cannot say changes nothing but the time: errors are passed over. */
static void from_file(lacis_run *run, const char *hash_text, void **image, uint64_t *bytes)
{
    const lacis_keeper *keeper = &run->host->keeper;
    struct wanted wanted = {run, NULL, 0};
    char *group = lacis_run_text(run, "kernel %s", hash_text);
    if (keeper->kept == NULL || group == NULL) return;
    lacis_error before = run->host->error;
    keeper->kept(keeper->context, run, group, take_kept, &wanted);
    run->host->error = before;
    *image = wanted.image;
    *bytes = wanted.bytes;
}

static void to_file(lacis_run *run, const char *hash_text, const void *image, uint64_t bytes)
{
    const lacis_keeper *keeper = &run->host->keeper;
    if (keeper->keep == NULL) return;
    lacis_error before = run->host->error;
    char *group = lacis_run_text(run, "kernel %s", hash_text), *text = image_text(run, image, bytes);
    if (group != NULL && text != NULL) keeper->keep(keeper->context, run, group, "image", text);
    run->host->error = before;
}

/* ------------------------------------------------------------------------------------------ compiling */

static lacis_status join(lacis_run *run, const lacis_gpu_source *source, char **out)
{
    size_t length = 0, at = 0;
    for (int i = 0; i < source->texts; i++)
        length += strlen(source->text[i]) + 1;
    LACIS_TRY(lacis_run_scratch(run, length + 1, out));
    for (int i = 0; i < source->texts; i++) {
        size_t part = strlen(source->text[i]);
        memcpy(*out + at, source->text[i], part);
        at += part;
        (*out)[at++] = '\n';
    }
    (*out)[at] = '\0';
    return LACIS_OK;
}

static lacis_status compile(lacis_run *run, const lacis_gpu_source *source, const char *hash_text, int arch,
                            void **image, uint64_t *bytes)
{
    char *text;
    double start = lacis_now();
    LACIS_TRY(join(run, source, &text));
    LACIS_TRY(lacis_nvrtc_compile(run, text, source->option, source->options, arch, image, bytes));
    lacis_run_count(run, "seconds compiling for the GPU", lacis_now() - start);
    to_file(run, hash_text, *image, *bytes);
    return LACIS_OK;
}

static lacis_status open_module(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source, const void *image,
                                const char *hash_text, lacis_module **out)
{
    lacis_module *module;
    LACIS_TRY(lacis_run_alloc(run, sizeof *module, &module));
    memset(module, 0, sizeof *module);
    memcpy(module->hash, hash_text, LACIS_HASH_TEXT);
    int code = LACIS_DRIVER(gpu, library_new, image, &module->library);
    if (code != 0) {
        lacis_run_free(run, module);
        return lacis_gpu_failed(run, gpu, code);
    }
    for (int i = 0; i < source->kernels; i++) {
        if (LACIS_DRIVER(gpu, library_kernel, module->library, source->kernel[i], &module->kernel[i]) == 0) continue;
        module->kernel[i] = NULL;
        gpu->driver->forget();
    }
    module->next = gpu->module;
    gpu->module = module;
    *out = module;
    return LACIS_OK;
}

/* In the memory of the GPU's engine: the compiler is one and the same for a process, so its version need not be
 * known. */
static lacis_module *find_module(const lacis_gpu *gpu, const char *hash_text)
{
    lacis_module *module = gpu->module;
    while (module != NULL && strcmp(module->hash, hash_text) != 0)
        module = module->next;
    return module;
}

static lacis_status make_module(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source, const char *name,
                                lacis_module **out)
{
    char kept[LACIS_HASH_TEXT];
    void *image = NULL;
    uint64_t bytes = 0;
    hash_source(source, gpu->facts.arch, lacis_nvrtc_version(), kept);
    from_file(run, kept, &image, &bytes);
    if (image == NULL) LACIS_TRY(compile(run, source, kept, gpu->facts.arch, &image, &bytes));
    lacis_status status = open_module(run, gpu, source, image, name, out);
    lacis_run_free(run, image);
    return status;
}

bool lacis_gpu_compiles(char *reason, size_t size)
{
    return lacis_nvrtc_there(reason, size);
}

lacis_status lacis_gpu_compile(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source, void **kernel)
{
    char name[LACIS_HASH_TEXT];
    if (source->kernels > LACIS_MODULE_KERNELS)
        return lacis_run_fail(run, LACIS_MISUSE, "more than %d kernels in one source", LACIS_MODULE_KERNELS);
    hash_source(source, gpu->facts.arch, 0, name);
    lacis_module *module = find_module(gpu, name);
    if (module == NULL) LACIS_TRY(make_module(run, gpu, source, name, &module));
    for (int i = 0; i < source->kernels; i++)
        kernel[i] = module->kernel[i];
    return LACIS_OK;
}
