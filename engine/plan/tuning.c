/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that TUNE made, beside the machine's figures: one a name and device. As text, for the catalog, a table is
 * "1 tiles 32x32 w4; 1400 ring 64x64 w8": where each range begins, and its candidate.
 */
#include "plan/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct lacis_tuned_entry {
    char device[LACIS_TUNED_DEVICE], name[LACIS_TUNE_TEXT];
    lacis_tune_table table;
};

void lacis_tuned_device(const lacis_gpu *gpu, char *text)
{
    lacis_gpu_facts facts;
    lacis_gpu_describe(gpu, &facts);
    snprintf(text, LACIS_TUNED_DEVICE, "%s, driver %s", facts.name, facts.driver);
}

static struct lacis_tuned_entry *find(const lacis_profile *profile, const char *device, const char *name)
{
    for (int i = 0; i < profile->tables; i++)
        if (strcmp(profile->table[i].name, name) == 0 && strcmp(profile->table[i].device, device) == 0)
            return &profile->table[i];
    return NULL;
}

static lacis_status make_room(lacis_profile *profile)
{
    lacis_memory *memory = profile->host->memory;
    if (profile->tables < profile->table_room) return LACIS_OK;
    int room = profile->table_room == 0 ? 8 : 2 * profile->table_room;
    struct lacis_tuned_entry *grown = lacis_memory_alloc(memory, sizeof *grown * (uint64_t)room);
    if (grown == NULL) return LACIS_NOMEM;
    if (profile->tables > 0) memcpy(grown, profile->table, sizeof *grown * (size_t)profile->tables);
    lacis_memory_free(memory, profile->table);
    profile->table = grown;
    profile->table_room = room;
    return LACIS_OK;
}

static lacis_status put(lacis_profile *profile, const char *device, const char *name, const lacis_tune_table *table)
{
    struct lacis_tuned_entry *entry = find(profile, device, name);
    if (entry == NULL) {
        if (strlen(name) >= sizeof entry->name || strlen(device) >= sizeof entry->device) return LACIS_RANGE;
        LACIS_TRY(make_room(profile));
        entry = &profile->table[profile->tables++];
        memcpy(entry->device, device, strlen(device) + 1);
        memcpy(entry->name, name, strlen(name) + 1);
    }
    entry->table = *table;
    return LACIS_OK;
}

lacis_status lacis_tune_put(lacis_profile *profile, const lacis_gpu *gpu, const char *name,
                            const lacis_tune_table *table)
{
    char device[LACIS_TUNED_DEVICE];
    lacis_tuned_device(gpu, device);
    return put(profile, device, name, table);
}

const lacis_tune_table *lacis_tuned(const lacis_profile *profile, const lacis_gpu *gpu, const char *name)
{
    char device[LACIS_TUNED_DEVICE];
    if (profile == NULL || gpu == NULL || profile->tables == 0) return NULL;
    lacis_tuned_device(gpu, device);
    const struct lacis_tuned_entry *entry = find(profile, device, name);
    return entry == NULL ? NULL : &entry->table;
}

const char *lacis_tune_choice(const lacis_tune_table *table, int64_t size)
{
    int at = 0;
    if (table == NULL || table->ranges == 0) return "";
    while (at + 1 < table->ranges && table->range[at + 1].from <= size)
        at++;
    return table->range[at].choice;
}

lacis_status lacis_tune_lines(lacis_lines *lines, const char *name, const lacis_tune_table *table)
{
    for (int i = 0; table != NULL && i < table->ranges; i++)
        LACIS_TRY(lacis_lines_add(lines, "tuned, %s, from %" PRId64 ": %s", name, table->range[i].from,
                                  table->range[i].choice));
    return LACIS_OK;
}

/* ----------------------------------------------------------------------------------------------- text */

void lacis_tuned_text(const lacis_tune_table *table, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < table->ranges; i++)
        used += (size_t)snprintf(text + used, LACIS_TUNED_TEXT - used, "%s%" PRId64 " %s", i > 0 ? "; " : "",
                                 table->range[i].from, table->range[i].choice);
}

bool lacis_tuned_read(const char *text, lacis_tune_table *table)
{
    *table = (lacis_tune_table){.ranges = 0};
    while (*text != '\0') {
        char *end;
        lacis_tune_range *range = &table->range[table->ranges];
        if (table->ranges == LACIS_TUNE_RANGES) return false;
        range->from = strtoll(text, &end, 10);
        if (end == text || *end != ' ' || range->from < 1) return false;
        if (table->ranges > 0 && range->from <= range[-1].from) return false;
        size_t length = strcspn(++end, ";");
        if (length == 0 || length >= sizeof range->choice) return false;
        memcpy(range->choice, end, length);
        text = end + length;
        text += strspn(text, "; ");
        table->ranges++;
    }
    return table->ranges > 0;
}

lacis_status lacis_tuned_each(const lacis_profile *profile, lacis_tuned_fn fn, void *arg)
{
    for (int i = 0; i < profile->tables; i++)
        LACIS_TRY(fn(arg, profile->table[i].device, profile->table[i].name, &profile->table[i].table));
    return LACIS_OK;
}

lacis_status lacis_tuned_restore(lacis_profile *profile, const char *device, const char *name, const char *text)
{
    lacis_tune_table table;
    return lacis_tuned_read(text, &table) ? put(profile, device, name, &table) : LACIS_RANGE;
}

void lacis_tuned_clear(lacis_profile *profile)
{
    lacis_memory_free(profile->host->memory, profile->table);
    profile->table = NULL;
    profile->tables = profile->table_room = 0;
}
