/* SPDX-License-Identifier: Apache-2.0
 *
 * What a POWER will cost: how its rows grow can only be known by computing some, so a few, evenly spread, are. Asked
 * only where a plan has to choose or to be shown.
 */
#include "power/power.h"

/* Rows to compute; the second time, where the first took little. */
enum { SAMPLE = 16, MORE = 128 };
static const double LITTLE = 0.004; /* seconds */

/* A sample of start rows as a csr of its own; begin, end, label hold `count` each. */
static void take_sample(const lacis_power *work, int64_t count, int64_t *begin, int64_t *end, int64_t *label,
                        lacis_csr *out)
{
    const lacis_product *start = &work->start;
    *out = start->a;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = i * start->s.count / count;
        begin[i] = start->a.begin[row];
        end[i] = start->a.end[row];
        label[i] = lacis_labels_at(&start->s, row);
    }
    out->begin = begin;
    out->end = end;
    out->row_label = label;
    out->rows = count;
}

/* Computes `count` rows and takes them for all. */
static lacis_status sample(lacis_run *run, lacis_power *work, int64_t count, double *seconds, lacis_cost *out)
{
    int64_t begin[MORE], end[MORE], label[MORE];
    lacis_csr start;
    lacis_power_rows result;
    take_sample(work, count, begin, end, label, &start);
    double since = lacis_product_now();
    LACIS_TRY(work->stable ? lacis_power_closure(run, work, &start, &result)
                           : lacis_power_rounds(run, work, &start, &result));
    *seconds = lacis_product_now() - since;
    double factor = (double)work->start.s.count / (double)count, entry = 4 + (double)lacis_dtype_size(result.storage);
    out->seconds = *seconds * factor;
    work->expected_rounds = (double)result.done;
    out->products = (double)result.products * factor;
    out->entries = (double)result.rows.entries * factor;
    out->bytes = out->entries * entry;
    lacis_product_release(&result.rows);
    return LACIS_OK;
}

/* A block of sources with what changed in it. */
static double closure_bytes(const lacis_power *work, int64_t rows)
{
    const double block = 32e6, all = (double)rows * (double)work->a.cols * (double)lacis_dtype_size(work->type);
    return 2 * (all < block ? all : block);
}

/* Few sources of a large graph: computing some of them would be the whole work, and to know that a GPU is faster
 * would come too late. So: every vertex is reached, and each edge is walked once a source, for values that settle
 * twice. */
static void guess(const lacis_power *work, const lacis_profile *profile, double *rounds, lacis_cost *out)
{
    double rows = (double)work->start.s.count, edges = (double)work->a.entries, cols = (double)work->a.cols;
    double paths = rows * edges * (work->spec.agg == LACIS_AGG_ANY ? 1 : 2);
    double ns = lacis_profile_get(profile, LACIS_POWER_PATH_FIGURE, LACIS_POWER_PATH_NS);
    *rounds = work->stable ? 10 : (double)(work->rounds - 1);
    if (!work->stable) paths = (double)work->first.total_products + (*rounds - 1) * rows * edges;
    out->products = paths;
    out->entries = rows * cols;
    out->bytes = out->entries * (4 + (double)lacis_dtype_size(work->type));
    double threads = lacis_run_threads(work->run); /* each takes rows */
    out->seconds = 1e-9 * ns * paths / (threads < rows ? threads : rows);
}

static lacis_status find_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_power *work = call->work;
    char reason[200];
    int64_t rows = call->units, count = rows < SAMPLE ? (rows + 3) / 4 : SAMPLE;
    double seconds;
    if (rows == 0) return LACIS_OK;
    if (work->first.products != NULL) LACIS_TRY(lacis_product_estimate(run, &work->first, profile));
    if (rows < SAMPLE && call->on == LACIS_ON_AUTO && lacis_power_gpu_can(call, reason, sizeof reason)) {
        guess(work, profile, &work->expected_rounds, out);
    } else {
        LACIS_TRY(sample(run, work, count, &seconds, out));
        if (seconds < LITTLE && rows >= MORE) {
            /* What a call costs beside its rows shows in the difference. */
            double few = seconds;
            LACIS_TRY(sample(run, work, MORE, &seconds, out));
            double row = seconds > few ? (seconds - few) / (double)(MORE - count) : 0;
            out->seconds = seconds + row * (double)(rows - MORE);
        }
    }
    double labels = work->start.all_rows && work->start.s.label == NULL ? 0 : (double)rows;
    if (work->start.t.label != NULL) labels += (double)work->start.t.count;
    out->bytes += sizeof(int64_t) * (2 * (double)rows + labels);
    out->peak_bytes = 2 * out->bytes + (work->stable ? closure_bytes(work, rows) : 0); /* two rounds */
    return LACIS_OK;
}

lacis_status lacis_power_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_power *work = call->work;
    if (!work->costed) LACIS_TRY(find_cost(run, call, profile, &work->cost));
    work->costed = true;
    *out = work->cost;
    return LACIS_OK;
}
