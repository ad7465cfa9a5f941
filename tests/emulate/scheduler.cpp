/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a launch: blocks in order, lanes in order, each up to where it must wait. With a seed (EMULATE_SEED) several
 * blocks are under way at once, in random order, and which lane runs next is random, in one of several ways that a
 * launch draws: far apart or close together.
 */
#include "scheduler.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <stdlib.h>

__thread uint3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulate
{

__thread index *now;
__thread bool shaken;
const shape *running;
std::vector<block *> residents;
bool seeded;

static const std::function<void()> *body;
static fiber main_fiber;
static std::vector<warp *> runnable;
static size_t turn_of; /* in runnable */

static unsigned polls; /* since anything changed */

/* EVENLY: any lane. CLUSTERED: the same warp mostly. AHEAD: the warp of greatest priority as far as it comes, its
 * lanes likewise. IN_ORDER: as without a seed. */
static enum { IN_ORDER, EVENLY, CLUSTERED, AHEAD, POLICIES } policy;

/* --- random numbers (splitmix64) ---------------------------------------------------------------------- */

static uint64_t random_state;

unsigned random_below(unsigned n)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (unsigned)((z ^ (z >> 31)) % n);
}

static struct start {
    start()
    {
        const char *const text = getenv("EMULATE_SEED");
        random_state = text ? strtoull(text, NULL, 0) : 0;
        seeded = random_state != 0;
        catch_signals();
    }
} start;

/* --- who runs ----------------------------------------------------------------------------------------- */

lane *self()
{
    return (lane *)now;
}

unsigned lane_number()
{
    return self()->number;
}

void make_ready(lane *l)
{
    warp *const w = l->squad;
    l->is = READY;
    l->waits = {NULL, 0};
    polls = 0;
    w->ready |= 1u << l->number;
    if (w->at >= 0) return;
    w->at = (int)runnable.size();
    runnable.push_back(w);
}

static void take_away(warp *w)
{
    runnable.back()->at = w->at;
    runnable[(size_t)w->at] = runnable.back();
    runnable.pop_back();
    w->at = -1;
}

static void not_ready(lane *l)
{
    warp *const w = l->squad;
    w->ready &= ~(1u << l->number);
    if (!w->ready) take_away(w);
}

/* The next ready lane behind the last one, or a random one. */
static unsigned lane_of(const warp *w)
{
    unsigned from = (w->last + 1) & 31;
    if (policy == EVENLY || policy == CLUSTERED) from = random_below(32);
    if (policy == AHEAD && (w->ready >> w->last & 1)) from = w->last;
    const unsigned turned = w->ready >> from | (from ? w->ready << (32 - from) : 0);
    return (from + (unsigned)__builtin_ctz(turned)) & 31;
}

static warp *warp_of(bool other)
{
    warp *const mine = now ? self()->squad : NULL;
    if (policy == EVENLY || (policy == CLUSTERED && random_below(64) == 0))
        return runnable[random_below((unsigned)runnable.size())];
    if (policy == AHEAD)
        return *std::max_element(runnable.begin(), runnable.end(),
                                 [](warp *x, warp *y) { return x->priority < y->priority; });
    if (mine && mine->ready && !other) return mine;
    return runnable[++turn_of % runnable.size()];
}

static lane *pick(bool other)
{
    if (runnable.empty()) return NULL;
    warp *const w = warp_of(other);
    w->last = lane_of(w);
    return &w->lanes[w->last];
}

static void go_to(lane *to, bool ends)
{
    lane *const from = self();
    if (to == from) return;
    now = to ? &to->id : NULL;
    if (to) {
        threadIdx = to->id.thread;
        blockIdx = to->id.block;
    }
    fiber_switch(from ? from->context : &main_fiber, to ? to->context : &main_fiber, ends);
}

void wait_as(state s, place here)
{
    lane *const l = self();
    l->is = s;
    l->waits = here;
    not_ready(l);
    go_to(pick(false), false);
}

/* Behind all others, so that each comes to its turn. */
static void step_back()
{
    static int64_t lowest;
    self()->squad->priority = --lowest;
    if (policy == AHEAD) self()->squad->last = random_below(32);
    go_to(pick(true), false);
}

enum { VAIN = 1 << 24 }; /* so many polls that all lanes must poll in vain */

void progress()
{
    polls = 0;
}

void turn(place here)
{
    self()->waits = here;
    if (++polls > VAIN) tell_deadlock();
    step_back();
}

void shake()
{
    static const unsigned often[POLICIES] = {1, 8, 4, 64};
    if (random_below(often[policy]) == 0) step_back();
}

/* --- blocks ------------------------------------------------------------------------------------------- */

