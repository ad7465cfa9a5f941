/* SPDX-License-Identifier: Apache-2.0
 *
 * CONVERT's work between its files: op.c (descriptor, bind, cost) and run.c (the copying).
 */
#ifndef LACIS_OPERATORS_CONVERT_H
#define LACIS_OPERATORS_CONVERT_H

#include "lacis_extend.h"

typedef struct lacis_convert_work {
    const lacis_array *array;
    lacis_batch from;
    int64_t block; /* of the result */
    bool typed;    /* AS was said: fields become dtype */
    lacis_dtype dtype;
    int64_t first; /* lanes that are wanted begin here, call->units of them */
    double bytes;  /* of the result, without padding */
} lacis_convert_work;

static inline lacis_dtype lacis_convert_type(const lacis_convert_work *work, const lacis_batch_part *field)
{
    return work->typed ? work->dtype : field->dtype;
}

/* Lanes [begin, end) of the wanted ones. */
lacis_status lacis_convert_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out);

#endif
