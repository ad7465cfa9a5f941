/* SPDX-License-Identifier: Apache-2.0
 *
 * Made-up operators, formats and generators whose descriptors use every kind of form, for tests of the parser and of
 * completion. Nothing of them can run.
 */
#ifndef LACIS_TESTS_FAKE_LANG_H
#define LACIS_TESTS_FAKE_LANG_H

#include "lang/lang.h"

static const lacis_param fake_multiply_params[] = {
    {NULL, "%a", NULL, true, false, "left operand"}, {"BY", "%a", NULL, true, false, "right operand"},
    {"CON", "%e", "a,b,s,c,t", false, false, ""},    {"AGG", "%g", NULL, false, false, ""},
    {"MASK", "[NOT] %a", NULL, false, false, ""},    {"WHERE", "%e", "src", false, false, ""},
    {"TOP", "%i", NULL, false, false, ""},
};
static const lacis_op fake_multiply = {
    .verb = "MULTIPLY", .params = fake_multiply_params, .param_count = LACIS_COUNT(fake_multiply_params)};

/* An operator that has all sorts of clauses; its operand may be left out. */
static const lacis_param fake_forms_params[] = {
    {NULL, "%a", NULL, false, false, ""},        {"CLAMP", "%n %r FROM %r TO %r", NULL, false, true, ""},
    {"UNTIL", "STABLE", NULL, false, false, ""}, {"EDGE", "fixed|periodic|open [WRAP] %i", NULL, false, false, ""},
    {"SET", "%n = %a", NULL, false, false, ""},  {"NAMED", "%s", NULL, false, false, ""},
    {"FLAG", "", NULL, false, false, ""},        {"MANY", "%i %i %i %i %i %i %i %i %i", NULL, false, false, ""},
    {"ODD", "%q", NULL, false, false, ""},       {"TIMES", "%z", NULL, false, false, ""},
};
static const lacis_op fake_forms = {
    .verb = "FORMS", .params = fake_forms_params, .param_count = LACIS_COUNT(fake_forms_params)};

/* One whose clauses have groups, alternatives, free names and lists. */
static const lacis_param fake_relax_params[] = {
    {NULL, "%a", NULL, true, false, ""},
    {"STEP", "[%n =] %f ,...", "x,t", true, false, ""},
    {"UNTIL", "max|sum < %r [EVERY %i]", NULL, false, false, ""},
    {"EDGE", "[OF %n] [left|right] {fixed [%v]|free|robin %r %r %r|from %a AT %i}", NULL, false, true, ""},
    {"COEFF", "%n = %a ,...", NULL, false, true, ""},
    {"KEEP", "EVERY %i [TO %s] [AS %n]", NULL, false, false, ""},
    {"HINT", "[%i] [%e]", "h", false, false, ""},
    {"OPEN", "[EVERY %i", NULL, false, false, ""},
    {"WIDE", "[A %i %i %i] {B %i %i %i|C %i %i %i %i}", NULL, false, false, ""},
};
static const lacis_op fake_relax = {
    .verb = "RELAX", .params = fake_relax_params, .param_count = LACIS_COUNT(fake_relax_params)};

static const lacis_op *fake_ops[] = {&fake_multiply, &fake_forms, &fake_relax};

static lacis_status fake_load(lacis_run *run, const lacis_source *source, const lacis_options *options,
                              lacis_array **out)
{
    (void)run;
    (void)source;
    (void)options;
    (void)out;
    return LACIS_UNSUPPORTED;
}
static lacis_status fake_save(lacis_run *run, const lacis_array *array, FILE *file)
{
    (void)run;
    (void)array;
    (void)file;
    return LACIS_UNSUPPORTED;
}
static const lacis_option_spec fake_edge_options[] = {{"directed", 'b', NULL, NULL, false, ""},
                                                      {"duplicates", 'w', "sum|min|max", "sum", false, ""},
                                                      {"header", 'b', NULL, NULL, false, ""}};
static const lacis_option_spec fake_mtx_options[] = {{"directed", 'b', NULL, NULL, false, ""},
                                                     {"base", 'i', NULL, NULL, false, ""}};
static const lacis_loader fake_edges = {
    .name = "edges", .load = fake_load, .options = fake_edge_options, .option_count = 3};
static const lacis_loader fake_mtx = {
    .name = "mtx", .load = fake_load, .save = fake_save, .options = fake_mtx_options, .option_count = 2};
static const lacis_loader *fake_loaders[] = {&fake_edges, &fake_mtx};

static const lacis_option_spec fake_rmat_options[] = {{"scale", 'i', NULL, NULL, true, ""},
                                                      {"seed", 'i', NULL, "1", false, ""}};
static const lacis_generator fake_rmat = {.name = "rmat", .options = fake_rmat_options, .option_count = 2};
static const lacis_generator *fake_generators[] = {&fake_rmat};

static const lacis_registry fake_registry = {.op = fake_ops,
                                             .ops = LACIS_COUNT(fake_ops),
                                             .loader = fake_loaders,
                                             .loaders = LACIS_COUNT(fake_loaders),
                                             .generator = fake_generators,
                                             .generators = LACIS_COUNT(fake_generators)};

#endif
