/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's bind: cells to trees, clauses to the plan that the kernels take. Called by the engine before planning.
 */
#include "simulate/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What is said of all types; then of single ones. */
static lacis_status bind_matters(lacis_run *run, const lacis_call *call, lacis_simulation *s)
{
    static const double usual[LACIS_MATTERS] = {1, 100, 1e-4, -65, 0.12, 0.036, 3e-4, -54.3, 50, -77};
    memcpy(s->matters.all, usual, sizeof usual);
    for (int i = 0; i < LACIS_MATTERS; i++) {
        const lacis_arg *arg = lacis_call_arg(call, lacis_matter_name[i]);
        bool passive = i == LACIS_MATTER_G || i == LACIS_MATTER_E, channel = i >= LACIS_MATTER_GNA;
        if (arg != NULL && (s->plan.hh ? passive : channel))
            return lacis_run_fail_at(run, LACIS_SYNTAX, arg->offset, s->plan.hh ? "use GL and EL" : "add HH",
                                     "%s belongs to %s", lacis_matter_name[i],
                                     s->plan.hh ? "passive membranes" : "HH");
        LACIS_TRY(lacis_real_bind(run, call, lacis_matter_name[i], i <= LACIS_MATTER_RA, &s->matters.all[i]));
        bool conductance = i == LACIS_MATTER_G || (i >= LACIS_MATTER_GNA && i <= LACIS_MATTER_GL);
        if (conductance && s->matters.all[i] < 0)
            return lacis_run_fail_at(run, LACIS_RANGE, arg->item[0].offset, NULL, "%s must not be negative",
                                     lacis_matter_name[i]);
    }
    return LACIS_OK;
}

static int count_args(const lacis_call *call, const char *keyword)
{
    int count = 0;
    for (int i = 0; i < call->arg_count; i++) {
        const char *own = call->op->params[call->args[i].param].keyword;
        count += own != NULL && strcmp(own, keyword) == 0;
    }
    return count;
}

/* The next argument of that keyword behind *at. */
static const lacis_arg *next_arg(const lacis_call *call, const char *keyword, int *at)
{
    for (; *at < call->arg_count; (*at)++) {
        const char *own = call->op->params[call->args[*at].param].keyword;
        if (own != NULL && strcmp(own, keyword) == 0) return &call->args[(*at)++];
    }
    return NULL;
}

static lacis_status bind_typed(lacis_run *run, const lacis_call *call, lacis_simulation *s)
{
    int at = 0, count = count_args(call, "TYPE");
    lacis_typed *typed;
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)(count + 1) * sizeof *typed, &typed));
    s->matters.typed = typed;
    for (const lacis_arg *arg; (arg = next_arg(call, "TYPE", &at)) != NULL;) {
        static const lacis_matter choice[] = {LACIS_MATTER_CM,  LACIS_MATTER_RA, LACIS_MATTER_G,  LACIS_MATTER_E,
                                              LACIS_MATTER_GNA, LACIS_MATTER_GK, LACIS_MATTER_GL, LACIS_MATTER_EL};
        lacis_matter matter = choice[arg->item[1].integer];
        int64_t type = arg->item[0].integer;
        double value = arg->item[2].real;
        bool any = matter == LACIS_MATTER_E || matter == LACIS_MATTER_EL;
        bool fine = isfinite(value) && (any || value > 0 || (value == 0 && matter > LACIS_MATTER_RA));
        if (!fine || type < INT32_MIN || type > INT32_MAX)
            return lacis_run_fail_at(run, LACIS_RANGE, arg->item[2].offset, NULL, "TYPE %" PRId64 ": %s cannot be %g",
                                     type, lacis_matter_name[matter], value);
        typed[s->matters.typed_count++] = (lacis_typed){(int32_t)type, matter, value};
    }
    return LACIS_OK;
}

static bool has_type(const lacis_simulation *s, int32_t type)
{
    for (int64_t c = 0; c < s->cells.count; c++)
        for (int64_t i = 0; i < s->cells.sections[c].count; i++)
            if (s->cells.sections[c].type[i] == type) return true;
    return false;
}

/* A figure for a type that no cell has is most likely a slip, but a script for many cells may mean it. */
static void check_types(lacis_run *run, const lacis_simulation *s)
{
    for (int i = 0; i < s->matters.typed_count; i++) {
        const lacis_typed *typed = &s->matters.typed[i];
        if (has_type(s, typed->type)) continue;
        lacis_run_note(run, LACIS_WARNING,
                       "TYPE %" PRId32 " %s changes nothing: no section has that type (SECTIONS lists types)",
                       typed->type, lacis_matter_name[typed->matter]);
    }
}

static lacis_status whole(lacis_run *run, const lacis_call *call, const char *keyword, int64_t low, int64_t *value)
{
    const lacis_arg *arg = lacis_call_arg(call, keyword);
    if (arg == NULL) return LACIS_OK;
    *value = arg->item[0].integer;
    if (*value >= low) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, arg->item[0].offset, NULL, "%s must be %" PRId64 " or more", keyword,
                             low);
}

