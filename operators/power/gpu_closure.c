/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER a UNTIL STABLE on the GPU: closure.c's rounds for a block of sources, all of whose state lies on the device.
 * Three numbers come back a round: how much changed, how many paths start there, how large integers have become;
 * of few sources only every few rounds.
 * Called by gpu.c.
 *
 * Direction: a round pushes along the edges of what changed, each path by an atomic on its cell, or multiplies what
 * changed by the graph with MULTIPLY's kernels and offers the product. The second has more to set up and less to do a
 * path, so it is chosen by how many paths a round has. Pulling (each vertex looks at its predecessors) needs the
 * transposed graph; each edge is pushed along about once a source in all, and a transposed copy costs several times
 * that, so none is made.
 */
#include "power/gpu.h"

#ifdef LACIS_GPU_KERNELS

/* Seconds of a round beside its paths, and of a path: measured on an H200, rmat 16 and 18. */
static const double PUSH_ROUND = 5e-5, PUSH_PATH = 2.0e-11, PRODUCT_ROUND = 2.5e-4, PRODUCT_PATH = 1.2e-11;

/* Values that only say that a path is there need not be wide. */
static bool plain(const struct lacis_power_gpu *on, const lacis_product *product)
{
    return product->job.con_kind == LACIS_MUL_CON_ONE && on->a.value == NULL;
}

static lacis_status types_of(struct lacis_power_gpu *on, lacis_product *product)
{
    static const int64_t some_value = 1;
    const lacis_power *work = on->work;
    *product = (lacis_product){.spec = work->spec};
    product->spec.a = work->a;
    product->spec.a.dtype = work->type;
    product->spec.a.value = &some_value;
    product->a = product->spec.a;
    product->b = product->spec.b;
    return lacis_product_types(on->run, product);
}

int64_t lacis_power_gpu_closure_rows(struct lacis_power_gpu *on, int64_t rows)
{
    lacis_mul_type type = lacis_mul_type_of(on->work->type);
    uint64_t cols = (uint64_t)on->work->a.cols, result = cols * (sizeof(uint32_t) + lacis_power_type_bytes(type));
    uint64_t row = lacis_mul_gpu_closure_row_bytes(on->work->a.cols, type) + 2 * result + 64;
    uint64_t fit = lacis_gpu_memory_left(on->gpu) / 10 * 9 / row;
    return fit < 1 ? 1 : fit < (uint64_t)rows ? (int64_t)fit : rows;
}

/* One block of sources as it goes on. */
struct block {
    struct lacis_power_gpu *on;
    lacis_mul_gpu_closure state;
    lacis_mul_gpu_job job;
    lacis_mul_gpu_written kernels; /* of a written CON */
    int64_t *begin, *end;          /* of products */
    lacis_mul_gpu_changes changes;
    bool pushes; /* it may push */
};

static lacis_status look(struct block *block)
{
    lacis_mul_gpu_status status = lacis_mul_gpu_closure_look(&block->state, &block->changes);
    return lacis_power_gpu_status(block->on, status, block->state.cuda_error);
}

static lacis_status push(struct block *block)
{
    block->on->pushed++;
    lacis_mul_gpu_status status = lacis_mul_gpu_closure_push(&block->state, &block->changes);
    return lacis_power_gpu_status(block->on, status, block->state.cuda_error);
}

static lacis_status multiply(struct block *block)
{
    struct lacis_power_gpu *on = block->on;
    lacis_mul_matrix delta;
    lacis_mul_gpu_output product = {.begin = block->begin, .end = block->end};
    on->multiplied++;
    lacis_mul_gpu_status status = lacis_mul_gpu_closure_rows(&block->state, &block->changes, &delta);
    LACIS_TRY(lacis_power_gpu_status(on, status, block->state.cuda_error));
    block->job.a = delta;
    status = lacis_mul_gpu_run(&block->job, NULL, 0, block->state.rows, &product);
    lacis_status answer = lacis_power_gpu_status(on, status, product.cuda_error);
    if (answer == LACIS_OK) {
        status = lacis_mul_gpu_closure_offer(&block->state, block->begin, block->end, product.column, product.value);
        answer = lacis_power_gpu_status(on, status, block->state.cuda_error);
        lacis_gpu_free(on->gpu, product.column);
        lacis_gpu_free(on->gpu, product.value);
    }
    lacis_gpu_free(on->gpu, (void *)delta.begin);
    return answer;
}

