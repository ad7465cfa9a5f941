/* SPDX-License-Identifier: Apache-2.0
 *
 * The schedule of LANES: which warp computes which row of a tree, and when. Subtrees of up to so many rows go to one
 * warp; the rows above them are dealt one by one to the warp that can have them first, those with the longest way to
 * the root before others (list scheduling). Several sizes of subtrees are tried. Host code; called by
 * gpu_tree_plan.cu. Downwards the same schedule runs backwards.
 *
 * Ops of a warp are in the order of steps, and no row is computed in a step before all its children are: so no warp
 * waits for one that waits for it.
 */
#include "gpu_tree.h"

#include <stdlib.h>
#include <string.h>

namespace
{
struct dealing {
    const tree_order *order;
    int32_t rows, warps, parts, workers;
    tree_entry *entry;                /* rows of a subtree lie side by side, its root last */
    int32_t *place, *size, *above;    /* of each row: in entry; rows of its subtree; rows up to the root */
    int32_t *worker, *step, *task;    /* of each row; tasks: their last rows */
    int32_t *free_at, *last;          /* by worker: its next step and its last row */
    int32_t *best_worker, *best_step; /* of the best so far */
    int32_t best;
};

bool dealing_new(const tree_order *order, int warps, int parts, dealing *d)
{
    const size_t n = (size_t)order->rows, w = (size_t)(warps * parts);
    memset(d, 0, sizeof *d);
    d->order = order;
    d->rows = order->rows;
    d->warps = warps;
    d->parts = parts;
    d->workers = warps * parts;
    d->entry = (tree_entry *)malloc(n * sizeof(tree_entry));
    int32_t *space = (int32_t *)malloc((8 * n + 2 * w) * sizeof(int32_t));
    d->place = space;
    if (space == NULL || d->entry == NULL) return false;
    d->size = space + n;
    d->above = space + 2 * n;
    d->worker = space + 3 * n;
    d->step = space + 4 * n;
    d->task = space + 5 * n;
    d->best_worker = space + 6 * n;
    d->best_step = space + 7 * n;
    d->free_at = space + 8 * n;
    d->last = d->free_at + w;
    d->best = INT32_MAX;
    return true;
}

void dealing_clear(dealing *d)
{
    free(d->entry);
    free(d->place);
}

void measure(dealing *d)
{
    const int32_t *parent = d->order->parent;
    tree_order_number(d->order, true, d->task, d->entry);
    for (int32_t k = 0; k < d->rows; k++)
        d->place[d->entry[k].row] = k;
    for (int32_t r = 0; r < d->rows; r++) {
        d->size[r] = 1;
        d->above[r] = parent[r] < 0 ? 1 : d->above[parent[r]] + 1;
    }
    for (int32_t r = d->rows - 1; r >= 0; r--)
        if (parent[r] >= 0) d->size[parent[r]] += d->size[r];
}

/* Last rows of tasks in the order of their steps up to the root, longest first; sorted by counting. */
int32_t list_tasks(dealing *d, int32_t most, int32_t *count)
{
    const int32_t *parent = d->order->parent;
    int32_t tasks = 0;
    memset(count, 0, ((size_t)d->rows + 2) * sizeof(int32_t));
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = 0; r < d->rows; r++) {
            const bool small = d->size[r] <= most;
            if (small && parent[r] >= 0 && d->size[parent[r]] <= most) continue;
            const int32_t way = d->above[r] + (small ? d->size[r] - 1 : 0);
            if (pass == 0)
                count[d->rows - way + 1]++;
            else
                d->task[count[d->rows - way]++] = r;
            tasks += pass;
        }
        for (int32_t i = 0; pass == 0 && i <= d->rows; i++)
            count[i + 1] += count[i];
    }
    return tasks;
}

/* The step in which a worker could begin with row r. */
int32_t begin_at(const dealing *d, int32_t r, int32_t worker)
{
    int32_t at = d->free_at[worker];
    for (int32_t k = d->order->children.first[r]; k >= 0; k = d->order->children.next[k]) {
        const int32_t done = d->step[k] + 1 + (d->worker[k] / d->parts != worker / d->parts);
        if (done > at) at = done;
    }
    return at;
}

