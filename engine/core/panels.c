/* SPDX-License-Identifier: Apache-2.0
 *
 * Panels of work dealt over GPUs, as lacis_extend_gpu.h says. Lanes take panels in the order of their units, compute
 * side by side, and take their places in that order, so that results do not depend on who was faster. Whoever waits
 * for his place while a panel before his has come back (its device failed, or it was too large) gives his own back as
 * well: the lowest panel never waits, so the work goes on for as long as one device does. Called by operators' GPU
 * variants.
 */
#include "core/device.h"

#include "common/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { LANES = 2, BACKS = 64 * LACIS_GPUS };

/* Units that nobody works on at the moment. */
struct range {
    int64_t first, count, place;
    bool placed;
};

struct deal {
    lacis_run *run;
    const lacis_panels *work;
    lacis_panels_report *report;
    lacis_gpu *gpu[LACIS_GPUS];
    int gpus;
    pthread_mutex_t computing[LACIS_GPUS], copying[LACIS_GPUS];
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    int64_t next;   /* from here on nothing was dealt yet */
    int64_t placed; /* all before has its place */
    int64_t done;   /* units */
    struct range back[BACKS];
    int backs;
    int running;             /* lanes */
    int busy[LACIS_GPUS];    /* panels that a device holds */
    bool single[LACIS_GPUS]; /* it has no room for two */
    bool out[LACIS_GPUS];    /* it cannot go on */
    lacis_status stop;
};

struct lane {
    struct deal *deal;
    int device;
    pthread_t thread;
    lacis_panel panel;
    bool placed;
};

/* ------------------------------------------------------------------------------------------- dealing */

static void give_back(struct deal *deal, int64_t first, int64_t count, int64_t place, bool placed)
{
    if (deal->backs == BACKS) { /* a lane that halves panels leaves one for each time */
        deal->stop = LACIS_MISUSE;
        return;
    }
    deal->back[deal->backs++] = (struct range){first, count, place, placed};
}

static bool back_before(const struct deal *deal, int64_t first)
{
    for (int i = 0; i < deal->backs; i++)
        if (deal->back[i].first < first) return true;
    return false;
}

/* The lowest panel that is left; false: there is none at the moment. */
static bool take(struct lane *lane)
{
    struct deal *deal = lane->deal;
    const lacis_panels *work = deal->work;
    lacis_panel *panel = &lane->panel;
    int lowest = 0;
    panel->place = 0;
    lane->placed = false;
    if (deal->backs == 0) {
        if (deal->next >= work->end) return false;
        panel->first = deal->next;
        panel->count = work->size(work->context, panel->gpu, lane->device, deal->next, work->end);
        deal->next += panel->count;
        return true;
    }
    for (int i = 1; i < deal->backs; i++)
        if (deal->back[i].first < deal->back[lowest].first) lowest = i;
    panel->first = deal->back[lowest].first;
    panel->count = deal->back[lowest].count;
    panel->place = deal->back[lowest].place;
    lane->placed = deal->back[lowest].placed;
    deal->back[lowest] = deal->back[--deal->backs];
    return true;
}

static void device_out(struct deal *deal, int device)
{
    deal->out[device] = true;
    deal->report->lost[device] = true;
}

/* ---------------------------------------------------------------------------------------- one panel */

static lacis_status timed(struct deal *deal, int device, pthread_mutex_t *lock, lacis_panel *panel, bool compute)
{
    const lacis_panels *work = deal->work;
    pthread_mutex_lock(lock);
    double start = lacis_now();
    lacis_status status = compute ? work->compute(work->context, panel) : work->fetch(work->context, panel);
    if (compute && status == LACIS_OK && work->fetch != NULL) {
        int code = lacis_device_follow(panel->gpu);
        if (code != 0) status = lacis_gpu_broke(panel->gpu, code);
    }
    *(compute ? &deal->report->compute_seconds[device] : &deal->report->copy_seconds[device]) += lacis_now() - start;
    pthread_mutex_unlock(lock);
    return status;
}

