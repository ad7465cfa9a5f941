/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of chains for the checks of solve_chain_*.cu: systems by lane and row on the host, laid out in any way,
 * run, and x taken back by lane and row.
 */
#ifndef LACIS_TESTS_GPU_SOLVE_CHAIN_SUPPORT_H
#define LACIS_TESTS_GPU_SOLVE_CHAIN_SUPPORT_H

#include "solve_support.h"

#include <complex>
#include <string>

typedef std::complex<double> value;

enum { LOWER, DIAGONAL, UPPER, RHS, FIELDS };

/* Lanes of one length. in[field][lane * rows + row]; of shared fields all lanes have the same. */
struct chain_set {
    int64_t lanes = 0, rows = 0;
    std::vector<value> in[FIELDS];
};

enum kind { EASY, BARE, BAD }; /* well dominant; exactly dominant; some lanes bad in some way or of extreme size */
chain_set make_chains(lacis_solve_type type, int64_t lanes, int64_t rows, int shared, kind kind, uint64_t *state);

/* Layouts of a group: block, 0: Full. `ahead`, `behind`: lanes of the arrays' group which are not of the job's. */
struct layout {
    int64_t block = 1, ahead = 0, behind = 0;
};

/* A batch laid out: arrays on the host, and a job which points to them. What is not of a lane is NaN. */
struct batch {
    lacis_solve_type type = LACIS_SOLVE_F64;
    int shared = 0; /* bit by field */
    std::vector<chain_set> sets;
    std::vector<lacis_solve_group> groups;
    std::vector<char> in[FIELDS], x;
    std::vector<double> residual;
    std::vector<int64_t> status;
    int64_t lanes = 0;
    lacis_solve_job job() const; /* of the host's arrays */
};

/* Groups one behind the other, each with the layouts given for matrix, rhs and x; `odd`: begins at odd places. */
batch lay_out(lacis_solve_type type, int shared, const std::vector<chain_set> &sets,
              const std::vector<layout> &matrix, const std::vector<layout> &rhs, const std::vector<layout> &x,
              bool odd);

struct run_result {
    lacis_solve_gpu_status status = LACIS_SOLVE_GPU_OK;
    lacis_solve_gpu_output out = {};
};
/* Runs it on the device; x, residual and status of `b` become what came out. Inputs must be as before, and what is of
 * no lane as it was: `what` is said if not. */
run_result run_on_device(batch &b, lacis_solve_gpu_way way, bool want_status, bool want_residual, bool later,
                         const std::string &what);
std::vector<char> x_of(const batch &b, int64_t group); /* by lane and row */
value value_at(lacis_solve_type type, const char *data, int64_t at);
bool same_value(lacis_solve_type type, const char *a, const char *b); /* bits, or both NaN */

#endif
