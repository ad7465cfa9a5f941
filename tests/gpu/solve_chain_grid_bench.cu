/* SPDX-License-Identifier: Apache-2.0
 *
 * cuThomasBatch's grid as docs/performance.md has it: solve_gpu bench grid [f64|f32] [MOST] prints a finished table
 * for each type, rows of 64 to 8192 by 256,000 to 256 lanes, of no more than MOST unknowns. A cell has milliseconds
 * Flat / Full by `gpu chip`, then both against the better of cuSPARSE's two calls; behind them the same systems by
 * all processors of this machine, and by `gpu thread`. -: neither tried nor possible here.
 */
#include "solve_chain_times.cuh"

#include <thread>

enum { LENGTHS = 8, NUMBERS = 4 };
static const int64_t lengths[LENGTHS] = {64, 128, 256, 512, 1024, 2048, 4096, 8192};
static const int64_t numbers[NUMBERS] = {256000, 25600, 2560, 256};
static const char *const number_name[NUMBERS] = {"256,000", "25,600", "2,560", "256"};

/* Milliseconds; NaN where there is nothing. [0] Full, [1] Flat. */
struct grid_cell {
    double chip[2] = {NAN, NAN}, thread[2] = {NAN, NAN}, processor[2] = {NAN, NAN}, peer[2] = {NAN, NAN};
};

static bool fits_device(int64_t bytes)
{
    size_t left = 0, all = 0;
    CUDA(cudaMemGetInfo(&left, &all));
    return bytes < (int64_t)(left / 16 * 15);
}

template <class S> static double processor_ms(const operands<S> &o, int64_t n, int64_t m, bool flat)
{
    const int64_t most = (int64_t)1 << 28; /* copies of the fields are to fit the host */
    const size_t bytes = sizeof(S) * (size_t)o.count, each[5] = {bytes, bytes, bytes, bytes, bytes};
    lacis_solve_group group = {};
    if (o.count > most) return NAN;
    group.lanes = m, group.rows = n;
    group.matrix.block = flat ? 1 : m, group.matrix.step = 1;
    group.rhs = group.x = group.matrix;
    lacis_solve_job job = {};
    job.type = of<S>::type;
    job.lower = {o.in[0], false}, job.diagonal = {o.in[1], false}, job.upper = {o.in[2], false};
    job.rhs = {o.in[3], false};
    job.group = &group, job.groups = 1;
    return cpu_ms(job, {}, each, 5);
}

template <class S> static grid_cell time_cell(int64_t n, int64_t m, int64_t most, bool peers)
{
    grid_cell cell;
    if (n * m > most || !fits_device(6 * (int64_t)sizeof(S) * n * m)) return cell;
    operands<S> o(n * m);
    for (int flat = 0; flat < 2; flat++) {
        o.refill(n, m, flat);
        cell.chip[flat] = own_ms(o, n, m, flat, 0, LACIS_SOLVE_GPU_CHIP, of<S>::type);
        cell.thread[flat] = own_ms(o, n, m, flat, 0, LACIS_SOLVE_GPU_THREAD, of<S>::type);
        cell.processor[flat] = processor_ms(o, n, m, flat);
        if (peers) cell.peer[flat] = peer_ms(o, n, m, flat);
    }
    return cell;
}

static void print_number(const char *before, const char *format, double x)
{
    printf("%s", before);
    if (std::isnan(x))
        printf("-");
    else
        printf(format, x);
}

static void print_pair(const char *before, const char *format, const double *ms, double unit)
{
    print_number(before, format, ms[1] / unit);
    print_number(" / ", format, ms[0] / unit);
}

static void print_row(int64_t n, const grid_cell *cell)
{
    printf("| %lld |", (long long)n);
    for (int i = 0; i < NUMBERS; i++) {
        const double better = fmin(cell[i].peer[0], cell[i].peer[1]); /* the one that is there */
        print_pair(" ", "%.3g", cell[i].chip, 1);
        if (!std::isnan(better)) print_pair(": ", "%.2f", cell[i].chip, better);
        printf(" |");
    }
    for (int i = 0; i < NUMBERS; i++)
        print_pair(" ", "%.3g", cell[i].processor, 1), printf(" |");
    for (int i = 0; i < NUMBERS; i++)
        print_pair(" ", "%.3g", cell[i].thread, 1), printf(" |");
    printf("\n");
    fflush(stdout);
}

template <class S> static void print_table(const char *name, int64_t most, bool peers)
{
    const char *const heading[] = {"", "processors ", "`thread` "};
    printf("| %s, rows |", name);
    for (int part = 0; part < 3; part++)
        for (const char *lanes : number_name)
            printf(" %s%s |", heading[part], lanes);
    printf("\n|---|");
    for (int i = 0; i < 3 * NUMBERS; i++)
        printf("---|");
    printf("\n");
    for (int64_t n : lengths) {
        grid_cell cell[NUMBERS];
        for (int i = 0; i < NUMBERS; i++)
            cell[i] = time_cell<S>(n, numbers[i], most, peers);
        print_row(n, cell);
    }
    printf("\n");
}

int bench_grid(int argc, char **argv)
{
    const std::string type = argc > 0 && argv[0][0] == 'f' ? argv[0] : "";
    const int at = type.empty() ? 0 : 1;
    const int64_t most = argc > at ? atoll(argv[at]) : INT64_MAX;
    const bool peers = open_peer();
    if ((!type.empty() && type != "f64" && type != "f32") || most <= 0) {
        printf("bench grid [f64|f32] [the most unknowns]\n");
        return 2;
    }
    printf("%u processors; copies %.2f TB/s%s; ms Flat / Full: against cuSPARSE's better call\n\n",
           std::thread::hardware_concurrency(), copy_rate() * 1e-9, peers ? "" : "; without cuSPARSE");
    if (type != "f32") print_table<double>("f64", most, peers);
    if (type != "f64") print_table<float>("f32", most, peers);
    return 0;
}
