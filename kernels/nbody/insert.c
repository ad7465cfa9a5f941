/* SPDX-License-Identifier: Apache-2.0
 *
 * INSERT: all threads insert bodies into one octree from the root down (after Burtscher and Pingali 2011). A leaf is
 * a list that bodies are pushed onto without a lock; one that becomes too long is locked for as long as it takes to
 * put a node in its place. Nodes stand where keys first differ (no chains of nodes with one child), so that a body
 * may also need a node above one that is there. Which nodes there are depends on the bodies alone. The tree, gone
 * through in the order of the curve, gives that of the bodies; tree.c lays its cells out from there. Called by
 * field.c.
 */
#include "nbody/inside.h"

#include "common/parallel.h"

#include <sched.h>
#include <string.h>

/* A child: nothing, being changed, a node, or a list of bodies. */
enum { EMPTY = 0, LOCKED = 1, NODE = 2, LIST = 3, TAGS = 4, LISTED_BITS = 24 };
enum { INSERTED_PIECE = 2048, SPINS = 64, SMALL = 48, ASK = 1 << 14 };

typedef struct node {
    uint64_t key; /* of one of its bodies */
    int digit;    /* in which its children differ */
    _Atomic int64_t child[8];
} node;

struct tree {
    lacis_nbody *system;
    nbody_pair *pair, *next; /* next[i].index: behind body i in its list, or -1 */
    node *nodes;
    int64_t room, leaf;
    _Atomic int64_t root, used;
};

static int64_t list_of(int64_t head, int64_t many)
{
    return (head << LISTED_BITS | many) * TAGS + LIST;
}
static int64_t head_of(int64_t list)
{
    return list / TAGS >> LISTED_BITS;
}
static int64_t many_of(int64_t list)
{
    return list / TAGS & ((1 << LISTED_BITS) - 1);
}

static int digit_at(uint64_t key, int digit)
{
    return (int)(key >> (3 * (NBODY_LEVELS - 1 - digit)) & 7);
}

/* The first digit that differs; NBODY_LEVELS: none. */
static int differ(uint64_t a, uint64_t b)
{
    return a == b ? NBODY_LEVELS : (__builtin_clzll(a ^ b) - 1) / 3;
}

static node *new_node(struct tree *t, uint64_t key, int digit, int64_t *slot)
{
    const int64_t at = atomic_fetch_add(&t->used, 1);
    if (at >= t->room) return NULL;
    node *new = &t->nodes[at];
    new->key = key;
    new->digit = digit;
    for (int c = 0; c < 8; c++)
        atomic_init(&new->child[c], EMPTY);
    *slot = at * TAGS + NODE;
    return new;
}

static void push(const struct tree *t, _Atomic int64_t *child, int64_t body)
{
    const int64_t old = atomic_load_explicit(child, memory_order_relaxed);
    t->next[body].index = old == EMPTY ? -1 : head_of(old);
    atomic_store_explicit(child, list_of(body, old == EMPTY ? 1 : many_of(old) + 1), memory_order_relaxed);
}

/* What stands in the place of a list that is too long: a node where its bodies first differ; the list where they do
 * not (longer lists are of one key), or no node is left. Nobody else sees them. */
static int64_t part_list(struct tree *t, int64_t list)
{
    const uint64_t key = t->pair[head_of(list)].key;
    int digit = NBODY_LEVELS;
    for (int64_t b = head_of(list); b >= 0; b = t->next[b].index) {
        const int own = differ(key, t->pair[b].key);
        digit = own < digit ? own : digit;
    }
    int64_t slot = list;
    node *new = digit == NBODY_LEVELS ? NULL : new_node(t, key, digit, &slot);
    if (new == NULL) return list;
    for (int64_t b = head_of(list), behind; b >= 0; b = behind) {
        behind = t->next[b].index;
        push(t, &new->child[digit_at(t->pair[b].key, digit)], b);
    }
    return slot;
}

