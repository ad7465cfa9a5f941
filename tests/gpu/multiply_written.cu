/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON, AGG and HAVING for multiply_gpu.cu, in every class that can take a row, against the products written
 * out. check_written only with WITH_NVRTC.
 */
#include "multiply_rings.h"

#include <algorithm>
#include <cstring>
#include <map>

static double as_double(const char *value, lacis_mul_storage storage)
{
    switch (storage) {
    case LACIS_MUL_TO_U32:
        return *(const uint32_t *)value;
    case LACIS_MUL_TO_I32:
        return *(const int32_t *)value;
    case LACIS_MUL_TO_I64:
        return (double)*(const int64_t *)value;
    case LACIS_MUL_TO_F32:
        return *(const float *)value;
    default:
        return *(const double *)value;
    }
}

static int bytes_of(lacis_mul_storage storage)
{
    return storage == LACIS_MUL_TO_C128 ? 16 : storage_bytes(storage);
}

typedef std::map<uint32_t, pair> row_values;

static row_values expected_row(const ring &r, const matrix &a, const matrix &b, const matrix *mask, int64_t row)
{
    row_values out;
    for (int64_t i = a.begin[row]; i < a.end[row]; i++) {
        const uint32_t c = a.column[i];
        for (int64_t j = b.begin[c]; j < b.end[c]; j++) {
            const uint32_t t = b.column[j];
            const pair v = r.con(((const float *)a.value.data())[i], ((const float *)b.value.data())[j], row, c, t);
            const auto at = out.emplace(t, r.start).first;
            at->second = r.fold(at->second, v);
        }
    }
    for (auto at = out.begin(); at != out.end();) {
        if (r.agg == LACIS_MUL_AVG) at->second = {at->second.x / at->second.y, 1};
        const uint32_t *column = mask ? mask->column.data() : nullptr;
        const bool masked =
            !mask || std::binary_search(column + mask->begin[row], column + mask->end[row], at->first);
        at = masked && (!r.keeps || r.keeps(at->second, row, at->first)) ? std::next(at) : out.erase(at);
    }
    return out;
}

