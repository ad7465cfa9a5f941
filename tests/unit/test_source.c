/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/core/source.c: mapped files, gzip whole and broken, pipes, what cannot be read, memory and interruption.
 */
#include "core/source.h"
#include "support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static lacis_host host;
static lacis_run run;
static char folder[] = "/tmp/lacis_source_XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(lacis_host_init(&host), LACIS_OK);
    lacis_run_init(&run, &host);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    lacis_set_allocation_guard(NULL, NULL);
    lacis_run_clear(&run);
    assert_int_equal(lacis_memory_used(host.memory), 0);
    lacis_host_clear(&host);
    return 0;
}

static void write_file(const void *data, size_t size, const char *mode)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A text of `size` bytes that packs, but not to nothing. */
static char *some_text(size_t size)
{
    char *text = malloc(size);
    unsigned random = 1;
    for (size_t i = 0; i < size; i++) {
        random = random * 1103515245 + 12345;
        text[i] = i % 8 == 7 ? '\n' : (char)('0' + (random >> 20) % 10);
    }
    return text;
}

/* Packs text as one gzip member; *size becomes that of the result. */
static unsigned char *pack(const char *text, size_t *size)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    uLong room = deflateBound(&z, *size);
    unsigned char *packed = malloc(room);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (uInt)*size;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *size = z.total_out;
    deflateEnd(&z);
    return packed;
}

static void holds(const char *text, size_t size, bool packed)
{
    lacis_source_handle *handle;
    lacis_source source;
    if (lacis_source_open(&run, path, &handle, &source) != LACIS_OK) fail_msg("%s", host.error.message);
    assert_int_equal(source.size, size);
    assert_int_equal(source.packed, packed);
    assert_string_equal(source.path, path);
    if (size > 0) assert_memory_equal(source.data, text, size);
    lacis_source_close(handle);
}

static void fails(const char *name, lacis_status status, const char *message)
{
    lacis_source_handle *handle = (lacis_source_handle *)&host;
    lacis_source source;
    assert_int_equal(lacis_source_open(&run, name, &handle, &source), status);
    assert_null(handle);
    if (strstr(host.error.message, message) == NULL) fail_msg("'%s' lacks '%s'", host.error.message, message);
    assert_non_null(strstr(host.error.message, name));
}

static void plain_files(void **state)
{
    (void)state;
    write_file("1 2\n", 4, "w");
    holds("1 2\n", 4, false);
    write_file("", 0, "w");
    holds("", 0, false);
    write_file("\x1f", 1, "w");
    holds("\x1f", 1, false);
}

static void unreadable(void **state)
{
    (void)state;
    fails("/tmp/no/such/file", LACIS_IO, "cannot open '/tmp/no/such/file': No such file or directory");
    fails("/tmp", LACIS_IO, "Is a directory");
    fails("", LACIS_IO, "No such file");
    write_file("1", 1, "w");
    chmod(path, 0);
    if (geteuid() != 0) fails(path, LACIS_IO, "Permission denied"); /* root reads all the same */
}

static void gzip_whole(void **state)
{
    (void)state;
    size_t size = 5000000, packed_size = size;
    char *text = some_text(size);
    unsigned char *packed = pack(text, &packed_size);
    write_file(packed, packed_size, "w");
    holds(text, size, true);
    unsigned char zeros[600] = {0};
    write_file(zeros, sizeof zeros, "a"); /* padding */
    holds(text, size, true);
    size_t half = size / 3, first = half, second = size - half;
    unsigned char *one = pack(text, &first), *two = pack(text + half, &second);
    write_file(one, first, "w");
    write_file(two, second, "a");
    holds(text, size, true);
    size_t none = 0;
    unsigned char *empty = pack("", &none);
    write_file(empty, none, "w");
    holds("", 0, true);
    free(empty);
    free(one);
    free(two);
    free(packed);
    free(text);
}

/* Cut at any place, the stream is refused: never a shorter text. */
static void gzip_cut(void **state)
{
    (void)state;
    size_t size = 3000, packed_size = size;
    char *text = some_text(size);
    unsigned char *packed = pack(text, &packed_size);
    for (size_t cut = 2; cut < packed_size; cut += cut < 20 || cut + 20 > packed_size ? 1 : 37) {
        write_file(packed, cut, "w");
        fails(path, LACIS_FORMAT, "gzip stream ends early");
        assert_non_null(strstr(host.error.message, "fetch it again"));
    }
    free(packed);
    free(text);
}

