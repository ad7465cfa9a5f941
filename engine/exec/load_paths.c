/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that a LOAD means: plain paths, patterns, folders and lists of these; see load.h.
 */
#include "exec/load.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static lacis_status add(lacis_run *run, lacis_paths *paths, const char *path)
{
    if (paths->count == paths->room) {
        int64_t room = paths->room == 0 ? 64 : 2 * paths->room;
        const char **grown;
        LACIS_TRY(lacis_run_scratch(run, (uint64_t)room * sizeof *grown, &grown));
        if (paths->count > 0) memcpy(grown, paths->path, (size_t)paths->count * sizeof *grown);
        paths->path = grown;
        paths->room = room;
    }
    const char *copy = lacis_run_text(run, "%s", path);
    if (copy == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    paths->path[paths->count++] = copy;
    return LACIS_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_from(lacis_paths *paths, int64_t first)
{
    if (paths->count > first)
        qsort(paths->path + first, (size_t)(paths->count - first), sizeof *paths->path, by_bytes);
}

/* ------------------------------------------------------------------------------------------ patterns */

static lacis_status match(lacis_run *run, lacis_paths *paths, const char *pattern)
{
    glob_t found;
    int64_t first = paths->count;
    int code = glob(pattern, GLOB_NOSORT, NULL, &found);
    lacis_status status = LACIS_OK;
    if (code == GLOB_NOMATCH)
        status = lacis_run_fail(run, LACIS_IO, "no file is called '%s'", pattern);
    else if (code != 0)
        status = lacis_run_fail(run, code == GLOB_NOSPACE ? LACIS_NOMEM : LACIS_IO, "cannot look for '%s'", pattern);
    for (size_t i = 0; status == LACIS_OK && i < found.gl_pathc; i++) {
        struct stat info;
        bool folder = stat(found.gl_pathv[i], &info) == 0 && S_ISDIR(info.st_mode);
        if (!folder) status = add(run, paths, found.gl_pathv[i]);
    }
    globfree(&found);
    if (status == LACIS_OK && paths->count == first)
        status = lacis_run_fail(run, LACIS_IO, "only folders are called '%s'; load what is in them", pattern);
    sort_from(paths, first);
    return status;
}

/* ------------------------------------------------------------------------------------------- folders */

/* Whether the name, perhaps without .gz, ends in one of them. */
static bool has_ending(const char *name, const char *endings)
{
    size_t length = strlen(name);
    if (length > 3 && strcasecmp(name + length - 3, ".gz") == 0) length -= 3;
    for (const char *at = endings; *at != '\0';) {
        size_t size = strcspn(at, " ");
        if (length > size && strncasecmp(name + length - size, at, size) == 0) return true;
        at += size + strspn(at + size, " ");
    }
    return false;
}

static lacis_status add_entries(lacis_run *run, lacis_paths *paths, const char *folder, const char *endings, DIR *dir)
{
    bool slash = folder[strlen(folder) - 1] == '/';
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct stat info;
        if (entry->d_name[0] == '.' || !has_ending(entry->d_name, endings)) continue;
        const char *path = lacis_run_text(run, "%s%s%s", folder, slash ? "" : "/", entry->d_name);
        if (path == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) continue;
        LACIS_TRY(add(run, paths, path));
    }
    return LACIS_OK;
}

static lacis_status list_folder(lacis_run *run, lacis_paths *paths, const char *folder, const char *endings)
{
    int64_t first = paths->count;
    DIR *dir = opendir(folder);
    if (dir == NULL) return lacis_run_fail(run, LACIS_IO, "cannot read folder '%s': %s", folder, strerror(errno));
    lacis_status status = add_entries(run, paths, folder, endings, dir);
    closedir(dir);
    if (status == LACIS_OK && paths->count == first)
        status =
            lacis_run_fail(run, LACIS_IO, "no file in folder '%s' ends in %s; 'folder/*' takes all", folder, endings);
    sort_from(paths, first);
    return status;
}

/* ---------------------------------------------------------------------------------------------- all */

static lacis_status expand(lacis_run *run, lacis_paths *paths, const char *path, const char *endings)
{
    struct stat info;
    bool there = path[0] != '\0' && stat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode)) {
        paths->several = true;
        return list_folder(run, paths, path, endings);
    }
    if (there || strpbrk(path, "*?[") == NULL) return add(run, paths, path);
    paths->several = true;
    return match(run, paths, path);
}

lacis_status lacis_load_paths(lacis_run *run, const lacis_ast *ast, const char *endings, lacis_paths *out)
{
    *out = (lacis_paths){.several = ast->mores > 0};
    LACIS_TRY(expand(run, out, ast->string, endings));
    for (int i = 0; i < ast->mores; i++)
        LACIS_TRY(expand(run, out, ast->more[i], endings));
    return LACIS_OK;
}
