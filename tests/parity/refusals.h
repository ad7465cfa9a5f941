/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of refusals share: calls that may fail while they are read, bound or run, by an operator's first
 * variant; and memory that fails at every single allocation.
 */
#ifndef LACIS_TESTS_REFUSALS_H
#define LACIS_TESTS_REFUSALS_H

#include "parity/parity.h"

static inline lacis_status attempt_call(parity *p, const char *text, const named *arrays)
{
    const lacis_bindings none = {NULL, 0};
    lacis_call *call;
    lacis_array *out = NULL;
    LACIS_TRY(lacis_lang_call(&p->run, &p->registry, text, &none, &call));
    fill_operands(call, arrays);
    lacis_status status = call->op->bind(&p->run, call);
    if (status == LACIS_OK) {
        status = call->op->variants[0]->run(&p->run, call, 0, call->units, &out);
        parity_unbind(p, call);
    }
    lacis_array_release(out);
    return status;
}

static inline void refuse_call(parity *p, const char *text, const named *arrays, lacis_status wanted,
                               const char *part)
{
    lacis_status status = attempt_call(p, text, arrays);
    if (status != wanted || strstr(p->host.error.message, part) == NULL)
        fail_msg("%s\n  gave %s: %s", text, lacis_status_name(status), p->host.error.message);
    lacis_run_clear(&p->run);
}

static inline void accept_call(parity *p, const char *text, const named *arrays)
{
    parity_ok(p, attempt_call(p, text, arrays), text);
    lacis_run_clear(&p->run);
}

/* arg: how many allocations still succeed. */
static inline int refuse_at_zero(void *arg, size_t bytes)
{
    atomic_int *left = arg;
    (void)bytes;
    return atomic_fetch_sub(left, 1) <= 0;
}

/* Lets the n-th allocation fail (and all after it) for n = 0, 1 ... until the call succeeds. */
static inline void fail_each_allocation(parity *p, const char *text, const named *arrays)
{
    lacis_run_clear(&p->run); /* of what made the operands */
    for (int n = 0; n < 5000; n++) {
        const uint64_t before = lacis_memory_used(p->host.memory);
        atomic_int left = n;
        lacis_set_allocation_guard(refuse_at_zero, &left);
        lacis_status status = attempt_call(p, text, arrays);
        lacis_set_allocation_guard(NULL, NULL);
        lacis_run_clear(&p->run);
        if (lacis_memory_used(p->host.memory) != before) fail_msg("%s\n  allocation %d leaks", text, n);
        if (status == LACIS_OK) return;
        if (status != LACIS_NOMEM) fail_msg("%s\n  allocation %d gave %s", text, n, lacis_status_name(status));
    }
    fail_msg("%s\n  never succeeds", text);
}

#endif
