/* SPDX-License-Identifier: Apache-2.0
 *
 * Options (SET, SHOW OPTIONS) as one table, and what of them and of the machine's profile the catalog keeps.
 */
#include "exec/settings.h"

#include "core/device.h"
#include "core/ranks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_THREADS = 1024 };

/* "1.5 GB"; false where it is not a size. */
static bool read_bytes(const char *value, double *out)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || !(number > 0)) return false;
    while (isspace((unsigned char)*end))
        end++;
    static const struct {
        const char *name;
        double factor;
    } unit[] = {{"", 1},         {"b", 1},           {"k", 1e3},           {"kb", 1e3}, {"m", 1e6},
                {"mb", 1e6},     {"g", 1e9},         {"gb", 1e9},          {"t", 1e12}, {"tb", 1e12},
                {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0}};
    for (int i = 0; i < LACIS_COUNT(unit); i++) {
        if (strcasecmp(end, unit[i].name) != 0) continue;
        *out = number * unit[i].factor;
        return *out >= 1e6 && *out <= 1e18;
    }
    return false;
}

static bool set_memory_limit(lacis_host *host, const char *value)
{
    double bytes;
    if (!read_bytes(value, &bytes)) return false;
    lacis_memory_set_limit(host->memory, (uint64_t)bytes);
    return true;
}

static void get_memory_limit(const lacis_host *host, char *value, size_t size)
{
    snprintf(value, size, "%llu", (unsigned long long)lacis_memory_limit(host->memory));
}

static bool set_gpu_limit(lacis_host *host, const char *value)
{
    double bytes = 0;
    if (strcasecmp(value, "auto") != 0 && !read_bytes(value, &bytes)) return false;
    lacis_device_set_limit(host, (uint64_t)bytes);
    return true;
}

static void get_gpu_limit(const lacis_host *host, char *value, size_t size)
{
    snprintf(value, size, host->gpu_limit == 0 ? "auto" : "%llu", (unsigned long long)host->gpu_limit);
}

static bool set_gpus(lacis_host *host, const char *value)
{
    char *end;
    long number = strcasecmp(value, "auto") == 0 ? 0 : strtol(value, &end, 10);
    if (strcasecmp(value, "auto") != 0 && (end == value || *end != '\0' || number < 1 || number > LACIS_GPUS))
        return false;
    host->gpus = (int)number;
    return true;
}

static void get_gpus(const lacis_host *host, char *value, size_t size)
{
    snprintf(value, size, host->gpus == 0 ? "auto" : "%d", host->gpus);
}

static bool set_threads(lacis_host *host, const char *value)
{
    char *end;
    if (strcasecmp(value, "auto") == 0) {
        host->threads_asked = 0;
        host->threads = lacis_ranks_threads(host->ranks);
        return true;
    }
    long number = strtol(value, &end, 10);
    if (end == value || *end != '\0' || number < 1 || number > MOST_THREADS) return false;
    host->threads = host->threads_asked = (int)number;
    return true;
}

static void get_threads(const lacis_host *host, char *value, size_t size)
{
    snprintf(value, size, "%d", host->threads);
}

