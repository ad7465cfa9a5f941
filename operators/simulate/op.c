/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE: voltages of neurons over time. This file is the descriptor; the engine's registry names it.
 */
#include "simulate/simulate.h"

#include <inttypes.h>

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "a table of samples (LOAD cell FROM '....swc')"},
    {.keyword = "DT", .form = "%r", .required = true, .help = "a step, ms"},
    {.keyword = "STEPS", .form = "%i", .required = true, .help = "how many"},
    {.keyword = "CLAMP",
     .form = "%p %r FROM %r TO %r",
     .repeated = true,
     .help = "a current into a place, nA, from a time to a time in ms"},
    {.keyword = "PROBE",
     .form = "%p",
     .required = true,
     .repeated = true,
     .help = "a place whose voltage is wanted: soma, 'dend[3](0.5)', or a sample's id"},
    {.keyword = "EVERY", .form = "%i", .help = "keep each n-th step (1)"},
    {.keyword = "REDUCE", .form = "max|min|mean|spikes", .help = "one value a probe and lane instead of a trace"},
    {.keyword = "THRESHOLD", .form = "%r", .help = "of REDUCE spikes, mV (0)"},
    {.keyword = "LANES", .form = "%i", .help = "copies of each cell"},
    {.keyword = "PARAMETERS",
     .form = "%a",
     .help = "a table with a row for each lane: v, cm, ra, g, e, amplitude ..."},
    {.keyword = "CM", .form = "%r", .help = "capacitance, uF/cm2 (1)"},
    {.keyword = "RA", .form = "%r", .help = "axial resistivity, ohm cm (100)"},
    {.keyword = "G", .form = "%r", .help = "passive conductance, S/cm2 (0.0001)"},
    {.keyword = "E", .form = "%r", .help = "its reversal potential, mV (-65)"},
    {.keyword = "V", .form = "%r", .help = "voltage at t = 0, mV (-65)"},
    {.keyword = "HH", .form = "", .help = "channels of Hodgkin and Huxley instead of a passive membrane"},
    {.keyword = "CELSIUS", .form = "%r", .help = "with HH: the temperature (6.3)"},
    {.keyword = "GNA", .form = "%r", .help = "with HH: sodium, S/cm2 (0.12)"},
    {.keyword = "GK", .form = "%r", .help = "with HH: potassium (0.036)"},
    {.keyword = "GL", .form = "%r", .help = "with HH: leak (0.0003)"},
    {.keyword = "EL", .form = "%r", .help = "with HH: the leak's reversal potential, mV (-54.3)"},
    {.keyword = "ENA", .form = "%r", .help = "with HH: sodium's (50)"},
    {.keyword = "EK", .form = "%r", .help = "with HH: potassium's (-77)"},
    {.keyword = "TYPE",
     .form = "%i CM|RA|G|E|GNA|GK|GL|EL %r",
     .repeated = true,
     .help = "another value in sections of one type (1 soma, 2 axon, 3 dendrite, 4 apical)"},
    LACIS_CUT_PARAMS,
    LACIS_EXACT_PARAM,
    {.keyword = "METHOD", .form = "euler|crank_nicolson", .help = "backward Euler (the default) or Crank-Nicolson"},
};

static const char *const examples[] = {
    "SIMULATE cell DT 0.025 STEPS 2000 CLAMP soma 0.1 FROM 5 TO 25 PROBE soma",
    "SIMULATE cell DT 0.025 STEPS 2000 HH CLAMP 'dend[3](0.5)' 1 FROM 5 TO 6 PROBE soma REDUCE spikes",
    "SIMULATE cell DT 0.025 STEPS 2000 CLAMP soma 0.1 FROM 5 TO 25 PARAMETERS p PROBE soma REDUCE max",
    "SIMULATE cell DT 0.05 STEPS 1000 TYPE 2 G 0.001 NSEG 1 PROBE 17 EVERY 4 METHOD crank_nicolson",
    NULL,
};

