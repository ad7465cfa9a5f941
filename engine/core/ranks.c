/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages between ranks, and what happens where one of them is gone. A message is a head of fixed size and its bytes
 * in pieces; whoever waits sleeps. Called by exec/deal.c and exec/serve.c.
 */
#include "core/ranks.h"
#include "core/team.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC = 0x6c616369, LOST = -1, HOST_TEXT = 192, LOOKS_A_CHECK = 256 };
enum { LARGE = 2048 }; /* bytes: MPI sends less without the other side's help */

struct head {
    uint32_t magic, kind;
    uint64_t number, bytes;
};

/* Where a process runs: a host, and a numbering of processes on it. */
struct whereabouts {
    char host[HOST_TEXT];
    int64_t process;
};

/* ------------------------------------------------------------------------------------------ waiting */

void lacis_ranks_pause(unsigned *pause)
{
    const unsigned yields = 200;
    const long first_ns = 10000, longest_ns = 1000000;
    if (*pause < yields) {
        (*pause)++;
        sched_yield();
        return;
    }
    unsigned doublings = (*pause)++ - yields;
    long ns = doublings > 6 ? longest_ns : first_ns << doublings;
    struct timespec time = {0, ns < longest_ns ? ns : longest_ns};
    nanosleep(&time, NULL);
}

static void lost(lacis_ranks *ranks, int rank, const char *why)
{
    if (!ranks->broken) snprintf(ranks->reason, sizeof ranks->reason, "rank %d %s", rank, why);
    ranks->broken = true;
}

bool lacis_ranks_alive(lacis_ranks *ranks, int rank)
{
    pid_t process = ranks->peer[rank].process;
    if (process != 0 && kill(process, 0) != 0 && errno == ESRCH) lost(ranks, rank, "has ended");
    return !ranks->broken;
}

struct waiting {
    lacis_ranks *ranks;
    int rank;
    unsigned pause;
};

/* Both sides are at it: MPI moves a large message only while it is asked, so nobody sleeps. */
static int wait_no_longer(void *arg)
{
    struct waiting *waiting = arg;
    sched_yield();
    bool look = ++waiting->pause % LOOKS_A_CHECK == 0;
    return look && !lacis_ranks_alive(waiting->ranks, waiting->rank) ? LOST : 0;
}

static int wait_a_little(void *arg)
{
    struct waiting *waiting = arg;
    lacis_ranks_pause(&waiting->pause);
    bool look = waiting->pause % LOOKS_A_CHECK == 0;
    return look && !lacis_ranks_alive(waiting->ranks, waiting->rank) ? LOST : 0;
}

/* ---------------------------------------------------------------------------------------- transfers */

static void failed(lacis_ranks *ranks, int rank, int code)
{
    char text[160];
    if (code == LOST) return;
    ranks->driver->text(code, text, sizeof text);
    lost(ranks, rank, text);
}

static bool send_bytes(lacis_ranks *ranks, int to, lacis_ranks_tag tag, const void *data, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes && !ranks->broken; at += LACIS_RANKS_PIECE) {
        struct waiting waiting = {ranks, to, 0};
        uint64_t piece = bytes - at < LACIS_RANKS_PIECE ? bytes - at : LACIS_RANKS_PIECE;
        int code = ranks->driver->send(to, tag, (const char *)data + at, piece,
                                       (lacis_ranks_wait){wait_no_longer, &waiting});
        if (code != 0) failed(ranks, to, code);
    }
    return !ranks->broken;
}

/* data NULL: all pieces go to `waste`. */
static bool receive_bytes(lacis_ranks *ranks, int from, lacis_ranks_tag tag, void *data, void *waste, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes && !ranks->broken; at += LACIS_RANKS_PIECE) {
        struct waiting waiting = {ranks, from, 0};
        uint64_t piece = bytes - at < LACIS_RANKS_PIECE ? bytes - at : LACIS_RANKS_PIECE;
        void *to = data != NULL ? (char *)data + at : waste;
        int code = ranks->driver->receive(from, tag, to, piece, (lacis_ranks_wait){wait_no_longer, &waiting});
        if (code != 0) failed(ranks, from, code);
    }
    return !ranks->broken;
}

static lacis_status broken(lacis_run *run, const lacis_ranks *ranks)
{
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s; the other ranks are not used any more", ranks->reason);
}

/* The other side may be busy with something else for long: until it says that it listens, this one sleeps. */
static bool wait_for_go(lacis_ranks *ranks, int to)
{
    struct waiting waiting = {ranks, to, 0};
    char go;
    bool there = false;
    while (!there && !ranks->broken) {
        int code = ranks->driver->probe(to, LACIS_RANKS_GO, &there);
        if (code == 0 && !there) code = wait_a_little(&waiting);
        if (code != 0) failed(ranks, to, code);
    }
    return !ranks->broken && receive_bytes(ranks, to, LACIS_RANKS_GO, &go, NULL, sizeof go);
}

