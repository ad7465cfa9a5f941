/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis, the shell: reads the command line, opens the database and runs what it was given, or what a person types.
 */
#include "interrupt.h"
#include "options.h"
#include "reference.h"
#include "terminal.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_CANNOT_OPEN = 3 };

/* Widths of characters come from the C library, which knows them in a UTF-8 locale only; lacis's text is UTF-8. */
static void choose_locale(void)
{
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

/* Where 0, 1 or 2 are closed, no file opened later may take their place. What would be written there fails. */
static void occupy_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) return;
}

static void greet(const shell_session *session)
{
    FILE *file = session->standard->terminal ? stdout : stderr;
    fprintf(file, "lacis %s (%s): .help for help, .quit to leave\n", lacis_version(),
            session->database ? session->database : "in memory");
    fflush(file);
}

static void run_jobs(shell_session *session, const shell_options *options)
{
    bool go_on = true;
    for (int i = 0; i < options->jobs && go_on; i++) {
        const shell_job *job = &options->job[i];
        bool standard = job->file && strcmp(job->file, "-") == 0;
        go_on = job->text ? shell_run_text(session, job->text) : shell_run_file(session, standard ? NULL : job->file);
        if (!session->bail && !session->leaving) go_on = true;
    }
}

static int run(const shell_options *options, lacis_ranks *ranks)
{
    static shell_sink standard;
    standard.fd = STDOUT_FILENO;
    standard.terminal = shell_is_terminal(STDOUT_FILENO);
    standard.file = shell_sink_is_file(STDOUT_FILENO);
    shell_session session = {.standard = &standard, .mode = options->mode, .row_limit = -1, .bail = true};
    session.ranks = ranks;
    session.parameter = options->parameter;
    session.parameters = options->parameters;
    session.interactive = options->jobs == 0 && shell_is_terminal(STDIN_FILENO);
    session.progress.enabled = shell_terminal_moves(STDERR_FILENO);
    standard.progress = &session.progress;
    shell_interrupt_install();
    if (ranks) shell_interrupt_terminate(false);
    if (!shell_session_open(&session, options->database)) {
        shell_session_close(&session);
        return EXIT_CANNOT_OPEN;
    }
    if (options->jobs > 0) {
        run_jobs(&session, options);
    } else if (session.interactive) {
        greet(&session);
        shell_run_interactive(&session);
    } else {
        shell_run_file(&session, NULL);
    }
    if (!shell_session_written(&session, false) || !shell_session_output(&session, NULL, false))
        session.failed = true;
    if (!shell_session_report(&session, NULL)) session.failed = true;
    int code = shell_session_exit_code(&session);
    shell_session_close(&session);
    return code;
}

/* A rank other than 0: works for it, reads and prints nothing. */
static int serve(lacis_ranks *ranks)
{
    lacis_engine *engine = NULL;
    shell_interrupt_terminate(true);
    lacis_status status = lacis_open(NULL, &engine);
    if (status == LACIS_OK) status = lacis_ranks_serve(ranks, engine);
    lacis_close(engine);
    return status == LACIS_OK ? 0 : 1;
}

static int run_first(int argc, char **argv, lacis_ranks *ranks)
{
    shell_options options;
    int code = 0;
    if (!shell_options_parse(argc, argv, &options)) {
        code = EXIT_USAGE;
    } else if (options.help) {
        shell_options_help();
    } else if (options.reference) {
        if (!shell_reference()) code = 1;
    } else if (options.version) {
        printf("lacis %s\n", lacis_version());
    } else {
        code = run(&options, ranks);
    }
    shell_options_free(&options);
    if (fflush(stdout) != 0 && code == 0) code = 1;
    return code;
}

int main(int argc, char **argv)
{
    lacis_ranks *ranks;
    char message[400] = "";
    occupy_standard_files();
    choose_locale();
    if (lacis_ranks_join(&ranks, message, sizeof message) != LACIS_OK) {
        if (message[0]) fprintf(stderr, "lacis: %s\n", message);
        return EXIT_CANNOT_OPEN;
    }
    int code = lacis_ranks_rank(ranks) > 0 ? serve(ranks) : run_first(argc, argv, ranks);
    lacis_ranks_leave(ranks);
    return code;
}
