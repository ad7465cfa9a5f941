/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of SHOW: one row in `table` below for each, with its columns and the function that fills it.
 */
#include "core/device.h"
#include "core/grid.h"
#include "exec/settings.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

const char *lacis_kind_shown(lacis_kind kind)
{
    static const char *const name[] = {
        [LACIS_CSR] = "graph",         [LACIS_VECTOR] = "vector",       [LACIS_TABLE] = "table",
        [LACIS_INTERLEAVED] = "batch", [LACIS_SYMMETRIC] = "symmetric", [LACIS_BODIES] = "bodies",
        [LACIS_GRID] = "grid",
    };
    return name[kind];
}

/* "1024 x 768", "256 x 256, fields u, v" */
static void grid_text(const lacis_entry *entry, char *text, size_t size)
{
    char shape[LACIS_GRID_SHAPE_TEXT], fields[LACIS_GRID_FIELDS_TEXT];
    int64_t extent[3];
    const lacis_columns *columns = entry->columns;
    lacis_grid_extents(entry->extent, entry->entries, columns->keys, extent);
    lacis_grid_fields_text(columns->name + columns->keys, columns->count - columns->keys, fields);
    size_t told = strlen(fields);
    if (told > 2) fields[told - 2] = '\0'; /* ", " */
    snprintf(text, size, "%s%s%s", lacis_grid_shape_text(extent, columns->keys, shape), told > 2 ? ", " : "", fields);
}

/* "240 x 240", "256000 x 319, block(64)" */
static lacis_status shape_text(lacis_world *world, lacis_run *run, const lacis_entry *entry, char *text, size_t size)
{
    char layout[LACIS_LAYOUT_TEXT];
    int64_t block;
    if (entry->kind == LACIS_INTERLEAVED) {
        LACIS_TRY(lacis_catalog_layout(run, world->catalog, entry->name, &block));
        snprintf(text, size, "%" PRId64 " x %" PRId64 ", %s", entry->extent[0], entry->extent[1],
                 lacis_batch_layout_text(block, layout));
    } else if (entry->kind == LACIS_CSR) {
        snprintf(text, size, "%" PRId64 " x %" PRId64, entry->extent[0], entry->extent[1]);
    } else if (entry->kind == LACIS_SYMMETRIC && entry->extent[1] != 1) {
        snprintf(text, size, "%" PRId64 " of %" PRId64 " x %" PRId64, entry->extent[1], entry->extent[0],
                 entry->extent[0]);
    } else if (entry->kind == LACIS_SYMMETRIC) {
        snprintf(text, size, "%" PRId64 " x %" PRId64, entry->extent[0], entry->extent[0]);
    } else if (entry->kind == LACIS_GRID) {
        grid_text(entry, text, size);
    } else {
        snprintf(text, size, "%" PRId64, entry->extent[0]);
    }
    return LACIS_OK;
}

static lacis_status show_array(lacis_world *world, lacis_run *run, lacis_table *table, const lacis_entry *entry)
{
    char text[LACIS_GRID_FIELDS_TEXT + LACIS_GRID_SHAPE_TEXT];
    LACIS_TRY(lacis_table_text(run, table, entry->name));
    if (entry->view != NULL) {
        LACIS_TRY(lacis_table_text(run, table, "view"));
        for (int i = 0; i < 4; i++)
            LACIS_TRY(lacis_table_text(run, table, NULL));
        return lacis_table_text(run, table, entry->view);
    }
    LACIS_TRY(lacis_table_text(run, table, lacis_kind_shown(entry->kind)));
    LACIS_TRY(shape_text(world, run, entry, text, sizeof text));
    LACIS_TRY(lacis_table_text(run, table, text));
    LACIS_TRY(lacis_table_integer(run, table, entry->entries));
    LACIS_TRY(lacis_table_text(run, table, lacis_dtype_name(entry->dtype)));
    LACIS_TRY(lacis_table_integer(run, table, (int64_t)entry->bytes));
    return lacis_table_text(run, table, NULL);
}

static lacis_status show_arrays(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    (void)ast;
    for (int i = 0; i < lacis_catalog_count(world->catalog); i++) {
        lacis_entry entry;
        lacis_catalog_entry(world->catalog, i, &entry);
        LACIS_TRY(show_array(world, run, table, &entry));
    }
    return LACIS_OK;
}

