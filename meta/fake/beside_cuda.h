// With LibTorch's own CUDA library loaded, a process has two devices called `cuda`. Queries inside
// a simulation get the simulated device, all others the real one.
#pragma once

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <memory>

namespace symprof::meta {

/// True if this thread's CUDA queries go to the simulated device: in a FakeMode; without a GPU,
/// also on the other threads of a simulated program. Always true if no CUDA library is loaded.
bool is_simulating();

/// True if a loaded CUDA library finds a GPU.
bool has_real_device();

/// True while a simulated program runs on some thread.
bool is_program_open();

/// While one lives, a simulated program runs on some thread.
class OpenProgram {
 public:
  OpenProgram();
  ~OpenProgram();
  OpenProgram(const OpenProgram&) = delete;
  OpenProgram& operator=(const OpenProgram&) = delete;
};

/// Installs hooks that choose between both devices. Call it before the first query of LibTorch's
/// hooks.
void install_hooks_beside_cuda();

/// A guard that chooses between both guards; `real` must outlive it.
std::unique_ptr<c10::impl::DeviceGuardImplInterface> make_guard_beside(
    const c10::impl::DeviceGuardImplInterface& real);

}  // namespace symprof::meta
