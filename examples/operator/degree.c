/* SPDX-License-Identifier: Apache-2.0
 *
 * DEGREE g: how many edges leave each vertex. A whole operator outside the library: main.c registers it, and
 * CONTRIBUTING.md walks through it.
 */
#include <lacis_extend.h>

static const lacis_array *graph_of(const lacis_call *call)
{
    return lacis_call_arg(call, NULL)->item[0].array;
}

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    if (lacis_array_kind(graph_of(call)) != LACIS_CSR)
        return lacis_run_fail_at(run, LACIS_TYPE, lacis_call_arg(call, NULL)->offset, NULL, "DEGREE takes a graph");
    call->kind = LACIS_VECTOR;
    call->dtype = LACIS_I64;
    call->extent[0] = lacis_array_extent(graph_of(call), 0);
    call->units = 1; /* too little work to cut into pieces */
    return LACIS_OK;
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)run, (void)profile;
    double rows = (double)call->extent[0];
    *out = (lacis_cost){.seconds = 1e-9 * rows, .entries = rows, .bytes = 8 * rows, .peak_bytes = 8 * rows};
    return LACIS_OK;
}

static lacis_status build(lacis_run *run, const lacis_array *graph, lacis_buffer *degrees, lacis_array *out)
{
    lacis_csr csr;
    uint64_t offset = 0;
    lacis_buffer *labels = lacis_array_part_buffer(graph, "row_labels", &offset);
    lacis_csr_view(graph, &csr);
    for (int64_t row = 0; row < csr.rows; row++)
        ((int64_t *)lacis_buffer_data(degrees))[row] = csr.end[row] - csr.begin[row];
    LACIS_TRY(lacis_array_add(run, out, "values", LACIS_I64, csr.rows, degrees, 0));
    lacis_array_set_base(out, 0, csr.row_base);
    if (labels == NULL) return LACIS_OK; /* vertices are base, base + 1 ...; else share the graph's labels */
    return lacis_array_add(run, out, "index", LACIS_I64, csr.rows, labels, offset);
}

static lacis_status run_rows(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)begin, (void)end;
    uint64_t rows = (uint64_t)call->extent[0];
    lacis_buffer *degrees = NULL;
    lacis_status status = lacis_array_new(run, LACIS_VECTOR, LACIS_I64, call->extent[0], 1, out);
    if (status != LACIS_OK) return status;
    status = lacis_buffer_new(run, rows * sizeof(int64_t), &degrees);
    if (status == LACIS_OK) status = build(run, graph_of(call), degrees, *out);
    lacis_buffer_release(degrees); /* the array keeps its own hold */
    if (status != LACIS_OK) {
        lacis_array_release(*out);
        *out = NULL;
    }
    return status;
}

static const lacis_param params[] = {{.form = "%a", .required = true, .help = "the graph"}};
static const lacis_variant rows = {
    .name = "rows", .device = LACIS_CPU, .summary = "one subtraction a row", .cost = cost, .run = run_rows};
static const lacis_variant *const variants[] = {&rows};
static const char *const examples[] = {"DEGREE g", NULL};

extern const lacis_op degree_op; /* for main.c */
const lacis_op degree_op = {.verb = "DEGREE",
                            .summary = "edges that leave each vertex",
                            .help = "DEGREE graph gives a vector: for each vertex its number of edges outwards.",
                            .examples = examples,
                            .params = params,
                            .param_count = LACIS_COUNT(params),
                            .bind = bind,
                            .variants = variants,
                            .variant_count = LACIS_COUNT(variants)};
