/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements terminal.h.
 */
#include "terminal.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

bool shell_is_terminal(int fd)
{
    return isatty(fd) == 1;
}

int shell_terminal_width(int fd)
{
    struct winsize size;
    if (!shell_is_terminal(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

int shell_terminal_height(int fd)
{
    struct winsize size;
    if (!shell_is_terminal(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_row;
}

bool shell_terminal_moves(int fd)
{
    const char *term = getenv("TERM");
    return shell_is_terminal(fd) && term && term[0] && strcmp(term, "dumb") != 0;
}

bool shell_terminal_colours(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    return shell_terminal_moves(fd) && (!no_colour || !no_colour[0]);
}

int shell_terminal_pixels(int fd)
{
    struct winsize size;
    if (!shell_is_terminal(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_xpixel;
}

/* fd and standard input are one terminal, and we are in its foreground. */
static bool may_ask(int fd)
{
    struct stat out, in;
    if (!shell_is_terminal(fd) || !shell_is_terminal(STDIN_FILENO)) return false;
    if (fstat(fd, &out) != 0 || fstat(STDIN_FILENO, &in) != 0 || out.st_rdev != in.st_rdev) return false;
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static bool waits(double seconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return seconds >= 0 && poll(&input, 1, (int)(seconds * 1000)) > 0 && (input.revents & POLLIN) != 0;
}

/* ESC [ ? 64 ; 1 ; 4 c: "4" among what stands behind the first number is sixels. */
static bool says_sixels(const char *answer)
{
    const char *at = strstr(answer, "\033[?");
    while (at != NULL && (at = strchr(at, ';')) != NULL) {
        char *end;
        if (strtol(++at, &end, 10) == 4 && end > at && (*end == ';' || *end == 'c')) return true;
    }
    return false;
}

static bool ask(int fd)
{
    static const char question[] = "\033[c";
    char answer[128] = "";
    size_t used = 0;
    double until = shell_clock() + 1;
    if (waits(0) || write(fd, question, sizeof question - 1) != (ssize_t)sizeof question - 1) return false;
    while (used + 1 < sizeof answer && strchr(answer, 'c') == NULL && waits(until - shell_clock())) {
        ssize_t got = read(STDIN_FILENO, answer + used, 1);
        if (got <= 0) break;
        answer[++used] = '\0';
    }
    return says_sixels(answer);
}

bool shell_terminal_sixels(int fd)
{
    struct termios before, raw;
    if (!may_ask(fd) || tcgetattr(STDIN_FILENO, &before) != 0) return false;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return false;
    bool good = ask(fd);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return good;
}

double shell_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
