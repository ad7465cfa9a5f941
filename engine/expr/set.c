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

/* Whether integers of this size reach the constant (or exceed it): with a real they are compared as reals. */
static bool reaches(const lacis_node *node, bool exceed, int64_t value)
{
    if (node->dtype == LACIS_I64) return exceed ? value > node->integer : value >= node->integer;
    return exceed ? (double)value > node->real : (double)value >= node->real;
}

/* The least integer that does, by halving, since rounding keeps the order; false: none does. */
static bool least(const lacis_node *node, bool exceed, int64_t *out)
{
    int64_t lo = INT64_MIN, hi = INT64_MAX;
    if (!reaches(node, exceed, hi)) return false;
    while (lo < hi) {
        int64_t middle = (lo & hi) + ((lo ^ hi) >> 1); /* the mean, rounded down, of numbers of either sign */
        if (reaches(node, exceed, middle)) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    *out = lo;
    return true;
}

static bool not_a_number(const lacis_node *node)
{
    return node->dtype != LACIS_I64 && isnan(node->real);
}

static bool from_least(const lacis_node *node, bool exceed, struct set *out)
{
    *out = everything;
    if (not_a_number(node)) return false;
    if (!least(node, exceed, &out->lo)) *out = nothing;
    return true;
}

static bool below_least(const lacis_node *node, bool exceed, struct set *out)
{
    int64_t first;
    *out = everything;
    if (not_a_number(node)) return false;
    if (!least(node, exceed, &first)) return true;
    if (first == INT64_MIN) {
        *out = nothing;
    } else {
        out->hi = first - 1;
    }
    return true;
}

static bool at_least(const lacis_node *node, struct set *out)
{
    return from_least(node, false, out);
}

static bool at_most(const lacis_node *node, struct set *out)
{
    return below_least(node, true, out);
}

static bool more_than(const lacis_node *node, struct set *out)
{
    return from_least(node, true, out);
}

static bool less_than(const lacis_node *node, struct set *out)
{
    return below_least(node, false, out);
}

/* Nothing equals NaN; many integers equal a real beyond 2^53. */
static void equals(const lacis_node *node, struct set *out)
{
    struct set most;
    *out = nothing;
    if (at_least(node, out) && at_most(node, &most))
        intersect(out, most);
    else
        *out = nothing;
}

static bool equal_to(lacis_run *run, const lacis_node *node, struct set *out)
{
    equals(node, out);
    if (out->lo != out->hi) return true;
    if (lacis_run_scratch(run, sizeof *out->list, &out->list) != LACIS_OK) return false;
    out->list[0] = out->lo;
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
    struct set one;
    *out = nothing;
    if (!is_slot(node->kid[0], slot)) return false;
    if (lacis_run_scratch(run, (uint64_t)node->count * sizeof *list, &list) != LACIS_OK) return false;
    for (int i = 1; i < node->count; i++) {
        if (node->kid[i]->op != LACIS_NODE_CONST) return false;
        equals(node->kid[i], &one);
        if (one.lo < one.hi) return false;
        if (one.lo == one.hi) list[count++] = one.lo;
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
