/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of POWER's variant "gpu" share: one run on the device. LACIS_LIMIT without a message among them
 * means that the device has no room, and fewer sources at a time may do.
 */
#ifndef LACIS_OPERATORS_POWER_GPU_H
#define LACIS_OPERATORS_POWER_GPU_H

#include "multiply/gpu_closure.h"
#include "power/power.h"

struct lacis_power_gpu {
    lacis_run *run;
    lacis_gpu *gpu;
    lacis_power *work;
    lacis_power_rows *out;
    lacis_mul_matrix a;                    /* the graph on the device, rows where columns are */
    lacis_dtype storage;                   /* of its values */
    uint64_t places;                       /* of its column and value */
    void *values[LACIS_MUL_C128 + 1];      /* the graph's values in other types */
    lacis_labels sources;                  /* of this run */
    bool written;                          /* CON or AGG is not built in */
    const lacis_mul_gpu_written *compiled; /* its kernels, while a job runs them */
    bool looked;                           /* facts is known */
    lacis_mul_gpu_facts facts;
    int64_t *start_begin, *start_end; /* of all sources of this run */
    void *stream;
    lacis_mul_gpu_memory memory;
    int64_t blocks, pushed, multiplied;
};

/* Rows on the device, in blocks of their own. */
struct lacis_power_device_rows {
    int64_t *begin, *end;
    uint32_t *column;
    void *value;
    uint64_t entries;
    lacis_dtype storage;
};

static inline uint64_t lacis_power_type_bytes(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : type == LACIS_MUL_C128 ? 16 : 8;
}

static inline lacis_mul_storage lacis_power_storage_of(lacis_mul_type type)
{
    static const lacis_mul_storage storage[] = {[LACIS_MUL_I32] = LACIS_MUL_TO_I32,
                                                [LACIS_MUL_I64] = LACIS_MUL_TO_I64,
                                                [LACIS_MUL_F32] = LACIS_MUL_TO_F32,
                                                [LACIS_MUL_F64] = LACIS_MUL_TO_F64,
                                                [LACIS_MUL_C128] = LACIS_MUL_TO_C128};
    return storage[type];
}

static inline lacis_dtype lacis_power_dtype_of(lacis_mul_type type)
{
    static const lacis_dtype dtype[] = {[LACIS_MUL_I32] = LACIS_I32,
                                        [LACIS_MUL_I64] = LACIS_I64,
                                        [LACIS_MUL_F32] = LACIS_F32,
                                        [LACIS_MUL_F64] = LACIS_F64};
    return dtype[type];
}

/* gpu_graph.c: the graph as it is; and to the device, into *on. */
lacis_mul_matrix lacis_power_host_graph(const lacis_power *work);
lacis_status lacis_power_gpu_send(struct lacis_power_gpu *on);

/* gpu_cost.c */
lacis_status lacis_power_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                  lacis_cost *out);

/* gpu_result.c: room for the whole result as address space, once its type is known: that of the first block with
 * entries; and the rows of sources [first, first + count) behind what is there. */
lacis_status lacis_power_gpu_result(struct lacis_power_gpu *on, lacis_dtype storage);
lacis_status lacis_power_gpu_fetch(struct lacis_power_gpu *on, int64_t first, int64_t count,
                                   struct lacis_power_device_rows *from);

/* gpu.c */
lacis_status lacis_power_gpu_status(struct lacis_power_gpu *on, lacis_mul_gpu_status status, int cuda_error);
lacis_status lacis_power_gpu_alloc(struct lacis_power_gpu *on, uint64_t bytes, void *out_pointer);
void lacis_power_gpu_drop(struct lacis_power_gpu *on, struct lacis_power_device_rows *rows);
/* The greatest absolute value of CON where those of R and of the graph are r and a; LACIS_UNSUPPORTED where 62 bits
 * might not hold what it computes. */
lacis_status lacis_power_gpu_guard(struct lacis_power_gpu *on, lacis_mul_con con, double r, double a, double *most);
/* The graph's values as `type`, made once. */
lacis_status lacis_power_gpu_values(struct lacis_power_gpu *on, lacis_mul_type type, const void **out);
lacis_status lacis_power_gpu_look(struct lacis_power_gpu *on, const lacis_mul_matrix *rows, lacis_mul_gpu_facts *out);
/* Fills on->facts of the graph's values, once. */
lacis_status lacis_power_gpu_graph_facts(struct lacis_power_gpu *on, lacis_mul_type type);

/* Written CON and AGG, of a product whose types are known, into *job; kernels must stay while the job is used. */
lacis_status lacis_power_gpu_compile(struct lacis_power_gpu *on, lacis_product *product, int64_t first,
                                     lacis_mul_gpu_job *job, lacis_mul_gpu_written *kernels);

/* gpu_rounds.c, gpu_closure.c: sources [first, first + count) of the run. */
lacis_status lacis_power_gpu_rounds(struct lacis_power_gpu *on, int64_t first, int64_t count,
                                    struct lacis_power_device_rows *out);
lacis_status lacis_power_gpu_closure(struct lacis_power_gpu *on, int64_t first, int64_t count,
                                     struct lacis_power_device_rows *out);
/* How many sources a block is begun with. */
int64_t lacis_power_gpu_closure_rows(struct lacis_power_gpu *on, int64_t rows);

#endif
