/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread moves beside a device of a pretended sysfs, and those that it starts with it; where that says nothing, or
 * nothing to be done, all stays.
 */
#include "core/near.h"
#include "core/ranks.h"
#include "support/check.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ADDRESS "0000:18:00.0"
static char sys[64];

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/bus/pci/devices/" ADDRESS "/%s", sys, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    static const char *const folder[] = {"/bus", "/bus/pci", "/bus/pci/devices", "/bus/pci/devices/" ADDRESS};
    (void)state;
    snprintf(sys, sizeof sys, "/tmp/lacis-near-XXXXXX");
    if (mkdtemp(sys) == NULL) return -1;
    for (size_t i = 0; i < sizeof folder / sizeof folder[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", sys, folder[i]);
        if (mkdir(path, 0700) != 0) return -1;
    }
    return 0;
}

static int clean(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", sys);
    return system(command);
}

/* A thread's memory policy, as the kernel tells; mode -1: it may not be asked or set here. */
enum { NODES = 1024, PREFERRED = 1 };
struct policy {
    int mode;
    unsigned long nodes[NODES / (8 * sizeof(unsigned long))];
};

static struct policy policy_of_this_thread(void)
{
    struct policy p = {.mode = -1};
    if (syscall(SYS_set_mempolicy, 0, NULL, 0ul) == 0 &&
        syscall(SYS_get_mempolicy, &p.mode, p.nodes, (unsigned long)NODES, NULL, 0ul) == 0)
        return p;
    return (struct policy){.mode = -1};
}

/* Each in a thread of its own, whose processors are its own affair. */
struct trial {
    const char *list, *address;
    int answer, threads;
    cpu_set_t before, after, child;
    struct policy usual, moved;
};

static void *look(void *arg)
{
    cpu_set_t *set = arg;
    sched_getaffinity(0, sizeof *set, set);
    return NULL;
}

static void *attempt(void *arg)
{
    struct trial *t = arg;
    pthread_t child;
    const lacis_ranks ranks = {.threads = CPU_SETSIZE};
    look(&t->before);
    t->usual = policy_of_this_thread();
    t->answer = lacis_near(sys, t->address);
    look(&t->after);
    t->threads = lacis_ranks_threads(&ranks);
    t->moved = t->usual;
    if (t->usual.mode >= 0)
        (void)syscall(SYS_get_mempolicy, &t->moved.mode, t->moved.nodes, (unsigned long)NODES, NULL, 0ul);
    if (pthread_create(&child, NULL, look, &t->child) == 0) pthread_join(child, NULL);
    return NULL;
}

static struct trial tried(const char *list, const char *address)
{
    struct trial t = {.list = list, .address = address};
    pthread_t thread;
    put("local_cpulist", list);
    assert_int_equal(pthread_create(&thread, NULL, attempt, &t), 0);
    pthread_join(thread, NULL);
    return t;
}

/* The last processor of this process's. */
static int last_cpu(void)
{
    cpu_set_t own;
    int last = -1;
    look(&own);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &own)) last = cpu;
    return last;
}

static void moves(void **state)
{
    char list[64];
    const int last = last_cpu();
    (void)state;
    put("numa_node", "0\n");
    snprintf(list, sizeof list, "%d,%d-%d\n", last, CPU_SETSIZE + 5, CPU_SETSIZE + 9);
    struct trial t = tried(list, ADDRESS);
    if (CPU_COUNT(&t.before) == 1) skip(); /* nothing to choose from */
    assert_int_equal(t.answer, 1);
    assert_true(CPU_COUNT(&t.after) == 1 && CPU_ISSET((size_t)last, &t.after));
    assert_true(CPU_EQUAL(&t.after, &t.child));
    assert_int_equal(t.threads, 1); /* SET threads = auto takes no more than there are now */
    if (t.usual.mode < 0) return;   /* a container forbids it */
    assert_true(t.moved.mode == PREFERRED && t.moved.nodes[0] == 1);
}

static void stays(void **state)
{
    static const char *const lists[] = {"",      "\n",   "x\n",         "0-\n",       "0-1x\n",
                                        "3-1\n", "-1\n", "0-4000000\n", "9000-9001\n"};
    (void)state;
    put("numa_node", "-1\n");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct trial t = tried(lists[i], ADDRESS);
        if (t.answer != 0 || !CPU_EQUAL(&t.before, &t.after)) fail_msg("\"%s\": %d", lists[i], t.answer);
        assert_int_equal(t.threads, CPU_COUNT(&t.before));
        assert_memory_equal(&t.usual, &t.moved, sizeof t.usual);
    }
    assert_int_equal(tried("0\n", "").answer, 0);
    assert_int_equal(tried("0\n", "0000:19:00.0").answer, 0);
    assert_int_equal(tried("0\n", "../" ADDRESS).answer, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(moves, setup, clean),
        cmocka_unit_test_setup_teardown(stays, setup, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
