// Calls that reach the CUDA backend of a build that has none. Some of LibTorch's own code keeps the
// Fake key out (torch::utils::tensor_new for torch.tensor(data, device="cuda")); what it calls goes
// to the fake tensors' fallback from here.
#ifndef SYMPROF_LIBTORCH_HAS_CUDA

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include "meta/fake/fake_mode.h"

namespace {

void run_fake(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  TORCH_CHECK(symprof::meta::current_attention_policy() != nullptr, op.operator_name(),
              ": found a CUDA tensor outside of a simulation; this build of LibTorch has no CUDA "
              "kernels");
  auto keys = c10::impl::tls_local_dispatch_key_set();
  keys.excluded_ = keys.excluded_.remove(c10::DispatchKey::Fake);
  keys.included_ = keys.included_.add(c10::DispatchKey::Fake);
  const c10::impl::ForceDispatchKeyGuard guard(keys);
  op.callBoxed(stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run_fake>());
}

// A composite operator whose kernel looks for CUDA's copy.
TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("copy_", torch::CppFunction::makeFromBoxedFunction<&run_fake>());
}

#endif
