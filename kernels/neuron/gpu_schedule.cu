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
static const int32_t share[] = {4, 7, 10, 14, 20, 28, 40, 80, 160, 400};
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

/* What is being written. */
struct writer {
    const neug_tree *tree;
    struct children children;
    const neug_clamp *clamp;
    int32_t clamps;
    const int32_t *node; /* of each row */
    neug_schedule *out;
};

static void add_event(struct writer *w, uint32_t what)
{
    w->out->event[w->out->events++] = what;
}

static void add_clamps(struct writer *w, int32_t i)
{
    for (int32_t k = 0; k < w->clamps && w->clamp[k].node >= i; k++)
        if (w->clamp[k].node == i) add_event(w, (uint32_t)k | NEUG_EVENT_CLAMP);
}

/* Events of node i; `at_hand`: its next child is. */
static void add_events(struct writer *w, int32_t i, bool at_hand)
{
    const int32_t first = w->out->events, *before = w->children.before;
    if (w->tree->flag[i] & NEUG_CLAMPED) add_clamps(w, i);
    for (int32_t child = w->children.last[i]; child >= 0; child = before[child]) {
        const bool next = child == i + 1, final = before[child] < 0 || before[child] == i + 1;
        const uint32_t row = (uint32_t)w->out->row[child];
        if (next && at_hand) continue;
        add_event(w, next ? row | NEUG_EVENT_NEXT : row | NEUG_EVENT_CHILD | (final ? NEUG_EVENT_CLOSE : 0u));
    }
    if (w->out->events > first) w->out->event[w->out->events - 1] |= NEUG_EVENT_END;
}

/* The words of a row among first .. end - 1, the group's. A child in the row before is read too late for the quick
 * way, which reads one row ahead. */
static void write_row(struct writer *w, int32_t row, int32_t first, int32_t end)
{
    const neug_tree *t = w->tree;
    neug_schedule *out = w->out;
    const int32_t i = w->node[row], parent = t->parent[i], last = w->children.last[i], begin = out->events;
    const bool has_next = t->flag[i] & NEUG_NEXT, at_hand = row > first && has_next && w->node[row - 1] == i + 1;
    uint2 word = {at_hand ? (uint32_t)NEUG_ROW_NEXT : 0u,
                  i == 0 ? (uint32_t)(row | NEUG_ROW_ROOT) : (uint32_t)out->row[parent]};
    if (row + 1 < end && i > 0 && w->node[row + 1] == parent) word.y |= NEUG_ROW_UNDER;
    const bool one = last > i + 1 && w->children.before[last] == i + 1;
    if (one && at_hand && !(t->flag[i] & NEUG_CLAMPED) && out->row[last] != row - 1) {
        word.x |= (uint32_t)out->row[last] | NEUG_ROW_CHILD;
    } else {
        add_events(w, i, at_hand);
        if (out->events > begin) word.x |= NEUG_ROW_EVENTS;
    }
    out->word[row] = word;
}

/* Rows of all nodes; `at` is scratch. */
static void number_rows(const struct planner *p, int32_t *at, int32_t *node, neug_schedule *out)
{
    const int32_t n = p->tree->nodes, lists = out->phases * p->groups;
    memset(at, 0, ((size_t)lists + 1) * sizeof *at);
    for (int32_t i = 0; i < n; i++)
        at[p->phase[i] * p->groups + p->group[i] + 1]++;
    for (int32_t k = 0; k < lists; k++)
        at[k + 1] += at[k];
    for (int32_t k = 0; k <= lists; k++)
        out->list[2 * k] = at[k];
    for (int32_t i = n - 1; i >= 0; i--) {
        const int32_t row = at[p->phase[i] * p->groups + p->group[i]]++;
        out->row[i] = row;
        node[row] = i;
    }
}

static void write_lists(struct writer *w)
{
    neug_schedule *out = w->out;
    const int32_t lists = out->phases * out->groups;
    for (int32_t k = 0; k < lists; k++) {
        out->list[2 * k + 1] = out->events;
        for (int32_t row = out->list[2 * k]; row < out->list[2 * k + 2]; row++)
            write_row(w, row, out->list[2 * k], out->list[2 * k + 2]);
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
    out->word = (uint2 *)malloc(n * sizeof *out->word + (2 * n + (size_t)clamps) * sizeof *out->event);
    if (work == NULL || out->list == NULL || out->word == NULL) {
        free(work);
        neug_schedule_free(out);
        return false;
    }
    out->row = (int32_t *)(out->word + n);
    out->event = (uint32_t *)(out->row + n);
    out->groups = groups;
    struct planner p = {};
    p.tree = tree;
    p.groups = groups;
    p.best = INT32_MAX;
    p.left = work;
    p.root = work + n;
    p.group = work + 2 * n;
    p.load = work + 6 * n;
    int32_t *at = p.load + groups;
    p.phase = (int8_t *)(at + lists + 2);
    memset(p.phase, -1, n);
    search(&p, 0, 0);
    out->cost = p.best;
    out->phases = settle(&p);
    struct writer w = {tree, {work + 3 * n, work + 4 * n}, clamp, clamps, work + 5 * n, out};
    link_children(tree, &w.children);
    number_rows(&p, at, work + 5 * n, out);
    write_lists(&w);
    free(work);
    return true;
}

void neug_schedule_free(neug_schedule *schedule)
{
    free(schedule->list);
    free(schedule->word);
    memset(schedule, 0, sizeof *schedule);
}
