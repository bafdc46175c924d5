// Where LibTorch's own CUDA library is loaded, a process has two devices that say `cuda`. Whoever
// asks in a simulation is told of the simulated one, everybody else of the real one.
#pragma once

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <memory>

namespace symprof::meta {

/// Whether this thread's questions about CUDA are the simulated device's: in a FakeMode; where the
/// process has no GPU, on the other threads of a simulated program, too. Always where no CUDA
/// library is loaded.
bool is_simulating();

/// Whether a CUDA library that is loaded finds a GPU.
bool has_real_device();

/// While one lives, a simulated program runs on some thread.
class OpenProgram {
 public:
  OpenProgram();
  ~OpenProgram();
  OpenProgram(const OpenProgram&) = delete;
  OpenProgram& operator=(const OpenProgram&) = delete;
};

/// Puts the choice between both in front of LibTorch's hooks. Before anybody has asked them.
void install_hooks_beside_cuda();

/// Both guards behind one; `real` outlives it.
std::unique_ptr<c10::impl::DeviceGuardImplInterface> make_guard_beside(
    const c10::impl::DeviceGuardImplInterface& real);

}  // namespace symprof::meta
