/* SPDX-License-Identifier: Apache-2.0
 *
 * Point masses under gravity: accelerations, potentials and motion, by all pairs or a tree (Barnes and Hut 1986).
 * Raw pointers and sizes only; operators/nbody fills a lacis_nbody_start and goes on with the system that it gives.
 * gpu.h has the same on a CUDA device.
 *
 * Body i is accelerated by  G sum over j of m_j d / (|d|^2 + e)^(3/2),  d = x_j - x_i,
 * and has the potential    -G sum over j of m_j / (|d|^2 + e)^(1/2),  j != i,
 * with Plummer softening e = (eps_i^2 + eps_j^2) / 2 (eps^2 where one length holds for all; a free point has the
 * common one, which is 0 beside lengths of each body). Pairs at one place with e = 0 give nothing to either sum. A
 * massless body feels forces and exerts none.
 *
 * Trees. Cells of an octree down to leaves of a few bodies; a cell stands for its bodies by mass, centre of mass and,
 * with QUADRUPOLE, second moments (with their trace, which softening needs). Neighbouring bodies (a group) share one
 * walk from the root; a cell of extent s (its radius: the farthest body from its centre of mass, or of large cells a
 * bound of that), seen from the group at the least distance d, is taken as a whole where
 *   GEOMETRIC  s < theta d
 *   OFFSET     l < theta (d - off): l the side of its cube, off how far its centre of mass lies from the cube's
 * centre RELATIVE   M s^3 < alpha |a| d^5 / G (monopole M s^2 < alpha |a| d^4 / G) and s < theta d, |a| the least of
 * the group's accelerations the time before; where they are not known, GEOMETRIC stands in and a cell whose bodies
 * lie at one place always. Sides of cubes are 1.155 times such a radius at most: the theta of Barnes and Hut is that
 * much larger. With expand > 0 a cell that is far compared with the group (see the field) is expanded once about the
 * group's centre, to second order, instead of at every body. Cells have no smallest size but that of the numbers:
 * where keys of 63 bits do not tell the bodies of a cell apart they are told apart by keys within it, so that
 * clusters far from each other are resolved. Bodies that lie at one place become leaves of any number.
 *
 * Types. F32: all in floats, sums of potentials and figures in double. F64: all in doubles. MIXED: positions,
 * velocities and masses are doubles; differences of positions are formed in double, forces in float and handed out as
 * doubles.
 *
 * Bits. The CPU's are the same for any number of threads. With `deterministic` they are the same, too, for bodies
 * given in any other order, on one kind of device with one rule (the CPU's trees always, all pairs cost a sort).
 * Bodies that a run moves beyond all numbers stay infinite or become NaN, and so may what they act on; it goes on.
 *
 * Refused by the caller beforehand: what is not finite, negative masses and softening lengths.
 */
#ifndef LACIS_KERNELS_NBODY_H
#define LACIS_KERNELS_NBODY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lacis_nbody_type {
    LACIS_NBODY_F32,
    LACIS_NBODY_F64,
    LACIS_NBODY_MIXED,
    LACIS_NBODY_TYPES
} lacis_nbody_type;
typedef enum lacis_nbody_way {
    LACIS_NBODY_DIRECT, /* all pairs */
    LACIS_NBODY_TREE,   /* built from sorted keys */
    LACIS_NBODY_INSERT, /* a tree built by inserting body after body, top down (Burtscher and Pingali 2011) */
    LACIS_NBODY_WAYS
} lacis_nbody_way;
typedef enum lacis_nbody_order { LACIS_NBODY_MONOPOLE, LACIS_NBODY_QUADRUPOLE } lacis_nbody_order;
typedef enum lacis_nbody_opening {
    LACIS_NBODY_GEOMETRIC,
    LACIS_NBODY_OFFSET,
    LACIS_NBODY_RELATIVE
} lacis_nbody_opening;

