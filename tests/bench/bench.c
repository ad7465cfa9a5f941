/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench FAMILY [options]: command line and table of families.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bench_family families[] = {
    {"multiply", "products of graphs with themselves, against a peer", bench_multiply},
    {"choose", "the planner's choice of device against both devices' times", bench_choose},
    {"figures", "on the GPU: compiling a written CON; a result beyond gpu_memory_limit, streamed", bench_figures},
    {"gpus", "whole statements on one GPU and on --gpus N (2)", bench_gpus},
    {"simulate", "neurons; cpu: --peer neuron where nrniv is installed, one thread unless --threads says otherwise",
     bench_simulate},
    {"solve", "batches of systems, --op part of a case's name: chain, tree, flat, full, block, shared", bench_solve},
    {"nbody",
     "point masses: --op pairs, monopole, quadrupole, relative, fine, insertion, clusters, deterministic,\n"
     "             precise, drift",
     bench_nbody},
    {"sweep",
     "stencils: --op five, norm, norm100, weights5, nine, periodic, mirror, mixed, written, coefficients, seven,\n"
     "             heat7; --way plain, blocked",
     bench_sweep},
    {"symv", "dense symmetric and Hermitian matrix-vector products; the picture of GFLOPS against n", bench_symv},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

static const char options_help[] =
    "\noptions:\n"
    "  --graph G        rmat:SCALE, uniform:SCALE or a file; as often as wanted (rmat:14;\n"
    "                   choose: a set from tiny to large)\n"
    "  --op OP[,OP...]  pair, minplus, times, user, top10, fold16, source (all); choose: pair ... top10, totals,\n"
    "                   pull, push, reach, reach1, shortest, walks, solve, one, passive, hh, and cold for processes "
    "that have done\n"
    "                   nothing yet\n"
    "  --type f32|f64   values (f32; solve: f64; symv: a list of f32, f64, c64, c128, dd, cdd, f32_f64, f32_dd,\n"
    "                   f64_dd)\n"
    "  --n N[,N...] (nbody's too), --uplo lower|upper, --picture FILE.svg, --plot FILE.csv, --regret N,\n"
    "  --database FILE: symv's, below\n"
    "  --device cpu|gpu (cpu)\n"
    "  --gpus N         GPUs that share each product, where there are so many (1): a second line a case, beside\n"
    "                   one GPU's\n"
    "  --threads N      of both sides (all processors)\n"
    "  --peer NAME      multiply: graphblas (cpu), cusparse (gpu); solve: lapack (cpu), cusparse (gpu); simulate:\n"
    "                   neuron; or none (what is found)\n"
    "  --repeat N       runs of each side, of which the median counts (5)\n"
    "  --json           one JSON object a line\n\n"
    "The answer is checked before anything is timed. On the CPU times are of one LET statement, from arrays in\n"
    "memory to the stored result. On the GPU ours_s is from operands on the device to the result there, in loose\n"
    "rows, with device memory from a warm pool, and host_s the LET statement from operands on the host to the\n"
    "result on the host. peer_s is then cuSPARSE's plus-times, the faster of ALG1 and ALG2, whatever the op;\n"
    "floor_s the bytes of the result over the rate of a device copy in the same run. With --gpus each device has\n"
    "the operands and keeps the rows that it computes; ours_s ends with the last device, one_s is one GPU's time in\n"
    "turn with it, speedup one_s over ours_s; a source's row is one GPU's. solve on the GPU prints a line for each\n"
    "way's kernels (thread, chip ...), from operands on the device to the result there, beside the faster of\n"
    "cuSPARSE's two calls, and LET statements, cold and warm; without --op the sizes up to 2,560 lanes. simulate on\n"
    "the GPU times LET statements, from cells on the host to the table there; --op is part of a case's name,\n"
    "LACIS_SIMULATE_WAY=thread|chip|power in the environment asks for one way through the steps.\n\n"
    "symv: --op fixed, accurate, symmetric, free, canonical, packed, sides4, batch, statement (all). Peers are "
    "OpenBLAS and QD, "
    "or\n"
    "cuBLAS in both its modes; times stand beside a plain read of as many bytes as the triangle has. On the GPU\n"
    "matrices rotate so that the L2 does not hold them, and repeat counts six runs each. --picture draws GFLOPS\n"
    "against n and writes its points to FILE.csv, from which --plot draws it again. --regret N (gpu): N sizes drawn\n"
    "at random, what the tuned table of --database (a database after TUNE SYMV; without it the shipped defaults)\n"
    "loses there against the best of all candidates. With --database other cases take its tables' kernels too.\n\n"
    "nbody: through LET statements. step_ms is what each further step adds to a run that took its accelerations "
    "over,\n"
    "first_ms a whole ACCELERATE; build, force and move are the operator's own times of one evaluation, p2p, m2p,\n"
    "expanded and visits its terms of one body; errors are relative, of 1,000 accelerations against direct sums.\n"
    "--n sizes, --type mixed too; the peer (cpu, monopole) is REBOUND where Python can import it, one step by its\n"
    "own clock. drift runs 1000 steps (cpu: 200) of 0.001.\n\n"
    "sweep: through LET statements. step_ms is what each further step adds, GCells_s cells over it, of_copy the "
    "bytes\n"
    "that a step alone must move (one read and one write of the field, and of the coefficients a read) over what a\n"
    "streaming copy of the same run moves in that time (a GPU's where MULTIPLY's kernels are built in); levels: "
    "steps in a "
    "pass.\n--n are sides of squares and cubes; bits are checked against plain steps on the CPU first.\n"
    "sweep --experiment exchange|pack|strong|weak|timeline: what cutting a grid over the ranks of an mpirun costs, "
    "or\n"
    "over --gpus N of this process: borders waited for against overlapped ones, halos of 1 to 48 steps; packing\n"
    "kernels against copies of two dimensions (ranks' GPUs); one grid, or as many cells a part, over 1, 2, 4 ...\n"
    "parts; some exchanges one by one. exposed_us: of a step, spent on borders while nothing was computed, by the\n"
    "part that spent most; share: of the step. --op norm100: norms of each 100th step; --way TEXT: lines with it.\n\n"
    "Exit code 0: done; 1: a wrong answer or a failure; 2: wrong usage; 77: there is no GPU.\n";

struct option {
    const char *name;
    const char **text; /* or */
    int *number;
};

static int usage(FILE *to)
{
    fputs("usage: lacis-bench FAMILY [options]\n\nfamilies:\n", to);
    for (int i = 0; i < FAMILIES; i++)
        fprintf(to, "  %-10s %s\n", families[i].name, families[i].help);
    fputs(options_help, to);
    return to == stdout ? 0 : 2;
}

static int set(const struct option *option, const char *value)
{
    if (option->text != NULL) {
        *option->text = value;
        return 0;
    }
    char *end;
    long number = strtol(value, &end, 10);
    const int most = strcmp(option->name, "--regret") == 0 ? 1000 : BENCH_REPEATS;
    if (*end != '\0' || number < 1 || number > most)
        return bench_fail("%s takes a number from 1 to %d, not %s", option->name, most, value) + 1;
    *option->number = (int)number;
    return 0;
}

static int add_graph(bench_options *options, const char *name)
{
    if (options->graphs == BENCH_GRAPHS) return bench_fail("more than %d graphs", BENCH_GRAPHS) + 1;
    options->graph[options->graphs++] = name;
    return 0;
}

static int one_option(bench_options *options, const char *name, const char *value)
{
    const struct option all[] = {
        {"--op", &options->op, NULL},
        {"--type", &options->type, NULL},
        {"--device", &options->device, NULL},
        {"--peer", &options->peer, NULL},
        {"--threads", NULL, &options->threads},
        {"--repeat", NULL, &options->repeat},
        {"--gpus", NULL, &options->gpus},
        {"--n", &options->n, NULL},
        {"--way", &options->way, NULL},
        {"--experiment", &options->experiment, NULL},
        {"--uplo", &options->uplo, NULL},
        {"--picture", &options->picture, NULL},
        {"--plot", &options->plot, NULL},
        {"--regret", NULL, &options->regret},
        {"--database", &options->database, NULL},
    };
    size_t at = 0, count = sizeof all / sizeof all[0];
    bool graph = strcmp(name, "--graph") == 0;
    while (at < count && strcmp(all[at].name, name) != 0)
        at++;
    if ((at == count && !graph) || value == NULL) return bench_fail("unknown option or missing value: %s", name) + 1;
    return graph ? add_graph(options, value) : set(&all[at], value);
}

static int parse(int argc, char **argv, bench_options *options)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
            continue;
        }
        int code = one_option(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        if (code != 0) return code;
        i++;
    }
    const bool lists = strcmp(argv[1], "symv") == 0;
    if (options->type == NULL && !lists) options->type = strcmp(argv[1], "solve") == 0 ? "f64" : "f32";
    const bool mixed = strcmp(argv[1], "nbody") == 0 && options->type != NULL && strcmp(options->type, "mixed") == 0;
    if (!lists && !mixed && strcmp(options->type, "f32") != 0 && strcmp(options->type, "f64") != 0)
        return bench_fail("--type is f32 or f64, not %s", options->type) + 1;
    if (strcmp(options->device, "cpu") != 0 && strcmp(options->device, "gpu") != 0)
        return bench_fail("--device is cpu or gpu, not %s", options->device) + 1;
    if (options->gpus > 1 && strcmp(options->device, "gpu") != 0 && strcmp(argv[1], "gpus") != 0)
        return bench_fail("--gpus is for --device gpu") + 1;
    return 0;
}

int main(int argc, char **argv)
{
    bench_options options = {.device = "cpu", .repeat = 5, .gpus = 1};
    setvbuf(stdout, NULL, _IOLBF, 0); /* whoever stops it has seen what there was */
    if (argc < 2) return usage(stderr);
    for (int i = 1; i < argc; i++) /* lacis-bench FAMILY --help as well */
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return usage(stdout);
    int code = parse(argc, argv, &options);
    if (code != 0) return code;
    for (int i = 0; i < FAMILIES; i++) {
        if (strcmp(argv[1], families[i].name) != 0) continue;
        if (options.graphs == 0 && families[i].run != bench_choose) options.graph[options.graphs++] = "rmat:14";
        return families[i].run(&options);
    }
    bench_fail("there is no family \"%s\"", argv[1]);
    return usage(stderr);
}
