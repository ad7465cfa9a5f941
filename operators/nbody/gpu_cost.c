/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU variants before they run: whether kernels can do a call and the device may be asked for it, and what it
 * would cost with the copies that are needed. Called through variants.c.
 */
#include "nbody/device.h"

#ifdef LACIS_GPU_KERNELS

/* Where nobody has calibrated: lines through steps of runs on an H200, from 50,000 to 5 million bodies, with the
 * terms that model.c expects (docs/performance.md). What a tree and its walk take however few bodies there are is a
 * call's.
 */
typedef struct figure {
    const char *name;
    double value;
} figure;
static const figure terms[LACIS_NBODY_TYPES][LACIS_NBODY_FIGURES] = {
    [LACIS_NBODY_F32] = {{"nbody.gpu.f32.pair_ns", 3.9e-4},
                         {"nbody.gpu.f32.monopole_ns", 1.2e-3},
                         {"nbody.gpu.f32.quadrupole_ns", 1.25e-3}},
    [LACIS_NBODY_F64] = {{"nbody.gpu.f64.pair_ns", 9.5e-4},
                         {"nbody.gpu.f64.monopole_ns", 2.4e-3},
                         {"nbody.gpu.f64.quadrupole_ns", 2.5e-3}},
    [LACIS_NBODY_MIXED] = {{"nbody.gpu.mixed.pair_ns", 6.7e-4},
                           {"nbody.gpu.mixed.monopole_ns", 1.6e-3},
                           {"nbody.gpu.mixed.quadrupole_ns", 1.7e-3}},
};
static const figure calls[LACIS_NBODY_WAYS] = {[LACIS_NBODY_DIRECT] = {"nbody.gpu.pairs_call_seconds", 1.2e-5},
                                               [LACIS_NBODY_TREE] = {"nbody.gpu.tree_call_seconds", 3.1e-4},
                                               [LACIS_NBODY_INSERT] = {"nbody.gpu.insertion_call_seconds", 7.2e-4}};
static const figure builds[LACIS_NBODY_WAYS] = {[LACIS_NBODY_DIRECT] = {"nbody.gpu.move_ns", 0.02},
                                                [LACIS_NBODY_TREE] = {"nbody.gpu.build_ns", 0.21},
                                                [LACIS_NBODY_INSERT] = {"nbody.gpu.insertion_ns", 1.25}};

const char *lacis_nbody_gpu_figure(lacis_nbody_type type, int what)
{
    return terms[type][what].name;
}

const char *lacis_nbody_gpu_call_figure(lacis_nbody_way way)
{
    return calls[way].name;
}

const char *lacis_nbody_gpu_build_figure(lacis_nbody_way way)
{
    return builds[way].name;
}

static double get(const lacis_profile *profile, const figure *of)
{
    return lacis_profile_get(profile, of->name, of->value);
}

/* --- bytes -------------------------------------------------------------------------------------------- */

/* Columns that go to the device. gpu NULL: it is not started, nothing is there yet. */
static double bytes_to_send(lacis_gpu *gpu, const lacis_nbody_work *work)
{
    const lacis_bodies *b = &work->bodies;
    const double column = (double)lacis_nbody_size(work->type) * (double)b->count;
    const bool converted = b->dtype != work->dtype;
    double bytes = 0;
    for (int i = 0; i < LACIS_NBODY_COLUMNS; i++) {
        if (work->accelerate && i >= LACIS_NBODY_VX && i <= LACIS_NBODY_VZ) continue;
        if (lacis_array_part_named(work->array, lacis_nbody_column_name[i]) == NULL) continue;
        bytes += converted ? column : (double)lacis_gpu_part_missing(gpu, work->array, lacis_nbody_column_name[i]);
    }
    return bytes + 3 * (double)lacis_nbody_size(work->type) * (double)work->places.count;
}

static double bytes_there(const lacis_nbody_work *work, lacis_nbody_way way)
{
    const lacis_nbody_start start = lacis_nbody_start_of(work, way);
    return (double)lacis_nbody_gpu_bytes(&start);
}

/* --- can ---------------------------------------------------------------------------------------------- */

/* The most that the processor takes by the better of its ways, twice as long as calibrated, against calls and copies.
 */
static bool worth(const lacis_call *call, lacis_nbody_way way, char *reason, size_t size)
{
    const double margin = 2;
    const lacis_nbody_work *work = call->work;
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    const lacis_profile *own = lacis_gpu_figures(gpu, call->profile);
    const double threads = lacis_run_threads(work->run);
    double pairs = lacis_nbody_cpu_seconds(work, LACIS_NBODY_DIRECT, call->profile, threads);
    double tree = lacis_nbody_cpu_seconds(work, LACIS_NBODY_TREE, call->profile, threads);
    double device = lacis_nbody_evaluations(work) * get(own, &calls[way]) +
                    lacis_gpu_copy_seconds(gpu, own, bytes_to_send(gpu, work), lacis_nbody_result_bytes(work));
    return lacis_gpu_worth(call, work->run, LACIS_NBODY_LOAD_FIGURE, margin * (pairs < tree ? pairs : tree), device,
                           reason, size);
}

static bool has_room(lacis_gpu *gpu, double need, char *reason, size_t size)
{
    const double mega = 1e-6;
    if (gpu == NULL || need <= (double)lacis_gpu_memory_left(gpu)) return true;
    snprintf(reason, size, "bodies and tree take %.4g MB of its memory, of which %.4g MB are left", mega * need,
             mega * (double)lacis_gpu_memory_left(gpu));
    return false;
}