/* May a row take q and y of `child` from registers: only where its sum begins with that child, or might. */
bool may_carry(const tree_order *order, int32_t r, int32_t child)
{
    const int32_t one = order->children.first[r];
    return child >= 0 && order->parent[child] == r && (child == one || child == order->children.next[one]);
}

int32_t worker_for(const dealing *d, int32_t r, bool whole, int32_t *at)
{
    int32_t best = -1;
    for (int32_t w = 0; w < d->workers; w++) {
        int32_t begin = whole ? d->free_at[w] : begin_at(d, r, w);
        begin = 2 * begin + !may_carry(d->order, r, d->last[w]);
        if (best >= 0 && begin >= *at) continue;
        best = w;
        *at = begin;
    }
    *at /= 2;
    return best;
}

int32_t deal(dealing *d, int32_t most, int32_t *count)
{
    const int32_t tasks = list_tasks(d, most, count);
    int32_t end = 0;
    for (int32_t w = 0; w < d->workers; w++) {
        d->free_at[w] = 0;
        d->last[w] = -1;
    }
    for (int32_t i = 0; i < tasks; i++) {
        const int32_t r = d->task[i], size = d->size[r] <= most ? d->size[r] : 1;
        int32_t at, w = worker_for(d, r, d->size[r] <= most, &at);
        for (int32_t k = 0; k < size; k++) {
            const int32_t row = d->entry[d->place[r] - size + 1 + k].row;
            d->worker[row] = w;
            d->step[row] = at + k;
        }
        d->free_at[w] = at + size;
        d->last[w] = r;
        if (at + size > end) end = at + size;
    }
    return end;
}

void deal_best(dealing *d, int32_t *count)
{
    const int32_t each = d->rows / d->workers + 1;
    const int32_t size[] = {each, each * 3 / 4, each / 2, each / 3, each / 4, each / 6, each / 8, 1};
    const size_t bytes = (size_t)d->rows * sizeof(int32_t);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        if (size[i] < 1 || (i > 0 && size[i] == size[i - 1])) continue;
        const int32_t end = deal(d, size[i], count);
        if (end >= d->best) continue;
        d->best = end;
        memcpy(d->best_worker, d->worker, bytes);
        memcpy(d->best_step, d->step, bytes);
    }
}

bool schedule_new(const dealing *d, int32_t ops, tree_schedule *out)
{
    out->rows = d->rows;
    out->warps = d->warps;
    out->parts = d->parts;
    out->ops = ops;
    out->steps = d->best;
    out->op = (tree_op *)calloc((size_t)(ops * d->parts), sizeof(tree_op));
    out->begin = (int32_t *)calloc((size_t)d->warps + 1, sizeof(int32_t));
    out->gather = (uint16_t *)calloc((size_t)d->rows + 1, sizeof(uint16_t));
    out->arrivals = (int32_t *)calloc(2 * (size_t)d->rows + 2, sizeof(int32_t));
    return out->op != NULL && out->begin != NULL && out->gather != NULL && out->arrivals != NULL;
}

/* count: ops of each warp and step; becomes the place of each. */
int32_t place_ops(const dealing *d, int32_t *at)
{
    int32_t ops = 0;
    memset(at, 0, (size_t)d->warps * (size_t)d->best * sizeof(int32_t));
    for (int32_t r = 0; r < d->rows; r++)
        at[d->best_worker[r] / d->parts * d->best + d->best_step[r]] = 1;
    for (int32_t i = 0; i < d->warps * d->best; i++) {
        const int32_t some = at[i];
        at[i] = ops;
        ops += some;
    }
    return ops;
}

