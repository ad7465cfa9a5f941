/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of kernels/nbody share on the CPU: the system, its tree, and the loops that each type has in each
 * instruction set (*.isa.c).
 *
 * Bodies lie in the order of the curve at the time of the last field ("canonical": equal keys are told apart by the
 * bits of everything that a body has; all pairs without `deterministic`: in the caller's order), so that nothing
 * depends on the order in which they were given, nor on the steps before. Forces are computed in units of their own,
 * powers of two away from the caller's (order.c), so that floats do not overflow whatever units the caller has.
 */
#ifndef LACIS_KERNELS_NBODY_INSIDE_H
#define LACIS_KERNELS_NBODY_INSIDE_H

#include "nbody/nbody.h"

#include <stdatomic.h>
#include <stddef.h>

#define LACIS_ISA_GLUE2(name, isa) name##_##isa
#define LACIS_ISA_GLUE(name, isa)  LACIS_ISA_GLUE2(name, isa)
#define LACIS_ISA(name)            LACIS_ISA_GLUE(name, LACIS_ISA_NAME)

enum {
    NBODY_GROUP_MOST = 64,
    NBODY_LEVELS = 21,  /* octal digits of a key */
    NBODY_PIECE = 4096, /* bodies of a task of a plain loop */
    NBODY_SLACK = 16,   /* elements that vector loads may touch past the last cell */
    NBODY_BINS = 2048,
    NBODY_ALONE = 16384,  /* bodies of a plain loop that are not worth waking other threads for */
    NBODY_DEEPEST = 2200, /* levels of a tree of doubles: their exponents, and a rounding for each box within a box */
};

typedef enum nbody_column {
    NBODY_X,
    NBODY_Y,
    NBODY_Z,
    NBODY_M,
    NBODY_VX,
    NBODY_VY,
    NBODY_VZ,
    NBODY_AX,
    NBODY_AY,
    NBODY_AZ,
    NBODY_PHI,
    NBODY_OLD, /* |a| that RELATIVE goes by */
    NBODY_EPS, /* NULL: `soften` */
    NBODY_COLUMNS
} nbody_column;

/* Powers of two. */
typedef struct nbody_units {
    double length, mass;     /* the caller's numbers times these are ours */
    double force, potential; /* our sums times these are the caller's, G included */
    double common;           /* eps^2 of all, ours; 0 beside lengths of each body */
} nbody_units;

/* half: of its side; so that the widest range of doubles does not overflow. */
typedef struct nbody_box {
    double lo[3], half;
} nbody_box;

typedef struct nbody_pair {
    uint64_t key;
    int64_t index;
} nbody_pair;

/* Bodies [begin, end) whose keys in `box` begin with the same `level` digits. Children [first, first + many), many 0:
 * a leaf. Levels of the tree lie behind each other. */
typedef struct nbody_cell {
    int64_t begin, end, first;
    int32_t many, level;
    nbody_box box;
} nbody_cell;

/* About the centre of mass as it is stored; lengths and masses ours. */
typedef struct nbody_moments {
    double m, at[3], q[6], e; /* xx yy zz xy xz yz; mean of eps^2 / 2 by mass */
    double extent;
} nbody_moments;

typedef enum nbody_field_name { /* of a cell, as a walk reads them; the first six of P, the others of R */
                                NBODY_CX,
                                NBODY_CY,
                                NBODY_CZ,
                                NBODY_NEAR,  /* taken where d^2 is greater; -1: always */
                                NBODY_WEAK,  /* RELATIVE: taken where d^2 is greater than this times |a|^-p */
                                NBODY_REACH, /* extent^2, rounded up: cells within it may hold the group's own bodies
                                              */
                                NBODY_HEAVY, /* mass to the power that goes with NBODY_WEAK; 0: massless, to be passed
                                                over */
                                NBODY_LX,    /* F32: what the centre lost when it was rounded */
                                NBODY_LY,
                                NBODY_LZ,
                                NBODY_MASS,
                                NBODY_QXX,
                                NBODY_QYY,
                                NBODY_QZZ,
                                NBODY_QXY,
                                NBODY_QXZ,
                                NBODY_QYZ,
                                NBODY_MEAN, /* of eps^2 / 2 */
                                NBODY_FIELDS
} nbody_field_name;
enum { NBODY_POSITIONS = NBODY_LX }; /* fields before it are of P */

typedef struct nbody_tree {
    nbody_cell *cell;
    int64_t room, cells, leaves;
    int64_t *level; /* level l: cells [level[l], level[l + 1]) */
    int64_t level_room;
    int levels;
    nbody_moments *moments;
    void *field[NBODY_FIELDS];
    void *fields; /* the block that they lie in */
    int64_t fields_room;
    nbody_pair *pair, *spare;
    int64_t *histogram; /* of sort.c: NBODY_BINS of each thread */
} nbody_tree;

/* What was done, in whole numbers so that sums do not depend on threads. */
typedef struct nbody_tally {
    int64_t p2p, m2p, expanded, visits;
} nbody_tally;

typedef struct nbody_worker {
    void *room; /* the walk's lists */
    nbody_tally tally;
    char apart[64]; /* from the next one's */
} nbody_worker;

typedef struct nbody_loops nbody_loops;

struct lacis_nbody {
    lacis_nbody_type type;
    int64_t n;
    lacis_nbody_rule rule, asked; /* settled, and as it was given */
    int threads;
    lacis_nbody_host host;
    double soften, g;
    const nbody_loops *loops;
    void *column[NBODY_COLUMNS];
    int64_t *number; /* the caller's, of each body */
    int64_t *number_spare;
    void *spare; /* of a column */
    void *body;  /* x, y, z (P), m (R) in our units: what forces come from */
    void *soft;  /* eps^2 / 2 of each (R); NULL: common */
    nbody_units units;
    nbody_tree tree;
    nbody_worker *worker;
    int64_t walk_levels;     /* that the workers' lists have room for */
    bool known;              /* accelerations are those of the positions */
    bool potentials;         /* so are the potentials */
    bool felt;               /* AX .. AZ hold accelerations of some time */
    bool old;                /* OLD holds what they were the time before */
    bool placed;             /* body and tree are those of the positions */
    int64_t wanted;          /* bodies whose field is */
    lacis_nbody_share share; /* NULL: the field is computed here */
    void *share_context;
    lacis_nbody_counts counts;
};

/* Free points, or the bodies themselves (x NULL). Of points order[i].index names the i-th of the curve. */
typedef struct nbody_targets {
    int64_t n;
    const void *x, *y, *z;
    const nbody_pair *order;
    void *ax, *ay, *az, *phi; /* phi NULL: not wanted; ax NULL: phi alone */
    bool relative;            /* by OLD */
} nbody_targets;

/* One type in one instruction set. Ranges are of bodies in the system's order. */
struct nbody_loops {
    void (*bounds)(const void *const place[3], int64_t begin, int64_t end, double lo[3], double hi[3]);
    /* Keys of places [begin, end) into pair, index and all. */
    void (*keys)(const void *const place[3], const nbody_box *box, int64_t begin, int64_t end, nbody_pair *pair);
    void (*bring)(lacis_nbody *system, int64_t begin, int64_t end); /* body and soft from the columns */
    void (*moments)(lacis_nbody *system, int64_t cell, int64_t end);
    uint64_t (*walk_bytes)(int64_t levels);
    bool (*walk)(const lacis_nbody *system, nbody_worker *worker, const nbody_targets *targets, int64_t begin,
                 int64_t end);
    bool (*direct)(const lacis_nbody *system, nbody_worker *worker, const nbody_targets *targets, int64_t begin,
                   int64_t end);
    void (*kick)(lacis_nbody *system, double dt, int64_t begin, int64_t end);
    void (*drift)(lacis_nbody *system, double dt, int64_t begin, int64_t end);
    void (*remember)(lacis_nbody *system, int64_t begin, int64_t end); /* OLD from AX .. AZ */
    /* Sums over bodies [begin, end), and their greatest modulus. */
    void (*figures)(const lacis_nbody *system, int64_t begin, int64_t end, lacis_nbody_figures *out);
    /* A body's acceleration by a direct sum in double, and the sum of moduli of its terms; then as it is. Caller's
     * units. */
    void (*certify)(const lacis_nbody *system, int64_t body, double exact[4], double own[3]);
};

typedef struct nbody_kernels {
    const char *name;
    const nbody_loops *loops[LACIS_NBODY_TYPES];
} nbody_kernels;
extern const nbody_kernels lacis_nbody_kernels_baseline, lacis_nbody_kernels_avx2, lacis_nbody_kernels_avx512;
const nbody_kernels *lacis_nbody_kernels(void);

/* --- system.c */
static inline bool nbody_stopped(const lacis_nbody *system)
{
    return system->host.cancelled != NULL && system->host.cancelled(system->host.context);
}
static inline void *nbody_take(const lacis_nbody_host *host, uint64_t bytes)
{
    return host->alloc(host->context, bytes == 0 ? 1 : bytes);
}
static inline void nbody_give(const lacis_nbody_host *host, void *block)
{
    if (block != NULL) host->free(host->context, block);
}
static inline uint64_t nbody_lines(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}
/* Calls a loop over pieces of [0, n) on the system's threads, asking between them whether to stop. */
typedef void (*nbody_piece)(lacis_nbody *system, void *context, int64_t begin, int64_t end);
lacis_nbody_status lacis_nbody_over(lacis_nbody *system, int64_t n, int64_t piece, nbody_piece fn, void *context);
double lacis_nbody_seconds(void);

/* --- room.c */
uint64_t lacis_nbody_cells_most(int64_t n, int leaf);
lacis_nbody_status lacis_nbody_room_of_tree(lacis_nbody *system);
lacis_nbody_status lacis_nbody_room_of_walks(lacis_nbody *system);

/* --- field.c */
lacis_nbody_status lacis_nbody_prepare(lacis_nbody *system); /* order, tree and body for these positions */
lacis_nbody_status lacis_nbody_forces(lacis_nbody *system, const nbody_targets *targets);

/* --- order.c */
lacis_nbody_status lacis_nbody_box_of(lacis_nbody *system, const void *const place[3], int64_t n, nbody_box *box);
/* Its d-th axis, and half the side where that asks for more; bodies that have left the numbers are at its end. */
void lacis_nbody_axis(nbody_box *box, int d, double lo, double hi);
lacis_nbody_status lacis_nbody_keys(lacis_nbody *system, const void *const place[3], const nbody_box *box, int64_t n,
                                    nbody_pair *pair);
lacis_nbody_status lacis_nbody_units_of(lacis_nbody *system, const nbody_box *box);
lacis_nbody_status lacis_nbody_permute(lacis_nbody *system); /* the columns, as tree.pair says */

/* --- sort.c: by key; stable */
lacis_nbody_status lacis_nbody_sort(lacis_nbody *system, nbody_pair *pair, nbody_pair *spare, int64_t n);
void lacis_nbody_sort_few(nbody_pair *pair, nbody_pair *spare, int64_t n); /* on this thread */
/* Pairs sorted by key: those of one key by the bits of what the bodies have. False: stopped. */
bool lacis_nbody_canonical(const lacis_nbody *system, nbody_pair *pair, nbody_pair *spare, int64_t n);

/* --- insert.c: pairs sorted by what became of them in a tree that bodies are inserted into one by one */
lacis_nbody_status lacis_nbody_insert(lacis_nbody *system, nbody_pair *pair, nbody_pair *spare, int64_t n);
uint64_t lacis_nbody_insert_bytes(int64_t n, int leaf);

/* --- tree.c */
lacis_nbody_status lacis_nbody_grow(lacis_nbody *system,
                                    const nbody_box *box); /* cells from pairs, which it refines */
lacis_nbody_status lacis_nbody_weigh(lacis_nbody *system); /* moments, bottom up */

#endif
