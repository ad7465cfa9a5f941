/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said when a kernel fails: which kernel, block and thread, and where the others wait. Exit code 3.
 */
#include "scheduler.h"

#include <map>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/time.h>
#include <unistd.h>

namespace emulate
{

enum { FAILED = 3 };

static const char *text_of(uint3 v, char (&buffer)[48])
{
    snprintf(buffer, sizeof buffer, "(%u, %u, %u)", v.x, v.y, v.z);
    return buffer;
}

void tell_where()
{
    char block_text[48], thread_text[48];
    if (!running) return;
    fprintf(stderr, "emulate: kernel %s%slaunched at %s:%d, <<<(%u, %u, %u), (%u, %u, %u), %zu>>>\n",
            running->name ? running->name : "", running->name ? " " : "", running->where.file, running->where.line,
            running->grid.x, running->grid.y, running->grid.z, running->block.x, running->block.y, running->block.z,
            running->shared);
    if (now)
        fprintf(stderr, "emulate: block %s, thread %s\n", text_of(now->block, block_text),
                text_of(now->thread, thread_text));
}

void fail(place here, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "emulate: %s:%d: ", here.file, here.line);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    tell_where();
    fflush(NULL);
    _exit(FAILED);
}

/* --- all lanes --------------------------------------------------------------------------------------- */

static const char *const state_text[] = {"may run", "wait for their warp", "wait at a barrier of the block",
                                         "wait at a barrier of the cluster", "have ended"};

static void tell_lanes()
{
    for (const block *b : residents) {
        char text[48], thread[48];
        std::map<std::string, std::pair<unsigned, const lane *>> groups;
        for (const lane &l : b->lanes) {
            std::string key = state_text[l.is];
            if (l.is == READY && l.waits.file) key = "poll";
            if (l.is != ENDED && l.waits.file)
                key += std::string(" at ") + l.waits.file + ":" + std::to_string(l.waits.line);
            if (groups[key].first++ == 0) groups[key].second = &l;
        }
        fprintf(stderr, "emulate: block %s:\n", text_of(b->lanes[0].id.block, text));
        for (const auto &g : groups)
            fprintf(stderr, "emulate:   %u threads %s, the first (%s)\n", g.second.first, g.first.c_str(),
                    text_of(g.second.second->id.thread, thread));
        for (const warp &w : b->warps)
            for (const meeting *m : w.open)
                fprintf(stderr, "emulate:   warp %d waits at %s:%d for lanes %08x, of which %08x have come\n",
                        (int)(&w - b->warps.data()), m->where.file, m->where.line, m->mask, m->came);
    }
}

void tell_deadlock()
{
    fprintf(stderr, "emulate: deadlock: no thread can go on\n");
    tell_where();
    tell_lanes();
    fflush(NULL);
    _exit(FAILED);
}

/* --- signals ------------------------------------------------------------------------------------------- */

/* The program ends here, so that functions not meant for handlers may be called. */
static void caught(int number)
{
    if (number == SIGVTALRM) {
        fprintf(stderr, "emulate: a launch takes longer than EMULATE_SECONDS; this thread may wait for ever:\n");
        tell_where();
        tell_lanes();
    } else {
        fprintf(stderr, "emulate: %s\n", number == SIGFPE ? "arithmetic fault" : "bad address");
        tell_where();
    }
    fflush(NULL);
    _exit(FAILED);
}

void catch_signals()
{
    static char room[1 << 16];
    stack_t stack = {};
    struct sigaction action = {};
    stack.ss_sp = room;
    stack.ss_size = sizeof room;
    action.sa_handler = caught;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGVTALRM, &action, NULL);
#ifndef __SANITIZE_ADDRESS__
    sigaltstack(&stack, NULL);
    for (int number : {SIGSEGV, SIGBUS, SIGFPE})
        sigaction(number, &action, NULL);
#endif
}

static void watch(long seconds)
{
    struct itimerval timer = {};
    timer.it_value.tv_sec = seconds;
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

void watch_begin()
{
    static const char *const text = getenv("EMULATE_SECONDS");
    watch(text ? atol(text) : 60);
}

void watch_end()
{
    watch(0);
}

} /* namespace emulate */

/* For the sanitizers: what is still reachable when a kernel is left is no leak; they end like fail. */
extern "C" const char *__asan_default_options()
{
    return "detect_leaks=0:exitcode=3";
}
extern "C" const char *__ubsan_default_options()
{
    return "print_stacktrace=1:exitcode=3";
}
extern "C" void __asan_on_error()
{
    emulate::tell_where();
}
