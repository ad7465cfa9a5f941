/* SPDX-License-Identifier: Apache-2.0
 *
 * Files as bytes for the loaders; see source.h.
 */
#include "core/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    READ_STEP = 1 << 20,    /* bytes of a pipe, or of unpacked text, between two looks at the cancel flag */
    POLL_MILLISECONDS = 100 /* the same while a pipe has nothing to read */
};
/* deflate packs at most 1032 times: a longer promise in a trailer is not believed. */
static const uint64_t deflate_ratio = 1032;

struct lacis_source_handle {
    lacis_run *run;
    lacis_source source;
    void *map; /* NULL where nothing is mapped */
    size_t map_size;
    lacis_buffer *buffer; /* NULL, or what was read or unpacked */
};

/* Bytes that grow: a reserved range, moved to a larger one where its end is reached. */
typedef struct growing {
    lacis_run *run;
    lacis_buffer *buffer;
    char *data;
    uint64_t size, charged, reserved;
} growing;

static lacis_status growing_move(growing *g, uint64_t reserve)
{
    lacis_buffer *larger;
    LACIS_TRY(lacis_buffer_reserve(g->run, reserve, &larger));
    if (g->size > 0) {
        if (lacis_buffer_charge(larger, g->size) != LACIS_OK) {
            lacis_buffer_release(larger);
            return lacis_run_no_memory(g->run, g->size);
        }
        memcpy(lacis_buffer_data(larger), g->data, g->size);
    }
    lacis_buffer_release(g->buffer);
    g->buffer = larger;
    g->data = lacis_buffer_data(larger);
    g->charged = g->size;
    g->reserved = reserve;
    return LACIS_OK;
}

/* Makes room for `more` bytes behind size. */
static lacis_status growing_room(growing *g, uint64_t more)
{
    uint64_t want = g->size + more;
    if (want > g->reserved) LACIS_TRY(growing_move(g, want > 2 * g->reserved ? want : 2 * g->reserved));
    if (want > g->charged) {
        if (lacis_buffer_charge(g->buffer, want - g->charged) != LACIS_OK)
            return lacis_run_no_memory(g->run, want - g->charged);
        g->charged = want;
    }
    return LACIS_OK;
}

static lacis_status fail_io(lacis_run *run, const char *path, const char *what, int error)
{
    return lacis_run_fail(run, LACIS_IO, "cannot %s '%s': %s", what, path, strerror(error));
}

/* ------------------------------------------------------------------------------------------- gzip */

static bool is_gzip(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* The size that the last member's trailer promises (modulo 2^32), where it is believable. */
static uint64_t promised_size(const unsigned char *data, size_t size)
{
    if (size < 18) return READ_STEP;
    const unsigned char *t = data + size - 4;
    uint64_t promise = t[0] | (uint64_t)t[1] << 8 | (uint64_t)t[2] << 16 | (uint64_t)t[3] << 24;
    uint64_t most = (uint64_t)size * deflate_ratio;
    return promise < most ? promise : most;
}

static lacis_status fail_gzip(lacis_run *run, const char *path, const char *how, uint64_t unpacked)
{
    return lacis_run_fail(run, LACIS_FORMAT, "%s: gzip stream %s after %llu unpacked bytes: fetch it again", path,
                          how, (unsigned long long)unpacked);
}

/* Points the stream at more input and output, both at most UINT_MAX, and inflates once. */
static int inflate_step(z_stream *z, const unsigned char *data, size_t size, size_t *used, growing *out)
{
    size_t left = size - *used;
    uInt given = left < (1u << 30) ? (uInt)left : 1u << 30;
    z->next_in = (unsigned char *)(uintptr_t)(data + *used); /* zlib's field lacks the const */
    z->avail_in = given;
    z->next_out = (unsigned char *)out->data + out->size;
    z->avail_out = READ_STEP;
    int code = inflate(z, Z_NO_FLUSH);
    *used += given - z->avail_in;
    out->size += READ_STEP - z->avail_out;
    return code;
}

/* One member; *used moves behind it. */
static lacis_status unpack_member(lacis_run *run, z_stream *z, const char *path, const unsigned char *data,
                                  size_t size, size_t *used, growing *out)
{
    for (;;) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        lacis_run_advance(run, "unpacking", (double)*used, (double)size, "bytes");
        LACIS_TRY(growing_room(out, READ_STEP));
        uint64_t before = out->size;
        int code = inflate_step(z, data, size, used, out);
        if (code == Z_STREAM_END) return LACIS_OK;
        if (code == Z_MEM_ERROR) return lacis_run_fail(run, LACIS_NOMEM, "no memory to unpack '%s'", path);
        if (code != Z_OK && code != Z_BUF_ERROR) return fail_gzip(run, path, "is damaged", out->size);
        if (*used == size && out->size == before) return fail_gzip(run, path, "ends early", out->size);
    }
}

/* zlib's own blocks count like all others. */
static voidpf gzip_alloc(voidpf run, uInt items, uInt size)
{
    return lacis_run_alloc_quiet(run, (uint64_t)items * size);
}

static void gzip_free(voidpf run, voidpf block)
{
    lacis_run_free(run, block);
}

/* Zero bytes behind the last member are padding (tapes, some archives). */
static bool only_zeros(const unsigned char *data, size_t size)
{
    while (size > 0 && data[size - 1] == 0) {
        size--;
    }
    return size == 0;
}

