/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels compiled at run time and where they are kept: with the GPU for as long as the engine lives, and as text in
 * the database file, both under a hash of source, options, architecture and compiler. Operators call it through
 * lacis_extend.h.
 */
#include "core/device.h"
#include "jit/nvrtc.h"

#include <string.h>

/* Two sums after FNV-1a, eight bytes at a time, from different starts: nobody has to be kept from finding two texts
 * of one hash. */
typedef struct sums {
    uint64_t a, b;
} sums;

static void add_word(sums *sum, uint64_t word)
{
    sum->a = (sum->a ^ word) * 0x100000001b3u;
    sum->a ^= sum->a >> 32;
    sum->b = (sum->b ^ word) * 0x9e3779b97f4a7c15u;
    sum->b ^= sum->b >> 29;
}

/* Lengths count: "ab", "c" is not "a", "bc". Of long texts four sums go side by side, as one waits for its
 * multiplications: every statement with a written function hashes the kernels' source. */
static void add(sums *sum, const char *text)
{
    enum { LANES = 4 };
    size_t length = strlen(text), i = 0;
    uint64_t word = 0;
    add_word(sum, length);
    if (length >= 32 * LANES) {
        sums lane[LANES];
        for (int k = 0; k < LANES; k++)
            lane[k] = (sums){sum->a + (uint64_t)k, sum->b + (uint64_t)k};
        for (; i + 8 * LANES <= length; i += 8 * LANES)
            for (int k = 0; k < LANES; k++) {
                memcpy(&word, text + i + 8 * k, 8);
                add_word(&lane[k], word);
            }
        for (int k = 0; k < LANES; k++) {
            add_word(sum, lane[k].a);
            add_word(sum, lane[k].b);
        }
    }
    for (; i + 8 <= length; i += 8) {
        memcpy(&word, text + i, 8);
        add_word(sum, word);
    }
    word = 0;
    memcpy(&word, text + i, length - i);
    add_word(sum, word);
}

/* Of all that the kernels of a source share. */
static sums hash_source(const lacis_gpu_source *source, int arch)
{
    sums sum = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
    add_word(&sum, (uint64_t)arch);
    add_word(&sum, (uint64_t)source->texts);
    for (int i = 0; i < source->texts; i++)
        add(&sum, source->text[i]);
    for (int i = 0; i < source->options; i++)
        add(&sum, source->option[i]);
    return sum;
}

/* In the memory of the GPU's engine the compiler's version need not be known (0): it is one and the same for a
 * process. */
static void hash_text(sums sum, const lacis_gpu_source *source, int kernel, int version, char *out)
{
    add_word(&sum, (uint64_t)version);
    add_word(&sum, (uint64_t)kernel << 1 | (source->quick >> kernel & 1));
    add(&sum, source->kernel[kernel]);
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
    bool there;
};

/* Bytes of hexadecimal text; false: it is none. Without a branch a digit, which nobody could predict. */
static bool image_bytes(const char *text, uint64_t bytes, unsigned char *out)
{
    unsigned wrong = 0;
    for (uint64_t i = 0; i < 2 * bytes; i++) {
        unsigned digit = (unsigned char)text[i];
        wrong |= (unsigned)!((digit - '0' < 10u) | (digit - 'a' < 6u));
    }
    for (uint64_t i = 0; i < bytes; i++) {
        unsigned high = (unsigned char)text[2 * i], low = (unsigned char)text[2 * i + 1];
        high = (high & 15) + 9 * (high >> 6); /* of letters bit 6 is set */
        low = (low & 15) + 9 * (low >> 6);
        out[i] = (unsigned char)(high << 4 | low);
    }
    return wrong == 0;
}

static void take_kept(void *arg, const char *name, const char *value)
{
    struct wanted *wanted = arg;
    uint64_t bytes = strlen(value) / 2;
    unsigned char *image = NULL;
    if (strcmp(name, "image") != 0 || wanted->image != NULL || bytes == 0) return;
    if (lacis_run_alloc(wanted->run, bytes, &image) != LACIS_OK) return;
    if (!image_bytes(value, bytes, image)) {
        lacis_run_free(wanted->run, image);
        return;
    }
    wanted->image = image;
    wanted->bytes = bytes;
}

static void note_kept(void *arg, const char *name, const char *value)
{
    struct wanted *wanted = arg;
    wanted->there |= strcmp(name, "image") == 0 && value[0] != '\0';
}

/* What the file says or cannot say changes nothing but the time: errors are passed over. */
static void ask_file(lacis_run *run, const char *hash, void (*fn)(void *arg, const char *name, const char *value),
                     struct wanted *wanted)
{
    const lacis_keeper *keeper = &run->host->keeper;
    char *group = lacis_run_text(run, "kernel %s", hash);
    if (keeper->kept == NULL || group == NULL) return;
    lacis_error before = run->host->error;
    keeper->kept(keeper->context, run, group, fn, wanted);
    run->host->error = before;
}

