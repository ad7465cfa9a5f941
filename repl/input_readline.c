/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements input.h with GNU readline or with libedit's readline interface (LACIS_LIBEDIT). Both keep global state
 * and call back without an argument, so this file holds the session in a static of its own.
 */
#include "complete.h"
#include "history.h"
#include "input.h"
#include "interrupt.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#ifdef LACIS_LIBEDIT
#include <editline/readline.h>
#else
#include <readline/history.h>
#include <readline/readline.h>
#endif

struct shell_input {
    shell_session *session;
    shell_history history;
    char *line; /* what the editor handed over */
    bool given; /* line, or the end of input (line NULL) */
};

static shell_input the_input;

static void add_entry(const char *entry)
{
    add_history(entry);
}

/* How many bytes all words have in common, in any case of letters. */
static size_t common_length(const shell_candidates *found)
{
    size_t length = strlen(found->word[0]);
    for (int i = 1; i < found->words; i++) {
        size_t same = 0;
        while (same < length &&
               tolower((unsigned char)found->word[0][same]) == tolower((unsigned char)found->word[i][same]))
            same++;
        length = same;
    }
    return length;
}

/* A word as the editor wants it: in place of the line from byte `start`, where the editor thinks that it begins,
 * while the word itself belongs at found->start. */
static char *aligned(const shell_candidates *found, const char *word, size_t length, size_t start)
{
    shell_text text = {0};
    if (start < found->start) shell_text_add(&text, rl_line_buffer + start, found->start - start);
    size_t skip = start > found->start ? start - found->start : 0;
    if (skip > length) skip = length;
    shell_text_add(&text, word + skip, length - skip);
    return text.data;
}

/* What follows a word that is complete. */
static void choose_ending(const shell_candidates *found)
{
    const char *word = found->word[0];
    size_t length = strlen(word);
    bool folder = found->files && length > 0 && word[length - 1] == '/';
    rl_completion_append_character = found->in_quote ? '\'' : ' ';
    rl_completion_suppress_append = folder || (length > 0 && word[length - 1] == '(');
}

static char **on_complete(const char *text, int start, int end)
{
    shell_candidates found;
    (void)text;
    rl_attempted_completion_over = 1;
    shell_complete(the_input.session, rl_line_buffer, (size_t)end, &found);
    if (found.words == 0) return NULL;
    choose_ending(&found);
    size_t bytes = (size_t)(found.words + 3) * sizeof(char *); /* libedit looks at the third in any case */
    char **match = memset(shell_alloc(NULL, bytes), 0, bytes);
    size_t typed = (size_t)end > found.start ? (size_t)end - found.start : 0, common = common_length(&found);
    if (common < typed) /* never take away what was typed */
        match[0] = shell_copy(text, strlen(text));
    else
        match[0] = aligned(&found, found.word[0], common, (size_t)start);
    int matches = 1;
    for (int i = 0; found.words > 1 && i < found.words; i++)
        match[matches++] = aligned(&found, found.word[i], strlen(found.word[i]), (size_t)start);
    shell_candidates_free(&found);
    return match;
}

static void on_line(char *line)
{
    the_input.line = line;
    the_input.given = true;
    rl_callback_handler_remove();
}

/* The next byte that was typed. libedit's rl_read_key says only that there was one; it keeps none back itself. */
static int next_key(void)
{
#ifdef LACIS_LIBEDIT
    unsigned char key;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : EOF;
#else
    return rl_read_key();
#endif
}

/* What the terminal answered too late (ESC [ ? 62 ; 4 c, see terminal_images.c) is not the person's: it is read up to
 * its end. */
static int drop_answer(int count, int key)
{
    (void)count, (void)key;
    do {
        key = next_key();
    } while (key == ';' || (key >= '0' && key <= '9'));
    return 0;
}

#ifndef LACIS_LIBEDIT
/* The same of kitty's answer, ESC _ G ... ESC \; what a person types instead ends with a control character at the
 * latest. */
static int drop_kitty(int count, int key)
{
    (void)count;
    do {
        key = next_key();
    } while (key != '\\' && (key >= ' ' || key == '\033'));
    return 0;
}
#endif

static void bind_answer(void)
{
#ifdef LACIS_LIBEDIT
    /* A function is bound to one character alone, by which libedit then finds it: that is taken back, and the name is
     * bound to what begins an answer and ends with the same character. */
    rl_initialize();
    rl_add_defun("drop-answer", drop_answer, '?');
    rl_parse_and_bind("bind ? ed-insert");
    rl_parse_and_bind("bind '\\e[?' drop-answer"); /* quoted: elsewhere a backslash is taken off */
#else
    rl_bind_keyseq("\\e[?", drop_answer);
    rl_bind_keyseq("\\e_G", drop_kitty);
#endif
}

shell_input *shell_input_open(shell_session *session)
{
    static const char breaks[] = " \t\n'\"`(),;=<>+-*|&%^";
    the_input = (shell_input){.session = session};
    rl_readline_name = "lacis";
    rl_outstream = session->standard->terminal ? stdout : stderr;
    rl_catch_signals = 0;
    rl_attempted_completion_function = on_complete;
    rl_basic_word_break_characters = breaks;
    bind_answer();
    stifle_history(SHELL_HISTORY_ENTRIES);
    shell_history_open(&the_input.history, add_entry);
    return &the_input;
}

void shell_input_close(shell_input *input)
{
    shell_history_close(&input->history);
    clear_history();
}

/* After a change of the window's size, or after Ctrl-Z and fg. */
static void restore_terminal(void)
{
    rl_deprep_terminal();
    rl_prep_terminal(1);
    rl_resize_terminal();
    rl_forced_update_display();
}

static shell_line drop_line(void)
{
    fputs("^C", rl_outstream); /* before the editor moves the cursor back */
    rl_free_line_state();
    rl_callback_handler_remove();
    fputs("\n", rl_outstream);
    fflush(rl_outstream);
    shell_interrupt_clear();
    return SHELL_INTERRUPTED;
}

shell_line shell_input_line(shell_input *input, const char *prompt, char **line)
{
    input->given = false;
    input->line = NULL;
    rl_callback_handler_install(prompt, on_line);
    while (!input->given) {
        switch (shell_interrupt_wait(STDIN_FILENO)) {
        case SHELL_READY:
            rl_callback_read_char();
            break;
        case SHELL_SIGNALLED:
            restore_terminal();
            break;
        case SHELL_PRESSED:
            return drop_line();
        }
    }
    *line = input->line;
    if (input->line) return SHELL_LINE;
    fputc('\n', rl_outstream);
    fflush(rl_outstream);
    return SHELL_END;
}

void shell_input_free(char *line)
{
    free(line);
}

void shell_input_remember(shell_input *input, const char *statement)
{
    if (shell_history_add(&input->history, statement)) add_history(statement);
}
