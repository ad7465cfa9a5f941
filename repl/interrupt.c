/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements interrupt.h. The handler may run on any thread, so it wakes a waiting reader through a pipe instead of
 * relying on EINTR.
 */
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEAVE_WITHIN_MS = 2000, EXIT_INTERRUPTED = 130 };

static _Atomic(lacis_engine *) working;
static atomic_int presses;         /* since the last clear */
static atomic_int presses_working; /* during the present statement */
static atomic_bool leave;
static atomic_llong last_press_ms;
static int wake[2] = {-1, -1};

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* First press: the engine stops the statement. Second: the shell leaves once it has stopped. Third: at once, which
 * is safe since the database only ever shows committed statements. */
static void press_while_working(lacis_engine *engine)
{
    static const char message[] = "\nleaving as soon as the statement stops; once more: at once\n";
    ssize_t ignored = 0;
    long long now = now_ms();
    int count = ++presses_working;
    if (count >= 3) _exit(EXIT_INTERRUPTED);
    if (count == 2 && now - last_press_ms <= LEAVE_WITHIN_MS) {
        leave = true;
        ignored = write(STDERR_FILENO, message, sizeof message - 1);
    } else {
        presses_working = 1;
    }
    last_press_ms = now;
    lacis_interrupt(engine);
    (void)ignored;
}

static void on_interrupt(int signal)
{
    (void)signal;
    int kept = errno;
    presses++;
    lacis_engine *engine = working;
    if (engine) press_while_working(engine);
    ssize_t ignored = write(wake[1], "", 1); /* full: the reader wakes all the same */
    (void)ignored;
    errno = kept;
}

void shell_interrupt_install(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, present;
    bool ignored = sigaction(SIGINT, NULL, &present) == 0 && present.sa_handler == SIG_IGN; /* as nohup wants */
    if (!ignored && pipe2(wake, O_CLOEXEC | O_NONBLOCK) == 0) sigaction(SIGINT, &action, NULL);
    struct sigaction quiet_end = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &quiet_end, NULL);
    struct sigaction report = {.sa_handler = SIG_IGN}; /* a limit on file sizes: then writing fails, and says so */
    sigaction(SIGXFSZ, &report, NULL);
}

static void on_terminate(int signal)
{
    leave = true;
    on_interrupt(signal);
}

void shell_interrupt_terminate(bool serves)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = serves ? SIG_IGN : on_terminate;
    sigaction(SIGTERM, &action, NULL);
    if (serves) sigaction(SIGINT, &action, NULL);
}

void shell_interrupt_watch(lacis_engine *engine)
{
    presses_working = 0;
    working = engine;
}

bool shell_interrupted(void)
{
    return presses > 0;
}

void shell_interrupt_clear(void)
{
    char bytes[16];
    presses = 0;
    while (wake[0] >= 0 && read(wake[0], bytes, sizeof bytes) > 0)
        continue;
}

bool shell_interrupt_leave(void)
{
    return leave;
}

shell_wait shell_interrupt_wait(int fd)
{
    struct pollfd ready[2] = {{.fd = fd, .events = POLLIN}, {.fd = wake[0], .events = POLLIN}};
    if (shell_interrupted()) return SHELL_PRESSED;
    int count = poll(ready, 2, -1);
    if (shell_interrupted()) return SHELL_PRESSED;
    return count < 0 && errno == EINTR ? SHELL_SIGNALLED : SHELL_READY;
}
