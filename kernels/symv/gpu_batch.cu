/* SPDX-License-Identifier: Apache-2.0
 *
 * BATCH's host side: classes of sizes, each a launch over all matrices that leaves out those of other classes.
 */
#include "symv/gpu_batch.h"
#include "symv/gpu_dispatch.cuh"

namespace
{

/* Sizes of a class: up to so many rows; the last is what a block takes. Where lanes work on a matrix the class
 * decides how many, else how much shared memory: neither changes the order of sums. */
const int classes[] = {8, SYMV_BATCH_LANES, 128, 256, 512};
enum { CLASSES = sizeof classes / sizeof *classes };

bool double_double(lacis_symv_type type)
{
    return type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD || type == LACIS_SYMV_F32_DD || type == LACIS_SYMV_F64_DD;
}

int64_t rows_of(const lacis_symv_job *job, int64_t m)
{
    return job->one != nullptr ? job->one[m].n : job->n;
}

/* Which classes have a matrix: a bit each. */
unsigned classes_of(const lacis_symv_job *job)
{
    unsigned bits = 0;
    for (int64_t m = 0; m < job->matrices; m++) {
        const int64_t n = rows_of(job, m);
        for (int c = 0; c < CLASSES && n > 0; c++)
            if (n <= classes[c]) {
                bits |= 1U << c;
                break;
            }
        if (job->one == nullptr) break;
    }
    return bits;
}

/* Whether 16 bytes may be copied at once from all matrices. */
bool aligned(const lacis_symv_job *job)
{
    const int bytes = lacis_symv_matrix_bytes(job->type);
    if ((uintptr_t)job->a % 16 != 0) return false;
    if (bytes % 16 == 0) return true;
    if (job->packed) return false;
    for (int64_t m = 0; job->one != nullptr && m < job->matrices; m++)
        if (job->one[m].ld * bytes % 16 != 0 || job->one[m].a * bytes % 16 != 0) return false;
    return job->one != nullptr ||
           (job->ld * bytes % 16 == 0 && (job->matrices == 1 || job->stride * bytes % 16 == 0));
}

size_t shared_bytes(lacis_symv_type type, int pitch, int sides)
{
    const int bytes = lacis_symv_matrix_bytes(type), tx = 32 * (bytes < 16 ? 16 / bytes : 1),
              columns = bytes > 16 ? 4 : 8;
    const size_t stage = (size_t)((tx * bytes + 16) * columns * SYMV_BATCH_WARPS);
    const size_t vectors = (size_t)((1 + SYMV_BATCH_WARPS) * pitch);
    return SYMV_BATCH_STAGES * stage + vectors * (size_t)sides * (size_t)lacis_symv_vector_bytes(type);
}

symv_batch_launch launch_of(const lacis_symv_gpu_job *g, void *totals)
{
    const lacis_symv_job *job = &g->job;
    symv_batch_launch l = {};
    l.part.grid.n = job->n;
    l.part.grid.upper = job->uplo == LACIS_SYMV_UPPER;
    l.part.a = job->a;
    l.part.ld = job->ld;
    l.part.packed = job->packed;
    l.part.hermitian = job->hermitian && lacis_symv_complex(job->type);
    l.part.x = job->x;
    l.part.x_side = job->x_side;
    l.part.x_step = job->x_step;
    l.part.y0 = job->y0;
    l.part.y = job->y;
    l.part.y_side = job->y_side;
    l.part.y_step = job->y_step;
    for (int i = 0; i < 4; i++) {
        const bool used = lacis_symv_complex(job->type) || i < 2;
        l.part.alpha[i] = used ? job->alpha[i] : 0;
        l.part.beta[i] = used ? job->beta[i] : 0;
    }
    l.part.totals = totals;
    l.part.row = totals != nullptr ? symv_gpu_row(g) : 0;
    l.totals_stride = job->sides * l.part.row;
    l.matrices = job->matrices;
    l.stride = job->stride;
    l.x_stride = job->x_stride;
    l.y_stride = job->y_stride;
    l.aligned = aligned(job);
    l.stream = (cudaStream_t)g->stream;
    return l;
}

/* One class, all sides. */
cudaError_t run_class(symv_batch_launch *l, const lacis_symv_job *job, int c)
{
    const int at_once = double_double(job->type) ? 1 : SYMV_GPU_SIDES;
    l->least = c == 0 ? 0 : classes[c - 1];
    l->most = classes[c];
    l->pitch = classes[c]; /* a multiple of every type's tile, both ways, from 128 on */
    for (l->side = 0; l->side < job->sides; l->side += l->count) {
        l->count = job->sides - l->side < at_once ? (int)(job->sides - l->side) : at_once;
        l->shared = shared_bytes(job->type, l->pitch, l->count > 1 ? SYMV_GPU_SIDES : 1);
        const cudaError_t rc = symv_by_type(job->type, job->accurate,
                                            [&](auto number) { return symv_batch_start<decltype(number)>(l); });
        if (rc != cudaSuccess) return rc;
    }
    return cudaSuccess;
}

} // namespace

const char *symv_gpu_batch_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice)
{
    (void)choice; /* the size of a matrix decides */
    if (job->job.order == LACIS_SYMV_CANONICAL) return "sums of small matrices are not in the canonical order";
    if (job->job.matrices >= INT64_C(1) << 31) return "2^31 matrices or more";
    for (int64_t m = 0; m < job->job.matrices; m++) {
        if (rows_of(&job->job, m) > classes[CLASSES - 1]) return "a matrix is too large for one block";
        if (job->job.one == nullptr) break;
    }
    return nullptr;
}

uint64_t symv_gpu_batch_bytes(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *)
{
    return job->job.one != nullptr ? (uint64_t)job->job.matrices * sizeof *job->job.one : 0;
}

cudaError_t symv_gpu_batch(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *, void *totals, void *work)
{
    symv_batch_launch l = launch_of(job, totals);
    const unsigned which = classes_of(&job->job);
    if (job->job.one != nullptr && job->job.matrices > 0) {
        const cudaError_t rc = cudaMemcpyAsync(work, job->job.one, (size_t)job->job.matrices * sizeof *job->job.one,
                                               cudaMemcpyHostToDevice, l.stream);
        if (rc != cudaSuccess) return rc;
        l.one = (const lacis_symv_one *)work;
    }
    for (int c = 0; c < CLASSES; c++)
        if (which & (1U << c)) {
            const cudaError_t rc = run_class(&l, &job->job, c);
            if (rc != cudaSuccess) return rc;
        }
    return cudaSuccess;
}