/* A list with one more body, its number kept within its bits. */
static int64_t longer(const struct tree *t, int64_t list, int64_t body)
{
    const int64_t most = (1 << LISTED_BITS) - 1, many = list == EMPTY ? 0 : many_of(list);
    t->next[body].index = list == EMPTY ? -1 : head_of(list);
    return list_of(body, many < most ? many + 1 : most);
}

static bool lock(_Atomic int64_t *child, int64_t *as_is)
{
    return atomic_compare_exchange_strong_explicit(child, as_is, LOCKED, memory_order_acquire, memory_order_relaxed);
}

static void unlock(_Atomic int64_t *child, int64_t slot)
{
    atomic_store_explicit(child, slot, memory_order_release);
}

/* A node above a node that the body does not belong to. */
static bool put_above(struct tree *t, _Atomic int64_t *child, int64_t slot, int64_t body)
{
    const uint64_t key = t->pair[body].key, there = t->nodes[slot / TAGS].key;
    const int digit = differ(key, there);
    if (!lock(child, &slot)) return false;
    int64_t above = slot;
    node *new = new_node(t, key, digit, &above);
    if (new != NULL) {
        atomic_store_explicit(&new->child[digit_at(there, digit)], slot, memory_order_relaxed);
        atomic_store_explicit(&new->child[digit_at(key, digit)], longer(t, EMPTY, body), memory_order_relaxed);
    }
    unlock(child, above);
    return new != NULL;
}

static bool put_in_list(struct tree *t, _Atomic int64_t *child, int64_t slot, int64_t body)
{
    const bool alike = slot != EMPTY && many_of(slot) > t->leaf && t->pair[head_of(slot)].key == t->pair[body].key;
    if (slot == EMPTY || many_of(slot) < t->leaf || alike)
        return atomic_compare_exchange_strong_explicit(child, &slot, longer(t, slot, body), memory_order_acq_rel,
                                                       memory_order_relaxed);
    if (!lock(child, &slot)) return false;
    unlock(child, part_list(t, longer(t, slot, body)));
    return true;
}

static bool no_room(const struct tree *t)
{
    return atomic_load_explicit(&t->used, memory_order_relaxed) > t->room;
}

/* False: there are no nodes left. */
static bool insert_body(struct tree *t, int64_t body)
{
    const uint64_t key = t->pair[body].key;
    _Atomic int64_t *child = &t->root;
    for (int spins = 0;;) {
        const int64_t slot = atomic_load_explicit(child, memory_order_acquire);
        if (slot == LOCKED) {
            if (++spins % SPINS == 0) sched_yield();
        } else if (slot % TAGS == NODE) {
            node *at = &t->nodes[slot / TAGS];
            if (differ(key, at->key) >= at->digit) {
                child = &at->child[digit_at(key, at->digit)];
            } else if (put_above(t, child, slot, body)) {
                return true;
            } else if (no_room(t)) {
                return false;
            }
        } else if (put_in_list(t, child, slot, body)) {
            return !no_room(t);
        }
    }
}

static int insert_task(void *context, int64_t task, int worker)
{
    struct tree *t = context;
    const int64_t begin = task * INSERTED_PIECE, end = begin + INSERTED_PIECE, n = t->system->n;
    (void)worker;
    if (nbody_stopped(t->system)) return LACIS_NBODY_CANCELLED;
    for (int64_t i = begin; i < end && i < n; i++)
        if (!insert_body(t, i)) return LACIS_NBODY_NO_MEMORY;
    return LACIS_NBODY_OK;
}

/* --- the order ------------------------------------------------------------------------------------------- */

static const uint64_t FIRST = UINT64_C(1) << 63; /* of a list's bodies, in `out` */

static int64_t put_list(const struct tree *t, int64_t list, nbody_pair *out)
{
    int64_t many = 0;
    for (int64_t b = head_of(list); b >= 0; b = t->next[b].index)
        out[many++] = t->pair[b];
    out[0].key |= FIRST;
    return many;
}

