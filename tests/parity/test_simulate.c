/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE against a naive reference in long double that solves each step densely from what COMPARTMENTS says, and
 * against itself: the same bits for every instruction set, number of lanes and threads. With LACIS_PARITY=gpu in the
 * environment the GPU's ways, one after the other; what one does not do, or has no GPU for, is skipped.
 */
#include "support/db.h"

#include <math.h>
#include <stdbool.h>

enum { MOST = 96 };

static const char *const ways[] = {"thread", "chip", "power"};
static const char *way; /* NULL: the CPU */

/* Runs text, which ends with a SIMULATE; false: that way does not do it. */
static bool simulate(lacis_engine *db, const char *text)
{
    static char told[3][600];
    char whole[1200];
    snprintf(whole, sizeof whole, "%s%s", text, way != NULL ? " ON GPU" : "");
    if (lacis_exec(db, whole, NULL, NULL) == LACIS_OK) return true;
    const char *why = lacis_error_message(db);
    if (way == NULL || lacis_error_status(db) != LACIS_UNSUPPORTED) fail_msg("%s\n  failed: %s", whole, why);
    for (int i = 0; i < 3; i++) {
        if (strcmp(told[i], why) == 0) break;
        if (told[i][0] != '\0') continue;
        snprintf(told[i], sizeof told[i], "%s", why);
        print_message("skipped (this and others alike): %s: %s\n", whole, why);
        break;
    }
    return false;
}

/* mV: the GPU's ways add in other orders. */
static double bar(bool hh)
{
    return hh ? 1e-7 : way != NULL ? 1e-9 : 1e-10;
}

static int setup(void **state)
{
    unsetenv("LACIS_ISA");
    *state = db_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    unsetenv("LACIS_ISA");
    lacis_close(*state);
    return 0;
}

/* A neuron with everything: a soma of one point, a fork, an axon, a side branch off a branch's first sample. */
static const char neuron[] =
    "CREATE TABLE s(cell, id, type, x, y, z, radius, parent);"
    "INSERT INTO s VALUES (0,1,1,0,0,0,6.5,-1),(0,2,3,7,1,0,0.9,1),(0,3,3,40,9,2,0.7,2),(0,4,3,71,30,4,0.55,3),"
    "(0,5,3,80,-20,4,0.6,3),(0,6,3,120,-33,9,0.25,5),(0,7,2,-9,0,0,0.4,1),(0,8,2,-90,4,7,0.35,7),"
    "(0,9,3,9,60,-3,0.5,2),(0,10,4,0,30,1,1.1,1),(0,11,4,2,95,1,0.8,10);"
    "LET cell = SELECT * FROM s ORDER BY id;";

/* ---------------------------------------------------------------------------------------- reference */

typedef struct reference {
    int nodes;
    int parent[MOST], type[MOST];
    double area[MOST], ri[MOST];
    bool hh, half;
    double dt, cm, ra_factor, g, e, amplitude, from, to, ena, ek, gna, gk, gl, el, celsius;
    int clamp;
    bool by_node; /* then these in the place of cm, g, e, gna */
    double own_cm[MOST], own_g[MOST], own_e[MOST], own_gna[MOST];
    long double v[MOST], m[MOST], h[MOST], n[MOST];
} reference;

static int read_node(void *arg, int columns, const char *const *names, const char *const *values)
{
    reference *r = arg;
    (void)columns, (void)names;
    assert_true(r->nodes < MOST);
    r->parent[r->nodes] = atoi(values[0]);
    r->area[r->nodes] = atof(values[1]);
    r->ri[r->nodes] = atof(values[2]);
    r->type[r->nodes++] = atoi(values[3]);
    return 0;
}

static void read_tree(lacis_engine *db, const char *cut, reference *r)
{
    char text[256];
    snprintf(text, sizeof text, "LET tree = COMPARTMENTS cell %s;", cut);
    db_run(db, text);
    const char *query = "SELECT parent, area_um2, ri_megaohm, type FROM tree ORDER BY node";
    assert_int_equal(lacis_exec(db, query, read_node, r), LACIS_OK);
}

