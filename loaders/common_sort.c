/* SPDX-License-Identifier: Apache-2.0
 *
 * Quicksort with the median of three, insertion for short pieces, and heapsort where the cuts turn out bad (Musser's
 * introsort, Software: Practice and Experience 27, 1997). Recursion goes into the shorter piece only.
 */
#include "common_sort.h"

enum { SHORT = 24 };

#define DEFINE_SORT(name, type)                                                                                      \
    static void name##_insert(type *v, int64_t n)                                                                    \
    {                                                                                                                \
        for (int64_t i = 1; i < n; i++) {                                                                            \
            type x = v[i];                                                                                           \
            int64_t j = i;                                                                                           \
            for (; j > 0 && v[j - 1] > x; j--)                                                                       \
                v[j] = v[j - 1];                                                                                     \
            v[j] = x;                                                                                                \
        }                                                                                                            \
    }                                                                                                                \
    static void name##_sift(type *v, int64_t at, int64_t n)                                                          \
    {                                                                                                                \
        type x = v[at];                                                                                              \
        for (int64_t child; (child = 2 * at + 1) < n; at = child) {                                                  \
            if (child + 1 < n && v[child + 1] > v[child]) child++;                                                   \
            if (v[child] <= x) break;                                                                                \
            v[at] = v[child];                                                                                        \
        }                                                                                                            \
        v[at] = x;                                                                                                   \
    }                                                                                                                \
    static void name##_heap(type *v, int64_t n)                                                                      \
    {                                                                                                                \
        for (int64_t i = n / 2; i-- > 0;)                                                                            \
            name##_sift(v, i, n);                                                                                    \
        for (int64_t last = n - 1; last > 0; last--) {                                                               \
            type x = v[0];                                                                                           \
            v[0] = v[last];                                                                                          \
            v[last] = x;                                                                                             \
            name##_sift(v, 0, last);                                                                                 \
        }                                                                                                            \
    }                                                                                                                \
    static type name##_median(const type *v, int64_t n)                                                              \
    {                                                                                                                \
        type a = v[0], b = v[n / 2], c = v[n - 1];                                                                   \
        if (a > b) return b > c ? b : (a > c ? c : a);                                                               \
        return a > c ? a : (b > c ? c : b);                                                                          \
    }                                                                                                                \
    static void name##_quick(type *v, int64_t n, int depth)                                                          \
    {                                                                                                                \
        while (n > SHORT) {                                                                                          \
            if (depth-- == 0) {                                                                                      \
                name##_heap(v, n);                                                                                   \
                return;                                                                                              \
            }                                                                                                        \
            type pivot = name##_median(v, n);                                                                        \
            int64_t i = -1, j = n;                                                                                   \
            for (;;) {                                                                                               \
                while (v[++i] < pivot) {                                                                             \
                }                                                                                                    \
                while (v[--j] > pivot) {                                                                             \
                }                                                                                                    \
                if (i >= j) break;                                                                                   \
                type x = v[i];                                                                                       \
                v[i] = v[j];                                                                                         \
                v[j] = x;                                                                                            \
            }                                                                                                        \
            int64_t left = j + 1, right = n - left;                                                                  \
            if (left < right) {                                                                                      \
                name##_quick(v, left, depth);                                                                        \
                v += left;                                                                                           \
                n = right;                                                                                           \
            } else {                                                                                                 \
                name##_quick(v + left, right, depth);                                                                \
                n = left;                                                                                            \
            }                                                                                                        \
        }                                                                                                            \
        name##_insert(v, n);                                                                                         \
    }                                                                                                                \
    void name(type *value, int64_t count)                                                                            \
    {                                                                                                                \
        if (count > 1) name##_quick(value, count, 2 * (64 - __builtin_clzll((unsigned long long)count)));            \
    }

DEFINE_SORT(lacis_sort_u32, uint32_t)
DEFINE_SORT(lacis_sort_u64, uint64_t)
DEFINE_SORT(lacis_sort_i64, int64_t)
