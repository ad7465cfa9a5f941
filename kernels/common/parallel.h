/* SPDX-License-Identifier: Apache-2.0
 *
 * The one place where lacis starts threads: tasks dealt over an OpenMP team. Kernels and engine use it.
 */
#ifndef LACIS_KERNELS_PARALLEL_H
#define LACIS_KERNELS_PARALLEL_H

#include <stdint.h>

/* Called for each task 0 .. tasks-1 by worker 0 .. threads-1; a non-zero answer stops the dealing of further tasks.
 */
typedef int (*lacis_parallel_fn)(void *context, int64_t task, int worker);

/* Deals tasks in rising order to whichever thread is free. Returns the first non-zero answer, or 0. */
int lacis_parallel(int threads, int64_t tasks, lacis_parallel_fn fn, void *context);

/* The processors that this process may use. */
int lacis_parallel_cpus(void);

#endif
