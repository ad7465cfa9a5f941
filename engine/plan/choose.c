/* SPDX-License-Identifier: Apache-2.0
 *
 * Choosing a variant: who can run, what each would cost, who fits the memory, in how many blocks. Estimating has a
 * price (operators sample their inputs), so it is done only where a choice hangs on it.
 */
#include "plan/plan.h"

#include <string.h>

/* A block of a streamed result may take this part of what memory is left: the block before it may still be read, and
 * readers hold something as well. */
enum { BLOCK_SHARE = 4 };
static const uint64_t SMALLEST_BLOCK = (uint64_t)1 << 20;
/* Streamed results run fastest where a block stays in the shared cache; bounds are larger than results. What a block
 * takes however small it is grows with the threads. */
static const uint64_t LARGEST_BLOCK = (uint64_t)64 << 20, LARGEST_A_THREAD = (uint64_t)16 << 20;

/* Corrections that measured runs have taught, for each variant, and where it says what kind of work it is, for each
 * kind and power of ten of its size. */
static void tune_name(const lacis_call *call, const lacis_candidate *candidate, char *text, size_t size)
{
    const lacis_cost *cost = &candidate->cost;
    int magnitude = 0;
    for (double products = cost->products; products >= 10; products /= 10)
        magnitude++;
    if (cost->kind == NULL) {
        snprintf(text, size, "tune.%s.%s", call->op->verb, candidate->variant->name);
    } else {
        snprintf(text, size, "tune.%s.%s.%s.%d", call->op->verb, candidate->variant->name, cost->kind, magnitude);
    }
}

/* Whether ON leaves that device in the running. */
static bool wanted_on(const lacis_call *call, lacis_device device)
{
    if (call->on == LACIS_ON_CPU) return device == LACIS_CPU;
    return call->on != LACIS_ON_GPU || device == LACIS_GPU;
}

/* SET ranks = all: what can be dealt is. */
static void only_ranks(lacis_plan *plan)
{
    bool any = false;
    for (int i = 0; i < plan->candidates; i++)
        any |= plan->candidate[i].can && plan->candidate[i].variant->ranks;
    for (int i = 0; any && i < plan->candidates; i++) {
        lacis_candidate *candidate = &plan->candidate[i];
        if (!candidate->can || candidate->variant->ranks) continue;
        candidate->can = false;
        snprintf(candidate->reason, sizeof candidate->reason, "not wanted: SET ranks = all");
    }
}

static void list_candidates(const lacis_run *run, const lacis_call *call, lacis_plan *plan)
{
    for (int i = 0; i < call->op->variant_count && plan->candidates < LACIS_CANDIDATES; i++) {
        if (call->op->variants[i]->ranks && run->host->ranks == NULL) continue;
        lacis_candidate *candidate = &plan->candidate[plan->candidates++];
        *candidate = (lacis_candidate){.variant = call->op->variants[i], .can = true};
        if (!wanted_on(call, candidate->variant->device)) {
            candidate->can = false;
            snprintf(candidate->reason, sizeof candidate->reason, "not wanted: the statement says ON %s",
                     call->on == LACIS_ON_CPU ? "CPU" : "GPU");
        } else if (candidate->variant->ranks && lacis_run_ranks(run) == 1) {
            candidate->can = false;
            snprintf(candidate->reason, sizeof candidate->reason, "%s",
                     run->host->ranks_use == LACIS_RANKS_OFF ? "SET ranks = off" : "the other ranks are gone");
        } else if (candidate->variant->can != NULL) {
            candidate->can = candidate->variant->can(call, candidate->reason, sizeof candidate->reason);
        }
    }
    if (run->host->ranks_use == LACIS_RANKS_ALL) only_ranks(plan);
}

static bool has_variant_on(const lacis_call *call, lacis_device device)
{
    for (int i = 0; i < call->op->variant_count; i++)
        if (call->op->variants[i]->device == device) return true;
    return false;
}

/* Whether a wanted candidate before that one has the same reason. */
static bool told_before(const lacis_call *call, const lacis_plan *plan, int at)
{
    for (int i = 0; i < at; i++)
        if (wanted_on(call, plan->candidate[i].variant->device) &&
            strcmp(plan->candidate[i].reason, plan->candidate[at].reason) == 0)
            return true;
    return false;
}

