/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of lacis-bench symv, what they move and compute, and their lines of figures.
 */
#include "symv.h"

#include <stdio.h>
#include <string.h>

const symv_kind symv_kinds[LACIS_SYMV_TYPES] = {
    {"f32", "S", LACIS_SYMV_F32, 0x1p-24},
    {"f64", "D", LACIS_SYMV_F64, 0x1p-53},
    {"c64", "C", LACIS_SYMV_C64, 0x1p-24},
    {"c128", "Z", LACIS_SYMV_C128, 0x1p-53},
    {"dd", "W", LACIS_SYMV_DD, 0x1p-104},
    {"cdd", "complex W", LACIS_SYMV_CDD, 0x1p-104},
    {"f32_f64", "S in D", LACIS_SYMV_F32_F64, 0x1p-53},
    {"f32_dd", "S in W", LACIS_SYMV_F32_DD, 0x1p-104},
    {"f64_dd", "D in W", LACIS_SYMV_F64_DD, 0x1p-104},
};

const symv_op symv_ops[SYMV_OPS] = {
    {.name = "fixed", .sides = 1, .matrices = 1, .cpu = true},
    {.name = "accurate", .sides = 1, .matrices = 1, .cpu = true, .accurate = true, .dd = true},
    {.name = "symmetric", .sides = 1, .matrices = 1, .cpu = true, .symmetric = true, .complex = true},
    {.name = "free", .sides = 1, .matrices = 1, .order = LACIS_SYMV_FREE},
    {.name = "canonical", .sides = 1, .matrices = 1, .cpu = true, .order = LACIS_SYMV_CANONICAL},
    {.name = "packed", .sides = 1, .matrices = 1, .cpu = true, .packed = true},
    {.name = "sides4", .sides = 4, .matrices = 1, .cpu = true},
    {.name = "batch", .sides = 1, .matrices = 1000, .n = 128, .cpu = true},
};

bool symv_does(const symv_case *c, bool cpu)
{
    if (cpu && !c->op->cpu) return false;
    if (c->op->complex && !lacis_symv_complex(c->kind->type)) return false;
    return !c->op->dd || c->kind->unit < 0x1p-60;
}

int64_t symv_elements(const symv_case *c)
{
    return c->op->packed ? c->n * (c->n + 1) / 2 : c->n * c->n;
}

double symv_triangle_bytes(const symv_case *c)
{
    const double n = (double)c->n;
    return n * (n + 1) / 2 * lacis_symv_matrix_bytes(c->kind->type) * (double)c->op->matrices;
}

double symv_flops(const symv_case *c)
{
    const double each = lacis_symv_complex(c->kind->type) ? 8 : 2;
    return each * (double)c->n * (double)c->n * (double)c->op->sides * (double)c->op->matrices;
}

bool symv_hermitian(const symv_case *c)
{
    return lacis_symv_complex(c->kind->type) && !c->op->symmetric;
}

lacis_symv_job symv_job(const symv_case *c)
{
    const symv_op *op = c->op;
    return (lacis_symv_job){.type = c->kind->type,
                            .uplo = c->uplo,
                            .order = op->order,
                            .hermitian = symv_hermitian(c),
                            .packed = op->packed,
                            .accurate = op->accurate,
                            .matrices = op->matrices,
                            .n = c->n,
                            .ld = c->n,
                            .stride = symv_elements(c),
                            .sides = op->sides,
                            .x_stride = c->n * op->sides,
                            .x_side = c->n,
                            .x_step = 1,
                            .y_stride = c->n * op->sides,
                            .y_side = c->n,
                            .y_step = 1,
                            .alpha = {1},
                            .threads = 1};
}

bool symv_wanted(const symv_wish *wish, const symv_op *op)
{
    if (wish->points != NULL) return op == symv_ops;
    return wish->options->op == NULL || bench_listed(wish->options->op, op->name);
}

/* ------------------------------------------------------------------------------------------- lines */

void symv_line_begin(symv_line *line, const symv_case *c, const char *device)
{
    line->figures = 0;
    snprintf(line->name, sizeof line->name, "symv/%s/%s/%lld/%s/%s", c->kind->name,
             c->uplo == LACIS_SYMV_LOWER ? "lower" : "upper", (long long)c->n, c->op->name, device);
}

void symv_line_add(symv_line *line, const char *name, const char *format, double value)
{
    if (value < 0 || line->figures == (int)(sizeof line->figure / sizeof line->figure[0])) return;
    line->figure[line->figures].name = name;
    line->figure[line->figures].format = format == NULL ? "%.3f" : format;
    line->figure[line->figures++].value = value;
}

void symv_line_print(const bench_options *options, const symv_line *line)
{
    const bool json = options->json;
    printf(json ? "{\"case\": \"%s\"" : "case=%s", line->name);
    for (int i = 0; i < line->figures; i++) {
        printf(json ? ", \"%s\": " : " %s=", line->figure[i].name);
        printf(line->figure[i].format, line->figure[i].value);
    }
    puts(json ? "}" : "");
    fflush(stdout);
}
