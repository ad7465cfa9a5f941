/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements sink.h.
 */
#include "sink.h"

#include "progress.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_all(shell_sink *sink, const char *bytes, size_t count)
{
    if (count > 0 && !sink->file && sink->progress) shell_progress_end(sink->progress);
    while (count > 0 && !sink->error) {
        ssize_t written = write(sink->fd, bytes, count);
        if (written < 0) {
            if (errno != EINTR) sink->error = errno;
            continue;
        }
        bytes += written;
        count -= (size_t)written;
    }
}

bool shell_sink_is_file(int fd)
{
    struct stat of;
    return fstat(fd, &of) == 0 && S_ISREG(of.st_mode);
}

void shell_sink_flush(shell_sink *sink)
{
    write_all(sink, sink->data, sink->used);
    sink->used = 0;
}

void shell_sink_long(shell_sink *sink, const char *bytes, size_t count)
{
    shell_sink_flush(sink);
    if (count >= SHELL_SINK_SIZE) {
        write_all(sink, bytes, count);
        return;
    }
    memcpy(sink->data, bytes, count);
    sink->used = count;
}

void shell_sink_repeat(shell_sink *sink, const char *string, int times)
{
    size_t length = strlen(string);
    for (int i = 0; i < times; i++)
        shell_sink_put(sink, string, length);
}
