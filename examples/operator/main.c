/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that gives its engine an operator of its own and uses it from the language and from SQL.
 */
#include <lacis.h>

#include <stdio.h>

extern const struct lacis_op degree_op;

static int print_row(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)arg, (void)names;
    for (int i = 0; i < columns; i++)
        printf("%s%s", i > 0 ? " " : "", values[i] != NULL ? values[i] : "null");
    putchar('\n');
    return 0;
}

int main(void)
{
    static const char script[] = "GENERATE g AS path(5);"
                                 "DEGREE g;"
                                 "CREATE VIEW d AS DEGREE g;"
                                 "SELECT count(*), sum(value) FROM d WHERE i > 0;";
    lacis_engine *db;
    lacis_status status = lacis_open(NULL, &db);
    if (status == LACIS_OK) status = lacis_register_operator(db, &degree_op);
    if (status == LACIS_OK) status = lacis_exec(db, script, print_row, NULL);
    if (status != LACIS_OK) fprintf(stderr, "%s\n", lacis_error_message(db));
    lacis_close(db);
    return status == LACIS_OK ? 0 : 1;
}
