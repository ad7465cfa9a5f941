/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for products on the GPU: rows of few, some and many products, each with every kind of work, from operands
 * on the device to the result there. The least of a few rounds counts. Called behind the processor's share in
 * calibrate.c; a device without room for a sample leaves its figures as they were.
 */
#include "multiply/device.h"
#include "multiply/written.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

enum { ROUNDS = 4 }; /* the first loads kernels and fills the pool */

/* A graph of `rows` rows with `degree` entries each, of which the first `left` rows are multiplied by all of it. */
struct sample {
    int64_t rows, degree, left;
};
static const struct sample samples[LACIS_GPU_SIZES] = {
    [LACIS_GPU_FEW] = {1 << 18, 8, 1 << 18},
    [LACIS_GPU_SOME] = {1 << 15, 48, 1 << 13},
    [LACIS_GPU_MANY] = {1 << 15, 160, 1 << 11},
};
static const struct sample next_to_nothing = {1 << 10, 4, 64};

struct measured {
    lacis_run *run;
    lacis_gpu *gpu;
    lacis_csr csr; /* in blocks of the owner */
    int64_t left;
    int64_t *begin, *end; /* device */
    double first, least;  /* seconds of a run */
};

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Column k of a row is any of the kth part of all columns: rising, distinct, and nothing to sort. */
static lacis_status make_graph(lacis_run *run, lacis_product *owner, const struct sample *sample, lacis_csr *out)
{
    int64_t *begin, entries = sample->rows * sample->degree, part = sample->rows / sample->degree;
    uint64_t state = 1;
    uint32_t *column;
    float *value;
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof *begin * (uint64_t)(sample->rows + 1), &begin));
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof *column * (uint64_t)entries, &column));
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof *value * (uint64_t)entries, &value));
    for (int64_t r = 0; r <= sample->rows; r++)
        begin[r] = r * sample->degree;
    for (int64_t i = 0; i < entries; i++) {
        uint64_t random = next_random(&state);
        column[i] = (uint32_t)(i % sample->degree * part + (int64_t)(random % (uint64_t)part));
        value[i] = (float)(random >> 54);
    }
    *out = (lacis_csr){.rows = sample->rows,
                       .cols = sample->rows,
                       .entries = entries,
                       .begin = begin,
                       .end = begin + 1,
                       .column = column,
                       .value = value,
                       .storage = LACIS_F32,
                       .dtype = LACIS_F32};
    return LACIS_OK;
}

static lacis_product_spec spec_of(const struct measured *m, lacis_gpu_work kind)
{
    lacis_product_spec spec = {.verb = "CALIBRATE", .a = m->csr, .b = m->csr};
    spec.a.rows = m->left;
    spec.a.entries = m->csr.begin[m->left];
    bool sum = kind == LACIS_WORK_FLOAT || kind == LACIS_WORK_ORDERED;
    spec.form = kind == LACIS_WORK_COUNT ? LACIS_MUL_CON_ONE : sum ? LACIS_MUL_CON_MUL : LACIS_MUL_CON_ADD;
    spec.agg = kind == LACIS_WORK_COUNT ? LACIS_AGG_COUNT : sum ? LACIS_AGG_SUM : LACIS_AGG_MIN;
    return spec;
}

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((struct measured *)context)->gpu, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(((struct measured *)context)->gpu, block);
}

/* ----------------------------------------------------------------------------------------------- a run */

static lacis_status once(struct measured *m, const lacis_mul_gpu_job *job, double *seconds, bool *fits)
{
    lacis_mul_gpu_output out = {.begin = m->begin, .end = m->end};
    LACIS_TRY(lacis_gpu_wait(m->run, m->gpu));
    double start = lacis_product_now();
    lacis_mul_gpu_status status = lacis_mul_gpu_run(job, NULL, 0, m->left, &out);
    if (status == LACIS_MUL_GPU_FAILED) return lacis_gpu_failed(m->run, m->gpu, out.cuda_error);
    *fits = status == LACIS_MUL_GPU_OK;
    LACIS_TRY(lacis_gpu_wait(m->run, m->gpu));
    *seconds = lacis_product_now() - start;
    if (!*fits) return LACIS_OK;
    lacis_gpu_free(m->gpu, out.column);
    lacis_gpu_free(m->gpu, out.value);
    return LACIS_OK;
}