/* Waits for the panel's turn; false: it goes back, or the work has ended. The lock is held. */
static bool find_place(struct lane *lane)
{
    struct deal *deal = lane->deal;
    lacis_panel *panel = &lane->panel;
    while (!lane->placed && deal->placed != panel->first && deal->stop == LACIS_OK &&
           !back_before(deal, panel->first))
        pthread_cond_wait(&deal->changed, &deal->lock);
    if (deal->stop != LACIS_OK) return false;
    if (lane->placed) return true;
    if (deal->placed != panel->first) return false;
    deal->stop = deal->work->place(deal->work->context, panel);
    deal->placed = panel->first + panel->count;
    lane->placed = true;
    return deal->stop == LACIS_OK;
}

static const char *unit_of(const lacis_panels *work)
{
    return work->unit != NULL ? work->unit : "row";
}

/* There was no room for the panel. The lock is held. */
static void too_large(struct lane *lane)
{
    struct deal *deal = lane->deal;
    lacis_panel *panel = &lane->panel;
    int64_t half = panel->count / 2;
    int64_t together = deal->work->together, cut = together > 0 ? (panel->first + half) % together : 0;
    bool shared = deal->busy[lane->device] > 1;
    if (half > cut) half -= cut;
    if (shared) deal->single[lane->device] = true;
    if (shared || lane->placed || half == 0) {
        give_back(deal, panel->first, panel->count, panel->place, lane->placed);
        if (shared) return;
        pthread_mutex_lock(&panel->gpu->failing);
        snprintf(panel->gpu->reason, sizeof panel->gpu->reason,
                 "the GPU's memory (%.3g GB for this database) does not hold one %s's work besides the operands",
                 1e-9 * (double)panel->gpu->facts.budget, unit_of(deal->work));
        pthread_mutex_unlock(&panel->gpu->failing);
        device_out(deal, lane->device);
        return;
    }
    give_back(deal, panel->first, half, 0, false);
    give_back(deal, panel->first + half, panel->count - half, 0, false);
}

/* Called and left with the lock held. */
static void run_panel(struct lane *lane)
{
    struct deal *deal = lane->deal;
    lacis_panel *panel = &lane->panel;
    int device = lane->device;
    deal->busy[device]++;
    pthread_mutex_unlock(&deal->lock);
    if (deal->work->own_bytes > 0) memset(panel->own, 0, deal->work->own_bytes);
    lacis_status status = timed(deal, device, &deal->computing[device], panel, true);
    pthread_mutex_lock(&deal->lock);
    bool go = status == LACIS_OK && find_place(lane), fetch = go && deal->work->fetch != NULL;
    pthread_cond_broadcast(&deal->changed);
    pthread_mutex_unlock(&deal->lock);
    if (fetch) status = timed(deal, device, &deal->copying[device], panel, false);
    deal->work->drop(deal->work->context, panel);
    if (status == LACIS_LIMIT && panel->gpu->state != LACIS_GPU_READY)
        status = LACIS_UNSUPPORTED; /* lost meanwhile */
    pthread_mutex_lock(&deal->lock);
    if (status == LACIS_LIMIT) {
        too_large(lane);
    } else if (status == LACIS_UNSUPPORTED) {
        device_out(deal, device);
        give_back(deal, panel->first, panel->count, panel->place, lane->placed);
    } else if (status != LACIS_OK) {
        deal->stop = status;
    } else if (!go) {
        give_back(deal, panel->first, panel->count, panel->place, lane->placed);
    } else {
        deal->done += panel->count;
        deal->report->panels[device]++;
    }
    deal->busy[device]--;
    pthread_cond_broadcast(&deal->changed);
}

/* -------------------------------------------------------------------------------------------- lanes */

static bool over(const struct lane *lane)
{
    const struct deal *deal = lane->deal;
    return deal->stop != LACIS_OK || deal->out[lane->device] || deal->done == deal->work->end - deal->work->begin;
}

/* Takes panels until there is nothing left to do. The lock is held. */
static void lane_work(struct lane *lane)
{
    struct deal *deal = lane->deal;
    while (!over(lane)) {
        if (lacis_run_cancelled(deal->run)) {
            deal->stop = LACIS_INTERRUPT;
        } else if ((deal->single[lane->device] && deal->busy[lane->device] > 0) || !take(lane)) {
            pthread_cond_wait(&deal->changed, &deal->lock);
        } else {
            run_panel(lane);
        }
    }
    deal->running--;
    pthread_cond_broadcast(&deal->changed);
}

