/* SPDX-License-Identifier: Apache-2.0
 *
 * The parity harness: operators' results, by every variant that can run here, against a naive reference. This file
 * knows how to make arrays, run a call through bind, variants and panels, and take results apart; graphs.h makes
 * operands; reference.h computes what they should be; functions.h and the test_*.c files hold the cases as data.
 */
#ifndef LACIS_TESTS_PARITY_H
#define LACIS_TESTS_PARITY_H

#include "core/device.h"
#include "core/registry.h"
#include "lang/lang.h"
#include "parity/graphs.h"
#include "support/check.h"

#include "common/parallel.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------ fixture */

typedef struct parity {
    lacis_host host;
    lacis_run run;
    lacis_registry registry;
    char skipped[16][320]; /* reasons told already */
    int turn;
} parity;

/* LACIS_PARITY=gpu in the environment: the GPU's variants alone, for the smallest graphs as well, with sums in the
 * reference's order and in any by turns. tests/gpu/run sets it. */
static inline bool parity_on_gpu(void)
{
    const char *where = getenv("LACIS_PARITY");
    return where != NULL && strcmp(where, "gpu") == 0;
}

/* Kernels compiled at run time stay for all tests of a program: each takes a third of a second. */
typedef struct parity_kernel {
    struct parity_kernel *next;
    char group[64], image[];
} parity_kernel;
static parity_kernel *parity_kernels;

static inline lacis_status parity_keep(void *context, lacis_run *run, const char *group, const char *name,
                                       const char *value)
{
    (void)context, (void)run;
    size_t bytes = strlen(value) + 1;
    if (strncmp(group, "kernel ", 7) != 0 || strcmp(name, "image") != 0) return LACIS_OK;
    parity_kernel *kernel = malloc(sizeof *kernel + bytes);
    assert_non_null(kernel);
    snprintf(kernel->group, sizeof kernel->group, "%s", group);
    memcpy(kernel->image, value, bytes);
    kernel->next = parity_kernels;
    parity_kernels = kernel;
    return LACIS_OK;
}

static inline lacis_status parity_kept(void *context, lacis_run *run, const char *group,
                                       void (*fn)(void *arg, const char *name, const char *value), void *arg)
{
    (void)context, (void)run;
    for (const parity_kernel *kernel = parity_kernels; kernel != NULL; kernel = kernel->next)
        if (strcmp(group, kernel->group) == 0) fn(arg, "image", kernel->image);
    return LACIS_OK;
}

static inline int parity_setup(void **state)
{
    parity *p = calloc(1, sizeof *p);
    assert_non_null(p);
    assert_int_equal(lacis_host_init(&p->host), LACIS_OK);
    lacis_run_init(&p->run, &p->host);
    if (parity_on_gpu()) p->host.keeper = (lacis_keeper){NULL, parity_keep, parity_kept};
    assert_int_equal(lacis_registry_init(&p->run, &p->registry), LACIS_OK);
    *state = p;
    return 0;
}

static inline int parity_teardown(void **state)
{
    parity *p = *state;
    lacis_run_clear(&p->run);
    lacis_registry_clear(&p->host, &p->registry);
    lacis_gpu_release(p->host.gpu);
    p->host.gpu = NULL;
    assert_int_equal(lacis_memory_used(p->host.memory), 0); /* nothing is left behind */
    lacis_host_clear(&p->host);
    free(p);
    return 0;
}

static inline void parity_ok(parity *p, lacis_status status, const char *text)
{
    if (status != LACIS_OK) fail_msg("%s\n  %s: %s", text, lacis_status_name(status), p->host.error.message);
}

/* ------------------------------------------------------------------------------------------- arrays */

static inline lacis_buffer *buffer_of(parity *p, const void *data, size_t bytes)
{
    lacis_buffer *buffer = NULL;
    if (data == NULL) return NULL;
    parity_ok(p, lacis_buffer_new(&p->run, bytes, &buffer), "a buffer");
    if (bytes > 0) memcpy(lacis_buffer_data(buffer), data, bytes);
    return buffer;
}

