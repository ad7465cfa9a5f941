/* SPDX-License-Identifier: Apache-2.0
 *
 * What the terminal is and can do.
 */
#ifndef SHELL_TERMINAL_H
#define SHELL_TERMINAL_H

#include <stdbool.h>

bool shell_is_terminal(int fd);
/* Columns of the terminal behind fd; 0 where it is none or does not say. */
int shell_terminal_width(int fd);
/* The same of its rows. */
int shell_terminal_height(int fd);
/* Whether fd is a terminal that understands escape sequences (TERM is not dumb). */
bool shell_terminal_moves(int fd);
/* The same, and the user did not set NO_COLOR. */
bool shell_terminal_colours(int fd);
/* Pixels of its window; false where it does not say. */
bool shell_terminal_pixels(int fd, int *width, int *height);

typedef enum shell_images { SHELL_NOT_ASKED, SHELL_NO_IMAGES, SHELL_SIXELS, SHELL_KITTY } shell_images;
/* terminal_images.c: which images the terminal behind fd takes, from which standard input must come as well: it is
 * asked what it is (DA1), and where `kitty` says that it may be one of those that draw kitty's, whether it does
 * (variables of the environment outlive their terminal: an xterm begun in a kitty has them, too). It has a second to
 * answer (LACIS_PLOT_WAIT); what comes later the input drops, with libedit less kitty's. Where nothing comes, it is
 * what `kitty` says. SHELL_NOT_ASKED: input waits, or we are in the background, or standard input is another. */
shell_images shell_terminal_images(int fd, bool kitty);
/* Seconds from some fixed moment. */
double shell_clock(void);

#define SHELL_BOLD   "\033[1m"
#define SHELL_DIM    "\033[2m"
#define SHELL_RED    "\033[31m"
#define SHELL_YELLOW "\033[33m"
#define SHELL_PLAIN  "\033[0m"

#endif
