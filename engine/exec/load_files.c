/* SPDX-License-Identifier: Apache-2.0
 *
 * LOAD with loaders that can join what several files give: of several as one array, or of a single one. Files are
 * loaded side by side, each by a run of its own whose errors and notes are kept with it; what became of every file
 * stands in the SQL table <name>_files. A file that is not what it should be is left out unless option strict is set;
 * other failures (memory, interrupts, options) end the statement.
 */
#include "exec/load.h"

#include <string.h>
#include <sys/stat.h>

enum { FIGURES = 32, OWN_COLUMNS = 4 }; /* cell, file, status ... message */

/* One file. */
typedef struct loaded {
    lacis_status status;
    lacis_array *array;
    char *message; /* warnings, or why it was refused; a block of its own, or NULL */
    int64_t notes;
    int64_t offset; /* of its error in the statement */
    char *hint;
    double figure[FIGURES];
} loaded;

typedef struct batch {
    lacis_world *world;
    lacis_run *run;
    const lacis_ast *ast;
    const lacis_paths *paths;
    const lacis_loader *loader;
    lacis_options options;
    loaded *file;
    int64_t refused, warned, first_refused;
    int64_t done; /* as the first thread sees it: progress */
} batch;

/* --------------------------------------------------------------------------------------- one file */

/* Keeps warnings for <name>_files. */
typedef struct ear {
    lacis_run *run;
    char *text; /* in its scratch */
    int64_t notes;
    bool lost;         /* a message, for want of memory */
    lacis_log_fn also; /* a single file's notes are the statement's as well; NULL: of several */
    void *also_arg;
} ear;

static void keep_note(void *arg, lacis_level level, const char *message)
{
    ear *e = arg;
    if (e->also != NULL) e->also(e->also_arg, level, message);
    if (level != LACIS_WARNING || e->lost) return;
    e->text = lacis_run_text(e->run, "%s%s%s", e->text != NULL ? e->text : "", e->text != NULL ? "; " : "", message);
    e->lost = e->text == NULL;
    e->notes++;
}

/* A host for one file of several: it shares the memory and the cancel flag, and keeps messages. */
typedef struct desk {
    lacis_host host;
    lacis_run run;
    ear ear;
} desk;

static void desk_open(desk *d, const batch *b)
{
    memset(d, 0, sizeof *d);
    d->host.memory = b->run->host->memory;
    d->host.deterministic = b->run->host->deterministic;
    d->host.threads = b->paths->count == 1 ? b->run->host->threads : 1;
    d->host.error.offset = -1;
    d->host.above = b->run->host;
    d->ear.run = &d->run;
    d->host.log = keep_note;
    d->host.log_arg = &d->ear;
    lacis_run_init(&d->run, &d->host);
}

static char *copy_text(lacis_run *run, const char *text, lacis_status *status)
{
    size_t size = strlen(text) + 1;
    char *copy = lacis_run_alloc_quiet(run, size);
    if (copy == NULL)
        *status = LACIS_NOMEM;
    else
        memcpy(copy, text, size);
    return copy;
}

static lacis_status load_source(const batch *b, lacis_run *run, const lacis_source *source, loaded *file)
{
    LACIS_TRY(b->loader->load(run, source, &b->options, &file->array));
    return b->loader->measure != NULL ? b->loader->measure(run, file->array, file->figure) : LACIS_OK;
}

static lacis_status load_one(const batch *b, desk *d, const char *path, loaded *file)
{
    lacis_source_handle *handle;
    lacis_source source;
    LACIS_TRY(lacis_source_open(&d->run, path, &handle, &source));
    lacis_status status = load_source(b, &d->run, &source, file);
    lacis_source_close(handle);
    return status;
}