/* "rows (CPU), panels (GPU)" */
static const char *variants_text(lacis_run *run, const lacis_op *op)
{
    const char *text = "";
    for (int i = 0; i < op->variant_count && text != NULL; i++)
        text = lacis_run_text(run, "%s%s%s (%s)", text, i > 0 ? ", " : "", op->variants[i]->name,
                              op->variants[i]->device == LACIS_CPU ? "CPU" : "GPU");
    return text;
}

static lacis_status show_operators(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    (void)ast;
    for (int i = 0; i < world->registry->ops; i++) {
        const lacis_op *op = world->registry->op[i];
        LACIS_TRY(lacis_table_text(run, table, op->verb));
        LACIS_TRY(lacis_table_text(run, table, op->summary));
        LACIS_TRY(lacis_table_text(run, table, lacis_lang_usage(run, op)));
        LACIS_TRY(lacis_table_text(run, table, variants_text(run, op)));
    }
    return LACIS_OK;
}

static lacis_status show_aggregates(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    (void)ast;
    (void)world;
    for (int i = 0; lacis_agg_names[i][0] != NULL; i++) {
        LACIS_TRY(lacis_table_text(run, table, lacis_agg_names[i][0]));
        LACIS_TRY(lacis_table_text(run, table, lacis_agg_names[i][1]));
    }
    return LACIS_OK;
}

struct devices {
    lacis_run *run;
    lacis_table *table;
    const lacis_gpu *gpu;
};

static lacis_status show_gpu(void *arg, int number, const lacis_gpu_facts *facts)
{
    struct devices *to = arg;
    const lacis_gpu *gpu = to->gpu;
    while (gpu != NULL && gpu->device != number)
        gpu = gpu->next;
    char *device = lacis_run_text(to->run, "GPU %d", number);
    if (device == NULL) return LACIS_NOMEM;
    LACIS_TRY(lacis_table_text(to->run, to->table, device));
    LACIS_TRY(lacis_table_text(to->run, to->table, facts->name));
    LACIS_TRY(lacis_table_text(to->run, to->table, NULL));
    LACIS_TRY(lacis_table_integer(to->run, to->table, gpu != NULL ? (int64_t)gpu->facts.budget : 0));
    LACIS_TRY(lacis_table_integer(to->run, to->table, (int64_t)facts->memory));
    LACIS_TRY(lacis_table_text(to->run, to->table, facts->driver));
    const char *state = gpu == NULL                     ? "not started: work large enough will"
                        : gpu->state == LACIS_GPU_READY ? "ready"
                                                        : gpu->reason;
    return lacis_table_text(to->run, to->table, state);
}

static lacis_status show_no_gpu(lacis_run *run, lacis_table *table, const char *reason)
{
    LACIS_TRY(lacis_table_text(run, table, "GPU"));
    for (int i = 0; i < 5; i++)
        LACIS_TRY(lacis_table_text(run, table, NULL));
    return lacis_table_text(run, table, reason);
}

static lacis_status show_devices(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    (void)ast;
    char machine[100];
    lacis_profile_machine(machine, sizeof machine);
    LACIS_TRY(lacis_table_text(run, table, "CPU"));
    LACIS_TRY(lacis_table_text(run, table, machine));
    LACIS_TRY(lacis_table_integer(run, table, world->host->threads));
    LACIS_TRY(lacis_table_integer(run, table, (int64_t)lacis_memory_limit(world->host->memory)));
    LACIS_TRY(lacis_table_integer(run, table, (int64_t)lacis_memory_physical()));
    LACIS_TRY(lacis_table_text(run, table, NULL));
    LACIS_TRY(lacis_table_text(run, table, "ready"));
    const lacis_gpu *gpu = lacis_device_find(world->host);
    if (gpu == NULL) return lacis_run_no_memory(run, sizeof *gpu);
    if (gpu->state == LACIS_GPU_ABSENT) return show_no_gpu(run, table, gpu->reason);
    struct devices devices = {run, table, gpu};
    return lacis_device_each(gpu, show_gpu, &devices);
}

static lacis_status show_options(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    (void)ast;
    for (int i = 0; i < lacis_settings; i++) {
        char value[64];
        lacis_setting[i].get(world->host, value, sizeof value);
        LACIS_TRY(lacis_table_text(run, table, lacis_setting[i].name));
        LACIS_TRY(lacis_table_text(run, table, value));
        LACIS_TRY(lacis_table_text(run, table, lacis_setting[i].takes));
        LACIS_TRY(lacis_table_text(run, table, lacis_setting[i].help));
    }
    return LACIS_OK;
}

