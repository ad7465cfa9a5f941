/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of sweep_gpu as systems on the device.
 */
#include "sweep_support.h"

#include <cstring>

int64_t sweep_live, sweep_live_bytes, sweep_most_bytes, sweep_allocs, sweep_fail_at;

static void *take(void *, uint64_t bytes)
{
    void *block = nullptr;
    if (++sweep_allocs == sweep_fail_at) return nullptr;
    CUDA(cudaMallocAsync(&block, bytes + 256, stream));
    CUDA(cudaMemsetAsync(block, 0xff, bytes + 256, stream));
    CUDA(cudaMemcpyAsync(block, &bytes, sizeof bytes, cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamSynchronize(stream));
    sweep_live++;
    sweep_live_bytes += (int64_t)bytes;
    if (sweep_live_bytes > sweep_most_bytes) sweep_most_bytes = sweep_live_bytes;
    return (char *)block + 256;
}

static void give(void *, void *block)
{
    uint64_t bytes = 0;
    char *const head = (char *)block - 256;
    CUDA(cudaMemcpyAsync(&bytes, head, sizeof bytes, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFreeAsync(head, stream));
    sweep_live--;
    sweep_live_bytes -= (int64_t)bytes;
}

lacis_sweep_host sweep_host(void)
{
    return {take, give, nullptr, nullptr};
}

void *sweep_up(const void *host, uint64_t bytes)
{
    void *block = nullptr;
    CUDA(cudaMallocAsync(&block, bytes > 0 ? bytes : 1, stream));
    if (host != nullptr)
        CUDA(cudaMemcpyAsync(block, host, bytes, cudaMemcpyHostToDevice, stream));
    else
        CUDA(cudaMemsetAsync(block, 0xff, bytes, stream));
    CUDA(cudaStreamSynchronize(stream));
    return block;
}

void sweep_drop(void *block)
{
    CUDA(cudaFreeAsync(block, stream));
}

sweep_device::~sweep_device()
{
    lacis_sweep_gpu_free(system);
    for (void *block : held)
        sweep_drop(block);
    if (pinned != nullptr) CUDA(cudaFreeHost(pinned));
    CUDA(cudaStreamSynchronize(stream));
}

/* Cells low .. low + n - 1 of an array of extents `whole`, places beyond its ends taken from the other side. */
static std::vector<unsigned char> cut_out(const unsigned char *from, uint64_t size, const int64_t *whole,
                                          const int64_t *low, const int64_t *n)
{
    std::vector<unsigned char> out((uint64_t)(n[0] * n[1] * n[2]) * size);
    uint64_t to = 0;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++, to += size) {
                const int64_t at[3] = {(low[0] + x + whole[0]) % whole[0], (low[1] + y + whole[1]) % whole[1],
                                       (low[2] + z + whole[2]) % whole[2]};
                memcpy(&out[to], from + (uint64_t)((at[2] * whole[1] + at[1]) * whole[0] + at[0]) * size, size);
            }
    return out;
}

static void begin_values(sweep_device *d, const sweep_case &c, const bool (*inner)[2], int64_t halo)
{
    lacis_sweep_start *s = &d->start.start;
    for (int f = 0; f < s->fields; f++)
        for (int face = 0; face < 2 * s->dims; face++) {
            if (s->edge[f][face].kind != LACIS_SWEEP_VALUES) continue;
            int64_t whole[3], low[3], n[3];
            for (int k = 0; k < 3; k++) {
                const int64_t before = inner[k][0] ? halo : 0, behind = inner[k][1] ? halo : 0;
                whole[k] = k == face / 2 ? 1 : c.start.extent[k];
                low[k] = k == face / 2 ? 0 : s->origin[k] - before;
                n[k] = k == face / 2 ? 1 : s->extent[k] + before + behind;
            }
            const std::vector<unsigned char> part = cut_out((const unsigned char *)c.start.edge[f][face].values,
                                                            lacis_sweep_size(s->type), whole, low, n);
            d->held.push_back(sweep_up(part.data(), part.size()));
            s->edge[f][face].values = d->held.back();
        }
}

void sweep_begin(sweep_device *d, const sweep_case &c, const lacis_sweep_box *box, const bool (*inner)[2],
                 int64_t halo)
{
    static const bool none[3][2] = {};
    lacis_sweep_start *s = &d->start.start;
    *s = c.start;
    s->host = sweep_host();
    if (inner == nullptr) inner = none;
    for (int k = 0; k < 3; k++) {
        s->whole[k] = c.start.extent[k];
        s->origin[k] = box != nullptr ? box->begin[k] : 0;
        s->extent[k] = box != nullptr ? box->end[k] - box->begin[k] : c.start.extent[k];
        for (int side = 0; side < 2; side++)
            for (int f = 0; inner[k][side] && f < s->fields; f++)
                s->edge[f][2 * k + side].kind = LACIS_SWEEP_INNER;
        s->halo[k] = inner[k][0] || inner[k][1] ? halo : 0;
    }
    for (int i = 0; i < s->fields + s->coefficients; i++) {
        const std::vector<unsigned char> part =
            cut_out(c.array[i].data(), lacis_sweep_size(s->type), s->whole, s->origin, s->extent);
        d->held.push_back(sweep_up(part.data(), part.size()));
        s->array[i] = d->held.back();
    }
    begin_values(d, c, inner, halo);
    for (int k = 0; k < LACIS_SWEEP_GPU_KERNELS; k++)
        d->start.kernel[k] = c.kernel[k];
    d->start.stream = stream;
    CUDA(cudaMallocHost(&d->pinned, LACIS_SWEEP_GPU_PINNED_BYTES));
    d->start.pinned = d->pinned;
}

lacis_sweep_status sweep_make(sweep_device *d)
{
    int error = 0;
    const lacis_sweep_status status = lacis_sweep_gpu_new(&d->start, &d->system, &error);
    sweep_expect(error == 0, "a system: %s", cudaGetErrorString((cudaError_t)error));
    for (void *block : d->held) /* neither arrays nor values of faces are looked at from here on */
        sweep_drop(block);
    d->held.clear();
    return status;
}

void sweep_collect(sweep_device *d, const sweep_case &c, sweep_state *out)
{
    const lacis_sweep_start *s = &d->start.start;
    const uint64_t size = lacis_sweep_size(s->type), row = (uint64_t)s->extent[0] * size;
    const uint64_t bytes = row * (uint64_t)(s->extent[1] * s->extent[2]);
    void *field[LACIS_SWEEP_FIELDS];
    for (int f = 0; f < s->fields; f++)
        field[f] = sweep_up(nullptr, bytes);
    sweep_expect(lacis_sweep_gpu_read(d->system, field) == LACIS_SWEEP_OK, "%s: read", c.name.c_str());
    std::vector<unsigned char> part(bytes);
    for (int f = 0; f < s->fields; f++) {
        CUDA(cudaMemcpyAsync(part.data(), field[f], bytes, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        out->field[f].resize(c.cells() * size);
        for (int64_t z = 0; z < s->extent[2]; z++)
            for (int64_t y = 0; y < s->extent[1]; y++)
                memcpy(&out->field[f][(uint64_t)(((z + s->origin[2]) * s->whole[1] + y + s->origin[1]) * s->whole[0] +
                                                 s->origin[0]) *
                                      size],
                       &part[(uint64_t)(z * s->extent[1] + y) * row], row);
        sweep_drop(field[f]);
    }
}

void sweep_compare(const sweep_case &c, int64_t steps, bool wants_change)
{
    sweep_state expected, got;
    sweep_device d;
    std::string where;
    lacis_sweep_change change = {};
    sweep_naive(c, steps, &expected);
    sweep_begin(&d, c, nullptr, nullptr, 0);
    sweep_live_bytes = sweep_most_bytes = 0;
    const lacis_sweep_status made = sweep_make(&d);
    sweep_expect(made == LACIS_SWEEP_OK, "%s: status %d of new", c.name.c_str(), (int)made);
    if (made != LACIS_SWEEP_OK) return;
    sweep_expect((uint64_t)sweep_most_bytes <= lacis_sweep_gpu_bytes(&d.start.start),
                 "%s: %lld bytes, %llu estimated", c.name.c_str(), (long long)sweep_most_bytes,
                 (unsigned long long)lacis_sweep_gpu_bytes(&d.start.start));
    /* In two calls: the second begins where the first ends. */
    lacis_sweep_status status = lacis_sweep_gpu_steps(d.system, steps / 2, nullptr);
    if (status == LACIS_SWEEP_OK)
        status = lacis_sweep_gpu_steps(d.system, steps - steps / 2, wants_change ? &change : nullptr);
    sweep_expect(status == LACIS_SWEEP_OK, "%s: status %d, %s", c.name.c_str(), (int)status,
                 cudaGetErrorString((cudaError_t)lacis_sweep_gpu_error_code(d.system)));
    sweep_collect(&d, c, &got);
    const int64_t differ = sweep_differences(c, expected, got, &where);
    sweep_expect(differ == 0, "%s: %lld cells differ, the first is %s", c.name.c_str(), (long long)differ,
                 where.c_str());
    sweep_expect(!wants_change || sweep_same_change(expected.change, change), "%s: change %a %a, not %a %a",
                 c.name.c_str(), change.max, lacis_sweep_exact_round(&change.squares), expected.change.max,
                 lacis_sweep_exact_round(&expected.change.squares));
    lacis_sweep_counts counts;
    lacis_sweep_gpu_counted(d.system, &counts, true);
    sweep_expect(counts.steps == (double)steps, "%s: %g steps counted", c.name.c_str(), counts.steps);
}