static inline lacis_buffer *values_of(parity *p, const graph *g)
{
    if (g->value == NULL) return NULL;
    lacis_buffer *buffer = NULL;
    size_t bytes = lacis_dtype_size(g->storage) * (size_t)g->entries;
    parity_ok(p, lacis_buffer_new(&p->run, bytes, &buffer), "a buffer");
    for (int64_t i = 0; i < g->entries; i++) {
        double pair[2] = {g->value[i], g->imag == NULL ? 0 : g->imag[i]};
        char *to = (char *)lacis_buffer_data(buffer) + lacis_dtype_size(g->storage) * (size_t)i;
        lacis_values_convert(pair, g->imag == NULL ? LACIS_F64 : LACIS_C128, 0, 1, to, g->storage);
    }
    return buffer;
}

static inline lacis_array *graph_vector(parity *p, const graph *g)
{
    lacis_array *array = NULL;
    int64_t *index = malloc(sizeof(int64_t) * (size_t)(g->rows + 1)), n = 0;
    for (int64_t r = 0; r < g->rows; r++)
        if (g->begin[r + 1] > g->begin[r]) index[n++] = row_label(g, r);
    lacis_buffer *values = values_of(p, g), *labels = buffer_of(p, index, sizeof(int64_t) * (size_t)n);
    bool sparse = n < g->rows || g->row_label != NULL;
    parity_ok(p, lacis_array_new(&p->run, LACIS_VECTOR, g->dtype, g->rows, 0, &array), "a vector");
    lacis_array_set_base(array, 0, g->row_base);
    parity_ok(p, lacis_array_add(&p->run, array, "values", g->storage, n, values, 0), "values");
    if (sparse) parity_ok(p, lacis_array_add(&p->run, array, "index", LACIS_I64, n, labels, 0), "index");
    lacis_buffer_release(values);
    lacis_buffer_release(labels);
    free(index);
    return array;
}

static inline lacis_array *graph_array(parity *p, const graph *g)
{
    if (g->vector) return graph_vector(p, g);
    lacis_array *array = NULL;
    lacis_csr_parts parts = {.rows = g->rows,
                             .cols = g->cols,
                             .entries = g->entries,
                             .storage = g->storage,
                             .dtype = g->dtype,
                             .row_base = g->row_base,
                             .col_base = g->col_base};
    parts.begin = buffer_of(p, g->begin, sizeof(int64_t) * (size_t)(g->rows + 1));
    parts.columns = buffer_of(p, g->column, sizeof(uint32_t) * (size_t)g->entries);
    parts.values = values_of(p, g);
    parts.row_labels = buffer_of(p, g->row_label, sizeof(int64_t) * (size_t)g->rows);
    parts.col_labels = buffer_of(p, g->col_label, sizeof(int64_t) * (size_t)g->cols);
    parity_ok(p, lacis_csr_new(&p->run, &parts, &array), "a graph");
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    lacis_buffer_release(parts.row_labels);
    lacis_buffer_release(parts.col_labels);
    return array;
}

/* ------------------------------------------------------------------------------------------ results */

typedef struct triple {
    int64_t src, dst;
    double value, imag;
} triple;

typedef struct triples {
    triple *at;
    int64_t count, room;
} triples;

static inline void triples_add_complex(triples *list, int64_t src, int64_t dst, double value, double imag)
{
    if (list->count == list->room) {
        list->room = 2 * list->room + 64;
        list->at = realloc(list->at, sizeof(triple) * (size_t)list->room);
        assert_non_null(list->at);
    }
    list->at[list->count++] = (triple){src, dst, value, imag};
}

static inline void triples_add(triples *list, int64_t src, int64_t dst, double value)
{
    triples_add_complex(list, src, dst, value, 0);
}

static inline double part_double(const void *data, lacis_dtype storage, int64_t index)
{
    if (data == NULL) return 1;
    return dtype_real(storage) || dtype_complex(storage) ? lacis_value_double(data, storage, index)
                                                         : (double)lacis_value_int64(data, storage, index);
}