static bool set_deterministic(lacis_host *host, const char *value)
{
    static const char *const yes[] = {"on", "true", "1", "yes"}, *const no[] = {"off", "false", "0", "no"};
    for (int i = 0; i < LACIS_COUNT(yes); i++) {
        if (strcasecmp(value, yes[i]) == 0 || strcasecmp(value, no[i]) == 0) {
            host->deterministic = strcasecmp(value, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static void get_deterministic(const lacis_host *host, char *value, size_t size)
{
    snprintf(value, size, "%s", host->deterministic ? "on" : "off");
}

static const char *const ranks_word[] = {
    [LACIS_RANKS_AUTO] = "auto", [LACIS_RANKS_OFF] = "off", [LACIS_RANKS_ALL] = "all"};

static bool set_ranks(lacis_host *host, const char *value)
{
    for (int i = 0; i < LACIS_COUNT(ranks_word); i++) {
        if (strcasecmp(value, ranks_word[i]) != 0) continue;
        host->ranks_use = (lacis_ranks_use)i;
        return true;
    }
    return false;
}

static void get_ranks(const lacis_host *host, char *value, size_t size)
{
    snprintf(value, size, "%s", ranks_word[host->ranks_use]);
}

static bool set_ranks_limit(lacis_host *host, const char *value)
{
    double bytes = 0;
    if (strcasecmp(value, "auto") != 0 && !read_bytes(value, &bytes)) return false;
    host->ranks_memory = (uint64_t)bytes;
    return true;
}

static void get_ranks_limit(const lacis_host *host, char *value, size_t size)
{
    snprintf(value, size, host->ranks_memory == 0 ? "auto" : "%llu", (unsigned long long)host->ranks_memory);
}

const struct setting lacis_setting[] = {
    {"memory_limit", "bytes, or with kB, MB, GB, KiB, MiB, GiB; at least 1 MB",
     "what arrays, results and work may take together", set_memory_limit, get_memory_limit},
    {"gpu_memory_limit", "like memory_limit, or auto (nine tenths of the card)",
     "what operands, results and work may take on each GPU", set_gpu_limit, get_gpu_limit},
    {"gpus", "1 .. 16, or auto (all, where the work is worth it)", "GPUs of this machine that work on one statement",
     set_gpus, get_gpus},
    {"threads", "1 .. 1024, or auto", "threads that work on one statement", set_threads, get_threads},
    {"deterministic", "on or off", "the same bits on every run and any number of threads", set_deterministic,
     get_deterministic},
    {"ranks", "auto, off or all", "whether the other ranks of an mpirun share work: where it pays, never, always",
     set_ranks, get_ranks},
    {"ranks_memory_limit", "like memory_limit, or auto (each rank's share of its machine)",
     "what operands, results and work may take on each other rank", set_ranks_limit, get_ranks_limit},
};
const int lacis_settings = LACIS_COUNT(lacis_setting);

static const struct setting *find(const char *name)
{
    for (int i = 0; i < lacis_settings; i++)
        if (strcasecmp(lacis_setting[i].name, name) == 0) return &lacis_setting[i];
    return NULL;
}

static lacis_status apply(lacis_run *run, const char *name, const char *value, int64_t offset)
{
    const struct setting *setting = find(name);
    if (setting == NULL) {
        lacis_nearest nearest;
        lacis_nearest_begin(&nearest, name, strlen(name));
        for (int i = 0; i < lacis_settings; i++)
            lacis_nearest_try(&nearest, lacis_setting[i].name);
        const char *meant = lacis_nearest_result(&nearest);
        char hint[100];
        snprintf(hint, sizeof hint, meant != NULL ? "did you mean %s?" : "SHOW OPTIONS lists them all", meant);
        return lacis_run_fail_at(run, LACIS_NAME, offset, hint, "there is no option \"%s\"", name);
    }
    if (!setting->set(run->host, value))
        return lacis_run_fail_at(run, LACIS_RANGE, offset, NULL, "%s takes %s, not \"%s\"", setting->name,
                                 setting->takes, value);
    return LACIS_OK;
}

lacis_status lacis_exec_set(lacis_world *world, lacis_run *run, const char *name, const char *value, int64_t offset)
{
    LACIS_TRY(apply(run, name, value, offset));
    if (!lacis_catalog_in_file(world->catalog)) return LACIS_OK;
    return lacis_catalog_keep(run, world->catalog, "option", find(name)->name, value);
}

lacis_status lacis_exec_get(const lacis_host *host, const char *name, char *value, size_t size)
{
    const struct setting *setting = find(name);
    if (setting == NULL) return LACIS_NAME;
    setting->get(host, value, size);
    return LACIS_OK;
}

void lacis_exec_settings(void *context, lacis_complete_fn add, void *arg)
{
    (void)context;
    for (int i = 0; i < lacis_settings; i++)
        add(arg, lacis_setting[i].name, "option");
}

/* ------------------------------------------------------------------------------- what the file keeps */

/* Options of a newer lacis, or out of this machine's bounds, are passed over with a warning. */
static void restore_option(void *arg, const char *name, const char *value)
{
    lacis_run *run = arg;
    if (apply(run, name, value, -1) == LACIS_OK) return;
    lacis_run_note(run, LACIS_WARNING, "option %s = %s of the database is passed over: %s; SET %s = ... replaces it",
                   name, value, run->host->error.message, name);
    lacis_host_ok(run->host);
}

static void restore_figure(void *arg, const char *name, const char *value)
{
    lacis_profile_set(arg, name, strtod(value, NULL)); /* without room the default figure stands */
}

static void profile_group(char *text, size_t size)
{
    char machine[100];
    lacis_profile_machine(machine, sizeof machine);
    snprintf(text, size, "profile of %s", machine);
}

static lacis_status keep_text(void *context, lacis_run *run, const char *group, const char *name, const char *value)
{
    return lacis_catalog_keep(run, context, group, name, value);
}

static lacis_status kept_texts(void *context, lacis_run *run, const char *group, lacis_kept_fn fn, void *arg)
{
    return lacis_catalog_kept(run, context, group, fn, arg);
}

lacis_status lacis_exec_restore(lacis_world *world, lacis_run *run)
{
    if (!lacis_catalog_in_file(world->catalog)) return LACIS_OK;
    world->host->keeper = (lacis_keeper){world->catalog, keep_text, kept_texts};
    char group[120];
    profile_group(group, sizeof group);
    LACIS_TRY(lacis_catalog_kept(run, world->catalog, "option", restore_option, run));
    LACIS_TRY(lacis_exec_restore_tuned(world, run));
    return lacis_catalog_kept(run, world->catalog, group, restore_figure, world->profile);
}

struct keeper {
    lacis_world *world;
    lacis_run *run;
    const char *group;
    lacis_status status;
};

static void keep_figure(void *arg, const char *name, double value)
{
    struct keeper *keeper = arg;
    char text[LACIS_NUMBER_TEXT];
    if (keeper->status != LACIS_OK) return;
    lacis_format_double(value, text);
    keeper->status = lacis_catalog_keep(keeper->run, keeper->world->catalog, keeper->group, name, text);
}

lacis_status lacis_exec_keep_profile(lacis_world *world, lacis_run *run)
{
    if (!lacis_catalog_in_file(world->catalog)) return LACIS_OK;
    char group[120];
    profile_group(group, sizeof group);
    struct keeper keeper = {world, run, group, LACIS_OK};
    lacis_profile_each(world->profile, keep_figure, &keeper);
    if (keeper.status == LACIS_OK) world->profile->learned = false;
    return keeper.status;
}

static lacis_status calibrate_copies(lacis_run *run, lacis_profile *profile)
{
    char reason[200];
    bool started = lacis_gpu_started(run);
    double start = lacis_now();
    lacis_gpu *gpu = lacis_run_gpu(run, reason, sizeof reason);
    if (gpu == NULL) return LACIS_OK;
    if (!started) LACIS_TRY(lacis_profile_set(profile, LACIS_PROFILE_GPU_START, lacis_now() - start));
    lacis_gpu_facts facts;
    LACIS_TRY(lacis_profile_set(profile, LACIS_PROFILE_GPU, lacis_profile_gpu(gpu)));
    LACIS_TRY(lacis_device_measure(run, gpu));
    lacis_gpu_describe(gpu, &facts);
    LACIS_TRY(lacis_profile_set(profile, LACIS_PROFILE_UPLOAD, facts.upload_rate));
    return lacis_profile_set(profile, LACIS_PROFILE_DOWNLOAD, facts.download_rate);
}

lacis_status lacis_exec_calibrate(lacis_world *world, lacis_run *run)
{
    double start = lacis_now();
    LACIS_TRY(calibrate_copies(run, world->profile));
    for (int i = 0; i < world->registry->ops; i++) {
        const lacis_op *op = world->registry->op[i];
        if (op->calibrate == NULL) continue;
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        lacis_run_advance(run, "CALIBRATE", i, world->registry->ops, "operators");
        LACIS_TRY(op->calibrate(run, world->profile));
    }
    lacis_profile_unlearn(world->profile);
    LACIS_TRY(lacis_exec_keep_profile(world, run));
    lacis_run_note(run, LACIS_SUMMARY, "calibrated %d figures (%.2f s)%s", world->profile->entries,
                   lacis_now() - start,
                   lacis_catalog_in_file(world->catalog) ? "" : "; they last as long as this database in memory");
    return LACIS_OK;
}
