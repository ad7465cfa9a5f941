/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" before it runs: whether the kernels of kernels/multiply/gpu.h can do a product and the
 * device may be asked for it, and what it would cost with the copies that are needed.
 */
#include "multiply/device.h"
#include "multiply/written.h"

#include <inttypes.h>

#ifdef LACIS_GPU_KERNELS

/* ----------------------------------------------------------------------------------------- whether */

/* Without ON GPU the device is left alone for less: it could not pay. The first use also starts it. */
static const uint64_t LEAST_PRODUCTS = 200000, LEAST_TO_START = 20000000;

void lacis_multiply_gpu_job(const lacis_product *product, lacis_mul_gpu_job *out)
{
    const lacis_mul_job *job = &product->job;
    *out = (lacis_mul_gpu_job){.a = job->a,
                               .b = job->b,
                               .con_kind = job->con_kind,
                               .agg = job->agg,
                               .type = job->type,
                               .storage = job->storage,
                               .checked = job->checked,
                               .max_degree_a = job->max_degree_a,
                               .mask = job->mask,
                               .mask_not = job->mask_not,
                               .having = job->having != NULL,
                               .top = job->top,
                               .t_lo = job->t_lo,
                               .t_hi = job->t_hi,
                               .compact = true};
}

static const char *refuses(const lacis_product *product)
{
    const uint64_t places = UINT32_MAX - 64; /* of b: its entries are numbered in 32 bits there */
    lacis_mul_gpu_written any = {{NULL}, NULL, NULL};
    lacis_mul_gpu_job job;
    lacis_multiply_gpu_job(product, &job);
    if (lacis_written_needed(product)) job.written = &any; /* compiled once the rest is known to go */
    const char *why = lacis_mul_gpu_refuses(&job);
    if (why == NULL && lacis_send_places(&job.b) >= places) why = "b has too many entries";
    return why;
}

static bool large_enough(const lacis_product *product, uint64_t least, char *reason, size_t size)
{
    if (product->total_products >= least) return true;
    snprintf(reason, size, "too little work: %" PRIu64 " products, of %" PRIu64 " that it takes to pay%s",
             product->total_products, least, least == LEAST_TO_START ? " for starting it as well" : "");
    return false;
}

bool lacis_multiply_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_multiply *work = call->work;
    const lacis_product *product = &work->product;
    bool must = call->on == LACIS_ON_GPU;
    if (!must && !large_enough(product, LEAST_PRODUCTS, reason, size)) return false; /* before anything costs time */
    if (!lacis_gpu_possible(work->run, reason, size)) return false;
    const char *why = refuses(product);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    if (!must && !lacis_gpu_started(work->run) && !large_enough(product, LEAST_TO_START, reason, size)) return false;
    if (lacis_written_needed(product) && !lacis_written_can(product, reason, size)) return false;
    return lacis_run_gpu(work->run, reason, size) != NULL;
}

/* ------------------------------------------------------------------------------------------- costs */

/* Rows of few, of some and of many products. */
enum { FEW, SOME, MANY, SIZES };
enum { KINDS = 3 };
static const uint64_t few_products = 512, some_products = 8192;
/* Nanoseconds a product for count, other integers and orders, sums of floats: measured on an H200. */
static const double otherwise[SIZES][KINDS] = {
    [FEW] = {0.0145, 0.0145, 0.0145}, [SOME] = {0.0124, 0.0130, 0.0140}, [MANY] = {0.0051, 0.0055, 0.0073}};
static const char *const figure[SIZES][KINDS] = {
    [FEW] = {"multiply.gpu.few.count_ns", "multiply.gpu.few.value_ns", "multiply.gpu.few.float_ns"},
    [SOME] = {"multiply.gpu.some.count_ns", "multiply.gpu.some.value_ns", "multiply.gpu.some.float_ns"},
    [MANY] = {"multiply.gpu.many.count_ns", "multiply.gpu.many.value_ns", "multiply.gpu.many.float_ns"}};

static int kind_of(const lacis_product *product)
{
    const lacis_mul_job *job = &product->job;
    bool real = job->type == LACIS_MUL_F32 || job->type == LACIS_MUL_F64;
    if (job->agg == LACIS_MUL_COUNT) return 0;
    return real && (job->agg == LACIS_MUL_SUM || job->agg == LACIS_MUL_AVG) ? 2 : 1;
}

static double kernel_seconds(const lacis_product *product, const lacis_profile *profile)
{
    const double call_seconds = 1e-4, row_ns = 1; /* launches and two waits; bounds and classes of a row */
    const double compile_seconds = 0.35;          /* NVRTC; unless it was compiled before, which is not known here */
    double products[SIZES] = {0}, seconds = call_seconds;
    if (lacis_written_needed(product)) seconds += compile_seconds;
    int kind = kind_of(product);
    for (int64_t r = 0; r < product->s.count; r++) {
        uint64_t n = product->products[r];
        products[n <= few_products ? FEW : n <= some_products ? SOME : MANY] += (double)n;
    }
    for (int i = 0; i < SIZES; i++)
        seconds += 1e-9 * products[i] * lacis_profile_get(profile, figure[i][kind], otherwise[i][kind]);
    return seconds + 1e-9 * row_ns * (double)product->s.count;
}

static double copy_seconds(const lacis_multiply *work, lacis_gpu *gpu, const lacis_profile *profile, double result)
{
    const lacis_mul_job *job = &work->product.job;
    lacis_gpu_facts facts;
    lacis_gpu_describe(gpu, &facts);
    double up = lacis_profile_get(profile, "gpu.upload_bytes_a_second", facts.upload_rate);
    double down = lacis_profile_get(profile, "gpu.download_bytes_a_second", facts.download_rate);
    double missing = (double)lacis_send_missing(gpu, &work->sent, &job->a);
    if (job->a.column != job->b.column) missing += (double)lacis_send_missing(gpu, &work->sent, &job->b);
    if (job->mask != NULL) missing += (double)lacis_send_missing(gpu, &work->sent, job->mask);
    return missing / up + result / down;
}

lacis_status lacis_multiply_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                     lacis_cost *out)
{
    lacis_multiply *work = call->work;
    char reason[200];
    lacis_gpu *gpu = lacis_run_gpu(run, reason, sizeof reason);
    if (gpu == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    LACIS_TRY(lacis_product_cost(run, &work->product, profile, out));
    out->seconds = kernel_seconds(&work->product, profile) + copy_seconds(work, gpu, profile, out->bytes);
    out->peak_bytes = out->bytes + (double)work->product.block_bytes;
    return LACIS_OK;
}

#else

bool lacis_multiply_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_multiply *work = call->work;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Never asked, since lacis_multiply_gpu_can says no. */
lacis_status lacis_multiply_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                     lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif
