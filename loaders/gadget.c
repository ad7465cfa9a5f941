/* SPDX-License-Identifier: Apache-2.0
 *
 * Snapshots of Gadget-2, formats 1 and 2, in either order of bytes, of floats or doubles, with ids of 32 or 64 bits.
 * Places, velocities and masses are taken as they stand in the file (in its units; velocities of cosmological runs
 * are not multiplied by the root of the scale factor). Read only. The engine calls it through its descriptor.
 *
 * Source of the format: V. Springel, User guide for GADGET-2, 2005, section 6.
 */
#include "common_gadget.h"

#include "common_bodies.h"
#include "common_kinds.h"
#include "common_text.h"

enum { BLOCK = 1 << 14 };

static const char *const kind_names[LACIS_GADGET_KINDS] = {"gas", "halo", "disk", "bulge", "stars", "boundary"};

static const lacis_option_spec options[] = {
    {.name = "kinds",
     .form = 's',
     .help = "only these: 'gas', 'halo', 'disk', 'bulge', 'stars', 'boundary', or 0 .. 5; all by default"},
    {.name = "type",
     .form = 'w',
     .words = LACIS_BODIES_TYPES,
     .help = "of all figures; by default f32, or f64 where the file has doubles"},
};

/* Bodies of one kind on their way from the file's place `from` to rows. */
typedef struct job {
    const lacis_gadget *g;
    const lacis_bodies_maker *maker;
    int kind;
    int64_t from, from_mass; /* before the kind's: bodies, and masses in their block */
    int64_t row, count;
} job;

static double real_at(const lacis_gadget *g, const lacis_gadget_block *block, int64_t element)
{
    const char *at = block->data + element * block->size;
    return block->size == 8 ? lacis_get_f64(at, g->swap) : lacis_get_f32(at, g->swap);
}

static bool id_at(const lacis_gadget *g, int64_t body, int64_t *out)
{
    const char *at = g->id.data + body * g->id.size;
    uint64_t id = g->id.size == 8 ? lacis_get_u64(at, g->swap) : lacis_get_u32(at, g->swap);
    *out = (int64_t)id;
    return id <= INT64_MAX;
}

static lacis_status read_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const job *j = context;
    int64_t end = j->count - task * BLOCK < BLOCK ? j->count : (task + 1) * BLOCK;
    for (int64_t i = task * BLOCK; i < end; i++) {
        int64_t body = j->from + i, row = j->row + i;
        double mass = j->g->mass[j->kind];
        if (mass == 0) mass = real_at(j->g, &j->g->masses, j->from_mass + i);
        lacis_body_put(j->maker, LACIS_BODY_M, row, mass);
        for (int c = 0; c < 3; c++) {
            lacis_body_put(j->maker, (lacis_body_column)(LACIS_BODY_X + c), row,
                           real_at(j->g, &j->g->pos, 3 * body + c));
            lacis_body_put(j->maker, (lacis_body_column)(LACIS_BODY_VX + c), row,
                           real_at(j->g, &j->g->vel, 3 * body + c));
        }
        if (!id_at(j->g, body, &j->maker->id[row])) return LACIS_FORMAT;
    }
    return LACIS_OK;
}

/* Where the bodies of a kind lie in the file and in the array. */
static job job_of(const lacis_gadget *g, const lacis_bodies_maker *maker, unsigned wanted, int kind)
{
    job j = {.g = g, .maker = maker, .kind = kind, .count = wanted >> kind & 1 ? g->count[kind] : 0};
    for (int k = 0; k < kind; k++) {
        j.from += g->count[k];
        j.from_mass += g->mass[k] == 0 ? g->count[k] : 0;
        j.row += wanted >> k & 1 ? g->count[k] : 0;
    }
    return j;
}

