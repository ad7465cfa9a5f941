/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch solve inside a time loop: many rods cool down, each by an implicit step of the heat equation, which is a
 * tridiagonal system. All rods have one matrix, which is solved for all of them at once. The temperatures belong to
 * the program; in each step they are lent as right sides, and the solution is copied into them. The statement is
 * prepared once.
 *
 * A rod that begins as a sine stays one, and an implicit step shrinks it by a factor that is known: the check at the
 * end.
 */
#include <lacis.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RODS = 200, CELLS = 99, STEPS = 50 };

static const double PI = 3.14159265358979323846, RATE = 2; /* conductivity * dt / dx^2 */

/* Rod l begins as a sine of l % 5 + 1 half waves. Flat layout: rod behind rod. */
static void begin(double *t)
{
    for (int l = 0; l < RODS; l++)
        for (int c = 0; c < CELLS; c++)
            t[l * CELLS + c] = sin(PI * (l % 5 + 1) * (c + 1) / (CELLS + 1));
}

/* (1 + 2 RATE) t[c] - RATE (t[c-1] + t[c+1]) = t[c] before the step; both ends are held at 0. */
static lacis_status enter_matrix(lacis_engine *db)
{
    static double a[CELLS], b[CELLS], c[CELLS], d[CELLS]; /* d: a batch has it, but right sides come from elsewhere */
    for (int i = 0; i < CELLS; i++) {
        a[i] = c[i] = -RATE;
        b[i] = 1 + 2 * RATE;
    }
    const lacis_part parts[] = {{"a", LACIS_F64, CELLS, a},
                                {"b", LACIS_F64, CELLS, b},
                                {"c", LACIS_F64, CELLS, c},
                                {"d", LACIS_F64, CELLS, d}};
    const lacis_array_spec spec = {LACIS_INTERLEAVED, LACIS_F64, {1, CELLS}, parts, 4};
    return lacis_array_create(db, "step", &spec);
}

static int lent; /* loans that lacis still holds: of a step that failed it gives them back in lacis_close */

static void returned(void *arg)
{
    *(int *)arg -= 1;
}

/* Lends the temperatures, solves, drops the loan, and takes the solution over. */
static lacis_status one_step(lacis_engine *db, lacis_statement *solve, double *t)
{
    const lacis_part parts[] = {{"d", LACIS_F64, RODS * CELLS, t}};
    const lacis_array_spec spec = {LACIS_INTERLEAVED, LACIS_F64, {RODS, CELLS}, parts, 1};
    lacis_array *after = NULL;
    lacis_part part;
    lent += 1;
    lacis_status status = lacis_array_lend(db, "now", &spec, returned, &lent);
    if (status == LACIS_OK && lacis_step(solve) != LACIS_DONE) status = lacis_error_status(db);
    if (status == LACIS_OK) status = lacis_reset(solve);
    if (status == LACIS_OK) status = lacis_exec(db, "DROP now;", NULL, NULL);
    if (status == LACIS_OK) status = lacis_array_find(db, "after", &after);
    for (int i = 0; status == LACIS_OK && lacis_array_part(after, i, &part) == LACIS_OK; i++)
        if (strcmp(part.name, "value") == 0 && lent == 0) memcpy(t, part.data, sizeof(double) * RODS * CELLS);
    lacis_array_release(after);
    return status;
}

static lacis_status work(lacis_engine *db, double *t)
{
    lacis_statement *solve = NULL;
    begin(t);
    lacis_status status = enter_matrix(db);
    if (status == LACIS_OK) status = lacis_prepare(db, "LET after = SOLVE step BY now", NULL, &solve);
    for (int k = 0; status == LACIS_OK && k < STEPS; k++)
        status = one_step(db, solve, t);
    lacis_finalize(solve);
    if (status == LACIS_OK && lent != 0) fprintf(stderr, "time_loop: %d loans are still out\n", lent);
    return status;
}

/* What is left in the middle of the first rods, and whether all are as theory says. */
static int print_rods(const double *t)
{
    double furthest = 0;
    for (int l = 0; l < RODS; l++) {
        double waves = l % 5 + 1, s = sin(PI * waves / (2 * (CELLS + 1)));
        double left = pow(1 / (1 + 4 * RATE * s * s), STEPS);
        for (int c = 0; c < CELLS; c++)
            furthest = fmax(furthest, fabs(t[l * CELLS + c] - left * sin(PI * waves * (c + 1) / (CELLS + 1))));
        if (l < 5 && l % 2 == 0)
            printf("%g half waves: %.6f is left, theory %.6f\n", waves, t[l * CELLS + CELLS / 2],
                   sin(PI * waves / 2) * left);
    }
    printf("%d rods, %d steps: %s\n", RODS, STEPS,
           furthest < 1e-12 ? "all as theory says, to 1e-12" : "not as theory says");
    return furthest < 1e-12;
}

int main(void)
{
    static double t[RODS * CELLS];
    lacis_engine *db;
    lacis_status status = lacis_open(NULL, &db);
    if (status == LACIS_OK) status = work(db, t);
    int good = status == LACIS_OK && print_rods(t);
    if (status != LACIS_OK) fprintf(stderr, "time_loop: %s\n", lacis_error_message(db));
    lacis_close(db);
    return !good;
}
