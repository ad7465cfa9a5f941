/* SPDX-License-Identifier: Apache-2.0
 *
 * Models to arrays; see common_model.h. A first pass draws the bodies and sums up blocks, a second one brings each
 * group to its place: sums are taken block by block in their order, whatever thread made them.
 */
#include "common_model.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1 << 13, SUMS = 7, FIGURES = LACIS_BODY_VZ + 1 };

typedef struct making {
    const lacis_model *model;
    const lacis_bodies_maker *maker;
    double (*sum)[SUMS]; /* of each block: mass, mass times place, mass times velocity */
    const lacis_model_group *group;
    int64_t first;         /* row of the group */
    double scale;          /* of masses */
    double shift[FIGURES]; /* of columns */
} making;

/* ---------------------------------------------------------------------------------------- options */

lacis_status lacis_model_real(lacis_run *run, const lacis_options *given, const char *name, double low, double high,
                              double *out)
{
    const lacis_option_value *value = lacis_option(given, name);
    *out = value->real;
    if (*out >= low && *out <= high) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, value->given ? value->offset : -1, NULL,
                             "%s = %g is not between %g and %g", name, *out, low, high);
}

lacis_status lacis_model_begin(lacis_run *run, const lacis_options *given, const char *name, lacis_model *out)
{
    *out = (lacis_model){.name = name, .dtype = lacis_bodies_type(given, LACIS_F64)};
    out->seed = lacis_mix((uint64_t)lacis_option_integer(given, "seed", 1) ^ UINT64_C(0x426f64696573));
    return lacis_generate_integer(run, given, "n", 0, INT64_MAX / 1024, &out->count);
}

lacis_status lacis_model_sphere_read(lacis_run *run, const lacis_options *given, lacis_model_sphere *out)
{
    double range;
    LACIS_TRY(lacis_model_real(run, given, "mass", 0, 1e300, &out->mass));
    LACIS_TRY(lacis_model_real(run, given, "radius", 1e-300, 1e300, &out->radius));
    LACIS_TRY(lacis_model_real(run, given, "virial", 0, 1e3, &out->virial));
    LACIS_TRY(lacis_model_real(run, given, "mass_range", 1, 1e30, &range));
    out->log_range = lacis_model_log(range);
    return LACIS_OK;
}

void lacis_model_pair(lacis_model *model, double mass, double ratio, const double *place, const double *velocity)
{
    lacis_model_group *one = &model->group[0], *two = &model->group[1];
    double part = ratio / (1 + ratio); /* of the second */
    model->groups = 2;
    one->count = (int64_t)((double)model->count * (1 - part) + 0.5);
    two->count = model->count - one->count;
    one->mass = mass * (1 - part);
    two->mass = mass * part;
    for (int i = 0; i < 3; i++) {
        one->place[i] = -part * place[i];
        two->place[i] = (1 - part) * place[i];
        one->velocity[i] = -part * velocity[i];
        two->velocity[i] = (1 - part) * velocity[i];
    }
}

/* ----------------------------------------------------------------------------------------- passes */

static int64_t blocks_of(const making *m)
{
    return (m->group->count + BLOCK - 1) / BLOCK;
}

static int64_t block_end(const making *m, int64_t task)
{
    return m->group->count - task * BLOCK < BLOCK ? m->group->count : (task + 1) * BLOCK;
}

static lacis_status draw_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const making *m = context;
    double *sum = m->sum[task];
    memset(sum, 0, sizeof *m->sum);
    for (int64_t i = task * BLOCK; i < block_end(m, task); i++) {
        int64_t row = m->first + i;
        lacis_model_body body;
        lacis_dice dice = {.key = lacis_mix(m->model->seed + (uint64_t)row)};
        m->model->draw(m->group, i, &dice, &body);
        lacis_body_put(m->maker, LACIS_BODY_M, row, body.mass);
        sum[0] += body.mass;
        for (int c = 0; c < 3; c++) {
            lacis_body_put(m->maker, (lacis_body_column)(LACIS_BODY_X + c), row, body.place[c]);
            lacis_body_put(m->maker, (lacis_body_column)(LACIS_BODY_VX + c), row, body.velocity[c]);
            sum[1 + c] += body.mass * body.place[c];
            sum[4 + c] += body.mass * body.velocity[c];
        }
    }
    return LACIS_OK;
}

static lacis_status move_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const making *m = context;
    lacis_dtype dtype = m->maker->dtype;
    for (int c = 0; c < FIGURES; c++) {
        double scale = c == LACIS_BODY_M ? m->scale : 1;
        for (int64_t row = m->first + task * BLOCK; row < m->first + block_end(m, task); row++)
            lacis_body_put(m->maker, (lacis_body_column)c, row,
                           lacis_value_double(m->maker->column[c], dtype, row) * scale + m->shift[c]);
    }
    return LACIS_OK;
}

/* What brings the group, as it was drawn, to where it should be. */
static void settle(making *m)
{
    double all[SUMS] = {0};
    for (int64_t b = 0; b < blocks_of(m); b++)
        for (int k = 0; k < SUMS; k++)
            all[k] += m->sum[b][k];
    m->scale = all[0] > 0 ? m->group->mass / all[0] : 0;
    m->shift[LACIS_BODY_M] = 0;
    for (int c = 0; c < 3; c++) {
        double place = all[0] > 0 ? all[1 + c] / all[0] : 0, velocity = all[0] > 0 ? all[4 + c] / all[0] : 0;
        m->shift[LACIS_BODY_X + c] = m->group->place[c] - place;
        m->shift[LACIS_BODY_VX + c] = m->group->velocity[c] - velocity;
    }
}

static lacis_status make_group(lacis_run *run, making *m)
{
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)blocks_of(m) * sizeof *m->sum, &m->sum));
    lacis_status status = lacis_run_parallel(run, blocks_of(m), draw_block, m);
    if (status == LACIS_OK) {
        settle(m);
        status = lacis_run_parallel(run, blocks_of(m), move_block, m);
    }
    lacis_run_free(run, m->sum);
    return status;
}

/* Options may be so large or small that figures leave the range of their type. */
static lacis_status check(const lacis_bodies_maker *maker)
{
    int64_t row;
    lacis_body_column column;
    const char *cause;
    LACIS_TRY(lacis_bodies_first_fault(maker, &row, &column, &cause));
    if (row < 0) return LACIS_OK;
    return lacis_run_fail(maker->run, LACIS_RANGE, "%s: %s of body %lld %s; change mass, radius or type", maker->what,
                          lacis_body_names[column], (long long)row, cause);
}

lacis_status lacis_model_make(lacis_run *run, const lacis_model *model, lacis_array **out)
{
    lacis_bodies_maker maker;
    making m = {.model = model, .maker = &maker};
    LACIS_TRY(lacis_bodies_begin(run, model->name, model->count, model->dtype, 0, &maker));
    lacis_status status = LACIS_OK;
    for (int g = 0; g < model->groups && status == LACIS_OK; g++) {
        m.group = &model->group[g];
        status = make_group(run, &m);
        m.first += m.group->count;
    }
    if (status == LACIS_OK) status = check(&maker);
    return lacis_bodies_end(&maker, status, out);
}
