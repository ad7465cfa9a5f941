/* SPDX-License-Identifier: Apache-2.0
 *
 * Which processors and which memory lie beside a device: of several ranks on a machine each works beside its GPU.
 */
#ifndef LACIS_CORE_NEAR_H
#define LACIS_CORE_NEAR_H

/* Moves this thread, and those that it starts from now on, to those of its processors that are beside the PCI device
 * ("0000:18:00.0"), and prefers memory of the device's NUMA node. sys: where sysfs is ("/sys"). How many processors
 * are left to it; 0: all stays as it is, since the machine does not say, the launcher has chosen others, or there is
 * nothing to choose. */
int lacis_near(const char *sys, const char *address);

#endif