/* Whether pushing is the cheaper way for what changed. */
static bool push_pays(const struct block *block)
{
    const uint64_t most = (uint64_t)1 << 31; /* a list's places are numbered in 32 bits */
    double paths = (double)block->changes.products;
    if (!block->pushes || block->changes.entries >= most || block->changes.products >= most) return false;
    return PUSH_ROUND + PUSH_PATH * paths <= PRODUCT_ROUND + PRODUCT_PATH * paths;
}

static lacis_status guard(const struct block *block, const lacis_mul_gpu_changes *changes)
{
    const uint64_t end = (uint64_t)1 << 62; /* cells cannot hold all integers */
    double most;
    if (block->job.type == LACIS_MUL_F32 || block->job.type == LACIS_MUL_F64) return LACIS_OK;
    if (changes->most >= end) return lacis_run_fail(block->on->run, LACIS_UNSUPPORTED, "values of more than 62 bits");
    return lacis_power_gpu_guard(block->on, block->job.con_kind, (double)changes->most, (double)block->on->facts.most,
                                 &most);
}

/* Before round `round`: whether it is wanted. */
static lacis_status go_on(const struct block *block, int64_t round, bool *yes)
{
    struct lacis_power_gpu *on = block->on;
    const lacis_power *work = on->work;
    int64_t most = work->a.rows > work->a.cols ? work->a.rows : work->a.cols;
    *yes = work->rounds == 0 || round < work->rounds;
    if (lacis_run_cancelled(on->run)) return lacis_run_interrupted(on->run);
    lacis_run_progress(on->run, "closure", on->out->share);
    return *yes && work->rounds == 0 && round > most ? lacis_power_endless(on->run, work, round) : LACIS_OK;
}

/* Rounds in small batches, of which only what changed is waited for; of integers that have become too large by then
 * nothing is used. */
static lacis_status settle_batches(struct block *block, int64_t *round)
{
    struct lacis_power_gpu *on = block->on;
    lacis_mul_gpu_changes before[LACIS_MUL_GPU_ROUNDS];
    for (bool yes = true;;) {
        LACIS_TRY(go_on(block, *round, &yes));
        if (!yes) return LACIS_OK;
        int64_t left = on->work->rounds == 0 ? LACIS_MUL_GPU_ROUNDS : on->work->rounds - *round;
        int batch = left < LACIS_MUL_GPU_ROUNDS ? (int)left : LACIS_MUL_GPU_ROUNDS;
        lacis_mul_gpu_status status = lacis_mul_gpu_closure_pushes(&block->state, batch, before);
        LACIS_TRY(lacis_power_gpu_status(on, status, block->state.cuda_error));
        for (int i = 0; i < batch; i++, ++*round) {
            if (before[i].entries == 0) return LACIS_OK;
            LACIS_TRY(guard(block, &before[i]));
            on->out->products += before[i].products;
            on->pushed++;
        }
    }
}

static lacis_status settle(struct block *block, int64_t *round)
{
    struct lacis_power_gpu *on = block->on;
    LACIS_TRY(look(block));
    for (; block->changes.entries > 0; ++*round) {
        bool yes;
        LACIS_TRY(go_on(block, *round, &yes));
        if (!yes) break;
        LACIS_TRY(guard(block, &block->changes));
        on->out->products += block->changes.products;
        LACIS_TRY(push_pays(block) ? push(block) : multiply(block));
        LACIS_TRY(look(block));
    }
    return LACIS_OK;
}

/* CON takes the graph's values in the type of its slot, and gives what cells hold. */
static lacis_status prepare_written(struct block *block, lacis_product *product, int64_t first)
{
    struct lacis_power_gpu *on = block->on;
    block->job.a.type = block->job.type;
    block->job.b.type = lacis_mul_type_of(lacis_slot_dtype(on->work->a.dtype));
    LACIS_TRY(lacis_power_gpu_values(on, block->job.b.type, &block->job.b.value));
    return lacis_power_gpu_compile(on, product, first, &block->job, &block->kernels);
}