static lacis_status rounds(struct measured *m, const lacis_mul_gpu_job *job, bool *fits)
{
    double seconds = 0;
    *fits = true;
    for (int round = 0; *fits && round < ROUNDS; round++) {
        if (lacis_run_cancelled(m->run)) return lacis_run_interrupted(m->run);
        LACIS_TRY(once(m, job, &seconds, fits));
        if (round == 0) m->first = seconds;
        if (round <= 1 || seconds < m->least) m->least = seconds;
    }
    return LACIS_OK;
}

/* A CON as if it were written; its kernels are compiled in the first round. */
static lacis_status write_con(struct measured *m, lacis_product *product, lacis_mul_gpu_job *job,
                              lacis_mul_gpu_written *written)
{
    product->job.con_kind = job->con_kind = LACIS_MUL_CON_STRIPS;
    product->strips.form = LACIS_MUL_CON_ADD;
    product->strips.form_type = LACIS_F32;
    return lacis_written_prepare(m->run, m->gpu, product, job, written);
}

/* NVRTC's time goes into the profile where it had to compile. */
static lacis_status keep_compiling(const struct measured *m, lacis_profile *profile)
{
    const double compiled_before = 0.02;
    double seconds = m->first - m->least;
    return seconds < compiled_before ? LACIS_OK : lacis_profile_set(profile, LACIS_GPU_COMPILE_FIGURE, seconds);
}

/* The larger one first: the other's rows are the first of it, in the same memory, which is sent once. */
static lacis_status send(struct measured *m, lacis_sent *sent, const lacis_product *product, lacis_mul_gpu_job *job,
                         bool *fits)
{
    lacis_status status = lacis_send_matrix(m->run, m->gpu, sent, &product->job.b, &job->b);
    if (status == LACIS_OK) status = lacis_send_matrix(m->run, m->gpu, sent, &product->job.a, &job->a);
    *fits = status == LACIS_OK;
    return status == LACIS_LIMIT ? LACIS_OK : status;
}

static lacis_status prepared(struct measured *m, lacis_profile *profile, lacis_product *product, lacis_gpu_work kind,
                             int64_t top, bool *fits)
{
    lacis_sent sent = {0};
    lacis_mul_gpu_job job;
    lacis_mul_gpu_written written;
    lacis_multiply_gpu_job(product, &job);
    job.compact = false;
    job.ordered = kind == LACIS_WORK_ORDERED;
    job.top = top;
    job.stream = lacis_gpu_stream(m->gpu);
    job.memory = (lacis_mul_gpu_memory){device_alloc, device_free, NULL, m};
    bool writes = kind == LACIS_WORK_WRITTEN;
    lacis_status status = writes ? write_con(m, product, &job, &written) : LACIS_OK;
    if (status == LACIS_OK) status = send(m, &sent, product, &job, fits);
    if (status == LACIS_OK && *fits) status = rounds(m, &job, fits);
    if (status == LACIS_OK && *fits && writes) status = keep_compiling(m, profile);
    lacis_send_clear(&sent);
    return status;
}

/* Fills m->least; *fits is false where the device has no room or does not do it. */
static lacis_status measure(struct measured *m, lacis_profile *profile, lacis_gpu_work kind, int64_t top, bool *fits)
{
    char reason[200];
    lacis_product product = {0};
    lacis_product_spec spec = spec_of(m, kind);
    *fits = kind != LACIS_WORK_WRITTEN || lacis_gpu_compiles(reason, sizeof reason);
    if (!*fits) return LACIS_OK;
    lacis_status status = lacis_product_prepare(m->run, &spec, &product);
    if (status == LACIS_OK) status = prepared(m, profile, &product, kind, top, fits);
    lacis_product_clear(m->run, &product);
    return status;
}

/* ------------------------------------------------------------------------------------------- figures */

static lacis_status with_graph(struct measured *m, lacis_product *owner, const struct sample *sample)
{
    m->left = sample->left;
    m->begin = lacis_gpu_alloc(m->gpu, sizeof(int64_t) * (uint64_t)sample->left);
    m->end = lacis_gpu_alloc(m->gpu, sizeof(int64_t) * (uint64_t)sample->left);
    if (m->begin == NULL || m->end == NULL) return LACIS_OK;
    return make_graph(m->run, owner, sample, &m->csr);
}

