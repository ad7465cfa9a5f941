/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs and their host: errors, notes, progress, scratch memory and threads. What operators and loaders call of it
 * stands in lacis_extend.h.
 */
#include "core/device.h"

#include "common/parallel.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double lacis_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int lacis_cpus(void)
{
    return lacis_parallel_cpus();
}

lacis_status lacis_host_init(lacis_host *host)
{
    memset(host, 0, sizeof *host);
    host->error.offset = -1;
    host->threads = lacis_cpus();
    host->memory = lacis_memory_new();
    return host->memory == NULL ? LACIS_NOMEM : LACIS_OK;
}

void lacis_host_clear(lacis_host *host)
{
    lacis_gpu_release(host->gpu);
    host->gpu = NULL;
    lacis_memory_release(host->memory);
    host->memory = NULL;
}

void lacis_host_ok(lacis_host *host)
{
    host->error.code = LACIS_OK;
    host->error.offset = -1;
    host->error.message[0] = '\0';
    host->error.hint[0] = '\0';
}

void lacis_run_init(lacis_run *run, lacis_host *host)
{
    run->host = host;
    run->scratch = NULL;
    run->counters = 0;
    run->timed = false;
    run->team = NULL;
}

/* ------------------------------------------------------------------------------------------ errors */

static void set_error(lacis_host *host, lacis_status code, int64_t offset, const char *hint, const char *format,
                      va_list args) __attribute__((format(printf, 5, 0)));
static void set_error(lacis_host *host, lacis_status code, int64_t offset, const char *hint, const char *format,
                      va_list args)
{
    lacis_error error = {.code = code, .offset = offset};
    vsnprintf(error.message, sizeof error.message, format, args);
    if (hint != NULL) snprintf(error.hint, sizeof error.hint, "%s", hint);
    host->error = error;
}

lacis_status lacis_run_fail(lacis_run *run, lacis_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_error(run->host, code, -1, NULL, format, args);
    va_end(args);
    return code;
}

lacis_status lacis_run_fail_at(lacis_run *run, lacis_status code, int64_t offset, const char *hint,
                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_error(run->host, code, offset, hint, format, args);
    va_end(args);
    return code;
}

lacis_status lacis_run_no_memory(lacis_run *run, uint64_t bytes)
{
    char want[LACIS_NUMBER_TEXT], limit[LACIS_NUMBER_TEXT], used[LACIS_NUMBER_TEXT];
    lacis_memory *memory = run->host->memory;
    uint64_t most = lacis_memory_limit(memory), now = lacis_memory_used(memory), block = lacis_memory_block(bytes);
    lacis_format_bytes(bytes, want);
    if (block > most || now > most - block) {
        lacis_format_bytes(most, limit);
        lacis_format_bytes(now, used);
        return lacis_run_fail(run, LACIS_LIMIT,
                              "needs %s more, but %s of memory_limit = %s are in use; raise it with SET "
                              "memory_limit, or ask for less (WHERE, TOP k, totals in a SELECT)",
                              want, used, limit);
    }
    return lacis_run_fail(run, LACIS_NOMEM, "out of memory: the system refused %s", want);
}

/* ------------------------------------------------------------------------------- messages, progress */

