/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of written CON, AGG and HAVING beside built-in ones, for multiply_gpu.cu. Only with WITH_NVRTC.
 */
#include "multiply_rings.h"

#ifdef WITH_NVRTC

#include <algorithm>

static double run_once(lacis_mul_gpu_job &job, int64_t rows, lacis_mul_gpu_output &out)
{
    cudaEvent_t x, y;
    float ms = 0;
    CUDA(cudaEventCreate(&x));
    CUDA(cudaEventCreate(&y));
    CUDA(cudaEventRecord(x, stream));
    const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, rows, &out);
    CUDA(cudaEventRecord(y, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaEventElapsedTime(&ms, x, y));
    CUDA(cudaEventDestroy(x));
    CUDA(cudaEventDestroy(y));
    if (status != LACIS_MUL_GPU_OK) {
        printf("status %d %s\n", status, cudaGetErrorString((cudaError_t)out.cuda_error));
        exit(1);
    }
    if (out.column) device_free(nullptr, out.column);
    if (out.value) device_free(nullptr, out.value);
    return ms;
}

static double time_job(const char *graph, const char *name, lacis_mul_gpu_job job, int64_t rows, double compiled)
{
    std::vector<double> ms;
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, rows * 8));
    CUDA(cudaMalloc(&out.end, rows * 8));
    for (int i = 0; i < 12; i++) {
        const double t = run_once(job, rows, out);
        if (i >= 3) ms.push_back(t);
    }
    job.timed = true;
    run_once(job, rows, out);
    std::sort(ms.begin(), ms.end());
    printf("%-10s %-20s %8.3f ms, NVRTC %4.0f ms |", graph, name, ms[ms.size() / 2], 1e3 * compiled);
    for (int c = 1; c < LACIS_MUL_GPU_CLASSES; c++)
        if (out.class_rows[c]) printf(" %s %.3f", lacis_mul_gpu_class_name[c], out.class_seconds[c] * 1e3);
    printf("\n");
    fflush(stdout);
    cudaFree(out.begin), cudaFree(out.end);
    return ms[ms.size() / 2];
}

void bench_written(const char *name)
{
    matrix a = make_graph(name);
    u64 state = 7;
    whole_values(a, &state);
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    lacis_mul_gpu_job job = make_job(da, da);
    job.con_kind = LACIS_MUL_CON_ADD;
    job.storage = LACIS_MUL_TO_F32;
    static const char *const aggs[] = {"count", "sum", "min", "max", "first", "last", "avg"};
    double base = 0;
    for (lacis_mul_agg agg : {LACIS_MUL_MIN, LACIS_MUL_SUM, LACIS_MUL_LAST, LACIS_MUL_AVG}) {
        job.agg = agg;
        job.storage = agg == LACIS_MUL_AVG ? LACIS_MUL_TO_F64 : LACIS_MUL_TO_F32;
        job.ordered = agg == LACIS_MUL_SUM;
        const double ms = time_job(name, (std::string("built in ") + aggs[agg]).c_str(), job, a.rows, 0);
        if (agg == LACIS_MUL_MIN) base = ms;
    }
    for (int k = 0; k < ring_count; k++) {
        const ring &r = rings[k];
        lacis_mul_gpu_job own = ring_job(r, da, da);
        compiling of;
        lacis_mul_gpu_written written = {{}, compile_ring, &of};
        if (r.listed) continue;
        prepare_ring(r, own, of);
        own.written = &written;
        lacis_mul_gpu_output out = {};
        CUDA(cudaMalloc(&out.begin, a.rows * 8));
        CUDA(cudaMalloc(&out.end, a.rows * 8));
        run_once(own, a.rows, out);
        cudaFree(out.begin), cudaFree(out.end);
        const double ms = time_job(name, r.name, own, a.rows, of.seconds);
        printf("    %.3f of the built-in min\n", ms / base);
    }
    free_matrix(da);
}

#endif
