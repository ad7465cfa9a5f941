/* SPDX-License-Identifier: Apache-2.0
 *
 * A task of a sparse symmetric product on the CPU: its window is filled, then added to the sums in its turn, as
 * half.c says.
 */
#include "symv/half_cpu.h"

#include <sched.h>
#include <string.h>

#define ADD(R)                                                                                                       \
    static void add_##R(int64_t count, const R *from, R *to)                                                         \
    {                                                                                                                \
        for (int64_t i = 0; i < count; i++)                                                                          \
            to[i] += from[i];                                                                                        \
    }
ADD(float)
ADD(double)

static bool cancelled(const lacis_symv_host *host)
{
    return host->cancelled != NULL && host->cancelled(host->context);
}

/* Room for at least [low, high) and for what was there, on the side to which rows reach. */
static bool grow_window(half_run *run, int worker, half_rows *rows, int64_t low, int64_t high)
{
    half_window *window = &run->window[worker];
    const int64_t n = run->half->job.n, span = (high - low) + (high - low) / 4, room = span < n ? span : n;
    char *old = window->at;
    if (window->room < high - low || rows->window != NULL) {
        window->at = half_take(run, (uint64_t)room * run->bytes);
        if (window->at == NULL) {
            window->at = old;
            return false;
        }
        window->room = room;
    }
    const char *before = rows->window;
    const bool upper = run->half->job.uplo == LACIS_SYMV_UPPER;
    rows->least = upper ? low : high - window->room;
    rows->most = upper ? low + window->room : high;
    rows->window = window->at - rows->least * (int64_t)run->bytes;
    if (rows->least < 0) rows->least = 0;
    if (rows->most > n) rows->most = n;
    const size_t from = (size_t)rows->low * run->bytes, count = (size_t)(rows->high - rows->low) * run->bytes;
    if (before != NULL)
        memcpy(rows->window + from, before + from, count);
    else
        memset(rows->window + from, 0, count);
    if (window->at != old) half_give(run, old);
    return true;
}

static bool fill_window(half_run *run, int worker, half_rows *rows)
{
    const int64_t n = run->half->job.n;
    const bool upper = run->half->job.uplo == LACIS_SYMV_UPPER;
    const int64_t reach = run->reach + run->reach / 4;
    rows->low = rows->first;
    rows->high = rows->last;
    int64_t low = upper || rows->low < reach ? (upper ? rows->low : 0) : rows->low - reach;
    int64_t high = upper ? (n - rows->high < reach ? n : rows->high + reach) : rows->high;
    if (!grow_window(run, worker, rows, low, high)) return false;
    while (rows->first < rows->last) {
        rows->first = run->loops->rows[run->half->job.type](rows);
        if (rows->first == rows->last) break;
        /* Twice as much, or all that the row wishes. */
        const int64_t twice = 2 * (high - low);
        if (upper)
            high = rows->wish >= low + twice ? rows->wish + 1 : low + twice < n ? low + twice : n;
        else
            low = rows->wish < high - twice ? rows->wish : high - twice > 0 ? high - twice : 0;
        if (!grow_window(run, worker, rows, low, high)) return false;
    }
    return true;
}

static void add_window(const half_run *run, const char *window, int64_t low, int64_t span)
{
    const lacis_symv_type type = run->half->job.type;
    const int64_t numbers = lacis_symv_complex(type) ? 2 * span : span;
    char *to = run->sum + (size_t)low * run->bytes;
    if (half_single(type))
        add_float(numbers, (const float *)window, (float *)to);
    else
        add_double(numbers, (const double *)window, (double *)to);
}

/* The first task's rows for the lower triangle, the last one's for the upper: what tasks reach besides their own rows
 * belongs to tasks before them. */
static void rows_of_task(const half_run *run, int64_t number, half_rows *rows)
{
    const int64_t task = run->half->job.uplo == LACIS_SYMV_UPPER ? run->tasks - 1 - number : number;
    rows->first = run->first[task] * HALF_BLOCK;
    rows->last = half_row_behind(run, run->first[task + 1]);
}

int lacis_half_do_task(void *context, int64_t number, int worker)
{
    half_run *run = context;
    half_rows rows = {.half = run->half, .x = run->x};
    rows_of_task(run, number, &rows);
    const int64_t first = rows.first, last = rows.last, bytes = (int64_t)run->bytes;
    int answer = cancelled(&run->half->job.host) ? HALF_STOPPED : HALF_DONE;
    if (answer == HALF_DONE && !fill_window(run, worker, &rows)) answer = HALF_NO_ROOM;
    if (answer == HALF_DONE)
        memcpy(run->sum + first * bytes, rows.window + first * bytes, (size_t)((last - first) * bytes));
    while (atomic_load_explicit(&run->added, memory_order_acquire) != number)
        sched_yield();
    if (answer == HALF_DONE) {
        add_window(run, rows.window + rows.low * bytes, rows.low, first - rows.low);
        add_window(run, rows.window + last * bytes, last, rows.high - last);
    }
    atomic_store_explicit(&run->added, number + 1, memory_order_release);
    return answer;
}
