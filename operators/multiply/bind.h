/* SPDX-License-Identifier: Apache-2.0
 *
 * From a parsed call to a product: the parts of bind that MULTIPLY and POWER share.
 */
#ifndef LACIS_OPERATORS_BIND_H
#define LACIS_OPERATORS_BIND_H

#include "multiply/product.h"
#include "multiply/send.h"

/* Fills con, form, agg and fold of spec from the clauses CON and AGG with their defaults: neither: a * b, sum; CON
 * nil: count; AGG count: nil; CON alone: sum; another AGG alone: a * b. *nil: CON is nil (or left out under count).
 */
void lacis_bind_functions(const lacis_call *call, lacis_product_spec *spec, bool *nil);
/* The expression behind a keyword ("WHERE"), or NULL. */
lacis_expr *lacis_bind_expr(const lacis_call *call, const char *keyword);

/* What a product would take on the GPU (gpu_cost.c): rows by their number of products. */
typedef enum lacis_gpu_size { LACIS_GPU_FEW, LACIS_GPU_SOME, LACIS_GPU_MANY, LACIS_GPU_SIZES } lacis_gpu_size;
/* How much room its entries get there (gpu_room.c). */
typedef enum lacis_gpu_room_way {
    LACIS_ROOM_BOUNDS,  /* as much as each row can have: one pass */
    LACIS_ROOM_COUNTED, /* a symbolic pass counts them first, of all rows together */
    LACIS_ROOM_SAMPLED, /* the same in panels, as long as a sample says */
    LACIS_ROOM_WAYS
} lacis_gpu_room_way;
typedef struct lacis_gpu_room {
    lacis_gpu_room_way way;
    double bound, entries; /* at most; about */
    double bytes[LACIS_ROOM_WAYS], panels[LACIS_ROOM_WAYS], seconds[LACIS_ROOM_WAYS];
} lacis_gpu_room;

typedef struct lacis_gpu_estimate {
    bool known;
    double rows[LACIS_GPU_SIZES], products[LACIS_GPU_SIZES], seconds[LACIS_GPU_SIZES];
    double kernels, copies, once; /* seconds: of all panels; between host and device; of starting and compiling */
    double to_device, to_host;    /* bytes */
    lacis_gpu_room room;
} lacis_gpu_estimate;

/* MULTIPLY's share of a call's `work`. */
typedef struct lacis_multiply {
    lacis_product product;
    lacis_buffer *row_labels, *col_labels; /* of operands, to be shared */
    lacis_run *run;                        /* for the GPU's can, which is asked without one */
    lacis_sent sent;                       /* to the GPU */
    lacis_gpu_estimate gpu;
} lacis_multiply;
lacis_status lacis_multiply_bind(lacis_run *run, lacis_call *call);
void lacis_multiply_unbind(lacis_run *run, lacis_call *call);

/* op.c, gpu.c, ranks.c */
extern const lacis_variant lacis_multiply_rows, lacis_multiply_gpu, lacis_multiply_ranks, lacis_multiply_ranks_gpu;
extern const lacis_variant lacis_multiply_gpu_pull, lacis_multiply_gpu_push; /* vectors */
/* How other ranks would share the call; nothing where there are none. */
lacis_status lacis_multiply_explain_ranks(lacis_run *run, const lacis_call *call, lacis_lines *lines);

#endif
