/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph from a program's own memory: streets of a small town, as a list that the program has anyway, become a CSR
 * that is lent to lacis without a copy. POWER finds the quickest ways from one corner to all others; their lengths
 * are read where they lie, and a query counts the streets that are on one of them.
 */
#include <lacis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 6, CORNERS = SIDE * SIDE, STREETS = 4 * SIDE * (SIDE - 1) };

typedef struct town {
    int64_t offsets[CORNERS + 1];
    uint32_t columns[STREETS];
    double minutes[STREETS];
    int64_t streets;
} town;

/* Both ways between neighbours, by rising `from` and `to`, as CSR wants them; how long each takes is made up. */
static void lay_out(town *t)
{
    static const int dx[] = {0, -1, 1, 0}, dy[] = {-1, 0, 0, 1};
    t->streets = 0;
    for (int c = 0; c < CORNERS; c++) {
        t->offsets[c] = t->streets;
        for (int k = 0; k < 4; k++) {
            int x = c % SIDE + dx[k], y = c / SIDE + dy[k];
            if (x < 0 || y < 0 || x >= SIDE || y >= SIDE) continue;
            t->columns[t->streets] = (uint32_t)(y * SIDE + x);
            t->minutes[t->streets++] = 1 + (c * c + y * SIDE + x) % 7;
        }
    }
    t->offsets[CORNERS] = t->streets;
}

static void give_back(void *arg)
{
    free(arg);
    puts("the town's memory is free again");
}

static lacis_status lend(lacis_engine *db, town *t)
{
    const lacis_part parts[] = {{"offsets", LACIS_I64, CORNERS + 1, t->offsets},
                                {"columns", LACIS_U32, t->streets, t->columns},
                                {"values", LACIS_F64, t->streets, t->minutes}};
    const lacis_array_spec spec = {LACIS_CSR, LACIS_F64, {CORNERS, CORNERS}, parts, 3};
    return lacis_array_lend(db, "town", &spec, give_back, t);
}

/* The result is one row of a graph: its columns are corners, its values minutes. A part that is missing is NULL. */
static const void *part_of(const lacis_array *array, const char *name, int64_t *count)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++) {
        if (strcmp(part.name, name) != 0) continue;
        *count = part.count;
        return part.data;
    }
    return NULL;
}

static void print_map(const lacis_array *ways)
{
    int64_t count = 0, labels = 0;
    const double *minutes = part_of(ways, "values", &count);
    const uint32_t *column = part_of(ways, "columns", &count);
    const int64_t *label = part_of(ways, "col_labels", &labels);
    double map[CORNERS] = {0};
    for (int64_t i = 0; minutes != NULL && column != NULL && i < count; i++)
        map[label != NULL ? label[column[i]] : column[i]] = minutes[i];
    map[0] = 0; /* POWER has the shortest round trip there */
    for (int c = 0; c < CORNERS; c++)
        printf("%3.0f%s", map[c], c % SIDE == SIDE - 1 ? "\n" : "");
}

static int print_row(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)arg;
    for (int i = 0; i < columns; i++)
        printf("%s %s%s", names[i], values[i], i + 1 < columns ? ", " : "\n");
    return 0;
}

static lacis_status work(lacis_engine *db)
{
    lacis_array *ways = NULL;
    town *t = malloc(sizeof *t);
    if (t == NULL) return LACIS_NOMEM;
    lay_out(t);
    lacis_status status = lend(db, t); /* from here on the memory is lacis's to give back, also on failure */
    if (status == LACIS_OK)
        status = lacis_exec(db, "LET ways = POWER town UNTIL STABLE CON a + b AGG min WHERE src IN (0);", NULL, NULL);
    if (status == LACIS_OK) status = lacis_array_find(db, "ways", &ways);
    if (status == LACIS_OK) print_map(ways);
    lacis_array_release(ways);
    if (status ==
        LACIS_OK) /* streets on a quickest way: they bring exactly the minutes that are between their ends */
        status = lacis_exec(db,
                            "SELECT count(*) AS streets, sum(s.value) AS minutes FROM town s"
                            " JOIN ways b ON b.dst = s.dst LEFT JOIN ways a ON a.dst = s.src AND s.src <> 0"
                            " WHERE s.dst <> 0 AND coalesce(a.value, 0) + s.value = b.value;",
                            print_row, NULL);
    return status;
}

int main(void)
{
    lacis_engine *db;
    lacis_status status = lacis_open(NULL, &db);
    if (status == LACIS_OK) status = work(db);
    if (status != LACIS_OK) fprintf(stderr, "graph: %s\n", lacis_error_message(db));
    lacis_close(db);
    return status != LACIS_OK;
}
