/* SPDX-License-Identifier: Apache-2.0
 *
 * Executes statements: prepare, bind, render, report; and looks after where results go.
 */
#include "session.h"

#include "interrupt.h"
#include "plot.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_CANNOT_OPEN = 3, EXIT_INTERRUPTED = 130, ROWS_ON_TERMINAL = 40 };

bool shell_session_open(shell_session *session, const char *path)
{
    lacis_engine *engine = NULL;
    bool memory = !path || strcmp(path, ":memory:") == 0;
    if (lacis_open(memory ? NULL : path, &engine) != LACIS_OK) {
        const char *hint = engine ? lacis_error_hint(engine) : "";
        if (!hint[0] && !memory && access(path, R_OK) == 0)
            hint = "scripts are run with -f or .read, data files are read with LOAD";
        shell_error(session, hint, "cannot open %s: %s", memory ? "a database in memory" : path,
                    engine ? lacis_error_message(engine) : "out of memory");
        lacis_close(engine);
        return false;
    }
    lacis_set_log(engine, shell_log, session);
    lacis_set_progress(engine, shell_progress_draw, &session->progress);
    lacis_set_plot(engine, shell_plot, session);
    lacis_set_ranks(engine, session->ranks);
    lacis_close(session->engine);
    session->engine = engine;
    free(session->database);
    session->database = memory ? NULL : shell_copy(path, strlen(path));
    return true;
}

void shell_session_close(shell_session *session)
{
    shell_session_output(session, NULL, false);
    shell_progress_stop(&session->progress);
    lacis_close(session->engine);
    free(session->database);
    shell_text_free(&session->pending);
    if (session->log) fclose(session->log);
}

shell_sink *shell_session_sink(shell_session *session)
{
    return session->file ? session->file : session->standard;
}

static bool close_file(shell_session *session)
{
    shell_sink *file = session->file;
    if (!file) return true;
    session->file = NULL;
    shell_sink_flush(file);
    int error = file->error;
    if (close(file->fd) != 0 && !error) error = errno;
    if (error) shell_error(session, NULL, "cannot write to %s: %s", file->name, strerror(error));
    free(file->name);
    free(file);
    return error == 0;
}

bool shell_session_output(shell_session *session, const char *path, bool once)
{
    bool good = close_file(session);
    if (!path) return good;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        shell_error(session, NULL, "cannot write to %s: %s", path, strerror(errno));
        return false;
    }
    shell_sink *file = shell_alloc(NULL, sizeof *file);
    file->fd = fd;
    file->error = 0;
    file->used = 0;
    file->progress = &session->progress;
    file->terminal = shell_is_terminal(fd);
    file->file = shell_sink_is_file(fd);
    file->name = shell_copy(path, strlen(path));
    session->file = file;
    session->once = once;
    return good;
}

bool shell_session_written(shell_session *session, bool statement)
{
    bool good = true;
    if (session->file) {
        bool ends = session->once && (statement || session->file->used > 0);
        shell_sink_flush(session->file);
        if (ends || session->file->error) good = close_file(session);
    }
    shell_sink_flush(session->standard);
    int error = session->standard->error;
    if (error && !session->leaving) {
        if (error != EPIPE) shell_error(session, NULL, "cannot write to standard output: %s", strerror(error));
        session->leaving = true;
    }
    return good && !error;
}

int shell_session_exit_code(const shell_session *session)
{
    if (session->interrupted) return EXIT_INTERRUPTED;
    if (session->standard->error) return EXIT_FAILED;
    if (session->interactive) return 0;
    if (session->cannot_open) return EXIT_CANNOT_OPEN;
    return session->failed ? EXIT_FAILED : 0;
}

