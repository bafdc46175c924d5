#include "meta/fake/collectives.h"

#include <ATen/core/jit_type.h>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <utility>

#include "meta/fake/beside_cuda.h"
#include "meta/fake/cuda_library.h"

namespace symprof::meta {
namespace {

struct FinishedWork final : c10d::Work {
  explicit FinishedWork(c10::IValue result) : result_(std::move(result)) {}

  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  bool wait(std::chrono::milliseconds) override { return true; }
  // Without storages: a future that inspects them would find no device memory.
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    auto future =
        c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    future->markCompleted(result_, std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>>{});
    return future;
  }

 private:
  c10::IValue result_;
};

// The reducer times its phases; none takes time here.
struct SimulatedTimer final : c10d::Timer {
  explicit SimulatedTimer(c10::Device) {}
  void record(Event event) override { getTimeRef(event) = 1; }
  std::optional<std::int64_t> measureDifference(Event, Event) override { return std::nullopt; }
};

std::unique_ptr<c10d::Timer> make_timer(c10::Device device) {
  return std::make_unique<SimulatedTimer>(device);
}

// Also replaces a CUDA library's timer, whose events need a GPU.
bool install_timer() {
  if (has_cuda_kernels() && has_real_device()) return false;
  c10d::TimerRegistry()->Register(c10::kCUDA, &make_timer, c10::REGISTRY_PREFERRED);
  return true;
}

[[maybe_unused]] const bool is_registered = !has_cuda_kernels() && install_timer();

}  // namespace

// torch/csrc/distributed/c10d/Ops.cpp registers one function for all devices.
bool is_collective(const c10::OperatorHandle& op) {
  return op.schema().name().starts_with("c10d::") &&
         op.hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

void run_collective(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  // DistributedDataParallel compares its parameters before it creates a reducer. Installed here
  // because loading a library must not look for a GPU.
  [[maybe_unused]] static const bool has_timer = has_cuda_kernels() && install_timer();
  const c10::IValue changed = stack[stack.size() - op.schema().arguments().size()];
  op.callBoxedForDispatchKey(c10::DispatchKey::CUDA, stack);
  if (stack.empty() || !stack.back().isCustomClass() || !changed.isTensorList()) return;
  c10::intrusive_ptr<c10d::Work> work = c10::make_intrusive<FinishedWork>(changed);
  stack.back() = c10::IValue(std::move(work));
}

}  // namespace symprof::meta
