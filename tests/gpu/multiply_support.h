/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of multiply_gpu.cu share. Further cases: a file multiply_NAME.cu, its functions declared here and
 * called by main.
 */
#ifndef LACIS_TESTS_GPU_MULTIPLY_SUPPORT_H
#define LACIS_TESTS_GPU_MULTIPLY_SUPPORT_H

#include "multiply/gpu.h"
#include "support.h"

typedef std::vector<uint32_t> columns;

/* --- multiply_graphs.cu ------------------------------------------------------------------------------ */

struct matrix {
    int64_t rows = 0, cols = 0;
    std::vector<int64_t> begin, end;
    columns column;
    std::vector<char> value; /* of `type` */
    bool valued = false;
};

matrix make_graph(const char *name); /* rmat:S (labels permuted), rmat-raw:S, uniform:S, star:N, hub:N, dense:N */
u64 max_degree(const matrix &m);

/* Shapes for checks: 0 uniform, 1 power law, 2 one hub row and column, 3 all dense, 4 many empty rows. */
matrix make_shape(u64 *state, int shape, int64_t rows, int64_t cols, int64_t entries);
matrix from_keys(std::vector<u64> &key, int64_t rows, int64_t cols); /* row << 32 | column, sorted here */
int type_bytes(lacis_mul_type t);

/* Small integers, or any values (`wild`, with some NaN and zeros among floats). */
void add_values(matrix &m, lacis_mul_type type, u64 *state, bool wild);

/* --- multiply_reference.cu --------------------------------------------------------------------------- */

struct result {
    columns column;
    std::vector<char> value;
};

extern const matrix *mask_matrix; /* on the host, what job.mask is on the device */
void reference_rows(const matrix &a, const matrix &b, const lacis_mul_gpu_job &job, const std::vector<int64_t> &rows,
                    std::vector<result> &out);

/* --- multiply_device.cu ------------------------------------------------------------------------------ */

extern cudaStream_t side[2];
extern void *pinned;
extern int64_t live;            /* blocks that jobs hold */
extern int64_t fail_at, allocs; /* which allocation fails; allocations so far */
extern int cases;
void *device_alloc(void *, uint64_t bytes);
void device_free(void *, void *block);

template <class T> T *upload(const std::vector<T> &v)
{
    T *to;
    CUDA(cudaMalloc(&to, v.size() * sizeof(T) + 64));
    CUDA(cudaMemcpy(to, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    CUDA(cudaStreamSynchronize(nullptr)); /* the last few kilobytes may be on their way still, beside our stream */
    return to;
}

lacis_mul_matrix to_device(const matrix &m, lacis_mul_type type);
void free_matrix(lacis_mul_matrix &d);
lacis_mul_gpu_job make_job(const lacis_mul_matrix &a, const lacis_mul_matrix &b);
int storage_bytes(lacis_mul_storage s);
lacis_mul_storage storage_of(lacis_mul_type t);

/* Runs a job and compares the listed rows (all where the list is empty), or only those of `compare`. */
bool check_job(const matrix &a, const matrix &b, lacis_mul_gpu_job job, const std::vector<int64_t> &rows,
               int64_t first, int64_t count, const std::vector<int64_t> *compare = nullptr);
void expect(bool good); /* counts cases and failures */

/* --- multiply_cases.cu, multiply_bench.cu ------------------------------------------------------------- */

/* Bits of the types that are checked; 0: all. */
extern unsigned only_types;
static inline bool wanted(int type)
{
    return only_types == 0 || (only_types >> type & 1) != 0;
}
/* HAVING that compares. */
void random_having(lacis_mul_gpu_job &job, u64 *state);
/* All operators of one pair of shapes and one type. */
void check_pair(matrix a, matrix b, lacis_mul_type type, u64 *state, bool brief);
void check_random(u64 seed, int rounds, int64_t most);
void check_wide(u64 seed);
void check_faults();
void check_overflow();
void check_heavy();                                                  /* multiply_heavy.cu */
void check_tops(u64 seed, int64_t rows, int64_t cols);               /* multiply_tops.cu */
void check_masks(u64 seed, int64_t rows, int64_t cols, bool brief);  /* multiply_masks.cu */
void check_having(u64 seed, int64_t rows, int64_t cols, bool brief); /* multiply_having.cu */
void check_small(u64 seed, bool brief);                              /* multiply_small.cu */
void check_room(u64 seed, bool brief);                               /* multiply_room.cu */
void check_parts(u64 seed, bool brief);                              /* multiply_parts.cu */
void bench(const char *name, int repeats);
void bench_cusparse(const char *name); /* only with WITH_CUSPARSE */

void check_inside(u64 seed, int64_t rows, int64_t cols); /* multiply_written.cu */

/* --- multiply_written.cu, multiply_written_bench.cu, only with WITH_NVRTC
 * -------------------------------------------------------- */

void check_written(u64 seed, const char *only); /* NULL: all; else names that have it */
void bench_written(const char *name);

/* --- multiply_few.cu --------------------------------------------------------------------------------- */

/* Rows of `least` to `most` entries, some of them empty, and one of `hub` entries. */
matrix short_rows(u64 *state, int64_t rows, int64_t cols, int least, int most, int64_t hub);
void check_flat(u64 seed, int rounds, int64_t rows); /* about so many rows */
void check_few(u64 seed, int types, int64_t n);      /* of n rows, at least 2100 */
void bench_one(const char *name);
void run_graph(const char *name, int repeats);

#endif