static inline double part_imag(const void *data, lacis_dtype storage, int64_t index)
{
    if (storage == LACIS_C64) return (double)((const float *)data)[2 * index + 1];
    return storage == LACIS_C128 ? ((const double *)data)[2 * index + 1] : 0;
}

/* Appends an array's entries; checks that labels and columns rise. A vector's label stands in both src and dst. */
static inline void triples_take(triples *list, const lacis_array *array)
{
    if (lacis_array_kind(array) == LACIS_VECTOR) {
        const lacis_part *values = lacis_array_part_named(array, "values");
        const lacis_part *index = lacis_array_part_named(array, "index");
        for (int64_t i = 0; i < values->count; i++) {
            int64_t label = index == NULL ? lacis_array_base(array, 0) + i : ((const int64_t *)index->data)[i];
            triples_add_complex(list, label, label, part_double(values->data, values->dtype, i),
                                part_imag(values->data, values->dtype, i));
        }
        return;
    }
    lacis_csr csr;
    lacis_csr_view(array, &csr);
    for (int64_t r = 0; r < csr.rows; r++)
        for (int64_t i = csr.begin[r]; i < csr.end[r]; i++) {
            assert_true(i == csr.begin[r] || csr.column[i] > csr.column[i - 1]);
            assert_true(csr.column[i] < csr.cols);
            triples_add_complex(list, lacis_label(csr.row_label, csr.row_base, r),
                                lacis_label(csr.col_label, csr.col_base, csr.column[i]),
                                part_double(csr.value, csr.storage, i), part_imag(csr.value, csr.storage, i));
        }
}

static inline void triples_free(triples *list)
{
    free(list->at);
    *list = (triples){0};
}

static inline bool same_bits(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0 || (x == 0 && y == 0);
}

static inline void triples_compare(const triples *found, const triples *expected, const char *text, const char *how)
{
    int64_t n = found->count < expected->count ? found->count : expected->count;
    for (int64_t i = 0; i < n; i++) {
        const triple *f = &found->at[i], *e = &expected->at[i];
        if (f->src != e->src || f->dst != e->dst || !same_bits(f->value, e->value) || !same_bits(f->imag, e->imag))
            fail_msg("%s (%s)\n  entry %lld: (%lld, %lld) = %.17g + %gi, expected (%lld, %lld) = %.17g + %gi", text,
                     how, (long long)i, (long long)f->src, (long long)f->dst, f->value, f->imag, (long long)e->src,
                     (long long)e->dst, e->value, e->imag);
    }
    if (found->count != expected->count)
        fail_msg("%s (%s)\n  %lld entries, expected %lld", text, how, (long long)found->count,
                 (long long)expected->count);
}

/* ------------------------------------------------------------------------------------------- running */

typedef struct named {
    const char *name;
    lacis_array *array;
} named;

static inline void fill_operands(lacis_call *call, const named *arrays)
{
    for (int i = 0; i < call->arg_count; i++)
        for (int j = 0; j < LACIS_ITEMS; j++) {
            lacis_item *item = &call->args[i].item[j];
            for (const named *a = arrays; a->name != NULL && item->name != NULL; a++)
                if (strcmp(a->name, item->name) == 0) item->array = a->array;
        }
}

/* Parses and binds text over arrays (ended by a NULL name). */
static inline lacis_status parity_bind(parity *p, const char *text, const named *arrays,
                                       const lacis_restriction *restriction, lacis_call **out)
{
    const lacis_bindings none = {NULL, 0};
    parity_ok(p, lacis_lang_call(&p->run, &p->registry, text, &none, out), text);
    fill_operands(*out, arrays);
    (*out)->restriction = restriction;
    return (*out)->op->bind(&p->run, *out);
}

static inline void parity_unbind(parity *p, lacis_call *call)
{
    if (call->op->unbind != NULL) call->op->unbind(&p->run, call);
}

