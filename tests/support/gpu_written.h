/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON, AGG and HAVING as far as a machine without a GPU can follow them: the whole source that MULTIPLY makes
 * for a pretended device, given to NVRTC. test_multiply_written.c and test_multiply_sources.c use it.
 */
#ifndef LACIS_TESTS_GPU_WRITTEN_H
#define LACIS_TESTS_GPU_WRITTEN_H

#include "multiply/bind.h"
#include "multiply/written.h"
#include "parity/parity.h"
#include "support/gpu.h"

static inline int written_setup(void **state)
{
    fake_install(100000000);
    return parity_setup(state);
}

static inline int written_teardown(void **state)
{
    parity_teardown(state);
    fake_remove();
    return 0;
}

/* False, and said: this build or machine cannot. */
static inline bool written_there(void)
{
    char reason[200];
    bool can = lacis_written_can(NULL, reason, sizeof reason);
    if (!can) print_message("skipped: %s\n", reason);
    return can;
}

/* The kernels that a run may ask for, as bits: which AGGs fold in order and what FLAT takes are said twice, here and
 * in gpu_job.cu. */
static inline uint32_t written_kernels(const lacis_mul_gpu_job *job)
{
    bool real = job->type != LACIS_MUL_I32 && job->type != LACIS_MUL_I64;
    bool flat = job->type != LACIS_MUL_C128 && job->b.type != LACIS_MUL_C128;
    bool plain = job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX || job->agg == LACIS_MUL_COUNT ||
                 (job->agg == LACIS_MUL_SUM && !(real ? job->ordered : job->checked)) ||
                 (job->agg == LACIS_MUL_FOLD && job->any_order);
    uint32_t semiring = 0x287u | (flat ? 0x100u : 0) | (plain ? 0x428u : 0x50u);
    return (lacis_mul_gpu_semiring_written(job) ? semiring : 0) | (job->having == LACIS_MUL_GPU_BEHIND ? 0x800u : 0);
}

/* What the device's variant would run for a bound call. */
static inline lacis_mul_gpu_job written_job(const lacis_product *product, bool ordered)
{
    const lacis_mul_job *job = &product->job;
    return (lacis_mul_gpu_job){.a = job->a,
                               .b = job->b,
                               .con_kind = job->con_kind,
                               .agg = job->agg,
                               .type = job->type,
                               .storage = job->storage,
                               .checked = job->checked,
                               .having = job->having == NULL      ? LACIS_MUL_GPU_ALL
                                         : product->strips.within ? LACIS_MUL_GPU_WITHIN
                                                                  : LACIS_MUL_GPU_BEHIND,
                               .mask = job->mask,
                               .ordered = ordered,
                               .t_hi = job->t_hi};
}

/* Compiles those kernels of a call that are among `among`; answers them. */
static inline uint32_t written_compile(parity *p, const char *text, const named *arrays, bool ordered, uint32_t among)
{
    char reason[200];
    lacis_mul_gpu_written written;
    lacis_call *call;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    const lacis_product *product = &((const lacis_multiply *)call->work)->product;
    uint32_t wanted = 0;
    if (lacis_written_needed(product)) {
        lacis_mul_gpu_job job = written_job(product, ordered);
        lacis_gpu *gpu = lacis_run_gpu(&p->run, reason, sizeof reason);
        parity_ok(p, lacis_written_prepare(&p->run, gpu, product, &job, &written), text);
        wanted = written_kernels(&job) & among;
        if (!written.compile(&written, wanted)) parity_ok(p, lacis_written_failed(&written), text);
        for (int i = 0; i < LACIS_MUL_GPU_WRITTEN_KERNELS; i++)
            assert_int_equal(written.kernel[i] != NULL, wanted >> i & 1);
    }
    parity_unbind(p, call);
    lacis_run_clear(&p->run);
    return wanted;
}

#endif