static lacis_status unpack_all(lacis_run *run, const char *path, const unsigned char *data, size_t size, growing *out)
{
    z_stream z = {.zalloc = gzip_alloc, .zfree = gzip_free, .opaque = run};
    if (inflateInit2(&z, 15 + 16) != Z_OK) return lacis_run_fail(run, LACIS_NOMEM, "no memory to unpack '%s'", path);
    lacis_status status = LACIS_OK;
    size_t used = 0;
    while (status == LACIS_OK && !only_zeros(data + used, size - used)) {
        if (!is_gzip(data + used, size - used))
            status = fail_gzip(run, path, "is followed by other bytes", out->size);
        else if ((status = unpack_member(run, &z, path, data, size, &used, out)) == LACIS_OK)
            (void)inflateReset(&z);
    }
    (void)inflateEnd(&z);
    return status;
}

/* Replaces the handle's packed bytes by what they unpack to. */
static lacis_status unpack(lacis_source_handle *handle)
{
    const unsigned char *data = (const unsigned char *)handle->source.data;
    size_t size = handle->source.size;
    growing out = {.run = handle->run};
    lacis_status status = growing_move(&out, promised_size(data, size) + READ_STEP);
    if (status == LACIS_OK) status = unpack_all(handle->run, handle->source.path, data, size, &out);
    if (status != LACIS_OK) {
        lacis_buffer_release(out.buffer);
        return status;
    }
    if (handle->map != NULL) munmap(handle->map, handle->map_size);
    handle->map = NULL;
    lacis_buffer_release(handle->buffer);
    lacis_buffer_trim(out.buffer, out.size);
    handle->buffer = out.buffer;
    handle->source.data = out.data;
    handle->source.size = out.size;
    handle->source.packed = true;
    return LACIS_OK;
}

/* ---------------------------------------------------------------------------------------- reading */

/* Waits until the descriptor has something (or has ended), and can be cancelled meanwhile. */
static lacis_status wait_readable(lacis_run *run, const char *path, int fd)
{
    for (;;) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, POLL_MILLISECONDS);
        if (ready > 0) return LACIS_OK;
        if (ready < 0 && errno != EINTR) return fail_io(run, path, "read", errno);
    }
}

static lacis_status read_all(lacis_run *run, const char *path, int fd, growing *out)
{
    for (;;) {
        LACIS_TRY(wait_readable(run, path, fd));
        LACIS_TRY(growing_room(out, READ_STEP));
        ssize_t n = read(fd, out->data + out->size, READ_STEP);
        if (n == 0) return LACIS_OK;
        if (n > 0)
            out->size += (uint64_t)n;
        else if (errno != EINTR && errno != EAGAIN)
            return fail_io(run, path, "read", errno);
        lacis_run_advance(run, "reading", (double)out->size, 0, "bytes");
    }
}

static lacis_status take_stream(lacis_source_handle *handle, int fd)
{
    growing out = {.run = handle->run};
    LACIS_TRY(growing_move(&out, 4 * READ_STEP));
    lacis_status status = read_all(handle->run, handle->source.path, fd, &out);
    handle->buffer = out.buffer;
    handle->source.data = out.data;
    handle->source.size = out.size;
    return status;
}

static lacis_status take_mapped(lacis_source_handle *handle, int fd, size_t size)
{
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) return fail_io(handle->run, handle->source.path, "map", errno);
    (void)madvise(map, size, MADV_SEQUENTIAL); /* only advice */
    handle->map = map;
    handle->map_size = size;
    handle->source.data = map;
    handle->source.size = size;
    return LACIS_OK;
}

/* Files of size 0 may be those of /proc, which have contents all the same. */
static lacis_status take(lacis_source_handle *handle, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return fail_io(handle->run, handle->source.path, "read", errno);
    if (S_ISDIR(info.st_mode)) return fail_io(handle->run, handle->source.path, "read", EISDIR);
    if (S_ISREG(info.st_mode) && info.st_size > 0)
        LACIS_TRY(take_mapped(handle, fd, (size_t)info.st_size));
    else
        LACIS_TRY(take_stream(handle, fd));
    if (is_gzip((const unsigned char *)handle->source.data, handle->source.size)) return unpack(handle);
    return LACIS_OK;
}

static lacis_status handle_new(lacis_run *run, const char *path, lacis_source_handle **out)
{
    size_t length = strlen(path) + 1;
    lacis_source_handle *handle;
    LACIS_TRY(lacis_run_alloc(run, sizeof *handle + length, &handle));
    *handle = (lacis_source_handle){.run = run};
    handle->source.path = memcpy(handle + 1, path, length);
    *out = handle;
    return LACIS_OK;
}

lacis_status lacis_source_open(lacis_run *run, const char *path, lacis_source_handle **out, lacis_source *source)
{
    *out = NULL;
    /* Without O_NONBLOCK a named pipe without a writer would hold us here, deaf to lacis_interrupt. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fail_io(run, path, "open", errno);
    lacis_source_handle *handle = NULL;
    lacis_status status = handle_new(run, path, &handle);
    if (status == LACIS_OK) status = take(handle, fd);
    close(fd);
    if (status != LACIS_OK) {
        lacis_source_close(handle);
        return status;
    }
    *source = handle->source;
    *out = handle;
    return LACIS_OK;
}

void lacis_source_close(lacis_source_handle *handle)
{
    if (handle == NULL) return;
    if (handle->map != NULL) munmap(handle->map, handle->map_size);
    lacis_buffer_release(handle->buffer);
    lacis_run_free(handle->run, handle);
}