/* LACIS_OK for a file that is refused, unless the statement must end. */
static lacis_status settle(batch *b, desk *d, loaded *file)
{
    lacis_status status = LACIS_OK;
    const char *text = file->status != LACIS_OK ? d->host.error.message : d->ear.text;
    file->notes = d->ear.notes;
    file->offset = d->host.error.offset;
    if (d->ear.lost) file->status = LACIS_NOMEM;
    if (text != NULL) file->message = copy_text(b->run, text, &status);
    if (file->status != LACIS_OK && d->host.error.hint[0] != '\0')
        file->hint = copy_text(b->run, d->host.error.hint, &status);
    if (status != LACIS_OK) file->status = status;
    bool refused = file->status == LACIS_FORMAT || file->status == LACIS_IO;
    return refused ? LACIS_OK : file->status;
}

static lacis_status load_task(void *context, int64_t task, int worker)
{
    batch *b = context;
    loaded *file = &b->file[task];
    desk d;
    desk_open(&d, b);
    file->status = load_one(b, &d, b->paths->path[task], file);
    lacis_status status = settle(b, &d, file);
    lacis_run_clear(&d.run);
    if (worker == 0) lacis_run_advance(b->run, "loading", (double)task, (double)b->paths->count, "files");
    return status;
}

/* --------------------------------------------------------------------------------------- all files */

/* The error of a file as the statement's own. */
static lacis_status fail_as(const batch *b, const loaded *file)
{
    if (file->message == NULL) return lacis_run_fail(b->run, file->status, "out of memory");
    return lacis_run_fail_at(b->run, file->status, file->offset, file->hint, "%s", file->message);
}

/* The first file whose failure ends the statement speaks for it. */
static lacis_status ended(const batch *b, lacis_status status)
{
    if (status == LACIS_INTERRUPT) return status;
    for (int64_t i = 0; i < b->paths->count; i++)
        if (b->file[i].status == status) return fail_as(b, &b->file[i]);
    return lacis_run_fail(b->run, status, "out of memory");
}

static bool strict(const batch *b)
{
    const lacis_option_value *value = lacis_option(&b->options, "strict");
    return value != NULL && value->text != NULL && value->integer != 0;
}

static lacis_status count_refused(batch *b)
{
    b->first_refused = -1;
    for (int64_t i = 0; i < b->paths->count; i++) {
        b->warned += b->file[i].status == LACIS_OK && b->file[i].notes > 0;
        if (b->file[i].status == LACIS_OK) continue;
        if (b->refused++ == 0) b->first_refused = i;
    }
    if (b->refused == 0) return LACIS_OK;
    const loaded *first = &b->file[b->first_refused];
    if (strict(b)) return fail_as(b, first);
    if (b->refused < b->paths->count) return LACIS_OK;
    if (b->paths->count == 1) return fail_as(b, first);
    return lacis_run_fail(b->run, first->status, "all %lld files were refused; the first: %s",
                          (long long)b->paths->count, first->message);
}

static lacis_status join(batch *b, lacis_array **out)
{
    lacis_array **piece;
    int64_t pieces = 0;
    LACIS_TRY(lacis_run_alloc(b->run, (uint64_t)b->paths->count * sizeof(lacis_array *), &piece));
    for (int64_t i = 0; i < b->paths->count; i++) {
        if (b->file[i].array == NULL) continue;
        piece[pieces++] = b->file[i].array;
        b->file[i].array = NULL;
    }
    lacis_status status = b->loader->join(b->run, piece, pieces, out);
    for (int64_t i = 0; i < pieces; i++)
        lacis_array_release(piece[i]);
    lacis_run_free(b->run, piece);
    return status;
}

/* Before anything is read: what the files would take at least, by their sizes. */
static lacis_status check_memory(const batch *b)
{
    double bytes = 0;
    for (int64_t i = 0; i < b->paths->count; i++) {
        struct stat info;
        if (stat(b->paths->path[i], &info) == 0 && S_ISREG(info.st_mode)) bytes += (double)info.st_size;
    }
    double about = bytes * b->loader->growth;
    uint64_t left = lacis_run_memory_left(b->run);
    if (about / 2 <= (double)left) return LACIS_OK;
    char want[LACIS_NUMBER_TEXT], have[LACIS_NUMBER_TEXT];
    return lacis_run_fail(b->run, LACIS_LIMIT,
                          "%lld files would take about %s, and %s of memory_limit are left; raise it with SET "
                          "memory_limit, or load fewer at a time",
                          (long long)b->paths->count, lacis_format_bytes((uint64_t)about, want),
                          lacis_format_bytes(left, have));
}

