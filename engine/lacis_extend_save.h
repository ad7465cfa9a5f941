/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_save.h - the part of lacis_extend.h, which includes it, that is about what goes with a result of any
 * kind: tables beside it, and files of it.
 */
#ifndef LACIS_EXTEND_SAVE_H
#define LACIS_EXTEND_SAVE_H

/* A table (LACIS_TABLE) that goes with an array that is being built: where that is entered in the catalog as NAME
 * (LET, LOAD, GENERATE), the table is entered as NAME_suffix in the same transaction, in the place of a table that
 * was called so; anything else of that name is an error (before the run where lacis_op.tables has the suffix). The
 * array retains it until then. A later one of the same suffix replaces it. Results without a name, operands and what
 * goes to other ranks lose theirs. */
LACIS_API lacis_status lacis_array_attach(lacis_run *run, lacis_array *array, const char *suffix, lacis_array *table);

/* --- files */

/* What is to be saved, as far as it is known before it is there. */
typedef struct lacis_outline {
    lacis_kind kind;
    lacis_dtype dtype;       /* of its values; of tables and batches, whose columns have their own, it says nothing */
    int dims, fields;        /* of a grid; fields: or columns of a table; 0: not known */
    const char *const *name; /* of a grid's fields; NULL: not known */
} lacis_outline;

/* Arrays of one kind that a format holds. */
typedef struct lacis_holding {
    lacis_kind kind;
    uint32_t types;   /* LACIS_TYPE_BIT of each dtype that values may have, or'ed; 0: any */
    int dims, fields; /* at most, of a grid; fields: or columns of a table; 0: any */
    bool some;        /* only some of these, which `save` finds out: others are not told to use it */
    /* What is wrong with the name of a grid's field ("has a quote"), or NULL. NULL: any will do. */
    const char *(*fault)(const char *name);
} lacis_holding;
#define LACIS_TYPE_BIT(dtype) (1U << (dtype))
#define LACIS_TYPES_WHOLE                                                                                            \
    (LACIS_TYPE_BIT(LACIS_U8) | LACIS_TYPE_BIT(LACIS_U16) | LACIS_TYPE_BIT(LACIS_U32) | LACIS_TYPE_BIT(LACIS_I32) |  \
     LACIS_TYPE_BIT(LACIS_I64))
#define LACIS_TYPES_REAL    (LACIS_TYPE_BIT(LACIS_F32) | LACIS_TYPE_BIT(LACIS_F64))
#define LACIS_TYPES_COMPLEX (LACIS_TYPE_BIT(LACIS_C64) | LACIS_TYPE_BIT(LACIS_C128))

/* Writes an array to a file as SAVE does, without its summary: the loader is chosen by the extension, a file that is
 * there is replaced once the new one is whole. SAVE's errors. From the statement's thread. */
LACIS_API lacis_status lacis_run_save(lacis_run *run, const lacis_array *array, const char *path);
/* For bind: whether the path's ending says a format that can be written, and that it holds arrays of that form; an
 * error at that place of the statement, with the formats that do. */
LACIS_API lacis_status lacis_run_can_save(lacis_run *run, const lacis_outline *form, const char *path,
                                          int64_t offset);

#endif
