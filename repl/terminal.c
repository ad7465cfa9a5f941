/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements terminal.h.
 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

bool shell_terminal_pixels(int fd, int *width, int *height)
{
    struct winsize size;
    if (!shell_is_terminal(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0) return false;
    *width = size.ws_xpixel;
    *height = size.ws_ypixel;
    return *width > 0 && *height > 0;
}

double shell_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
