/* SPDX-License-Identifier: Apache-2.0
 *
 * ACCELERATE's run: the field at the bodies themselves or at free points, as a table, with the certificate.
 */
#include "nbody/field.h"

#include <string.h>

const lacis_column lacis_nbody_field_column[LACIS_NBODY_FIELD_COLUMNS] = {
    {"id", false}, {"ax", true}, {"ay", true}, {"az", true}, {"phi", true}};

/* Targets [begin, end): bodies, or points. */
typedef struct field {
    lacis_nbody_system *system;
    int64_t begin, end;
    size_t size; /* of a number */
    lacis_array *table;
    void *column[LACIS_NBODY_FIELD_COLUMNS];
    void *places; /* all points, in the run's type */
} field;

static lacis_status new_table(field *f)
{
    const lacis_nbody_work *work = f->system->work;
    lacis_dtype dtype[LACIS_NBODY_FIELD_COLUMNS];
    for (int i = 0; i < LACIS_NBODY_FIELD_COLUMNS; i++)
        dtype[i] = i == 0 ? LACIS_I64 : work->dtype;
    return lacis_nbody_new_table(f->system->run, lacis_nbody_field_column, dtype,
                                 LACIS_NBODY_FIELD_COLUMNS - !work->potential, f->end - f->begin, &f->table,
                                 f->column);
}

static void put_ids(const field *f)
{
    const lacis_nbody_work *work = f->system->work;
    const lacis_nbody_places *places = &work->places;
    const bool free_points = places->array != NULL;
    int64_t *id = f->column[0];
    for (int64_t i = f->begin; i < f->end; i++)
        id[i - f->begin] = free_points ? lacis_label(places->id, places->base, i)
                                       : lacis_label(work->bodies.id, work->bodies.base, i);
}

/* ------------------------------------------------------------------------------------- at the bodies */

static void columns_into(void *const to[4], bool potential, lacis_nbody_columns *out)
{
    *out = (lacis_nbody_columns){.ax = to[0], .ay = to[1], .az = to[2], .phi = potential ? to[3] : NULL};
}

/* Some of the bodies: all are read, theirs are kept. */
static lacis_status read_some(field *f)
{
    lacis_run *run = f->system->run;
    const lacis_nbody_work *work = f->system->work;
    const size_t bytes = f->size * (size_t)work->bodies.count, own = f->size * (size_t)(f->end - f->begin);
    lacis_nbody_columns into;
    char *all;
    LACIS_TRY(lacis_run_alloc(run, 4 * bytes, &all));
    columns_into((void *const[]){all, all + bytes, all + 2 * bytes, all + 3 * bytes}, work->potential, &into);
    lacis_status status = f->system->kind->read(f->system, &into);
    for (int i = 0; i < 3 + work->potential && status == LACIS_OK && own > 0; i++)
        memcpy(f->column[1 + i], all + (size_t)i * bytes + f->size * (size_t)f->begin, own);
    lacis_run_free(run, all);
    return status;
}

static lacis_status at_bodies(field *f)
{
    const lacis_nbody_work *work = f->system->work;
    lacis_nbody_columns into;
    LACIS_TRY(lacis_nbody_refresh(f->system, work->potential));
    if (f->begin > 0 || f->end < work->bodies.count) return read_some(f);
    columns_into(&f->column[1], work->potential, &into);
    return f->system->kind->read(f->system, &into);
}

/* ------------------------------------------------------------------------------------- at free points */

/* Points [begin, end) of all, and their field, as columns behind each other. */
static lacis_status at_points(field *f)
{
    lacis_run *run = f->system->run;
    const lacis_nbody_work *work = f->system->work;
    const int64_t count = f->end - f->begin;
    const size_t bytes = f->size * (size_t)count, all = f->size * (size_t)work->places.count;
    const size_t first = f->size * (size_t)f->begin;
    char *block;
    LACIS_TRY(lacis_nbody_take_places(run, work, &f->places));
    LACIS_TRY(lacis_run_alloc(run, 7 * bytes, &block));
    for (size_t i = 0; i < 3 && bytes > 0; i++)
        memcpy(block + i * bytes, (const char *)f->places + i * all + first, bytes);
    lacis_status status = f->system->kind->points(f->system, count, block, block + 3 * bytes, work->potential);
    for (size_t i = 0; i < 3 + (size_t)work->potential && status == LACIS_OK && bytes > 0; i++)
        memcpy(f->column[1 + i], block + (3 + i) * bytes, bytes);
    lacis_run_free(run, block);
    return status;
}

/* ---------------------------------------------------------------------------------------- certificate */

static lacis_status certify(field *f)
{
    lacis_nbody_errors errors;
    const lacis_nbody_work *work = f->system->work;
    const bool free_points = work->places.array != NULL;
    if (work->certify == 0) return LACIS_OK;
    if (free_points)
        LACIS_TRY(lacis_nbody_certify_points(f->system, f->places, f->begin, f->end, &f->column[1], &errors));
    else
        LACIS_TRY(f->system->kind->certify(f->system, work->certify, &errors));
    lacis_run_note(f->system->run, LACIS_NOTE,
                   "ACCELERATE: off by %.2g (median), %.2g (99 %%), %.2g at most, of %lld %s", errors.relative[0],
                   errors.relative[2], errors.relative[3], (long long)errors.sample,
                   free_points ? "points" : "bodies");
    return lacis_nbody_attach_errors(f->system->run, f->table, &errors);
}

lacis_status lacis_nbody_run_field(lacis_nbody_system *system, int64_t begin, int64_t end, lacis_array **out)
{
    field f = {.system = system, .begin = begin, .end = end, .size = (size_t)lacis_nbody_size(system->work->type)};
    LACIS_TRY(new_table(&f));
    put_ids(&f);
    lacis_status status = system->work->places.array != NULL ? at_points(&f) : at_bodies(&f);
    if (status == LACIS_OK) status = certify(&f);
    lacis_run_free(system->run, f.places);
    if (status == LACIS_OK)
        *out = f.table;
    else
        lacis_array_release(f.table);
    return status;
}
