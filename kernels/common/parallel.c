/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks over an OpenMP team. Built for the thread sanitizer (which does not see into libgomp) the same dealing runs
 * on plain POSIX threads.
 */
#include "common/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

struct deal {
    lacis_parallel_fn fn;
    void *context;
    int64_t tasks;
    _Atomic int64_t next;
    _Atomic int answer;
};

static void work(struct deal *deal, int worker)
{
    while (deal->answer == 0) {
        int64_t task = atomic_fetch_add(&deal->next, 1);
        if (task >= deal->tasks) return;
        int answer = deal->fn(deal->context, task, worker), none = 0;
        if (answer != 0) atomic_compare_exchange_strong(&deal->answer, &none, answer);
    }
}

#if defined(_OPENMP)
#include <omp.h>

/* A team that is smaller than the one before it ends the other threads, which then have to be started again: tenths
 * of a millisecond each time. So each thread that opens teams keeps to one size, the largest asked for in so many
 * calls, and those that are too many have nothing to do. */
enum { REMEMBERED = 64 };
static _Thread_local struct {
    int size, asked, calls;
} kept;

static int team_size(int threads)
{
    if (threads > kept.asked) kept.asked = threads;
    if (threads > kept.size) kept.size = threads;
    if (++kept.calls < REMEMBERED) return kept.size;
    int size = kept.size;
    kept.size = kept.asked;
    kept.asked = kept.calls = 0;
    return size;
}

static void team(struct deal *deal, int threads)
{
    int size = team_size(threads);
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() < threads) work(deal, omp_get_thread_num());
    }
}

#else
#include <pthread.h>

enum { MOST = 256 };
struct member {
    struct deal *deal;
    int worker;
    pthread_t thread;
};

static void *member_main(void *arg)
{
    struct member *member = arg;
    work(member->deal, member->worker);
    return NULL;
}

static void team(struct deal *deal, int threads)
{
    struct member member[MOST];
    int started = 0;
    for (int i = 1; i < threads && i < MOST; i++) {
        member[started] = (struct member){.deal = deal, .worker = i};
        if (pthread_create(&member[started].thread, NULL, member_main, &member[started]) != 0) break;
        started++;
    }
    work(deal, 0);
    for (int i = 0; i < started; i++)
        pthread_join(member[i].thread, NULL);
}
#endif

int lacis_parallel(int threads, int64_t tasks, lacis_parallel_fn fn, void *context)
{
    struct deal deal = {.fn = fn, .context = context, .tasks = tasks};
    if (threads > tasks) threads = (int)tasks;
    if (threads <= 1) {
        work(&deal, 0);
    } else {
        team(&deal, threads);
    }
    return deal.answer;
}

int lacis_parallel_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count;
}
