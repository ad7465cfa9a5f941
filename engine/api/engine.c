/* SPDX-License-Identifier: Apache-2.0
 *
 * Engines: opening, closing, errors, options, interrupting, extending. lacis.h describes each function.
 */
#include "api/engine.h"

#include <stdlib.h>
#include <string.h>

static lacis_status open_parts(lacis_engine *engine, lacis_run *run, const char *path)
{
    if (path != NULL && strcmp(path, ":memory:") == 0) path = NULL;
    LACIS_TRY(lacis_registry_init(run, &engine->registry));
    LACIS_TRY(lacis_catalog_open(run, path, &engine->resolver, &engine->catalog));
    engine->world.catalog = engine->catalog;
    return lacis_exec_restore(&engine->world, run);
}

lacis_status lacis_open(const char *path, lacis_engine **out)
{
    *out = NULL;
    if (!lacis_memory_may(sizeof(lacis_engine))) return LACIS_NOMEM;
    lacis_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) return LACIS_NOMEM;
    if (lacis_host_init(&engine->host) != LACIS_OK) {
        free(engine);
        return LACIS_NOMEM;
    }
    lacis_profile_init(&engine->profile, &engine->host);
    engine->world = (lacis_world){
        .host = &engine->host,
        .registry = &engine->registry,
        .profile = &engine->profile,
    };
    engine->host.saver = (lacis_saver){&engine->world, lacis_exec_save_array, lacis_exec_can_save};
    engine->resolver = (lacis_resolver){lacis_exec_describe, lacis_exec_open, &engine->world};
    *out = engine;
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = open_parts(engine, &run, path);
    lacis_run_clear(&run);
    if (status != LACIS_OK) {
        lacis_catalog_close(engine->catalog);
        engine->catalog = NULL;
    }
    return status;
}

void lacis_close(lacis_engine *engine)
{
    if (engine == NULL) return;
    while (engine->statements != NULL)
        lacis_finalize(engine->statements);
    lacis_catalog_close(engine->catalog);
    lacis_exec_forget(&engine->world);
    lacis_registry_clear(&engine->host, &engine->registry);
    lacis_profile_clear(&engine->profile);
    lacis_host_clear(&engine->host);
    free(engine);
}

bool lacis_engine_usable(lacis_engine *engine)
{
    if (engine == NULL) return false;
    if (engine->catalog != NULL) return true;
    if (engine->host.error.code == LACIS_OK) {
        engine->host.error.code = LACIS_MISUSE;
        snprintf(engine->host.error.message, sizeof engine->host.error.message, "the database is not open");
    }
    return false;
}

bool lacis_engine_has(void *context, const char *name)
{
    lacis_engine *engine = context;
    lacis_entry entry;
    return lacis_catalog_find(engine->catalog, name, &entry);
}

lacis_status lacis_error_status(const lacis_engine *engine)
{
    return engine == NULL ? LACIS_NOMEM : engine->host.error.code;
}

const char *lacis_error_message(const lacis_engine *engine)
{
    return engine == NULL ? "out of memory" : engine->host.error.message;
}

int64_t lacis_error_offset(const lacis_engine *engine)
{
    return engine == NULL ? -1 : engine->host.error.offset;
}

const char *lacis_error_hint(const lacis_engine *engine)
{
    return engine == NULL ? "" : engine->host.error.hint;
}

void lacis_interrupt(lacis_engine *engine)
{
    if (engine == NULL || engine->catalog == NULL) return;
    atomic_store_explicit(&engine->host.cancel, 1, memory_order_relaxed);
    sqlite3_interrupt(lacis_catalog_db(engine->catalog));
}

void lacis_set_log(lacis_engine *engine, lacis_log_fn fn, void *arg)
{
    engine->host.log = fn;
    engine->host.log_arg = arg;
}

void lacis_set_progress(lacis_engine *engine, lacis_progress_fn fn, void *arg)
{
    engine->host.progress = fn;
    engine->host.progress_arg = arg;
}

void lacis_set_plot(lacis_engine *engine, lacis_plot_fn fn, void *arg)
{
    engine->plot = fn;
    engine->plot_arg = arg;
}

lacis_status lacis_set_option(lacis_engine *engine, const char *name, const char *value)
{
    if (!lacis_engine_usable(engine)) return LACIS_MISUSE;
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = lacis_exec_set(&engine->world, &run, name, value, -1);
    lacis_run_clear(&run);
    return status;
}

lacis_status lacis_get_option(lacis_engine *engine, const char *name, char *value, size_t size)
{
    if (engine == NULL) return LACIS_MISUSE;
    lacis_status status = lacis_exec_get(&engine->host, name, value, size);
    if (status == LACIS_OK) return status;
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    return lacis_run_fail(&run, status, "there is no option \"%s\"", name);
}

void lacis_memory_usage(lacis_engine *engine, uint64_t *now, uint64_t *peak, int reset_peak)
{
    lacis_memory *memory = engine->host.memory;
    if (now != NULL) *now = lacis_memory_used(memory);
    if (peak != NULL) *peak = lacis_memory_peak(memory);
    if (reset_peak != 0) lacis_memory_reset_peak(memory);
}

lacis_status lacis_register_operator(lacis_engine *engine, const lacis_op *op)
{
    if (!lacis_engine_usable(engine)) return LACIS_MISUSE;
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = lacis_registry_add_op(&run, &engine->registry, op);
    lacis_run_clear(&run);
    return status;
}

lacis_status lacis_register_loader(lacis_engine *engine, const struct lacis_loader *loader)
{
    if (!lacis_engine_usable(engine)) return LACIS_MISUSE;
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = lacis_registry_add_loader(&run, &engine->registry, loader);
    lacis_run_clear(&run);
    return status;
}

/* ------------------------------------------------------------------------------- help with typing */

static void offer_names(void *context, lacis_complete_fn add, void *arg)
{
    const lacis_engine *engine = context;
    for (int i = 0; i < lacis_catalog_count(engine->catalog); i++) {
        lacis_entry entry;
        lacis_catalog_entry(engine->catalog, i, &entry);
        add(arg, entry.name, entry.view != NULL ? "view" : "array");
    }
}

lacis_status lacis_complete(lacis_engine *engine, const char *text, size_t cursor, size_t *start,
                            lacis_complete_fn fn, void *arg)
{
    if (!lacis_engine_usable(engine)) return LACIS_MISUSE;
    const lacis_completion_source source = {&engine->registry, offer_names, lacis_exec_settings, engine};
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = lacis_lang_complete(&run, &source, text, cursor, start, fn, arg);
    lacis_run_clear(&run);
    return status;
}

int lacis_incomplete(const char *text)
{
    return lacis_lang_incomplete(text) ? 1 : 0;
}

void lacis_free(void *memory)
{
    free(memory);
}
