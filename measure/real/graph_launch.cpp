#include "measure/real/graph_launch.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <array>

#include "measure/loaded_library.h"
#include "measure/real/device.h"

namespace symprof::measure::real {
namespace {

constexpr int kernels = 200, replays = 10;
constexpr int relaxed_capture = 2;  // cudaStreamCaptureModeRelaxed

/// CUDA's runtime as loaded by LibTorch. LibTorch's graph API is only in its CUDA library, which is
/// not linked.
LoadedLibrary cuda_runtime() {
  for (const char* name : std::array{"libcudart.so.13", "libcudart.so.12"})
    if (const LoadedLibrary runtime(name, RTLD_NOW | RTLD_NOLOAD); runtime.is_there())
      return runtime;
  return {};
}

c10::Event recorded(const c10::Stream& stream) {
  c10::Event event(stream.device_type(), c10::EventFlag::BACKEND_DEFAULT);
  event.record(stream);
  return event;
}

/// `replay` launches `kernels` kernels; false on failure.
template <class Replay>
std::optional<double> us_of_kernel(const c10::Stream& stream, const Replay& replay) {
  if (!replay()) return std::nullopt;  // The first replay includes preparation.
  wait_for(stream.device());
  const c10::Event begin = recorded(stream);
  for (int i = 0; i < replays; ++i)
    if (!replay()) return std::nullopt;
  const c10::Event end = recorded(stream);
  wait_for(stream.device());
  const double us = begin.elapsedTime(end) * 1e3 / (kernels * replays);
  return us > 0 ? std::optional(us) : std::nullopt;
}

}  // namespace

std::optional<double> graph_launch_us(c10::Device device) try {
  const LoadedLibrary cuda = cuda_runtime();
  const c10::impl::VirtualGuardImpl guard(device.type());
  const c10::Stream stream = guard.getStreamFromGlobalPool(device);
  const c10::StreamGuard on_it(stream);
  const at::NoGradGuard no_grad;
  at::Tensor number = at::zeros({1}, at::TensorOptions().device(device));
  number.add_(1);  // Loads the kernel's code.
  wait_for(device);
  void* const handle = guard.getStreamNativeHandle(stream);
  void *graph = nullptr, *ready = nullptr;
  if (!cuda.call("cudaStreamBeginCapture", handle, relaxed_capture)) return std::nullopt;
  for (int i = 0; i < kernels; ++i) number.add_(1);
  if (!cuda.call("cudaStreamEndCapture", handle, &graph) ||
      !cuda.call("cudaGraphInstantiateWithFlags", &ready, graph, 0ULL))
    return std::nullopt;
  const auto us = us_of_kernel(stream, [&] { return cuda.call("cudaGraphLaunch", ready, handle); });
  cuda.call("cudaGraphExecDestroy", ready);
  cuda.call("cudaGraphDestroy", graph);
  return us;
} catch (const c10::Error&) {
  return std::nullopt;
}

}  // namespace symprof::measure::real
