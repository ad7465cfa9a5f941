/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs of multiply_gpu.cu on the device: memory that counts and may fail, operands sent, one job run and compared.
 */
#include "multiply_support.h"

#include <cmath>
#include <cstring>

cudaStream_t stream, side[2];
void *pinned;
int64_t live;
int64_t fail_at = -1, allocs;
int failures, cases;
unsigned only_types;

void *device_alloc(void *, uint64_t bytes)
{
    void *block = nullptr;
    if (allocs++ == fail_at) return nullptr;
    if (cudaMallocAsync(&block, bytes, stream) != cudaSuccess) {
        cudaGetLastError();
        return nullptr;
    }
    live++;
    return block;
}

void device_free(void *, void *block)
{
    live--;
    CUDA(cudaFreeAsync(block, stream));
}

lacis_mul_matrix to_device(const matrix &m, lacis_mul_type type)
{
    lacis_mul_matrix d = {m.rows, m.cols, upload(m.begin), upload(m.end), upload(m.column), nullptr, type};
    if (m.valued) d.value = upload(m.value);
    return d;
}

void free_matrix(lacis_mul_matrix &d)
{
    cudaFree((void *)d.begin), cudaFree((void *)d.end), cudaFree((void *)d.column), cudaFree((void *)d.value);
}

lacis_mul_gpu_job make_job(const lacis_mul_matrix &a, const lacis_mul_matrix &b)
{
    lacis_mul_gpu_job job = {};
    job.a = a;
    job.b = b;
    job.type = a.type;
    job.t_hi = b.cols;
    job.stream = stream;
    job.side[0] = side[0];
    job.side[1] = side[1];
    job.pinned = pinned;
    job.memory.alloc = device_alloc;
    job.memory.free = device_free;
    return job;
}

int storage_bytes(lacis_mul_storage s)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[s];
}

lacis_mul_storage storage_of(lacis_mul_type t)
{
    return (lacis_mul_storage)(LACIS_MUL_TO_I32 + (int)t);
}

/* Whether n values are the same; NaN equals NaN, -0 equals 0, floats may differ by `slack` relative. */
static bool same_values(const char *x, const char *y, size_t n, lacis_mul_storage storage)
{
    const int bytes = storage_bytes(storage);
    if (memcmp(x, y, n * bytes) == 0) return true;
    if (storage != LACIS_MUL_TO_F32 && storage != LACIS_MUL_TO_F64) return false;
    for (size_t i = 0; i < n; i++) {
        const double p = bytes == 4 ? ((const float *)x)[i] : ((const double *)x)[i];
        const double q = bytes == 4 ? ((const float *)y)[i] : ((const double *)y)[i];
        if (!(p == q || (p != p && q != q))) return false;
    }
    return true;
}

static void describe(const lacis_mul_gpu_job &job)
{
    static const char *const cons[] = {"one", "a", "b", "a+b", "a*b"};
    static const char *const aggs[] = {"count", "sum", "min", "max", "first", "last", "avg"};
    static const char *const types[] = {"i32", "i64", "f32", "f64"};
    printf("  top %lld mask %d%d", (long long)job.top, job.mask != nullptr, job.mask_not);
    printf("  %s %s %s storage %d force %s ordered %d compact %d t [%lld, %lld) %lldx%lldx%lld\n", types[job.type],
           cons[job.con_kind], aggs[job.agg], job.storage, lacis_mul_gpu_class_name[job.force], job.ordered,
           job.compact, (long long)job.t_lo, (long long)job.t_hi, (long long)job.a.rows, (long long)job.b.rows,
           (long long)job.b.cols);
}