static inline void run_units(parity *p, const lacis_call *call, const lacis_variant *variant, int64_t begin,
                             int64_t end, const char *text, triples *out)
{
    lacis_array *array = NULL;
    parity_ok(p, variant->run(&p->run, call, begin, end, &array), text);
    assert_int_equal(lacis_array_kind(array), call->kind);
    assert_int_equal(lacis_array_dtype(array), call->dtype);
    triples_take(out, array);
    lacis_array_release(array);
}

/* For a result of so many entries: many panels of the CPU; a few of a GPU, each of which takes milliseconds. */
static inline uint64_t parity_panel_bytes(int64_t entries)
{
    enum { FEW = 4096, ENTRY_BYTES = 16, GPU_PANELS = 4 };
    uint64_t part = (uint64_t)entries * ENTRY_BYTES / GPU_PANELS;
    return parity_on_gpu() && part > FEW ? part : FEW;
}

/* In panels of at most `bytes`, as streaming does. */
static inline void run_panels(parity *p, const lacis_call *call, const lacis_variant *variant, uint64_t bytes,
                              const char *text, triples *out)
{
    for (int64_t at = 0; at < call->units;) {
        int64_t end = call->op->fit(call, at, bytes);
        if (end <= at) end = at + 1;
        run_units(p, call, variant, at, end, text, out);
        at = end;
    }
}

/* Figures that a variant reported ("rows dense"); 0 where it did not. */
static inline double parity_figure(const parity *p, const char *what)
{
    for (int i = 0; i < p->run.counters; i++)
        if (strcmp(p->run.counter[i].what, what) == 0) return p->run.counter[i].figure;
    return 0;
}

/* Says once for each reason that a variant cannot run something. */
static inline void parity_skipped(parity *p, const char *text, const char *variant, const char *reason)
{
    char line[sizeof p->skipped[0]];
    snprintf(line, sizeof line, "%s: %s", variant, reason);
    int at = 0;
    while (at < LACIS_COUNT(p->skipped) && p->skipped[at][0] != '\0' && strcmp(p->skipped[at], line) != 0)
        at++;
    if (at == LACIS_COUNT(p->skipped) || p->skipped[at][0] != '\0') return;
    memcpy(p->skipped[at], line, sizeof line);
    print_message("skipped (this and others alike): %s by %s\n", text, line);
}

/* Every variant, one and two threads, whole and in panels, against what is expected. */
static inline void parity_check(parity *p, const char *text, const named *arrays,
                                const lacis_restriction *restriction, const triples *expected)
{
    char reason[256] = "";
    for (int threads = parity_on_gpu() ? 2 : 1; threads <= 2; threads++) {
        lacis_call *call;
        p->host.threads = parity_on_gpu() ? lacis_parallel_cpus() : threads; /* a compiler's, on the GPU */
        p->host.deterministic = parity_on_gpu() && p->turn++ % 2 == 1;
        parity_ok(p, parity_bind(p, text, arrays, restriction, &call), text);
        if (parity_on_gpu()) call->on = LACIS_ON_GPU;
        for (int i = 0; i < call->op->variant_count; i++) {
            const lacis_variant *variant = call->op->variants[i];
            if (parity_on_gpu() && variant->device != LACIS_GPU) continue;
            if (variant->can != NULL && !variant->can(call, reason, sizeof reason)) {
                parity_skipped(p, text, variant->name, reason);
                continue;
            }
            triples whole = {0}, panels = {0};
            run_units(p, call, variant, 0, call->units, text, &whole);
            triples_compare(&whole, expected, text, threads == 1 ? "one thread" : "two threads");
            if (threads == 2 && call->op->fit != NULL) {
                run_panels(p, call, variant, parity_panel_bytes(expected->count), text, &panels);
                triples_compare(&panels, expected, text, "in panels");
            }
            triples_free(&whole);
            triples_free(&panels);
        }
        parity_unbind(p, call);
    }
}

#endif
