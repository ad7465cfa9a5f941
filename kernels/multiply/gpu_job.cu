/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job of the GPU's product takes: whether the kernels can do it, which of them, their parameters, and the
 * source and options for NVRTC. Used by gpu_run.cu; refusals, source and options also by operators/multiply.
 */
#include "gpu_state.h"

#include <stdio.h>

static_assert((int)MULG_WRITTEN == (int)LACIS_MUL_CON_STRIPS && (int)MULG_MUL == (int)LACIS_MUL_CON_MUL, "CON");
static_assert((int)MULG_FOLD == (int)LACIS_MUL_FOLD && (int)MULG_FIRST == (int)LACIS_MUL_FIRST, "AGG");
static_assert((int)MULG_KERNELS == (int)LACIS_MUL_GPU_WRITTEN_KERNELS, "kernels");

const char *const lacis_mul_gpu_class_name[LACIS_MUL_GPU_CLASSES] = {"empty",  "copy",  "tiny",
                                                                     "middle", "dense", "hub"};
const char *const lacis_mul_gpu_kernel_name[LACIS_MUL_GPU_WRITTEN_KERNELS] = {
    "lacis_copy",    "lacis_tiny",  "lacis_tiny_wide",     "lacis_middle",
    "lacis_ordered", "lacis_dense", "lacis_ordered_dense", "lacis_pair"};

static bool real(lacis_mul_type type)
{
    return type == LACIS_MUL_F32 || type == LACIS_MUL_F64;
}

int mulg_type_bytes(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : 8;
}

int mulg_storage_bytes(lacis_mul_storage storage)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[storage];
}

/* Whether entries are taken out of computed rows. */
bool mulg_filters(const lacis_mul_gpu_job *job)
{
    return job->mask || job->top > 0;
}

bool mulg_in_order(const lacis_mul_gpu_job *job)
{
    if (job->agg == LACIS_MUL_COUNT || job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX) return false;
    if (job->agg == LACIS_MUL_SUM) return real(job->type) ? job->ordered : job->checked;
    return true;
}

const char *lacis_mul_gpu_refuses(const lacis_mul_gpu_job *job)
{
    if (job->a.rows >= UINT32_MAX || job->b.rows >= UINT32_MAX || job->b.cols >= UINT32_MAX)
        return "a dimension has 2^32 rows or columns";
    if ((job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD) && !job->written)
        return "a written function is not compiled for the GPU";
    return NULL;
}

static mulg_kernels kernels_of(const lacis_mul_gpu_job *job)
{
    mulg_kernels k = {};
    k.count_bytes = 4;
    if (job->written) {
        memcpy(k.kernel, job->written->kernel, sizeof k.kernel);
        return k;
    }
    const bool narrow = job->max_degree_a > 0 && job->max_degree_a <= UINT16_MAX;
    if (job->agg == LACIS_MUL_COUNT) return mulg_count_kernels(job->storage, narrow);
    switch (job->type) {
    case LACIS_MUL_I32:
        return mulg_i32_kernels(job->con_kind, job->agg);
    case LACIS_MUL_I64:
        return mulg_i64_kernels(job->con_kind, job->agg);
    case LACIS_MUL_F32:
        return mulg_f32_kernels(job->con_kind, job->agg);
    default:
        return mulg_f64_kernels(job->con_kind, job->agg);
    }
}

/* Keys of tiny rows are a column and a slot of 6 bits. */
static bool wide_keys(const lacis_mul_gpu_job *job)
{
    return job->t_hi > 1 << 26;
}

/* Rows this heavy are DENSE: looking at every column must cost less than a second walk over the products. */
static mul_u64 dense_from(mul_u64 width)
{
    const mul_u64 share = width / 16, least = width <= 1 << 14 ? 4096 : 8192;
    return share > least ? share : least;
}

void mulg_set_params(mulg_run *s)
{
    const lacis_mul_gpu_job *job = s->job;
    mulg_params *p = &s->p;
    p->a_begin = (const mul_i64 *)job->a.begin;
    p->a_end = (const mul_i64 *)job->a.end;
    p->a_column = job->a.column;
    p->a_value = job->a.value;
    p->b_column = job->b.column;
    p->b_value = job->b.value;
    p->t_lo = (mul_u32)job->t_lo;
    p->width = job->t_hi > job->t_lo ? (mul_u64)(job->t_hi - job->t_lo) : 0;
    p->con = (int)job->con_kind;
    p->agg = (int)job->agg;
    p->checked = job->checked && !real(job->type);
    s->host = job->pinned ? (mulg_header *)job->pinned : &s->own;
    s->stream = (cudaStream_t)job->stream;
    s->kernels = kernels_of(job);
    s->ordered = mulg_in_order(job) || !s->kernels.kernel[MULG_DENSE];
    const int cell = job->agg == LACIS_MUL_COUNT ? s->kernels.count_bytes : mulg_type_bytes(job->type);
    s->window_width = (s->ordered ? MULG_ORDERED_BYTES : MULG_DENSE_BYTES) / cell;
    p->windows = (mul_u32)((p->width + s->window_width - 1) / s->window_width);
    const bool cuts_fit = ((mul_u64)job->b.rows * (p->windows + 1)) >> (CUT_BYTES_SHIFT - 2) == 0;
    s->rules.force = (int)job->force;
    s->rules.dense =
        cuts_fit && job->agg != LACIS_MUL_AVG && s->kernels.kernel[s->ordered ? MULG_ORDERED_DENSE : MULG_DENSE];
    s->rules.pairs = !wide_keys(job);
    s->rules.dense_from = dense_from(p->width);
    s->rules.large_from = SMALL_CELLS + 1;
    s->rules.width = p->width;
}

/* --- written functions --------------------------------------------------------------------------------- */

extern "C" const char lacis_text_gpu_written_cuh[]; /* gpu_written.cuh with what it includes (cmake/embed.cmake) */

const char *lacis_mul_gpu_source(void)
{
    return lacis_text_gpu_written_cuh;
}

int lacis_mul_gpu_options(const lacis_mul_gpu_job *job, const char **option, int most, char *text, size_t text_bytes)
{
    const int value[] = {(int)job->agg, mulg_in_order(job), wide_keys(job)};
    static const char *const name[] = {"LACIS_AGG", "LACIS_ORDERED", "LACIS_WIDE"};
    int count = 0;
    for (size_t at = 0; count < 3 && count < most; count++) {
        const int length = snprintf(text + at, text_bytes - at, "-D%s=%d", name[count], value[count]);
        if (length < 0 || (size_t)length >= text_bytes - at) break;
        option[count] = text + at;
        at += (size_t)length + 1;
    }
    return count;
}
