/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples to forests: parents found by id, what is no forest refused, parents put before their children; see
 * common_swc.h. Chains may be as long as the file: nothing here recurses.
 */
#include "common_swc.h"

/* ------------------------------------------------------------------------------------------- parents */

static lacis_status refuse_twice(const lacis_swc *swc, int64_t row, int64_t first)
{
    return lacis_text_fail(swc->run, swc->text, lacis_swc_line(swc, row),
                           "id %lld stands on line %lld already; a parent could mean either, so give one another id",
                           (long long)swc->id[row],
                           (long long)lacis_text_line(swc->text, lacis_swc_line(swc, first)));
}

static lacis_status refuse_parent(const lacis_swc *swc, int64_t row)
{
    const char *at = lacis_swc_line(swc, row);
    if (swc->parent[row] == swc->id[row])
        return lacis_text_fail(swc->run, swc->text, at, "sample %lld is its own parent; a root has parent -1",
                               (long long)swc->id[row]);
    return lacis_text_fail(swc->run, swc->text, at,
                           "sample %lld has parent %lld, which is not in the file; a root has parent -1",
                           (long long)swc->id[row], (long long)swc->parent[row]);
}

static lacis_status find_parents(lacis_swc *swc, const lacis_swc_ids *ids)
{
    for (int64_t i = 0; i < swc->count; i++) {
        int64_t row = swc->parent[i] < 0 ? -1 : lacis_swc_ids_row(ids, swc->parent[i]);
        if (row == i || (row < 0 && swc->parent[i] >= 0)) return refuse_parent(swc, i);
        swc->up[i] = (int32_t)row;
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- circles */

/* The circle that `row` is on: its first sample in the file, and how many there are. */
static lacis_status refuse_circle(const lacis_swc *swc, int64_t row)
{
    int64_t first = row, length = 1;
    for (int64_t at = swc->up[row]; at != row; at = swc->up[at], length++)
        first = at < first ? at : first;
    return lacis_text_fail(swc->run, swc->text, lacis_swc_line(swc, first),
                           "sample %lld is its own ancestor: the parents of %lld samples go round in a circle; a "
                           "root has parent -1",
                           (long long)swc->id[first], (long long)length);
}

static bool in_order(const lacis_swc *swc)
{
    for (int64_t i = 0; i < swc->count; i++)
        if (swc->up[i] > i) return false;
    return true;
}

enum { UNSEEN = 0 };

/* Follows each sample to a root or to where somebody was before; meeting one's own mark is a circle. */
static lacis_status refuse_circles(const lacis_swc *swc)
{
    int32_t *mark;
    LACIS_TRY(lacis_run_alloc(swc->run, (uint64_t)swc->count * sizeof *mark, &mark));
    memset(mark, UNSEEN, (size_t)swc->count * sizeof *mark);
    lacis_status status = LACIS_OK;
    for (int64_t i = 0; i < swc->count && status == LACIS_OK; i++) {
        int32_t own = (int32_t)i + 1, at = (int32_t)i;
        while (at >= 0 && mark[at] == UNSEEN) {
            mark[at] = own;
            at = swc->up[at];
        }
        if (at >= 0 && mark[at] == own) status = refuse_circle(swc, at);
    }
    lacis_run_free(swc->run, mark);
    return status;
}

lacis_status lacis_swc_link(lacis_swc *swc)
{
    lacis_swc_ids ids;
    int64_t twice, first;
    lacis_status status = lacis_swc_ids_make(&ids, swc->run, swc->id, swc->count, &twice, &first);
    if (status == LACIS_OK && twice >= 0) status = refuse_twice(swc, twice, first);
    if (status == LACIS_OK) status = lacis_run_alloc(swc->run, (uint64_t)swc->count * sizeof *swc->up, &swc->up);
    if (status == LACIS_OK) status = find_parents(swc, &ids);
    lacis_swc_ids_end(&ids);
    if (status != LACIS_OK || in_order(swc)) return status;
    return refuse_circles(swc);
}

/* --------------------------------------------------------------------------------------------- order */

/* order[k] = row that comes k-th: the rows as they stand, but each behind its ancestors. `stack` and `placed` have
 * room for all. */
static void find_order(const lacis_swc *swc, int32_t *order, int32_t *stack, bool *placed)
{
    int64_t next = 0;
    for (int64_t i = 0; i < swc->count; i++) {
        int64_t depth = 0;
        for (int32_t at = (int32_t)i; at >= 0 && !placed[at]; at = swc->up[at]) {
            stack[depth++] = at;
            placed[at] = true;
        }
        while (depth > 0)
            order[next++] = stack[--depth];
    }
}

/* All columns are of eight bytes. */
static void permute(const lacis_swc *swc, const int32_t *order, int64_t *work)
{
    for (int c = 0; c < LACIS_SWC_COLUMNS; c++) {
        int64_t *column = lacis_buffer_data(swc->buffer[c]);
        for (int64_t k = 0; k < swc->count; k++)
            work[k] = column[order[k]];
        memcpy(column, work, (size_t)swc->count * sizeof *work);
    }
}

lacis_status lacis_swc_sort(lacis_swc *swc)
{
    if (in_order(swc)) return LACIS_OK;
    uint64_t n = (uint64_t)swc->count;
    char *room;
    LACIS_TRY(lacis_run_alloc(swc->run, n * (sizeof(int64_t) + 2 * sizeof(int32_t) + sizeof(bool)), &room));
    int64_t *work = (int64_t *)(void *)room;
    int32_t *order = (int32_t *)(work + n), *stack = order + n;
    bool *placed = (bool *)(stack + n);
    memset(placed, 0, n * sizeof *placed);
    find_order(swc, order, stack, placed);
    permute(swc, order, work);
    lacis_run_free(swc->run, room);
    return LACIS_OK;
}
