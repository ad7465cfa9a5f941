/* SPDX-License-Identifier: Apache-2.0
 *
 * Running things: calls to arrays, rows or totals; loading, generating and saving; the tables of SHOW. api/ calls
 * these once a statement is parsed.
 */
#ifndef LACIS_EXEC_EXEC_H
#define LACIS_EXEC_EXEC_H

#include "catalog/catalog.h"
#include "lang/lang.h"
#include "plan/plan.h"

/* What running needs to know of its engine. */
typedef struct lacis_world {
    lacis_host *host;
    lacis_catalog *catalog;
    lacis_registry *registry;
    lacis_profile *profile;
    int depth;                   /* of views within views */
    const char *summary;         /* of a change, in scratch: told once it is committed; NULL: none */
    struct described *described; /* describe.c's answers, good for one generation of the catalog */
} lacis_world;

/* operands.c: puts an array behind every operand (computing views and nested calls) and binds. Always followed by
 * lacis_exec_unbind, also on failure. `restriction` may be NULL; it must live as long as the call. */
lacis_status lacis_exec_bind(lacis_world *world, lacis_run *run, lacis_call *call,
                             const lacis_restriction *restriction);
void lacis_exec_unbind(lacis_run *run, lacis_call *call);
/* All of a view. */
lacis_status lacis_exec_view_array(lacis_world *world, lacis_run *run, const char *text, lacis_array **out);

/* store.c: plans a bound call and computes all of it. plan may be NULL; where `explain` is set costs are estimated in
 * any case, for EXPLAIN ANALYZE. */
lacis_status lacis_exec_store(lacis_world *world, lacis_run *run, lacis_call *call, bool explain, lacis_plan *plan,
                              lacis_array **out);
/* EXPLAIN [ANALYZE] of a call, nested calls included. */
lacis_status lacis_exec_explain(lacis_world *world, lacis_run *run, lacis_call *call, bool analyze,
                                lacis_lines *lines);

/* stream.c: the rows of a call's text, computed block by block while they are read. columns may be NULL. */
lacis_status lacis_exec_rows(lacis_world *world, lacis_run *run, const char *text, const lacis_bindings *bindings,
                             const lacis_filter *filter, lacis_columns *columns, lacis_rows **out);
/* Called for each block of the result of a call's text, in order; the block is released afterwards. */
typedef lacis_status (*lacis_block_fn)(void *context, lacis_run *run, const lacis_array *block);
lacis_status lacis_exec_blocks(lacis_world *world, lacis_run *run, const char *text, lacis_block_fn fn,
                               void *context);

/* Totals of a call's text: by the variant itself where it can, else block by block. */
lacis_status lacis_exec_sum(lacis_world *world, lacis_run *run, const char *text, lacis_totals *totals);

/* describe.c: what a name is to SQL (the catalog's resolver). */
lacis_status lacis_exec_describe(void *world, lacis_run *run, const char *name, lacis_relation *out);
lacis_status lacis_exec_open(void *world, lacis_run *run, const char *name, const lacis_filter *filter,
                             lacis_rows **out);
lacis_status lacis_exec_totals(lacis_world *world, lacis_run *run, const char *name, lacis_totals *out);
/* Of one column of an array whose columns say `each`; NULL: of none, its rows are counted. */
lacis_status lacis_exec_column_totals(lacis_world *world, lacis_run *run, const char *name, const char *column,
                                      lacis_totals *out);
void lacis_exec_forget(lacis_world *world); /* frees what describe.c keeps */

/* put.c: enters a result under its name and readies the summary. */
lacis_status lacis_exec_put(lacis_world *world, lacis_run *run, const char *name, lacis_array *array, double started);
/* Before anything is computed: whether the tables that go with the operator's results could be put, too. */
lacis_status lacis_exec_check_tables(lacis_world *world, lacis_run *run, const lacis_op *op, const char *name);

/* load.c */
lacis_status lacis_exec_load(lacis_world *world, lacis_run *run, const lacis_ast *ast);
lacis_status lacis_exec_generate(lacis_world *world, lacis_run *run, const lacis_ast *ast);

/* save.c: SAVE; and lacis_run_save, with the world as context. */
lacis_status lacis_exec_save(lacis_world *world, lacis_run *run, const lacis_ast *ast);
lacis_status lacis_exec_save_array(void *world, lacis_run *run, const lacis_array *array, const char *path);
lacis_status lacis_exec_can_save(void *world, lacis_run *run, const lacis_outline *form, const char *path,
                                 int64_t offset);

/* settings.c */
lacis_status lacis_exec_set(lacis_world *world, lacis_run *run, const char *name, const char *value, int64_t offset);
lacis_status lacis_exec_get(const lacis_host *host, const char *name, char *value, size_t size);
void lacis_exec_settings(void *context, lacis_complete_fn add, void *arg);
/* Applies what the catalog keeps of options and of this machine's profile. */
lacis_status lacis_exec_restore(lacis_world *world, lacis_run *run);
lacis_status lacis_exec_keep_profile(lacis_world *world, lacis_run *run);
lacis_status lacis_exec_calibrate(lacis_world *world, lacis_run *run);

/* tune.c: TUNE, and what the catalog keeps of it. */
lacis_status lacis_exec_tune(lacis_world *world, lacis_run *run, const lacis_ast *ast);
lacis_status lacis_exec_restore_tuned(lacis_world *world, lacis_run *run);
/* SHOW operator and TUNE operator: the operator of that name, or an error with the nearest one. */
lacis_status lacis_exec_operator(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_op **out);

/* serve.c: does what rank 0 asks for until it leaves. deal.c, the other side, stands in lacis_extend.h. */
lacis_status lacis_exec_serve(lacis_world *world, lacis_ranks *ranks);

/* table.c: small tables of text and integers, as row sources. */
typedef struct lacis_table lacis_table;
lacis_status lacis_table_new(lacis_run *run, const char *const *columns, int count, lacis_table **out);
/* One cell after the other, row by row. NULL text: a null. */
lacis_status lacis_table_text(lacis_run *run, lacis_table *table, const char *text);
lacis_status lacis_table_integer(lacis_run *run, lacis_table *table, int64_t value);
lacis_status lacis_table_real(lacis_run *run, lacis_table *table, double value);
void lacis_table_free(lacis_table *table); /* NULL is fine */
/* The table as rows, which then own it. */
lacis_rows *lacis_table_rows(lacis_table *table);
int lacis_table_columns(const lacis_rows *rows, const char *const **names);
lacis_status lacis_table_of_lines(lacis_run *run, const lacis_lines *lines, lacis_table **out);

/* show.c */
const char *lacis_kind_shown(lacis_kind kind); /* "graph", "bodies" */
lacis_status lacis_exec_show(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table **out);

#endif
