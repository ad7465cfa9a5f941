/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of a catalog in memory, sorted, with a log of changes that follows SQLite's transactions (internal.h).
 */
#include "catalog/internal.h"

#include "core/word.h"

#include <string.h>

int lacis_name_compare(const char *a, const char *b)
{
    while (*a != '\0' && lacis_lower(*a) == lacis_lower(*b)) {
        a++;
        b++;
    }
    return (unsigned char)lacis_lower(*a) - (unsigned char)lacis_lower(*b);
}

/* ----------------------------------------------------------------------------------------- records */

static const char *append(char **room, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*room, text, size);
    *room += size;
    return copy;
}

lacis_status lacis_record_new(lacis_run *run, lacis_catalog *catalog, const char *name, const char *view,
                              const lacis_columns *columns, lacis_record **out)
{
    uint64_t bytes = sizeof(lacis_record) + strlen(name) + 1 + (view == NULL ? 0 : strlen(view) + 1);
    for (int i = 0; i < columns->count; i++)
        bytes += strlen(columns->name[i]) + 1;
    lacis_record *record = lacis_memory_alloc(catalog->memory, bytes);
    if (record == NULL) return lacis_run_no_memory(run, bytes);
    char *room = (char *)(record + 1);
    *record = (lacis_record){.columns = *columns};
    record->name = append(&room, name);
    if (view != NULL) record->view = append(&room, view);
    for (int i = 0; i < columns->count; i++)
        record->columns.name[i] = append(&room, columns->name[i]);
    *out = record;
    return LACIS_OK;
}

void lacis_record_free(lacis_catalog *catalog, lacis_record *record)
{
    if (record == NULL) return;
    lacis_array_release(record->array);
    lacis_memory_free(catalog->memory, record);
}

/* --------------------------------------------------------------------------------------------- map */

/* Where the name is, or belongs. */
static int place_of(const lacis_catalog *catalog, const char *name, bool *found)
{
    int low = 0, high = catalog->records;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (lacis_name_compare(catalog->record[middle]->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *found = low < catalog->records && lacis_name_compare(catalog->record[low]->name, name) == 0;
    return low;
}

lacis_record *lacis_map_peek(const lacis_catalog *catalog, const char *name)
{
    bool found;
    int place = place_of(catalog, name, &found);
    return found ? catalog->record[place] : NULL;
}

lacis_record *lacis_map_find(const lacis_catalog *catalog, const char *name)
{
    lacis_map_sync(catalog);
    return lacis_map_peek(catalog, name);
}

/* Puts record (NULL: nothing) where the name is. There is room. Returns what was there. */
static lacis_record *set(lacis_catalog *catalog, const char *name, lacis_record *record)
{
    bool found;
    int place = place_of(catalog, name, &found);
    lacis_record *before = found ? catalog->record[place] : NULL;
    lacis_record **at = &catalog->record[place];
    size_t behind = (size_t)(catalog->records - place) * sizeof *at;
    catalog->generation++;
    if (found && record == NULL) {
        memmove(at, at + 1, behind - sizeof *at);
        catalog->records--;
    } else if (!found && record != NULL) {
        memmove(at + 1, at, behind);
        catalog->records++;
    }
    if (record != NULL) *at = record;
    return before;
}

static lacis_status grow(lacis_run *run, lacis_catalog *catalog, void *list, int used, int *room, size_t size)
{
    if (used < *room) return LACIS_OK;
    int more = *room == 0 ? 16 : 2 * *room;
    void *old, *fresh = lacis_memory_alloc(catalog->memory, (uint64_t)more * size);
    if (fresh == NULL) return lacis_run_no_memory(run, (uint64_t)more * size);
    memcpy(&old, list, sizeof old);
    if (used > 0) memcpy(fresh, old, (size_t)used * size);
    lacis_memory_free(catalog->memory, old);
    memcpy(list, &fresh, sizeof fresh);
    *room = more;
    return LACIS_OK;
}

lacis_status lacis_map_reserve(lacis_run *run, lacis_catalog *catalog)
{
    lacis_map_sync(catalog);
    LACIS_TRY(grow(run, catalog, &catalog->record, catalog->records, &catalog->room, sizeof *catalog->record));
    return grow(run, catalog, &catalog->change, catalog->changes, &catalog->change_room, sizeof *catalog->change);
}

lacis_status lacis_map_change(lacis_run *run, lacis_catalog *catalog, const char *name, lacis_record *after)
{
    lacis_status status = lacis_map_reserve(run, catalog);
    if (status == LACIS_OK) {
        int stamp = catalog->stamp == INT32_MAX ? 1 : catalog->stamp + 1;
        status = lacis_sql_runf(run, catalog, "PRAGMA temp.user_version = %d", stamp);
        if (status == LACIS_OK) catalog->stamp = stamp;
    }
    if (status != LACIS_OK) {
        lacis_record_free(catalog, after);
        return status;
    }
    lacis_record *before = set(catalog, name, after);
    catalog->change[catalog->changes++] = (lacis_change){before, after, catalog->stamp};
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ undoing */

void lacis_map_undo(lacis_catalog *catalog, int changes)
{
    while (catalog->changes > changes) {
        lacis_change *last = &catalog->change[--catalog->changes];
        set(catalog, last->before != NULL ? last->before->name : last->after->name, last->before);
        lacis_record_free(catalog, last->after);
    }
}

void lacis_map_forget(lacis_catalog *catalog)
{
    for (int i = 0; i < catalog->changes; i++)
        lacis_record_free(catalog, catalog->change[i].before);
    catalog->changes = 0;
}

/* How many of the logged changes SQLite still knows, or -1 where it cannot be asked. */
static int still_there(lacis_catalog *catalog)
{
    int known = -1;
    if (sqlite3_step(catalog->stamp_query) == SQLITE_ROW) {
        int stamp = sqlite3_column_int(catalog->stamp_query, 0);
        known = catalog->changes;
        while (known > 0 && catalog->change[known - 1].stamp != stamp)
            known--;
    }
    sqlite3_reset(catalog->stamp_query);
    return known;
}

void lacis_map_sync(const lacis_catalog *catalog)
{
    if (catalog->changes == 0) return;
    /* What a const catalog shows is its state after SQLite's; bringing it there changes nothing that anyone saw. */
    lacis_catalog *mutable = (lacis_catalog *)(uintptr_t)catalog;
    int known = still_there(mutable);
    if (known < 0) return;
    lacis_map_undo(mutable, known);
    if (sqlite3_get_autocommit(catalog->db)) lacis_map_forget(mutable);
}

void lacis_map_clear(lacis_catalog *catalog)
{
    lacis_map_forget(catalog);
    for (int i = 0; i < catalog->records; i++)
        lacis_record_free(catalog, catalog->record[i]);
    catalog->records = 0;
    lacis_memory_free(catalog->memory, catalog->record);
    lacis_memory_free(catalog->memory, catalog->change);
    catalog->record = NULL;
    catalog->change = NULL;
}
