/* SPDX-License-Identifier: Apache-2.0
 *
 * The instructions that kernels write as inline assembly. rewrite.py calls the function that has the text's letters
 * and digits in its name, outputs first, then inputs: asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)) is
 * ptx_mov_u32_0_lanemask_lt(m). One that is not here does not compile: add it.
 */
#ifndef LACIS_EMULATE_PTX_H
#define LACIS_EMULATE_PTX_H

#include "lane.h"

#include <math.h>
#include <stdint.h>
#include <time.h>

namespace emulate
{

static inline void ptx_mov_u32_0_lanemask_lt(unsigned &m)
{
    m = (1u << lane_number()) - 1;
}
static inline void ptx_mov_u32_0_lanemask_le(unsigned &m)
{
    m = (2u << lane_number()) - 1;
}
static inline void ptx_mov_u32_0_laneid(unsigned &lane)
{
    lane = lane_number();
}

/* Nanoseconds. */
static inline void ptx_mov_u64_0_globaltimer(uint64_t &now)
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Prefetches change nothing. */
template <class T> inline void ptx_prefetch_global_L2_0(const T *)
{
}
template <class T> inline void ptx_prefetch_global_L1_0(const T *)
{
}

/* --- asynchronous copies ------------------------------------------------------------------------------- */

template <class T> inline void ptx_cp_async_cg_shared_global_0_1_16(unsigned to, const T *from)
{
    copy_later(shared_pointer(to), (const void *)from, 16, 0);
}
template <class T> inline void ptx_cp_async_ca_shared_global_0_1_16(unsigned to, const T *from)
{
    copy_later(shared_pointer(to), (const void *)from, 16, 0);
}
template <class T> inline void ptx_cp_async_ca_shared_global_0_1_8(unsigned to, const T *from)
{
    copy_later(shared_pointer(to), (const void *)from, 8, 0);
}
template <class T> inline void ptx_cp_async_ca_shared_global_0_1_4(unsigned to, const T *from)
{
    copy_later(shared_pointer(to), (const void *)from, 4, 0);
}
template <class T> inline void ptx_cp_async_ca_shared_global_0_1_2(unsigned to, const T *from, int bytes)
{
    copy_later(shared_pointer(to), (const void *)from, (size_t)bytes, 0);
}
static inline void ptx_cp_async_commit_group()
{
    copy_commit();
}
static inline void ptx_cp_async_wait_all()
{
    copy_commit();
    copy_wait(0);
}
static inline void ptx_cp_async_wait_group_0()
{
    copy_wait(0);
}
static inline void ptx_cp_async_wait_group_0(int left)
{
    copy_wait((unsigned)left);
}

static inline void ptx_cp_async_commit_group_cp_async_wait_group_0()
{
    copy_commit();
    copy_wait(0);
}
template <class T> inline void ptx_cp_async_cg_shared_global_0_1_16_2(unsigned to, const T *from, unsigned some)
{
    copy_later(shared_pointer(to), (const void *)from, some, 16 - some);
}

template <class T> inline void ptx_cp_async_ca_shared_global_0_1_4_2(unsigned to, const T *from, int some)
{
    copy_later(shared_pointer(to), (const void *)from, (size_t)some, 4 - (size_t)some);
}
template <class T> inline void ptx_cp_async_ca_shared_global_0_1_8_2(unsigned to, const T *from, int some)
{
    copy_later(shared_pointer(to), (const void *)from, (size_t)some, 8 - (size_t)some);
}

/* Caches are not there, so neither is what policy a line has. */
static inline void ptx_createpolicy_fractional_L2_evict_first_b64_0_1_0(uint64_t &policy)
{
    policy = 0;
}
template <class T>
inline void ptx_cp_async_cg_shared_global_L2_cache_hint_0_1_16_2_3(unsigned to, const T *from, unsigned some,
                                                                   uint64_t)
{
    copy_later(shared_pointer(to), (const void *)from, some, 16 - some);
}

/* --- ordered reads and writes: what is written is seen at once ------------------------------------------- */

static inline void ptx_ld_acquire_gpu_global_u32_0_1(unsigned &to, const unsigned *from, EMULATE_HERE)
{
    turn(here); /* this is what polls */
    to = *(const volatile unsigned *)from;
}
static inline void ptx_st_global_v4_f32_0_1_2_3_4(float *to, float a, float b, float c, float d)
{
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}
static inline void ptx_st_global_v2_f64_0_1_2(double *to, double a, double b)
{
    to[0] = a, to[1] = b;
}
static inline void ptx_st_release_gpu_global_u32_0_1(unsigned *to, unsigned value)
{
    *(volatile unsigned *)to = value;
    progress();
}

/* --- clusters ------------------------------------------------------------------------------------------ */

static inline void ptx_mov_u32_0_cluster_ctarank(unsigned &rank)
{
    rank = cluster_rank();
}
static inline void ptx_barrier_cluster_arrive_aligned_barrier_cluster_wait_aligned(EMULATE_HERE)
{
    cluster_barrier(here);
}
template <class T> inline void ptx_mapa_u64_0_1_2(T &to, T at, unsigned rank)
{
    to = (T)(uintptr_t)shared_of_rank((const void *)(uintptr_t)at, rank);
}

/* --- rough inverses: as many good bits as the device promises, no subnormals ------------------------------- */

static inline void ptx_rcp_approx_ftz_f64_0_1(double &out, double x)
{
    uint64_t bits;
    double inverse = 1 / (fabs(x) < 0x1p-1022 ? copysign(0.0, x) : x);
    if (fabs(inverse) < 0x1p-1022) inverse = copysign(0.0, inverse);
    memcpy(&bits, &inverse, sizeof bits);
    if (isfinite(inverse)) bits &= ~0xffffffffull;
    memcpy(&out, &bits, sizeof out);
}
static inline void ptx_rcp_approx_ftz_f32_0_1(float &out, float x)
{
    const float inverse = 1 / (fabsf(x) < 0x1p-126F ? copysignf(0.0F, x) : x);
    out = fabsf(inverse) < 0x1p-126F ? copysignf(0.0F, inverse)
          : isfinite(inverse)        ? nextafterf(inverse, 0)
                                     : inverse;
}

static inline void ptx_rsqrt_approx_ftz_f64_0_1(double &out, double x)
{
    uint64_t bits;
    const double inverse = 1 / sqrt(fabs(x) < 0x1p-1022 ? copysign(0.0, x) : x);
    memcpy(&bits, &inverse, sizeof bits);
    if (isfinite(inverse)) bits &= ~0xffffffffull;
    memcpy(&out, &bits, sizeof out);
}
static inline void ptx_rsqrt_approx_ftz_f32_0_1(float &out, float x)
{
    const float inverse = 1 / sqrtf(fabsf(x) < 0x1p-126F ? copysignf(0.0F, x) : x);
    out = isfinite(inverse) ? nextafterf(inverse, 0) : inverse;
}

/* --- 16 bytes exchanged -------------------------------------------------------------------------------- */

template <class T>
inline void ptx_reg_b128_mine_other_mov_b128_mine_2_3_atom_shared_exch_b128_other_4_mine_mov_b128_0_1_other(
    T &old_low, T &old_high, T low, T high, unsigned at)
{
    may_turn();
    T *const cell = (T *)shared_pointer(at);
    const T was_low = cell[0], was_high = cell[1];
    cell[0] = low;
    cell[1] = high;
    old_low = was_low;
    old_high = was_high;
}

template <class T>
inline void ptx_reg_b128_held_ld_relaxed_cta_shared_b128_held_2_mov_b128_0_1_held(T &low, T &high, unsigned at)
{
    may_turn();
    const T *const cell = (const T *)shared_pointer(at);
    low = cell[0];
    high = cell[1];
}

template <class T>
inline void
ptx_reg_b128_was_seen_next_mov_b128_seen_2_3_mov_b128_next_4_5_atom_relaxed_cta_shared_cas_b128_was_6_seen_next_mov_b128_0_1_was(
    T &old_low, T &old_high, T seen_low, T seen_high, T low, T high, unsigned at)
{
    may_turn();
    T *const cell = (T *)shared_pointer(at);
    const T was_low = cell[0], was_high = cell[1];
    if (was_low == seen_low && was_high == seen_high) {
        cell[0] = low;
        cell[1] = high;
    }
    old_low = was_low;
    old_high = was_high;
}

} /* namespace emulate */

static inline size_t __cvta_generic_to_shared(const void *p)
{
    return emulate::shared_address(p);
}

/* cuda_pipeline.h */
static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
    emulate::copy_later(to, from, bytes - zeros, zeros);
}
static inline void __pipeline_commit()
{
    emulate::copy_commit();
}
static inline void __pipeline_wait_prior(size_t left)
{
    emulate::copy_wait((unsigned)left);
}

#endif