static bool send_body(lacis_ranks *ranks, int to, const lacis_message *message, const void *data)
{
    if (message->bytes >= LARGE && !wait_for_go(ranks, to)) return false;
    return send_bytes(ranks, to, LACIS_RANKS_TALK, data, message->bytes);
}

lacis_status lacis_ranks_send(lacis_run *run, lacis_ranks *ranks, int to, const lacis_message *message,
                              const void *data)
{
    struct head head = {MAGIC, message->kind, message->number, message->bytes};
    if (ranks->broken || !send_bytes(ranks, to, LACIS_RANKS_TALK, &head, sizeof head)) return broken(run, ranks);
    return send_body(ranks, to, message, data) ? LACIS_OK : broken(run, ranks);
}

lacis_status lacis_ranks_there(lacis_run *run, lacis_ranks *ranks, int from, bool *there)
{
    *there = false;
    if (ranks->broken) return broken(run, ranks);
    int code = ranks->driver->probe(from, LACIS_RANKS_TALK, there);
    if (code != 0) failed(ranks, from, code);
    return ranks->broken ? broken(run, ranks) : LACIS_OK;
}

static lacis_status wait_there(lacis_run *run, lacis_ranks *ranks, int from, bool stoppable)
{
    struct waiting waiting = {ranks, from, 0};
    for (;;) {
        bool there;
        LACIS_TRY(lacis_ranks_there(run, ranks, from, &there));
        if (there) return LACIS_OK;
        if (stoppable && lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        if (wait_a_little(&waiting) != 0) return broken(run, ranks);
    }
}

lacis_status lacis_ranks_head(lacis_run *run, lacis_ranks *ranks, int from, bool stoppable, lacis_message *out)
{
    struct head head;
    LACIS_TRY(wait_there(run, ranks, from, stoppable));
    if (!receive_bytes(ranks, from, LACIS_RANKS_TALK, &head, NULL, sizeof head)) return broken(run, ranks);
    if (head.magic != MAGIC) {
        lost(ranks, from, "sent what is no message of lacis");
        return broken(run, ranks);
    }
    *out = (lacis_message){head.kind, head.number, head.bytes};
    return LACIS_OK;
}

static bool say_go(lacis_ranks *ranks, int to, const lacis_message *head)
{
    const char go = 1;
    return head->bytes < LARGE || send_bytes(ranks, to, LACIS_RANKS_GO, &go, sizeof go);
}

static lacis_status throw_away(lacis_run *run, lacis_ranks *ranks, int from, const lacis_message *head)
{
    void *waste = malloc(LACIS_RANKS_PIECE);
    if (waste == NULL) lost(ranks, ranks->place.rank, "has no memory left");
    if (waste != NULL && say_go(ranks, from, head))
        receive_bytes(ranks, from, LACIS_RANKS_TALK, NULL, waste, head->bytes);
    free(waste);
    return ranks->broken ? broken(run, ranks) : LACIS_OK;
}

lacis_status lacis_ranks_body(lacis_run *run, lacis_ranks *ranks, int from, const lacis_message *head,
                              lacis_buffer **out)
{
    const uint64_t worth = (uint64_t)1 << 20; /* timing */
    lacis_status status = lacis_buffer_new(run, head->bytes, out);
    if (status != LACIS_OK) {
        const lacis_error why = run->host->error;
        LACIS_TRY(throw_away(run, ranks, from, head));
        run->host->error = why;
        return status;
    }
    double start = lacis_now();
    if (say_go(ranks, from, head) &&
        receive_bytes(ranks, from, LACIS_RANKS_TALK, lacis_buffer_data(*out), NULL, head->bytes)) {
        double seconds = lacis_now() - start;
        if (head->bytes >= worth && seconds > 0) ranks->rate += 0.25 * ((double)head->bytes / seconds - ranks->rate);
        return LACIS_OK;
    }
    lacis_buffer_release(*out);
    *out = NULL;
    return broken(run, ranks);
}

void lacis_ranks_stop(lacis_ranks *ranks, int to, uint64_t number)
{
    if (!ranks->broken) send_bytes(ranks, to, LACIS_RANKS_STOP, &number, sizeof number);
}

/* Wishes for earlier calls, which had ended when they came, are passed over. */
bool lacis_ranks_stop_wanted(lacis_ranks *ranks, uint64_t number)
{
    bool there = false;
    uint64_t wanted = 0;
    while (ranks->driver->probe(0, LACIS_RANKS_STOP, &there) == 0 && there) {
        struct waiting waiting = {ranks, 0, 0};
        lacis_ranks_wait wait = {wait_a_little, &waiting};
        if (ranks->driver->receive(0, LACIS_RANKS_STOP, &wanted, sizeof wanted, wait) != 0) return true;
        if (wanted == number) return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------- beginning and ending */

static void describe_here(struct whereabouts *out)
{
    memset(out, 0, sizeof *out);
    out->process = (int64_t)getpid();
    if (gethostname(out->host, HOST_TEXT / 2) != 0) out->host[0] = '\0';
    out->host[HOST_TEXT / 2 - 1] = '\0';
    size_t used = strlen(out->host);
    ssize_t more = readlink("/proc/self/ns/pid", out->host + used, HOST_TEXT - 1 - used);
    if (more < 0) out->process = 0; /* then nobody looks */
}

static void note_peer(lacis_ranks *ranks, int rank, const struct whereabouts *here, const struct whereabouts *there)
{
    if (strncmp(here->host, there->host, HOST_TEXT) == 0) ranks->peer[rank].process = (pid_t)there->process;
}

/* All tell each other where they are. */
static bool introduce(lacis_ranks *ranks)
{
    struct whereabouts here, there;
    describe_here(&here);
    for (int rank = 0; rank < ranks->place.size; rank++)
        if (rank != ranks->place.rank && !send_bytes(ranks, rank, LACIS_RANKS_TALK, &here, sizeof here)) return false;
    for (int rank = 0; rank < ranks->place.size; rank++) {
        if (rank == ranks->place.rank) continue;
        if (!receive_bytes(ranks, rank, LACIS_RANKS_TALK, &there, NULL, sizeof there)) return false;
        note_peer(ranks, rank, &here, &there);
    }
    return true;
}

static bool start(lacis_ranks *ranks, char *reason, size_t size)
{
    const double otherwise = 1e9; /* through the memory of one host, copied twice */
    ranks->rate = otherwise;
    ranks->driver = lacis_ranks_load(&ranks->module, reason, size);
    if (ranks->driver == NULL) return false;
    int code = ranks->driver->start(&ranks->place);
    if (code != 0) {
        char text[160];
        ranks->driver->text(code, text, sizeof text);
        snprintf(reason, size, "MPI does not start: %s", text);
        return false;
    }
    ranks->peer = calloc((size_t)ranks->place.size, sizeof *ranks->peer);
    ranks->mate = calloc((size_t)ranks->place.size, sizeof *ranks->mate);
    if (ranks->peer == NULL || ranks->mate == NULL) {
        snprintf(reason, size, "out of memory");
        return false;
    }
    if (introduce(ranks)) return true;
    snprintf(reason, size, "%s", ranks->reason);
    return false;
}

/* Launchers mostly bind each rank to processors of its own; where not, those of the host are shared out. */
static int share_of_processors(const lacis_ranks *ranks)
{
    int cpus = lacis_cpus(), share = ranks == NULL ? 1 : ranks->place.local_size;
    bool bound = cpus < sysconf(_SC_NPROCESSORS_ONLN);
    if (bound || share <= 1) return cpus;
    return cpus / share > 1 ? cpus / share : 1;
}

bool lacis_ranks_open(lacis_ranks **out, char *reason, size_t size)
{
    *out = NULL;
    if (!lacis_ranks_wanted()) return true;
    lacis_ranks *ranks = lacis_memory_may(sizeof *ranks) ? calloc(1, sizeof *ranks) : NULL;
    if (ranks == NULL) {
        snprintf(reason, size, "out of memory");
        return false;
    }
    if (!start(ranks, reason, size)) {
        if (!lacis_ranks_first()) reason[0] = '\0'; /* one of them is enough */
        free(ranks->mate);
        free(ranks->peer);
        free(ranks);
        return false;
    }
    ranks->threads = share_of_processors(ranks);
    *out = ranks;
    return true;
}

/* Its share as it began: later a rank may be bound to those beside its GPU, which it shares with others (near.h), and
 * which may be fewer. */
int lacis_ranks_threads(const lacis_ranks *ranks)
{
    if (ranks == NULL || ranks->threads == 0) return share_of_processors(ranks);
    const int cpus = lacis_cpus();
    return ranks->threads < cpus ? ranks->threads : cpus;
}

int lacis_run_ranks(const lacis_run *run)
{
    const lacis_ranks *ranks = run->host->ranks;
    bool alone = ranks == NULL || ranks->broken || run->host->ranks_use == LACIS_RANKS_OFF;
    return alone ? 1 : ranks->place.size;
}

bool lacis_run_ranks_always(const lacis_run *run)
{
    return run->host->ranks_use == LACIS_RANKS_ALL;
}

bool lacis_run_ranks_hold(const lacis_run *run, const lacis_array *array)
{
    const lacis_ranks *ranks = run->host->ranks;
    for (int i = 0; ranks != NULL && i < LACIS_RANKS_SENT; i++)
        if (ranks->sent[i] == lacis_array_number(array)) return true;
    return false;
}

double lacis_run_ranks_rate(const lacis_run *run)
{
    return run->host->ranks == NULL ? 0 : run->host->ranks->rate;
}

/* The module stays loaded: MPI leaves threads and handlers behind. */
void lacis_ranks_close(lacis_ranks *ranks)
{
    const int gone = 1;
    if (ranks == NULL) return;
    if (ranks->broken) {
        ranks->driver->abort(gone); /* the others may wait for what never comes */
    } else {
        ranks->driver->stop();
    }
    free(ranks->mate);
    free(ranks->peer);
    free(ranks);
}