/* "a, b: why; c: why not", each reason once. Of devices that are not wanted the user knows. */
static void list_reasons(const lacis_call *call, const lacis_plan *plan, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < plan->candidates && used < size; i++) {
        const lacis_candidate *first = &plan->candidate[i];
        if (!wanted_on(call, first->variant->device) || told_before(call, plan, i)) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : "", first->variant->name);
        for (int j = i + 1; j < plan->candidates && used < size; j++) {
            const lacis_candidate *other = &plan->candidate[j];
            bool same = wanted_on(call, other->variant->device) && strcmp(other->reason, first->reason) == 0;
            if (same) used += (size_t)snprintf(text + used, size - used, ", %s", other->variant->name);
        }
        if (used < size) used += (size_t)snprintf(text + used, size - used, ": %s", first->reason);
    }
}

static lacis_status none_can(lacis_run *run, const lacis_call *call, const lacis_plan *plan)
{
    char reasons[600];
    list_reasons(call, plan, reasons, sizeof reasons);
    static const char *const hint = "leave ON out: the planner takes what there is";
    const char *device = call->on == LACIS_ON_GPU ? "GPU" : "CPU", *verb = call->op->verb;
    if (!has_variant_on(call, call->on == LACIS_ON_GPU ? LACIS_GPU : LACIS_CPU) && call->on != LACIS_ON_AUTO)
        return lacis_run_fail_at(run, LACIS_UNSUPPORTED, call->offset, hint,
                                 "%s has no variant for a %s in this build", verb, device);
    if (call->on != LACIS_ON_AUTO)
        return lacis_run_fail_at(run, LACIS_UNSUPPORTED, call->offset, hint, "%s cannot run on a %s here (%s)", verb,
                                 device, reasons);
    return lacis_run_fail_at(run, LACIS_UNSUPPORTED, call->offset, NULL, "no variant of %s can run this (%s)", verb,
                             reasons);
}

static int able_ones(const lacis_plan *plan)
{
    int able = 0;
    for (int i = 0; i < plan->candidates; i++)
        able += plan->candidate[i].can;
    return able;
}

/* The candidate cannot after all, for the reason that the last error tells. */
static void give_up(lacis_run *run, lacis_candidate *candidate)
{
    candidate->can = false;
    snprintf(candidate->reason, sizeof candidate->reason, "%.*s", (int)sizeof candidate->reason - 1,
             run->host->error.message);
    lacis_host_ok(run->host);
}

static lacis_status estimate(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_plan *plan)
{
    char name[96];
    for (int i = 0; i < plan->candidates; i++) {
        lacis_candidate *candidate = &plan->candidate[i];
        if (!candidate->can || candidate->costed) continue;
        lacis_cost *cost = &candidate->cost;
        *cost = (lacis_cost){-1, -1, -1, -1, -1, 0, NULL};
        lacis_status status = candidate->variant->cost(run, call, profile, cost);
        if (status == LACIS_UNSUPPORTED) {
            give_up(run, candidate);
            continue;
        }
        LACIS_TRY(status);
        tune_name(call, candidate, name, sizeof name);
        cost->seconds = cost->once + (cost->seconds - cost->once) * lacis_profile_get(profile, name, 1.0);
        candidate->costed = true;
        candidate->fits = cost->peak_bytes <= (double)lacis_run_memory_left(run);
    }
    return LACIS_OK;
}

/* The cheapest that fits; where none fits, the cheapest. */
static int cheapest(const lacis_plan *plan)
{
    int best = -1;
    for (int i = 0; i < plan->candidates; i++) {
        const lacis_candidate *candidate = &plan->candidate[i];
        if (!candidate->can) continue;
        if (best < 0) {
            best = i;
            continue;
        }
        const lacis_candidate *present = &plan->candidate[best];
        bool better = candidate->cost.seconds < present->cost.seconds;
        if (candidate->fits != present->fits ? candidate->fits : better) best = i;
    }
    return best;
}

/* The cheapest of the others that fit; -1: there is none. */
static int runner_up(const lacis_plan *plan)
{
    int best = -1;
    for (int i = 0; i < plan->candidates; i++) {
        const lacis_candidate *other = &plan->candidate[i];
        if (i == plan->chosen || !other->can || !other->fits) continue;
        if (best < 0 || other->cost.seconds < plan->candidate[best].cost.seconds) best = i;
    }
    return best;
}

