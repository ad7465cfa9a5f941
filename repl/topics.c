/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements topics.h.
 */
#include "topics.h"

#include "text.h"

static const char *const files[] = {
    "LOAD friends FROM 'datasets/friends.txt'",
    "LOAD both FROM 'datasets/friends.txt' WITH (directed = false)",
    "LOAD cells FROM 'datasets/*.swc'",
    "SAVE both TO 'both.mtx'",
    "LOAD again FROM 'both.mtx'",
    "SHOW LOADERS",
    NULL,
};

static const char *const graphs[] = {
    "LOAD friends FROM 'datasets/friends.txt'",
    "MULTIPLY friends BY friends CON nil AGG count WHERE src IN (30) TOP 5",
    "CREATE VIEW fof AS MULTIPLY friends BY friends CON nil AGG count MASK NOT friends",
    "SELECT dst, value FROM fof WHERE src = 30 ORDER BY value DESC LIMIT 5",
    "LET steps = POWER friends UNTIL STABLE CON a + b AGG min WHERE src = 30",
    "SELECT value AS steps, count(*) AS people FROM steps GROUP BY value",
    NULL,
};

static const char *const batches[] = {
    "GENERATE s AS tridiagonal(rows = 100, lanes = 1000)",
    "LET x = SOLVE s",
    "CREATE VIEW checked AS SOLVE s RESIDUAL",
    "SELECT row, value, residual FROM checked WHERE lane = 17 LIMIT 3",
    "LET packed = s LAYOUT block(64) AS f32",
    NULL,
};

static const char *const neurons[] = {
    "LOAD cell FROM 'datasets/cell.swc'",
    "LET pieces = SECTIONS cell",
    "SELECT type, count(*) AS sections, sum(nseg) AS compartments FROM pieces GROUP BY type",
    "LET v = SIMULATE cell DT 0.025 STEPS 2000 HH CLAMP soma 1 FROM 5 TO 25 PROBE soma PROBE 'apic[0](1)'",
    "PLOT v",
    "SIMULATE cell DT 0.025 STEPS 2000 HH CLAMP soma 1 FROM 5 TO 25 PROBE soma REDUCE spikes",
    NULL,
};

static const char *const matrices[] = {
    "GENERATE a AS symmetric(n = 200)",
    "GENERATE x AS random(n = 200)",
    "LET y = SYMV a BY x",
    "LET w = SYMV a BY x PRECISION dd",
    "LET k = SELECT column1 AS i, column2 AS j, column3 AS value FROM (VALUES (0, 0, 2), (1, 0, -1), (1, 1, 2))",
    "SAVE k TO 'k.mtx'",
    "LOAD dense FROM 'k.mtx' WITH (dense = true)",
    NULL,
};

static const char *const bodies[] = {
    "LOAD cluster FROM 'datasets/cluster.csv'",
    "LET later = NBODY cluster STEPS 50 DT 0.01 ERROR 1e-3 SOFTEN 0.05 EVERY 25",
    "SELECT step, t, energy, drift FROM later_energy",
    "ACCELERATE later SOFTEN 0.05 POTENTIAL",
    "PLOT later",
    NULL,
};

static const char *const grids[] = {
    "LOAD plate FROM 'datasets/plate.pgm'",
    "LET warm = SWEEP plate STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 2000 UNTIL max < 1e-3 EVERY 50",
    "SELECT step, max FROM warm_change ORDER BY step DESC LIMIT 1",
    "GENERATE string AS gaussian(nx = 400, width = 8, fields = 'u,before', fill = 'u,before')",
    "LET later = SWEEP string STEP u = 2*u - before + 0.5*(u[-1] - 2*u + u[1]), before = u STEPS 100 EDGE mirror",
    "PLOT warm",
    NULL,
};

static const char *const plots[] = {
    "LOAD friends FROM 'datasets/friends.txt'",
    "PLOT friends",
    "PLOT friends AS hist TO 'degrees.svg'",
    "LOAD cell FROM 'datasets/cell.swc'",
    "PLOT cell AS tree TO 'cell.png'",
    "LET lines = WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 100)"
    " SELECT x, x * x AS square, 100 * x AS line FROM n",
    "PLOT lines AS line",
    NULL,
};

static const char *const plans[] = {
    "LOAD friends FROM 'datasets/friends.txt'",
    "EXPLAIN MULTIPLY friends BY friends",
    "EXPLAIN ANALYZE MULTIPLY friends BY friends CON a + b AGG min",
    "CREATE VIEW fof AS MULTIPLY friends BY friends CON nil AGG count",
    "EXPLAIN SELECT dst, value FROM fof WHERE src = 30 ORDER BY value DESC LIMIT 3",
    "SHOW OPTIONS",
    "SET memory_limit = '1GB'",
    NULL,
};

