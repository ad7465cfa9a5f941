/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine's figures: a short list of names and numbers, measured by CALIBRATE or learned from runs, kept in the
 * catalog under the processor's name.
 */
#include "plan/plan.h"

#include <string.h>

enum { NAME_TEXT = 80 };
struct profile_entry {
    char name[NAME_TEXT];
    uint32_t sum; /* of the name: a plan asks for dozens of figures */
    double value;
};

void lacis_profile_init(lacis_profile *profile, lacis_host *host)
{
    *profile = (lacis_profile){.host = host};
}

void lacis_profile_clear(lacis_profile *profile)
{
    lacis_memory_free(profile->host->memory, profile->entry);
    profile->entry = NULL;
    profile->entries = profile->room = 0;
    lacis_tuned_clear(profile);
    lacis_tune_kept(profile, NULL, NULL);
}

static uint32_t sum_of(const char *name)
{
    uint32_t sum = 2166136261u; /* FNV-1a */
    for (; *name != '\0'; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619u;
    return sum;
}

static struct profile_entry *find(const lacis_profile *profile, const char *name)
{
    uint32_t sum = sum_of(name);
    for (int i = 0; i < profile->entries; i++)
        if (profile->entry[i].sum == sum && strcmp(profile->entry[i].name, name) == 0) return &profile->entry[i];
    return NULL;
}

double lacis_profile_get(const lacis_profile *profile, const char *name, double otherwise)
{
    const struct profile_entry *entry = profile == NULL ? NULL : find(profile, name);
    return entry == NULL ? otherwise : entry->value;
}

static lacis_status make_room(lacis_profile *profile)
{
    if (profile->entries < profile->room) return LACIS_OK;
    int room = profile->room == 0 ? 32 : 2 * profile->room;
    struct profile_entry *grown =
        lacis_memory_alloc(profile->host->memory, sizeof(struct profile_entry) * (uint64_t)room);
    if (grown == NULL) return LACIS_NOMEM;
    if (profile->entries > 0) memcpy(grown, profile->entry, sizeof(struct profile_entry) * (size_t)profile->entries);
    lacis_memory_free(profile->host->memory, profile->entry);
    profile->entry = grown;
    profile->room = room;
    return LACIS_OK;
}

lacis_status lacis_profile_set(lacis_profile *profile, const char *name, double value)
{
    struct profile_entry *entry = find(profile, name);
    if (entry == NULL) {
        if (strlen(name) >= NAME_TEXT) return LACIS_RANGE;
        LACIS_TRY(make_room(profile));
        entry = &profile->entry[profile->entries++];
        memcpy(entry->name, name, strlen(name) + 1);
        entry->sum = sum_of(name);
    }
    entry->value = value;
    return LACIS_OK;
}

double lacis_profile_gpu(const lacis_gpu *gpu)
{
    lacis_gpu_facts facts;
    uint32_t sum = 2166136261u; /* FNV-1a */
    lacis_gpu_describe(gpu, &facts);
    for (const char *at = facts.name; *at != '\0'; at++)
        sum = (sum ^ (unsigned char)*at) * 16777619u;
    for (const char *at = facts.driver; *at != '\0'; at++)
        sum = (sum ^ (unsigned char)*at) * 16777619u;
    return sum;
}

const lacis_profile *lacis_gpu_figures(const lacis_gpu *gpu, const lacis_profile *profile)
{
    double measured_on = lacis_profile_get(profile, LACIS_PROFILE_GPU, -1);
    return gpu == NULL || measured_on < 0 || measured_on == lacis_profile_gpu(gpu) ? profile : NULL;
}

void lacis_profile_each(const lacis_profile *profile, lacis_profile_fn fn, void *arg)
{
    for (int i = 0; i < profile->entries; i++)
        fn(arg, profile->entry[i].name, profile->entry[i].value);
}

void lacis_profile_unlearn(lacis_profile *profile)
{
    for (int i = 0; i < profile->entries; i++)
        if (strncmp(profile->entry[i].name, "tune.", 5) == 0) profile->entry[i].value = 1;
}

void lacis_profile_machine(char *text, size_t size)
{
    snprintf(text, size, "unknown processor");
    FILE *info = fopen("/proc/cpuinfo", "r");
    if (info == NULL) return;
    char line[256];
    while (fgets(line, sizeof line, info) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(text, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    fclose(info);
}
