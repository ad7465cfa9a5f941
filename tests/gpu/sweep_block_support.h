/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of sweep_block_gpu share: a grid with its rule and edges, single steps on the host, arrays on the
 * device.
 */
#ifndef LACIS_TESTS_GPU_SWEEP_BLOCK_SUPPORT_H
#define LACIS_TESTS_GPU_SWEEP_BLOCK_SUPPORT_H

#include "support.h"
#include "sweep/gpu_block_inside.h"

#include <string>

namespace sweep_block
{

using sweep::block::Variant;

/* Tables of a linear rule: `groups` as in gpu_block_cells.cuh. The block points into it. */
struct Case {
    lacis_sweep_block block = {};
    lacis_sweep_rule rule = {};
    lacis_sweep_tap tap[9];
    double weight[3];
    int first[4] = {0};
    std::vector<double> values[6]; /* of faces: VALUES, the lower of the other axes fastest */
    template <class T> struct Numbers {
        int groups;
        T constant, centre, cross, corners;
    };
    Case(lacis_sweep_type type, int dims, int groups, bool constant, u64 *random);
    Case(const Case &) = delete;
    void size(int64_t nx, int64_t ny, int64_t nz); /* ghosts have a place beyond each face */
    void edges(const lacis_sweep_edge_kind *kind, u64 *random);
    std::string name() const;
    /* Of VALUES: the number beyond a face beside a cell. */
    double given(int face, const int64_t *at) const;
};

/* All kernels there are, candidates at the end. */
std::vector<const Variant *> variants();
void add_candidates(std::vector<const Variant *> *to);

/* `steps` steps of the dense grid, as sweep.h says, by no method but the plain one. */
template <class T> void naive(const Case &c, std::vector<T> &grid, int steps);

/* Parts of the program; arguments behind the mode. part: of the names of the kernels that are checked. */
void check(bool small, const char *part);
/* sweep_block_bench.cu puts itself here, where it is linked. */
extern void (*bench)(int count, char **argument);

} // namespace sweep_block

#endif
