// Calls that reach the CUDA backend in a simulation. Some of LibTorch's own code keeps the Fake key
// out (torch::utils::tensor_new for torch.tensor(data, device="cuda")); what it calls goes to the
// fake tensors' fallback from here. Where no CUDA library is loaded, the whole backend is one way
// there.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>

namespace symprof::meta {

/// An operator of aten ("empty.memory_format") whose kernel in a CUDA library asks a device, and
/// what runs in its place in a simulation.
struct DetourPlan {
  const char* name;
  c10::DispatchKey key;
  c10::KernelFunction simulated;
};
void add_detour(DetourPlan plan);

/// While it lives, detours are in front of the kernels of a CUDA library that is loaded. Without
/// one, null.
std::shared_ptr<void> detours_around_cuda();

/// While it lives, this thread runs an operator on tensors that are not the simulated device's.
class RealCall {
 public:
  RealCall();
  ~RealCall();
  RealCall(const RealCall&) = delete;
  RealCall& operator=(const RealCall&) = delete;
};

}  // namespace symprof::meta
