/* SPDX-License-Identifier: Apache-2.0
 *
 * A plain mutation driver for compilers without libFuzzer; the sanitizers or the target itself find what is wrong.
 *
 *     fuzz_NAME [--seconds N] [--seed N] FILE|FOLDER...   runs each file, then mutations of them for N seconds
 *
 * The same seed gives the same inputs in the same order. Before each input runs, a copy lies in memory; when the
 * process dies the input is written to crash-NAME.bin in the current folder, to be given back as FILE.
 */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { INPUT_BYTES = 1 << 14, SEEDS = 1024 };

typedef struct input {
    uint8_t byte[INPUT_BYTES];
    size_t size;
} input;

static input *seed[SEEDS];
static int seeds;
static input present; /* what runs now, for the handler below */
static char crash_name[256];
static uint64_t dice_state;

static uint64_t dice(uint64_t below) /* splitmix64 (Steele, Lea and Flood, 2014) */
{
    uint64_t z = dice_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

/* ------------------------------------------------------------------------------------------- seeds */

static void read_seed(const char *path)
{
    FILE *file = fopen(path, "rb");
    input *in = malloc(sizeof *in);
    if (file == NULL || in == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    in->size = fread(in->byte, 1, sizeof in->byte, file);
    fclose(file);
    if (seeds < SEEDS)
        seed[seeds++] = in;
    else
        free(in);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_seeds(const char *path)
{
    struct dirent **entry;
    struct stat what;
    if (stat(path, &what) != 0 || !S_ISDIR(what.st_mode)) {
        read_seed(path);
        return;
    }
    int count = scandir(path, &entry, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entry[i]->d_name);
        if (stat(inside, &what) == 0 && S_ISREG(what.st_mode)) read_seed(inside);
        free(entry[i]);
    }
    if (count >= 0) free(entry);
}

/* --------------------------------------------------------------------------------------- mutations */

/* Puts n bytes in place of `drop` bytes at `at`, as far as there is room. */
static void put(input *in, size_t at, size_t drop, const void *bytes, size_t n)
{
    if (in->size - drop + n > INPUT_BYTES) return;
    memmove(in->byte + at + n, in->byte + at + drop, in->size - at - drop);
    if (n > 0) memcpy(in->byte + at, bytes, n);
    in->size = in->size - drop + n;
}

static void put_other(input *in, size_t at)
{
    const input *other = seed[dice((uint64_t)seeds)];
    if (other->size == 0) return;
    size_t from = dice(other->size), n = 1 + dice(other->size - from);
    put(in, at, dice(in->size - at + 1), other->byte + from, n);
}

static void repeat_piece(input *in, size_t at)
{
    size_t n = 1 + dice(in->size - at < 32 ? in->size - at : 32);
    uint8_t piece[32];
    memcpy(piece, in->byte + at, n);
    for (uint64_t times = 1 + dice(40); times > 0; times--)
        put(in, at, 0, piece, n);
}

static void mutate(input *in)
{
    uint8_t any = (uint8_t)dice(256);
    size_t at = in->size > 0 ? dice(in->size) : 0;
    if (in->size == 0) {
        put(in, 0, 0, &any, 1);
        return;
    }
    size_t words = 0;
    while (fuzz_words[words] != NULL)
        words++;
    const char *word = fuzz_words[dice(words)];
    switch (dice(8)) {
    case 0:
        in->byte[at] ^= (uint8_t)(1u << dice(8));
        break;
    case 1:
        in->byte[at] = any;
        break;
    case 2:
        put(in, at, 0, &any, 1);
        break;
    case 3:
        put(in, at, 1 + dice(in->size - at), NULL, 0);
        break;
    case 4:
        put(in, at, 0, word, strlen(word));
        break;
    case 5:
        put(in, at, dice(in->size - at + 1 < 8 ? in->size - at + 1 : 8), word, strlen(word));
        break;
    case 6:
        put_other(in, at);
        break;
    default:
        repeat_piece(in, at);
    }
}

/* ----------------------------------------------------------------------------------------- running */

static void write_crash(void)
{
    int file = open(crash_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) return;
    ssize_t written = write(file, present.byte, present.size);
    static const char note[] = "fuzz: the input that did it is in the file crash-*.bin\n";
    if (written >= 0) written = write(STDERR_FILENO, note, sizeof note - 1);
    (void)written;
    close(file);
}

static void on_crash(int signal_number)
{
    write_crash();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Whatever a sanitizer finds ends in SIGABRT. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "abort_on_error=1";
}

__attribute__((visibility("default"))) const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static void prepare_for_crash(const char *program)
{
    const char *base = strrchr(program, '/');
    const char *format = getenv("FUZZ_FORMAT"); /* several of fuzz_load may run side by side */
    snprintf(crash_name, sizeof crash_name, "crash-%.100s%s%.100s.bin", base != NULL ? base + 1 : program,
             format != NULL ? "_" : "", format != NULL ? format : "");
    static const int signals[] = {SIGABRT, SIGFPE, SIGILL, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], on_crash);
#if !defined(__SANITIZE_ADDRESS__) /* which handles these itself */
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
#endif
}

static void run_input(const input *in)
{
    present = *in;
    alarm(20); /* an input that takes longer is a finding */
    uint8_t *exact = malloc(in->size + (in->size == 0));
    if (exact == NULL) exit(2);
    memcpy(exact, in->byte, in->size);
    fuzz_one(exact, in->size);
    free(exact);
    alarm(0);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t run_mutations(double seconds)
{
    uint64_t count = 0;
    static input in;
    for (double end = now() + seconds; now() < end; count++) {
        in = *seed[dice((uint64_t)seeds)];
        for (uint64_t changes = 1 + dice(6); changes > 0; changes--)
            mutate(&in);
        run_input(&in);
    }
    return count;
}

int main(int argc, char **argv)
{
    double seconds = 0;
    uint64_t first = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atof(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            first = strtoull(argv[++i], NULL, 10);
        else
            read_seeds(argv[i]);
    }
    if (seeds == 0) {
        fprintf(stderr, "usage: %s [--seconds N] [--seed N] FILE|FOLDER...\n", argv[0]);
        return 2;
    }
    prepare_for_crash(argv[0]);
    for (int i = 0; i < seeds; i++)
        run_input(seed[i]);
    dice_state = first;
    uint64_t count = run_mutations(seconds);
    printf("%d seeds and %llu mutations of them, seed %llu\n", seeds, (unsigned long long)count,
           (unsigned long long)first);
    for (int i = 0; i < seeds; i++)
        free(seed[i]);
    return 0;
}