void link_op(const dealing *d, const int32_t *before, const int32_t *barrier, int32_t r, tree_op *op,
             tree_schedule *out)
{
    const tree_order *order = d->order;
    const int32_t p = order->parent[r], warp = d->best_worker[r] / d->parts;
    const int32_t up = p < 0 ? -1 : barrier[p], gather = out->gathers;
    uint32_t flags = 0;
    if (barrier[r] >= 0) flags |= OP_WAIT | OP_SIGNAL_DOWN;
    if (p < 0) flags |= OP_ROOT;
    if (p >= 0 && d->best_worker[p] / d->parts != warp) flags |= OP_SIGNAL | OP_WAIT_DOWN;
    if (before[r] >= 0) flags |= OP_CARRY;
    if (p >= 0 && before[p] == r) flags |= OP_CARRIED;
    for (int32_t k = order->children.first[r]; k >= 0; k = order->children.next[k])
        if (k != before[r]) out->gather[out->gathers++] = (uint16_t)k;
    if (out->gathers > gather) flags |= OP_KEEP;
    op->row_parent = tree_two(r, p < 0 ? 0 : p);
    op->flags_gathers = tree_two(flags, out->gathers - gather);
    op->gather_own = tree_two(gather, barrier[r] < 0 ? TREE_NONE : barrier[r]);
    op->up_carried = tree_two(up < 0 ? TREE_NONE : up, before[r] < 0 ? 0 : before[r]);
}

/* Of each row the child that is carried, or -1; and its pair of barriers. before has room for workers * steps more.
 */
void find_links(const dealing *d, int32_t *before, int32_t *barrier, tree_schedule *out)
{
    int32_t *at = before + d->rows;
    for (int32_t i = 0; i < d->workers * d->best; i++)
        at[i] = -1;
    for (int32_t r = 0; r < d->rows; r++)
        at[d->best_worker[r] * d->best + d->best_step[r]] = r;
    for (int32_t w = 0; w < d->workers; w++) {
        int32_t last = -1;
        for (int32_t s = 0; s < d->best; s++) {
            const int32_t r = at[w * d->best + s];
            if (r < 0) continue;
            before[r] = may_carry(d->order, r, last) ? last : -1;
            last = r;
        }
    }
    for (int32_t r = 0; r < d->rows; r++) {
        barrier[r] = -1;
        int32_t others = 0;
        for (int32_t k = d->order->children.first[r]; k >= 0; k = d->order->children.next[k])
            others += d->best_worker[k] / d->parts != d->best_worker[r] / d->parts;
        if (others == 0) continue;
        barrier[r] = out->barriers;
        out->arrivals[out->barriers++] = others;
        out->arrivals[out->barriers++] = 1;
    }
}

bool write_schedule(const dealing *d, tree_schedule *out)
{
    const size_t n = (size_t)d->rows, steps = (size_t)d->best, workers = (size_t)d->workers;
    int32_t *at = (int32_t *)malloc(sizeof(int32_t) * ((size_t)d->warps * steps + 2 * n + workers * steps));
    if (at == NULL) return false;
    int32_t *barrier = at + (size_t)d->warps * steps, *before = barrier + n;
    bool good = schedule_new(d, place_ops(d, at), out);
    if (good) {
        find_links(d, before, barrier, out);
        for (int32_t i = 0; i < out->ops * d->parts; i++) {
            out->op[i].flags_gathers = OP_ABSENT;
            out->op[i].row_parent = tree_two(d->rows, 0);
        }
        for (int32_t r = 0; r < d->rows; r++) {
            const int32_t w = d->best_worker[r];
            const int32_t i = at[w / d->parts * d->best + d->best_step[r]];
            link_op(d, before, barrier, r, &out->op[i * d->parts + w % d->parts], out);
        }
        for (int32_t w = 0; w <= d->warps; w++)
            out->begin[w] = w == d->warps ? out->ops : at[w * d->best];
    }
    free(at);
    return good;
}
} // namespace

void tree_schedule_clear(tree_schedule *schedule)
{
    free(schedule->begin);
    free(schedule->op);
    free(schedule->gather);
    free(schedule->arrivals);
    *schedule = tree_schedule();
}

bool tree_schedule_make(const tree_order *order, int warps, int parts, tree_schedule *out)
{
    dealing d;
    *out = tree_schedule();
    int32_t *count = (int32_t *)malloc(((size_t)order->rows + 2) * sizeof(int32_t));
    bool good = dealing_new(order, warps, parts, &d) && count != NULL;
    if (good) {
        measure(&d);
        deal_best(&d, count);
        good = write_schedule(&d, out);
    }
    free(count);
    dealing_clear(&d);
    if (!good) tree_schedule_clear(out);
    return good;
}
