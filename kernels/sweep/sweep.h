/* SPDX-License-Identifier: Apache-2.0
 *
 * Stencil sweeps over grids of one to three dimensions: every cell's next value from the values around it, for all
 * cells at once, step after step (Jacobi's way). Raw pointers and sizes only; operators/sweep fills a
 * lacis_sweep_start and goes on with the system that it gives. gpu.h has the same on a CUDA device.
 *
 * Fields lie x fastest: cell (x, y, z) of extents nx, ny, nz is element (z ny + y) nx + x. Fields that move are
 * 0 .. fields-1, all updated together from the step before; behind them come coefficients, which stay.
 *
 * Rules. A field's next value is
 *   LINEAR   constant + sum over groups of weight (sum of the group's taps), or
 *   WRITTEN  any function of taps, x, y, z and t, that the caller computes for strips of cells (on a device:
 * compiled). A tap is a field's (or coefficient's) value at an offset of at most LACIS_SWEEP_RADIUS along each axis.
 *
 * Bits. The same on every device, for any number of threads, parts and levels in one pass, with these rules, all
 * arithmetic being of the type and rounded once an operation:
 *   A group's taps (one at least) are added pairwise in their order: v0 + v1, v2 + v3 ..., those again pairwise, an
 *   odd last one carried on. Then r = weight0 S0 (constant != 0: fma(weight0, S0, constant)), r = fma(weight_g, S_g,
 * r) for the others. No groups: the constant. Weights and the constant are rounded to the type first. Nothing else is
 *   contracted.
 * Written rules have the bits of their function: no contraction there. NaN is NaN, whatever its sign and payload.
 *
 * Edges, one for each face and moving field; what lies k cells beyond a face (k = 1 .. radius) reads as
 *   HOLD      cells within the reach of the step (its largest offset along the axis, of all taps of all rules, those
 * of coefficients too) from the face keep their values; where another field's cell reads beyond it, it reads CLAMP
 *   CLAMP     the outermost cell
 *   MIRROR    the cell k inside of the outermost one (extent > the reach along the axis)
 *   PERIODIC  the cells of the other side (both faces of the axis; extent >= reach)
 *   AFFINE    fma(b[k-1], the cell k - 1 inside of the outermost one, a[k-1]); b[k-1] 0: a[k-1] alone (fixed values,
 *             Neumann, Robin). a and b are rounded to the type first; extent >= reach
 *   VALUES    element of an array over the face (the other axes' extents, with the halo where these end INNER, lower
 *             axis fastest), for every k
 *   INNER     there are cells, of another part: the caller puts them there. For all fields or none
 * Coefficients read PERIODIC where the axis is so for field 0, else CLAMP; INNER where it is so.
 * Corners: along x first; then along y, of rows that are so continued along x; then along z. An array of VALUES is so
 * continued along the lower axes, too: PERIODIC where its field is, else by its nearest element.
 *
 * Change of a step: max of |d| and sum of d^2, d = new - old formed in the type, over all cells of moving fields that
 * are not held; squared and added in double by tiles, each field's for itself: 32 cells along x by 8 along y of one
 * z, cut at multiples of the whole grid. In a tile the squares of a column are added row after row with fma(d, d,
 * sum) from 0, then the columns pairwise (even and odd x, then those pairs ... five times; cells and columns that are
 * not there, or held, count 0). Tiles are added exactly (lacis_sweep_exact), so that their order does not matter. A d
 * that is NaN makes both NaN.
 */
#ifndef LACIS_KERNELS_SWEEP_H
#define LACIS_KERNELS_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LACIS_SWEEP_RADIUS = 4,
    LACIS_SWEEP_FIELDS = 8,  /* that move */
    LACIS_SWEEP_ARRAYS = 24, /* with coefficients */
    LACIS_SWEEP_FACES = 6,   /* x low, x high, y low ... */
    LACIS_SWEEP_TILE_X = 32,
    LACIS_SWEEP_TILE_Y = 8,
    LACIS_SWEEP_STRIP = 512 /* cells of a written rule at a time */
};

typedef enum lacis_sweep_type { LACIS_SWEEP_F32, LACIS_SWEEP_F64 } lacis_sweep_type;

