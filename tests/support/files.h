/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of files in statements share: a database a test, and a file of each ending, of this process alone.
 */
#ifndef LACIS_TESTS_FILES_H
#define LACIS_TESTS_FILES_H

#include "support/db.h"

#include <unistd.h>

static inline int setup(void **state)
{
    *state = db_open(NULL);
    return 0;
}

static inline int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static inline const char *path_of(const char *ending)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/lacis-test-%ld.%s", (long)getpid(), ending);
    return path;
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif
