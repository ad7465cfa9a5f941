/* SPDX-License-Identifier: Apache-2.0
 *
 * CONVERT's work between its files: op.c (descriptor, bind, cost), run.c (the copying of batches), symmetric.c
 * (dense symmetric matrices), bodies.c and grid.c.
 */
#ifndef LACIS_OPERATORS_CONVERT_H
#define LACIS_OPERATORS_CONVERT_H

#include "lacis_extend.h"

typedef struct lacis_convert_work {
    const lacis_array *array;
    bool whole; /* it is no batch: of the rest only `bytes` is filled, and symmetric.c, bodies.c or grid.c has the
                 * work */
    lacis_batch from;
    int64_t block; /* of the result */
    bool typed;    /* AS was said: fields become dtype */
    lacis_dtype dtype;
    bool share;    /* fields on which lanes agree are stored once a group */
    int64_t first; /* lanes that are wanted begin here, call->units of them */
    double bytes;  /* of the result, without padding */
} lacis_convert_work;

static inline lacis_dtype lacis_convert_type(const lacis_convert_work *work, const lacis_batch_part *field)
{
    return work->typed ? work->dtype : field->dtype;
}

/* Lanes of the operand that the result's group g holds: `lanes` of group `source`, from `skip` on. */
typedef struct lacis_convert_lanes_of {
    int64_t source, skip, lanes;
} lacis_convert_lanes_of;

/* share.c: whether in each of these groups all lanes have the same bits in the field. */
lacis_status lacis_convert_agree(lacis_run *run, const lacis_batch *batch, const lacis_batch_part *field,
                                 const lacis_convert_lanes_of *group, int64_t groups, bool *out);

/* Types in the order of AS. */
extern const lacis_dtype lacis_convert_types[6];
/* The clauses of what has one layout and is of F32 or F64 ("bodies are"); says `layout` where another is asked for.
 */
lacis_status lacis_convert_bind_reals(lacis_run *run, const lacis_call *call, const char *noun, const char *layout,
                                      lacis_dtype *dtype);

/* symmetric.c */
lacis_status lacis_convert_bind_symmetric(lacis_run *run, lacis_call *call, const lacis_array *array);
lacis_status lacis_convert_explain_symmetric(const lacis_call *call, lacis_lines *lines);
lacis_status lacis_convert_run_symmetric(lacis_run *run, const lacis_call *call, lacis_array **out);

/* bodies.c */
lacis_status lacis_convert_bind_bodies(lacis_run *run, lacis_call *call, const lacis_array *array);
lacis_status lacis_convert_explain_bodies(const lacis_call *call, lacis_lines *lines);
lacis_status lacis_convert_run_bodies(lacis_run *run, const lacis_call *call, lacis_array **out);

/* grid.c */
lacis_status lacis_convert_bind_grid(lacis_run *run, lacis_call *call, const lacis_array *array);
lacis_status lacis_convert_explain_grid(const lacis_call *call, lacis_lines *lines);
lacis_status lacis_convert_run_grid(lacis_run *run, const lacis_call *call, lacis_array **out);

/* Lanes [begin, end) of the wanted ones. */
lacis_status lacis_convert_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out);

#endif
