/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of SYMV's variants on a pretended device share, of dense matrices (gpu_symv.h) and of graphs
 * (gpu_symv_graph.h): what pretended kernels are told and say, runs of the variant `tested_gpu` and of the CPU's, and
 * their results.
 */
#ifndef LACIS_TESTS_GPU_SYMV_FAKE_H
#define LACIS_TESTS_GPU_SYMV_FAKE_H

#include "support/gpu_variant.h"
#include "symv/symv.h"

extern const lacis_variant tested_gpu; /* compiled into the including file */
static named arrays[9];                /* and a NULL behind them; released by `clear` */

/* --- kernels ------------------------------------------------------------------------------------------ */

static int fake_cuda_error;      /* not 0: the next run of the kernels fails with it */
static int fake_runs;            /* of the kernels */
static uint64_t fake_takes;      /* bytes that a run takes, or making a plan */
static const char *fake_refusal; /* why they refuse a job; NULL: they do not */

static inline void fake_anew(void)
{
    fake_cuda_error = fake_runs = 0;
    fake_takes = 1000;
    fake_refusal = NULL;
}

static inline void *fake_take(void *context, uint64_t bytes)
{
    (void)context;
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static inline void fake_give(void *context, void *block)
{
    (void)context;
    free(block);
}

/* For the CPU's loops between the job's device pointers. */
static inline void fake_on_cpu(lacis_symv_job *job)
{
    job->threads = 1;
    job->host = (lacis_symv_host){.alloc = fake_take, .free = fake_give};
}

/* --- runs --------------------------------------------------------------------------------------------- */

static inline int clear(void **state)
{
    for (int i = 0; arrays[i].name != NULL; i++)
        lacis_array_release(arrays[i].array);
    return teardown(state);
}

static inline lacis_array *run_by(parity *p, const char *text, const lacis_variant *variant)
{
    lacis_array *array = NULL;
    lacis_call *call = bind_on(p, text, arrays, variant->device == LACIS_GPU ? LACIS_ON_GPU : LACIS_ON_CPU);
    parity_ok(p, variant->run(&p->run, call, 0, call->units, &array), text);
    parity_unbind(p, call);
    return array;
}

/* Every part has the same bytes. */
static inline void same_arrays(const lacis_array *found, const lacis_array *expected, const char *text)
{
    lacis_part one, other;
    assert_int_equal(lacis_array_part_count(found), lacis_array_part_count(expected));
    for (int i = 0; i < lacis_array_part_count(found); i++) {
        assert_int_equal(lacis_array_part(found, i, &one), LACIS_OK);
        assert_int_equal(lacis_array_part(expected, i, &other), LACIS_OK);
        assert_int_equal(one.count, other.count);
        if (memcmp(one.data, other.data, lacis_dtype_size(one.dtype) * (size_t)one.count) != 0)
            fail_msg("%s: part %s differs", text, one.name);
    }
}

static inline void check_same(parity *p, const char *text)
{
    lacis_array *expected = run_by(p, text, with_fake_variants[0]), *found = run_by(p, text, &tested_gpu);
    same_arrays(found, expected, text);
    lacis_array_release(expected);
    lacis_array_release(found);
    lacis_run_clear(&p->run);
}

/* Of little work, and of what the kernels do not do, before the device is touched. */
static inline void check_refusals(parity *p)
{
    expect_cannot(p, "SYMV a BY x", arrays, &tested_gpu, LACIS_ON_AUTO, "too little work: ");
    fake_refusal = "not such ones";
    expect_cannot(p, "SYMV a BY x", arrays, &tested_gpu, LACIS_ON_GPU, "not such ones");
    fake_refusal = NULL;
    assert_int_equal(fake.calls, 0);
}

/* For fail_every_call. context: the text. */
static inline void check_fault(parity *p, void *context)
{
    const char *text = context;
    lacis_array *found, *expected = run_by(p, text, with_fake_variants[0]);
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_GPU);
    lacis_status status = tested_gpu.run(&p->run, call, 0, call->units, &found);
    if (status == LACIS_OK) {
        same_arrays(found, expected, text);
        lacis_array_release(found);
    } else if (status != LACIS_UNSUPPORTED) {
        fail_msg("%s: %s: %s", text, lacis_status_name(status), p->host.error.message);
    }
    lacis_host_ok(&p->host);
    parity_unbind(p, call);
    lacis_array_release(expected);
}

/* The kernels fail in a run of text; then, of `large`, take more than the device has, which only they find. */
static inline void check_failing_kernels(parity *p, const char *text, const char *large, const char *what)
{
    lacis_array *found = NULL;
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_GPU);
    fake_cuda_error = FAKE_BROKEN;
    assert_int_equal(tested_gpu.run(&p->run, call, 0, 1, &found), LACIS_UNSUPPORTED);
    fake_cuda_error = 0;
    lacis_host_ok(&p->host);
    parity_unbind(p, call);
    call = bind_on(p, large, arrays, LACIS_ON_GPU);
    fake_takes = 200000000;
    assert_int_equal(tested_gpu.run(&p->run, call, 0, 1, &found), LACIS_UNSUPPORTED);
    assert_non_null(strstr(p->host.error.message, what));
    lacis_host_ok(&p->host);
    parity_unbind(p, call);
}

/* What the variant says of text's costs before it ran the first time, and after. */
static inline void costs_of(parity *p, const char *text, lacis_cost *cold, lacis_cost *warm)
{
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_GPU);
    parity_ok(p, tested_gpu.cost(&p->run, call, &profile, cold), "cost");
    lacis_array_release(run_by(p, text, &tested_gpu));
    parity_ok(p, tested_gpu.cost(&p->run, call, &profile, warm), "cost");
    assert_true(cold->once > 0.1 && cold->seconds > cold->once);
    assert_true(warm->once == 0);
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
}

#endif
