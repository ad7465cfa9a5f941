/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of sweep_gpu.cu share: cases, the naive sweep on the host that they are compared with, memory that
 * is counted. A part is a file sweep_NAME.cu that has one sweep_part (and one sweep_bench, in sweep_NAME_bench.cu) at
 * file scope: nothing else need know of it.
 */
#ifndef LACIS_TESTS_GPU_SWEEP_SUPPORT_H
#define LACIS_TESTS_GPU_SWEEP_SUPPORT_H

#include "support.h"
#include "sweep/gpu.h"

#include <deque>
#include <string>

/* sweep_gpu check|small NAME: small is for compute-sanitizer and the emulator (seconds there). */
struct sweep_part {
    const char *name;
    void (*check)(bool small, u64 seed);
    sweep_part *next;
    sweep_part(const char *name, void (*check)(bool small, u64 seed));
};
/* sweep_gpu bench NAME ARGUMENTS...: the exit code. */
struct sweep_bench {
    const char *name;
    int (*bench)(int argc, char **argv);
    sweep_bench *next;
    sweep_bench(const char *name, int (*bench)(int argc, char **argv));
};

extern int sweep_checks;
void sweep_expect(bool good, const char *format, ...) __attribute__((format(printf, 2, 3))); /* counts, says */

/* A written rule on the host: taps' values, place and step. */
typedef double (*sweep_rule_f64)(const double *v, double x, double y, double z, double t);
typedef float (*sweep_rule_f32)(const float *v, float x, float y, float z, float t);

/* A sweep with all that its start points to. Arrays are on the host, numbers of the type, of the whole grid. */
struct sweep_case {
    std::string name;
    lacis_sweep_start start = {};
    std::vector<unsigned char> array[LACIS_SWEEP_ARRAYS];
    std::deque<std::vector<unsigned char>> values; /* of faces */
    std::vector<lacis_sweep_tap> tap[LACIS_SWEEP_FIELDS];
    std::vector<double> weight[LACIS_SWEEP_FIELDS];
    std::vector<int> first[LACIS_SWEEP_FIELDS];
    sweep_rule_f64 f64[LACIS_SWEEP_FIELDS] = {};
    sweep_rule_f32 f32[LACIS_SWEEP_FIELDS] = {};
    void *kernel[LACIS_SWEEP_GPU_KERNELS] = {};
    sweep_case() = default;
    sweep_case(const sweep_case &) = delete;
    uint64_t cells() const;
};

void sweep_shape(sweep_case *c, lacis_sweep_type type, int dims, int64_t nx, int64_t ny, int64_t nz, int fields,
                 int coefficients);
void sweep_fill(sweep_case *c, u64 *state); /* all arrays with numbers of -1 to 1 */
/* A group of a field's linear rule, behind those that are there. at: 4 numbers for each tap (array, x, y, z). */
void sweep_group(sweep_case *c, int field, double weight, const std::vector<int> &at);
void sweep_written(sweep_case *c, int field, const std::vector<int> &at, sweep_rule_f32 f32, sweep_rule_f64 f64);
/* Edges of all faces: random ones of those that are not INNER. */
void sweep_edges(sweep_case *c, u64 *state);
/* One kind at all faces; AFFINE: Robin's. */
void sweep_edge(sweep_case *c, lacis_sweep_edge_kind kind, u64 *state);
void sweep_settle(sweep_case *c); /* the start's pointers to what is here; once all else is done */

/* The fields after `steps` steps, and the last one's change. */
struct sweep_state {
    std::vector<unsigned char> field[LACIS_SWEEP_FIELDS];
    lacis_sweep_change change = {};
};
void sweep_naive(const sweep_case &c, int64_t steps, sweep_state *out);

/* --- on the device */
extern int64_t sweep_live, sweep_live_bytes, sweep_most_bytes, sweep_allocs,
    sweep_fail_at;                 /* the nth fails, from 1 */
lacis_sweep_host sweep_host(void); /* stream-ordered on `stream`, filled with 0xff */
void *sweep_up(const void *host, uint64_t bytes);
void sweep_drop(void *block);

/* A case's start on the device (arrays of a part: `box` of the whole grid), and a system of it. */
struct sweep_device {
    std::vector<void *> held;
    void *pinned = nullptr;
    lacis_sweep_gpu_start start = {};
    lacis_sweep_gpu *system = nullptr;
    ~sweep_device();
};
/* inner[axis][high]: that face borders another part. */
void sweep_begin(sweep_device *d, const sweep_case &c, const lacis_sweep_box *box, const bool (*inner)[2],
                 int64_t halo);
lacis_sweep_status sweep_make(sweep_device *d);
/* The part's fields into the whole grid's. */
void sweep_collect(sweep_device *d, const sweep_case &c, sweep_state *out);

/* How many cells differ in bits (NaN is NaN), with the first one in `where`. */
int64_t sweep_differences(const sweep_case &c, const sweep_state &a, const sweep_state &b, std::string *where);
bool sweep_same_change(const lacis_sweep_change &a, const lacis_sweep_change &b);
/* A whole grid's steps, its memory against the estimate, against the naive sweep. */
void sweep_compare(const sweep_case &c, int64_t steps, bool wants_change);

#endif
