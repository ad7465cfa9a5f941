/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches. kernel<<<grid, block, shared, stream>>>(arguments) is rewritten to
 * kernel ->* emulate::config(grid, block, shared, stream)(arguments).
 */
#ifndef LACIS_EMULATE_LAUNCH_H
#define LACIS_EMULATE_LAUNCH_H

#include "lane.h"
#include "runtime.h"

#include <functional>
#include <tuple>
#include <utility>

namespace emulate
{

struct shape {
    dim3 grid, block, cluster;
    size_t shared;
    cudaStream_t stream;
    const void *function; /* whose attributes hold; NULL: not known */
    const char *name;     /* NULL: not known */
    place where;
};

/* Checks the shape, then runs `body` in every thread, now or when the stream comes to it. */
cudaError_t launch(const shape &s, std::function<void()> body);

shape shape_of(const cudaLaunchConfig_t *config, const void *kernel, place here);

/* An argument becomes the parameter's type; NULL may have become a number on the way. */
template <class P, class A> P convert(A &&a)
{
    if constexpr (std::is_pointer<P>::value && std::is_integral<std::decay_t<A>>::value)
        return (P)(uintptr_t)a;
    else
        return static_cast<P>(std::forward<A>(a));
}

template <class... P, class... A, size_t... I>
std::tuple<std::decay_t<P>...> converted(std::tuple<A...> &given, std::index_sequence<I...>)
{
    static_assert(sizeof...(P) == sizeof...(A), "as many arguments as the kernel has parameters");
    return std::tuple<std::decay_t<P>...>(convert<std::decay_t<P>>(std::get<I>(std::move(given)))...);
}

template <class... A> struct bundle {
    shape s;
    std::tuple<A...> arguments;
};

struct config {
    shape s;
    config(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0, EMULATE_HERE)
        : s{grid, block, dim3(), shared, stream, NULL, NULL, here}
    {
    }
    template <class... A> bundle<A &&...> operator()(A &&...a) const
    {
        return {s, std::tuple<A &&...>(std::forward<A>(a)...)};
    }
};

template <class... P, class... A> void operator->*(void (*kernel)(P...), bundle<A...> b)
{
    b.s.function = (const void *)kernel;
    auto given = converted<P...>(b.arguments, std::index_sequence_for<P...>());
    launch(b.s, [kernel, given] { std::apply(kernel, given); });
}

/* --- kernels as addresses ----------------------------------------------------------------------------- */

/* Makes the body of a launch from arguments given by address. */
typedef std::function<std::function<void()>(void **)> binder;
const void *remember(const void *kernel, const char *name, binder bind);

template <class... P, size_t... I>
std::function<void()> bound(void (*kernel)(P...), void **a, std::index_sequence<I...>)
{
    std::tuple<std::decay_t<P>...> given(*(std::decay_t<P> *)a[I]...);
    return [kernel, given] { std::apply(kernel, given); };
}

/* (const void *)kernel is rewritten to this, so that cudaLaunchKernel knows the parameters' types. */
template <class... P> const void *address(void (*kernel)(P...), const char *name = NULL)
{
    return remember((const void *)kernel, name,
                    [kernel](void **a) { return bound(kernel, a, std::index_sequence_for<P...>()); });
}

/* Other pointers stay what they are. */
template <class T, class = std::enable_if_t<!std::is_function<T>::value>>
const void *address(T *p, const char * = NULL)
{
    return (const void *)p;
}

} /* namespace emulate */

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments, EMULATE_HERE);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                             cudaStream_t stream = 0, EMULATE_HERE);
template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                             cudaStream_t stream = 0, EMULATE_HERE)
{
    return cudaLaunchKernel(emulate::address(kernel), grid, block, arguments, shared, stream, here);
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(P...), A &&...a)
{
    const emulate::shape s = emulate::shape_of(c, (const void *)kernel, {"cudaLaunchKernelEx", 0});
    std::tuple<A &&...> arguments(std::forward<A>(a)...);
    auto given = emulate::converted<P...>(arguments, std::index_sequence_for<P...>());
    return emulate::launch(s, [kernel, given] { std::apply(kernel, given); });
}
template <class F> cudaError_t cudaFuncSetAttribute(F *kernel, cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F, int threads, size_t shared)
{
    const int by_threads = 2048 / threads, by_shared = shared ? (int)(233472 / (shared + 1024)) : 32;
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    return cudaSuccess;
}

#endif
