/* SPDX-License-Identifier: Apache-2.0
 *
 * A grid over MPI: `mpirun -n 4 ranks_grid`. Every process runs this program; rank 0 lends a plate to its engine and
 * sweeps it, the others serve, each with a block of the plate, and exchange borders with their neighbours. The
 * program itself is not linked with MPI; lacis loads what it needs where it is started as one of several. Started
 * alone it computes alone. The answers have the same bits on any number of ranks.
 */
#include <lacis.h>

#include <stdio.h>
#include <stdlib.h>

enum { NX = 200, NY = 150 };

static void fill(double *plate)
{
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            plate[y * NX + x] = x == 0 ? 100 : y == 0 ? x * 0.5 : 0;
}

static lacis_status lend(lacis_engine *db, double *plate)
{
    static const int64_t shape[] = {NX, NY};
    fill(plate);
    const lacis_part parts[] = {{"value", LACIS_F64, NX * NY, plate}, {"shape", LACIS_I64, 2, shape}};
    const lacis_array_spec spec = {LACIS_GRID, LACIS_F64, {NX, NY}, parts, 2};
    return lacis_array_lend(db, "plate", &spec, free, plate);
}

static int print_row(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)arg;
    for (int i = 0; i < columns; i++)
        printf("%s %s%s", names[i], values[i], i + 1 < columns ? ", " : "\n");
    return 0;
}

/* What rank 0 does, with or without others. */
static lacis_status work(lacis_engine *db, lacis_ranks *ranks)
{
    double *plate = malloc(sizeof *plate * NX * NY);
    if (plate == NULL) return LACIS_NOMEM;
    fprintf(stderr, "ranks_grid: %d at work\n", lacis_ranks_size(ranks));
    lacis_status status = lend(db, plate);
    if (status == LACIS_OK && lacis_ranks_size(ranks) > 1) {
        status = lacis_set_ranks(db, ranks);
        /* The plate is too small to be worth sharing, which the planner knows: "auto" would leave it to rank 0. */
        if (status == LACIS_OK) status = lacis_set_option(db, "ranks", "all");
    }
    if (status == LACIS_OK)
        status = lacis_exec(
            db,
            "LET warm = SWEEP plate STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 2000 CHANGE EVERY 1000;"
            "SELECT x, y, round(value, 9) AS degrees FROM warm WHERE x IN (10, 100) AND y = 75;"
            "SELECT step, printf('%.6e', max) AS change FROM warm_change;"
            "SELECT round(sum(value), 6) AS heat FROM warm;",
            print_row, NULL);
    return status;
}

int main(void)
{
    char message[400] = "";
    lacis_ranks *ranks = NULL;
    lacis_engine *db = NULL;
    if (lacis_ranks_join(&ranks, message, sizeof message) != LACIS_OK) {
        if (message[0] != '\0') fprintf(stderr, "ranks_grid: %s\n", message);
        return 1;
    }
    lacis_status status = lacis_open(NULL, &db);
    if (status == LACIS_OK) status = lacis_ranks_rank(ranks) > 0 ? lacis_ranks_serve(ranks, db) : work(db, ranks);
    if (status != LACIS_OK) fprintf(stderr, "ranks_grid: %s\n", db != NULL ? lacis_error_message(db) : "no memory");
    lacis_close(db);
    lacis_ranks_leave(ranks); /* rank 0: lets the others go */
    return status != LACIS_OK;
}
