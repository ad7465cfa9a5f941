/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER a TO k on the GPU: rounds.c's products one after the other for a block of sources, R in loose rows on the
 * device between them. Integers are as wide as 64 bits there but for counts of a last round; whether a round's sums
 * can overflow is told by the greatest value of R. Called by gpu.c.
 */
#include "power/gpu.h"

#ifdef LACIS_GPU_KERNELS

/* The present R: rows of the graph at first, then blocks of its own. */
struct present {
    struct lacis_power_device_rows own; /* nothing while R is the graph's rows */
    uint64_t room;                      /* of own.column, own.value */
    lacis_mul_matrix rows;              /* what the next round reads, values as storage says */
    lacis_dtype storage, dtype;         /* PATTERN: all 1 */
};

static lacis_status types_of(struct lacis_power_gpu *on, const struct present *present, int64_t round,
                             lacis_product *out)
{
    static const int64_t some_value = 1;
    const lacis_power *work = on->work;
    *out = (lacis_product){.spec = work->spec};
    out->spec.a = work->a;
    out->spec.a.dtype = present->dtype;
    out->spec.a.value = present->rows.value == NULL ? NULL : &some_value;
    if (work->walks && round > 2) {
        out->spec.form = LACIS_MUL_CON_A;
        out->spec.agg = LACIS_AGG_SUM;
    }
    out->a = out->spec.a;
    out->b = out->spec.b;
    return lacis_product_types(on->run, out);
}

static lacis_dtype narrowest_count(uint64_t most)
{
    return most <= UINT8_MAX ? LACIS_U8 : most <= UINT16_MAX ? LACIS_U16 : most <= UINT32_MAX ? LACIS_U32 : LACIS_I64;
}

static bool uses_r(lacis_mul_con con)
{
    return con == LACIS_MUL_CON_STRIPS || con == LACIS_MUL_CON_A || con == LACIS_MUL_CON_ADD ||
           con == LACIS_MUL_CON_MUL;
}

static bool uses_graph(lacis_mul_con con)
{
    return con == LACIS_MUL_CON_STRIPS || con == LACIS_MUL_CON_B || con == LACIS_MUL_CON_ADD ||
           con == LACIS_MUL_CON_MUL;
}

/* R's values in the type of the round; *made is a block to be freed, or NULL. */
static lacis_status as_type(struct lacis_power_gpu *on, const struct present *present, lacis_mul_type type,
                            const void **out, void **made)
{
    *made = NULL;
    *out = present->rows.value;
    if (*out == NULL) return LACIS_OK;
    if (present->own.begin == NULL) return lacis_power_gpu_values(on, type, out);
    if (lacis_mul_storage_of(present->storage) == lacis_power_storage_of(type)) return LACIS_OK;
    LACIS_TRY(lacis_power_gpu_alloc(on, present->room * lacis_power_type_bytes(type), made));
    *out = *made;
    int error = lacis_mul_gpu_convert(present->rows.value, lacis_mul_storage_of(present->storage), present->room,
                                      *made, lacis_power_storage_of(type), on->stream);
    return error == 0 ? LACIS_OK : lacis_gpu_failed(on->run, on->gpu, error);
}

/* Finds R's greatest value and longest row, and from them whether sums can overflow and how counts are stored. */
static lacis_status judge(struct lacis_power_gpu *on, lacis_mul_gpu_job *job, int64_t round, bool last)
{
    lacis_mul_gpu_facts facts;
    double most = 1;
    lacis_mul_matrix rows = job->a;
    if (!uses_r(job->con_kind) || job->written != NULL) rows.value = NULL;
    LACIS_TRY(lacis_power_gpu_look(on, &rows, &facts));
    job->max_degree_a = facts.degree;
    if (job->agg == LACIS_MUL_COUNT) {
        bool only = last && round == 2; /* all blocks of sources alike */
        job->storage =
            only ? lacis_mul_storage_of(narrowest_count(on->work->first.job.max_degree_a)) : LACIS_MUL_TO_I64;
        return LACIS_OK;
    }
    if (job->type != LACIS_MUL_I64) return LACIS_OK;
    if (job->written != NULL) return LACIS_OK; /* looks for itself */
    double a = uses_graph(job->con_kind) && job->b.value != NULL ? (double)on->facts.most : 1;
    LACIS_TRY(lacis_power_gpu_guard(on, job->con_kind, (double)facts.most, a, &most));
    job->checked = job->agg == LACIS_MUL_SUM && most * (double)facts.degree >= 4611686018427387904.0; /* 2^62 */
    return LACIS_OK;
}

static void fill_job(struct lacis_power_gpu *on, const lacis_product *product, bool last, lacis_mul_gpu_job *out)
{
    lacis_mul_type type = product->job.type;
    bool average = product->job.agg == LACIS_MUL_AVG && type != LACIS_MUL_C128;
    *out = (lacis_mul_gpu_job){.con_kind = product->job.con_kind,
                               .agg = product->job.agg,
                               .type = type,
                               .storage = average ? LACIS_MUL_TO_F64 : lacis_power_storage_of(type),
                               .ordered = lacis_run_deterministic(on->run),
                               .t_hi = on->a.cols,
                               .compact = last,
                               .stream = on->stream,
                               .memory = on->memory};
}

static lacis_dtype dtype_of_storage(lacis_mul_storage storage)
{
    static const lacis_dtype dtype[] = {
        [LACIS_MUL_TO_U8] = LACIS_U8,   [LACIS_MUL_TO_U16] = LACIS_U16,  [LACIS_MUL_TO_U32] = LACIS_U32,
        [LACIS_MUL_TO_I32] = LACIS_I32, [LACIS_MUL_TO_I64] = LACIS_I64,  [LACIS_MUL_TO_F32] = LACIS_F32,
        [LACIS_MUL_TO_F64] = LACIS_F64, [LACIS_MUL_TO_C128] = LACIS_C128};
    return dtype[storage];
}