/* Names that the statement does not use are refused by the engine, which is fine. */
static void bind_parameters(const shell_session *session, lacis_statement *statement)
{
    for (int i = 0; i < session->parameters; i++) {
        const shell_parameter *parameter = &session->parameter[i];
        if (parameter->type == LACIS_INTEGER)
            lacis_bind_int64(statement, parameter->name, parameter->integer);
        else if (parameter->type == LACIS_REAL)
            lacis_bind_double(statement, parameter->name, parameter->real);
        else
            lacis_bind_text(statement, parameter->name, parameter->text);
    }
}

/* A plan is read, not parsed, unless a mode for programs was asked for. */
static bool is_plan(const shell_session *session, const char *text)
{
    return strncasecmp(text, "EXPLAIN", 7) == 0 && (!session->mode || session->mode->framed);
}

static int64_t choose_limit(shell_session *session, const shell_mode *mode)
{
    bool terminal = session->interactive && shell_session_sink(session)->terminal;
    if (!mode->framed) return 0;
    return session->row_limit >= 0 ? session->row_limit : terminal ? ROWS_ON_TERMINAL : 0;
}

static void note_rest(shell_session *session, const shell_render *render)
{
    char total[SHELL_DIGITS * 2], shown[SHELL_DIGITS * 2];
    if (render->no_numbers > 0)
        shell_note(session, "note: infinite or undefined numbers became null (%s times), since JSON has none",
                   shell_grouped(render->no_numbers, total));
    if (render->total > render->rows)
        shell_note(session, "(%s%s rows, %s shown; .maxrows 0 shows all)", render->total_known ? "" : "more than ",
                   shell_grouped(render->total, total), shell_grouped(render->rows, shown));
    if (render->cut_cells > 0)
        shell_note(session, "(%s cells cut at … to fit the terminal; .mode line shows them whole)",
                   shell_grouped(render->cut_cells, total));
}

/* *rows: of the result, -1 where that is not known. */
static lacis_status render_statement(shell_session *session, lacis_statement *statement, const char *text,
                                     int64_t *rows)
{
    shell_sink *out = shell_session_sink(session);
    const shell_mode *mode = session->mode ? session->mode : shell_mode_find(out->terminal ? "box" : "csv");
    shell_render render = {.out = out, .statement = statement, .mode = mode, .plan = is_plan(session, text)};
    render.prose = strncasecmp(text, "SHOW", 4) == 0;
    render.html = session->html;
    render.colours = out->terminal && shell_terminal_colours(out->fd);
    render.width = out->terminal ? shell_terminal_width(out->fd) : 0;
    render.row_limit = choose_limit(session, mode);
    lacis_status status = shell_render_run(&render);
    shell_progress_erase(&session->progress);
    if (status == LACIS_ROW || status == LACIS_DONE) note_rest(session, &render);
    *rows = render.total_known ? render.total : -1;
    return status;
}

void shell_session_interrupted(shell_session *session)
{
    if (session->interactive && !shell_interrupt_leave()) {
        session->stopped = true;
        shell_interrupt_clear();
    } else {
        session->interrupted = session->leaving = true;
    }
}

/* Behind the ';' that ends the first statement of text. Only for statements that the engine could not read. */
static const char *behind_statement(const char *text)
{
    const char *end = text;
    while ((end = strchr(end, ';')) != NULL) {
        end++;
        char *statement = shell_copy(text, (size_t)(end - text));
        bool whole = !lacis_incomplete(statement);
        free(statement);
        if (whole) return end;
    }
    return text + strlen(text);
}

/* --- .report */

bool shell_session_report(shell_session *session, const char *path)
{
    char *old =
        session->html ? shell_copy(shell_html_path(session->html), strlen(shell_html_path(session->html))) : NULL;
    bool good = shell_html_close(session->html);
    session->html = NULL;
    if (!good) shell_error(session, NULL, "cannot write to %s: %s", old, strerror(errno));
    free(old);
    if (!path) return good;
    session->html = shell_html_open(path, session->database);
    if (!session->html) shell_error(session, NULL, "cannot write to %s: %s", path, strerror(errno));
    return good && session->html;
}

