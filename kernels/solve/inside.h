/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of kernels/solve share: tiles (lanes solved side by side) and the loops over them that each
 * instruction set offers.
 */
#ifndef LACIS_KERNELS_SOLVE_INSIDE_H
#define LACIS_KERNELS_SOLVE_INSIDE_H

#include "solve/solve.h"

#include <stddef.h>

#define LACIS_ISA_GLUE2(name, isa) name##_##isa
#define LACIS_ISA_GLUE(name, isa)  LACIS_ISA_GLUE2(name, isa)
#define LACIS_ISA(name)            LACIS_ISA_GLUE(name, LACIS_ISA_NAME)

enum {
    SOLVE_VECTOR_BYTES = 64, /* lanes of a narrow tile, in elements as computed; AVX2 and SSE take it in pieces */
    SOLVE_WIDE = 4,          /* narrow tiles in a wide one: enough to hide the latency of a row */
    SOLVE_LANES = 64,        /* of the widest tile (f32) */
    SOLVE_CHUNK = 16         /* rows that are brought into shape at a time: a line of floats */
};

typedef enum solve_role { SOLVE_LOWER, SOLVE_DIAGONAL, SOLVE_UPPER, SOLVE_RHS, SOLVE_ROLES } solve_role;

/* How a tile's lanes of one field lie. */
typedef enum solve_mode {
    SOLVE_DIRECT, /* side by side as computed: used where they are */
    SOLVE_PAIRS,  /* side by side, but stored in another type or as complex pairs */
    SOLVE_SPLAT,  /* one element for all lanes */
    SOLVE_TURN,   /* each lane's rows side by side: transposed in registers */
    SOLVE_GATHER  /* anything else, lanes of different lengths as well: one by one */
} solve_mode;
typedef struct solve_view {
    solve_mode mode;
    int64_t step;                   /* elements from row to row; but GATHER */
    char *at;                       /* row 0: DIRECT, PAIRS, SPLAT */
    char *lane[SOLVE_LANES];        /* row 0 of each lane: TURN, GATHER */
    int64_t lane_step[SOLVE_LANES]; /* GATHER */
} solve_view;

/* What is known of the shapes of trees: by row of all groups, its highest child, or -1. */
typedef struct solve_tree {
    const int32_t *parent, *last;
} solve_tree;

/* A matrix that its lanes share, factored: by row, as computed. */
typedef struct solve_factor {
    void *off; /* chains: lower; trees: upper */
    void *w, *q;
} solve_factor;

typedef struct solve_tile {
    int lanes;    /* in use; the others compute along on rows of the identity */
    bool past;    /* x is more than caches hold */
    int64_t rows; /* of the longest lane */
    int64_t lane_rows[SOLVE_LANES];
    solve_view in[SOLVE_ROLES], x;
    solve_tree tree;              /* from the group's first row on */
    const solve_factor *factor;   /* NULL: each lane has its own matrix */
    void *q, *y, *z;              /* rows x lanes each, as computed (complex: two planes a row); z: trees */
    void *stage[SOLVE_ROLES + 1]; /* SOLVE_CHUNK rows each */
} solve_tile;

/* Solves a tile. False: some lane may be bad; which and why solve_find tells. */
typedef bool (*solve_fn)(const solve_tile *tile);
typedef enum solve_width { SOLVE_WIDTH_ONE, SOLVE_WIDTH_NARROW, SOLVE_WIDTH_WIDE, SOLVE_WIDTHS } solve_width;
typedef struct solve_loops {
    solve_fn chain[SOLVE_WIDTHS], tree[SOLVE_WIDTHS];
    solve_fn chain_factored[SOLVE_WIDTHS], tree_factored[SOLVE_WIDTHS]; /* complex: NULL */
    int lanes[SOLVE_WIDTHS];
} solve_loops;
typedef struct solve_kernels {
    const char *name;
    const solve_loops *loops[LACIS_SOLVE_TYPES];
} solve_kernels;
extern const solve_kernels lacis_solve_kernels_baseline, lacis_solve_kernels_avx2, lacis_solve_kernels_avx512;
const solve_kernels *lacis_solve_kernels(void);

/* Lanes of groups that one tile takes: all of one group, or chains of several. */
typedef struct solve_lane {
    const lacis_solve_group *group;
    int64_t lane; /* within it */
} solve_lane;

/* tile.c: lanes [lane, lane + count) of one group. */
void lacis_solve_tile_of(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, int count,
                         int width, solve_tile *out);
/* Chains of any groups. */
void lacis_solve_tile_mixed(const lacis_solve_job *job, const solve_lane *lanes, int count, solve_tile *out);
/* Whether `count` lanes from `lane` on lie side by side or lane behind lane in every field. */
bool lacis_solve_smooth(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, int count);
static inline int lacis_solve_computed_bytes(lacis_solve_type type)
{
    return type == LACIS_SOLVE_F32 ? 4 : 8;
}

/* check.c: one lane by plain loops, in the same steps. `scratch` holds SOLVE_SCRATCH doubles a row. */
enum { SOLVE_SCRATCH = 2 };
/* Its status word. */
int64_t lacis_solve_find(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, double *scratch);
/* The same of the shared matrix of a group without any right side, which is factored into *out (its arrays are
 * there).
 */
int64_t lacis_solve_factor(const lacis_solve_job *job, const lacis_solve_group *group, const solve_factor *out,
                           double *scratch);
void lacis_solve_residual(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, double *scratch);

/* How far a row may miss dominance: its elements mostly are sums that were rounded. */
#define SOLVE_SLACK_F64 (1 + 1e-12)
#define SOLVE_SLACK_F32 (1 + 1e-5F)

#endif
