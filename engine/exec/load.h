/* SPDX-License-Identifier: Apache-2.0
 *
 * What LOAD of one file (load.c) and of several (load_files.c) share, and the paths that a statement means
 * (load_paths.c).
 */
#ifndef LACIS_EXEC_LOAD_H
#define LACIS_EXEC_LOAD_H

#include "core/source.h"
#include "exec/exec.h"

/* The loader that the statement names, or the one that is surest of the content. */
lacis_status lacis_load_named(lacis_run *run, const lacis_registry *registry, const lacis_ast *ast,
                              const lacis_loader **out);
const lacis_loader *lacis_load_best(const lacis_registry *registry, const lacis_source *source);
lacis_status lacis_load_options(lacis_run *run, const lacis_ast *ast, const lacis_loader *loader, lacis_options *out);
/* put.c: checks what was read and enters it; `more` goes behind its description in the summary. */
lacis_status lacis_load_put(lacis_world *world, lacis_run *run, const char *name, lacis_array *array,
                            const char *more, double started);

/* The files of a LOAD, in scratch. A path with * ? [ that is no file itself stands for those that match, a folder for
 * those in it with an ending of `endings` (".a .b"), both in the order of their names' bytes; of a list each in its
 * turn. *several: it is more than a plain path, however many files there are. */
typedef struct lacis_paths {
    const char **path;
    int64_t count, room;
    bool several;
} lacis_paths;
lacis_status lacis_load_paths(lacis_run *run, const lacis_ast *ast, const char *endings, lacis_paths *out);

/* load_public.c: fails, with the way to get it, where this file is not there and is one of the public data sets. */
lacis_status lacis_load_public(lacis_run *run, const char *path);

/* Several files into one array, and the table <name>_files. */
lacis_status lacis_load_files(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_paths *paths,
                              double started);
/* One file of a loader that could join several: the array, and that table as well. */
lacis_status lacis_load_file(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_loader *loader,
                             const lacis_options *options, const lacis_source *source, double started);

#endif
