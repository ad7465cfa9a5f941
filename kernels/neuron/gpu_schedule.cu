/* SPDX-License-Identifier: Apache-2.0
 *
 * Which group of threads does which nodes when (gpu_schedule.h). In each phase but the last, the largest subtrees of
 * what is left that have no more than a given number of nodes are dealt to the groups, heaviest first, each to the
 * group with the least; what is left at last is one group's. The numbers are chosen by trying. Caller: gpu_tables.cu.
 */
#include "gpu_schedule.h"

#include <stdlib.h>
#include <string.h>

enum { BARRIER = 3 }; /* what a phase costs besides its entries */

/* Tried per phase, in sixteenths of a group's even share of what is left. */
static const int32_t share[] = {3, 5, 8, 12, 16, 24, 40};
enum { SHARES = sizeof share / sizeof share[0] };

struct planner {
    const neug_tree *tree;
    int32_t groups;
    int32_t *left;        /* nodes of each subtree that no phase has taken; 0: none */
    int32_t *root, *load; /* of subtrees that a phase takes; of groups */
    int8_t *phase;        /* of each node; -1 */
    int32_t *group;       /* of each node */
    int32_t best, limit[NEUG_PHASES], best_limit[NEUG_PHASES];
};

/* What is left of each subtree when nodes of earlier phases are gone. */
static int32_t count_left(struct planner *p)
{
    const neug_tree *t = p->tree;
    memset(p->left, 0, (size_t)t->nodes * sizeof *p->left);
    for (int32_t i = t->nodes - 1; i >= 0; i--) {
        if (p->phase[i] < 0) p->left[i]++;
        if (i > 0 && p->phase[i] < 0) p->left[t->parent[i]] += p->left[i];
    }
    return p->left[0];
}

static int by_left(const struct planner *p, int32_t i, int32_t j)
{
    return p->left[i] != p->left[j] ? p->left[i] > p->left[j] : i < j;
}

/* Heap sort: the heaviest first. (qsort has no context.) */
static void sift(const struct planner *p, int32_t *a, int32_t at, int32_t n)
{
    for (int32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && by_left(p, a[child], a[child + 1])) child++;
        if (!by_left(p, a[at], a[child])) return;
        const int32_t swap = a[at];
        a[at] = a[child];
        a[child] = swap;
    }
}

static void sort_roots(const struct planner *p, int32_t *a, int32_t n)
{
    for (int32_t i = n / 2 - 1; i >= 0; i--)
        sift(p, a, i, n);
    for (int32_t i = n - 1; i > 0; i--) {
        const int32_t swap = a[0];
        a[0] = a[i];
        a[i] = swap;
        sift(p, a, 0, i);
    }
}

/* Takes subtrees of at most `limit` nodes in phase `phase`. Answers what the busiest group has to do. */
static int32_t take(struct planner *p, int32_t phase, int32_t limit)
{
    const neug_tree *t = p->tree;
    int32_t roots = 0, most = 0;
    for (int32_t i = 0; i < t->nodes; i++)
        if (p->phase[i] < 0 && p->left[i] <= limit && (i == 0 || p->left[t->parent[i]] > limit)) p->root[roots++] = i;
    sort_roots(p, p->root, roots);
    memset(p->load, 0, (size_t)p->groups * sizeof *p->load);
    for (int32_t r = 0; r < roots; r++) {
        int32_t least = 0;
        for (int32_t g = 1; g < p->groups; g++)
            if (p->load[g] < p->load[least]) least = g;
        p->group[p->root[r]] = least;
        p->load[least] += p->left[p->root[r]];
        if (p->load[least] > most) most = p->load[least];
    }
    /* Parents come before children: each node of a taken subtree follows its parent's. */
    for (int32_t i = 0; i < t->nodes; i++) {
        if (p->phase[i] >= 0 || p->left[i] > limit) continue;
        if (i > 0 && p->left[t->parent[i]] <= limit) p->group[i] = p->group[t->parent[i]];
        p->phase[i] = (int8_t)phase;
    }
    return most;
}

static void untake(struct planner *p, int32_t phase)
{
    for (int32_t i = 0; i < p->tree->nodes; i++)
        if (p->phase[i] >= phase) p->phase[i] = -1;
}

static void search(struct planner *p, int32_t phase, int32_t cost)
{
    const int32_t left = count_left(p);
    if (cost + left + BARRIER < p->best) { /* the rest at once */
        p->best = cost + left + BARRIER;
        memcpy(p->best_limit, p->limit, sizeof p->limit);
        p->best_limit[phase] = p->tree->nodes;
    }
    if (phase + 1 == NEUG_PHASES || p->groups == 1) return;
    int32_t before = 0;
    for (int32_t k = 0; k < SHARES; k++) {
        const int32_t limit = (int32_t)((int64_t)left * share[k] / 16 / p->groups);
        if (limit <= before || limit >= left) continue;
        before = limit;
        p->limit[phase] = limit;
        count_left(p);
        const int32_t most = take(p, phase, limit);
        if (cost + most + 2 * BARRIER < p->best) search(p, phase + 1, cost + most + BARRIER);
        untake(p, phase);
    }
}

/* Phases of all nodes by the best limits. Answers how many. */
static int32_t settle(struct planner *p)
{
    int32_t phase = 0;
    for (bool last = false; !last; phase++) {
        count_left(p);
        last = p->best_limit[phase] >= p->tree->nodes;
        take(p, phase, p->best_limit[phase]);
    }
    return phase;
}

