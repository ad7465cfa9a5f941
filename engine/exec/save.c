/* SPDX-License-Identifier: Apache-2.0
 *
 * SAVE, and operators' lacis_run_save: an array or view to a file, in the format of its ending or the one named. A
 * plain file is written beside its place and renamed, so that a failure leaves what was there; links are followed to
 * the file that they stand for, and its permissions stay. Pipes and devices are written as they are. Formats that can
 * be written in pieces take views block by block.
 */
#include "exec/save.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PART_NAMES = 100,       /* tried for the file beside the target: left-overs of killed processes may be there */
    WAIT_MILLISECONDS = 100 /* between two looks at the cancel flag, while nobody reads a pipe */
};

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

static lacis_status write_all(lacis_world *world, lacis_run *run, const lacis_saving *what, struct writer *writer)
{
    if (what->array != NULL) return write_block(writer, run, what->array);
    const lacis_ast *ast = what->ast;
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

/* ------------------------------------------------------------------------------------------- files */

/* Where the bytes go. */
typedef struct target {
    const char *shown; /* the path as it was given */
    const char *path;  /* links followed, where the file is there */
    const char *part;  /* what is written and renamed to path; NULL: path itself is written */
    int descriptor;    /* the one that path stands for (/dev/stdout), or -1 */
    mode_t mode;       /* of the file that is there, or 0 */
} target;

static lacis_status no_memory(lacis_run *run)
{
    return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
}

/* N of /dev/fd/N and its like, or -1: opening those anew would write over what stands in the file behind them. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (int i = 0; i < LACIS_COUNT(folders); i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0 || path[length] < '0' || path[length] > '9') continue;
        char *end;
        long number = strtol(path + length, &end, 10);
        if (*end == '\0' && number <= INT32_MAX) return (int)number;
    }
    return -1;
}

/* Follows links, and tells plain files from what must be written in place. */
static lacis_status find_target(lacis_run *run, const char *path, target *out, bool *plain)
{
    struct stat info;
    *out = (target){.shown = path, .path = path, .descriptor = descriptor_of(path)};
    *plain = out->descriptor < 0;
    if (!*plain) return LACIS_OK;
    if (stat(path, &info) != 0) return LACIS_OK; /* nothing there, or opening will say */
    if (S_ISDIR(info.st_mode)) return write_failed(run, path, EISDIR);
    *plain = S_ISREG(info.st_mode);
    out->mode = info.st_mode & 07777;
    if (!*plain) return LACIS_OK;
    if (access(path, W_OK) != 0) return write_failed(run, path, errno); /* renaming would not ask */
    char *real = realpath(path, NULL);
    if (real == NULL) return write_failed(run, path, errno);
    out->path = lacis_run_text(run, "%s", real);
    free(real);
    return out->path == NULL ? no_memory(run) : LACIS_OK;
}

static lacis_status open_part(lacis_run *run, target *to, int *fd)
{
    for (int i = 0; i < PART_NAMES; i++) {
        char *part = lacis_run_text(run, "%s.part-%ld-%d", to->path, (long)getpid(), i);
        if (part == NULL) return no_memory(run);
        *fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd < 0 && errno == EEXIST) continue;
        if (*fd < 0) break;
        to->part = part;
        if (to->mode != 0) (void)fchmod(*fd, to->mode); /* of another's file it may fail: then it is ours */
        return LACIS_OK;
    }
    return write_failed(run, to->shown, errno);
}

