// Calls that reach the CUDA backend where none is loaded. Some of LibTorch's own code keeps the
// Fake key out (torch::utils::tensor_new for torch.tensor(data, device="cuda")); what it calls goes
// to the fake tensors' fallback from here.
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <optional>

#include "meta/fake/fake_mode.h"
#include "meta/fake/simulated_device.h"

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

std::optional<torch::Library> library_for(const char* operators) {
  if (symprof::meta::has_cuda_kernels()) return std::nullopt;
  return std::optional<torch::Library>(std::in_place, torch::Library::IMPL, operators,
                                       c10::DispatchKey::CUDA, __FILE__, __LINE__);
}

const std::optional<torch::Library> all_operators = [] {
  auto library = library_for("_");
  if (library) library->fallback(torch::CppFunction::makeFromBoxedFunction<&run_fake>());
  return library;
}();

// A composite operator whose kernel looks for CUDA's copy.
const std::optional<torch::Library> composite_operators = [] {
  auto library = library_for("aten");
  if (library) library->impl("copy_", torch::CppFunction::makeFromBoxedFunction<&run_fake>());
  return library;
}();

}  // namespace
