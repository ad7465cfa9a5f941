/* SPDX-License-Identifier: Apache-2.0
 *
 * What loaders and generators of bodies (lacis_extend_bodies.h) share: names of columns, arrays that are filled row
 * by row, and the refusal of values that no body can have.
 */
#ifndef LACIS_LOADERS_BODIES_H
#define LACIS_LOADERS_BODIES_H

#include "common_options.h"

/* Columns of reals, in the order in which they are written, and the two others. */
typedef enum lacis_body_column {
    LACIS_BODY_M,
    LACIS_BODY_X,
    LACIS_BODY_Y,
    LACIS_BODY_Z,
    LACIS_BODY_VX,
    LACIS_BODY_VY,
    LACIS_BODY_VZ,
    LACIS_BODY_EPS,
    LACIS_BODY_AX,
    LACIS_BODY_AY,
    LACIS_BODY_AZ,
    LACIS_BODY_PHI,
    LACIS_BODY_REALS,
    LACIS_BODY_ID = LACIS_BODY_REALS,
    LACIS_BODY_TIME, /* one for all bodies; in files with a column of it the same in every row */
    LACIS_BODY_COLUMNS
} lacis_body_column;
extern const char *const lacis_body_names[LACIS_BODY_COLUMNS];

/* Those that every array has: masses, positions, velocities. */
enum { LACIS_BODY_ALWAYS = (1 << (LACIS_BODY_VZ + 1)) - 1 };

/* The column called so, in any case ("mass" and "pot" count too), or -1. */
int lacis_body_named(const char *from, const char *to);

/* The columns of reals of an array, LACIS_BODY_REALS of them; NULL: it has none. */
void lacis_body_data(const lacis_bodies *b, const void **out);

#define LACIS_BODIES_TYPES "f32|f64"
/* Of option `type`, whose words are those above. */
static inline lacis_dtype lacis_bodies_type(const lacis_options *given, lacis_dtype otherwise)
{
    static const lacis_dtype types[] = {LACIS_F32, LACIS_F64};
    const lacis_option_value *value = lacis_option_set(given, "type");
    return value != NULL ? types[value->integer] : otherwise;
}

/* An array in the making. Rows may be filled by several threads. */
typedef struct lacis_bodies_maker {
    lacis_run *run;
    const char *what; /* the file, for messages */
    lacis_array *array;
    int64_t count;
    lacis_dtype dtype;
    void *column[LACIS_BODY_REALS]; /* NULL: none */
    lacis_buffer *ids;              /* NULL: none */
    int64_t *id;
    bool spare_ids; /* ids that are there twice are left out, with a warning, instead of refused */
    double time;
} lacis_bodies_maker;

/* `columns`: bits of those wanted besides LACIS_BODY_ALWAYS. LACIS_LIMIT, naming `what`, where they do not fit.
 * Columns are not filled, velocities neither. */
lacis_status lacis_bodies_begin(lacis_run *run, const char *what, int64_t count, lacis_dtype dtype, unsigned columns,
                                lacis_bodies_maker *out);
/* Frees everything; *out, where it is not NULL, becomes the array. Ids that count on become a base;
 * LACIS_FORMAT where one is there twice. */
lacis_status lacis_bodies_end(lacis_bodies_maker *maker, lacis_status status, lacis_array **out);
/* Zeroes a column. */
void lacis_bodies_clear(lacis_bodies_maker *maker, lacis_body_column column);

static inline void lacis_body_put(const lacis_bodies_maker *maker, lacis_body_column column, int64_t row,
                                  double value)
{
    if (maker->dtype == LACIS_F32)
        ((float *)maker->column[column])[row] = (float)value;
    else
        ((double *)maker->column[column])[row] = value;
}

/* What is wrong with a value in that column of an array of that type; NULL: nothing. */
const char *lacis_body_fault(lacis_body_column column, lacis_dtype dtype, double value);
/* The first row, and its first column, that no body can have; *row < 0: there is none. */
lacis_status lacis_bodies_first_fault(const lacis_bodies_maker *maker, int64_t *row, lacis_body_column *column,
                                      const char **cause);

#endif
