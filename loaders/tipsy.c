/* SPDX-License-Identifier: Apache-2.0
 *
 * Tipsy binary files: a head (time, bodies, dimensions, and how many of them are gas, dark and stars), then records
 * of floats, in either order of bytes. Read as they are; written in tipsy's standard form (big-endian, a head of 32
 * bytes), every body dark. The engine calls it through its descriptor.
 *
 * Source of the format: N. Katz and T. Quinn, TIPSY manual, University of Washington, 1994.
 */
#include "common_bodies.h"
#include "common_endian.h"
#include "common_kinds.h"
#include "common_save.h"
#include "common_text.h"

#include <math.h>

enum { KINDS = 3, HEAD = 28, PADDED = 32, BLOCK = 1 << 14, DARK_FLOATS = 9 };

static const char *const kind_names[KINDS] = {"gas", "dark", "star"};
static const int kind_floats[KINDS] = {12, DARK_FLOATS, 11}; /* of a record: mass, place, velocity first */
static const int kind_eps[KINDS] = {9, 7, 9};                /* which of them is the softening length */

static const lacis_option_spec options[] = {
    {.name = "kinds", .form = 's', .help = "only these: 'gas', 'dark', 'star', or several; all by default"},
    {.name = "type", .form = 'w', .words = LACIS_BODIES_TYPES, .otherwise = "f32", .help = "of all figures"},
};

typedef struct head {
    bool swap;
    double time;
    int64_t bodies, dimensions, count[KINDS];
    uint64_t start; /* of the records */
    uint64_t bytes; /* of the records */
} head;

/* ------------------------------------------------------------------------------------------- heads */

static void read_head(const char *data, bool swap, head *out)
{
    *out = (head){.swap = swap, .time = lacis_get_f64(data, swap), .bodies = lacis_get_u32(data + 8, swap)};
    out->dimensions = lacis_get_u32(data + 12, swap);
    for (int k = 0; k < KINDS; k++) {
        out->count[k] = lacis_get_u32(data + 16 + 4 * k, swap);
        out->bytes += (uint64_t)out->count[k] * sizeof(float) * (uint64_t)kind_floats[k];
    }
}

static bool sound(const head *h)
{
    return h->dimensions >= 1 && h->dimensions <= 3 && isfinite(h->time) && h->bodies <= INT32_MAX &&
           h->count[0] + h->count[1] + h->count[2] == h->bodies;
}

/* In which order of bytes the head makes sense, and how long it is; false: in none. Without a length that fits (the
 * file is cut off) it is taken as padded, as most are. */
static bool find_head(const lacis_source *source, head *out)
{
    if (source->size < HEAD) return false;
    for (int swap = 0; swap < 2; swap++) {
        read_head(source->data, swap != 0, out);
        if (!sound(out)) continue;
        out->start = source->size == HEAD + out->bytes ? HEAD : PADDED;
        return true;
    }
    return false;
}

static int sniff(const lacis_source *source)
{
    head h;
    bool named = lacis_path_ends(source->path, ".tipsy .tip .std");
    if (!find_head(source, &h)) return named ? 30 : 0;
    if (h.bodies > 0 && source->size == h.start + h.bytes) return 95;
    return named || (h.bodies > 0 && h.dimensions == 3) ? 50 : 0;
}

/* ----------------------------------------------------------------------------------------- loading */

typedef struct job {
    const lacis_bodies_maker *maker;
    const char *records;
    bool swap;
    int floats, eps;
    int64_t first, count; /* rows */
} job;

static lacis_status read_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const job *j = context;
    int64_t end = j->count - task * BLOCK < BLOCK ? j->count : (task + 1) * BLOCK;
    for (int64_t i = task * BLOCK; i < end; i++) {
        const char *at = j->records + (size_t)i * sizeof(float) * (size_t)j->floats;
        for (int c = LACIS_BODY_M; c <= LACIS_BODY_VZ; c++)
            lacis_body_put(j->maker, (lacis_body_column)c, j->first + i, lacis_get_f32(at + 4 * c, j->swap));
        lacis_body_put(j->maker, LACIS_BODY_EPS, j->first + i, lacis_get_f32(at + 4 * j->eps, j->swap));
    }
    return LACIS_OK;
}