static const shell_topic topics[] = {
    {"statements", "what can be written besides SQL",
     "LOAD name FROM 'file' [AS format] [WITH (option = value, ...)]  read a graph, matrix, vector or neuron\n"
     "LOAD name FROM 'a', 'b' ... | 'folder' | 'folder/*.swc'  neurons of many files as one array\n"
     "GENERATE name AS generator (option = value, ...)  make one, such as rmat(scale = 10)\n"
     "SAVE name TO 'file'       write one, in the format of its ending\n"
     "PLOT name [AS line|scatter|heat|spy|hist|tree] [TO 'file.png|svg']  draw one, here or into a file\n"
     "LET name = call           compute and keep an array\n"
     "LET name = SELECT ...     make one from a query\n"
     "CREATE VIEW name AS call  compute what queries ask for, when they ask\n"
     "call                      an operator: MULTIPLY, POWER ...\n"
     "EXPLAIN [ANALYZE] call    the plan, without running it or with\n"
     "DROP name                 forget an array or view\n"
     "SET name = value          an option, for this session and its database; SHOW OPTIONS lists them\n"
     "CALIBRATE                 measure this machine, so that estimates of time are its own\n"
     "TUNE operator [TYPE type] [SECONDS number]  choose its GPU kernels by measuring them\n"
     "SHOW what                 ARRAYS, OPERATORS, OPERATOR verb, AGGREGATES, DEVICES, OPTIONS, KERNELS, LOADERS or "
     "GENERATORS\n"
     "\n"
     "Everything else is SQL as SQLite speaks it; every array and view is a table in it. A statement ends with ; "
     "and -- and /* */ are comments. .help VERB explains an operator.\n",
     NULL},
    {"files", "reading and writing arrays",
     "The format is found by content; AS names it, WITH settles what the file leaves open. .gz is unpacked. A "
     "pattern or a folder of .swc files becomes one array. SAVE goes by the ending. What is there: SHOW LOADERS; "
     "public data sets: datasets/fetch --list.\n",
     files},
    {"graphs", "products, paths, closures: MULTIPLY, POWER",
     "A graph is a table of src, dst, value. MULTIPLY joins edges s -> c -> t: CON says what a path is worth, AGG "
     "what becomes of all from s to t. A view computes only the rows that a query asks for.\n",
     graphs},
    {"batches", "many small systems of equations: SOLVE, CONVERT",
     "A batch is a table of lane, row and fields: a, b, c, d of tridiagonal systems, parent, a, b, d, rhs of "
     "trees.\n",
     batches},
    {"neurons", "from tracings to voltages: SECTIONS, COMPARTMENTS, SIMULATE",
     "An SWC file is a table of samples. Units: um, ms, mV, nA. A place is soma, 'dend[3](0.5)' or a sample's id.\n",
     neurons},
    {"matrices", "symmetric matrices times vectors: SYMV",
     "One triangle counts. Matrices come from GENERATE, from MatrixMarket (dense = true) and NumPy files, and from "
     "queries of i, j, value; vectors from queries of i, value.\n",
     matrices},
    {"bodies", "point masses under gravity: NBODY, ACCELERATE",
     "Bodies are a table of id, m, x, y, z, vx, vy, vz. LET r = NBODY ... makes the table r_energy as well.\n",
     bodies},
    {"grids", "stencils: SWEEP",
     "A grid is a table of x, y, z and fields. u[dx,dy] is the cell so far off. UNTIL makes the table NAME_change as "
     "well.\n",
     grids},
    {"plots", "pictures: PLOT",
     "AS line, scatter, heat, spy, hist or tree; without it what fits the array. On the screen as an image where the "
     "terminal takes one, else in characters; TO a file that ends in .png or .svg.\n",
     plots},
    {"plans", "what a statement will cost, and why: EXPLAIN",
     "EXPLAIN runs nothing and says what was counted, what is estimated, and of every way its cost or why it cannot "
     "run. * is what will run. EXPLAIN ANALYZE runs it too.\n",
     plans},
    {"modes", "how results are written", NULL, NULL},
    {"keys", "editing at the prompt",
     "TAB        completes keywords, names, options and files\n"
     "Up, Down   earlier statements; they are kept in $XDG_STATE_HOME/lacis/history (~/.local/state/lacis/history)\n"
     "Ctrl-R     searches them\n"
     "Ctrl-C     drops what is typed; stops the statement that runs; twice within two seconds: leaves\n"
     "Ctrl-D     leaves, at an empty prompt\n",
     NULL},
    {"parameters", "-v name=value",
     "lacis -v k=10 -c \"SELECT :k + 1\" binds 10 to :k in every statement that uses it. A value that reads as a "
     "number is one; all else is text.\n",
     NULL},
    {"codes", "exit codes of the program",
     "0  good\n"
     "1  a statement or dot command failed, or results could not be written\n"
     "2  the command line was wrong\n"
     "3  the database or a script of the command line cannot be opened\n"
     "130  interrupted with Ctrl-C\n",
     NULL},
};

enum { TOPICS = sizeof topics / sizeof topics[0] };

const shell_topic *shell_topic_at(int index)
{
    return index >= 0 && index < TOPICS ? &topics[index] : NULL;
}

const shell_topic *shell_topic_find(const char *name)
{
    for (int i = 0; i < TOPICS; i++)
        if (shell_same(topics[i].name, name)) return &topics[i];
    return NULL;
}

const shell_topic *shell_topic_of_word(const char *word)
{
    static const char *const words[][2] = {
        {"LOAD", "files"},        {"SAVE", "files"},     {"GENERATE", "files"},  {"PLOT", "plots"},
        {"EXPLAIN", "plans"},     {"ANALYZE", "plans"},  {"SET", "plans"},       {"CALIBRATE", "plans"},
        {"TUNE", "plans"},        {"LET", "graphs"},     {"VIEW", "graphs"},     {"CREATE", "graphs"},
        {"CON", "graphs"},        {"AGG", "graphs"},     {"SHOW", "statements"}, {"DROP", "statements"},
        {"SELECT", "statements"}, {"SQL", "statements"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (shell_same(words[i][0], word)) return shell_topic_find(words[i][1]);
    return NULL;
}
