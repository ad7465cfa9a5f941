/* SPDX-License-Identifier: Apache-2.0
 *
 * Many tests in one program, so that the library is linked once and not with each of them: tests/CMakeLists.txt
 * renames every test's main to lacis_test_NAME and lists the names in LACIS_TESTS. A test is called by its name,
 * which is a link to this program, or given as the first argument: unit_grid, all_unit unit_grid.
 */
#include <stdio.h>
#include <string.h>

#define LACIS_TEST(name) int lacis_test_##name(int argc, char **argv);
#include LACIS_TESTS
#undef LACIS_TEST

typedef struct test {
    const char *name;
    int (*run)(int argc, char **argv);
} test;

static const test tests[] = {
#define LACIS_TEST(name) {#name, lacis_test_##name},
#include LACIS_TESTS
};

static const test *find(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (strcmp(tests[i].name, name) == 0) return &tests[i];
    return NULL;
}

/* GCC 12's AddressSanitizer guesses the size of memory that a thread has for a dlopened library (NVRTC, MPI): where
 * that memory begins 16 bytes into a page, it takes its own allocator's header for glibc's, and its search for leaks
 * reads a wild address and dies ("Tracer caught signal 11"). Without the interceptor nothing is guessed. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "intercept_tls_get_addr=0";
}

int main(int argc, char **argv)
{
    const test *called = find(argv[0]);
    if (called != NULL) return called->run(argc, argv);
    const test *named = argc > 1 ? find(argv[1]) : NULL;
    if (named != NULL) return named->run(argc - 1, argv + 1);
    fprintf(stderr, "usage: %s TEST [ARGUMENT...], TEST one of\n", argv[0]);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        fprintf(stderr, "    %s\n", tests[i].name);
    return 2;
}
