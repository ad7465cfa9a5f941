/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a prepared product over some of its rows: room for the result by the rows' bounds, charged as it fills, given
 * back where it stays empty. Called by MULTIPLY's variant and by POWER's rounds.
 */
#include "multiply/product.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Results whose bound is below this are taken from the heap at once. */
static const uint64_t SMALL_BYTES = (uint64_t)1 << 20;

uint64_t lacis_product_entry_bytes(const lacis_product *product)
{
    return sizeof(uint32_t) + lacis_dtype_size(product->storage);
}

int64_t lacis_product_within(const lacis_product *product, int64_t begin, int64_t end, const lacis_mul_limits *limits,
                             uint64_t *products)
{
    uint64_t all = product->total_products, rows = (uint64_t)(end - begin);
    bool whole = begin == 0 && end == product->s.count;
    /* Mostly they fit even if every product were an entry; then no row needs to be looked at. */
    if (whole && all <= limits->products &&
        (double)all * (double)limits->entry_bytes + (double)rows * (double)limits->row_bytes <
            (double)limits->bytes) {
        *products = all;
        return end;
    }
    lacis_mul_reached reached;
    int64_t past = lacis_mul_within(&product->job, product->products, begin, end, limits, &reached);
    *products = reached.products;
    return past;
}

uint64_t lacis_product_room(const lacis_product *product, int64_t begin, int64_t end)
{
    const lacis_mul_limits none = {UINT64_MAX, 0, 0, UINT64_MAX};
    lacis_mul_reached all;
    lacis_mul_within(&product->job, product->products, begin, end, &none, &all);
    return all.entries + lacis_mul_slack(&product->job);
}

/* Where the kernel's memory calls end up while it runs. */
struct account {
    lacis_run *run;
    lacis_buffer *column, *value; /* NULL: paid already */
    uint64_t value_bytes, entry_bytes;
    atomic_int refused; /* the status with which memory was refused */
    const char *verb;
    bool whole;      /* nobody else reports: the product is not a block or round of something larger */
    pthread_t owner; /* the thread that runs the statement, which alone may report */
};

static void *take(void *context, uint64_t bytes)
{
    struct account *account = context;
    const uint64_t rounding = (uint64_t)2 << 20; /* of large blocks */
    void *block = lacis_run_alloc_quiet(account->run, bytes);
    if (block == NULL)
        account->refused =
            bytes + rounding > lacis_run_memory_left(account->run) ? (int)LACIS_LIMIT : (int)LACIS_NOMEM;
    return block;
}

static void give(void *context, void *block)
{
    lacis_run_free(((struct account *)context)->run, block);
}

static bool pay(void *context, uint64_t bytes)
{
    struct account *account = context;
    if (account->column == NULL) return true;
    uint64_t values = bytes / account->entry_bytes * account->value_bytes;
    lacis_status status = lacis_buffer_charge(account->column, bytes - values);
    if (status == LACIS_OK) status = lacis_buffer_charge(account->value, values);
    if (status != LACIS_OK) account->refused = (int)status;
    return status == LACIS_OK;
}

/* Asked once a chunk of rows. How many chunks there are the kernel keeps to itself, so the end is not known. POWER
 * reports its own rounds. */
static bool stopped(void *context)
{
    const struct account *account = context;
    if (account->whole && pthread_equal(pthread_self(), account->owner))
        lacis_run_progress(account->run, account->verb, -1);
    return lacis_run_cancelled(account->run);
}

lacis_status lacis_product_fail(lacis_run *run, const lacis_product *product, lacis_mul_status status)
{
    const lacis_product_spec *spec = &product->spec;
    switch (status) {
    case LACIS_MUL_CANCELLED:
        return lacis_run_interrupted(run);
    case LACIS_MUL_OVERFLOW:
        if (product->job.checked && product->job.con_kind != LACIS_MUL_CON_STRIPS)
            return lacis_run_fail_at(run, LACIS_OVERFLOW, spec->agg_offset, "compute with reals: CON 1.0 * ...",
                                     "%s: AGG sum does not fit 64 bits", spec->verb);
        return lacis_run_fail_at(run, LACIS_OVERFLOW, spec->con_offset, "compute with reals: CON 1.0 * ...",
                                 "%s: integer overflow or division by zero in CON%s", spec->verb,
                                 product->job.checked || spec->fold != NULL ? " or AGG" : "");
    case LACIS_MUL_NO_MEMORY:
        return lacis_run_fail_at(run, LACIS_NOMEM, -1, NULL, "%s: the system has no more memory", spec->verb);
    case LACIS_MUL_OK:
        break;
    }
    return LACIS_OK;
}

static lacis_status no_memory(lacis_run *run, const lacis_product *product, const struct account *account)
{
    if (account->refused != (int)LACIS_LIMIT) return lacis_product_fail(run, product, LACIS_MUL_NO_MEMORY);
    return lacis_run_fail_at(run, LACIS_LIMIT, -1, "TOP k, WHERE src IN (...), or SELECT with totals keep less",
                             "%s: the result needs more than memory_limit leaves (%.1f MB more are free)",
                             product->spec.verb, (double)lacis_run_memory_left(run) / 1e6);
}

static bool paid_at_once(const lacis_product *product, uint64_t room)
{
    return room * lacis_product_entry_bytes(product) <= SMALL_BYTES;
}

