/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of single runs on a CUDA device, for the tuner and lacis-bench. The device is held until a batch of runs is
 * on the stream, so that the host's time for launches is not seen; what stands between the two marks of a run is the
 * device's time from the start of its first kernel to the end of its last, an empty kernel's start included.
 */
#ifndef LACIS_KERNELS_SYMV_MEASURE_H
#define LACIS_KERNELS_SYMV_MEASURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Functions answer a cudaError_t, 0 where all is well. */
typedef struct lacis_symv_clock lacis_symv_clock;
enum { LACIS_SYMV_CLOCK_RUNS = 64 };
int lacis_symv_clock_new(lacis_symv_clock **out);
void lacis_symv_clock_free(lacis_symv_clock *clock); /* NULL is fine */
/* What comes onto the stream waits for lacis_symv_clock_read, a few milliseconds at most. */
int lacis_symv_clock_hold(lacis_symv_clock *clock, void *stream);
int lacis_symv_clock_begin(lacis_symv_clock *clock, int run, void *stream);
int lacis_symv_clock_end(lacis_symv_clock *clock, int run, void *stream);
/* Lets go, waits for the stream, and gives each run's seconds. */
int lacis_symv_clock_read(lacis_symv_clock *clock, int runs, void *stream, double *seconds);

#ifdef __cplusplus
}
#endif

#endif
