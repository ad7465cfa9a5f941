/* SPDX-License-Identifier: Apache-2.0
 *
 * What is saved where, as save.c, which writes, and savers.c, which finds the format, share it.
 */
#ifndef LACIS_EXEC_SAVE_H
#define LACIS_EXEC_SAVE_H

#include "exec/exec.h"

typedef struct lacis_saving {
    const lacis_ast *ast;     /* SAVE; NULL: an operator's array */
    const lacis_array *array; /* NULL: what the statement names */
    const char *path;
    int64_t offset; /* of the path in the statement, or -1 */
} lacis_saving;

/* The format that AS names, or the path's ending. */
lacis_status lacis_saver_find(const lacis_world *world, lacis_run *run, const lacis_saving *what,
                              const lacis_loader **out);
/* Whether the format holds what is saved, as far as that is known without computing anything. */
lacis_status lacis_saver_check(lacis_world *world, lacis_run *run, const lacis_saving *what,
                               const lacis_loader *format);

#endif
