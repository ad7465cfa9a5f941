/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a file of the format that the environment's FUZZ_FORMAT names; without it the format is found by
 * content. What was accepted must be a sound array. The first byte picks options.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const fuzz_words[] = {"%%MatrixMarket matrix coordinate ",
                                  "%%MatrixMarket matrix array ",
                                  "real",
                                  "integer",
                                  "complex",
                                  "pattern",
                                  " general\n",
                                  " symmetric\n",
                                  " skew-symmetric\n",
                                  " hermitian\n",
                                  "3 3 4\n",
                                  "1 1 1.5\n",
                                  "p sp 6 7\n",
                                  "a 1 2 3\n",
                                  "c x\n",
                                  "# Nodes: 3 Edges: 4\n",
                                  "src,dst,value\n",
                                  "\r\n",
                                  "\n",
                                  "\t",
                                  "  ",
                                  ",",
                                  "//",
                                  "#",
                                  "%",
                                  "-1",
                                  "0",
                                  "4294967295",
                                  "4294967296",
                                  "9223372036854775807",
                                  "9223372036854775808",
                                  "99999999999999999999",
                                  "1e309",
                                  "nan",
                                  "-inf",
                                  "\xef\xbb\xbf",
                                  "\x1f\x8b\x08",
                                  "\x93NUMPY",
                                  "1082040961",
                                  "7 11 011 1\n",
                                  "1 1 0 0 0 5 -1\n",
                                  "2 3 1.5 0 0 0 1\n",
                                  "m x y z\n",
                                  "id,m,x,y,z,vx,vy,vz,eps,ax,ay,az,phi,time\n",
                                  "2\n1e3\n1 2 3 4 5\n",
                                  "('m', '<f4'), ",
                                  "('id', '<i8'), ",
                                  "('', '|V4'), ",
                                  "HEAD",
                                  "POS ",
                                  "x,y,z,value\n0,0,0,",
                                  "P2\n",
                                  "P5\n",
                                  "# lacis range 0 1\n",
                                  "# lacis grid, step 1\n",
                                  "IHDR",
                                  "IDAT",
                                  "PLTE",
                                  "tRNS",
                                  NULL};

/* Options of grids, of edge lists, of SWC, of dense matrices and of bodies; other loaders must refuse them by name.
 */
static const char *const options[] = {
#define GRIDS                                                                                                        \
    " WITH (shape = '4x3', type = 'f32')", " WITH (shape = '2x2x2', type = 'u8')",                                   \
        " WITH (shape = '3', type = 'i16', endian = 'big', skip = 2)",                                               \
        " WITH (shape = '2x2', type = 'f64', fields = 'u,v')", " WITH (shape = '2, 2', type = 'i64', to = 'f32')",   \
        " WITH (shape = '99999999999x99999999999', type = 'i8')", " WITH (scale = 'counts')",                        \
        " WITH (scale = 'unit', type = 'f64')", " WITH (type = 'f32')", " WITH (type = 'f64')", ""
    GRIDS,
    GRIDS,
    GRIDS, /* 33 of them, the first letters of the corpus being B to b */
    "",
    "",
    " WITH (scale = 1e300)",
    " WITH (min_radius = 0.5)",
    " WITH (directed = false)",
    " WITH (header = true)",
    " WITH (base = 1)",
    " WITH (duplicates = 'max')",
    " WITH (duplicates = 'error')",
    " WITH (columns = 'src,dst,value')",
    " WITH (delimiter = ',')",
#define DENSE                                                                                                        \
    " WITH (dense = true)", " WITH (dense = true, packed = true)", " WITH (dense = true, type = 'dd')",              \
        " WITH (dense = true, type = 'cdd', packed = true)", " WITH (matrix = 'symmetric')",                         \
        " WITH (matrix = 'symmetric', uplo = 'upper')", " WITH (matrix = 'hermitian')",                              \
        " WITH (matrix = 'hermitian', uplo = 'lower')", " WITH (dense = true, base = 0)",                            \
        " WITH (dense = true, type = 'f32')", " WITH (type = 'c64')"
    DENSE,
#define BODIES                                                                                                       \
    " WITH (columns = 'x y z vx vy vz m')", " WITH (columns = 'm,x,y', type = 'f32')", " WITH (kinds = '1 4')",      \
        " WITH (kinds = 'star, dark', type = 'f64')", " WITH (type = 'f32')"
    BODIES,
    BODIES,
    " WITH (columns = 'id m x y eps time')", /* 33 of the others: the corpus begins with !, #, &, 7, 8, 9 and A */
};

static lacis_engine *engine;
static int file;
static char path[64];
static char as[64]; /* " AS csv", or empty */

static void start(void)
{
    engine = fuzz_open();
    file = memfd_create("fuzz", 0);
    FUZZ_CHECK(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const char *format = getenv("FUZZ_FORMAT");
    if (format != NULL) snprintf(as, sizeof as, " AS %s", format);
}

static void fill_file(const uint8_t *data, size_t size)
{
    FUZZ_CHECK(ftruncate(file, 0) == 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(file, data + done, size - done, (off_t)done);
        FUZZ_CHECK(n > 0);
        done += (size_t)n;
    }
}

void fuzz_one(const uint8_t *data, size_t size)
{
    if (size == 0) return;
    if (engine == NULL) start();
    fill_file(data + 1, size - 1);
    char text[256];
    const char *with = options[data[0] % (sizeof options / sizeof options[0])];
    snprintf(text, sizeof text, "LOAD x FROM '%s'%s%s;", path, as, with);
    lacis_status status = lacis_exec(engine, text, NULL, NULL);
    fuzz_check_error(engine, status, strlen(text));
    if (status != LACIS_OK) return;
    lacis_array *array;
    FUZZ_CHECK(lacis_array_find(engine, "x", &array) == LACIS_OK);
    fuzz_check_array(array);
    lacis_array_release(array);
    fuzz_must(engine, "SELECT count(*) FROM x; DROP x;");
}