typedef enum lacis_sweep_status {
    LACIS_SWEEP_OK,
    LACIS_SWEEP_NO_MEMORY,
    LACIS_SWEEP_CANCELLED,
    LACIS_SWEEP_ARITHMETIC,  /* a written rule failed (an integer step) */
    LACIS_SWEEP_UNSUPPORTED, /* GPU */
    LACIS_SWEEP_FAILED       /* GPU: a CUDA call failed: lacis_sweep_gpu_error_code */
} lacis_sweep_status;

typedef struct lacis_sweep_tap {
    int8_t array; /* field, or behind them coefficient */
    int8_t at[3]; /* offsets along x, y, z */
} lacis_sweep_tap;

typedef struct lacis_sweep_linear {
    int groups;
    double constant;
    const double *weight; /* of each group */
    const int *first;     /* groups + 1: its taps, first[g] .. first[g + 1] - 1 */
} lacis_sweep_linear;

/* Cells x .. x + n - 1 (of the whole grid) of row y, z at step t (so many steps have led to the values read), n <=
 * LACIS_SWEEP_STRIP; tap[i] points to the values of tap i for them. False: an integer step failed. Called by any
 * thread; `worker` is below threads. */
typedef bool (*lacis_sweep_cells)(void *context, int worker, int field, int n, const void *const *tap, int64_t x,
                                  int64_t y, int64_t z, int64_t t, void *out);

typedef struct lacis_sweep_rule {
    bool written;
    int taps;
    const lacis_sweep_tap *tap;
    lacis_sweep_linear linear; /* where not written */
} lacis_sweep_rule;

typedef enum lacis_sweep_edge_kind {
    LACIS_SWEEP_HOLD,
    LACIS_SWEEP_CLAMP,
    LACIS_SWEEP_MIRROR,
    LACIS_SWEEP_PERIODIC,
    LACIS_SWEEP_AFFINE,
    LACIS_SWEEP_VALUES,
    LACIS_SWEEP_INNER
} lacis_sweep_edge_kind;
typedef struct lacis_sweep_edge {
    lacis_sweep_edge_kind kind;
    double a[LACIS_SWEEP_RADIUS], b[LACIS_SWEEP_RADIUS];
    const void *values; /* VALUES: of the part's face, of the type; read during _new alone */
} lacis_sweep_edge;

typedef struct lacis_sweep_host {
    void *(*alloc)(void *context, uint64_t bytes); /* 64-byte aligned, from any thread; NULL: no memory */
    void (*free)(void *context, void *block);
    bool (*cancelled)(void *context); /* NULL: never. Asked from any thread */
    void *context;
} lacis_sweep_host;

/* A system as it begins. Arrays are read during _new alone; rules and their tables must stay. */
typedef struct lacis_sweep_start {
    lacis_sweep_type type;
    int dims;
    int64_t extent[3];           /* of this part; 1 beyond dims */
    int64_t whole[3], origin[3]; /* of the whole grid, and where the part begins in it; whole[0] 0: all of it */
    int64_t halo[3]; /* INNER: cells of neighbours kept along each axis, a multiple of the reach; else not read */
    int fields, coefficients;
    const void *array[LACIS_SWEEP_ARRAYS]; /* `extent` cells each */
    lacis_sweep_rule rule[LACIS_SWEEP_FIELDS];
    lacis_sweep_cells cells; /* of written rules */
    void *cells_context;
    lacis_sweep_edge edge[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES];
    int64_t t;  /* of the values as they begin */
    int levels; /* steps in one pass over memory; 1: one by one; 0: as is best */
    int threads;
    int64_t cache; /* bytes of a core's cache that a pass is cut for; 0: as this machine has. No bits depend on it */
    lacis_sweep_host host;
} lacis_sweep_start;

/* A sum of doubles without rounding, the same in any order (Kulisch): digits of 32 bits with room for carries. It
 * may be added element by element as 64-bit integers, over ranks too. */