static lacis_status read_kinds(lacis_run *run, const lacis_source *source, const head *h, unsigned wanted,
                               const lacis_bodies_maker *maker)
{
    job j = {.maker = maker, .records = source->data + h->start, .swap = h->swap};
    for (int k = 0; k < KINDS; k++) {
        j.floats = kind_floats[k];
        j.eps = kind_eps[k];
        j.count = h->count[k];
        if (wanted >> k & 1) {
            LACIS_TRY(lacis_run_parallel(run, (j.count + BLOCK - 1) / BLOCK, read_block, &j));
            j.first += j.count;
        }
        j.records += (size_t)j.count * sizeof(float) * (size_t)j.floats;
    }
    return LACIS_OK;
}

/* Where a row's record stands, for messages. */
static lacis_status refuse_row(lacis_run *run, const lacis_source *source, const head *h, unsigned wanted,
                               int64_t row, lacis_body_column column, const char *cause)
{
    uint64_t at = h->start;
    int k = 0;
    for (; k < KINDS - 1; k++) {
        bool taken = (wanted >> k & 1) != 0;
        if (taken && row < h->count[k]) break;
        if (taken) row -= h->count[k];
        at += (uint64_t)h->count[k] * sizeof(float) * (uint64_t)kind_floats[k];
    }
    int place = column == LACIS_BODY_EPS ? kind_eps[k] : (int)column;
    at += sizeof(float) * ((uint64_t)row * (uint64_t)kind_floats[k] + (uint64_t)place);
    return lacis_run_fail(run, LACIS_FORMAT, "%s: %s body %lld, at byte %llu: %s %s", source->path, kind_names[k],
                          (long long)row, (unsigned long long)at, lacis_body_names[column], cause);
}

static lacis_status fill(lacis_run *run, const lacis_source *source, const head *h, unsigned wanted,
                         const lacis_bodies_maker *maker)
{
    int64_t row;
    lacis_body_column column;
    const char *cause;
    LACIS_TRY(read_kinds(run, source, h, wanted, maker));
    LACIS_TRY(lacis_bodies_first_fault(maker, &row, &column, &cause));
    return row < 0 ? LACIS_OK : refuse_row(run, source, h, wanted, row, column, cause);
}

static lacis_status check(lacis_run *run, const lacis_source *source, head *h)
{
    if (source->size < HEAD)
        return lacis_run_fail(run, LACIS_FORMAT, "%s: %llu bytes are too few for tipsy's head; fetch it again",
                              source->path, (unsigned long long)source->size);
    if (!find_head(source, h))
        return lacis_run_fail(
            run, LACIS_FORMAT,
            "%s: the numbers of bodies in its first %d bytes do not add up in either order of bytes; "
            "this is no tipsy binary file",
            source->path, HEAD);
    uint64_t whole = h->start + h->bytes;
    if (source->size == whole) return LACIS_OK;
    return lacis_run_fail(
        run, LACIS_FORMAT,
        "%s: %lld gas, %lld dark and %lld star bodies make %llu bytes, and the file has %llu; fetch "
        "it again",
        source->path, (long long)h->count[0], (long long)h->count[1], (long long)h->count[2],
        (unsigned long long)whole, (unsigned long long)source->size);
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    head h;
    unsigned wanted;
    lacis_bodies_maker maker;
    int64_t rows = 0;
    LACIS_TRY(lacis_kinds_read(run, given, kind_names, KINDS, &wanted));
    LACIS_TRY(check(run, source, &h));
    for (int k = 0; k < KINDS; k++)
        rows += wanted >> k & 1 ? h.count[k] : 0;
    lacis_kinds_note(run, kind_names, KINDS, wanted, h.count);
    LACIS_TRY(lacis_bodies_begin(run, source->path, rows, lacis_bodies_type(given, LACIS_F32), 1U << LACIS_BODY_EPS,
                                 &maker));
    maker.time = h.time;
    return lacis_bodies_end(&maker, fill(run, source, &h, wanted, &maker), out);
}