static void *lane_main(void *arg)
{
    struct lane *lane = arg;
    struct deal *deal = lane->deal;
    lacis_gpu *gpu = lane->panel.gpu;
    int code = LACIS_DRIVER(gpu, enter, gpu->device);
    if (code != 0) lacis_device_failed(gpu, code);
    pthread_mutex_lock(&deal->lock);
    if (code != 0) device_out(deal, lane->device);
    lane_work(lane);
    pthread_mutex_unlock(&deal->lock);
    return NULL;
}

/* The statement's thread meanwhile: it alone may report. The lock is held. */
static void supervise(struct deal *deal)
{
    const long tenth = 100000000, second = 1000000000;
    const lacis_panels *work = deal->work;
    while (deal->running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += tenth;
        until.tv_sec += until.tv_nsec / second;
        until.tv_nsec %= second;
        pthread_cond_timedwait(&deal->changed, &deal->lock, &until);
        if (work->verb == NULL) continue;
        double done = (double)deal->done / (double)(work->end - work->begin);
        lacis_run_progress(deal->run, work->verb, work->fraction != NULL ? work->fraction(work->context) : done);
    }
}

/* Lanes as the run's threads take them, the statement's as it supervises. */
struct awake {
    struct deal *deal;
    struct lane *lane;
    int lanes;
    _Atomic int next;
};

static void take_lanes(struct awake *awake)
{
    for (int i; (i = atomic_fetch_add(&awake->next, 1)) < awake->lanes;)
        lane_main(&awake->lane[i]);
}

/* The statement's thread does the work itself where no other comes. */
static int take_awake(void *context, int64_t task, int worker)
{
    const double patience = 2e-3;
    struct awake *awake = context;
    (void)task;
    double start = lacis_now();
    while (worker == 0 && awake->next == 0 && lacis_now() - start < patience)
        sched_yield();
    if (worker != 0 || awake->next == 0) {
        take_lanes(awake);
        return 0;
    }
    pthread_mutex_lock(&awake->deal->lock);
    supervise(awake->deal);
    pthread_mutex_unlock(&awake->deal->lock);
    return 0;
}

static void run_awake(struct deal *deal, struct lane *lane, int lanes)
{
    struct awake awake = {.deal = deal, .lane = lane, .lanes = lanes};
    int threads = lacis_run_threads(deal->run);
    deal->running = lanes;
    lacis_parallel(threads, threads, take_awake, &awake);
    take_lanes(&awake); /* none is left, unless the statement's thread was alone */
}

/* Lanes on threads of their own. Where none can be started the work is done on this one. */
static void run_lanes(struct deal *deal, struct lane *lane, int lanes)
{
    int started = 0;
    pthread_mutex_lock(&deal->lock);
    for (int i = 0; i < lanes; i++) {
        deal->running++;
        struct lane spare = lane[started];
        lane[started] = lane[i];
        lane[i] = spare;
        if (pthread_create(&lane[started].thread, NULL, lane_main, &lane[started]) == 0)
            started++;
        else
            deal->running--;
    }
    if (started > 0) supervise(deal);
    pthread_mutex_unlock(&deal->lock);
    for (int i = 0; i < started; i++)
        pthread_join(lane[i].thread, NULL);
    if (started > 0) return;
    pthread_mutex_lock(&deal->lock);
    deal->running++;
    lane_work(&lane[0]);
    pthread_mutex_unlock(&deal->lock);
}

/* ------------------------------------------------------------------------------------------- report */

static void count_devices(lacis_run *run, const struct deal *deal, const uint64_t *before)
{
    lacis_panels_report *report = deal->report;
    double sum = 0;
    char what[48];
    for (int i = 0; i < deal->gpus; i++) {
        report->bytes[i] = deal->gpu[i]->fetched - before[i];
        if (report->bytes[i] > 0)
            lacis_device_learn(run, deal->gpu[i], report->bytes[i], report->copy_seconds[i], false);
        sum += report->compute_seconds[i] + report->copy_seconds[i];
        lacis_run_count(run, "GPU panels", (double)report->panels[i]);
        snprintf(what, sizeof what, "GPU %d panels", deal->gpu[i]->number);
        lacis_run_count(run, what, (double)report->panels[i]);
    }
    lacis_run_count(run, "GPU seconds", report->seconds);
    lacis_run_count(run, "GPU seconds computing and copying", sum);
    if (sum > report->seconds) lacis_run_count(run, "GPU seconds of them beside others", sum - report->seconds);
}