static void gzip_damaged(void **state)
{
    (void)state;
    size_t size = 300000, packed_size = size;
    char *text = some_text(size);
    unsigned char *packed = pack(text, &packed_size);
    packed[packed_size - 6] ^= 1; /* in the checksum */
    write_file(packed, packed_size, "w");
    fails(path, LACIS_FORMAT, "gzip stream is damaged");
    packed[packed_size - 6] ^= 1;
    packed[packed_size / 2] ^= 0x55;
    write_file(packed, packed_size, "w");
    fails(path, LACIS_FORMAT, "gzip stream is damaged");
    packed[packed_size / 2] ^= 0x55;
    write_file(packed, packed_size, "w");
    write_file("more", 4, "a");
    fails(path, LACIS_FORMAT, "is followed by other bytes");
    memset(packed + packed_size - 4, 0xff, 4); /* a false promise of size costs no memory */
    write_file(packed, packed_size, "w");
    fails(path, LACIS_FORMAT, "gzip stream is damaged");
    free(packed);
    free(text);
}

typedef struct piped {
    const void *data;
    size_t size;
} piped;

static void *write_pipe(void *arg)
{
    const piped *p = arg;
    usleep(20000);
    int fd = open(path, O_WRONLY);
    size_t done = 0;
    while (done < p->size) {
        ssize_t n = write(fd, (const char *)p->data + done, p->size - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    close(fd);
    return NULL;
}

static void pipes(void **state)
{
    (void)state;
    size_t size = 6000000, packed_size = size;
    char *text = some_text(size);
    unsigned char *packed = pack(text, &packed_size);
    pthread_t thread;
    assert_int_equal(mkfifo(path, 0600), 0);
    piped plain = {text, size}, gzip = {packed, packed_size};
    pthread_create(&thread, NULL, write_pipe, &plain);
    holds(text, size, false);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, write_pipe, &gzip);
    holds(text, size, true);
    pthread_join(thread, NULL);
    free(packed);
    free(text);
}

static void *cancel_soon(void *arg)
{
    (void)arg;
    usleep(50000);
    atomic_store(&host.cancel, 1);
    return NULL;
}

/* A pipe that nobody writes to can be left; so can unpacking. */
static void interrupted(void **state)
{
    (void)state;
    lacis_source_handle *handle;
    lacis_source source;
    pthread_t thread;
    assert_int_equal(mkfifo(path, 0600), 0);
    pthread_create(&thread, NULL, cancel_soon, NULL);
    assert_int_equal(lacis_source_open(&run, path, &handle, &source), LACIS_INTERRUPT);
    pthread_join(thread, NULL);
    unlink(path);
    size_t size = 4;
    unsigned char *packed = pack("1 2\n", &size);
    write_file(packed, size, "w");
    assert_int_equal(lacis_source_open(&run, path, &handle, &source), LACIS_INTERRUPT);
    free(packed);
}

static int refuse_nth(void *arg, size_t bytes)
{
    (void)bytes;
    return (*(int *)arg)-- == 0;
}

static void memory_runs_out(void **state)
{
    (void)state;
    size_t size = 3000000, packed_size = size;
    char *text = some_text(size);
    unsigned char *packed = pack(text, &packed_size);
    memset(packed + packed_size - 4, 0, 4); /* no promise: so the memory must grow */
    write_file(packed, packed_size, "w");
    lacis_status status = LACIS_NOMEM;
    int n = 0;
    for (; status == LACIS_NOMEM; n++) {
        int after = n;
        lacis_source_handle *handle;
        lacis_source source;
        lacis_set_allocation_guard(refuse_nth, &after);
        status = lacis_source_open(&run, path, &handle, &source);
        lacis_set_allocation_guard(NULL, NULL);
        assert_int_equal(lacis_memory_used(host.memory), 0);
    }
    assert_int_equal(status, LACIS_FORMAT); /* the false size */
    assert_true(n > 8);
    write_file(packed, packed_size - 4, "w");
    unsigned char right[4] = {(unsigned char)(size & 255), (unsigned char)(size >> 8 & 255),
                              (unsigned char)(size >> 16), 0};
    write_file(right, 4, "a");
    lacis_memory_set_limit(host.memory, 1000000);
    lacis_source_handle *handle;
    lacis_source source;
    assert_int_equal(lacis_source_open(&run, path, &handle, &source), LACIS_LIMIT);
    assert_non_null(strstr(host.error.message, "memory_limit"));
    free(packed);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(plain_files),  CHECK(unreadable), CHECK(gzip_whole),  CHECK(gzip_cut),
        CHECK(gzip_damaged), CHECK(pipes),      CHECK(interrupted), CHECK(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
