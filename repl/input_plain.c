/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements input.h without a line editor: the terminal's own line discipline, no history.
 */
#include "input.h"
#include "interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct shell_input {
    FILE *prompt; /* where it is written */
};

shell_input *shell_input_open(shell_session *session)
{
    shell_input *input = shell_alloc(NULL, sizeof *input);
    input->prompt = session->standard->terminal ? stdout : stderr;
    return input;
}

void shell_input_close(shell_input *input)
{
    free(input);
}

/* What the terminal answered too late (ESC [ ? 62 ; 4 c and ESC _ G ... ESC \, see terminal_images.c) is not the
 * person's. */
static void drop_answers(char *line)
{
    for (char *at; (at = strstr(line, "\033_G")) != NULL;) {
        char *end = strstr(at, "\033\\");
        if (end == NULL) break;
        memmove(at, end + 2, strlen(end + 2) + 1);
    }
    static const char begins[] = "\033[?";
    for (char *at = line; (at = strstr(at, begins)) != NULL;) {
        char *end = at + sizeof begins - 1;
        end += strspn(end, "0123456789;");
        if (*end == 'c')
            memmove(at, end + 1, strlen(end + 1) + 1);
        else
            at = end;
    }
}

/* The terminal gives one line a read, as far as it fits. */
shell_line shell_input_line(shell_input *input, const char *prompt, char **line)
{
    shell_text text = {0};
    char chunk[4096];
    fputs(prompt, input->prompt);
    fflush(input->prompt);
    for (;;) {
        shell_wait wait = shell_interrupt_wait(STDIN_FILENO);
        if (wait == SHELL_SIGNALLED) continue;
        ssize_t count = wait == SHELL_PRESSED ? 0 : read(STDIN_FILENO, chunk, sizeof chunk);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        shell_text_add(&text, chunk, (size_t)count);
        if (chunk[count - 1] != '\n') continue;
        text.data[text.used - 1] = 0;
        drop_answers(text.data);
        *line = text.data;
        return SHELL_LINE;
    }
    fputc('\n', input->prompt);
    fflush(input->prompt);
    shell_text_free(&text);
    if (!shell_interrupted()) return SHELL_END;
    shell_interrupt_clear();
    return SHELL_INTERRUPTED;
}

void shell_input_free(char *line)
{
    free(line);
}

void shell_input_remember(shell_input *input, const char *statement)
{
    (void)input;
    (void)statement;
}