bool check_job(const matrix &a, const matrix &b, lacis_mul_gpu_job job, const std::vector<int64_t> &rows,
               int64_t first, int64_t count, const std::vector<int64_t> *compare)
{
    int64_t *begin, *end, *list = nullptr;
    CUDA(cudaMalloc(&begin, (a.rows + 1) * 8));
    CUDA(cudaMalloc(&end, (a.rows + 1) * 8));
    CUDA(cudaMemset(begin, 0xee, (a.rows + 1) * 8));
    CUDA(cudaMemset(end, 0xee, (a.rows + 1) * 8));
    if (!rows.empty()) {
        list = upload(rows);
        count = (int64_t)rows.size();
        first = 0;
    }
    lacis_mul_gpu_output out = {};
    out.begin = begin;
    out.end = end;
    const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, list, first, count, &out);
    bool good = status == LACIS_MUL_GPU_OK;
    if (!good) printf("status %d cuda %s\n", status, cudaGetErrorString((cudaError_t)out.cuda_error));
    std::vector<int64_t> hb(a.rows), he(a.rows), want;
    columns hc(compare ? 0 : out.room);
    const int bytes = storage_bytes(job.storage);
    std::vector<char> hv;
    if (good) {
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(hb.data(), begin, a.rows * 8, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(he.data(), end, a.rows * 8, cudaMemcpyDeviceToHost));
        if (!compare) {
            hv.resize(out.room * bytes);
            if (out.column) CUDA(cudaMemcpy(hc.data(), out.column, out.room * 4, cudaMemcpyDeviceToHost));
            if (out.value) CUDA(cudaMemcpy(hv.data(), out.value, out.room * bytes, cudaMemcpyDeviceToHost));
        }
        if (compare)
            want = *compare;
        else if (!rows.empty())
            want = rows;
        else
            for (int64_t r = first; r < first + count; r++)
                want.push_back(r);
        std::vector<result> ref;
        reference_rows(a, b, job, want, ref);
        u64 entries = 0;
        int64_t previous = 0;
        int complaints = 0;
        for (size_t i = 0; i < want.size() && complaints < 3; i++) {
            const int64_t r = want[i];
            const result &x = ref[i];
            const size_t n = x.column.size();
            entries += n;
            columns rc;
            std::vector<char> rv;
            const uint32_t *gc = hc.data() + hb[r];
            const char *gv = hv.data() + hb[r] * bytes;
            bool ok = he[r] - hb[r] == (int64_t)n && hb[r] >= 0 && he[r] <= (int64_t)out.room;
            if (ok && compare && n) {
                rc.resize(n);
                rv.resize(n * bytes);
                CUDA(cudaMemcpy(rc.data(), out.column + hb[r], n * 4, cudaMemcpyDeviceToHost));
                CUDA(cudaMemcpy(rv.data(), (char *)out.value + hb[r] * bytes, n * bytes, cudaMemcpyDeviceToHost));
                gc = rc.data();
                gv = rv.data();
            }
            if (ok && (job.compact || job.mask || job.top > 0) && !compare) ok = hb[r] == previous;
            previous = he[r];
            if (ok) ok = memcmp(gc, x.column.data(), n * 4) == 0 && same_values(gv, x.value.data(), n, job.storage);
            if (!ok) {
                complaints++;
                printf("row %lld: %lld entries at %lld, expected %zu\n", (long long)r, (long long)(he[r] - hb[r]),
                       (long long)hb[r], n);
                for (size_t k = 0, shown = 0; he[r] - hb[r] == (int64_t)n && k < n && shown < 3; k++)
                    if (gc[k] != x.column[k] ||
                        !same_values(gv + k * bytes, x.value.data() + k * bytes, 1, job.storage)) {
                        shown++;
                        u64 g = 0, w = 0;
                        memcpy(&g, gv + k * bytes, bytes), memcpy(&w, x.value.data() + k * bytes, bytes);
                        printf("    entry %zu: column %u value %llx, expected %u %llx\n", k, gc[k], (long long)g,
                               x.column[k], (long long)w);
                    }
                good = false;
            }
        }
        if (!compare && entries != out.entries) {
            printf("entries %llu, expected %llu\n", (long long)out.entries, (long long)entries);
            good = false;
        }
    }
    if (!good) describe(job);
    if (out.column) device_free(nullptr, out.column);
    if (out.value) device_free(nullptr, out.value);
    cudaFree(begin), cudaFree(end), cudaFree(list);
    if (live != 0) {
        printf("%lld blocks were not freed\n", (long long)live);
        live = 0;
        good = false;
    }
    return good;
}

void expect(bool good)
{
    cases++;
    if (!good) failures++;
    if (failures > 20) {
        printf("too many failures\n");
        exit(1);
    }
}
