/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the terminal which images it takes; see terminal.h.
 */
#include "terminal.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/* fd and standard input are one terminal, and we are in its foreground. */
static bool may_ask(int fd)
{
    struct stat out, in;
    if (!shell_is_terminal(fd) || !shell_is_terminal(STDIN_FILENO)) return false;
    if (fstat(fd, &out) != 0 || fstat(STDIN_FILENO, &in) != 0 || out.st_rdev != in.st_rdev) return false;
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* An answer that has come is taken, however late it is looked for. */
static bool waits(double seconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, seconds > 0 ? (int)(seconds * 1000) : 0) > 0 && (input.revents & POLLIN) != 0;
}

/* Seconds that an answer may take. */
static double patience(void)
{
    const char *word = getenv("LACIS_PLOT_WAIT");
    double seconds = word == NULL ? 1 : strtod(word, NULL);
    return seconds > 0 && seconds <= 600 ? seconds : 1;
}

/* Where ESC [ ? ... c stands, the answer that every terminal gives, and gives last; NULL: not yet. */
static const char *end_of(const char *answer)
{
    const char *at = strstr(answer, "\033[?");
    return at != NULL && at[3 + strspn(at + 3, "0123456789;")] == 'c' ? at : NULL;
}

/* ESC [ ? 64 ; 1 ; 4 c: "4" among what stands behind the first number is sixels. */
static bool says_sixels(const char *at)
{
    while ((at = strchr(at, ';')) != NULL) {
        char *end;
        if (strtol(++at, &end, 10) == 4 && end > at && (*end == ';' || *end == 'c')) return true;
    }
    return false;
}

/* kitty's question is an image of one pixel that is not to be shown; others drop it (but the few that print it, for
 * which it is asked on suspicion alone). */
static shell_images ask(int fd, bool kitty)
{
    static const char question[] = "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[c", yes[] = "\033_Gi=31;OK\033\\";
    const char *asked = kitty ? question : strrchr(question, '\033'), *end;
    char answer[256] = "";
    size_t used = 0, size = strlen(asked);
    if (waits(0) || write(fd, asked, size) != (ssize_t)size) return SHELL_NOT_ASKED;
    double until = shell_clock() + patience();
    while ((end = end_of(answer)) == NULL && used + 1 < sizeof answer && waits(until - shell_clock())) {
        ssize_t got = read(STDIN_FILENO, answer + used, 1);
        if (got <= 0) break;
        answer[++used] = '\0';
        if (answer[0] != '\033') return SHELL_NOT_ASKED; /* the person's, of which no more is taken */
    }
    if (kitty && (used == 0 || strstr(answer, yes) != NULL)) return SHELL_KITTY;
    return end != NULL && says_sixels(end) ? SHELL_SIXELS : SHELL_NO_IMAGES;
}

shell_images shell_terminal_images(int fd, bool kitty)
{
    struct termios before, raw;
    if (!may_ask(fd) || tcgetattr(STDIN_FILENO, &before) != 0) return SHELL_NOT_ASKED;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return SHELL_NOT_ASKED;
    shell_images found = ask(fd, kitty);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return found;
}
