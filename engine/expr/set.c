/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_expr_integer_set: WHERE predicates as lists or ranges of integers, so that operators compute only the rows
 * asked for. Understands =, <, <=, >, >=, IN, BETWEEN of the slot and constants, AND of all of those, OR of lists.
 */
#include "expr/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* lo..hi and, where list is not NULL, only what is listed there (rising, within lo..hi). */
struct set {
    int64_t lo, hi;
    int64_t *list;
    int64_t count;
};

static const struct set everything = {INT64_MIN, INT64_MAX, NULL, 0};
static const struct set nothing = {1, 0, NULL, 0};

static bool set_of(lacis_run *run, const lacis_node *node, int slot, struct set *out);

/* ----------------------------------------------------------------------------------------- algebra */

static bool empty(const struct set *set)
{
    return set->lo > set->hi;
}

/* Keeps what `other` has too, and makes lo and hi the ends of the list. */
static void intersect_list(struct set *set, const struct set *other)
{
    int64_t kept = 0, k = 0;
    for (int64_t i = 0; i < set->count; i++) {
        int64_t value = set->list[i];
        if (value < other->lo || value > other->hi) continue;
        while (other->list != NULL && k < other->count && other->list[k] < value) {
            k++;
        }
        bool there = other->list == NULL || (k < other->count && other->list[k] == value);
        if (there) set->list[kept++] = value;
    }
    if (kept == 0) {
        *set = nothing;
        return;
    }
    set->count = kept;
    set->lo = set->list[0];
    set->hi = set->list[kept - 1];
}

static void intersect(struct set *set, struct set other)
{
    if (set->list == NULL && other.list != NULL) {
        struct set swap = *set;
        *set = other;
        other = swap;
    }
    if (set->list != NULL) {
        intersect_list(set, &other);
        return;
    }
    if (other.lo > set->lo) set->lo = other.lo;
    if (other.hi < set->hi) set->hi = other.hi;
    if (empty(set)) *set = nothing;
}

/* Both are lists or empty. */
static bool unite(lacis_run *run, struct set *set, const struct set *other)
{
    int64_t *list, i = 0, k = 0, count = 0;
    if (empty(other)) return true;
    if (empty(set)) {
        *set = *other;
        return true;
    }
    if (set->list == NULL || other->list == NULL) return false;
    uint64_t most = (uint64_t)set->count + (uint64_t)other->count;
    if (lacis_run_scratch(run, most * sizeof *list, &list) != LACIS_OK) return false;
    while (i < set->count || k < other->count) {
        bool left = k == other->count || (i < set->count && set->list[i] <= other->list[k]);
        int64_t value = left ? set->list[i++] : other->list[k++];
        if (count == 0 || list[count - 1] != value) list[count++] = value;
    }
    *set = (struct set){list[0], list[count - 1], list, count};
    return true;
}

/* --------------------------------------------------------------------------------------- constants */

/* The greatest integer <= the constant (floor) or the least >= it (ceil); false for NaN. Beyond int64: *beyond < 0 or
 * > 0 says on which side. */
static bool whole(const lacis_node *node, bool up, int64_t *out, int *beyond)
{
    *beyond = 0;
    if (node->dtype == LACIS_I64) {
        *out = node->integer;
        return true;
    }
    double value = up ? ceil(node->real) : floor(node->real);
    if (isnan(value)) return false;
    *beyond = value >= 0x1p63 ? 1 : value < -0x1p63 ? -1 : 0;
    *out = *beyond != 0 ? 0 : (int64_t)value;
    return true;
}

static bool at_least(const lacis_node *node, struct set *out)
{
    int beyond;
    *out = everything;
    if (!whole(node, true, &out->lo, &beyond)) return false;
    if (beyond > 0) *out = nothing;
    if (beyond < 0) *out = everything;
    return true;
}

static bool at_most(const lacis_node *node, struct set *out)
{
    int beyond;
    *out = everything;
    if (!whole(node, false, &out->hi, &beyond)) return false;
    if (beyond > 0) *out = everything;
    if (beyond < 0) *out = nothing;
    return true;
}

static bool is_whole(const lacis_node *node)
{
    int64_t up, down;
    int beyond;
    if (!whole(node, true, &up, &beyond) || beyond != 0) return false;
    return whole(node, false, &down, &beyond) && up == down;
}

/* More than c is at least c, without c itself if that is an integer. */
static bool more_than(const lacis_node *node, struct set *out)
{
    if (!at_least(node, out)) return false;
    if (!is_whole(node)) return true;
    if (out->lo == INT64_MAX) {
        *out = nothing;
    } else {
        out->lo++;
    }
    return true;
}

static bool less_than(const lacis_node *node, struct set *out)
{
    if (!at_most(node, out)) return false;
    if (!is_whole(node)) return true;
    if (out->hi == INT64_MIN) {
        *out = nothing;
    } else {
        out->hi--;
    }
    return true;
}