/* Compares all rows; says the first that differs. */
static bool compare(const ring &r, const lacis_mul_gpu_job &job, const matrix &a, const matrix &b, const matrix *mask,
                    const lacis_mul_gpu_output &out, const int64_t *begin, const int64_t *end)
{
    const int bytes = bytes_of(job.storage);
    CUDA(cudaStreamSynchronize(stream));
    std::vector<int64_t> lo(a.rows), hi(a.rows);
    columns column(out.room);
    std::vector<char> value(out.room * bytes);
    CUDA(cudaMemcpy(lo.data(), begin, a.rows * 8, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(hi.data(), end, a.rows * 8, cudaMemcpyDeviceToHost));
    if (out.column) CUDA(cudaMemcpy(column.data(), out.column, out.room * 4, cudaMemcpyDeviceToHost));
    if (out.value) CUDA(cudaMemcpy(value.data(), out.value, out.room * bytes, cudaMemcpyDeviceToHost));
    u64 entries = 0;
    for (int64_t row = 0; row < a.rows; row++) {
        const row_values want = expected_row(r, a, b, mask, row);
        int64_t at = lo[row];
        entries += want.size();
        bool good = hi[row] - lo[row] == (int64_t)want.size();
        for (auto w = want.begin(); good && w != want.end(); ++w, at++) {
            const char *v = value.data() + at * bytes;
            good = column[at] == w->first && as_double(v, job.storage) == w->second.x &&
                   (bytes < 16 || ((const double *)v)[1] == w->second.y);
            if (!good)
                printf("%s force %s: row %lld column %u: %g %g, expected column %u: %g %g\n", r.name,
                       lacis_mul_gpu_class_name[job.force], (long long)row, column[at], as_double(v, job.storage),
                       bytes < 16 ? 0 : ((const double *)v)[1], w->first, w->second.x, w->second.y);
        }
        if (hi[row] - lo[row] != (int64_t)want.size())
            printf("%s force %s: row %lld has %lld entries, expected %zu\n", r.name,
                   lacis_mul_gpu_class_name[job.force], (long long)row, (long long)(hi[row] - lo[row]), want.size());
        if (!good) return false;
    }
    return entries == out.entries;
}

/* Kernels that are not there yet are compiled for the first shape that needs them: without MASK, and with one. */
void check_ring(const ring &r, const matrix &a, const matrix &b, const matrix &mask, lacis_mul_gpu_written *written)
{
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32), db = to_device(b, LACIS_MUL_F32),
                     dm = to_device(mask, LACIS_MUL_F32);
    std::vector<int64_t> label(std::max(std::max(a.rows, b.rows), b.cols));
    for (size_t i = 0; i < label.size(); i++)
        label[i] = 5 * (int64_t)i + 3;
    int64_t *device_label = upload(label), *begin, *end;
    CUDA(cudaMalloc(&begin, a.rows * 8));
    CUDA(cudaMalloc(&end, a.rows * 8));
    lacis_mul_gpu_job job = ring_job(r, da, db);
    for (int i = 0; i < 3 && r.listed; i++)
        job.label[i] = device_label;
    for (int masked = 0; masked < 2; masked++) {
        job.mask = masked ? &dm : nullptr;
        job.written = written + masked;
#ifdef WITH_NVRTC
        if (job.written->compile) prepare_ring(r, job, *(compiling *)job.written->context);
#endif
        for (lacis_mul_gpu_class force : {LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_TINY, LACIS_MUL_GPU_MIDDLE,
                                          LACIS_MUL_GPU_DENSE, LACIS_MUL_GPU_SMALL, LACIS_MUL_GPU_CLASSES}) {
            lacis_mul_gpu_output out = {};
            out.begin = begin;
            out.end = end;
            const bool hashed = force == LACIS_MUL_GPU_CLASSES; /* SMALL once more, the other way */
            job.force = hashed ? LACIS_MUL_GPU_SMALL : force;
            job.small = hashed ? LACIS_MUL_GPU_HASH : LACIS_MUL_GPU_BITMAP;
            const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out);
            if (status != LACIS_MUL_GPU_OK)
                printf("%s: status %d %s\n", r.name, status, cudaGetErrorString((cudaError_t)out.cuda_error));
            expect(status == LACIS_MUL_GPU_OK && compare(r, job, a, b, masked ? &mask : nullptr, out, begin, end));
            if (out.column) device_free(nullptr, out.column);
            if (out.value) device_free(nullptr, out.value);
            expect(live == 0);
        }
    }
    cudaFree(begin), cudaFree(end), cudaFree(device_label);
    free_matrix(da), free_matrix(db), free_matrix(dm);
}

void check_inside(u64 seed, int64_t rows, int64_t cols)
{
    u64 state = seed;
    for (int flat = 0; flat < 2; flat++) {
        matrix a = flat ? short_rows(&state, rows, 70, 0, 8, 0) : make_shape(&state, 1, rows, 70, 12 * rows);
        matrix b = flat ? short_rows(&state, 70, cols, 5, 8, 0) : make_shape(&state, 0, 70, cols, 6 * cols);
        const matrix mask = make_shape(&state, 0, rows, cols, 8 * rows);
        whole_values(a, &state);
        whole_values(b, &state);
        check_inside_f32(a, b, mask);
        check_inside_c128(a, b, mask);
    }
}

#ifdef WITH_NVRTC

void check_written(u64 seed, const char *only)
{
    /* The third through windows of bitmaps; in the fourth rows are FLAT. */
    static const int64_t cols[] = {900, 5000, 300000, 300};
    enum { FLAT = 3, SHAPES };
    u64 state = seed;
    matrix a[SHAPES], b[SHAPES], mask[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
        a[i] =
            i == FLAT ? short_rows(&state, 400, 700, 1, 8, 30) : make_shape(&state, i == 2 ? 2 : 1, 400, 700, 8000);
        b[i] = i == FLAT ? short_rows(&state, 700, cols[i], 5, 8, 0)
                         : make_shape(&state, i == 0 ? 1 : 0, 700, cols[i], 30000);
        mask[i] = make_shape(&state, 0, 400, cols[i], 40000);
        whole_values(a[i], &state);
        whole_values(b[i], &state);
    }
    for (int k = 0; k < ring_count; k++) {
        const ring &r = rings[k];
        if (only && !strstr(r.name, only)) continue;
        compiling of[2];
        lacis_mul_gpu_written written[2] = {{{}, compile_ring, &of[0]}, {{}, compile_ring, &of[1]}};
        for (int i = 0; i < SHAPES; i++)
            check_ring(r, a[i], b[i], mask[i], written);
    }
}

#endif