/* The product takes R's place. */
static void replace(struct lacis_power_gpu *on, struct present *present, const lacis_mul_gpu_job *job,
                    lacis_dtype dtype, const lacis_mul_gpu_output *out)
{
    lacis_power_gpu_drop(on, &present->own);
    present->own = (struct lacis_power_device_rows){out->begin, out->end,     out->column,
                                                    out->value, out->entries, dtype_of_storage(job->storage)};
    present->room = out->room;
    present->storage = present->own.storage;
    present->dtype = dtype;
    present->rows.begin = out->begin;
    present->rows.end = out->end;
    present->rows.column = out->column;
    present->rows.value = out->value;
}

static lacis_status product_of(struct lacis_power_gpu *on, struct present *present, lacis_mul_gpu_job *job,
                               lacis_dtype dtype)
{
    lacis_mul_gpu_output out = {NULL};
    uint64_t bytes = sizeof(int64_t) * (uint64_t)present->rows.rows;
    lacis_status status = lacis_power_gpu_alloc(on, bytes, &out.begin);
    if (status == LACIS_OK) status = lacis_power_gpu_alloc(on, bytes, &out.end);
    if (status == LACIS_OK) {
        lacis_mul_gpu_status done = lacis_mul_gpu_run(job, NULL, 0, present->rows.rows, &out);
        status = lacis_power_gpu_status(on, done, out.cuda_error);
    }
    if (status == LACIS_OK) {
        on->out->products += out.products;
        replace(on, present, job, dtype, &out);
        return LACIS_OK;
    }
    lacis_gpu_free(on->gpu, out.begin);
    lacis_gpu_free(on->gpu, out.end);
    return status;
}

/* What a fold computes in, and CON watched for overflow and converted to that, as MULTIPLY has it. */
static void set_type(lacis_product *product)
{
    lacis_mul_job *job = &product->job;
    bool fold = job->agg == LACIS_MUL_FOLD,
         both = job->con_kind == LACIS_MUL_CON_ADD || job->con_kind == LACIS_MUL_CON_MUL;
    job->type = lacis_mul_type_of(fold ? product->dtype : product->con_dtype);
    if (!fold || !both) return;
    product->strips.form = job->con_kind;
    product->strips.form_type = product->con_dtype;
    job->con_kind = LACIS_MUL_CON_STRIPS;
}

/* Operands' values as written functions take them. */
static lacis_status write_functions(struct lacis_power_gpu *on, const struct present *present, lacis_product *product,
                                    int64_t first, lacis_mul_gpu_job *job, lacis_mul_gpu_written *kernels)
{
    job->a.type = lacis_mul_type_of(lacis_slot_dtype(present->dtype));
    job->b.type = lacis_mul_type_of(lacis_slot_dtype(on->work->a.dtype));
    job->checked = job->agg == LACIS_MUL_SUM && job->type == LACIS_MUL_I64; /* decides which kernels there are */
    return lacis_power_gpu_compile(on, product, first, job, kernels);
}

static lacis_status advance(struct lacis_power_gpu *on, struct present *present, int64_t first, int64_t round)
{
    lacis_product product;
    lacis_mul_gpu_written kernels;
    lacis_mul_gpu_job job;
    void *made = NULL;
    bool last = round == on->work->rounds;
    LACIS_TRY(types_of(on, present, round, &product));
    set_type(&product);
    fill_job(on, &product, last, &job);
    job.a = present->rows;
    job.b = on->a;
    job.a.type = job.b.type = job.type;
    if (lacis_mul_gpu_semiring_written(&job))
        LACIS_TRY(write_functions(on, present, &product, first, &job, &kernels));
    if (!uses_r(job.con_kind)) job.a.value = NULL;
    if (!uses_graph(job.con_kind)) job.b.value = NULL;
    if (job.b.value != NULL) LACIS_TRY(lacis_power_gpu_values(on, job.b.type, &job.b.value));
    if (job.b.value != NULL && job.type == LACIS_MUL_I64 && job.written == NULL)
        LACIS_TRY(lacis_power_gpu_graph_facts(on, LACIS_MUL_I64));
    lacis_status status = job.a.value == NULL ? LACIS_OK : as_type(on, present, job.a.type, &job.a.value, &made);
    if (status == LACIS_OK) status = judge(on, &job, round, last);
    if (status == LACIS_OK) status = product_of(on, present, &job, product.dtype);
    lacis_gpu_free(on->gpu, made);
    return status;
}

lacis_status lacis_power_gpu_rounds(struct lacis_power_gpu *on, int64_t first, int64_t count,
                                    struct lacis_power_device_rows *out)
{
    const lacis_power *work = on->work;
    struct present present = {.rows = on->a, .storage = on->storage, .dtype = work->a.dtype};
    lacis_status status = LACIS_OK;
    present.rows.rows = count;
    present.rows.begin = on->start_begin + first;
    present.rows.end = on->start_end + first;
    for (int64_t round = 2; status == LACIS_OK && round <= work->rounds; round++) {
        if (lacis_run_cancelled(on->run)) status = lacis_run_interrupted(on->run);
        lacis_run_progress(on->run, "powers", (double)round / (double)work->rounds);
        if (status == LACIS_OK) status = advance(on, &present, first, round);
        if (status == LACIS_OK && present.own.entries == 0) break;
    }
    on->out->done = work->rounds;
    if (status != LACIS_OK) {
        lacis_power_gpu_drop(on, &present.own);
        return status;
    }
    *out = present.own;
    return LACIS_OK;
}

#endif