/* A pipe may have to wait for its reader, which must not make us deaf to lacis_interrupt. */
static lacis_status open_in_place(lacis_run *run, const target *to, int *fd)
{
    if (to->descriptor >= 0) {
        *fd = fcntl(to->descriptor, F_DUPFD_CLOEXEC, 0);
        return *fd < 0 ? write_failed(run, to->shown, errno) : LACIS_OK;
    }
    for (;;) {
        *fd = open(to->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (*fd >= 0) break;
        if (errno != ENXIO && errno != EINTR) return write_failed(run, to->shown, errno);
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        (void)poll(NULL, 0, WAIT_MILLISECONDS);
    }
    (void)fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
    return LACIS_OK;
}

/* What is written in place may have no position, or one that is not 0, while formats that are written in pieces write
 * their head at position 0 only (lacis_extend.h): this stream counts from its own beginning. */
typedef struct plain_sink {
    int fd;
    off64_t written;
} plain_sink;

static ssize_t sink_write(void *cookie, const char *data, size_t size)
{
    plain_sink *sink = cookie;
    for (size_t done = 0; done < size;) {
        ssize_t n = write(sink->fd, data + done, size - done);
        if (n < 0 && errno != EINTR) return 0;
        if (n > 0) done += (size_t)n;
    }
    sink->written += (off64_t)size;
    return (ssize_t)size;
}

static int sink_seek(void *cookie, off64_t *offset, int whence)
{
    const plain_sink *sink = cookie;
    if (whence != SEEK_CUR || *offset != 0) return -1;
    *offset = sink->written;
    return 0;
}

static int sink_close(void *cookie)
{
    plain_sink *sink = cookie;
    int code = close(sink->fd);
    free(sink);
    return code;
}

static FILE *open_sink(int fd)
{
    static const cookie_io_functions_t functions = {.write = sink_write, .seek = sink_seek, .close = sink_close};
    plain_sink *sink = malloc(sizeof *sink);
    if (sink == NULL) return NULL;
    *sink = (plain_sink){.fd = fd};
    FILE *file = fopencookie(sink, "wb", functions);
    if (file == NULL) free(sink);
    return file;
}

static lacis_status open_target(lacis_run *run, const char *path, target *to, FILE **out)
{
    bool plain;
    int fd = -1;
    LACIS_TRY(find_target(run, path, to, &plain));
    LACIS_TRY(plain ? open_part(run, to, &fd) : open_in_place(run, to, &fd));
    *out = plain ? fdopen(fd, "wb") : open_sink(fd);
    if (*out != NULL) return LACIS_OK;
    close(fd);
    if (to->part != NULL) unlink(to->part);
    return no_memory(run);
}

/* The file is closed in any case. */
static lacis_status write_file(lacis_world *world, lacis_run *run, const lacis_saving *what, struct writer *writer)
{
    errno = 0;
    lacis_status status = write_all(world, run, what, writer);
    bool broken = ferror(writer->file) != 0 || (status == LACIS_OK && fflush(writer->file) != 0);
    int code = errno != 0 ? errno : EIO;
    if (fclose(writer->file) != 0 && status == LACIS_OK && !broken) {
        broken = true;
        code = errno;
    }
    return broken ? write_failed(run, what->path, code) : status;
}

static lacis_status save(lacis_world *world, lacis_run *run, const lacis_saving *what, struct writer *writer)
{
    target to;
    LACIS_TRY(lacis_saver_find(world, run, what, &writer->format));
    LACIS_TRY(lacis_saver_check(world, run, what, writer->format));
    LACIS_TRY(open_target(run, what->path, &to, &writer->file));
    lacis_status status = write_file(world, run, what, writer);
    if (to.part != NULL && status == LACIS_OK && rename(to.part, to.path) != 0)
        status = write_failed(run, what->path, errno);
    if (to.part != NULL && status != LACIS_OK) unlink(to.part);
    return status;
}

lacis_status lacis_exec_save_array(void *world, lacis_run *run, const lacis_array *array, const char *path)
{
    const lacis_saving what = {.array = array, .path = path, .offset = -1};
    struct writer writer;
    return save(world, run, &what, &writer);
}

lacis_status lacis_exec_save(lacis_world *world, lacis_run *run, const lacis_ast *ast)
{
    const lacis_saving what = {.ast = ast, .path = ast->string, .offset = ast->string_offset};
    struct writer writer;
    double started = lacis_now();
    LACIS_TRY(save(world, run, &what, &writer));
    lacis_run_note(run, LACIS_SUMMARY, "%s: saved to %s as %s (%.2f s)", ast->name, ast->string, writer.format->name,
                   lacis_now() - started);
    return LACIS_OK;
}