typedef enum lacis_nbody_status {
    LACIS_NBODY_OK,
    LACIS_NBODY_NO_MEMORY,
    LACIS_NBODY_CANCELLED,
    LACIS_NBODY_UNSUPPORTED, /* GPU: this rule or number of bodies */
    LACIS_NBODY_FAILED       /* GPU: a CUDA call failed: lacis_nbody_gpu_error_code */
} lacis_nbody_status;

typedef struct lacis_nbody_rule {
    lacis_nbody_way way;
    lacis_nbody_order order;
    lacis_nbody_opening opening;
    double theta;  /* RELATIVE: the guard */
    double alpha;  /* RELATIVE */
    double expand; /* 0: never; < 0: as is best; else cells with r / d < expand, r the group's radius, d from centre
                      to centre, are expanded about the group, where RELATIVE agrees with r expand^-1 in place of s as
                      well */
    int leaf;      /* bodies at most, where they can be told apart; 0: as is best */
    int group;     /* bodies that share a walk; 0: as is best */
    bool deterministic;
} lacis_nbody_rule;

typedef struct lacis_nbody_host {
    void *(*alloc)(void *context, uint64_t bytes); /* 64-byte aligned, from any thread; NULL: no memory */
    void (*free)(void *context, void *block);
    bool (*cancelled)(void *context); /* NULL: never. Asked from any thread */
    /* How many of all targets of a field have their accelerations, by the thread that called. NULL: nobody asks */
    void (*told)(void *context, int64_t done, int64_t all);
    void *context;
} lacis_nbody_host;

/* A system as it begins. Columns lie in the order of the caller's numbers; they are read during _new alone. Elements
 * are floats (F32) or doubles. */
typedef struct lacis_nbody_start {
    lacis_nbody_type type;
    int64_t n;
    const void *m, *x, *y, *z;
    const void *vx, *vy, *vz; /* NULL: at rest */
    const void *eps;          /* NULL: `soften` for all */
    const void *ax, *ay, *az; /* accelerations at these positions, of an earlier run; NULL: not known */
    double soften, g;
    lacis_nbody_rule rule;
    int threads;
    lacis_nbody_host host;
    int64_t wanted; /* CPU: the field of the first so many bodies alone, that of others holds anything; 0: of all */
} lacis_nbody_start;

/* What was done since the start, or since the last time that it was asked; terms counted as interactions of one body.
 */
typedef struct lacis_nbody_counts {
    double evaluations;                    /* of the field */
    double p2p, m2p, expanded, visits;     /* pairs; cells at bodies; cells at groups; cells looked at by groups */
    int64_t cells, leaves, levels, groups; /* of the last tree */
    double build_seconds, force_seconds, move_seconds; /* GPU: only where asked for (timed) */
} lacis_nbody_counts;

/* Figures of a system, in double. Potential energy: half the sum of m phi. */
typedef struct lacis_nbody_figures {
    double mass, kinetic, potential;
    double centre[3], momentum[3], angular[3]; /* angular momentum about the origin */
} lacis_nbody_figures;

/* |a - a'| / |a'| over a sample of bodies, a' a direct sum in double; and |a - a'| / sum of moduli of its terms.
 * Bodies of a' = 0 count with a = 0 as 0, else as infinity. */
typedef struct lacis_nbody_errors {
    int64_t sample;
    double relative[4], scaled[4]; /* median, 90 %, 99 %, greatest */
} lacis_nbody_errors;

typedef struct lacis_nbody lacis_nbody;

/* The rule with what it leaves open (leaf, group, expand < 0) filled in for so many bodies of this type. */
void lacis_nbody_settle(const lacis_nbody_start *start, lacis_nbody_rule *rule);
lacis_nbody_status lacis_nbody_new(const lacis_nbody_start *start, lacis_nbody **out);
void lacis_nbody_free(lacis_nbody *system); /* NULL is fine */
/* Another rule from here on: for searches of one that keeps an error. Accelerations are not known any more, but stay
 * as |a| of RELATIVE. */