/* ------------------------------------------------------------------------------------- <name>_files */

static lacis_status put_figures(const batch *b, const loaded *file, lacis_table *table)
{
    for (int i = 0; i < b->loader->figures; i++) {
        if (file->status != LACIS_OK)
            LACIS_TRY(lacis_table_text(b->run, table, NULL));
        else if (b->loader->figure[i].real)
            LACIS_TRY(lacis_table_real(b->run, table, file->figure[i]));
        else
            LACIS_TRY(lacis_table_integer(b->run, table, (int64_t)file->figure[i]));
    }
    return LACIS_OK;
}

static lacis_status put_files(const batch *b, lacis_table *table)
{
    int64_t cell = 0;
    for (int64_t i = 0; i < b->paths->count; i++) {
        const loaded *file = &b->file[i];
        bool good = file->status == LACIS_OK;
        LACIS_TRY(good ? lacis_table_integer(b->run, table, cell++) : lacis_table_text(b->run, table, NULL));
        LACIS_TRY(lacis_table_text(b->run, table, b->paths->path[i]));
        LACIS_TRY(lacis_table_text(b->run, table, !good ? "refused" : file->notes > 0 ? "warning" : "ok"));
        LACIS_TRY(put_figures(b, file, table));
        LACIS_TRY(lacis_table_text(b->run, table, file->message));
    }
    return LACIS_OK;
}

