/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis.h - the public interface of lacis, an embeddable query engine for graph, sparse and array
 * workloads. This header is the manual: it needs no other, compiles as C17 and as C++17, and is all
 * that a program which embeds lacis includes.
 *
 * In one breath
 *     lacis_engine *db;
 *     lacis_open(NULL, &db);                                    // a catalog in memory
 *     lacis_exec(db, "LOAD w FROM 'wiki-Vote.txt';", NULL, NULL);
 *     lacis_statement *s;
 *     lacis_prepare(db, "MULTIPLY w BY w CON nil AGG count TOP 3", NULL, &s);
 *     while (lacis_step(s) == LACIS_ROW)
 *         printf("%lld %lld %lld\n", (long long)lacis_column_int64(s, 0),
 *                (long long)lacis_column_int64(s, 1), (long long)lacis_column_int64(s, 2));
 *     lacis_finalize(s);
 *     lacis_close(db);
 *
 * Errors. Every function that can fail returns a lacis_status; 0 is LACIS_OK. The engine keeps the
 * message of its last failure: lacis_error_message, _offset (byte in the statement's text, or -1)
 * and _hint. The library never prints, exits or aborts.
 *
 * Threads. One engine and all that hangs on it (statements, cursors) belong to one thread at a time;
 * two engines may run in two threads at once. Only lacis_interrupt may be called from any thread (and
 * from a signal handler). Array handles are counted atomically and may cross threads; their contents
 * never change.
 *
 * Ownership. What a function returns through `out` belongs to the caller and has its own release
 * function; const char * results belong to the engine or statement and live until its next call.
 */
#ifndef LACIS_H
#define LACIS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define LACIS_API
#else
#define LACIS_API __attribute__((visibility("default")))
#endif

#define LACIS_VERSION "0.1.0"

/* The version of the library that runs, which may be newer than the header's LACIS_VERSION. */
LACIS_API const char *lacis_version(void);

/* ------------------------------------------------------------------------------------------ status */

typedef enum lacis_status {
    LACIS_OK = 0,
    LACIS_ROW,         /* lacis_step: a row is ready */
    LACIS_DONE,        /* lacis_step: no more rows */
    LACIS_SYNTAX,      /* the text is not in the language */
    LACIS_NAME,        /* a name that nothing has, or that something has already */
    LACIS_TYPE,        /* operands or expressions of types or shapes that do not go together */
    LACIS_RANGE,       /* a value outside what is allowed */
    LACIS_OVERFLOW,    /* an integer result does not fit 64 bits */
    LACIS_FORMAT,      /* a data file that is not what it should be: the message names line and column */
    LACIS_IO,          /* reading or writing failed */
    LACIS_FULL,        /* the disk is full or a file size limit was reached */
    LACIS_NOMEM,       /* the system has no more memory */
    LACIS_LIMIT,       /* would need more than memory_limit; the message says how much */
    LACIS_INTERRUPT,   /* lacis_interrupt */
    LACIS_CANTOPEN,    /* the database cannot be opened */
    LACIS_CORRUPT,     /* the database is damaged: a checksum differs */
    LACIS_BUSY,        /* another process holds the database */
    LACIS_UNSUPPORTED, /* no variant of the operator can run this here; the message says why */
    LACIS_SQL,         /* SQLite refused the statement */
    LACIS_MISUSE       /* the call itself is wrong: a null handle, a column that is not there */
} lacis_status;

/* A short English name of a status ("syntax error"). */
LACIS_API const char *lacis_status_name(lacis_status status);

/* ------------------------------------------------------------------------------------------ engine */

typedef struct lacis_engine lacis_engine;
typedef struct lacis_statement lacis_statement;
typedef struct lacis_array lacis_array;

/* Opens (and where needed creates) the database file at `path`; NULL or ":memory:" keeps all in
 * memory. On failure *out is still an engine (unless memory ran out: then NULL) that can only be asked
 * for its message and closed. */
LACIS_API lacis_status lacis_open(const char *path, lacis_engine **out);

/* Finalizes what is left of statements and frees the engine. Array handles stay valid. NULL is fine. */
LACIS_API void lacis_close(lacis_engine *engine);

LACIS_API lacis_status lacis_error_status(const lacis_engine *engine);
LACIS_API const char *lacis_error_message(const lacis_engine *engine); /* never NULL */
LACIS_API int64_t lacis_error_offset(const lacis_engine *engine);      /* byte in the text, or -1 */
LACIS_API const char *lacis_error_hint(const lacis_engine *engine);    /* "" if there is none */

/* Asks whatever runs on the engine to stop soon with LACIS_INTERRUPT. Any thread, signal handlers too.
 * Has no effect on statements begun later. */
LACIS_API void lacis_interrupt(lacis_engine *engine);

/* ---------------------------------------------------------------------------------------- messages */

typedef enum lacis_level {
    LACIS_SUMMARY, /* what a statement did: "wiki: graph, 7115 vertices, 103689 edges, directed (0.02 s)" */
    LACIS_NOTE,    /* a choice made on the user's behalf */
    LACIS_WARNING  /* the result may not be what the user thinks */
} lacis_level;

typedef void (*lacis_log_fn)(void *arg, lacis_level level, const char *message);
/* fraction is 0..1, or negative where the end is not known. Called from the thread that runs the
 * statement, at most about ten times a second. */
typedef void (*lacis_progress_fn)(void *arg, const char *phase, double fraction);

LACIS_API void lacis_set_log(lacis_engine *engine, lacis_log_fn fn, void *arg);
LACIS_API void lacis_set_progress(lacis_engine *engine, lacis_progress_fn fn, void *arg);

/* PLOT name [AS kind] [TO 'file']: drawing is the program's (the shell has one). fn is called from the thread that
 * runs the statement, which must not run another one of this engine meanwhile; the array may be held on to. On
 * failure it writes a message and answers a status that is not LACIS_OK. Without fn PLOT is LACIS_UNSUPPORTED. */
typedef struct lacis_plot {
    const char *name;
    const struct lacis_array *array;
    const char *kind; /* "line", "scatter", "heat", "spy", "hist", "tree"; NULL: as fits the array */
    const char *path; /* NULL: on the screen */
} lacis_plot;
typedef lacis_status (*lacis_plot_fn)(void *arg, const lacis_plot *plot, char *message, size_t size);
LACIS_API void lacis_set_plot(lacis_engine *engine, lacis_plot_fn fn, void *arg);

/* Options, the same as `SET name = value` (see `SHOW OPTIONS`): memory_limit, threads, deterministic ... */
LACIS_API lacis_status lacis_set_option(lacis_engine *engine, const char *name, const char *value);
/* Writes the value as text, at most size bytes with the closing zero. */
LACIS_API lacis_status lacis_get_option(lacis_engine *engine, const char *name, char *value, size_t size);

/* -------------------------------------------------------------------------------------- statements */

typedef enum lacis_type { LACIS_NULL, LACIS_INTEGER, LACIS_REAL, LACIS_TEXT, LACIS_BLOB } lacis_type;

/* Prepares the first statement of `text` (one of lacis's own or SQL). *tail, where asked for, points
 * behind its ';'. An empty text or one of comments alone gives LACIS_OK and *out == NULL. */
LACIS_API lacis_status lacis_prepare(lacis_engine *engine, const char *text, const char **tail,
                                     lacis_statement **out);

/* Values for `:name` parameters (without the colon): LACIS_NAME where the statement has none of that name. They stay
 * bound over lacis_reset. A statement of SQL reads an unbound one as NULL; lacis's own fail. */
LACIS_API lacis_status lacis_bind_int64(lacis_statement *statement, const char *name, int64_t value);
LACIS_API lacis_status lacis_bind_double(lacis_statement *statement, const char *name, double value);
LACIS_API lacis_status lacis_bind_text(lacis_statement *statement, const char *name, const char *value);
LACIS_API lacis_status lacis_bind_null(lacis_statement *statement, const char *name);

/* LACIS_ROW, LACIS_DONE or an error. The first step does the work; a statement that changes the catalog
 * is one transaction. */
LACIS_API lacis_status lacis_step(lacis_statement *statement);
LACIS_API lacis_status lacis_reset(lacis_statement *statement);
LACIS_API void lacis_finalize(lacis_statement *statement); /* NULL is fine */

/* Columns exist after the first lacis_step (for SQL already after lacis_prepare). Values are those of
 * the present row. lacis_column_text gives reals with the fewest digits that read back as the same
 * number. A column that is not there gives 0, 0.0, NULL. */
LACIS_API int lacis_column_count(lacis_statement *statement);
LACIS_API const char *lacis_column_name(lacis_statement *statement, int column);
LACIS_API lacis_type lacis_column_type(lacis_statement *statement, int column);
LACIS_API int64_t lacis_column_int64(lacis_statement *statement, int column);
LACIS_API double lacis_column_double(lacis_statement *statement, int column);
LACIS_API const char *lacis_column_text(lacis_statement *statement, int column);
LACIS_API const void *lacis_column_blob(lacis_statement *statement, int column, size_t *bytes);

/* Runs every statement of `text` in turn and hands each row as text (NULL for a null) to fn, where there
 * is one; a non-zero answer of fn stops with LACIS_INTERRUPT. Stops at the first error; its offset then
 * counts from the start of `text`. */
typedef int (*lacis_row_fn)(void *arg, int columns, const char *const *names, const char *const *values);
LACIS_API lacis_status lacis_exec(lacis_engine *engine, const char *text, lacis_row_fn fn, void *arg);

/* The plan of a statement, as EXPLAIN prints it. *out is freed with lacis_free. */
LACIS_API lacis_status lacis_explain(lacis_engine *engine, const char *text, char **out);
LACIS_API void lacis_free(void *memory);

/* Ways to go on at byte `cursor` of `text` (keywords, operators, names, options, files): fn is called for
 * each with the word and what it is ("keyword", "array" ...). *start is where the word begins that each
 * would replace. This is what TAB does in the shell. */
typedef void (*lacis_complete_fn)(void *arg, const char *word, const char *kind);
LACIS_API lacis_status lacis_complete(lacis_engine *engine, const char *text, size_t cursor, size_t *start,
                                      lacis_complete_fn fn, void *arg);

/* Whether `text` ends inside a statement, so that a shell should ask for another line. */
LACIS_API int lacis_incomplete(const char *text);

/* ------------------------------------------------------------------------------------------- ranks */

/* Several processes that share the work of one engine, started by mpirun (docs/ranks.md). All of them join; rank 0
 * then runs statements on an engine that was given the ranks, every other one serves until rank 0 leaves. A process
 * may do so once; where the program itself has called MPI_Init, MPI stays the program's. */
typedef struct lacis_ranks lacis_ranks;

/* Waits until all have joined. LACIS_OK and *out == NULL where this process was not started as one of several.
 * LACIS_CANTOPEN with the reason in `message` where it was but they cannot talk (empty where rank 0 says it). */
LACIS_API lacis_status lacis_ranks_join(lacis_ranks **out, char *message, size_t size);
LACIS_API int lacis_ranks_rank(const lacis_ranks *ranks); /* 0 for NULL */
LACIS_API int lacis_ranks_size(const lacis_ranks *ranks); /* 1 for NULL */
/* From here on the engine of rank 0 shares its work (SET ranks says when); NULL: no more. The ranks must stay until
 * then or until the engine is closed. */
LACIS_API lacis_status lacis_set_ranks(lacis_engine *engine, lacis_ranks *ranks);
/* Any other rank: does what rank 0 asks for, with an engine of its own in memory, until rank 0 leaves (LACIS_OK) or
 * is gone. */
LACIS_API lacis_status lacis_ranks_serve(lacis_ranks *ranks, lacis_engine *engine);
/* Rank 0: lets the others go, too. Where one of them was lost the whole job is ended. NULL is fine. */
LACIS_API void lacis_ranks_leave(lacis_ranks *ranks);

/* ------------------------------------------------------------------------------------------ arrays */

typedef enum lacis_dtype {
    LACIS_PATTERN = 0, /* no values: every entry counts as 1 */
    LACIS_U8,          /* U8, U16, U32: storage of small counts only; they read as I64 */
    LACIS_U16,
    LACIS_U32,
    LACIS_I32,
    LACIS_I64,
    LACIS_F32,
    LACIS_F64,
    LACIS_C64,  /* two floats: real, imaginary */
    LACIS_C128, /* two doubles: real, imaginary */
    LACIS_DD,   /* double-double: high, low */
    LACIS_CDD   /* complex double-double: real high, real low, imaginary high, imaginary low */
} lacis_dtype;

LACIS_API const char *lacis_dtype_name(lacis_dtype dtype);
LACIS_API size_t lacis_dtype_size(lacis_dtype dtype); /* bytes an element; 0 for LACIS_PATTERN */

typedef enum lacis_kind {
    LACIS_CSR,    /* a graph or sparse matrix: parts offsets|begin+end, columns, values, row_labels, col_labels */
    LACIS_VECTOR, /* parts values and, where sparse or labelled, index (I64) */
    LACIS_TABLE,  /* any number of columns of one length: one part each */
    LACIS_INTERLEAVED, /* a batch of independent systems, each a lane: see lacis_array_create */
    LACIS_SYMMETRIC,   /* dense symmetric or Hermitian matrices, one triangle of each: see lacis_array_create */
    LACIS_BODIES,      /* point masses in space, one column a figure: see lacis_array_create */
    LACIS_GRID         /* fields over a grid of one to three dimensions: see lacis_array_create */
} lacis_kind;

/* One named piece of an array's storage: `count` elements at `data`. */
typedef struct lacis_part {
    const char *name;
    lacis_dtype dtype;
    int64_t count;
    const void *data;
} lacis_part;

/* Makes an array of caller memory and enters it in the catalog as `name` (replacing an array of that
 * name). CSR: extent = {rows, columns}; parts "offsets" (I64, rows + 1, from 0 upwards), "columns" (U32,
 * from 0, rising within each row) and, unless dtype is LACIS_PATTERN, "values" of dtype; "row_labels" and
 * "col_labels" (I64, rising) where ids are not 0, 1, 2 ... VECTOR: extent = {n}; "values", and "index"
 * (I64, rising) where only some are there. TABLE: extent = {rows}; every part a column. INTERLEAVED: extent =
 * {lanes, rows of the longest lane}; every part a field of all lanes' elements, as far as its name is not one of
 * "block" (I64, one element: lanes that lie side by side; 1, and where it is missing, is Flat: lane behind lane; 0 is
 * Full: element behind element; b is Block(b): flocks of b lanes, each element behind element, the last one padded),
 * "group_lanes" and "group_rows" (I64, where lanes differ in length or tree: lanes of each group, rows of its lanes)
 * and "parent" (I32, the rows of all groups behind one another: the parent of each row in its lane, below the row's
 * own number; -1 for a root). A group's elements lie behind those of the groups before. A field with as many elements
 * as "parent" would have is shared by the lanes of a group. dtype is that of the fields. SYMMETRIC: extent = {rows of
 * the largest matrix, matrices (1 mostly)}; "values" of dtype, a real or complex one: one triangle of each matrix,
 * column behind column, the other triangle's places never read; "shape" (I64, four elements): the triangle (0 lower,
 * 1 upper), whether the other one is its conjugate (Hermitian: 0 or 1), the leading dimension (from one column to the
 * next, at least the rows; 0: packed, the columns' elements of the triangle behind one another) and the elements from
 * one matrix to the next (0: each behind the one before). Matrices of several sizes: "orders" (I64, one each: its
 * rows); then they lie behind one another, the last element of "shape" is 0, and a leading dimension that is not 0
 * stands for each matrix's own rows. Of a Hermitian matrix's diagonal the imaginary part is not read. BODIES: extent
 * = {bodies}, dtype F32 or F64; parts of dtype "m", "x", "y", "z" and, where they are known, "vx", "vy", "vz" (0
 * else), "eps" (a softening length of each), "ax", "ay", "az", "phi" (accelerations and potentials at these
 * positions, as a run leaves them); "id" (I64, in any order, each once) where ids are not 0, 1, 2 ...; "time" (F64,
 * one element). All figures are finite, masses and softening lengths not negative. GRID: extent = {nx, ny (1 of one
 * dimension)}, dtype F32 or F64; "shape" (I64, 1 to 3 elements: nx, ny, nz, none below 1) and 1 to 8 parts of dtype
 * with nx ny nz elements each, x fastest, z slowest: the fields, called what their parts are ("value" is what an only
 * field is mostly called; "shape", "step", "x", "y", "z" and "t", in any case, name none); "step" (I64, one element,
 * not negative) where it is known how many sweeps have led to it. lacis_array_create copies.
 * lacis_array_lend keeps the caller's memory: it must not change until `release(arg)` is called, which happens once,
 * from any thread, when nobody needs it any more (also when the call itself fails). In a database file the contents
 * are copied into the file as well. */
typedef struct lacis_array_spec {
    lacis_kind kind;
    lacis_dtype dtype;
    int64_t extent[2];
    const lacis_part *parts;
    int part_count;
} lacis_array_spec;
typedef void (*lacis_release_fn)(void *arg);
LACIS_API lacis_status lacis_array_create(lacis_engine *engine, const char *name, const lacis_array_spec *spec);
LACIS_API lacis_status lacis_array_lend(lacis_engine *engine, const char *name, const lacis_array_spec *spec,
                                        lacis_release_fn release, void *arg);

/* The array called `name`, to be given back with lacis_array_release. Its contents never change: a later
 * LET of the same name makes another array. */
LACIS_API lacis_status lacis_array_find(lacis_engine *engine, const char *name, lacis_array **out);
LACIS_API void lacis_array_release(lacis_array *array); /* NULL is fine */
LACIS_API lacis_kind lacis_array_kind(const lacis_array *array);
LACIS_API lacis_dtype lacis_array_dtype(const lacis_array *array);
LACIS_API int64_t lacis_array_extent(const lacis_array *array, int dimension); /* rows, columns; grid: nx, ny */
LACIS_API int lacis_array_part_count(const lacis_array *array);
/* Fills *part; its data may be read while the array is held. LACIS_RANGE past the last part. */
LACIS_API lacis_status lacis_array_part(const lacis_array *array, int index, lacis_part *part);

/* ------------------------------------------------------------------------------------------- Arrow */

/* Apache Arrow's C data interface, by which programs share columns without copying them: the two structs as its
 * specification has them (https://arrow.apache.org/docs/format/CDataInterface.html). Whoever holds one calls its
 * release once; it is released when release is NULL. A child may be moved out of its parent and released later. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* Fills both with the array's own memory, which stays as long as anything of *out does: after lacis_array_release,
 * after lacis_close, and released from any thread. A vector is an array of its values; one with an index, and tables,
 * bodies and grids, are structs (record batches) of their columns: "i" and "value" of the vector; a grid's fields, x
 * fastest. Notes (metadata) of a struct: "lacis.kind"; of bodies "lacis.time"; of a grid "lacis.shape" (nx,ny,nz) and
 * "lacis.step", where they are known. U8 ... F64 are Arrow's own; C64, C128 and DD are lists of fixed size 2 of
 * floats or doubles, CDD of 4, with the note "lacis.type" (c64, c128, dd, cdd). LACIS_TYPE for the other kinds: LET t
 * = SELECT * FROM them gives a table. Where it fails, both are released. `engine` accounts for the memory and keeps
 * the message. */
LACIS_API lacis_status lacis_array_export_arrow(lacis_engine *engine, const lacis_array *array,
                                                struct ArrowSchema *schema, struct ArrowArray *out);
/* Enters an array of Arrow in the catalog as `name`, where it lies: a struct as a table, numbers as a vector. Both
 * structs are taken over, whatever comes of it: release is NULL afterwards. The schema is released at once, the array
 * when nobody needs it any more, from any thread. Types as above, and no nulls (LACIS_TYPE). In a database file the
 * contents are copied into the file as well. */
LACIS_API lacis_status lacis_array_import_arrow(lacis_engine *engine, const char *name, struct ArrowSchema *schema,
                                                struct ArrowArray *array);

/* The rows of a statement that was prepared (and bound) but not yet stepped, as record batches of up to 65536 rows,
 * copied: integers int64, reals double, texts and blobs large_utf8 and large_binary, nulls as nulls. The first batch
 * decides about types (integers among reals become reals; a column of nulls is one of texts); a value of another type
 * later ends the stream with an error. The stream takes the statement over, as far as it succeeds, and is used on the
 * engine's thread and released before lacis_close; the batches may stay longer, and go to any thread. */
LACIS_API lacis_status lacis_statement_export_arrow(lacis_statement *statement, struct ArrowArrayStream *out);

/* ---------------------------------------------------------------------------------- process-wide */

/* Asked before each allocation of `bytes` where set: a non-zero answer refuses it, and the call in hand
 * ends with LACIS_NOMEM. For embedders that meter memory, and for tests. Set it while no engine runs. */
typedef int (*lacis_refuse_fn)(void *arg, size_t bytes);
LACIS_API void lacis_set_allocation_guard(lacis_refuse_fn fn, void *arg);

/* Bytes that the engine holds now and held at most since it was opened (or since reset_peak != 0 was last
 * given). Arrays, results and work memory count; pages of mapped files do not. */
LACIS_API void lacis_memory_usage(lacis_engine *engine, uint64_t *now, uint64_t *peak, int reset_peak);

/* ------------------------------------------------------------------------------------------- extending */

/* Operators and loaders of the embedding program; see lacis_extend.h, which describes both. The
 * descriptors are kept by reference and must outlive the engine. */
struct lacis_op;
struct lacis_loader;
LACIS_API lacis_status lacis_register_operator(lacis_engine *engine, const struct lacis_op *op);
LACIS_API lacis_status lacis_register_loader(lacis_engine *engine, const struct lacis_loader *loader);

#ifdef __cplusplus
}
#endif
#endif