void lacis_nbody_set_rule(lacis_nbody *system, const lacis_nbody_rule *rule);
/* Brings accelerations (and potentials) up to date with the positions. Nothing is done where they are. */
lacis_nbody_status lacis_nbody_field(lacis_nbody *system, bool potential);
/* `steps` steps of leapfrog, kick drift kick; accelerations first, where they are not known. Afterwards positions,
 * velocities and accelerations (potential: potentials, too) are those of one time. Steps done one by one or together
 * have the same bits. */
lacis_nbody_status lacis_nbody_steps(lacis_nbody *system, int64_t steps, double dt, bool potential);
/* The field at free points; columns of the type, phi NULL where not wanted. */
lacis_nbody_status lacis_nbody_points(lacis_nbody *system, int64_t points, const void *x, const void *y,
                                      const void *z, void *ax, void *ay, void *az, void *phi);
/* Needs potentials that are up to date. The same bits in whatever order the steps were asked for. */
lacis_nbody_status lacis_nbody_measure(lacis_nbody *system, lacis_nbody_figures *out);
/* Accelerations as they are against direct sums for `sample` bodies spread over the numbers (all, where there are
 * fewer). */
lacis_nbody_status lacis_nbody_certify(lacis_nbody *system, int64_t sample, lacis_nbody_errors *out);
/* Columns in the order of the caller's numbers; NULL: not wanted. */
typedef struct lacis_nbody_columns {
    void *x, *y, *z, *vx, *vy, *vz, *ax, *ay, *az, *phi;
} lacis_nbody_columns;
lacis_nbody_status lacis_nbody_read(lacis_nbody *system, const lacis_nbody_columns *into);
void lacis_nbody_counted(lacis_nbody *system, lacis_nbody_counts *out, bool reset);

/* --- A field that is computed elsewhere (essential.c), in parts: domains, which are bodies that follow each other on
 * the curve. A system that is shared calls `share` for each evaluation of its field, its bodies in the order of the
 * curve, and expects lacis_nbody_put for all of them before it returns; phi with `potential` alone. */
typedef lacis_nbody_status (*lacis_nbody_share)(void *context, lacis_nbody *system, bool potential);
void lacis_nbody_share_with(lacis_nbody *system, lacis_nbody_share share, void *context);
void lacis_nbody_put(lacis_nbody *system, int64_t begin, int64_t end, const void *const a[3], const void *phi);

/* What the field of bodies [begin, end) comes from: those themselves, then others, and bodies that stand for cells;
 * their moments are the cells' (monopole: mass and centre; quadrupole: second moments as well). The field of the
 * first end - begin of them, by the same rule, keeps to its error. From `share` alone; several may be made at once,
 * by different threads. All pairs: all others. */
typedef struct lacis_nbody_essential {
    int64_t begin, end, n;
    bool eps, old; /* columns that there are */
    lacis_nbody *system;
    struct lacis_nbody_pick *pick;
    int64_t picks, room;
} lacis_nbody_essential;
typedef struct lacis_nbody_sources { /* n elements of the type each */
    void *m, *x, *y, *z, *eps;
    void *old; /* |a| of the time before, which RELATIVE goes by */
} lacis_nbody_sources;
lacis_nbody_status lacis_nbody_essential_new(lacis_nbody *system, int64_t begin, int64_t end,
                                             lacis_nbody_essential *out);
void lacis_nbody_essential_fill(const lacis_nbody_essential *essential, const lacis_nbody_sources *to);
void lacis_nbody_essential_free(lacis_nbody_essential *essential);

/* Bytes that a system takes from host.alloc at most with this rule (points, samples and figures apart). */
uint64_t lacis_nbody_bytes(const lacis_nbody_start *start);
const char *lacis_nbody_isa(void); /* "avx512", "avx2", "baseline"; LACIS_ISA asks for less */

static inline int lacis_nbody_size(lacis_nbody_type type)
{
    return type == LACIS_NBODY_F32 ? 4 : 8;
}

#ifdef __cplusplus
}
#endif

#endif
