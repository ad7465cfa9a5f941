/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees as gpu_build makes them, made on the host by plain recursion over places instead of keys: what the walk is
 * tested with, by itself.
 */
#ifndef LACIS_TESTS_GPU_NBODY_TREE_H
#define LACIS_TESTS_GPU_NBODY_TREE_H

#include "nbody/gpu_inside.h"
#include "nbody_support.h"

template <class P, class R> struct nbody_tree {
    nbody::Tree<P, R> tree = {};
    std::vector<uint32_t> order; /* the tree's body i is the set's order[i] */
    int64_t cells = 0, leaves = 0, levels = 0;
    std::vector<void *> held;
    ~nbody_tree();
};

template <class P, class R>
void nbody_make_tree(const nbody_set &set, const lacis_nbody_rule &rule, nbody_tree<P, R> *out);

/* A column of the set's order in the tree's, on the device; freed with the tree. */
template <class P, class R> const R *nbody_in_order(nbody_tree<P, R> *tree, const std::vector<double> &values);

#endif