/* Why the chosen one is, in a sentence. */
static void say_choice(lacis_plan *plan, int able)
{
    const lacis_candidate *chosen = &plan->candidate[plan->chosen];
    const int next = able > 1 && chosen->fits ? runner_up(plan) : -1;
    int fitting = 0;
    for (int i = 0; i < plan->candidates; i++)
        fitting += plan->candidate[i].can && plan->candidate[i].fits;
    const bool limited = fitting < able;
    if (able == 1)
        snprintf(plan->reason, sizeof plan->reason, "the only way that can run here");
    else if (next < 0 || chosen->cost.seconds <= 0)
        snprintf(plan->reason, sizeof plan->reason, "the fastest by estimate%s", limited && chosen->fits ? " that fits memory" : "");
    else
        snprintf(
            plan->reason, sizeof plan->reason,
            "the fastest by estimate of %d ways that can run here%s; the next, %s, would take %.2g times as long",
            limited ? fitting : able, limited ? " and fit memory" : "", plan->candidate[next].variant->name,
            plan->candidate[next].cost.seconds / chosen->cost.seconds);
}

static void say_why(lacis_plan *plan)
{
    for (int i = 0; i < plan->candidates; i++) {
        lacis_candidate *candidate = &plan->candidate[i];
        if (i == plan->chosen || !candidate->can) continue;
        const lacis_candidate *winner = &plan->candidate[plan->chosen];
        if (!candidate->fits && winner->fits) {
            snprintf(candidate->reason, sizeof candidate->reason, "needs more memory than is left");
        } else if (winner->cost.seconds > 0) {
            snprintf(candidate->reason, sizeof candidate->reason, "%.2g times the time of %s",
                     candidate->cost.seconds / winner->cost.seconds, winner->variant->name);
        }
    }
}

static lacis_status too_large(lacis_run *run, const lacis_call *call, const lacis_candidate *chosen)
{
    char need[LACIS_NUMBER_TEXT], left[LACIS_NUMBER_TEXT];
    const char *cheaper = call->op->cheaper == NULL ? NULL : call->op->cheaper(call);
    return lacis_run_fail_at(run, LACIS_LIMIT, call->offset, cheaper,
                             "the result of %s needs about %s, but %s of memory_limit are left", call->op->verb,
                             lacis_format_bytes((uint64_t)chosen->cost.peak_bytes, need),
                             lacis_format_bytes(lacis_run_memory_left(run), left));
}

static void choose_block(lacis_run *run, lacis_plan *plan)
{
    uint64_t budget = lacis_run_memory_left(run) / BLOCK_SHARE;
    uint64_t largest = LARGEST_A_THREAD * (uint64_t)lacis_run_threads(run);
    if (largest < LARGEST_BLOCK) largest = LARGEST_BLOCK;
    if (budget > largest) budget = largest;
    plan->block_bytes = budget < SMALLEST_BLOCK ? SMALLEST_BLOCK : budget;
}

lacis_status lacis_plan_make(lacis_run *run, lacis_call *call, const lacis_profile *profile, lacis_purpose purpose,
                             bool explain, lacis_plan *out)
{
    lacis_plan *plan = out;
    memset(plan, 0, sizeof *plan);
    plan->call = call;
    plan->purpose = purpose;
    plan->block_bytes = UINT64_MAX;
    call->profile = profile;
    list_candidates(run, call, plan);
    int able = able_ones(plan);
    if (able == 0) return none_can(run, call, plan);

    bool blocks = call->op->fit != NULL;
    bool surely = blocks && call->op->fit(call, 0, lacis_run_memory_left(run) / 2) >= call->units;
    call->closely = explain || (purpose == LACIS_STORE && !surely);
    if (explain || able > 1 || (purpose == LACIS_STORE && !surely)) LACIS_TRY(estimate(run, call, profile, plan));
    able = able_ones(plan);
    if (able == 0) return none_can(run, call, plan);
    plan->chosen = cheapest(plan);
    const lacis_candidate *chosen = &plan->candidate[plan->chosen];
    say_why(plan);
    say_choice(plan, able);
    if (purpose == LACIS_STREAM && blocks) choose_block(run, plan);
    if (purpose == LACIS_STORE && chosen->costed && !chosen->fits) {
        if (!explain) return too_large(run, call, chosen);
        const char *cheaper = call->op->cheaper == NULL ? "" : call->op->cheaper(call);
        snprintf(plan->reason, sizeof plan->reason, "but it does not fit memory_limit if it must be stored%s%s",
                 cheaper[0] == '\0' ? "" : "; cheaper: ", cheaper);
    }
    return LACIS_OK;
}