/* Children of each node from the last to the first, as lists: last[p], then before[c]. */
struct children {
    int32_t *last, *before;
};

static void link_children(const neug_tree *t, struct children *c)
{
    for (int32_t i = 0; i < t->nodes; i++)
        c->last[i] = -1;
    for (int32_t i = 1; i < t->nodes; i++) {
        c->before[i] = c->last[t->parent[i]];
        c->last[t->parent[i]] = i;
    }
}

/* Events of node i behind out->events, its clamps from next_clamp on; `at_hand`: the next child is. Answers whether
 * there are any. */
static bool add_events(const struct children *c, const neug_clamp *clamp, int32_t next_clamp, int32_t clamps,
                       int32_t i, bool at_hand, neug_schedule *out)
{
    const int32_t first = out->events;
    for (int32_t k = next_clamp; k < clamps && clamp[k].node == i; k++)
        out->event[out->events++] = (uint32_t)k | NEUG_EVENT_CLAMP;
    for (int32_t child = c->last[i]; child >= 0; child = c->before[child]) {
        const bool next = child == i + 1, final = c->before[child] < 0 || c->before[child] == i + 1;
        if (next && at_hand) continue;
        out->event[out->events++] = (uint32_t)child | (uint32_t)(next    ? NEUG_EVENT_NEXT
                                                                 : final ? NEUG_EVENT_CHILD | NEUG_EVENT_CLOSE
                                                                         : NEUG_EVENT_CHILD);
    }
    if (out->events == first) return false;
    out->event[out->events - 1] |= NEUG_EVENT_END;
    return true;
}

static int32_t first_clamp(const neug_clamp *clamp, int32_t clamps, int32_t node)
{
    int32_t k = 0;
    while (k < clamps && clamp[k].node > node)
        k++;
    return k;
}

static void write_lists(const struct planner *p, const struct children *c, const neug_clamp *clamp, int32_t clamps,
                        int32_t *begin, neug_schedule *out)
{
    const neug_tree *t = p->tree;
    const int32_t lists = out->phases * p->groups;
    memset(begin, 0, ((size_t)lists + 1) * sizeof *begin);
    for (int32_t i = 0; i < t->nodes; i++)
        begin[p->phase[i] * p->groups + p->group[i] + 1]++;
    for (int32_t k = 0; k < lists; k++)
        begin[k + 1] += begin[k];
    for (int32_t k = 0; k <= lists; k++)
        out->list[2 * k] = begin[k];
    for (int32_t i = t->nodes - 1; i >= 0; i--)
        out->entry[begin[p->phase[i] * p->groups + p->group[i]]++] = (uint32_t)i;
    for (int32_t k = 0; k < lists; k++) {
        out->list[2 * k + 1] = out->events;
        for (int32_t e = out->list[2 * k]; e < out->list[2 * k + 2]; e++) {
            const int32_t i = (int32_t)out->entry[e], first = out->list[2 * k], end = out->list[2 * k + 2];
            const bool at_hand =
                e > first && (t->flag[i] & NEUG_NEXT) && (int32_t)(out->entry[e - 1] & NEUG_NODE_MASK) == i + 1;
            const int32_t clamped = (t->flag[i] & NEUG_CLAMPED) ? first_clamp(clamp, clamps, i) : clamps;
            if (at_hand) out->entry[e] |= NEUG_ENTRY_NEXT;
            if (add_events(c, clamp, clamped, clamps, i, at_hand, out)) out->entry[e] |= NEUG_ENTRY_EVENTS;
            if (e + 1 < end && (int32_t)out->entry[e + 1] == t->parent[i]) out->entry[e] |= NEUG_ENTRY_UNDER;
            if (i == 0) out->entry[e] |= NEUG_ENTRY_ROOT;
        }
    }
    out->list[2 * lists + 1] = out->events;
}

bool neug_schedule_make(const neug_tree *tree, const neug_clamp *clamp, int32_t clamps, int32_t groups,
                        neug_schedule *out)
{
    const size_t n = (size_t)tree->nodes, lists = (size_t)groups * NEUG_PHASES;
    int32_t *work = (int32_t *)malloc((6 * n + (size_t)groups + lists + 2) * sizeof *work + n);
    memset(out, 0, sizeof *out);
    out->list = (int32_t *)malloc((2 * lists + 2) * sizeof *out->list);
    out->entry = (uint32_t *)malloc((2 * n + (size_t)clamps) * sizeof *out->entry);
    if (work == NULL || out->list == NULL || out->entry == NULL) {
        free(work);
        neug_schedule_free(out);
        return false;
    }
    out->event = out->entry + n;
    out->groups = groups;
    struct planner p = {
        tree,         groups,    work, work + n, work + 4 * n, (int8_t *)(work + 6 * n + groups + lists + 2),
        work + 2 * n, INT32_MAX, {0},  {0}};
    p.load = work + 6 * n;
    struct children c = {work + 3 * n, work + 4 * n};
    memset(p.phase, -1, n);
    search(&p, 0, 0);
    out->cost = p.best;
    out->phases = settle(&p);
    link_children(tree, &c);
    write_lists(&p, &c, clamp, clamps, work + 6 * n + groups, out);
    free(work);
    return true;
}

void neug_schedule_free(neug_schedule *schedule)
{
    free(schedule->list);
    free(schedule->entry);
    memset(schedule, 0, sizeof *schedule);
}
