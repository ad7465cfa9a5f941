/* SPDX-License-Identifier: Apache-2.0
 *
 * A program outside lacis's tree, of the part of C17 that is also C++17: tests/install/package.sh builds it as both,
 * against an installed lacis, and runs it. Prints the friends of friends of a graph in its own memory: "0 3 2".
 */
#include <lacis.h>

#include <stdio.h>
#include <string.h>

static int fail(const lacis_engine *db, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, lacis_error_message(db));
    return 1;
}

/* 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3: two paths from 0 to 3. */
static lacis_status make_graph(lacis_engine *db)
{
    static const int64_t offsets[] = {0, 2, 3, 4, 4};
    static const uint32_t columns[] = {1, 2, 3, 3};
    static const lacis_part parts[] = {{"offsets", LACIS_I64, 5, offsets}, {"columns", LACIS_U32, 4, columns}};
    lacis_array_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.kind = LACIS_CSR;
    spec.dtype = LACIS_PATTERN;
    spec.extent[0] = spec.extent[1] = 4;
    spec.parts = parts;
    spec.part_count = 2;
    return lacis_array_create(db, "g", &spec);
}

static int print_rows(lacis_engine *db, const char *text)
{
    lacis_statement *statement = NULL;
    lacis_status status = lacis_prepare(db, text, NULL, &statement);
    if (status != LACIS_OK) return fail(db, text);
    while ((status = lacis_step(statement)) == LACIS_ROW)
        printf("%lld %lld %lld\n", (long long)lacis_column_int64(statement, 0),
               (long long)lacis_column_int64(statement, 1), (long long)lacis_column_int64(statement, 2));
    lacis_finalize(statement);
    return status == LACIS_DONE ? 0 : fail(db, text);
}

int main(void)
{
    lacis_engine *db = NULL;
    int failed;
    if (strcmp(lacis_version(), LACIS_VERSION) != 0) {
        fprintf(stderr, "header %s, library %s\n", LACIS_VERSION, lacis_version());
        return 1;
    }
    if (lacis_open(NULL, &db) != LACIS_OK) return fail(db, "open");
    failed = make_graph(db) != LACIS_OK ? fail(db, "create") : print_rows(db, "MULTIPLY g BY g CON nil AGG count");
    lacis_close(db);
    return failed;
}
