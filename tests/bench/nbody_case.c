/* SPDX-License-Identifier: Apache-2.0
 *
 * One case of lacis-bench nbody: runs of two lengths for the time of a step, EXPLAIN ANALYZE for phases and counts,
 * the certificate for the error.
 */
#include "nbody.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many steps that a run takes about this long, beside one step. */
static const double ENOUGH = 0.3;
enum { MOST_STEPS = 400 };

static int failed(lacis_engine *db)
{
    if (lacis_error_status(db) != LACIS_UNSUPPORTED) return bench_fail("%s", lacis_error_message(db));
    printf("skipped: %s\n", lacis_error_message(db));
    return 77;
}

static const char *place(const bench_options *options)
{
    return strcmp(options->device, "gpu") == 0 ? "ON GPU" : "ON CPU";
}

static int run_steps(const bench_options *options, lacis_engine *db, const nbody_case *c, const char *type, int steps,
                     double *seconds)
{
    char text[400];
    snprintf(text, sizeof text, "LET r = NBODY g STEPS %d DT 1e-3 SOFTEN 0.05 %s TYPE %s %s", steps, c->clauses, type,
             place(options));
    const double begin = bench_now();
    if (lacis_exec(db, text, NULL, NULL) != LACIS_OK) return failed(db);
    *seconds = bench_now() - begin;
    return 0;
}

/* ------------------------------------------------------------------------------------------- a step */

static int time_step(const bench_options *options, lacis_engine *db, const nbody_case *c, const char *type,
                     double *step)
{
    double one, two, value[BENCH_REPEATS];
    int code = run_steps(options, db, c, type, 1, &one); /* starts and loads what there is to */
    if (code == 0) code = run_steps(options, db, c, type, 1, &one);
    if (code == 0) code = run_steps(options, db, c, type, 2, &two);
    if (code != 0) return code;
    const double guess = two > one ? two - one : one / 3;
    int more = guess * MOST_STEPS < ENOUGH ? MOST_STEPS : (int)(ENOUGH / guess) + 1;
    for (int i = 0; i < options->repeat; i++) {
        code = run_steps(options, db, c, type, 1, &one);
        if (code == 0) code = run_steps(options, db, c, type, 1 + more, &two);
        if (code != 0) return code;
        value[i] = (two - one) / more;
    }
    *step = bench_median(value, options->repeat);
    return 0;
}

/* ------------------------------------------------------------------------------------------ figures */

struct figures {
    nbody_result *result;
    double evaluations;
};

/* Lines of EXPLAIN ANALYZE: "  pairs (P2P) 1.2e+07". */
static int read_line(void *arg, int columns, const char *const *names, const char *const *values)
{
    struct figures *f = arg;
    nbody_result *r = f->result;
    const struct {
        const char *what;
        double *to;
    } all[] = {
        {"evaluations ", &f->evaluations},  {"pairs (P2P) ", &r->p2p},       {"cells at bodies (M2P) ", &r->m2p},
        {"cells at groups ", &r->expanded}, {"visits ", &r->visits},         {"seconds of build ", &r->build_s},
        {"seconds of force ", &r->force_s}, {"seconds of move ", &r->move_s}};
    (void)columns, (void)names;
    const char *line = values[0] + strspn(values[0], " ");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strncmp(line, all[i].what, strlen(all[i].what)) == 0) *all[i].to = atof(line + strlen(all[i].what));
    return 0;
}

static int read_figures(const bench_options *options, lacis_engine *db, const nbody_case *c, const char *type,
                        double n, nbody_result *out)
{
    enum { STEPS = 3 };
    char text[400];
    struct figures f = {out, 0};
    snprintf(text, sizeof text, "EXPLAIN ANALYZE NBODY g STEPS %d DT 1e-3 SOFTEN 0.05 %s TYPE %s %s", STEPS,
             c->clauses, type, place(options));
    if (lacis_exec(db, text, read_line, &f) != LACIS_OK) return failed(db);
    if (!(f.evaluations > 0)) return bench_fail("EXPLAIN ANALYZE counts no evaluations");
    double *const sums[] = {&out->p2p, &out->m2p, &out->expanded, &out->visits};
    double *const seconds[] = {&out->build_s, &out->force_s, &out->move_s};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        *sums[i] /= f.evaluations * n;
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++)
        *seconds[i] /= f.evaluations;
    return 0;
}

static int read_error(void *arg, int columns, const char *const *names, const char *const *values)
{
    nbody_result *r = arg;
    (void)columns, (void)names;
    *(atof(values[0]) < 0.6 ? &r->median : &r->most99) = atof(values[1]);
    return 0;
}

static int read_errors(const bench_options *options, lacis_engine *db, const nbody_case *c, const char *type,
                       nbody_result *out)
{
    char text[400];
    snprintf(text, sizeof text,
             "LET r = NBODY g STEPS 2 DT 1e-3 SOFTEN 0.05 %s TYPE %s CERTIFY 1000 %s; "
             "SELECT quantile, relative FROM r_error WHERE quantile IN (0.5, 0.99)",
             c->clauses, type, place(options));
    return lacis_exec(db, text, read_error, out) == LACIS_OK ? 0 : failed(db);
}

int bench_nbody_measure(const bench_options *options, lacis_engine *db, const nbody_case *c, const char *type,
                        double n, nbody_result *out)
{
    *out = (nbody_result){0};
    setenv("LACIS_NBODY_WAY", c->way, 1);
    int code = read_errors(options, db, c, type, out);
    if (code == 0) code = time_step(options, db, c, type, &out->step_s);
    if (code == 0) code = read_figures(options, db, c, type, n, out);
    unsetenv("LACIS_NBODY_WAY");
    return code;
}

static void print(bool json, const char *name, const char *format, double value)
{
    printf(json ? ", \"%s\": " : " %s=", name);
    printf(format, value);
}

int bench_nbody_case(const bench_options *options, lacis_engine *db, const nbody_case *c, const char *type, double n)
{
    nbody_result r;
    const bool json = options->json;
    const double milli = 1e3;
    const int code = bench_nbody_measure(options, db, c, type, n, &r);
    if (code != 0) return code;
    printf(json ? "{\"case\": \"nbody/%s/%s/n:%.0f\", \"device\": \"%s\"" : "case=nbody/%s/%s/n:%.0f device=%s",
           c->name, type, n, options->device);
    print(json, "ms_a_step", "%.4f", milli * r.step_s);
    print(json, "median", "%.2e", r.median);
    print(json, "most99", "%.2e", r.most99);
    print(json, "build_ms", "%.4f", milli * r.build_s);
    print(json, "force_ms", "%.4f", milli * r.force_s);
    print(json, "move_ms", "%.4f", milli * r.move_s);
    print(json, "p2p", "%.1f", r.p2p);
    print(json, "m2p", "%.1f", r.m2p);
    print(json, "expanded", "%.1f", r.expanded);
    print(json, "visits", "%.1f", r.visits);
    print(json, "ns_a_term", "%.5f", 1e9 * r.step_s / (n * (r.p2p + r.m2p + r.expanded)));
    puts(json ? "}" : "");
    return 0;
}