static long double trap(long double x, long double y)
{
    return fabsl(x / y) < 1e-6L ? y * (1 - x / y / 2) : x / (expl(x / y) - 1);
}

/* Steady state and time constant of gate 0 (m), 1 (h), 2 (n). */
static void rates(const reference *r, int gate, long double v, long double *steady, long double *tau)
{
    long double alpha, beta, q10 = powl(3, ((long double)r->celsius - 6.3L) / 10);
    if (gate == 0) {
        alpha = 0.1L * trap(-(v + 40), 10);
        beta = 4 * expl(-(v + 65) / 18);
    } else if (gate == 1) {
        alpha = 0.07L * expl(-(v + 65) / 20);
        beta = 1 / (expl(-(v + 35) / 10) + 1);
    } else {
        alpha = 0.01L * trap(-(v + 55), 10);
        beta = 0.125L * expl(-(v + 65) / 80);
    }
    *steady = alpha / (alpha + beta);
    *tau = 1 / (q10 * (alpha + beta));
}

static void begin(reference *r, double v)
{
    long double tau;
    for (int i = 0; i < r->nodes; i++) {
        r->v[i] = v;
        rates(r, 0, v, &r->m[i], &tau);
        rates(r, 1, v, &r->h[i], &tau);
        rates(r, 2, v, &r->n[i], &tau);
    }
}

