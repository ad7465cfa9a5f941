/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of NBODY or ACCELERATE by any variant: the bodies as columns, a system of them, the rule that keeps ERROR,
 * and what the verb does with it.
 */
#include "nbody/system.h"

/* Accelerations that came with the bodies are theirs under this G and softening, or were they made with others? A few
 * direct sums tell; trees are never so far off. */
static lacis_status check_felt(lacis_nbody_system *system)
{
    enum { SAMPLE = 16 };
    const double far_off = 0.1, of_moduli = 0.01;
    const lacis_nbody_rule rule = system->rule;
    lacis_nbody_errors errors;
    if (!system->felt) return LACIS_OK;
    if (system->work->last) {
        lacis_nbody_rule_set(system, &rule);
        return LACIS_OK;
    }
    LACIS_TRY(system->kind->certify(system, SAMPLE, &errors));
    system->felt = !(errors.relative[0] > far_off && errors.scaled[0] > of_moduli);
    if (!system->felt)
        lacis_run_note(system->run, LACIS_WARNING,
                       "the accelerations of these bodies are not those of this G and softening: computed anew");
    if (!system->felt || system->work->accelerate) lacis_nbody_rule_set(system, &rule);
    return LACIS_OK;
}

static lacis_status with_system(lacis_nbody_system *system, const lacis_nbody_input *input, int64_t begin,
                                int64_t end, lacis_array **out)
{
    const lacis_nbody_work *work = system->work;
    LACIS_TRY(check_felt(system));
    if (work->error > 0) LACIS_TRY(lacis_nbody_search(system));
    if (work->accelerate) return lacis_nbody_run_field(system, begin, end, out);
    return lacis_nbody_run_steps(system, input, out);
}

lacis_status lacis_nbody_run(lacis_run *run, const lacis_call *call, lacis_nbody_way way, lacis_nbody_maker make,
                             int64_t begin, int64_t end, lacis_array **out)
{
    lacis_nbody_input input;
    lacis_nbody_system *system = NULL;
    lacis_nbody_work *work = call->work;
    work->wanted = work->last ? end : 0;
    LACIS_TRY(lacis_nbody_take(run, work, &input));
    lacis_status status = make(run, call, &input, way, &system);
    if (status == LACIS_OK) status = with_system(system, &input, begin, end, out);
    if (status == LACIS_OK) lacis_nbody_tell_counts(system);
    if (system != NULL) system->kind->free(system);
    lacis_nbody_give(run, &input);
    return status;
}