static bool equal_to(lacis_run *run, const lacis_node *node, struct set *out)
{
    int beyond;
    *out = nothing;
    if (!is_whole(node)) return true;
    if (lacis_run_scratch(run, sizeof *out->list, &out->list) != LACIS_OK) return false;
    whole(node, true, out->list, &beyond);
    out->lo = out->hi = out->list[0];
    out->count = 1;
    return true;
}

/* -------------------------------------------------------------------------------------- predicates */

/* The slot itself, perhaps beneath the conversion that comparing it with a real has added. */
static bool is_slot(const lacis_node *node, int slot)
{
    if (node->op == LACIS_NODE_TO_REAL && node->implied) node = node->kid[0];
    return node->op == LACIS_NODE_SLOT && node->slot == slot;
}

static bool comparison(lacis_run *run, const lacis_node *node, int slot, struct set *out)
{
    bool mirrored = node->kid[0]->op == LACIS_NODE_CONST; /* 5 < src */
    const lacis_node *value = node->kid[mirrored ? 0 : 1];
    if (!is_slot(node->kid[mirrored ? 1 : 0], slot) || value->op != LACIS_NODE_CONST) return false;
    switch (node->op) {
    case LACIS_NODE_EQ:
        return equal_to(run, value, out);
    case LACIS_NODE_LT:
        return mirrored ? more_than(value, out) : less_than(value, out);
    case LACIS_NODE_GT:
        return mirrored ? less_than(value, out) : more_than(value, out);
    case LACIS_NODE_LE:
        return mirrored ? at_least(value, out) : at_most(value, out);
    case LACIS_NODE_GE:
        return mirrored ? at_most(value, out) : at_least(value, out);
    default:
        return false;
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static bool in_list(lacis_run *run, const lacis_node *node, int slot, struct set *out)
{
    int64_t count = 0, kept = 0, *list;
    int beyond;
    *out = nothing;
    if (!is_slot(node->kid[0], slot)) return false;
    if (lacis_run_scratch(run, (uint64_t)node->count * sizeof *list, &list) != LACIS_OK) return false;
    for (int i = 1; i < node->count; i++) {
        if (node->kid[i]->op != LACIS_NODE_CONST) return false;
        if (is_whole(node->kid[i])) whole(node->kid[i], true, &list[count++], &beyond);
    }
    if (count == 0) return true;
    qsort(list, (size_t)count, sizeof *list, by_value);
    for (int64_t i = 0; i < count; i++) {
        if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];
    }
    *out = (struct set){list[0], list[kept - 1], list, kept};
    return true;
}

static bool between(const lacis_node *node, int slot, struct set *out)
{
    struct set most;
    bool constants = node->kid[1]->op == LACIS_NODE_CONST && node->kid[2]->op == LACIS_NODE_CONST;
    if (!is_slot(node->kid[0], slot) || !constants) return false;
    if (!at_least(node->kid[1], out) || !at_most(node->kid[2], &most)) return false;
    intersect(out, most);
    return true;
}

static bool combination(lacis_run *run, const lacis_node *node, int slot, struct set *out)
{
    if (!set_of(run, node->kid[0], slot, out)) return false;
    for (int i = 1; i < node->count; i++) {
        struct set more;
        if (!set_of(run, node->kid[i], slot, &more)) return false;
        if (node->op == LACIS_NODE_AND) {
            intersect(out, more);
        } else if (!unite(run, out, &more)) {
            return false;
        }
    }
    return true;
}

static bool set_of(lacis_run *run, const lacis_node *node, int slot, struct set *out)
{
    switch (node->op) {
    case LACIS_NODE_CONST:
        *out = (node->dtype == LACIS_I64 ? node->integer != 0 : node->real != 0 || node->imag != 0) ? everything
                                                                                                    : nothing;
        return true;
    case LACIS_NODE_AND:
    case LACIS_NODE_OR:
        return combination(run, node, slot, out);
    case LACIS_NODE_IN:
        return in_list(run, node, slot, out);
    case LACIS_NODE_BETWEEN:
        return between(node, slot, out);
    case LACIS_NODE_EQ:
    case LACIS_NODE_LT:
    case LACIS_NODE_LE:
    case LACIS_NODE_GT:
    case LACIS_NODE_GE:
        return comparison(run, node, slot, out);
    default:
        return false;
    }
}

bool lacis_expr_integer_set(lacis_run *run, const lacis_expr *expr, int slot, int64_t *lo, int64_t *hi,
                            const int64_t **list, int64_t *count)
{
    struct set set;
    if (!set_of(run, expr->root, slot, &set)) return false;
    *lo = set.lo;
    *hi = set.hi;
    *list = set.list;
    *count = set.count;
    return true;
}
