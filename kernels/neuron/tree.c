/* SPDX-License-Identifier: Apache-2.0
 *
 * From sections to compartments: their order, parents, and the coefficients of the tree matrix. Callers: the
 * operators over cells.
 */
#include "neuron/arena.h"
#include "neuron/integral.h"

#include <stdint.h>

enum { PLACES = 3 }; /* where children begin: x = 0, 0.5, 1 */

struct order {
    int32_t *queue;   /* sections, parents first */
    int32_t *head;    /* of section and place: the child made last; -1 */
    int32_t *sibling; /* the child made before; -1 */
};

static void lay_out(neuron_tree *tree, struct order *order, int64_t sections, int64_t nodes, neuron_arena *arena)
{
    NEURON_TAKE(arena, tree->parent, nodes);
    NEURON_TAKE(arena, tree->section, nodes);
    NEURON_TAKE(arena, tree->x, nodes);
    NEURON_TAKE(arena, tree->area, nodes);
    NEURON_TAKE(arena, tree->diameter, nodes);
    NEURON_TAKE(arena, tree->ri, nodes);
    NEURON_TAKE(arena, tree->a, nodes);
    NEURON_TAKE(arena, tree->b, nodes);
    NEURON_TAKE(arena, tree->first, sections);
    NEURON_TAKE(arena, order->queue, sections);
    NEURON_TAKE(arena, order->head, PLACES * sections);
    NEURON_TAKE(arena, order->sibling, sections);
}

int64_t lacis_neuron_tree_nodes(int64_t sections, const int32_t *nseg)
{
    int64_t nodes = 1;
    for (int64_t s = 0; s < sections; s++)
        nodes += (int64_t)nseg[s] + 1;
    return nodes > INT32_MAX ? -1 : nodes;
}

size_t lacis_neuron_tree_bytes(int64_t sections, int64_t nodes)
{
    neuron_tree tree;
    struct order order;
    neuron_arena arena = {NULL, 0};
    lay_out(&tree, &order, sections, nodes, &arena);
    return arena.used;
}

static void link_children(const neuron_sections *sections, struct order *order)
{
    for (int64_t i = 0; i < PLACES * sections->count; i++)
        order->head[i] = -1;
    for (int64_t s = 1; s < sections->count; s++) {
        int place = (int)(2 * sections->parent_x[s]);
        int32_t *head = &order->head[PLACES * (int64_t)sections->parent[s] + place];
        order->sibling[s] = *head;
        *head = (int32_t)s;
    }
}

static void breadth_first(const neuron_sections *sections, struct order *order)
{
    int64_t filled = 1;
    link_children(sections, order);
    order->queue[0] = 0;
    for (int64_t i = 0; i < filled; i++) {
        const int32_t *head = &order->head[PLACES * (int64_t)order->queue[i]];
        for (int place = 0; place < PLACES; place++) {
            for (int32_t child = head[place]; child >= 0; child = order->sibling[child])
                order->queue[filled++] = child;
        }
    }
}

int64_t lacis_neuron_node(const neuron_tree *tree, int64_t section, double x)
{
    int64_t first = tree->first[section], nseg = tree->nseg[section];
    if (x <= 0) return tree->parent[first];
    if (x >= 1) return first + nseg;
    int64_t at = (int64_t)(x * (double)nseg);
    return first + (at < nseg ? at : nseg - 1);
}

static double weighed_area(const neuron_tree *tree, int64_t node)
{
    return tree->area[node] == 0 ? 1e2 : tree->area[node];
}

static void add_node(neuron_tree *tree, int64_t node, int64_t parent, double ri_inverse)
{
    tree->parent[node] = (int32_t)parent;
    tree->ri[node] = 1 / ri_inverse;
    tree->a[node] = -1.e2 * ri_inverse / weighed_area(tree, parent);
    tree->b[node] = -1.e2 * ri_inverse / weighed_area(tree, node);
}

static bool add_section(const neuron_sections *sections, neuron_tree *tree, int64_t section, int64_t parent,
                        double ra)
{
    neuron_integral integral;
    int64_t node = tree->first[section];
    int32_t nseg = tree->nseg[section];
    double before = 0;
    lacis_neuron_integral_begin(&integral, sections, section, nseg);
    for (int32_t i = 0; i <= nseg; i++, node++) {
        bool end = i == nseg;
        if (!end) lacis_neuron_integral_next(&integral, ra);
        if (!end && !(integral.area > 0)) return false;
        tree->section[node] = (int32_t)section;
        tree->x[node] = end ? 1 : (2 * i + 1) / (2. * nseg);
        tree->area[node] = end ? 0 : integral.area;
        tree->diameter[node] = end ? 0 : integral.diameter;
        add_node(tree, node, i == 0 ? parent : node - 1, 1 / (end ? before : before + integral.left));
        before = integral.right;
    }
    return true;
}

neuron_fault lacis_neuron_tree(const neuron_sections *sections, int32_t *nseg, const double *ra, void *memory,
                               neuron_tree *out)
{
    struct order order;
    neuron_arena arena = {memory, 0};
    out->count = lacis_neuron_tree_nodes(sections->count, nseg);
    out->nseg = nseg;
    if (out->count < 0) return (neuron_fault){NEURON_TOO_MANY, 0};
    lay_out(out, &order, sections->count, out->count, &arena);
    breadth_first(sections, &order);
    out->parent[0] = -1;
    out->section[0] = 0;
    out->x[0] = out->area[0] = out->diameter[0] = out->ri[0] = out->a[0] = out->b[0] = 0;
    int64_t node = 1;
    for (int64_t i = 0; i < sections->count; i++) {
        int32_t s = order.queue[i], up = sections->parent[s];
        if (!(lacis_neuron_length(sections, s) > 0)) return (neuron_fault){NEURON_LENGTHLESS, s};
        out->first[s] = (int32_t)node;
        int64_t parent = up < 0 ? 0 : lacis_neuron_node(out, up, sections->parent_x[s]);
        if (!add_section(sections, out, s, parent, ra[s])) return (neuron_fault){NEURON_AREALESS, s};
        node += nseg[s] + 1;
    }
    return (neuron_fault){NEURON_FINE, 0};
}
