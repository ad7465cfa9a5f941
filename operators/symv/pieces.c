/* SPDX-License-Identifier: Apache-2.0
 *
 * From operands to jobs of the kernels: one for a matrix and all its right sides; of a batch of matrices one for each
 * run of lanes whose elements are as far apart. Called by bind and by those who run jobs.
 */
#include "symv/work.h"

#include <string.h>

/* Kernels see a complex vector by a real matrix as two real ones, whose elements are every other number. */
static int64_t parts(const lacis_symv_work *work)
{
    return work->split ? 2 : 1;
}

static void cut_one(const lacis_symv_work *work, lacis_symv_piece *out)
{
    const lacis_batch_group *group = work->group; /* of all lanes, none where there are no lanes */
    const int64_t lanes = work->x.lanes, two = parts(work);
    *out = (lacis_symv_piece){.matrices = 1, .sides = lanes * two, .side = 1, .step = two};
    if (lanes == 0) return;
    out->place = group->place * two;
    out->step = group->block * two;
    if (lanes > 1 && group->block == 1) out->side = group->rows;
}

/* Lanes [first, first + count) from group g on lie at strides that are all the same. */
static bool is_even(const lacis_symv_work *work, const lacis_batch_group *group, int64_t groups)
{
    if (work->matrix.one != NULL || groups != 1) return false;
    return group->block == 1 || group->block >= group->lanes;
}

static lacis_status list_lanes(lacis_run *run, const lacis_symv_work *work, const lacis_batch_group *group,
                               int64_t groups, lacis_symv_piece *piece)
{
    const lacis_symv_matrix *matrix = &work->matrix;
    const int64_t two = parts(work);
    lacis_symv_one *one;
    LACIS_TRY(lacis_run_scratch(run, sizeof *one * (uint64_t)piece->matrices, &one));
    piece->one = one;
    for (int64_t g = 0; g < groups; g++)
        for (int64_t l = 0; l < group[g].lanes; l++, one++) {
            const int64_t m = group[g].lane + l, place = lacis_batch_place(&group[g], l, 0) * two;
            *one = matrix->one != NULL ? matrix->one[m]
                                       : (lacis_symv_one){.n = matrix->n, .ld = matrix->ld, .a = m * matrix->stride};
            one->x = one->y = place;
        }
    return LACIS_OK;
}

/* Groups from g on that follow each other with one step. */
static int64_t alike_from(const lacis_symv_work *work, int64_t g)
{
    int64_t end = g + 1;
    while (end < work->groups && work->group[end].block == work->group[g].block)
        end++;
    return end;
}

static lacis_status cut_batch(lacis_run *run, lacis_symv_work *work)
{
    const int64_t two = parts(work);
    LACIS_TRY(lacis_run_scratch(run, sizeof *work->piece * (uint64_t)work->groups, &work->piece));
    for (int64_t g = 0, end; g < work->groups; g = end) {
        const lacis_batch_group *group = &work->group[g];
        end = alike_from(work, g);
        lacis_symv_piece *piece = &work->piece[work->pieces++];
        *piece = (lacis_symv_piece){.first = group->lane, .sides = two, .vector = group->lane * two, .side = 1};
        for (int64_t i = g; i < end; i++)
            piece->matrices += work->group[i].lanes;
        piece->step = (group->block > 0 ? group->block : 1) * two;
        if (!is_even(work, group, end - g)) {
            LACIS_TRY(list_lanes(run, work, group, end - g, piece));
            continue;
        }
        piece->place = group->place * two;
        piece->stride = (group->block == 1 ? group->rows : 1) * two;
    }
    return LACIS_OK;
}

lacis_status lacis_symv_cut(lacis_run *run, lacis_symv_work *work)
{
    if (work->matrix.matrices != 1) return cut_batch(run, work);
    LACIS_TRY(lacis_run_scratch(run, sizeof *work->piece, &work->piece));
    work->pieces = 1;
    cut_one(work, work->piece);
    return LACIS_OK;
}

void lacis_symv_job_of(const lacis_symv_work *work, const lacis_symv_piece *piece, lacis_symv_job *out)
{
    const lacis_symv_matrix *matrix = &work->matrix;
    *out = (lacis_symv_job){.type = work->type,
                            .uplo = matrix->uplo,
                            .order = work->order,
                            .hermitian = matrix->hermitian && lacis_symv_complex(work->type),
                            .packed = matrix->packed,
                            .accurate = work->accurate,
                            .matrices = piece->matrices,
                            .n = matrix->n,
                            .ld = matrix->ld,
                            .stride = matrix->stride,
                            .one = piece->one,
                            .sides = piece->sides,
                            .x_stride = piece->stride,
                            .x_side = piece->side,
                            .x_step = piece->step,
                            .y_stride = piece->stride,
                            .y_side = piece->side,
                            .y_step = piece->step,
                            .threads = lacis_symv_threads(work->run, work)};
    memcpy(out->alpha, work->alpha, sizeof out->alpha);
    memcpy(out->beta, work->beta, sizeof out->beta);
}

void lacis_symv_point(const lacis_symv_work *work, const lacis_symv_piece *piece, const void *a, const void *x,
                      const void *y0, void *y, lacis_symv_figures *figures, lacis_symv_job *job)
{
    const int64_t size = lacis_symv_vector_bytes(work->type), place = piece->one == NULL ? piece->place * size : 0;
    const int64_t matrix =
        piece->one == NULL ? piece->first * work->matrix.stride * lacis_symv_matrix_bytes(work->type) : 0;
    job->a = (const char *)a + matrix;
    job->x = (const char *)x + place;
    job->y0 = y0 == NULL ? NULL : (const char *)y0 + place;
    job->y = y == NULL ? NULL : (char *)y + place;
    job->figures = figures == NULL ? NULL : figures + piece->vector;
}