struct figures {
    lacis_run *run;
    lacis_table *table;
    lacis_status status;
};

static void show_figure(void *arg, const char *name, double value)
{
    struct figures *figures = arg;
    if (figures->status != LACIS_OK) return;
    figures->status = lacis_table_text(figures->run, figures->table, name);
    if (figures->status == LACIS_OK) figures->status = lacis_table_real(figures->run, figures->table, value);
}

/* A row a range: "SYMV f64 LOWER from 1400 (NVIDIA H200, driver 580.95)" and the candidate. */
static lacis_status show_tuned(void *arg, const char *device, const char *name, const lacis_tune_table *tuned)
{
    const struct figures *figures = arg;
    for (int i = 0; i < tuned->ranges; i++) {
        const char *figure =
            lacis_run_text(figures->run, "%s from %" PRId64 " (%s)", name, tuned->range[i].from, device);
        if (figure == NULL) return lacis_run_fail(figures->run, LACIS_NOMEM, "out of memory");
        LACIS_TRY(lacis_table_text(figures->run, figures->table, figure));
        LACIS_TRY(lacis_table_text(figures->run, figures->table, tuned->range[i].choice));
    }
    return LACIS_OK;
}

static lacis_status show_kernels(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    (void)ast;
    struct figures figures = {run, table, LACIS_OK};
    lacis_profile_each(world->profile, show_figure, &figures);
    LACIS_TRY(figures.status);
    return lacis_tuned_each(world->profile, show_tuned, &figures);
}

/* "directed = true|false (true), base = 0|1" */
static const char *options_text(lacis_run *run, const lacis_option_spec *options, int count)
{
    const char *text = "";
    for (int i = 0; i < count; i++) {
        const lacis_option_spec *spec = &options[i];
        const char *takes = spec->form == 'w' && spec->words != NULL ? spec->words
                            : spec->form == 'b'                      ? "true|false"
                            : spec->form == 'i'                      ? "integer"
                            : spec->form == 'r'                      ? "number"
                                                                     : "'text'";
        bool has = spec->otherwise != NULL;
        text = lacis_run_text(run, "%s%s%s = %s%s%s%s", text, i > 0 ? ", " : "", spec->name, takes, has ? " (" : "",
                              has ? spec->otherwise : "", has ? ")" : "");
        if (text == NULL) return "";
    }
    return text;
}

static lacis_status show_loaders(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    (void)ast;
    for (int i = 0; i < world->registry->loaders; i++) {
        const lacis_loader *loader = world->registry->loader[i];
        const char *can = loader->load == NULL ? "save" : loader->save == NULL ? "load" : "load, save";
        LACIS_TRY(lacis_table_text(run, table, loader->name));
        LACIS_TRY(lacis_table_text(run, table, can));
        LACIS_TRY(lacis_table_text(run, table, loader->extensions));
        LACIS_TRY(lacis_table_text(run, table, loader->summary));
        LACIS_TRY(lacis_table_text(run, table, options_text(run, loader->options, loader->option_count)));
    }
    return LACIS_OK;
}

static lacis_status show_generators(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    (void)ast;
    for (int i = 0; i < world->registry->generators; i++) {
        const lacis_generator *generator = world->registry->generator[i];
        LACIS_TRY(lacis_table_text(run, table, generator->name));
        LACIS_TRY(lacis_table_text(run, table, generator->summary));
        LACIS_TRY(lacis_table_text(run, table, options_text(run, generator->options, generator->option_count)));
    }
    return LACIS_OK;
}

static lacis_status show_line(lacis_run *run, lacis_table *table, const char *text, const char *part)
{
    if (text == NULL) return LACIS_NOMEM;
    LACIS_TRY(lacis_table_text(run, table, text));
    return lacis_table_text(run, table, part);
}

/* A clause as it is typed, in [ ] where it may be left out, and what it is for: beside it, or below where it is long.
 */
static lacis_status show_parameter(lacis_run *run, lacis_table *table, const lacis_op *op, int index)
{
    enum { WIDTH = 30 };
    const char *form = lacis_lang_param(run, op, index), *help = op->params[index].help;
    if (form == NULL) return LACIS_NOMEM;
    if (help == NULL) help = "";
    if (strlen(form) <= WIDTH)
        return show_line(run, table, lacis_run_text(run, "  %-*s  %s", WIDTH, form, help), "clause");
    LACIS_TRY(show_line(run, table, lacis_run_text(run, "  %s", form), "clause"));
    return show_line(run, table, lacis_run_text(run, "  %-*s  %s", WIDTH, "", help), "clause");
}