static const char help[] =
    "SIMULATE cell DT ms STEPS n PROBE place gives a table: t in ms, probe (the number of its PROBE in the "
    "statement, "
    "from 0),\n"
    "v in mV, lane. The first sample is at t = 0, the others after each step, or after each k-th with EVERY k. "
    "REDUCE "
    "max or\n"
    "min keeps the greatest or least sample with its time, mean their mean, spikes how often v came up to THRESHOLD, "
    "with\n"
    "the time of the first one.\n"
    "\n"
    "Sections are cut as in COMPARTMENTS (d_lambda 0.1 at 100 Hz unless NSEG, LENGTH or DLAMBDA says otherwise). "
    "The\n"
    "membrane is passive (G, E) or, with HH, that of Hodgkin and Huxley's squid axon with exact rates; TYPE t NAME "
    "value\n"
    "sets a figure for sections of one type. A CLAMP is a current into a place from a time to a time.\n"
    "\n"
    "A place is soma, another section by NEURON's name with x from 0 to 1 ('dend[3](0.5)'; without x the middle), or "
    "the id\n"
    "of a sample. Places hold in every cell of the table.\n"
    "\n"
    "LANES n simulates each cell n times; PARAMETERS table says how the copies differ: columns lane (0 ..), v, cm, "
    "ra, "
    "g, e\n"
    "(with HH: gna, gk, gl, el, ena, ek), amplitude (of every CLAMP). Lanes of several cells are numbered through: "
    "lane l of\n"
    "the c-th cell is c * lanes + l.\n"
    "\n"
    "METHOD euler is NEURON's secondorder 0, crank_nicolson its secondorder 1 and 2. Results agree with NEURON 8 to "
    "1e-9 mV\n"
    "(1e-7 with HH and its rate tables off). On the CPU the same statement gives the same bits on any number of "
    "threads, "
    "lanes\n"
    "and ranks and any vector width; on GPUs on any number of lanes, panels and GPUs of one kind (SET deterministic "
    "= on "
    "keeps\n"
    "the planner to ways that agree in every bit). docs/neurons.md has the mathematics. Hines 1984; Hodgkin and "
    "Huxley "
    "1952;\n"
    "Carnevale and Hines 2006.";

static const char *factored(const lacis_simulation *s)
{
    if (s->plan.hh) return "its matrix eliminated in every step";
    bool shared = lacis_neuron_shared_bytes(&s->plan) > 0;
    return shared ? "its matrix eliminated once, for all lanes" : "its matrix eliminated once, for each lane";
}

static lacis_status explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    const lacis_simulation *s = call->work;
    const neuron_plan *plan = &s->plan;
    LACIS_TRY(lacis_lines_add(lines, "cells %" PRId64 ", sections %" PRId64 ", nodes %" PRId64 " (compartments: %s)",
                              s->cells.count, s->cells.first_section[s->cells.count], s->trees.nodes,
                              lacis_cut_text(run, &s->cut)));
    LACIS_TRY(lacis_lines_add(
        lines, "lanes %" PRId64 " of each cell, compartments %" PRId64 ", times %" PRId64 " steps of %g ms", s->lanes,
        s->compartments, plan->steps, plan->dt));
    LACIS_TRY(lacis_lines_add(lines, "membrane: %s, %s; %s", plan->hh ? "Hodgkin-Huxley" : "passive", factored(s),
                              plan->method == NEURON_EULER ? "backward Euler" : "Crank-Nicolson"));
    LACIS_TRY(lacis_lines_add(
        lines, "lanes: %d side by side in vectors (%s), a block of them (%.3g kB) through all steps at a time",
        lacis_neuron_width(s->lanes), lacis_isa_words(lacis_neuron_isa()),
        1e-3 * (double)lacis_neuron_workspace(plan)));
    LACIS_TRY(lacis_simulate_explain_gpu(s, lines));
    return lacis_simulate_explain_ranks(run, call, lines);
}

/* Whole vectors of lanes as far as possible. */
static int64_t fit(const lacis_call *call, int64_t begin, uint64_t bytes)
{
    const lacis_simulation *s = call->work;
    uint64_t lane = LACIS_TRACE_ROW_BYTES * (uint64_t)(call->extent[0] / call->units),
             lanes = bytes / (lane > 0 ? lane : 1);
    uint64_t width = (uint64_t)lacis_neuron_width(s->lanes), left = (uint64_t)(call->units - begin);
    if (lanes > width) lanes -= lanes % width;
    return begin + (int64_t)(lanes < left ? lanes : left);
}

static const char *cheaper(const lacis_call *call)
{
    (void)call;
    return "EVERY k, or REDUCE max, min, mean or spikes";
}

static const lacis_variant *const variants[] = {
    &lacis_simulate_lanes,     &lacis_simulate_gpu_thread, &lacis_simulate_gpu_chip,
    &lacis_simulate_gpu_power, &lacis_simulate_ranks,      &lacis_simulate_ranks_gpu,
};

const lacis_op lacis_op_simulate = {
    .verb = "SIMULATE",
    .summary = "voltages of neurons over time, as traces or reduced",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "compartment-steps",
    .bind = lacis_simulate_bind,
    .unbind = lacis_simulate_unbind,
    .fit = fit,
    .cheaper = cheaper,
    .explain = explain,
    .calibrate = lacis_simulate_calibrate,
    .variants = variants,
    .variant_count = LACIS_COUNT(variants),
};
