#include "meta/fake/saved_tensors.h"

#include <ATen/SequenceNumber.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#if __has_include(<torch/csrc/autograd/node.h>)
#include <torch/csrc/autograd/node.h>  // From 2.12 on; before, graph_task.h has get_current_node.
#endif

#include <mutex>

#include "meta/fake/fake_tensor.h"

namespace symprof::meta {
namespace {

struct ReportingHooks final : torch::autograd::SavedVariableHooks {
  explicit ReportingHooks(std::shared_ptr<Observer> observer) : observer_(std::move(observer)) {}

  void call_pack_hook(const at::Tensor& tensor) override {
    tensor_ = tensor;
    const std::int32_t storage = storage_id(tensor);
    if (storage >= 0) observer_->on_saved(storage);
  }
  at::Tensor call_unpack_hook() override { return tensor_; }

 private:
  std::shared_ptr<Observer> observer_;
  at::Tensor tensor_;
};

struct ReportingEngine final : torch::autograd::Engine {
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    auto observer = current_observer();
    return observer ? std::make_unique<ReportingHooks>(std::move(observer)) : nullptr;
  }
};

// Never destroyed, as LibTorch's own engine: its threads may outlive static destruction.
torch::autograd::Engine& reporting_engine() {
  static auto* engine = new ReportingEngine;
  return *engine;
}

}  // namespace

void install_saved_tensor_observer() {
  static std::once_flag once;
  std::call_once(once, [] { torch::autograd::set_default_engine_stub(&reporting_engine); });
}

std::uint64_t next_sequence_number() { return at::sequence_number::peek(); }

std::optional<BackwardNode> current_backward_node() {
  const auto node = torch::autograd::get_current_node();
  if (!node) return std::nullopt;
  BackwardNode result{node->sequence_nr(), -1};
  if (const auto* accumulate = dynamic_cast<const torch::autograd::AccumulateGrad*>(&*node))
    result.leaf_storage = storage_id(accumulate->variable);
  return result;
}

}  // namespace symprof::meta
