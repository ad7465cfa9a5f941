/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of public data sets (datasets/manifest.csv, embedded by CMake), so that LOAD of one that is not there can
 * say how to get it; and one whose path only a shell understands.
 */
#include "exec/load.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

extern const char lacis_text_manifest_csv[];

enum { NAME_TEXT = 100 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* The first field of a row. Names stand without quotes. */
static void name_of(const char *row, char *name)
{
    size_t length = strcspn(row, ",\n");
    if (length >= NAME_TEXT) length = 0;
    memcpy(name, row, length);
    name[length] = '\0';
}

/* Whether the row's file is called so, perhaps with .gz behind, which LOAD reads as well. */
static bool is_called(const char *name, const char *wanted)
{
    const char *last = last_part(name);
    size_t length = strlen(wanted);
    return strncmp(last, wanted, length) == 0 && (last[length] == '\0' || strcmp(last + length, ".gz") == 0);
}

/* False: no row is called so. An exact name comes before one with .gz. */
static bool find(const char *wanted, char *name)
{
    char candidate[NAME_TEXT];
    bool found = false;
    const char *row = strchr(lacis_text_manifest_csv, '\n'); /* behind the headings */
    for (; row != NULL && row[1] != '\0'; row = strchr(row + 1, '\n')) {
        name_of(row + 1, candidate);
        bool exact = strcmp(last_part(candidate), wanted) == 0;
        if (!exact && (found || !is_called(candidate, wanted))) continue;
        memcpy(name, candidate, sizeof candidate);
        found = true;
        if (exact) break;
    }
    return found;
}

lacis_status lacis_load_public(lacis_run *run, const char *path)
{
    char name[NAME_TEXT], hint[3 * NAME_TEXT];
    struct stat info;
    if (stat(path, &info) == 0 || errno != ENOENT) return LACIS_OK;
    if (path[0] == '~' && path[1] == '/')
        return lacis_run_fail_at(run, LACIS_IO, -1,
                                 "~ is the shell's: write the home folder's path out, as in '/home/me/x'",
                                 "cannot open '%s': %s", path, strerror(ENOENT));
    if (*last_part(path) == '\0' || !find(last_part(path), name)) return LACIS_OK;
    if (strchr(name, '/') == NULL)
        snprintf(hint, sizeof hint, "it ships with lacis: 'datasets/%s' of its sources", name);
    else
        snprintf(hint, sizeof hint, "datasets/fetch %s of lacis's sources downloads it to datasets/downloaded/%s",
                 last_part(name), last_part(name));
    return lacis_run_fail_at(run, LACIS_IO, -1, hint, "cannot open '%s': %s", path, strerror(ENOENT));
}
