/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of trees for solve_tree_*.cu: shapes, numbers, where they lie, and a plain host reference.
 */
#ifndef LACIS_TESTS_GPU_SOLVE_TREE_H
#define LACIS_TESTS_GPU_SOLVE_TREE_H

#include "solve_support.h"

typedef std::vector<int32_t> tree;

/* path, star, comb, third (three children each, the long way through the lowest), peer (parents at random), split
 * (random bifurcations), even (bifurcating level by level), forest, one, back (chain with leaves of higher numbers)
 */
extern const char *const tree_kind_name[];
enum {
    TREE_PATH,
    TREE_STAR,
    TREE_COMB,
    TREE_THIRD,
    TREE_PEER,
    TREE_SPLIT,
    TREE_EVEN,
    TREE_FOREST,
    TREE_ONE,
    TREE_KINDS
};
tree make_tree(int kind, int64_t rows, int64_t branches, uint64_t seed);

enum { SHARE_NONE, SHARE_OFF, SHARE_ALL, SHARE_LOWER, SHARINGS };
constexpr int64_t LAYOUT_FLAT = 1, LAYOUT_FULL = 0; /* else: Block of so many */

struct tree_spec {
    lacis_solve_type type;
    int sharing;
    int64_t matrix, rhs, x; /* layouts */
    int64_t before, behind; /* lanes of the arrays that are not the job's */
    uint64_t seed;
};

/* A batch on host and device. Elements as doubles on the host: of f32 they are rounded. */
struct tree_batch {
    tree_spec spec;
    std::vector<tree> shape;
    std::vector<int32_t> parent;
    std::vector<lacis_solve_group> group;
    std::vector<char> lower, diagonal, upper, rhs; /* as stored */
    int64_t x_places, lanes;
    char *device[5]; /* lower, diagonal, upper, rhs, x */
    int32_t *device_parent;
    int64_t *status;
};

tree_batch make_batch(const std::vector<tree> &shapes, const std::vector<int64_t> &lanes, const tree_spec &spec);
void free_batch(tree_batch &b);
lacis_solve_gpu_job job_of(const tree_batch &b, lacis_solve_gpu_way way);
void put(tree_batch &b, std::vector<char> &field, int64_t place, double value);
double get(const tree_batch &b, const std::vector<char> &field, int64_t place);
/* Where an element of the matrix lies. */
int64_t place_in(const tree_batch &b, const std::vector<char> &field, int64_t g, int64_t lane, int64_t row);
void send(tree_batch &b); /* inputs to the device, x poisoned */

/* Steps of solve.h, one lane; its status word. x as stored. error: the largest |x - x of long double steps|. */
int64_t reference_lane(const tree_batch &b, int64_t g, int64_t lane, std::vector<double> &x, double *error);

#endif
