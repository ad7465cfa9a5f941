/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's types: that of x, y and the sums, and with it which kernels run. Called by bind.
 */
#include "symv/work.h"

enum { SINGLE, DOUBLE, WIDE };
static const lacis_dtype real_of[] = {LACIS_F32, LACIS_F64, LACIS_DD};
static const lacis_dtype complex_of[] = {LACIS_C64, LACIS_C128, LACIS_CDD};

bool lacis_symv_is_complex(lacis_dtype dtype)
{
    return dtype == LACIS_C64 || dtype == LACIS_C128 || dtype == LACIS_CDD;
}

bool lacis_symv_is_wide(lacis_dtype dtype)
{
    return dtype == LACIS_DD || dtype == LACIS_CDD;
}

/* Integers and patterns count as doubles. */
static int level_of(lacis_dtype dtype)
{
    if (lacis_symv_is_wide(dtype)) return WIDE;
    return dtype == LACIS_F32 || dtype == LACIS_C64 ? SINGLE : DOUBLE;
}

static int wider(int level, lacis_dtype dtype)
{
    int other = level_of(dtype);
    return other > level ? other : level;
}

static int level_wanted(const lacis_call *call, const lacis_symv_work *work)
{
    const lacis_arg *precision = lacis_call_arg(call, "PRECISION");
    int level = wider(level_of(work->matrix.dtype), work->x.storage);
    if (work->y.array != NULL) level = wider(level, work->y.storage);
    if (precision == NULL) return level;
    int asked = precision->item[0].integer == 0 ? DOUBLE : WIDE;
    return asked > level ? asked : level;
}

/* Kernels of a real matrix, by its level and that of the vectors. */
static lacis_symv_type real_type(int matrix, int level)
{
    static const lacis_symv_type type[3][3] = {{LACIS_SYMV_F32, LACIS_SYMV_F32_F64, LACIS_SYMV_F32_DD},
                                               {LACIS_SYMV_F64, LACIS_SYMV_F64, LACIS_SYMV_F64_DD},
                                               {LACIS_SYMV_DD, LACIS_SYMV_DD, LACIS_SYMV_DD}};
    return type[matrix][level];
}

static lacis_status complex_matrix(lacis_run *run, const lacis_call *call, lacis_symv_work *work, int level)
{
    static const lacis_symv_type type[] = {LACIS_SYMV_C64, LACIS_SYMV_C128, LACIS_SYMV_CDD};
    const lacis_arg *precision = lacis_call_arg(call, "PRECISION");
    const lacis_dtype own = work->matrix.dtype;
    if (level != level_of(own))
        return lacis_run_fail_at(run, LACIS_TYPE, precision != NULL ? precision->item[0].offset : work->matrix.offset,
                                 NULL,
                                 "SYMV: a complex matrix is computed in its own type: this one is %s, and vectors or "
                                 "PRECISION ask for %s",
                                 lacis_dtype_name(own), lacis_dtype_name(complex_of[level]));
    work->type = type[level];
    work->dtype = own;
    return LACIS_OK;
}

/* Values of a graph are converted to the vectors' type. */
static lacis_status graph_types(lacis_run *run, lacis_symv_work *work, int level, bool pairs)
{
    static const lacis_symv_type real[] = {LACIS_SYMV_F32, LACIS_SYMV_F64},
                                 complex[] = {LACIS_SYMV_C64, LACIS_SYMV_C128};
    const bool complex_values = lacis_symv_is_complex(work->matrix.dtype);
    if (level == WIDE)
        return lacis_run_fail_at(run, LACIS_TYPE, work->matrix.offset, NULL,
                                 "SYMV: by a graph sums are of single or double precision, not of dd");
    work->type = complex_values ? complex[level] : real[level];
    work->split = pairs && !complex_values;
    work->dtype = pairs || complex_values ? complex_of[level] : real_of[level];
    return LACIS_OK;
}

static lacis_status check_words(lacis_run *run, const lacis_call *call, const lacis_symv_work *work)
{
    const lacis_arg *accurate = lacis_call_arg(call, "ACCURATE"), *conj = lacis_call_arg(call, "CONJ");
    if (accurate != NULL && !lacis_symv_is_wide(work->dtype))
        return lacis_run_fail_at(run, LACIS_TYPE, accurate->offset, "PRECISION dd sums in double-double",
                                 "SYMV: ACCURATE is for double-double sums, and these are %s",
                                 lacis_dtype_name(work->dtype));
    if (conj != NULL && !lacis_symv_is_complex(work->matrix.dtype))
        return lacis_run_fail_at(run, LACIS_TYPE, conj->offset, NULL,
                                 "SYMV: CONJ is for complex matrices, and this one is %s",
                                 lacis_dtype_name(work->matrix.dtype));
    return LACIS_OK;
}

lacis_status lacis_symv_bind_types(lacis_run *run, const lacis_call *call, lacis_symv_work *work)
{
    const int level = level_wanted(call, work);
    bool pairs = lacis_symv_is_complex(work->x.storage);
    if (work->y.array != NULL) pairs = pairs || lacis_symv_is_complex(work->y.storage);
    if (work->matrix.sparse) {
        LACIS_TRY(graph_types(run, work, level, pairs));
    } else if (lacis_symv_is_complex(work->matrix.dtype)) {
        LACIS_TRY(complex_matrix(run, call, work, level));
    } else {
        work->type = real_type(level_of(work->matrix.dtype), level);
        work->split = pairs;
        work->dtype = pairs ? complex_of[level] : real_of[level];
    }
    if (work->figures && work->matrix.sparse)
        return lacis_run_fail_at(run, LACIS_TYPE, lacis_call_arg(call, "FIGURES")->offset, NULL,
                                 "SYMV: FIGURES are of dense matrices");
    if (work->figures && work->split)
        return lacis_run_fail_at(run, LACIS_TYPE, lacis_call_arg(call, "FIGURES")->offset, NULL,
                                 "SYMV: FIGURES of a real matrix are of real vectors, and these are %s",
                                 lacis_dtype_name(work->dtype));
    return check_words(run, call, work);
}
