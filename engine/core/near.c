/* SPDX-License-Identifier: Apache-2.0
 *
 * See near.h. The kernel tells in sysfs; both wishes may be refused (in containers), and then nothing is lost. Called
 * by device.c where a device is started.
 */
#include "core/near.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TEXT = 4096, NODES = 1024 };

/* The first line of a file of the device's; false: there is none. */
static bool read_line(const char *sys, const char *address, const char *name, char *out, int size)
{
    char path[TEXT];
    if ((size_t)snprintf(path, sizeof path, "%s/bus/pci/devices/%s/%s", sys, address, name) >= sizeof path)
        return false;
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    const bool there = fgets(out, size, file) != NULL;
    fclose(file);
    return there;
}

/* "0-15,64-79" as a set; false: it is not such a list. */
static bool read_list(const char *text, cpu_set_t *out)
{
    CPU_ZERO(out);
    while (*text != '\0' && *text != '\n') {
        char *end;
        const long first = strtol(text, &end, 10);
        long last = first;
        if (end == text) return false;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text) return false;
        }
        if (first < 0 || last < first) return false;
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, out);
        text = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0' && *end != '\n') return false;
    }
    return true;
}

static void prefer_node(const char *sys, const char *address)
{
    enum { PREFERRED = 1, BITS = 8 * sizeof(unsigned long) };
    char text[TEXT];
    unsigned long mask[NODES / BITS] = {0};
    if (!read_line(sys, address, "numa_node", text, sizeof text)) return;
    const long node = strtol(text, NULL, 10);
    if (node < 0 || node >= NODES) return;
    mask[node / BITS] = 1ul << node % BITS;
#ifdef SYS_set_mempolicy
    (void)syscall(SYS_set_mempolicy, PREFERRED, mask, (unsigned long)NODES);
#endif
}

int lacis_near(const char *sys, const char *address)
{
    char text[TEXT];
    cpu_set_t own, beside, both;
    if (address[0] == '\0' || strchr(address, '/') != NULL) return 0;
    if (!read_line(sys, address, "local_cpulist", text, sizeof text) || !read_list(text, &beside)) return 0;
    if (sched_getaffinity(0, sizeof own, &own) != 0) return 0;
    CPU_AND(&both, &own, &beside);
    if (CPU_COUNT(&both) == 0 || CPU_EQUAL(&both, &own)) return 0;
    if (sched_setaffinity(0, sizeof both, &both) != 0) return 0;
    prefer_node(sys, address);
    return CPU_COUNT(&both);
}