/* False: stopped. */
static bool go_through(const struct tree *t, nbody_pair *out)
{
    struct {
        const node *at;
        int child;
    } stack[NBODY_LEVELS + 1];
    const node holder = {.child = {atomic_load(&t->root)}};
    int depth = 0;
    int64_t at = 0, asked = 0;
    stack[0].at = &holder;
    stack[0].child = 0;
    while (depth >= 0) {
        const int c = stack[depth].child++;
        if (c == (depth == 0 ? 1 : 8)) {
            depth--;
            continue;
        }
        const int64_t slot = atomic_load_explicit(&stack[depth].at->child[c], memory_order_relaxed);
        if (slot % TAGS == LIST) at += put_list(t, slot, out + at);
        if (at - asked >= ASK) {
            asked = at;
            if (nbody_stopped(t->system)) return false;
        }
        if (slot % TAGS != NODE) continue;
        stack[++depth].at = &t->nodes[slot / TAGS];
        stack[depth].child = 0;
    }
    return true;
}

/* By key; equal ones by number, since the lists' order is that in which threads came. */
static void sort_list(nbody_pair *pair, nbody_pair *spare, int64_t n)
{
    if (n <= SMALL) {
        for (int64_t i = 1; i < n; i++) {
            const nbody_pair own = pair[i];
            int64_t at = i;
            for (; at > 0 &&
                   (pair[at - 1].key > own.key || (pair[at - 1].key == own.key && pair[at - 1].index > own.index));
                 at--)
                pair[at] = pair[at - 1];
            pair[at] = own;
        }
        return;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++) /* numbers first */
            pair[i] = (nbody_pair){(uint64_t)pair[i].index, (int64_t)pair[i].key};
        if (pass == 0) lacis_nbody_sort_few(pair, spare, n);
    }
    lacis_nbody_sort_few(pair, spare, n);
}

static bool sort_lists(const lacis_nbody *system, nbody_pair *out, nbody_pair *spare, int64_t n)
{
    int64_t asked = 0;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        out[begin].key &= ~FIRST;
        for (end = begin + 1; end < n && (out[end].key & FIRST) == 0;)
            end++;
        sort_list(out + begin, spare, end - begin);
        if (end - asked < ASK) continue;
        asked = end;
        if (nbody_stopped(system)) return false;
    }
    return true;
}

lacis_nbody_status lacis_nbody_insert(lacis_nbody *system, nbody_pair *pair, nbody_pair *spare, int64_t n)
{
    const int64_t room = (int64_t)lacis_nbody_cells_most(n, system->rule.leaf), most = (1 << LISTED_BITS) - 1;
    struct tree t = {.system = system,
                     .pair = pair,
                     .next = spare,
                     .nodes = nbody_take(&system->host, sizeof(node) * (uint64_t)room),
                     .room = room,
                     .leaf = system->rule.leaf < most ? system->rule.leaf : most};
    nbody_pair *out = nbody_take(&system->host, sizeof *out * (uint64_t)n);
    lacis_nbody_status status = t.nodes == NULL || out == NULL ? LACIS_NBODY_NO_MEMORY : LACIS_NBODY_OK;
    if (status == LACIS_NBODY_OK)
        status = (lacis_nbody_status)lacis_parallel(system->threads, (n + INSERTED_PIECE - 1) / INSERTED_PIECE,
                                                    insert_task, &t);
    if (status == LACIS_NBODY_NO_MEMORY && t.nodes != NULL && out != NULL) { /* no such tree has been seen */
        status = lacis_nbody_sort(system, pair, spare, n);
    } else if (status == LACIS_NBODY_OK) {
        if (!go_through(&t, out) || !sort_lists(system, out, spare, n)) status = LACIS_NBODY_CANCELLED;
        memcpy(pair, out, sizeof *out * (size_t)n);
    }
    nbody_give(&system->host, t.nodes);
    nbody_give(&system->host, out);
    return status;
}

uint64_t lacis_nbody_insert_bytes(int64_t n, int leaf)
{
    return sizeof(node) * lacis_nbody_cells_most(n, leaf) + sizeof(nbody_pair) * (uint64_t)n;
}
