/* SPDX-License-Identifier: Apache-2.0
 *
 * Edges into their places; see common_fill.h.
 */
#include "common_fill.h"

static bool fits_i32(const lacis_seen *seen)
{
    return !seen->integer || (seen->low >= INT32_MIN && seen->high <= INT32_MAX);
}

static lacis_status refuse_type(const lacis_edges *edges, const char *cause)
{
    return lacis_run_fail(edges->run, LACIS_TYPE, "%s: type = '%s' cannot hold its values: %s", edges->spec.path,
                          lacis_dtype_name((lacis_dtype)edges->spec.type), cause);
}

/* The negation of the least integer does not exist: such a mirrored matrix is kept in reals. */
static bool all_integers(const lacis_edges *edges)
{
    bool least = edges->seen.integer && edges->seen.low == INT64_MIN && edges->spec.mirror == LACIS_MIRROR_NEGATED;
    return !edges->seen.real && !least;
}

static bool narrow(const lacis_edges *edges)
{
    bool least = edges->seen.integer && edges->seen.low == INT32_MIN && edges->spec.mirror == LACIS_MIRROR_NEGATED;
    return fits_i32(&edges->seen) && !least;
}

static void set_type(lacis_edges *edges, lacis_dtype dtype, lacis_dtype storage)
{
    edges->dtype = dtype;
    edges->raw.storage = storage;
}

static lacis_status asked_type(lacis_edges *edges)
{
    lacis_dtype type = (lacis_dtype)edges->spec.type;
    if (edges->spec.want == LACIS_WANT_COMPLEX) return refuse_type(edges, "they are complex");
    if (type == LACIS_F32 || type == LACIS_F64) {
        set_type(edges, type, type);
        return LACIS_OK;
    }
    if (edges->spec.want == LACIS_WANT_REAL || !all_integers(edges))
        return refuse_type(edges, "some are no integers");
    if (type == LACIS_I32 && !narrow(edges)) return refuse_type(edges, "some do not fit 32 bits");
    set_type(edges, type, type == LACIS_I64 && narrow(edges) ? LACIS_I32 : type);
    return LACIS_OK;
}

lacis_status lacis_fill_type(lacis_edges *edges)
{
    lacis_edges_spec *spec = &edges->spec;
    if (spec->type == LACIS_PATTERN || spec->duplicates == LACIS_DUPLICATES_COUNT) spec->want = LACIS_WANT_NONE;
    set_type(edges, LACIS_PATTERN, LACIS_PATTERN);
    if (spec->want == LACIS_WANT_NONE) return LACIS_OK;
    if (spec->type != LACIS_TYPE_FOUND) return asked_type(edges);
    if (spec->want == LACIS_WANT_COMPLEX) {
        bool ordered = spec->duplicates == LACIS_DUPLICATES_MIN || spec->duplicates == LACIS_DUPLICATES_MAX;
        if (ordered)
            return lacis_run_fail(edges->run, LACIS_TYPE, "%s: complex values have no least or greatest one",
                                  spec->path);
        set_type(edges, LACIS_C128, LACIS_C128);
    } else if (spec->want == LACIS_WANT_REAL || !all_integers(edges)) {
        set_type(edges, LACIS_F64, LACIS_F64);
    } else {
        set_type(edges, LACIS_I64, narrow(edges) ? LACIS_I32 : LACIS_I64);
    }
    return LACIS_OK;
}

static lacis_status reserve(lacis_edges *edges, size_t size, lacis_buffer **out)
{
    uint64_t bytes = (uint64_t)edges->raw.entries * size;
    LACIS_TRY(lacis_buffer_reserve(edges->run, bytes, out));
    lacis_status status = lacis_buffer_charge(*out, bytes);
    if (status == LACIS_OK) return LACIS_OK;
    return lacis_run_fail(edges->run, status, "%s: its %lld entries need %.1f MB; raise memory_limit",
                          edges->spec.path, (long long)edges->raw.entries, (double)bytes / 1e6);
}

lacis_status lacis_fill_space(lacis_edges *edges)
{
    LACIS_TRY(reserve(edges, sizeof(uint32_t), &edges->raw.columns));
    if (edges->raw.storage == LACIS_PATTERN) return LACIS_OK;
    return reserve(edges, lacis_dtype_size(edges->raw.storage), &edges->raw.values);
}

