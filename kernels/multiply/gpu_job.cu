/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job of the GPU's product takes: whether the kernels can do it, which of them, their parameters, and the
 * source and options for NVRTC. Used by gpu_run.cu; refusals, source and options also by operators/multiply.
 */
#include "gpu_state.h"

#include <math.h>
#include <stdio.h>

static_assert((int)MULG_WRITTEN == (int)LACIS_MUL_CON_STRIPS && (int)MULG_MUL == (int)LACIS_MUL_CON_MUL, "CON");
static_assert((int)MULG_FOLD == (int)LACIS_MUL_FOLD && (int)MULG_FIRST == (int)LACIS_MUL_FIRST, "AGG");
static_assert((int)SMALL_CELLS == (int)LACIS_MUL_GPU_SMALL_MOST, "rows of the list that SMALL ones are of");
static_assert((int)MULG_KERNELS == (int)LACIS_MUL_GPU_WRITTEN_KERNELS, "kernels");

const char *const lacis_mul_gpu_class_name[LACIS_MUL_GPU_CLASSES] = {"empty",  "copy",  "tiny", "small",
                                                                     "middle", "dense", "hub"};
const char *const lacis_mul_gpu_small_name[LACIS_MUL_GPU_SMALLS] = {"bitmap", "sort", "hash"};
const char *const lacis_mul_gpu_kernel_name[LACIS_MUL_GPU_WRITTEN_KERNELS] = {
    "lacis_copy",    "lacis_tiny",       "lacis_tiny_wide",     "lacis_middle",
    "lacis_ordered", "lacis_dense",      "lacis_ordered_dense", "lacis_pair",
    "lacis_flat",    "lacis_small_sort", "lacis_small_hash",    "lacis_having_kernel"};

static bool real(lacis_mul_type type)
{
    return type == LACIS_MUL_F32 || type == LACIS_MUL_F64 || type == LACIS_MUL_C128;
}

int mulg_type_bytes(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : type == LACIS_MUL_C128 ? 16 : 8;
}

int mulg_storage_bytes(lacis_mul_storage storage)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 4, 8, 16};
    return bytes[storage];
}

/* gpu_mask.cuh says why. */
bool mulg_masked_inside(const lacis_mul_gpu_job *job)
{
    return job->mask && !job->fails && !(job->checked && !real(job->type));
}

bool mulg_takes_out(const lacis_mul_gpu_job *job)
{
    return (job->mask && !mulg_masked_inside(job)) || job->having == LACIS_MUL_GPU_BEHIND || job->top > 0;
}

bool mulg_filters(const lacis_mul_gpu_job *job)
{
    return job->mask || job->having || job->top > 0;
}

bool mulg_in_order(const lacis_mul_gpu_job *job)
{
    if (job->agg == LACIS_MUL_COUNT || job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX) return false;
    if (job->agg == LACIS_MUL_SUM) return real(job->type) ? job->ordered : job->checked;
    return job->agg != LACIS_MUL_FOLD || !job->any_order;
}

lacis_mul_type mulg_b_type(const lacis_mul_gpu_job *job)
{
    return lacis_mul_gpu_semiring_written(job) ? job->b.type : job->type;
}

const char *lacis_mul_gpu_refuses(const lacis_mul_gpu_job *job)
{
    if (job->a.rows >= UINT32_MAX || job->b.rows >= UINT32_MAX || job->b.cols >= UINT32_MAX)
        return "a dimension has 2^32 rows or columns";
    if (job->type == LACIS_MUL_C128 && job->top > 0) return "complex values have no order for TOP";
    const bool having = job->having == LACIS_MUL_GPU_INSIDE || job->having == LACIS_MUL_GPU_BEHIND;
    if ((lacis_mul_gpu_semiring_written(job) || having) && !job->written)
        return "a written function is not compiled for the GPU";
    return NULL;
}

