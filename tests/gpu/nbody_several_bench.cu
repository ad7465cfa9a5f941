/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of whole steps on several devices: nbody_gpu bench several N STEPS [DEVICES [ALPHA]]. A Plummer sphere, f32,
 * quadrupoles, RELATIVE, by 1 .. DEVICES devices (2), with the certificate of the last field.
 */
#include "nbody_several.h"

#include <chrono>

static double time_of(lacis_nbody_gpus *systems, const Devices &d, int64_t steps)
{
    const auto wait = [&] {
        for (int k = 0; k < d.many; k++)
            CUDA(cudaStreamSynchronize(d.streams[k]));
    };
    wait();
    const auto begin = std::chrono::steady_clock::now();
    const lacis_nbody_status status = lacis_nbody_gpus_steps(systems, steps, 1e-3, false);
    wait();
    if (status != LACIS_NBODY_OK) printf("steps: status %d, CUDA %d\n", status, lacis_nbody_gpus_error_code(systems));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / (double)steps;
}

static lacis_nbody_gpus *make(const Devices &d)
{
    lacis_nbody_gpus *systems = nullptr;
    int error = 0;
    if (lacis_nbody_gpus_new(d.starts, d.device, d.many, &systems, &error) != LACIS_NBODY_OK)
        printf("%d devices: no system, CUDA %d\n", d.many, error);
    return systems;
}

static int bench(int argc, char **argv)
{
    if (argc < 2) return 2;
    const int64_t n = atoll(argv[0]), steps = atoll(argv[1]);
    const int most = argc > 2 ? atoi(argv[2]) : 2;
    const nbody_set set = nbody_plummer(n, 1);
    lacis_nbody_rule rule = nbody_rule(LACIS_NBODY_TREE, LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_RELATIVE);
    rule.theta = 1;
    rule.alpha = argc > 3 ? atof(argv[3]) : 1.2e-2;
    rule.expand = -1;
    double alone = 0;
    for (int many = 1; many <= most; many *= 2) {
        Devices d(many, set, LACIS_NBODY_F32, rule);
        lacis_nbody_errors errors = {};
        lacis_nbody_counts counts = {};
        lacis_nbody_gpus *systems = make(d);
        if (systems == nullptr) continue;
        time_of(systems, d, 3);
        const double seconds = time_of(systems, d, steps);
        if (many == 1) alone = seconds;
        lacis_nbody_gpu *whole = lacis_nbody_gpus_whole(systems, false);
        if (whole == nullptr || lacis_nbody_gpu_certify(whole, 2000, &errors) != LACIS_NBODY_OK)
            printf("no certificate\n");
        lacis_nbody_gpus_free(systems);
        d.starts[0].timed = true;
        systems = make(d);
        if (systems == nullptr) continue;
        time_of(systems, d, 3);
        lacis_nbody_gpus_counted(systems, &counts, true);
        time_of(systems, d, steps);
        lacis_nbody_gpus_counted(systems, &counts, true);
        lacis_nbody_gpus_free(systems);
        const double each = 1e3 / (double)counts.evaluations;
        printf("n %lld, %d devices (%d .. %d): %.2f ms a step, %.2f times one (timed: %.2f moving, %.2f tree, %.2f "
               "forces); error %.2e %.2e %.2e %.2e\n",
               (long long)n, many, d.device[0], d.device[many - 1], 1e3 * seconds, alone / seconds,
               each * counts.move_seconds, each * counts.build_seconds, each * counts.force_seconds,
               errors.relative[0], errors.relative[1], errors.relative[2], errors.relative[3]);
    }
    return 0;
}

static nbody_bench registered("several", bench);