static lacis_status answer(lacis_run *run, const struct deal *deal)
{
    const lacis_panels *work = deal->work;
    const lacis_gpu *lost = deal->gpu[0];
    for (int i = 0; i < deal->gpus; i++)
        if (deal->out[i]) lost = deal->gpu[i];
    if (deal->stop != LACIS_OK) return deal->stop;
    if (deal->done < work->end - work->begin) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", lost->reason);
    for (int i = 0; i < deal->gpus; i++)
        if (deal->out[i])
            lacis_run_note(run, LACIS_NOTE, "%s: GPU %d: %s; its %ss went to the other GPUs",
                           work->verb != NULL ? work->verb : "GPU", deal->gpu[i]->number, deal->gpu[i]->reason,
                           unit_of(work));
    return LACIS_OK;
}

static bool make_locks(struct deal *deal)
{
    if (pthread_mutex_init(&deal->lock, NULL) != 0) return false;
    if (pthread_cond_init(&deal->changed, NULL) != 0) {
        pthread_mutex_destroy(&deal->lock);
        return false;
    }
    for (int i = 0; i < LACIS_GPUS; i++) { /* with default attributes these only clear memory */
        pthread_mutex_init(&deal->computing[i], NULL);
        pthread_mutex_init(&deal->copying[i], NULL);
    }
    return true;
}

static void destroy_locks(struct deal *deal)
{
    for (int i = 0; i < LACIS_GPUS; i++) {
        pthread_mutex_destroy(&deal->computing[i]);
        pthread_mutex_destroy(&deal->copying[i]);
    }
    pthread_cond_destroy(&deal->changed);
    pthread_mutex_destroy(&deal->lock);
}

/* What a call needs on the host; behind it what its panels own. */
struct table {
    struct deal deal;
    struct lane lane[LANES * LACIS_GPUS];
};

static lacis_status deal_out(lacis_run *run, lacis_gpu *const *gpu, int gpus, const lacis_panels *work,
                             lacis_panels_report *report, struct table *table, char *own, uint64_t own_bytes)
{
    struct deal *deal = &table->deal;
    struct lane *lane = table->lane;
    uint64_t before[LACIS_GPUS];
    *deal = (struct deal){
        .run = run, .work = work, .report = report, .gpus = gpus, .next = work->begin, .placed = work->begin};
    if (!make_locks(deal)) return lacis_run_fail(run, LACIS_NOMEM, "the system has no lock left");
    bool whole = gpus == 1 && work->size(work->context, gpu[0], 0, work->begin, work->end) == work->end - work->begin;
    int lanes = whole ? 1 : gpus * (work->fetch != NULL && !work->single ? LANES : 1);
    bool awake = work->awake && lacis_run_threads(run) > lanes;
    for (int i = 0; i < lanes; i++) {
        int device = i % gpus;
        lane[i] = (struct lane){.deal = deal, .device = device};
        lane[i].panel = (lacis_panel){.gpu = gpu[device], .device = device, .own = own + own_bytes * (uint64_t)i};
        deal->gpu[device] = gpu[device];
        before[device] = gpu[device]->fetched;
    }
    double start = lacis_now();
    if (whole) {
        deal->running = 1;
        pthread_mutex_lock(&deal->lock);
        lane_work(&lane[0]);
        pthread_mutex_unlock(&deal->lock);
    } else if (awake) {
        run_awake(deal, lane, lanes);
    } else {
        run_lanes(deal, lane, lanes);
    }
    report->seconds = lacis_now() - start;
    destroy_locks(deal);
    count_devices(run, deal, before);
    return answer(run, deal);
}

lacis_status lacis_gpu_panels(lacis_run *run, lacis_gpu *const *gpu, int gpus, const lacis_panels *work,
                              lacis_panels_report *report)
{
    struct table *table;
    const uint64_t head = (sizeof *table + 63) / 64 * 64, own_bytes = (work->own_bytes + 63) / 64 * 64;
    *report = (lacis_panels_report){0};
    if (work->end <= work->begin) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, head + own_bytes * LANES * LACIS_GPUS, &table));
    lacis_status status = deal_out(run, gpu, gpus, work, report, table, (char *)table + head, own_bytes);
    lacis_run_free(run, table);
    return status;
}
