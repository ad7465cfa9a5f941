/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's result: a table of times, probes, voltages and lanes, for some lanes of a call. Used by the ways through
 * the steps, which bring the voltages in pieces of lanes.
 */
#include "simulate/simulate.h"

#include <math.h>
#include <string.h>

const lacis_column lacis_trace_column[LACIS_TRACE_COLUMNS] = {
    {"t", true}, {"probe", false}, {"v", true}, {"lane", false}};

int64_t lacis_trace_samples(const lacis_simulation *s)
{
    return s->plan.reduce == NEURON_ALL ? lacis_neuron_samples(&s->plan) : 1;
}

double lacis_trace_seconds(const lacis_run *run, double rows)
{
    const double row_seconds = 2e-9, most = 8; /* threads, from which on memory is the limit */
    double threads = lacis_run_threads(run);
    return rows * row_seconds / (threads < most ? threads : most);
}

static lacis_status too_large(lacis_run *run, const lacis_call *call, const lacis_trace *trace)
{
    double bytes = (double)LACIS_TRACE_ROW_BYTES * (double)trace->stretches * (double)trace->lanes;
    return lacis_run_fail_at(run, LACIS_LIMIT, call->offset,
                             "EVERY k keeps each k-th sample, REDUCE one figure a probe and lane",
                             "samples %lld times probes %lld times lanes %lld are %.3g GB, and %.3g GB of "
                             "memory_limit are left",
                             (long long)lacis_trace_samples(trace->s), (long long)trace->s->plan.numbers,
                             (long long)trace->lanes, 1e-9 * bytes, 1e-9 * (double)lacis_run_memory_left(run));
}

/* A column's buffer: large ones where pages are huge and may have been used before, since new pages cost more time
 * than what is written into them. */
static lacis_status new_buffer(lacis_run *run, const lacis_call *call, const lacis_trace *trace, uint64_t bytes,
                               lacis_buffer **out)
{
    const uint64_t large = (uint64_t)4 << 20;
    if (bytes < large) return lacis_buffer_new(run, bytes, out);
    LACIS_TRY(lacis_buffer_reserve(run, bytes, out));
    lacis_status status = lacis_buffer_charge(*out, bytes);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_buffer_release(*out);
    return status == LACIS_LIMIT ? too_large(run, call, trace) : lacis_run_fail(run, status, "out of memory");
}

static lacis_status add_columns(lacis_run *run, const lacis_call *call, lacis_trace *trace)
{
    static const lacis_dtype dtype[LACIS_TRACE_COLUMNS] = {LACIS_F64, LACIS_I32, LACIS_F64, LACIS_I32};
    int64_t rows = trace->stretches * trace->lanes;
    void *data[LACIS_TRACE_COLUMNS];
    for (int i = 0; i < LACIS_TRACE_COLUMNS; i++) {
        lacis_buffer *buffer;
        LACIS_TRY(new_buffer(run, call, trace, (uint64_t)rows * lacis_dtype_size(dtype[i]), &buffer));
        data[i] = lacis_buffer_data(buffer);
        lacis_status status =
            lacis_array_add(run, trace->array, lacis_trace_column[i].name, dtype[i], rows, buffer, 0);
        lacis_buffer_release(buffer); /* the array keeps its own hold */
        LACIS_TRY(status);
    }
    trace->t = data[0];
    trace->probe = data[1];
    trace->v = data[2];
    trace->lane = data[3];
    return LACIS_OK;
}

lacis_status lacis_trace_new(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_trace *out)
{
    const lacis_simulation *s = call->work;
    *out = (lacis_trace){.s = s, .first = begin, .lanes = end - begin};
    out->stretches = lacis_trace_samples(s) * s->plan.numbers;
    double bytes = (double)LACIS_TRACE_ROW_BYTES * (double)out->stretches * (double)out->lanes;
    if (bytes > (double)lacis_run_memory_left(run)) return too_large(run, call, out);
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, out->stretches * out->lanes, 0, &out->array));
    lacis_status status = add_columns(run, call, out);
    if (status != LACIS_OK) lacis_array_release(out->array);
    return status;
}

void lacis_trace_put(const lacis_trace *trace, double *column, int64_t stretch, int64_t count, int64_t first,
                     int64_t lanes, const double *from)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(column + (stretch + i) * trace->lanes + first - trace->first, from + i * lanes,
               (size_t)lanes * sizeof *from);
}

/* ------------------------------------------------------------------------------------------ the end */

/* Rows are labelled and looked at in tasks of about so many. */
enum { ROWS = 1 << 16 };

static int64_t stretches_a_task(const lacis_trace *trace)
{
    return trace->lanes >= ROWS ? 1 : ROWS / trace->lanes;
}

static void label(const lacis_trace *trace, int64_t stretch)
{
    const neuron_plan *plan = &trace->s->plan;
    int64_t at = stretch * trace->lanes;
    double t = (double)(stretch / plan->numbers * plan->every) * plan->dt;
    for (int64_t lane = 0; lane < trace->lanes; lane++, at++) {
        if (plan->reduce == NEURON_ALL) trace->t[at] = t;
        trace->probe[at] = (int32_t)(stretch % plan->numbers);
        trace->lane[at] = (int32_t)(trace->first + lane);
    }
}

static bool all_finite(const double *v, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += v[i] - v[i]; /* 0 for numbers, NaN for what is none */
    return sum == 0;
}

static lacis_status end_task(void *context, int64_t task, int worker)
{
    const lacis_trace *trace = context;
    int64_t some = stretches_a_task(trace), first = task * some, last = first + some;
    (void)worker;
    if (last > trace->stretches) last = trace->stretches;
    for (int64_t i = first; i < last; i++)
        label(trace, i);
    return all_finite(trace->v + first * trace->lanes, (last - first) * trace->lanes) ? LACIS_OK : LACIS_RANGE;
}

/* Voltages that left the numbers say that something went wrong; where first. */
static lacis_status say_where(lacis_run *run, const lacis_call *call, const lacis_trace *trace)
{
    int64_t at = 0;
    while (at + 1 < trace->stretches * trace->lanes && isfinite(trace->v[at]))
        at++;
    return lacis_run_fail_at(run, LACIS_RANGE, call->offset, "look at the units of CLAMP (nA) and DT (ms)",
                             "lane %lld: the voltage is not a finite number any more",
                             (long long)(trace->first + at % trace->lanes));
}

lacis_status lacis_trace_end(lacis_run *run, const lacis_call *call, lacis_trace *trace, lacis_status status,
                             lacis_array **out)
{
    if (status == LACIS_OK && trace->lanes > 0) {
        int64_t some = stretches_a_task(trace), tasks = (trace->stretches + some - 1) / some;
        status = lacis_run_parallel(run, tasks, end_task, trace);
        if (status == LACIS_RANGE) status = say_where(run, call, trace);
        if (status == LACIS_INTERRUPT) status = lacis_run_interrupted(run);
    }
    *out = trace->array;
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(trace->array);
    *out = NULL;
    return status;
}