/* ------------------------------------------------------------------------------------------ saving */

static void put_u32(lacis_writer *w, uint32_t value)
{
    const unsigned char bytes[] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                   (unsigned char)(value >> 8), (unsigned char)value};
    lacis_writer_bytes(w, bytes, sizeof bytes);
}

static void put_float(lacis_writer *w, float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    put_u32(w, word);
}

static void put_head(lacis_writer *w, const lacis_bodies *b)
{
    uint64_t word;
    memcpy(&word, &b->time, sizeof word);
    put_u32(w, (uint32_t)(word >> 32));
    put_u32(w, (uint32_t)word);
    put_u32(w, (uint32_t)b->count);
    put_u32(w, 3);
    put_u32(w, 0);
    put_u32(w, (uint32_t)b->count);
    put_u32(w, 0);
    put_u32(w, 0); /* padding */
}

/* False: a figure is too large for a float. */
static bool put_record(lacis_writer *w, const lacis_bodies *b, int64_t row)
{
    const void *const column[DARK_FLOATS] = {b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz, b->eps, b->phi};
    bool good = true;
    for (int i = 0; i < DARK_FLOATS; i++) {
        float value = column[i] == NULL ? 0 : (float)lacis_value_double(column[i], b->dtype, row);
        good = good && isfinite(value);
        put_float(w, value);
    }
    return good;
}

static lacis_status put_all(lacis_run *run, lacis_writer *w, const lacis_bodies *b)
{
    bool stop = false;
    put_head(w, b);
    for (int64_t row = 0; row < b->count && !stop; row++) {
        if (!put_record(w, b, row))
            return lacis_run_fail(run, LACIS_RANGE,
                                  "body %lld has a figure that tipsy's floats cannot hold; save as npy",
                                  (long long)lacis_label(b->id, b->base, row));
        stop = (row & 0xffff) == 0xffff && lacis_writer_stop(w, row, b->count);
    }
    return lacis_writer_end(w);
}

static lacis_status save(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_bodies b;
    lacis_writer *w;
    if (lacis_array_kind(array) != LACIS_BODIES)
        return lacis_run_fail(run, LACIS_TYPE, "tipsy holds bodies; save others as csv, npy or mtx");
    LACIS_TRY(lacis_bodies_view(run, array, &b));
    if (b.count > INT32_MAX)
        return lacis_run_fail(run, LACIS_RANGE, "tipsy holds at most 2^31 - 1 bodies; save as npy");
    if (b.dtype != LACIS_F32)
        lacis_run_note(run, LACIS_WARNING, "tipsy holds floats: figures are rounded; npy keeps them");
    if (b.id != NULL || b.base != 0 || b.ax != NULL)
        lacis_run_note(run, LACIS_WARNING,
                       "tipsy has no ids and no accelerations: they are not in the file; npy keeps them");
    LACIS_TRY(lacis_run_alloc(run, sizeof *w, &w));
    lacis_writer_begin(w, run, file);
    lacis_status status = put_all(run, w, &b);
    lacis_run_free(run, w);
    return status;
}

static const lacis_holding holdings[] = {{.kind = LACIS_BODIES}};

const lacis_loader lacis_loader_tipsy = {
    .name = "tipsy",
    .summary = "bodies: tipsy binary files (gas, dark, star), little- or big-endian",
    .extensions = ".tipsy .tip .std",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
    .save = save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
};
