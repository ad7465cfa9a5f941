/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL over results: a laboratory's table of experiments, kept with SQL, tells how copies of a neuron differ; SIMULATE
 * runs them all at once, and queries join what came out with the table again. Values are bound, never pasted into
 * text; messages and errors are shown as a program for people would.
 *
 * query [FILE.swc]
 */
#include <lacis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_message(void *arg, lacis_level level, const char *message)
{
    (void)arg;
    if (level == LACIS_WARNING) fprintf(stderr, "warning: %s\n", message);
}

static int print_row(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)arg;
    (void)names;
    for (int i = 0; i < columns; i++)
        printf("%s%s", values[i] != NULL ? values[i] : "-", i + 1 < columns ? "  " : "\n");
    return 0;
}

/* LOAD takes its file as a parameter, as any statement takes any value. */
static lacis_status load_cell(lacis_engine *db, const char *path)
{
    lacis_statement *load;
    lacis_status status = lacis_prepare(db, "LOAD cell FROM :path", NULL, &load);
    if (status == LACIS_OK) status = lacis_bind_text(load, "path", path);
    if (status == LACIS_OK && lacis_step(load) != LACIS_DONE) status = lacis_error_status(db);
    lacis_finalize(load);
    return status;
}

/* Experiments: who, which current, how much potassium conductance. Rows come from elsewhere in a real program. */
static lacis_status enter_experiments(lacis_engine *db)
{
    lacis_statement *insert = NULL;
    lacis_status status =
        lacis_exec(db, "CREATE TABLE experiment(id INTEGER PRIMARY KEY, who TEXT, na REAL, gk REAL);", NULL, NULL);
    if (status == LACIS_OK)
        status = lacis_prepare(db, "INSERT INTO experiment(who, na, gk) VALUES (:who, :na, :gk)", NULL, &insert);
    for (int i = 0; status == LACIS_OK && i < 12; i++) {
        status = lacis_bind_text(insert, "who", i % 2 == 0 ? "Ada" : "Ben");
        if (status == LACIS_OK) status = lacis_bind_double(insert, "na", 0.5 * (1 + i / 2));
        if (status == LACIS_OK) status = lacis_bind_double(insert, "gk", i % 2 == 0 ? 0.036 : 0.02);
        if (status == LACIS_OK && lacis_step(insert) != LACIS_DONE) status = lacis_error_status(db);
        if (status == LACIS_OK) status = lacis_reset(insert);
    }
    lacis_finalize(insert);
    return status;
}

static lacis_status simulate(lacis_engine *db)
{
    return lacis_exec(db,
                      "LET dose = SELECT id - 1 AS lane, na AS amplitude, gk FROM experiment;"
                      "LET spikes = SIMULATE cell DT 0.025 STEPS 4000 HH CLAMP soma 1 FROM 5 TO 95 PARAMETERS dose"
                      "  PROBE soma REDUCE spikes;"
                      "CREATE TEMP VIEW outcome AS SELECT e.*, CAST(s.v AS INTEGER) AS fired, s.t AS first"
                      "  FROM experiment e JOIN spikes s ON s.lane = e.id - 1;",
                      NULL, NULL);
}

/* Who saw more than `least` spikes, with which currents? Typed values, row by row. */
static lacis_status print_busy(lacis_engine *db, int64_t least)
{
    lacis_statement *query;
    lacis_status status = lacis_prepare(db,
                                        "SELECT who, count(*), min(na), max(fired) FROM outcome WHERE fired >= :least"
                                        " GROUP BY who ORDER BY who",
                                        NULL, &query),
                 step = LACIS_OK;
    if (status != LACIS_OK) return status;
    status = lacis_bind_int64(query, "least", least);
    while (status == LACIS_OK && (step = lacis_step(query)) == LACIS_ROW)
        printf("%s: %lld runs with %lld spikes or more, from %g nA on; at most %lld\n", lacis_column_text(query, 0),
               (long long)lacis_column_int64(query, 1), (long long)least, lacis_column_double(query, 2),
               (long long)lacis_column_int64(query, 3));
    if (status == LACIS_OK && step != LACIS_DONE) status = step;
    lacis_finalize(query);
    return status;
}

int main(int arguments, char **argument)
{
    lacis_engine *db;
    lacis_status status = lacis_open(NULL, &db);
    if (status == LACIS_OK) {
        lacis_set_log(db, on_message, NULL);
        status = load_cell(db, arguments > 1 ? argument[1] : "datasets/cell.swc");
    }
    if (status == LACIS_OK) status = enter_experiments(db);
    if (status == LACIS_OK) status = simulate(db);
    if (status == LACIS_OK)
        status = lacis_exec(
            db, "SELECT id, who, na, fired, round(first, 2) FROM outcome WHERE na >= 2.5 ORDER BY fired DESC, id;",
            print_row, NULL);
    if (status == LACIS_OK) status = print_busy(db, 2);
    if (status != LACIS_OK) {
        fprintf(stderr, "query: %s\n", lacis_error_message(db));
        if (lacis_error_hint(db)[0] != '\0') fprintf(stderr, "hint: %s\n", lacis_error_hint(db));
    }
    lacis_close(db);
    return status != LACIS_OK;
}