/* Gauss elimination with pivots, dense. */
static void solve(int n, long double a[MOST][MOST + 1], long double *x)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(a[i][k]) > fabsl(a[best][k])) best = i;
        for (int j = k; j <= n; j++) {
            long double swap = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = swap;
        }
        for (int i = k + 1; i < n; i++) {
            long double factor = a[i][k] / a[k][k];
            for (int j = k; j <= n && factor != 0; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = a[i][n];
        for (int j = i + 1; j < n; j++)
            x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}

/* In nA: (C/dt + G) dv = I - axial currents - membrane currents. */
static void step(reference *r, int number)
{
    static long double a[MOST][MOST + 1];
    long double dv[MOST], t = (number + 0.5L) * r->dt;
    memset(a, 0, sizeof a);
    for (int i = 0; i < r->nodes; i++) {
        const bool own = r->by_node;
        const double cm = own ? r->own_cm[i] : r->cm, e = own ? r->own_e[i] : r->e;
        const double gna = own ? r->own_gna[i] : r->gna;
        long double cm2 = r->area[i] * 1e-8L, g = own ? r->own_g[i] : r->g, ge = g * (e - r->v[i]);
        if (r->hh) {
            long double na = gna * powl(r->m[i], 3) * r->h[i], k = r->gk * powl(r->n[i], 4);
            g = na + k + r->gl;
            ge = na * (r->ena - r->v[i]) + k * (r->ek - r->v[i]) + r->gl * (r->el - r->v[i]);
        }
        a[i][i] += cm2 * (cm * 1e-3L / r->dt * (r->half ? 2 : 1) + g) * 1e6L;
        a[i][r->nodes] += cm2 * ge * 1e6L;
        if (i == r->clamp && t >= r->from && t < r->to) a[i][r->nodes] += r->amplitude;
        if (i == 0) continue;
        int p = r->parent[i];
        long double axial = 1 / (r->ri[i] * (long double)r->ra_factor);
        a[i][i] += axial;
        a[p][p] += axial;
        a[i][p] -= axial;
        a[p][i] -= axial;
        a[i][r->nodes] += axial * (r->v[p] - r->v[i]);
        a[p][r->nodes] += axial * (r->v[i] - r->v[p]);
    }
    solve(r->nodes, a, dv);
    for (int i = 0; i < r->nodes; i++) {
        r->v[i] += (r->half ? 2 : 1) * dv[i];
        long double *gate[] = {&r->m[i], &r->h[i], &r->n[i]}, steady, tau;
        for (int k = 0; k < 3; k++) {
            rates(r, k, r->v[i], &steady, &tau);
            *gate[k] = steady + (*gate[k] - steady) * expl(-(long double)r->dt / tau);
        }
    }
}

/* Compares one lane's trace of probe 0 (at node `probe`), sampled at every step. */
static void compare(lacis_engine *db, reference *r, int probe, int lane, int steps, double v, double tolerance)
{
    char query[120];
    snprintf(query, sizeof query, "SELECT v FROM v WHERE probe = 0 AND lane = %d ORDER BY t", lane);
    char *rows = db_rows(db, query), *at = rows;
    begin(r, v);
    for (int k = 0; k <= steps; k++) {
        double found = strtod(at, &at);
        if (!(fabs(found - (double)r->v[probe]) <= tolerance))
            fail_msg("lane %d, step %d: %.15g, reference %.15Lg", lane, k, found, r->v[probe]);
        if (k < steps) step(r, k);
    }
    free(rows);
}

static reference usual(void)
{
    return (reference){.dt = 0.025,
                       .cm = 1,
                       .ra_factor = 1,
                       .g = 1e-4,
                       .e = -65,
                       .amplitude = 0.2,
                       .from = 0.5,
                       .to = 4,
                       .ena = 50,
                       .ek = -77,
                       .gna = 0.12,
                       .gk = 0.036,
                       .gl = 3e-4,
                       .el = -54.3,
                       .celsius = 6.3,
                       .clamp = 1};
}

static void test_passive(void **state)
{
    lacis_engine *db = *state;
    static const char *const cut[] = {"NSEG 1", "NSEG 4", "LENGTH 30", "DLAMBDA 0.05 AT 200"};
    db_run(db, neuron);
    for (int i = 0; i < 8; i++) {
        char text[400];
        reference r = usual();
        r.half = i % 2 == 1;
        snprintf(text, sizeof text,
                 "LET v = SIMULATE cell DT 0.025 STEPS 200 %s METHOD %s CLAMP soma 0.2 FROM 0.5 TO 4 PROBE soma",
                 cut[i / 2], r.half ? "crank_nicolson" : "euler");
        if (!simulate(db, text)) continue;
        read_tree(db, cut[i / 2], &r);
        r.clamp = r.nodes == 0 ? 0 : 1 + (i / 2 == 1 ? 2 : 0); /* NSEG 4: soma(0.5) is the third of four */
        compare(db, &r, r.clamp, 0, 200, -65, bar(false));
    }
}

static void test_channels(void **state)
{
    lacis_engine *db = *state;
    db_run(db, neuron);
    for (int half = 0; half < 2; half++) {
        char text[400];
        reference r = usual();
        r.hh = true;
        r.half = half;
        r.celsius = 10;
        snprintf(
            text, sizeof text,
            "LET v = SIMULATE cell DT 0.025 STEPS 400 NSEG 3 HH CELSIUS 10 METHOD %s CLAMP soma 0.2 FROM 0.5 TO 4 "
            "PROBE soma",
            half ? "crank_nicolson" : "euler");
        if (!simulate(db, text)) continue;
        db_expect(db, "SELECT max(v) > 20 FROM v", "1\n"); /* it spikes */
        read_tree(db, "NSEG 3", &r);
        r.clamp = 2;
        compare(db, &r, 2, 0, 400, -65, bar(true));
    }
}

/* Lanes that differ in everything; a full vector and a rest. */
static void test_parameters(void **state)
{
    lacis_engine *db = *state;
    db_run(db, neuron);
    db_run(db, "CREATE TABLE p(lane, cm, ra, g, e, v, amplitude);"
               "WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 10) INSERT INTO p SELECT i, "
               "0.8 + i * 0.05, 80 + 10 * i, 1e-4 * (1 + i), -70 + i, -75 + 2 * i, 0.1 * i FROM k;"
               "LET parameters = SELECT * FROM p ORDER BY lane DESC;");
    if (!simulate(db, "LET v = SIMULATE cell DT 0.025 STEPS 120 NSEG 1 CLAMP soma 0.2 FROM 0.5 TO 2 PARAMETERS "
                      "parameters PROBE soma"))
        return;
    for (int lane = 0; lane < 11; lane++) {
        reference r = usual();
        r.cm = 0.8 + lane * 0.05;
        r.ra_factor = (80 + 10 * lane) / 100.0;
        r.g = 1e-4 * (1 + lane);
        r.e = -70 + lane;
        r.amplitude = 0.1 * lane;
        r.to = 2;
        read_tree(db, "NSEG 1", &r);
        compare(db, &r, 1, lane, 120, -75 + 2 * lane, bar(false));
    }
}

/* Figures of nodes: every third node has its own, by a formula that SQL and the reference share. */
static void own_figures(reference *r)
{
    r->by_node = true;
    for (int i = 0; i < r->nodes; i++) {
        const bool own = i % 3 == 1;
        r->own_cm[i] = own ? 0.5 + i * 0.25 : 1;
        r->own_g[i] = own ? i / 1024.0 / 16 : 1e-4;
        r->own_e[i] = own ? -70 + i : -65;
        r->own_gna[i] = own ? i / 64.0 : 0.12;
    }
}

static void test_nodes(void **state)
{
    lacis_engine *db = *state;
    db_run(db, neuron);
    db_run(db,
           "LET tree = COMPARTMENTS cell NSEG 3;"
           "LET passive = SELECT node, 0.5 + node * 0.25 AS cm, node / 1024.0 / 16 AS g, -70.0 + node AS e "
           "FROM tree WHERE node % 3 = 1 ORDER BY node DESC;"
           "LET channels = SELECT node, 0.5 + node * 0.25 AS cm, node / 64.0 AS gna FROM tree WHERE node % 3 = 1;");
    for (int i = 0; i < 4; i++) {
        char text[300];
        reference r = usual();
        r.half = i % 2 == 1;
        r.hh = i >= 2;
        snprintf(text, sizeof text,
                 "LET v = SIMULATE cell DT 0.025 STEPS 150 %s LANES 3 NSEG 3 METHOD %s CLAMP soma 0.2 FROM 0.5 TO 4 "
                 "PROBE soma",
                 r.hh ? "HH NODES channels" : "NODES passive", r.half ? "crank_nicolson" : "euler");
        if (!simulate(db, text)) continue;
        read_tree(db, "NSEG 3", &r);
        own_figures(&r);
        r.clamp = 2;
        for (int lane = 0; lane < 3; lane += 2)
            compare(db, &r, 2, lane, 150, -65, bar(r.hh));
    }
}

/* Of two cells the second's nodes have figures of their own: the first is as without, the second as if alone. */
static void test_nodes_of_cells(void **state)
{
    lacis_engine *db = *state;
    static const char *const made[] = {
        "LET one = SIMULATE cell DT 0.025 STEPS 50 NSEG 1 CLAMP soma 0.2 FROM 0 TO 1 PROBE soma",
        "LET own = SIMULATE cell DT 0.025 STEPS 50 NSEG 1 NODES alone CLAMP soma 0.2 FROM 0 TO 1 PROBE soma",
        "LET both = SIMULATE two DT 0.025 STEPS 50 NSEG 1 NODES second CLAMP soma 0.2 FROM 0 TO 1 PROBE soma"};
    db_run(db, neuron);
    db_run(db,
           "LET two = SELECT * FROM (SELECT * FROM s UNION ALL SELECT 1, id, type, x, y, z, radius, parent FROM s) "
           "ORDER BY cell, id;"
           "LET tree = COMPARTMENTS cell NSEG 1;"
           "LET alone = SELECT node, 0.002 AS g FROM tree WHERE node > 2;"
           "LET second = SELECT 1 AS cell, node, 0.002 AS g FROM tree WHERE node > 2;");
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        if (!simulate(db, made[i])) return;
    db_expect(db, "SELECT max(abs(both.v - one.v)) < 1e-10 FROM both JOIN one USING (t) WHERE both.lane = 0", "1\n");
    db_expect(db, "SELECT max(abs(both.v - own.v)) < 1e-10 FROM both JOIN own USING (t) WHERE both.lane = 1", "1\n");
    db_expect(db, "SELECT max(abs(one.v - own.v)) > 0.1 FROM one JOIN own USING (t)", "1\n");
}

/* What a lane's probes saw; NULL: that way does not do it. */
static char *trace(lacis_engine *db, const char *membrane, int lanes, const char *pick)
{
    char text[400];
    snprintf(text, sizeof text,
             "LET v = SIMULATE cell DT 0.025 STEPS 300 LENGTH 20 %s LANES %d CLAMP soma 0.3 FROM 0.5 TO 4 PROBE soma "
             "PROBE 6 PROBE 'axon[0](1)' EVERY 3",
             membrane, lanes);
    if (!simulate(db, text)) return NULL;
    snprintf(text, sizeof text, "SELECT t, probe, v FROM v WHERE lane = %s ORDER BY t, probe", pick);
    return db_rows(db, text);
}

/* Whether that is the same as what came before it, which it becomes where there was nothing. */
static void same(char **expected, char *found)
{
    if (*expected == NULL) {
        *expected = found;
        return;
    }
    if (found == NULL) return;
    assert_string_equal(found, *expected);
    free(found);
}

static const char *const membrane[] = {"", "METHOD crank_nicolson", "HH", "HH METHOD crank_nicolson"};
enum { MEMBRANES = 4 };

static void test_same_bits(void **state)
{
    lacis_engine *db = *state;
    static const char *const isa[] = {"baseline", "avx2", "avx512"};
    static const int lanes[] = {1, 2, 3, 8, 9, 33};
    if (way != NULL) skip();
    db_run(db, neuron);
    for (int m = 0; m < MEMBRANES; m++) {
        char *expected = NULL;
        for (int k = 0; k < 18; k++) {
            setenv("LACIS_ISA", isa[k % 3], 1);
            db_run(db, k % 2 == 0 ? "SET threads = 1" : "SET threads = 2");
            same(&expected, trace(db, membrane[m], lanes[k / 3], k % 3 == 0 ? "0" : "(SELECT max(lane) FROM v)"));
        }
        free(expected);
    }
}

/* However many lanes there are and however they are cut into panels; the ways through threads and on chip agree. */
static void test_same_bits_on_gpu(void **state)
{
    static char *agreed[MEMBRANES];
    lacis_engine *db = *state;
    static const int lanes[] = {1, 3, 33, 300, 700};
    if (way == NULL) skip();
    bool alone = strcmp(way, "power") == 0;
    db_run(db, neuron);
    for (int m = 0; m < MEMBRANES; m++) {
        char *own = NULL;
        for (int k = 0; k < 10; k++) {
            db_run(db, k % 2 == 0 ? "SET gpu_memory_limit = auto" : "SET gpu_memory_limit = '1.5 MB'");
            const char *pick = k % 4 == 0 ? "0" : "(SELECT max(lane) FROM v)";
            same(alone ? &own : &agreed[m], trace(db, membrane[m], lanes[k / 2], pick));
        }
        free(own);
    }
}

/* What is reduced is what SQL makes of the whole trace. */
static void test_reduced(void **state)
{
    lacis_engine *db = *state;
    static const char *const clauses =
        "cell DT 0.025 STEPS 500 EVERY 3 NSEG 3 HH CLAMP soma 0.5 FROM 0.5 TO 10 LANES 5 "
        "PROBE soma PROBE 6";
    static const char *const name[] = {"max", "min", "mean", "spikes"};
    char text[600];
    db_run(db, neuron);
    snprintf(text, sizeof text, "LET w = SIMULATE %s", clauses);
    if (!simulate(db, text)) return;
    db_run(db,
           "CREATE TEMP TABLE facts AS SELECT lane, probe, max(v) AS max, min(v) AS min, avg(v) AS mean, "
           "sum(up) AS spikes FROM (SELECT *, v >= -20 AND lag(v) OVER (PARTITION BY lane, probe ORDER BY t) < -20 "
           "AS up FROM w) GROUP BY lane, probe");
    for (int i = 0; i < 4; i++) {
        const char *bound = i == 3 ? "THRESHOLD -20" : "";
        snprintf(text, sizeof text, "LET r = SIMULATE %s REDUCE %s %s", clauses, name[i], bound);
        if (!simulate(db, text)) continue;
        snprintf(text, sizeof text,
                 "SELECT count(*), max(abs(r.v - facts.%s)) %s FROM r JOIN facts USING (lane, probe)", name[i],
                 i == 2 ? "< 1e-11" : "= 0");
        db_expect(db, text, "10,1\n");
    }
    db_expect(db, "SELECT min(spikes) > 0 FROM facts", "1\n");
    /* r is the spikes: when was the first? */
    db_expect(
        db,
        "SELECT count(*) FROM r JOIN w ON w.lane = r.lane AND w.probe = r.probe AND w.t = r.t AND w.v >= -20 "
        "AND NOT EXISTS (SELECT 1 FROM w AS x WHERE x.lane = r.lane AND x.probe = r.probe AND x.t < r.t AND x.v "
        ">= -20)",
        "10\n");
}

/* Several cells are as each alone. */
static void test_cells(void **state)
{
    lacis_engine *db = *state;
    db_run(db, neuron);
    db_run(db, "LET pair = SELECT 1 AS cell, id, type, x, y, z, radius * 1.5 AS radius, parent FROM s UNION ALL "
               "SELECT 7, id, type, x, y, z, radius, parent FROM s ORDER BY 1, 2");
    for (int m = 0; m < MEMBRANES; m++) {
        char one[300], both[300];
        const char *clauses = "CLAMP soma 0.2 FROM 0 TO 1 PROBE soma PROBE 11";
        snprintf(one, sizeof one, "LET one = SIMULATE cell DT 0.025 STEPS 100 %s %s", membrane[m], clauses);
        snprintf(both, sizeof both, "LET both = SIMULATE pair DT 0.025 STEPS 100 LANES 3 %s %s", membrane[m],
                 clauses);
        if (!simulate(db, one) || !simulate(db, both)) continue;
        db_expect(db, "SELECT count(*), count(DISTINCT lane) FROM both", "1212,6\n");
        db_expect(
            db,
            "SELECT count(*) FROM one JOIN both ON one.t = both.t AND one.probe = both.probe AND one.v = both.v "
            "WHERE both.lane >= 3",
            "606\n");
    }
}

static int run_group(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(test_passive),          CHECK(test_channels), CHECK(test_parameters),
        CHECK(test_same_bits),        CHECK(test_reduced),  CHECK(test_cells),
        CHECK(test_same_bits_on_gpu), CHECK(test_nodes),    CHECK(test_nodes_of_cells)};
    return cmocka_run_group_tests_name(way == NULL ? "CPU" : way, tests, NULL, NULL);
}

int main(void)
{
    const char *where = getenv("LACIS_PARITY");
    int failed = 0;
    if (where == NULL || strcmp(where, "gpu") != 0) return run_group();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        way = ways[i];
        setenv("LACIS_SIMULATE_WAY", way, 1);
        failed += run_group();
    }
    return failed;
}
