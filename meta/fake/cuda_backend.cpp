#include "meta/fake/cuda_backend.h"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "meta/fake/beside_cuda.h"
#include "meta/fake/cuda_library.h"
#include "meta/fake/current_mode.h"
#include "meta/fake/program_error.h"

namespace symprof::meta {
namespace {

thread_local int real_calls = 0;

void run_in_simulation(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_thread(op.schema().name());
  TORCH_CHECK(current_attention_policy() != nullptr, op.operator_name(),
              ": found a CUDA tensor outside of a simulation; this build of LibTorch has no CUDA "
              "kernels");
  auto keys = c10::impl::tls_local_dispatch_key_set();
  keys.excluded_ = keys.excluded_.remove(c10::DispatchKey::Fake);
  keys.included_ = keys.included_.add(c10::DispatchKey::Fake);
  const c10::impl::ForceDispatchKeyGuard guard(keys);
  op.callBoxed(stack);
}

std::optional<torch::Library> library_for(const char* operators) {
  if (has_cuda_kernels()) return std::nullopt;
  return std::optional<torch::Library>(std::in_place, torch::Library::IMPL, operators,
                                       c10::DispatchKey::CUDA, __FILE__, __LINE__);
}

const std::optional<torch::Library> all_operators = [] {
  auto library = library_for("_");
  if (library) library->fallback(torch::CppFunction::makeFromBoxedFunction<&run_in_simulation>());
  return library;
}();

// A composite operator whose kernel looks up the CUDA kernel of copy_.
const std::optional<torch::Library> composite_operators = [] {
  auto library = library_for("aten");
  if (library)
    library->impl("copy_", torch::CppFunction::makeFromBoxedFunction<&run_in_simulation>());
  return library;
}();

std::vector<DetourPlan>& plans() {
  static auto* made = new std::vector<DetourPlan>;
  return *made;
}

// The operators that tensor_new calls to move values to the device.
[[maybe_unused]] const bool has_way_of_tensor_new = [] {
  for (const char* name : {"empty.memory_format", "empty_strided", "copy_"})
    add_detour({name, c10::DispatchKey::CUDA,
                c10::KernelFunction::makeFromBoxedFunction<&run_in_simulation>()});
  return true;
}();

// Wraps a CUDA library's kernel, which it calls outside of simulations.
struct Detour final : c10::OperatorKernel {
  Detour(const c10::KernelFunction& instead, c10::SafeKernelFunction of_cuda)
      : simulated(instead), real(std::move(of_cuda)) {}

  c10::KernelFunction simulated;
  c10::SafeKernelFunction real;

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack) {
    if (is_simulating()) check_thread(op.schema().name());
    if (current_attention_policy() != nullptr && real_calls == 0)
      simulated.callBoxed(op, keys, stack);
    else
      real.callBoxed(op, keys, stack);
  }
};

// The libraries unregister their kernels when destroyed.
std::shared_ptr<std::vector<torch::Library>> make_detours() {
  auto libraries = std::make_shared<std::vector<torch::Library>>();
  for (const DetourPlan& plan : plans()) {
    const std::string name = std::string("aten::") + plan.name;
    const std::size_t dot = name.find('.');
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
        name.substr(0, dot).c_str(), dot == std::string::npos ? "" : name.c_str() + dot + 1);
    auto detour =
        std::make_unique<Detour>(plan.simulated, op.getComputedKernelForDispatchKey(plan.key));
    libraries->emplace_back(torch::Library::IMPL, "aten", plan.key, __FILE__, __LINE__)
        .impl(plan.name, torch::CppFunction::makeFromBoxedFunctor(std::move(detour)));
  }
  return libraries;
}

}  // namespace

void add_detour(DetourPlan plan) { plans().push_back(std::move(plan)); }

std::shared_ptr<void> detours_around_cuda() {
  static std::mutex mutex;
  static std::weak_ptr<void> open;
  if (!has_cuda_kernels()) return nullptr;
  const std::lock_guard lock(mutex);
  std::shared_ptr<void> detours = open.lock();
  if (detours == nullptr) open = detours = make_detours();
  return detours;
}

RealCall::RealCall() { ++real_calls; }
RealCall::~RealCall() { --real_calls; }

}  // namespace symprof::meta
