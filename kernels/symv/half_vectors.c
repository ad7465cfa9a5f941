/* SPDX-License-Identifier: Apache-2.0
 *
 * x and y of a sparse symmetric product on the CPU: packed before it, written from the sums behind it.
 */
#include "symv/half_cpu.h"

#include "common/parallel.h"

#define VECTORS(R, NAME)                                                                                             \
    static void pack_##NAME(const lacis_symv_job *job, int64_t side, R *to)                                          \
    {                                                                                                                \
        const R *from = (const R *)job->x + side * job->x_side;                                                      \
        for (int64_t i = 0; i < job->n; i++)                                                                         \
            to[i] = from[i * job->x_step];                                                                           \
    }                                                                                                                \
    static void put_##NAME(const lacis_symv_job *job, int64_t side, int64_t from, int64_t to, const R *sum)          \
    {                                                                                                                \
        const R alpha = (R)job->alpha[0], beta = (R)job->beta[0];                                                    \
        const R *y0 = job->beta[0] != 0 ? (const R *)job->y0 + side * job->y_side : NULL;                            \
        R *y = (R *)job->y + side * job->y_side;                                                                     \
        for (int64_t i = from; i < to; i++) {                                                                        \
            const R out = alpha * sum[i];                                                                            \
            y[i * job->y_step] = y0 != NULL ? out + beta * y0[i * job->y_step] : out;                                \
        }                                                                                                            \
    }                                                                                                                \
    static void pack_complex_##NAME(const lacis_symv_job *job, int64_t side, R *to)                                  \
    {                                                                                                                \
        const R *from = (const R *)job->x + 2 * side * job->x_side;                                                  \
        for (int64_t i = 0; i < job->n; i++) {                                                                       \
            to[2 * i] = from[2 * i * job->x_step];                                                                   \
            to[2 * i + 1] = from[2 * i * job->x_step + 1];                                                           \
        }                                                                                                            \
    }                                                                                                                \
    static void put_complex_##NAME(const lacis_symv_job *job, int64_t side, int64_t from, int64_t to, const R *sum)  \
    {                                                                                                                \
        const R ar = (R)job->alpha[0], ai = (R)job->alpha[2], br = (R)job->beta[0], bi = (R)job->beta[2];            \
        const bool add = br != 0 || bi != 0;                                                                         \
        for (int64_t i = from; i < to; i++) {                                                                        \
            const int64_t at = 2 * (side * job->y_side + i * job->y_step);                                           \
            R re = sum[2 * i], im = sum[2 * i + 1];                                                                  \
            if (ar != 1 || ai != 0) {                                                                                \
                const R old = re;                                                                                    \
                re = ar * old - ai * im;                                                                             \
                im = ar * im + ai * old;                                                                             \
            }                                                                                                        \
            if (add) {                                                                                               \
                const R yr = ((const R *)job->y0)[at], yi = ((const R *)job->y0)[at + 1];                            \
                re += br * yr - bi * yi;                                                                             \
                im += br * yi + bi * yr;                                                                             \
            }                                                                                                        \
            ((R *)job->y)[at] = re;                                                                                  \
            ((R *)job->y)[at + 1] = im;                                                                              \
        }                                                                                                            \
    }
VECTORS(float, f32)
VECTORS(double, f64)

void lacis_half_pack(const half_run *run, int64_t side)
{
    const lacis_symv_job *job = &run->half->job;
    const bool complex = lacis_symv_complex(job->type);
    if (half_single(job->type))
        (complex ? pack_complex_f32 : pack_f32)(job, side, (float *)run->packed);
    else
        (complex ? pack_complex_f64 : pack_f64)(job, side, (double *)run->packed);
}

struct put {
    const half_run *run;
    int64_t side;
};

static int put_block(void *context, int64_t number, int worker)
{
    (void)worker;
    const struct put *put = context;
    const lacis_symv_job *job = &put->run->half->job;
    const int64_t first = number * HALF_BLOCK, last = half_row_behind(put->run, number + 1);
    const bool complex = lacis_symv_complex(job->type);
    if (half_single(job->type))
        (complex ? put_complex_f32 : put_f32)(job, put->side, first, last, (const float *)put->run->sum);
    else
        (complex ? put_complex_f64 : put_f64)(job, put->side, first, last, (const double *)put->run->sum);
    return 0;
}

void lacis_half_put(const half_run *run, int64_t side)
{
    struct put put = {run, side};
    lacis_parallel(run->half->job.threads, run->blocks, put_block, &put);
}