lacis_want lacis_fill_want(const lacis_edges *edges)
{
    switch (edges->raw.storage) {
    case LACIS_PATTERN:
        return LACIS_WANT_NONE;
    case LACIS_I32:
    case LACIS_I64:
        return LACIS_WANT_INTEGER;
    case LACIS_C128:
        return LACIS_WANT_COMPLEX;
    default:
        return LACIS_WANT_REAL;
    }
}

/* Places of n entries in their rows. */
static void take_places(lacis_edges *edges, const int64_t *row, int n, int64_t *place)
{
    int64_t *next = edges->raw.offsets + 1;
    if (edges->shared) {
        for (int i = 0; i < n; i++) {
            place[i] = __atomic_fetch_add(&next[row[i]], 1, __ATOMIC_RELAXED);
        }
    } else {
        for (int i = 0; i < n; i++) {
            place[i] = next[row[i]]++;
        }
    }
}

static void put_values(const lacis_edges *edges, const lacis_sink *sink, const int64_t *place, int n)
{
    void *values = lacis_buffer_data(edges->raw.values);
    switch (edges->raw.storage) {
    case LACIS_I32:
        for (int i = 0; i < n; i++) {
            ((int32_t *)values)[place[i]] = (int32_t)sink->value[i].integer;
        }
        return;
    case LACIS_I64:
        for (int i = 0; i < n; i++) {
            ((int64_t *)values)[place[i]] = sink->value[i].integer;
        }
        return;
    case LACIS_F32:
        for (int i = 0; i < n; i++) {
            ((float *)values)[place[i]] = (float)sink->value[i].real;
        }
        return;
    case LACIS_F64:
        for (int i = 0; i < n; i++) {
            ((double *)values)[place[i]] = sink->value[i].real;
        }
        return;
    default: /* C128 */
        for (int i = 0; i < n; i++) {
            ((double *)values)[2 * place[i]] = sink->value[i].real;
            ((double *)values)[2 * place[i] + 1] = sink->imag[i];
        }
        return;
    }
}

static void put(lacis_edges *edges, const lacis_sink *sink, const int64_t *row, const int64_t *col, int n)
{
    int64_t place[LACIS_BATCH];
    uint32_t *columns = lacis_buffer_data(edges->raw.columns);
    take_places(edges, row, n, place);
    for (int i = 0; i < n; i++) {
        columns[place[i]] = (uint32_t)col[i];
    }
    if (edges->raw.values != NULL) put_values(edges, sink, place, n);
}

/* The value of the mirrored edge. */
static void turn_value(const lacis_edges *edges, lacis_sink *sink, int i)
{
    bool integer = edges->raw.storage == LACIS_I32 || edges->raw.storage == LACIS_I64;
    if (edges->spec.mirror == LACIS_MIRROR_NEGATED && integer) sink->value[i].integer = -sink->value[i].integer;
    if (edges->spec.mirror == LACIS_MIRROR_NEGATED && !integer) sink->value[i].real = -sink->value[i].real;
    if (edges->spec.mirror != LACIS_MIRROR_SAME) sink->imag[i] = -sink->imag[i];
}

/* Leaves the edges turned round in the sink, self loops dropped. */
static int turn(const lacis_edges *edges, lacis_sink *sink)
{
    int n = 0;
    for (int i = 0; i < sink->count; i++) {
        if (sink->src[i] == sink->dst[i]) continue;
        int64_t src = sink->src[i];
        sink->src[n] = sink->dst[i];
        sink->dst[n] = src;
        sink->value[n] = sink->value[i];
        sink->imag[n] = sink->imag[i];
        turn_value(edges, sink, n++);
    }
    return n;
}

void lacis_fill_take(lacis_edges *edges, lacis_sink *sink)
{
    lacis_ids_index(&edges->row, sink->src, sink->count);
    lacis_ids_index(edges->spec.separate || edges->spec.declared ? &edges->col : &edges->row, sink->dst, sink->count);
    put(edges, sink, sink->src, sink->dst, sink->count);
    if (edges->spec.mirror != LACIS_MIRROR_NONE) {
        int n = turn(edges, sink);
        put(edges, sink, sink->src, sink->dst, n);
    }
}
