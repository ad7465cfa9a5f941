/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands behind lacis_engine and lacis_statement; for the files of api/ alone.
 */
#ifndef LACIS_API_ENGINE_H
#define LACIS_API_ENGINE_H

#include "exec/exec.h"

struct lacis_engine {
    lacis_host host;
    lacis_registry registry;
    lacis_profile profile;
    lacis_world world;
    lacis_catalog *catalog;
    lacis_resolver resolver;
    lacis_statement *statements; /* a list, so that closing can finalize what is left */
    lacis_plot_fn plot;          /* NULL: none */
    void *plot_arg;
    int running; /* statements that stand between their first step and their end */
};

/* False (and LACIS_MISUSE set where there is an engine to set it on): the engine did not open. */
bool lacis_engine_usable(lacis_engine *engine);
/* Whether `name` is an array or view. */
bool lacis_engine_has(void *engine, const char *name);
/* lacis_exec_totals's answer as SQL would give it: one row. each: totals of each item's own column instead. */
lacis_status lacis_totals_table(lacis_run *run, const lacis_total_query *query, const lacis_totals *totals, bool each,
                                const char *const *headings, lacis_table **out);
/* Whether every column that the query asks for is one of the relation's, in a kind that totals know. */
bool lacis_totals_fit(const lacis_total_query *query, const lacis_relation *relation);

#endif