static lacis_status show_variant(lacis_run *run, lacis_table *table, const lacis_variant *variant)
{
    const char *device = variant->device == LACIS_CPU ? "CPU" : "GPU";
    const char *summary = variant->summary == NULL ? "" : variant->summary;
    return show_line(run, table, lacis_run_text(run, "  %s on %s: %s", variant->name, device, summary), "variant");
}

/* A text of several lines, a row each. */
static lacis_status show_lines(lacis_run *run, lacis_table *table, const char *text)
{
    for (const char *at = text; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, "\n");
        LACIS_TRY(show_line(run, table, lacis_run_text(run, "%.*s", (int)length, at), "help"));
        at += length + (at[length] == '\n');
    }
    return LACIS_OK;
}

static lacis_status show_details(lacis_run *run, lacis_table *table, const lacis_op *op)
{
    for (int keyword = 0; keyword < 2; keyword++) { /* operands first, as in the usage */
        for (int i = 0; i < op->param_count; i++)
            if ((op->params[i].keyword != NULL) == keyword) LACIS_TRY(show_parameter(run, table, op, i));
    }
    LACIS_TRY(show_line(run, table, "", NULL));
    LACIS_TRY(show_lines(run, table, op->help));
    if (op->examples != NULL) LACIS_TRY(show_line(run, table, "", NULL));
    for (int i = 0; op->examples != NULL && op->examples[i] != NULL; i++)
        LACIS_TRY(show_line(run, table, op->examples[i], "example"));
    LACIS_TRY(show_line(run, table, "", NULL));
    for (int i = 0; i < op->variant_count; i++)
        LACIS_TRY(show_variant(run, table, op->variants[i]));
    return LACIS_OK;
}

lacis_status lacis_exec_operator(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_op **out)
{
    *out = lacis_registry_op(world->registry, ast->name, strlen(ast->name));
    if (*out != NULL) return LACIS_OK;
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, ast->name, strlen(ast->name));
    for (int i = 0; i < world->registry->ops; i++)
        lacis_nearest_try(&nearest, world->registry->op[i]->verb);
    const char *meant = lacis_nearest_result(&nearest);
    char hint[100];
    snprintf(hint, sizeof hint, meant != NULL ? "did you mean %s?" : "SHOW OPERATORS lists them", meant);
    return lacis_run_fail_at(run, LACIS_NAME, ast->name_offset, hint, "there is no operator \"%s\"", ast->name);
}

static lacis_status show_operator(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table)
{
    const lacis_op *op;
    LACIS_TRY(lacis_exec_operator(world, run, ast, &op));
    return show_details(run, table, op);
}

static const struct shown {
    const char *name;
    const char *column[8];
    lacis_status (*fill)(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table *table);
} shown[] = {
    {"ARRAYS", {"name", "kind", "shape", "entries", "type", "bytes", "definition"}, show_arrays},
    {"OPERATORS", {"verb", "summary", "usage", "variants"}, show_operators},
    {"OPERATOR", {"details", "part"}, show_operator},
    {"AGGREGATES", {"name", "summary"}, show_aggregates},
    {"DEVICES", {"device", "name", "threads", "memory_limit", "memory", "driver", "state"}, show_devices},
    {"OPTIONS", {"name", "value", "takes", "help"}, show_options},
    {"KERNELS", {"figure", "value"}, show_kernels},
    {"LOADERS", {"name", "can", "extensions", "summary", "options"}, show_loaders},
    {"GENERATORS", {"name", "summary", "options"}, show_generators},
};

lacis_status lacis_exec_show(lacis_world *world, lacis_run *run, const lacis_ast *ast, lacis_table **out)
{
    for (int i = 0; i < LACIS_COUNT(shown); i++) {
        if (strcasecmp(shown[i].name, ast->string) != 0) continue;
        int columns = 0;
        while (shown[i].column[columns] != NULL)
            columns++;
        lacis_table *table;
        LACIS_TRY(lacis_table_new(run, shown[i].column, columns, &table));
        lacis_status status = shown[i].fill(world, run, ast, table);
        if (status != LACIS_OK) {
            lacis_table_free(table);
            return status;
        }
        *out = table;
        return LACIS_OK;
    }
    return lacis_run_fail_at(run, LACIS_SYNTAX, ast->string_offset, NULL, "cannot SHOW %s", ast->string);
}