void lacis_run_note(lacis_run *run, lacis_level level, const char *format, ...)
{
    lacis_host *host = run->host;
    if (host->log == NULL) return;
    char message[LACIS_MESSAGE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    host->log(host->log_arg, level, message);
}

bool lacis_run_cancelled(const lacis_run *run)
{
    for (const lacis_host *host = run->host; host != NULL; host = host->above)
        if (atomic_load_explicit(&host->cancel, memory_order_relaxed) != 0) return true;
    return false;
}

lacis_status lacis_run_interrupted(lacis_run *run)
{
    return lacis_run_fail(run, LACIS_INTERRUPT, "interrupted");
}

static const double PROGRESS_PERIOD = 0.1; /* seconds */

void lacis_run_progress(lacis_run *run, const char *phase, double fraction)
{
    lacis_host *host = run->host;
    if (host->progress == NULL) return;
    double now = lacis_now();
    if (now - host->last_progress < PROGRESS_PERIOD) return;
    host->last_progress = now;
    host->progress(host->progress_arg, phase, fraction);
}

/* Per second, since this work began; another kind of it, another end, a count that falls and a pause are a new
 * beginning. 0: too early to say. */
static double pace_of(struct lacis_pace *pace, double done, double all, const char *unit, double now)
{
    const double early = 0.3, pause = 2;
    if (pace->unit != unit || pace->all != all || done < pace->last || now - pace->told > pause)
        *pace = (struct lacis_pace){.unit = unit, .all = all, .first = done, .since = now};
    pace->last = done;
    pace->told = now;
    return now - pace->since < early ? 0 : (done - pace->first) / (now - pace->since);
}

/* Three digits of what is large or small, whole numbers else. */
static const char *figure(double value, char *text, size_t size)
{
    bool plain = value == 0 || (value >= 100 && value < 1e7);
    snprintf(text, size, plain ? "%.0f" : "%.3g", value);
    return text;
}

void lacis_run_advance(lacis_run *run, const char *phase, double done, double all, const char *unit)
{
    char text[120], now_text[24], all_text[24], rate_text[24];
    lacis_host *host = run->host;
    if (host->progress == NULL) return;
    double now = lacis_now(), rate = pace_of(&host->pace, done, all, unit, now);
    if (now - host->last_progress < PROGRESS_PERIOD) return; /* before the text, that nobody would see */
    bool bytes = strcmp(unit, "bytes") == 0;
    double scale = bytes ? 1e-6 : 1;
    int used = snprintf(text, sizeof text, "%.40s %s", phase, figure(done * scale, now_text, sizeof now_text));
    if (all > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, " of %s",
                         figure(all * scale, all_text, sizeof all_text));
    used += snprintf(text + used, sizeof text - (size_t)used, " %s", bytes ? "MB" : unit);
    if (rate > 0)
        snprintf(text + used, sizeof text - (size_t)used, ", %s/s",
                 figure(rate * scale, rate_text, sizeof rate_text));
    lacis_run_progress(run, text, all > 0 ? done / all : -1);
}

int lacis_run_threads(const lacis_run *run)
{
    return run->host->threads;
}

bool lacis_run_deterministic(const lacis_run *run)
{
    return run->host->deterministic;
}

bool lacis_run_timed(const lacis_run *run)
{
    return run->timed;
}

void lacis_run_count(lacis_run *run, const char *what, double figure)
{
    for (int i = 0; i < run->counters; i++) {
        if (strcmp(run->counter[i].what, what) == 0) {
            run->counter[i].figure += figure;
            return;
        }
    }
    if (run->counters == LACIS_COUNTERS) return;
    char *copy = lacis_run_text(run, "%s", what);
    if (copy == NULL) return;
    run->counter[run->counters++] = (lacis_counter){copy, figure};
}

/* ------------------------------------------------------------------------------------------ memory */

void *lacis_run_alloc_quiet(lacis_run *run, uint64_t bytes)
{
    return lacis_memory_alloc(run->host->memory, bytes);
}

lacis_status lacis_run_alloc(lacis_run *run, uint64_t bytes, void *out_pointer)
{
    void *block = lacis_memory_alloc(run->host->memory, bytes);
    if (block == NULL) return lacis_run_no_memory(run, bytes);
    memcpy(out_pointer, &block, sizeof block);
    return LACIS_OK;
}

void lacis_run_free(lacis_run *run, void *block)
{
    lacis_memory_free(run->host->memory, block);
}

uint64_t lacis_run_memory_left(const lacis_run *run)
{
    uint64_t limit = lacis_memory_limit(run->host->memory), used = lacis_memory_used(run->host->memory);
    return used < limit ? limit - used : 0;
}

uint64_t lacis_run_memory_warm(const lacis_run *run)
{
    return lacis_memory_warm(run->host->memory);
}

/* Scratch is carved from blocks; large pieces get blocks of their own. */
struct scratch_block {
    struct scratch_block *next;
    uint64_t size, used;
};
enum { SCRATCH_HEAD = 64, SCRATCH_BLOCK = 16384 };

static lacis_status scratch_new(lacis_run *run, uint64_t bytes, struct scratch_block **out)
{
    struct scratch_block *block = NULL;
    if (bytes > UINT64_MAX / 2) return lacis_run_no_memory(run, bytes);
    LACIS_TRY(lacis_run_alloc(run, bytes + SCRATCH_HEAD, &block));
    block->size = bytes;
    block->used = 0;
    *out = block;
    return LACIS_OK;
}

lacis_status lacis_run_scratch(lacis_run *run, uint64_t bytes, void *out_pointer)
{
    uint64_t want = bytes > UINT64_MAX - 64 ? bytes : (bytes + 15) / 16 * 16;
    struct scratch_block *block = run->scratch;
    if (block == NULL || want > block->size - block->used) {
        struct scratch_block *fresh = NULL;
        bool large = want > SCRATCH_BLOCK / 4;
        LACIS_TRY(scratch_new(run, large ? want : SCRATCH_BLOCK, &fresh));
        if (large && block != NULL) { /* goes second, so that the open block stays in use */
            fresh->next = block->next;
            block->next = fresh;
        } else {
            fresh->next = block;
            run->scratch = fresh;
        }
        block = fresh;
    }
    void *piece = (char *)block + SCRATCH_HEAD + block->used;
    block->used += want;
    memcpy(out_pointer, &piece, sizeof piece);
    return LACIS_OK;
}

char *lacis_run_text(lacis_run *run, const char *format, ...)
{
    va_list args, again;
    char *text;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || lacis_run_scratch(run, (uint64_t)length + 1, &text) != LACIS_OK) {
        va_end(again);
        return NULL;
    }
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void lacis_run_clear(lacis_run *run)
{
    for (struct scratch_block *block = run->scratch; block != NULL;) {
        struct scratch_block *next = block->next;
        lacis_memory_free(run->host->memory, block);
        block = next;
    }
    run->scratch = NULL;
    run->counters = 0;
}

lacis_status lacis_run_save(lacis_run *run, const lacis_array *array, const char *path)
{
    const lacis_saver *saver = &run->host->saver;
    if (saver->save == NULL)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "nothing is saved here: there is no engine");
    return saver->save(saver->context, run, array, path);
}

lacis_status lacis_run_can_save(lacis_run *run, const lacis_outline *form, const char *path, int64_t offset)
{
    const lacis_saver *saver = &run->host->saver;
    return saver->check == NULL ? LACIS_OK : saver->check(saver->context, run, form, path, offset);
}

/* ----------------------------------------------------------------------------------------- threads */

struct deal {
    lacis_run *run;
    lacis_task_fn fn;
    void *context;
};

static int deal_one(void *context, int64_t task, int worker)
{
    struct deal *deal = context;
    if (lacis_run_cancelled(deal->run)) return LACIS_INTERRUPT;
    return (int)deal->fn(deal->context, task, worker);
}

lacis_status lacis_run_parallel(lacis_run *run, int64_t tasks, lacis_task_fn fn, void *context)
{
    struct deal deal = {run, fn, context};
    lacis_status status = (lacis_status)lacis_parallel(run->host->threads, tasks, deal_one, &deal);
    return status == LACIS_INTERRUPT ? lacis_run_interrupted(run) : status;
}