/* Asks for the plan of a statement that is about to run. Those without one have none in the report either. */
static void report_plan(shell_session *session, const char *text, size_t length)
{
    lacis_statement *plan = NULL;
    shell_text explain = {0};
    if (!session->html || strncasecmp(text, "EXPLAIN", 7) == 0) return;
    shell_text_puts(&explain, "EXPLAIN ");
    shell_text_add(&explain, text, length);
    session->planning = true;
    if (lacis_prepare(session->engine, explain.data, NULL, &plan) == LACIS_OK && plan) {
        bind_parameters(session, plan);
        while (lacis_step(plan) == LACIS_ROW && lacis_column_count(plan) == 1)
            shell_html_plan(session->html, lacis_column_text(plan, 0));
    }
    lacis_finalize(plan);
    session->planning = false;
    shell_text_free(&explain);
}

static bool report_statement(shell_session *session, const char *text, const char *tail, int64_t rows, double seconds)
{
    if (tail <= text) tail = behind_statement(text);
    if (shell_html_statement(session->html, text, (size_t)(tail - text), rows, seconds)) return true;
    shell_session_report(session, NULL);
    return false;
}

static bool run_one(shell_session *session, const char *text, const char **tail)
{
    lacis_statement *statement = NULL;
    int64_t rows = -1;
    double began = shell_clock();
    *tail = text;
    shell_progress_begin(&session->progress);
    shell_interrupt_watch(session->engine);
    lacis_status status = lacis_prepare(session->engine, text, tail, &statement);
    bool failed = status != LACIS_OK, ran = statement != NULL;
    if (!failed && statement) {
        double planned = shell_clock();
        report_plan(session, text, (size_t)(*tail - text));
        began += shell_clock() - planned; /* not the statement's own time */
        bind_parameters(session, statement);
        status = render_statement(session, statement, text, &rows);
        failed = status != LACIS_ROW && status != LACIS_DONE;
    }
    shell_progress_end(&session->progress);
    if (failed) shell_engine_error(session, text);
    lacis_finalize(statement);
    shell_interrupt_watch(NULL);
    if (status == LACIS_INTERRUPT || shell_interrupted()) shell_session_interrupted(session);
    bool written = shell_session_written(session, true);
    if (session->html && (ran || failed) && !report_statement(session, text, *tail, rows, shell_clock() - began))
        written = false;
    if (session->timer && ran) shell_note(session, "%.3f s", shell_clock() - began);
    if (failed || !written) session->failed = true;
    return !failed && written;
}

const char *shell_skip_blank(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n\v\f;");
        if (text[0] == '-' && text[1] == '-') {
            text += strcspn(text, "\n");
        } else if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");
            if (!end) return text;
            text = end + 2;
        } else {
            return text;
        }
    }
}

bool shell_session_text(shell_session *session, const char *text)
{
    const char *at, *tail;
    bool go_on = true;
    session->place.text = text;
    for (at = shell_skip_blank(text); *at && go_on; at = shell_skip_blank(tail)) {
        bool good = run_one(session, at, &tail);
        go_on = !session->leaving && !session->stopped && (good || !session->bail);
        if (!good || tail <= at) tail = behind_statement(at);
    }
    session->place.text = NULL;
    return go_on;
}

bool shell_session_own(shell_session *session, const char *statement)
{
    const char *tail;
    return run_one(session, statement, &tail);
}

bool shell_session_lines(shell_session *session, const char *statement, const char *name)
{
    lacis_statement *prepared = NULL;
    lacis_status status = lacis_prepare(session->engine, statement, NULL, &prepared);
    if (status == LACIS_OK && prepared) {
        if (name) lacis_bind_text(prepared, "name", name);
        while ((status = lacis_step(prepared)) == LACIS_ROW) {
            const char *line = lacis_column_text(prepared, 0);
            shell_sink_puts(shell_session_sink(session), line ? line : "");
            shell_sink_char(shell_session_sink(session), '\n');
        }
    }
    lacis_finalize(prepared);
    return status == LACIS_OK || status == LACIS_DONE;
}
