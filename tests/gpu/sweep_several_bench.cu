/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of a grid in slabs: sweep_gpu bench several N STEPS [DEVICES [DEEP]]. The 5-point average of N x N, f32,
 * edges held, the norm of each 100th step, by 1 .. DEVICES devices (2); steps on an exchange DEEP (as many as one
 * device does in a pass) and 1; overlapped, and apart, whose difference is what overlapping hides.
 */
#include "sweep_several.h"

#include <chrono>

enum { NORM_EACH = 100 };

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* steps(count, change): as many. Seconds. */
template <class F> static double time_of(int64_t all, F steps)
{
    lacis_sweep_change change = {};
    steps(NORM_EACH, &change);
    const double begin = now();
    for (int64_t left = all; left > 0; left -= NORM_EACH)
        if (steps(left < NORM_EACH ? left : NORM_EACH, &change) != LACIS_SWEEP_OK) printf("steps failed\n");
    return now() - begin;
}

static void one_device(const sweep_case &c, int64_t steps, int levels)
{
    sweep_device d;
    sweep_begin(&d, c, nullptr, nullptr, 0);
    d.start.start.levels = levels;
    if (sweep_make(&d) != LACIS_SWEEP_OK) return;
    const double seconds = time_of(
        steps, [&](int64_t n, lacis_sweep_change *change) { return lacis_sweep_gpu_steps(d.system, n, change); });
    printf("%-28s %9.4f s %8.1f GCells/s\n", levels == 1 ? "one device, step by step" : "one device, in passes",
           seconds, 1e-9 * (double)c.cells() * (double)steps / seconds);
}

static void several(const sweep_case &c, int64_t steps, int devices, int deep, bool apart)
{
    sweep_slabs s;
    char why[200];
    if (!slabs_begin(&s, c, devices, deep, apart, why, sizeof why)) {
        printf("%s\n", why);
        return;
    }
    for (int k = 0; k < devices; k++)
        s.start.part[k].start.levels = deep == 1 ? 1 : 0;
    if (slabs_make(&s) != LACIS_SWEEP_OK) return;
    const double seconds = time_of(
        steps, [&](int64_t n, lacis_sweep_change *change) { return lacis_sweep_gpus_steps(s.systems, n, change); });
    printf("%d devices, %2d deep, %-10s %9.4f s %8.1f GCells/s, %.3g MB between devices\n", devices, deep,
           apart ? "apart" : "overlapped", seconds, 1e-9 * (double)c.cells() * (double)steps / seconds,
           1e-6 * lacis_sweep_gpus_copied(s.systems));
}

static int bench(int argc, char **argv)
{
    if (argc < 2) return 2;
    const int64_t n = atoll(argv[0]), steps = atoll(argv[1]);
    const int devices = argc > 2 ? atoi(argv[2]) : 2;
    sweep_case c;
    u64 state = 1;
    sweep_shape(&c, LACIS_SWEEP_F32, 2, n, n, 1, 1, 0);
    sweep_fill(&c, &state);
    sweep_group(&c, 0, 0.25, {0, -1, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 1, 0});
    sweep_edge(&c, LACIS_SWEEP_HOLD, &state);
    c.start.levels = 0;
    sweep_settle(&c);
    const int levels = lacis_sweep_gpu_levels(&c.start), deep = argc > 3 ? atoi(argv[3]) : levels;
    one_device(c, steps, 1);
    if (levels > 1) one_device(c, steps, 0);
    for (int many = 2; many <= devices; many *= 2)
        for (int way = 0; way < (deep > 1 ? 4 : 2); way++)
            several(c, steps, many, way < 2 ? 1 : deep, way % 2 == 0);
    return 0;
}
static sweep_bench registered("several", bench);
