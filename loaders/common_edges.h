/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a CSR graph from edges that a reader can deliver twice: once to be counted, once to be put in their places.
 * So little more than the graph itself is ever held. Loaders and generators differ only in their readers.
 *
 *     lacis_edges_begin(run, &edges, &spec, &reader)
 *     lacis_edges_count(&edges)      first reading: edges.entries and edges.seen tell what there is
 *     lacis_edges_fill(&edges, &a)   second reading, sorting, duplicates
 *     lacis_edges_end(&edges)        always
 */
#ifndef LACIS_LOADERS_EDGES_H
#define LACIS_LOADERS_EDGES_H

#include "common_ids.h"
#include "common_rows.h"

#include <pthread.h>

enum { LACIS_BATCH = 1024 };

typedef union lacis_edge_value {
    int64_t integer;
    double real;
} lacis_edge_value;

/* What a reader is to deliver as values. */
typedef enum lacis_want {
    LACIS_WANT_NONE,
    LACIS_WANT_ANY,     /* integers where it is one; otherwise reals, noted in `seen` by lacis_seen_real */
    LACIS_WANT_INTEGER, /* all are known to be */
    LACIS_WANT_REAL,
    LACIS_WANT_COMPLEX /* real and imag */
} lacis_want;

typedef enum lacis_mirror {
    LACIS_MIRROR_NONE,
    LACIS_MIRROR_SAME, /* each edge (s, t), s != t, also as (t, s) */
    LACIS_MIRROR_NEGATED,
    LACIS_MIRROR_CONJUGATE
} lacis_mirror;

/* What values were met in the first reading. */
typedef struct lacis_seen {
    bool integer; /* some, between low and high */
    int64_t low, high;
    bool real; /* some that are no integers, between real_low and real_high */
    double real_low, real_high;
    bool big; /* integers beyond int64 */
} lacis_seen;

static inline void lacis_seen_integer(lacis_seen *seen, int64_t value)
{
    if (!seen->integer) {
        seen->integer = true;
        seen->low = seen->high = value;
    }
    seen->low = value < seen->low ? value : seen->low;
    seen->high = value > seen->high ? value : seen->high;
}

static inline void lacis_seen_real(lacis_seen *seen, double value)
{
    if (!seen->real) {
        seen->real = true;
        seen->real_low = seen->real_high = value;
    }
    seen->real_low = value < seen->real_low ? value : seen->real_low;
    seen->real_high = value > seen->real_high ? value : seen->real_high;
}

/* A reader's error, for the thread that may report it. `code` is the reader's own; the least `at` wins. */
typedef struct lacis_fault {
    int code; /* 0: none */
    const char *at, *end;
    int64_t figure;
} lacis_fault;

struct lacis_edges;
/* Where a reader puts edges; one a thread. */
typedef struct lacis_sink {
    struct lacis_edges *edges;
    lacis_want want;
    bool precise; /* line by line: `line` must be set before each edge */
    const char *line;
    int limit, count;
    lacis_seen seen;
    lacis_fault fault;
    int64_t entries;
    int64_t src[LACIS_BATCH], dst[LACIS_BATCH];
    lacis_edge_value value[LACIS_BATCH];
    double imag[LACIS_BATCH];
} lacis_sink;

lacis_status lacis_sink_flush(lacis_sink *sink);
/* A vertex that may have no edge (ids only). */
lacis_status lacis_sink_vertex(lacis_sink *sink, int64_t id);

/* Adds the edge whose value and imag were set at [sink->count]. */
static inline lacis_status lacis_sink_put(lacis_sink *sink, int64_t src, int64_t dst)
{
    sink->src[sink->count] = src;
    sink->dst[sink->count] = dst;
    return ++sink->count < sink->limit ? LACIS_OK : lacis_sink_flush(sink);
}

/* Delivers the same edges each time. Chunks may be read by several threads at once, each with its own sink. On an
 * error in the data it fills sink->fault and returns LACIS_FORMAT. */
typedef struct lacis_edge_reader {
    void *context;
    int64_t chunks;
    lacis_status (*read)(void *context, int64_t chunk, lacis_sink *sink);
    /* Reports a fault. NULL where there are none. */
    lacis_status (*report)(void *context, lacis_run *run, const lacis_fault *fault);
    const char *phase; /* "loading" */
} lacis_edge_reader;

enum { LACIS_TYPE_FOUND = -1 };
typedef struct lacis_edges_spec {
    bool declared; /* vertices base .. base + rows - 1 (columns likewise); the reader has checked them */
    bool separate; /* rows and columns have ids of their own */
    int64_t rows, cols, base;
    const int64_t *first; /* not declared: NULL, or the id of index 0 (option base) */
    uint64_t direct;      /* not declared: ids below this may be kept in an array; 0: hash at once */
    lacis_mirror mirror;
    lacis_want want; /* NONE, ANY, REAL or COMPLEX */
    int type;        /* a lacis_dtype that the user asked for, or LACIS_TYPE_FOUND */
    lacis_duplicates duplicates;
    const char *what; /* "edges", "entries": for notes */
    const char *path; /* for messages */
} lacis_edges_spec;

typedef enum lacis_pass { LACIS_PASS_COUNT, LACIS_PASS_FILL, LACIS_PASS_FIND } lacis_pass;

typedef struct lacis_edges {
    lacis_run *run;
    lacis_edges_spec spec;
    lacis_edge_reader reader;
    lacis_pass pass;
    int threads;
    bool shared;      /* more than one thread fills */
    atomic_bool wide; /* counting met ids too far apart for an array */
    pthread_t owner;
    lacis_sink *sinks;
    lacis_ids row, col; /* col only where they are separate */
    lacis_buffer *offsets;
    lacis_raw_rows raw;
    lacis_dtype dtype;
    _Atomic int64_t done; /* chunks */
    /* After counting: */
    int64_t entries; /* edges read */
    lacis_seen seen;
    int64_t duplicates; /* after filling: entries that collapsed */
    /* What FIND looks for: the edge number `nth` (from 0), or the second one from src to dst. */
    int64_t nth, find_src, find_dst;
    const char *found, *before;
} lacis_edges;

lacis_status lacis_edges_begin(lacis_run *run, lacis_edges *edges, const lacis_edges_spec *spec,
                               const lacis_edge_reader *reader);
lacis_status lacis_edges_count(lacis_edges *edges);
/* Values are left out after all: for what counting has found. */
void lacis_edges_drop_values(lacis_edges *edges);
lacis_status lacis_edges_fill(lacis_edges *edges, lacis_array **out);
void lacis_edges_end(lacis_edges *edges);

/* The line of the nth edge (from 0), by reading again; NULL where there are fewer. */
lacis_status lacis_edges_locate(lacis_edges *edges, int64_t nth, const char **line);
/* The second line that gives edge (src, dst). */
lacis_status lacis_edges_locate_second(lacis_edges *edges, int64_t src, int64_t dst, const char **line);

#endif