enum { LACIS_SWEEP_DIGITS = 68 };
typedef struct lacis_sweep_exact {
    int64_t digit[LACIS_SWEEP_DIGITS]; /* of 2^(32 i - 1088) ; see exact.c */
    int64_t special[3];                /* how many were infinite, -infinite, NaN */
} lacis_sweep_exact;
void lacis_sweep_exact_add(lacis_sweep_exact *sum, double value);
void lacis_sweep_exact_merge(lacis_sweep_exact *sum, const lacis_sweep_exact *other);
/* Carries: afterwards 2^30 sums may be added element by element. merge does it, and who gives a change away. */
void lacis_sweep_exact_settle(lacis_sweep_exact *sum);
double lacis_sweep_exact_round(const lacis_sweep_exact *sum); /* to the nearest double */

typedef struct lacis_sweep_change {
    double max;
    lacis_sweep_exact squares;
} lacis_sweep_change;
/* Another part's, or device's: max with NaN, squares exactly. */
void lacis_sweep_change_merge(lacis_sweep_change *change, const lacis_sweep_change *other);

typedef struct lacis_sweep_counts {
    double updates; /* cells of moving fields computed, those done twice counted twice */
    double passes, steps;
    int levels; /* of the last pass */
} lacis_sweep_counts;

typedef struct lacis_sweep_box {
    int64_t begin[3], end[3]; /* in cells of the whole grid */
} lacis_sweep_box;

typedef struct lacis_sweep lacis_sweep;

lacis_sweep_status lacis_sweep_new(const lacis_sweep_start *start, lacis_sweep **out);
void lacis_sweep_free(lacis_sweep *system); /* NULL is fine */
/* `steps` steps. change: of the last step (steps > 0); NULL: not wanted. With INNER faces steps times the reach must
 * be within the halo, which is used up: it has to be put anew before the next step. */
lacis_sweep_status lacis_sweep_steps(lacis_sweep *system, int64_t steps, lacis_sweep_change *change);
/* The moving fields of the part, in the start's order; NULL: not wanted. */
void lacis_sweep_read(lacis_sweep *system, void *const *field);
void lacis_sweep_counted(lacis_sweep *system, lacis_sweep_counts *out, bool reset);

/* --- Parts. One step is: update boxes until all of the part (and as much of its halo as later steps need) is
 * covered, then turn. Boxes may reach into the halo of INNER faces, reach cells less with each step since it was
 * filled. Halo cells beyond the whole grid's ends (periodic ones) are numbered on: -1, whole. Updates of one step may
 * run one after the other in any order; with `change` (added to, starts as zeros) boxes must lie in the part and be
 * cut at tiles' borders or the part's ends, parts themselves at tiles' borders. */
lacis_sweep_status lacis_sweep_update(lacis_sweep *system, const lacis_sweep_box *box, lacis_sweep_change *change);
void lacis_sweep_turn(lacis_sweep *system);
/* Boxes of present values of all moving fields (array 0), one behind the other, x fastest; unpack: of halo.
 * Coefficients' halos are put by `array` >= fields once. */
void lacis_sweep_pack(lacis_sweep *system, int array, const lacis_sweep_box *box, void *to);
void lacis_sweep_unpack(lacis_sweep *system, int array, const lacis_sweep_box *box, const void *from);
/* What HOLD, ghosts and further faces need of values that pack and unpack have changed: before the next update. */
void lacis_sweep_refresh(lacis_sweep *system);

/* The reach of the step along each axis. */
void lacis_sweep_reach(const lacis_sweep_start *start, int64_t reach[3]);
/* What cannot be done, as a phrase ("the grid has 2 cells along x, fewer than the 3 that the step reaches"); false:
 * it can. */
bool lacis_sweep_refuses(const lacis_sweep_start *start, char *why, uint64_t size);
/* Bytes that a system takes from host.alloc at most. */
uint64_t lacis_sweep_bytes(const lacis_sweep_start *start);
const char *lacis_sweep_isa(void); /* "avx512", "avx2", "baseline"; LACIS_ISA asks for less */

static inline uint64_t lacis_sweep_size(lacis_sweep_type type)
{
    return type == LACIS_SWEEP_F32 ? 4 : 8;
}

#ifdef __cplusplus
}
#endif

#endif