/* Cells and products of `type`; reachability is as well the least of ones, which atomics know. */
static void fill(struct block *block, const lacis_product *product, lacis_mul_type type, const void *value)
{
    struct lacis_power_gpu *on = block->on;
    lacis_mul_agg agg = plain(on, product) ? LACIS_MUL_MIN : product->job.agg;
    lacis_mul_matrix graph_of_type = on->a;
    graph_of_type.value = value;
    graph_of_type.type = type;
    block->state.a = graph_of_type;
    block->state.entries = on->places;
    block->state.con = product->job.con_kind;
    block->state.agg = agg;
    block->state.type = type;
    block->state.stream = on->stream;
    block->state.memory = on->memory;
    block->job = (lacis_mul_gpu_job){.b = graph_of_type,
                                     .con_kind = product->job.con_kind,
                                     .agg = agg,
                                     .type = type,
                                     .storage = lacis_power_storage_of(type),
                                     .t_hi = on->a.cols,
                                     .stream = on->stream,
                                     .memory = on->memory};
}

static lacis_status begin_block(struct block *block, int64_t first, int64_t count)
{
    struct lacis_power_gpu *on = block->on;
    lacis_product product;
    const void *value;
    LACIS_TRY(types_of(on, &product));
    bool written = product.job.con_kind == LACIS_MUL_CON_STRIPS;
    lacis_mul_type type = plain(on, &product) ? LACIS_MUL_I32 : lacis_mul_type_of(on->work->type);
    LACIS_TRY(lacis_power_gpu_values(on, type, &value));
    LACIS_TRY(lacis_power_gpu_graph_facts(on, type));
    fill(block, &product, type, value);
    block->state.rows = count;
    block->pushes = !written && block->state.agg != LACIS_MUL_FIRST && on->facts.finite;
    if (written) LACIS_TRY(prepare_written(block, &product, first));
    uint64_t rows = sizeof(int64_t) * (uint64_t)count;
    LACIS_TRY(lacis_power_gpu_alloc(on, rows, &block->begin));
    LACIS_TRY(lacis_power_gpu_alloc(on, rows, &block->end));
    lacis_mul_gpu_status status = lacis_mul_gpu_closure_begin(&block->state);
    if (status == LACIS_MUL_GPU_OK)
        status = lacis_mul_gpu_closure_offer(&block->state, on->start_begin + first, on->start_end + first,
                                             on->a.column, value);
    return lacis_power_gpu_status(on, status, block->state.cuda_error);
}

/* Whether pushing is the cheaper way however much changes. */
static bool few(const struct block *block)
{
    double rows = (double)block->state.rows, most = (double)LACIS_MUL_GPU_FEW;
    return block->pushes && rows * (double)block->state.entries <= most && rows * (double)block->state.a.cols <= most;
}

static lacis_status take_result(struct block *block, struct lacis_power_device_rows *out)
{
    lacis_mul_gpu_status status = lacis_mul_gpu_closure_result(&block->state, block->begin, block->end, &out->column,
                                                               &out->value, &out->entries);
    LACIS_TRY(lacis_power_gpu_status(block->on, status, block->state.cuda_error));
    out->storage = lacis_power_dtype_of(block->state.type);
    out->begin = block->begin;
    out->end = block->end;
    block->begin = block->end = NULL;
    return LACIS_OK;
}

lacis_status lacis_power_gpu_closure(struct lacis_power_gpu *on, int64_t first, int64_t count,
                                     struct lacis_power_device_rows *out)
{
    struct block block = {.on = on};
    int64_t round = 1;
    lacis_status status = begin_block(&block, first, count);
    if (status == LACIS_OK) status = few(&block) ? settle_batches(&block, &round) : settle(&block, &round);
    if (status == LACIS_OK) status = take_result(&block, out);
    if (round > on->out->done) on->out->done = round;
    lacis_mul_gpu_closure_end(&block.state);
    lacis_gpu_free(on->gpu, block.begin);
    lacis_gpu_free(on->gpu, block.end);
    return status;
}

#endif
