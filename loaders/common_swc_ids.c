/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of samples by their ids; see common_swc.h. Ids that count up need nothing, ids in a range hardly larger than
 * their number a table, others a sorted list. Used by common_swc_link.c and common_swc_figures.c.
 */
#include "common_sort.h"
#include "common_swc.h"

enum { WIDE = 4, ROOM = 1024 }; /* a table has at most so many entries a sample, and so many besides */

static bool counts_up(const int64_t *id, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if ((uint64_t)id[i] - (uint64_t)id[0] != (uint64_t)i) return false;
    return true;
}

static void clear_rows(int32_t *row, int64_t count)
{
    memset(row, 0xff, (size_t)count * sizeof *row); /* -1 */
}

/* Place of an id in `sorted`, or -1. */
static int64_t rank(const lacis_swc_ids *ids, int64_t id)
{
    int64_t at = lacis_label_lower(ids->sorted, 0, ids->span, id);
    return at < ids->span && ids->sorted[at] == id ? at : -1;
}

static int64_t place(const lacis_swc_ids *ids, int64_t id)
{
    if (ids->sorted != NULL) return rank(ids, id);
    if (id < ids->low || (uint64_t)id - (uint64_t)ids->low >= (uint64_t)ids->span) return -1;
    return id - ids->low;
}

/* Enters the rows in their order up to the first whose id is taken. */
static void enter(lacis_swc_ids *ids, const int64_t *id, int64_t *twice, int64_t *first)
{
    for (int64_t i = 0; i < ids->count; i++) {
        int32_t *row = &ids->direct[place(ids, id[i])];
        if (*row >= 0) {
            *twice = i;
            *first = *row;
            return;
        }
        *row = (int32_t)i;
    }
}

static lacis_status make_sorted(lacis_swc_ids *ids, const int64_t *id)
{
    LACIS_TRY(lacis_run_alloc(ids->run, (uint64_t)ids->count * sizeof *id, &ids->sorted));
    memcpy(ids->sorted, id, (size_t)ids->count * sizeof *id);
    lacis_sort_i64(ids->sorted, ids->count);
    int64_t kept = 0;
    for (int64_t i = 0; i < ids->count; i++)
        if (kept == 0 || ids->sorted[kept - 1] != ids->sorted[i]) ids->sorted[kept++] = ids->sorted[i];
    ids->span = kept;
    return LACIS_OK;
}

lacis_status lacis_swc_ids_make(lacis_swc_ids *ids, lacis_run *run, const int64_t *id, int64_t count, int64_t *twice,
                                int64_t *first)
{
    *ids = (lacis_swc_ids){.run = run, .count = count, .low = count > 0 ? id[0] : 0, .span = count};
    *twice = *first = -1;
    if (counts_up(id, count)) return LACIS_OK;
    int64_t high = id[0];
    for (int64_t i = 1; i < count; i++) {
        ids->low = id[i] < ids->low ? id[i] : ids->low;
        high = id[i] > high ? id[i] : high;
    }
    uint64_t span = (uint64_t)high - (uint64_t)ids->low;
    if (span < (uint64_t)count * WIDE + ROOM) {
        ids->span = (int64_t)span + 1;
    } else {
        LACIS_TRY(make_sorted(ids, id));
    }
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)ids->span * sizeof *ids->direct, &ids->direct));
    clear_rows(ids->direct, ids->span);
    enter(ids, id, twice, first);
    return LACIS_OK;
}

int64_t lacis_swc_ids_row(const lacis_swc_ids *ids, int64_t id)
{
    int64_t at = place(ids, id);
    return at < 0 || ids->direct == NULL ? at : ids->direct[at];
}

void lacis_swc_ids_end(lacis_swc_ids *ids)
{
    lacis_run_free(ids->run, ids->sorted);
    lacis_run_free(ids->run, ids->direct);
}
