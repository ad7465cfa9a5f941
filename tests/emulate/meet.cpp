/* SPDX-License-Identifier: Apache-2.0
 *
 * Where lanes wait for each other: warps' collectives, barriers of blocks and clusters; and a block's shared memory.
 */
#include "scheduler.h"

namespace emulate
{

/* --- warps ------------------------------------------------------------------------------------------- */

static std::vector<meeting *> spare;

static meeting *new_meeting(unsigned mask, kind what, place here)
{
    meeting *m;
    if (spare.empty())
        m = new meeting;
    else {
        m = spare.back();
        spare.pop_back();
    }
    m->mask = mask;
    m->came = m->left = 0;
    m->what = what;
    m->where = here;
    return m;
}

static bool complete(const warp *w, const meeting *m)
{
    return ((m->came | w->ended) & m->mask) == m->mask;
}

static void finish(warp *w, size_t i)
{
    meeting *const m = w->open[i];
    w->open.erase(w->open.begin() + (long)i);
    m->left = (unsigned)__builtin_popcount(m->came);
    for (unsigned k = 0; k < 32; k++)
        if ((m->came >> k & 1) && w->lanes[k].is == AT_WARP) make_ready(&w->lanes[k]);
}

meeting *meet(unsigned mask, kind what, const void *bytes, size_t count, place here)
{
    lane *const l = self();
    warp *const w = l->squad;
    const unsigned bit = 1u << l->number;
    if (!(mask & bit)) fail(here, "the mask %08x lacks the lane %u that comes with it", mask, l->number);
    size_t i = 0;
    while (i < w->open.size() && (w->open[i]->mask != mask || w->open[i]->what != what || (w->open[i]->came & bit)))
        i++;
    if (i == w->open.size()) w->open.push_back(new_meeting(mask, what, here));
    meeting *const m = w->open[i];
    m->came |= bit;
    memset(m->word[l->number], 0, sizeof m->word[0]);
    if (count) memcpy(m->word[l->number], bytes, count);
    if (complete(w, m)) {
        finish(w, i);
        may_turn();
    } else
        wait_as(AT_WARP, here);
    return m;
}

void leave(meeting *m)
{
    if (--m->left == 0) spare.push_back(m);
}

/* --- blocks ------------------------------------------------------------------------------------------- */

static void open_barrier(block *b, unsigned number)
{
    barrier_state *const s = &b->barriers[number];
    const unsigned votes = s->votes;
    s->came = s->votes = s->wanted = 0;
    for (lane &l : b->lanes)
        if (l.is == AT_BARRIER && l.result == number) {
            l.result = votes;
            make_ready(&l);
        }
}

static bool reached(const block *b, const barrier_state *s)
{
    return s->came > 0 && s->came >= (s->wanted ? s->wanted : b->alive);
}

unsigned barrier(unsigned number, unsigned count, bool vote, bool wait, place here)
{
    lane *const l = self();
    block *const b = l->home;
    if (number >= BARRIERS) fail(here, "there is no barrier %u", number);
    barrier_state *const s = &b->barriers[number];
    if (s->came == 0)
        s->where = here;
    else if (count == 0 &&
             (s->where.line != here.line || (s->where.file != here.file && strcmp(s->where.file, here.file) != 0)))
        fail(here, "a barrier that others of the block have come to at %s:%d", s->where.file, s->where.line);
    s->wanted = count;
    s->came++;
    s->votes += vote;
    if (!wait) {
        if (reached(b, s)) open_barrier(b, number);
        return 0;
    }
    if (reached(b, s)) {
        const unsigned votes = s->votes;
        open_barrier(b, number);
        may_turn();
        return votes;
    }
    l->result = number;
    wait_as(AT_BARRIER, here);
    return l->result;
}

/* --- clusters ------------------------------------------------------------------------------------------- */

static void open_cluster(cluster *c)
{
    c->came = 0;
    for (block *b : c->members)
        for (lane &l : b->lanes)
            if (l.is == AT_CLUSTER) make_ready(&l);
}

void cluster_barrier(place here)
{
    cluster *const c = self()->home->group;
    if (++c->came >= c->alive)
        open_cluster(c);
    else
        wait_as(AT_CLUSTER, here);
}

unsigned cluster_rank()
{
    return self()->home->rank;
}

dim3 cluster_size()
{
    return running->cluster;
}

/* --- the end of a lane ------------------------------------------------------------------------------------ */

void ended(lane *l)
{
    block *const b = l->home;
    warp *const w = l->squad;
    w->ended |= 1u << l->number;
    b->alive--;
    b->group->alive--;
    l->group++;
    copy_wait(0);
    for (size_t i = w->open.size(); i-- > 0;)
        if (complete(w, w->open[i])) finish(w, i);
    for (unsigned i = 0; i < BARRIERS; i++)
        if (reached(b, &b->barriers[i])) open_barrier(b, i);
    if (b->group->came > 0 && b->group->came >= b->group->alive) open_cluster(b->group);
}

/* --- shared memory ------------------------------------------------------------------------------------- */

static unsigned char garbage()
{
    return (unsigned char)(seeded ? random_below(256) : 0xcb);
}

void *shared_variable(const void *key, size_t bytes, size_t alignment, const char *name)
{
    void *const at = arena_variable_at(&self()->home->memory, key, bytes, alignment, name, garbage());
    if (!at) fail({name, 0}, "more than %d bytes of shared memory in variables", ARENA_STATIC_MOST);
    return at;
}

void *dynamic_shared()
{
    return arena_dynamic(&self()->home->memory);
}

size_t dynamic_shared_bytes()
{
    return running->shared;
}

unsigned shared_address(const void *p)
{
    return (unsigned)((const char *)p - self()->home->memory.base);
}

void *shared_pointer(unsigned address)
{
    if (address >= ARENA_BYTES) fail({"shared memory", 0}, "address %u", address);
    return self()->home->memory.base + address;
}

/* Variables are placed as blocks come to them, so the other block is asked for the variable itself. */
void *shared_of_rank(const void *p, unsigned rank)
{
    block *const mine = self()->home;
    if (rank >= mine->group->members.size()) fail({"cluster", 0}, "there is no block %u", rank);
    block *const other = mine->group->members[rank];
    const char *const base = mine->memory.base;
    const size_t at = (size_t)((const char *)p - base);
    for (const arena_variable &v : mine->memory.variables)
        if (at >= v.at && at < v.at + v.bytes)
            return (char *)arena_variable_at(&other->memory, v.key, v.bytes, 16, v.name, garbage()) + (at - v.at);
    return other->memory.base + at;
}

/* --- asynchronous copies --------------------------------------------------------------------------------- */

static void arrive(const copy &c)
{
    memcpy(c.to, c.from, c.bytes);
    memset((char *)c.to + c.bytes, 0, c.zeros);
}

void copy_later(void *to, const void *from, size_t bytes, size_t zeros)
{
    lane *const l = self();
    const copy c = {to, from, bytes, zeros, l->group};
    if (seeded && random_below(2))
        arrive(c);
    else
        l->copies.push_back(c);
}

void copy_commit()
{
    self()->group++;
}

/* All but the newest `left` groups that were committed. */
void copy_wait(unsigned left)
{
    lane *const l = self();
    std::vector<copy> rest;
    for (const copy &c : l->copies)
        if (c.group + left < l->group)
            arrive(c);
        else
            rest.push_back(c);
    l->copies.swap(rest);
}

} /* namespace emulate */
