/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts on devices as ranks have them: each a thread, of which one runs at a time, with messages in a list. Bits of
 * the naive sweep, for grids of parts of any shape, halos of one step and of several, borders by kernels and by
 * copies, messages on the host, on the device, and straight into neighbours' memory, which may fail on the way there.
 */
#include "sweep/gpu_part.h"
#include "sweep_support.h"

#include <mutex>
#include <thread>

struct Letter {
    int from, to, tag;
    std::vector<unsigned char> data;
};

struct Receipt {
    int from, tag;
    void *to;
    uint64_t bytes;
};

/* Whoever has it runs; it changes hands where a part waits for messages. */
static std::mutex baton;
static std::deque<Letter> letters;

struct Rank {
    int number, parts;
    bool direct;
    std::vector<Receipt> open;
};

static int send(void *context, int part, int tag, const void *data, uint64_t bytes)
{
    const Rank *rank = (const Rank *)context;
    Letter letter = {rank->number, part, tag, std::vector<unsigned char>(bytes)};
    CUDA(cudaMemcpy(letter.data.data(), data, bytes, rank->direct ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost));
    letters.push_back(letter);
    return 0;
}

static int receive(void *context, int part, int tag, void *data, uint64_t bytes)
{
    ((Rank *)context)->open.push_back({part, tag, data, bytes});
    return 0;
}

static bool take(Rank *rank, const Receipt &receipt)
{
    for (size_t i = 0; i < letters.size(); i++) {
        const Letter &letter = letters[i];
        if (letter.to != rank->number || letter.from != receipt.from || letter.tag != receipt.tag) continue;
        sweep_expect(letter.data.size() == receipt.bytes, "a message of %zu bytes, not %llu", letter.data.size(),
                     (unsigned long long)receipt.bytes);
        CUDA(cudaMemcpy(receipt.to, letter.data.data(), receipt.bytes,
                        rank->direct ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost));
        CUDA(cudaStreamSynchronize(nullptr)); /* it may still be on its way, and other streams do not wait for it */
        letters.erase(letters.begin() + (long)i);
        return true;
    }
    return false;
}

static int test(void *)
{
    return 0;
}

static void let_others_run()
{
    baton.unlock();
    std::this_thread::yield();
    baton.lock();
}

static int wait(void *context)
{
    Rank *rank = (Rank *)context;
    while (!rank->open.empty()) {
        if (take(rank, rank->open.front())) {
            rank->open.erase(rank->open.begin());
            continue;
        }
        let_others_run();
    }
    return 0;
}

/* Answers so far to the present question; that to the one before. */
static struct {
    int64_t number;
    int asked, no;
    bool yes;
} question;

static int agree(void *context, bool *yes)
{
    const int64_t number = question.number;
    question.no += !*yes;
    if (++question.asked == ((const Rank *)context)->parts) {
        question.yes = question.no == 0;
        question.asked = question.no = 0;
        question.number++;
    }
    while (question.number == number)
        let_others_run();
    *yes = question.yes;
    return 0;
}

struct Way {
    int parts, deep;
    bool overlap, direct, copy, measured;
    int64_t steps;
    bool slabs;        /* along the last axis */
    bool host = false; /* all through the host's memory */
    bool asks = false; /* parts can ask each other: then `best` and `lone` mean something */
    bool best = false;
    bool lone = false; /* one part's messages may lie on the device */
};
enum { TIMED = 5 };

struct Outcome {
    lacis_sweep_status status = LACIS_SWEEP_OK;
    lacis_sweep_change change = {};
    double passes = 0; /* over memory */
    int64_t lines = 0;
    int straight = 0, messages = 0; /* into the neighbours' memory, of all */
    bool told = false;              /* why not */
};

static int gone; /* parts that have left their neighbours */

/* What parts take of CUDA itself for each other's rows. */
static int64_t counted;
static bool full; /* no room for it */

static bool charge(void *, uint64_t bytes)
{
    if (full) return false;
    counted += (int64_t)bytes;
    return true;
}

static void credit(void *, uint64_t bytes)
{
    counted -= (int64_t)bytes;
}

