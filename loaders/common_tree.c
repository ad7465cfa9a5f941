/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees of given numbers of rows and branches; see common_systems.h. First the branches are made, each with at least
 * one row, then rows are numbered depth first.
 */
#include "common_systems.h"

#include <string.h>

typedef struct branches {
    int64_t count, made;
    int32_t *parent;              /* of each branch; before its children */
    int32_t *first, *last, *next; /* children of each, as lists */
    int64_t *length;
    int32_t *leaf, *inner; /* branches without children, and with */
    int64_t leaves, inners;
    uint64_t random;
} branches;

static uint64_t next_random(branches *b, uint64_t below)
{
    b->random = lacis_mix(b->random);
    return (uint64_t)((unsigned __int128)b->random * below >> 64);
}

static void add_child(branches *b, int32_t parent)
{
    int32_t child = (int32_t)b->made++;
    b->parent[child] = parent;
    b->first[child] = b->last[child] = b->next[child] = -1;
    if (parent < 0) return;
    if (b->first[parent] < 0)
        b->first[parent] = child;
    else
        b->next[b->last[parent]] = child;
    b->last[parent] = child;
}

/* A leaf gets two children; some of those that have some get one more, as the last one may have to. */
static void grow_random(branches *b)
{
    b->leaf[b->leaves++] = 0;
    while (b->made < b->count) {
        bool one = b->count - b->made == 1 || (b->inners > 0 && b->count - b->made != 2 && next_random(b, 4) == 0);
        if (one) {
            b->leaf[b->leaves++] = (int32_t)b->made;
            add_child(b, b->inner[next_random(b, (uint64_t)b->inners)]);
            continue;
        }
        int64_t at = (int64_t)next_random(b, (uint64_t)b->leaves);
        int32_t parent = b->leaf[at];
        b->inner[b->inners++] = parent;
        b->leaf[at] = (int32_t)b->made;
        b->leaf[b->leaves++] = (int32_t)b->made + 1;
        add_child(b, parent);
        add_child(b, parent);
    }
}

/* Level by level, two children each; an even number of branches leaves one, which the root gets. */
static void grow_bifurcating(branches *b)
{
    for (int32_t parent = 0; b->made < b->count; parent++) {
        if (b->count - b->made == 1) {
            add_child(b, 0);
            return;
        }
        add_child(b, parent);
        add_child(b, parent);
    }
}

static void deal_rows(branches *b, lacis_tree_kind kind, int64_t rows)
{
    int64_t more = rows - b->count;
    for (int64_t i = 0; i < b->count; i++) {
        b->length[i] = 1;
        if (kind != LACIS_TREE_RANDOM) b->length[i] += more / b->count + (i < more % b->count);
    }
    for (int64_t i = 0; i < more && kind == LACIS_TREE_RANDOM; i++)
        b->length[next_random(b, (uint64_t)b->count)]++;
}

/* Depth first without recursion: `leaf` is the stack, `inner` holds the last row of each branch. */
static void number_rows(branches *b, int32_t *parent)
{
    int64_t depth = 0, row = 0;
    b->leaf[depth++] = 0;
    while (depth > 0) {
        int32_t branch = b->leaf[--depth];
        int32_t before = b->parent[branch] < 0 ? -1 : b->inner[b->parent[branch]];
        for (int64_t i = 0; i < b->length[branch]; i++) {
            parent[row] = before;
            before = (int32_t)row++;
        }
        b->inner[branch] = before;
        for (int32_t child = b->first[branch]; child >= 0; child = b->next[child])
            b->leaf[depth++] = child;
    }
}

static lacis_status check(lacis_run *run, lacis_tree_kind kind, int64_t rows, int64_t count)
{
    const char *why = count < 1                                ? "it has at least one"
                      : count > rows                           ? "each branch has at least one row"
                      : count == 2                             ? "where a branch ends two or more begin"
                      : kind == LACIS_TREE_CHAIN && count != 1 ? "a chain is one branch"
                      : rows > INT32_MAX                       ? "rows are counted in 31 bits"
                                                               : NULL;
    if (why == NULL) return LACIS_OK;
    return lacis_run_fail(run, LACIS_RANGE, "there is no tree of %lld rows in %lld branches: %s", (long long)rows,
                          (long long)count, why);
}

lacis_status lacis_tree_grow(lacis_run *run, lacis_tree_kind kind, int64_t rows, int64_t count, uint64_t seed,
                             int32_t *parent)
{
    int32_t *space;
    branches b = {.count = count, .random = lacis_mix(seed)};
    if (rows == 0) return LACIS_OK;
    LACIS_TRY(check(run, kind, rows, count));
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)count * (6 * sizeof *space + sizeof *b.length), &space));
    b.length = (int64_t *)space;
    b.parent = (int32_t *)(b.length + count);
    b.first = b.parent + count;
    b.last = b.first + count;
    b.next = b.last + count;
    b.leaf = b.next + count;
    b.inner = b.leaf + count;
    add_child(&b, -1);
    if (kind == LACIS_TREE_RANDOM)
        grow_random(&b);
    else
        grow_bifurcating(&b);
    deal_rows(&b, kind, rows);
    number_rows(&b, parent);
    lacis_run_free(run, space);
    return LACIS_OK;
}

/* --- batches of them ------------------------------------------------------------------------------- */

/* The nearest number of branches that a tree of so many rows can have. */
static int64_t possible(int64_t count, int64_t rows)
{
    if (count > rows) count = rows;
    return count <= 2 ? 1 : count;
}

lacis_status lacis_systems_trees(lacis_run *run, const lacis_options *given, const char *name, lacis_array **out)
{
    lacis_systems systems;
    int64_t rows, count, all = 0;
    lacis_tree_kind kind = (lacis_tree_kind)lacis_option_integer(given, "kind", LACIS_TREE_RANDOM);
    uint64_t seed = (uint64_t)lacis_option_integer(given, "seed", 1);
    LACIS_TRY(lacis_generate_integer(run, given, "rows", 0, INT32_MAX / 2, &rows));
    LACIS_TRY(lacis_generate_integer(run, given, "branches", 0, INT32_MAX / 2, &count));
    LACIS_TRY(lacis_systems_begin(run, given, &systems));
    for (int64_t g = 0; g < systems.groups; g++)
        all += systems.rows[g] = lacis_systems_vary(given, &systems, rows, g);
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)all * sizeof *systems.parent, &systems.parent));
    int32_t *parent = systems.parent;
    for (int64_t g = 0; g < systems.groups; g++) {
        int64_t own = systems.rows[g];
        double share = rows > 0 ? (double)own / (double)rows : 0;
        int64_t some = systems.groups == 1 ? count : possible((int64_t)((double)count * share + 0.5), own);
        LACIS_TRY(lacis_tree_grow(run, kind, own, some, lacis_mix(seed) + (uint64_t)g, parent));
        parent += own;
    }
    return lacis_systems_make(&systems, given, name, out);
}