/* The device is started here only where it is demanded: a plan that does not choose it must leave it alone. */
bool lacis_nbody_gpu_can(const lacis_call *call, lacis_nbody_way way, char *reason, size_t size)
{
    const lacis_nbody_work *work = call->work;
    const lacis_nbody_start start = lacis_nbody_start_of(work, way);
    if (!lacis_gpu_possible(work->run, reason, size)) return false;
    const char *why = lacis_nbody_gpu_refuses(&start);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    if (!worth(call, way, reason, size)) return false;
    if (call->on == LACIS_ON_GPU && lacis_run_gpu(work->run, reason, size) == NULL) return false;
    return has_room(lacis_gpu_at_hand(work->run), bytes_to_send(NULL, work) + bytes_there(work, way), reason, size);
}

/* --- costs -------------------------------------------------------------------------------------------- */

static double field_seconds(const lacis_nbody_work *work, lacis_nbody_way way, const lacis_profile *profile)
{
    const double n = (double)work->bodies.count,
                 targets = work->places.array == NULL ? n : (double)work->places.count;
    const int term =
        work->rule.order == LACIS_NBODY_QUADRUPOLE ? LACIS_NBODY_TERM_QUADRUPOLE : LACIS_NBODY_TERM_MONOPOLE;
    if (way == LACIS_NBODY_DIRECT) return 1e-9 * targets * n * get(profile, &terms[work->type][LACIS_NBODY_PAIR]);
    return 1e-9 * targets * lacis_nbody_terms(&work->rule, n) * get(profile, &terms[work->type][term]);
}

/* Where walks take much longer than launches and copies do. */
static const double SHARED = 1e-3, WORTH_SHARING = 0.1, WORTH_STARTING = 3; /* seconds: of a walk; of all */

int lacis_nbody_gpus_for(const lacis_nbody_work *work, lacis_nbody_way way, bool start, lacis_gpu **gpu)
{
    const bool own = !work->common && lacis_array_part_named(work->array, lacis_nbody_column_name[LACIS_NBODY_EPS]);
    const bool forced = lacis_run_gpus_forced(work->run);
    const double walk = field_seconds(work, way, NULL), all = lacis_nbody_evaluations(work) * walk;
    if (gpu[0] == NULL || way != LACIS_NBODY_TREE || own || work->bodies.count == 0) return 1;
    if (work->places.array != NULL || work->wanted > 0) return 1; /* few targets, or a piece of a rank's */
    if (!forced && (walk < SHARED || all < WORTH_SHARING)) return 1;
    const int gpus = lacis_run_gpus(work->run, start && (forced || all >= WORTH_STARTING), gpu);
    return gpus < LACIS_NBODY_GPUS_MOST ? gpus : LACIS_NBODY_GPUS_MOST;
}

static void estimate(const lacis_nbody_work *work, lacis_nbody_way way, const lacis_profile *profile,
                     lacis_nbody_estimate *out)
{
    const double n = (double)work->bodies.count;
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run), *all[LACIS_GPUS] = {gpu};
    const lacis_profile *own = lacis_gpu_figures(gpu, profile);
    *out = (lacis_nbody_estimate){.known = true, .evaluations = lacis_nbody_evaluations(work)};
    out->field = field_seconds(work, way, own) / lacis_nbody_gpus_for(work, way, false, all);
    out->build = get(own, &calls[way]) + 1e-9 * n * get(own, &builds[way]);
    out->direct = 1e-9 * lacis_nbody_direct_pairs(work) * get(own, &terms[LACIS_NBODY_F64][LACIS_NBODY_PAIR]);
    out->copies = lacis_gpu_copy_seconds(gpu, own, bytes_to_send(gpu, work), lacis_nbody_result_bytes(work));
    out->once = lacis_gpu_start_seconds(work->run, own, LACIS_NBODY_LOAD_FIGURE);
    out->bytes = bytes_there(work, way);
}

lacis_status lacis_nbody_gpu_cost(lacis_run *run, const lacis_call *call, lacis_nbody_way way,
                                  const lacis_profile *profile, lacis_cost *out)
{
    lacis_nbody_work *work = call->work;
    (void)run;
    estimate(work, way, profile, &work->gpu[way]);
    const lacis_nbody_estimate *e = &work->gpu[way];
    *out = (lacis_cost){.seconds = e->once + e->copies + e->direct + e->evaluations * (e->field + e->build),
                        .products = lacis_nbody_products(work, way),
                        .entries = (double)call->extent[0],
                        .bytes = lacis_nbody_result_bytes(work),
                        .once = e->once,
                        .kind = lacis_nbody_type_name(work->type)};
    out->peak_bytes = out->bytes + (double)lacis_nbody_take_bytes(work);
    return LACIS_OK;
}

#else

bool lacis_nbody_gpu_can(const lacis_call *call, lacis_nbody_way way, char *reason, size_t size)
{
    const lacis_nbody_work *work = call->work;
    (void)way;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Never asked, since lacis_nbody_gpu_can says no. */
lacis_status lacis_nbody_gpu_cost(lacis_run *run, const lacis_call *call, lacis_nbody_way way,
                                  const lacis_profile *profile, lacis_cost *out)
{
    (void)call, (void)way, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif
