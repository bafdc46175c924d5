// Calls that reach the CUDA backend in a simulation. Some of LibTorch's code excludes the Fake key
// (torch::utils::tensor_new for torch.tensor(data, device="cuda")); its calls are redirected from
// here to the fake tensors' fallback. If no CUDA library is loaded, the whole backend redirects.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>

namespace symprof::meta {

/// An aten operator ("empty.memory_format") whose kernel in a CUDA library queries a device, and
/// its replacement in a simulation.
struct DetourPlan {
  const char* name;
  c10::DispatchKey key;
  c10::KernelFunction simulated;
};
void add_detour(DetourPlan plan);

/// While it lives, detours wrap the kernels of a loaded CUDA library. Null without one.
std::shared_ptr<void> detours_around_cuda();

/// While it lives, this thread runs an operator on tensors that are not on the simulated device.
class RealCall {
 public:
  RealCall();
  ~RealCall();
  RealCall(const RealCall&) = delete;
  RealCall& operator=(const RealCall&) = delete;
};

}  // namespace symprof::meta