static lacis_status make_buffers(lacis_run *run, const lacis_product *product, uint64_t room,
                                 lacis_product_result *out)
{
    uint64_t rows = sizeof(int64_t) * (uint64_t)out->rows, size = lacis_dtype_size(product->storage);
    LACIS_TRY(lacis_buffer_new(run, rows, &out->begin));
    LACIS_TRY(lacis_buffer_new(run, rows, &out->end));
    if (paid_at_once(product, room)) {
        LACIS_TRY(lacis_buffer_new(run, room * sizeof(uint32_t), &out->column));
        return lacis_buffer_new(run, room * size, &out->value);
    }
    LACIS_TRY(lacis_buffer_reserve(run, room * sizeof(uint32_t), &out->column));
    return lacis_buffer_reserve(run, room * size, &out->value);
}

lacis_status lacis_product_buffers(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                                   lacis_product_result *result)
{
    *result = (lacis_product_result){.rows = end - begin};
    lacis_status status = make_buffers(run, product, lacis_product_room(product, begin, end), result);
    if (status != LACIS_OK) lacis_product_release(result);
    return status;
}

lacis_status lacis_product_charge(lacis_run *run, const lacis_product *product, lacis_product_result *result,
                                  uint64_t more)
{
    uint64_t value = lacis_dtype_size(product->storage), size = lacis_buffer_size(result->value);
    if (paid_at_once(product, size / value)) return LACIS_OK;
    struct account account = {.run = run,
                              .column = result->column,
                              .value = result->value,
                              .value_bytes = value,
                              .entry_bytes = lacis_product_entry_bytes(product)};
    return pay(&account, more * account.entry_bytes) ? LACIS_OK : no_memory(run, product, &account);
}

void lacis_product_trim(const lacis_product *product, lacis_product_result *result)
{
    lacis_buffer_trim(result->column, result->used * sizeof(uint32_t));
    lacis_buffer_trim(result->value, result->used * lacis_dtype_size(product->storage));
}

void lacis_product_release(lacis_product_result *result)
{
    lacis_buffer_release(result->begin);
    lacis_buffer_release(result->end);
    lacis_buffer_release(result->column);
    lacis_buffer_release(result->value);
    *result = (lacis_product_result){0};
}

static const char *const row_figure[LACIS_MUL_CLASSES] = {"rows empty",  "rows copied", "rows sorted",
                                                          "rows hashed", "rows dense",  "rows hub"};
static const char *const product_figure[LACIS_MUL_CLASSES] = {"products empty",  "products copied", "products sorted",
                                                              "products hashed", "products dense",  "products hub"};
static const char *const second_figure[LACIS_MUL_CLASSES] = {"seconds empty",  "seconds copied", "seconds sorted",
                                                             "seconds hashed", "seconds dense",  "seconds hub"};

static void report(lacis_run *run, const lacis_mul_output *output)
{
    double products = 0;
    for (int i = 0; i < LACIS_MUL_CLASSES; i++) {
        products += (double)output->class_products[i];
        if (output->class_rows[i] == 0) continue;
        lacis_run_count(run, row_figure[i], (double)output->class_rows[i]);
        lacis_run_count(run, product_figure[i], (double)output->class_products[i]);
        lacis_run_count(run, second_figure[i], output->class_seconds[i]);
    }
    lacis_run_count(run, "products", products);
}

static lacis_status run_kernel(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                               uint64_t room, lacis_product_result *out)
{
    lacis_mul_job job;
    lacis_mul_matrix mask;
    lacis_strips strips;
    lacis_product_panel(product, begin, end, &job, &mask, &strips);
    uint64_t size = lacis_dtype_size(product->storage);
    struct account account = {.run = run, .value_bytes = size, .entry_bytes = size + sizeof(uint32_t)};
    account.verb = product->spec.verb;
    account.whole = product->spec.whole && begin == 0 && end == product->s.count;
    account.owner = pthread_self();
    if (!paid_at_once(product, room)) {
        account.column = out->column;
        account.value = out->value;
    }
    job.memory = (lacis_mul_memory){take, give, pay, stopped, &account};
    lacis_mul_output output = {.begin = lacis_buffer_data(out->begin),
                               .end = lacis_buffer_data(out->end),
                               .column = lacis_buffer_data(out->column),
                               .value = lacis_buffer_data(out->value),
                               .room = room};
    lacis_mul_status status = lacis_mul_run(&job, NULL, end - begin, product->products + begin, &output);
    if (status == LACIS_MUL_NO_MEMORY) return no_memory(run, product, &account);
    if (status != LACIS_MUL_OK) return lacis_product_fail(run, product, status);
    out->entries = output.entries;
    out->used = output.used;
    lacis_product_trim(product, out);
    report(run, &output);
    return LACIS_OK;
}

lacis_status lacis_product_run(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                               lacis_product_result *out)
{
    *out = (lacis_product_result){.rows = end - begin};
    uint64_t room = lacis_product_room(product, begin, end);
    lacis_status status = make_buffers(run, product, room, out);
    if (status == LACIS_OK) status = run_kernel(run, product, begin, end, room, out);
    if (status != LACIS_OK) lacis_product_release(out);
    return status;
}