static lacis_status bind_time(lacis_run *run, const lacis_call *call, lacis_simulation *s)
{
    const lacis_arg *method = lacis_call_arg(call, "METHOD"), *reduce = lacis_call_arg(call, "REDUCE");
    neuron_plan *plan = &s->plan;
    double celsius = 6.3;
    plan->hh = lacis_call_arg(call, "HH") != NULL;
    plan->every = 1;
    plan->v = -65;
    plan->threshold = 0;
    LACIS_TRY(lacis_real_bind(run, call, "DT", true, &plan->dt));
    LACIS_TRY(whole(run, call, "STEPS", 0, &plan->steps));
    LACIS_TRY(whole(run, call, "EVERY", 1, &plan->every));
    LACIS_TRY(lacis_real_bind(run, call, "V", false, &plan->v));
    LACIS_TRY(lacis_real_bind(run, call, "THRESHOLD", false, &plan->threshold));
    LACIS_TRY(lacis_real_bind(run, call, "CELSIUS", false, &celsius));
    if (method != NULL && method->item[0].integer != 0) plan->method = NEURON_CRANK_NICOLSON;
    if (reduce != NULL) plan->reduce = NEURON_MAX + (neuron_reduce)reduce->item[0].integer;
    const lacis_arg *warm = lacis_call_arg(call, "CELSIUS"), *threshold = lacis_call_arg(call, "THRESHOLD");
    if (warm != NULL && !plan->hh)
        return lacis_run_fail_at(run, LACIS_SYNTAX, warm->offset, NULL, "CELSIUS belongs to HH");
    if (threshold != NULL && plan->reduce != NEURON_SPIKES)
        return lacis_run_fail_at(run, LACIS_SYNTAX, threshold->offset, NULL, "THRESHOLD belongs to REDUCE spikes");
    plan->rate = pow(3, (celsius - 6.3) / 10);
    return LACIS_OK;
}

/* The figures of every node: cm and two (g, e) or four (channels). */
static void fill_figures(const lacis_simulation *s, int64_t cell, double *memory, neuron_shape *shape)
{
    static const lacis_matter passive[] = {LACIS_MATTER_CM, LACIS_MATTER_G, LACIS_MATTER_E};
    static const lacis_matter channels[] = {LACIS_MATTER_CM, LACIS_MATTER_GNA, LACIS_MATTER_GK, LACIS_MATTER_GL,
                                            LACIS_MATTER_EL};
    const double **to_passive[] = {&shape->cm, &shape->g, &shape->e};
    const double **to_channels[] = {&shape->cm, &shape->gna, &shape->gk, &shape->gl, &shape->el};
    const neuron_tree *tree = &s->trees.tree[cell];
    for (int i = 0; i < (s->plan.hh ? 5 : 3); i++, memory += tree->count) {
        lacis_matter matter = s->plan.hh ? channels[i] : passive[i];
        *(s->plan.hh ? to_channels[i] : to_passive[i]) = memory;
        int32_t section = -1;
        double value = 0;
        for (int64_t k = 0; k < tree->count; k++) {
            if (tree->section[k] != section)
                value = lacis_matter_of(&s->matters, s->cells.sections[cell].type[tree->section[k]], matter);
            section = tree->section[k];
            memory[k] = value;
        }
    }
}

static lacis_status bind_shapes(lacis_run *run, lacis_simulation *s)
{
    int64_t figures = s->plan.hh ? 5 : 3;
    uint64_t nodes = (uint64_t)s->trees.nodes, cells = (uint64_t)s->cells.count;
    LACIS_TRY(lacis_run_alloc(run, nodes * (uint64_t)figures * sizeof(double) + (nodes + cells) * sizeof(int32_t),
                              &s->nodes));
    LACIS_TRY(lacis_run_scratch(run, cells * sizeof *s->shape, &s->shape));
    double *memory = s->nodes;
    int32_t *chain = (int32_t *)(memory + nodes * (uint64_t)figures);
    for (int64_t c = 0; c < s->cells.count; c++) {
        const neuron_tree *tree = &s->trees.tree[c];
        neuron_shape *shape = &s->shape[c];
        *shape = (neuron_shape){.nodes = tree->count, .parent = tree->parent, .a = tree->a, .b = tree->b};
        shape->area = tree->area;
        shape->chain = chain;
        shape->chains = lacis_neuron_chains(tree->parent, tree->count, chain);
        shape->lane = c * s->lanes;
        shape->lanes = s->lanes;
        fill_figures(s, c, memory, shape);
        memory += figures * tree->count;
        chain += tree->count + 1;
    }
    s->plan.shape = s->shape;
    s->plan.shapes = s->cells.count;
    s->plan.lanes = s->cells.count * s->lanes;
    s->plan.ena = s->matters.all[LACIS_MATTER_ENA];
    s->plan.ek = s->matters.all[LACIS_MATTER_EK];
    s->compartments = s->trees.nodes * s->lanes;
    return LACIS_OK;
}

