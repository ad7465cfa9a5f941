/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_batch.h - the part of lacis_extend.h, which includes it, that is about interleaved batches of systems.
 */
#ifndef LACIS_EXTEND_BATCH_H
#define LACIS_EXTEND_BATCH_H

/* An interleaved batch taken apart (its parts: lacis_array_create). Lanes of a group have the same number of rows and
 * the same tree. Lane l and row r of a group, counted within it, lie at lacis_batch_place in fields of their own a
 * lane and at group.row + r in shared ones; places of the lanes that pad a last flock may hold anything. */
typedef struct lacis_batch_group {
    int64_t lane, lanes; /* its first lane, and how many */
    int64_t rows;        /* of each lane */
    int64_t row;         /* where its rows begin in parent and in shared fields */
    int64_t place;       /* where its elements begin in the other fields */
    int64_t block;       /* lanes side by side: 1 .. lanes, or more in a flock that is padded */
} lacis_batch_group;
typedef struct lacis_batch_part {
    const char *name;
    lacis_dtype dtype;
    bool shared;
    const void *data;
} lacis_batch_part;
enum { LACIS_BATCH_FIELDS = 64 };
typedef struct lacis_batch {
    int64_t lanes, rows; /* rows: of all groups, each counted once */
    int64_t most_rows;   /* of the longest lane */
    int64_t elements;    /* of all lanes, without padding */
    int64_t places;      /* with it */
    int64_t block;       /* as named: 1 Flat, 0 Full, b Block(b) */
    int64_t groups;
    const lacis_batch_group *group; /* in the run's scratch */
    const int32_t *parent;          /* NULL: chains (tridiagonal) */
    int fields;
    lacis_batch_part field[LACIS_BATCH_FIELDS];
} lacis_batch;
/* LACIS_TYPE where the parts do not go together. */
LACIS_API lacis_status lacis_batch_view(lacis_run *run, const lacis_array *array, lacis_batch *out);
LACIS_API const lacis_batch_part *lacis_batch_field(const lacis_batch *batch, const char *name); /* or NULL */
static inline int64_t lacis_batch_place(const lacis_batch_group *group, int64_t lane, int64_t row)
{
    int64_t flock = lane / group->block;
    return group->place + flock * group->block * group->rows + row * group->block + lane % group->block;
}
/* A batch shaped as `like` (lanes, groups, tree, labels) with the layout `block` and no field yet: `places` elements
 * go into one. */
LACIS_API lacis_status lacis_batch_like(lacis_run *run, const lacis_array *like, int64_t block, lacis_dtype dtype,
                                        lacis_array **out, int64_t *places);
/* A Flat batch of elements in any order: columns called lane, row and, where the second next is so called, parent
 * (all of integers; -1 is a root's), then one a field. Columns NAME_lo, NAME_im or NAME_lo, NAME_im, NAME_im_lo
 * behind NAME make it double-double, complex, or both. Lanes are those from the least to the greatest, rows of each
 * lane those from the least of all on; one that is missing or comes twice is named. `path` (NULL: a query) is the
 * file that an error is said to be in. */
typedef struct lacis_batch_column {
    const char *name;
    bool real;           /* bits are those of doubles */
    const int64_t *bits; /* one an element */
} lacis_batch_column;
LACIS_API lacis_status lacis_batch_gather(lacis_run *run, const lacis_batch_column *column, int columns,
                                          int64_t elements, const char *path, lacis_array **out);
/* A batch of `groups` groups and no field yet: row counts and, unless it is NULL, the tree of each, the rows of all
 * groups behind one another. Its extents and labels are set as well. */
typedef struct lacis_batch_shape {
    int64_t groups;
    const int64_t *lanes, *rows; /* of each group */
    const int32_t *parent;
    int64_t block; /* 1 Flat, 0 Full, b Block(b) */
    int64_t base[2];
    lacis_dtype dtype;
} lacis_batch_shape;
LACIS_API lacis_status lacis_batch_new(lacis_run *run, const lacis_batch_shape *shape, lacis_array **out);
/* A layout as it is written: "flat", "full", "block(64)". -1 where `text` is none. */
LACIS_API int64_t lacis_batch_layout_read(const char *text);
enum { LACIS_LAYOUT_TEXT = 32 };
LACIS_API const char *lacis_batch_layout_text(int64_t block, char *text); /* which holds LACIS_LAYOUT_TEXT bytes */

#endif
