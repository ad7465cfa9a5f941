/* SPDX-License-Identifier: Apache-2.0
 *
 * What TUNE measured, as tables for people to look at: operators give it through lacis_tune_keep, exec/tune.c enters
 * it.
 */
#include "plan/plan.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

struct lacis_tune_kept {
    struct lacis_tune_kept *next; /* kept before */
    char name[LACIS_TUNE_TEXT + 8];
    lacis_array *table;
};

/* "SYMV f64 LOWER by 16": tuned_symv_f64_lower_by_16 */
static void name_table(const char *name, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "tuned_");
    for (; *name != '\0' && used + 1 < size; name++)
        text[used++] = isalnum((unsigned char)*name) ? (char)tolower((unsigned char)*name) : '_';
    text[used] = '\0';
}

static double best_of(const lacis_tune_curves *curves, int size)
{
    double best = INFINITY;
    for (int h = 0; h < curves->hands; h++) {
        double seconds = curves->seconds[size * curves->hands + h];
        if (seconds >= 0 && seconds < best) best = seconds;
    }
    return best;
}

static lacis_status add_sizes(lacis_run *run, lacis_array *table, const lacis_tune_curves *curves)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)curves->sizes, &buffer));
    memcpy(lacis_buffer_data(buffer), curves->size, sizeof(int64_t) * (size_t)curves->sizes);
    lacis_status status = lacis_array_add(run, table, "n", LACIS_I64, curves->sizes, buffer, 0);
    lacis_buffer_release(buffer); /* the array keeps its own hold */
    return status;
}

static lacis_status add_hand(lacis_run *run, lacis_array *table, const lacis_tune_curves *curves, int hand)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, sizeof(double) * (uint64_t)curves->sizes, &buffer));
    double *ratio = lacis_buffer_data(buffer);
    for (int size = 0; size < curves->sizes; size++) {
        double seconds = curves->seconds[size * curves->hands + hand], best = best_of(curves, size);
        ratio[size] = seconds < 0 ? NAN : best > 0 ? seconds / best : 1;
    }
    lacis_status status = lacis_array_add(run, table, curves->name[hand], LACIS_F64, curves->sizes, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status make_table(lacis_run *run, const lacis_tune_curves *curves, lacis_array **out)
{
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, curves->sizes, 0, out));
    lacis_status status = add_sizes(run, *out, curves);
    for (int h = 0; h < curves->hands && status == LACIS_OK; h++)
        status = add_hand(run, *out, curves, h);
    if (status != LACIS_OK) lacis_array_release(*out);
    return status;
}

lacis_status lacis_tune_keep(lacis_run *run, lacis_profile *profile, const char *name,
                             const lacis_tune_curves *curves)
{
    struct lacis_tune_kept *kept;
    LACIS_TRY(lacis_run_alloc(run, sizeof *kept, &kept));
    lacis_status status = make_table(run, curves, &kept->table);
    if (status != LACIS_OK) {
        lacis_run_free(run, kept);
        return status;
    }
    name_table(name, kept->name, sizeof kept->name);
    kept->next = profile->curve;
    profile->curve = kept;
    return LACIS_OK;
}

lacis_status lacis_tune_kept(lacis_profile *profile, lacis_curves_fn fn, void *arg)
{
    lacis_status status = LACIS_OK;
    while (profile->curve != NULL) {
        struct lacis_tune_kept *kept = profile->curve;
        if (fn != NULL && status == LACIS_OK) status = fn(arg, kept->name, kept->table);
        profile->curve = kept->next;
        lacis_array_release(kept->table);
        lacis_memory_free(profile->host->memory, kept);
    }
    return status;
}
