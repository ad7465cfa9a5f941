/* SPDX-License-Identifier: Apache-2.0
 *
 * TOP of a vector: values of every storage with many ties, in lists and in places of which some are absent, against a
 * stable sort. Called by vector_gpu.cu.
 */
#include "vector_support.h"

#include <limits>
#include <numeric>

namespace
{

/* NaN the least, zeros equal. */
template <class V> bool greater(V x, V y)
{
    if (x != x) return false;
    return y != y || x > y;
}

/* way 0: few values, so that most are ties; 1: the type's ends besides; 2: anything. */
template <class V> V any_value(u64 *state, int way)
{
    const u64 bits = next_random(state);
    if (way == 1 && bits % 5 == 0)
        return bits >> 8 & 1 ? std::numeric_limits<V>::max() : std::numeric_limits<V>::lowest();
    if constexpr (std::is_floating_point<V>::value) {
        if (way == 1 && bits % 5 == 1) return bits >> 8 & 1 ? (V)NAN : (V)-0.0;
        if (way == 1 && bits % 5 == 2) return bits >> 8 & 1 ? (V)INFINITY : (V)-INFINITY;
        if (way == 2) return (V)((double)(bits >> 11) * 0x1p-40 - 4096);
    }
    return way == 2 ? (V)bits : (V)(bits % 7);
}

struct chosen {
    uint64_t count, top;
    bool listed, sparse;
};

/* The places of those that stay, rising. */
template <class V>
std::vector<size_t> reference(const std::vector<V> &value, const std::vector<uint8_t> &present, const chosen &c)
{
    std::vector<size_t> place;
    for (size_t i = 0; i < value.size(); i++)
        if (!c.sparse || present[i]) place.push_back(i);
    std::stable_sort(place.begin(), place.end(), [&](size_t x, size_t y) { return greater(value[x], value[y]); });
    if (place.size() > c.top) place.resize(c.top);
    std::sort(place.begin(), place.end());
    return place;
}

template <class V> void compare(u64 *state, lacis_mul_storage storage, const chosen &c, int way)
{
    std::vector<V> value(c.count);
    std::vector<uint8_t> present(c.count);
    std::vector<uint32_t> column(c.count);
    uint32_t last = 0;
    for (uint64_t i = 0; i < c.count; i++) {
        value[i] = any_value<V>(state, way);
        present[i] = next_random(state) % 3 != 0;
        column[i] = last += 1 + next_random(state) % 3;
    }
    lacis_mul_gpu_job job = {};
    job.storage = storage;
    job.top = (int64_t)c.top;
    job.memory = pool;
    job.stream = stream;
    lacis_mul_gpu_top top = {};
    top.job = &job;
    top.count = c.count;
    top.first = 11;
    V *values = upload(value);
    uint8_t *there = upload(present);
    uint32_t *columns = upload(column);
    top.value = values;
    top.column = c.listed ? columns : NULL;
    top.present = c.sparse ? there : NULL;
    char what[100];
    snprintf(what, sizeof what, "top %d of %d storage %d way %d%s%s", (int)c.top, (int)c.count, (int)storage, way,
             c.listed ? " listed" : "", c.sparse ? " sparse" : "");
    const lacis_mul_gpu_status status = lacis_mul_gpu_top_run(&top);
    const std::vector<size_t> place = reference(value, present, c);
    if (status != LACIS_MUL_GPU_OK || top.entries != place.size()) {
        fail(what, -1, status == LACIS_MUL_GPU_OK ? (double)top.entries : -(double)status, (double)place.size());
    } else {
        const auto fc = download<uint32_t>(top.out_column, top.entries);
        const auto fv = download<V>(top.out_value, top.entries);
        for (size_t i = 0; i < place.size(); i++) {
            const uint32_t wanted = c.listed ? column[place[i]] : 11 + (uint32_t)place[i];
            if (fc[i] != wanted) fail(what, (int64_t)i, fc[i], wanted);
            if (memcmp(&fv[i], &value[place[i]], sizeof(V)))
                fail(what, (int64_t)i, (double)fv[i], (double)value[place[i]]);
        }
    }
    if (top.out_column) pool_free(NULL, top.out_column);
    if (top.out_value) pool_free(NULL, top.out_value);
    pool_free(NULL, values), pool_free(NULL, there), pool_free(NULL, columns);
}

template <class V> void compare_all(u64 *state, lacis_mul_storage storage, bool few)
{
    static const uint64_t counts[] = {0, 1, 255, 700, 5000, 70000}, tops[] = {1, 10, 33, 300, 4999, 100000};
    for (uint64_t count : counts) {
        if (few && count > 700) break;
        for (uint64_t k : tops)
            for (int way = 0; way < 3; way++) {
                const u64 kind = next_random(state);
                if (count == 70000 && kind % 3) continue;
                const chosen c = {count, k, (kind >> 8 & 1) != 0, (kind >> 9 & 1) != 0};
                compare<V>(state, storage, c, way);
            }
    }
}

} /* namespace */

void check_top(u64 *state, bool few)
{
    compare_all<uint8_t>(state, LACIS_MUL_TO_U8, few);
    compare_all<uint16_t>(state, LACIS_MUL_TO_U16, few);
    compare_all<uint32_t>(state, LACIS_MUL_TO_U32, few);
    compare_all<int32_t>(state, LACIS_MUL_TO_I32, few);
    compare_all<int64_t>(state, LACIS_MUL_TO_I64, few);
    compare_all<float>(state, LACIS_MUL_TO_F32, few);
    compare_all<double>(state, LACIS_MUL_TO_F64, few);
}
