/* SPDX-License-Identifier: Apache-2.0
 *
 * Ctrl-C. While a statement runs it is passed to the engine; at the prompt and between the statements of a script it
 * is only noted. A signal handler has no argument, so this file keeps the shell's only changing globals.
 */
#ifndef SHELL_INTERRUPT_H
#define SHELL_INTERRUPT_H

#include "lacis.h"

#include <stdbool.h>

void shell_interrupt_install(void);
/* With several ranks: what mpirun sends when it is interrupted counts as Ctrl-C, after which the shell leaves. A rank
 * that serves passes both over: it ends with rank 0. */
void shell_interrupt_terminate(bool serves);
/* The engine that works from now on; NULL: none. */
void shell_interrupt_watch(lacis_engine *engine);
/* Whether Ctrl-C was pressed since the last shell_interrupt_clear. */
bool shell_interrupted(void);
void shell_interrupt_clear(void);
/* Whether it was pressed twice within two seconds during one statement: the user wants to leave. */
bool shell_interrupt_leave(void);
/* Waits until fd can be read, Ctrl-C is pressed, or another signal (window size, continue) came. */
typedef enum shell_wait { SHELL_READY, SHELL_PRESSED, SHELL_SIGNALLED } shell_wait;
shell_wait shell_interrupt_wait(int fd);

#endif
