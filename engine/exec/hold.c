/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements hold.h.
 */
#include "exec/hold.h"

lacis_array *lacis_hold_find(lacis_hold *hold, uint64_t number)
{
    for (int i = 0; i < LACIS_HELD; i++) {
        if (hold->held[i].array == NULL || hold->held[i].number != number) continue;
        hold->held[i].use = ++hold->uses;
        return lacis_array_retain(hold->held[i].array);
    }
    return NULL;
}

static bool among(const lacis_array *array, lacis_array *const *used, int count)
{
    for (int i = 0; i < count; i++)
        if (used[i] == array) return true;
    return false;
}

bool lacis_hold_drop(lacis_hold *hold, lacis_array *const *used, int count)
{
    int oldest = -1;
    for (int i = 0; i < LACIS_HELD; i++) {
        if (hold->held[i].array == NULL || among(hold->held[i].array, used, count)) continue;
        if (oldest < 0 || hold->held[i].use < hold->held[oldest].use) oldest = i;
    }
    if (oldest < 0) return false;
    lacis_array_release(hold->held[oldest].array);
    hold->held[oldest].array = NULL;
    return true;
}

static int free_place(const lacis_hold *hold)
{
    for (int i = 0; i < LACIS_HELD; i++)
        if (hold->held[i].array == NULL) return i;
    return -1;
}

void lacis_hold_keep(lacis_hold *hold, uint64_t number, const lacis_array *array, lacis_array *const *used, int count)
{
    int place = free_place(hold);
    if (place < 0 && lacis_hold_drop(hold, used, count)) place = free_place(hold);
    if (place < 0) return;
    hold->held[place].number = number;
    hold->held[place].use = ++hold->uses;
    hold->held[place].array = lacis_array_retain(array);
}

uint64_t lacis_hold_bytes(const lacis_hold *hold)
{
    uint64_t bytes = 0;
    for (int i = 0; i < LACIS_HELD; i++)
        if (hold->held[i].array != NULL) bytes += lacis_array_bytes(hold->held[i].array);
    return bytes;
}