static lacis_status keep_files(const batch *b)
{
    const char *column[OWN_COLUMNS + FIGURES] = {"cell", "file", "status"};
    int columns = 3;
    for (int i = 0; i < b->loader->figures; i++)
        column[columns++] = b->loader->figure[i].name;
    column[columns++] = "message";
    lacis_table *table;
    const char *name = lacis_run_text(b->run, "%s_files", b->ast->name);
    if (name == NULL) return lacis_run_fail(b->run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(lacis_table_new(b->run, column, columns, &table));
    lacis_status status = put_files(b, table);
    if (status == LACIS_OK)
        status = lacis_catalog_put_table(b->run, b->world->catalog, name, column, columns, lacis_table_rows(table));
    lacis_table_free(table);
    return status;
}

/* --------------------------------------------------------------------------------------------- all */

static void tell(const batch *b)
{
    if (b->refused > 0)
        lacis_run_note(b->run, LACIS_WARNING, "%lld of %lld files were refused, the first: %s; %s_files has all",
                       (long long)b->refused, (long long)b->paths->count, b->file[b->first_refused].message,
                       b->ast->name);
    if (b->warned > 0)
        lacis_run_note(b->run, LACIS_WARNING, "%lld of %lld files were taken with warnings; %s_files has them",
                       (long long)b->warned, (long long)b->paths->count, b->ast->name);
}

static lacis_status enter(batch *b, double started)
{
    lacis_array *array;
    LACIS_TRY(join(b, &array));
    int64_t good = b->paths->count - b->refused;
    const char *more = lacis_run_text(b->run, ", of %lld files", (long long)good);
    lacis_status status = more == NULL ? lacis_run_fail(b->run, LACIS_NOMEM, "out of memory")
                                       : lacis_load_put(b->world, b->run, b->ast->name, array, more, started);
    lacis_array_release(array);
    if (status == LACIS_OK) status = keep_files(b);
    if (status == LACIS_OK) tell(b);
    return status;
}

static lacis_status load_all(batch *b, double started)
{
    lacis_status status = lacis_run_parallel(b->run, b->paths->count, load_task, b);
    if (status != LACIS_OK) return ended(b, status);
    LACIS_TRY(count_refused(b));
    return enter(b, started);
}

static lacis_status too_many_figures(const batch *b)
{
    return lacis_run_fail(b->run, LACIS_MISUSE, "the %s loader measures more than %d figures", b->loader->name,
                          (int)FIGURES);
}

/* AS names the loader; otherwise the first file decides that one which can join is surest of. */
static lacis_status find_loader(batch *b)
{
    const lacis_registry *registry = b->world->registry;
    if (b->ast->format != NULL) LACIS_TRY(lacis_load_named(b->run, registry, b->ast, &b->loader));
    for (int64_t i = 0; i < b->paths->count && b->loader == NULL; i++) {
        desk d;
        lacis_source_handle *handle;
        lacis_source source;
        desk_open(&d, b);
        if (lacis_source_open(&d.run, b->paths->path[i], &handle, &source) == LACIS_OK) {
            const lacis_loader *best = lacis_load_best(registry, &source);
            if (best != NULL && best->join != NULL) b->loader = best;
            lacis_source_close(handle);
        }
        lacis_run_clear(&d.run);
        if (lacis_run_cancelled(b->run)) return lacis_run_interrupted(b->run);
    }
    if (b->loader == NULL)
        return lacis_run_fail_at(b->run, LACIS_FORMAT, b->ast->string_offset, "AS names one",
                                 "none of the files is of a format that several can be loaded of at once");
    if (b->loader->figures > FIGURES) return too_many_figures(b);
    if (b->loader->join == NULL)
        return lacis_run_fail_at(b->run, LACIS_UNSUPPORTED, b->ast->format_offset, NULL,
                                 "format %s loads one file at a time", b->loader->name);
    return LACIS_OK;
}

static void clear_files(const batch *b)
{
    for (int64_t i = 0; i < b->paths->count; i++) {
        lacis_array_release(b->file[i].array);
        lacis_run_free(b->run, b->file[i].message);
        lacis_run_free(b->run, b->file[i].hint);
    }
}

lacis_status lacis_load_files(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_paths *paths,
                              double started)
{
    batch b = {.world = world, .run = run, .ast = ast, .paths = paths};
    LACIS_TRY(find_loader(&b));
    LACIS_TRY(lacis_load_options(run, ast, b.loader, &b.options));
    LACIS_TRY(check_memory(&b));
    uint64_t bytes = (uint64_t)paths->count * sizeof *b.file;
    LACIS_TRY(lacis_run_alloc(run, bytes, &b.file));
    memset(b.file, 0, bytes);
    lacis_status status = load_all(&b, started);
    clear_files(&b);
    lacis_run_free(run, b.file);
    return status;
}

/* As the statement itself: with its progress, its errors and its notes. */
static lacis_status load_single(batch *b, const lacis_source *source, double started)
{
    lacis_host *host = b->run->host;
    ear e = {.run = b->run, .also = host->log, .also_arg = host->log_arg};
    lacis_status status = LACIS_OK;
    host->log = keep_note;
    host->log_arg = &e;
    b->file->status = load_source(b, b->run, source, b->file);
    host->log = e.also;
    host->log_arg = e.also_arg;
    LACIS_TRY(b->file->status);
    if (e.lost) return lacis_run_fail(b->run, LACIS_NOMEM, "out of memory");
    b->file->notes = e.notes;
    if (e.text != NULL) b->file->message = copy_text(b->run, e.text, &status);
    if (status != LACIS_OK) return lacis_run_fail(b->run, status, "out of memory");
    LACIS_TRY(lacis_load_put(b->world, b->run, b->ast->name, b->file->array, "", started));
    return keep_files(b);
}

lacis_status lacis_load_file(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_loader *loader,
                             const lacis_options *options, const lacis_source *source, double started)
{
    loaded file = {0};
    const char *path = source->path;
    const lacis_paths paths = {.path = &path, .count = 1};
    batch b = {.world = world, .run = run, .ast = ast, .paths = &paths, .loader = loader, .file = &file};
    b.options = *options;
    if (loader->figures > FIGURES) return too_many_figures(&b);
    lacis_status status = load_single(&b, source, started);
    clear_files(&b);
    return status;
}
