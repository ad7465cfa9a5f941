/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks as threads of one process, any number of them, for tests without MPI of what pieces that work together do: a
 * driver whose messages lie in one list until they are received. As with MPI, small ones are sent at once, larger
 * ones when they have been received. Which rank a thread is stands in mailbox_rank.
 */
#ifndef LACIS_TESTS_MAILBOX_H
#define LACIS_TESTS_MAILBOX_H

#include "core/team.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAILBOX_EAGER = 2048, MAILBOX_BESIDE = 0 };

typedef struct mailbox_letter {
    struct mailbox_letter *next;
    int from, to, stream, tag;
    const void *data;
    void *own; /* a copy, of a small one */
    uint64_t bytes;
    bool taken;
} mailbox_letter;

typedef struct mailbox_request {
    mailbox_letter *letter; /* of a send */
    int from, tag;          /* of a receive */
    void *data;
    uint64_t bytes;
} mailbox_request;

static pthread_mutex_t mailbox_lock = PTHREAD_MUTEX_INITIALIZER;
static mailbox_letter *mailbox;
static _Thread_local int mailbox_rank;

static inline void mailbox_drop_letter(mailbox_letter *letter)
{
    free(letter->own);
    free(letter);
}

static inline mailbox_letter *mailbox_post(int to, int stream, int tag, const void *data, uint64_t bytes)
{
    mailbox_letter *letter = calloc(1, sizeof *letter), **at = &mailbox;
    *letter = (mailbox_letter){NULL, mailbox_rank, to, stream, tag, data, NULL, bytes, false};
    if (bytes < MAILBOX_EAGER) {
        letter->data = letter->own = malloc(bytes + 1);
        memcpy(letter->own, data, bytes);
    }
    while (*at != NULL)
        at = &(*at)->next;
    *at = letter;
    return letter;
}

/* The first letter for this rank; from, tag below 0: any. */
static inline mailbox_letter **mailbox_find(int from, int stream, int tag)
{
    for (mailbox_letter **at = &mailbox; *at != NULL; at = &(*at)->next)
        if ((*at)->to == mailbox_rank && (*at)->stream == stream && (from < 0 || (*at)->from == from) &&
            (tag < 0 || (*at)->tag == tag))
            return at;
    return NULL;
}

static inline bool mailbox_take(int from, int stream, int tag, void *data)
{
    mailbox_letter **at = mailbox_find(from, stream, tag);
    if (at == NULL) return false;
    mailbox_letter *letter = *at;
    *at = letter->next;
    memcpy(data, letter->data, letter->bytes);
    letter->taken = true;
    if (letter->own != NULL) mailbox_drop_letter(letter); /* its sender does not look at it again */
    return true;
}

static int mailbox_send(int to, lacis_ranks_tag tag, const void *data, uint64_t bytes, lacis_ranks_wait wait)
{
    (void)wait;
    pthread_mutex_lock(&mailbox_lock);
    bool small = bytes < MAILBOX_EAGER;
    if (small) mailbox_post(to, (int)tag, 0, data, bytes);
    pthread_mutex_unlock(&mailbox_lock);
    return small ? 0 : EMSGSIZE;
}

static int mailbox_receive(int from, lacis_ranks_tag tag, void *data, uint64_t bytes, lacis_ranks_wait wait)
{
    (void)bytes;
    for (;;) {
        pthread_mutex_lock(&mailbox_lock);
        bool came = mailbox_take(from, (int)tag, -1, data);
        pthread_mutex_unlock(&mailbox_lock);
        int code = came ? 0 : wait.wait(wait.arg);
        if (came || code != 0) return code;
    }
}

static int mailbox_probe(int from, lacis_ranks_tag tag, bool *there)
{
    pthread_mutex_lock(&mailbox_lock);
    *there = mailbox_find(from, (int)tag, -1) != NULL;
    pthread_mutex_unlock(&mailbox_lock);
    return 0;
}

static int mailbox_probe_any(lacis_ranks_tag tag, int *from)
{
    pthread_mutex_lock(&mailbox_lock);
    mailbox_letter **at = mailbox_find(-1, (int)tag, -1);
    *from = at == NULL ? -1 : (*at)->from;
    pthread_mutex_unlock(&mailbox_lock);
    return 0;
}

static void mailbox_keep(lacis_ranks_request *out, mailbox_request request)
{
    mailbox_request *own = malloc(sizeof *own);
    *own = request;
    out->of = (uint64_t)(uintptr_t)own;
}

static int mailbox_begin_send(int to, int tag, const void *data, uint64_t bytes, lacis_ranks_request *out)
{
    pthread_mutex_lock(&mailbox_lock);
    mailbox_letter *letter = mailbox_post(to, MAILBOX_BESIDE, tag, data, bytes);
    mailbox_keep(out, (mailbox_request){.letter = letter->own == NULL ? letter : NULL, .from = -1});
    pthread_mutex_unlock(&mailbox_lock);
    return 0;
}

static int mailbox_begin_receive(int from, int tag, void *data, uint64_t bytes, lacis_ranks_request *out)
{
    mailbox_keep(out, (mailbox_request){NULL, from, tag, data, bytes});
    return 0;
}

/* Receives of one tag are tested in the order in which they began, so that letters reach them in theirs. */
static int mailbox_test(lacis_ranks_request *request, bool *done)
{
    mailbox_request *own = (mailbox_request *)(uintptr_t)request->of;
    pthread_mutex_lock(&mailbox_lock);
    if (own->from >= 0) {
        *done = mailbox_take(own->from, MAILBOX_BESIDE, own->tag, own->data);
    } else {
        *done = own->letter == NULL || own->letter->taken;
        if (*done && own->letter != NULL) mailbox_drop_letter(own->letter);
    }
    pthread_mutex_unlock(&mailbox_lock);
    if (*done) free(own);
    return 0;
}

static int mailbox_take_back(lacis_ranks_request *request, lacis_ranks_wait wait, bool *came)
{
    (void)wait;
    *came = false;
    free((mailbox_request *)(uintptr_t)request->of);
    return 0;
}

static void mailbox_drop(lacis_ranks_request *request)
{
    free((mailbox_request *)(uintptr_t)request->of);
}

static int mailbox_throw_away(int from, void *waste, lacis_ranks_wait wait, bool *there)
{
    (void)wait;
    pthread_mutex_lock(&mailbox_lock);
    *there = mailbox_take(from, MAILBOX_BESIDE, -1, waste);
    pthread_mutex_unlock(&mailbox_lock);
    return 0;
}

static bool mailbox_takes_device(void)
{
    return false;
}

static void mailbox_text(int code, char *out, size_t size)
{
    snprintf(out, size, "%s", strerror(code));
}

static const lacis_ranks_driver mailbox_driver = {.version = LACIS_RANKS_VERSION,
                                                  .send = mailbox_send,
                                                  .receive = mailbox_receive,
                                                  .probe = mailbox_probe,
                                                  .probe_any = mailbox_probe_any,
                                                  .begin_send = mailbox_begin_send,
                                                  .begin_receive = mailbox_begin_receive,
                                                  .test = mailbox_test,
                                                  .take_back = mailbox_take_back,
                                                  .drop = mailbox_drop,
                                                  .throw_away = mailbox_throw_away,
                                                  .takes_device = mailbox_takes_device,
                                                  .text = mailbox_text};

#endif