static void without_graph(struct measured *m, lacis_product *owner)
{
    lacis_gpu_free(m->gpu, m->begin);
    lacis_gpu_free(m->gpu, m->end);
    m->begin = m->end = NULL;
    lacis_product_clear(m->run, owner);
}

static lacis_status figures_of(struct measured *m, lacis_profile *profile, lacis_gpu_size size, double nothing)
{
    const struct sample *sample = &samples[size];
    double products = (double)(sample->left * sample->degree * sample->degree), counts = 0;
    bool fits;
    for (int kind = 0; kind < LACIS_WORK_KINDS; kind++) {
        LACIS_TRY(measure(m, profile, (lacis_gpu_work)kind, 0, &fits));
        if (!fits) continue;
        double ns = 1e9 * (m->least - nothing) / products, least = 1e-4;
        if (kind == LACIS_WORK_COUNT) counts = m->least;
        LACIS_TRY(lacis_profile_set(profile, lacis_multiply_gpu_figure(size, (lacis_gpu_work)kind),
                                    ns > least ? ns : least));
    }
    if (size != LACIS_GPU_MANY || counts <= 0) return LACIS_OK;
    LACIS_TRY(measure(m, profile, LACIS_WORK_COUNT, 10, &fits));
    double ns = 1e9 * (m->least - counts) / products;
    return fits ? lacis_profile_set(profile, LACIS_GPU_TOP_FIGURE, ns > 0 ? ns : 0) : LACIS_OK;
}

/* The least that any product takes, and what loading the kernels does. */
static lacis_status nothing_of(struct measured *m, lacis_profile *profile, double *nothing)
{
    const double loaded_before = 1e-3;
    bool fits;
    LACIS_TRY(measure(m, profile, LACIS_WORK_COUNT, 0, &fits));
    if (!fits) return LACIS_OK;
    *nothing = m->least;
    LACIS_TRY(lacis_profile_set(profile, LACIS_GPU_CALL_FIGURE, m->least));
    double load = m->first - m->least;
    return load < loaded_before ? LACIS_OK : lacis_profile_set(profile, LACIS_GPU_LOAD_FIGURE, load);
}

/* What a copy takes beside its bytes. */
static lacis_status copies(lacis_run *run, lacis_gpu *gpu, lacis_profile *profile)
{
    const uint64_t bytes = 1 << 20;
    const double a_second = lacis_profile_get(profile, "gpu.download_bytes_a_second", 30e9);
    double least = 1;
    void *host, *device = lacis_gpu_alloc(gpu, bytes);
    if (device == NULL) return LACIS_OK;
    lacis_status status = lacis_run_alloc(run, bytes, &host);
    if (status == LACIS_OK) {
        for (int round = 0; status == LACIS_OK && round < 2 * ROUNDS; round++) {
            double start = lacis_product_now();
            status = lacis_gpu_download(run, gpu, device, bytes, host);
            double seconds = lacis_product_now() - start;
            if (seconds < least) least = seconds;
        }
        lacis_run_free(run, host);
    }
    lacis_gpu_free(gpu, device);
    double each = least - (double)bytes / a_second;
    return status == LACIS_OK ? lacis_profile_set(profile, LACIS_GPU_COPY_FIGURE, each > 1e-6 ? each : 1e-6) : status;
}

lacis_status lacis_multiply_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    char reason[200];
    double nothing = 0;
    lacis_product owner = {0};
    struct measured m = {.run = run};
    m.gpu = lacis_run_gpu(run, reason, sizeof reason);
    if (m.gpu == NULL) return LACIS_OK;
    lacis_status status = copies(run, m.gpu, profile);
    if (status == LACIS_OK) status = with_graph(&m, &owner, &next_to_nothing);
    if (status == LACIS_OK && m.begin != NULL && m.end != NULL) status = nothing_of(&m, profile, &nothing);
    without_graph(&m, &owner);
    for (int size = 0; status == LACIS_OK && size < LACIS_GPU_SIZES; size++) {
        status = with_graph(&m, &owner, &samples[size]);
        if (status == LACIS_OK && m.begin != NULL && m.end != NULL)
            status = figures_of(&m, profile, (lacis_gpu_size)size, nothing);
        without_graph(&m, &owner);
    }
    return status;
}

#else

lacis_status lacis_multiply_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    (void)run, (void)profile;
    return LACIS_OK;
}

#endif
