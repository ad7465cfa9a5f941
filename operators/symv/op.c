/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV: symmetric and Hermitian matrices times vectors. This file is the descriptor from which parser, completion,
 * help, planner and EXPLAIN work; the engine's registry names it.
 */
#include "symv/device.h"
#include "symv/sparse.h"
#include "symv/tune.h"

#include <inttypes.h>

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "a symmetric matrix, a batch of them, or a graph of one triangle"},
    {.keyword = "BY", .form = "%a", .required = true, .help = "x: a vector, or a batch whose lanes are vectors"},
    {.keyword = "ADD", .form = "%a", .help = "y: what BETA is a factor of; like x"},
    {.keyword = "ALPHA", .form = "%z", .help = "factor of the product; 1 where it is left out"},
    {.keyword = "BETA", .form = "%z", .help = "factor of ADD's y; 1 where it is left out. 0: y is not read"},
    {.keyword = "UPPER", .form = "", .help = "the upper triangle is read, whichever the array says"},
    {.keyword = "LOWER", .form = "", .help = "the lower triangle is read"},
    {.keyword = "CONJ", .form = "", .help = "a complex matrix is Hermitian, whatever the array says"},
    {.keyword = "PRECISION", .form = "F64|DD", .help = "of sums and results, where operands have less"},
    {.keyword = "ACCURATE", .form = "", .help = "double-double sums by accurate additions, not by sloppy ones"},
    {.keyword = "ORDER",
     .form = "FIXED|FREE|CANONICAL",
     .help = "of sums: the same on every run; any; the same on every device"},
    {.keyword = "FIGURES", .form = "", .help = "of each vector x^H A x and y's norms, in place of y"},
};

static const char *const examples[] = {
    "SYMV a BY x",
    "SYMV a BY x ADD y ALPHA 2 BETA -0.5",
    "SYMV a BY x PRECISION dd ACCURATE",
    "SYMV a BY x ORDER canonical",
    "SYMV a BY x FIGURES",
    NULL,
};

static const char help[] =
    "SYMV a BY x gives alpha A x, and with ADD y: alpha A x + beta y, for a matrix A that is\n"
    "symmetric, Hermitian or complex symmetric, of which one triangle is read, once.\n"
    "\n"
    "a is an array of that kind, one matrix or a batch, full or packed, in f32, f64, c64, c128, dd or\n"
    "cdd; or a square graph, of whose entries those of one triangle count. x is a vector, or a batch\n"
    "(lane, row, value): its lanes are right sides of the matrix, all done in one pass; of a batch of\n"
    "matrices lane l goes with matrix l. The result is like x.\n"
    "\n"
    "Sums and results have the wider type of a, x and y; PRECISION f64 or dd asks for more. ACCURATE\n"
    "takes double-double additions with a bound relative to the sum. ORDER canonical, which SET\n"
    "deterministic = on means as well, gives the same bits on the CPU, on any GPU and on any number of\n"
    "threads; fixed, the default, the same bits on every run of one device; free whatever is fastest.\n"
    "\n"
    "UPPER and LOWER say which triangle is read where both are there; CONJ takes a complex matrix as\n"
    "Hermitian. With BETA 0 y is never read. FIGURES gives a table in place of the vectors: x^H A x, and\n"
    "the 1-norm, 2-norm and greatest modulus of each y, which is not stored.\n"
    "\n"
    "On GPUs after CUDA-xSYMV (Imamura, Yamada, Machida: ASPEN.K2); double-double after Dekker (1971),\n"
    "Li et al. (2002) and Joldes, Muller and Popescu (2017).";

static const char *symmetry(const lacis_symv_work *work)
{
    if (!lacis_symv_is_complex(work->matrix.dtype)) return "symmetric";
    return work->matrix.hermitian ? "Hermitian" : "complex symmetric";
}

static lacis_status explain_matrix(lacis_run *run, const lacis_symv_work *work, lacis_lines *lines)
{
    const lacis_symv_matrix *matrix = &work->matrix;
    const double bytes = lacis_symv_triangle_bytes(work), mega = 1e6, unit = bytes < mega ? 1e3 : mega;
    const char *batch = "";
    if (matrix->matrices != 1) batch = lacis_run_text(run, "%" PRId64 " of up to ", matrix->matrices);
    if (batch == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    return lacis_lines_add(lines, "matrix: %s, %s, %s triangle%s, %s%" PRId64 " x %" PRId64 ": %.4g %s of it read",
                           symmetry(work), lacis_dtype_name(matrix->dtype),
                           matrix->uplo == LACIS_SYMV_UPPER ? "upper" : "lower",
                           matrix->sparse   ? " of a graph"
                           : matrix->packed ? ", packed"
                                            : "",
                           batch, matrix->most, matrix->most, bytes / unit, bytes < mega ? "kB" : "MB");
}

static lacis_status explain_vectors(const lacis_symv_work *work, lacis_lines *lines)
{
    const char *copied = work->x.direct                   ? "read where it lies"
                         : work->scattered                ? "copied lane beside lane"
                         : work->x.batch                  ? "copied"
                         : work->x.storage != work->dtype ? "converted"
                                                          : "put in the order of the rows";
    return lacis_lines_add(lines, "vectors: %" PRId64 "%s, x of %s %s%s", work->x.lanes,
                           work->split ? ", complex as two real ones each" : "", lacis_dtype_name(work->x.storage),
                           copied,
                           work->y.array == NULL ? "; no y"
                           : !work->adds         ? "; y not read"
                           : work->y.direct      ? "; y read where it lies"
                                                 : "; y copied");
}

static lacis_status explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    static const char *const orders[] = {"fixed (the same bits on any number of threads)", "free (bits may differ)",
                                         "canonical (the same bits everywhere)"};
    const lacis_symv_work *work = call->work;
    if (work->blank) return LACIS_OK;
    LACIS_TRY(explain_matrix(run, work, lines));
    LACIS_TRY(explain_vectors(work, lines));
    LACIS_TRY(lacis_lines_add(lines, "sums: %s%s, order %s; vector instructions: %s", lacis_dtype_name(work->dtype),
                              !lacis_symv_is_wide(work->dtype) ? ""
                              : work->accurate                 ? ", accurate additions"
                                               : ", sloppy additions (the faster kind; ACCURATE takes the other)",
                              orders[work->order], lacis_isa_words(lacis_symv_isa())));
    return lacis_symv_gpu_explain(call, lines);
}

static const lacis_variant *const variants[] = {&lacis_symv_cpu, &lacis_symv_gpu, &lacis_symv_sparse_cpu,
                                                &lacis_symv_sparse_gpu};

const lacis_op lacis_op_symv = {
    .verb = "SYMV",
    .summary = "symmetric and Hermitian matrices times vectors",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "elements",
    .bind = lacis_symv_bind,
    .explain = explain,
    .calibrate = lacis_symv_calibrate,
    .tune = lacis_symv_tune,
    .variants = variants,
    .variant_count = LACIS_COUNT(variants),
};
