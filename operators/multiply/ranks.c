/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variants "ranks": whether other ranks can share a product, what that would cost, and dealing it. Pieces
 * are rows with about equal products, several a rank; whoever is free takes the next. Rank 0 puts their rows, in
 * whatever order they come, behind each other in one result whose rows lie loose.
 */
#include "multiply/ranks.h"

#include <inttypes.h>
#include <string.h>

/* Less than this is done before the others have heard of it. */
static const uint64_t LEAST_PRODUCTS = 20000000;
/* Pieces a rank: many small ones even out, but each that has operands of its own is bound by itself. */
enum { RANGES_A_RANK = 8 };
/* Parts of a rank's room that a piece's result and a kernel's tables may take. */
enum { RESULT_SHARE = 4, WORK_SHARE = 4 };

/* ----------------------------------------------------------------------------------------- whether */

static const lacis_array *mask_of(const lacis_call *call)
{
    const lacis_arg *mask = lacis_call_arg(call, "MASK");
    return mask == NULL ? NULL : mask->item[1].array;
}

/* A lies on the ranks anyway where it is another operand too. */
static bool has_whole_a(const lacis_call *call)
{
    const lacis_array *a = lacis_dealt_a(call)->array;
    return a == lacis_dealt_b(call)->array || a == mask_of(call);
}

uint64_t lacis_dealt_mask_bytes(const lacis_call *call)
{
    const lacis_array *mask = mask_of(call);
    return mask == NULL ? 0 : lacis_array_bytes(mask);
}

static uint64_t whole_bytes(const lacis_call *call)
{
    const lacis_array *b = lacis_dealt_b(call)->array;
    return lacis_array_bytes(b) + (mask_of(call) == b ? 0 : lacis_dealt_mask_bytes(call));
}

static bool ranks_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_multiply *work = call->work;
    const lacis_product *product = &work->product;
    if (lacis_run_ranks(work->run) == 1) {
        snprintf(reason, size, "there are no other ranks");
        return false;
    }
    if (product->spec.shape != LACIS_PRODUCT_MATRIX) {
        snprintf(reason, size, "products with a vector are done sooner than sent");
        return false;
    }
    if (product->total_products >= LEAST_PRODUCTS || lacis_run_ranks_always(work->run)) return true;
    snprintf(reason, size, "too little work: %" PRIu64 " products, of %" PRIu64 " that it takes to pay",
             product->total_products, LEAST_PRODUCTS);
    return false;
}

static bool ranks_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    return ranks_can(call, reason, size) && lacis_multiply_gpu.can(call, reason, size);
}

/* ------------------------------------------------------------------------------------------- costs */

static double send_seconds(lacis_run *run, const lacis_call *call, double result, int ranks)
{
    const double call_seconds = 1e-2, copy_rate = 4e9; /* some round trips a rank, each until rank 0 looks round */
    double others = ranks - 1, rate = lacis_run_ranks_rate(run);
    const lacis_array *a = lacis_dealt_a(call)->array, *b = lacis_dealt_b(call)->array, *mask = mask_of(call);
    double bytes = 0;
    if (!lacis_run_ranks_hold(run, b)) bytes += others * (double)lacis_array_bytes(b);
    if (mask != NULL && mask != b && !lacis_run_ranks_hold(run, mask))
        bytes += others * (double)lacis_array_bytes(mask);
    if (!has_whole_a(call)) bytes += (double)lacis_array_bytes(a) * others / ranks;
    double back = result * others / ranks;
    return call_seconds + (bytes + back) / rate + result / copy_rate;
}

static lacis_status cost_over(const lacis_variant *local, lacis_run *run, const lacis_call *call,
                              const lacis_profile *profile, lacis_cost *out)
{
    int ranks = lacis_run_ranks(run);
    LACIS_TRY(local->cost(run, call, profile, out));
    out->seconds = out->seconds / ranks + send_seconds(run, call, out->bytes, ranks);
    return LACIS_OK;
}

static lacis_status ranks_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    return cost_over(&lacis_multiply_rows, run, call, profile, out);
}

static lacis_status ranks_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                   lacis_cost *out)
{
    return cost_over(&lacis_multiply_gpu, run, call, profile, out);
}

/* ------------------------------------------------------------------------------------------ borders */

/* What another rank makes of a row at most: in blocks TOP and HAVING are still to come. */
static uint64_t row_bound(const lacis_dealt *dealt, int64_t row)
{
    const lacis_product *product = &dealt->work->product;
    uint64_t products = product->products[row], columns = (uint64_t)product->t.count;
    if (dealt->blocks == 0) return lacis_mul_bound(&product->job, row, products);
    return products < columns ? products : columns;
}

/* One past the last row of the panel that begins at `row`: about `products` of them, a result of surely no more than
 * `bytes`, but for a single row. */
