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

/* Sources that have an edge at all. */
static double sources(const lacis_power *work)
{
    const lacis_csr *a = &work->start.a;
    int64_t count = 0;
    for (int64_t r = 0; r < work->start.s.count; r++)
        count += a->end[r] > a->begin[r];
    return (double)count;
}

/* What a call may come to, without computing anything: every vertex is reached, and each edge is walked once a
 * source, for values that settle twice. */
struct outlook {
    double rows, rounds, paths;
};

static struct outlook look_ahead(const lacis_power *work)
{
    double edges = (double)work->a.entries;
    bool once = work->spec.agg == LACIS_AGG_ANY;
    struct outlook ahead = {.rows = sources(work), .rounds = (double)(work->rounds - 1)};
    if (work->stable) ahead.rounds = once ? 7 : 14;
    ahead.paths = ahead.rows * edges * (once ? 1 : 2);
    if (!work->stable) ahead.paths = (double)work->first.total_products + (ahead.rounds - 1) * ahead.rows * edges;
    return ahead;
}

/* Seconds on the processor. A closure's round wakes its threads three times, for a product, for what is new in it,
 * for their union, unless there is so little that one does it alone. */
static double processor_seconds(const lacis_power *work, const lacis_profile *profile, const struct outlook *ahead)
{
    const double round = 4e-5, thread = 4e-6, few = 32768, product_ns = 3;
    double ns = work->stable ? lacis_profile_get(profile, LACIS_POWER_PATH_FIGURE, LACIS_POWER_PATH_NS) : product_ns;
    double threads = lacis_run_threads(work->run), used = threads < ahead->rows ? threads : ahead->rows;
    bool alone = used <= 1 || ahead->paths <= few * ahead->rounds; /* else each takes rows */
    double wake = alone ? 0 : (work->stable ? 3 : 1) * thread * threads;
    return ahead->rounds * (round + wake) + 1e-9 * ns * ahead->paths / (alone ? 1 : used);
}

double lacis_power_most_seconds(const lacis_power *work, const lacis_profile *profile)
{
    const double margin = 4;
    struct outlook ahead = look_ahead(work);
    ahead.paths *= margin;
    return processor_seconds(work, profile, &ahead);
}

static void guess(lacis_power *work, const lacis_profile *profile, lacis_cost *out)
{
    const struct outlook ahead = look_ahead(work);
    work->expected_rounds = ahead.rounds;
    out->products = ahead.paths;
    out->entries = ahead.rows * (double)work->a.cols;
    out->bytes = out->entries * (4 + (double)lacis_dtype_size(work->type));
    out->seconds = processor_seconds(work, profile, &ahead);
}

/* Computing some of the rows may take longer than a GPU takes for all of them, or than could be saved. So where the
 * one or the other device is faster by far as it seems at first, or there is little to do, that has to do. */
static bool clear(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    const double far = 3, little = 2e-3; /* seconds */
    char reason[200];
    if (call->on != LACIS_ON_AUTO || !lacis_power_gpu_can(call, reason, sizeof reason)) return false;
    guess(call->work, profile, out);
    double device = lacis_power_gpu_seconds(run, call, profile, out);
    if (call->units < SAMPLE || out->seconds < little || device < little) return true;
    return out->seconds > far * device || device > far * out->seconds;
}

static lacis_status find_by_sample(lacis_run *run, lacis_power *work, int64_t rows, lacis_cost *out)
{
    int64_t count = rows < SAMPLE ? (rows + 3) / 4 : SAMPLE;
    double seconds;
    LACIS_TRY(sample(run, work, count, &seconds, out));
    if (seconds >= LITTLE || rows < MORE) return LACIS_OK;
    /* What a call costs beside its rows shows in the difference. */
    double few = seconds;
    LACIS_TRY(sample(run, work, MORE, &seconds, out));
    double row = seconds > few ? (seconds - few) / (double)(MORE - count) : 0;
    out->seconds = seconds + row * (double)(rows - MORE);
    return LACIS_OK;
}

static lacis_status find_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_power *work = call->work;
    int64_t rows = call->units;
    if (rows == 0) return LACIS_OK;
    if (call->closely && work->first.products != NULL) LACIS_TRY(lacis_product_estimate(run, &work->first, profile));
    if (!clear(run, call, profile, out)) LACIS_TRY(find_by_sample(run, work, rows, out));
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