static lacis_status bind_clamps(lacis_run *run, const lacis_call *call, lacis_simulation *s)
{
    int at = 0;
    neuron_clamp *clamp;
    uint64_t most = (uint64_t)count_args(call, "CLAMP") * (uint64_t)s->cells.count;
    LACIS_TRY(lacis_run_scratch(run, (most + 1) * sizeof *clamp, &clamp));
    s->plan.clamp = clamp;
    for (const lacis_arg *arg; (arg = next_arg(call, "CLAMP", &at)) != NULL;) {
        double amplitude = arg->item[1].real, from = arg->item[2].real, to = arg->item[3].real;
        if (!isfinite(amplitude) || isnan(from) || isnan(to) || to < from)
            return lacis_run_fail_at(run, LACIS_RANGE, arg->item[3].offset, NULL,
                                     "a CLAMP flows FROM a time TO a later one, in ms");
        for (int64_t c = 0; c < s->cells.count; c++) {
            int32_t node;
            LACIS_TRY(lacis_place_find(run, s, &arg->item[0], c, &node));
            clamp[s->plan.clamps++] = (neuron_clamp){(int32_t)c, node, amplitude, from, to};
        }
    }
    return LACIS_OK;
}

static lacis_status bind_probes(lacis_run *run, const lacis_call *call, lacis_simulation *s)
{
    int at = 0;
    neuron_probe *probe;
    uint64_t most = (uint64_t)count_args(call, "PROBE") * (uint64_t)s->cells.count;
    LACIS_TRY(lacis_run_scratch(run, (most + 1) * sizeof *probe, &probe));
    s->plan.probe = probe;
    for (const lacis_arg *arg; (arg = next_arg(call, "PROBE", &at)) != NULL; s->plan.numbers++) {
        for (int64_t c = 0; c < s->cells.count; c++) {
            int32_t node;
            LACIS_TRY(lacis_place_find(run, s, &arg->item[0], c, &node));
            probe[s->plan.probes++] = (neuron_probe){(int32_t)c, node, (int32_t)s->plan.numbers};
        }
    }
    return LACIS_OK;
}

static lacis_status bind_rows(lacis_run *run, lacis_call *call, const lacis_simulation *s)
{
    double samples = (double)lacis_trace_samples(s);
    double rows = samples * (double)s->plan.numbers * (double)s->plan.lanes;
    if (rows > 9e15)
        return lacis_run_fail_at(run, LACIS_LIMIT, lacis_call_arg(call, "STEPS")->item[0].offset,
                                 "EVERY k keeps each k-th sample, REDUCE one figure a probe and lane",
                                 "samples %.3g times probes %" PRId64 " times lanes %" PRId64
                                 " are %.3g rows, more than can be numbered (9e15)",
                                 samples, s->plan.numbers, s->plan.lanes, rows);
    call->kind = LACIS_TABLE;
    call->dtype = LACIS_F64;
    call->column = lacis_trace_column;
    call->columns = LACIS_TRACE_COLUMNS;
    call->extent[0] = (int64_t)samples * s->plan.numbers * s->plan.lanes;
    call->units = s->plan.lanes;
    return LACIS_OK;
}

static lacis_status bind(lacis_run *run, lacis_call *call, lacis_simulation *s)
{
    LACIS_TRY(bind_time(run, call, s));
    LACIS_TRY(bind_matters(run, call, s));
    LACIS_TRY(bind_typed(run, call, s));
    LACIS_TRY(lacis_cut_bind(run, call, &s->cut));
    LACIS_TRY(lacis_cells_read(run, call, &s->cells));
    check_types(run, s);
    LACIS_TRY(lacis_trees_make(run, &s->cells, &s->cut, &s->matters, &s->trees));
    LACIS_TRY(lacis_lanes_bind(run, call, s));
    LACIS_TRY(bind_shapes(run, s));
    LACIS_TRY(lacis_nodes_bind(run, call, s));
    LACIS_TRY(bind_clamps(run, call, s));
    LACIS_TRY(bind_probes(run, call, s));
    return bind_rows(run, call, s);
}

lacis_status lacis_simulate_bind(lacis_run *run, lacis_call *call)
{
    lacis_simulation *s;
    call->work = NULL;
    LACIS_TRY(lacis_run_scratch(run, sizeof *s, &s));
    memset(s, 0, sizeof *s);
    s->run = run;
    call->work = s;
    lacis_status status = bind(run, call, s);
    if (status != LACIS_OK) lacis_simulate_unbind(run, call);
    return status;
}

void lacis_simulate_unbind(lacis_run *run, lacis_call *call)
{
    lacis_simulation *s = call->work;
    if (s == NULL) return;
    lacis_run_free(run, s->figures);
    lacis_run_free(run, s->nodes);
    lacis_trees_clear(run, &s->trees);
    lacis_cells_clear(run, &s->cells);
    call->work = NULL;
}