static void run_part(const sweep_case *c, const lacis_sweep_cut *cut, int number, const Way *way, sweep_state *got,
                     Outcome *out)
{
    const std::lock_guard<std::mutex> mine(baton);
    sweep_device d;
    lacis_sweep_box box;
    lacis_sweep_gpu_part *part = nullptr;
    Rank rank = {number, cut->parts, way->direct, {}};
    const lacis_sweep_mail mail = {send, receive, test, wait, &rank, way->asks ? agree : nullptr};
    lacis_sweep_times line[TIMED], spent;
    const bool direct = way->direct || (way->asks && way->lone && number == 0);
    const lacis_sweep_gpu_part_how how = {
        {way->overlap, line, TIMED}, direct, way->copy, way->host, way->best, charge, credit};
    lacis_sweep_cut_box(cut, number, &box);
    sweep_begin(&d, *c, &box, nullptr, 0);
    lacis_sweep_start start;
    lacis_sweep_cut_start(&c->start, cut, number, &start);
    for (int k = 0; k < 3; k++)
        d.start.start.halo[k] = start.halo[k];
    for (int f = 0; f < start.fields; f++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (start.edge[f][face].kind == LACIS_SWEEP_INNER) d.start.start.edge[f][face] = start.edge[f][face];
    out->status = lacis_sweep_gpu_part_new(&d.start, cut, number, &mail, &how, &part);
    const int64_t half = way->steps / 2;
    if (out->status == LACIS_SWEEP_OK) out->status = lacis_sweep_gpu_part_steps(part, half, nullptr);
    if (out->status == LACIS_SWEEP_OK)
        out->status = lacis_sweep_gpu_part_steps(part, way->steps - half, way->measured ? &out->change : nullptr);
    if (out->status == LACIS_SWEEP_OK) {
        lacis_sweep_counts counts;
        lacis_sweep_gpu_part_spent(part, &spent, &out->lines);
        d.system = lacis_sweep_gpu_part_system(part);
        lacis_sweep_gpu_counted(d.system, &counts, false);
        out->passes = counts.passes;
        sweep_collect(&d, *c, got);
        d.system = nullptr;
    }
    if (out->status == LACIS_SWEEP_OK) {
        const char *why;
        out->straight = lacis_sweep_gpu_part_straight(part, &out->messages, &why);
        out->told = why != nullptr;
        sweep_expect(out->straight == 0 || counted > 0, "%s: memory for neighbours' rows does not count",
                     c->name.c_str());
    }
    lacis_sweep_gpu_part_leave(part);
    gone++;
    while (gone < cut->parts) /* nobody's memory goes before all have let go of it */
        let_others_run();
    lacis_sweep_gpu_part_free(part);
}

static int straight; /* messages into neighbours' memory */
static int blocked;  /* parts that did several steps in a pass */

static void compare(const sweep_case &c, const Way &way, int *done)
{
    sweep_state expected, got;
    lacis_sweep_cut cut;
    std::string where;
    char why[200];
    if (!(way.slabs ? lacis_sweep_cut_slabs : lacis_sweep_cut_make)(&c.start, way.parts, way.deep, &cut, why,
                                                                    sizeof why))
        return;
    ++*done;
    sweep_naive(c, way.steps, &expected);
    std::vector<Outcome> outcome((size_t)way.parts);
    gone = 0;
    std::vector<std::thread> threads;
    for (int part = 0; part < way.parts; part++)
        threads.emplace_back(run_part, &c, &cut, part, &way, &got, &outcome[(size_t)part]);
    for (std::thread &thread : threads)
        thread.join();
    for (int part = 0; part < way.parts; part++) {
        sweep_expect(outcome[(size_t)part].status == LACIS_SWEEP_OK, "%s: status %d", c.name.c_str(),
                     (int)outcome[(size_t)part].status);
        const int64_t lines = outcome[(size_t)part].lines;
        sweep_expect(lines == outcome[0].lines && lines > 0 && lines <= TIMED, "%s: %lld lines of a timeline",
                     c.name.c_str(), (long long)lines);
        const Outcome &own = outcome[(size_t)part];
        sweep_expect(own.straight == 0 || (!way.direct && !way.host && !full), "%s: messages go straight",
                     c.name.c_str());
        sweep_expect(way.direct || way.host || own.straight == own.messages || own.told,
                     "%s: nobody says why %d of %d messages go straight", c.name.c_str(), own.straight, own.messages);
        straight += own.straight;
        blocked += outcome[(size_t)part].passes < (double)way.steps;
        if (part > 0) lacis_sweep_change_merge(&outcome[0].change, &outcome[(size_t)part].change);
    }
    sweep_expect(counted == 0, "%s: %lld bytes count for ever", c.name.c_str(), (long long)counted);
    sweep_expect(letters.empty(), "%s: %zu messages are left", c.name.c_str(), letters.size());
    const int64_t differ = sweep_differences(c, expected, got, &where);
    sweep_expect(differ == 0, "%s, %d x %d x %d parts, %d deep%s%s%s: %lld cells differ, the first is %s",
                 c.name.c_str(), cut.grid[0], cut.grid[1], cut.grid[2], way.deep, way.overlap ? ", overlapped" : "",
                 way.direct ? ", direct" : "", way.copy ? ", copies" : "", (long long)differ, where.c_str());
    sweep_expect(!way.measured || sweep_same_change(expected.change, outcome[0].change), "%s: another change",
                 c.name.c_str());
}

static int some(u64 *state, int low, int high)
{
    return low + (int)(next_random(state) % (u64)(high - low + 1));
}

/* What handles of memory come to on a pretended device (tests/emulate); real ones give none within a process. */
static void choose_ipc(u64 *state)
{
    static const char *const ways[] = {"", "", "none", "lost", "5", "30"};
    setenv("EMULATE_IPC", ways[some(state, 0, 5)], 1);
    full = some(state, 0, 5) == 0;
}

/* Rules and edges; no values over faces, whose halos differ from side to side. */
static void random_case(bool small, u64 seed, int *done)
{
    static const lacis_sweep_edge_kind kinds[] = {LACIS_SWEEP_HOLD, LACIS_SWEEP_CLAMP, LACIS_SWEEP_MIRROR,
                                                  LACIS_SWEEP_AFFINE};
    sweep_case c;
    u64 state = seed;
    const int dims = some(&state, 1, 3), radius = some(&state, 1, 2), fields = some(&state, 1, 2);
    const int x = dims == 1 ? 700 : dims == 2 ? 150 : 70, y = small ? 40 : 90, z = small ? 8 : 24;
    sweep_shape(&c, some(&state, 0, 1) ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64, dims, some(&state, 5, x),
                some(&state, 5, y), some(&state, 5, z), fields, some(&state, 0, 1));
    sweep_fill(&c, &state);
    for (int f = 0; f < fields; f++) {
        std::vector<int> at;
        for (int taps = some(&state, 2, 6); taps > 0; taps--) {
            at.push_back(some(&state, 0, c.start.fields + c.start.coefficients - 1));
            for (int k = 0; k < 3; k++)
                at.push_back(k < dims ? some(&state, -radius, radius) : 0);
        }
        sweep_group(&c, f, some(&state, -999, 999) / 4096.0 + 0x1p-30, at);
    }
    sweep_edges(&c, &state);
    for (int k = 0; k < dims; k++) {
        const bool closed = some(&state, 0, 2) == 0;
        for (int f = 0; f < fields; f++)
            for (int face = 2 * k; face < 2 * k + 2; face++)
                c.start.edge[f][face].kind = closed ? LACIS_SWEEP_PERIODIC : kinds[some(&state, 0, 3)];
    }
    sweep_settle(&c);
    c.name = "ranks seed " + std::to_string(seed);
    const Way way = {some(&state, 2, 6),      some(&state, 1, 3),      some(&state, 0, 1) == 0,
                     some(&state, 0, 1) == 0, some(&state, 0, 1) == 0, some(&state, 0, 1) == 0,
                     some(&state, 1, 7),      some(&state, 0, 2) == 0, some(&state, 0, 4) == 0,
                     some(&state, 0, 2) > 0,  some(&state, 0, 1) == 0, some(&state, 0, 2) == 0};
    choose_ipc(&state);
    compare(c, way, done);
}

/* Averages that devices do in passes of several steps, in slabs whose borders go ahead, or do not. */
static void passes_case(int dims, bool overlap, bool closed, u64 seed, int *done)
{
    sweep_case c;
    u64 state = seed;
    sweep_shape(&c, LACIS_SWEEP_F32, dims, some(&state, 130, 190), dims == 2 ? 3 * some(&state, 40, 60) : 12,
                3 * some(&state, 10, 14), 1, 0);
    sweep_fill(&c, &state);
    std::vector<int> at;
    for (int k = 0; k < dims; k++)
        for (int sign = -1; sign < 2; sign += 2) {
            int tap[4] = {0, 0, 0, 0};
            tap[k + 1] = sign;
            at.insert(at.end(), tap, tap + 4);
        }
    sweep_group(&c, 0, 0.5 / dims, at);
    sweep_edge(&c, closed ? LACIS_SWEEP_PERIODIC : LACIS_SWEEP_HOLD, &state);
    c.start.levels = 0;
    sweep_settle(&c);
    c.name = "ranks' passes seed " + std::to_string(seed);
    choose_ipc(&state);
    compare(c,
            {some(&state, 2, 3), dims == 2 ? 12 : 4, overlap, some(&state, 0, 1) == 0, some(&state, 0, 1) == 0, true,
             31, true, false, some(&state, 0, 2) > 0, some(&state, 0, 1) == 0, some(&state, 0, 2) == 0},
            done);
}

static void check(bool small, u64 seed)
{
    u64 state = seed;
    int done = 0;
    blocked = straight = 0;
    const int rounds = small ? 60 : 300;
    for (int i = 0; i < rounds; i++)
        random_case(small, next_random(&state) % 1000000, &done);
    sweep_expect(done > rounds / 4, "%d of %d grids could be cut", done, rounds);
    for (int i = 0; i < 8; i++)
        passes_case(2 + i / 4, i & 1, i & 2, seed + (u64)i, &done);
    sweep_expect(blocked > 0, "no part did several steps in a pass");
#ifdef LACIS_EMULATE_CUDA_RUNTIME_H
    sweep_expect(straight > 0, "no message went straight into a neighbour's memory");
#endif
}
static sweep_part part("ranks", check);
