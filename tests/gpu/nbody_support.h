/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of nbody_gpu.cu share: bodies as test cases, their columns on the device, memory that is counted and
 * can fail, and sums in double on the host. A part is a file nbody_NAME.cu that has one nbody_part (and one
 * nbody_bench, in nbody_NAME_bench.cu) at file scope: nothing else need know of it.
 */
#ifndef LACIS_TESTS_GPU_NBODY_SUPPORT_H
#define LACIS_TESTS_GPU_NBODY_SUPPORT_H

#include "nbody/gpu.h"
#include "support.h"

#include <string>

/* nbody_gpu check|small NAME: small is for compute-sanitizer and the emulator (a second or two there). */
struct nbody_part {
    const char *name;
    void (*check)(bool small, u64 seed);
    nbody_part *next;
    nbody_part(const char *name, void (*check)(bool small, u64 seed));
};
/* nbody_gpu bench NAME ARGUMENTS...: the exit code. */
struct nbody_bench {
    const char *name;
    int (*bench)(int argc, char **argv);
    nbody_bench *next;
    nbody_bench(const char *name, int (*bench)(int argc, char **argv));
};

extern int nbody_checks;
void nbody_expect(bool good, const char *format, ...) __attribute__((format(printf, 2, 3))); /* counts, says */

/* --- bodies. Empty vx: at rest; empty eps: none of their own. */
struct nbody_set {
    std::string name;
    std::vector<double> m, x, y, z, vx, vy, vz, eps;
    double soften = 0;
    int64_t n() const
    {
        return (int64_t)m.size();
    }
};
nbody_set nbody_plummer(int64_t n, u64 seed); /* total mass 1, G = 1, virial; cut at 0.999 of the mass; eps 0.05 */
nbody_set nbody_uneven(int64_t n, u64 seed);  /* two clusters 1e6 apart, masses over a range of 1e6 */
/* Each with its name: one, two, all at one place, many duplicates, collinear, planar, clusters, zero masses, tracers,
 * softening by body, none. About n bodies where that is open. */
std::vector<nbody_set> nbody_hard(int64_t n, u64 seed);
void nbody_round(nbody_set *set);                                                   /* every number to a float's */
nbody_set nbody_shuffled(const nbody_set &set, u64 seed, std::vector<int64_t> *to); /* body i becomes (*to)[i] */

/* The field of double sums at body i (with all others), or at a point (i < 0). */
struct nbody_sum {
    double a[3], phi, modulus; /* modulus: sum of |term|; phi: sum of m / r without sign */
};
nbody_sum nbody_direct(const nbody_set &set, int64_t i, const double *point);
/* Many of them, with all processors. */
std::vector<nbody_sum> nbody_directs(const nbody_set &set, const std::vector<int64_t> &which);

/* --- on the device */
extern int64_t nbody_live, nbody_live_bytes, nbody_most_bytes, nbody_allocs,
    nbody_fail_at;                 /* the nth fails, from 1 */
lacis_nbody_host nbody_host(void); /* stream-ordered on `stream`, filled with 0xff */

/* A column in the type's numbers on the device, and back. */
void *nbody_up(lacis_nbody_type type, const std::vector<double> &values); /* NULL where empty */
std::vector<double> nbody_down(lacis_nbody_type type, const void *column, int64_t n);
void *nbody_room(lacis_nbody_type type, int64_t n); /* filled with 0xff */
void nbody_drop(const void *column);

/* Columns of a set, and a start with them. */
struct nbody_columns {
    std::vector<void *> held;
    lacis_nbody_gpu_start start = {};
    ~nbody_columns();
};
void nbody_begin(nbody_columns *c, const nbody_set &set, lacis_nbody_type type, const lacis_nbody_rule &rule);
lacis_nbody_rule nbody_rule(lacis_nbody_way way, lacis_nbody_order order, lacis_nbody_opening opening);

/* A system's columns on the host. */
struct nbody_state {
    std::vector<double> x, y, z, vx, vy, vz, ax, ay, az, phi;
    bool operator==(const nbody_state &other) const; /* bits */
};
nbody_state nbody_read(lacis_nbody_gpu *system, lacis_nbody_type type, int64_t n, bool phi);

/* Quantiles of |a - a'| / |a'|: median, 90 %, 99 %, greatest. */
void nbody_quantiles(std::vector<double> errors, double *out);

#endif
