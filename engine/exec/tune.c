/* SPDX-License-Identifier: Apache-2.0
 *
 * TUNE: an operator measures its candidates, and its tables go into the catalog, each under its device and name. Of a
 * TUNE that fails or is stopped nothing stays.
 */
#include "exec/exec.h"

#include <string.h>

static const char GROUP[] = "tuned";
/* Between device and name where both are one name in the catalog. */
static const char BETWEEN[] = " / ";

struct tables {
    lacis_world *world;
    lacis_run *run;
    lacis_profile *to;
};

static lacis_status copy_table(void *arg, const char *device, const char *name, const lacis_tune_table *table)
{
    char text[LACIS_TUNED_TEXT];
    struct tables *tables = arg;
    lacis_tuned_text(table, text);
    return lacis_tuned_restore(tables->to, device, name, text);
}

static lacis_status keep_table(void *arg, const char *device, const char *name, const lacis_tune_table *table)
{
    char text[LACIS_TUNED_TEXT];
    struct tables *tables = arg;
    char *key = lacis_run_text(tables->run, "%s%s%s", device, BETWEEN, name);
    if (key == NULL) return lacis_run_fail(tables->run, LACIS_NOMEM, "out of memory");
    lacis_tuned_text(table, text);
    return lacis_catalog_keep(tables->run, tables->world->catalog, GROUP, key, text);
}

/* What cannot be read, by a newer lacis perhaps, is passed over: the shipped defaults stand. */
static void restore_table(void *arg, const char *key, const char *text)
{
    char device[LACIS_TUNED_DEVICE];
    const char *name = strstr(key, BETWEEN);
    if (name == NULL || (size_t)(name - key) >= sizeof device) return;
    memcpy(device, key, (size_t)(name - key));
    device[name - key] = '\0';
    lacis_tuned_restore(arg, device, name + strlen(BETWEEN), text);
}

lacis_status lacis_exec_restore_tuned(lacis_world *world, lacis_run *run)
{
    return lacis_catalog_kept(run, world->catalog, GROUP, restore_table, world->profile);
}

/* The tables change places with those of `other`. */
static void exchange_tables(lacis_profile *profile, lacis_profile *other)
{
    lacis_profile kept = *profile;
    profile->table = other->table, profile->tables = other->tables, profile->table_room = other->table_room;
    other->table = kept.table, other->tables = kept.tables, other->table_room = kept.table_room;
}

struct entering {
    lacis_world *world;
    lacis_run *run;
    double started;
    const char *names; /* entered so far; NULL: none */
};

/* Of several tables one summary, for it is told once all stand. */
static lacis_status summarize(struct entering *to, const char *name)
{
    lacis_world *world = to->world;
    bool first = to->names == NULL;
    to->names = first ? lacis_run_text(to->run, "%s", name) : lacis_run_text(to->run, "%s, %s", to->names, name);
    if (to->names != NULL && !first)
        world->summary = lacis_run_text(to->run, "%s: tables (%.2f s)", to->names, lacis_now() - to->started);
    return to->names == NULL || world->summary == NULL ? lacis_run_fail(to->run, LACIS_NOMEM, "out of memory")
                                                       : LACIS_OK;
}

/* A name that SQL has is no reason to lose what was measured in all those seconds. */
static lacis_status enter_curves(void *arg, const char *name, lacis_array *table)
{
    struct entering *to = arg;
    lacis_status status = lacis_catalog_may_put(to->run, to->world->catalog, name);
    if (status == LACIS_NAME) {
        lacis_run_note(to->run, LACIS_WARNING, "curves not kept: %s", to->run->host->error.message);
        lacis_host_ok(to->run->host);
        return LACIS_OK;
    }
    LACIS_TRY(status);
    LACIS_TRY(lacis_exec_put(to->world, to->run, name, table, to->started));
    return summarize(to, name);
}

static lacis_status tune(lacis_world *world, lacis_run *run, const lacis_op *op, const lacis_ast *ast)
{
    const lacis_tune_wish wish = {ast->string, ast->string_offset, ast->seconds};
    struct tables tables = {world, run, NULL};
    struct entering entering = {world, run, lacis_now(), NULL};
    lacis_status status = op->tune(run, world->profile, &wish);
    LACIS_TRY(status == LACIS_OK ? lacis_tune_kept(world->profile, enter_curves, &entering) : status);
    if (lacis_catalog_in_file(world->catalog)) LACIS_TRY(lacis_tuned_each(world->profile, keep_table, &tables));
    return LACIS_OK;
}

lacis_status lacis_exec_tune(lacis_world *world, lacis_run *run, const lacis_ast *ast)
{
    const lacis_op *op;
    double start = lacis_now();
    LACIS_TRY(lacis_exec_operator(world, run, ast, &op));
    if (op->tune == NULL)
        return lacis_run_fail_at(run, LACIS_UNSUPPORTED, ast->name_offset, NULL, "%s has nothing to tune", op->verb);
    lacis_profile before;
    lacis_profile_init(&before, world->host);
    struct tables tables = {world, run, &before};
    lacis_status status = lacis_tuned_each(world->profile, copy_table, &tables);
    bool copied = status == LACIS_OK;
    if (!copied) status = lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    if (copied) status = tune(world, run, op, ast);
    lacis_tune_kept(world->profile, NULL, NULL); /* of one that failed */
    if (copied && status != LACIS_OK) exchange_tables(world->profile, &before);
    lacis_profile_clear(&before);
    LACIS_TRY(status);
    lacis_run_note(run, LACIS_SUMMARY, "tuned %s (%.2f s)%s", op->verb, lacis_now() - start,
                   lacis_catalog_in_file(world->catalog) ? ""
                                                         : "; its tables last as long as this database in memory");
    return LACIS_OK;
}