static mulg_kernels plain(const lacis_mul_gpu_job *job, bool narrow)
{
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

/* Those of heavy rows know MASK in any case. */
static mulg_kernels built_in(const lacis_mul_gpu_job *job)
{
    const bool narrow = job->max_degree_a > 0 && job->max_degree_a <= UINT16_MAX;
    if (job->having == LACIS_MUL_GPU_WITHIN) return mulg_sifted_kernels(job, narrow);
    mulg_kernels k = plain(job, narrow);
    if (!mulg_masked_inside(job)) return k;
    const mulg_kernels sifted = mulg_sifted_kernels(job, narrow);
    for (int light : {MULG_COPY, MULG_TINY_NARROW, MULG_TINY_WIDE, MULG_PAIR, MULG_FLAT})
        k.kernel[light] = sifted.kernel[light];
    return k;
}

/* Written ones as far as they are compiled; mulg_compile gets the others. */
static mulg_kernels kernels_of(const lacis_mul_gpu_job *job)
{
    mulg_kernels k = {};
    if (lacis_mul_gpu_semiring_written(job)) {
        memcpy(k.kernel, job->written->kernel, sizeof k.kernel);
        k.count_bytes = 4;
    } else {
        k = built_in(job);
        k.kernel[MULG_HAVING] = job->having == LACIS_MUL_GPU_BEHIND ? job->written->kernel[MULG_HAVING] : NULL;
    }
    return k;
}

/* The kernel that a list of rows is computed by. */
static int kernel_of_list(const mulg_run *s, int list)
{
    switch (list) {
    case MULG_LIST_COPY:
        return MULG_COPY;
    case MULG_LIST_FLAT:
        return MULG_FLAT;
    case MULG_LIST_PAIR:
        return MULG_PAIR;
    case MULG_LIST_TINY:
        return s->rules.pairs ? MULG_TINY_NARROW : MULG_TINY_WIDE;
    case MULG_LIST_DENSE:
        return s->ordered ? MULG_ORDERED_DENSE : MULG_DENSE;
    case MULG_LIST_SMALL:
        if (s->small) return s->small == LACIS_MUL_GPU_HASH ? MULG_SMALL_HASH : MULG_SMALL_SORT;
        return s->ordered ? MULG_ORDERED : MULG_MIDDLE;
    default:
        return s->ordered ? MULG_ORDERED : MULG_MIDDLE;
    }
}

/* Few light rows, where MIDDLE's kernel is wanted anyway: it can compute them as well, and a kernel less to compile
 * saves far more time than it takes. */
static bool spared(const mulg_run *s, int list, bool middle)
{
    const bool light = list == MULG_LIST_PAIR || list == MULG_LIST_TINY || list == MULG_LIST_COPY;
    return light && middle && s->rules.force == 0 && mulg_list_rows(s->host, list) <= SPARED_ROWS;
}

/* MIDDLE's kernel, once there, takes any list for which there is none: parts of a product may be dealt otherwise than
 * the whole. */
lacis_mul_gpu_status mulg_compile(mulg_run *s, bool whole)
{
    const lacis_mul_gpu_job *job = s->job;
    const int any = s->ordered ? MULG_ORDERED : MULG_MIDDLE;
    const bool written = lacis_mul_gpu_semiring_written(job), there = written && s->kernels.kernel[any];
    const bool bitmaps = !s->small && mulg_list_rows(s->host, MULG_LIST_SMALL);
    const bool middle = whole || bitmaps || mulg_list_rows(s->host, MULG_LIST_LARGE);
    mul_u32 wanted =
        (job->having == LACIS_MUL_GPU_BEHIND ? 1u << MULG_HAVING : 0) | (written && whole ? 1u << any : 0);
    for (int list = 0; written && list < MULG_LISTS; list++) {
        const int kernel = kernel_of_list(s, list);
        if (!mulg_list_rows(s->host, list) || s->kernels.kernel[kernel]) continue;
        const bool own = list == MULG_LIST_FLAT || (list == MULG_LIST_SMALL && s->small); /* asked for by itself */
        if (!own && (there || spared(s, list, middle)))
            s->as_middle |= 1u << list;
        else
            wanted |= 1u << kernel;
    }
    for (int i = 0; i < MULG_KERNELS; i++)
        if (s->kernels.kernel[i]) wanted &= ~(1u << i);
    if (wanted == 0) return LACIS_MUL_GPU_OK;
    if (!job->written->compile || !job->written->compile(job->written, wanted)) return LACIS_MUL_GPU_UNCOMPILED;
    s->kernels = kernels_of(job);
    return LACIS_MUL_GPU_OK;
}

/* Keys of tiny rows are a column and a slot of 6 bits. */
static bool wide_keys(const lacis_mul_gpu_job *job)
{
    return job->t_hi > 1 << 26;
}

/* Which way rows of the list SMALL take. */
static lacis_mul_gpu_small small_way(const mulg_run *s)
{
    const lacis_mul_gpu_job *job = s->job;
    if (job->force == LACIS_MUL_GPU_MIDDLE) return LACIS_MUL_GPU_BITMAP;
    if (job->small == LACIS_MUL_GPU_BITMAP && job->force != LACIS_MUL_GPU_SMALL) return LACIS_MUL_GPU_BITMAP;
    const bool cells = lacis_mul_gpu_semiring_written(job) || s->kernels.kernel[MULG_SMALL_HASH];
    return job->small == LACIS_MUL_GPU_HASH && !s->ordered && cells ? LACIS_MUL_GPU_HASH : LACIS_MUL_GPU_SORT;
}

/* Rows this heavy are DENSE: looking at every column must cost less than a second walk over the products. */
static mul_u64 dense_from(mul_u64 width)
{
    const mul_u64 share = width / 16, least = width <= 1 << 14 ? 4096 : 8192;
    return share > least ? share : least;
}

/* The floats among reals from low to high are those from low_f32 to high_f32. */
static void set_within(const lacis_mul_gpu_job *job, mulg_params *p)
{
    p->low = job->low;
    p->high = job->high;
    p->low_f64 = job->low_real;
    p->high_f64 = job->high_real;
    p->low_f32 = (float)job->low_real;
    p->high_f32 = (float)job->high_real;
    if (p->low_f32 < job->low_real) p->low_f32 = nextafterf(p->low_f32, INFINITY);
    if (p->high_f32 > job->high_real) p->high_f32 = nextafterf(p->high_f32, -INFINITY);
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
    if (job->having == LACIS_MUL_GPU_WITHIN) set_within(job, p);
    s->host = job->pinned ? (mulg_header *)job->pinned : &s->own;
    s->stream = (cudaStream_t)job->stream;
    s->kernels = kernels_of(job);
    for (int i = 0; i < 3; i++)
        p->label[i] = (const mul_i64 *)job->label[i];
    s->ordered = mulg_in_order(job) || (!lacis_mul_gpu_semiring_written(job) && !s->kernels.kernel[MULG_DENSE]);
    const bool values = job->agg != LACIS_MUL_COUNT || lacis_mul_gpu_semiring_written(job);
    s->value_bytes = values ? mulg_type_bytes(mulg_b_type(job)) : 0;
    const int cell = job->agg == LACIS_MUL_COUNT ? s->kernels.count_bytes : mulg_type_bytes(job->type);
    s->window_width = (!s->ordered ? MULG_DENSE_BYTES : cell == 16 ? MULG_ORDERED_WIDE : MULG_ORDERED_BYTES) / cell;
    if (job->agg == LACIS_MUL_AVG)
        s->window_width = job->type == LACIS_MUL_C128 ? MULG_AVERAGE_WIDE : MULG_AVERAGE_WIDTH;
    p->windows = (mul_u32)((p->width + s->window_width - 1) / s->window_width);
    const bool cuts_fit = ((mul_u64)job->b.rows * (p->windows + 1)) >> (CUT_BYTES_SHIFT - 2) == 0;
    p->masks = job->having == LACIS_MUL_GPU_ALL || job->having == LACIS_MUL_GPU_BEHIND;
    if (mulg_masked_inside(job)) { /* all else: mulg_keep */
        p->mask_begin = (const mul_i64 *)job->mask->begin;
        p->mask_end = (const mul_i64 *)job->mask->end;
        p->mask_column = job->mask->column;
        p->mask_not = job->mask_not;
    }
    s->small = small_way(s);
    s->rules.force = (int)job->force;
    s->rules.dense = cuts_fit && (lacis_mul_gpu_semiring_written(job) ||
                                  s->kernels.kernel[s->ordered ? MULG_ORDERED_DENSE : MULG_DENSE]);
    s->rules.pairs = !wide_keys(job);
    /* FLAT asks CON for products that are none, whose labels no list has. */
    const bool listed = job->label[0] || job->label[1] || job->label[2];
    const bool narrow = !listed && mulg_type_bytes(job->type) <= 8 && s->value_bytes <= 8;
    s->rules.flat = narrow && job->t_hi < 1 << 26 && job->force == LACIS_MUL_GPU_EMPTY &&
                    (lacis_mul_gpu_semiring_written(job) || s->kernels.kernel[MULG_FLAT]);
    const bool scatters = !s->ordered && !lacis_mul_gpu_semiring_written(job); /* mulg_scatters */
    s->rules.wide_windows = scatters && p->windows > 1 ? p->windows : 0;
    s->rules.b_rows = (mul_u64)job->b.rows;
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
    const bool checked = job->checked && !real(job->type);
    const bool masked = mulg_masked_inside(job);
    const int sifted = job->having == LACIS_MUL_GPU_WITHIN   ? 1
                       : job->having == LACIS_MUL_GPU_INSIDE ? 2
                       : masked                              ? 3
                                                             : 0;
    const int value[] = {1, (int)job->con_kind, (int)job->agg, checked, mulg_type_bytes(job->type), masked, sifted};
    static const char *const name[] = {"NVRTC", "CON", "AGG", "CHECKED", "BYTES", "MASKED", "SIFTED"};
    const int options = (int)(sizeof value / sizeof *value);
    int count = 0;
    for (size_t at = 0; count < options && count < most; count++) {
        const int length = snprintf(text + at, text_bytes - at, "-DLACIS_%s=%d", name[count], value[count]);
        if (length < 0 || (size_t)length >= text_bytes - at) break;
        option[count] = text + at;
        at += (size_t)length + 1;
    }
    return count;
}