static lacis_status refuse_row(const lacis_gadget *g, const lacis_bodies_maker *maker, unsigned wanted, int64_t row,
                               lacis_body_column column, const char *cause)
{
    job j = job_of(g, maker, wanted, 0);
    while (row >= j.row + j.count)
        j = job_of(g, maker, wanted, j.kind + 1);
    const lacis_gadget_block *block = column == LACIS_BODY_M   ? &g->masses
                                      : column < LACIS_BODY_VX ? &g->pos
                                                               : &g->vel;
    int64_t place = row - j.row;
    if (column == LACIS_BODY_M && g->mass[j.kind] != 0)
        return lacis_run_fail(maker->run, LACIS_FORMAT, "%s: the mass of %s bodies in the head's table %s",
                              g->source->path, kind_names[j.kind], cause);
    int64_t element = j.from_mass + place;
    if (column != LACIS_BODY_M) element = 3 * (j.from + place) + ((int)column - LACIS_BODY_X) % 3;
    return lacis_run_fail(maker->run, LACIS_FORMAT, "%s: %s body %lld, at byte %llu: %s %s", g->source->path,
                          kind_names[j.kind], (long long)place,
                          (unsigned long long)(block->at + (uint64_t)element * (uint64_t)block->size),
                          lacis_body_names[column], cause);
}

static lacis_status fill(const lacis_gadget *g, unsigned wanted, const lacis_bodies_maker *maker)
{
    int64_t row;
    lacis_body_column column;
    const char *cause;
    for (int k = 0; k < LACIS_GADGET_KINDS; k++) {
        job j = job_of(g, maker, wanted, k);
        lacis_status status = lacis_run_parallel(g->run, (j.count + BLOCK - 1) / BLOCK, read_block, &j);
        if (status == LACIS_FORMAT)
            return lacis_run_fail(g->run, LACIS_FORMAT, "%s: an id of 64 bits is beyond 2^63 - 1", g->source->path);
        LACIS_TRY(status);
    }
    LACIS_TRY(lacis_bodies_first_fault(maker, &row, &column, &cause));
    return row < 0 ? LACIS_OK : refuse_row(g, maker, wanted, row, column, cause);
}

static void notes(const lacis_gadget *g, unsigned wanted)
{
    lacis_kinds_note(g->run, kind_names, LACIS_GADGET_KINDS, wanted, g->count);
    if (g->files > 1)
        lacis_run_note(
            g->run, LACIS_WARNING,
            "%s is one of the %u files of its snapshot; LET all = SELECT * FROM a UNION ALL SELECT * FROM b joins "
            "them",
            g->source->path, g->files);
    if (g->redshift > 0)
        lacis_run_note(g->run, LACIS_NOTE,
                       "the snapshot is at redshift %g: places and velocities are comoving, as in the file",
                       g->redshift);
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    lacis_gadget g;
    unsigned wanted;
    lacis_bodies_maker maker;
    int64_t rows = 0;
    LACIS_TRY(lacis_kinds_read(run, given, kind_names, LACIS_GADGET_KINDS, &wanted));
    LACIS_TRY(lacis_gadget_open(run, source, &g));
    for (int k = 0; k < LACIS_GADGET_KINDS; k++)
        rows += wanted >> k & 1 ? g.count[k] : 0;
    notes(&g, wanted);
    bool doubles = g.pos.size == 8 || g.vel.size == 8 || g.masses.size == 8;
    lacis_dtype dtype = lacis_bodies_type(given, doubles ? LACIS_F64 : LACIS_F32);
    LACIS_TRY(lacis_bodies_begin(run, source->path, rows, dtype, 1U << LACIS_BODY_ID, &maker));
    maker.time = g.time;
    maker.spare_ids = true; /* some programs write none that mean anything */
    return lacis_bodies_end(&maker, fill(&g, wanted, &maker), out);
}

static int sniff(const lacis_source *source)
{
    int format;
    bool swap;
    return lacis_gadget_is(source, &format, &swap) ? 97 : 0;
}

const lacis_loader lacis_loader_gadget = {
    .name = "gadget",
    .summary = "bodies: snapshots of Gadget-2, formats 1 and 2, little- or big-endian",
    .extensions = ".gadget",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
};
