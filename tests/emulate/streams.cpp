/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events. Without a seed what is asked for is done at once. With one it waits in its stream until someone
 * waits for it, and the streams' work is then done in a random order among those that streams and events allow.
 */
#include "scheduler.h"

#include "emulate/device_wide.h"
#include "memory.h"

#include <chrono>
#include <deque>
#include <map>

struct emulate_event {
    uint64_t asked = 0, done = 0; /* records */
    double ms = 0;
};

namespace
{

struct step {
    std::function<void()> work;
    emulate_event *awaited; /* NULL: none; else until `record` is done */
    uint64_t record;
};

} /* namespace */

struct emulate_stream {
    std::deque<step> steps;
    bool blocking; /* for the default stream */
};

namespace emulate
{

static emulate_stream default_stream;
static std::vector<emulate_stream *> streams;

static bool stands(const emulate_stream *s)
{
    const step &first = s->steps.front();
    return first.awaited && first.awaited->done < first.record;
}

/* One step of a random stream that can go on; false: there is none. */
static bool advance(bool blocking_only)
{
    std::vector<emulate_stream *> can;
    for (emulate_stream *s : streams)
        if (!s->steps.empty() && !stands(s) && (s->blocking || !blocking_only)) can.push_back(s);
    if (can.empty()) return false;
    emulate_stream *const s = can[random_below((unsigned)can.size())];
    const std::function<void()> work = std::move(s->steps.front().work);
    s->steps.pop_front();
    if (work) work();
    return true;
}

template <class DONE> static void advance_until(DONE done)
{
    while (!done())
        if (!advance(false)) fail({"streams", 0}, "streams wait for events that are never recorded");
}

/* What the default stream waits for. */
static void drain_blocking()
{
    advance_until([] {
        for (const emulate_stream *s : streams)
            if (s->blocking && !s->steps.empty()) return false;
        return true;
    });
}

void drain(emulate_stream *s)
{
    if (!s)
        drain_blocking();
    else
        advance_until([s] { return s->steps.empty(); });
}

void drain_all()
{
    advance_until([] {
        for (const emulate_stream *s : streams)
            if (!s->steps.empty()) return false;
        return true;
    });
}

void do_on(cudaStream_t stream, std::function<void()> work)
{
    if (!seeded)
        work();
    else if (!stream) {
        drain_blocking();
        work();
    } else {
        stream->steps.push_back({std::move(work), NULL, 0});
        if (random_below(4) == 0) advance(false);
    }
}

static double milliseconds()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} /* namespace emulate */

using namespace emulate;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = new emulate_stream();
    (*stream)->blocking = !(flags & cudaStreamNonBlocking);
    streams.push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    drain(stream);
    for (size_t i = 0; i < streams.size(); i++)
        if (streams[i] == stream) streams.erase(streams.begin() + (long)i);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    drain(stream);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    drain_all();
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    if (!stream || stream->steps.empty()) return cudaSuccess;
    advance(false);
    return stream->steps.empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new emulate_event();
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const uint64_t record = ++event->asked;
    do_on(stream, [event, record] {
        event->done = record;
        event->ms = milliseconds();
    });
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    const uint64_t record = event->asked;
    if (!seeded || event->done >= record) return cudaSuccess;
    if (stream)
        stream->steps.push_back({NULL, event, record});
    else
        advance_until([=] { return event->done >= record; });
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    advance_until([event] { return event->done >= event->asked; });
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (event->done < event->asked) advance(false);
    return event->done >= event->asked ? cudaSuccess : cudaErrorNotReady;
}

/* What waits for it still may. */
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    advance_until([event] {
        for (const emulate_stream *s : streams)
            for (const step &x : s->steps)
                if (x.awaited == event) return false;
        return event->done >= event->asked;
    });
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    if (from->done < from->asked || to->done < to->asked) return cudaErrorNotReady;
    *ms = (float)(to->ms - from->ms);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
    do_on(stream, [=] { function(argument); });
    return cudaSuccess;
}