static void entry()
{
    fiber_begun();
    (*body)();
    lane *const l = self();
    l->is = ENDED;
    not_ready(l);
    ended(l);
    go_to(l->home->group->alive == 0 ? NULL : pick(false), true);
    abort(); /* nobody comes back */
}

static void begin_lane(block *b, unsigned i, const index &of)
{
    const dim3 size = running->block;
    lane *const l = &b->lanes[i];
    l->id = of;
    l->id.thread = uint3{i % size.x, i / size.x % size.y, i / size.x / size.y};
    l->home = b;
    l->squad = &b->warps[i / 32];
    l->number = i % 32;
    l->group = 0;
    l->copies.clear();
    l->context = fiber_take();
    fiber_begin(l->context, entry);
    make_ready(l);
}

static block *spare_block()
{
    static std::vector<block *> all;
    for (block *b : all)
        if (!b->group) return b;
    all.push_back(new block());
    return all.back();
}

static void begin_block(cluster *c, size_t number)
{
    const dim3 grid = running->grid, size = running->block;
    const unsigned threads = size.x * size.y * size.z;
    block *const b = spare_block();
    b->group = c;
    b->rank = (unsigned)c->members.size();
    b->alive = threads;
    memset(b->barriers, 0, sizeof b->barriers);
    b->lanes.resize(threads);
    b->warps.resize((threads + 31) / 32);
    arena_begin(&b->memory, running->shared, (unsigned char)(seeded ? random_below(256) : 0xcb));
    index of;
    of.block = uint3{(unsigned)(number % grid.x), (unsigned)(number / grid.x % grid.y),
                     (unsigned)(number / grid.x / grid.y)};
    for (size_t i = 0; i < b->warps.size(); i++) {
        const unsigned lanes = threads - 32 * (unsigned)i;
        warp *const w = &b->warps[i];
        w->home = b;
        w->lanes = &b->lanes[32 * i];
        w->ready = 0;
        w->ended = lanes < 32 ? ~0u << lanes : 0;
        w->last = 31;
        w->priority = seeded ? random_below(1u << 20) : 0;
        w->at = -1;
        w->open.clear();
    }
    for (unsigned i = 0; i < threads; i++)
        begin_lane(b, i, of);
    c->members.push_back(b);
    c->alive += threads;
    residents.push_back(b);
}

static void end_cluster(cluster *c)
{
    for (block *b : c->members) {
        for (lane &l : b->lanes)
            fiber_give(l.context);
        const char *const name = arena_overrun(&b->memory);
        now = &b->lanes[0].id;
        if (name) fail(running->where, "memory behind the shared variable \"%s\" was written", name);
        now = NULL;
        b->group = NULL;
        residents.erase(std::find(residents.begin(), residents.end(), b));
    }
    delete c;
}

/* Blocks of a cluster have neighbouring numbers: clusters lie along x. */
static cluster *begin_cluster(size_t number)
{
    cluster *const c = new cluster();
    c->blocks = running->cluster.x;
    for (unsigned i = 0; i < c->blocks; i++)
        begin_block(c, number * c->blocks + i);
    return c;
}

static void draw_policy(bool *order, size_t *at_once)
{
    policy = IN_ORDER;
    *order = true;
    *at_once = 1;
    if (!seeded) return;
    policy = (decltype(policy))random_below(POLICIES);
    *order = random_below(4) == 0;
    *at_once = 1 + random_below(4);
    turn_of = random_below(1000);
}

static void run_all()
{
    const size_t clusters = (size_t)running->grid.x * running->grid.y * running->grid.z / running->cluster.x;
    std::vector<size_t> number(clusters);
    std::vector<cluster *> under_way;
    bool in_order;
    size_t at_once, next = 0;
    draw_policy(&in_order, &at_once);
    std::iota(number.begin(), number.end(), (size_t)0);
    for (size_t i = clusters; !in_order && i > 1; i--)
        std::swap(number[i - 1], number[random_below((unsigned)i)]);
    while (next < clusters || !under_way.empty()) {
        while (next < clusters && under_way.size() < at_once)
            under_way.push_back(begin_cluster(number[next++]));
        lane *const l = pick(false);
        if (!l) tell_deadlock();
        go_to(l, false);
        for (size_t i = under_way.size(); i-- > 0;)
            if (under_way[i]->alive == 0) {
                end_cluster(under_way[i]);
                under_way.erase(under_way.begin() + (long)i);
            }
    }
}

void run(const shape &s, const std::function<void()> &work)
{
    static std::mutex one_at_a_time;
    const std::lock_guard<std::mutex> guard(one_at_a_time);
    running = &s;
    body = &work;
    shaken = seeded;
    blockDim = s.block;
    gridDim = s.grid;
    watch_begin();
    run_all();
    watch_end();
    running = NULL;
    shaken = false;
}

} /* namespace emulate */