static int64_t panel_end(const lacis_dealt *dealt, int64_t row, uint64_t products, uint64_t bytes)
{
    const lacis_product *product = &dealt->work->product;
    uint64_t sum = 0, used = 0, size = lacis_product_entry_bytes(product);
    do {
        sum += product->products[row] + 1;
        used += size * row_bound(dealt, row);
        row++;
    } while (row < dealt->end && sum < products && used < bytes);
    return row;
}

lacis_status lacis_dealt_panels(lacis_dealt *dealt, int a_rank, uint64_t bytes)
{
    const lacis_product *product = &dealt->work->product;
    uint64_t sum = (uint64_t)(dealt->end - dealt->begin);
    for (int64_t r = dealt->begin; r < dealt->end; r++)
        sum += product->products[r];
    uint64_t products = sum / (uint64_t)(lacis_run_ranks(dealt->run) * a_rank) + 1;
    dealt->panels = 0;
    for (int64_t row = dealt->begin; row < dealt->end; dealt->panels++)
        row = panel_end(dealt, row, products, bytes);
    LACIS_TRY(lacis_run_scratch(dealt->run, sizeof(int64_t) * (uint64_t)(dealt->panels + 1), &dealt->border));
    dealt->border[0] = dealt->begin;
    for (int64_t i = 0; i < dealt->panels; i++)
        dealt->border[i + 1] = panel_end(dealt, dealt->border[i], products, bytes);
    return LACIS_OK;
}

/* ----------------------------------------------------------------------------- pieces into the result */

lacis_status lacis_dealt_append(lacis_dealt *dealt, int64_t row, const lacis_csr *csr)
{
    const lacis_product *product = &dealt->work->product;
    lacis_product_result *result = &dealt->result;
    uint64_t entries = 0, room = lacis_buffer_size(result->column) / sizeof(uint32_t);
    for (int64_t r = 0; r < csr->rows; r++)
        entries += (uint64_t)(csr->end[r] - csr->begin[r]);
    if (row + csr->rows > dealt->end || csr->cols != product->t.count || entries > room - result->used)
        return lacis_run_fail(dealt->run, LACIS_UNSUPPORTED, "a rank answered with rows that were not asked for");
    LACIS_TRY(lacis_product_charge(dealt->run, product, result, entries));
    int64_t *begin = lacis_buffer_data(result->begin), *end = lacis_buffer_data(result->end);
    uint32_t *column = lacis_buffer_data(result->column);
    char *value = lacis_buffer_data(result->value);
    size_t size = lacis_dtype_size(product->storage);
    for (int64_t r = 0; r < csr->rows; r++) {
        int64_t count = csr->end[r] - csr->begin[r], at = (int64_t)result->used, to = row - dealt->begin + r;
        memcpy(column + at, csr->column + csr->begin[r], sizeof *column * (size_t)count);
        if (csr->storage == product->storage) {
            memcpy(value + (size_t)at * size, (const char *)csr->value + (size_t)csr->begin[r] * size,
                   (size_t)count * size);
        } else {
            lacis_values_convert(csr->value, csr->storage, csr->begin[r], count, value + (size_t)at * size,
                                 product->storage);
        }
        begin[to] = at;
        end[to] = at + count;
        result->used += (uint64_t)count;
    }
    result->entries += entries;
    return LACIS_OK;
}

static lacis_status append_array(lacis_dealt *dealt, int64_t panel, const lacis_array *array)
{
    lacis_csr csr;
    bool graph = lacis_array_kind(array) == LACIS_CSR;
    if (graph) lacis_csr_view(array, &csr);
    if (!graph || csr.rows != dealt->border[panel + 1] - dealt->border[panel])
        return lacis_run_fail(dealt->run, LACIS_UNSUPPORTED, "a rank answered with rows that were not asked for");
    return lacis_dealt_append(dealt, dealt->border[panel], &csr);
}

/* --------------------------------------------------------------------------------- B whole on each rank */

/* Of a rank's memory, whatever it computes: room at the end of results, and tables. What kernels say of these is for
 * the heaviest rows there could be; mostly it is far less. */
uint64_t lacis_dealt_work_bytes(const lacis_product *product, uint64_t room)
{
    const uint64_t most = (uint64_t)1 << 20; /* larger results are charged as they fill */
    uint64_t slack = lacis_mul_slack(&product->job) * lacis_product_entry_bytes(product);
    uint64_t tables = lacis_mul_work_bytes(&product->job);
    return (tables < room / WORK_SHARE ? tables : room / WORK_SHARE) + (slack < most ? slack : most);
}

static lacis_status plan_whole(void *context, lacis_run *run, uint64_t room, int64_t *pieces)
{
    lacis_dealt *dealt = context;
    /* What bind took here it takes there. */
    const lacis_product *product = &dealt->work->product;
    uint64_t need = whole_bytes(dealt->call) + product->block_bytes + lacis_dealt_work_bytes(product, room);
    dealt->no_room = need > room || need / RESULT_SHARE > room - need;
    if (dealt->no_room)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the operands do not fit the memory of every rank");
    dealt->whole_a = has_whole_a(dealt->call);
    LACIS_TRY(lacis_dealt_panels(dealt, dealt->whole_a ? RANGES_A_RANK : LACIS_PANELS_A_RANK,
                                 (room - need) / RESULT_SHARE));
    *pieces = dealt->panels;
    return LACIS_OK;
}