/* The chosen one cannot after all: the next best is chosen, with a note. */
static lacis_status next_best(lacis_run *run, lacis_plan *plan)
{
    lacis_candidate *chosen = &plan->candidate[plan->chosen];
    give_up(run, chosen);
    if (able_ones(plan) == 0) return none_can(run, plan->call, plan);
    plan->chosen = cheapest(plan);
    lacis_run_note(run, LACIS_NOTE, "%s: %s; went on with %s on the %s", plan->call->op->verb, chosen->reason,
                   plan->candidate[plan->chosen].variant->name,
                   plan->candidate[plan->chosen].variant->device == LACIS_CPU ? "CPU" : "GPU");
    snprintf(plan->reason, sizeof plan->reason, "the next best one");
    return LACIS_OK;
}

lacis_status lacis_plan_run(lacis_run *run, lacis_plan *plan, int64_t begin, int64_t end, lacis_array **out)
{
    for (;;) {
        const lacis_variant *variant = plan->candidate[plan->chosen].variant;
        lacis_status status = variant->run(run, plan->call, begin, end, out);
        if (status != LACIS_UNSUPPORTED) return status;
        LACIS_TRY(next_best(run, plan));
    }
}

lacis_status lacis_plan_totals(lacis_run *run, lacis_plan *plan, int64_t begin, int64_t end, lacis_totals *totals,
                               bool *done)
{
    *done = false;
    for (;;) {
        const lacis_variant *variant = plan->candidate[plan->chosen].variant;
        lacis_totals more = *totals;
        if (variant->totals == NULL) return LACIS_OK;
        lacis_status status = variant->totals(run, plan->call, begin, end, &more);
        if (status == LACIS_OK) *totals = more;
        *done = status == LACIS_OK;
        if (status != LACIS_UNSUPPORTED) return status;
        LACIS_TRY(next_best(run, plan));
    }
}

static double least(double x, double y, double z)
{
    double low = x < y ? x : y;
    return z < low ? z : low;
}

/* The figure `name` followed by `suffix` becomes `value`; what it was before. A profile that cannot grow stays as it
 * was. */
static double exchange(lacis_profile *profile, const char *name, const char *suffix, double value)
{
    char own[120];
    snprintf(own, sizeof own, "%s%s", name, suffix);
    double before = lacis_profile_get(profile, own, 1.0);
    lacis_profile_set(profile, own, value);
    return before;
}

/* What slow runs taught of a candidate is forgotten bit by bit as long as that alone keeps it from being chosen: it
 * was perhaps the machine that was slow, and a candidate that never runs could not show it. If it was not, the next
 * run teaches it again. */
static void forget(lacis_profile *profile, const lacis_plan *plan)
{
    const double kept = 0.9;
    const lacis_candidate *chosen = &plan->candidate[plan->chosen];
    char name[96];
    for (int i = 0; i < plan->candidates; i++) {
        const lacis_candidate *other = &plan->candidate[i];
        if (i == plan->chosen || !other->can || !other->costed || other->fits != chosen->fits) continue;
        tune_name(plan->call, other, name, sizeof name);
        double factor = lacis_profile_get(profile, name, 1.0);
        double untaught = other->cost.once + (other->cost.seconds - other->cost.once) / factor;
        if (factor > 1 && untaught < chosen->cost.seconds) lacis_profile_set(profile, name, 1 + kept * (factor - 1));
    }
}

/* The factor is the least of the last three ratios of measured to predicted seconds: what else happens on the machine
 * only makes runs longer. Runs that start a device or compile teach nothing. */
void lacis_plan_learn(lacis_profile *profile, const lacis_plan *plan, double seconds)
{
    const lacis_candidate *chosen = &plan->candidate[plan->chosen];
    const double too_short = 0.002; /* seconds: start-up and noise would teach nonsense */
    const double most = 4, noticeable = 0.1;
    if (!chosen->costed || chosen->cost.seconds <= 0 || chosen->cost.once > 0) return;
    forget(profile, plan);
    char name[96];
    tune_name(plan->call, chosen, name, sizeof name);
    double factor = lacis_profile_get(profile, name, 1.0);
    /* The first use of a GPU's kernel loads it; that must not keep the GPU from ever being tried again. */
    const double limit = chosen->variant->device == LACIS_GPU ? 1.5 : most;
    double ratio = seconds / chosen->cost.seconds * factor;
    if (ratio > limit) ratio = limit;
    if (ratio < 1 / most) ratio = 1 / most;
    if (seconds < too_short && ratio < 1) ratio = 1;
    if (seconds < too_short && ratio >= factor) return; /* short ones only take back what slow ones taught */
    double last = exchange(profile, name, ".last", ratio), before = exchange(profile, name, ".before", last);
    double next = least(ratio, last, before);
    if (next > factor * (1 + noticeable) || next < factor * (1 - noticeable)) profile->learned = true;
    lacis_profile_set(profile, name, next);
}
