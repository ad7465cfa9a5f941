/* SPDX-License-Identifier: Apache-2.0
 *
 * The insides of lacis_run and of the host that runs of one engine share: last error, message sinks,
 * memory, cancel flag and the options that running code asks for. Used by all of engine/, never outside.
 */
#ifndef LACIS_CORE_RUN_H
#define LACIS_CORE_RUN_H

#include "lacis_extend.h"

#include <stdatomic.h>

typedef struct lacis_memory lacis_memory;

enum { LACIS_MESSAGE_TEXT = 1024, LACIS_HINT_TEXT = 256 };

typedef struct lacis_error {
    lacis_status code;
    int64_t offset;
    char message[LACIS_MESSAGE_TEXT];
    char hint[LACIS_HINT_TEXT];
} lacis_error;

/* The database file's memory for small texts, for layers below the catalog; both are NULL where there is no file. */
typedef struct lacis_keeper {
    void *context;
    lacis_status (*keep)(void *context, lacis_run *run, const char *group, const char *name, const char *value);
    lacis_status (*kept)(void *context, lacis_run *run, const char *group,
                         void (*fn)(void *arg, const char *name, const char *value), void *arg);
} lacis_keeper;

/* Saving an array to a file, for layers below exec/; NULL where there is no engine. */
typedef struct lacis_saver {
    void *context;
    lacis_status (*save)(void *context, lacis_run *run, const lacis_array *array, const char *path);
    lacis_status (*check)(void *context, lacis_run *run, const lacis_outline *form, const char *path, int64_t offset);
} lacis_saver;

/* SET ranks: whether other ranks share work where the planner finds that it pays, never, or wherever they can. */
typedef enum lacis_ranks_use { LACIS_RANKS_AUTO, LACIS_RANKS_OFF, LACIS_RANKS_ALL } lacis_ranks_use;

/* One an engine. */
typedef struct lacis_host {
    lacis_memory *memory;
    lacis_error error;
    lacis_log_fn log;
    void *log_arg;
    lacis_progress_fn progress;
    void *progress_arg;
    atomic_int cancel;
    int threads;
    int threads_asked; /* by SET threads; 0: as many as there are processors */
    bool deterministic;
    double last_progress; /* seconds */
    struct lacis_pace {   /* lacis_run_advance: of what it measures the rate, and since when */
        const char *unit;
        double all, first, last, since, told;
    } pace;
    lacis_gpu *gpu;     /* device.c: NULL until somebody asked for one */
    uint64_t gpu_limit; /* bytes; 0: nine tenths of the card */
    int gpus;           /* SET gpus; 0: auto */
    int gpu_number;     /* which of this machine's, counted round */
    int gpu_step;       /* and every so manieth behind it; 0: all (lacis_device_set_rank) */
    lacis_keeper keeper;
    lacis_saver saver;
    lacis_ranks *ranks; /* NULL: this process is alone */
    lacis_ranks_use ranks_use;
    uint64_t ranks_memory;          /* SET ranks_memory_limit; 0: each rank's own */
    const struct lacis_host *above; /* whose cancel flag counts too: runs of single threads; NULL: none */
} lacis_host;

typedef struct lacis_counter {
    const char *what;
    double figure;
} lacis_counter;

enum { LACIS_COUNTERS = 64 };

struct lacis_run {
    lacis_host *host;
    struct scratch_block *scratch;
    lacis_counter counter[LACIS_COUNTERS];
    int counters;
    bool timed;       /* EXPLAIN ANALYZE */
    lacis_team *team; /* of the piece that is running, where pieces work together; NULL: none */
};

lacis_status lacis_host_init(lacis_host *host);
void lacis_host_clear(lacis_host *host);

/* A run is a value: lacis_run_init on a zeroed or used one, lacis_run_clear frees its scratch. */
void lacis_run_init(lacis_run *run, lacis_host *host);
void lacis_run_clear(lacis_run *run);

/* Forgets the last error. */
void lacis_host_ok(lacis_host *host);

/* The processors that this process may use. */
int lacis_cpus(void);

/* Seconds since some fixed moment. */
double lacis_now(void);

/* memory.c: blocks counted against a limit. Counted itself, since arrays outlive engines. */
lacis_memory *lacis_memory_new(void);
lacis_memory *lacis_memory_retain(lacis_memory *memory);
void lacis_memory_release(lacis_memory *memory);
void *lacis_memory_alloc(lacis_memory *memory, uint64_t bytes); /* NULL: refused or none left */
uint64_t lacis_memory_block(uint64_t bytes);                    /* what it charges: large blocks are rounded up */
void lacis_memory_free(lacis_memory *memory, void *block);
bool lacis_memory_charge(lacis_memory *memory, uint64_t bytes); /* false: over the limit */
void lacis_memory_credit(lacis_memory *memory, uint64_t bytes);
void lacis_memory_set_limit(lacis_memory *memory, uint64_t bytes);
uint64_t lacis_memory_limit(const lacis_memory *memory);
uint64_t lacis_memory_used(const lacis_memory *memory);
uint64_t lacis_memory_peak(const lacis_memory *memory);
void lacis_memory_reset_peak(lacis_memory *memory);
uint64_t lacis_memory_warm(const lacis_memory *memory); /* pages that wait in the pool */
uint64_t lacis_memory_physical(void);                   /* bytes of this machine; 0: not known */
/* Asks the guard (lacis_set_allocation_guard) whether an allocation may go ahead. */
bool lacis_memory_may(uint64_t bytes);
/* LACIS_LIMIT or LACIS_NOMEM with its message, for a failed request of `bytes`. */
lacis_status lacis_run_no_memory(lacis_run *run, uint64_t bytes);

/* array.c: no two arrays of a process ever have the same number. */
uint64_t lacis_array_number(const lacis_array *array);
/* What was found out about an array after it was built, to be found again; set gives the first one that was set. Any
 * thread; the array keeps the hold that it is given. */
lacis_buffer *lacis_array_aside(const lacis_array *array);
lacis_buffer *lacis_array_set_aside(const lacis_array *array, lacis_buffer *buffer);

/* "1.5 GB" and the like, in a buffer of LACIS_NUMBER_TEXT. */
const char *lacis_format_bytes(uint64_t bytes, char *text);

#endif