static lacis_status operand_whole(void *context, lacis_run *run, int64_t piece, const lacis_item *item,
                                  lacis_array **out)
{
    lacis_dealt *dealt = context;
    (void)run;
    *out = NULL;
    if (dealt->whole_a || item != lacis_dealt_a(dealt->call)) return LACIS_OK;
    return lacis_dealt_rows(dealt, dealt->border[piece], dealt->border[piece + 1], 0, INT64_MAX, out);
}

static void range_whole(void *context, int64_t piece, int64_t *begin, int64_t *end)
{
    const lacis_dealt *dealt = context;
    *begin = dealt->whole_a ? dealt->border[piece] : 0;
    *end = dealt->whole_a ? dealt->border[piece + 1] : INT64_MAX;
}

static lacis_status own_whole(void *context, lacis_run *run, int64_t piece)
{
    lacis_dealt *dealt = context;
    lacis_array *array;
    LACIS_TRY(dealt->local->run(run, dealt->call, dealt->border[piece], dealt->border[piece + 1], &array));
    lacis_status status = append_array(dealt, piece, array);
    lacis_array_release(array);
    return status;
}

static lacis_status take_whole(void *context, lacis_run *run, int64_t piece, const lacis_array *result)
{
    (void)run;
    return append_array(context, piece, result);
}

/* --------------------------------------------------------------------------------------------- run */

static lacis_status deal_whole(lacis_dealt *dealt)
{
    const lacis_deal deal = {.device = dealt->local->device,
                             .context = dealt,
                             .plan = plan_whole,
                             .operand = operand_whole,
                             .range = range_whole,
                             .own = own_whole,
                             .take = take_whole};
    return lacis_run_deal(dealt->run, dealt->call, &deal);
}

static lacis_status run_over(const lacis_variant *local, lacis_run *run, const lacis_call *call, int64_t begin,
                             int64_t end, lacis_array **out)
{
    const lacis_multiply *work = call->work;
    lacis_dealt dealt = {.run = run, .call = call, .work = work, .local = local, .begin = begin, .end = end};
    LACIS_TRY(lacis_product_buffers(run, &work->product, begin, end, &dealt.result));
    lacis_status status = deal_whole(&dealt);
    if (status == LACIS_UNSUPPORTED && dealt.no_room) status = lacis_dealt_blocks(&dealt);
    if (status == LACIS_OK) {
        lacis_product_trim(&work->product, &dealt.result);
        status = lacis_product_array(run, &work->product, begin, end, &dealt.result, work->row_labels,
                                     work->col_labels, out);
    }
    lacis_product_release(&dealt.result);
    return status;
}

static lacis_status ranks_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return run_over(&lacis_multiply_rows, run, call, begin, end, out);
}

static lacis_status ranks_gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                                  lacis_array **out)
{
    return run_over(&lacis_multiply_gpu, run, call, begin, end, out);
}

const lacis_variant lacis_multiply_ranks = {
    .name = "ranks",
    .device = LACIS_CPU,
    .summary = "rows dealt over the ranks of an mpirun in pieces of about equal products, b on each of them",
    .can = ranks_can,
    .cost = ranks_cost,
    .run = ranks_run,
    .ranks = true,
};

const lacis_variant lacis_multiply_ranks_gpu = {
    .name = "ranks-gpu",
    .device = LACIS_GPU,
    .summary = "rows dealt over the ranks of an mpirun, each with a GPU of its own",
    .can = ranks_gpu_can,
    .cost = ranks_gpu_cost,
    .run = ranks_gpu_run,
    .ranks = true,
};

lacis_status lacis_multiply_explain_ranks(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    const lacis_multiply *work = call->work;
    char reason[160];
    int ranks = lacis_run_ranks(run);
    if (ranks == 1 || work->product.spec.shape != LACIS_PRODUCT_MATRIX) return LACIS_OK;
    LACIS_TRY(lacis_lines_add(lines,
                              "ranks: %d; rows of a in pieces of about equal products, %d a rank, to whoever is free",
                              ranks, has_whole_a(call) ? RANGES_A_RANK : LACIS_PANELS_A_RANK));
    bool combines = lacis_dealt_combines(&work->product, reason, sizeof reason);
    return lacis_lines_add(lines, "each holds b%s, %.1f MB%s; where that does not fit: %s",
                           mask_of(call) != NULL ? " and the mask" : "", (double)whole_bytes(call) / 1e6,
                           lacis_run_ranks_hold(run, lacis_dealt_b(call)->array) ? " (there already)" : "",
                           combines ? "b goes round in blocks of rows" : reason);
}
