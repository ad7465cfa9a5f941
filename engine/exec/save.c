/* SPDX-License-Identifier: Apache-2.0
 *
 * SAVE: an array or view to a file, in the format of its ending or the one named. The file is written beside its
 * place and renamed, so that a failure leaves what was there. Formats that can be written in pieces take views block
 * by block.
 */
#include "exec/exec.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool has_ending(const char *path, const char *endings)
{
    size_t length = strlen(path);
    for (const char *at = endings; at != NULL && *at != '\0';) {
        size_t size = strcspn(at, " ");
        if (length > size && strncasecmp(path + length - size, at, size) == 0) return true;
        at += size + strspn(at + size, " ");
    }
    return false;
}

static lacis_status find_saver(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_loader **out)
{
    for (int i = 0; i < world->registry->loaders; i++) {
        const lacis_loader *loader = world->registry->loader[i];
        if (loader->save == NULL) continue;
        bool meant = ast->format != NULL ? strcasecmp(ast->format, loader->name) == 0
                                         : has_ending(ast->string, loader->extensions);
        if (!meant) continue;
        *out = loader;
        return LACIS_OK;
    }
    if (ast->format != NULL)
        return lacis_run_fail_at(run, LACIS_NAME, ast->format_offset, "SHOW LOADERS lists the formats",
                                 "cannot save as \"%s\"", ast->format);
    return lacis_run_fail_at(run, LACIS_NAME, ast->string_offset,
                             "use a known ending (.mtx .txt .csv .jsonl .npy) or AS format",
                             "the ending of \"%s\" says no format that lacis writes", ast->string);
}

static lacis_status write_failed(lacis_run *run, const char *path, int code)
{
    lacis_status status = code == ENOSPC || code == EFBIG || code == EDQUOT ? LACIS_FULL : LACIS_IO;
    return lacis_run_fail(run, status, "cannot write \"%s\": %s", path, strerror(code));
}

struct writer {
    const lacis_loader *format;
    FILE *file;
};

static lacis_status write_block(void *context, lacis_run *run, const lacis_array *block)
{
    struct writer *writer = context;
    LACIS_TRY(writer->format->save(run, block, writer->file));
    return ferror(writer->file) ? LACIS_IO : LACIS_OK;
}

static lacis_status write_all(lacis_world *world, lacis_run *run, const lacis_ast *ast, struct writer *writer)
{
    const char *view = lacis_catalog_view(world->catalog, ast->name);
    if (view != NULL && writer->format->pieces) return lacis_exec_blocks(world, run, view, write_block, writer);
    lacis_array *array;
    if (view == NULL) {
        LACIS_TRY(lacis_catalog_get(run, world->catalog, ast->name, ast->name_offset, &array));
    } else {
        LACIS_TRY(lacis_exec_view_array(world, run, view, &array));
    }
    lacis_status status = write_block(writer, run, array);
    lacis_array_release(array);
    return status;
}

/* Writes to `part` and leaves it there on success. */
static lacis_status write_file(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_loader *format,
                               const char *part)
{
    struct writer writer = {format, fopen(part, "wb")};
    if (writer.file == NULL) return write_failed(run, ast->string, errno);
    errno = 0;
    lacis_status status = write_all(world, run, ast, &writer);
    bool broken = ferror(writer.file) != 0 || (status == LACIS_OK && fflush(writer.file) != 0);
    int code = errno != 0 ? errno : EIO;
    if (fclose(writer.file) != 0 && status == LACIS_OK && !broken) {
        broken = true;
        code = errno;
    }
    return broken ? write_failed(run, ast->string, code) : status;
}

lacis_status lacis_exec_save(lacis_world *world, lacis_run *run, const lacis_ast *ast)
{
    const lacis_loader *format = NULL;
    double started = lacis_now();
    LACIS_TRY(find_saver(world, run, ast, &format));
    char *part = lacis_run_text(run, "%s.part-%ld", ast->string, (long)getpid());
    if (part == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    lacis_status status = write_file(world, run, ast, format, part);
    if (status == LACIS_OK && rename(part, ast->string) != 0) status = write_failed(run, ast->string, errno);
    if (status != LACIS_OK) {
        unlink(part);
        return status;
    }
    lacis_run_note(run, LACIS_SUMMARY, "%s: saved to %s as %s (%.2f s)", ast->name, ast->string, format->name,
                   lacis_now() - started);
    return LACIS_OK;
}