static void to_file(lacis_run *run, const char *hash, const void *image, uint64_t bytes)
{
    const lacis_keeper *keeper = &run->host->keeper;
    if (keeper->keep == NULL) return;
    lacis_error before = run->host->error;
    char *group = lacis_run_text(run, "kernel %s", hash), *text = image_text(run, image, bytes);
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

/* Kernels of a source that are not in memory. */
enum { KERNELS_MOST = 32 };
struct missing {
    int count, kernel[KERNELS_MOST];
    lacis_nvrtc_program program[KERNELS_MOST];
    char kept[KERNELS_MOST][LACIS_HASH_TEXT]; /* name in the file */
};

static lacis_status compile(lacis_run *run, const lacis_gpu_source *source, int arch, struct missing *missing)
{
    char *text;
    double start = lacis_now();
    LACIS_TRY(join(run, source, &text));
    for (int i = 0; i < missing->count; i++) {
        missing->program[i].option = lacis_run_text(run, "-DLACIS_KERNEL=%d", missing->kernel[i]);
        missing->program[i].quick = source->quick >> missing->kernel[i] & 1;
        if (missing->program[i].option == NULL) return LACIS_NOMEM;
    }
    LACIS_TRY(
        lacis_nvrtc_compile(run, text, source->option, source->options, arch, missing->program, missing->count));
    lacis_run_count(run, "seconds compiling for the GPU", lacis_now() - start);
    for (int i = 0; i < missing->count; i++)
        to_file(run, missing->kept[i], missing->program[i].image, missing->program[i].bytes);
    return LACIS_OK;
}

static lacis_status open_module(lacis_run *run, lacis_gpu *gpu, const char *kernel, const void *image,
                                const char *hash, void **out)
{
    lacis_module *module;
    LACIS_TRY(lacis_run_alloc(run, sizeof *module, &module));
    memset(module, 0, sizeof *module);
    memcpy(module->hash, hash, LACIS_HASH_TEXT);
    int code = LACIS_DRIVER(gpu, library_new, image, &module->library);
    if (code != 0) {
        lacis_run_free(run, module);
        return lacis_gpu_failed(run, gpu, code);
    }
    if (LACIS_DRIVER(gpu, library_kernel, module->library, kernel, &module->kernel) != 0) {
        module->kernel = NULL;
        gpu->driver->forget();
    }
    module->next = gpu->module;
    gpu->module = module;
    *out = module->kernel;
    return LACIS_OK;
}

static lacis_status open_all(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source, sums sum,
                             struct missing *missing, void **kernel)
{
    lacis_status status = LACIS_OK;
    char name[LACIS_HASH_TEXT];
    for (int i = 0; i < missing->count; i++) {
        int k = missing->kernel[i];
        hash_text(sum, source, k, 0, name);
        if (status == LACIS_OK)
            status = open_module(run, gpu, source->kernel[k], missing->program[i].image, name, &kernel[k]);
        lacis_run_free(run, missing->program[i].image);
    }
    return status;
}

/* From the file what it has; the rest is compiled. */
static lacis_status make(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source, sums sum,
                         struct missing *missing, void **kernel)
{
    int version = lacis_nvrtc_version();
    struct missing *kept;
    LACIS_TRY(lacis_run_scratch(run, sizeof *kept, &kept));
    kept->count = 0;
    int wanted = missing->count;
    missing->count = 0;
    for (int i = 0; i < wanted; i++) {
        lacis_nvrtc_program found = {0};
        struct wanted of_file = {.run = run};
        char name[LACIS_HASH_TEXT];
        hash_text(sum, source, missing->kernel[i], version, name);
        ask_file(run, name, take_kept, &of_file);
        found.image = of_file.image;
        found.bytes = of_file.bytes;
        struct missing *to = found.image == NULL ? missing : kept;
        to->kernel[to->count] = missing->kernel[i];
        to->program[to->count] = found;
        memcpy(to->kept[to->count++], name, sizeof name);
    }
    LACIS_TRY(open_all(run, gpu, source, sum, kept, kernel));
    if (missing->count == 0) return LACIS_OK;
    LACIS_TRY(compile(run, source, gpu->facts.arch, missing));
    return open_all(run, gpu, source, sum, missing, kernel);
}

static bool find_module(const lacis_gpu *gpu, const char *hash, void **kernel)
{
    const lacis_module *module = gpu->module;
    while (module != NULL && strcmp(module->hash, hash) != 0)
        module = module->next;
    if (module != NULL) *kernel = module->kernel;
    return module != NULL;
}

bool lacis_gpu_compiles(char *reason, size_t size)
{
    return lacis_nvrtc_there(reason, size);
}

lacis_status lacis_gpu_compile(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source, void **kernel)
{
    struct missing *missing;
    char name[LACIS_HASH_TEXT];
    if (source->kernels > KERNELS_MOST)
        return lacis_run_fail(run, LACIS_MISUSE, "more than %d kernels in one source", KERNELS_MOST);
    LACIS_TRY(lacis_run_scratch(run, sizeof *missing, &missing));
    missing->count = 0;
    sums sum = hash_source(source, gpu->facts.arch);
    for (int i = 0; i < source->kernels; i++) {
        if (source->wanted != 0 && !(source->wanted >> i & 1)) continue;
        hash_text(sum, source, i, 0, name);
        if (!find_module(gpu, name, &kernel[i])) missing->kernel[missing->count++] = i;
    }
    return missing->count == 0 ? LACIS_OK : make(run, gpu, source, sum, missing, kernel);
}

bool lacis_gpu_compiled(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source)
{
    char name[LACIS_HASH_TEXT];
    sums sum = hash_source(source, gpu->facts.arch);
    bool filed = run->host->keeper.kept != NULL;
    int version = filed ? lacis_nvrtc_version() : 0;
    for (int i = 0; i < source->kernels; i++) {
        void *kernel;
        struct wanted wanted = {.run = run};
        hash_text(sum, source, i, 0, name);
        if (find_module(gpu, name, &kernel)) return true;
        if (!filed) continue;
        hash_text(sum, source, i, version, name);
        ask_file(run, name, note_kept, &wanted);
        if (wanted.there) return true;
    }
    return false;
}
